/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of dynamic time warping with the baseline. */
#define D2KE_WARPING
#include "isa_baseline.c"
