/* SPDX-License-Identifier: BSD-3-Clause */
/* What a distance kernel is given, and what it gives back.
 *
 * The columns (the items of y) are put into an order that suits the kernel and
 * cut into blocks; a kernel computes one row item against one block.  The loop
 * over rows and blocks lives in pairwise.pyx; threads, progress and Ctrl-C in tasks.pyx.
 */
#ifndef D2KE_KERNEL_H
#define D2KE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* Items end to end: item i is values[offsets[i]] .. values[offsets[i+1]),
 * each value being `dim` reals (vectors) or one uint32_t letter (strings). */
typedef struct {
    const void *values;
    const int64_t *offsets;
    int64_t n;
    int64_t dim;
    int64_t longest;
} d2ke_items;

/* Everything a kernel reads; nothing in it changes while the loop runs. */
typedef struct {
    d2ke_items x;
    d2ke_items y;
    const int64_t *order;  /* y's items in packing order                      */
    const int64_t *blocks; /* block b holds order[blocks[b]] .. [blocks[b+1]) */
    int64_t n_blocks;
    const void *options;   /* the family's own, see options.h                 */
} d2ke_problem;

/* Kernels that may run long ask `d2ke_stopped` about every 1e6 operations and
 * return at once, results unfinished, when it says so. */
typedef struct {
    int (*check)(void *state, int thread);
    void *state;
    int thread;
} d2ke_poll;

static inline int d2ke_stopped(const d2ke_poll *poll)
{
    return poll->check(poll->state, poll->thread);
}

/* Adds to the work done since the kernel last asked, and asks when it is time. */
static inline int d2ke_pause(int64_t *work, int64_t more, const d2ke_poll *poll)
{
    *work += more;
    if (*work < 1000000) return 0;
    *work = 0;
    return d2ke_stopped(poll);
}

/* Distances from row item `row` of x to the items of `block`, in packing order,
 * into `result`.  `scratch` is the thread's own, 64-byte aligned, of the size
 * that the kernel's *_scratch function asked for; its first 64 bytes are a
 * d2ke_cache that says what the last call left prepared there. */
typedef void (*d2ke_kernel)(const d2ke_problem *problem, int64_t row,
                            int64_t block, void *scratch, double *result,
                            const d2ke_poll *poll);
typedef size_t (*d2ke_scratch)(const d2ke_problem *problem);

typedef struct {
    int64_t row;   /* -1: nothing prepared yet */
    int64_t block;
    int64_t reserved[6];
} d2ke_cache;

/* Rows of the table of x's first item and y's first one, for the way back through it (see
 * alignment.pyx); `scratch` is as for the kernel. */
typedef struct {
    int64_t first, last; /* rows */
    int64_t columns;     /* that are computed, from the first */
    int64_t radius;      /* of the band, for series */
    void *state;         /* IN: what the rows before leave; OUT: what these do */
    uint8_t *ways;       /* OUT: where each cell's value is from, or NULL */
    int64_t row_bytes;
    double value;        /* OUT: the distance, after all rows */
    int64_t best;        /* OUT: the first row where it is the least */
    const int64_t *pairs; /* of series: the steps of a path, unless NULL */
    const int8_t *steps;
    int64_t n_steps;
    double *costs;       /* OUT: of the steps */
} d2ke_rows;
typedef void (*d2ke_trace)(const d2ke_problem *problem, void *scratch, d2ke_rows *rows,
                           const d2ke_poll *poll);

/* Where the cells of the tables of a kernel's call are from: table[i * stride + j + shift] is that
 * of row i and column j, and has bits for lane k: 1 << k, from the corner; else 256 << k, from the
 * column before; else from the row before. */
typedef struct {
    uint16_t *table; /* room for as many rows as the longest x has and d2ke_ways_width columns */
    int64_t stride, shift; /* OUT */
} d2ke_ways;
typedef void (*d2ke_ways_kernel)(const d2ke_problem *problem, int64_t row, int64_t block,
                                 void *scratch, double *result, d2ke_ways *ways,
                                 const d2ke_poll *poll);
#define D2KE_WAYS_COLUMNS 4 /* that are computed together, at most */

