/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors of the width of the instruction set that is being compiled.
 *
 * GCC/Clang vector types carry + - * / & | ^ and comparisons by themselves;
 * here is only what they lack.  isa_*.c sets D2KE_ISA, D2KE_BYTES (16, 32 or
 * 64) and the compiler's target first.  Headers that serve both element types
 * are included twice, with REAL set to f64 and to f32.
 */
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#include <math.h>
#include <string.h>

#define D2KE_PASTE_(a, b) a##b
#define D2KE_PASTE(a, b) D2KE_PASTE_(a, b)
/* REAL_(min) is min_f64 or min_f32, REAL_(real) is double or float. */
#define REAL_(name) D2KE_PASTE(name##_, REAL)
/* ISA_(table) is d2ke_table_avx2, and so on: what other units see. */
#define ISA_(name) D2KE_PASTE(D2KE_PASTE(d2ke_, name), D2KE_PASTE(_, D2KE_ISA))

typedef double real_f64;
typedef float real_f32;

#define D2KE_INLINE static inline __attribute__((always_inline))
#define D2KE_VECTOR(type) __attribute__((vector_size(D2KE_BYTES), may_alias)) type
/* Full unrolling by the compiler turns small local arrays into registers. */
#define D2KE_UNROLL _Pragma("GCC unroll 32")

typedef D2KE_VECTOR(double) v_f64;
typedef D2KE_VECTOR(float) v_f32;
typedef D2KE_VECTOR(int64_t) v_i64;
typedef D2KE_VECTOR(int32_t) v_i32;
typedef D2KE_VECTOR(uint64_t) v_u64;
typedef D2KE_VECTOR(uint32_t) v_u32;
typedef D2KE_VECTOR(uint16_t) v_u16;
typedef D2KE_VECTOR(uint8_t) v_u8;

#define LANES_f64 (D2KE_BYTES / 8)
#define LANES_f32 (D2KE_BYTES / 4)

/* x - 0 is x for every x, so this is a plain broadcast. */
D2KE_INLINE v_f64 set_f64(double x) { return x - (v_f64){0}; }
D2KE_INLINE v_f32 set_f32(float x) { return x - (v_f32){0}; }

D2KE_INLINE v_f64 abs_f64(v_f64 a) { return (v_f64)((v_i64)a & INT64_MAX); }
D2KE_INLINE v_f32 abs_f32(v_f32 a) { return (v_f32)((v_i32)a & INT32_MAX); }

/* For a >= 0: the largest power of two <= a of which the inverse, too, is a normal number (the least
 * one for smaller a), and its inverse. */
D2KE_INLINE void power_below_f64(v_f64 a, v_f64 *power, v_f64 *inverse)
{
    v_i64 least = (v_i64){0} + (INT64_C(1) << 52);
    v_i64 bits = (v_i64)a & (INT64_C(0x7ff) << 52);
    v_i64 below = bits < least;
    bits = (below & least) | (~below & bits);
    v_i64 most = (v_i64){0} + (INT64_C(2045) << 52), above = bits > most;
    bits = (above & most) | (~above & bits);
    *power = (v_f64)bits;
    *inverse = (v_f64)((INT64_C(2046) << 52) - bits);
}
D2KE_INLINE void power_below_f32(v_f32 a, v_f32 *power, v_f32 *inverse)
{
    v_i32 least = (v_i32){0} + (1 << 23);
    v_i32 bits = (v_i32)a & (0xff << 23);
    v_i32 below = bits < least;
    bits = (below & least) | (~below & bits);
    v_i32 most = (v_i32){0} + (253 << 23), above = bits > most;
    bits = (above & most) | (~above & bits);
    *power = (v_f32)bits;
    *inverse = (v_f32)((254 << 23) - bits);
}

/* a where the mask is all ones, b where it is 0. */
D2KE_INLINE v_f64 select_f64(v_i64 mask, v_f64 a, v_f64 b) { return (v_f64)((mask & (v_i64)a) | (~mask & (v_i64)b)); }
D2KE_INLINE v_f32 select_f32(v_i32 mask, v_f32 a, v_f32 b) { return (v_f32)((mask & (v_i32)a) | (~mask & (v_i32)b)); }

