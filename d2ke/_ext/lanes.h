/* SPDX-License-Identifier: BSD-3-Clause */
/* A block of series, one in each lane, and ground distances of their vectors: what dtw_tile.h
 * and elastic.h share.  They define vec, real and LANES, and include this for each element type.
 */
#ifndef LANES_COLS
/* Rows and columns of a tile: what fits into the registers.  On x86-64 the vectors of 16 bytes are
 * for processors before 2013 only: they get what compiles fastest. */
#if D2KE_BYTES == 64
#define LANES_TILE 4
#elif D2KE_BYTES == 16 && defined(__x86_64__)
#define LANES_TILE 1
#else
#define LANES_TILE 3
#endif
#define LANES_COLS 5 /* of a tile's array of ground distances, at most */
#define LANES_INFINITY ((real)INFINITY)
#define LANES_HEADER ((size_t)d2ke_round_up(sizeof(REAL_(lane_block)), 64))
#endif

/* |x - y| for one cell.  Differences are scaled by the power of two below the
 * largest, which changes no bit where DTW_PLAIN neither overflows nor vanishes. */
D2KE_INLINE vec REAL_(ground_safe)(int64_t dim, const real *x, const vec *y)
{
    const vec infinity = REAL_(set)(LANES_INFINITY);
    vec largest = {0}, sum = {0}, scale, inverse;
    for (int64_t k = 0; k < dim; k++)
        largest = -REAL_(min)(-largest, -REAL_(abs)(REAL_(set)(x[k]) - y[k]));
    REAL_(power_below)(largest, &scale, &inverse);
    for (int64_t k = 0; k < dim; k++) {
        vec difference = (REAL_(set)(x[k]) - y[k]) * inverse;
        sum = REAL_(fused)(difference, difference, sum);
    }
    return REAL_(select)(largest == infinity, infinity, REAL_(sqrt)(sum) * scale);
}

/* Ground distances of rows x cols vectors: x is the first row's, y the first column's, `stride`
 * from one to the next.  rows, cols, dim (0: not known) and ground are constants after inlining. */
D2KE_INLINE void REAL_(ground_tile)(const int rows, const int cols, const int fixed_dim,
                                    const int ground, int64_t dim, int64_t stride, const real *x,
                                    const vec *y, vec (*cost)[LANES_COLS])
{
    D2KE_UNROLL for (int r = 0; r < rows; r++)
        D2KE_UNROLL for (int c = 0; c < cols; c++)
            cost[r][c] = (vec){0};
    if (ground == DTW_SAFE) {
        D2KE_UNROLL for (int r = 0; r < rows; r++)
            D2KE_UNROLL for (int c = 0; c < cols; c++)
                cost[r][c] = REAL_(ground_safe)(dim, x + r * stride, y + c * stride);
    } else if (fixed_dim == 1 && ground == DTW_PLAIN) {
        D2KE_UNROLL for (int r = 0; r < rows; r++)
            D2KE_UNROLL for (int c = 0; c < cols; c++)
                cost[r][c] = REAL_(abs)(REAL_(set)(x[r * stride]) - y[c * stride]);
    } else {
#define GROUND_ADD(k)                                                                            \
    D2KE_UNROLL for (int r = 0; r < rows; r++) D2KE_UNROLL for (int c = 0; c < cols; c++)        \
    {                                                                                            \
        vec difference = REAL_(set)(x[r * stride + (k)]) - y[c * stride + (k)];                  \
        cost[r][c] = REAL_(fused)(difference, difference, cost[r][c]);                           \
    }
        D2KE_UNROLL for (int k = 0; k < fixed_dim; k++) GROUND_ADD(k)
        if (!fixed_dim)
            for (int64_t k = 0; k < dim; k++) GROUND_ADD(k)
#undef GROUND_ADD
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
}

typedef struct {
    d2ke_cache cache;
    int64_t longest, shortest;
    int64_t lengths[LANES];
} REAL_(lane_block);

/* Pack a block; a lane's series ends in zeros up to `more` vectors beyond the longest. */
static inline void REAL_(lane_pack)(const d2ke_problem *p, int64_t block, int64_t more,
                             REAL_(lane_block) *b, real *packed)
{
    const real *values = p->y.values;
    int64_t first = p->blocks[block], count = p->blocks[block + 1] - first;
    b->longest = 0;
    b->shortest = INT64_MAX;
    for (int lane = 0; lane < LANES; lane++) {
        /* Lanes without a series of their own repeat the first one. */
        int64_t item = p->order[first + (lane < count ? lane : 0)];
        int64_t m = b->lengths[lane] = d2ke_length(&p->y, item);
        if (m > b->longest) b->longest = m;
        if (m < b->shortest) b->shortest = m;
    }
    for (int lane = 0; lane < LANES; lane++) {
        int64_t item = p->order[first + (lane < count ? lane : 0)];
        const real *y = values + p->y.offsets[item] * p->y.dim;
        int64_t size = b->lengths[lane] * p->y.dim, all = (b->longest + more) * p->y.dim;
        for (int64_t t = 0; t < size; t++) packed[t * LANES + lane] = y[t];
        for (int64_t t = size; t < all; t++) packed[t * LANES + lane] = 0;
    }
    b->cache.block = block;
    b->cache.row = -1;
}
