/* Find the known terms of texts in one pass: split a text into tokens and look each up.
 *
 * text/tokenizer.py defines which term a token stands for. text/token_table.py makes the table and
 * text/reader.py the classes of characters; they check types and shapes. A text in ASCII is divided into
 * words 64 bytes at a time, any other text by characters. A token with a character whose lower case
 * depends on other characters, or that normalizing changes, is passed to Python.
 *
 * The table is larger than the processor's cache. Frequent tokens are found in a small table of those
 * looked up before. All others are looked up some at a time, so that the processor fetches what they
 * need from memory while others are read.
 */
#include "_buffers.h"
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

/* What is known of a character, in text/reader.py: characters. 0 is a character that divides words. */
enum {
    SIZE = 24, /* from this bit on: number of bytes of its lower case in UTF-8, which are below */
    PYTHON = 1 << 29, /* Python must find the lower case */
    UNKNOWN = 1 << 30, /* the table of characters is too short */
};

typedef struct {
    const uint32_t *characters;
    Py_ssize_t known; /* the number of characters in the table */
    int exact; /* look up a token as written first, then in lower case */
    int splits; /* an apostrophe divides a word */
} Rule;

/* A token that Python must look up: part of a text, and the place of its term. */
typedef struct {
    Py_ssize_t text, start, size, place;
} OtherToken;

/* A form of at most sixteen bytes, with 0 for missing bytes, and its term. */
typedef struct {
    uint64_t first, second;
    int32_t term;
} Known;

/* A token that waits for being looked up: its form, and the place of its term. */
typedef struct {
    const uint8_t *form, *end; /* bytes up to `end` may be read */
    Py_ssize_t size, place;
    uint64_t fold, hash;
    Known known; /* empty for a longer form */
} Waiting;

enum {
    MOST_WAITING = 32,
    MOST_KNOWN = 1 << 13, /* forms that are kept with their terms; a power of two */
};

typedef struct {
    int32_t *terms;
    OtherToken *other;
    Py_ssize_t count, room, other_count, other_room;
    Waiting waiting[MOST_WAITING];
    int waiting_count;
    Known *known; /* forms that were looked up, each in the place that its hash names */
    uint8_t *forms; /* room for the form of each waiting token, and for one more */
    Py_ssize_t form_room;
} Found;

typedef enum { DONE, MORE_CHARACTERS, NO_MEMORY } Outcome;

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

/* Return how many bits precede the first one that is set; there must be one. */
static inline int before(uint64_t bits)
{
#ifdef __GNUC__
    return __builtin_ctzll(bits);
#else
    int count = 0;
    for (; !(bits & 1); bits >>= 1)
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

/* Return a bit for each of 64 bytes below 0x80: 1 for a letter or a digit. */
static inline uint64_t word_bits(const uint8_t *p)
{
    uint64_t bits = 0;
#ifdef __SSE2__
    const __m128i to_letters = _mm_set1_epi8((char)(0x80 - 'a')); /* a becomes the least number */
    const __m128i to_digits = _mm_set1_epi8((char)(0x80 - '0'));
    for (int i = 0; i < 64; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        __m128i letters = _mm_add_epi8(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), to_letters);
        __m128i digits = _mm_add_epi8(bytes, to_digits);
        __m128i found = _mm_or_si128(_mm_cmplt_epi8(letters, _mm_set1_epi8(-0x80 + 26)),
                                     _mm_cmplt_epi8(digits, _mm_set1_epi8(-0x80 + 10)));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(found) << i;
    }
#else
    for (int i = 0; i < 64; i += 8) /* the product moves the eight highest bits to the top */
        bits |= (alphanumeric(load(p + i, p + 64)) >> 7) * 0x0102040810204080u >> 56 << i;
#endif
    return bits;
}

/* --- the table ------------------------------------------------------------------------ */

