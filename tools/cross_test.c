/* SPDX-License-Identifier: BSD-3-Clause */
/* The baseline kernels of DTW and Levenshtein against their definitions; see cross_test.py. */
#include "kernel.h"
#include "options.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 21, LONGEST = 90, MOST_DIM = 7 };

static uint64_t state = UINT64_C(88172645463325252);
static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static int never(void *unused, int thread) { return 0 * (unused != NULL) * thread; }

static double dtw(const double *x, int64_t n, const double *y, int64_t m, int64_t dim)
{
    double table[LONGEST + 1][LONGEST + 1];
    for (int64_t i = 0; i <= n; i++)
        for (int64_t j = 0; j <= m; j++) {
            double sum = 0;
            table[i][j] = i || j ? INFINITY : 0;
            if (!i || !j) continue;
            for (int64_t k = 0; k < dim; k++)
                sum += pow(x[(i - 1) * dim + k] - y[(j - 1) * dim + k], 2);
            table[i][j] = sqrt(sum) + fmin(table[i - 1][j - 1], fmin(table[i - 1][j], table[i][j - 1]));
        }
    return table[n][m];
}

static double levenshtein(const uint32_t *x, int64_t n, const uint32_t *y, int64_t m)
{
    int64_t table[LONGEST + 1][LONGEST + 1];
    for (int64_t i = 0; i <= n; i++)
        for (int64_t j = 0; j <= m; j++) {
            table[i][j] = i + j;
            if (!i || !j) continue;
            int64_t best = table[i - 1][j - 1] + (x[i - 1] != y[j - 1]);
            if (table[i - 1][j] + 1 < best) best = table[i - 1][j] + 1;
            if (table[i][j - 1] + 1 < best) best = table[i][j - 1] + 1;
            table[i][j] = best;
        }
    return (double)table[n][m];
}

/* kind 0: float64, 1: float32, 2: strings of `dim` letters. */
static double batch(int kind, int64_t dim)
{
    static double real[2][ITEMS * LONGEST * MOST_DIM];
    static float single[2][ITEMS * LONGEST * MOST_DIM];
    static uint32_t letter[2][ITEMS * LONGEST];
    int64_t offsets[2][ITEMS + 1] = {{0}}, order[ITEMS], blocks[ITEMS + 1], longest[2] = {0};
    int64_t width = kind == 2 ? 1 : dim, lanes = kind == 2 ? 5 : 16 / (kind ? 4 : 8), n_blocks = 0;
    const d2ke_table *table = &d2ke_table_baseline;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < ITEMS; i++) {
            int64_t length = 1 + (int64_t)draw(LONGEST);
            offsets[side][i + 1] = offsets[side][i] + length;
            longest[side] = length > longest[side] ? length : longest[side];
        }
    for (int side = 0; side < 2; side++)
        for (int64_t i = 0; i < offsets[side][ITEMS] * width; i++) {
            if (kind == 2) letter[side][i] = (uint32_t)draw((uint64_t)dim);
            else real[side][i] = single[side][i] = (float)draw(2001) / 1000 - 1;
        }
    for (int i = 0; i < ITEMS; i++) order[i] = i;
    for (int64_t b = 0; b < ITEMS; b += lanes) blocks[n_blocks++] = b;
    blocks[n_blocks] = ITEMS;
    const void *values[3][2] = {{real[0], real[1]}, {single[0], single[1]}, {letter[0], letter[1]}};
    const dtw_options series = {DTW_PLAIN, DTW_NO_WINDOW};
    const levenshtein_options strings = {dim};
    const d2ke_problem problem = {{values[kind][0], offsets[0], ITEMS, width, longest[0]},
                                  {values[kind][1], offsets[1], ITEMS, width, longest[1]},
                                  order, blocks, n_blocks,
                                  kind == 2 ? (const void *)&strings : (const void *)&series};
    d2ke_scratch size = kind == 2 ? table->levenshtein_scratch : table->dtw_scratch[kind];
    d2ke_kernel kernel = kind == 2 ? table->levenshtein : table->dtw[kind];
    const d2ke_poll poll = {never, NULL, 0};
    void *scratch = aligned_alloc(64, (size(&problem) + 127) / 64 * 64);
    double result[ITEMS], worst = 0;
    memset(scratch, 0xff, 64);
    for (int64_t b = 0; b < n_blocks; b++)
        for (int64_t i = 0; i < ITEMS; i++) {
            kernel(&problem, i, b, scratch, result, &poll);
            for (int64_t j = blocks[b]; j < blocks[b + 1]; j++) {
                int64_t p = offsets[0][i], q = offsets[1][j];
                int64_t n = offsets[0][i + 1] - p, m = offsets[1][j + 1] - q;
                double right = kind == 2 ? levenshtein(letter[0] + p, n, letter[1] + q, m)
                                         : dtw(real[0] + p * dim, n, real[1] + q * dim, m, dim);
                double error = fabs(result[j - blocks[b]] - right) / (right > 1 ? right : 1);
                if (!(error <= worst)) worst = error;
            }
        }
    free(scratch);
    return worst;
}

int main(void)
{
    const char *names[] = {"DTW, float64", "DTW, float32", "Levenshtein"};
    const double bounds[] = {1e-13, 1e-4, 0};
    int failed = 0;
    for (int kind = 0; kind < 3; kind++) {
        double worst = 0;
        for (int64_t dim = 1; dim <= MOST_DIM; dim++) worst = fmax(worst, batch(kind, dim));
        printf("%-13s %d pairs, largest error %.2g\n", names[kind], MOST_DIM * ITEMS * ITEMS, worst);
        failed |= !(worst <= bounds[kind]);
    }
    return failed;
}
