/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours by lower bounds first and distances last: of each row, a bound of all columns, then
 * the distances in the order of their bounds until no other column can be near. */
#ifndef D2KE_REFINE_H
#define D2KE_REFINE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kernel.h"
#include "neighbor_heap.h"

enum {
    REFINE_ROWS = D2KE_BOUND_ROWS, /* whose bounds are made together */
    REFINE_GROUP = D2KE_BOUND_COLUMNS, /* columns that are narrowed together, at most */
    REFINE_FIRST = 32, /* columns whose distances make the first cut, at least */
    REFINE_LANES = 16, /* of these, narrowed together */
    REFINE_KEPT = 256, /* narrowed columns that wait for their distances, at most */
    REFINE_BUCKETS = 1024, /* of bounds of about one size */
};

/* bounds[r * stride + j] is at most slope * d + offset, d: the distance of row rows[r] and of
 * column j; so are the other bounds. `own`: memory of a thread. */
typedef void (*refine_fill)(const void *context, const int64_t *rows, int64_t n_rows,
                            float *bounds, int64_t stride, void *own, const d2ke_poll *poll);
/* Before the first closer bound of a row. */
typedef void (*refine_begin)(const void *context, int64_t row, void *own);
/* A tighter bound of one pair, or one above the limit. */
typedef float (*refine_tighten)(const void *context, int64_t row, void *own, int64_t column,
                                float limit);
/* The closest bounds of some pairs; infinity where they exceed the pair's limit. They are also
 * nearly the distance: slope * d + offset is at most ratio * bound + 3 * offset. */
typedef void (*refine_narrow)(const void *context, int64_t row, void *own, const int64_t *columns,
                              int64_t n, const float *limits, float *bounds,
                              const d2ke_poll *poll);

/* A bound, and an index: of objects behind it, equal distances do not count. */
typedef struct {
    float limit;
    int64_t worst;
} refine_cut;

typedef struct {
    const d2ke_problem *problem;
    d2ke_kernel kernel;
    size_t scratch_bytes;
    int64_t width;      /* columns that the kernel computes at once */
    int64_t single;     /* distances are float32 */
    int64_t consecutive; /* the kernel takes consecutive columns only: here, one at a time */
    refine_fill fill;
    refine_begin begin;     /* these three, or NULL */
    refine_tighten tighten;
    refine_narrow narrow;
    const void *context;
    size_t own_bytes;
    double slope, offset, ratio;
    float tie;          /* bounds of different distances differ by so much; 0: not known */
    int64_t skip;       /* no row is its own neighbour */
    const uint8_t *hidden; /* NULL, or of columns: those that are no neighbours */
    const int64_t *groups; /* NULL, or of rows and columns: no neighbours within a group */
    const double *cores;   /* NULL, or of rows and columns: the least distances that they have */
    const int64_t *ranks;  /* NULL, or of rows and columns: columns of less than the row's rank
                            * are left to their own rows, and pairs count for both objects */
    refine_cut *limits; /* NULL, or of rows and columns: what counts at most */
    float *kept;        /* NULL, or all first bounds, in lines as long as those of a thread */
    int64_t first;      /* only these limits are searched */
    double radius;
    int64_t k;          /* 0: all within the radius */
    double *distances;
    int64_t *indices;
    int64_t *counts;    /* of each row: columns left by `fill`, by `tighten`, narrowed, computed */
} refine_search;

enum { REFINE_COUNTS = 4 };

typedef struct {
    int64_t row, column;
    double distance;
} refine_pair;

typedef struct {
    char *memory;
    void *scratch, *own;
    float *bounds;      /* of REFINE_ROWS rows */
    int64_t stride;
    int64_t *order;     /* of a batch, for the kernel */
    double *results;
    struct refine_item {
        float bound;
        int32_t column;
    } *items, *narrowed; /* candidates with room to sort them, and those of the closest bounds */
    int64_t n_narrowed;
    int64_t worst;      /* see refine_limit */
    double *nearest;    /* the k least of a row's closest bounds, and their columns */
    int64_t *nearest_columns;
    refine_pair *pairs;
    int64_t used, room, failed;
} refine_thread;

typedef struct refine_item refine_item;

/* Heaps of candidates: `sign` 1: the largest bound first, -1: the smallest. */
static inline void refine_sink(refine_item *items, int64_t n, int64_t at, float sign)
{
    refine_item item = items[at];
    for (int64_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && sign * items[child + 1].bound > sign * items[child].bound) child++;
        if (sign * items[child].bound <= sign * item.bound) break;
        items[at] = items[child];
    }
    items[at] = item;
}

static inline void refine_heapify(refine_item *items, int64_t n, float sign)
{
    for (int64_t at = n / 2 - 1; at >= 0; at--) refine_sink(items, n, at, sign);
}

