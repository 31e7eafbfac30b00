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
#undef LANES
#define ELASTIC_WAYS
#include "elastic_tile.h"
#undef ELASTIC_WAYS
#define vec REAL_(v)
#define real REAL_(real)
#define LANES D2KE_PASTE(LANES_, REAL)

/* One strip: rows [begin, end), of which [inner, outer) lie inside every lane's band. */
D2KE_INLINE void elastic_strip(const int kind, const int fixed_dim, const int ground,
                               const int traced, const elastic_pair *pair, const real *x,
                               const vec *y, vec *left, vec *top, vec diagonal, int64_t begin,
                               int64_t inner, int64_t outer, int64_t end, int64_t column,
                               uint16_t *ways, int64_t ways_stride)
{
    vec mine[ELASTIC_COLS];
    int64_t i = begin;
    D2KE_UNROLL for (int c = 0; c < ELASTIC_COLS; c++) mine[c] = top[c];
#define ELASTIC_TILE(rows, banded)                                                                \
    elastic_tile(kind, rows, ELASTIC_COLS, fixed_dim, ground, banded, traced, pair,               \
                 x + i * pair->stride, y, left + i, &diagonal, mine, i - column,                  \
                 ways + i * ways_stride)
    if (ELASTIC_ROWS > 1 && ground != DTW_SAFE && !traced) /* which are slow in any case */
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
                               const int traced, elastic_pair *pair, const lane_block_f64 *b,
                               const real *x, int64_t n, const vec *y, int64_t channel, vec *left,
                               int64_t count, double *result, d2ke_ways *ways,
                               const d2ke_poll *poll)
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
    if (traced) {
        int64_t all = d2ke_round_up(b->longest - 1, ELASTIC_COLS);
        int64_t band = 2 * (widest + ELASTIC_COLS) - 1;
        ways->stride = all < band ? all : band - 1;
        ways->shift = all < band ? 0 : widest + ELASTIC_COLS - 1;
    }
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
        elastic_strip(kind, fixed_dim, ground, traced, pair, x + channel, y + j * stride + channel,
                      left, top, corner, begin, inner, outer, end, j,
                      traced ? ways->table + ways->shift + j : NULL, traced ? ways->stride : 0);
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

/* CALL(dim, ground, channel) with what is constant of them after inlining. */
#define ELASTIC_BY_GROUND(CALL)                                                                    \
    do {                                                                                           \
        if (elastic_column(kind, 2) == ELASTIC_CHANNELS) {                                         \
            for (int64_t channel = 0; channel < options->dim; channel++)                           \
                CALL(1, DTW_PLAIN, channel);                                                       \
        } else if (given == ELASTIC_OWN) {                                                         \
            CALL(0, DTW_PLAIN, 0);                                                                 \
        } else if (options->dim == 1) {                                                            \
            CALL(1, ground, 0);                                                                    \
        } else if (ground == DTW_PLAIN && options->safe) {                                         \
            CALL(0, DTW_SAFE, 0);                                                                  \
        } else {                                                                                   \
            CALL(0, ground, 0);                                                                    \
        }                                                                                          \
    } while (0)

D2KE_INLINE void elastic_kernel(const int kind, const int traced, const d2ke_problem *p,
                                int64_t row, int64_t block, void *scratch, double *result,
                                d2ke_ways *ways, const d2ke_poll *poll)
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
#define ELASTIC_CALL(dim, ground, channel)                                                        \
    elastic_table(kind, dim, ground, traced, &pair, b, x, n, y, channel, left, count, result,      \
                  ways, poll)
    ELASTIC_BY_GROUND(ELASTIC_CALL);
#undef ELASTIC_CALL
}

/* ---- the rows of one pair, whose y is in all lanes */

/* One cell, from the three before it. */
D2KE_INLINE vec elastic_cell_at(const int kind, const int fixed_dim, const int ground,
                                const elastic_pair *pair, const real *x, const vec *y, int64_t i,
                                int64_t j, vec corner, vec above, vec before)
{
    elastic_tile(kind, 1, 1, fixed_dim, ground, 0, 0, pair, x + i * pair->stride,
                 y + j * pair->stride, &before, &corner, &above, i - j, NULL);
    return before;
}

