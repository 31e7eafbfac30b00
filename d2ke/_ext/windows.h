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
#define WINDOW_FEW 16 /* values whose variance may come from their squares */
#define WINDOW_SMALLER 0x1p-40f /* the unit of series with a value above LARGE of windows.pyx */

D2KE_INLINE v_f32 window_load(const float *from)
{
    v_f32 a;
    memcpy(&a, from, sizeof a);
    return a;
}
D2KE_INLINE void window_store(float *to, v_f32 a) { memcpy(to, &a, sizeof a); }

/* Sums of `together` windows at WINDOW_PLACES places, which gain one channel.  Where windows of
 * the series are normalised, x has their rows, of which value * factor - shift are compared. */
D2KE_INLINE void window_block(const int together, const int normalized, int64_t length,
                              const float *x, int64_t step, const float *units,
                              const float *packed, int add, float *sums, int64_t stride)
{
    v_f32 sum[WINDOW_CHUNK][WINDOW_VECTORS], factor[WINDOW_VECTORS], shift[WINDOW_VECTORS];
    D2KE_UNROLL for (int v = 0; v < WINDOW_VECTORS; v++) {
        if (normalized) {
            factor[v] = window_load(units + v * LANES_f32);
            shift[v] = window_load(units + stride + v * LANES_f32);
        }
        D2KE_UNROLL for (int k = 0; k < together; k++) sum[k][v] = (v_f32){0};
    }
    for (int64_t j = 0; j < length; j++, x += step, packed += WINDOW_CHUNK) {
        v_f32 value[WINDOW_VECTORS];
        D2KE_UNROLL for (int v = 0; v < WINDOW_VECTORS; v++) {
            value[v] = window_load(x + v * LANES_f32);
            if (normalized) value[v] = fused_f32(value[v], factor[v], -shift[v]);
        }
        D2KE_UNROLL for (int k = 0; k < together; k++) {
            v_f32 w = set_f32(packed[k]);
            D2KE_UNROLL for (int v = 0; v < WINDOW_VECTORS; v++) {
                v_f32 difference = value[v] - w;
                sum[k][v] = fused_f32(difference, difference, sum[k][v]);
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
D2KE_INLINE void window_sums(const int normalized, int64_t n, const window_chunk *chunk,
                             int64_t channel, const float *x, int64_t step, const float *units,
                             const float *packed, float *sums, int64_t stride)
{
    int64_t length = chunk->length;
    packed += channel * length * WINDOW_CHUNK;
    for (int64_t k = 0, taken; k < chunk->count; k += taken) {
        int64_t left = chunk->count - k;
        taken = left == 1 ? 1 : left > 4 ? WINDOW_TOGETHER : 4;
        float *to = sums + k * stride;
#define WINDOW_BLOCKS(together)                                                                   \
    for (int64_t p = 0; p < n; p += WINDOW_PLACES)                                                \
        window_block(together, normalized, length, x + p, step, units + p, packed + k,            \
                     channel > 0, to + p, stride)
        if (taken == 1)
            WINDOW_BLOCKS(1);
        else if (taken == 4)
            WINDOW_BLOCKS(4);
        else
            WINDOW_BLOCKS(WINDOW_TOGETHER);
#undef WINDOW_BLOCKS
    }
}

/* The windows at n places: their differences from their first value, rows[j][p], and the factor and
 * shift that make the mean 0 and the deviation 1, units[0][p] and units[1][p]; both are 0 for
 * windows that deviate by at most `constant`.  After the first
 * value is taken off, a level far from 0 costs no digits; the variance exceeds mean^2 / length, so
 * that of few values mean^2 may be taken from their squares. */
static void window_normalize(int64_t n, int64_t length, const float *x, int64_t step,
                             float constant, float *rows, float *units, int64_t stride)
{
    const float share = 1.0f / (float)length;
    const v_f32 least = set_f32(constant * constant), zero = {0};
    for (int64_t p = 0; p < n; p += WINDOW_PLACES, x += WINDOW_PLACES, rows += WINDOW_PLACES) {
        v_f32 first[WINDOW_VECTORS], mean[WINDOW_VECTORS], squares[WINDOW_VECTORS];
        D2KE_UNROLL for (int v = 0; v < WINDOW_VECTORS; v++) {
            first[v] = window_load(x + v * LANES_f32);
            mean[v] = squares[v] = zero;
        }
        for (int64_t j = 0; j < length; j++)
            D2KE_UNROLL for (int v = 0; v < WINDOW_VECTORS; v++) {
                v_f32 value = window_load(x + j * step + v * LANES_f32) - first[v];
                window_store(rows + j * stride + v * LANES_f32, value);
                mean[v] += value;
                squares[v] = fused_f32(value, value, squares[v]);
            }
        D2KE_UNROLL for (int v = 0; v < WINDOW_VECTORS; v++) {
            mean[v] *= share;
            squares[v] = squares[v] * share - mean[v] * mean[v];
        }
        if (length > WINDOW_FEW) {
            D2KE_UNROLL for (int v = 0; v < WINDOW_VECTORS; v++) squares[v] = zero;
            for (int64_t j = 0; j < length; j++)
                D2KE_UNROLL for (int v = 0; v < WINDOW_VECTORS; v++) {
                    v_f32 away = window_load(rows + j * stride + v * LANES_f32) - mean[v];
                    squares[v] = fused_f32(away, away, squares[v]);
                }
            D2KE_UNROLL for (int v = 0; v < WINDOW_VECTORS; v++) squares[v] *= share;
        }
        D2KE_UNROLL for (int v = 0; v < WINDOW_VECTORS; v++) {
            v_f32 factor = select_f32(squares[v] <= least, zero, 1.0f / newton_sqrt_f32(squares[v]));
            window_store(units + p + v * LANES_f32, factor);
            window_store(units + stride + p + v * LANES_f32, mean[v] * factor);
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
        double limit = p->normalize ? p->limits[chunk->channels[c] * p->n + series] : 0;
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
            if (pass == 1) inverse = sqrt(squares) <= limit ? 0 : 1 / sqrt(squares);
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
 * that would overflow, or 1; that of `packed` is the same.  With `ready` the scratch memory holds
 * the normalised windows of the series already, of one channel. */
static void window_strip_sums(const d2ke_windows *p, int64_t series, const window_chunk *chunk,
                              const float *packed, int64_t begin, int64_t n, float scale,
                              int ready, const window_scratch *s)
{
    int64_t start = p->offsets[series], m = p->offsets[series + 1] - start;
    int64_t length = chunk->length, stride = window_stride(length);
    int64_t computed = d2ke_round_up(n, WINDOW_PLACES);
    const float *end = p->values + p->dim * p->total;
    if (m <= (length - 1) * chunk->dilation) {
        window_stretch(p, series, chunk, p->normalize ? 1 : scale, s->sums, stride);
        return;
    }
    if (ready && p->normalize) {
        window_sums(1, computed, chunk, 0, s->rows, stride, s->units, packed, s->sums, stride);
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
            float limit = p->limits[chunk->channels[c] * p->n + series];
            window_normalize(computed, length, x, step, limit * scale, s->rows, s->units, stride);
            window_sums(1, computed, chunk, c, s->rows, stride, s->units, packed, s->sums,
                        stride);
        } else
            window_sums(0, computed, chunk, c, x, step, x, packed, s->sums, stride);
    }
}

/* A window's profile so far. */
typedef struct {
    v_f32 least, near;
    int64_t within;       /* places whose value is at most the threshold */
    int64_t run, longest; /* such places in a row: up to the last one, and at most */
    float threshold;
    int64_t first, last;  /* places that are near its own */
} window_sum_up;

/* Which lanes are before `end`. */
D2KE_INLINE v_i32 window_lanes(int64_t end)
{
    v_i32 lane;
    D2KE_UNROLL for (int i = 0; i < LANES_f32; i++) lane[i] = i;
    return lane < (v_i32){0} + (int32_t)end;
}

/* The places near those of a chunk's windows: |p - place * (n - 1)| <= reach, and the nearest one.
 * All are whole numbers in float64, for lanes. */
static void window_near(const float *places, int64_t count, double reach, int64_t n,
                        window_sum_up *found)
{
    double low[WINDOW_CHUNK], high[WINDOW_CHUNK], last = (double)(n - 1);
    float some[WINDOW_CHUNK] = {0};
    if (count < WINDOW_CHUNK) {
        for (int64_t k = 0; k < count; k++) some[k] = places[k];
        places = some;
    }
    for (int k = 0; k < WINDOW_CHUNK; k++) {
        double centre = places[k] * last, nearest = floor(centre + 0.5);
        nearest = nearest > last ? last : nearest;
        double from = floor(centre - reach) - 1, to = ceil(centre + reach) + 1;
        from = from < 0 ? 0 : from;
        to = to > last ? last : to;
        for (int i = 0; i < 3; i++) { /* both are at most three too far out */
            from += from < nearest && fabs(from - centre) > reach ? 1.0 : 0.0;
            to -= to > nearest && fabs(to - centre) > reach ? 1.0 : 0.0;
        }
        low[k] = from;
        high[k] = to;
    }
    for (int64_t k = 0; k < count; k++) {
        found[k].first = (int64_t)low[k];
        found[k].last = (int64_t)high[k];
    }
}

/* Sum up n places of a window from `begin` on; bits[i * WINDOW_CHUNK] has the bits of places
 * 64 i .. 64 i + 63 that are within the threshold. */
static void window_add(const float *sums, int64_t begin, int64_t n, window_sum_up *u,
                       uint64_t *bits)
{
    const v_f32 threshold = set_f32(u->threshold), infinity = set_f32(INFINITY);
    v_f32 least = u->least, other = infinity, near = u->near; /* two chains of minima */
    int64_t p = 0, within = 0;
    for (; p + 64 <= n; p += 64, bits += WINDOW_CHUNK) {
        uint64_t word = 0;
        D2KE_UNROLL for (int i = 0; i < 64; i += 2 * LANES_f32) {
            v_f32 value = window_load(sums + p + i), next = window_load(sums + p + i + LANES_f32);
            least = min_f32(value, least);
            other = min_f32(next, other);
            word |= (uint64_t)bits_f32(value <= threshold) << i;
            word |= (uint64_t)bits_f32(next <= threshold) << (i + LANES_f32);
        }
        within += __builtin_popcountll(word);
        *bits = word;
    }
    if (p < n) {
        uint64_t word = 0;
        for (int64_t i = 0; i < n - p; i += LANES_f32) {
            v_i32 inside = window_lanes(n - p - i);
            v_f32 value = window_load(sums + p + i);
            least = min_f32(select_f32(inside, value, infinity), least);
            word |= (uint64_t)bits_f32((value <= threshold) & inside) << i;
        }
        within += __builtin_popcountll(word);
        *bits = word;
    }
    p = u->first > begin ? u->first - begin : 0;
    if (u->last - begin + 1 < n) n = u->last - begin + 1;
    for (; p < n; p += LANES_f32) {
        v_i32 inside = window_lanes(n - p);
        near = min_f32(select_f32(inside, window_load(sums + p), infinity), near);
    }
    u->least = min_f32(other, least);
    u->near = near;
    u->within += within;
}

/* Bits of `ends` are places where runs of `length` places end, a window in each lane. Where some
 * that are longer by `more`, at most `length`, end, they become these; whether in any lane. */
D2KE_INLINE int window_longer(v_u64 *ends, int64_t words, int64_t more, v_i64 *length)
{
    const int64_t whole = more / 64;
    const int rest = (int)(more % 64);
    v_u64 longer[WINDOW_WORDS], any = {0};
    for (int64_t i = 0; i < words; i++) {
        v_u64 before = {0};
        if (i >= whole) before = ends[i - whole] << rest;
        if (rest && i > whole) before |= ends[i - whole - 1] >> (64 - rest);
        longer[i] = ends[i] & before;
        any |= longer[i];
    }
    const v_i64 grown = (any != (v_u64){0}) & (*length >= (v_i64){0} + more);
    for (int64_t i = 0; i < words; i++)
        ends[i] = ((v_u64)grown & longer[i]) | (~(v_u64)grown & ends[i]);
    *length += grown & more;
    return any_f32((v_i32)grown);
}

/* The longest runs of places within the thresholds, after n more places with the bits of
 * window_add.  In a strip, lengths double while there are such runs, then halves are added. */
static void window_runs(const uint64_t *bits, int64_t begin, int64_t n, int64_t n_places,
                        int64_t count, window_sum_up *u)
{
    const int64_t words = (n + 63) / 64, rest = n - 64 * (words - 1);
    int64_t longest[WINDOW_CHUNK];
    for (int k = 0; k < WINDOW_CHUNK; k += LANES_f64) {
        v_u64 ends[WINDOW_WORDS], any = {0};
        for (int64_t i = 0; i < words; i++) {
            memcpy(ends + i, bits + i * WINDOW_CHUNK + k, sizeof any);
            any |= ends[i];
        }
        v_i64 length = (any != (v_u64){0}) & 1;
        int64_t more = 1;
        while (window_longer(ends, words, more, &length)) more *= 2;
        while (more /= 2) window_longer(ends, words, more, &length);
        memcpy(longest + k, &length, sizeof length);
    }
    for (int64_t k = 0; k < count; k++, u++, bits++) {
        u->longest = longest[k] > u->longest ? longest[k] : u->longest;
        if (u->run) { /* one goes on from the strip before */
            int64_t i = 0, head = 0;
            for (; i < words && !~bits[i * WINDOW_CHUNK]; i++) head += 64;
            if (i < words) head += __builtin_ctzll(~bits[i * WINDOW_CHUNK]);
            u->run += head;
            u->longest = u->run > u->longest ? u->run : u->longest;
            if (head == n) continue;
        }
        if (begin + n == n_places) continue;
        uint64_t last = bits[(words - 1) * WINDOW_CHUNK] << (64 - rest);
        int64_t i = words - 2;
        u->run = ~last ? __builtin_clzll(~last) : 64;
        if (u->run < rest) continue;
        for (; i >= 0 && !~bits[i * WINDOW_CHUNK]; i--) u->run += 64;
        if (i >= 0) u->run += __builtin_clzll(~bits[i * WINDOW_CHUNK]);
    }
}

/* The least lane; numbers >= 0 are in the order of their bits. */
D2KE_INLINE float window_lane_min(v_f32 a)
{
    int32_t bits[LANES_f32], least = INT32_MAX;
    memcpy(bits, &a, sizeof a);
    for (int i = 0; i < LANES_f32; i++) least = bits[i] < least ? bits[i] : least;
    float result;
    memcpy(&result, &least, sizeof result);
    return result;
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

/* Sum up the profiles of the windows of `count` chunks in a series, which are alike if there are
 * several; `found` begins empty, with thresholds and near places.  Stopped: 0. */
static int window_scan(const d2ke_windows *p, int64_t series, const window_chunk *chunks,
                       int64_t count, const window_scratch *s, window_sum_up *found,
                       const d2ke_poll *poll)
{
    int64_t n = window_places(p->offsets[series + 1] - p->offsets[series], chunks), work = 0;
    int64_t strip = window_strip(chunks->length), stride = window_stride(chunks->length);
    uint64_t bits[WINDOW_WORDS * WINDOW_CHUNK] = {0};
    for (int64_t begin = 0; begin < n; begin += strip) {
        int64_t m = n - begin < strip ? n - begin : strip;
        for (int64_t c = 0; c < count; c++) {
            const window_chunk *chunk = chunks + c;
            float scale;
            const float *packed = window_unit(p, series, chunk, s, &scale);
            window_strip_sums(p, series, chunk, packed, begin, m, scale, c > 0, s);
            window_sum_up *u = found + c * WINDOW_CHUNK;
            for (int64_t k = 0; k < chunk->count; k++)
                window_add(s->sums + k * stride, begin, m, u + k, bits + k);
            if (p->runs) window_runs(bits, begin, m, n, chunk->count, u);
            if (d2ke_pause(&work, m * chunk->length * chunk->n_channels * chunk->count, poll))
                return 0;
        }
    }
    return 1;
}

/* Whether the same windows of a series are compared with both chunks, in one channel. */
static inline int window_alike(const window_chunk *a, const window_chunk *b)
{
    return a->length == b->length && a->dilation == b->dilation && a->n_channels == 1
           && b->n_channels == 1 && a->channels[0] == b->channels[0];
}

/* A profile of which nothing is known yet. */
static void window_begin(window_sum_up *u)
{
    u->least = u->near = set_f32(INFINITY);
    u->within = u->run = u->longest = 0;
    u->threshold = INFINITY;
    u->first = 0;
    u->last = -1;
}

/* The numbers of window w of some chunks in a series: row[w], row[n_windows + w],
 * row[2 * n_windows + w] and, if it is asked for, row[3 * n_windows + w]. */
static void window_row(const d2ke_windows *p, int64_t series, const window_chunk *chunks,
                       int64_t n_chunks, void *memory, float *row, const d2ke_poll *poll)
{
    window_scratch s;
    window_sum_up found[WINDOW_RUN * WINDOW_CHUNK];
    window_lay(p, memory, &s);
    int64_t size = p->offsets[series + 1] - p->offsets[series];
    for (int64_t run; n_chunks > 0; chunks += run, n_chunks -= run) {
        for (run = 1; run < n_chunks && run < WINDOW_RUN; run++)
            if (!window_alike(chunks, chunks + run)) break;
        double length = (double)chunks->length;
        int64_t n = window_places(size, chunks);
        float scale;
        for (int64_t c = 0; c < run; c++) {
            window_unit(p, series, chunks + c, &s, &scale);
            double unit = p->normalize ? 1.0 : scale, factor = unit * unit * length;
            window_sum_up *u = found + c * WINDOW_CHUNK;
            for (int64_t k = 0; k < chunks[c].count; k++) {
                window_begin(u + k);
                u[k].threshold = (float)((double)p->thresholds[chunks[c].first + k] * factor);
            }
            window_near(p->places + chunks[c].first, chunks[c].count, p->radius * (double)size, n,
                        u);
        }
        if (!window_scan(p, series, chunks, run, &s, found, poll)) return;
        for (int64_t c = 0; c < run; c++) {
            double least[2 * WINDOW_CHUNK] = {0}, shares[2 * WINDOW_CHUNK] = {0};
            window_unit(p, series, chunks + c, &s, &scale);
            double unit = p->normalize ? 1.0 : scale;
            for (int64_t k = 0; k < chunks[c].count; k++) {
                const window_sum_up *u = found + c * WINDOW_CHUNK + k;
                least[k] = window_lane_min(u->least);
                least[WINDOW_CHUNK + k] = window_lane_min(u->near);
                shares[k] = (double)(n - u->within);
                shares[WINDOW_CHUNK + k] = (double)u->longest;
            }
            for (int k = 0; k < 2 * WINDOW_CHUNK; k++) {
                least[k] = sqrt(least[k] / length) / unit;
                shares[k] /= (double)n;
            }
            for (int64_t k = 0; k < chunks[c].count; k++) {
                float *to = row + chunks[c].first + k;
                to[0] = (float)least[k];
                to[p->n_windows] = (float)least[WINDOW_CHUNK + k];
                to[2 * p->n_windows] = (float)shares[k];
                if (p->runs) to[3 * p->n_windows] = (float)(1 - sqrt(shares[WINDOW_CHUNK + k]));
            }
        }
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
        window_strip_sums(p, series, chunk, packed, at, m, scale, 0, &s);
        for (int64_t k = 0; k < chunk->count; k++)
            for (int64_t i = 0; i < m; i++)
                profile[k * (end - begin) + at - begin + i] = s.sums[k * stride + i] / share;
    }
}

/* Pack a series as window k of a chunk: as it is, or normalised as the kernel does it, so that a
 * piece of a series is at distance 0. */
static void window_pack(const d2ke_items *y, int64_t item, const window_options *o, int64_t k,
                        const window_scratch *s, float *packed)
{
    int64_t start = y->offsets[item], length = y->offsets[item + 1] - start;
    int64_t total = y->offsets[y->n], stride = window_stride(length);
    float scale = o->y_large[item] && o->normalize ? WINDOW_SMALLER : 1;
    for (int64_t c = 0; c < y->dim; c++) {
        const float *values = (const float *)y->values + c * total + start;
        float *to = packed + c * length * WINDOW_CHUNK + k;
        if (!o->normalize) {
            for (int64_t j = 0; j < length; j++) to[j * WINDOW_CHUNK] = values[j];
            continue;
        }
        memset(s->copy + length, 0, WINDOW_PLACES * sizeof(float));
        for (int64_t j = 0; j < length; j++) s->copy[j] = values[j] * scale;
        window_normalize(WINDOW_PLACES, length, s->copy, 1, o->y_limits[c * y->n + item] * scale,
                         s->rows, s->units, stride);
        v_f32 factor = window_load(s->units), shift = window_load(s->units + stride);
        for (int64_t j = 0; j < length; j++) {
            v_f32 value = fused_f32(window_load(s->rows + j * stride), factor, -shift);
            to[j * WINDOW_CHUNK] = value[0];
        }
    }
}

/* The distance "window" of a series to a block of others of one length, which are windows. */
static void window_pairs(const d2ke_problem *problem, int64_t row, int64_t block, void *scratch,
                         double *result, const d2ke_poll *poll)
{
    const window_options *o = problem->options;
    const d2ke_items *y = &problem->y;
    d2ke_windows p = window_problem(problem);
    window_scratch s;
    window_lay(&p, (char *)scratch + 64, &s);
    float *packed = s.packed + p.longest_packed / 2;
    int64_t first = problem->blocks[block], count = problem->blocks[block + 1] - first;
    int64_t length = d2ke_length(y, problem->order[first]);
    d2ke_cache *cache = scratch;
    window_chunk chunk = {packed, o->channels, y->dim, length, o->dilation, 0, count, 0};
    for (int64_t k = 0; k < count; k++) {
        chunk.large |= o->y_large[problem->order[first + k]];
        if (cache->block != block) window_pack(y, problem->order[first + k], o, k, &s, packed);
    }
    cache->block = block;
    window_sum_up found[WINDOW_CHUNK];
    for (int64_t k = 0; k < count; k++) window_begin(found + k);
    if (!window_scan(&p, row, &chunk, 1, &s, found, poll)) return;
    float scale;
    window_unit(&p, row, &chunk, &s, &scale);
    double unit = o->normalize ? 1.0 : scale;
    for (int64_t k = 0; k < count; k++)
        result[k] = sqrt(window_lane_min(found[k].least) / (double)length) / unit * o->unit;
}

static size_t window_pairs_scratch(const d2ke_problem *problem)
{
    d2ke_windows p = window_problem(problem);
    window_scratch s;
    return 64 + window_lay(&p, NULL, &s);
}
