/* Faster versions of some loops of _kernels.c, for processors with AVX-512 VNNI.
 *
 * Compilers do not vectorise these loops well. VNNI adds sixteen products of bytes in one step. The
 * integers are the same. Loading the module decides whether the processor can run these loops;
 * `wide(False)` turns them off for tests.
 */
#ifndef SYNTF_AVX512_H
#define SYNTF_AVX512_H
#include "_buffers.h"
#include <string.h>

enum {
    COUNTS = 512, /* columns of the penalty table */
    TILE = 64, /* output words whose products a register tile holds */
    GROUP = 6, /* input words of a tile: 24 registers of sums */
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

/* Compute reference.rate for input word r and the outputs of the tile that begins at `column`. */
WIDE static void rate_tile(const Rating *of, Py_ssize_t r, Py_ssize_t column, const int32_t *dot)
{
    Py_ssize_t count = of->width - column;
    __mmask64 all = count < TILE ? ((__mmask64)1 << count) - 1 : ~(__mmask64)0;
    __m512i shared = _mm512_setzero_si512();
    const uint64_t *bits = of->incidence + column / TILE * of->bigrams;
    for (int64_t i = of->starts[r]; i < of->starts[r + 1]; i++)
        shared = _mm512_mask_add_epi8(shared, bits[of->ids[i]], shared, _mm512_set1_epi8(1));
    uint8_t common[TILE];
    _mm512_storeu_si512(common, shared);
    const uint16_t *penalty = of->penalty + of->count_in[r];
    uint16_t *out = of->out + r * of->width + column;
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

/* Compute reference.rate tile by tile. `in` has room for the rows' vectors, padded with zeros to
 * whole groups and to a multiple of four dimensions, and for one sum of each row. A tile stays in
 * the first-level cache while all rows are processed. */
static void rate_wide(const Rating *of, const int8_t *vectors, Py_ssize_t dimensions,
                      const uint8_t *packed, int32_t *in)
{
    Py_ssize_t quads = (dimensions + 3) / 4, groups = (of->rows + GROUP - 1) / GROUP;
    int32_t *start = in + groups * GROUP * quads, dot[GROUP * TILE];
    for (Py_ssize_t r = 0; r < of->rows; r++) {
        memcpy(in + r * quads, vectors + r * dimensions, (size_t)dimensions);
        for (Py_ssize_t k = 0; k < dimensions; k++)
            start[r] -= 128 * vectors[r * dimensions + k];
    }
    for (Py_ssize_t column = 0; column < of->width; column += TILE)
        for (Py_ssize_t first = 0; first < of->rows; first += GROUP) {
            multiply_tile(in + first * quads, start + first, quads, packed + column * 4 * quads, dot);
            for (Py_ssize_t r = first; r < first + GROUP && r < of->rows; r++)
                rate_tile(of, r, column, dot + (r - first) * TILE);
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
#define look_up_wide look_up_plain
#define scale_wide scale_plain
#endif
#endif
