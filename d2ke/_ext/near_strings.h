/* SPDX-License-Identifier: BSD-3-Clause */
/* The strings that are within a radius of one, found by an index of pieces or by their letters.
 *
 * Cut into radius + 1 pieces, a string within the radius has a piece that no edit touches: it
 * occurs in the query, with at most as many edits before it as there are pieces before it, and
 * likewise behind it.  So piece i starts in the query within i places of where it starts in its own
 * string, and, counted from the end, within radius - i places (Li, Deng, Wang & Feng 2011,
 * Pass-Join).  A transposition of cost c touches 2 c pieces at most, so that there are 2 radius + 1
 * of them, and half as many edits before and behind the one.  The index maps (length of the string, number of the piece, its letters) to the
 * strings; only hashes are compared, and every candidate is computed.
 *
 * All strings are in the order of their lengths, so that those of one length stand together.
 *
 * A distance that is divided by lengths has another cut for each length: what is searched is within
 * a number of edits, of which near_cut() is the largest that the nearest so far leave. */
#ifndef D2KE_NEAR_STRINGS_H
#define D2KE_NEAR_STRINGS_H

#include <math.h>
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
    const uint8_t *blocks;  /* the same for bag_sums */
    const uint8_t *codes;   /* letters for lane_distances, with LANE_MARGIN pads between strings */
    const uint64_t *grams;
    int64_t n;
} near_strings;

typedef struct {
    uint64_t key;
    int64_t start; /* -1: the slot is empty */
} near_slot;

typedef struct {
    near_strings x, y;
    int64_t radius;         /* in edits */
    double value;           /* the largest distance */
    int64_t edits;          /* CUT_LEVENSHTEIN, ... */
    int64_t share;          /* NEAR_WHOLE, ... */
    int64_t n_letters;
    int64_t longest;        /* of x and y */
    const int64_t *starts;  /* strings of y of length l: starts[l] .. starts[l + 1] */
    int64_t n_lengths;      /* longest of y, and one */
    int64_t half;           /* only earlier strings: each pair once */
    int64_t skip;           /* y is x, and no string is its own neighbour */
    /* The index; no slots: all strings of a length that may do are candidates. */
    const near_slot *slots;
    const uint64_t *filter; /* a bit for each key, by its first bits */
    int64_t slot_bits, filter_bits, pieces;
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
     * these (or cells), letters computed by lane_distances, for all lanes together and each 16 bits,
     * and whether a nearer string may be beyond the radius. */
    int64_t *work;
    int64_t vector_bytes; /* of the instruction set in use */
} near_search;

enum {
    NEAR_WORK = 5,
    NEAR_WIDTHS = 3,      /* of lanes: 16, 32 and 64 bits */
    NEAR_LONGEST = 30000, /* string in lanes, whose scores have 16 bits */
};

/* Distances are whole numbers of edits, or divided by the longer length, or by the sum of both. */
enum { NEAR_WHOLE, NEAR_LONGER, NEAR_BOTH };

/* Strings whose distances wait until they fill the lanes; they differ by LANE_SPREAD letters at
 * most. */
typedef struct {
    int32_t items[LANES];
    int64_t used, shortest, longest;
} near_batch;

/* Pairs within the radius: query, string, distance. */
typedef struct {
    int32_t *values;
    int64_t used, room, failed;
} near_pairs;

typedef struct {
    cut_pattern pattern;
    uint64_t *hashes;
    int32_t *stamps; /* of each string of y: the last query that had it as a candidate, */
    int32_t stamp;   /* and the number of the present one                               */
    near_pairs pairs;
    double value;  /* the largest distance that counts, */
    int64_t cut;   /* and the most edits of any length  */
    int64_t since, query;
    uint8_t *sums;            /* of the differences of letter counts, for each string of y */
    void *masks[NEAR_WIDTHS]; /* of the query, for lanes of each width; made on demand */
    int64_t made[NEAR_WIDTHS];
    int64_t rarest;           /* the query's largest letter */
    near_batch fresh, kept;   /* candidates, and those of which lane_distances left few */
} near_thread;

/* Bytes of the masks for lanes of 16, 32 or 64 bits. */
static inline int64_t near_mask_bytes(int64_t longest, int64_t bits)
{
    if (longest > NEAR_LONGEST) longest = NEAR_LONGEST; /* longer ones have no lanes */
    return (longest + bits + LANE_TILE) * lane_letters((int)bits) * bits / 8;
}

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

