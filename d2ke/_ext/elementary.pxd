# SPDX-License-Identifier: BSD-3-Clause
cdef extern from *:
    """
    #include <stdint.h>
    #define D2KE_BYTES 16
    #include "simd.h"
    /* Functions of one number are not fused: their bits are those of every processor. */
    #define fused_f64(a, b, c) ((a) * (b) + (c))
    #include "elementary.h"
    #define D2KE_OF_ONE(name) \
        D2KE_INLINE double d2ke_one_##name(double x) { return name##_f64(set_f64(x))[0]; }
    D2KE_OF_ONE(exp)
    D2KE_OF_ONE(expm1)
    D2KE_OF_ONE(sine_of_degrees)
    D2KE_OF_ONE(arcsine)
    """
    double d2ke_one_exp(double) noexcept nogil
    double d2ke_one_expm1(double) noexcept nogil
    double d2ke_one_sine_of_degrees(double) noexcept nogil
    double d2ke_one_arcsine(double) noexcept nogil
