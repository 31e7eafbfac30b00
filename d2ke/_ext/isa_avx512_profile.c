/* SPDX-License-Identifier: BSD-3-Clause */
/* Window profiles with AVX-512. */
#define D2KE_PROFILE
#include "isa_avx512.c"
