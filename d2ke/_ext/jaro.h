/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances of Jaro and of Winkler: letters in common, and how many of them are out of order.
 *
 * Letters of the text, one after the other, take the first free equal letter of the pattern that is
 * no farther than the bound; each pattern is alone in a lane, and the masks are those of
 * levenshtein.h.  For a lane, what is near and free are bits, and the first of them is x & -x.
 * Words are the outer loop and letters the inner one: a letter that took one in a word below takes
 * none in those above, for which a bit of each letter is kept.  The second run hands the letters
 * that took one, in order, to the taken letters of the pattern, in order, and counts equal pairs. */
enum {
    JARO_GROUPS = 2, /* vectors side by side, which divide LEV_GROUPS */
    JARO_PREFIX = 4, /* letters of a common beginning that count */
};

typedef v_u64 jaro_vectors[JARO_GROUPS];

/* A whole number below 2^52 in each lane. */
D2KE_INLINE v_f64 jaro_number(v_u64 n)
{
    return (v_f64)(n | UINT64_C(0x4330000000000000)) - 0x1p52;
}

/* Word w of some lanes along n letters of text.  OUT: `taken`, and bits of `found` and `count`. */
D2KE_INLINE void jaro_take(const uint32_t *text, int64_t n, const lev_table *table, int64_t w,
                           int group, const v_u64 *bounds, v_u64 *taken, lev_vectors *found,
                           v_u64 *count, const int first)
{
    const uint32_t *rows = table->rows;
    const char *masks = (const char *)(table->masks[0] + group);
    jaro_vectors reach, passed, free, common;
    v_i64 enters[JARO_GROUPS], leaves[JARO_GROUPS]; /* letters after which a bit does */
    D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++) {
        v_i64 bound = (v_i64)bounds[g], near = bound + 1 - 64 * w;
        near &= near > 0;
        v_i64 all = near > 63;
        reach[g] = (v_u64)all | ((((v_u64){0} + 1) << (v_u64)(near & 63)) - 1);
        enters[g] = 64 * w - bound - 2;
        leaves[g] = 64 * w + bound - 1;
        passed[g] = (v_u64){0};
        free[g] = ~(v_u64){0};
        common[g] = count[g];
    }
    for (int64_t begin = 0; begin < n; begin += 64) {
        int64_t end = n - begin < 64 ? n - begin : 64;
        jaro_vectors own;
        D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++)
            own[g] = first ? (v_u64){0} : found[begin / 64][group + g];
        for (int64_t i = 0; i < end; i++) {
            const v_u64 *row = (const v_u64 *)(masks + rows[text[begin + i]]);
            const v_u64 bit = (v_u64){0} + (UINT64_C(1) << i);
            const v_i64 letter = (v_i64){0} + (begin + i);
            D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++) {
                v_u64 some = row[g] & reach[g] & free[g] & ~passed[g];
                if (!first)
                    some &= (v_u64)((own[g] & bit) == 0);
                v_u64 lowest = some & -some, got = (v_u64)(lowest != 0);
                free[g] ^= lowest;
                own[g] |= got & bit;
                common[g] -= got;
                reach[g] += reach[g];
                reach[g] -= first ? ~(v_u64){0} : (v_u64)(letter > enters[g]);
                passed[g] += passed[g];
                passed[g] -= (v_u64)(letter > leaves[g]);
            }
        }
        D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++)
            found[begin / 64][group + g] = own[g];
    }
    D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++) {
        taken[g] = ~free[g];
        count[g] = common[g];
    }
}

/* The number of equal pairs; letters of text whose partner is in this word leave `found`. */
D2KE_INLINE void jaro_compare(const uint32_t *text, int64_t n, const lev_table *table, int group,
                              const v_u64 *taken, lev_vectors *found, v_u64 *equal)
{
    const uint32_t *rows = table->rows;
    const char *masks = (const char *)(table->masks[0] + group);
    jaro_vectors left, same;
    D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++) {
        left[g] = taken[g];
        same[g] = equal[g];
    }
    for (int64_t begin = 0; begin < n; begin += 64) {
        int64_t end = n - begin < 64 ? n - begin : 64;
        jaro_vectors own;
        D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++)
            own[g] = found[begin / 64][group + g];
        for (int64_t i = 0; i < end; i++) {
            const v_u64 *row = (const v_u64 *)(masks + rows[text[begin + i]]);
            const v_u64 bit = (v_u64){0} + (UINT64_C(1) << i);
            D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++) {
                v_u64 lowest = left[g] & -left[g] & (v_u64)((own[g] & bit) != 0);
                same[g] -= (v_u64)((row[g] & lowest) != 0);
                left[g] ^= lowest;
                own[g] &= ~(bit & (v_u64)(lowest != 0));
            }
        }
        D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++)
            found[begin / 64][group + g] = own[g];
    }
    D2KE_UNROLL for (int g = 0; g < JARO_GROUPS; g++)
        equal[g] = same[g];
}

