/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of dynamic time warping and window profiles with the baseline. */
#define D2KE_WARPING
#include "isa_baseline.c"
