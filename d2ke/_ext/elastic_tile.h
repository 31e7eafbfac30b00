/* SPDX-License-Identifier: BSD-3-Clause */
/* A tile of the table of an elastic distance, one column series in each lane; see elastic.h.
 * lanes.h comes before. */
#define vec REAL_(v)
#define real REAL_(real)
#define LANES D2KE_PASTE(LANES_, REAL)
#include "elastic_cells.h"

#define ELASTIC_ROWS LANES_TILE
#define ELASTIC_COLS LANES_TILE

/* What the cells of one series against a block have in common. */
typedef struct {
    const elastic_options *options;
    int64_t dim, stride;
    vec radius;
    const vec *weights;
} elastic_pair;

#ifdef ELASTIC_WAYS
#define ELASTIC_TILES ELASTIC_DISTANCES
#else
#define ELASTIC_TILES ELASTIC_CUT
#endif

/* The columns of options.h, by the kind. */
D2KE_INLINE vec elastic_one(const int kind, elastic_cell at)
{
    switch (kind) {
#define X(name, cell, border, result) \
    case ELASTIC_##name: return name##_cell(at);
    ELASTIC_TILES(X)
#undef X
    }
    return (vec){0};
}

D2KE_INLINE int elastic_column(const int kind, const int column)
{
    switch (kind) {
#define X(name, cell, border, result) \
    case ELASTIC_##name: return column == 0 ? cell : column == 1 ? border : result;
    ELASTIC_TILES(X)
#undef X
    }
    return 0;
}

/* D[i][-1] or D[-1][j] after `count` vectors, of whose last channels `sum` is the sum. */
D2KE_INLINE vec elastic_border(const int kind, vec sum, int64_t count)
{
    switch (elastic_column(kind, 1)) {
    case ELASTIC_SUM: return sum;
    case ELASTIC_COUNT: return REAL_(set)((real)count);
    case ELASTIC_ZERO: return (vec){0};
    }
    return REAL_(set)(LANES_INFINITY);
}

/* What cells outside of the band are. */
D2KE_INLINE vec elastic_outside(const int kind)
{
    return REAL_(set)(elastic_column(kind, 1) == ELASTIC_ZERO ? 0 : LANES_INFINITY);
}

/* The distance of series of n and m vectors, from the last cell. */
D2KE_INLINE double elastic_result(const int kind, double last, int64_t n, int64_t m,
                                  const double *parameters)
{
    switch (elastic_column(kind, 2)) {
    case ELASTIC_LONGER: return parameters[1] ? last / (double)(n > m ? n : m) : last;
    case ELASTIC_SHARE: return 1.0 + last / (double)(n < m ? n : m);
    }
    return last;
}

/* The weights of a series of n vectors against a block: those of a pair of which the longer one
 * has L, at d from the diagonal, are parameters[2 d - L + parameters[0] + 1]. */
D2KE_INLINE void elastic_weights(const double *parameters, int64_t n, REAL_(lane_block) *b,
                                 vec *weights)
{
    int64_t longest = n > b->longest ? n : b->longest;
    if (b->cache.row == n) return;
    b->cache.row = n;
    for (int lane = 0; lane < LANES; lane++) {
        int64_t m = b->lengths[lane] - 1;
        const double *table = parameters + 1 + (int64_t)parameters[0] - (n > m ? n : m);
        for (int64_t d = 0; d < longest + ELASTIC_COLS; d++)
            ((real *)weights)[d * LANES + lane] = (real)table[2 * d];
    }
}

#ifdef ELASTIC_WAYS
/* Where the value of a cell is from, as a d2ke_ways has it: which of the three cells gives it alone,
 * the others being infinite.  Of equal ones the corner is taken, but by lcss, where it then is no
 * match. */
D2KE_INLINE uint16_t elastic_ways(const int kind, elastic_cell at, vec value)
{
    const vec infinity = REAL_(set)(LANES_INFINITY), above = at.above, before = at.before;
    unsigned corner, along;
    at.above = at.before = infinity;
    corner = REAL_(equal_bits)(elastic_one(kind, at), value);
    at.corner = infinity;
    at.before = before;
    along = REAL_(equal_bits)(elastic_one(kind, at), value);
    if (kind == ELASTIC_lcss) {
        at.before = infinity;
        at.above = above;
        corner = ~(along | REAL_(equal_bits)(elastic_one(kind, at), value)) & 255;
    }
    return (uint16_t)(corner | along << 8);
}
#define ELASTIC_NOTE(cell, value) \
    if (traced) ways[c] = elastic_ways(kind, cell, value)
#else
#define ELASTIC_NOTE(cell, value)
#endif

/* One tile, as dtw_tile; if traced, it has one row, which leaves `ways`. */
D2KE_INLINE void elastic_tile(const int kind, const int rows, const int cols, const int fixed_dim,
                              const int ground, const int banded, const int traced,
                              const elastic_pair *pair, const real *x, const vec *y, vec *left,
                              vec *diagonal, vec *top, int64_t offset, uint16_t *ways)
{
    const int given = elastic_column(kind, 0), back = given == ELASTIC_NORMS;
    vec cost[ELASTIC_ROWS + 1][LANES_COLS];
    elastic_cell at;
    at.parameters = pair->options->parameters;
    at.dim = fixed_dim ? fixed_dim : pair->dim;
    at.stride = pair->stride;
    if (given != ELASTIC_OWN)
        REAL_(ground_tile)(rows + back, cols + back, fixed_dim, ground, at.dim, at.stride,
                        x - back * at.stride, y - back * at.stride, cost);
    vec above = *diagonal;
    D2KE_UNROLL for (int r = 0; r < rows; r++) {
        vec before = left[r], corner = above;
        above = before;
        D2KE_UNROLL for (int c = 0; c < cols; c++) {
            int64_t away = offset + r - c;
            at.away = away < 0 ? -away : away;
            at.x = x + r * at.stride;
            at.y = y + c * at.stride;
            if (given != ELASTIC_OWN) at.ground = cost[r + back][c + back];
            if (back) at.ground_before = cost[r][c];
            at.corner = corner;
            at.above = corner = top[c];
            at.before = before;
            at.weights = pair->weights;
            before = elastic_one(kind, at);
            ELASTIC_NOTE(at, before);
            if (banded)
                before = REAL_(select)(REAL_(set)((real)at.away) > pair->radius,
                                    elastic_outside(kind), before);
            top[c] = before;
        }
        left[r] = before;
    }
    *diagonal = above;
}

#undef vec
#undef real
#undef LANES
