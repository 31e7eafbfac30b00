/* SPDX-License-Identifier: BSD-3-Clause */
/* Edit distances of whole strings by bit-vectors, in the lanes, masks and guards of levenshtein.h:
 *
 * - Levenshtein's;
 * - optimal string alignment, which also transposes neighbouring letters (Hyyro 2003): a diagonal
 *   difference is 0 too where two letters are crossed and the one before it was not 0.  There the
 *   vertical difference is not +1, so that the carries stay those of Levenshtein's addition;
 * - insertions and deletions only (Crochemore et al. 2001; Hyyro 2004): vertical differences are
 *   +1 or -1, and one word of ones where they are +1 is enough.  A guard is 0 and takes the carry.
 */
enum { EDITS_LEVENSHTEIN, EDITS_OSA, EDITS_INDEL };

/* One word of every lane along n letters of text with transpositions; see lev_word. */
D2KE_INLINE void osa_word(const uint32_t *text, int64_t n, int first, const lev_table *table,
                          const lev_vectors keep, lev_vectors state[2], lev_vectors (*carry)[2],
                          lev_vectors last, lev_vectors *crossed, const int groups,
                          const int bits, const int guarded, const int from_below,
                          const int to_above)
{
    const uint32_t *rows = table->rows;
    const char *masks = (const char *)table->masks;
    const v_u64 *before = (const v_u64 *)(masks + (first ? 0 : rows[text[-1]]));
    lev_vectors plus, minus, diagonal;
    D2KE_UNROLL for (int g = 0; g < groups; g++) {
        lev_begin(first, keep[g], state, g, &plus[g], &minus[g]);
        diagonal[g] = first ? (v_u64){0} : last[g];
    }
    for (int64_t i = 0; i < n; i++) {
        const v_u64 *row = (const v_u64 *)(masks + rows[text[i]]);
        D2KE_UNROLL for (int g = 0; g < groups; g++) {
            v_u64 match = row[g], cross = match & ~diagonal[g];
            v_u64 turned = lev_add(cross, cross, bits);
            v_u64 sum = lev_add(match & plus[g], plus[g], bits);
            if (from_below) {
                sum += carry[i][1][g];
                turned |= crossed[i][g];
            }
            lev_column c = lev_across(match | (turned & before[g]), plus[g], minus[g], sum);
            diagonal[g] = c.equal | (sum ^ plus[g]);
            v_u64 flat = lev_add(c.leaving, c.leaving, bits);
            if (guarded)
                flat = lev_enter(flat, from_below ? carry[i][0][g] : flat, keep[g]);
            if (to_above) {
                carry[i][0][g] = c.leaving >> 63;
                carry[i][1][g] = (diagonal[g] & plus[g]) >> 63;
                crossed[i][g] = cross >> 63;
            }
            lev_step(c, flat, &plus[g], &minus[g]);
        }
        before = row;
    }
    D2KE_UNROLL for (int g = 0; g < groups; g++) {
        state[0][g] = plus[g];
        state[1][g] = minus[g];
        last[g] = diagonal[g];
    }
}

/* The same with insertions and deletions only. */
D2KE_INLINE void indel_word(const uint32_t *text, int64_t n, int first, const lev_table *table,
                            const lev_vectors keep, lev_vectors state[2], lev_vectors (*carry)[2],
                            const int groups, const int bits, const int guarded,
                            const int from_below, const int to_above)
{
    const uint32_t *rows = table->rows;
    const char *masks = (const char *)table->masks;
    lev_vectors plus;
    D2KE_UNROLL for (int g = 0; g < groups; g++)
        plus[g] = first ? keep[g] : state[0][g];
    for (int64_t i = 0; i < n; i++) {
        const v_u64 *row = (const v_u64 *)(masks + rows[text[i]]);
        D2KE_UNROLL for (int g = 0; g < groups; g++) {
            v_u64 some = row[g] & plus[g], sum = lev_add(plus[g], some, bits);
            if (from_below)
                sum += carry[i][1][g];
            if (to_above)
                carry[i][1][g] = (some | (plus[g] & ~sum)) >> 63;
            plus[g] = sum | (plus[g] & ~some);
            if (guarded)
                plus[g] &= keep[g];
        }
    }
    D2KE_UNROLL for (int g = 0; g < groups; g++) {
        state[0][g] = plus[g];
        state[1][g] = ~plus[g];
    }
}

