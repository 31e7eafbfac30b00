/* SPDX-License-Identifier: BSD-3-Clause */
/* Elastic distances up to a limit, of one series against one in each lane, in float32: a lower
 * bound for the caller, who allows for its rounding.
 *
 * What follows a cell costs at least a function of two potentials, those of its row and of its
 * column: see d2ke/neighbors/elastic.py.  A cell is alive in a lane if its value and this do not
 * exceed the limit.  Strips leave rows out as in dtw_cut.h; a path has alive cells only, so that
 * one within the limit loses none.
 */
#include "elastic_tile.h"
#include "elastic_bounds.h"
#define vec REAL_(v)
#define real REAL_(real)
#define LANES D2KE_PASTE(LANES_, REAL)

/* What the rest of the table costs at least; lcss: minus the matches that it may have. */
D2KE_INLINE vec elastic_rest(const int kind, vec x, vec y)
{
    return kind == ELASTIC_lcss ? REAL_(max)(x, y) : REAL_(abs)(x - y);
}

/* Whether a row of cells, of columns from `y` on, has one alive; NaN columns are the last. */
D2KE_INLINE int elastic_alive(const int kind, const elastic_pair *pair, real x, const vec *y,
                              const vec *cells, const int cols, vec limit)
{
    const vec *potential = y + pair->stride - 1;
    vec least;
    D2KE_UNROLL for (int c = cols - 1; c >= 0; c--) {
        vec total = cells[c] + elastic_rest(kind, REAL_(set)(x), potential[c * pair->stride]);
        least = c == cols - 1 ? total : REAL_(min)(least, total);
    }
    return any_f32(least <= limit);
}

/* One strip, from row `begin` on, at least to row `reached`; returns where it stopped. */
D2KE_INLINE int64_t elastic_cut_strip(const int kind, const int fixed_dim, const int ground,
                                      const elastic_pair *pair, const real *x, const vec *y,
                                      int64_t channel, vec *left, vec *top, vec diagonal,
                                      int64_t begin, int64_t inner, int64_t outer, int64_t end,
                                      int64_t column, int64_t reached, vec limit)
{
    vec mine[ELASTIC_COLS];
    int64_t i = begin, stride = pair->stride;
    D2KE_UNROLL for (int c = 0; c < ELASTIC_COLS; c++) mine[c] = top[c];
#define CUT_TILES(rows, banded, condition)                                                         \
    while (i + rows <= end && (condition)) {                                                       \
        elastic_tile(kind, rows, ELASTIC_COLS, fixed_dim, ground, banded, 0, pair,                 \
                     x + i * stride + channel, y + channel, left + i, &diagonal, mine,             \
                     i - column, NULL);                                                                \
        i += rows;                                                                                 \
        if (i > reached                                                                            \
            && !elastic_alive(kind, pair, x[i * stride - 1], y, mine, ELASTIC_COLS, limit))        \
            goto stop;                                                                             \
    }
    CUT_TILES(ELASTIC_ROWS, 1, ELASTIC_ROWS > 1 && i < inner)
    CUT_TILES(ELASTIC_ROWS, 0, ELASTIC_ROWS > 1 && i + ELASTIC_ROWS <= outer)
    CUT_TILES(1, 1, 1)
#undef CUT_TILES
stop:
    D2KE_UNROLL for (int c = 0; c < ELASTIC_COLS; c++) top[c] = mine[c];
    return i;
}

