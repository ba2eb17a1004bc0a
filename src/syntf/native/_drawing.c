/* The inner loops of core/drawing.py in C: draw terms and output words, and count them.
 *
 * They give the same integers as NumPy, bit for bit. A share of a document is a product of two
 * doubles, truncated to an integer. No product is followed by a sum, so no compiler can fuse two
 * roundings into one. An index outside an array stops the loop and returns zero; drawing.py then
 * calls NumPy, which raises the error.
 */
#include "_buffers.h"
#include <string.h>

static int64_t number(PyObject *args, Py_ssize_t position)
{
    return PyLong_AsLongLong(PyTuple_GetItem(args, position));
}

/* --- terms of documents --------------------------------------------------------------- */

/* Compute the points of a document's systematic draws, integers from 0 to mass. */
FAST static void systematic_points(uint64_t bits, int64_t mass, Py_ssize_t length,
                                   int64_t *restrict points)
{
    double offset = (double)(int64_t)(bits >> 11) * 0x1p-53;
    for (Py_ssize_t i = 0; i < length; i++)
        points[i] = (int64_t)(((double)(int64_t)i + offset) / (double)length * (double)mass);
}

FAST static void independent_points(const uint64_t *restrict bits, int64_t mass, Py_ssize_t length,
                           int64_t *restrict points)
{
    for (Py_ssize_t i = 0; i < length; i++)
        points[i] = (int64_t)((double)(int64_t)(bits[i] >> 11) * 0x1p-53 * (double)mass);
}

/* Find the term at each point. An occurrence has as many points as its term has units; the last
 * occurrence also takes all points beyond. */
static void terms_at_points(const int32_t *terms, const int64_t *sums, int64_t size,
                    const int64_t *points, Py_ssize_t length, int32_t *drawn)
{
    int64_t place = 0;
    for (Py_ssize_t i = 0; i < length; i++) {
        if (place > 0 && points[i] < sums[place - 1])
            place = 0;
        if (place < size - 1 && points[i] >= sums[place]) {
            int64_t first = place + 1, last = size - 1;
            while (first < last) {
                int64_t middle = first + (last - first) / 2;
                if (points[i] >= sums[middle])
                    first = middle + 1;
                else
                    last = middle;
            }
            place = first;
        }
        drawn[i] = terms[place];
    }
}

/* terms(starts, terms, bits, units, drawn, length, systematic) -> whether all indices are valid
 * If units is empty, every occurrence has one unit. */
static PyObject *terms(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(int64_t, starts, 0) READ(int32_t, every, 1) READ(uint64_t, bits, 2)
    READ(int64_t, units, 3) WRITE(int32_t, drawn, 4)
    Py_ssize_t length = (Py_ssize_t)number(args, 5);
    int systematic = (int)number(args, 6);
    Py_ssize_t documents = LENGTH(0, int64_t) - 1;
    int64_t occurrences = LENGTH(1, int32_t), known = LENGTH(3, int64_t), longest = 0;
    int valid = length >= 1 && LENGTH(4, int32_t) / length >= documents &&
                LENGTH(2, uint64_t) / (systematic ? 1 : length) >= documents;
    for (Py_ssize_t d = 0; d < documents; d++) {
        int64_t size = starts[d + 1] - starts[d];
        valid &= starts[d] >= 0 && size >= 1 && starts[d + 1] <= occurrences;
        longest = size > longest ? size : longest;
    }
    if (!valid)
        longest = length = 0;
    int64_t *points = malloc((size_t)(length + 1) * sizeof *points);
    int64_t *sums = malloc((size_t)(known ? longest + 1 : 1) * sizeof *sums);
    if (!points || !sums) {
        free(points);
        free(sums);
        release(&held);
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t d = 0; d < documents && valid; d++) {
        const int32_t *own = every + starts[d];
        int64_t size = starts[d + 1] - starts[d], mass = known ? 0 : size;
        for (int64_t i = 0; known && i < size; i++) {
            valid &= own[i] >= 0 && own[i] < known;
            sums[i] = mass += valid ? units[own[i]] : 0;
        }
        if (systematic)
            systematic_points(bits[d], mass, length, points);
        else
            independent_points(bits + d * length, mass, length, points);
        if (known)
            terms_at_points(own, sums, size, points, length, drawn + d * length);
        else
            for (Py_ssize_t i = 0; i < length; i++)
                drawn[d * length + i] = own[points[i] < size ? points[i] : size - 1];
    }
    Py_END_ALLOW_THREADS
    free(points);
    free(sums);
    release(&held);
    return PyBool_FromLong(valid);
}

/* --- outputs of the neighbourhood mechanism ------------------------------------------- */

