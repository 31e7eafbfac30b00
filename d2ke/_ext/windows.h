/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances of short windows to every place of a long series.
 *
 * D[p] is the mean over values, added up over channels, of (w[c, j] - x[c, p + j dilation])^2.
 * Lanes are places.  Of a strip of places that fits the first cache, the windows of x are
 * normalised once for all windows of a chunk: rows[j][p].  Where they are taken as they are, the
 * rows are those of the series itself, `dilation` apart.  Squares of differences are added up
 * directly: a difference near 0 keeps all its digits, which |w|^2 + |x|^2 - 2 w x would lose. */
#include "windowing.h"

#if D2KE_BYTES == 64
#define WINDOW_TOGETHER 8 /* windows whose sums are in registers; the other chunk sizes: 4, 1 */
#else
#define WINDOW_TOGETHER 4
#endif
#define WINDOW_VECTORS 2
#define WINDOW_PLACES (WINDOW_VECTORS * LANES_f32)
#define WINDOW_CONSTANT 1e-4f /* deviations below it count as 0: views are standardised */
#define WINDOW_SMALLER 0x1p-40f /* the unit of series with a value above WINDOW_LARGE */

D2KE_INLINE v_f32 window_load(const float *from)
{
    v_f32 a;
    memcpy(&a, from, sizeof a);
    return a;
}
D2KE_INLINE void window_store(float *to, v_f32 a) { memcpy(to, &a, sizeof a); }

/* Sums of `together` windows at WINDOW_PLACES places, which gain one channel. */
D2KE_INLINE void window_block(const int together, int64_t length, const float *x, int64_t step,
                              const float *packed, int add, float *sums, int64_t stride)
{
    v_f32 sum[WINDOW_CHUNK][WINDOW_VECTORS];
    D2KE_UNROLL for (int k = 0; k < together; k++)
        D2KE_UNROLL for (int v = 0; v < WINDOW_VECTORS; v++)
            sum[k][v] = (v_f32){0};
    for (int64_t j = 0; j < length; j++, x += step, packed += WINDOW_CHUNK) {
        v_f32 value[WINDOW_VECTORS];
        D2KE_UNROLL for (int v = 0; v < WINDOW_VECTORS; v++)
            value[v] = window_load(x + v * LANES_f32);
        D2KE_UNROLL for (int k = 0; k < together; k++) {
            v_f32 w = set_f32(packed[k]);
            D2KE_UNROLL for (int v = 0; v < WINDOW_VECTORS; v++) {
                v_f32 difference = value[v] - w;
                sum[k][v] += difference * difference;
            }
        }
    }
    D2KE_UNROLL for (int k = 0; k < together; k++)
        D2KE_UNROLL for (int v = 0; v < WINDOW_VECTORS; v++) {
            float *to = sums + k * stride + v * LANES_f32;
            if (add) sum[k][v] += window_load(to);
            window_store(to, sum[k][v]);
        }
}

/* All windows of a chunk at n places, a multiple of WINDOW_PLACES. */
static void window_sums(int64_t n, const window_chunk *chunk, int64_t channel, const float *x,
                        int64_t step, const float *packed, float *sums, int64_t stride)
{
    int64_t length = chunk->length;
    packed += channel * length * WINDOW_CHUNK;
    for (int64_t k = 0, taken; k < chunk->count; k += taken) {
        int64_t left = chunk->count - k;
        taken = left == 1 ? 1 : left > 4 ? WINDOW_TOGETHER : 4;
        float *to = sums + k * stride;
        if (taken == 1)
            for (int64_t p = 0; p < n; p += WINDOW_PLACES)
                window_block(1, length, x + p, step, packed + k, channel > 0, to + p, stride);
        else if (taken == 4)
            for (int64_t p = 0; p < n; p += WINDOW_PLACES)
                window_block(4, length, x + p, step, packed + k, channel > 0, to + p, stride);
        else
            for (int64_t p = 0; p < n; p += WINDOW_PLACES)
                window_block(WINDOW_TOGETHER, length, x + p, step, packed + k, channel > 0, to + p,
                             stride);
    }
}

