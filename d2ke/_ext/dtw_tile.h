/* SPDX-License-Identifier: BSD-3-Clause */
/* A tile of the table of dynamic time warping, one column series in each lane; see dtw.h. */
#define vec REAL_(v)
#define real REAL_(real)
#define LANES D2KE_PASTE(LANES_, REAL)
#define mask D2KE_PASTE(DTW_MASK_, REAL)
#include "lanes.h"

#ifndef DTW_ROWS
#define DTW_ROWS LANES_TILE
#define DTW_COLS LANES_TILE
#define DTW_MASK_f64 v_i64
#define DTW_MASK_f32 v_i32
#endif

/* Whether the cell of x and y has a missing vector, all of whose channels are NaN. */
D2KE_INLINE mask REAL_(dtw_missing)(const real *x, const vec *y)
{
    vec difference = REAL_(set)(x[0]) - y[0];
    return difference != difference;
}

/* One tile: `x` is its first row, `y` its first column, `offset` the distance
 * of its first cell from the diagonal.  rows, cols, dim (0: not known), ground,
 * banded and arow are constants after inlining.
 *
 * With arow (Yurtman et al. 2023) a cell with a missing vector costs nothing, and
 * a path comes to it and goes from it by diagonal steps only; the cell above x is
 * that of x - up, the one before y that of y - back (0 where there is none). */
D2KE_INLINE void REAL_(dtw_tile)(const int rows, const int cols, const int fixed_dim,
                                 const int ground, const int banded, const int arow, int64_t dim,
                                 const real *x, const vec *y, vec *left, vec *diagonal, vec *top,
                                 int64_t offset, vec radius, int64_t up, int64_t back)
{
    vec cost[DTW_ROWS][LANES_COLS];
    if (fixed_dim) dim = fixed_dim;
    REAL_(ground_tile)(rows, cols, fixed_dim, ground, dim, dim, x, y, cost);
    const vec infinity = REAL_(set)(LANES_INFINITY);
    mask missing_above[LANES_COLS] = {{0}}, missing_before = {0};
    if (arow)
        D2KE_UNROLL for (int c = 0; c < cols; c++)
            missing_above[c] = REAL_(dtw_missing)(x - up, y + c * dim);
    vec above = *diagonal;
    D2KE_UNROLL for (int r = 0; r < rows; r++) {
        vec before = left[r], corner = above;
        above = before;
        if (arow) missing_before = REAL_(dtw_missing)(x + r * dim, y - back);
        D2KE_UNROLL for (int c = 0; c < cols; c++) {
            vec best = REAL_(min)(REAL_(min)(top[c], corner), before);
            if (arow) {
                mask missing = REAL_(dtw_missing)(x + r * dim, y + c * dim);
                vec down = REAL_(select)(missing | missing_above[c], infinity, top[c]);
                vec along = REAL_(select)(missing | missing_before, infinity, before);
                best = REAL_(min)(REAL_(min)(down, corner), along);
                cost[r][c] = REAL_(select)(missing, (vec){0}, cost[r][c]);
                missing_above[c] = missing_before = missing;
            }
            corner = top[c];
            before = cost[r][c] + best;
            if (banded) {
                int64_t away = offset + r - c;
                vec distance = REAL_(set)((real)(away < 0 ? -away : away));
                before = REAL_(select)(distance > radius, infinity, before);
            }
            top[c] = before;
        }
        left[r] = before;
    }
    *diagonal = above;
}
