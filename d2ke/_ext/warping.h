/* SPDX-License-Identifier: BSD-3-Clause */
/* What the lower bounds of dynamic time warping read, and each thread's own memory for a row of
 * pairs; the bounds are in envelopes.h and dtw_cut.h. */
#ifndef D2KE_WARPING_H
#define D2KE_WARPING_H

#include "kernel.h"
#include "options.h"

enum {
    WARP_LANES = 16,   /* at most: float32 numbers of a vector */
    WARP_SEGMENT = 8,  /* places whose sums stand for them at first */
    WARP_LEVELS = 16,  /* at most: radii of the envelopes of a row */
    WARP_ROWS = D2KE_BOUND_ROWS, /* whose first bounds are made together */
    WARP_COLUMNS = D2KE_BOUND_COLUMNS, /* whose closest bounds are made together, at most */
};

/* Series, moved and scaled to numbers of at most 1, in float32. */
typedef struct {
    const float *points;   /* place by place: coordinate c of place t is points[t * dim + c];
                            * behind the last one there is room for another of the longest */
    const float *planar;   /* channel by channel; what fills up the last vector is NaN */
    const int64_t *offsets; /* in places */
    const int64_t *starts; /* of the planar ones, in numbers */
    int64_t n;
} warp_side;

struct warp_bounds {
    warp_side x;
    warp_side y;
    const int64_t *order;  /* y's items by length */
    const float *segments; /* of blocks of y's items in this order: (block, segment, dim, lane) */
    const float *low_sums; /* of y's boxes: (level, block, segment of x, dim, lane) */
    const float *high_sums;
    const float *kept;     /* NULL, or the first bounds of all pairs, in lines of so many numbers */
    int64_t kept_stride;
    int64_t turned[WARP_LEVELS]; /* where a level is in these, or -1 */
    int64_t wanted;        /* the levels whose sums every row makes, as bits */
    int64_t n_segments;    /* of the longest item of y */
    int64_t x_segments;
    int64_t lanes;
    int64_t dim;
    int64_t longest_x;
    int64_t longest_y;
    int64_t window;
    int64_t radii[WARP_LEVELS]; /* of the envelopes, from the least that a pair may have */
    int64_t n_levels;
    int64_t root;          /* ground distances are Euclidean, else their squares */
};

/* A row's envelopes of each level, channel by channel, and scratch. */
typedef struct {
    int64_t stride;
    float *low, *high;     /* (level, dim, stride) */
    float *low_sums, *high_sums; /* of the first bounds' rows: (row, level, segment, dim) */
    float *x_sums;         /* of the rows themselves: (row, segment, dim) */
    float *turned_low, *turned_high, *middle; /* of a pair: (dim, stride) */
    float *extremes;
    char *lanes;           /* of dtw_cut */
    int64_t *made;         /* the levels that are there, as bits */
} warp_row;

static inline size_t warp_lay(const warp_bounds *b, void *memory, warp_row *row)
{
    int64_t longest = b->longest_x > b->longest_y ? b->longest_x : b->longest_y;
    int64_t stride = d2ke_round_up(longest, WARP_LANES) + WARP_LANES, channels = stride * b->dim;
    int64_t sums = d2ke_round_up(WARP_ROWS * b->n_levels * b->n_segments * b->dim, 16);
    int64_t boxes = b->n_levels * channels;
    int64_t columns = b->longest_y + 4;
    float *at = memory;
    row->stride = stride;
    row->made = (int64_t *)at;
    row->low = at + 16;
    row->high = row->low + boxes;
    row->low_sums = row->high + boxes;
    row->high_sums = row->low_sums + sums;
    row->x_sums = row->high_sums + sums;
    row->turned_low = row->x_sums + d2ke_round_up(WARP_ROWS * b->x_segments * b->dim, 16);
    row->turned_high = row->turned_low + channels;
    row->middle = row->turned_high + channels;
    row->extremes = row->middle + channels;
    at = row->extremes + 2 * b->dim * (3 * stride + 64);
    row->lanes = (char *)at;
    at += WARP_LANES * (columns * b->dim + columns + b->longest_x + 32);
    return (size_t)((char *)at - (char *)memory);
}

/* Before the first tighter bound of a row. */
static inline void warp_begin(const warp_bounds *b, void *memory)
{
    warp_row row;
    warp_lay(b, memory, &row);
    *row.made = 0;
}

/* The least level of at least this radius. */
static inline int64_t warp_level(const warp_bounds *b, int64_t radius)
{
    int64_t level = 0;
    while (b->radii[level] < radius) level++;
    return level;
}

/* A row item against one item of y in each lane. */
typedef struct {
    const float *x;
    int64_t n;
    const float *y[WARP_LANES];
    int64_t lengths[WARP_LANES];
    int64_t dim;
    int64_t root;
    int64_t window;
    const float *low, *high; /* envelopes of x under the widest of the lanes' windows */
    int64_t stride;
    float limits[WARP_LANES];
    char *scratch;
    float result[WARP_LANES]; /* infinity: larger than the limit */
} warp_lanes;

#endif
