/* SPDX-License-Identifier: BSD-3-Clause */
/* Elastic distances of one series against a block of series, one in each lane.
 *
 * A table D is filled as in dtw.h: in strips of ELASTIC_COLS columns, by tiles of ELASTIC_ROWS
 * rows whose cells stay in registers; between strips only the last column is kept (`left`).
 * A distance is what elastic_cells.h makes of a cell; each gets its own loops by inlining.
 * Every series has a row of zeros before its first vector, which counts in its length here.
 *
 * Its options are an elastic_options.  All is float64.
 */
#define REAL f64
#define vec REAL_(v)
#define real REAL_(real)
#define LANES D2KE_PASTE(LANES_, REAL)
#include "lanes.h"
#undef vec
#undef real
#include "elastic_cells.h"
#define vec REAL_(v)
#define real REAL_(real)

#define ELASTIC_ROWS (D2KE_BYTES == 64 ? 4 : 3)
#define ELASTIC_COLS (D2KE_BYTES == 64 ? 4 : 3)

/* What the cells of one series against a block have in common. */
typedef struct {
    const elastic_options *options;
    int64_t dim, stride;
    vec radius;
    const vec *weights;
} elastic_pair;

/* The columns of ELASTIC_DISTANCES, by the kind. */
D2KE_INLINE vec elastic_one(const int kind, elastic_cell at)
{
    switch (kind) {
#define X(name, cell, border, result) \
    case ELASTIC_##name: return name##_cell(at);
    ELASTIC_DISTANCES(X)
#undef X
    }
    return (vec){0};
}

D2KE_INLINE int elastic_column(const int kind, const int column)
{
    switch (kind) {
#define X(name, cell, border, result) \
    case ELASTIC_##name: return column == 0 ? cell : column == 1 ? border : result;
    ELASTIC_DISTANCES(X)
#undef X
    }
    return 0;
}

/* D[i][-1] or D[-1][j] after `count` vectors, of whose last channels `sum` is the sum. */
D2KE_INLINE vec elastic_border(const int kind, vec sum, int64_t count)
{
    switch (elastic_column(kind, 1)) {
    case ELASTIC_SUM: return sum;
    case ELASTIC_COUNT: return set_f64((double)count);
    case ELASTIC_ZERO: return (vec){0};
    }
    return set_f64(INFINITY);
}

/* What cells outside of the band are. */
D2KE_INLINE vec elastic_outside(const int kind)
{
    return set_f64(elastic_column(kind, 1) == ELASTIC_ZERO ? 0.0 : INFINITY);
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
D2KE_INLINE void elastic_weights(const double *parameters, int64_t n, lane_block_f64 *b,
                                 vec *weights)
{
    int64_t longest = n > b->longest ? n : b->longest;
    if (b->cache.row == n) return;
    b->cache.row = n;
    for (int lane = 0; lane < LANES; lane++) {
        int64_t m = b->lengths[lane] - 1;
        const double *table = parameters + 1 + (int64_t)parameters[0] - (n > m ? n : m);
        for (int64_t d = 0; d < longest + ELASTIC_COLS; d++)
            ((double *)weights)[d * LANES + lane] = table[2 * d];
    }
}

/* One tile, as dtw_tile. */
D2KE_INLINE void elastic_tile(const int kind, const int rows, const int fixed_dim,
                              const int ground, const int banded, const elastic_pair *pair,
                              const real *x, const vec *y, vec *left, vec *diagonal, vec *top,
                              int64_t offset)
{
    const int given = elastic_column(kind, 0), back = given == ELASTIC_NORMS;
    const int cols = ELASTIC_COLS;
    vec cost[ELASTIC_ROWS + 1][LANES_COLS];
    elastic_cell at;
    at.parameters = pair->options->parameters;
    at.dim = fixed_dim ? fixed_dim : pair->dim;
    at.stride = pair->stride;
    if (given != ELASTIC_OWN)
        ground_tile_f64(rows + back, cols + back, fixed_dim, ground, at.dim, at.stride,
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
            if (banded)
                before = select_f64(set_f64((double)at.away) > pair->radius,
                                    elastic_outside(kind), before);
            top[c] = before;
        }
        left[r] = before;
    }
    *diagonal = above;
}

