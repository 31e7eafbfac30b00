/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the first pair with transpositions, for the way back; after damerau.h of 32 bits.
 *
 * The state holds three rows: the last one, the one before, and what crossed letters cost.
 */
D2KE_INLINE void dam_some_rows(const d2ke_problem *problem, void *scratch, d2ke_rows *rows,
                               const d2ke_poll *poll, const int osa)
{
    DAM_(dam_scratch) *s = scratch;
    if (s->cache.block != 0)
        DAM_(dam_prepare)(problem, 0, s);
    int64_t columns = rows->columns, steps = 0;
    const uint32_t *text = problem->x.values;
    DAM_V *above = s->rows[0], *here = s->rows[1];
    DAM_SCORE *state = rows->state;
    s->longest = columns - 1;
    if (rows->first == 0)
        DAM_(dam_begin)(s, above, here);
    else
        for (int64_t j = 0; j < columns; j++) {
            above[j] = (DAM_V){0} + state[j];
            here[j] = (DAM_V){0} + state[columns + j];
            s->crossed[j] = (DAM_V){0} + state[2 * columns + j];
        }
    for (int64_t i = rows->first; i < rows->last; i++) {
        const DAM_V letter = (DAM_V){0} + (DAM_SCORE)text[i];
        const DAM_V last = (DAM_V){0} + (i > 0 ? (DAM_SCORE)text[i - 1] : -2);
        if (rows->ways)
            DAM_(dam_row)(s, above, here, i + 1, letter, last, osa,
                          rows->ways + (i - rows->first) * rows->row_bytes);
        else
            DAM_(dam_row)(s, above, here, i + 1, letter, last, osa, NULL);
        DAM_V *swapped = above;
        above = here;
        here = swapped;
        if (d2ke_pause(&steps, 10 * columns, poll))
            return;
    }
    for (int64_t j = 0; j < columns; j++) {
        state[j] = above[j][0];
        state[columns + j] = here[j][0];
        state[2 * columns + j] = s->crossed[j][0];
    }
    rows->value = (double)above[columns - 1][0];
    rows->best = rows->last;
}

static void damerau_rows(const d2ke_problem *problem, void *scratch, d2ke_rows *rows,
                         const d2ke_poll *poll)
{
    dam_some_rows(problem, scratch, rows, poll, 0);
}

static void osa_rows(const d2ke_problem *problem, void *scratch, d2ke_rows *rows,
                     const d2ke_poll *poll)
{
    dam_some_rows(problem, scratch, rows, poll, 1);
}
