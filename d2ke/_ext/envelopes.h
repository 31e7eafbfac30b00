/* SPDX-License-Identifier: BSD-3-Clause */
/* Lower bounds of dynamic time warping by envelopes, in float32.
 *
 * A warping path pairs each point of y with some point of x within the window.  All these lie in a
 * box, x's envelope at that place, so the distance is at least the sum of the distances of y's
 * points to their boxes (Keogh & Ratanamahatana 2005); the first and the last points are paired
 * with each other (LB_Kim).  First come the sums of WARP_SEGMENT places each: the sum of what lies
 * outside is at least what the sum has outside; the same with x and y exchanged.  Then each
 * place; then what x's points are away from the envelope of y.  Where the distances along an axis add up, that is of y's points moved
 * to their boxes, and comes on top (Lemire 2009).
 *
 * The radius of a pair's window depends on its lengths: envelopes are made for some radii
 * (levels), of which a pair takes the next one that is no smaller.
 *
 * Numbers are at most 1, so that what they were rounded by is known; sums round, and so do roots:
 * the caller allows for all that.
 */
#include "warping.h"

typedef v_f32 v_f32_anywhere __attribute__((aligned(4)));

D2KE_INLINE v_f32 load_f32(const float *at) { return *(const v_f32_anywhere *)at; }
D2KE_INLINE void store_f32(float *at, v_f32 value) { *(v_f32_anywhere *)at = value; }

/* What y has outside of a box, negative; 0 if y is NaN. */
D2KE_INLINE v_f32 warp_outside(v_f32 low, v_f32 high, v_f32 y)
{
    return min_f32(min_f32(high - y, y - low), (v_f32){0});
}

/* The least and the largest of the numbers at most `radius` away from each place, by doubling, of
 * each channel: pass by pass, so that no number is read soon after it was written. */
static void warp_extremes(const float *values, int64_t n, int64_t from, int64_t dim, int64_t radius,
                          int64_t places, float *low, float *high, int64_t stride, float *scratch)
{
    int64_t longest = n > places ? n : places;
    if (radius > longest) radius = longest;
    int64_t width = 2 * radius + 1, total = places + width - 1, step = 1;
    int64_t count = n < places + radius ? n : places + radius, each = d2ke_round_up(total + 32, 16);
    float *least = scratch, *most = scratch + dim * each;
    for (int64_t c = 0; c < dim; c++) {
        float *a = least + c * each, *b = most + c * each;
        for (int64_t i = 0; i < radius; i++) {
            a[i] = INFINITY;
            b[i] = -INFINITY;
        }
        for (int64_t i = 0; i < count; i++) a[radius + i] = b[radius + i] = values[c * from + i];
        for (int64_t i = radius + count; i < each; i++) {
            a[i] = INFINITY;
            b[i] = -INFINITY;
        }
    }
    for (; 2 * step <= width; step *= 2)
        for (int64_t c = 0; c < dim; c++) {
            float *a = least + c * each, *b = most + c * each;
            for (int64_t i = 0; i <= total - 2 * step; i += LANES_f32) {
                store_f32(a + i, min_f32(load_f32(a + i), load_f32(a + i + step)));
                store_f32(b + i, max_f32(load_f32(b + i), load_f32(b + i + step)));
            }
        }
    for (int64_t c = 0, last = width - step; c < dim; c++) {
        float *a = least + c * each, *b = most + c * each;
        for (int64_t i = 0; i < places; i += LANES_f32) {
            store_f32(low + c * stride + i, min_f32(load_f32(a + i), load_f32(a + i + last)));
            store_f32(high + c * stride + i, max_f32(load_f32(b + i), load_f32(b + i + last)));
        }
    }
}

static const float *warp_planar(const warp_side *side, int64_t item, int64_t *n, int64_t *stride)
{
    *n = side->offsets[item + 1] - side->offsets[item];
    *stride = d2ke_round_up(*n, WARP_LANES);
    return side->planar + side->starts[item];
}

