/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances of Jaro and of Winkler: letters in common, and how many of them are out of order.
 *
 * Letters of the text, one after the other, take the first free equal letter of the pattern that is
 * no farther than the bound.  Each pattern is alone in JARO_BITS bits of a lane, 64 or, for short
 * ones, 32 or 16; the masks are those of levenshtein.h.  What is near and free are bits of a lane,
 * and the first of them is x & -x.  Words are the outer loop and letters the inner one: a letter that
 * took one in a word below takes none in those above, for which a bit of each letter is kept.  The
 * second run hands the letters that took one, in order, to the taken letters of the pattern, in
 * order, and counts equal pairs. */
#define JARO_(name, bits) name##bits
#define JARO_OF(name, bits) JARO_(name, bits)
#define JARO(name) JARO_OF(name, JARO_BITS)
#define JARO_U JARO(v_u)
#define JARO_I JARO(v_i)
#define JARO_INT JARO_OF(JARO_OF(int, JARO_BITS), _t)
#define JARO_UINT JARO_OF(JARO_OF(uint, JARO_BITS), _t)

#if JARO_BITS == 16
enum {
    JARO_GROUPS = 2, /* vectors side by side, which divide LEV_GROUPS */
    JARO_PREFIX = 4, /* letters of a common beginning that count */
};
#endif

typedef JARO_U JARO(jaro_vectors)[LEV_GROUPS];

/* Word w of some lanes along n letters of text.  OUT: `taken`, and bits of `found` and `count`. */
D2KE_INLINE void JARO(jaro_take)(const uint32_t *text, int64_t n, const lev_table *table,
                                 int64_t w, int group, const JARO_U *bounds, JARO_U *taken,
                                 JARO(jaro_vectors) *found, JARO_U *count, const int first)
{
    const uint32_t *rows = table->rows;
    const char *masks = (const char *)(table->masks[0] + group);
    JARO_U reach[JARO_GROUPS], passed[JARO_GROUPS], free[JARO_GROUPS], common[JARO_GROUPS];
    JARO_I enters[JARO_GROUPS], leaves[JARO_GROUPS]; /* letters after which a bit does */
    const JARO_I start = (JARO_I){0} + (JARO_INT)(JARO_BITS * w);
    D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++) {
        JARO_I bound = (JARO_I)bounds[g], near = bound + 1 - start;
        near &= near > 0;
        JARO_I all = near > JARO_BITS - 1;
        reach[g] = (JARO_U)all | ((((JARO_U){0} + 1) << (JARO_U)(near & (JARO_BITS - 1))) - 1);
        enters[g] = start - bound - 2;
        leaves[g] = start + bound - 1;
        passed[g] = (JARO_U){0};
        free[g] = ~(JARO_U){0};
        common[g] = count[g];
    }
    for (int64_t begin = 0; begin < n; begin += JARO_BITS, found++) {
        int64_t end = n - begin < JARO_BITS ? n - begin : JARO_BITS;
        JARO_U own[JARO_GROUPS];
        D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++)
            own[g] = first ? (JARO_U){0} : (*found)[group + g];
        for (int64_t i = 0; i < end; i++) {
            const JARO_U *row = (const JARO_U *)(masks + rows[text[begin + i]]);
            const JARO_U bit = ((JARO_U){0} + 1) << (int)i;
            const JARO_I letter = (JARO_I){0} + (JARO_INT)(begin + i);
            D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++) {
                JARO_U some = row[g] & reach[g] & free[g] & ~passed[g];
                if (!first)
                    some &= (JARO_U)((own[g] & bit) == 0);
                JARO_U lowest = some & -some, got = (JARO_U)(lowest != 0);
                free[g] ^= lowest;
                own[g] |= got & bit;
                common[g] -= got;
                reach[g] += reach[g];
                reach[g] -= first ? ~(JARO_U){0} : (JARO_U)(letter > enters[g]);
                passed[g] += passed[g];
                passed[g] -= (JARO_U)(letter > leaves[g]);
            }
        }
        D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++)
            (*found)[group + g] = own[g];
    }
    D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++) {
        taken[g] = ~free[g];
        count[g] = common[g];
    }
}

/* The number of equal pairs; letters of text whose partner is in this word leave `found`. */
D2KE_INLINE void JARO(jaro_compare)(const uint32_t *text, int64_t n, const lev_table *table,
                                    int group, const JARO_U *taken, JARO(jaro_vectors) *found,
                                    JARO_U *equal)
{
    const uint32_t *rows = table->rows;
    const char *masks = (const char *)(table->masks[0] + group);
    JARO_U left[JARO_GROUPS], same[JARO_GROUPS];
    D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++) {
        left[g] = taken[g];
        same[g] = equal[g];
    }
    for (int64_t begin = 0; begin < n; begin += JARO_BITS, found++) {
        int64_t end = n - begin < JARO_BITS ? n - begin : JARO_BITS;
        JARO_U own[JARO_GROUPS];
        D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++)
            own[g] = (*found)[group + g];
        for (int64_t i = 0; i < end; i++) {
            const JARO_U *row = (const JARO_U *)(masks + rows[text[begin + i]]);
            const JARO_U bit = ((JARO_U){0} + 1) << (int)i;
            D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++) {
                JARO_U lowest = left[g] & -left[g] & (JARO_U)((own[g] & bit) != 0);
                same[g] -= (JARO_U)((row[g] & lowest) != 0);
                left[g] ^= lowest;
                own[g] &= ~(bit & (JARO_U)(lowest != 0));
            }
        }
        D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++)
            (*found)[group + g] = own[g];
    }
    D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++)
        equal[g] = same[g];
}

