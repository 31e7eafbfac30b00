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
#ifndef D2KE_DIAGONALS_H
#define D2KE_DIAGONALS_H

#include "kernel.h"

enum {
    PROFILE_DIAGONALS = 128, /* of a task, which share the values that they read */
    PROFILE_LANES = 32,      /* diagonals that are computed together, at most */
};

/* Series one after another, with NaN before, between and behind them: at least length +
 * PROFILE_DIAGONALS, 1, and PROFILE_DIAGONALS values.  Numbers of a window are at the place where it
 * begins. */
typedef struct {
    const double *values;    /* (dim, n) */
    const double *means;     /* (dim, n): the mean of a window, less its first value */
    const double *inverses;  /* (dim, n): 1 / (deviation * sqrt(length)), 0 of a constant window */
    const double *constants; /* (n,): half the number of channels in which it is constant */
    int64_t n;
    int64_t first, last;     /* the first and last place of a window */
} profile_side;

struct d2ke_profile {
    profile_side x, y;
    int64_t dim, length, normalize;
    int64_t flat;            /* any window is constant in a channel */
    const double *unreached; /* (n of y,): infinity; NULL: y is x, and all windows gain neighbours */
    const int64_t *chosen;   /* (round, n of x): the neighbours that a window has already */
    int64_t round;
    int64_t zone;            /* a further one is more than that many places away from them */
};
#endif

#ifdef D2KE_ISA /* else its types alone are read, by window_profile.pyx */

#define BAND_VECTORS 4
#define BAND (BAND_VECTORS * LANES_f64)

typedef v_f64 v_f64_anywhere __attribute__((aligned(8)));

D2KE_INLINE v_f64 band_load(const double *at) { return *(const v_f64_anywhere *)at; }
D2KE_INLINE void band_store(double *at, v_f64 value) { *(v_f64_anywhere *)at = value; }

/* A window at `place` is offered a neighbour: of equal ones the first is kept. */
static void band_offer(const d2ke_profile *p, double *best, int64_t *at, int64_t place,
                       int64_t other, double value)
{
    if (!(value > best[place] || (value == best[place] && other < at[place]))) return;
    for (int64_t r = 0; r < p->round; r++) {
        int64_t apart = other - p->chosen[r * p->x.n + place];
        if (-p->zone <= apart && apart <= p->zone) return;
    }
    best[place] = value;
    at[place] = other;
}

/* BAND diagonals, from d on, in rows begin .. end - 1 of one channel, which have one anchor. */
D2KE_INLINE void band_block(const int normalize, const d2ke_profile *p, int64_t channel,
                            int64_t begin, int64_t end, int64_t d, double *sums, double *best,
                            int64_t *at)
{
    const int64_t m = p->length, row = channel * p->x.n + begin, column = channel * p->y.n + begin + d;
    const double *x = p->x.values + row, *y = p->y.values + column;
    const double *x_means = p->x.means + row, *y_means = p->y.means + column;
    const double *x_inverses = p->x.inverses + row, *y_inverses = p->y.inverses + column;
    const double anchor = normalize ? x[m - 1] : 0, *rivals = p->unreached ? p->unreached : best;
    double *others = sums + m * BAND; /* of the channels before */
    v_f64 anchors[BAND_VECTORS], sum[BAND_VECTORS], value[BAND_VECTORS];
    D2KE_UNROLL for (int v = 0; v < BAND_VECTORS; v++) {
        anchors[v] = normalize ? band_load(y + m - 1 + v * LANES_f64) : (v_f64){0};
        sum[v] = (v_f64){0};
    }
#define BAND_ADD(t)                                                                               \
    D2KE_UNROLL for (int v = 0; v < BAND_VECTORS; v++) {                                          \
        v_f64 own = set_f64(x[t] - anchor), other = band_load(y + (t) + v * LANES_f64);           \
        v_f64 away = other - (normalize ? anchors[v] : own);                                      \
        sum[v] = normalize ? sum[v] + own * away : sum[v] - away * away;                          \
    }
    for (int64_t t = m - 1; t >= 0; t--) {
        BAND_ADD(t)
        D2KE_UNROLL for (int v = 0; v < BAND_VECTORS; v++)
            band_store(sums + t * BAND + v * LANES_f64, sum[v]);
    }
    D2KE_UNROLL for (int v = 0; v < BAND_VECTORS; v++) sum[v] = (v_f64){0};
    for (int64_t i = 0; i < end - begin; i++) {
        const int64_t here = begin + i;
        unsigned bits = 0;
        D2KE_UNROLL for (int v = 0; v < BAND_VECTORS; v++) {
            const int64_t lane = v * LANES_f64;
            value[v] = band_load(sums + i * BAND + lane) + sum[v];
            if (normalize) {
                v_f64 mean = band_load(y_means + i + lane) + (band_load(y + i + lane) - anchors[v]);
                value[v] -= set_f64((double)m * (x_means[i] + (x[i] - anchor))) * mean;
                value[v] *= set_f64(x_inverses[i]) * band_load(y_inverses + i + lane);
            }
            if (channel) value[v] += band_load(others + i * BAND + lane);
            if (channel < p->dim - 1) {
                band_store(others + i * BAND + lane, value[v]);
                continue;
            }
            if (normalize && p->flat)
                value[v] += set_f64(p->x.constants[here])
                            + band_load(p->y.constants + here + d + lane);
            v_f64 least = min_f64(set_f64(best[here]), band_load(rivals + here + d + lane));
            bits |= equal_bits_f64(max_f64(least, value[v]), value[v]) << lane;
        }
        if (__builtin_expect(bits != 0, 0)) {
            double offers[BAND];
            D2KE_UNROLL for (int v = 0; v < BAND_VECTORS; v++)
                band_store(offers + v * LANES_f64, value[v]);
            for (; bits; bits &= bits - 1) {
                const int64_t lane = __builtin_ctz(bits), there = here + d + lane;
                band_offer(p, best, at, here, there, offers[lane]);
                if (!p->unreached) band_offer(p, best, at, there, here, offers[lane]);
            }
        }
        BAND_ADD(m + i)
    }
#undef BAND_ADD
}

/* Improve the lists of the best values, and of their places, by the windows of `count` diagonals,
 * from column - row = d on. */
void ISA_(profile_band)(const d2ke_profile *p, int64_t d, int64_t count, double *sums,
                        double *best, int64_t *at, const d2ke_poll *poll)
{
    const int64_t m = p->length, from = p->y.first - d - count + 1 - p->x.first;
    int64_t work = 0, begin = p->x.first + (from < 0 ? 0 : from / m * m);
    for (; begin <= p->x.last && begin <= p->y.last - d; begin += m)
        for (int64_t k = 0; k < count; k += BAND) {
            int64_t last = p->y.last - d - k, end = begin + m;
            if (last > p->x.last) last = p->x.last;
            if (begin > last) break;
            if (end > last + 1) end = last + 1;
            for (int64_t c = 0; c < p->dim; c++)
                if (p->normalize)
                    band_block(1, p, c, begin, end, d + k, sums, best, at);
                else
                    band_block(0, p, c, begin, end, d + k, sums, best, at);
            if (d2ke_pause(&work, m * BAND * p->dim, poll)) return;
        }
}
#endif
