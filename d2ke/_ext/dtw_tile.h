/* SPDX-License-Identifier: BSD-3-Clause */
/* A tile of the table of dynamic time warping, one column series in each lane; see dtw.h. */
#define vec REAL_(v)
#define real REAL_(real)
#define LANES D2KE_PASTE(LANES_, REAL)

#ifndef DTW_ROWS
#define DTW_ROWS (D2KE_BYTES == 64 ? 4 : 3)
#define DTW_COLS (D2KE_BYTES == 64 ? 4 : 3)
#define DTW_INFINITY ((real)INFINITY)
#endif

/* |x - y| for one cell.  Differences are scaled by the power of two below the
 * largest, which changes no bit where DTW_PLAIN neither overflows nor vanishes. */
D2KE_INLINE vec REAL_(dtw_safe)(int64_t dim, const real *x, const vec *y)
{
    const vec infinity = REAL_(set)(DTW_INFINITY);
    vec largest = {0}, sum = {0}, scale, inverse;
    for (int64_t k = 0; k < dim; k++)
        largest = -REAL_(min)(-largest, -REAL_(abs)(REAL_(set)(x[k]) - y[k]));
    REAL_(power_below)(largest, &scale, &inverse);
    for (int64_t k = 0; k < dim; k++) {
        vec difference = (REAL_(set)(x[k]) - y[k]) * inverse;
        sum += difference * difference;
    }
    return REAL_(select)(largest == infinity, infinity, REAL_(sqrt)(sum) * scale);
}

/* One tile: `x` is its first row, `y` its first column, `offset` the distance
 * of its first cell from the diagonal.  rows, cols, dim (0: not known), ground
 * and banded are constants after inlining. */
D2KE_INLINE void REAL_(dtw_tile)(const int rows, const int cols, const int fixed_dim,
                                 const int ground, const int banded, int64_t dim, const real *x,
                                 const vec *y, vec *left, vec *diagonal, vec *top, int64_t offset,
                                 vec radius)
{
    vec cost[DTW_ROWS][DTW_COLS];
    if (fixed_dim) dim = fixed_dim;
    D2KE_UNROLL for (int r = 0; r < rows; r++)
        D2KE_UNROLL for (int c = 0; c < cols; c++)
            cost[r][c] = (vec){0};
    if (ground == DTW_SAFE) {
        D2KE_UNROLL for (int r = 0; r < rows; r++)
            D2KE_UNROLL for (int c = 0; c < cols; c++)
                cost[r][c] = REAL_(dtw_safe)(dim, x + r * dim, y + c * dim);
    } else if (fixed_dim == 1 && ground == DTW_PLAIN) {
        D2KE_UNROLL for (int r = 0; r < rows; r++)
            D2KE_UNROLL for (int c = 0; c < cols; c++)
                cost[r][c] = REAL_(abs)(REAL_(set)(x[r]) - y[c]);
    } else {
#define DTW_ADD(k)                                                                               \
    D2KE_UNROLL for (int r = 0; r < rows; r++) D2KE_UNROLL for (int c = 0; c < cols; c++)        \
    {                                                                                            \
        vec difference = REAL_(set)(x[r * dim + (k)]) - y[c * dim + (k)];                        \
        cost[r][c] += difference * difference;                                                   \
    }
        D2KE_UNROLL for (int k = 0; k < fixed_dim; k++) DTW_ADD(k)
        if (!fixed_dim)
            for (int64_t k = 0; k < dim; k++) DTW_ADD(k)
#undef DTW_ADD
        if (ground == DTW_PLAIN)
            D2KE_UNROLL for (int r = 0; r < rows; r++)
                D2KE_UNROLL for (int c = 0; c < cols; c++)
                    cost[r][c] = (r * cols + c) % 4 == 0 ? REAL_(sqrt)(cost[r][c])
                                                         : REAL_(newton_sqrt)(cost[r][c]);
        if (ground == DTW_ROUGH)
            D2KE_UNROLL for (int r = 0; r < rows; r++)
                D2KE_UNROLL for (int c = 0; c < cols; c++)
                    cost[r][c] = REAL_(rough_sqrt)(cost[r][c]);
    }
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
                before = REAL_(select)(distance > radius, REAL_(set)(DTW_INFINITY), before);
            }
            top[c] = before;
        }
        left[r] = before;
    }
    *diagonal = above;
}
