/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances between sets of vectors: modified Hausdorff, Hausdorff, Chamfer.
 *
 * With a_i = min_j |u_i - v_j| and b_j = min_i |u_i - v_j|, all of them are
 * means or maxima of the a_i and b_j.  A matrix product in registers yields
 * |u|^2 + |v|^2 - 2 u.v, of which only the running minima of both directions
 * are kept: the rows' sets are transposed once ("units" of one vector register
 * across as many members), the columns' members are broadcast as they are.
 *
 * The expanded square cancels.  A minimum that is not large enough, by a
 * worst-case bound, to be right to TOLERANCE is found anew from differences,
 * scaled by powers of two when their squares leave the range of the type.
 * Every dot product and every sum of squares is added up in the same order
 * wherever it stands in a tile, so neither blocking nor the order of the two
 * sets can change a bit of the result.
 *
 * Its options are a sets_options.
 */
#ifndef D2KE_SETS_H
#define D2KE_SETS_H

/* A tile is TILE_UNITS registers of row vectors by TILE_COLUMNS vectors. */
#if D2KE_BYTES == 64
#define TILE_UNITS 3
#define TILE_COLUMNS 8
#elif D2KE_BYTES == 32
#define TILE_UNITS 2
#define TILE_COLUMNS 6
#else
#define TILE_UNITS 2
#define TILE_COLUMNS 4
#endif

#define CHUNK_BYTES 65536  /* columns that stay in the cache for all units       */
#define CHUNK_COLUMNS 1024 /* ... and at most so many                            */
#define POLL_WORK 4000000  /* multiply-adds between two questions to d2ke_stopped */
#define PARTIAL_SUMS 8

/* Sums run over SPAN terms, then over those sums: the error grows with
 * SPAN + d / SPAN.  Squares between LEAST and infinity have all their digits;
 * times 4^SHIFT or 4^-SHIFT all others have. */
#define SPAN_f64 128
#define SPAN_f32 32
#define ROUNDING_f64 0x1p-53
#define ROUNDING_f32 0x1p-24
#define TOLERANCE_f64 1.9e-12 /* of a squared distance */
#define TOLERANCE_f32 1.9e-5
#define LEAST_f64 1e-290
#define LEAST_f32 1e-32f
#define SHIFT_f64 600
#define SHIFT_f32 100
/* Up to here differences cost no more than dot products and what they leave in doubt. */
#define DIRECT_DIM_f64 4
#define DIRECT_DIM_f32 8

enum { TILE_DOT, TILE_DIFFERENCE, TILE_SCALED };

static inline int64_t sets_smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline double sets_least(double a, double b) { return a < b ? a : b; }
static inline int64_t sets_larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Sum and maximum of n distances, in an order that depends on n alone. */
static void sets_reduce(double *distance, int64_t n, double *sum, double *max)
{
    double part[PARTIAL_SUMS] = {0}, most[PARTIAL_SUMS] = {0};
    for (int64_t i = n; i % PARTIAL_SUMS; i++) distance[i] = 0;
    for (int64_t i = 0; i < n; i += PARTIAL_SUMS)
        for (int l = 0; l < PARTIAL_SUMS; l++) {
            part[l] += distance[i + l];
            most[l] = most[l] < distance[i + l] ? distance[i + l] : most[l];
        }
    *sum = part[0];
    *max = most[0];
    for (int l = 1; l < PARTIAL_SUMS; l++) {
        *sum += part[l];
        *max = *max < most[l] ? most[l] : *max;
    }
}

/* Counts the work and asks, from time to time, whether to stop. */
typedef struct {
    const d2ke_poll *poll;
    int64_t work;
    int stopped;
} sets_meter;

static inline int sets_stopped(sets_meter *meter, int64_t work)
{
    meter->work += work;
    if (meter->work > POLL_WORK) {
        meter->work = 0;
        meter->stopped = d2ke_stopped(meter->poll);
    }
    return meter->stopped;
}

static inline double root_f64(double x) { return sqrt(x); }
static inline float root_f32(float x) { return sqrtf(x); }
#endif

#define vec REAL_(v)
#define real REAL_(real)
#define LANES REAL_(LANES)

typedef struct {
    const real *values;
    const double *norms;
    int64_t n;
} REAL_(vectors);