/* The row's boxes of a level, all channels; items of y that the level is for end before them. */
static void warp_boxes(const warp_bounds *b, const warp_row *own, int64_t row, int64_t level,
                       float *low, float *high)
{
    int64_t n, stride, radius = b->radii[level];
    const float *x = warp_planar(&b->x, row, &n, &stride);
    int64_t places = n + radius < b->longest_y ? n + radius : b->longest_y;
    warp_extremes(x, n, stride, b->dim, radius, places, low, high, own->stride, own->extremes);
}

static int64_t warp_made(const warp_bounds *b, const warp_row *own, int64_t row, int64_t level)
{
    int64_t at = level * b->dim * own->stride;
    if (!(*own->made >> level & 1)) {
        warp_boxes(b, own, row, level, own->low + at, own->high + at);
        *own->made |= INT64_C(1) << level;
    }
    return at;
}

/* The level of a row's pairs with a block; `segments`: complete ones of its longest item. */
static int64_t warp_block_level(const warp_bounds *b, int64_t n, int64_t first, int64_t *segments)
{
    int64_t last = first + b->lanes < b->y.n ? first + b->lanes - 1 : b->y.n - 1;
    int64_t shortest = b->y.offsets[b->order[first] + 1] - b->y.offsets[b->order[first]];
    int64_t longest = b->y.offsets[b->order[last] + 1] - b->y.offsets[b->order[last]];
    int64_t radius = dtw_radius(b->window, n, longest), other = dtw_radius(b->window, n, shortest);
    *segments = longest / WARP_SEGMENT;
    return warp_level(b, radius > other ? radius : other);
}

/* The sums of segments of a row (x), of the first bounds' row number r, and those of its boxes of
 * all levels that are wanted or that some block needs. */
static void warp_sums(const warp_bounds *b, const warp_row *own, int64_t row, int64_t r)
{
    int64_t n = b->x.offsets[row + 1] - b->x.offsets[row], wanted = b->wanted, segments;
    int64_t count = b->n_segments * b->dim;
    const float *x = b->x.points + b->x.offsets[row] * b->dim;
    float *x_sums = own->x_sums + r * b->x_segments * b->dim;
    for (int64_t s = 0; s < n / WARP_SEGMENT; s++)
        for (int64_t c = 0; c < b->dim; c++) {
            float sum = 0;
            for (int64_t i = s * WARP_SEGMENT; i < (s + 1) * WARP_SEGMENT; i++)
                sum += x[i * b->dim + c];
            x_sums[s * b->dim + c] = sum;
        }
    for (int64_t first = 0; first < b->y.n; first += b->lanes)
        wanted |= INT64_C(1) << warp_block_level(b, n, first, &segments);
    for (int64_t level = 0; level < b->n_levels; level++) {
        if (!(wanted >> level & 1)) continue;
        float *low_sums = own->low_sums + (r * b->n_levels + level) * count;
        float *high_sums = own->high_sums + (r * b->n_levels + level) * count;
        warp_boxes(b, own, row, level, own->low, own->high);
        for (int64_t c = 0; c < b->dim; c++) {
            float *low = own->low + c * own->stride, *high = own->high + c * own->stride;
            low[0] = high[0] = x[c];
            for (int64_t s = 0; s < b->n_segments; s++) {
                float below = 0, above = 0;
                for (int64_t i = s * WARP_SEGMENT; i < (s + 1) * WARP_SEGMENT; i++) {
                    below += low[i];
                    above += high[i];
                }
                low_sums[s * b->dim + c] = below;
                high_sums[s * b->dim + c] = above;
            }
        }
    }
}

/* What a segment adds to the bounds of a block: its sums of y, and those of the row's boxes;
 * turned: the row's sums, and those of y's boxes. */