/* Normalise the windows at n places.  Deviations are from the first value before they are from
 * the mean: a level far from 0 costs no digits. */
static void window_normalize(int64_t n, int64_t length, const float *x, int64_t step,
                             float constant, float *rows, int64_t stride)
{
    const float share = 1.0f / (float)length;
    const v_f32 least = set_f32(constant * constant), zero = {0};
    for (int64_t p = 0; p < n; p += LANES_f32, x += LANES_f32, rows += LANES_f32) {
        v_f32 first = window_load(x), sum = {0}, squares = {0};
        for (int64_t j = 1; j < length; j++) sum += window_load(x + j * step) - first;
        sum *= share;
        for (int64_t j = 0; j < length; j++) {
            v_f32 deviation = (window_load(x + j * step) - first) - sum;
            window_store(rows + j * stride, deviation);
            squares += deviation * deviation;
        }
        squares *= share;
        v_f32 inverse = select_f32(squares < least, zero, 1.0f / sqrt_f32(squares));
        for (int64_t j = 0; j < length; j++) {
            float *to = rows + j * stride;
            window_store(to, window_load(to) * inverse);
        }
    }
}

/* length * D where a series is shorter than the windows: there is one place, at which `length`
 * values are taken from the whole series by linear interpolation, in float64. */
static void window_stretch(const d2ke_windows *p, int64_t series, const window_chunk *chunk,
                           double unit, float *sums, int64_t stride)
{
    int64_t start = p->offsets[series], m = p->offsets[series + 1] - start;
    int64_t length = chunk->length;
    double totals[WINDOW_CHUNK] = {0};
    for (int64_t c = 0; c < chunk->n_channels; c++) {
        const float *x = p->values + chunk->channels[c] * p->total + start;
        const float *w = chunk->packed + c * length * WINDOW_CHUNK;
        double mean = 0, squares = 0, inverse = 1, value = 0;
        for (int pass = p->normalize ? 0 : 2; pass < 3; pass++) {
            for (int64_t j = 0; j < length; j++) {
                int64_t turns = j * (m - 1), at = turns / (length - 1);
                double rest = (double)(turns % (length - 1)) / (double)(length - 1);
                value = x[at];
                if (at + 1 < m) value += rest * ((double)x[at + 1] - x[at]);
                value = (value - mean) * inverse;
                if (pass == 0)
                    squares += value / (double)length;
                else if (pass == 1)
                    squares += value * value / (double)length;
                else
                    for (int64_t k = 0; k < chunk->count; k++) {
                        double difference = value - w[j * WINDOW_CHUNK + k];
                        totals[k] += difference * difference;
                    }
            }
            if (pass == 0) mean = squares;
            if (pass == 1) inverse = sqrt(squares) < WINDOW_CONSTANT ? 0 : 1 / sqrt(squares);
            squares = 0;
        }
    }
    for (int64_t k = 0; k < chunk->count; k++)
        sums[k * stride] = (float)(totals[k] * unit * unit);
}

/* Places of a chunk's windows in a series. */
static inline int64_t window_places(int64_t length_x, const window_chunk *chunk)
{
    int64_t span = (chunk->length - 1) * chunk->dilation + 1;
    return length_x < span ? 1 : length_x - span + 1;
}

/* length * D of n places from `begin` on into s->sums, row by row.  `scale` is the unit of values
 * that would overflow, or 1; that of `packed` is the same. */