/* What the distance of the query to a string of n letters is divided by. */
static inline double near_whole(const near_search *s, int64_t m, int64_t n)
{
    int64_t whole = s->share == NEAR_BOTH ? m + n : m > n ? m : n;
    return s->share == NEAR_WHOLE || !whole ? 1.0 : (double)whole;
}

/* The most edits that count, of a string of n letters: d / whole <= value, as it is rounded. */
static inline int64_t near_edits(const near_search *s, const near_thread *t, int64_t n)
{
    double whole = near_whole(s, t->pattern.length, n), wanted = t->value * whole;
    if (wanted >= (double)s->longest * 2) return 2 * s->longest;
    int64_t cut = (int64_t)wanted;
    return (double)(cut + 1) / whole <= t->value ? cut + 1 : cut - ((double)cut / whole > t->value);
}

/* The same within the radius. */
static inline int64_t near_cut(const near_search *s, const near_thread *t, int64_t n)
{
    if (s->share == NEAR_WHOLE) return t->cut;
    int64_t cut = near_edits(s, t, n);
    return cut < s->radius ? cut : s->radius;
}

/* Sets the largest distance that counts, and the cut of the longest string that may be near. */
static inline void near_set(const near_search *s, near_thread *t, double value)
{
    double m = (double)t->pattern.length, longest = (double)s->n_lengths;
    t->value = value;
    if (s->share && value < 1)
        longest = fmin(longest, m * (s->share == NEAR_BOTH ? 1 + value : 1) / (1 - value) + 1);
    int64_t cut = near_edits(s, t, (int64_t)longest);
    s->work[NEAR_WORK * t->query + 4] = cut > s->radius;
    t->cut = cut < s->radius ? cut : s->radius;
}

/* Keeps a string at a distance within the cut; 0: stop. */
static inline int near_keep(const near_search *s, near_thread *t, int64_t j, int64_t d)
{
    int64_t i = t->query;
    s->counts[4 * i + 3]++;
    if (!s->k) return near_append(&t->pairs, i, j, d);
    if (s->names[j] < 0) return 1; /* it is hidden */
    double *distances = s->distances + i * s->k;
    double whole = near_whole(s, t->pattern.length, s->y.offsets[j + 1] - s->y.offsets[j]);
    d2ke_offer(distances, s->indices + i * s->k, s->k, (double)d / whole, s->names[j]);
    if (distances[0] < t->value) near_set(s, t, distances[0]);
    return 1;
}

/* Computes a candidate, and keeps it if it is near; 0: stop. */
static inline int near_verify(const near_search *s, near_thread *t, int64_t j, const d2ke_poll *poll)
{
    int64_t i = t->query, n = s->y.offsets[j + 1] - s->y.offsets[j], m = t->pattern.length;
    int64_t cut = near_cut(s, t, n);
    int crosses = s->edits == CUT_OSA || s->edits == CUT_DAMERAU;
    if (cut_bag_sum(s->x.bags + CUT_BAG * i, s->y.bags + CUT_BAG * j, n - m, (int)s->edits)
        > cut_each((int)s->edits) * cut)
        return 1;
    /* A transposition changes three pairs of letters. */
    uint64_t a = s->x.grams[i], b = s->y.grams[j];
    int64_t most = (2 + crosses) * cut;
    if (bag_bits(a & ~b) > most || bag_bits(b & ~a) > most) return 1;
    s->counts[4 * i + 2]++;
    int64_t d = cut_distance(&t->pattern, s->y.letters + s->y.offsets[j], n, cut, s->longest,
                             (int)s->edits);
    int64_t words = cut <= CUT_SMALL ? 1 : 2 + cut / 32;
    int64_t work = s->edits == CUT_DAMERAU ? m * (2 * cut < n ? 2 * cut + 1 : n) : n * words;
    s->work[NEAR_WORK * i + 1]++;
    s->work[NEAR_WORK * i + 2] += work;
    if (d <= cut && !near_keep(s, t, j, d)) return 0;
    return near_goes_on(t, work + 4, poll);
}