/* Where a cell's value is from, 0: the corner, 1: above, 2: before.  It is computed from all three
 * and from each one alone, the others being infinite.  Of equal ones the corner is taken, but by
 * lcss, where it then is no match. */
D2KE_INLINE uint8_t elastic_way(const int kind, const int fixed_dim, const int ground,
                                const elastic_pair *pair, const real *x, const vec *y, int64_t i,
                                int64_t j, vec corner, vec above, vec *before)
{
    const int at_once = LANES < 4 ? LANES : 4;
    double got[4];
    D2KE_UNROLL for (int role = 0; role < 4; role += at_once) {
        vec hide[3] = {{0}, {0}, {0}};
        D2KE_UNROLL for (int lane = 0; lane < at_once; lane++)
            D2KE_UNROLL for (int k = 0; k < 3; k++)
                hide[k][lane] = role + lane == 0 || role + lane == k + 1 ? -INFINITY : INFINITY;
        vec cell = elastic_cell_at(kind, fixed_dim, ground, pair, x, y, i, j,
                                   max_f64(corner, hide[0]), max_f64(above, hide[1]),
                                   max_f64(*before, hide[2]));
        D2KE_UNROLL for (int lane = 0; lane < at_once; lane++) got[role + lane] = cell[lane];
    }
    *before = set_f64(got[0]);
    if (kind == ELASTIC_lcss) return got[2] == got[0] ? 1 : got[3] == got[0] ? 2 : 0;
    return got[1] == got[0] ? 0 : got[2] == got[0] ? 1 : 2;
}

D2KE_INLINE void elastic_some_rows(const int kind, const int fixed_dim, const int ground,
                                   const elastic_pair *pair, const real *x, const vec *y,
                                   d2ke_rows *rows, const d2ke_poll *poll)
{
    const vec outside = elastic_outside(kind);
    const int64_t radius = rows->radius, stride = pair->stride;
    double *row = rows->state;
    vec sum = {0}, edge = {0}, top = {0};
    int64_t work = 0;
    for (int64_t i = 0; i < rows->first; i++) {
        sum += set_f64(x[i * stride + stride - 1]);
        edge = elastic_border(kind, sum, i + 1);
    }
    for (int64_t i = rows->first; i < rows->last; i++) {
        int64_t low = i > radius ? i - radius : 0;
        int64_t high = i + radius + 1 < rows->columns ? i + radius + 1 : rows->columns;
        vec corner = edge;
        sum += set_f64(x[i * stride + stride - 1]);
        vec before = edge = elastic_border(kind, sum, i + 1);
        uint8_t *ways = rows->ways;
        if (low >= high) continue;
        if (low > 0) {
            corner = set_f64(row[low - 1]);
            before = outside;
        }
        if (ways) {
            ways += (i - rows->first) * rows->row_bytes;
            memset(ways, 0, (size_t)((high - low + 3) / 4));
        }
        for (int64_t j = low; j < high; j++) {
            vec above = j == i + radius ? outside : set_f64(row[j]);
            if (i == 0) {
                top += y[j * stride + stride - 1];
                above = elastic_border(kind, top, j + 1);
            }
            if (ways) {
                uint8_t way = elastic_way(kind, fixed_dim, ground, pair, x, y, i, j, corner, above,
                                          &before);
                ways[(j - low) / 4] |= (uint8_t)(way << 2 * ((j - low) % 4));
            } else {
                before = elastic_cell_at(kind, fixed_dim, ground, pair, x, y, i, j, corner, above,
                                         before);
            }
            corner = above;
            row[j] = before[0];
        }
        work += 8 * (high - low) * pair->dim;
        if (work > 300000) {
            work = 0;
            if (d2ke_stopped(poll)) return;
        }
    }
}

/* What each step adds to the cell before it, which is 0 here; steps along a border that can be
 * reached are those of the border. */
