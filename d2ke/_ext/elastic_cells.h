/* SPDX-License-Identifier: BSD-3-Clause */
/* The elastic distances: what each makes of a cell of its table, lanes side by side.
 *
 * A distance is a row of ELASTIC_DISTANCES (options.h) and the function NAME_cell; d2ke/distances/
 * elastic_rows.py lists the parameters, in the order of `parameters`, and the channels beside those
 * of the series (`extra`).  A border other than that of a path from (0, 0) is in elastic_border.
 */

/* A cell (i, j), constants apart: D[i-1][j-1], D[i-1][j] and D[i][j-1] are corner, above, before. */
typedef struct {
    const double *parameters;
    const real *x; /* x_i; x_{i-1}, or zeros, is `stride` before */
    const vec *y;  /* y_j, alike */
    int64_t stride, dim;
    vec ground, ground_before; /* of x_i and y_j, of x_{i-1} and y_{j-1} */
    vec corner, above, before;
    int64_t away; /* i - j, without its sign */
    const vec *weights;
} elastic_cell;

D2KE_INLINE vec least(elastic_cell at)
{
    return REAL_(min)(REAL_(min)(at.above, at.before), at.corner);
}

/* How far a value is outside of two others, from its differences to them. */
D2KE_INLINE vec outside(vec a, vec b)
{
    return REAL_(max)(REAL_(max)(REAL_(min)(a, b), REAL_(min)(-a, -b)), (vec){0});
}

/* Move-split-merge of one channel; parameters: c. */
D2KE_INLINE vec msm_cell(elastic_cell at)
{
    const vec c = REAL_(set)((real)at.parameters[0]), x = REAL_(set)(at.x[0]), y = at.y[0];
    const vec move = x - y;
    vec merge = c + outside(move, x - REAL_(set)(at.x[-at.stride]));
    vec split = c + outside(-move, y - at.y[-at.stride]);
    vec best = REAL_(min)(at.above + merge, at.before + split);
    return REAL_(min)(best, at.corner + REAL_(abs)(move));
}

/* Move-split-merge of whole vectors, by squared distances: a value is inside of two others in
 * the ball between them; parameters: c; the last channel: the square of the distance to the
 * vector before. */
D2KE_INLINE vec msm_dependent_cell(elastic_cell at)
{
    const vec c = REAL_(set)((real)at.parameters[0]);
    const vec x_step = REAL_(set)(at.x[at.dim]), y_step = at.y[at.dim];
    vec move = {0}, x_before = {0}, y_before = {0}, x_middle = {0}, y_middle = {0};
    for (int64_t k = 0; k < at.dim; k++) {
        vec x = REAL_(set)(at.x[k]), x_last = REAL_(set)(at.x[k - at.stride]);
        vec y = at.y[k], y_last = at.y[k - at.stride];
        vec x_off = (x_last + y) * (real)0.5 - x, y_off = (x + y_last) * (real)0.5 - y;
        vec across = x - y, x_back = x_last - y, y_back = x - y_last;
        move = REAL_(fused)(across, across, move);
        x_before = REAL_(fused)(x_back, x_back, x_before);
        y_before = REAL_(fused)(y_back, y_back, y_before);
        x_middle = REAL_(fused)(x_off, x_off, x_middle);
        y_middle = REAL_(fused)(y_off, y_off, y_middle);
    }
    vec merge = c + REAL_(select)(x_middle <= x_before * (real)0.25, (vec){0}, REAL_(min)(x_step, move));
    vec split = c + REAL_(select)(y_middle <= y_before * (real)0.25, (vec){0}, REAL_(min)(y_step, move));
    vec best = REAL_(min)(at.above + merge, at.before + split);
    return REAL_(min)(best, at.corner + move);
}

/* Edit distance with real penalty; the last channel: the distance to the gap's value. */
D2KE_INLINE vec erp_cell(elastic_cell at)
{
    vec best = REAL_(min)(at.above + REAL_(set)(at.x[at.dim]), at.before + at.y[at.dim]);
    return REAL_(min)(best, at.corner + at.ground);
}