/* The smaller, or larger, of a and b; b when either is NaN. */
#if D2KE_BYTES == 64
D2KE_INLINE v_f64 min_f64(v_f64 a, v_f64 b) { return (v_f64)_mm512_min_pd((__m512d)a, (__m512d)b); }
D2KE_INLINE v_f64 max_f64(v_f64 a, v_f64 b) { return (v_f64)_mm512_max_pd((__m512d)a, (__m512d)b); }
D2KE_INLINE v_f32 min_f32(v_f32 a, v_f32 b) { return (v_f32)_mm512_min_ps((__m512)a, (__m512)b); }
D2KE_INLINE v_f64 sqrt_f64(v_f64 a) { return (v_f64)_mm512_sqrt_pd((__m512d)a); }
D2KE_INLINE v_f32 sqrt_f32(v_f32 a) { return (v_f32)_mm512_sqrt_ps((__m512)a); }
#elif D2KE_BYTES == 32
D2KE_INLINE v_f64 min_f64(v_f64 a, v_f64 b) { return (v_f64)_mm256_min_pd((__m256d)a, (__m256d)b); }
D2KE_INLINE v_f64 max_f64(v_f64 a, v_f64 b) { return (v_f64)_mm256_max_pd((__m256d)a, (__m256d)b); }
D2KE_INLINE v_f32 min_f32(v_f32 a, v_f32 b) { return (v_f32)_mm256_min_ps((__m256)a, (__m256)b); }
D2KE_INLINE v_f64 sqrt_f64(v_f64 a) { return (v_f64)_mm256_sqrt_pd((__m256d)a); }
D2KE_INLINE v_f32 sqrt_f32(v_f32 a) { return (v_f32)_mm256_sqrt_ps((__m256)a); }
#elif defined(__SSE2__)
D2KE_INLINE v_f64 min_f64(v_f64 a, v_f64 b) { return (v_f64)_mm_min_pd((__m128d)a, (__m128d)b); }
D2KE_INLINE v_f64 max_f64(v_f64 a, v_f64 b) { return (v_f64)_mm_max_pd((__m128d)a, (__m128d)b); }
D2KE_INLINE v_f32 min_f32(v_f32 a, v_f32 b) { return (v_f32)_mm_min_ps((__m128)a, (__m128)b); }
D2KE_INLINE v_f64 sqrt_f64(v_f64 a) { return (v_f64)_mm_sqrt_pd((__m128d)a); }
D2KE_INLINE v_f32 sqrt_f32(v_f32 a) { return (v_f32)_mm_sqrt_ps((__m128)a); }
#else /* arm64 and anything else: the compiler's own vectors */
D2KE_INLINE v_f64 min_f64(v_f64 a, v_f64 b) { return select_f64(a < b, a, b); }
D2KE_INLINE v_f64 max_f64(v_f64 a, v_f64 b) { return select_f64(a > b, a, b); }
D2KE_INLINE v_f32 min_f32(v_f32 a, v_f32 b) { return select_f32(a < b, a, b); }
D2KE_INLINE v_f64 sqrt_f64(v_f64 a)
{
    D2KE_UNROLL for (int i = 0; i < LANES_f64; i++) a[i] = __builtin_sqrt(a[i]);
    return a;
}
D2KE_INLINE v_f32 sqrt_f32(v_f32 a)
{
    D2KE_UNROLL for (int i = 0; i < LANES_f32; i++) a[i] = __builtin_sqrtf(a[i]);
    return a;
}
#endif

D2KE_INLINE v_f32 max_f32(v_f32 a, v_f32 b) { return -min_f32(-a, -b); }

/* a b + c for sums of products: rounded once with AVX2, AVX-512 and on arm64.  Nothing else is fused
 * (setup.py), so that bits do not depend on the compiler. */
