/* SPDX-License-Identifier: BSD-3-Clause */
/* The strings that are within a radius of one, found by an index of pieces or by their letters.
 *
 * Cut into radius + 1 pieces, a string within the radius has a piece that no edit touches: it
 * occurs in the query, with at most as many edits before it as there are pieces before it, and
 * likewise behind it.  So piece i starts in the query within i places of where it starts in its own
 * string, and, counted from the end, within radius - i places (Li, Deng, Wang & Feng 2011,
 * Pass-Join).  The index maps (length of the string, number of the piece, its letters) to the
 * strings; only hashes are compared, and every candidate is computed.
 *
 * All strings are in the order of their lengths, so that those of one length stand together. */
#ifndef D2KE_NEAR_STRINGS_H
#define D2KE_NEAR_STRINGS_H

#include <stdlib.h>
#include "bags.h"
#include "cutoff.h"
#include "kernel.h"
#include "near_lanes.h"
#include "neighbor_heap.h"

typedef struct {
    const uint32_t *letters;
    const int64_t *offsets;
    const uint8_t *bags;
    const uint8_t *blocks;  /* the same for bag_near */
    const uint8_t *columns; /* letters for lane_distances */
    const uint64_t *grams;
    int64_t n;
} near_strings;

typedef struct {
    uint64_t key;
    int64_t start; /* -1: the slot is empty */
} near_slot;

typedef struct {
    near_strings x, y;
    int64_t radius;
    int64_t n_letters;
    int64_t longest;        /* of x and y */
    const int64_t *starts;  /* strings of y of length l: starts[l] .. starts[l + 1] */
    int64_t n_lengths;      /* longest of y, and one */
    int64_t half;           /* only earlier strings: each pair once */
    int64_t skip;           /* y is x, and no string is its own neighbour */
    /* The index; no slots: all strings of a length that may do are candidates. */
    const near_slot *slots;
    const uint64_t *filter; /* a bit for each key, by its first bits */
    int64_t slot_bits, filter_bits;
    const int32_t *items;   /* of a key, the last of them as its complement */
    const uint64_t *powers; /* of the hash */
    /* The nearest k: heaps of all queries, with the numbers that y's strings have for the user. */
    int64_t k;
    double *distances;
    int64_t *indices;
    const int64_t *names;
    /* For each query: of allowed lengths, candidates, those with the letters, computed in full. */
    int64_t *counts;
    /* For each query, NEAR_WORK numbers: lookups, pairs with a cut-off band, letters times words of
     * these, and letters of blocks computed by lane_distances. */
    int64_t *work;
    int64_t vector_bytes; /* of the instruction set in use */
} near_search;

enum {
    NEAR_BLOCKS = 16, /* whose letters are compared at a time */
    NEAR_WORK = 4,
};

/* Pairs within the radius: query, string, distance. */
typedef struct {
    int32_t *values;
    int64_t used, room, failed;
} near_pairs;

typedef struct {
    cut_pattern pattern;
    uint64_t *hashes;
    int32_t *stamps; /* of each string of y: the last query that had it as a candidate */
    near_pairs pairs;
    int64_t since;
    uint64_t bits[NEAR_BLOCKS];
    uint16_t masks[LANE_LETTERS]; /* where each letter occurs in a short query */
    int64_t exact;                /* whether no other letter of the alphabet has the same mask */
} near_thread;

