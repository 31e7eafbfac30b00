/* SPDX-License-Identifier: BSD-3-Clause */
/* What the cut-off of elastic distances reads; see elastic_cut.h. */
#ifndef D2KE_ELASTIC_BOUNDS_H
#define D2KE_ELASTIC_BOUNDS_H

#include "kernel.h"
#include "options.h"

/* Series in float32, as for the distances, and potentials as another last channel; behind the
 * last series there is room for another of the longest. */
struct elastic_bounds {
    d2ke_items x, y;
    elastic_options options;
    int64_t *cells; /* of each row, how many cells were computed */
};

static inline size_t elastic_bounds_own(const elastic_bounds *b)
{
    int64_t longest = b->x.longest > b->y.longest ? b->x.longest : b->y.longest;
    return 64 * (size_t)((b->y.longest + 16) * b->y.dim + b->x.longest + longest + 16);
}

#endif