D2KE_INLINE void elastic_costs(const int kind, const int fixed_dim, const int ground,
                               const elastic_pair *pair, const real *x, const vec *y,
                               d2ke_rows *rows, const d2ke_poll *poll)
{
    const int64_t last = pair->stride - 1;
    for (int64_t k = 0; k < rows->n_steps; k++) {
        int64_t i = rows->pairs[2 * k], j = rows->pairs[2 * k + 1];
        vec from[3], cost;
        for (int step = 0; step < 3; step++)
            from[step] = set_f64(step == rows->steps[k] ? 0.0 : INFINITY);
        if (rows->steps[k] == 0 || elastic_column(kind, 1) == ELASTIC_NEVER)
            cost = elastic_cell_at(kind, fixed_dim, ground, pair, x, y, i, j, from[0], from[1],
                                   from[2]);
        else if (rows->steps[k] == 1)
            cost = elastic_border(kind, set_f64(x[i * pair->stride + last]), 1);
        else
            cost = elastic_border(kind, y[j * pair->stride + last], 1);
        rows->costs[k] = cost[0];
        if (k % 4096 == 0 && d2ke_stopped(poll)) return;
    }
}

D2KE_INLINE void elastic_trace(const int kind, const d2ke_problem *p, void *scratch,
                               d2ke_rows *rows, const d2ke_poll *poll)
{
    const elastic_options *options = p->options;
    const int given = elastic_column(kind, 0);
    const int ground = given == ELASTIC_SQUARE || given == ELASTIC_WEIGHTS ? DTW_SQUARED : DTW_PLAIN;
    lane_block_f64 *b = scratch;
    vec *y = (vec *)((char *)scratch + LANES_HEADER);
    vec *weights = y + (p->y.longest + ELASTIC_COLS) * p->y.dim + p->x.longest;
    int64_t stride = p->x.dim, n = p->x.longest - 1, m = p->y.longest - 1;
    const real *x = (const real *)p->x.values + stride;
    if (b->cache.block != 0) lane_pack_f64(p, 0, ELASTIC_COLS, b, (real *)y);
    elastic_pair pair = {options, options->dim, stride, {0}, weights};
    if (given == ELASTIC_WEIGHTS) elastic_weights(options->parameters, n, b, weights);
    y += stride;
#define ELASTIC_CALL(dim, ground, channel)                                                        \
    do {                                                                                          \
        if (rows->pairs)                                                                          \
            elastic_costs(kind, dim, ground, &pair, x + channel, y + channel, rows, poll);        \
        else                                                                                      \
            elastic_some_rows(kind, dim, ground, &pair, x + channel, y + channel, rows, poll);    \
    } while (0)
    ELASTIC_BY_GROUND(ELASTIC_CALL);
#undef ELASTIC_CALL
    if (!rows->pairs && rows->columns == m)
        rows->value = elastic_result(kind, ((const double *)rows->state)[m - 1], n, m,
                                     options->parameters);
}

#define X(name, cell, border, result)                                                           \
    static void elastic_##name##_rows(const d2ke_problem *p, void *scratch, d2ke_rows *rows,      \
                                      const d2ke_poll *poll)                                      \
    {                                                                                             \
        elastic_trace(ELASTIC_##name, p, scratch, rows, poll);                                    \
    }                                                                                             \
    static void elastic_##name(const d2ke_problem *p, int64_t row, int64_t block, void *scratch,  \
                               double *result, const d2ke_poll *poll)                             \
    {                                                                                             \
        elastic_kernel(ELASTIC_##name, 0, p, row, block, scratch, result, NULL, poll);            \
    }                                                                                             \
    static void elastic_##name##_ways(const d2ke_problem *p, int64_t row, int64_t block,          \
                                      void *scratch, double *result, d2ke_ways *ways,             \
                                      const d2ke_poll *poll)                                      \
    {                                                                                             \
        elastic_kernel(ELASTIC_##name, 1, p, row, block, scratch, result, ways, poll);            \
    }
ELASTIC_DISTANCES(X)
#undef X

const d2ke_trace ISA_(elastic_rows)[] = {
#define X(name, cell, border, result) elastic_##name##_rows,
    ELASTIC_DISTANCES(X)
#undef X
};

const d2ke_ways_kernel ISA_(elastic_ways)[] = {
#define X(name, cell, border, result) elastic_##name##_ways,
    ELASTIC_DISTANCES(X)
#undef X
};

const d2ke_kernel ISA_(elastic)[] = {
#define X(name, cell, border, result) elastic_##name,
    ELASTIC_DISTANCES(X)
#undef X
};

#undef vec
#undef real
#undef LANES
#undef REAL
