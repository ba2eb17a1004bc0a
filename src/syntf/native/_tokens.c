/* Find the known terms of texts in one pass: split a text into tokens and look each up.
 *
 * text/tokenizer.py defines which term a token stands for. text/token_table.py makes the table and
 * checks types and shapes. A token is put into lower case character by character. A token with a
 * character beyond ASCII that has no such lower case, or with an apostrophe too, is passed to Python.
 */
#include "_buffers.h"
#include <string.h>

#define EACH(byte) ((uint64_t)(byte) * 0x0101010101010101u) /* the byte eight times */
#define HIGH EACH(0x80)
static const uint64_t LOWER = EACH(0x20); /* the bit that all of [a-z0-9'] have and only [A-Z] lack */

typedef struct {
    const uint64_t *slots; /* 0, or the upper half of a hash and 1 + the number of an entry */
    const int32_t *entries; /* three for each form: where it begins, its size, its term */
    const uint8_t *forms, *end;
    uint64_t mask; /* the number of slots, a power of two, minus one */
    Py_ssize_t longest;
} Table;

typedef struct {
    const uint8_t *letters; /* one bit for each code point, set for letters and digits */
    Py_ssize_t known_letters;
    const uint32_t *lower; /* the lower case of each code point, 0 if Python must find it */
    Py_ssize_t known_lower;
    int exact; /* look up a token as written first, then in lower case */
    int splits; /* an apostrophe divides a word */
    uint8_t *form; /* room for one form */
} Rule;

typedef struct {
    const uint8_t *start;
    Py_ssize_t size, place;
} OtherToken;

typedef struct {
    int32_t *terms;
    OtherToken *other;
    Py_ssize_t count, room, other_count, other_room;
} Found;

typedef enum { DONE, MORE_LETTERS, NO_MEMORY } Outcome;

/* --- eight bytes at a time, the first in the lowest bits ---------------------------------------- */

/* Load eight bytes from p on, with 0 from `end` on. */
static inline uint64_t load(const uint8_t *p, const uint8_t *end)
{
    uint64_t bytes = 0;
    if (end - p >= 8)
        memcpy(&bytes, p, 8);
    else if (end > p)
        memcpy(&bytes, p, (size_t)(end - p));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return bytes;
}

/* Return how many bytes precede the first one whose highest bit is set; there must be one. */
static inline int before(uint64_t set)
{
#ifdef __GNUC__
    return __builtin_ctzll(set) / 8;
#else
    int count = 0;
    for (; !(set & 0x80); set >>= 8)
        count++;
    return count;
#endif
}

/* Return the highest bit of each byte that lies in first … last; all bytes are below 0x80. */
static inline uint64_t within(uint64_t bytes, uint8_t first, uint8_t last)
{
    return (bytes + EACH(0x80 - first)) & ~(bytes + EACH(0x7f - last)) & HIGH;
}

/* Return the highest bit of each byte that is an ASCII letter or digit. */
static inline uint64_t alphanumeric(uint64_t bytes)
{
    uint64_t low = bytes & ~HIGH;
    return (within(low | LOWER, 'a', 'z') | within(low, '0', '9')) & ~bytes;
}

/* Skip the ASCII letters and digits from p on. */
static inline const uint8_t *past_word(const uint8_t *p, const uint8_t *end)
{
    uint64_t other;
    while (!(other = ~alphanumeric(load(p, end)) & HIGH))
        p += 8;
    return p + before(other);
}

/* Find the first ASCII letter or digit, or character beyond ASCII, from p on, or `end`. */
static inline const uint8_t *next_word(const uint8_t *p, const uint8_t *end)
{
    for (; p < end; p += 8) {
        uint64_t bytes = load(p, end), found = alphanumeric(bytes) | (bytes & HIGH);
        if (found)
            return p + before(found);
    }
    return end;
}

/* --- the table ------------------------------------------------------------------------ */

/* Load up to eight bytes of a form from p on; `left` remain. `fold` is LOWER or 0. */
static inline uint64_t part(const uint8_t *p, const uint8_t *end, Py_ssize_t left, uint64_t fold)
{
    uint64_t bytes = load(p, end) | fold;
    return left < 8 ? bytes & (((uint64_t)1 << 8 * left) - 1) : bytes;
}

