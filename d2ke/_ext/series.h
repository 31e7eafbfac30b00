/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over points of products of sines and cosines of their coordinates.
 *
 * Row 0 of coordinate k's basis is 1, rows 2 a - 1 and 2 a are cos and sin of a steps[k] x_k for
 * a = 1 ... degrees[k].  The rows of the first `n_front` coordinates are multiplied with one
 * another, those of the others likewise and with the vectors, and the sums over points are all
 * products of the two: a product of two matrices, of SERIES_ROWS x SERIES_COLUMNS results at a
 * time. */
#define SERIES_ROWS 4
#define SERIES_COLUMNS 3
#define SERIES_VECTORS (D2KE_SERIES_POINTS / LANES_f64)

/* The rows of one coordinate, for points that lie row by row; those beyond `count` are at 0. */
D2KE_INLINE void series_basis(const double *x, int64_t stride, int64_t count, double step,
                              int64_t degree, v_f64 *rows)
{
    for (int64_t p = 0; p < SERIES_VECTORS; p++) {
        v_f64 argument = {0}, sine, cosine, s, c;
        for (int64_t i = 0; i < LANES_f64 && p * LANES_f64 + i < count; i++)
            argument[i] = step * x[(p * LANES_f64 + i) * stride];
        sine_cosine(argument, &sine, &cosine);
        rows[p] = set_f64(1.0);
        s = set_f64(0.0);
        c = set_f64(1.0);
        for (int64_t a = 1; a <= degree; a++) {
            v_f64 turned = c * cosine - s * sine;
            s = s * cosine + c * sine;
            c = turned;
            rows[(2 * a - 1) * SERIES_VECTORS + p] = c;
            rows[2 * a * SERIES_VECTORS + p] = s;
        }
    }
}

/* product = the product of one row of each of some coordinates, the last of which counts fastest. */
D2KE_INLINE void series_product(const v_f64 *const *bases, const int64_t *degrees, int64_t dim,
                                int64_t index, v_f64 *product)
{
    for (int64_t k = dim - 1; k >= 0; k--) {
        int64_t size = 2 * degrees[k] + 1;
        const v_f64 *row = bases[k] + index % size * SERIES_VECTORS;
        index /= size;
        for (int64_t p = 0; p < SERIES_VECTORS; p++) product[p] *= row[p];
    }
}

/* sums[f][c][g] gains the sum over the points [begin, end) of the products f of the front and g of
 * the back times vectors[p][c].  `scratch`, aligned for machine vectors, holds a pointer for each
 * coordinate (rounded up to SERIES_POINTS of them), all rows, SERIES_ROWS products of the front,
 * and those of the back, rounded up to SERIES_COLUMNS, as rows of SERIES_POINTS values. */
static void series_sums(const double *points, const double *vectors, int64_t begin, int64_t end,
                        int64_t dim, int64_t channels, int64_t n_front, const int64_t *degrees,
                        const double *steps, double *scratch, double *sums)
{
    const v_f64 **bases = (const v_f64 **)scratch;
    v_f64 *rows = (v_f64 *)(scratch + d2ke_round_up(dim, D2KE_SERIES_POINTS));
    int64_t n_rows = 1, n_columns = 1;
    for (int64_t k = 0; k < dim; k++) {
        bases[k] = rows;
        rows += (2 * degrees[k] + 1) * SERIES_VECTORS;
        *(k < n_front ? &n_rows : &n_columns) *= 2 * degrees[k] + 1;
    }
    v_f64 *front = rows, *back = front + SERIES_ROWS * SERIES_VECTORS;
    int64_t width = channels * n_columns;
    for (; begin < end; begin += D2KE_SERIES_POINTS) {
        int64_t count = end - begin < D2KE_SERIES_POINTS ? end - begin : D2KE_SERIES_POINTS;
        for (int64_t k = 0; k < dim; k++)
            series_basis(points + begin * dim + k, dim, count, steps[k], degrees[k],
                         (v_f64 *)bases[k]);
        for (int64_t j = 0; j < d2ke_round_up(width, SERIES_COLUMNS); j++) {
            v_f64 *product = back + j * SERIES_VECTORS;
            memset(product, 0, SERIES_VECTORS * sizeof *product);
            if (j >= width) continue;
            for (int64_t p = 0; p < count; p++)
                product[p / LANES_f64][p % LANES_f64] =
                    vectors[(begin + p) * channels + j / n_columns];
            series_product(bases + n_front, degrees + n_front, dim - n_front, j % n_columns,
                           product);
        }
        for (int64_t i = 0; i < n_rows; i += SERIES_ROWS) {
            for (int64_t r = 0; r < SERIES_ROWS; r++) {
                v_f64 *product = front + r * SERIES_VECTORS;
                for (int64_t p = 0; p < SERIES_VECTORS; p++)
                    product[p] = set_f64(i + r < n_rows ? 1.0 : 0.0);
                series_product(bases, degrees, n_front, (i + r) % n_rows, product);
            }
            for (int64_t j = 0; j < width; j += SERIES_COLUMNS) {
                const v_f64 *column = back + j * SERIES_VECTORS;
                v_f64 total[SERIES_ROWS][SERIES_COLUMNS] = {{{0}}};
                for (int64_t p = 0; p < SERIES_VECTORS; p++)
                    D2KE_UNROLL for (int r = 0; r < SERIES_ROWS; r++)
                        D2KE_UNROLL for (int c = 0; c < SERIES_COLUMNS; c++)
                            total[r][c] += front[r * SERIES_VECTORS + p] *
                                           column[c * SERIES_VECTORS + p];
                for (int r = 0; r < SERIES_ROWS && i + r < n_rows; r++)
                    for (int c = 0; c < SERIES_COLUMNS && j + c < width; c++) {
                        double *sum = sums + (i + r) * width + j + c;
                        for (int l = 0; l < LANES_f64; l++) *sum += total[r][c][l];
                    }
            }
        }
    }
}
