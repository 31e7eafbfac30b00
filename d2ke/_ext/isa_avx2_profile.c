/* SPDX-License-Identifier: BSD-3-Clause */
/* Window profiles with AVX2. */
#define D2KE_PROFILE
#include "isa_avx2.c"
