/* SPDX-License-Identifier: BSD-3-Clause */
/* Any kernel's distances divided by the lengths of the items: the longer one, or both. */
#ifndef D2KE_SHARES_H
#define D2KE_SHARES_H

#include "kernel.h"

typedef struct {
    d2ke_kernel kernel;  /* whose distances are divided, */
    const void *options; /* and what it reads            */
    int64_t both;
} share_options;

/* Empty items stay at distance 0. */
static void share_kernel(const d2ke_problem *p, int64_t row, int64_t block, void *scratch,
                         double *result, const d2ke_poll *poll)
{
    const share_options *share = p->options;
    d2ke_problem plain = *p;
    plain.options = share->options;
    share->kernel(&plain, row, block, scratch, result, poll);
    int64_t n = d2ke_length(&p->x, row), first = p->blocks[block];
    for (int64_t k = first; k < p->blocks[block + 1]; k++) {
        int64_t m = d2ke_length(&p->y, p->order[k]);
        int64_t whole = share->both ? n + m : n > m ? n : m;
        if (whole > 0) result[k - first] /= (double)whole;
    }
}

#endif
