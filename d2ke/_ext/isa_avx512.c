/* SPDX-License-Identifier: BSD-3-Clause */
/* x86-64 with AVX-512 F, DQ, BW and VL (servers from 2017, AMD from 2022). */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,bmi,bmi2,popcnt,prefer-vector-width=512")
#endif
#define D2KE_ISA avx512
#define D2KE_BYTES 64
#include "isa.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
typedef int d2ke_no_avx512;
#endif