/* Takes the gain for common beginnings off the distances. */
static void JARO(jaro_begin)(const uint32_t *text, int64_t n, const lev_table *table,
                             double weight, double *result, int64_t n_items)
{
    JARO(jaro_vectors) prefix;
    for (int g = 0; g < LEV_GROUPS; g++) {
        JARO_U running = (JARO_U){0} + 1;
        prefix[g] = (JARO_U){0};
        for (int i = 0; i < n && i < JARO_PREFIX; i++) {
            const char *row = (const char *)(table->masks[0] + g) + table->rows[text[i]];
            running &= *(const JARO_U *)row >> i;
            prefix[g] += running;
        }
    }
    for (int64_t k = 0; k < n_items; k++) {
        double alike = 1 - result[k];
        /* Rounded before it is added, on processors that could do both at once too. */
        volatile double gain = (double)((JARO_UINT *)prefix)[k] * weight * (1 - alike);
        if (alike > 0.7) result[k] = 1 - (alike + gain);
    }
}

static void JARO(jaro_)(const d2ke_problem *problem, int64_t row, lev_scratch *s, double *result,
                        int64_t n_items, const d2ke_poll *poll)
{
    const levenshtein_options *o = problem->options;
    int64_t n = d2ke_length(&problem->x, row), words = s->words, steps = 0;
    const uint32_t *text = (const uint32_t *)problem->x.values + problem->x.offsets[row];
    JARO(jaro_vectors) lengths = {{0}}, bounds, count = {{0}}, equal = {{0}}, *found = (void *)s->found;
    JARO_UINT *length = (JARO_UINT *)lengths;
    for (int64_t k = 0; k < n_items; k++)
        length[k] = (JARO_UINT)(s->places[k].end - s->places[k].begin);
    D2KE_UNROLL for (int g = 0; g < LEV_GROUPS; g++) {
        JARO_I text_length = (JARO_I){0} + (JARO_INT)n, longer = (JARO_I)lengths[g];
        longer += (text_length - longer) & (text_length > longer);
        JARO_I bound = (longer >> 1) - 1;
        bounds[g] = (JARO_U)(bound & (bound > 0));
    }
    for (int64_t w = 0; w < 2 * words; w++) {
        const lev_table *table = lev_masks(problem, s, w % words);
        JARO_U *taken = (JARO_U *)s->state[w % words][0];
        for (int g = 0; g < LEV_GROUPS; g += JARO_GROUPS) {
            if (w >= words)
                JARO(jaro_compare)(text, n, table, g, taken + g, found, equal + g);
            else if (w == 0)
                JARO(jaro_take)(text, n, table, 0, g, bounds + g, taken + g, found, count + g, 1);
            else
                JARO(jaro_take)(text, n, table, w, g, bounds + g, taken + g, found, count + g, 0);
        }
        if (d2ke_pause(&steps, n * LEV_GROUPS, poll))
            return;
    }

    const JARO_UINT *both = (JARO_UINT *)count, *same = (JARO_UINT *)equal;
    for (int64_t k = 0; k < n_items; k++) {
        int32_t m = (int32_t)length[k], taken = (int32_t)both[k];
        double common = taken, in_order = taken - (taken - (int32_t)same[k]) / 2;
        double alike = (common / m + common / (double)n + in_order / common) / 3;
        /* Two empty strings are equal. */
        result[k] = taken ? 1 - alike : m + n > 0;
    }
    if (o->prefix_weight > 0)
        JARO(jaro_begin)(text, n, lev_masks(problem, s, 0), o->prefix_weight, result, n_items);
}

#if JARO_BITS == 64
static void jaro(const d2ke_problem *problem, int64_t row, int64_t block, void *scratch,
                 double *result, const d2ke_poll *poll)
{
    const levenshtein_options *o = problem->options;
    lev_scratch *s = lev_start(problem, block, scratch);
    int64_t first = problem->blocks[block], n_items = problem->blocks[block + 1] - first;
    /* The first one is the longest. */
    int64_t bits = lev_alone(d2ke_length(&problem->y, problem->order[first]), o->alone);
    if (bits == 16)
        jaro_16(problem, row, s, result, n_items, poll);
    else if (bits == 32)
        jaro_32(problem, row, s, result, n_items, poll);
    else
        jaro_64(problem, row, s, result, n_items, poll);
}
#endif
#undef JARO_
#undef JARO_OF
#undef JARO
#undef JARO_U
#undef JARO_I
#undef JARO_INT
#undef JARO_UINT
