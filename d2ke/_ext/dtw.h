/* SPDX-License-Identifier: BSD-3-Clause */
/* Dynamic time warping of one series against a block of series, one in each lane.
 *
 * D[i][j] = |x_i - y_j| + min(D[i-1][j], D[i][j-1], D[i-1][j-1]) is filled in
 * strips of DTW_COLS columns, from the first row to the last, by tiles of
 * DTW_ROWS x DTW_COLS whose ground distances stay in registers; between strips
 * only the strip's last column is kept (`left`).  A lane's result is read where
 * its own series ends.
 *
 * Its options are a dtw_options.
 */
#include "dtw_tile.h"

/* One strip of `cols` columns, rows [begin, end); the rows [inner, outer) lie
 * inside every lane's band. */
D2KE_INLINE void REAL_(dtw_strip)(const int cols, const int fixed_dim, const int ground,
                                  const int arow, int64_t dim, const real *x, const vec *y,
                                  vec *left, vec *top, vec diagonal, int64_t begin, int64_t inner,
                                  int64_t outer, int64_t end, int64_t column, vec radius)
{
    int64_t i = begin;
    vec mine[DTW_COLS];
    D2KE_UNROLL for (int c = 0; c < cols; c++) mine[c] = REAL_(set)(LANES_INFINITY);
#define DTW_TILE(rows, banded)                                                                    \
    REAL_(dtw_tile)(rows, cols, fixed_dim, ground, banded, arow, dim, x + i * dim, y, left + i,   \
                    &diagonal, mine, i - column, radius, i > 0 ? dim : 0, column > 0 ? dim : 0)
    /* What is rare, or slow in any case, takes the band's edges row by row. */
    const int tall = DTW_ROWS > 1 && cols == DTW_COLS && ground != DTW_SAFE && !arow;
    while (i < end) {
        /* A loop of its own, in which the columns stay in registers. */
        if (ground != DTW_SAFE)
            for (; i >= inner && i + DTW_ROWS <= outer; i += DTW_ROWS) DTW_TILE(DTW_ROWS, 0);
        if (tall && i + DTW_ROWS <= end) {
            DTW_TILE(DTW_ROWS, 1);
            i += DTW_ROWS;
        } else if (i < end) {
            DTW_TILE(1, 1);
            i++;
        }
    }
#undef DTW_TILE
    D2KE_UNROLL for (int c = 0; c < cols; c++) top[c] = mine[c];
}

size_t ISA_(REAL_(dtw_scratch))(const d2ke_problem *p)
{
    return LANES_HEADER
         + sizeof(vec) * (size_t)(p->y.longest * p->y.dim + p->x.longest);
}

/* What the sum of an item of x and one of y of these lengths is multiplied with. */
static double REAL_(dtw_factor)(const d2ke_problem *p, int64_t row, int64_t item, int64_t n,
                                int64_t m)
{
    const dtw_options *options = p->options;
    return (double)(n + m) / (double)(options->x_observed[row] + options->y_observed[item]);
}