/* One strip: rows [begin, end), of which [inner, outer) lie inside every lane's band. */
D2KE_INLINE void elastic_strip(const int kind, const int fixed_dim, const int ground,
                               const elastic_pair *pair, const real *x, const vec *y, vec *left,
                               vec *top, vec diagonal, int64_t begin, int64_t inner,
                               int64_t outer, int64_t end, int64_t column)
{
    vec mine[ELASTIC_COLS];
    int64_t i = begin;
    D2KE_UNROLL for (int c = 0; c < ELASTIC_COLS; c++) mine[c] = top[c];
#define ELASTIC_TILE(rows, banded)                                                                \
    elastic_tile(kind, rows, fixed_dim, ground, banded, pair, x + i * pair->stride, y, left + i,  \
                 &diagonal, mine, i - column)
    if (ground != DTW_SAFE) /* which is rare, and slow in any case */
        for (; i + ELASTIC_ROWS <= end; i += ELASTIC_ROWS) {
            if (i >= inner && i + ELASTIC_ROWS <= outer) ELASTIC_TILE(ELASTIC_ROWS, 0);
            else ELASTIC_TILE(ELASTIC_ROWS, 1);
        }
    for (; i < end; i++) ELASTIC_TILE(1, 1);
#undef ELASTIC_TILE
    D2KE_UNROLL for (int c = 0; c < ELASTIC_COLS; c++) top[c] = mine[c];
}

/* A table of a series x (its row of zeros left out) of n vectors against a packed block;
 * `channel` is where the channels begin.  Results are added where channel > 0. */
D2KE_INLINE void elastic_table(const int kind, const int fixed_dim, const int ground,
                               elastic_pair *pair, const lane_block_f64 *b, const real *x,
                               int64_t n, const vec *y, int64_t channel, vec *left, int64_t count,
                               double *result, const d2ke_poll *poll)
{
    const vec outside = elastic_outside(kind);
    const int64_t stride = pair->stride, window = pair->options->window;
    int64_t widest = 0, narrowest = INT64_MAX, last = 0, work = 0;
    vec sum = {0}, edge[ELASTIC_COLS], top[ELASTIC_COLS], diagonal = {0}, radii = {0};
    for (int lane = 0; lane < LANES; lane++) {
        int64_t radius = dtw_radius(window, n, b->lengths[lane] - 1);
        radii[lane] = (double)radius;
        if (radius > widest) widest = radius;
        if (radius < narrowest) narrowest = radius;
    }
    if (window == DTW_NO_WINDOW) {
        widest = narrowest = n + b->longest + ELASTIC_COLS;
        radii = set_f64((double)widest);
    }
    pair->radius = radii;
    for (int64_t i = 0; i < n; i++) {
        sum += set_f64(x[i * stride + stride - 1]);
        left[i] = elastic_border(kind, sum, i + 1);
    }
    sum = (vec){0};
    for (int64_t j = 0; j < b->longest - 1; j += ELASTIC_COLS) {
        const int64_t cols = ELASTIC_COLS;
        int64_t begin = j > widest ? j - widest : 0;
        int64_t end = j + cols + widest < n ? j + cols + widest : n;
        int64_t inner = j + cols - 1 > narrowest ? j + cols - 1 - narrowest : 0;
        int64_t outer = j + narrowest + 1 < n ? j + narrowest + 1 : n;
        if (begin >= n) break;
        if (inner < begin) inner = begin;
        if (outer < inner) inner = outer = end;
        /* Rows that the strip before did not reach lie outside of the band. */
        if (j > 0)
            for (int64_t i = last; i < end; i++) left[i] = outside;
        last = end;
        vec corner = diagonal;
        D2KE_UNROLL for (int c = 0; c < ELASTIC_COLS; c++) {
            sum += y[(j + c) * stride + stride - 1];
            edge[c] = elastic_border(kind, sum, j + c + 1);
            top[c] = begin > 0 ? outside : edge[c];
        }
        diagonal = edge[ELASTIC_COLS - 1];
        if (begin > 0) corner = left[begin - 1];
        elastic_strip(kind, fixed_dim, ground, pair, x + channel, y + j * stride + channel, left,
                      top, corner, begin, inner, outer, end, j);
        if (j + cols >= b->shortest - 1)
            for (int lane = 0; lane < count; lane++) {
                int64_t c = b->lengths[lane] - 2 - j;
                if (c >= 0 && c < cols)
                    result[lane] = (channel > 0 ? result[lane] : 0.0)
                                 + elastic_result(kind, top[c][lane], n, b->lengths[lane] - 1,
                                                  pair->options->parameters);
            }
        work += n * pair->dim;
        if (work > 300000) {
            work = 0;
            if (d2ke_stopped(poll)) return;
        }
    }
}

