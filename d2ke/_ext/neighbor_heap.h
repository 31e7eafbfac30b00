/* SPDX-License-Identifier: BSD-3-Clause */
/* The k nearest of what is offered, in the order of (distance, index), as a heap whose first
 * entry is the farthest; empty places hold infinity and INT64_MAX. */
#ifndef D2KE_NEIGHBOR_HEAP_H
#define D2KE_NEIGHBOR_HEAP_H

#include <stdint.h>

static inline int d2ke_farther(double a, int64_t i, double b, int64_t j)
{
    return a > b || (a == b && i > j);
}

static inline void d2ke_offer(double *distances, int64_t *indices, int64_t k, double distance,
                              int64_t index)
{
    if (!d2ke_farther(distances[0], indices[0], distance, index))
        return;
    int64_t at = 0;
    for (int64_t child; (child = 2 * at + 1) < k; at = child) {
        if (child + 1 < k && d2ke_farther(distances[child + 1], indices[child + 1],
                                          distances[child], indices[child]))
            child++;
        if (!d2ke_farther(distances[child], indices[child], distance, index))
            break;
        distances[at] = distances[child];
        indices[at] = indices[child];
    }
    distances[at] = distance;
    indices[at] = index;
}

#endif
