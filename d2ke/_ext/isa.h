/* SPDX-License-Identifier: BSD-3-Clause */
/* All kernels for one instruction set: included once by each isa_*.c. */
#include "kernel.h"
#include "options.h"
#include "simd.h"

#define REAL f64
#include "dtw.h"
#include "sets.h"
#include "emd.h"
#undef REAL
#define REAL f32
#include "dtw.h"
#include "sets.h"
#undef REAL
#include "levenshtein.h"
#include "exp_features.h"
#include "pair_sums.h"
#include "expansions.h"
#include "series.h"

#define D2KE_STRING_(x) #x
#define D2KE_STRING(x) D2KE_STRING_(x)

const d2ke_table D2KE_PASTE(d2ke_table_, D2KE_ISA) = {
    D2KE_STRING(D2KE_ISA),
    D2KE_BYTES,
    {dtw_f64, dtw_f32},
    {dtw_scratch_f64, dtw_scratch_f32},
    levenshtein,
    levenshtein_scratch,
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
};