/* Columns of the table for a band of this radius, or for all columns where these are fewer. */
static inline int64_t d2ke_ways_width(int64_t columns, int64_t radius)
{
    int64_t all = columns + D2KE_WAYS_COLUMNS - 1, band = 2 * (radius + D2KE_WAYS_COLUMNS) - 1;
    return all < band ? all : band;
}

/* result[i] = scale * exp(-gamma * result[i]) */
typedef void (*d2ke_exp)(double *values, int64_t n, double gamma, double scale);

/* Points that carry vectors: coordinate k of point i is points[k * stride + i], channel c of its
 * vector vectors[c * stride + i].  What is read past the last point (less than 32 of them) must be
 * there, and finite. */
typedef struct {
    const double *points;
    const double *vectors;
    int64_t stride;
    int64_t dim;
    int64_t channels;
} d2ke_cloud;

#define D2KE_FREQUENCIES 32 /* of one call of fourier_sums */
#define D2KE_SERIES_POINTS 128 /* that series_sums has at work */

typedef void (*d2ke_pair_sums)(const d2ke_cloud *x, int64_t begin, int64_t end,
                               const d2ke_cloud *y, int64_t first, int64_t last, int laplace,
                               double rate, double *total, double *potentials);
typedef void (*d2ke_pair_row)(const d2ke_cloud *x, int64_t row, int64_t first, int64_t last,
                              int laplace, double rate, double factor, double *field);
typedef void (*d2ke_fourier_sums)(const double *points, const double *vectors, int64_t begin,
                                  int64_t end, int64_t dim, int64_t channels, const double *omega,
                                  int64_t stride, int far, double *sums);
typedef void (*d2ke_taylor_sums)(const double *points, const double *vectors, int64_t begin,
                                 int64_t end, int64_t dim, int64_t channels, int64_t degree,
                                 int64_t terms, double *scratch, double *sums);
typedef void (*d2ke_series_sums)(const double *points, const double *vectors, int64_t begin,
                                 int64_t end, int64_t dim, int64_t channels, int64_t n_front,
                                 const int64_t *degrees, const double *steps, double *scratch,
                                 double *sums);

/* See envelopes.h; `own` is a thread's memory, laid out by warp_lay. */
typedef struct warp_bounds warp_bounds;
typedef void (*d2ke_warp_fill)(const warp_bounds *bounds, const int64_t *rows, int64_t n_rows,
                               float *result, int64_t stride, void *own, const d2ke_poll *poll);
typedef float (*d2ke_warp_tighten)(const warp_bounds *bounds, int64_t row, void *own,
                                   int64_t column, float limit);
typedef void (*d2ke_warp_narrow)(const warp_bounds *bounds, int64_t row, void *own,
                                 const int64_t *columns, int64_t n, const float *limits,
                                 float *result, const d2ke_poll *poll);

/* See elastic_cut.h, in the order of ELASTIC_DISTANCES; NULL where there is none. */
typedef struct elastic_bounds elastic_bounds;
typedef void (*d2ke_elastic_narrow)(const elastic_bounds *bounds, int64_t row, void *own,
                                    const int64_t *columns, int64_t n, const float *limits,
                                    float *result, const d2ke_poll *poll);

/* See edit_costs.h. */
typedef struct cost_bounds cost_bounds;
typedef void (*d2ke_cost_fill)(const cost_bounds *bounds, const int64_t *rows, int64_t n_rows,
                               float *result, int64_t stride, void *own, const d2ke_poll *poll);
typedef void (*d2ke_cost_begin)(const cost_bounds *bounds, int64_t row, void *own);
typedef void (*d2ke_cost_narrow)(const cost_bounds *bounds, int64_t row, void *own,
                                 const int64_t *columns, int64_t n, const float *limits,
                                 float *result, const d2ke_poll *poll);

/* See windows.h; `memory` is a thread's, laid out by window_lay. */
typedef struct d2ke_windows d2ke_windows;
struct window_chunk;
typedef void (*d2ke_window_row)(const d2ke_windows *windows, int64_t series,
                                const struct window_chunk *chunks, int64_t n_chunks,
                                void *memory, float *row, const d2ke_poll *poll);
