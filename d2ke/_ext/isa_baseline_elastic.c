/* SPDX-License-Identifier: BSD-3-Clause */
/* The other elastic distances for every processor. */
#define D2KE_ELASTIC
#include "isa_baseline.c"