static inline uint64_t hash_of(const uint8_t *form, const uint8_t *end, Py_ssize_t size,
                               uint64_t fold)
{
    uint64_t hash = (uint64_t)size;
    for (Py_ssize_t i = 0; i < size; i += 8) {
        hash = (hash ^ part(form + i, end, size - i, fold)) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}

static inline int equal(const Table *table, const int32_t *entry, const uint8_t *form,
                        const uint8_t *end, Py_ssize_t size, uint64_t fold)
{
    const uint8_t *kept = table->forms + entry[0];
    if (entry[1] != size)
        return 0;
    for (Py_ssize_t i = 0; i < size; i += 8)
        if (part(kept + i, table->end, size - i, 0) != part(form + i, end, size - i, fold))
            return 0;
    return 1;
}

/* Return the term of a form, or -1. Bytes up to `end` may be read. */
static inline int32_t look_up(const Table *table, const uint8_t *form, const uint8_t *end,
                              Py_ssize_t size, uint64_t fold)
{
    if (size > table->longest)
        return -1;
    uint64_t hash = hash_of(form, end, size, fold), slot = hash & table->mask, held;
    for (; (held = table->slots[slot]); slot = (slot + 1) & table->mask)
        if (held >> 32 == hash >> 32) {
            const int32_t *entry = table->entries + 3 * (size_t)((uint32_t)held - 1);
            if (equal(table, entry, form, end, size, fold))
                return entry[2];
        }
    return -1;
}

/* --- characters beyond ASCII ---------------------------------------------------------- */

/* Return the number of bytes of the character at p, and set `point` to its code point. */
static inline int decode(const uint8_t *p, uint32_t *point)
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

/* Return 1 for a letter or digit at p, 0 for another character, -1 if `letters` is too short. */
static inline int is_letter(const Rule *rule, const uint8_t *p, int *size)
{
    uint32_t point;
    *size = 1;
    if (*p < 0x80)
        return alphanumeric(*p) != 0;
    *size = decode(p, &point);
    if (point >= rule->known_letters)
        return -1;
    return rule->letters[point >> 3] >> (point & 7) & 1;
}

/* Return the number of bytes of the apostrophe at p, plain or typographic, or 0. */
static inline int apostrophe(const uint8_t *p, const uint8_t *end)
{
    if (p < end && *p == '\'')
        return 1;
    return end - p >= 3 && p[0] == 0xe2 && p[1] == 0x80 && p[2] == 0x99 ? 3 : 0;
}

/* --- reading -------------------------------------------------------------------------- */

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

/* Add a token whose term Python will find; -1 stands in its place until then. */
static int add_other(Found *found, const uint8_t *start, Py_ssize_t size)
{
    if (found->other_count == found->other_room) {
        Py_ssize_t room = 2 * found->other_room + 64;
        OtherToken *more = realloc(found->other, (size_t)room * sizeof *more);
        if (!more)
            return 0;
        found->other = more;
        found->other_room = room;
    }
    found->other[found->other_count++] = (OtherToken){start, size, found->count};
    return add(found, -1);
}

/* Return the term of the ASCII token from start to p, which has an apostrophe of `wide` bytes at
   `mark`, or none if `mark` is NULL. */
static inline int32_t term_of(const Rule *rule, const Table *table, const uint8_t *start,
                              const uint8_t *p, const uint8_t *end, const uint8_t *mark, int wide)
{
    Py_ssize_t size = p - start;
    if (mark && p - mark == wide + 1 && (p[-1] | 0x20) == 's') {
        size = mark - start;
    } else if (mark && wide > 1) {
        Py_ssize_t first = mark - start, second = p - mark - wide;
        size = first + 1 + second;
        if (size > table->longest)
            return -1;
        memcpy(rule->form, start, (size_t)first);
        rule->form[first] = '\'';
        memcpy(rule->form + first + 1, mark + wide, (size_t)second);
        start = rule->form;
        end = start + size;
    }
    int32_t term = rule->exact ? look_up(table, start, end, size, 0) : -1;
    return term < 0 ? look_up(table, start, end, size, LOWER) : term;
}

/* Write the character with this code point at `to`; return its number of bytes. */
static inline int encode(uint32_t point, uint8_t *to)
{
    if (point < 0x80) {
        to[0] = (uint8_t)point;
        return 1;
    }
    if (point < 0x800) {
        to[0] = (uint8_t)(0xc0 | point >> 6);
        to[1] = (uint8_t)(0x80 | (point & 0x3f));
        return 2;
    }
    to[0] = (uint8_t)(0xe0 | point >> 12);
    to[1] = (uint8_t)(0x80 | (point >> 6 & 0x3f));
    to[2] = (uint8_t)(0x80 | (point & 0x3f));
    return 3;
}

/* A token with characters beyond ASCII in lower case, as far as it was read. */
typedef struct {
    const uint8_t *from; /* the first byte that is not in lower case yet */
    Py_ssize_t size;
    int python; /* Python must find the lower case */
} Lower;

/* Add the ASCII characters of a token up to p in lower case. */
static inline void add_ascii(const Rule *rule, const Table *table, Lower *lower, const uint8_t *p)
{
    for (; lower->from < p && lower->size <= table->longest; lower->from++)
        rule->form[lower->size++] = *lower->from | 0x20;
    lower->from = p;
}

/* Read letters beyond ASCII from p on and add them in lower case. Return what follows them, or NULL
   if `letters` is too short. */
static inline const uint8_t *read_others(const Rule *rule, const Table *table, Lower *lower,
                                         const uint8_t *p, const uint8_t *end)
{
    add_ascii(rule, table, lower, p);
    while (p < end && *p >= 0x80) {
        uint32_t point, small;
        int bytes = decode(p, &point);
        if (point >= rule->known_letters)
            return NULL;
        if (!(rule->letters[point >> 3] >> (point & 7) & 1))
            break;
        p += bytes;
        if (point >= rule->known_lower || !(small = rule->lower[point]))
            lower->python = 1;
        else if (lower->size <= table->longest)
            lower->size += encode(small, rule->form + lower->size);
    }
    lower->from = p;
    return p;
}

/* Return the term of a token from start to p that has characters beyond ASCII, -1 for none. */
static inline int32_t other_term(const Rule *rule, const Table *table, Lower *lower,
                                 const uint8_t *start, const uint8_t *p, const uint8_t *end)
{
    add_ascii(rule, table, lower, p);
    int32_t term = rule->exact ? look_up(table, start, end, p - start, 0) : -1;
    if (term >= 0 || lower->size > table->longest)
        return term;
    return look_up(table, rule->form, rule->form + lower->size, lower->size, 0);
}

/* Find the terms of one text, with the tokens of text/tokenizer.py: tokenize. */
static Outcome scan(const Rule *rule, const Table *table, const uint8_t *p, const uint8_t *end,
                    Found *found)
{
    while ((p = next_word(p, end)) < end) {
        const uint8_t *start = p, *mark = NULL;
        int other = 0, wide = 0, letter;
        Lower lower = {start, 0, 0};
        for (;;) {
            p = past_word(p, end);
            if (p < end && *p >= 0x80) {
                const uint8_t *next = read_others(rule, table, &lower, p, end);
                if (!next)
                    return MORE_LETTERS;
                if (next > p) {
                    other = 1;
                    p = next;
                    continue;
                }
            }
            if (p == start || mark || rule->splits || !(wide = apostrophe(p, end)) || p + wide == end)
                break;
            int size;
            if ((letter = is_letter(rule, p + wide, &size)) < 0)
                return MORE_LETTERS;
            if (!letter)
                break;
            mark = p;
            p += wide;
        }
        if (p == start) { /* a character beyond ASCII that is not a letter */
            uint32_t point;
            p += decode(p, &point);
        } else if (other && !mark && !lower.python) {
            int32_t term = other_term(rule, table, &lower, start, p, end);
            if (term >= 0 && !add(found, term))
                return NO_MEMORY;
        } else if (other) {
            if (!add_other(found, start, p - start))
                return NO_MEMORY;
        } else {
            int32_t term = term_of(rule, table, start, p, end, mark, wide);
            if (term >= 0 && !add(found, term))
                return NO_MEMORY;
        }
    }
    return DONE;
}

/* Ask Python for the terms of tokens whose lower case it must find; return 0, or -1 with an exception. */
static int ask_python(Found *found, PyObject *terms)
{
    for (Py_ssize_t i = 0; i < found->other_count; i++) {
        const OtherToken *one = found->other + i;
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

/* Remove tokens without a term. A text without any term gets the single term `empty`. */
static int remove_unknown(Found *found, int64_t *counts, Py_ssize_t texts, int32_t empty)
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
    for (Py_ssize_t t = texts; nothing && t-- > 0;) { /* from the end, to make room */
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

/* --- the interface ------------------------------------------------------------------- */

/* read(slots, entries, forms, letters, counts, texts, longest, exact, empty, terms, lower, splits)
   -> the terms of all texts as bytes, or None if `letters` knows too few characters;
   texts: a list of ASCII strings and of bytes in UTF-8 */
static PyObject *read_texts(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(uint64_t, slots, 0) READ(int32_t, entries, 1) READ(uint8_t, forms, 2)
    READ(uint8_t, letters, 3) WRITE(int64_t, counts, 4) READ(uint32_t, lower, 10)
    PyObject *texts = PyTuple_GetItem(args, 5), *terms = PyTuple_GetItem(args, 9), *result = NULL;
    Py_ssize_t longest = PyLong_AsSsize_t(PyTuple_GetItem(args, 6)), number = LENGTH(4, int64_t);
    int exact = PyObject_IsTrue(PyTuple_GetItem(args, 7));
    int splits = PyObject_IsTrue(PyTuple_GetItem(args, 11));
    int32_t empty = (int32_t)PyLong_AsLong(PyTuple_GetItem(args, 8));
    Table table = {slots, entries, forms, forms + LENGTH(2, uint8_t),
                   (uint64_t)LENGTH(0, uint64_t) - 1, longest};
    Rule rule = {letters, 8 * LENGTH(3, uint8_t), lower, LENGTH(5, uint32_t), exact, splits,
                 malloc((size_t)longest + 8)};
    Found found = {0};
    Outcome outcome = DONE;
    const uint8_t **starts = malloc(((size_t)number + 1) * sizeof *starts);
    if (!starts || !rule.form) {
        PyErr_NoMemory();
        goto end;
    }
    for (Py_ssize_t t = 0; t < number; t++) { /* counts of bytes here, of terms below */
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
    if (outcome == MORE_LETTERS) {
        result = Py_NewRef(Py_None);
        goto end;
    }
    if (outcome == DONE && ask_python(&found, terms) < 0)
        goto end;
    if (outcome == NO_MEMORY || remove_unknown(&found, counts, number, empty) < 0)
        PyErr_NoMemory();
    else
        result = PyBytes_FromStringAndSize((const char *)found.terms,
                                           found.count * (Py_ssize_t)sizeof *found.terms);
end:
    free(starts);
    free(rule.form);
    free(found.terms);
    free(found.other);
    release(&held);
    return result;
}

/* fill(slots, entries, forms): put each form into a slot; forms differ, and slots are all 0 */
static PyObject *fill(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    WRITE(uint64_t, slots, 0) READ(int32_t, entries, 1) READ(uint8_t, forms, 2)
    uint64_t mask = (uint64_t)LENGTH(0, uint64_t) - 1;
    for (Py_ssize_t i = 0; i < LENGTH(1, int32_t) / 3; i++) {
        const uint8_t *form = forms + entries[3 * i];
        Py_ssize_t size = entries[3 * i + 1];
        uint64_t hash = hash_of(form, form + size, size, 0), slot = hash & mask;
        while (slots[slot])
            slot = (slot + 1) & mask;
        slots[slot] = hash >> 32 << 32 | (uint64_t)(i + 1);
    }
    release(&held);
    Py_RETURN_NONE;
}

/* term(slots, entries, forms, form, longest) -> term of the form, or -1 */
static PyObject *term(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(uint64_t, slots, 0) READ(int32_t, entries, 1) READ(uint8_t, forms, 2) READ(uint8_t, form, 3)
    Py_ssize_t longest = PyLong_AsSsize_t(PyTuple_GetItem(args, 4)), size = LENGTH(3, uint8_t);
    Table table = {slots, entries, forms, forms + LENGTH(2, uint8_t),
                   (uint64_t)LENGTH(0, uint64_t) - 1, longest};
    int32_t found = look_up(&table, form, form + size, size, 0);
    release(&held);
    return PyLong_FromLong(found);
}

static PyMethodDef methods[] = {
    {"read", read_texts, METH_VARARGS, NULL},
    {"fill", fill, METH_VARARGS, NULL},
    {"term", term, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef_Slot slots[] = {{0, NULL}};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_tokens", .m_methods = methods, .m_slots = slots};
PyMODINIT_FUNC PyInit__tokens(void) { return PyModuleDef_Init(&module); }