D2KE_INLINE v_f32 warp_segment(const int fixed_dim, const int root, const int turned, int64_t dim,
                               const float *points, const float *low, const float *high)
{
    v_f32 squares = {0}, others = {0};
    if (fixed_dim) dim = fixed_dim;
#define WARP_OUTSIDE(c)                                                                            \
    (turned ? warp_outside(load_f32(low + (c) * LANES_f32), load_f32(high + (c) * LANES_f32),      \
                           set_f32(points[c]))                                                     \
            : warp_outside(set_f32(low[c]), set_f32(high[c]), load_f32(points + (c) * LANES_f32)))
    if (fixed_dim == 1 && root) return -WARP_OUTSIDE(0);
    for (int64_t c = 0; c + 1 < dim; c += 2) {
        v_f32 one = WARP_OUTSIDE(c), two = WARP_OUTSIDE(c + 1);
        squares += one * one;
        others += two * two;
    }
    if (dim % 2) {
        v_f32 one = WARP_OUTSIDE(dim - 1);
        squares += one * one;
    }
#undef WARP_OUTSIDE
    squares += others;
    return root ? rough_sqrt_f32(squares) : (v_f32)(squares * set_f32(1.0f / WARP_SEGMENT));
}

static v_f32 warp_add_segment(const warp_bounds *b, int turned, const float *points,
                              const float *low, const float *high)
{
#define WARP_ADD(fixed, is_root)                                                                   \
    return turned ? warp_segment(fixed, is_root, 1, b->dim, points, low, high)                     \
                  : warp_segment(fixed, is_root, 0, b->dim, points, low, high)
    if (b->dim == 1 && b->root) WARP_ADD(1, 1);
    if (b->dim == 1) WARP_ADD(1, 0);
    if (b->root) WARP_ADD(0, 1);
    WARP_ADD(0, 0);
#undef WARP_ADD
}

/* The bounds of some rows and of a block, segment by segment, whose numbers stay in the cache. */
static void warp_block(const warp_bounds *b, const warp_row *own, const int64_t *lengths,
                       int64_t n_rows, int64_t block, v_f32 *total)
{
    int64_t count = b->n_segments * b->dim, x_count = b->x_segments * b->dim, segments = 0, most = 0;
    int64_t n_blocks = (b->y.n + b->lanes - 1) / b->lanes;
    const float *low[WARP_ROWS], *high[WARP_ROWS], *y_low[WARP_ROWS], *y_high[WARP_ROWS];
    v_f32 turned[WARP_ROWS];
    for (int64_t r = 0; r < n_rows; r++) {
        int64_t level = warp_block_level(b, lengths[r], block * LANES_f32, &segments);
        int64_t at = (r * b->n_levels + level) * count, boxes = b->turned[level];
        low[r] = own->low_sums + at;
        high[r] = own->high_sums + at;
        at = (boxes * n_blocks + block) * x_count * LANES_f32;
        y_low[r] = boxes < 0 ? NULL : b->low_sums + at;
        y_high[r] = boxes < 0 ? NULL : b->high_sums + at;
        total[r] = turned[r] = (v_f32){0};
        if (lengths[r] > most) most = lengths[r];
    }
    for (int64_t s = 0, at = 0; s < segments; s++, at += b->dim)
        for (int64_t r = 0; r < n_rows; r++)
            total[r] += warp_add_segment(b, 0, b->segments + (block * count + at) * LANES_f32,
                                         low[r] + at, high[r] + at);
    for (int64_t s = 0, at = 0; s < most / WARP_SEGMENT; s++, at += b->dim)
        for (int64_t r = 0; r < n_rows; r++)
            if (y_low[r] && s < lengths[r] / WARP_SEGMENT)
                turned[r] += warp_add_segment(b, 1, own->x_sums + r * x_count + at,
                                              y_low[r] + at * LANES_f32, y_high[r] + at * LANES_f32);
    for (int64_t r = 0; r < n_rows; r++) total[r] = max_f32(total[r], turned[r]);
}

