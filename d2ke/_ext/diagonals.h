/* SPDX-License-Identifier: BSD-3-Clause */
/* The nearest other window of each window of long series.
 *
 * Windows of m values begin at row i of x and column j of y.  What is greatest for the nearest is,
 * added up over channels,
 *
 *     V(i, j) = - sum_t (x[i+t] - y[j+t])^2                                      as they are,
 *     V(i, j) = (sum_t (x[i+t] - a) (y[j+t] - b) - m (x'_i - a) (y'_j - b)) / (m s_i s_j)
 *
 * normalised, with means x'_i and deviations s_i: the correlation, whatever a and b.
 *
 * A lane is a diagonal j - i.  Every m rows there is an anchor Q, and each window of the m rows
 * before it has its last value before Q, Q - 1: the sum is that of t < Q, which are made from Q - 1 down
 * to the first row, plus that of t >= Q, which grow with the rows (van Herk's minima, with sums).
 * So nothing is ever taken off a sum: what is outside of two windows leaves no error in their V, and a
 * NaN is in those that contain it only.  a and b are the values at Q - 1, in both windows: levels
 * cost no digits.  Nothing is fused, and lanes do not meet: all instruction sets have the same bits.
 */
#include "window_profile.h"

#define BAND_VECTORS 4
#define BAND (BAND_VECTORS * LANES_f64)

D2KE_INLINE v_f64 band_load(const double *from)
{
    v_f64 a;
    memcpy(&a, from, sizeof a);
    return a;
}
D2KE_INLINE void band_store(double *to, v_f64 a) { memcpy(to, &a, sizeof a); }

/* In which lanes a >= b, as bits. */
D2KE_INLINE unsigned band_bits(v_f64 a, v_f64 b)
{
#if D2KE_BYTES == 64
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GE_OQ);
#elif D2KE_BYTES == 32
    return (unsigned)_mm256_movemask_pd((__m256d)(a >= b));
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_pd((__m128d)(a >= b));
#else
    unsigned bits = 0;
    for (int lane = 0; lane < LANES_f64; lane++) bits |= (unsigned)(a[lane] >= b[lane]) << lane;
    return bits;
#endif
}

static void band_offer(const d2ke_profile *p, double *best, int64_t *at, int64_t place,
                       int64_t other, double value)
{
    if (!profile_better(value, other, best[place], at[place])) return;
    for (int64_t r = 0; r < p->round; r++) {
        int64_t apart = other - p->chosen[r * p->x.n + place];
        if (-p->zone <= apart && apart <= p->zone) return;
    }
    best[place] = value;
    at[place] = other;
}

static __attribute__((noinline)) void band_improve(const d2ke_profile *p, const profile_best *best,
                                                   int64_t row, int64_t column,
                                                   const v_f64 *values, unsigned bits)
{
    double value[BAND];
    memcpy(value, values, sizeof value);
    for (; bits; bits &= bits - 1) {
        int lane = __builtin_ctz(bits);
        band_offer(p, best->x, best->x_at, row, column + lane, value[lane]);
        band_offer(p, best->y, best->y_at, column + lane, row, value[lane]);
    }
}