static void window_strip_sums(const d2ke_windows *p, int64_t series, const window_chunk *chunk,
                           const float *packed, int64_t begin, int64_t n, float scale,
                           const window_scratch *s)
{
    int64_t start = p->offsets[series], m = p->offsets[series + 1] - start;
    int64_t length = chunk->length, stride = window_stride(length);
    int64_t computed = d2ke_round_up(n, WINDOW_PLACES);
    const float *end = p->values + p->dim * p->total;
    if (m <= (length - 1) * chunk->dilation) {
        window_stretch(p, series, chunk, p->normalize ? 1 : scale, s->sums, stride);
        return;
    }
    for (int64_t c = 0; c < chunk->n_channels; c++) {
        int64_t step = chunk->dilation, reach = (length - 1) * step;
        const float *x = p->values + chunk->channels[c] * p->total + start + begin;
        if (x + computed + reach > end) { /* vectors read past the last place */
            memcpy(s->copy, x, (size_t)(n + reach) * sizeof(float));
            memset(s->copy + n + reach, 0, (size_t)(computed - n) * sizeof(float));
            x = s->copy;
        }
        if (scale != 1) {
            for (int64_t t = 0; t < computed + reach; t++) s->copy[t] = x[t] * scale;
            x = s->copy;
        }
        if (p->normalize) {
            window_normalize(computed, length, x, step, WINDOW_CONSTANT * scale, s->rows, stride);
            window_sums(computed, chunk, c, s->rows, stride, packed, s->sums, stride);
        } else
            window_sums(computed, chunk, c, x, step, packed, s->sums, stride);
    }
}

/* A window's profile so far. */
typedef struct {
    v_f32 least, near;
    v_i32 above;
    float threshold;
    int64_t first, last; /* places that are near its own */
} window_sum_up;

/* Which lanes are before `end`. */
D2KE_INLINE v_i32 window_lanes(int64_t end)
{
    v_i32 lane;
    D2KE_UNROLL for (int i = 0; i < LANES_f32; i++) lane[i] = i;
    return lane < (v_i32){0} + (int32_t)end;
}

/* The places near that of a window: |p - place * (n - 1)| <= reach, and the nearest one. */
static void window_near(double place, double reach, int64_t n, window_sum_up *u)
{
    double centre = place * (double)(n - 1);
    int64_t nearest = (int64_t)floor(centre + 0.5);
    if (nearest > n - 1) nearest = n - 1;
    u->first = u->last = nearest;
    double first = floor(centre - reach) - 1, last = ceil(centre + reach) + 1;
    int64_t low = first < 0 ? 0 : (int64_t)first;
    int64_t high = last > (double)(n - 1) ? n - 1 : (int64_t)last;
    while (low < nearest && fabs((double)low - centre) > reach) low++;
    while (high > nearest && fabs((double)high - centre) > reach) high--;
    u->first = low;
    u->last = high;
}

/* Sum up n places of a window from `begin` on. */
static void window_add(const float *sums, int64_t begin, int64_t n, window_sum_up *u)
{
    const v_f32 threshold = set_f32(u->threshold), infinity = set_f32(INFINITY);
    v_f32 least = u->least, near = u->near;
    v_i32 above = u->above;
    int64_t p = 0;
    for (; p + LANES_f32 <= n; p += LANES_f32) {
        v_f32 value = window_load(sums + p);
        least = min_f32(value, least);
        above -= value > threshold;
    }
    if (p < n) {
        v_i32 inside = window_lanes(n - p);
        v_f32 value = window_load(sums + p);
        least = min_f32(select_f32(inside, value, infinity), least);
        above -= (value > threshold) & inside;
    }
    p = u->first > begin ? u->first - begin : 0;
    if (u->last - begin + 1 < n) n = u->last - begin + 1;
    for (; p < n; p += LANES_f32) {
        v_i32 inside = window_lanes(n - p);
        near = min_f32(select_f32(inside, window_load(sums + p), infinity), near);
    }
    u->least = least;
    u->near = near;
    u->above = above;
}

static float window_lane_min(v_f32 a)
{
    float least = a[0];
    for (int i = 1; i < LANES_f32; i++) least = a[i] < least ? a[i] : least;
    return least;
}

