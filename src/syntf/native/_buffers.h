/* Shared code of the compiled loops: arrays as buffers, and builds for several processors.
 *
 * The code uses Python's stable interface. Every argument is an integer or a C-contiguous array that
 * is passed through the buffer protocol. The Python module that calls a loop checks types and shapes.
 */
#ifndef SYNTF_BUFFERS_H
#define SYNTF_BUFFERS_H
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>

/* Select by features: a processor's name, as in arch=haswell, would exclude later processors. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__)
#if __GNUC__ >= 12
#define FAST __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define FAST __attribute__((target_clones("default", "avx2", "avx512f")))
#endif
#else
#define FAST
#endif

enum { MAX_BUFFERS = 12 };
typedef struct {
    Py_buffer view[MAX_BUFFERS];
    int count;
} Buffers;

static void release(Buffers *held)
{
    while (held->count > 0)
        PyBuffer_Release(&held->view[--held->count]);
}

static void *hold(Buffers *held, PyObject *args, Py_ssize_t position, int writable)
{
    PyObject *object = PyTuple_GetItem(args, position);
    int flags = PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (!object || PyObject_GetBuffer(object, &held->view[held->count], flags) < 0)
        return NULL;
    return held->view[held->count++].buf;
}

#define READ(type, name, position)                                  \
    const type *name = hold(&held, args, position, 0);              \
    if (!name) { release(&held); return NULL; }
#define WRITE(type, name, position)                                 \
    type *name = hold(&held, args, position, 1);                    \
    if (!name) { release(&held); return NULL; }
#define LENGTH(index, type) (held.view[index].len / (Py_ssize_t)sizeof(type))

#endif
