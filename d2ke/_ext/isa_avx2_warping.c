/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of dynamic time warping with AVX2. */
#define D2KE_WARPING
#include "isa_avx2.c"
