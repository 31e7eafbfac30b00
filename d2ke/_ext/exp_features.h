/* SPDX-License-Identifier: BSD-3-Clause */
/* values[i] = scale * exp(-gamma * values[i]) for values >= 0, within 2 units in the last place.
 *
 * x = n ln 2 + r with |r| <= ln(2)/2; exp(r) by its Taylor polynomial of degree
 * 13 (remainder below 2^-57); 2^n by its exponent bits, in two factors so that
 * results below the normal range come out rounded instead of as 0.
 */
D2KE_INLINE v_f64 exp_f64(v_f64 x)
{
    static const double factor[] = {
        1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320,
        1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};
    const double magic = 0x1.8p52; /* adding it rounds to an integer, kept in the low bits */
    v_f64 scaled = -min_f64(x * -0x1.71547652b82fep0, set_f64(1080.0));
    v_f64 shifted = scaled + magic;
    v_f64 n = shifted - magic;
    v_i64 whole = (v_i64)shifted - (v_i64)set_f64(magic);
    v_f64 r = x - n * 0x1.62e42fefa3800p-1;
    r = r - n * 0x1.ef35793c76730p-45;
    v_f64 sum = set_f64(factor[13]);
    D2KE_UNROLL for (int k = 12; k >= 0; k--) sum = sum * r + factor[k];
    v_i64 half = whole >> 1;
    v_i64 rest = whole - half;
    v_f64 low = (v_f64)((half + 1023) << 52), high = (v_f64)((rest + 1023) << 52);
    v_f64 result = sum * low * high;
    /* Far outside, r is not small any more and the polynomial means nothing. */
    v_i64 vanishes = x < -747.0;
    return (v_f64)((v_i64)result & ~vanishes);
}

static void exp_features(double *values, int64_t n, double gamma, double scale)
{
    int64_t i = 0;
    v_f64 v;
    for (; i + LANES_f64 <= n; i += LANES_f64) {
        memcpy(&v, values + i, sizeof v);
        v = scale * exp_f64(-gamma * v);
        memcpy(values + i, &v, sizeof v);
    }
    if (i < n) {
        v = set_f64(0);
        memcpy(&v, values + i, sizeof(double) * (size_t)(n - i));
        v = scale * exp_f64(-gamma * v);
        memcpy(values + i, &v, sizeof(double) * (size_t)(n - i));
    }
}
