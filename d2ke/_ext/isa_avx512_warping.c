/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of dynamic time warping and window profiles with AVX-512. */
#define D2KE_WARPING
#include "isa_avx512.c"
