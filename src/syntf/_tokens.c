/* Texts to the numbers of their known terms, in one pass: analysis.tokens, then a look-up.
 *
 * What each token counts as is said by analysis.py; token_table.py makes the table of it and
 * settles types and shapes. A token with a letter beyond ASCII is asked of Python, any other is
 * in the table or counts as nothing.
 */
#include "_buffers.h"
#include <string.h>

enum { OTHER = 0, BEYOND = 1 }; /* what a byte is; if neither, a letter or digit to look up */
static uint8_t as_written[256], lowered[256];

typedef struct {
    const uint64_t *slots; /* 0, or the upper half of a hash and 1 + the number of an entry */
    const int32_t *entries; /* pairs: where a key begins, and the term it stands for */
    const uint8_t *keys;
    uint64_t mask; /* the number of slots, a power of two, less one */
    Py_ssize_t longest;
} Table;

typedef struct {
    const uint8_t *fold, *words; /* words: one bit a code point, set for letters and digits */
    Py_ssize_t known_words;
    uint8_t *key;
} Rule;

typedef struct {
    const uint8_t *start;
    Py_ssize_t size, place;
} Strange;

typedef struct {
    int32_t *terms;
    Strange *strange;
    Py_ssize_t count, room, strangers, strange_room;
} Found;

typedef enum { DONE, MORE_WORDS, NO_MEMORY } Outcome;

static uint64_t hash_of(const uint8_t *key, Py_ssize_t size)
{
    uint64_t hash = (uint64_t)size, part;
    for (; size >= 8; size -= 8, key += 8) {
        memcpy(&part, key, 8);
        hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    part = 0;
    for (Py_ssize_t i = 0; i < size; i++)
        part |= (uint64_t)key[i] << (8 * i);
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 32);
}

/* the term of a key, or -1; `slot` becomes the place where the key is or would be */
static int32_t find(const Table *table, const uint8_t *key, Py_ssize_t size, uint64_t hash,
                    uint64_t *slot)
{
    *slot = hash & table->mask;
    for (uint64_t tried = 0; tried <= table->mask; tried++) {
        uint64_t held = table->slots[*slot];
        if (!held)
            return -1;
        if (held >> 32 == hash >> 32) {
            const int32_t *entry = table->entries + 2 * ((uint32_t)held - 1);
            if (entry[2] - entry[0] == size && !memcmp(table->keys + entry[0], key, (size_t)size))
                return entry[1];
        }
        *slot = (*slot + 1) & table->mask;
    }
    return -1;
}

static int32_t look_up(const Table *table, const uint8_t *key, Py_ssize_t size)
{
    uint64_t slot;
    return size > table->longest ? -1 : find(table, key, size, hash_of(key, size), &slot);
}

/* the bytes of the character beyond ASCII at p; `point` becomes its code point */
static int decode(const uint8_t *p, uint32_t *point)
{
    if (*p < 0xe0) {
        *point = (uint32_t)(p[0] & 0x1f) << 6 | (p[1] & 0x3f);
        return 2;
    }
    if (*p < 0xf0) {
        *point = (uint32_t)(p[0] & 0x0f) << 12 | (uint32_t)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
        return 3;
    }
    *point = (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3f) << 12 |
             (uint32_t)(p[2] & 0x3f) << 6 | (p[3] & 0x3f);
    return 4;
}

/* 1 for a letter or digit beyond ASCII at p, 0 for another character, -1 if `words` ends before */
static int beyond(const Rule *rule, const uint8_t *p, int *size)
{
    uint32_t point;
    *size = decode(p, &point);
    if (point >= rule->known_words)
        return -1;
    return rule->words[point >> 3] >> (point & 7) & 1;
}

static int apostrophe(const uint8_t *p, const uint8_t *end)
{
    if (p < end && *p == '\'')
        return 1;
    return end - p >= 3 && p[0] == 0xe2 && p[1] == 0x80 && p[2] == 0x99 ? 3 : 0;
}

static int add(Found *found, int32_t term)
{
    if (found->count == found->room) {
        Py_ssize_t room = 2 * found->room + 1024;
        int32_t *more = realloc(found->terms, (size_t)room * sizeof *more);
        if (!more)
            return 0;
        found->terms = more;
        found->room = room;
    }
    found->terms[found->count++] = term;
    return 1;
}

/* a token for Python to tell the term of; -1 stands in its place till then */
static int add_strange(Found *found, const uint8_t *start, Py_ssize_t size)
{
    if (found->strangers == found->strange_room) {
        Py_ssize_t room = 2 * found->strange_room + 64;
        Strange *more = realloc(found->strange, (size_t)room * sizeof *more);
        if (!more)
            return 0;
        found->strange = more;
        found->strange_room = room;
    }
    found->strange[found->strangers++] = (Strange){start, size, found->count};
    return add(found, -1);
}