D2KE_INLINE void REAL_(dtw_lanes)(const int fixed_dim, const int ground, const int arow,
                                  const d2ke_problem *p, int64_t row, int64_t block, void *scratch,
                                  double *result, const d2ke_poll *poll)
{
    const int64_t window = ((const dtw_options *)p->options)->window;
    REAL_(lane_block) *b = scratch;
    vec *y = (vec *)((char *)scratch + LANES_HEADER);
    vec *left = y + p->y.longest * p->y.dim;
    int64_t count = p->blocks[block + 1] - p->blocks[block];
    if (b->cache.block != block) REAL_(lane_pack)(p, block, 0, b, (real *)y);
    int64_t n = d2ke_length(&p->x, row), dim = p->x.dim, work = 0;
    const real *x = (const real *)p->x.values + p->x.offsets[row] * dim;
    int64_t widest = 0, narrowest = INT64_MAX;
    vec radius = {0};
    for (int lane = 0; lane < LANES; lane++) {
        int64_t r = dtw_radius(window, n, b->lengths[lane]);
        radius[lane] = (real)r;
        if (r > widest) widest = r;
        if (r < narrowest) narrowest = r;
    }
    if (window == DTW_NO_WINDOW) widest = narrowest = n + b->longest;
    for (int64_t i = 0; i < n; i++) left[i] = REAL_(set)(LANES_INFINITY);
    for (int64_t j = 0; j < b->longest; j += DTW_COLS) {
        int64_t cols = b->longest - j < DTW_COLS ? b->longest - j : DTW_COLS;
        int64_t begin = j > widest ? j - widest : 0;
        int64_t end = j + cols + widest < n ? j + cols + widest : n;
        int64_t inner = j + cols - 1 > narrowest ? j + cols - 1 - narrowest : 0;
        int64_t outer = j + narrowest + 1 < n ? j + narrowest + 1 : n;
        vec top[DTW_COLS];
        if (begin >= n) break;
        if (inner < begin) inner = begin;
        if (outer < inner) inner = outer = end;
        vec diagonal = begin > 0 ? left[begin - 1] : REAL_(set)(j == 0 ? 0 : LANES_INFINITY);
        const vec *strip = y + j * dim;
        switch (cols) {
#define DTW_CASE(c)                                                                              \
        case c:                                                                                  \
            REAL_(dtw_strip)(c, fixed_dim, ground, arow, dim, x, strip, left, top, diagonal,     \
                             begin, inner, outer, end, j, radius);                               \
            break;
        DTW_CASE(1)
#if DTW_COLS > 1
        DTW_CASE(2)
        DTW_CASE(3)
#endif
#if DTW_COLS > 3
        DTW_CASE(4)
#endif
#undef DTW_CASE
        }
        if (j + cols >= b->shortest)
            for (int lane = 0; lane < count; lane++) {
                int64_t c = b->lengths[lane] - 1 - j;
                if (c < 0 || c >= cols) continue;
                result[lane] = top[c][lane];
                if (arow)
                    result[lane] *= REAL_(dtw_factor)(p, row, p->order[p->blocks[block] + lane],
                                                      n, b->lengths[lane]);
            }
        work += n * dim;
        if (work > 300000) {
            work = 0;
            if (d2ke_stopped(poll)) return;
        }
    }
}

/* What is constant in the loops: channels (0: not known), ground distance, arow; the last row that
 * fits is taken.  Each has a function of its own, as one with all loops is slow to compile. */
#define DTW_LOOPS(X)                                                                              \
    X(squared, 0, DTW_SQUARED, 0)                                                                 \
    X(squared_1, 1, DTW_SQUARED, 0)                                                               \
    X(plain, 0, DTW_PLAIN, 0)                                                                     \
    X(plain_1, 1, DTW_PLAIN, 0)                                                                   \
    X(plain_2, 2, DTW_PLAIN, 0)                                                                   \
    X(plain_3, 3, DTW_PLAIN, 0)                                                                   \
    X(safe, 0, DTW_SAFE, 0)                                                                       \
    X(arow_squared, 0, DTW_SQUARED, 1)                                                            \
    X(arow_plain, 0, DTW_PLAIN, 1)                                                                \
    X(arow_plain_1, 1, DTW_PLAIN, 1)                                                              \
    X(arow_safe, 0, DTW_SAFE, 1)

#define X(name, dim, ground, arow)                                                                \
    static void REAL_(dtw_##name)(const d2ke_problem *p, int64_t row, int64_t block,              \
                                  void *scratch, double *result, const d2ke_poll *poll)           \
    {                                                                                             \
        REAL_(dtw_lanes)(dim, ground, arow, p, row, block, scratch, result, poll);                \
    }
DTW_LOOPS(X)
#undef X

void ISA_(REAL_(dtw))(const d2ke_problem *p, int64_t row, int64_t block, void *scratch,
                      double *result, const d2ke_poll *poll)
{
    const dtw_options *options = p->options;
    const int arow = options->x_observed != NULL;
    /* Of one channel, no square is taken. */
    const int64_t ground = p->x.dim == 1 && options->ground == DTW_SAFE ? DTW_PLAIN
                                                                        : options->ground;
    d2ke_kernel loops = NULL;
#define X(name, known, kind, missing)                                                             \
    if (arow == missing && ground == kind && (known == 0 || p->x.dim == known))                   \
        loops = REAL_(dtw_##name);
    DTW_LOOPS(X)
#undef X
    loops(p, row, block, scratch, result, poll);
}

#undef vec
#undef real
#undef mask
#undef LANES
