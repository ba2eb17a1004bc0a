/* The inner loops of reference.py, each in one pass. Same integers, bit for bit.
 *
 * The floating-point steps are single products, one division and conversions; there is
 * no product followed by a sum, so no compiler can fuse two roundings into one.
 * Types and shapes of the arrays are settled by kernels.py.
 */
#include "_buffers.h"
#include <math.h>
#include <string.h>

enum { GRID = 65535, COUNTS = 512 }; /* arithmetic.GRID; columns of the penalty table */

/* reference.rate: level of cosine minus spelling penalty, clipped at 0, for one input word */
FAST static void rate_row(const float *restrict dot, float scale_in, const float *restrict scale_out,
                          const uint8_t *restrict shared, const uint16_t *restrict penalty_of_shared,
                          const uint8_t *restrict count_out, Py_ssize_t width,
                          uint16_t *restrict out)
{
    for (Py_ssize_t w = 0; w < width; w++) {
        float scale = scale_in * scale_out[w];
        int32_t level = (int32_t)rintf(dot[w] * scale);
        level -= penalty_of_shared[shared[w] * COUNTS + count_out[w]];
        out[w] = (uint16_t)(level > 0 ? level : 0);
    }
}

FAST static void add_row(uint8_t *restrict sum, const uint8_t *restrict row, Py_ssize_t width)
{
    for (Py_ssize_t w = 0; w < width; w++)
        sum[w] = (uint8_t)(sum[w] + row[w]);
}

/* reference.weigh for one row; returns the sum before scaling */
FAST static int64_t weigh_row(const uint16_t *restrict levels, const int64_t *restrict table,
                              int64_t total, Py_ssize_t width, int64_t *restrict weights)
{
    int64_t sum = 0, used = 0;
    uint16_t top = 0;
    for (Py_ssize_t w = 0; w < width; w++)
        top = levels[w] > top ? levels[w] : top;
    const int64_t *from_top = table + (GRID - top);
    for (Py_ssize_t w = 0; w < width; w++) {
        int64_t value = from_top[levels[w]];
        weights[w] = value;
        sum += value;
    }
    double scale = (double)total / (double)sum;
    for (Py_ssize_t w = 0; w < width; w++) {
        int64_t value = (int64_t)rint((double)weights[w] * scale);
        weights[w] = value;
        used += value;
    }
    Py_ssize_t best = 0;
    while (levels[best] != top)
        best++;
    weights[best] += total - used;
    return sum;
}

FAST static void widen_row(const int64_t *restrict weights, Py_ssize_t width,
                           int64_t *restrict low, int64_t *restrict high)
{
    for (Py_ssize_t w = 0; w < width; w++) {
        low[w] = weights[w] < low[w] ? weights[w] : low[w];
        high[w] = weights[w] > high[w] ? weights[w] : high[w];
    }
}

FAST static int outside(const int64_t *restrict weights, Py_ssize_t width,
                        const int64_t *restrict low, const int64_t *restrict high)
{
    int64_t bad = 0;
    for (Py_ssize_t w = 0; w < width; w++)
        bad |= (weights[w] < low[w]) | (weights[w] > high[w]);
    return bad != 0;
}

/* the first output whose cumulative weight exceeds the point: searchsorted, side="right" */
static int32_t find(const int64_t *upto, Py_ssize_t width, int64_t point)
{
    Py_ssize_t first = 0, count = width;
    while (count > 0) {
        Py_ssize_t half = count / 2;
        if (upto[first + half] <= point) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return (int32_t)first;
}

/* --- the interface ------------------------------------------------------------------- */

/* rate(dot, scale_in, scale_out, ptr, ids, has_bigram, count_in, count_out, penalty, out) */
static PyObject *rate(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(float, dot, 0) READ(float, scale_in, 1) READ(float, scale_out, 2)
    READ(int64_t, ptr, 3) READ(int64_t, ids, 4) READ(uint8_t, has_bigram, 5)
    READ(uint8_t, count_in, 6) READ(uint8_t, count_out, 7)
    READ(uint16_t, penalty, 8) WRITE(uint16_t, out, 9)
    Py_ssize_t rows = LENGTH(1, float), width = LENGTH(2, float);
    uint8_t *shared = malloc((size_t)width + 1);
    if (!shared) { release(&held); return PyErr_NoMemory(); }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t r = 0; r < rows; r++) {
        memset(shared, 0, (size_t)width);
        for (int64_t i = ptr[r]; i < ptr[r + 1]; i++)
            add_row(shared, has_bigram + ids[i] * width, width);
        rate_row(dot + r * width, scale_in[r], scale_out, shared, penalty + count_in[r], count_out,
                 width, out + r * width);
    }
    Py_END_ALLOW_THREADS
    free(shared);
    release(&held);
    Py_RETURN_NONE;
}

