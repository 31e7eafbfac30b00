/* SPDX-License-Identifier: BSD-3-Clause */
/* Strings whose counts of letters are near those of a query: many strings at a time.
 *
 * Counts stand in blocks of BAG_BLOCK strings, group after group of letters.  None is above
 * BAG_MOST, so that sums of their differences fit into a byte. */
#ifndef D2KE_BAGS_H
#define D2KE_BAGS_H

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { BAG_BLOCK = 64, BAG_GROUPS = 16, BAG_MOST = 15 };

static inline uint8_t bag_count(uint8_t count) { return count < BAG_MOST ? count : BAG_MOST; }

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

/* A bit for each string of the blocks: whether its counts differ by at most `limit` in all. */
static inline __attribute__((always_inline)) void bag_compare(const uint8_t *query,
                                                              const uint8_t *blocks,
                                                              int64_t n_blocks, int64_t limit,
                                                              uint64_t *bits)
{
    uint8_t most = (uint8_t)(limit < 255 ? limit : 255);
    for (int64_t b = 0; b < n_blocks; b++) {
        const uint8_t *counts = blocks + b * BAG_GROUPS * BAG_BLOCK;
        uint8_t sums[BAG_BLOCK] = {0};
        for (int g = 0; g < BAG_GROUPS; g++) {
            uint8_t count = query[g];
            for (int i = 0; i < BAG_BLOCK; i++) {
                uint8_t other = counts[g * BAG_BLOCK + i];
                uint8_t larger = other > count ? other : count;
                uint8_t smaller = other > count ? count : other;
                sums[i] = (uint8_t)(sums[i] + larger - smaller);
            }
        }
        uint64_t eights[BAG_BLOCK / 8], any = 0;
        for (int i = 0; i < BAG_BLOCK; i++) sums[i] = sums[i] <= most;
        memcpy(eights, sums, BAG_BLOCK);
        for (int i = 0; i < BAG_BLOCK / 8; i++) any |= eights[i];
        bits[b] = 0; /* eight bytes of 0 or 1 become one of eight bits */
        for (int i = 0; any && i < BAG_BLOCK / 8; i++)
            bits[b] |= eights[i] * UINT64_C(0x0102040810204080) >> 56 << 8 * i;
    }
}

static void bag_near_baseline(const uint8_t *query, const uint8_t *blocks, int64_t n_blocks,
                              int64_t limit, uint64_t *bits)
{
    bag_compare(query, blocks, n_blocks, limit, bits);
}

#if defined(__x86_64__)
__attribute__((target("avx2")))
static void bag_near_avx2(const uint8_t *query, const uint8_t *blocks, int64_t n_blocks,
                          int64_t limit, uint64_t *bits)
{
    bag_compare(query, blocks, n_blocks, limit, bits);
}

__attribute__((target("avx512f,avx512bw")))
static void bag_near_avx512(const uint8_t *query, const uint8_t *blocks, int64_t n_blocks,
                            int64_t limit, uint64_t *bits)
{
    __m512i counts[BAG_GROUPS], most = _mm512_set1_epi8((char)(limit < 255 ? limit : 255));
    for (int g = 0; g < BAG_GROUPS; g++) counts[g] = _mm512_set1_epi8((char)query[g]);
    for (int64_t b = 0; b < n_blocks; b++) {
        __m512i sum = _mm512_setzero_si512();
        for (int g = 0; g < BAG_GROUPS; g++) {
            __m512i other = _mm512_loadu_si512(blocks + (b * BAG_GROUPS + g) * BAG_BLOCK);
            __m512i larger = _mm512_max_epu8(other, counts[g]);
            sum = _mm512_add_epi8(sum, _mm512_sub_epi8(larger, _mm512_min_epu8(other, counts[g])));
        }
        bits[b] = _mm512_cmple_epu8_mask(sum, most);
    }
}
#endif

/* The same by the widest vectors of so many bytes. */
static inline void bag_near(int64_t vector_bytes, const uint8_t *query, const uint8_t *blocks,
                            int64_t n_blocks, int64_t limit, uint64_t *bits)
{
#if defined(__x86_64__)
    if (vector_bytes >= 32) {
        (vector_bytes >= 64 ? bag_near_avx512 : bag_near_avx2)(query, blocks, n_blocks, limit, bits);
        return;
    }
#endif
    (void)vector_bytes;
    bag_near_baseline(query, blocks, n_blocks, limit, bits);
}

#endif
