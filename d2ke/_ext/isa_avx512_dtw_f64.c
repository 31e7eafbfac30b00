/* SPDX-License-Identifier: BSD-3-Clause */
/* Dynamic time warping of float64 with AVX-512. */
#define D2KE_DTW f64
#include "isa_avx512.c"
