/* The inner loops of mechanism/reference.py in C: rate words, find the nearest, weigh rows, measure, draw.
 *
 * They give the same integers as NumPy, bit for bit. The floating-point steps are single products,
 * one division and conversions. No product is followed by a sum, so no compiler can fuse two
 * roundings into one. kernels.py checks types and shapes of the arrays.
 */
#include "_avx512.h"
#include "_best.h"
#include "_buffers.h"
#include <math.h>
#include <string.h>

enum {
    GRID = 65535,  /* core/exact.py: GRID */
    STRETCH = 256, /* columns examined together */
    BLOCK = 32,    /* columns added up together */
    SOME = 64,     /* columns whose products are compared together */
};

static int wide = 0; /* whether the loops of _avx512.h are used */

/* Compute reference.rate for one input word: cosine minus spelling penalty, clipped at 0. */
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

/* Tell whether a product dot * scale_out exceeds the bound. */
FAST static int any_above(const float *restrict dot, const float *restrict scale_out,
                          Py_ssize_t width, float bound)
{
    int found = 0;
    for (Py_ssize_t w = 0; w < width; w++)
        found |= dot[w] * scale_out[w] > bound;
    return found;
}

FAST static void add_row(uint8_t *restrict sum, const uint8_t *restrict row, Py_ssize_t width)
{
    for (Py_ssize_t w = 0; w < width; w++)
        sum[w] = (uint8_t)(sum[w] + row[w]);
}

FAST static uint16_t greatest(const uint16_t *restrict levels, Py_ssize_t width)
{
    uint16_t top = 0;
    for (Py_ssize_t w = 0; w < width; w++)
        top = levels[w] > top ? levels[w] : top;
    return top;
}

FAST static Py_ssize_t first_of(const uint16_t *restrict levels, Py_ssize_t width, uint16_t top)
{
    Py_ssize_t w = 0;
    for (int found = 0; w + STRETCH <= width; w += STRETCH) {
        for (Py_ssize_t i = w; i < w + STRETCH; i++)
            found |= levels[i] == top;
        if (found)
            break;
    }
    while (levels[w] != top)
        w++;
    return w;
}

FAST static int64_t look_up_plain(const uint16_t *restrict levels, const int64_t *restrict from_top,
                                  Py_ssize_t width, int64_t *restrict weights)
{
    int64_t sum = 0;
    for (Py_ssize_t w = 0; w < width; w++) {
        weights[w] = from_top[levels[w]];
        sum += weights[w];
    }
    return sum;
}

FAST static int64_t scale_plain(int64_t *restrict weights, Py_ssize_t width, double scale)
{
    int64_t used = 0;
    for (Py_ssize_t w = 0; w < width; w++) {
        weights[w] = (int64_t)rint((double)weights[w] * scale);
        used += weights[w];
    }
    return used;
}

/* Compute reference.weigh for one row and return the sum before scaling. */
static int64_t weigh_row(const uint16_t *levels, const int64_t *table, int64_t total,
                         Py_ssize_t width, int64_t *weights)
{
    uint16_t top = greatest(levels, width);
    const int64_t *from_top = table + (GRID - top);
    int64_t sum = (wide ? look_up_wide : look_up_plain)(levels, from_top, width, weights);
    int64_t used = (wide ? scale_wide : scale_plain)(weights, width, (double)total / (double)sum);
    weights[first_of(levels, width, top)] += total - used;
    return sum;
}

/* Tell whether a weight lies outside [low, high]: a negative difference has the sign bit set. */
FAST static int outside(const int64_t *restrict weights, Py_ssize_t width,
                        const int64_t *restrict low, const int64_t *restrict high)
{
    int64_t sign = 0;
    for (Py_ssize_t w = 0; w < width; w++)
        sign |= (weights[w] - low[w]) | (high[w] - weights[w]);
    return sign < 0;
}

/* Extend low and high by one row. Most rows extend few columns, so most stretches are only read. */
FAST static void widen_row(const int64_t *restrict weights, Py_ssize_t width,
                           int64_t *restrict low, int64_t *restrict high)
{
    for (Py_ssize_t first = 0; first < width; first += STRETCH) {
        Py_ssize_t end = width - first < STRETCH ? width : first + STRETCH;
        int64_t sign = 0;
        for (Py_ssize_t w = first; w < end; w++)
            sign |= (weights[w] - low[w]) | (high[w] - weights[w]);
        if (sign >= 0)
            continue;
        for (Py_ssize_t w = first; w < end; w++) {
            low[w] = weights[w] < low[w] ? weights[w] : low[w];
            high[w] = weights[w] > high[w] ? weights[w] : high[w];
        }
    }
}

/* Set block_sums[b] to the weight of blocks 0 … b, and return the number of blocks. */
FAST static Py_ssize_t add_up(const int64_t *restrict weights, Py_ssize_t width,
                              int64_t *restrict block_sums)
{
    Py_ssize_t blocks = 0;
    int64_t running = 0;
    for (Py_ssize_t first = 0; first < width; first += BLOCK) {
        Py_ssize_t end = width - first < BLOCK ? width : first + BLOCK;
        for (Py_ssize_t w = first; w < end; w++)
            running += weights[w];
        block_sums[blocks++] = running;
    }
    return blocks;
}

