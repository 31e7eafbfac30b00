/* SPDX-License-Identifier: BSD-3-Clause */
/* Lower bounds of edit distances with costs, of one string x and many strings y.
 *
 * An operation removes at most one letter that x has more often than y, and adds at most one that y
 * has more often. With the least costs of operations that remove, or add, a letter a,
 *
 *     d(x, y) >= sum_a out_a max(0, x_a - y_a)   and   d(x, y) >= sum_a in_a max(0, y_a - x_a)
 *
 * where x_a and y_a count the letters; transpositions change no counts. The sums are exact, of costs
 * times the slope that are rounded down to 16 bits. The second bound is the table of weighted.h in
 * float32, a string to a lane, until all of a row and of the row before exceed the limit.
 */
#include "cost_bounds.h"

enum {
    COSTS_BLOCK = 2048, /* columns whose sums stay in the cache for all letters of a row */
};

/* The larger of both sums, of some columns; `counts` of the letters of x. */
static void costs_sums(const cost_bounds *b, const uint32_t *x, int64_t n, int64_t first,
                       int64_t size, float *bounds, int64_t *counts)
{
    uint16_t removed[COSTS_BLOCK] = {0}, added[COSTS_BLOCK] = {0};
    int64_t whole = 0;
    memset(counts, 0, b->n_letters * sizeof *counts);
    for (int64_t i = 0; i < n; i++) {
        counts[x[i]]++;
        whole += b->out[x[i]];
    }
    for (int64_t i = 0; i < n; i++) {
        uint16_t count = counts[x[i]] < COSTS_LONGEST ? counts[x[i]] : COSTS_LONGEST;
        uint16_t out = b->out[x[i]], into = b->into[x[i]];
        const uint8_t *own = b->counts + x[i] * b->n + first;
        counts[x[i]] = 0;
        for (int64_t j = 0; count && j < size; j++) {
            uint16_t common = own[j] < count ? own[j] : count;
            removed[j] += out * common;
            added[j] += into * common;
        }
    }
    for (int64_t j = 0; j < size; j++) {
        int64_t left = whole - removed[j], new = b->total[first + j] - added[j];
        bounds[j] = (float)(left > new ? left : new);
    }
}

static void cost_fill(const cost_bounds *b, const int64_t *rows, int64_t n_rows, float *bounds,
                      int64_t stride, void *own, const d2ke_poll *poll)
{
    for (int64_t r = 0; r < n_rows; r++) {
        int64_t begin = b->x_offsets[rows[r]], n = b->x_offsets[rows[r] + 1] - begin;
        for (int64_t first = 0; first < b->n; first += COSTS_BLOCK) {
            int64_t size = b->n - first < COSTS_BLOCK ? b->n - first : COSTS_BLOCK;
            costs_sums(b, b->x + begin, n, first, size, bounds + r * stride + first, own);
        }
        if (d2ke_stopped(poll))
            return;
    }
}

/* Of the tables: costs of the letters of x, by letters of y, and three rows. */
typedef struct {
    float *costs;
    v_f32 *above, *two_above, *cells;
} costs_rows;

static costs_rows costs_lay(const cost_bounds *b, void *own)
{
    float *costs = own;
    v_f32 *rows = (v_f32 *)(costs + d2ke_round_up(b->n_letters * b->longest, 16));
    return (costs_rows){costs, rows, rows + b->longest + 1, rows + 2 * (b->longest + 1)};
}

static void cost_begin(const cost_bounds *b, int64_t row, void *own)
{
    const uint32_t *x = b->x + b->x_offsets[row];
    int64_t n = b->x_offsets[row + 1] - b->x_offsets[row];
    float *costs = costs_lay(b, own).costs;
    for (int64_t letter = 0; letter < b->n_letters; letter++)
        for (int64_t i = 0; i < n; i++)
            costs[letter * n + i] = b->cost[letter * b->n_letters + x[i]];
}

