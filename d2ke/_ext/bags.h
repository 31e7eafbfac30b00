/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings whose counts of letters are near those of a query: many strings at a time.
 *
 * Counts stand in blocks of BAG_BLOCK strings, group after group of letters.  Sums of their
 * differences stop at 255. */
#ifndef D2KE_BAGS_H
#define D2KE_BAGS_H

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { BAG_BLOCK = 64, BAG_GROUPS = 16, BAG_MOST = 255 };

/* A bit for each pair of letters side by side, the ends of the string included.  An edit changes
 * two of them at most (Ukkonen 1992). */
static inline uint64_t bag_grams(const uint32_t *letters, int64_t n)
{
    uint64_t bits = 0;
    uint32_t before = 0;
    for (int64_t i = 0; i <= n; i++) {
        uint32_t letter = i < n ? letters[i] + 1 : 0;
        uint32_t hash = before * UINT32_C(0x9e3779b1) ^ letter * UINT32_C(0x85ebca77);
        bits |= UINT64_C(1) << (hash >> 26);
        before = letter;
    }
    return bits;
}

/* The number of bits, without the instruction that not all processors have. */
static inline int64_t bag_bits(uint64_t x)
{
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int64_t)(x * UINT64_C(0x0101010101010101) >> 56);
}

/* A bit for each of 64 bytes, which are 0 or not. */
static inline __attribute__((always_inline)) uint64_t bag_mask(const uint8_t *bytes)
{
    uint64_t eights[BAG_BLOCK / 8], any = 0, bits = 0;
    memcpy(eights, bytes, BAG_BLOCK);
    for (int i = 0; i < BAG_BLOCK / 8; i++) any |= eights[i];
    for (int i = 0; any && i < BAG_BLOCK / 8; i++)
        bits |= (eights[i] & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56 << 8 * i;
    return bits;
}

/* The differences of all counts of each string of the blocks, added up. */
static inline __attribute__((always_inline)) void bag_add(const uint8_t *query, const uint8_t *blocks,
                                                          int64_t n_blocks, uint8_t *sums)
{
    for (int64_t b = 0; b < n_blocks; b++) {
        const uint8_t *counts = blocks + b * BAG_GROUPS * BAG_BLOCK;
        uint8_t sum[BAG_BLOCK] = {0};
        for (int g = 0; g < BAG_GROUPS; g++) {
            uint8_t count = query[g];
            for (int i = 0; i < BAG_BLOCK; i++) {
                uint8_t other = counts[g * BAG_BLOCK + i];
                uint8_t larger = other > count ? other : count;
                uint8_t smaller = other > count ? count : other;
                uint8_t added = (uint8_t)(sum[i] + (uint8_t)(larger - smaller));
                sum[i] = added < sum[i] ? BAG_MOST : added;
            }
        }
        memcpy(sums + b * BAG_BLOCK, sum, BAG_BLOCK);
    }
}

/* A bit for each of 64 sums that is in low .. low + span. */
static inline __attribute__((always_inline)) uint64_t bag_compare(const uint8_t *sums, uint8_t low,
                                                                  uint8_t span)
{
    uint8_t in[BAG_BLOCK];
    for (int i = 0; i < BAG_BLOCK; i++) in[i] = (uint8_t)(sums[i] - low) <= span;
    return bag_mask(in);
}

static void bag_sums_baseline(const uint8_t *query, const uint8_t *blocks, int64_t n_blocks,
                              uint8_t *sums)
{
    bag_add(query, blocks, n_blocks, sums);
}

static uint64_t bag_between_baseline(const uint8_t *sums, uint8_t low, uint8_t span)
{
    return bag_compare(sums, low, span);
}

#if defined(__x86_64__)
__attribute__((target("avx2")))
static void bag_sums_avx2(const uint8_t *query, const uint8_t *blocks, int64_t n_blocks,
                          uint8_t *sums)
{
    bag_add(query, blocks, n_blocks, sums);
}

__attribute__((target("avx2")))
static uint64_t bag_between_avx2(const uint8_t *sums, uint8_t low, uint8_t span)
{
    return bag_compare(sums, low, span);
}

__attribute__((target("avx512f,avx512bw")))
static void bag_sums_avx512(const uint8_t *query, const uint8_t *blocks, int64_t n_blocks,
                            uint8_t *sums)
{
    __m512i counts[BAG_GROUPS];
    for (int g = 0; g < BAG_GROUPS; g++) counts[g] = _mm512_set1_epi8((char)query[g]);
    for (int64_t b = 0; b < n_blocks; b++) {
        __m512i sum = _mm512_setzero_si512();
        for (int g = 0; g < BAG_GROUPS; g++) {
            __m512i other = _mm512_loadu_si512(blocks + (b * BAG_GROUPS + g) * BAG_BLOCK);
            __m512i larger = _mm512_max_epu8(other, counts[g]);
            sum = _mm512_adds_epu8(sum, _mm512_sub_epi8(larger, _mm512_min_epu8(other, counts[g])));
        }
        _mm512_storeu_si512(sums + b * BAG_BLOCK, sum);
    }
}

__attribute__((target("avx512f,avx512bw")))
static uint64_t bag_between_avx512(const uint8_t *sums, uint8_t low, uint8_t span)
{
    __m512i above = _mm512_sub_epi8(_mm512_loadu_si512(sums), _mm512_set1_epi8((char)low));
    return _mm512_cmple_epu8_mask(above, _mm512_set1_epi8((char)span));
}
#endif

/* Both by the widest vectors of so many bytes. */
static inline void bag_sums(int64_t vector_bytes, const uint8_t *query, const uint8_t *blocks,
                            int64_t n_blocks, uint8_t *sums)
{
#if defined(__x86_64__)
    if (vector_bytes >= 32) {
        (vector_bytes >= 64 ? bag_sums_avx512 : bag_sums_avx2)(query, blocks, n_blocks, sums);
        return;
    }
#endif
    (void)vector_bytes;
    bag_sums_baseline(query, blocks, n_blocks, sums);
}

static inline uint64_t bag_between(int64_t vector_bytes, const uint8_t *sums, uint8_t low,
                                   uint8_t span)
{
#if defined(__x86_64__)
    if (vector_bytes >= 32)
        return (vector_bytes >= 64 ? bag_between_avx512 : bag_between_avx2)(sums, low, span);
#endif
    (void)vector_bytes;
    return bag_between_baseline(sums, low, span);
}

#endif
