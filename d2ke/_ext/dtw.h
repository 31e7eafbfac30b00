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
    /* Through the border of the band, the inside, the last rows inside where the series ends
     * there, and the other border; each loop goes on where the one before stopped. */
#define DTW_TILES(rows, banded, condition)                                                        \
    for (; i + rows <= end && (condition); i += rows)                                             \
        REAL_(dtw_tile)(rows, cols, fixed_dim, ground, banded, arow, dim, x + i * dim, y,         \
                        left + i, &diagonal, mine, i - column, radius, i > 0 ? dim : 0,           \
                        column > 0 ? dim : 0);
    DTW_TILES(DTW_ROWS, 1, i < inner)
    DTW_TILES(DTW_ROWS, 0, i + DTW_ROWS <= outer)
    DTW_TILES(1, 0, end == outer && i >= inner)
    DTW_TILES(DTW_ROWS, 1, 1)
    DTW_TILES(1, 1, 1)
#undef DTW_TILES
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
                                  const d2ke_problem *p, int64_t row, int64_t block,
                                  const REAL_(lane_block) *b, const vec *y, vec *left,
                                  int64_t count, double *result, const d2ke_poll *poll)
{
    const int64_t window = ((const dtw_options *)p->options)->window;
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
        DTW_CASE(2)
        DTW_CASE(3)
#if D2KE_BYTES == 64
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

void ISA_(REAL_(dtw))(const d2ke_problem *p, int64_t row, int64_t block, void *scratch,
                      double *result, const d2ke_poll *poll)
{
    const dtw_options *options = p->options;
    REAL_(lane_block) *b = scratch;
    vec *y = (vec *)((char *)scratch + LANES_HEADER);
    vec *left = y + p->y.longest * p->y.dim;
    int64_t count = p->blocks[block + 1] - p->blocks[block];
    if (b->cache.block != block) REAL_(lane_pack)(p, block, 0, b, (real *)y);
#define DTW_CALL_OF(dim, ground, arow) \
    REAL_(dtw_lanes)(dim, ground, arow, p, row, block, b, y, left, count, result, poll)
#define DTW_CALL(dim, ground) DTW_CALL_OF(dim, ground, 0)
    if (options->x_observed != NULL) {
        if (options->ground == DTW_SQUARED) DTW_CALL_OF(0, DTW_SQUARED, 1);
        else if (p->x.dim == 1) DTW_CALL_OF(1, DTW_PLAIN, 1);
        else if (options->ground == DTW_SAFE) DTW_CALL_OF(0, DTW_SAFE, 1);
        else DTW_CALL_OF(0, DTW_PLAIN, 1);
    } else if (options->ground == DTW_SQUARED) {
        if (p->x.dim == 1) DTW_CALL(1, DTW_SQUARED);
        else DTW_CALL(0, DTW_SQUARED);
    } else if (p->x.dim == 1) {
        DTW_CALL(1, DTW_PLAIN);
    } else if (options->ground == DTW_SAFE) {
        DTW_CALL(0, DTW_SAFE);
    } else if (p->x.dim == 2) {
        DTW_CALL(2, DTW_PLAIN);
    } else if (p->x.dim == 3) {
        DTW_CALL(3, DTW_PLAIN);
    } else {
        DTW_CALL(0, DTW_PLAIN);
    }
#undef DTW_CALL
#undef DTW_CALL_OF
}

#undef vec
#undef real
#undef mask
#undef LANES
