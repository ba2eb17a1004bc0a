/* Faster versions of some loops of _kernels.c, for processors with AVX-512 VNNI.
 *
 * Compilers do not vectorise these loops well. VNNI adds sixteen products of bytes in one step. The
 * integers are the same. Loading the module decides whether the processor can run these loops;
 * `wide(False)` turns them off for tests.
 */
#ifndef SYNTF_AVX512_H
#define SYNTF_AVX512_H
#include "_best.h"
#include "_buffers.h"
#include <math.h>
#include <string.h>

enum {
    COUNTS = 512, /* columns of the penalty table */
    TILE = 64,  /* output words whose products a register tile holds */
    GROUP = 6,  /* input words of a tile: 24 registers of sums */
    FEW = 3,    /* outputs of a tile that are rated faster one by one than all together */
};

/* The arguments of reference.rate except the vectors; 64 bits of incidence for each tile and bigram. */
typedef struct {
    Py_ssize_t rows, width, bigrams;
    const float *scale_in, *scale_out;
    const int64_t *starts, *ids;
    const uint64_t *incidence;
    const uint8_t *count_in, *count_out;
    const uint16_t *penalty;
    uint16_t *out;
} Rating;

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

static int wide_is_here(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vnni");
}

/* Compute inner products of GROUP input words with a tile of outputs, four dimensions at a time.
 *
 * The processor multiplies unsigned by signed bytes, so the tile holds 128 more than the
 * vectors do, and each sum starts 128 times the input's sum below zero. */
WIDE static void multiply_tile(const int32_t *in, const int32_t *start, Py_ssize_t quads,
                               const uint8_t *tile, int32_t *dot)
{
    __m512i sum[GROUP][4];
#pragma GCC unroll 6
    for (int r = 0; r < GROUP; r++)
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++)
            sum[r][j] = _mm512_set1_epi32(start[r]);
    for (Py_ssize_t q = 0; q < quads; q++) {
        __m512i out[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++)
            out[j] = _mm512_loadu_si512(tile + (4 * q + j) * 64);
#pragma GCC unroll 6
        for (int r = 0; r < GROUP; r++) {
            __m512i four = _mm512_set1_epi32(in[r * quads + q]);
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++)
                sum[r][j] = _mm512_dpbusd_epi32(sum[r][j], out[j], four);
        }
    }
#pragma GCC unroll 6
    for (int r = 0; r < GROUP; r++)
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++)
            _mm512_storeu_si512(dot + r * TILE + 16 * j, sum[r][j]);
}

/* Return one bit for each output of the tile that begins at `column`. The last tile can be short. */
static uint64_t tile_mask(const Rating *of, Py_ssize_t column)
{
    Py_ssize_t count = of->width - column;
    return count < TILE ? ((uint64_t)1 << count) - 1 : ~(uint64_t)0;
}

/* Compute reference.rate for input word r and the outputs of the tile that begins at `column`. */
WIDE static void rate_tile(const Rating *of, Py_ssize_t r, Py_ssize_t column, const int32_t *dot,
                           uint16_t *out)
{
    __mmask64 all = tile_mask(of, column);
    __m512i shared = _mm512_setzero_si512();
    const uint64_t *bits = of->incidence + column / TILE * of->bigrams;
    for (int64_t i = of->starts[r]; i < of->starts[r + 1]; i++)
        shared = _mm512_mask_add_epi8(shared, bits[of->ids[i]], shared, _mm512_set1_epi8(1));
    uint8_t common[TILE];
    _mm512_storeu_si512(common, shared);
    const uint16_t *penalty = of->penalty + of->count_in[r];
    for (int j = 0; j < TILE; j += 16) {
        __mmask16 here = (__mmask16)(all >> j);
        __m512 scale = _mm512_mul_ps(_mm512_set1_ps(of->scale_in[r]),
                                     _mm512_maskz_loadu_ps(here, of->scale_out + column + j));
        __m512 cosine = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_loadu_si512(dot + j)), scale);
        __m512i row = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(common + j)));
        __m512i total = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(here, of->count_out + column + j));
        __m512i place = _mm512_add_epi32(_mm512_mullo_epi32(row, _mm512_set1_epi32(COUNTS)), total);
        __m512i less = _mm512_and_si512(_mm512_i32gather_epi32(place, penalty, 2),
                                        _mm512_set1_epi32(0xffff)); /* two bytes of the four read */
        __m512i level = _mm512_sub_epi32(_mm512_cvtps_epi32(cosine), less);
        level = _mm512_max_epi32(level, _mm512_setzero_si512());
        _mm256_mask_storeu_epi16(out + j, here, _mm512_cvtepi32_epi16(level));
    }
}

