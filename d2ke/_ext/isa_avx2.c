/* SPDX-License-Identifier: BSD-3-Clause */
/* x86-64 with AVX2 and FMA (2013 and later). */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,bmi,bmi2,popcnt")
#endif
#define D2KE_ISA avx2
#define D2KE_BYTES 32
#include "isa.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
typedef int d2ke_no_avx2;
#endif