/* The thread's scratch: the first two parts outlive the call. */
typedef struct {
    real *units;       /* [units][dim][LANES] the row's vectors, transposed */
    real *unit_norms;  /* [units][LANES]                                    */
    real *spare_unit;  /* [dim][LANES]                                      */
    vec *tile;           /* [TILE_COLUMNS][TILE_UNITS]                        */
    vec *column_minima;  /* [a chunk's columns]                               */
    double *distance;    /* [the longer of the row's and the block's longest] */
    real *b;           /* [the block's columns] squared minima              */
    real *a;           /* [the block's sets][units][LANES] squared minima   */
} REAL_(sets_parts);

static int64_t REAL_(sets_chunk)(int64_t d)
{
    int64_t fit = CHUNK_BYTES / (d * (int64_t)sizeof(real)) / TILE_COLUMNS * TILE_COLUMNS;
    return sets_larger(TILE_COLUMNS, sets_smaller(CHUNK_COLUMNS, fit));
}

/* Lays the parts out from `base` on (NULL: just counts); returns their size. */
static size_t REAL_(sets_layout)(const d2ke_problem *p, int64_t n_sets, int64_t n_columns,
                                 char *base, REAL_(sets_parts) *parts)
{
    const int64_t d = p->x.dim, units = (p->x.longest + LANES - 1) / LANES;
    const int64_t longest = sets_larger(p->x.longest, p->y.longest) + PARTIAL_SUMS;
    size_t at = sizeof(d2ke_cache);
#define PART(name, n)                                           \
    if (base) parts->name = (void *)(base + at);                \
    at += (size_t)d2ke_round_up((n) * (int64_t)sizeof *parts->name, 64);
    PART(units, units * d * LANES)
    PART(unit_norms, units * LANES)
    PART(spare_unit, d * LANES)
    PART(tile, TILE_COLUMNS * TILE_UNITS)
    PART(column_minima, REAL_(sets_chunk)(d))
    PART(distance, longest)
    PART(b, n_columns)
    PART(a, n_sets * units * LANES)
#undef PART
    return at;
}

static size_t REAL_(sets_scratch)(const d2ke_problem *p)
{
    int64_t n_sets = 0, n_columns = 0;
    for (int64_t b = 0; b < p->n_blocks; b++) {
        const int64_t first = p->blocks[b], last = p->blocks[b + 1];
        n_sets = sets_larger(n_sets, last - first);
        n_columns = sets_larger(n_columns, p->y.offsets[last] - p->y.offsets[first]);
    }
    return REAL_(sets_layout)(p, n_sets, n_columns, NULL, NULL);
}

/* A minimum of expanded squares must exceed this part of |u|^2 + |v|^2.
 * The terms are the roundings of the dot product, of the norms and of their
 * combination. */
static double REAL_(sets_bound)(int64_t d)
{
    int64_t terms = sets_smaller(d, REAL_(SPAN)) + d / REAL_(SPAN) + 6;
    if (sizeof(real) == sizeof(double)) terms += d / PARTIAL_SUMS + PARTIAL_SUMS;
    double bound = (double)terms * REAL_(ROUNDING) / REAL_(TOLERANCE);
    /* Where nearly every minimum would be doubtful differences come first. */
    return d <= REAL_(DIRECT_DIM) || bound > 0.5 ? 0 : bound;
}

/* sums[c][r] of the columns c and the units r, over all k in order. */
D2KE_INLINE void REAL_(tile)(const real *unit, const real *const *columns, int64_t d,
                             vec *sums, const int op, const int n_units, real before,
                             real after)
{
    const real *u[TILE_UNITS], *v[TILE_COLUMNS];
    D2KE_UNROLL for (int r = 0; r < n_units; r++) u[r] = unit + r * d * LANES;
    D2KE_UNROLL for (int c = 0; c < TILE_COLUMNS; c++) v[c] = columns[c];
    for (int64_t k = 0; k < d;) {
        vec sum[TILE_COLUMNS][TILE_UNITS] = {0};
        const int64_t end = sets_smaller(d, k + REAL_(SPAN));
        for (; k < end; k++) {
            vec x[TILE_UNITS];
            D2KE_UNROLL for (int r = 0; r < n_units; r++) x[r] = *(const vec *)(u[r] + k * LANES);
            D2KE_UNROLL for (int c = 0; c < TILE_COLUMNS; c++) {
                const vec y = REAL_(set)(v[c][k]);
                D2KE_UNROLL for (int r = 0; r < n_units; r++) {
                    if (op == TILE_DOT) {
                        sum[c][r] = REAL_(fused)(x[r], y, sum[c][r]);
                    } else {
                        vec z = x[r] - y;
                        if (op == TILE_SCALED) z = (x[r] * before - y * before) * after;
                        sum[c][r] = REAL_(fused)(z, z, sum[c][r]);
                    }
                }
            }
        }
        D2KE_UNROLL for (int c = 0; c < TILE_COLUMNS; c++)
            D2KE_UNROLL for (int r = 0; r < n_units; r++)
                if (end > REAL_(SPAN)) sums[c * n_units + r] += sum[c][r];
                else sums[c * n_units + r] = sum[c][r];
        __asm__("" ::: "memory"); /* or the compiler keeps `sums` in registers, and spills */
    }
}