/* All candidates of one length that share piece number `piece`, of this start and size. */
static inline int near_look_up(const near_search *s, near_thread *t, int64_t length, int64_t piece,
                               const d2ke_poll *poll)
{
    int64_t i = t->query, m = t->pattern.length, shift = m - length, start, size;
    int64_t each = s->radius ? (s->pieces - 1) / s->radius : 1;
    int64_t before = piece / each, behind = (s->pieces - 1 - piece) / each;
    near_piece(length, s->pieces, piece, &start, &size);
    int64_t low = start - before, high = start + before;
    if (low < start + shift - behind) low = start + shift - behind;
    if (high > start + shift + behind) high = start + shift + behind;
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
            if (t->stamps[j] != t->stamp && !(s->skip && i == j)) {
                t->stamps[j] = t->stamp;
                s->counts[4 * i + 1]++;
                if (!near_verify(s, t, j, poll)) return 0;
            }
            t->since++;
            if (*item < 0) break;
        }
    }
    return 1;
}

/* The largest letter of a string. */
static inline int64_t near_rarest(const near_strings *side, int64_t j)
{
    uint32_t rarest = 0;
    for (int64_t l = side->offsets[j]; l < side->offsets[j + 1]; l++)
        rarest = side->letters[l] > rarest ? side->letters[l] : rarest;
    return rarest;
}

static inline int near_add(const near_search *, near_thread *, near_batch *, int32_t, int64_t, int,
                           const d2ke_poll *);

/* The cut of lanes for a cut of so many edits. */
static inline int64_t near_part(const near_search *s, int64_t cut)
{
    return s->edits == CUT_DAMERAU ? cut + cut / 2 : cut;
}

/* A lower bound of a distance that is d in lanes.  Where crossed letters with c > 1 edits spare one
 * of Damerau's, the sum of the differences of letter counts is at most 2 c - 2, so that half of the
 * whole sum and d are at most twice the distance. */
static inline int64_t near_least(const near_search *s, int64_t i, int64_t j, int64_t d,
                                 int64_t difference)
{
    if (s->edits != CUT_DAMERAU) return d;
    int64_t sum = cut_bag_sum(s->x.bags + CUT_BAG * i, s->y.bags + CUT_BAG * j, difference,
                              CUT_DAMERAU);
    int64_t least = ((sum + 1) / 2 + d + 1) / 2;
    return least > (2 * d + 2) / 3 ? least : (2 * d + 2) / 3;
}

/* Computes some strings, and keeps those that are near; 0: stop.
 *
 * Lanes are as narrow as the cut allows.  As long as fewer than k strings are known, narrow lanes
 * find the near ones, and the cut for the others.  With `leave`, few strings that others of their
 * lanes would have to wait for go to another batch. */
static inline int near_compute(const near_search *s, near_thread *t, near_batch *batch, int leave,
                               const d2ke_poll *poll)
{
    int64_t i = t->query, m = t->pattern.length, n = batch->used, longest = batch->longest;
    int64_t *counts = s->counts + 4 * i, cut = near_part(s, near_cut(s, t, longest));
    int edits = s->edits == CUT_DAMERAU ? CUT_OSA : (int)s->edits;
    int32_t items[LANES];
    memcpy(items, batch->items, sizeof items);
    batch->used = 0;
    for (int width = 0; n && width < NEAR_WIDTHS && s->longest <= NEAR_LONGEST; width++) {
        int bits = 16 << width, unknown = s->k && s->distances[i * s->k] == INFINITY;
        int64_t part = cut < lane_cut(bits, edits) ? cut : lane_cut(bits, edits);
        if (part < cut && !(unknown && 2 * part < s->longest)) continue;
        if (!t->made[width]) {
            const uint32_t *letters = s->x.letters + s->x.offsets[i];
            lane_prepare(s->vector_bytes, letters, m, t->masks[width], bits);
            t->made[width] = 1;
        }
        lane_batch lanes;
        int32_t places[LANES];
        int64_t work = 0, rest = 0;
        lanes.used = 0;
        for (int l = 0; l < n; l++) {
            int64_t j = items[l], begin = s->y.offsets[j], length = s->y.offsets[j + 1] - begin;
            if (length - m > part || m - length > part) continue;
            lanes.texts[lanes.used] = s->y.codes + begin + LANE_MARGIN * (j + 1);
            lanes.lengths[lanes.used] = (int32_t)length;
            places[lanes.used++] = l;
        }
        if (!lanes.used) continue;
        for (int64_t l = lanes.used; l < LANES; l++) {
            lanes.texts[l] = lanes.texts[0];
            lanes.lengths[l] = lanes.lengths[0];
        }
        uint32_t few = 0, near = lane_distances(s->vector_bytes, bits, t->masks[width], m, &lanes,
                                                part, leave && part == cut ? &few : NULL, &work,
                                                edits);
        s->work[NEAR_WORK * i + 3] += work;
        for (; few; few &= few - 1) {
            int32_t j = items[places[__builtin_ctzll(few)]];
            int64_t length = s->y.offsets[j + 1] - s->y.offsets[j];
            if (!near_add(s, t, &t->kept, j, length, 0, poll)) return 0;
        }
        int last = part == cut;
        for (; near; near &= near - 1) {
            int64_t lane = __builtin_ctzll(near), j = items[places[lane]];
            items[places[lane]] = -1;
            int64_t d = lanes.distances[lane], here = near_cut(s, t, lanes.lengths[lane]);
            int64_t least = near_least(s, i, j, d, lanes.lengths[lane] - m);
            if (least > here) continue;
            int64_t limit = lane_letters(bits) - 1;
            if (least < d || t->rarest >= limit || near_rarest(&s->y, j) >= limit) {
                /* Letters may have coincided, or edits between crossed ones spare another. */
                if (!near_verify(s, t, j, poll)) return 0;
            } else {
                counts[2]++;
                if (!near_keep(s, t, j, d)) return 0;
            }
        }
        if (!near_goes_on(t, 4 * work, poll)) return 0;
        if (last) return 1;
        for (int l = 0; l < n; l++)
            if (items[l] >= 0) items[rest++] = items[l];
        n = rest;
        cut = near_part(s, near_cut(s, t, longest));
        if (cut <= part) return 1; /* all others are farther */
    }
    for (int l = 0; l < n; l++)
        if (!near_verify(s, t, items[l], poll)) return 0;
    return 1;
}

