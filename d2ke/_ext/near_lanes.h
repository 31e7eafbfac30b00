/* SPDX-License-Identifier: BSD-3-Clause */
/* Edit distances of a query to LANES strings at a time, up to a cut.
 *
 * Each string has a lane of 16, 32 or 64 bits: a band of the column of vertical differences (Myers
 * 1999; Hyyro 2003), which moves down a row with each letter.  A path of cost c from one corner of
 * a table of m x n to the other stays in the diagonals -(c - m + n) / 2 .. (c + m - n) / 2 (Ukkonen
 * 1985), so that lanes of c + 1 bits suffice; with transpositions c + 2, since a mask of another
 * diagonal is read, and the outermost ones reach no farther.  What lies outside is taken for one
 * more than its neighbour, which is never too small.
 *
 * The band's lowest row is the same in all lanes.  A string whose lowest diagonal is below those of
 * others begins later, after letters LANE_PAD, and ends with them too: the query is taken to have
 * them before and after it, which changes no distance.
 *
 * Letters are taken modulo LANE_PAD, and in lanes of more than 16 bits modulo 32 after that, so that
 * the masks of all of them are a few registers: letters that coincide make a distance smaller, never
 * larger. */
#ifndef D2KE_NEAR_LANES_H
#define D2KE_NEAR_LANES_H

#include <stdint.h>
#include <string.h>
#include "cutoff.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    LANES = 32,
    LANE_LETTERS = 64,
    LANE_PAD = LANE_LETTERS - 1,
    LANE_TILE = 16,   /* letters of each string that are read at a time */
    LANE_SPREAD = 16, /* the largest difference of lengths in a batch */
    LANE_MARGIN = 32, /* pads before the first string and after each: tiles go beyond the strings */
    LANE_FEW = 4,     /* strings that are left to another batch */
    LANE_START = 24,  /* what a batch takes beside its letters, in letters */
};

/* Which letters have masks of their own. */
static inline int64_t lane_letters(int bits) { return bits == 16 ? LANE_LETTERS : 32; }

/* The largest cut of lanes of so many bits. */
static inline int64_t lane_cut(int bits, int edits) { return bits - 1 - (edits == CUT_OSA); }

/* Which strings, and how long they are. */
typedef struct {
    const uint8_t *texts[LANES];
    int32_t lengths[LANES];
    int64_t used;
    uint8_t distances[LANES];
} lane_batch;

/* The masks of all letters for each lowest row; row q has letters q - bits + 1 .. q. */
static inline __attribute__((always_inline)) void lane_masks(const uint32_t *letters, int64_t m,
                                                             int64_t n_rows, void *table, int bits)
{
#define LANE_MASKS(TYPE)                                                                          \
    TYPE *row = table, high = (TYPE)((TYPE)1 << (bits - 1));                                      \
    for (int64_t q = 0; q < n_rows; q++, row += size) {                                           \
        for (int64_t l = 0; l < size; l++) row[l] = q ? row[l - size] >> 1 : 0;                   \
        if (!q) row[size - 1] = (TYPE)(high - 1);                                                 \
        row[(q < m ? letters[q] % LANE_PAD : LANE_PAD) % size] |= high;                           \
    }
    const int64_t size = lane_letters(bits);
    if (bits == 16) {
        LANE_MASKS(uint16_t)
    } else if (bits == 32) {
        LANE_MASKS(uint32_t)
    } else {
        LANE_MASKS(uint64_t)
    }
#undef LANE_MASKS
}

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512bw")))
static void lane_masks_avx512(const uint32_t *letters, int64_t m, int64_t n_rows, void *table,
                              int bits)
{
    lane_masks(letters, m, n_rows, table, bits);
}
#endif

/* Letters at .. at + LANE_TILE of each string, position after position. */
typedef void (*lane_read)(const uint8_t *const *texts, int64_t at, uint8_t (*tile)[LANES]);

static void lane_read_baseline(const uint8_t *const *texts, int64_t at, uint8_t (*tile)[LANES])
{
    for (int l = 0; l < LANES; l++)
        for (int c = 0; c < LANE_TILE; c++) tile[c][l] = texts[l][at + c];
}

