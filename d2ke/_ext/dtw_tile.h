/* SPDX-License-Identifier: BSD-3-Clause */
/* A tile of the table of dynamic time warping, one column series in each lane; see dtw.h. */
#define vec REAL_(v)
#define real REAL_(real)
#define LANES D2KE_PASTE(LANES_, REAL)
#include "lanes.h"

#ifndef DTW_ROWS
#define DTW_ROWS (D2KE_BYTES == 64 ? 4 : 3)
#define DTW_COLS (D2KE_BYTES == 64 ? 4 : 3)
#endif

/* One tile: `x` is its first row, `y` its first column, `offset` the distance
 * of its first cell from the diagonal.  rows, cols, dim (0: not known), ground
 * and banded are constants after inlining. */
D2KE_INLINE void REAL_(dtw_tile)(const int rows, const int cols, const int fixed_dim,
                                 const int ground, const int banded, int64_t dim, const real *x,
                                 const vec *y, vec *left, vec *diagonal, vec *top, int64_t offset,
                                 vec radius)
{
    vec cost[DTW_ROWS][LANES_COLS];
    if (fixed_dim) dim = fixed_dim;
    REAL_(ground_tile)(rows, cols, fixed_dim, ground, dim, dim, x, y, cost);
    vec above = *diagonal;
    D2KE_UNROLL for (int r = 0; r < rows; r++) {
        vec before = left[r], corner = above;
        above = before;
        D2KE_UNROLL for (int c = 0; c < cols; c++) {
            vec best = REAL_(min)(REAL_(min)(top[c], corner), before);
            corner = top[c];
            before = cost[r][c] + best;
            if (banded) {
                int64_t away = offset + r - c;
                vec distance = REAL_(set)((real)(away < 0 ? -away : away));
                before = REAL_(select)(distance > radius, REAL_(set)(LANES_INFINITY), before);
            }
            top[c] = before;
        }
        left[r] = before;
    }
    *diagonal = above;
}
