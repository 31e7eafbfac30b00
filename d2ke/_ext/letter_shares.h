/* SPDX-License-Identifier: BSD-3-Clause */
/* The L1 distance of the shares of letters of two strings, whatever their order.
 *
 * It is 2 - 2 sum of min(share in x, share in y) over the common letters.  The strings of a block
 * of y are turned round: for each letter, those that have it, so that letters in one string only
 * cost nothing.  A block of one column, which may be any string of y, is compared letter by letter.
 * Sums of min(count in x * letters of y, count in y * letters of x) are integers. */
#ifndef D2KE_LETTER_SHARES_H
#define D2KE_LETTER_SHARES_H

#include "kernel.h"

typedef struct {
    const uint32_t *x_counts; /* beside the letters of x, which ascend                          */
    const uint32_t *counts;   /* beside those of y                                              */
    const int64_t *x_sizes;   /* letters of each string, with repetitions                       */
    const int64_t *y_sizes;
    const int64_t *blocks;    /* where the letters of each block of y begin                     */
    const uint32_t *letters;  /* of all blocks; those of each ascend                            */
    const int64_t *places;    /* where the strings that have a letter begin                     */
    const uint32_t *columns;  /* of the block                                                   */
    const uint32_t *y_counts; /* of the letter in the string                                    */
} shares_options;

/* The sum for one string of y. */
static double shares_sum(const d2ke_problem *p, int64_t row, int64_t column, const d2ke_poll *poll)
{
    const shares_options *o = p->options;
    const uint32_t *x = p->x.values, *y = p->y.values;
    double n = (double)o->x_sizes[row], m = (double)o->y_sizes[column], sum = 0;
    int64_t j = p->y.offsets[column], end = p->y.offsets[column + 1], steps = 0;
    for (int64_t i = p->x.offsets[row]; i < p->x.offsets[row + 1] && j < end; i++) {
        while (j < end && y[j] < x[i]) j++;
        if (j < end && y[j] == x[i]) {
            double a = (double)o->x_counts[i] * m, b = (double)o->counts[j] * n;
            sum += a < b ? a : b;
        }
        if (d2ke_pause(&steps, 1, poll)) break;
    }
    return sum;
}

static void shares_kernel(const d2ke_problem *p, int64_t row, int64_t block, void *scratch,
                          double *result, const d2ke_poll *poll)
{
    const shares_options *o = p->options;
    const uint32_t *x = p->x.values;
    int64_t first = p->blocks[block], count = p->blocks[block + 1] - first, steps = 0;
    const int64_t *sizes = o->y_sizes + first;
    double n = (double)o->x_sizes[row];
    (void)scratch;
    for (int64_t k = 0; k < count; k++) result[k] = 0;
    if (count == 1) result[0] = shares_sum(p, row, first, poll);
    int64_t at = o->blocks[block], end = o->blocks[block + 1];
    for (int64_t i = p->x.offsets[row]; count > 1 && i < p->x.offsets[row + 1]; i++) {
        uint32_t letter = x[i];
        int64_t step = 1; /* double the step, then halve it */
        while (at + step < end && o->letters[at + step] <= letter) at += step, step *= 2;
        for (; step; step /= 2)
            if (at + step < end && o->letters[at + step] <= letter) at += step;
        if (at == end) break;
        if (o->letters[at] != letter) continue;
        double in_x = (double)o->x_counts[i];
        for (int64_t j = o->places[at]; j < o->places[at + 1]; j++) {
            double a = in_x * (double)sizes[o->columns[j]], b = (double)o->y_counts[j] * n;
            result[o->columns[j]] += a < b ? a : b;
        }
        if (d2ke_pause(&steps, o->places[at + 1] - o->places[at] + 32, poll)) return;
    }
    for (int64_t k = 0; k < count; k++) {
        double all = n * (double)sizes[k];
        result[k] = all > 0 ? 2 * ((all - result[k]) / all) : (n > 0) != (sizes[k] > 0);
    }
}

#endif