#if defined(__x86_64__)
/* Each round brings rows i and i + 8 together. */
__attribute__((target("avx2")))
static void lane_read_avx2(const uint8_t *const *texts, int64_t at, uint8_t (*tile)[LANES])
{
    __m256i rows[16], mixed[16];
    for (int l = 0; l < 16; l++) {
        __m128i low = _mm_loadu_si128((const __m128i *)(texts[l] + at));
        __m128i high = _mm_loadu_si128((const __m128i *)(texts[l + 16] + at));
        rows[l] = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    }
    for (int round = 0; round < 2; round++) {
        for (int l = 0; l < 8; l++) {
            mixed[2 * l] = _mm256_unpacklo_epi8(rows[l], rows[l + 8]);
            mixed[2 * l + 1] = _mm256_unpackhi_epi8(rows[l], rows[l + 8]);
        }
        for (int l = 0; l < 8; l++) {
            rows[2 * l] = _mm256_unpacklo_epi8(mixed[l], mixed[l + 8]);
            rows[2 * l + 1] = _mm256_unpackhi_epi8(mixed[l], mixed[l + 8]);
        }
    }
    for (int c = 0; c < LANE_TILE; c++) _mm256_storeu_si256((__m256i *)tile[c], rows[c]);
}

/* The masks of the letters of a tile. */
__attribute__((target("avx512f,avx512bw")))
static void lane_find_16(const uint16_t *row, const uint8_t (*tile)[LANES], uint16_t (*found)[LANES])
{
    for (int c = 0; c < LANE_TILE; c++, row += LANE_LETTERS) {
        __m512i code = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)tile[c]));
        __m512i low = _mm512_loadu_si512(row), high = _mm512_loadu_si512(row + 32);
        _mm512_storeu_si512(found[c], _mm512_permutex2var_epi16(low, code, high));
    }
}

__attribute__((target("avx512f,avx512bw")))
static void lane_find_32(const uint32_t *row, const uint8_t (*tile)[LANES], uint32_t (*found)[LANES])
{
    for (int c = 0; c < LANE_TILE; c++, row += 32) {
        __m512i low = _mm512_loadu_si512(row), high = _mm512_loadu_si512(row + 16);
        for (int l = 0; l < LANES; l += 16) {
            __m512i code = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(tile[c] + l)));
            _mm512_storeu_si512(found[c] + l, _mm512_permutex2var_epi32(low, code, high));
        }
    }
}

__attribute__((target("avx512f,avx512bw")))
static void lane_find_64(const uint64_t *row, const uint8_t (*tile)[LANES], uint64_t (*found)[LANES])
{
    for (int c = 0; c < LANE_TILE; c++, row += 32) {
        __m512i a = _mm512_loadu_si512(row), b = _mm512_loadu_si512(row + 8);
        __m512i d = _mm512_loadu_si512(row + 16), e = _mm512_loadu_si512(row + 24);
        for (int l = 0; l < LANES; l += 8) {
            __m512i code = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(tile[c] + l)));
            __mmask8 last = _mm512_test_epi64_mask(code, _mm512_set1_epi64(16));
            __m512i masks = _mm512_mask_blend_epi64(last, _mm512_permutex2var_epi64(a, code, b),
                                                    _mm512_permutex2var_epi64(d, code, e));
            _mm512_storeu_si512(found[c] + l, masks);
        }
    }
}
#endif

#define LANE_VECTORS(BITS)                                                                        \
    typedef uint##BITS##_t lane_##BITS __attribute__((vector_size(64)));                          \
    typedef uint8_t lane_bytes_##BITS __attribute__((vector_size(64 * 8 / BITS)));
LANE_VECTORS(16)
LANE_VECTORS(32)
LANE_VECTORS(64)

/* Sets the distances, and returns a bit for each that is within the cut, which is at most
 * lane_cut(BITS, edits) and at least all differences of lengths.  `table` are the masks.  With `few`, at most so many
 * that may still be near are left out, and returned there. */