/* Copy the vectors of all rows to `in`, padded with zeros, and return the start of each row's sums.
 *
 * `in` has room for whole groups of rows, for a multiple of four dimensions, and for the starts. It
 * is all zero before. */
static int32_t *pad_inputs(Py_ssize_t rows, const int8_t *vectors, Py_ssize_t dimensions, int32_t *in)
{
    Py_ssize_t quads = (dimensions + 3) / 4, groups = (rows + GROUP - 1) / GROUP;
    int32_t *start = in + groups * GROUP * quads;
    for (Py_ssize_t r = 0; r < rows; r++) {
        memcpy(in + r * quads, vectors + r * dimensions, (size_t)dimensions);
        int32_t sum = 0;
        for (Py_ssize_t k = 0; k < dimensions; k++)
            sum += vectors[r * dimensions + k];
        start[r] = -128 * sum;
    }
    return start;
}

/* Compute reference.rate tile by tile; `in` is that of pad_inputs. A tile stays in the first-level
 * cache while all rows are processed. */
static void rate_wide(const Rating *of, const int8_t *vectors, Py_ssize_t dimensions,
                      const uint8_t *packed, int32_t *in)
{
    Py_ssize_t quads = (dimensions + 3) / 4;
    int32_t *start = pad_inputs(of->rows, vectors, dimensions, in), dot[GROUP * TILE];
    for (Py_ssize_t column = 0; column < of->width; column += TILE)
        for (Py_ssize_t first = 0; first < of->rows; first += GROUP) {
            multiply_tile(in + first * quads, start + first, quads, packed + column * 4 * quads, dot);
            for (Py_ssize_t r = first; r < first + GROUP && r < of->rows; r++)
                rate_tile(of, r, column, dot + (r - first) * TILE,
                          of->out + r * of->width + column);
        }
}

/* Compute reference.rate for input word r and output j of the tile that begins at `column`. */
WIDE static int32_t rate_one(const Rating *of, Py_ssize_t r, Py_ssize_t column, int j, int32_t dot)
{
    const uint64_t *bits = of->incidence + column / TILE * of->bigrams;
    Py_ssize_t shared = 0;
    for (int64_t i = of->starts[r]; i < of->starts[r + 1]; i++)
        shared += bits[of->ids[i]] >> j & 1;
    float scale = of->scale_in[r] * of->scale_out[column + j];
    int32_t level = (int32_t)rintf((float)dot * scale);
    level -= of->penalty[shared * COUNTS + of->count_in[r] + of->count_out[column + j]];
    return level > 0 ? level : 0;
}

/* Return which outputs of the tile that begins at `column` have a product above the bound. */
WIDE static uint64_t find_candidates(const Rating *of, Py_ssize_t column, const int32_t *dot,
                                     float bound)
{
    uint64_t all = tile_mask(of, column), found = 0;
#pragma GCC unroll 4
    for (int j = 0; j < TILE; j += 16) {
        __m512 scale = _mm512_maskz_loadu_ps((__mmask16)(all >> j), of->scale_out + column + j);
        __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_loadu_si512(dot + j)), scale);
        __mmask16 above = _mm512_cmp_ps_mask(product, _mm512_set1_ps(bound), _CMP_GT_OQ);
        found |= (uint64_t)above << j;
    }
    return found & all;
}

_Static_assert(GROUP <= SPARE_BOUNDS + 1, "the last group has room for bounds without an input");

