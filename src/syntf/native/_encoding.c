/* The inner loop of codebook/encoder.py in C: add up weighted word vectors of documents.
 *
 * It gives the same integers as NumPy, bit for bit.
 *
 * sums(starts, words, times, weights, occurrences, vectors, totals, width) -> done?
 * Adds up, for each document, the vectors of its words times two public weights: that of the word
 * and that of its number of occurrences (at most 255 count). An index outside an array stops the
 * loop and is answered with a zero: NumPy then says what is wrong.
 */
#include "_buffers.h"

FAST static void add(int64_t factor, const int8_t *restrict vector, int64_t *restrict total,
                     Py_ssize_t width)
{
    for (Py_ssize_t i = 0; i < width; i++)
        total[i] += factor * vector[i];
}

static PyObject *sums(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(int64_t, starts, 0) READ(int32_t, words, 1) READ(int32_t, times, 2)
    READ(uint16_t, weights, 3) READ(uint8_t, occurrences, 4) READ(int8_t, vectors, 5)
    WRITE(int64_t, totals, 6)
    Py_ssize_t width = (Py_ssize_t)PyLong_AsLongLong(PyTuple_GetItem(args, 7));
    Py_ssize_t documents = LENGTH(0, int64_t) - 1, known = LENGTH(3, uint16_t);
    int64_t entries = LENGTH(1, int32_t);
    int sound = LENGTH(2, int32_t) >= entries && LENGTH(4, uint8_t) == 256 &&
                LENGTH(5, int8_t) >= known * width && LENGTH(6, int64_t) >= documents * width &&
                (documents < 1 || starts[0] >= 0);
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t d = 0; d < documents && sound; d++) {
        sound = starts[d] <= starts[d + 1] && starts[d + 1] <= entries;
        for (int64_t i = starts[d]; sound && i < starts[d + 1]; i++) {
            if (words[i] < 0 || words[i] >= known || times[i] < 0) {
                sound = 0;
                break;
            }
            int64_t factor = (int64_t)occurrences[times[i] < 255 ? times[i] : 255] *
                             weights[words[i]];
            add(factor, vectors + (Py_ssize_t)words[i] * width, totals + d * width, width);
        }
    }
    Py_END_ALLOW_THREADS
    release(&held);
    return PyBool_FromLong(sound);
}

static PyMethodDef methods[] = {
    {"sums", sums, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef_Slot slots[] = {{0, NULL}};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_encoding", .m_methods = methods, .m_slots = slots};
PyMODINIT_FUNC PyInit__encoding(void) { return PyModuleDef_Init(&module); }