/* Adds a candidate to a batch, which is computed when it is full; 0: stop. */
static inline int near_add(const near_search *s, near_thread *t, near_batch *batch, int32_t j,
                           int64_t length, int leave, const d2ke_poll *poll)
{
    if (!batch->used) batch->shortest = batch->longest = length;
    int64_t shortest = length < batch->shortest ? length : batch->shortest;
    int64_t longest = length > batch->longest ? length : batch->longest;
    if (longest - shortest > LANE_SPREAD) {
        if (!near_compute(s, t, batch, leave, poll)) return 0;
        shortest = longest = length;
    }
    batch->shortest = shortest;
    batch->longest = longest;
    batch->items[batch->used++] = j;
    return batch->used < LANES || near_compute(s, t, batch, leave, poll);
}

/* Adds up the differences of counts for all strings of these lengths; low .. high are the blocks
 * whose sums are known. */
static inline void near_sum(const near_search *s, near_thread *t, int64_t i, int64_t first,
                            int64_t last, int64_t *low, int64_t *high)
{
    if (first > last) return;
    int64_t begin = s->starts[first], end = s->starts[last + 1];
    if (s->half && end > i) end = i;
    if (begin >= end) return;
    begin /= BAG_BLOCK;
    end = (end + BAG_BLOCK - 1) / BAG_BLOCK;
    if (*low == *high) *low = *high = begin;
    int64_t parts[2][2] = {{begin, *low}, {*high, end}};
    for (int part = 0; part < 2; part++) {
        int64_t from = parts[part][0], n = parts[part][1] - from;
        if (n <= 0) continue;
        bag_sums(s->vector_bytes, s->x.bags + CUT_BAG * i,
                 s->y.blocks + from * BAG_GROUPS * BAG_BLOCK, n, t->sums + from * BAG_BLOCK);
        t->since += n * 16;
    }
    if (begin < *low) *low = begin;
    if (end > *high) *high = end;
}

/* All strings of these lengths with about the query's letters, those with the nearest counts
 * first; 0: stop.
 *
 * What limits the sum of their differences is that of cut_bag_sum(). */