/* The unit in which a chunk's windows and a series are compared, and the windows in it. */
static const float *window_unit(const d2ke_windows *p, int64_t series, const window_chunk *chunk,
                                const window_scratch *s, float *scale)
{
    *scale = 1;
    if (!p->large[series] && (p->normalize || !chunk->large)) return chunk->packed;
    *scale = WINDOW_SMALLER;
    if (p->normalize) return chunk->packed;
    int64_t n = chunk->n_channels * chunk->length * WINDOW_CHUNK;
    for (int64_t i = 0; i < n; i++) s->packed[i] = chunk->packed[i] * WINDOW_SMALLER;
    return s->packed;
}

/* The three numbers of a chunk's windows in a series: row[w], row[n_windows + w] and
 * row[2 * n_windows + w] of window w. */
static void window_row(const d2ke_windows *p, int64_t series, const window_chunk *chunk,
                       void *memory, float *row, const d2ke_poll *poll)
{
    window_scratch s;
    window_sum_up found[WINDOW_CHUNK];
    window_lay(p, memory, &s);
    float scale;
    const float *packed = window_unit(p, series, chunk, &s, &scale);
    double unit = p->normalize ? 1.0 : scale, length = (double)chunk->length;
    int64_t size = p->offsets[series + 1] - p->offsets[series];
    int64_t n = window_places(size, chunk), strip = window_strip(chunk->length);
    int64_t stride = window_stride(chunk->length), work = 0;
    for (int64_t k = 0; k < chunk->count; k++) {
        window_sum_up *u = found + k;
        u->least = u->near = set_f32(INFINITY);
        u->above = (v_i32){0};
        u->threshold = (float)((double)p->thresholds[chunk->first + k] * unit * unit * length);
        window_near(p->places[chunk->first + k], p->radius * (double)size, n, u);
    }
    for (int64_t begin = 0; begin < n; begin += strip) {
        int64_t m = n - begin < strip ? n - begin : strip;
        window_strip_sums(p, series, chunk, packed, begin, m, scale, &s);
        for (int64_t k = 0; k < chunk->count; k++)
            window_add(s.sums + k * stride, begin, m, found + k);
        work += m * chunk->length * chunk->n_channels * chunk->count;
        if (work > 10000000) {
            if (d2ke_stopped(poll)) return;
            work = 0;
        }
    }
    for (int64_t k = 0; k < chunk->count; k++) {
        int64_t above = 0;
        for (int i = 0; i < LANES_f32; i++) above += found[k].above[i];
        float *to = row + chunk->first + k;
        to[0] = (float)(sqrt(window_lane_min(found[k].least) / length) / unit);
        to[p->n_windows] = (float)(sqrt(window_lane_min(found[k].near) / length) / unit);
        to[2 * p->n_windows] = (float)((double)above / (double)n);
    }
}

/* D of a chunk's windows at places begin .. end - 1 of a series: profile[k * (end - begin) + p]. */
static void window_profile(const d2ke_windows *p, int64_t series, const window_chunk *chunk,
                           int64_t begin, int64_t end, void *memory, double *profile)
{
    window_scratch s;
    window_lay(p, memory, &s);
    float scale;
    const float *packed = window_unit(p, series, chunk, &s, &scale);
    double unit = p->normalize ? 1.0 : scale, share = unit * unit * (double)chunk->length;
    int64_t strip = window_strip(chunk->length), stride = window_stride(chunk->length);
    for (int64_t at = begin; at < end; at += strip) {
        int64_t m = end - at < strip ? end - at : strip;
        window_strip_sums(p, series, chunk, packed, at, m, scale, &s);
        for (int64_t k = 0; k < chunk->count; k++)
            for (int64_t i = 0; i < m; i++)
                profile[k * (end - begin) + at - begin + i] = s.sums[k * stride + i] / share;
    }
}
