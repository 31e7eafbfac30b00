/* SPDX-License-Identifier: BSD-3-Clause */
/* The other elastic distances with AVX2. */
#define D2KE_ELASTIC
#include "isa_avx2.c"