#define TILE(name, op, n_units)                                                                   \
    static __attribute__((noinline)) void REAL_(name)(                                            \
        const real *unit, const real *const *columns, int64_t d, vec *sums, real before,    \
        real after)                                                                             \
    {                                                                                             \
        REAL_(tile)(unit, columns, d, sums, op, n_units, before, after);                          \
    }
TILE(dot_1, TILE_DOT, 1)
TILE(dot_2, TILE_DOT, 2)
#if TILE_UNITS > 2
TILE(dot_3, TILE_DOT, 3)
#endif
TILE(difference_1, TILE_DIFFERENCE, 1)
TILE(scaled_1, TILE_SCALED, 1)
#undef TILE

/* One unit of the `n` vectors; the last stands in for missing ones, which
 * leaves every minimum over the unit as it is. */
static void REAL_(pack)(const real *const *vector, int64_t n, int64_t d, real *unit)
{
    for (int64_t l = 0; l < LANES; l++) {
        const real *from = vector[sets_smaller(l, n - 1)];
        for (int64_t k = 0; k < d; k++) unit[k * LANES + l] = from[k];
    }
}

D2KE_INLINE real REAL_(least_lane)(vec x)
{
    real least = x[0];
    D2KE_UNROLL for (int l = 1; l < LANES; l++) least = x[l] < least ? x[l] : least;
    return least;
}

/* Pointers to a tile's vectors from `j` on; the last one again past the end. */
D2KE_INLINE void REAL_(columns)(const real *values, int64_t j, int64_t end, int64_t d,
                                const real **column)
{
    for (int64_t c = 0; c < TILE_COLUMNS; c++)
        column[c] = values + sets_smaller(j + c, end - 1) * d;
}

/* Squared minima between the units from `unit` on and y's vectors [begin, end):
 * over the units into column_minima, over the members of each set into `a`,
 * `a_step` further for each set.  `sets` are y's offsets from the first set on. */
D2KE_INLINE void REAL_(panel)(const REAL_(sets_parts) *parts, const d2ke_problem *p, int64_t unit,
                              int64_t begin, int64_t end, const int64_t *sets, real *a,
                              int64_t a_step, const int op, const int n_units)
{
    const int64_t d = p->x.dim;
    const double *y_norms = ((const sets_options *)p->options)->y_norms;
    const real *from = parts->units + unit * d * LANES, *column[TILE_COLUMNS];
    vec *sums = parts->tile, *column_minimum = parts->column_minima;
    vec norm[TILE_UNITS], least[TILE_UNITS];
    D2KE_UNROLL for (int r = 0; r < n_units; r++)
        norm[r] = *(const vec *)(parts->unit_norms + (unit + r) * LANES);
    for (int64_t j = begin, ready = begin; j < end; sets++, a += a_step) {
        const int64_t stop = sets_smaller(sets[1], end);
        D2KE_UNROLL for (int r = 0; r < n_units; r++) least[r] = *(vec *)(a + r * LANES);
        for (; j < stop; j++, sums += n_units) {
            if (j == ready) {
                REAL_(columns)(p->y.values, j, end, d, column);
                sums = parts->tile;
                if (op == TILE_DIFFERENCE) REAL_(difference_1)(from, column, d, sums, 1, 1);
                else if (n_units == 1) REAL_(dot_1)(from, column, d, sums, 1, 1);
                else if (n_units == 2) REAL_(dot_2)(from, column, d, sums, 1, 1);
#if TILE_UNITS > 2
                else REAL_(dot_3)(from, column, d, sums, 1, 1);
#endif
                ready += TILE_COLUMNS;
            }
            const vec column_norm = REAL_(set)((real)y_norms[j]);
            vec column_least = *column_minimum;
            D2KE_UNROLL for (int r = 0; r < n_units; r++) {
                vec square = sums[r];
                if (op == TILE_DOT) square = norm[r] + column_norm - 2 * square;
                least[r] = REAL_(min)(square, least[r]);
                column_least = REAL_(min)(square, column_least);
            }
            *column_minimum++ = column_least;
        }
        D2KE_UNROLL for (int r = 0; r < n_units; r++) *(vec *)(a + r * LANES) = least[r];
    }
}