/* the term of an ASCII token, as written or lower case in `key`; one as written is
   looked up in lower case too (Analyzer.candidates) */
static int32_t term_of(const Rule *rule, const Table *table, Py_ssize_t size, Py_ssize_t mark)
{
    uint8_t *key = rule->key;
    if (size - mark == 2 && size <= table->longest + 2 && (key[size - 1] | 0x20) == 's')
        size -= 2;
    int32_t term = look_up(table, key, size);
    if (term < 0 && rule->fold == as_written && size <= table->longest) {
        for (Py_ssize_t i = 0; i < size; i++)
            key[i] = key[i] == '\'' ? key[i] : lowered[key[i]];
        term = look_up(table, key, size);
    }
    return term;
}

/* [^\W_]+(?:['’][^\W_]+)? over one text */
static Outcome scan(const Rule *rule, const Table *table, const uint8_t *p, const uint8_t *end,
                    Found *found)
{
    const uint8_t *fold = rule->fold;
    Py_ssize_t limit = table->longest + 2; /* 's is taken off before a token is looked up */
    int bytes = 0, is_word;
    while (p < end) {
        if (fold[*p] == OTHER) {
            p++;
            continue;
        }
        const uint8_t *start = p;
        Py_ssize_t size = 0, mark = -1;
        int strange = 0;
        for (;;) {
            for (; p < end && fold[*p] > BEYOND; p++, size++)
                if (size < limit)
                    rule->key[size] = fold[*p];
            if (p < end && fold[*p] == BEYOND) {
                if ((is_word = beyond(rule, p, &bytes)) < 0)
                    return MORE_WORDS;
                if (is_word) {
                    strange = 1;
                    p += bytes;
                    continue;
                }
            }
            const uint8_t *next = p + apostrophe(p, end);
            if (p == start || mark >= 0 || next == p || next == end || fold[*next] == OTHER)
                break;
            if (fold[*next] == BEYOND) {
                if ((is_word = beyond(rule, next, &bytes)) < 0)
                    return MORE_WORDS;
                if (!is_word)
                    break;
            }
            mark = size;
            if (size < limit)
                rule->key[size] = '\'';
            size++;
            p = next;
        }
        if (p == start) { /* a character beyond ASCII that is no letter */
            p += bytes;
            continue;
        }
        if (strange) {
            if (!add_strange(found, start, p - start))
                return NO_MEMORY;
        } else {
            int32_t term = term_of(rule, table, size, mark < 0 ? size : mark);
            if (term >= 0 && !add(found, term))
                return NO_MEMORY;
        }
    }
    return DONE;
}

/* ask Python for the strange tokens: 0, or -1 with an exception */
static int ask(Found *found, PyObject *terms)
{
    for (Py_ssize_t i = 0; i < found->strangers; i++) {
        const Strange *one = found->strange + i;
        PyObject *token = PyUnicode_DecodeUTF8((const char *)one->start, one->size, NULL);
        PyObject *term = token ? PyObject_GetItem(terms, token) : NULL;
        found->terms[one->place] = term ? (int32_t)PyLong_AsLong(term) : -1;
        Py_XDECREF(token);
        Py_XDECREF(term);
        if (PyErr_Occurred())
            return -1;
    }
    return 0;
}

/* take out what counts as nothing; a text of which nothing is left is one `empty` */
static int settle(Found *found, int64_t *counts, Py_ssize_t texts, int32_t empty)
{
    Py_ssize_t from = 0, to = 0, nothing = 0;
    for (Py_ssize_t t = 0; t < texts; t++) {
        Py_ssize_t end = from + (Py_ssize_t)counts[t], first = to;
        for (; from < end; from++)
            if (found->terms[from] >= 0)
                found->terms[to++] = found->terms[from];
        counts[t] = to - first;
        nothing += to == first;
    }
    found->count = to;
    for (Py_ssize_t more = 0; more < nothing; more++)
        if (!add(found, empty))
            return -1;
    to += nothing;
    for (Py_ssize_t t = texts; nothing && t-- > 0;) { /* from the end, making room */
        if (counts[t] == 0) {
            found->terms[--to] = empty;
            counts[t] = 1;
            nothing--;
        } else {
            to -= (Py_ssize_t)counts[t];
            memmove(found->terms + to, found->terms + to - nothing,
                    (size_t)counts[t] * sizeof *found->terms);
        }
    }
    return 0;
}

static Table held_table(const uint64_t *slots, const int32_t *entries, const uint8_t *keys,
                        Py_ssize_t size, Py_ssize_t longest)
{
    return (Table){slots, entries, keys, (uint64_t)size - 1, longest};
}

/* --- the interface ------------------------------------------------------------------- */

/* read(slots, entries, keys, words, counts, texts, longest, exact, empty, terms)
   -> the terms of all texts as bytes, or None if `words` knows too few characters;
   texts: a list of ASCII strings and of bytes in UTF-8 */