#if D2KE_BYTES == 64
D2KE_INLINE v_f64 fused_f64(v_f64 a, v_f64 b, v_f64 c) { return (v_f64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
D2KE_INLINE v_f32 fused_f32(v_f32 a, v_f32 b, v_f32 c) { return (v_f32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
#elif D2KE_BYTES == 32
D2KE_INLINE v_f64 fused_f64(v_f64 a, v_f64 b, v_f64 c) { return (v_f64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
D2KE_INLINE v_f32 fused_f32(v_f32 a, v_f32 b, v_f32 c) { return (v_f32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#elif defined(__aarch64__)
D2KE_INLINE v_f64 fused_f64(v_f64 a, v_f64 b, v_f64 c) { return (v_f64)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b); }
D2KE_INLINE v_f32 fused_f32(v_f32 a, v_f32 b, v_f32 c) { return (v_f32)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
#else
D2KE_INLINE v_f64 fused_f64(v_f64 a, v_f64 b, v_f64 c) { return a * b + c; }
D2KE_INLINE v_f32 fused_f32(v_f32 a, v_f32 b, v_f32 c) { return a * b + c; }
#endif

/* Roots by multiplications, to be mixed with the instruction's: of 512 bits it takes 12 (float32)
 * to 18 (float64) cycles, in which the multipliers would wait.  From an estimate of 1 / sqrt(a),
 * steps bring g to sqrt(a) and h to 1 / (2 sqrt(a)) together; the last correction, by the
 * remainder a - g g, rounds as the instruction does (Markstein 1990).  a must be 0 or at least 2^-102
 * (float32), 2^-970 (float64): the remainder of less loses digits.  Where squares_are_safe, smaller
 * sums of squares are whole multiples of 2^-122 or 2^-1004; all those of float32 were tried, and
 * round as they should.  With 256 bits this gained nothing (Zen 3), so there it is the instruction. */
#if D2KE_BYTES == 64
#define ROOT_STEP(fused, negative)                                                                \
    do {                                                                                          \
        error = negative(g, h, half);                                                             \
        g = fused(g, error, g);                                                                   \
        h = fused(h, error, h);                                                                   \
    } while (0)

D2KE_INLINE v_f64 newton_sqrt_f64(v_f64 a)
{
    const __m512d square = (__m512d)a, half = _mm512_set1_pd(0.5);
    __m512d h = _mm512_maskz_rsqrt14_pd(_mm512_test_epi64_mask((__m512i)a, (__m512i)a), square);
    __m512d g = square * h, error;
    h *= half;
    ROOT_STEP(_mm512_fmadd_pd, _mm512_fnmadd_pd);
    ROOT_STEP(_mm512_fmadd_pd, _mm512_fnmadd_pd);
    return (v_f64)_mm512_fmadd_pd(_mm512_fnmadd_pd(g, g, square), h, g);
}

D2KE_INLINE v_f32 newton_sqrt_f32(v_f32 a)
{
    const __m512 square = (__m512)a, half = _mm512_set1_ps(0.5f);
    __m512 h = _mm512_maskz_rsqrt14_ps(_mm512_test_epi32_mask((__m512i)a, (__m512i)a), square);
    __m512 g = square * h, error;
    h *= half;
    ROOT_STEP(_mm512_fmadd_ps, _mm512_fnmadd_ps);
    return (v_f32)_mm512_fmadd_ps(_mm512_fnmadd_ps(g, g, square), h, g);
}
#undef ROOT_STEP
#else
D2KE_INLINE v_f64 newton_sqrt_f64(v_f64 a) { return sqrt_f64(a); }
D2KE_INLINE v_f32 newton_sqrt_f32(v_f32 a) { return sqrt_f32(a); }
#endif

/* A root within ROUGH_ROOT of it, relative; of numbers below 2^-100, within 2^-50. */
#define ROUGH_ROOT 0x1p-11f
D2KE_INLINE v_f64 rough_sqrt_f64(v_f64 a) { return sqrt_f64(a); }
D2KE_INLINE v_f32 rough_sqrt_f32(v_f32 a)
{
#if D2KE_BYTES == 64
    return a * (v_f32)_mm512_rsqrt14_ps((__m512)(a + 0x1p-100f));
#elif D2KE_BYTES == 32
    return a * (v_f32)_mm256_rsqrt_ps((__m256)(a + 0x1p-100f));
#elif defined(__SSE2__)
    return a * (v_f32)_mm_rsqrt_ps((__m128)(a + 0x1p-100f));
#else
    return sqrt_f32(a);
#endif
}

/* In which lanes a and b are equal, as bits. */
D2KE_INLINE unsigned equal_bits_f64(v_f64 a, v_f64 b)
{
#if D2KE_BYTES == 64
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_EQ_OQ);
#elif D2KE_BYTES == 32
    return (unsigned)_mm256_movemask_pd((__m256d)(a == b));
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_pd((__m128d)(a == b));
#else
    unsigned bits = 0;
    for (int lane = 0; lane < LANES_f64; lane++) bits |= (unsigned)(a[lane] == b[lane]) << lane;
    return bits;
#endif
}

/* In which lanes a comparison's result is set, as bits. */
D2KE_INLINE unsigned bits_f32(v_i32 mask)
{
#if D2KE_BYTES == 64
    return _mm512_movepi32_mask((__m512i)mask);
#elif D2KE_BYTES == 32
    return (unsigned)_mm256_movemask_ps((__m256)mask);
#elif defined(__SSE2__)
    return (unsigned)_mm_movemask_ps((__m128)mask);
#else
    unsigned bits = 0;
    for (int lane = 0; lane < LANES_f32; lane++) bits |= (unsigned)(mask[lane] & 1) << lane;
    return bits;
#endif
}

/* Whether any lane of a comparison's result is set. */
D2KE_INLINE int any_f32(v_i32 mask) { return bits_f32(mask) != 0; }
