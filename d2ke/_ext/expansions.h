/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over points of what they carry times features: Fourier's and Taylor's. */
/* Sine and cosine for |x| <= 2^20, within about 1e-16 absolutely.
 *
 * x = n pi/2 + r with |r| <= pi/4: pi/2 in three parts of 33 bits, of which the first two times n
 * are exact; Taylor polynomials (remainders below 1e-17); n's last bits tell the quadrant. */
D2KE_INLINE void sine_cosine(v_f64 x, v_f64 *sine, v_f64 *cosine)
{
    static const double odd[] = {1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880,
                                 -1.0 / 39916800, 1.0 / 6227020800.0, -1.0 / 1307674368000.0,
                                 1.0 / 355687428096000.0};
    static const double even[] = {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320,
                                  -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200.0,
                                  1.0 / 20922789888000.0};
    const double magic = 0x1.8p52;
    v_f64 shifted = x * 0x1.45f306dc9c883p-1 + magic;
    v_f64 n = shifted - magic;
    v_i64 quadrant = (v_i64)shifted;
    v_f64 r = x - n * 0x1.921fb544p+0;
    r = r - n * 0x1.0b4611a6p-34;
    r = r - n * 0x1.3198a2ep-69;
    v_f64 square = r * r, s = set_f64(odd[8]), c = set_f64(even[8]);
    D2KE_UNROLL for (int k = 7; k >= 0; k--) {
        s = s * square + odd[k];
        c = c * square + even[k];
    }
    s *= r;
    v_i64 swap = -(quadrant & 1);
    v_i64 sine_sign = (quadrant & 2) << 62, cosine_sign = ((quadrant + 1) & 2) << 62;
    *sine = (v_f64)((v_i64)select_f64(swap, c, s) ^ sine_sign);
    *cosine = (v_f64)((v_i64)select_f64(swap, s, c) ^ cosine_sign);
}

/* sums[c][0][j] + i sums[c][1][j] gains sum_p vectors[p][c] exp(i <omega_j, p>) over the points
 * [begin, end), which lie row by row, for D2KE_FREQUENCIES frequencies; omega is (dim, stride),
 * frequency j at omega[j].  `far`: arguments may exceed 2^20. */
static void fourier_sums(const double *points, const double *vectors, int64_t begin, int64_t end,
                         int64_t dim, int64_t channels, const double *omega, int64_t stride,
                         int far, double *sums)
{
    for (int64_t j = 0; j < D2KE_FREQUENCIES; j += LANES_f64) {
        v_f64 real = {0}, imaginary = {0};
        for (int64_t p = begin; p < end; p++) {
            v_f64 argument = {0}, frequency, sine = {0}, cosine = {0};
            for (int64_t k = 0; k < dim; k++) {
                memcpy(&frequency, omega + k * stride + j, sizeof frequency);
                argument += points[p * dim + k] * frequency;
            }
            if (far)
                for (int i = 0; i < LANES_f64; i++) {
                    sine[i] = sin(argument[i]);
                    cosine[i] = cos(argument[i]);
                }
            else
                sine_cosine(argument, &sine, &cosine);
            if (channels == 1) {
                real += vectors[p] * cosine;
                imaginary += vectors[p] * sine;
                continue;
            }
            for (int64_t c = 0; c < channels; c++) {
                double *sum = sums + c * 2 * D2KE_FREQUENCIES + j;
                v_f64 a, b;
                memcpy(&a, sum, sizeof a);
                memcpy(&b, sum + D2KE_FREQUENCIES, sizeof b);
                a += vectors[p * channels + c] * cosine;
                b += vectors[p * channels + c] * sine;
                memcpy(sum, &a, sizeof a);
                memcpy(sum + D2KE_FREQUENCIES, &b, sizeof b);
            }
        }
        if (channels == 1) {
            v_f64 a, b;
            memcpy(&a, sums + j, sizeof a);
            memcpy(&b, sums + D2KE_FREQUENCIES + j, sizeof b);
            a += real;
            b += imaginary;
            memcpy(sums + j, &a, sizeof a);
            memcpy(sums + D2KE_FREQUENCIES + j, &b, sizeof b);
        }
    }
}

/* sums[c][a] gains sum_p vectors[p][c] exp(-|p|^2) sqrt(2^k / k!) p^a over the points [begin, end),
 * for the `terms` monomials a of degrees k < degree; without the root high powers overflow.  Those
 * of one degree follow one another, and among them x_i times the monomials of the degree before
 * that begin with x_i or a later coordinate.
 *
 * A machine vector holds one monomial of several points.  `scratch`, aligned for such vectors,
 * holds dim coordinates, `terms` monomials and channels * terms sums as vectors, and dim
 * positions. */
static void taylor_sums(const double *points, const double *vectors, int64_t begin, int64_t end,
                        int64_t dim, int64_t channels, int64_t degree, int64_t terms,
                        double *scratch, double *sums)
{
    v_f64 *x = (v_f64 *)scratch, *monomial = x + dim, *kept = monomial + terms;
    int64_t *heads = (int64_t *)(kept + channels * terms);
    memset(kept, 0, (size_t)(channels * terms) * sizeof *kept);
    for (int64_t p = begin; p < end; p += LANES_f64) {
        int64_t lanes = end - p < LANES_f64 ? end - p : LANES_f64;
        v_f64 square = {0};
        for (int64_t k = 0; k < dim; k++) {
            x[k] = (v_f64){0};
            for (int64_t i = 0; i < lanes; i++) x[k][i] = points[(p + i) * dim + k];
            square += x[k] * x[k];
            heads[k] = 0;
        }
        int64_t filled = 1;
        monomial[0] = exp_f64(-square);
        for (int64_t order = 1; order < degree; order++) {
            int64_t tail = filled;
            double root = sqrt(2.0 / (double)order);
            for (int64_t k = 0; k < dim; k++) {
                int64_t head = heads[k];
                v_f64 factor = root * x[k];
                heads[k] = filled;
                for (int64_t a = head; a < tail; a++) monomial[filled++] = factor * monomial[a];
            }
        }
        for (int64_t c = 0; c < channels; c++) {
            v_f64 weight = {0}, *sum = kept + c * terms;
            for (int64_t i = 0; i < lanes; i++) weight[i] = vectors[(p + i) * channels + c];
            for (int64_t a = 0; a < terms; a++) sum[a] += weight * monomial[a];
        }
    }
    for (int64_t a = 0; a < channels * terms; a++)
        for (int i = 0; i < LANES_f64; i++) sums[a] += kept[a][i];
}