/* The lengths of the common beginnings. */
D2KE_INLINE v_u64 jaro_prefix(const uint32_t *text, int64_t n, const lev_table *table, int g)
{
    v_u64 running = (v_u64){0} + 1, length = {0};
    for (int64_t i = 0; i < n && i < JARO_PREFIX; i++) {
        const v_u64 *row = (const v_u64 *)((const char *)table->masks + table->rows[text[i]]);
        running &= row[g] >> i;
        length += running;
    }
    return length;
}

static void jaro(const d2ke_problem *problem, int64_t row, int64_t block, void *scratch,
                 double *result, const d2ke_poll *poll)
{
    const levenshtein_options *o = problem->options;
    lev_scratch *s = lev_start(problem, block, scratch);
    int64_t n = d2ke_length(&problem->x, row), words = s->words, steps = 0;
    const uint32_t *text = (const uint32_t *)problem->x.values + problem->x.offsets[row];
    int64_t n_items = problem->blocks[block + 1] - problem->blocks[block];
    lev_vectors lengths = {{0}}, bounds, count = {{0}}, equal = {{0}};
    for (int64_t k = 0; k < n_items; k++)
        ((uint64_t *)lengths)[k] = (uint64_t)s->places[k].end;
    D2KE_UNROLL for (int g = 0; g < LEV_GROUPS; g++) {
        v_i64 text_length = (v_i64){0} + n, longer = (v_i64)lengths[g];
        longer += (text_length - longer) & (text_length > longer);
        v_i64 bound = (longer >> 1) - 1;
        bounds[g] = (v_u64)(bound & (bound > 0));
    }
    for (int64_t w = 0; w < 2 * words; w++) {
        int second = w >= words;
        const lev_table *table = lev_masks(problem, s, w % words);
        v_u64 *taken = s->state[w % words][0];
        for (int g = 0; g < LEV_GROUPS; g += JARO_GROUPS) {
            if (second)
                jaro_compare(text, n, table, g, taken + g, s->found, equal + g);
            else if (w == 0)
                jaro_take(text, n, table, 0, g, bounds + g, taken + g, s->found, count + g, 1);
            else
                jaro_take(text, n, table, w, g, bounds + g, taken + g, s->found, count + g, 0);
        }
        steps += n * LEV_GROUPS;
        if (steps >= 1000000) {
            steps = 0;
            if (d2ke_stopped(poll))
                return;
        }
    }

    const lev_table *table = o->prefix_weight > 0 ? lev_masks(problem, s, 0) : NULL;
    v_f64 distances[LEV_GROUPS];
    D2KE_UNROLL for (int g = 0; g < LEV_GROUPS; g++) {
        v_f64 common = jaro_number(count[g]), whole = set_f64(1);
        v_f64 in_order = jaro_number(count[g] - ((count[g] - equal[g]) >> 1));
        v_f64 sum = common / jaro_number(lengths[g]) + common / set_f64((double)n);
        v_f64 alike = (sum + in_order / common) / set_f64(3);
        /* Two empty strings are equal. */
        v_i64 empty = (v_i64)(lengths[g] == 0) & (n == 0 ? ~INT64_C(0) : 0);
        alike = select_f64((v_i64)(count[g] == 0), select_f64(empty, whole, set_f64(0)), alike);
        if (table) {
            v_f64 share = jaro_number(jaro_prefix(text, n, table, g)) * set_f64(o->prefix_weight);
            /* Rounded before it is added, on processors that could do both at once too. */
            volatile v_f64 gain = share * (whole - alike);
            alike = select_f64(alike > set_f64(0.7), alike + gain, alike);
        }
        distances[g] = whole - alike;
    }
    for (int64_t k = 0; k < n_items; k++)
        result[k] = ((const double *)distances)[k];
}
