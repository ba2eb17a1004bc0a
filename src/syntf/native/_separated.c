/* Read ordinary rows of a CSV or TSV file, one list of strings for each column.
 *
 * Python's csv module defines what a row is (inputs/csv_rows.py). This loop reads rows as long as
 * they are ordinary: fields quoted completely or not at all, lines that end in \n or \r\n, and as
 * many fields as the first row. It stops before any other row, and the csv module continues there.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *at;
    Py_ssize_t size;
    int doubled; /* whether it contains quotes, each written twice */
} Field;

typedef struct {
    Field *field;
    Py_ssize_t count, room;
} Row;

enum { PLAIN, SHORT, ODD }; /* an ordinary row; an incomplete row; a row for the csv module */

static int add(Row *row, const char *at, Py_ssize_t size, int doubled)
{
    if (row->count == row->room) {
        Py_ssize_t room = 2 * row->room + 16;
        Field *field = realloc(row->field, (size_t)room * sizeof *field);
        if (!field)
            return 0;
        row->field = field;
        row->room = room;
    }
    row->field[row->count++] = (Field){at, size, doubled};
    return 1;
}

/* Read one row from `from` on and set `*next` to its end. A blank line is a row without fields. */
static int scan(const char *from, const char *end, int final, char delimiter, Row *row,
                const char **next)
{
    const char *at = from;
    row->count = 0;
    for (;;) {
        const char *start = at;
        int quoted = at < end && *at == '"', doubled = 0;
        if (quoted) {
            for (start = ++at;; at += 2) {
                at = memchr(at, '"', (size_t)(end - at));
                if (!at)
                    return final ? ODD : SHORT;
                if (at + 1 == end || at[1] != '"')
                    break;
                doubled = 1;
            }
        } else {
            while (at < end && *at != delimiter && *at != '\n' && *at != '\r')
                at++;
        }
        Py_ssize_t size = at - start;
        at += quoted;
        if (at == end && !final)
            return SHORT;
        int blank = at == from; /* neither a field nor a delimiter before it */
        if (at == end) {
            *next = end;
        } else if (*at == '\n') {
            *next = at + 1;
        } else if (*at == '\r') {
            if (at + 1 == end)
                return final ? ODD : SHORT;
            if (at[1] != '\n')
                return ODD;
            *next = at + 2;
        } else if (*at == delimiter) {
            if (!add(row, start, size, doubled))
                return -1;
            at++;
            continue;
        } else {
            return ODD;
        }
        return blank || add(row, start, size, doubled) ? PLAIN : -1;
    }
}

static PyObject *string(const Field *field)
{
    if (!field->doubled)
        return PyUnicode_DecodeUTF8(field->at, field->size, "replace");
    char *single = malloc((size_t)field->size);
    if (!single)
        return PyErr_NoMemory();
    const char *at = field->at, *end = at + field->size, *quote;
    Py_ssize_t size = 0;
    for (; (quote = memchr(at, '"', (size_t)(end - at))); at = quote + 2) {
        memcpy(single + size, at, (size_t)(quote + 1 - at));
        size += quote + 1 - at;
    }
    memcpy(single + size, at, (size_t)(end - at));
    size += end - at;
    PyObject *made = PyUnicode_DecodeUTF8(single, size, "replace");
    free(single);
    return made;
}

static int keep(PyObject *columns, const Row *row)
{
    for (Py_ssize_t i = 0; i < row->count; i++) {
        PyObject *value = string(&row->field[i]);
        if (!value || PyList_Append(PyList_GetItem(columns, i), value) < 0) {
            Py_XDECREF(value);
            return 0;
        }
        Py_DECREF(value);
    }
    return 1;
}

static PyObject *lists(Py_ssize_t count)
{
    PyObject *made = PyList_New(count);
    for (Py_ssize_t i = 0; made && i < count; i++) {
        PyObject *column = PyList_New(0);
        if (!column)
            Py_CLEAR(made);
        else
            PyList_SetItem(made, i, column);
    }
    return made;
}

/* Count the line ends in some rows. */
static Py_ssize_t line_ends(const char *restrict at, Py_ssize_t size)
{
    Py_ssize_t newlines = 0;
    for (Py_ssize_t i = 0; i < size; i++)
        newlines += at[i] == '\n';
    return newlines;
}

/* rows(block, start, final, delimiter, fields, most) -> (columns, end, lines, odd)
 *
 * Read at most `most` rows of `fields` fields each from `start` on; if `fields` is 0, of as many
 * fields as the first row has. Skip blank lines. Return the position and the number of lines at
 * which reading stopped, and whether the next row needs the csv module.
 */
static PyObject *rows(PyObject *self, PyObject *args)
{
    PyObject *block, *columns = NULL;
    Py_ssize_t start, fields, most, found = 0;
    int final, delimiter, state = PLAIN;
    Py_buffer view;
    Row row = {NULL, 0, 0};
    if (!PyArg_ParseTuple(args, "OnpCnn", &block, &start, &final, &delimiter, &fields, &most) ||
        PyObject_GetBuffer(block, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    const char *at = (const char *)view.buf + start, *end = (const char *)view.buf + view.len;
    if (fields)
        columns = lists(fields);
    while (found < most && at < end && (columns || !fields)) {
        const char *next = at;
        state = scan(at, end, final, (char)delimiter, &row, &next);
        if (state == PLAIN && row.count && fields && row.count != fields)
            state = ODD;
        if (state != PLAIN)
            break;
        if (row.count) {
            if (!fields) {
                fields = row.count;
                columns = lists(fields);
            }
            if (!columns || !keep(columns, &row))
                break;
            found++;
        }
        at = next;
    }
    Py_ssize_t stopped = at - (const char *)view.buf;
    Py_ssize_t lines = line_ends((const char *)view.buf + start, stopped - start);
    free(row.field);
    PyBuffer_Release(&view);
    if (state < 0)
        PyErr_NoMemory();
    if (!columns && !PyErr_Occurred())
        columns = lists(0);
    if (PyErr_Occurred()) {
        Py_XDECREF(columns);
        return NULL;
    }
    PyObject *made = Py_BuildValue("(Onni)", columns, stopped, lines, state == ODD);
    Py_XDECREF(columns);
    return made;
}

static PyMethodDef methods[] = {{"rows", rows, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyModuleDef_Slot slots[] = {{0, NULL}};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_separated", .m_methods = methods, .m_slots = slots};
PyMODINIT_FUNC PyInit__separated(void) { return PyModuleDef_Init(&module); }
