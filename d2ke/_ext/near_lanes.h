/* SPDX-License-Identifier: BSD-3-Clause */
/* Levenshtein distances of a short query to a block of strings at a time, with AVX-512.
 *
 * A string of the block has a lane of 16 bits, the column of the query's vertical differences
 * (Myers 1999; Hyyro 2003).  Letters are taken modulo LANE_LETTERS, so that the masks of all of
 * them are two registers: letters that coincide make a distance smaller, never larger. */
#ifndef D2KE_NEAR_LANES_H
#define D2KE_NEAR_LANES_H

#include <stdint.h>
#include "bags.h"

enum { LANE_LETTERS = 64, LANE_QUERY = 16, LANE_TEXT = 24, LANE_BYTES = 64 };

#if defined(__x86_64__)
typedef uint16_t lane_vector __attribute__((vector_size(64)));

/* The distances of a query of m letters to a block of strings, all n letters long.  `columns` are
 * their first letters, then their second, ...  Returns a bit for each that is within the cut. */
__attribute__((target("avx512f,avx512bw")))
static uint64_t lane_distances(const uint16_t *masks, int64_t m, const uint8_t *columns, int64_t n,
                               int64_t cut, uint8_t *distances)
{
    __m512i low = _mm512_loadu_si512(masks), high = _mm512_loadu_si512(masks + 32);
    __m512i up[2], down[2];
    for (int half = 0; half < 2; half++) {
        up[half] = _mm512_set1_epi16(-1);
        down[half] = _mm512_setzero_si512();
    }
    for (int64_t j = 0; j < n; j++) {
        for (int half = 0; half < 2; half++) {
            const uint8_t *letters = columns + j * BAG_BLOCK + half * 32;
            __m512i code = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)letters));
            __m512i match = _mm512_permutex2var_epi16(low, code, high), u = up[half], d = down[half];
            __m512i sum = _mm512_add_epi16(_mm512_and_si512(match, u), u);
            /* (sum ^ u) | match | d, then ~(d | ~(zero | u)) */
            __m512i zero = _mm512_ternarylogic_epi64(sum, u, _mm512_or_si512(match, d), 0xbe);
            __m512i not_more = _mm512_ternarylogic_epi64(d, zero, u, 0xe);
            __m512i less = _mm512_and_si512(zero, u);
            /* Both are shifted by a row, and row 0 gives a difference of +1. */
            not_more = _mm512_add_epi16(not_more, not_more);
            less = _mm512_add_epi16(less, less);
            up[half] = _mm512_ternarylogic_epi64(less, zero, not_more, 0xf2);
            down[half] = _mm512_andnot_si512(not_more, zero);
        }
    }
    uint64_t near = 0;
    __m512i most = _mm512_set1_epi16((short)(cut < LANE_TEXT ? cut : LANE_TEXT));
    uint16_t own = (uint16_t)((1u << m) - 1), less_rows = (uint16_t)(n - LANE_QUERY);
    for (int half = 0; half < 2; half++) {
        /* The distance is n and the sum of the differences; bits of `up` and `~down` add up to
         * that sum and LANE_QUERY. */
        lane_vector a = (lane_vector)up[half] & own, b = ~((lane_vector)down[half] & own);
        a -= a >> 1 & 0x5555;
        b -= b >> 1 & 0x5555;
        a = (a & 0x3333) + (a >> 2 & 0x3333) + (b & 0x3333) + (b >> 2 & 0x3333);
        a = (a & 0x0f0f) + (a >> 4 & 0x0f0f);
        a = ((a + (a >> 8)) & 0xff) + less_rows;
        __m256i bytes = _mm512_cvtepi16_epi8((__m512i)a);
        _mm256_storeu_si256((__m256i *)(distances + half * 32), bytes);
        near |= (uint64_t)_mm512_cmple_epi16_mask((__m512i)a, most) << 32 * half;
    }
    return near;
}
#else
static uint64_t lane_distances(const uint16_t *masks, int64_t m, const uint8_t *columns, int64_t n,
                               int64_t cut, uint8_t *distances)
{
    (void)masks, (void)m, (void)columns, (void)n, (void)cut, (void)distances;
    return 0;
}
#endif

#endif
