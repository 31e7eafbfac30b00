/* SPDX-License-Identifier: BSD-3-Clause */
/* Dynamic time warping of float64 for every processor. */
#define D2KE_DTW f64
#include "isa_baseline.c"