/* Return the first output whose cumulative weight exceeds the point: searchsorted, side="right". */
static int32_t find(const int64_t *weights, const int64_t *block_sums, Py_ssize_t blocks, int64_t point)
{
    Py_ssize_t first = 0;
    for (Py_ssize_t count = blocks; count > 1;) {
        Py_ssize_t half = count / 2;
        first += block_sums[first + half - 1] <= point ? half : 0;
        count -= half;
    }
    Py_ssize_t w = first * BLOCK;
    point -= first ? block_sums[first - 1] : 0;
    while (point >= weights[w])
        point -= weights[w++];
    return (int32_t)w;
}

/* --- the interface ------------------------------------------------------------------- */

/* wide() -> whether the loops of _avx512.h are used; wide(on) sets it if the processor allows */
static PyObject *use_wide(PyObject *self, PyObject *args)
{
    if (PyTuple_Size(args) > 0)
        wide = PyObject_IsTrue(PyTuple_GetItem(args, 0)) && wide_is_here();
    return PyBool_FromLong(wide);
}

/* rate(dot, scale_in, scale_out, starts, ids, incidence, count_in, count_out, penalty, out) */
static PyObject *rate(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(float, dot, 0) READ(float, scale_in, 1) READ(float, scale_out, 2)
    READ(int64_t, starts, 3) READ(int64_t, ids, 4) READ(uint8_t, incidence, 5)
    READ(uint8_t, count_in, 6) READ(uint8_t, count_out, 7)
    READ(uint16_t, penalty, 8) WRITE(uint16_t, out, 9)
    Py_ssize_t rows = LENGTH(1, float), width = LENGTH(2, float);
    uint8_t *shared = malloc((size_t)width + 1);
    if (!shared) { release(&held); return PyErr_NoMemory(); }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t r = 0; r < rows; r++) {
        memset(shared, 0, (size_t)width);
        for (int64_t i = starts[r]; i < starts[r + 1]; i++)
            add_row(shared, incidence + ids[i] * width, width);
        rate_row(dot + r * width, scale_in[r], scale_out, shared, penalty + count_in[r], count_out,
                 width, out + r * width);
    }
    Py_END_ALLOW_THREADS
    free(shared);
    release(&held);
    Py_RETURN_NONE;
}