D2KE_INLINE void edits_word(const lev_scratch *s, const uint32_t *text, int64_t n, int first,
                            const lev_table *table, int64_t w, const int edits, const int groups,
                            const int bits, const int guarded, const int from_below,
                            const int to_above)
{
    if (edits == EDITS_OSA)
        osa_word(text, n, first, table, s->keep[w], s->state[w], s->carry, s->diagonal[w],
                 s->crossed, groups, bits, guarded, from_below, to_above);
    else if (edits == EDITS_INDEL)
        indel_word(text, n, first, table, s->keep[w], s->state[w], s->carry, groups, bits, guarded,
                   from_below, to_above);
    else
        lev_word(text, n, first, table, s->keep[w], s->state[w], s->carry, NULL, groups, bits,
                 LEV_NONE, guarded, from_below, to_above);
}

/* The distances of the patterns in lanes of their own. */
D2KE_INLINE void edits_own(const d2ke_problem *problem, const lev_scratch *s, const uint32_t *text,
                           int64_t n, double *result, int64_t n_items, const d2ke_poll *poll,
                           const int edits, const int bits)
{
    const lev_table *table = lev_masks(problem, s, 0);
    for (int64_t begin = 0; begin < n || begin == 0; begin += LEV_LONG_TILE) {
        int64_t m = n - begin < LEV_LONG_TILE ? n - begin : LEV_LONG_TILE;
        edits_word(s, text + begin, m, begin == 0, table, 0, edits, LEV_GROUPS, bits, 0, 0, 0);
        if (begin + m < n && d2ke_stopped(poll))
            return;
    }
    lev_counts(s, n, result, n_items, bits);
}

D2KE_INLINE void edits_whole(const d2ke_problem *problem, int64_t row, int64_t block,
                             void *scratch, double *result, const d2ke_poll *poll, const int edits)
{
    lev_scratch *s = lev_start(problem, block, scratch);
    int64_t n = d2ke_length(&problem->x, row), words = s->words, steps = 0;
    const uint32_t *text = (const uint32_t *)problem->x.values + problem->x.offsets[row];
    int64_t n_items = problem->blocks[block + 1] - problem->blocks[block];
    int bits = lev_bits(problem, block);
    if (bits == 8)
        edits_own(problem, s, text, n, result, n_items, poll, edits, 8);
    else if (bits == 16)
        edits_own(problem, s, text, n, result, n_items, poll, edits, 16);
    else if (bits == 32)
        edits_own(problem, s, text, n, result, n_items, poll, edits, 32);
    if (bits < 64)
        return;
    int64_t lanes = s->places[n_items - 1].lane + 1;
    int guarded = lanes < n_items, few = lanes <= LEV_LANES / 2;
    for (int64_t begin = 0; begin < n || begin == 0; begin += LEV_TILE) {
        int64_t m = n - begin < LEV_TILE ? n - begin : LEV_TILE;
        for (int64_t w = 0; w < words; w++) {
            const lev_table *table = lev_masks(problem, s, w);
#define EDITS_WORD(groups, guarded, from_below, to_above)                                         \
    edits_word(s, text + begin, m, begin == 0, table, w, edits, groups, 64, guarded, from_below,  \
               to_above)
#define EDITS_GROUPS(guarded, from_below, to_above)                                               \
    do {                                                                                          \
        if (few)                                                                                  \
            EDITS_WORD(LEV_GROUPS / 2, guarded, from_below, to_above);                            \
        else                                                                                      \
            EDITS_WORD(LEV_GROUPS, guarded, from_below, to_above);                                \
    } while (0)
            if (words == 1 && !guarded)
                EDITS_WORD(LEV_GROUPS, 0, 0, 0);
            else if (words == 1)
                EDITS_GROUPS(1, 0, 0);
            else if (w == 0)
                EDITS_GROUPS(1, 0, 1);
            else if (w < words - 1)
                EDITS_GROUPS(1, 1, 1);
            else
                EDITS_GROUPS(1, 1, 0);
#undef EDITS_GROUPS
#undef EDITS_WORD
            if (d2ke_pause(&steps, m * LEV_GROUPS, poll))
                return;
        }
    }
    const lev_piece *piece = s->pieces;
    for (int64_t k = 0; k < n_items; k++)
        result[k] = (double)(n + lev_rise(s, &piece));
}

#define EDITS_KERNEL(name, edits)                                                                 \
    static void name(const d2ke_problem *problem, int64_t row, int64_t block, void *scratch,      \
                     double *result, const d2ke_poll *poll)                                       \
    {                                                                                             \
        edits_whole(problem, row, block, scratch, result, poll, edits);                           \
    }
EDITS_KERNEL(levenshtein, EDITS_LEVENSHTEIN)
EDITS_KERNEL(osa, EDITS_OSA)
EDITS_KERNEL(indel, EDITS_INDEL)
#undef EDITS_KERNEL