/* The first bounds of all pairs of some rows; the rows' sums are left in memory. */
void ISA_(warp_fill)(const warp_bounds *b, const int64_t *rows, int64_t n_rows, float *bounds,
                     int64_t stride, void *memory, const d2ke_poll *poll)
{
    warp_row own;
    int64_t lengths[WARP_ROWS], since = 0;
    warp_lay(b, memory, &own);
    for (int64_t r = 0; r < n_rows; r++) {
        warp_sums(b, &own, rows[r], r);
        lengths[r] = b->x.offsets[rows[r] + 1] - b->x.offsets[rows[r]];
    }
    for (int64_t first = 0; first < b->y.n; first += LANES_f32) {
        v_f32 total[WARP_ROWS];
        warp_block(b, &own, lengths, n_rows, first / LANES_f32, total);
        for (int64_t r = 0; r < n_rows; r++)
            for (int64_t lane = 0; lane < LANES_f32 && first + lane < b->y.n; lane++)
                bounds[r * stride + b->order[first + lane]] = total[r][lane];
        since += n_rows * (b->n_segments + b->x_segments) * b->dim;
        if (since > 300000) {
            since = 0;
            if (d2ke_stopped(poll)) return;
        }
    }
}

/* The sum of the distances of a series' points to boxes. */
D2KE_INLINE float warp_sum(const int fixed_dim, const int root, int64_t n, int64_t dim,
                           const float *y, const float *low, const float *high, int64_t stride)
{
    int64_t own_stride = d2ke_round_up(n, WARP_LANES);
    v_f32 total = {0};
    float sum = 0;
    if (fixed_dim) dim = fixed_dim;
    for (int64_t i = 0; i < n; i += LANES_f32) {
        v_f32 squares = {0};
        for (int64_t c = 0; c < dim; c++) {
            v_f32 outside = warp_outside(load_f32(low + c * stride + i),
                                         load_f32(high + c * stride + i),
                                         load_f32(y + c * own_stride + i));
            if (fixed_dim == 1 && root)
                total -= outside;
            else
                squares += outside * outside;
        }
        if (fixed_dim != 1 || !root) total += root ? rough_sqrt_f32(squares) : squares;
    }
    for (int lane = 0; lane < LANES_f32; lane++) sum += total[lane];
    return sum;
}

static float warp_distances(const warp_bounds *b, int64_t n, const float *y, const float *low,
                            const float *high, int64_t stride)
{
    if (b->dim == 1 && b->root) return warp_sum(1, 1, n, 1, y, low, high, stride);
    if (b->dim == 1) return warp_sum(1, 0, n, 1, y, low, high, stride);
    if (b->root) return warp_sum(0, 1, n, b->dim, y, low, high, stride);
    return warp_sum(0, 0, n, b->dim, y, low, high, stride);
}

