/* SPDX-License-Identifier: BSD-3-Clause */
/* What the bounds of edit distances with costs read; see edit_costs.h. */
#ifndef D2KE_COST_BOUNDS_H
#define D2KE_COST_BOUNDS_H

#include "kernel.h"

#define COSTS_LONGEST 255 /* of the strings y, whose letters are counted in 8 bits */

struct cost_bounds {
    const uint32_t *x, *y; /* letters 0 .. n_letters-1; y does not have the last one */
    const int64_t *x_offsets, *y_offsets;
    int64_t n, n_letters;  /* strings of y */
    int64_t longest;       /* of x */
    const float *cost;     /* [letter of y][letter of x] */
    const float *deletion, *insertion; /* of each letter */
    const uint16_t *out, *into;        /* the least costs, scaled */
    const uint8_t *counts;   /* [letter][string of y] */
    const uint16_t *total;   /* of each string of y: `into` of all its letters */
    float transposition;     /* infinite: none */
    float slope;             /* bounds are at most slope * distance + offset */
};

/* A thread's memory: of a row its costs, by letters of y, and three rows of tables; or the counts of
 * its letters. */
static inline size_t cost_bounds_own(const cost_bounds *b)
{
    return 64 * (size_t)(b->n_letters * b->longest / 8 + b->n_letters + 3 * (b->longest + 1) + 4);
}

#endif