/* Puts items into the order of their bounds, those of one bucket in any order; `room` is for as
 * many items. 0: bounds are infinite. */
static inline int refine_sort(refine_item *items, int64_t n, refine_item *room)
{
    float least = INFINITY, most = -INFINITY;
    int64_t ends[REFINE_BUCKETS + 1] = {0};
    for (int64_t i = 0; i < n; i++) {
        least = items[i].bound < least ? items[i].bound : least;
        most = items[i].bound > most ? items[i].bound : most;
    }
    float scale = most > least ? (REFINE_BUCKETS - 1) / (most - least) : 0;
    if (!(most - least < INFINITY && scale < INFINITY)) return 0;
    for (int64_t i = 0; i < n; i++) ends[(int)((items[i].bound - least) * scale) + 1]++;
    for (int b = 0; b < REFINE_BUCKETS; b++) ends[b + 1] += ends[b];
    for (int64_t i = 0; i < n; i++)
        room[ends[(int)((items[i].bound - least) * scale)]++] = items[i];
    memcpy(items, room, n * sizeof *items);
    return 1;
}

/* The larger of both cores. */
static inline double refine_core(const refine_search *s, int64_t row, int64_t column)
{
    return s->cores[row] > s->cores[column] ? s->cores[row] : s->cores[column];
}

/* The largest bound of a distance of the row that still counts; of columns behind t->worst, only
 * distances below count, not equal ones. */
static inline float refine_limit(const refine_search *s, refine_thread *t, int64_t row)
{
    double cut = s->k ? s->distances[row * s->k] : s->radius, limit = cut * s->slope + s->offset;
    t->worst = s->k ? s->indices[row * s->k] : INT64_MAX;
    if (s->k && s->narrow) {
        double other = s->ratio * t->nearest[0] + 3 * s->offset;
        if (other < limit) {
            limit = other;
            t->worst = INT64_MAX;
        }
    }
    float result = nextafterf((float)limit, INFINITY);
    if (!s->limits || s->first) return result;
    const refine_cut *cuts = s->limits + row;
    if (cuts->limit < result || (cuts->limit == result && cuts->worst < t->worst)) {
        t->worst = cuts->worst;
        return cuts->limit;
    }
    return result;
}

/* The same of a pair, which may count for the column too. */
static inline float refine_pair_limit(const refine_search *s, const refine_thread *t, int64_t row,
                                      int64_t column, float limit)
{
    if (s->tie > 0 && column > t->worst) limit = nextafterf(limit - s->tie, INFINITY);
    if (!s->limits || s->first) return limit;
    float other = s->limits[column].limit;
    if (s->tie > 0 && row > s->limits[column].worst) other = nextafterf(other - s->tie, INFINITY);
    return other > limit ? other : limit;
}

/* Lowers the limits to those of the heaps. */
static inline void refine_lower(const refine_search *s)
{
    for (int64_t row = 0; row < s->problem->y.n; row++) {
        double limit = s->distances[row * s->k] * s->slope + s->offset;
        refine_cut cut = {nextafterf((float)limit, INFINITY), s->indices[row * s->k]};
        if (cut.limit < s->limits[row].limit
            || (cut.limit == s->limits[row].limit && cut.worst < s->limits[row].worst))
            s->limits[row] = cut;
    }
}

static inline int refine_keep(refine_thread *t, int64_t row, int64_t column, double distance)
{
    if (t->used == t->room) {
        int64_t room = t->room ? 2 * t->room : 1024;
        refine_pair *pairs = realloc(t->pairs, (size_t)room * sizeof *pairs);
        if (!pairs) {
            t->failed = 1;
            return 0;
        }
        t->pairs = pairs;
        t->room = room;
    }
    t->pairs[t->used++] = (refine_pair){row, column, distance};
    return 1;
}

/* A distance for a row, and, with ranks, for the column; 0: no memory. */
static inline int refine_offer(const refine_search *s, refine_thread *t, int64_t row,
                               int64_t column, double distance)
{
    int twice = s->ranks && row != column;
    if (s->single) distance = (double)(float)distance;
    if (s->cores && distance < refine_core(s, row, column)) distance = refine_core(s, row, column);
    if (!s->k)
        return distance > s->radius
            || (refine_keep(t, row, column, distance)
                && (!twice || refine_keep(t, column, row, distance)));
    d2ke_offer(s->distances + row * s->k, s->indices + row * s->k, s->k, distance, column);
    return !twice || distance * s->slope + s->offset > s->limits[column].limit
        || refine_keep(t, column, row, distance);
}