/* A tighter bound of one pair; as soon as it exceeds the limit it is good enough. */
float ISA_(warp_tighten)(const warp_bounds *b, int64_t row, void *memory, int64_t column,
                          float limit)
{
    warp_row own;
    int64_t dim = b->dim, n, m, x_stride, y_stride;
    warp_lay(b, memory, &own);
    const float *x = warp_planar(&b->x, row, &n, &x_stride);
    const float *y = warp_planar(&b->y, column, &m, &y_stride);
    int64_t radius = dtw_radius(b->window, n, m), stride = own.stride;
    int64_t at = warp_made(b, &own, row, warp_level(b, radius));
    float *low = own.low + at, *high = own.high + at;
    /* The ends are paired with each other; the boxes are put back afterwards. */
    for (int64_t c = 0; c < dim; c++) {
        int64_t ends[2] = {c * stride, c * stride + m - 1};
        float *kept = own.turned_low + 4 * c;
        for (int e = 0; e < 2; e++) {
            kept[2 * e] = low[ends[e]];
            kept[2 * e + 1] = high[ends[e]];
            low[ends[e]] = high[ends[e]] = x[c * x_stride + (e ? n - 1 : 0)];
        }
    }
    float bound = warp_distances(b, m, y, low, high, stride);
    for (int64_t c = 0; c < dim; c++) {
        const float *kept = own.turned_low + 4 * c;
        for (int e = 1; e >= 0; e--) {
            low[c * stride + (e ? m - 1 : 0)] = kept[2 * e];
            high[c * stride + (e ? m - 1 : 0)] = kept[2 * e + 1];
        }
    }
    if (bound > limit) return bound;
    int adds = dim == 1 || !b->root;
    const float *source = y;
    if (adds) {
        for (int64_t c = 0; c < dim; c++)
            for (int64_t i = 0; i < m; i += LANES_f32) {
                v_f32 inside = max_f32(load_f32(y + c * y_stride + i), load_f32(low + c * stride + i));
                store_f32(own.middle + c * y_stride + i,
                          min_f32(inside, load_f32(high + c * stride + i)));
            }
        source = own.middle;
    }
    warp_extremes(source, m, y_stride, dim, radius, n, own.turned_low, own.turned_high, stride,
                  own.extremes);
    for (int64_t c = 0; c < dim; c++) {
        float *turned_low = own.turned_low + c * stride, *turned_high = own.turned_high + c * stride;
        if (adds) { /* the ends have their share already */
            turned_low[0] = turned_low[n - 1] = -INFINITY;
            turned_high[0] = turned_high[n - 1] = INFINITY;
        } else {
            turned_low[0] = turned_high[0] = y[c * y_stride];
            turned_low[n - 1] = turned_high[n - 1] = y[c * y_stride + m - 1];
        }
    }
    float other = warp_distances(b, n, x, own.turned_low, own.turned_high, stride);
    if (adds) return bound + other;
    return bound > other ? bound : other;
}

void ISA_(dtw_cut)(warp_lanes *, const d2ke_poll *);

/* The closest bounds of some pairs of a row, at most WARP_COLUMNS; infinity: above the limit. */
void ISA_(warp_narrow)(const warp_bounds *b, int64_t row, void *memory, const int64_t *columns,
                        int64_t count, const float *limits, float *bounds, const d2ke_poll *poll)
{
    warp_row own;
    warp_lanes lanes;
    int64_t order[WARP_COLUMNS];
    warp_lay(b, memory, &own);
    lanes.n = b->x.offsets[row + 1] - b->x.offsets[row];
    lanes.x = b->x.points + b->x.offsets[row] * b->dim;
    lanes.dim = b->dim;
    lanes.root = b->root;
    lanes.window = b->window;
    lanes.scratch = own.lanes;
    lanes.stride = own.stride;
#define WARP_LENGTH(i) (b->y.offsets[columns[i] + 1] - b->y.offsets[columns[i]])
    for (int64_t i = 0; i < count; i++) {
        int64_t at = i;
        for (; at > 0 && WARP_LENGTH(order[at - 1]) > WARP_LENGTH(i); at--) order[at] = order[at - 1];
        order[at] = i;
    }
    for (int64_t first = 0; first < count; first += LANES_f32) {
        int64_t widest = 0;
        for (int64_t lane = 0; lane < LANES_f32; lane++) {
            int64_t i = order[first + lane < count ? first + lane : first];
            lanes.limits[lane] = first + lane < count ? limits[i] : -INFINITY;
            lanes.lengths[lane] = WARP_LENGTH(i);
            lanes.y[lane] = b->y.points + b->y.offsets[columns[i]] * b->dim;
            int64_t radius = dtw_radius(b->window, lanes.n, lanes.lengths[lane]);
            if (radius > widest) widest = radius;
        }
        int64_t at = warp_made(b, &own, row, warp_level(b, widest));
        lanes.low = own.low + at;
        lanes.high = own.high + at;
        ISA_(dtw_cut)(&lanes, poll);
        for (int64_t lane = 0; lane < LANES_f32 && first + lane < count; lane++)
            bounds[order[first + lane]] = lanes.result[lane];
    }
#undef WARP_LENGTH
}
