# SPDX-License-Identifier: BSD-3-Clause
"""Report which of the compiled instruction sets is in use."""

import os

cdef extern from *:
    """
    #include "kernel.h"
    #if defined(__x86_64__)
    static int d2ke_cpu_avx2(void)
    {
        __builtin_cpu_init();
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
            && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")
            && __builtin_cpu_supports("popcnt");
    }
    static int d2ke_cpu_avx512(void)
    {
        return d2ke_cpu_avx2() && __builtin_cpu_supports("avx512f")
            && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
            && __builtin_cpu_supports("avx512vl");
    }
    #define D2KE_TABLE_AVX2 (&d2ke_table_avx2)
    #define D2KE_TABLE_AVX512 (&d2ke_table_avx512)
    #else
    static int d2ke_cpu_avx2(void) { return 0; }
    static int d2ke_cpu_avx512(void) { return 0; }
    #define D2KE_TABLE_AVX2 NULL
    #define D2KE_TABLE_AVX512 NULL
    #endif
    """
    const d2ke_table d2ke_table_baseline
    const d2ke_table *D2KE_TABLE_AVX2
    const d2ke_table *D2KE_TABLE_AVX512
    int d2ke_cpu_avx2() noexcept nogil
    int d2ke_cpu_avx512() noexcept nogil

cdef const d2ke_table *_current = &d2ke_table_baseline


cdef const d2ke_table *current() noexcept nogil:
    return _current


def supported():
    """Names of the instruction sets that this processor can run, the best one last."""
    names = ["baseline"]
    if d2ke_cpu_avx2():
        names.append("avx2")
    if d2ke_cpu_avx512():
        names.append("avx512")
    return names


def select(str name):
    """Use the kernels of this instruction set from now on (tests; users set D2KE_ISA)."""
    global _current
    if name not in supported():
        raise ValueError(f"D2KE_ISA must be one of {', '.join(supported())} on this processor; "
                         f"got {name!r}")
    if name == "avx512":
        _current = D2KE_TABLE_AVX512
    elif name == "avx2":
        _current = D2KE_TABLE_AVX2
    else:
        _current = &d2ke_table_baseline


def selected():
    """Name of the instruction set in use."""
    return (<bytes> _current.name).decode()


def vector_bytes():
    """Bytes in one vector of the instruction set in use."""
    return _current.vector_bytes


*_, _best = supported()
select(os.environ.get("D2KE_ISA") or _best)
