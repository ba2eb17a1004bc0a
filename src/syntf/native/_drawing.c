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

/* in whole units of a document's mass, the points of its draws: at most mass, never below 0 */
FAST static void stepped(uint64_t bits, int64_t mass, Py_ssize_t length, int64_t *restrict points)
{
    double offset = (double)(int64_t)(bits >> 11) * 0x1p-53;
    for (Py_ssize_t i = 0; i < length; i++)
        points[i] = (int64_t)(((double)(int64_t)i + offset) / (double)length * (double)mass);
}

FAST static void scattered(const uint64_t *restrict bits, int64_t mass, Py_ssize_t length,
                           int64_t *restrict points)
{
    for (Py_ssize_t i = 0; i < length; i++)
        points[i] = (int64_t)((double)(int64_t)(bits[i] >> 11) * 0x1p-53 * (double)mass);
}

/* each occurrence has as many points as its term has units; the last one takes any beyond */
static void weighed(const int32_t *terms, const int64_t *upto, int64_t size,
                    const int64_t *points, Py_ssize_t length, int32_t *drawn)
{
    int64_t place = 0;
    for (Py_ssize_t i = 0; i < length; i++) {
        if (place > 0 && points[i] < upto[place - 1])
            place = 0;
        if (place < size - 1 && points[i] >= upto[place]) {
            int64_t first = place + 1, last = size - 1;
            while (first < last) {
                int64_t middle = first + (last - first) / 2;
                if (points[i] >= upto[middle])
                    first = middle + 1;
                else
                    last = middle;
            }
            place = first;
        }
        drawn[i] = terms[place];
    }
}

/* terms(starts, terms, bits, units, drawn, length, systematic) -> done?
 * Without units, every occurrence has one. */
static PyObject *terms(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(int64_t, starts, 0) READ(int32_t, every, 1) READ(uint64_t, bits, 2)
    READ(int64_t, units, 3) WRITE(int32_t, drawn, 4)
    Py_ssize_t length = (Py_ssize_t)number(args, 5);
    int systematic = (int)number(args, 6);
    Py_ssize_t documents = LENGTH(0, int64_t) - 1;
    int64_t occurrences = LENGTH(1, int32_t), known = LENGTH(3, int64_t), longest = 0;
    int sound = length >= 1 && LENGTH(4, int32_t) / length >= documents &&
                LENGTH(2, uint64_t) / (systematic ? 1 : length) >= documents;
    for (Py_ssize_t d = 0; d < documents; d++) {
        int64_t size = starts[d + 1] - starts[d];
        sound &= starts[d] >= 0 && size >= 1 && starts[d + 1] <= occurrences;
        longest = size > longest ? size : longest;
    }
    if (!sound)
        longest = length = 0;
    int64_t *points = malloc((size_t)(length + 1) * sizeof *points);
    int64_t *upto = malloc((size_t)(known ? longest + 1 : 1) * sizeof *upto);
    if (!points || !upto) {
        free(points);
        free(upto);
        release(&held);
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t d = 0; d < documents && sound; d++) {
        const int32_t *own = every + starts[d];
        int64_t size = starts[d + 1] - starts[d], mass = known ? 0 : size;
        for (int64_t i = 0; known && i < size; i++) {
            sound &= own[i] >= 0 && own[i] < known;
            upto[i] = mass += sound ? units[own[i]] : 0;
        }
        if (systematic)
            stepped(bits[d], mass, length, points);
        else
            scattered(bits + d * length, mass, length, points);
        if (known)
            weighed(own, upto, size, points, length, drawn + d * length);
        else
            for (Py_ssize_t i = 0; i < length; i++)
                drawn[d * length + i] = own[points[i] < size ? points[i] : size - 1];
    }
    Py_END_ALLOW_THREADS
    free(points);
    free(upto);
    release(&held);
    return PyBool_FromLong(sound);
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
        /* masks, not branches: which of the two it is, no processor can foresee */
        uint64_t close = (uint64_t)0 - (point >= common);
        uint64_t size = background ^ ((background ^ share) & close);
        uint64_t equal = common ^ ((common ^ share * count) & close);
        point -= common & close;
        /* equal ranges one after the other, then what they leave, one integer a part */
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

/* the position of the only, or the lowest, bit that is set */
static int lowest(uint64_t bits)
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

/* count(starts, columns, ends, indices, data, width) -> done?
 * A bit for each column seen, and one for each 64 of these bits, find them in order. */
static PyObject *count(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(int64_t, starts, 0) READ(int32_t, columns, 1)
    WRITE(int64_t, ends, 2) WRITE(int32_t, indices, 3) WRITE(int32_t, data, 4)
    int64_t width = number(args, 5), occurrences = LENGTH(1, int32_t), used = 0;
    Py_ssize_t rows = LENGTH(0, int64_t) - 1;
    size_t words = (size_t)(width / 64 + 1), blocks = words / 64 + 1;
    int32_t *times = calloc((size_t)width + 1, sizeof *times);
    uint64_t *seen = calloc(words + blocks, sizeof *seen), *any = seen + words;
    int sound = rows < 1 || starts[0] >= 0;
    if (!times || !seen) {
        free(times);
        free(seen);
        release(&held);
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t r = 0; r < rows && sound; r++) {
        sound = starts[r] <= starts[r + 1] && starts[r + 1] <= occurrences;
        for (int64_t i = starts[r]; sound && i < starts[r + 1]; i++) {
            uint32_t column = (uint32_t)columns[i];
            if (column >= width) {
                sound = 0;
                break;
            }
            times[column]++;
            seen[column >> 6] |= 1ull << (column & 63);
            any[column >> 12] |= 1ull << (column >> 6 & 63);
        }
        for (size_t b = 0; sound && b < blocks; b++) {
            uint64_t filled = any[b];
            any[b] = 0;
            for (; filled; filled &= filled - 1) {
                size_t w = b * 64 + (size_t)lowest(filled);
                uint64_t left = seen[w];
                seen[w] = 0;
                for (; left; left &= left - 1) {
                    int32_t column = (int32_t)(w * 64) + lowest(left);
                    indices[used] = column;
                    data[used++] = times[column];
                    times[column] = 0;
                }
            }
        }
        ends[r] = used;
    }
    Py_END_ALLOW_THREADS
    free(times);
    free(seen);
    release(&held);
    return PyBool_FromLong(sound);
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