static PyObject *read_texts(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(uint64_t, slots, 0) READ(int32_t, entries, 1) READ(uint8_t, keys, 2)
    READ(uint8_t, words, 3) WRITE(int64_t, counts, 4)
    PyObject *texts = PyTuple_GetItem(args, 5), *terms = PyTuple_GetItem(args, 9), *result = NULL;
    Py_ssize_t longest = PyLong_AsSsize_t(PyTuple_GetItem(args, 6)), number = LENGTH(4, int64_t);
    int exact = PyObject_IsTrue(PyTuple_GetItem(args, 7));
    int32_t empty = (int32_t)PyLong_AsLong(PyTuple_GetItem(args, 8));
    Table table = held_table(slots, entries, keys, LENGTH(0, uint64_t), longest);
    Rule rule = {exact ? as_written : lowered, words, 8 * LENGTH(3, uint8_t),
                 malloc((size_t)longest + 3)};
    Found found = {0};
    Outcome outcome = DONE;
    const uint8_t **starts = malloc(((size_t)number + 1) * sizeof *starts);
    if (!starts || !rule.key) {
        PyErr_NoMemory();
        goto end;
    }
    for (Py_ssize_t t = 0; t < number; t++) { /* counts: of bytes here, of terms below */
        PyObject *text = PyList_GetItem(texts, t);
        Py_ssize_t size;
        if (text && PyBytes_Check(text)) {
            starts[t] = (const uint8_t *)PyBytes_AsString(text);
            size = PyBytes_Size(text);
        } else {
            starts[t] = text ? (const uint8_t *)PyUnicode_AsUTF8AndSize(text, &size) : NULL;
        }
        if (!starts[t])
            goto end;
        counts[t] = size;
    }
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t t = 0; t < number && outcome == DONE; t++) {
        Py_ssize_t before = found.count;
        outcome = scan(&rule, &table, starts[t], starts[t] + counts[t], &found);
        counts[t] = found.count - before;
    }
    Py_END_ALLOW_THREADS
    if (outcome == MORE_WORDS) {
        result = Py_NewRef(Py_None);
        goto end;
    }
    if (outcome == DONE && ask(&found, terms) < 0)
        goto end;
    if (outcome == NO_MEMORY || settle(&found, counts, number, empty) < 0)
        PyErr_NoMemory();
    else
        result = PyBytes_FromStringAndSize((const char *)found.terms,
                                           found.count * (Py_ssize_t)sizeof *found.terms);
end:
    free(starts);
    free(rule.key);
    free(found.terms);
    free(found.strange);
    release(&held);
    return result;
}

/* fill(slots, entries, keys): a slot for each key, all different; the slots come empty */
static PyObject *fill(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    WRITE(uint64_t, slots, 0) READ(int32_t, entries, 1) READ(uint8_t, keys, 2)
    Py_ssize_t count = LENGTH(1, int32_t) / 2 - 1;
    Table table = held_table(slots, entries, keys, LENGTH(0, uint64_t), 0);
    for (Py_ssize_t i = 0; i < count; i++) {
        const uint8_t *key = keys + entries[2 * i];
        Py_ssize_t size = entries[2 * i + 2] - entries[2 * i];
        uint64_t slot, hash = hash_of(key, size);
        find(&table, key, size, hash, &slot);
        slots[slot] = hash >> 32 << 32 | (uint64_t)(i + 1);
    }
    release(&held);
    Py_RETURN_NONE;
}

/* term(slots, entries, keys, longest, key) -> the term of a key, or -1 */
static PyObject *term(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(uint64_t, slots, 0) READ(int32_t, entries, 1) READ(uint8_t, keys, 2)
    Py_ssize_t longest = PyLong_AsSsize_t(PyTuple_GetItem(args, 3));
    READ(uint8_t, key, 4)
    Table table = held_table(slots, entries, keys, LENGTH(0, uint64_t), longest);
    int32_t found = look_up(&table, key, LENGTH(3, uint8_t));
    release(&held);
    return PyLong_FromLong(found);
}

static PyMethodDef methods[] = {
    {"read", read_texts, METH_VARARGS, NULL},
    {"fill", fill, METH_VARARGS, NULL},
    {"term", term, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static int prepare(PyObject *module)
{
    for (int c = 0; c < 256; c++) {
        int upper = c >= 'A' && c <= 'Z', letter = upper || (c >= 'a' && c <= 'z');
        int word = letter || (c >= '0' && c <= '9');
        as_written[c] = (uint8_t)(c >= 0x80 ? BEYOND : word ? c : OTHER);
        lowered[c] = (uint8_t)(upper ? c + 32 : as_written[c]);
    }
    return 0;
}
static PyModuleDef_Slot slots[] = {{Py_mod_exec, prepare}, {0, NULL}};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_tokens", .m_methods = methods, .m_slots = slots};
PyMODINIT_FUNC PyInit__tokens(void) { return PyModuleDef_Init(&module); }
