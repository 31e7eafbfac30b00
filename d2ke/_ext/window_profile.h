/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel of window profiles reads and writes; see diagonals.h. */
#ifndef D2KE_WINDOW_PROFILE_H
#define D2KE_WINDOW_PROFILE_H

#include "kernel.h"

enum {
    PROFILE_DIAGONALS = 128, /* of a task, which share the values that they read */
    PROFILE_LANES = 32,      /* diagonals that are computed together, at most */
};

/* Series one after another, with NaN before, between and behind them.  Numbers of a window are at
 * the place where it begins. */
typedef struct {
    const double *values;    /* (dim, n) */
    const double *means;     /* (dim, n): the mean of a window, less its first value */
    const double *inverses;  /* (dim, n): 1 / (deviation * sqrt(length)), 0 of a constant window */
    const double *constants; /* (n,): half the number of channels in which it is constant; NULL: all 0 */
    int64_t n;
    int64_t first, last;     /* the first and last place of a window */
} profile_side;

struct d2ke_profile {
    profile_side x, y;
    int64_t dim;
    int64_t length;
    int64_t normalize;
    const int64_t *chosen;   /* (round, n of x): the neighbours that a window has already */
    int64_t round;
    int64_t zone;            /* a further one is more than that many places away from them */
};

/* The best value of each window of x and of y so far, and its place; one list where x is y. */
struct profile_best {
    double *x;
    int64_t *x_at;
    double *y;
    int64_t *y_at;
};

/* The parts of a thread's scratch memory. */
typedef struct {
    double *before; /* (length,): of x, up to the anchor, from its value */
    double *after;  /* (length,): of x, behind it */
    double *means;  /* (length,) */
    double *sums;   /* (length, PROFILE_LANES) */
    double *others; /* the same, of the channels before */
} profile_scratch;

static inline size_t profile_lay(const struct d2ke_profile *p, void *memory, profile_scratch *s)
{
    int64_t rows = d2ke_round_up(p->length, 8), cells = p->length * PROFILE_LANES;
    s->before = memory;
    s->after = s->before + rows;
    s->means = s->after + rows;
    s->sums = s->means + rows;
    s->others = s->sums + cells;
    return (size_t)((char *)(s->others + (p->dim > 1 ? cells : 0)) - (char *)memory);
}

/* Whether `value` with the neighbour at place `other` is the better one: greater, or before it. */
static inline int profile_better(double value, int64_t other, double best, int64_t at)
{
    return value > best || (value == best && other < at);
}

#endif
