/* SPDX-License-Identifier: BSD-3-Clause */
/* The other elastic distances with AVX-512. */
#define D2KE_ELASTIC
#include "isa_avx512.c"
