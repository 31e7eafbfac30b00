/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the compiled instruction sets this processor and its system can run.
 *
 * The instruction itself is asked, as some compilers' __builtin_cpu_supports always says no.  What a
 * processor has counts only where the system saves its registers (XCR0).  macOS adds those of
 * AVX-512 at the first such instruction, so that it counts as one without.
 */
#ifndef D2KE_CPU_H
#define D2KE_CPU_H

#include "kernel.h"

#if defined(__x86_64__)
#include <cpuid.h>

static const d2ke_table *const d2ke_tables[] = {&d2ke_table_baseline, &d2ke_table_avx2,
                                                &d2ke_table_avx512};

/* The number of the best table. */
static int d2ke_cpu(void)
{
    const unsigned first = bit_FMA | bit_POPCNT | bit_OSXSAVE | bit_AVX;
    const unsigned avx2 = bit_AVX2 | bit_BMI | bit_BMI2;
    const unsigned avx512 = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
    const unsigned ymm = 0x6, zmm = 0xe6; /* of XCR0 */
    unsigned a, b, c, d, saved;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & first) != first) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    __asm__ volatile("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
    if ((saved & ymm) != ymm || (b & avx2) != avx2) return 0;
    return (saved & zmm) == zmm && (b & avx512) == avx512 ? 2 : 1;
}
#else
static const d2ke_table *const d2ke_tables[] = {&d2ke_table_baseline};
static int d2ke_cpu(void) { return 0; }
#endif

#endif
