/* SPDX-License-Identifier: BSD-3-Clause */
/* Every x86-64 (SSE2), and every other processor. */
#define D2KE_ISA baseline
#define D2KE_BYTES 16
#include "isa.h"