/* Time warp edit distance; parameters: nu, nu + lmbda; the last channel: the distance to the
 * vector before. */
D2KE_INLINE vec twe_cell(elastic_cell at)
{
    const vec constant = REAL_(set)((real)at.parameters[1]);
    vec best = REAL_(min)(at.above + REAL_(set)(at.x[at.dim]) + constant,
                       at.before + at.y[at.dim] + constant);
    vec stiffness = REAL_(set)((real)at.parameters[0] * (real)(2 * at.away));
    return REAL_(min)(best, at.corner + at.ground + at.ground_before + stiffness);
}

/* Edit distance on real sequences; parameters: epsilon. */
D2KE_INLINE vec edr_cell(elastic_cell at)
{
    const vec one = REAL_(set)(1);
    vec differ = REAL_(select)(at.ground <= REAL_(set)((real)at.parameters[0]), (vec){0}, one);
    return REAL_(min)(at.corner + differ, REAL_(min)(at.above, at.before) + one);
}

/* Minus the length of the longest common subsequence; parameters: epsilon.  Without a match the
 * corner is no better than above or before, unless the band cuts off both. */
D2KE_INLINE vec lcss_cell(elastic_cell at)
{
    return REAL_(select)(at.ground <= REAL_(set)((real)at.parameters[0]), at.corner - 1, least(at));
}

/* Amerced dynamic time warping; parameters: penalty. */
D2KE_INLINE vec adtw_cell(elastic_cell at)
{
    vec warped = REAL_(min)(at.above, at.before) + REAL_(set)((real)at.parameters[0]);
    return at.ground + REAL_(min)(warped, at.corner);
}

/* Weighted dynamic time warping; parameters: see elastic_weights.  An infinite cost stays so by
 * a weight that is 0. */
D2KE_INLINE vec wdtw_cell(elastic_cell at)
{
    return REAL_(min)(at.ground * at.weights[at.away], REAL_(set)(LANES_INFINITY)) + least(at);
}

/* Discrete Frechet distance. */
D2KE_INLINE vec frechet_cell(elastic_cell at)
{
    return REAL_(max)(at.ground, least(at));
}

/* Dynamic time warping, as dtw.h has it, for the way back through tables of many series. */
D2KE_INLINE vec dtw_euclidean_cell(elastic_cell at)
{
    return at.ground + least(at);
}

/* Dynamic time warping by sums of differences. */
D2KE_INLINE vec dtw_manhattan_cell(elastic_cell at)
{
    vec cost = {0};
    for (int64_t k = 0; k < at.dim; k++) cost += REAL_(abs)(REAL_(set)(at.x[k]) - at.y[k]);
    return cost + least(at);
}

#ifdef ELASTIC_WAYS /* float64 */
/* Distances on a sphere of vectors (latitude, longitude, cosine of the latitude), in degrees; full
 * turns are taken off, which rounds nothing. */
static __attribute__((noinline)) void haversine(double radius, const real *x, const vec *y,
                                                vec *distance)
{
    const double magic = 0x1.8p52; /* adding it rounds to an integer */
    vec across = x[0] - y[0], along = x[1] - y[1];
    along -= 360.0 * ((along * (1.0 / 360) + magic) - magic);
    vec a = sine_of_degrees_f64(across * 0.5), b = sine_of_degrees_f64(along * 0.5);
    vec square = a * a + x[2] * y[2] * (b * b);
    *distance = 2 * radius * arcsine_f64(sqrt_f64(min_f64(square, set_f64(1))));
}

/* Dynamic time warping by distances on a sphere; parameters: its radius. */
D2KE_INLINE vec dtw_haversine_cell(elastic_cell at)
{
    vec cost;
    haversine(at.parameters[0], at.x, at.y, &cost);
    return cost + least(at);
}
#endif