/* Computes the pairs of a row and of the batch in t->order; 0: stop. */
static inline int refine_batch(const refine_search *s, refine_thread *t, int64_t row, int64_t count,
                               const d2ke_poll *poll)
{
    int64_t blocks[2] = {0, count};
    d2ke_problem problem = *s->problem;
    d2ke_cache *cache = t->scratch;
    if (count == 0) return 1;
    problem.blocks = blocks;
    problem.n_blocks = 1;
    cache->row = cache->block = -1;
    if (s->consecutive) {
        for (int64_t b = 0; b < count; b++) {
            blocks[0] = t->order[b];
            blocks[1] = blocks[0] + 1;
            s->kernel(&problem, row, 0, t->scratch, t->results + b, poll);
        }
    } else {
        problem.order = t->order;
        s->kernel(&problem, row, 0, t->scratch, t->results, poll);
    }
    if (d2ke_stopped(poll)) return 0;
    s->counts[REFINE_COUNTS * row + 3] += count;
    for (int64_t b = 0; b < count; b++)
        if (!refine_offer(s, t, row, t->order[b], t->results[b])) return 0;
    return 1;
}

/* Takes the candidates of the smallest bounds within their limits from a heap, at most `most`,
 * into t->order. */
static inline int64_t refine_take(const refine_search *s, refine_thread *t, int64_t row,
                                  refine_item *items, int64_t *n, int64_t most, float limit)
{
    int64_t count = 0;
    while (*n > 0 && count < most && (s->limits || items[0].bound <= limit)) {
        if (items[0].bound <= refine_pair_limit(s, t, row, items[0].column, limit))
            t->order[count++] = items[0].column;
        items[0] = items[--*n];
        refine_sink(items, *n, 0, -1);
    }
    return count;
}

/* Computes candidates from the smallest bound on, until the bounds exceed the limit or `most`
 * are left. */
static inline int refine_in_order(const refine_search *s, refine_thread *t, int64_t row,
                                  refine_item *items, int64_t *n, int64_t most,
                                  const d2ke_poll *poll)
{
    refine_heapify(items, *n, -1);
    while (*n > most) {
        int64_t count = refine_take(s, t, row, items, n, s->width, refine_limit(s, t, row));
        if (count == 0) *n = 0;
        if (!refine_batch(s, t, row, count, poll)) return 0;
    }
    return 1;
}

/* The closest bounds of n of t->items, from the smallest bound on, until they exceed the limit;
 * what they leave is narrowed. */
static inline int refine_narrowed(const refine_search *s, refine_thread *t, int64_t row, int64_t n,
                                  const d2ke_poll *poll)
{
    int sorted = n > REFINE_GROUP && refine_sort(t->items, n, t->items + s->problem->y.n);
    int64_t next = 0;
    if (!sorted) refine_heapify(t->items, n, -1);
    for (;;) {
        float bounds[REFINE_GROUP], limits[REFINE_GROUP], limit = refine_limit(s, t, row);
        int64_t most = s->first ? REFINE_LANES : REFINE_GROUP, kept = 0, count = 0;
        if (!sorted) count = refine_take(s, t, row, t->items, &n, most, limit);
        for (; sorted && next < n && count < most; next++)
            if (t->items[next].bound
                <= refine_pair_limit(s, t, row, t->items[next].column, limit))
                t->order[count++] = t->items[next].column;
        if (count == 0) return 1;
        s->counts[REFINE_COUNTS * row + 2] += count;
        for (int64_t i = 0; i < count; i++)
            limits[i] = refine_pair_limit(s, t, row, t->order[i], limit);
        s->narrow(s->context, row, t->own, t->order, count, limits, bounds, poll);
        if (d2ke_stopped(poll)) return 0;
        for (int64_t i = 0; i < count; i++) {
            if (!(bounds[i] <= limits[i])) continue;
            t->narrowed[t->n_narrowed++] = (refine_item){bounds[i], (int32_t)t->order[i]};
            float near = bounds[i];
            if (s->cores) {
                double core = refine_core(s, row, t->order[i]) * s->slope;
                if (near < core) near = nextafterf((float)core, INFINITY);
            }
            if (s->k) d2ke_offer(t->nearest, t->nearest_columns, s->k, near, t->order[i]);
        }
        if (t->n_narrowed + REFINE_GROUP <= REFINE_KEPT) continue;
        limit = refine_limit(s, t, row);
        for (int64_t i = 0; i < t->n_narrowed; i++)
            if (t->narrowed[i].bound <= refine_pair_limit(s, t, row, t->narrowed[i].column, limit))
                t->narrowed[kept++] = t->narrowed[i];
        t->n_narrowed = kept;
        if (!refine_in_order(s, t, row, t->narrowed, &t->n_narrowed, REFINE_GROUP, poll)) return 0;
    }
}

