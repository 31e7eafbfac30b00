/* SPDX-License-Identifier: BSD-3-Clause */
/* values[i] = scale * exp(-gamma * values[i]) for values >= 0. */
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
