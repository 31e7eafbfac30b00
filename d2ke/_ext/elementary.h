/* SPDX-License-Identifier: BSD-3-Clause */
/* Elementary functions whose bits are the same on every system: of + - * and roots in a fixed order,
 * where those of a libm differ from one system to the next.  Only sums of powers of `exp_parts` are
 * fused.  Errors are in units in the last place of the result, and measured by
 * tests/_ext/test_elementary.py; polynomials interpolate at the nodes of Chebyshev.
 */

/* e^x = 2^n (1 + p), by x = n ln 2 + r with |r| <= ln(2)/2, and p = r + r^2 q(r), q within 2^-56.
 * `exponent` gets the bits of a float64 whose exponent field is n + offset. */
D2KE_INLINE v_f64 exp_parts(v_f64 x, const int offset, v_i64 *exponent)
{
    static const double q[] = {
        0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d63p-5,  0x1.11111111109b3p-7,
        0x1.6c16c1788bd90p-10, 0x1.a01a01a7c41d5p-13, 0x1.a019b90d2ae7ap-16, 0x1.71de0dae63bb3p-19,
        0x1.289185613a3d6p-22, 0x1.af38a9b0ec855p-26};
    const double magic = 0x1.8p52 + offset; /* adding it rounds to an integer, kept in the low bits */
    v_f64 shifted = x * 0x1.71547652b82fep0 + magic;
    v_f64 n = shifted - magic;
    v_f64 r = x - n * 0x1.62e42fefa3800p-1; /* the product is exact */
    r = r - n * 0x1.ef35793c76730p-45;
    v_f64 sum = set_f64(q[9]);
    D2KE_UNROLL for (int k = 8; k >= 0; k--) sum = fused_f64(sum, r, set_f64(q[k]));
    *exponent = (v_i64)shifted << 52;
    return (sum * r + 1.0) * r;
}

/* e^x for x <= 300, within 1.5 units.  The result is first 2^500 times as large, so that one below the
 * normal range is rounded once. */
D2KE_INLINE v_f64 exp_f64(v_f64 x)
{
    v_i64 exponent;
    v_f64 p = exp_parts(max_f64(set_f64(-1000.0), x), 500, &exponent);
    return (v_f64)((v_i64)(1.0 + p) + exponent) * 0x1p-500;
}

/* e^x - 1 for x <= 700, within 3.5 units. */
D2KE_INLINE v_f64 expm1_f64(v_f64 x)
{
    v_i64 exponent;
    v_f64 p = exp_parts(max_f64(set_f64(-700.0), x), 1023, &exponent);
    return (v_f64)exponent * p + ((v_f64)exponent - 1.0);
}

/* The sine of x degrees, |x| <= 90, within 3 units. */
D2KE_INLINE v_f64 sine_of_degrees_f64(v_f64 x)
{
    static const double q[] = {
        -0x1.5555555555555p-3,  0x1.1111111111107p-7,  -0x1.a01a01a018aa6p-13, 0x1.71de3a54562a8p-19,
        -0x1.ae6455a1a9e7ep-26, 0x1.6124014cbe2fcp-33, -0x1.ae513415aadccp-41, 0x1.89a3f16388edcp-49};
    v_f64 h = x * 0x1.1df46a2529d39p-6; /* pi / 180 */
    v_f64 square = h * h, fourth = square * square, even = set_f64(q[6]), odd = set_f64(q[7]);
    D2KE_UNROLL for (int k = 4; k >= 0; k -= 2) { /* two chains of half the length */
        even = even * fourth + q[k];
        odd = odd * fourth + q[k + 1];
    }
    return h + h * (square * (even + square * odd));
}

/* The arcsine of x, 0 <= x <= 1, within 2.5 units: above 1/2 it is pi/2 - 2 arcsin(sqrt((1 - x) / 2)). */
D2KE_INLINE v_f64 arcsine_f64(v_f64 x)
{
    static const double q[] = {
        0x1.5555555555556p-3,  0x1.3333333332ecap-4, 0x1.6db6db6e31f13p-5, 0x1.f1c71c1db0623p-6,
        0x1.6e8bb1c8209a2p-6,  0x1.1c4d35cf95421p-6, 0x1.c9cf07674736ap-7, 0x1.782651caa6547p-7,
        0x1.52420b04b37bep-7,  0x1.65a9c4dfcf8b1p-8, 0x1.1d189408314efp-6, -0x1.e6aaa8a0a04cfp-7,
        0x1.d72b2bc8155f9p-6};
    v_i64 wide = x > 0.5;
    v_f64 square = select_f64(wide, 0.5 - 0.5 * x, x * x);
    v_f64 root = select_f64(wide, newton_sqrt_f64(square), x);
    v_f64 fourth = square * square, even = set_f64(q[12]), odd = set_f64(q[11]);
    D2KE_UNROLL for (int k = 10; k >= 2; k -= 2) {
        even = even * fourth + q[k];
        odd = odd * fourth + q[k - 1];
    }
    even = even * fourth + q[0];
    v_f64 rest = root * (square * (even + square * odd));
    v_f64 complement = (0x1.921fb54442d18p+0 - 2.0 * root) - (2.0 * rest - 0x1.1a62633145c07p-54);
    return select_f64(wide, complement, root + rest);
}