/* Return one bit for each of GROUP input words that has a product above its bound. */
WIDE static unsigned find_rows(const Rating *of, Py_ssize_t column, const int32_t *dot,
                               const float *bounds)
{
    uint64_t all = tile_mask(of, column);
    __m512 scale[TILE / 16];
    unsigned found = 0;
#pragma GCC unroll 4
    for (int j = 0; j < TILE / 16; j++)
        scale[j] = _mm512_maskz_loadu_ps((__mmask16)(all >> 16 * j), of->scale_out + column + 16 * j);
#pragma GCC unroll 6
    for (int r = 0; r < GROUP; r++) {
        __m512 most = _mm512_set1_ps(-INFINITY);
#pragma GCC unroll 4
        for (int j = 0; j < TILE / 16; j++) {
            __m512i products = _mm512_loadu_si512(dot + r * TILE + 16 * j);
            most = _mm512_max_ps(most, _mm512_mul_ps(_mm512_cvtepi32_ps(products), scale[j]));
        }
        __mmask16 above = _mm512_cmp_ps_mask(most, _mm512_set1_ps(bounds[r]), _CMP_GT_OQ);
        found |= (unsigned)(above != 0) << r;
    }
    return found;
}

/* Find the best outputs of each row tile by tile; `in` is that of pad_inputs. After the first tile
 * few outputs can be among the best, and only they are rated. */
WIDE static void find_best_wide(const Rating *of, const int8_t *vectors, Py_ssize_t dimensions,
                                const uint8_t *packed, int32_t *in, Best *best)
{
    Py_ssize_t quads = (dimensions + 3) / 4;
    int32_t *start = pad_inputs(of->rows, vectors, dimensions, in), dot[GROUP * TILE];
    for (Py_ssize_t column = 0; column < of->width; column += TILE)
        for (Py_ssize_t first = 0; first < of->rows; first += GROUP) {
            multiply_tile(in + first * quads, start + first, quads, packed + column * 4 * quads, dot);
            unsigned rows = find_rows(of, column, dot, best->bounds + first);
            for (; rows; rows &= rows - 1) {
                int place = __builtin_ctz(rows);
                Py_ssize_t r = first + place;
                const int32_t *own = dot + place * TILE;
                uint64_t some = find_candidates(of, column, own, best->bounds[r]);
                uint16_t levels[TILE];
                int many = __builtin_popcountll(some) > FEW;
                if (many)
                    rate_tile(of, r, column, own, levels);
                for (; some; some &= some - 1) {
                    int j = __builtin_ctzll(some);
                    int32_t level = many ? levels[j] : rate_one(of, r, column, j, own[j]);
                    insert_best(best, r, of->scale_in[r], column + j, level);
                }
            }
        }
}

WIDE static int64_t look_up_wide(const uint16_t *levels, const int64_t *from_top, Py_ssize_t width,
                                 int64_t *weights)
{
    __m512i sum = _mm512_setzero_si512();
    for (Py_ssize_t w = 0; w < width; w += 8) {
        __mmask8 here = (__mmask8)(width - w < 8 ? (1 << (width - w)) - 1 : 0xff);
        __m256i place = _mm256_cvtepu16_epi32(_mm_maskz_loadu_epi16(here, levels + w));
        __m512i value = _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), here, place, from_top, 8);
        _mm512_mask_storeu_epi64(weights + w, here, value);
        sum = _mm512_add_epi64(sum, value);
    }
    return _mm512_reduce_add_epi64(sum);
}

WIDE static int64_t scale_wide(int64_t *weights, Py_ssize_t width, double scale)
{
    __m512i used = _mm512_setzero_si512();
    for (Py_ssize_t w = 0; w < width; w += 8) {
        __mmask8 here = (__mmask8)(width - w < 8 ? (1 << (width - w)) - 1 : 0xff);
        __m512d value = _mm512_cvtepi64_pd(_mm512_maskz_loadu_epi64(here, weights + w));
        __m512i scaled = _mm512_cvtpd_epi64(_mm512_mul_pd(value, _mm512_set1_pd(scale)));
        _mm512_mask_storeu_epi64(weights + w, here, scaled);
        used = _mm512_add_epi64(used, scaled);
    }
    return _mm512_reduce_add_epi64(used);
}

#else
static int wide_is_here(void) { return 0; }
#define rate_wide(of, vectors, dimensions, packed, in)
#define find_best_wide(of, vectors, dimensions, packed, in, best)
#define look_up_wide look_up_plain
#define scale_wide scale_plain
#endif
#endif