typedef void (*d2ke_window_profile)(const d2ke_windows *windows, int64_t series,
                                    const struct window_chunk *chunk, int64_t begin, int64_t end,
                                    void *memory, double *profile);

/* See diagonals.h; `sums` is a thread's, of 2 * length * PROFILE_LANES numbers. */
typedef struct d2ke_profile d2ke_profile;
typedef void (*d2ke_profile_band)(const d2ke_profile *profile, int64_t d, int64_t count,
                                  double *sums, double *best, int64_t *at, const d2ke_poll *poll);

#define D2KE_BOUND_ROWS 16    /* of a search, whose first bounds are made together */
#define D2KE_BOUND_COLUMNS 64 /* whose closest bounds are made together, at most   */

/* One instruction set's kernels; element type 0 is float64, 1 is float32. */
typedef struct {
    const char *name;
    int64_t vector_bytes;
    d2ke_kernel dtw[2];
    d2ke_scratch dtw_scratch[2];
    const d2ke_kernel *elastic; /* in the order of ELASTIC_DISTANCES */
    d2ke_scratch elastic_scratch;
    const d2ke_trace *elastic_rows;
    const d2ke_ways_kernel *elastic_ways;
    d2ke_kernel levenshtein;
    d2ke_kernel levenshtein_part;
    d2ke_kernel osa;
    d2ke_kernel indel;
    d2ke_kernel jaro; /* with the scratch memory of `levenshtein` */
    d2ke_scratch levenshtein_scratch;
    d2ke_kernel damerau[2]; /* letters and scores of 16 bits, of 32 bits */
    d2ke_scratch damerau_scratch[2];
    d2ke_trace damerau_rows; /* letters and scores of 32 bits */
    d2ke_trace osa_rows;     /* with the scratch memory of `damerau` */
    d2ke_kernel weighted;
    d2ke_scratch weighted_scratch;
    d2ke_trace weighted_rows;
    d2ke_kernel hamming[2]; /* letters of 8 bits, of 32 bits */
    d2ke_kernel jaccard;
    d2ke_kernel sets[2];
    d2ke_scratch sets_scratch[2];
    d2ke_kernel emd;
    d2ke_scratch emd_scratch;
    d2ke_exp exp_features;
    d2ke_pair_sums pair_sums;
    d2ke_pair_row pair_row;
    d2ke_fourier_sums fourier_sums;
    d2ke_taylor_sums taylor_sums;
    d2ke_series_sums series_sums;
    d2ke_warp_fill warp_fill;
    d2ke_warp_tighten warp_tighten;
    d2ke_warp_narrow warp_narrow;
    d2ke_window_row window_row;
    d2ke_window_profile window_profile;
    d2ke_kernel window_pairs;
    d2ke_scratch window_pairs_scratch;
    const d2ke_elastic_narrow *elastic_narrow;
    d2ke_cost_fill cost_fill;
    d2ke_cost_begin cost_begin;
    d2ke_cost_narrow cost_narrow;
    d2ke_profile_band profile_band;
} d2ke_table;

extern const d2ke_table d2ke_table_baseline;
extern const d2ke_table d2ke_table_avx2;
extern const d2ke_table d2ke_table_avx512;

/* high + low gains the term; high's rounding goes to low (Knuth). */
static inline void d2ke_add_exactly(double term, double *high, double *low)
{
    double sum = *high + term, kept = sum - *high;
    *low += (*high - (sum - kept)) + (term - kept);
    *high = sum;
}

static inline int64_t d2ke_round_up(int64_t n, int64_t step)
{
    return (n + step - 1) / step * step;
}

static inline int64_t d2ke_length(const d2ke_items *items, int64_t i)
{
    return items->offsets[i + 1] - items->offsets[i];
}

static inline int64_t d2ke_fetch_add(int64_t *counter, int64_t step)
{
    return __atomic_fetch_add(counter, step, __ATOMIC_RELAXED);
}

static inline int64_t d2ke_load(const int64_t *flag)
{
    return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

static inline void d2ke_store(int64_t *flag, int64_t value)
{
    __atomic_store_n(flag, value, __ATOMIC_RELAXED);
}

#endif