#define NEAR_BASE UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t near_key(uint64_t hash, int64_t length, int64_t piece)
{
    uint64_t key = hash ^ ((uint64_t)length << 32 ^ (uint64_t)piece) * UINT64_C(0xd6e8feb86659fd93);
    key = (key ^ key >> 32) * UINT64_C(0xd6e8feb86659fd93);
    key = (key ^ key >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return key ^ key >> 32;
}

/* Hashes of the prefixes: letters a .. b have hashes[b] - hashes[a] * powers[b - a]. */
static inline void near_hash(const uint32_t *letters, int64_t n, uint64_t *hashes)
{
    hashes[0] = 0;
    for (int64_t i = 0; i < n; i++) hashes[i + 1] = hashes[i] * NEAR_BASE + letters[i] + 1;
}

/* The piece of number i of a string of this length, cut into `pieces`. */
static inline void near_piece(int64_t length, int64_t pieces, int64_t i, int64_t *start,
                              int64_t *size)
{
    int64_t least = length / pieces, first_longer = pieces - length % pieces;
    *start = i * least + (i > first_longer ? i - first_longer : 0);
    *size = least + (i >= first_longer);
}

static inline int near_append(near_pairs *pairs, int64_t i, int64_t j, int64_t distance)
{
    if (pairs->used == pairs->room) {
        int64_t room = pairs->room ? 2 * pairs->room : 1024;
        int32_t *values = realloc(pairs->values, (size_t)room * 3 * sizeof *values);
        if (!values) {
            pairs->failed = 1;
            return 0;
        }
        pairs->values = values;
        pairs->room = room;
    }
    int32_t *entry = pairs->values + 3 * pairs->used++;
    entry[0] = (int32_t)i;
    entry[1] = (int32_t)j;
    entry[2] = (int32_t)distance;
    return 1;
}

static inline int near_goes_on(near_thread *t, int64_t work, const d2ke_poll *poll)
{
    t->since += work;
    if (t->since <= 1000000) return 1;
    t->since = 0;
    return !d2ke_stopped(poll);
}

/* Keeps a string at a distance within the cut; 0: stop. */
static inline int near_keep(const near_search *s, near_thread *t, int64_t i, int64_t j, int64_t d,
                            int64_t *cut)
{
    s->counts[4 * i + 3]++;
    if (!s->k) return near_append(&t->pairs, i, j, d);
    double *distances = s->distances + i * s->k;
    d2ke_offer(distances, s->indices + i * s->k, s->k, (double)d, s->names[j]);
    if (distances[0] < (double)*cut) *cut = (int64_t)distances[0];
    return 1;
}

/* Computes a candidate, and keeps it if it is near; 0: stop. */
static inline int near_verify(const near_search *s, near_thread *t, int64_t i, int64_t j,
                              int64_t *cut, const d2ke_poll *poll)
{
    int64_t n = s->y.offsets[j + 1] - s->y.offsets[j], *counts = s->counts + 4 * i;
    if (cut_bag_bound(s->x.bags + CUT_BAG * i, s->y.bags + CUT_BAG * j, n - t->pattern.length)
        > *cut)
        return 1;
    uint64_t a = s->x.grams[i], b = s->y.grams[j];
    if (bag_bits(a & ~b) > 2 * *cut || bag_bits(b & ~a) > 2 * *cut) return 1;
    counts[2]++;
    int64_t d = cut_distance(&t->pattern, s->y.letters + s->y.offsets[j], n, *cut);
    int64_t work = n * (*cut <= CUT_SMALL ? 1 : 2 + *cut / 32);
    s->work[NEAR_WORK * i + 1]++;
    s->work[NEAR_WORK * i + 2] += work;
    if (d <= *cut && !near_keep(s, t, i, j, d, cut)) return 0;
    return near_goes_on(t, work + 4, poll);
}

/* All candidates of one length that share piece number `piece`, of this start and size. */
static inline int near_look_up(const near_search *s, near_thread *t, int64_t i, int64_t length,
                               int64_t piece, int64_t *cut, const d2ke_poll *poll)
{
    int64_t m = t->pattern.length, r = s->radius, shift = m - length, start, size;
    near_piece(length, r + 1, piece, &start, &size);
    int64_t low = start - piece, high = start + piece;
    if (low < start + shift - (r - piece)) low = start + shift - (r - piece);
    if (high > start + shift + (r - piece)) high = start + shift + (r - piece);
    if (low < 0) low = 0;
    if (high > m - size) high = m - size;
    for (int64_t at = low; at <= high; at++) {
        uint64_t hash = t->hashes[at + size] - t->hashes[at] * s->powers[size];
        uint64_t key = near_key(hash, length, piece), bit = key >> (64 - s->filter_bits);
        s->work[NEAR_WORK * i]++;
        if (!(s->filter[bit >> 6] >> (bit & 63) & 1)) continue;
        uint64_t last = (UINT64_C(1) << s->slot_bits) - 1, slot = key & last;
        while (s->slots[slot].start >= 0 && s->slots[slot].key != key) slot = (slot + 1) & last;
        if (s->slots[slot].start < 0) continue;
        for (const int32_t *item = s->items + s->slots[slot].start;; item++) {
            int64_t j = *item < 0 ? ~*item : *item;
            if (s->half && j >= i) break; /* they ascend */
            if (t->stamps[j] != (int32_t)i && !(s->skip && i == j)) {
                t->stamps[j] = (int32_t)i;
                s->counts[4 * i + 1]++;
                if (!near_verify(s, t, i, j, cut, poll)) return 0;
            }
            t->since++;
            if (*item < 0) break;
        }
    }
    return 1;
}

/* Those strings of a block, all of one length, that have a bit; the first string is number j. */
static inline int near_block(const near_search *s, near_thread *t, int64_t i, int64_t j,
                             int64_t length, uint64_t bits, int64_t *cut, const d2ke_poll *poll)
{
    uint8_t distances[BAG_BLOCK];
    int64_t m = t->pattern.length;
    int lanes = s->vector_bytes >= LANE_BYTES && m <= LANE_QUERY && length <= LANE_TEXT;
    if (lanes) {
        s->counts[4 * i + 2] += bag_bits(bits);
        bits &= lane_distances(t->masks, m, s->y.columns + j * LANE_TEXT, length, *cut, distances);
        s->work[NEAR_WORK * i + 3] += length;
    }
    for (; bits; bits &= bits - 1) {
        int64_t place = bag_bits((bits & -bits) - 1);
        if (lanes && distances[place] > *cut) continue;
        if (lanes && t->exact) {
            if (!near_keep(s, t, i, j + place, distances[place], cut)) return 0;
        } else {
            s->counts[4 * i + 2] -= lanes;
            if (!near_verify(s, t, i, j + place, cut, poll)) return 0;
        }
    }
    return 1;
}

/* All strings of one length, begin .. end, with about the query's letters. */
static inline int near_scan(const near_search *s, near_thread *t, int64_t i, int64_t begin,
                            int64_t end, int64_t away, const uint8_t *bag, int64_t *cut,
                            const d2ke_poll *poll)
{
    const int64_t size = NEAR_BLOCKS * BAG_BLOCK, m = t->pattern.length;
    int64_t length = s->y.offsets[begin + 1] - s->y.offsets[begin];
    int64_t own = s->skip && begin <= i && i < end ? i : -1, place = 0;
    int64_t lowest = begin / BAG_BLOCK * BAG_BLOCK, n_parts = (end - lowest + size - 1) / size;
    s->counts[4 * i + 1] += end - begin - (own >= 0);
    /* Those of one length are in the order of their letters: begin where the query would be. */
    if (s->x.letters == s->y.letters)
        place = n_parts * (i - s->starts[m]) / (s->starts[m + 1] - s->starts[m]);
    for (int64_t part = 0; part < n_parts; part++) {
        int64_t from = lowest + (part + place) % n_parts * size, to = from + size;
        if (to > end) to = end;
        if (away > *cut) return 1;
        int64_t n_blocks = (to - from + BAG_BLOCK - 1) / BAG_BLOCK;
        bag_near(s->vector_bytes, bag, s->y.blocks + from * BAG_GROUPS, n_blocks, 2 * *cut - away,
                 t->bits);
        for (int64_t b = 0; b < n_blocks; b++) {
            int64_t j = from + b * BAG_BLOCK;
            uint64_t bits = t->bits[b];
            if (j < begin) bits &= ~UINT64_C(0) << (begin - j);
            if (j + BAG_BLOCK > end) bits &= ~UINT64_C(0) >> (j + BAG_BLOCK - end);
            if (j <= own && own < j + BAG_BLOCK) bits &= ~(UINT64_C(1) << (own - j));
            if (bits && !near_block(s, t, i, j, length, bits, cut, poll)) return 0;
        }
        if (!near_goes_on(t, (to - from) / 4, poll)) return 0;
    }
    return 1;
}

/* Everything near query number i; 0: stop. */
static inline int near_query(const near_search *s, near_thread *t, int64_t i, const d2ke_poll *poll)
{
    const uint32_t *letters = s->x.letters + s->x.offsets[i];
    int64_t m = s->x.offsets[i + 1] - s->x.offsets[i], r = s->radius, cut = r, more = 1;
    int64_t shortest = m > r ? m - r : 0, longest = s->half ? m : m + r;
    if (longest >= s->n_lengths) longest = s->n_lengths - 1;
    uint8_t bag[BAG_GROUPS];
    for (int g = 0; g < BAG_GROUPS; g++) bag[g] = bag_count(s->x.bags[CUT_BAG * i + g]);
    cut_prepare(&t->pattern, letters, m);
    if (s->slots) near_hash(letters, m, t->hashes);
    memset(t->masks, 0, sizeof t->masks);
    t->exact = 1;
    for (int64_t l = 0; l < m && m <= LANE_QUERY; l++) {
        int64_t letter = letters[l], mask = letter % LANE_LETTERS;
        t->masks[mask] |= (uint16_t)(1u << l);
        t->exact &= letter < LANE_LETTERS && mask + LANE_LETTERS >= s->n_letters;
    }
    for (int64_t away = 0; more && away <= r; away++) {
        for (int side = 0; more && side < 1 + (away > 0); side++) {
            int64_t length = side ? m + away : m - away;
            if (length < shortest || length > longest || away > cut) continue;
            int64_t begin = s->starts[length], end = s->starts[length + 1];
            if (s->half && end > i) end = i;
            if (begin >= end) continue;
            s->counts[4 * i] += end - begin - (s->skip && begin <= i && i < end);
            if (s->slots && length > r) {
                for (int64_t piece = 0; more && piece <= r; piece++)
                    more = near_look_up(s, t, i, length, piece, &cut, poll);
            } else {
                more = near_scan(s, t, i, begin, end, away, bag, &cut, poll);
            }
            t->since += 100;
        }
    }
    cut_forget(&t->pattern, letters);
    return more;
}

#endif
