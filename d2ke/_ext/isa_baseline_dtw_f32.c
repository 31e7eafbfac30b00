/* SPDX-License-Identifier: BSD-3-Clause */
/* Dynamic time warping of float32 for every processor. */
#define D2KE_DTW f32
#include "isa_baseline.c"