/* weigh(levels, table, sums, weights, total) */
static PyObject *weigh(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(uint16_t, levels, 0) READ(int64_t, table, 1) WRITE(int64_t, sums, 2) WRITE(int64_t, weights, 3)
    int64_t total = PyLong_AsLongLong(PyTuple_GetItem(args, 4));
    Py_ssize_t rows = LENGTH(2, int64_t), width = rows ? LENGTH(0, uint16_t) / rows : 0;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t r = 0; r < rows; r++)
        sums[r] = weigh_row(levels + r * width, table, total, width, weights + r * width);
    Py_END_ALLOW_THREADS
    release(&held);
    Py_RETURN_NONE;
}

/* widen(levels, table, sums, low, high, total) */
static PyObject *widen(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(uint16_t, levels, 0) READ(int64_t, table, 1) WRITE(int64_t, sums, 2)
    WRITE(int64_t, low, 3) WRITE(int64_t, high, 4)
    int64_t total = PyLong_AsLongLong(PyTuple_GetItem(args, 5));
    Py_ssize_t rows = LENGTH(2, int64_t), width = LENGTH(3, int64_t);
    int64_t *weights = malloc((size_t)(width + 1) * sizeof *weights);
    if (!weights) { release(&held); return PyErr_NoMemory(); }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t r = 0; r < rows; r++) {
        sums[r] = weigh_row(levels + r * width, table, total, width, weights);
        widen_row(weights, width, low, high);
    }
    Py_END_ALLOW_THREADS
    free(weights);
    release(&held);
    Py_RETURN_NONE;
}

/* draw(levels, table, sums, low, high, starts, points, outputs, total) -> accounted for? */
static PyObject *draw(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(uint16_t, levels, 0) READ(int64_t, table, 1) READ(int64_t, sums, 2)
    READ(int64_t, low, 3) READ(int64_t, high, 4) READ(int64_t, starts, 5) READ(int64_t, points, 6)
    WRITE(int32_t, outputs, 7)
    int64_t total = PyLong_AsLongLong(PyTuple_GetItem(args, 8));
    Py_ssize_t rows = LENGTH(2, int64_t), width = LENGTH(3, int64_t);
    int64_t *upto = malloc((size_t)(width + 1) * sizeof *upto);
    if (!upto) { release(&held); return PyErr_NoMemory(); }
    int sound = 1;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t r = 0; r < rows && sound; r++) {
        int64_t sum = weigh_row(levels + r * width, table, total, width, upto);
        sound = sum == sums[r] && !outside(upto, width, low, high);
        for (Py_ssize_t w = 1; w < width; w++)
            upto[w] += upto[w - 1];
        for (int64_t i = starts[r]; sound && i < starts[r + 1]; i++)
            outputs[i] = find(upto, width, points[i]);
    }
    Py_END_ALLOW_THREADS
    free(upto);
    release(&held);
    return PyBool_FromLong(sound);
}

static PyMethodDef methods[] = {
    {"rate", rate, METH_VARARGS, NULL},
    {"weigh", weigh, METH_VARARGS, NULL},
    {"widen", widen, METH_VARARGS, NULL},
    {"draw", draw, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef_Slot slots[] = {{0, NULL}};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_kernels", .m_methods = methods, .m_slots = slots};
PyMODINIT_FUNC PyInit__kernels(void) { return PyModuleDef_Init(&module); }