size_t ISA_(elastic_scratch)(const d2ke_problem *p)
{
    int64_t longest = p->x.longest > p->y.longest ? p->x.longest : p->y.longest;
    return LANES_HEADER + sizeof(vec) * (size_t)((p->y.longest + ELASTIC_COLS) * p->y.dim
                                                 + p->x.longest + longest + ELASTIC_COLS);
}

D2KE_INLINE void elastic_kernel(const int kind, const d2ke_problem *p, int64_t row, int64_t block,
                                void *scratch, double *result, const d2ke_poll *poll)
{
    const elastic_options *options = p->options;
    const int given = elastic_column(kind, 0);
    const int ground = given == ELASTIC_SQUARE || given == ELASTIC_WEIGHTS ? DTW_SQUARED : DTW_PLAIN;
    lane_block_f64 *b = scratch;
    vec *y = (vec *)((char *)scratch + LANES_HEADER);
    vec *left = y + (p->y.longest + ELASTIC_COLS) * p->y.dim;
    int64_t count = p->blocks[block + 1] - p->blocks[block], stride = p->x.dim;
    int64_t n = d2ke_length(&p->x, row) - 1;
    const real *x = (const real *)p->x.values + (p->x.offsets[row] + 1) * stride;
    if (b->cache.block != block) lane_pack_f64(p, block, ELASTIC_COLS, b, (real *)y);
    elastic_pair pair = {options, options->dim, stride, {0}, left + p->x.longest};
    if (given == ELASTIC_WEIGHTS) elastic_weights(options->parameters, n, b, left + p->x.longest);
    y += stride;
#define ELASTIC_CALL(dim, ground, channel) \
    elastic_table(kind, dim, ground, &pair, b, x, n, y, channel, left, count, result, poll)
    if (elastic_column(kind, 2) == ELASTIC_CHANNELS) {
        for (int64_t channel = 0; channel < options->dim; channel++)
            ELASTIC_CALL(1, DTW_PLAIN, channel);
    } else if (given == ELASTIC_OWN) {
        ELASTIC_CALL(0, DTW_PLAIN, 0);
    } else if (options->dim == 1) {
        ELASTIC_CALL(1, ground, 0);
    } else if (ground == DTW_PLAIN && options->safe) {
        ELASTIC_CALL(0, DTW_SAFE, 0);
    } else {
        ELASTIC_CALL(0, ground, 0);
    }
#undef ELASTIC_CALL
}

#define X(name, cell, border, result)                                                           \
    static void elastic_##name(const d2ke_problem *p, int64_t row, int64_t block, void *scratch,  \
                               double *result, const d2ke_poll *poll)                             \
    {                                                                                             \
        elastic_kernel(ELASTIC_##name, p, row, block, scratch, result, poll);                     \
    }
ELASTIC_DISTANCES(X)
#undef X

const d2ke_kernel ISA_(elastic)[] = {
#define X(name, cell, border, result) elastic_##name,
    ELASTIC_DISTANCES(X)
#undef X
};

#undef vec
#undef real
#undef LANES
#undef REAL