/* The tables of as many columns as there are lanes; bounds are infinite beyond the limits. */
static void costs_table(const cost_bounds *b, int64_t row, void *own, const int64_t *columns,
                        const int64_t *order, int64_t count, const float *limits, float *bounds)
{
    costs_rows t = costs_lay(b, own);
    const uint32_t *x = b->x + b->x_offsets[row], *y[LANES_f32];
    const int swaps = b->transposition < INFINITY;
    int64_t n = b->x_offsets[row + 1] - b->x_offsets[row], lengths[LANES_f32], longest = 0;
    v_f32 limit, least = {0}, least_above = set_f32(INFINITY);
    v_u32 letters = (v_u32){0} + UINT32_MAX;
    for (int64_t k = 0; k < LANES_f32; k++) {
        int64_t column = columns[order[k < count ? k : count - 1]];
        y[k] = b->y + b->y_offsets[column];
        lengths[k] = b->y_offsets[column + 1] - b->y_offsets[column];
        longest = lengths[k] > longest ? lengths[k] : longest;
        limit[k] = k < count ? limits[order[k]] / b->slope : -1;
        if (k < count)
            bounds[order[k]] = INFINITY;
    }
    t.above[0] = (v_f32){0};
    for (int64_t i = 0; i < n; i++)
        t.above[i + 1] = t.above[i] + set_f32(b->deletion[x[i]]);
    for (int64_t j = 0;; j++) {
        for (int64_t k = 0; k < count; k++)
            if (lengths[k] == j) {
                bounds[order[k]] = b->slope * t.above[n][k];
                limit[k] = -1;
            }
        v_i32 open = (v_i32)(least <= limit);
        if (swaps)
            open |= (v_i32)(least_above <= limit);
        if (j == longest || !any_f32(open))
            return;
        v_u32 before = letters;
        const float *costs[LANES_f32];
        v_f32 insertion;
        for (int64_t k = 0; k < LANES_f32; k++) {
            letters[k] = j < lengths[k] ? y[k][j] : (uint32_t)b->n_letters - 1;
            insertion[k] = b->insertion[letters[k]];
            costs[k] = t.costs + letters[k] * n;
        }
        v_f32 value = t.above[0] + insertion;
        least_above = least;
        t.cells[0] = least = value;
        for (int64_t i = 1; i <= n; i++) {
            v_f32 cost;
            for (int64_t k = 0; k < LANES_f32; k++)
                cost[k] = costs[k][i - 1];
            value = min_f32(value + set_f32(b->deletion[x[i - 1]]), t.above[i] + insertion);
            value = min_f32(value, t.above[i - 1] + cost);
            if (swaps && i > 1 && j > 0 && x[i - 1] != x[i - 2]) {
                v_i32 crossed = (v_i32)(before == (v_u32){0} + x[i - 1])
                                & (v_i32)(letters == (v_u32){0} + x[i - 2]);
                v_f32 turned = t.two_above[i - 2] + set_f32(b->transposition);
                value = min_f32(value, select_f32(crossed, turned, set_f32(INFINITY)));
            }
            t.cells[i] = value;
            least = min_f32(least, value);
        }
        v_f32 *oldest = t.two_above;
        t.two_above = t.above;
        t.above = t.cells;
        t.cells = oldest;
    }
}

static void cost_narrow(const cost_bounds *b, int64_t row, void *own, const int64_t *columns,
                        int64_t n, const float *limits, float *bounds, const d2ke_poll *poll)
{
    /* Strings of like length side by side. */
    int64_t ends[COSTS_LONGEST + 2] = {0}, order[D2KE_BOUND_COLUMNS];
    for (int64_t k = 0; k < n; k++)
        ends[b->y_offsets[columns[k] + 1] - b->y_offsets[columns[k]] + 1]++;
    for (int64_t length = 0; length <= COSTS_LONGEST; length++)
        ends[length + 1] += ends[length];
    for (int64_t k = 0; k < n; k++)
        order[ends[b->y_offsets[columns[k] + 1] - b->y_offsets[columns[k]]]++] = k;
    for (int64_t first = 0; first < n; first += LANES_f32)
        costs_table(b, row, own, columns, order + first,
                    n - first < LANES_f32 ? n - first : LANES_f32, limits, bounds);
    d2ke_stopped(poll);
}
