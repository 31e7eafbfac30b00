/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours by lower bounds first and distances last: of each row, a bound of all columns, then
 * the distances in the order of their bounds until no other column can be near. */
#ifndef D2KE_REFINE_H
#define D2KE_REFINE_H

#include <math.h>
#include <stdlib.h>
#include "kernel.h"
#include "neighbor_heap.h"

enum { REFINE_ROWS = 8 }; /* whose bounds are made together */

/* bounds[r * stride + j] is at most the distance of row rows[r] and of column j. */
typedef void (*refine_fill)(const void *context, const int64_t *rows, int64_t n_rows,
                            float *bounds, int64_t stride, const d2ke_poll *poll);
/* Another lower bound of one pair; before the first one of a row, `own` is made for it. */
typedef void (*refine_begin)(const void *context, int64_t row, void *own);
typedef float (*refine_tighten)(const void *context, int64_t row, const void *own, int64_t column);

typedef struct {
    const d2ke_problem *problem;
    d2ke_kernel kernel;
    size_t scratch_bytes;
    int64_t width;      /* columns that the kernel computes at once */
    int64_t single;     /* distances are float32 */
    int64_t consecutive; /* the kernel takes consecutive columns only: here, one at a time */
    refine_fill fill;
    refine_begin begin;     /* or NULL, with `tighten` */
    refine_tighten tighten;
    const void *context;
    size_t own_bytes;
    int64_t skip;       /* no row is its own neighbour */
    int64_t half;       /* only columns from the row on */
    double radius;
    int64_t k;          /* 0: all within the radius */
    double *distances;
    int64_t *indices;
    int64_t *counts;    /* of each row: columns left by `fill`, by `tighten`, computed */
} refine_search;

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
    } *items;
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

/* The farthest distance that still counts. */
static inline double refine_cut(const refine_search *s, int64_t row)
{
    return s->k ? s->distances[row * s->k] : s->radius;
}

static inline int refine_keep(const refine_search *s, refine_thread *t, int64_t row, int64_t column,
                              double distance)
{
    if (s->single) distance = (double)(float)distance;
    if (s->k) {
        d2ke_offer(s->distances + row * s->k, s->indices + row * s->k, s->k, distance, column);
        return 1;
    }
    if (distance > s->radius) return 1;
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
    s->counts[3 * row + 2] += count;
    for (int64_t b = 0; b < count; b++)
        if (!refine_keep(s, t, row, t->order[b], t->results[b])) return 0;
    return 1;
}

/* Computes candidates from the smallest bound on, until the bounds exceed the cut. */
static inline int refine_in_order(const refine_search *s, refine_thread *t, int64_t row, int64_t n,
                                  const d2ke_poll *poll)
{
    refine_heapify(t->items, n, -1);
    while (n > 0) {
        int64_t count = 0;
        double cut = refine_cut(s, row);
        while (n > 0 && count < s->width && (double)t->items[0].bound <= cut) {
            t->order[count++] = t->items[0].column;
            t->items[0] = t->items[--n];
            refine_sink(t->items, n, 0, -1);
        }
        if (count == 0) return 1;
        if (!refine_batch(s, t, row, count, poll)) return 0;
    }
    return 1;
}

/* All neighbours of a row; 0: stop. */
static inline int refine_row(const refine_search *s, refine_thread *t, int64_t row, float *bounds,
                             const d2ke_poll *poll)
{
    int64_t m = s->problem->y.n, first = s->half ? row + s->skip : 0, n = 0;
    int64_t most = s->k > 2 * s->width ? s->k : 2 * s->width;
    if (s->skip) bounds[row] = INFINITY;
    if (s->k) {
        /* The distances of the least bounds are the first cut. */
        for (int64_t j = 0; j < m; j++) {
            if (n < most) {
                if (s->skip && j == row) continue;
                t->items[n++] = (refine_item){bounds[j], (int32_t)j};
                if (n == most) refine_heapify(t->items, n, 1);
            } else if (bounds[j] < t->items[0].bound) {
                t->items[0] = (refine_item){bounds[j], (int32_t)j};
                refine_sink(t->items, n, 0, 1);
            }
        }
        for (int64_t i = 0; i < n; i++) bounds[t->items[i].column] = INFINITY;
        s->counts[3 * row] += n;
        s->counts[3 * row + 1] += n;
        if (!refine_in_order(s, t, row, n, poll)) return 0;
    }
    n = 0;
    double cut = refine_cut(s, row);
    if (s->begin) s->begin(s->context, row, t->own);
    for (int64_t j = first; j < m; j++) {
        if (!((double)bounds[j] <= cut)) continue;
        float bound = bounds[j];
        s->counts[3 * row]++;
        if (s->begin) {
            float other = s->tighten(s->context, row, t->own, j);
            bound = other > bound ? other : bound;
            if ((double)bound > cut) continue;
        }
        s->counts[3 * row + 1]++;
        t->items[n++] = (refine_item){bound, (int32_t)j};
    }
    return refine_in_order(s, t, row, n, poll);
}

/* All neighbours of at most REFINE_ROWS rows; 0: stop. */
static inline int refine_rows(const refine_search *s, refine_thread *t, const int64_t *rows,
                              int64_t n, const d2ke_poll *poll)
{
    s->fill(s->context, rows, n, t->bounds, t->stride, poll);
    if (d2ke_stopped(poll)) return 0;
    for (int64_t r = 0; r < n; r++)
        if (!refine_row(s, t, rows[r], t->bounds + r * t->stride, poll)) return 0;
    return 1;
}

#endif