static inline int near_scan(const near_search *s, near_thread *t, int64_t shortest, int64_t longest,
                            const d2ke_poll *poll)
{
    int64_t i = t->query, m = t->pattern.length, step = 2 + m / 8, *counts = s->counts + 4 * i;
    int64_t each = cut_each((int)s->edits);
    int64_t low = 0, high = 0, done = -1; /* blocks whose sums are known; the largest sum so far */
    for (int64_t reach = step; done < each * t->cut; reach += step) {
        int64_t limit = each * (reach < t->cut ? reach : t->cut);
        if (limit >= BAG_MOST) limit = each * t->cut;
        int64_t first = m - limit / each, last = m + limit / each;
        if (first < shortest) first = shortest;
        if (last > longest) last = longest;
        int all = limit >= each * t->cut;
        near_sum(s, t, i, first, last, &low, &high);
        for (int64_t length = first; length <= last; length++) {
            int64_t begin = s->starts[length], end = s->starts[length + 1];
            int64_t away = length > m ? length - m : m - length;
            if (s->half && end > i) end = i;
            int64_t here = near_cut(s, t, length);
            if (begin >= end || away > here) continue;
            int64_t own = s->skip && begin <= i && i < end ? i : -1;
            if (each * away > done) counts[0] += end - begin - (own >= 0);
            if (each * away > done) counts[1] += end - begin - (own >= 0);
            int64_t block = begin / BAG_BLOCK, stop = (end + BAG_BLOCK - 1) / BAG_BLOCK;
            int64_t beside = (each - 1) * away, least = done >= beside ? done - beside + 1 : 0;
            int64_t most = (limit < each * here ? limit : each * here) - beside;
            if (most > BAG_MOST) most = BAG_MOST;
            if (least > most) continue;
            for (; block < stop; block++) {
                int64_t j = block * BAG_BLOCK;
                uint64_t bits = bag_between(s->vector_bytes, t->sums + j, (uint8_t)least,
                                            (uint8_t)(most - least));
                if (j < begin) bits &= ~UINT64_C(0) << (begin - j);
                if (j + BAG_BLOCK > end) bits &= ~UINT64_C(0) >> (j + BAG_BLOCK - end);
                if (j <= own && own < j + BAG_BLOCK) bits &= ~(UINT64_C(1) << (own - j));
                for (; bits; bits &= bits - 1) {
                    int32_t item = (int32_t)(j + __builtin_ctzll(bits));
                    if (!near_add(s, t, &t->fresh, item, length, 1, poll)) return 0;
                }
            }
        }
        if (t->fresh.used && !near_compute(s, t, &t->fresh, 1, poll)) return 0;
        if (!near_goes_on(t, 100, poll)) return 0;
        if (all) break;
        done = limit;
    }
    return !t->kept.used || near_compute(s, t, &t->kept, 0, poll);
}

/* Everything near query number i; 0: stop. */
static inline int near_query(const near_search *s, near_thread *t, int64_t i, const d2ke_poll *poll)
{
    const uint32_t *letters = s->x.letters + s->x.offsets[i];
    int64_t m = s->x.offsets[i + 1] - s->x.offsets[i], r = s->radius, more = 1;
    int64_t shortest = m > r ? m - r : 0, longest = s->half ? m : m + r;
    if (longest >= s->n_lengths) longest = s->n_lengths - 1;
    cut_prepare(&t->pattern, letters, m);
    t->query = i;
    if (++t->stamp == INT32_MAX) { /* numbers begin again */
        memset(t->stamps, 0, (size_t)s->y.n * sizeof *t->stamps);
        t->stamp = 1;
    }
    near_set(s, t, s->k ? fmin(s->value, s->distances[i * s->k]) : s->value);
    memset(t->made, 0, sizeof t->made);
    t->rarest = near_rarest(&s->x, i);
    t->fresh.used = t->kept.used = 0;
    if (s->slots) {
        near_hash(letters, m, t->hashes);
        for (int64_t away = 0; more && away <= r; away++) {
            for (int side = 0; more && side < 1 + (away > 0); side++) {
                int64_t length = side ? m + away : m - away;
                if (length < shortest || length > longest || away > near_cut(s, t, length)
                    || length < s->pieces)
                    continue;
                int64_t begin = s->starts[length], end = s->starts[length + 1];
                if (s->half && end > i) end = i;
                if (begin >= end) continue;
                s->counts[4 * i] += end - begin - (s->skip && begin <= i && i < end);
                for (int64_t piece = 0; more && piece < s->pieces; piece++)
                    more = near_look_up(s, t, length, piece, poll);
                t->since += 100;
            }
        }
        if (longest >= s->pieces) longest = s->pieces - 1; /* strings that are too short for pieces */
    }
    if (more) more = near_scan(s, t, shortest, longest, poll);
    cut_forget(&t->pattern, letters);
    return more;
}

#endif