/* A table of a series of n vectors against a packed block; returns the number of its cells. */
D2KE_INLINE int64_t elastic_cut_table(const int kind, const int fixed_dim, const int ground,
                                      elastic_pair *pair, const lane_block_f32 *b, const real *x,
                                      int64_t n, const vec *y, int64_t channel, vec *left,
                                      vec limit, vec *result, const d2ke_poll *poll)
{
    const vec infinite = REAL_(set)(LANES_INFINITY);
    const int64_t stride = pair->stride, window = pair->options->window, m = b->longest - 1;
    const int border = elastic_column(kind, 1) != ELASTIC_NEVER;
    int64_t widest = 0, narrowest = INT64_MAX, cells = 0, work = 0;
    int64_t first = 0, last = -1, written = n; /* alive rows of `left`, and the end of its values */
    int edge_alive = border;
    vec sum = {0}, edge[ELASTIC_COLS], top[ELASTIC_COLS], diagonal = {0};
    for (int lane = 0; lane < LANES; lane++) {
        int64_t radius = dtw_radius(window, n, b->lengths[lane] - 1);
        pair->radius[lane] = (real)radius;
        if (radius > widest) widest = radius;
        if (radius < narrowest) narrowest = radius;
    }
    if (window == DTW_NO_WINDOW) {
        widest = narrowest = n + m + ELASTIC_COLS;
        pair->radius = REAL_(set)((real)widest);
    }
    *result = infinite;
    for (int64_t i = 0; i < n; i++) {
        sum += REAL_(set)(x[i * stride + pair->dim]);
        left[i] = elastic_border(kind, sum, i + 1);
        if (border && elastic_alive(kind, pair, x[(i + 1) * stride - 1], y - stride, left + i, 1,
                                    limit))
            last = i;
    }
    sum = (vec){0};
    for (int64_t j = 0; j < m; j += ELASTIC_COLS) {
        const vec *column = y + j * stride;
        int64_t begin = j > widest ? j - widest : 0;
        int64_t end = j + ELASTIC_COLS + widest < n ? j + ELASTIC_COLS + widest : n;
        int64_t inner = j + ELASTIC_COLS - 1 > narrowest ? j + ELASTIC_COLS - 1 - narrowest : 0;
        int64_t outer = j + narrowest + 1 < n ? j + narrowest + 1 : n, stop;
        vec corner = diagonal;
        if (begin < first) begin = first;
        if (begin >= end) return cells;
        if (inner < begin) inner = begin;
        if (outer < inner) inner = outer = end;
        D2KE_UNROLL for (int c = 0; c < ELASTIC_COLS; c++) {
            sum += column[c * stride + pair->dim];
            edge[c] = elastic_border(kind, sum, j + c + 1);
            top[c] = begin > 0 ? infinite : edge[c];
        }
        diagonal = edge[ELASTIC_COLS - 1];
        if (begin > 0) corner = begin > first ? left[begin - 1] : infinite;
        stop = elastic_cut_strip(kind, fixed_dim, ground, pair, x, column, channel, left, top,
                                 corner, begin, inner, outer, end, j, last + 1, limit);
        cells += (stop - begin) * ELASTIC_COLS;
        if (stop == n)
            for (int lane = 0; lane < LANES; lane++) {
                int64_t c = b->lengths[lane] - 2 - j;
                if (c >= 0 && c < ELASTIC_COLS && top[c][lane] <= limit[lane])
                    (*result)[lane] = top[c][lane];
            }
        for (int64_t i = stop; i < written; i++) left[i] = infinite;
        written = stop;
        const vec *end_column = column + (ELASTIC_COLS - 1) * stride;
#define ALIVE(i, cell) \
    elastic_alive(kind, pair, x[((i) + 1) * stride - 1], end_column, cell, 1, limit)
        edge_alive = edge_alive && begin == 0 && ALIVE(-1, &diagonal);
        for (first = begin; first < stop && !ALIVE(first, left + first); first++) continue;
        if (first == stop && !edge_alive) return cells;
        for (last = stop - 1; last >= first && !ALIVE(last, left + last); last--) continue;
        if (edge_alive) first = 0;
#undef ALIVE
        work += (stop - begin) * pair->dim * ELASTIC_COLS;
        if (work > 300000) {
            work = 0;
            if (d2ke_stopped(poll)) return cells;
        }
    }
    return cells;
}