/* The neighbours among n candidates, t->items. */
static inline int refine_candidates(const refine_search *s, refine_thread *t, int64_t row,
                                    int64_t n, const d2ke_poll *poll)
{
    if (s->narrow) return refine_narrowed(s, t, row, n, poll);
    int64_t before = s->counts[REFINE_COUNTS * row + 3];
    int result = refine_in_order(s, t, row, t->items, &n, 0, poll);
    s->counts[REFINE_COUNTS * row + 2] += s->counts[REFINE_COUNTS * row + 3] - before;
    return result;
}

/* The distances of the least bounds, which are the first cut; 0: stop. */
static inline int refine_first(const refine_search *s, refine_thread *t, int64_t row,
                               float *bounds, const d2ke_poll *poll)
{
    int64_t m = s->problem->y.n, n = 0, most = 2 * s->width;
    if (s->narrow && most < REFINE_FIRST) most = REFINE_FIRST;
    if (most < s->k) most = s->k;
    for (int64_t j = 0; j < m; j++) {
        if (n < most) {
            if (isnan(bounds[j])) continue;
            t->items[n++] = (refine_item){bounds[j], (int32_t)j};
            if (n == most) refine_heapify(t->items, n, 1);
        } else if (bounds[j] < t->items[0].bound) {
            t->items[0] = (refine_item){bounds[j], (int32_t)j};
            refine_sink(t->items, n, 0, 1);
        }
    }
    for (int64_t i = 0; !s->first && i < n; i++) bounds[t->items[i].column] = NAN;
    s->counts[REFINE_COUNTS * row] += n;
    s->counts[REFINE_COUNTS * row + 1] += n;
    return refine_candidates(s, t, row, n, poll);
}

/* All neighbours of a row; 0: stop. */
static inline int refine_row(const refine_search *s, refine_thread *t, int64_t row, float *bounds,
                             const d2ke_poll *poll)
{
    int64_t m = s->problem->y.n, n = 0;
    t->n_narrowed = 0;
    for (int64_t i = 0; s->narrow && i < s->k; i++) {
        t->nearest[i] = INFINITY;
        t->nearest_columns[i] = INT64_MAX;
    }
    if (s->skip) bounds[row] = NAN;
    for (int64_t j = 0; s->hidden && j < m; j++)
        if (s->hidden[j]) bounds[j] = NAN;
    for (int64_t j = 0; s->groups && j < m; j++)
        if (s->groups[j] == s->groups[row]) bounds[j] = NAN;
    for (int64_t j = 0; s->ranks && j < m; j++)
        if (s->ranks[j] < s->ranks[row]) bounds[j] = NAN;
    for (int64_t j = 0; s->cores && j < m; j++) {
        float core = nextafterf((float)(s->cores[j] * s->slope), -INFINITY);
        if (bounds[j] < core) bounds[j] = core;
    }
    if (s->begin) s->begin(s->context, row, t->own);
    if (s->k && (s->first || !s->limits) && !refine_first(s, t, row, bounds, poll)) return 0;
    float limit = refine_limit(s, t, row);
    if (s->first) {
        if (limit == INFINITY) {
            if (!refine_in_order(s, t, row, t->narrowed, &t->n_narrowed, 0, poll)) return 0;
            limit = refine_limit(s, t, row);
        }
        s->limits[row] = (refine_cut){limit, t->worst};
        return 1;
    }
    for (int64_t j = 0; j < m; j++) {
        float bound = bounds[j], largest = refine_pair_limit(s, t, row, j, limit);
        if (!(bound <= largest)) continue;
        s->counts[REFINE_COUNTS * row]++;
        if (s->tighten) {
            float other = s->tighten(s->context, row, t->own, j, largest);
            bound = other > bound ? other : bound;
            if (bound > largest) continue;
        }
        s->counts[REFINE_COUNTS * row + 1]++;
        t->items[n++] = (refine_item){bound, (int32_t)j};
    }
    return refine_candidates(s, t, row, n, poll)
        && refine_in_order(s, t, row, t->narrowed, &t->n_narrowed, 0, poll);
}

/* All neighbours of at most REFINE_ROWS rows; 0: stop. */
static inline int refine_rows(const refine_search *s, refine_thread *t, const int64_t *rows,
                              int64_t n, const d2ke_poll *poll)
{
    float *kept = s->kept && s->first ? s->kept + rows[0] * t->stride : t->bounds;
    if (!s->kept || s->first) s->fill(s->context, rows, n, kept, t->stride, t->own, poll);
    if (d2ke_stopped(poll)) return 0;
    for (int64_t r = 0; r < n; r++) {
        float *bounds = s->kept ? s->kept + rows[r] * t->stride : t->bounds + r * t->stride;
        if (!refine_row(s, t, rows[r], bounds, poll)) return 0;
    }
    return 1;
}

#endif