/* Rate packed outputs, or find the nearest; the last argument receives the result. */
static PyObject *with_packed(PyObject *args, int find_nearest)
{
    if (!wide_is_here()) {
        PyErr_SetString(PyExc_RuntimeError, "this processor has no products of bytes");
        return NULL;
    }
    Buffers held = {.count = 0};
    READ(int8_t, vectors, 0) READ(uint8_t, packed, 1) READ(float, scale_in, 2)
    READ(float, scale_out, 3) READ(int64_t, starts, 4) READ(int64_t, ids, 5)
    READ(uint64_t, incidence, 6) READ(uint8_t, count_in, 7) READ(uint8_t, count_out, 8)
    READ(uint16_t, penalty, 9) WRITE(void, result, 10)
    Py_ssize_t width = LENGTH(3, float);
    Rating of = {LENGTH(2, float), width, LENGTH(6, uint64_t) / ((width + TILE - 1) / TILE),
                 scale_in, scale_out, starts, ids, incidence, count_in, count_out, penalty,
                 find_nearest ? NULL : result};
    Py_ssize_t dimensions = of.rows ? LENGTH(0, int8_t) / of.rows : 0;
    Py_ssize_t count = find_nearest && of.rows ? LENGTH(10, int32_t) / of.rows : 0;
    int32_t *in = calloc((size_t)((of.rows + GROUP) * (dimensions / 4 + 2)), sizeof *in);
    Best best;
    int enough = start_best(&best, of.rows, count, result) && in;
    if (enough) {
        Py_BEGIN_ALLOW_THREADS
        if (find_nearest)
            find_best_wide(&of, vectors, dimensions, packed, in, &best);
        else
            rate_wide(&of, vectors, dimensions, packed, in);
        Py_END_ALLOW_THREADS
    }
    free(in);
    free_best(&best);
    release(&held);
    if (!enough)
        return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* nearest(dot, scale_in, scale_out, starts, ids, incidence, count_in, count_out, penalty, outputs) */
static PyObject *nearest(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(float, dot, 0) READ(float, scale_in, 1) READ(float, scale_out, 2)
    READ(int64_t, starts, 3) READ(int64_t, ids, 4) READ(uint8_t, incidence, 5)
    READ(uint8_t, count_in, 6) READ(uint8_t, count_out, 7)
    READ(uint16_t, penalty, 8) WRITE(int32_t, outputs, 9)
    Py_ssize_t rows = LENGTH(1, float), width = LENGTH(2, float);
    Best best;
    if (!start_best(&best, rows, rows ? LENGTH(9, int32_t) / rows : 0, outputs)) {
        free_best(&best);
        release(&held);
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t r = 0; r < rows; r++) {
        const float *own = dot + r * width;
        for (Py_ssize_t first = 0; first < width; first += SOME) {
            Py_ssize_t end = width - first < SOME ? width : first + SOME;
            if (!any_above(own + first, scale_out + first, end - first, best.bounds[r]))
                continue;
            for (Py_ssize_t w = first; w < end; w++) {
                if (!(own[w] * scale_out[w] > best.bounds[r]))
                    continue;
                uint8_t shared = 0;
                uint16_t level;
                for (int64_t i = starts[r]; i < starts[r + 1]; i++)
                    shared = (uint8_t)(shared + incidence[ids[i] * width + w]);
                rate_row(own + w, scale_in[r], scale_out + w, &shared, penalty + count_in[r],
                         count_out + w, 1, &level);
                insert_best(&best, r, scale_in[r], w, level);
            }
        }
    }
    Py_END_ALLOW_THREADS
    free_best(&best);
    release(&held);
    Py_RETURN_NONE;
}

/* rate_packed(vectors, packed, the other arguments of rate) where wide */
static PyObject *rate_packed(PyObject *self, PyObject *args)
{
    return with_packed(args, 0);
}

/* nearest_packed(vectors, packed, the other arguments of nearest) where wide */
static PyObject *nearest_packed(PyObject *self, PyObject *args)
{
    return with_packed(args, 1);
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

/* draw(levels, table, sums, low, high, starts, order, words, outputs, total, unused)
 * -> whether all rows are as measured. The top 64 - unused bits of a word are the point. */
static PyObject *draw(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(uint16_t, levels, 0) READ(int64_t, table, 1) READ(int64_t, sums, 2)
    READ(int64_t, low, 3) READ(int64_t, high, 4) READ(int64_t, starts, 5)
    READ(int32_t, order, 6) READ(uint64_t, words, 7) WRITE(int32_t, outputs, 8)
    int64_t total = PyLong_AsLongLong(PyTuple_GetItem(args, 9));
    int unused = (int)PyLong_AsLong(PyTuple_GetItem(args, 10));
    Py_ssize_t rows = LENGTH(2, int64_t), width = LENGTH(3, int64_t);
    int64_t *weights = malloc((size_t)(2 * width + 1) * sizeof *weights), *block_sums = weights + width;
    if (!weights) { release(&held); return PyErr_NoMemory(); }
    int as_measured = 1;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t r = 0; r < rows && as_measured; r++) {
        int64_t sum = weigh_row(levels + r * width, table, total, width, weights);
        as_measured = sum == sums[r] && !outside(weights, width, low, high);
        Py_ssize_t blocks = add_up(weights, width, block_sums);
        as_measured = as_measured && block_sums[blocks - 1] == total;
        for (int64_t i = starts[r]; as_measured && i < starts[r + 1]; i++)
            outputs[order[i]] = find(weights, block_sums, blocks, (int64_t)(words[order[i]] >> unused));
    }
    Py_END_ALLOW_THREADS
    free(weights);
    release(&held);
    return PyBool_FromLong(as_measured);
}

/* group(rows, starts, order): starts has one element more than there are inputs, all zero */
static PyObject *group(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(int32_t, rows, 0) WRITE(int64_t, starts, 1) WRITE(int32_t, order, 2)
    Py_ssize_t count = LENGTH(0, int32_t), inputs = LENGTH(1, int64_t) - 1;
    Py_BEGIN_ALLOW_THREADS
    /* starts[v] moves from the start of v to its end, which is the start of v + 1 */
    for (Py_ssize_t i = 0; i < count; i++)
        starts[rows[i] + 1]++;
    for (Py_ssize_t v = 0; v < inputs; v++)
        starts[v + 1] += starts[v];
    for (Py_ssize_t i = 0; i < count; i++)
        order[starts[rows[i]]++] = (int32_t)i;
    memmove(starts + 1, starts, (size_t)inputs * sizeof *starts);
    starts[0] = 0;
    Py_END_ALLOW_THREADS
    release(&held);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"wide", use_wide, METH_VARARGS, NULL},
    {"rate", rate, METH_VARARGS, NULL},
    {"rate_packed", rate_packed, METH_VARARGS, NULL},
    {"nearest", nearest, METH_VARARGS, NULL},
    {"nearest_packed", nearest_packed, METH_VARARGS, NULL},
    {"weigh", weigh, METH_VARARGS, NULL},
    {"widen", widen, METH_VARARGS, NULL},
    {"draw", draw, METH_VARARGS, NULL},
    {"group", group, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef_Slot slots[] = {{0, NULL}};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_kernels", .m_methods = methods, .m_slots = slots};
PyMODINIT_FUNC PyInit__kernels(void)
{
    wide = wide_is_here();
    return PyModuleDef_Init(&module);
}