/* Whether one of the vectors equals `u`; equal vectors have equal norms. */
static int REAL_(contains)(const REAL_(vectors) *set, int64_t d, const real *u, double norm)
{
    for (int64_t j = 0; j < set->n; j++) {
        int64_t k = 0;
        if (set->norms[j] != norm) continue;
        while (k < d && set->values[j * d + k] == u[k]) k++;
        if (k == d) return 1;
    }
    return 0;
}

/* Least sums of squares of (u * before - v * before) * after, u being the spare
 * unit's vectors and v the set's. */
static vec REAL_(least_squares)(const REAL_(sets_parts) *parts, const REAL_(vectors) *set,
                                int64_t d, real before, real after, sets_meter *meter)
{
    vec least = REAL_(set)((real)INFINITY);
    for (int64_t j = 0; j < set->n; j += TILE_COLUMNS) {
        const real *column[TILE_COLUMNS];
        REAL_(columns)(set->values, j, set->n, d, column);
        (before * after == 1 ? REAL_(difference_1) : REAL_(scaled_1))(
            parts->spare_unit, column, d, parts->tile, before, after);
        for (int c = 0; c < TILE_COLUMNS; c++) least = REAL_(min)(parts->tile[c], least);
        if (sets_stopped(meter, TILE_COLUMNS * LANES * d)) break;
    }
    return least;
}

/* Distances of n <= LANES vectors from the set, by differences. */
static void REAL_(recompute)(const REAL_(sets_parts) *parts, const real *const *vector,
                             int64_t n, const REAL_(vectors) *set, int64_t d, double *distance,
                             sets_meter *meter)
{
    const real up = (real)ldexp(1, REAL_(SHIFT));
    REAL_(pack)(vector, n, d, parts->spare_unit);
    const vec plain = REAL_(least_squares)(parts, set, d, 1, 1, meter);
    vec raised = plain, lowered = plain;
    int small = 0, large = 0;
    for (int64_t l = 0; l < n; l++) {
        small |= plain[l] < REAL_(LEAST);
        large |= plain[l] == (real)INFINITY;
    }
    if (small) raised = REAL_(least_squares)(parts, set, d, 1, up, meter);
    if (large) lowered = REAL_(least_squares)(parts, set, d, 1 / up, 1, meter);
    for (int64_t l = 0; l < n; l++)
        distance[l] = plain[l] < REAL_(LEAST)          ? sqrt((double)raised[l]) / up
                      : plain[l] == (real)INFINITY ? sqrt((double)lowered[l]) * up
                                                     : sqrt((double)plain[l]);
}

/* Mean and maximum of the distances of the vectors of `own` from `other`. */
static void REAL_(nearest)(const REAL_(sets_parts) *parts, const REAL_(vectors) *own,
                           const REAL_(vectors) *other, const real *minima, int64_t d,
                           double bound, double *mean, double *max, sets_meter *meter)
{
    double *distance = parts->distance, largest = 0;
    int doubt = 0;
    for (int64_t j = 0; j < other->n; j++)
        largest = largest < other->norms[j] ? other->norms[j] : largest;
    /* The nearest v has |v|^2 <= 2 |u|^2 + 2 |u - v|^2. */
#define NORMS(i) \
    (own->norms[i] + sets_least(largest, 2 * (own->norms[i] + (double)minima[i])))
#define DOUBTFUL(i)                                                             \
    (!(minima[i] > (real)(bound * NORMS(i))) | !(minima[i] > REAL_(LEAST)) |    \
     !((real)(4 * (own->norms[i] + largest)) < (real)INFINITY))
    for (int64_t i = 0; i < own->n; i++) {
        distance[i] = REAL_(root)(minima[i]);
        doubt |= DOUBTFUL(i);
    }
    for (int64_t i = 0; doubt && i < own->n && !meter->stopped;) {
        const real *vector[LANES];
        int64_t index[LANES], n = 0;
        double exact[LANES];
        for (; i < own->n && n < LANES; i++) {
            if (!DOUBTFUL(i)) continue;
            vector[n] = own->values + i * d;
            /* An equal vector cannot leave more than the rounding errors. */
            if (!(minima[i] > (real)(bound * NORMS(i) * REAL_(TOLERANCE)))
                && REAL_(contains)(other, d, vector[n], own->norms[i]))
                distance[i] = 0;
            else
                index[n++] = i;
        }
        if (n) REAL_(recompute)(parts, vector, n, other, d, exact, meter);
        for (int64_t l = 0; l < n; l++) distance[index[l]] = exact[l];
    }
#undef NORMS
#undef DOUBTFUL
    sets_reduce(distance, own->n, mean, max);
    *mean /= (double)own->n;
}

