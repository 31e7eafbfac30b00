/* SPDX-License-Identifier: BSD-3-Clause */
/* Window profiles for every processor. */
#define D2KE_PROFILE
#include "isa_baseline.c"
