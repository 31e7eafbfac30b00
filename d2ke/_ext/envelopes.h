/* SPDX-License-Identifier: BSD-3-Clause */
/* Lower bounds of dynamic time warping by envelopes (Keogh & Ratanamahatana 2005), in float32.
 *
 * A warping path pairs each point of x with some point of y within the window.  All these lie in a
 * box, y's envelope at that place, so the distance is at least the sum of the distances of x's
 * points to their boxes; the first and the last points are paired with each other (LB_Kim).
 * Points are rounded both ways and boxes outward, so that only the sums round, which the caller
 * allows for.
 *
 * `root`: ground distances are Euclidean, else their squares.
 */

/* Of a block of series, one in each lane: coordinate c of the box at place i is
 * low[(i * dim + c) * LANES_f32 + lane]; `last` has the last points, first rounded down, then up. */
typedef v_f32 v_f32_anywhere __attribute__((aligned(4)));

D2KE_INLINE void envelope_sum(const int fixed_dim, const int root, const float *down,
                              const float *up, int64_t n, int64_t dim, const v_f32_anywhere *low,
                              const v_f32_anywhere *high, const v_f32_anywhere *last,
                              float *result)
{
    v_f32 total = {0}, zero = {0};
    if (fixed_dim) dim = fixed_dim;
    for (int64_t i = 0; i < n; i++) {
        const v_f32_anywhere *a = low + i * dim, *b = high + i * dim;
        if (i == n - 1 && n > 1) {
            a = last;
            b = last + dim;
        }
        v_f32 squares = {0};
        for (int64_t c = 0; c < dim; c++) {
            v_f32 outside = min_f32(min_f32(set_f32(up[i * dim + c]) - a[c],
                                            b[c] - set_f32(down[i * dim + c])), zero);
            if (fixed_dim == 1 && root)
                total -= outside;
            else
                squares += outside * outside;
        }
        if (fixed_dim != 1 || !root) total += root ? sqrt_f32(squares) : squares;
    }
    memcpy(result, &total, sizeof total);
}

static void envelope_block(const float *down, const float *up, int64_t n, int64_t dim, int root,
                           const float *low, const float *high, const float *last, float *result)
{
#define ENVELOPE_SUM(fixed_dim, root)                                                             \
    envelope_sum(fixed_dim, root, down, up, n, dim, (const v_f32_anywhere *)low,                  \
                 (const v_f32_anywhere *)high, (const v_f32_anywhere *)last, result)
    if (dim == 1 && root)
        ENVELOPE_SUM(1, 1);
    else if (dim == 1)
        ENVELOPE_SUM(1, 0);
    else if (root)
        ENVELOPE_SUM(0, 1);
    else
        ENVELOPE_SUM(0, 0);
#undef ENVELOPE_SUM
}

/* The same of one series, whose boxes lie place by place; several places at once if dim is 1. */
static float envelope_pair(const float *down, const float *up, int64_t n, int64_t dim, int root,
                           const float *low, const float *high)
{
    v_f32 total = {0}, zero = {0};
    float sum = 0;
    int64_t i = 0;
    for (; dim == 1 && i + LANES_f32 <= n; i += LANES_f32) {
        v_f32 a, b, most, least;
        memcpy(&a, low + i, sizeof a);
        memcpy(&b, high + i, sizeof b);
        memcpy(&most, up + i, sizeof most);
        memcpy(&least, down + i, sizeof least);
        v_f32 outside = min_f32(min_f32(most - a, b - least), zero);
        if (root)
            total -= outside;
        else
            total += outside * outside;
    }
    for (int lane = 0; lane < LANES_f32; lane++) sum += total[lane];
    for (; i < n; i++) {
        float squares = 0, outside = 0;
        for (int64_t c = i * dim; c < (i + 1) * dim; c++) {
            float below = low[c] - up[c], above = down[c] - high[c];
            outside = below > above ? below : above;
            outside = outside > 0 ? outside : 0;
            squares += outside * outside;
        }
        sum += !root ? squares : dim == 1 ? outside : sqrtf(squares);
    }
    return sum;
}