/* Load up to eight bytes of a form from p on; `left` remain. `fold` is LOWER or 0. */
static inline uint64_t part(const uint8_t *p, const uint8_t *end, Py_ssize_t left, uint64_t fold)
{
    uint64_t bytes = load(p, end) | fold;
    return left < 8 ? bytes & (((uint64_t)1 << 8 * left) - 1) : bytes;
}

/* Continue a hash, which begins with the size of a form, with the next eight bytes of the form. */
static inline uint64_t mixed(uint64_t hash, uint64_t bytes)
{
    hash = (hash ^ bytes) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static inline uint64_t hash_of(const uint8_t *form, const uint8_t *end, Py_ssize_t size,
                               uint64_t fold)
{
    uint64_t hash = (uint64_t)size;
    for (Py_ssize_t i = 0; i < size; i += 8)
        hash = mixed(hash, part(form + i, end, size - i, fold));
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

/* Return the term of a form with this hash, or -1. Bytes up to `end` may be read. */
static inline int32_t find(const Table *table, const uint8_t *form, const uint8_t *end,
                           Py_ssize_t size, uint64_t fold, uint64_t hash)
{
    uint64_t slot = hash & table->mask, held;
    for (; (held = table->slots[slot]); slot = (slot + 1) & table->mask)
        if (held >> 32 == hash >> 32) {
            const int32_t *entry = table->entries + 3 * (size_t)((uint32_t)held - 1);
            if (equal(table, entry, form, end, size, fold))
                return entry[2];
        }
    return -1;
}

/* Return the term of a form, or -1. */
static inline int32_t look_up(const Table *table, const uint8_t *form, Py_ssize_t size)
{
    const uint8_t *end = form + size;
    return size > table->longest ? -1 : find(table, form, end, size, 0, hash_of(form, end, size, 0));
}

/* --- tokens that wait ----------------------------------------------------------------- */

#ifdef __GNUC__
#define FETCH(address) __builtin_prefetch(address)
#else
#define FETCH(address) ((void)(address))
#endif

/* Look up all tokens that wait. What the next loop needs is fetched from memory in each loop. */
static void look_up_waiting(const Table *table, Found *found)
{
    const Waiting *one, *last = found->waiting + found->waiting_count;
    for (one = found->waiting; one < last; one++) {
        uint64_t held = table->slots[one->hash & table->mask];
        if (held)
            FETCH(table->entries + 3 * (size_t)((uint32_t)held - 1));
    }
    for (one = found->waiting; one < last; one++) {
        uint64_t held = table->slots[one->hash & table->mask];
        if (held)
            FETCH(table->forms + table->entries[3 * (size_t)((uint32_t)held - 1)]);
    }
    for (one = found->waiting; one < last; one++) {
        int32_t term = find(table, one->form, one->end, one->size, one->fold, one->hash);
        found->terms[one->place] = term;
        if (one->known.first)
            found->known[one->hash % MOST_KNOWN] = (Known){one->known.first, one->known.second, term};
    }
    found->waiting_count = 0;
}

/* Add a term, or -1 until the term is found. */
static inline int add(Found *found, int32_t term)
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

/* Add a token whose form will be looked up. */
static inline int add_form(const Table *table, Found *found, const uint8_t *form,
                           const uint8_t *end, Py_ssize_t size, uint64_t fold)
{
    if (size > table->longest)
        return 1;
    uint64_t hash;
    Known known = {0, 0, -1};
    if (size <= 16) {
        known.first = part(form, end, size, fold);
        hash = mixed((uint64_t)size, known.first);
        if (size > 8) {
            known.second = part(form + 8, end, size - 8, fold);
            hash = mixed(hash, known.second);
        }
        const Known *before = found->known + hash % MOST_KNOWN;
        if (before->first == known.first && before->second == known.second)
            return add(found, before->term);
    } else {
        hash = hash_of(form, end, size, fold);
    }
    FETCH(table->slots + (hash & table->mask));
    found->waiting[found->waiting_count++] =
        (Waiting){form, end, size, found->count, fold, hash, known};
    if (!add(found, -1))
        return 0;
    if (found->waiting_count == MOST_WAITING)
        look_up_waiting(table, found);
    return 1;
}

/* Return the room for the form of the next token. */
static inline uint8_t *next_room(const Found *found)
{
    return found->forms + found->waiting_count * found->form_room;
}

/* Add a token that Python will look up. */
static int add_other(Found *found, Py_ssize_t text, Py_ssize_t start, Py_ssize_t size)
{
    if (found->other_count == found->other_room) {
        Py_ssize_t room = 2 * found->other_room + 64;
        OtherToken *more = realloc(found->other, (size_t)room * sizeof *more);
        if (!more)
            return 0;
        found->other = more;
        found->other_room = room;
    }
    found->other[found->other_count++] = (OtherToken){text, start, size, found->count};
    return add(found, -1);
}

/* --- texts in ASCII ------------------------------------------------------------------- */

/* Add the token of a text in ASCII that begins at `start`. */
static inline int add_token(const Rule *rule, const Table *table, const uint8_t *start,
                            const uint8_t *end, Py_ssize_t size, Found *found)
{
    int32_t written = rule->exact ? look_up(table, start, size) : -1;
    return written < 0 ? add_form(table, found, start, end, size, LOWER) : add(found, written);
}

/* Find the tokens of a text in ASCII, those of text/tokenizer.py: tokenize.
 *
 * An edge is the place where a word begins or has just ended. A token is a word, or two words with
 * an apostrophe between them at `mark`, unless the second one is an s, which is left out.
 */
static Outcome scan(const Rule *rule, const Table *table, const uint8_t *p, const uint8_t *end,
                    Found *found)
{
    const uint8_t *start = NULL, *mark = NULL;
    uint64_t last = 0; /* whether the byte before p belongs to a word */
    for (; p <= end; p += 64) { /* the end of a text is always an edge, or no word precedes it */
        uint8_t rest[64] = {0};
        if (end - p < 64)
            memcpy(rest, p, (size_t)(end - p));
        uint64_t bits = word_bits(end - p < 64 ? rest : p), edges = bits ^ (bits << 1 | last);
        last = bits >> 63;
        for (; edges; edges &= edges - 1) {
            const uint8_t *at = p + before(edges);
            if (!start) {
                start = at;
                continue;
            }
            if (mark && at == mark + 1)
                continue; /* the second word begins */
            if (!mark && !rule->splits && end - at > 1 && *at == '\'' && alphanumeric(at[1])) {
                mark = at;
                continue;
            }
            const uint8_t *stop = mark && at - mark == 2 && (at[-1] | 0x20) == 's' ? mark : at;
            if (!add_token(rule, table, start, end, stop - start, found))
                return NO_MEMORY;
            start = mark = NULL;
        }
    }
    return DONE;
}

/* --- other texts ---------------------------------------------------------------------- */

static inline uint32_t class_of(const Rule *rule, uint32_t point)
{
    return point < rule->known ? rule->characters[point] : UNKNOWN;
}

static inline int is_apostrophe(uint32_t point)
{
    return point == '\'' || point == 0x2019;
}

/* Write a character in UTF-8 at `to`, where there is room for four bytes; return what follows it. */
static inline uint8_t *encode(uint32_t point, uint8_t *to)
{
    if (point < 0x80) {
        *to++ = (uint8_t)point;
        return to;
    }
    if (point < 0x800) {
        *to++ = (uint8_t)(0xc0 | point >> 6);
    } else if (point < 0x10000) {
        *to++ = (uint8_t)(0xe0 | point >> 12);
        *to++ = (uint8_t)(0x80 | (point >> 6 & 0x3f));
    } else {
        *to++ = (uint8_t)(0xf0 | point >> 18);
        *to++ = (uint8_t)(0x80 | (point >> 12 & 0x3f));
        *to++ = (uint8_t)(0x80 | (point >> 6 & 0x3f));
    }
    *to++ = (uint8_t)(0x80 | (point & 0x3f));
    return to;
}

/* Return the term of a token as it is written, or -1. */
static int32_t term_as_written(const Table *table, const Found *found, const uint32_t *p,
                               const uint32_t *end)
{
    uint8_t *form = found->forms + MOST_WAITING * found->form_room, *to = form;
    for (; p < end && to - form <= table->longest; p++)
        to = encode(is_apostrophe(*p) ? '\'' : *p, to);
    return look_up(table, form, to - form);
}

/* Write the lower case of the word at *p to `to`, up to `last`, and move *p past the word. Return
   what follows the lower case, and add what is known of the characters to `seen`. */
static inline uint8_t *lower_case(const Rule *rule, const uint32_t **p, uint8_t *to,
                                  const uint8_t *last, uint32_t *seen)
{
    const uint32_t *next = *p;
    uint32_t class;
    for (; (class = class_of(rule, *next)); next++) {
        *seen |= class;
        if (to <= last) {
            to[0] = (uint8_t)class;
            to[1] = (uint8_t)(class >> 8);
            to[2] = (uint8_t)(class >> 16);
            to += class >> SIZE & 3;
        }
    }
    *p = next;
    return to;
}

/* Find the tokens of a text, those of text/tokenizer.py: tokenize. A zero must follow the text. */
static Outcome scan_characters(const Rule *rule, const Table *table, Py_ssize_t number,
                               const uint32_t *p, const uint32_t *end, Found *found)
{
    const uint32_t *text = p;
    for (;;) {
        while (p < end && !class_of(rule, *p))
            p++;
        if (p >= end)
            return DONE;
        const uint32_t *start = p, *word_end;
        uint8_t *form = next_room(found);
        const uint8_t *last = form + table->longest;
        uint32_t seen = 0;
        uint8_t *to = lower_case(rule, &p, form, last, &seen);
        Py_ssize_t size = to - form;
        word_end = p;
        if (!rule->splits && is_apostrophe(*p) && class_of(rule, p[1])) {
            const uint32_t *mark = p++;
            *to = '\'';
            to = lower_case(rule, &p, to + (to <= last), last, &seen);
            if (p - mark != 2 || (p[-1] | 0x20) != 's') {
                size = to - form;
                word_end = p;
            }
        }
        if (seen & UNKNOWN)
            return MORE_CHARACTERS;
        if (seen & PYTHON) {
            if (!add_other(found, number, start - text, p - start))
                return NO_MEMORY;
            continue;
        }
        int32_t written = rule->exact ? term_as_written(table, found, start, word_end) : -1;
        if (!(written < 0 ? add_form(table, found, form, form + size, size, 0)
                          : add(found, written)))
            return NO_MEMORY;
    }
}

/* Ask Python for the terms of tokens; return 0, or -1 with an exception. */
static int ask_python(Found *found, PyObject *texts, PyObject *terms)
{
    for (Py_ssize_t i = 0; i < found->other_count; i++) {
        const OtherToken *one = found->other + i;
        PyObject *text = PyList_GetItem(texts, one->text);
        PyObject *token = text ? PyUnicode_Substring(text, one->start, one->start + one->size) : NULL;
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
        for (; from < end; from++) { /* without a jump: no processor can predict it */
            int32_t term = found->terms[from];
            found->terms[to] = term;
            to += term >= 0;
        }
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

/* Set where each text begins and its size; return the memory that holds texts beyond ASCII, or NULL
   with an exception. A zero follows each of them. */
static uint32_t *begin(PyObject *texts, const uint8_t *ascii, Py_ssize_t number,
                       const void **starts, int64_t *sizes)
{
    size_t room = 1;
    for (Py_ssize_t t = 0; t < number; t++)
        if (!ascii[t])
            room += (size_t)PyUnicode_GetLength(PyList_GetItem(texts, t)) + 1;
    uint32_t *held = malloc(room * sizeof *held), *next = held;
    if (!held) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t t = 0; t < number; t++) {
        PyObject *text = PyList_GetItem(texts, t);
        Py_ssize_t size = 0;
        if (ascii[t]) {
            starts[t] = PyUnicode_AsUTF8AndSize(text, &size);
        } else {
            size = PyUnicode_GetLength(text);
            starts[t] = PyUnicode_AsUCS4(text, next, size + 1, 1);
            next += size + 1;
        }
        if (!starts[t]) {
            free(held);
            return NULL;
        }
        sizes[t] = size;
    }
    return held;
}

/* read(slots, entries, forms, characters, counts, ascii, texts, longest, exact, empty, terms, splits)
   -> the terms of all texts as bytes, or None if `characters` has too few characters;
   ascii: for each text of the list, whether it is in ASCII */
static PyObject *read_texts(PyObject *self, PyObject *args)
{
    Buffers held = {.count = 0};
    READ(uint64_t, slots, 0) READ(int32_t, entries, 1) READ(uint8_t, forms, 2)
    READ(uint32_t, characters, 3) WRITE(int64_t, counts, 4) READ(uint8_t, ascii, 5)
    PyObject *texts = PyTuple_GetItem(args, 6), *terms = PyTuple_GetItem(args, 10), *result = NULL;
    Py_ssize_t longest = PyLong_AsSsize_t(PyTuple_GetItem(args, 7)), number = LENGTH(4, int64_t);
    int exact = PyObject_IsTrue(PyTuple_GetItem(args, 8));
    int32_t empty = (int32_t)PyLong_AsLong(PyTuple_GetItem(args, 9));
    int splits = PyObject_IsTrue(PyTuple_GetItem(args, 11));
    Table table = {slots, entries, forms, forms + LENGTH(2, uint8_t),
                   (uint64_t)LENGTH(0, uint64_t) - 1, longest};
    Rule rule = {characters, LENGTH(3, uint32_t), exact, splits};
    Found found = {.form_room = longest + 8, .known = calloc(MOST_KNOWN, sizeof(Known))};
    Outcome outcome = DONE;
    uint32_t *other_texts = NULL;
    const void **starts = malloc(((size_t)number + 1) * sizeof *starts);
    found.forms = malloc((MOST_WAITING + 1) * (size_t)found.form_room);
    if (!starts || !found.forms || !found.known) {
        PyErr_NoMemory();
        goto end;
    }
    if (!(other_texts = begin(texts, ascii, number, starts, counts))) /* counts are sizes here */
        goto end;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t t = 0; t < number && outcome == DONE; t++) {
        Py_ssize_t before = found.count, size = (Py_ssize_t)counts[t];
        const uint8_t *bytes = starts[t];
        const uint32_t *points = starts[t];
        outcome = ascii[t] ? scan(&rule, &table, bytes, bytes + size, &found)
                           : scan_characters(&rule, &table, t, points, points + size, &found);
        counts[t] = found.count - before;
    }
    if (outcome == DONE)
        look_up_waiting(&table, &found);
    Py_END_ALLOW_THREADS
    if (outcome == MORE_CHARACTERS) {
        result = Py_NewRef(Py_None);
        goto end;
    }
    if (outcome == DONE && ask_python(&found, texts, terms) < 0)
        goto end;
    if (outcome == DONE) {
        Py_BEGIN_ALLOW_THREADS
        if (remove_unknown(&found, counts, number, empty) < 0)
            outcome = NO_MEMORY;
        Py_END_ALLOW_THREADS
    }
    if (outcome == NO_MEMORY)
        PyErr_NoMemory();
    else
        result = PyBytes_FromStringAndSize((const char *)found.terms,
                                           found.count * (Py_ssize_t)sizeof *found.terms);
end:
    free(starts);
    free(other_texts);
    free(found.forms);
    free(found.known);
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
    int32_t found = look_up(&table, form, size);
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