/* near(rows, bits, neighbours, outputs, shift, common, background, share, part, empty)
 * `share` is the size of a neighbour's range, `part` that of an output's in the last row. */
static PyObject *near(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(int32_t, rows, 0) READ(uint64_t, bits, 1) READ(int32_t, neighbours, 2)
    WRITE(int32_t, outputs, 3)
    int shift = (int)number(args, 4);
    uint64_t common = (uint64_t)number(args, 5), background = (uint64_t)number(args, 6);
    uint64_t share = (uint64_t)number(args, 7), part = (uint64_t)number(args, 8);
    int32_t empty = (int32_t)number(args, 9);
    Py_ssize_t draws = LENGTH(0, int32_t);
    uint64_t count = (uint64_t)(LENGTH(2, int32_t) / empty), all = common / background;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < draws; i++) {
        uint64_t point = bits[i] >> shift;
        if (rows[i] == empty) {
            outputs[i] = (int32_t)(point < part * all ? point / part : point - part * all);
            continue;
        }
        /* masks instead of branches: the processor cannot predict which case occurs */
        uint64_t close = (uint64_t)0 - (point >= common);
        uint64_t size = background ^ ((background ^ share) & close);
        uint64_t equal = common ^ ((common ^ share * count) & close);
        point -= common & close;
        /* equal ranges come first, then the remaining points, one for each part */
        uint64_t place = point < equal ? point / size : point - equal;
        uint64_t chosen = ((uint64_t)rows[i] * count + place) & close;
        uint32_t word = (uint32_t)neighbours[chosen];
        outputs[i] = (int32_t)((uint32_t)place ^ (((uint32_t)place ^ word) & (uint32_t)close));
    }
    Py_END_ALLOW_THREADS
    release(&held);
    Py_RETURN_NONE;
}

/* --- counting --------------------------------------------------------------------------- */

/* Return the position of the lowest_bit bit that is set. */
static int lowest_bit(uint64_t bits)
{
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#else
    int place = 0;
    while (!(bits >> place & 1))
        place++;
    return place;
#endif
}

/* count(starts, columns, ends, indices, data, width) -> whether all indices are valid
 * One bit for each column that occurs, and one for each 64 of these bits, give them in order. */
static PyObject *count(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(int64_t, starts, 0) READ(int32_t, columns, 1)
    WRITE(int64_t, ends, 2) WRITE(int32_t, indices, 3) WRITE(int32_t, data, 4)
    int64_t width = number(args, 5), occurrences = LENGTH(1, int32_t), used = 0;
    Py_ssize_t rows = LENGTH(0, int64_t) - 1;
    size_t words = (size_t)(width / 64 + 1), blocks = words / 64 + 1;
    int32_t *counts = calloc((size_t)width + 1, sizeof *counts);
    uint64_t *occurs = calloc(words + blocks, sizeof *occurs), *any = occurs + words;
    int valid = rows < 1 || starts[0] >= 0;
    if (!counts || !occurs) {
        free(counts);
        free(occurs);
        release(&held);
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t r = 0; r < rows && valid; r++) {
        valid = starts[r] <= starts[r + 1] && starts[r + 1] <= occurrences;
        for (int64_t i = starts[r]; valid && i < starts[r + 1]; i++) {
            uint32_t column = (uint32_t)columns[i];
            if (column >= width) {
                valid = 0;
                break;
            }
            counts[column]++;
            occurs[column >> 6] |= 1ull << (column & 63);
            any[column >> 12] |= 1ull << (column >> 6 & 63);
        }
        for (size_t b = 0; valid && b < blocks; b++) {
            uint64_t filled = any[b];
            any[b] = 0;
            for (; filled; filled &= filled - 1) {
                size_t w = b * 64 + (size_t)lowest_bit(filled);
                uint64_t left = occurs[w];
                occurs[w] = 0;
                for (; left; left &= left - 1) {
                    int32_t column = (int32_t)(w * 64) + lowest_bit(left);
                    indices[used] = column;
                    data[used++] = counts[column];
                    counts[column] = 0;
                }
            }
        }
        ends[r] = used;
    }
    Py_END_ALLOW_THREADS
    free(counts);
    free(occurs);
    release(&held);
    return PyBool_FromLong(valid);
}

static PyMethodDef methods[] = {
    {"terms", terms, METH_VARARGS, NULL},
    {"near", near, METH_VARARGS, NULL},
    {"count", count, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef_Slot slots[] = {{0, NULL}};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_drawing", .m_methods = methods, .m_slots = slots};
PyMODINIT_FUNC PyInit__drawing(void) { return PyModuleDef_Init(&module); }