/* The series of the lanes, each with its row of zeros, and NaN behind them. */
static void elastic_cut_pack(const elastic_bounds *bounds, const int64_t *columns, int64_t n,
                             lane_block_f32 *b, vec *packed)
{
    const int64_t stride = bounds->y.dim;
    warp_lanes w;
    b->longest = 0;
    for (int lane = 0; lane < LANES; lane++) {
        int64_t item = columns[lane < n ? lane : 0];
        w.y[lane] = (const float *)bounds->y.values + bounds->y.offsets[item] * stride;
        w.lengths[lane] = b->lengths[lane] = d2ke_length(&bounds->y, item);
        if (b->lengths[lane] > b->longest) b->longest = b->lengths[lane];
    }
    w.dim = stride;
    b->cache.row = -1;
    for (int64_t t = cut_pack(&w, packed) * stride; t < (b->longest + ELASTIC_COLS) * stride; t++)
        packed[t] = REAL_(set)(NAN);
}

D2KE_INLINE void elastic_narrow(const int kind, const elastic_bounds *bounds, int64_t row,
                                void *own, const int64_t *columns, int64_t n, const float *limit,
                                float *found, const d2ke_poll *poll)
{
    const elastic_options *options = &bounds->options;
    const int given = elastic_column(kind, 0), result_of = elastic_column(kind, 2);
    const int squared = given == ELASTIC_SQUARE || given == ELASTIC_WEIGHTS;
    const int64_t stride = bounds->x.dim, size = d2ke_length(&bounds->x, row) - 1;
    const real *x = (const real *)bounds->x.values + (bounds->x.offsets[row] + 1) * stride;
    lane_block_f32 b;
    vec *y = own, *left = y + (bounds->y.longest + 2 * ELASTIC_COLS) * stride;
    vec *weights = left + bounds->x.longest;
    elastic_pair pair = {options, options->dim, stride, {0}, weights};
    for (int64_t first = 0; first < n; first += LANES) {
        int64_t count = n - first < LANES ? n - first : LANES;
        vec limits = REAL_(set)(-INFINITY), total = {0}, part = {0};
        elastic_cut_pack(bounds, columns + first, count, &b, y);
        if (given == ELASTIC_WEIGHTS) elastic_weights(options->parameters, size, &b, weights);
        /* What is divided by lengths is compared before. */
        for (int lane = 0; lane < count; lane++) {
            int64_t m = b.lengths[lane] - 1, longer = size > m ? size : m;
            limits[lane] = limit[first + lane];
            if (result_of == ELASTIC_LONGER && options->parameters[1])
                limits[lane] *= (real)longer * 1.00001f;
            if (result_of == ELASTIC_SHARE)
                limits[lane] = (limits[lane] - 1) * (real)(size < m ? size : m) + 0.01f;
        }
#define CUT_CALL(dim, ground, channel)                                                             \
    bounds->cells[row] += count * elastic_cut_table(kind, dim, ground, &pair, &b, x, size,         \
                                                    y + stride, channel, left, limits - total,     \
                                                    &part, poll)
        if (result_of == ELASTIC_CHANNELS) {
            for (int64_t channel = 0; channel < options->dim; channel++) {
                CUT_CALL(1, DTW_PLAIN, channel);
                total += part;
            }
        } else {
            if (options->dim == 1) CUT_CALL(1, squared ? DTW_SQUARED : DTW_PLAIN, 0);
            else CUT_CALL(0, squared ? DTW_SQUARED : DTW_ROUGH, 0);
            total = part;
        }
#undef CUT_CALL
        for (int lane = 0; lane < count; lane++)
            found[first + lane] = (float)elastic_result(kind, total[lane], size,
                                                        b.lengths[lane] - 1, options->parameters);
        if (d2ke_stopped(poll)) return;
    }
}

#define X(name, cell, border, result)                                                              \
    static void elastic_##name##_narrow(const elastic_bounds *bounds, int64_t row, void *own,      \
                                        const int64_t *columns, int64_t n, const float *limit,     \
                                        float *found, const d2ke_poll *poll)                       \
    {                                                                                              \
        elastic_narrow(ELASTIC_##name, bounds, row, own, columns, n, limit, found, poll);          \
    }
ELASTIC_CUT(X)
#undef X

const d2ke_elastic_narrow ISA_(elastic_narrow)[ELASTIC_COUNT_OF_ALL] = {
#define X(name, cell, border, result) [ELASTIC_##name] = elastic_##name##_narrow,
    ELASTIC_CUT(X)
#undef X
};

#undef vec
#undef real
#undef LANES