#define LANE_DISTANCES(BITS, NAME, TARGET, READ, FIND, STEP)                                            \
    TARGET static inline __attribute__((always_inline)) uint32_t lane_any_##BITS##_##NAME(        \
        const uint##BITS##_t *table, int64_t m, lane_batch *batch, int64_t cut, uint32_t *few,    \
        int64_t *work, const int edits)                                                           \
    {                                                                                             \
        enum { EACH = 512 / BITS, PARTS = LANES / EACH, SIZE = BITS == 16 ? LANE_LETTERS : 32 };   \
        lane_##BITS up[PARTS], down[PARTS], steps[PARTS], top[PARTS], from[PARTS];                \
        lane_##BITS before[PARTS], crossed[PARTS];                                                \
        uint##BITS##_t first[LANES], tops[LANES], shift[LANES], found[LANE_TILE][LANES];          \
        uint8_t tile[LANE_TILE][LANES], bytes[2 * LANES] = {0};                                   \
        const uint8_t *texts[LANES];                                                              \
        const uint##BITS##_t ones = (uint##BITS##_t)-1;                                           \
        int64_t lowest = INT64_MAX, length = 0, odd = edits == CUT_OSA;                           \
        for (int l = 0; l < LANES; l++) {                                                         \
            int64_t diagonal = (cut + odd + m - batch->lengths[l]) / 2;                           \
            lowest = diagonal < lowest ? diagonal : lowest;                                       \
        }                                                                                         \
        for (int l = 0; l < LANES; l++) {                                                         \
            int64_t n = batch->lengths[l], lane = (cut + odd + m - n) / 2, rest = lane - m + n;   \
            first[l] = (uint##BITS##_t)(ones << (BITS - 1 - lane));                               \
            tops[l] = (uint##BITS##_t)(ones << (BITS - 1 - rest)) & (ones >> 1);                  \
            shift[l] = (uint##BITS##_t)(m - n);                                                   \
            texts[l] = batch->texts[l] - (lane - lowest);                                         \
            if (n + lane - lowest > length) length = n + lane - lowest;                           \
        }                                                                                         \
        memcpy(up, first, sizeof up);                                                             \
        memcpy(top, tops, sizeof top);                                                            \
        memcpy(from, shift, sizeof from);                                                         \
        memset(down, 0, sizeof down);                                                             \
        memset(steps, 0, sizeof steps);                                                           \
        memset(before, 0, sizeof before);                                                         \
        memset(crossed, 0, sizeof crossed);                                                       \
        uint32_t all = (uint32_t)((UINT64_C(1) << batch->used) - 1), near = 0;                    \
        *work += LANE_START;                                                                      \
        for (int64_t s = 0;;) {                                                                   \
            int64_t n = length - s < LANE_TILE ? length - s : LANE_TILE;                          \
            if (n > 0) {                                                                          \
                READ(texts, s, tile);                                                             \
                FIND(table + (lowest + s) * SIZE, tile, found, BITS)                      \
            }                                                                                     \
            *work += BITS / 16 * n;                                                               \
            for (int64_t c = 0; c < n; c++) {                                                     \
                for (int p = 0; p < PARTS; p++) {                                                 \
                    lane_##BITS match, zero;                                                      \
                    memcpy(&match, found[c] + p * EACH, 64);                                      \
                    if (edits == CUT_INDEL) {                                                     \
                        lane_##BITS sum = (match & up[p]) + up[p], less = up[p] & (match | ~sum); \
                        zero = less | ~up[p];                                                     \
                        up[p] = less | ~(zero >> 1);                                              \
                    } else {                                                                      \
                        lane_##BITS also = match | down[p];                                       \
                        if (edits == CUT_OSA) {                                                   \
                            also |= crossed[p] & (match << 1) & (before[p] >> 1);                 \
                            before[p] = match;                                                    \
                        }                                                                         \
                        STEP(BITS, match, also, up[p], down[p], zero)                             \
                        if (edits == CUT_OSA) crossed[p] = ~zero;                                 \
                    }                                                                             \
                    steps[p] += zero >> (BITS - 1);                                               \
                }                                                                                 \
            }                                                                                     \
            s += n;                                                                               \
            /* The value on each lane's own diagonal, which never falls. */                       \
            for (int p = 0; p < PARTS; p++) {                                                     \
                lane_##BITS a = top[p] & ~up[p], b = edits == CUT_INDEL ? a : top[p] & down[p];   \
                a -= a >> 1 & (uint##BITS##_t)0x5555555555555555;                                 \
                b -= b >> 1 & (uint##BITS##_t)0x5555555555555555;                                 \
                a = (a & (uint##BITS##_t)0x3333333333333333)                                      \
                    + (a >> 2 & (uint##BITS##_t)0x3333333333333333);                              \
                b = (b & (uint##BITS##_t)0x3333333333333333)                                      \
                    + (b >> 2 & (uint##BITS##_t)0x3333333333333333);                              \
                a += b;                                                                           \
                a = (a & (uint##BITS##_t)0x0f0f0f0f0f0f0f0f)                                      \
                    + (a >> 4 & (uint##BITS##_t)0x0f0f0f0f0f0f0f0f);                              \
                for (int w = 8; w < BITS; w *= 2) a += a >> w;                                    \
                lane_##BITS rise = (uint##BITS##_t)s - steps[p];                                  \
                a = (a & 0xff) + from[p] + (edits == CUT_INDEL ? rise + rise : rise);             \
                lane_bytes_##BITS values = __builtin_convertvector(a, lane_bytes_##BITS);         \
                lane_bytes_##BITS in = __builtin_convertvector(                                   \
                    (lane_##BITS)(a <= (uint##BITS##_t)cut), lane_bytes_##BITS);                  \
                memcpy(batch->distances + p * EACH, &values, EACH);                               \
                memcpy(bytes + p * EACH, &in, EACH);                                              \
            }                                                                                     \
            near = (uint32_t)bag_mask(bytes) & all;                                               \
            if (s >= length || !near) return near;                                                \
            if (few && bag_bits(near) <= LANE_FEW) {                                              \
                *few = near;                                                                      \
                return 0;                                                                         \
            }                                                                                     \
        }                                                                                         \
    }                                                                                             \
    TARGET static uint32_t lane_##BITS##_##NAME(const uint##BITS##_t *table, int64_t m,           \
                                                lane_batch *batch, int64_t cut, uint32_t *few,    \
                                                int64_t *work, int edits)                         \
    {                                                                                             \
        if (edits == CUT_OSA)                                                                     \
            return lane_any_##BITS##_##NAME(table, m, batch, cut, few, work, CUT_OSA);            \
        if (edits == CUT_INDEL)                                                                   \
            return lane_any_##BITS##_##NAME(table, m, batch, cut, few, work, CUT_INDEL);          \
        return lane_any_##BITS##_##NAME(table, m, batch, cut, few, work, CUT_LEVENSHTEIN);        \
    }

/* A column of the band: the diagonal differences 0, and the vertical ones of the next column.
 * ALSO: where letters match or cross, or the vertical difference was -1. */
#define LANE_STEP(BITS, MATCH, ALSO, UP, DOWN, ZERO)                                                    \
    ZERO = (((MATCH & UP) + UP) ^ UP) | ALSO;                                            \
    lane_##BITS more = DOWN | ~(ZERO | UP), less = ZERO & UP, below = ZERO >> 1;                  \
    UP = less | ~(below | more);                                                                  \
    DOWN = below & more;
/* The same: a | ~(b | c) is the function 0xf1 of three bits, and (a ^ b) | c is 0xbe. */
#define LANE_TERNARY(BITS, A, B, C, CODE)                                                         \
    (lane_##BITS) _mm512_ternarylogic_epi64((__m512i)(A), (__m512i)(B), (__m512i)(C), CODE)
#define LANE_STEP_TERNARY(BITS, MATCH, ALSO, UP, DOWN, ZERO)                                            \
    ZERO = LANE_TERNARY(BITS, (MATCH & UP) + UP, UP, ALSO, 0xbe);                         \
    lane_##BITS more = LANE_TERNARY(BITS, DOWN, ZERO, UP, 0xf1), below = ZERO >> 1;               \
    UP = LANE_TERNARY(BITS, ZERO & UP, below, more, 0xf1);                                        \
    DOWN = below & more;

#define LANE_FIND_EACH(TABLE, TILE, FOUND, BITS)                                                  \
    for (int c = 0; c < LANE_TILE; c++)                                                           \
        for (int l = 0; l < LANES; l++) FOUND[c][l] = (TABLE)[c * SIZE + TILE[c][l] % SIZE];
#define LANE_FIND_16(TABLE, TILE, FOUND, BITS) lane_find_16(TABLE, TILE, FOUND);
#define LANE_FIND_32(TABLE, TILE, FOUND, BITS) lane_find_32(TABLE, TILE, FOUND);
#define LANE_FIND_64(TABLE, TILE, FOUND, BITS) lane_find_64(TABLE, TILE, FOUND);

LANE_DISTANCES(16, baseline, , lane_read_baseline, LANE_FIND_EACH, LANE_STEP)
LANE_DISTANCES(32, baseline, , lane_read_baseline, LANE_FIND_EACH, LANE_STEP)
LANE_DISTANCES(64, baseline, , lane_read_baseline, LANE_FIND_EACH, LANE_STEP)
#if defined(__x86_64__)
#define LANE_AVX2 __attribute__((target("avx2")))
#define LANE_AVX512 __attribute__((target("avx512f,avx512bw")))
LANE_DISTANCES(16, avx2, LANE_AVX2, lane_read_avx2, LANE_FIND_EACH, LANE_STEP)
LANE_DISTANCES(32, avx2, LANE_AVX2, lane_read_avx2, LANE_FIND_EACH, LANE_STEP)
LANE_DISTANCES(64, avx2, LANE_AVX2, lane_read_avx2, LANE_FIND_EACH, LANE_STEP)
LANE_DISTANCES(16, avx512, LANE_AVX512, lane_read_avx2, LANE_FIND_16,
               LANE_STEP_TERNARY)
LANE_DISTANCES(32, avx512, LANE_AVX512, lane_read_avx2, LANE_FIND_32,
               LANE_STEP_TERNARY)
LANE_DISTANCES(64, avx512, LANE_AVX512, lane_read_avx2, LANE_FIND_64,
               LANE_STEP_TERNARY)
#endif

/* The masks of a query, with rows for all that lanes of so many bits may reach. */
static inline void lane_prepare(int64_t vector_bytes, const uint32_t *letters, int64_t m,
                                void *table, int bits)
{
    int64_t n_rows = m + bits + LANE_TILE;
#if defined(__x86_64__)
    if (vector_bytes >= 64) {
        lane_masks_avx512(letters, m, n_rows, table, bits);
        return;
    }
#endif
    (void)vector_bytes;
    lane_masks(letters, m, n_rows, table, bits);
}

/* By lanes of so many bits, and the widest vectors of so many bytes. */
static inline uint32_t lane_distances(int64_t vector_bytes, int bits, const void *table, int64_t m,
                                      lane_batch *batch, int64_t cut, uint32_t *few, int64_t *work,
                                      int edits)
{
#define LANE_CALL(NAME)                                                                           \
    return (bits == 16   ? lane_16_##NAME(table, m, batch, cut, few, work, edits)                     \
            : bits == 32 ? lane_32_##NAME(table, m, batch, cut, few, work, edits)                     \
                         : lane_64_##NAME(table, m, batch, cut, few, work, edits))
#if defined(__x86_64__)
    if (vector_bytes >= 64) LANE_CALL(avx512);
    if (vector_bytes >= 32) LANE_CALL(avx2);
#endif
    (void)vector_bytes;
    LANE_CALL(baseline);
}
#undef LANE_CALL

#endif