/* One channel of rows begin .. end - 1, which have one anchor, on BAND diagonals from d on. */
D2KE_INLINE void band_block(const int normalize, const int first, const int last,
                            const d2ke_profile *p, int64_t channel, int64_t begin, int64_t end,
                            int64_t d, const profile_scratch *s, const profile_best *best)
{
    const int64_t m = p->length;
    const double *x = p->x.values + channel * p->x.n + begin;
    const double *y = p->y.values + channel * p->y.n + begin + d;
    const double *x_inverses = p->x.inverses + channel * p->x.n + begin;
    const double *y_inverses = p->y.inverses + channel * p->y.n + begin + d;
    const double *x_means = p->x.means + channel * p->x.n + begin;
    const double *y_means = p->y.means + channel * p->y.n + begin + d;
    const double anchor = normalize ? x[m - 1] : 0;
    v_f64 anchors[BAND_VECTORS], sum[BAND_VECTORS];
    for (int64_t t = 0; t < m; t++) s->before[t] = x[t] - anchor;
    for (int64_t t = 0; t < end - begin; t++) s->after[t] = x[m + t] - anchor;
    if (normalize)
        for (int64_t i = 0; i < end - begin; i++)
            s->means[i] = (double)m * (x_means[i] + s->before[i]);
    D2KE_UNROLL for (int v = 0; v < BAND_VECTORS; v++) {
        anchors[v] = normalize ? band_load(y + m - 1 + v * LANES_f64) : (v_f64){0};
        sum[v] = (v_f64){0};
    }
#define BAND_ADD(from, value)                                                                     \
    D2KE_UNROLL for (int v = 0; v < BAND_VECTORS; v++) {                                          \
        v_f64 other = band_load((from) + v * LANES_f64), own = set_f64(value);                    \
        v_f64 away = normalize ? other - anchors[v] : other - own;                                \
        if (normalize)                                                                            \
            sum[v] += own * away;                                                                 \
        else                                                                                      \
            sum[v] -= away * away;                                                                \
    }
    for (int64_t t = m - 1; t >= 0; t--) {
        BAND_ADD(y + t, s->before[t])
        D2KE_UNROLL for (int v = 0; v < BAND_VECTORS; v++)
            band_store(s->sums + t * BAND + v * LANES_f64, sum[v]);
    }
    D2KE_UNROLL for (int v = 0; v < BAND_VECTORS; v++) sum[v] = (v_f64){0};
    for (int64_t i = 0; i < end - begin; i++) {
        v_f64 value[BAND_VECTORS];
        unsigned bits = 0;
        D2KE_UNROLL for (int v = 0; v < BAND_VECTORS; v++) {
            const int64_t lane = v * LANES_f64, at = i * BAND + lane;
            value[v] = band_load(s->sums + at) + sum[v];
            if (normalize) {
                v_f64 mean = band_load(y_means + i + lane) + (band_load(y + i + lane) - anchors[v]);
                value[v] -= set_f64(s->means[i]) * mean;
                value[v] *= set_f64(x_inverses[i]) * band_load(y_inverses + i + lane);
            }
            if (!first) value[v] += band_load(s->others + at);
            if (!last) band_store(s->others + at, value[v]);
        }
        if (last) {
            const int64_t row = begin + i;
            if (normalize && p->x.constants)
                D2KE_UNROLL for (int v = 0; v < BAND_VECTORS; v++)
                    value[v] += set_f64(p->x.constants[row])
                                + band_load(p->y.constants + row + d + v * LANES_f64);
            D2KE_UNROLL for (int v = 0; v < BAND_VECTORS; v++) {
                v_f64 least = min_f64(set_f64(best->x[row]),
                                      band_load(best->y + row + d + v * LANES_f64));
                bits |= band_bits(value[v], least) << v * LANES_f64;
            }
            if (__builtin_expect(bits != 0, 0)) band_improve(p, best, row, row + d, value, bits);
        }
        BAND_ADD(y + m + i, s->after[i])
    }
#undef BAND_ADD
}

/* Improve `best` by the windows of `count` diagonals, from column - row = d on. */
void ISA_(profile_band)(const d2ke_profile *p, int64_t d, int64_t count, void *memory,
                        const profile_best *best, const d2ke_poll *poll)
{
    const int64_t m = p->length, last = p->dim - 1;
    int64_t from = p->y.first - d - count + 1 - p->x.first, to = p->y.last - d, work = 0;
    profile_scratch s;
    profile_lay(p, memory, &s);
    if (to > p->x.last) to = p->x.last;
    for (int64_t begin = p->x.first + (from < 0 ? 0 : from / m * m); begin <= to; begin += m)
        for (int64_t k = 0; k < count; k += BAND) {
            int64_t end = begin + m, until = p->y.last - d - k;
            if (until > to) until = to;
            if (until < begin) break;
            if (end > until + 1) end = until + 1;
#define BAND_BLOCK(normalize, first, last)                                                        \
    band_block(normalize, first, last, p, c, begin, end, d + k, &s, best)
            for (int64_t c = 0; c <= last; c++)
                if (p->normalize) {
                    if (last == 0)
                        BAND_BLOCK(1, 1, 1);
                    else if (c == 0)
                        BAND_BLOCK(1, 1, 0);
                    else if (c == last)
                        BAND_BLOCK(1, 0, 1);
                    else
                        BAND_BLOCK(1, 0, 0);
                } else if (last == 0)
                    BAND_BLOCK(0, 1, 1);
                else if (c == 0)
                    BAND_BLOCK(0, 1, 0);
                else if (c == last)
                    BAND_BLOCK(0, 0, 1);
                else
                    BAND_BLOCK(0, 0, 0);
#undef BAND_BLOCK
            if (d2ke_pause(&work, m * BAND * p->dim, poll)) return;
        }
}
