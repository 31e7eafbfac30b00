/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over pairs of weighted points.
 *
 * Every point carries `channels` numbers: one weight, or the coordinates of what an oriented
 * sample carries.  A pair counts as K(p, q) <u, v>.
 */
#define PAIR_TILE 256 /* columns whose kernel values are held at a time: 2 kB */
#define PAIR_GROUP (4 * LANES_f64)
#define PAIR_SUMS 32  /* that are added up side by side, whatever the number of lanes */

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
                squares[i] = fused_f64(other, other, squares[i]);
            }
        }
        D2KE_UNROLL for (int i = 0; i < 4; i++) {
            if (laplace) squares[i] = sqrt_f64(squares[i]);
            squares[i] = exp_f64(-rate * squares[i]);
            memcpy(values + q + i * LANES_f64, &squares[i], sizeof squares[i]);
        }
    }
}

/* Sum of values[q] * weights[q] over groups of PAIR_SUMS, in an order that depends on `count` alone. */
D2KE_INLINE double pair_dot(const double *values, const double *weights, int64_t count)
{
    v_f64 sums[PAIR_SUMS / LANES_f64] = {{0}}, value, weight;
    double part[PAIR_SUMS];
    for (int64_t q = 0; q < count; q += PAIR_SUMS)
        D2KE_UNROLL for (int i = 0; i < PAIR_SUMS / LANES_f64; i++) {
            memcpy(&value, values + q + i * LANES_f64, sizeof value);
            memcpy(&weight, weights + q + i * LANES_f64, sizeof weight);
            sums[i] = fused_f64(value, weight, sums[i]);
        }
    memcpy(part, sums, sizeof part);
    for (int half = PAIR_SUMS / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) part[i] += part[i + half];
    return part[0];
}

/* Rows [begin, end) of x against columns [first, last) of y: total[0] + total[1] gains the sum
 * over the pairs.  With `potentials` (one row of `channels` each, row `begin` first) those gain
 * sum_q K(p, q) v_q instead. */
static void pair_sums(const d2ke_cloud *x, int64_t begin, int64_t end, const d2ke_cloud *y,
                      int64_t first, int64_t last, int laplace, double rate, double *total,
                      double *potentials)
{
    double values[PAIR_TILE + PAIR_SUMS];
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
            for (int64_t q = count; q % PAIR_SUMS; q++) values[q] = 0;
            double sum = 0;
            for (int64_t c = 0; c < y->channels; c++) {
                double potential = pair_dot(values, y->vectors + c * y->stride + column, count);
                if (potentials)
                    potentials[(row - begin) * y->channels + c] += potential;
                else
                    sum += x->vectors[c * x->stride + row] * potential;
            }
            if (!potentials) d2ke_add_exactly(sum, &total[0], &total[1]);
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