/* Transposes the row's vectors into units. */
static void REAL_(prepare)(const REAL_(sets_parts) *parts, const REAL_(vectors) *u, int64_t d)
{
    for (int64_t i = 0; i < u->n; i += LANES) {
        const real *vector[LANES];
        for (int64_t l = 0; l < LANES; l++) {
            const int64_t from = sets_smaller(i + l, u->n - 1);
            vector[l] = u->values + from * d;
            parts->unit_norms[i + l] = (real)u->norms[from];
        }
        REAL_(pack)(vector, LANES, d, parts->units + i * d);
    }
}

static void REAL_(sets)(const d2ke_problem *p, int64_t row, int64_t block, void *scratch,
                        double *result, const d2ke_poll *poll)
{
    const sets_options *options = p->options;
    const int64_t mode = options->mode, d = p->x.dim, *y = p->y.offsets;
    const int64_t first_set = p->blocks[block], n_sets = p->blocks[block + 1] - first_set;
    const int64_t first = y[first_set], last = y[first_set + n_sets];
    const real *x_values = p->x.values, *y_values = p->y.values;
    const REAL_(vectors) u = {x_values + p->x.offsets[row] * d, options->x_norms + p->x.offsets[row],
                              d2ke_length(&p->x, row)};
    const int64_t units = (u.n + LANES - 1) / LANES;
    const int64_t chunk = REAL_(sets_chunk)(d), a_step = units * LANES;
    const double bound = REAL_(sets_bound)(d);
    d2ke_cache *cache = scratch;
    sets_meter meter = {poll, 0, 0};
    REAL_(sets_parts) parts;
    REAL_(sets_layout)(p, n_sets, last - first, scratch, &parts);
    if (cache->row != row) {
        REAL_(prepare)(&parts, &u, d);
        cache->row = row;
    }
    for (int64_t i = 0; i < n_sets * a_step; i++) parts.a[i] = (real)INFINITY;
    const int64_t *sets = y + first_set;
    for (int64_t begin = first; begin < last; begin += chunk) {
        const int64_t end = sets_smaller(begin + chunk, last);
        while (sets[1] <= begin) sets++;
        real *a = parts.a + (sets - y - first_set) * a_step;
        for (int64_t j = 0; j < end - begin; j++)
            parts.column_minima[j] = REAL_(set)((real)INFINITY);
#define PANEL(op, n) \
    REAL_(panel)(&parts, p, unit, begin, end, sets, a + unit * LANES, a_step, op, n)
        for (int64_t unit = 0, step; unit < units; unit += step) {
            step = bound > 0 ? sets_smaller(TILE_UNITS, units - unit) : 1;
            if (bound == 0) PANEL(TILE_DIFFERENCE, 1);
            else if (step == 1) PANEL(TILE_DOT, 1);
            else if (step == 2) PANEL(TILE_DOT, 2);
#if TILE_UNITS > 2
            else PANEL(TILE_DOT, 3);
#endif
            if (sets_stopped(&meter, step * LANES * (end - begin) * d)) return;
        }
#undef PANEL
        for (int64_t j = begin; j < end; j++)
            parts.b[j - first] = REAL_(least_lane)(parts.column_minima[j - begin]);
    }
    const int directed = mode == SETS_DIRECTED_MHD || mode == SETS_DIRECTED_HAUSDORFF;
    for (int64_t s = 0; s < n_sets && !meter.stopped; s++) {
        const int64_t at = y[first_set + s];
        const REAL_(vectors) v = {y_values + at * d, options->y_norms + at, y[first_set + s + 1] - at};
        double mean_a, max_a, mean_b = 0, max_b = 0;
        REAL_(nearest)(&parts, &u, &v, parts.a + s * a_step, d, bound, &mean_a, &max_a, &meter);
        if (!directed)
            REAL_(nearest)(&parts, &v, &u, parts.b + (at - first), d, bound, &mean_b, &max_b,
                           &meter);
        if (mode == SETS_CHAMFER)
            result[s] = mean_a + mean_b;
        else if (mode == SETS_HAUSDORFF || mode == SETS_DIRECTED_HAUSDORFF)
            result[s] = fmax(max_a, max_b);
        else
            result[s] = fmax(mean_a, mean_b);
    }
}

#undef vec
#undef real
#undef LANES
