/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over pairs of weighted points, and sums of features over points.
 *
 * Every point carries `channels` numbers: one weight, or the coordinates of what an oriented
 * sample carries.  A pair counts as K(p, q) <u, v>.
 */
#define PAIR_TILE 256 /* columns whose kernel values are held at a time: 2 kB */
#define PAIR_GROUP (4 * LANES_f64)

/* s + e = a + b exactly (Knuth). */
D2KE_INLINE void add_exactly(double term, double *high, double *low)
{
    double sum = *high + term, kept = sum - *high;
    *low += (*high - (sum - kept)) + (term - kept);
    *high = sum;
}

/* values[q] = K(point `row` of x, point first + q of y); writes whole groups. */
D2KE_INLINE void pair_values(const d2ke_cloud *x, int64_t row, const d2ke_cloud *y, int64_t first,
                             int64_t count, int64_t dim, int laplace, double rate, double *values)
{
    for (int64_t q = 0; q < count; q += PAIR_GROUP) {
        v_f64 squares[4] = {{0}, {0}, {0}, {0}};
        const double *from = y->points + first + q;
        for (int64_t k = 0; k < dim; k++, from += y->stride) {
            v_f64 p = set_f64(x->points[k * x->stride + row]), other;
            D2KE_UNROLL for (int i = 0; i < 4; i++) {
                memcpy(&other, from + i * LANES_f64, sizeof other);
                other = p - other;
                squares[i] += other * other;
            }
        }
        D2KE_UNROLL for (int i = 0; i < 4; i++) {
            if (laplace) squares[i] = sqrt_f64(squares[i]);
            squares[i] = exp_f64(-rate * squares[i]);
            memcpy(values + q + i * LANES_f64, &squares[i], sizeof squares[i]);
        }
    }
}

/* Sum of values[q] * weights[q] over whole groups. */
D2KE_INLINE double pair_dot(const double *values, const double *weights, int64_t count)
{
    v_f64 sums[4] = {{0}, {0}, {0}, {0}}, value, weight;
    double total = 0;
    for (int64_t q = 0; q < count; q += PAIR_GROUP)
        D2KE_UNROLL for (int i = 0; i < 4; i++) {
            memcpy(&value, values + q + i * LANES_f64, sizeof value);
            memcpy(&weight, weights + q + i * LANES_f64, sizeof weight);
            sums[i] += value * weight;
        }
    sums[0] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (int i = 0; i < LANES_f64; i++) total += sums[0][i];
    return total;
}

/* Rows [begin, end) of x against columns [first, last) of y: total[0] + total[1] gains the sum
 * over the pairs.  With `potentials` (one row of `channels` each, row `begin` first) those gain
 * sum_q K(p, q) v_q instead. */
static void pair_sums(const d2ke_cloud *x, int64_t begin, int64_t end, const d2ke_cloud *y,
                      int64_t first, int64_t last, int laplace, double rate, double *total,
                      double *potentials)
{
    double values[PAIR_TILE + PAIR_GROUP];
    for (int64_t column = first; column < last; column += PAIR_TILE) {
        int64_t count = last - column < PAIR_TILE ? last - column : PAIR_TILE;
        for (int64_t row = begin; row < end; row++) {
            if (x->dim == 2)
                pair_values(x, row, y, column, count, 2, laplace, rate, values);
            else if (x->dim == 3)
                pair_values(x, row, y, column, count, 3, laplace, rate, values);
            else
                pair_values(x, row, y, column, count, x->dim, laplace, rate, values);
            /* What follows the last column belongs to other sums. */
            for (int64_t q = count; q % PAIR_GROUP; q++) values[q] = 0;
            double sum = 0;
            for (int64_t c = 0; c < y->channels; c++) {
                double potential = pair_dot(values, y->vectors + c * y->stride + column, count);
                if (potentials)
                    potentials[(row - begin) * y->channels + c] += potential;
                else
                    sum += x->vectors[c * x->stride + row] * potential;
            }
            if (!potentials) add_exactly(sum, &total[0], &total[1]);
        }
    }
}

/* field[q] gains factor * K(p, q) <u, v> for the columns q of [first, last), of point `row` of the
 * same cloud; whole groups are written, so that `field` is as long as the padded cloud. */
static void pair_row(const d2ke_cloud *x, int64_t row, int64_t first, int64_t last, int laplace,
                     double rate, double factor, double *field)
{
    double values[PAIR_TILE + PAIR_GROUP];
    for (int64_t column = first; column < last; column += PAIR_TILE) {
        int64_t count = last - column < PAIR_TILE ? last - column : PAIR_TILE;
        if (x->dim == 2)
            pair_values(x, row, x, column, count, 2, laplace, rate, values);
        else
            pair_values(x, row, x, column, count, x->dim, laplace, rate, values);
        for (int64_t q = 0; q < count; q += LANES_f64) {
            v_f64 product = {0}, value, other;
            for (int64_t c = 0; c < x->channels; c++) {
                memcpy(&other, x->vectors + c * x->stride + column + q, sizeof other);
                product += (factor * x->vectors[c * x->stride + row]) * other;
            }
            memcpy(&value, values + q, sizeof value);
            memcpy(&other, field + column + q, sizeof other);
            other += value * product;
            memcpy(field + column + q, &other, sizeof other);
        }
    }
}

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
 * for the `terms` monomials a of degrees k < degree; without the root high powers overflow.  Those of one degree follow one another, and among them
 * x_i times the monomials of the degree before that begin with x_i or a later coordinate.
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
