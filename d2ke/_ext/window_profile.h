/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel of window profiles reads; see diagonals.h. */
#ifndef D2KE_WINDOW_PROFILE_H
#define D2KE_WINDOW_PROFILE_H

#include "kernel.h"

enum {
    PROFILE_DIAGONALS = 128, /* of a task, which share the values that they read */
    PROFILE_LANES = 32,      /* diagonals that are computed together, at most */
};

/* Series one after another, with NaN before, between and behind them: at least length +
 * PROFILE_DIAGONALS, 1, and PROFILE_DIAGONALS values.  Numbers of a window are at the place where it
 * begins. */
typedef struct {
    const double *values;    /* (dim, n) */
    const double *means;     /* (dim, n): the mean of a window, less its first value */
    const double *inverses;  /* (dim, n): 1 / (deviation * sqrt(length)), 0 of a constant window */
    const double *constants; /* (n,): half the number of channels in which it is constant */
    int64_t n;
    int64_t first, last;     /* the first and last place of a window */
} profile_side;

struct d2ke_profile {
    profile_side x, y;
    int64_t dim;
    int64_t length;
    int64_t normalize;
    int64_t flat;            /* any window is constant in a channel */
    const double *unreached; /* (n of y,): infinity; NULL: y is x, and all windows gain neighbours */
    const int64_t *chosen;   /* (round, n of x): the neighbours that a window has already */
    int64_t round;
    int64_t zone;            /* a further one is more than that many places away from them */
};

/* Whether `value` with the neighbour at place `other` is the better one: greater, or before it. */
static inline int profile_better(double value, int64_t other, double best, int64_t at)
{
    return value > best || (value == best && other < at);
}

#endif
