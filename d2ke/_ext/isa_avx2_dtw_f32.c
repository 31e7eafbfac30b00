/* SPDX-License-Identifier: BSD-3-Clause */
/* Dynamic time warping of float32 with AVX2. */
#define D2KE_DTW f32
#include "isa_avx2.c"
