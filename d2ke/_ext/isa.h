/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels for one instruction set, in units that compile side by side:
 * isa_*_dtw_f64.c and isa_*_dtw_f32.c define D2KE_DTW, the element type, isa_*_elastic.c
 * D2KE_ELASTIC, isa_*_warping.c D2KE_WARPING, the bounds of dynamic time warping and window
 * profiles; isa_*.c holds the other families and the table of all. */
#if !defined(__x86_64__) || defined(__clang__)
/* As setup.py has it. */
#elif D2KE_BYTES == 16
/* For processors before 2013: what compiles fastest. */
#pragma GCC optimize("O1")
#elif defined(D2KE_DTW) || defined(D2KE_ELASTIC) || defined(D2KE_WARPING)
/* Their loops are of vectors and unrolled where that pays: -O3 takes half again as long for nothing. */
#pragma GCC optimize("O2")
#endif
#include "kernel.h"
#include "options.h"
#include "simd.h"
#include "elementary.h"

#if defined(D2KE_DTW)
#define REAL D2KE_DTW
#include "dtw.h"
#undef REAL
#elif defined(D2KE_ELASTIC)
#include "elastic.h"
#elif defined(D2KE_WARPING)
#define REAL f32
#include "dtw_cut.h"
#include "envelopes.h"
#include "elastic_cut.h"
#undef REAL
#include "diagonals.h"
#else

#define REAL f64
#include "sets.h"
#include "emd.h"
#undef REAL
#define REAL f32
#include "sets.h"
#undef REAL
#include "levenshtein.h"
#include "edits.h"
#define JARO_BITS 16
#include "jaro.h"
#undef JARO_BITS
#define JARO_BITS 32
#include "jaro.h"
#undef JARO_BITS
#define JARO_BITS 64
#include "jaro.h"
#undef JARO_BITS
#define LETTER u16
#define SCORE i16
#include "damerau.h"
#undef LETTER
#undef SCORE
#define LETTER u32
#define SCORE i32
#include "damerau.h"
#include "damerau_rows.h"
#undef LETTER
#undef SCORE
#include "weighted.h"
#include "edit_costs.h"
#include "overlap.h"
#include "exp_features.h"
#include "pair_sums.h"
#include "expansions.h"
#include "series.h"
#include "warping.h"
#include "windows.h"

#define D2KE_STRING_(x) #x
#define D2KE_STRING(x) D2KE_STRING_(x)

#define DTW_DECLARED(real)                                                                         \
    void ISA_(dtw_##real)(const d2ke_problem *, int64_t, int64_t, void *, double *,               \
                          const d2ke_poll *);                                                     \
    size_t ISA_(dtw_scratch_##real)(const d2ke_problem *);
DTW_DECLARED(f64)
DTW_DECLARED(f32)
extern const d2ke_kernel ISA_(elastic)[];
size_t ISA_(elastic_scratch)(const d2ke_problem *);
extern const d2ke_trace ISA_(elastic_rows)[];
extern const d2ke_ways_kernel ISA_(elastic_ways)[];
void ISA_(warp_fill)(const warp_bounds *, const int64_t *, int64_t, float *, int64_t, void *,
                     const d2ke_poll *);
float ISA_(warp_tighten)(const warp_bounds *, int64_t, void *, int64_t, float);
void ISA_(warp_narrow)(const warp_bounds *, int64_t, void *, const int64_t *, int64_t,
                       const float *, float *, const d2ke_poll *);

extern const d2ke_elastic_narrow ISA_(elastic_narrow)[];
void ISA_(profile_band)(const d2ke_profile *, int64_t, int64_t, double *, double *, int64_t *,
                        const d2ke_poll *);

const d2ke_table ISA_(table) = {
    D2KE_STRING(D2KE_ISA),
    D2KE_BYTES,
    {ISA_(dtw_f64), ISA_(dtw_f32)},
    {ISA_(dtw_scratch_f64), ISA_(dtw_scratch_f32)},
    ISA_(elastic),
    ISA_(elastic_scratch),
    ISA_(elastic_rows),
    ISA_(elastic_ways),
    levenshtein,
    levenshtein_part,
    osa,
    indel,
    jaro,
    levenshtein_scratch,
    {damerau_u16, damerau_u32},
    {damerau_scratch_u16, damerau_scratch_u32},
    damerau_rows,
    osa_rows,
    weighted,
    weighted_scratch,
    weighted_trace,
    {hamming_u8, hamming_u32},
    jaccard,
    {sets_f64, sets_f32},
    {sets_scratch_f64, sets_scratch_f32},
    emd,
    emd_scratch,
    exp_features,
    pair_sums,
    pair_row,
    fourier_sums,
    taylor_sums,
    series_sums,
    ISA_(warp_fill),
    ISA_(warp_tighten),
    ISA_(warp_narrow),
    window_row,
    window_profile,
    window_pairs,
    window_pairs_scratch,
    ISA_(elastic_narrow),
    cost_fill,
    cost_begin,
    cost_narrow,
    ISA_(profile_band),
};
#endif
