/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel of windows reads; see windows.h. */
#ifndef D2KE_WINDOWING_H
#define D2KE_WINDOWING_H

#include "kernel.h"

enum {
    WINDOW_CHUNK = 8,     /* windows whose sums are made together, at most */
    WINDOW_RUN = 8,       /* chunks that share a strip's normalised windows, at most */
    WINDOW_UNIT = 32,     /* places whose sums are made together, at most  */
    WINDOW_STRIP = 512,   /* places of a strip, at most                    */
    WINDOW_WORDS = WINDOW_STRIP / 64,
    WINDOW_VALUES = 4096, /* of a strip's normalised windows, about        */
};

/* Windows of one group: they share length, dilation and channels. */
typedef struct window_chunk {
    const float *packed;     /* (channel, value, WINDOW_CHUNK); windows that lack are zeros */
    const int64_t *channels;
    int64_t n_channels;
    int64_t length;
    int64_t dilation;
    int64_t first;           /* number of the first window */
    int64_t count;
    int64_t large;           /* a value exceeds LARGE of windows.pyx */
} window_chunk;

struct d2ke_windows {
    const float *values;     /* channel c of series i from values[c * total + offsets[i]] */
    const int64_t *offsets;
    const uint8_t *large;    /* of each series: a value exceeds LARGE of windows.pyx */
    const float *limits;     /* (dim, n): windows that deviate by at most that are constant */
    int64_t n;
    int64_t total;
    int64_t dim;
    int64_t longest;
    int64_t longest_window;  /* values of one channel */
    int64_t longest_packed;  /* numbers of a chunk */
    int64_t n_windows;
    const float *places;
    const float *thresholds;
    double radius;
    int64_t runs;            /* whether the longest run of places is asked for */
    int64_t normalize;
};

/* Places of a strip: values that are read or made for it stay in the first cache. */
static inline int64_t window_strip(int64_t length)
{
    int64_t units = WINDOW_VALUES / length / WINDOW_UNIT, most = WINDOW_STRIP / WINDOW_UNIT;
    return WINDOW_UNIT * (units < 1 ? 1 : units > most ? most : units);
}

/* Rows of a strip are apart by this much, so that they do not fall into one set of the cache. */
static inline int64_t window_stride(int64_t length) { return window_strip(length) + 16; }

/* The parts of a thread's scratch memory. */
typedef struct {
    float *sums;   /* (WINDOW_CHUNK, stride) */
    float *rows;   /* (length, stride): the windows of a strip, value by value */
    float *units;  /* (2, stride): what normalises them */
    float *copy;   /* of a part of a series */
    float *packed; /* a copy of a chunk's windows in another unit */
} window_scratch;

static inline size_t window_lay(const struct d2ke_windows *p, void *memory, window_scratch *s)
{
    int64_t stride = WINDOW_STRIP + 16;
    int64_t longest = p->longest > p->longest_window ? p->longest : p->longest_window;
    int64_t rows = p->longest_window * (WINDOW_UNIT + 16) + 2 * WINDOW_VALUES;
    s->sums = memory;
    s->rows = s->sums + WINDOW_CHUNK * stride;
    s->units = s->rows + d2ke_round_up(rows, 16);
    s->copy = s->units + 2 * stride;
    s->packed = s->copy + d2ke_round_up(longest + 2 * WINDOW_STRIP, 16);
    return (size_t)((char *)(s->packed + d2ke_round_up(p->longest_packed, 16)) - (char *)memory);
}

/* Of the distance "window": y's items are windows of all channels of x's.  Values of both are
 * channel by channel. */
typedef struct {
    const uint8_t *x_large;
    const uint8_t *y_large;
    const float *x_limits;   /* (dim, n), as in d2ke_windows */
    const float *y_limits;
    const int64_t *channels; /* 0 .. dim - 1 */
    int64_t dilation;
    int64_t normalize;
    double unit;             /* of the values: what distances are multiplied with */
} window_options;

static inline d2ke_windows window_problem(const d2ke_problem *problem)
{
    const window_options *o = problem->options;
    const d2ke_items *x = &problem->x, *y = &problem->y;
    d2ke_windows p = {
        .values = x->values,
        .offsets = x->offsets,
        .large = o->x_large,
        .limits = o->x_limits,
        .n = x->n,
        .total = x->offsets[x->n],
        .dim = x->dim,
        .longest = x->longest > y->longest ? x->longest : y->longest,
        .longest_window = y->longest,
        .longest_packed = 2 * WINDOW_CHUNK * y->longest * y->dim, /* as it is, and in a unit */
        .normalize = o->normalize,
    };
    return p;
}

#endif
