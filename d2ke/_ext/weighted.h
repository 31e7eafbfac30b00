/* SPDX-License-Identifier: BSD-3-Clause */
/* Edit distances with costs of letters, from one string to many, one to a lane (Gotoh 1982).
 *
 * Three tables: the least cost, that of paths that end in a deletion, and that of paths that end in
 * an insertion, of which a row and a vector are kept.  The costs of substituting a letter of x by
 * those of the block's strings are a row of their own; as many of them as fit into WEIGHTED_ROWS
 * bytes are kept, at least one, the others are made again when they are needed.
 *
 * A transposition, of whole strings without affine gaps, leads from the cell (i - 2, j - 2) to (i, j)
 * if the two letters of x are those of y in the other order (Wagner 1975, restricted as in OSA); the
 * row i - 2 stands where affine gaps have their deletions.
 *
 * LEV_LOCAL (Smith & Waterman 1981): an equal pair of letters costs 1 less, no cell is above 0, and
 * the least of all cells is wanted.  Cells after a string's end only repeat some before it.
 */
enum {
    WEIGHTED_GROUPS = 2, /* vectors that hide each other's latency */
    WEIGHTED_LANES = WEIGHTED_GROUPS * LANES_f64,
    WEIGHTED_ROWS = 1 << 19,
};

typedef v_f64 weighted_vectors[WEIGHTED_GROUPS];

typedef struct {
    d2ke_cache cache;
    int64_t longest;
    int64_t n_rows;
    int64_t *keys;   /* the letter of each kept row of costs, or -1 */
    uint32_t *letters; /* of the block's strings, side by side; NO_LETTER after a string's end */
    weighted_vectors *first, *next; /* costs of insertions, for each column */
    weighted_vectors *score, *deletion; /* per column */
    weighted_vectors *codes; /* the letters as numbers, for transpositions */
    weighted_vectors *rows;
} weighted_scratch_t;

#define WEIGHTED_NO_LETTER UINT32_MAX

static int64_t weighted_rows(const d2ke_problem *problem)
{
    const weighted_options *o = problem->options;
    int64_t row = (problem->y.longest + 1) * (int64_t)sizeof(weighted_vectors);
    int64_t fit = WEIGHTED_ROWS / row;
    return fit < 1 ? 1 : fit < o->n_letters ? fit : o->n_letters < 1 ? 1 : o->n_letters;
}

static size_t weighted_scratch(const d2ke_problem *problem)
{
    int64_t columns = problem->y.longest + 1, rows = weighted_rows(problem);
    return d2ke_round_up(sizeof(weighted_scratch_t), 64) + d2ke_round_up(rows * 8, 64)
           + d2ke_round_up(columns * WEIGHTED_LANES * 4, 64)
           + (5 + rows) * columns * sizeof(weighted_vectors);
}

static void weighted_prepare(const d2ke_problem *problem, int64_t block, weighted_scratch_t *s)
{
    const weighted_options *o = problem->options;
    int64_t first = problem->blocks[block], n = problem->blocks[block + 1] - first;
    int64_t columns = problem->y.longest + 1;
    char *memory = (char *)s + d2ke_round_up(sizeof *s, 64);
    s->cache.block = block;
    s->n_rows = weighted_rows(problem);
    s->keys = (int64_t *)memory;
    memory += d2ke_round_up(s->n_rows * 8, 64);
    s->letters = (uint32_t *)memory;
    memory += d2ke_round_up(columns * WEIGHTED_LANES * 4, 64);
    s->first = (weighted_vectors *)memory;
    s->next = s->first + columns;
    s->score = s->next + columns;
    s->deletion = s->score + columns;
    s->codes = s->deletion + columns;
    s->rows = s->codes + columns;
    s->longest = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t length = d2ke_length(&problem->y, problem->order[first + k]);
        s->longest = length > s->longest ? length : s->longest;
    }
    for (int64_t r = 0; r < s->n_rows; r++)
        s->keys[r] = -1;
    memset(s->letters, 0xff, (s->longest + 1) * WEIGHTED_LANES * sizeof *s->letters);
    memset(s->first, 0, (s->longest + 1) * sizeof *s->first);
    memset(s->next, 0, (s->longest + 1) * sizeof *s->next);
    for (int64_t j = 0; j <= s->longest; j++)
        for (int g = 0; g < WEIGHTED_GROUPS; g++)
            s->codes[j][g] = set_f64(-1);
    for (int64_t k = 0; k < n; k++) {
        int64_t item = problem->order[first + k], length = d2ke_length(&problem->y, item);
        const uint32_t *from = (const uint32_t *)problem->y.values + problem->y.offsets[item];
        for (int64_t j = 0; j < length; j++) {
            int64_t at = (j + 1) * WEIGHTED_LANES + k;
            s->letters[at] = from[j];
            ((double *)s->codes)[at] = from[j];
            ((double *)s->first)[at] = o->insert_first[o->classes[from[j]]];
            ((double *)s->next)[at] = o->insert_next[o->classes[from[j]]];
        }
    }
}

/* The costs of substituting the letter by each of the block's letters. */
static const weighted_vectors *weighted_row(const weighted_options *o, const weighted_scratch_t *s,
                                            int64_t columns, uint32_t letter)
{
    int64_t r = letter % s->n_rows;
    weighted_vectors *row = s->rows + r * columns;
    if (s->keys[r] == letter)
        return row;
    s->keys[r] = letter;
    uint32_t own = o->classes[letter];
    const double *costs = o->substitution + own * o->n_classes;
    double equal = o->equal[own] - (o->mode == LEV_LOCAL), *out = (double *)row;
    for (int64_t at = WEIGHTED_LANES; at < (s->longest + 1) * WEIGHTED_LANES; at++) {
        uint32_t other = s->letters[at];
        out[at] = other == letter               ? equal
                  : other == WEIGHTED_NO_LETTER ? 0
                                                : costs[o->classes[other]];
    }
    return row;
}

/* What a cell of the way back says: the table of the least cost (0: a substitution, 1: a deletion,
 * 2: an insertion, 3: a transposition), and whether a run of deletions, of insertions began
 * before. */
enum { WEIGHTED_DELETED = 4, WEIGHTED_INSERTED = 8 };

/* The letters of x that a transposition would exchange, as numbers; -2 if they are equal. */
typedef struct {
    double before, now, cost;
} weighted_swap;

/* The next row; `cost` of deleting the letter of x as the first or as a later one of a run.
 * `ways`: half a byte for each of the first string's cells, or NULL; `least`: of all cells, if local. */
D2KE_INLINE void weighted_step(const weighted_scratch_t *s, const weighted_vectors *costs,
                               double delete_first, double delete_next, const int free,
                               const int affine, const weighted_swap *const swap,
                               uint8_t *const ways, const int local, v_f64 *const least)
{
    const v_f64 first = set_f64(delete_first), next = set_f64(delete_next);
    weighted_vectors *score = s->score, *deletion = s->deletion;
    weighted_vectors left, diagonal, insertion, lowest, old, older; /* the last two of row i - 2 */
    D2KE_UNROLL for (int g = 0; g < WEIGHTED_GROUPS; g++) {
        diagonal[g] = score[0][g];
        v_f64 gone = diagonal[g] + first;
        if (affine)
            gone = min_f64(gone, deletion[0][g] + next);
        left[g] = free ? set_f64(0) : gone;
        score[0][g] = left[g];
        older[g] = set_f64(INFINITY);
        old[g] = deletion[0][g];
        deletion[0][g] = swap ? diagonal[g] : gone;
        insertion[g] = set_f64(INFINITY);
        if (local)
            lowest[g] = least[g];
        if (ways && g == 0)
            ways[0] = (uint8_t)(1 | (gone[0] < diagonal[0][0] + delete_first) * WEIGHTED_DELETED);
    }
    for (int64_t j = 1; j <= s->longest; j++) {
        D2KE_UNROLL for (int g = 0; g < WEIGHTED_GROUPS; g++) {
            v_f64 up = score[j][g], gone = up + first, come = left[g] + s->first[j][g];
            if (affine) {
                gone = min_f64(gone, deletion[j][g] + next);
                come = min_f64(come, insertion[g] + s->next[j][g]);
                deletion[j][g] = gone;
                insertion[g] = come;
            }
            v_f64 begun = left[g] + s->first[j][g];
            left[g] = min_f64(min_f64(diagonal[g] + costs[j][g], gone), come);
            if (swap) {
                v_i64 crossed = (v_i64)(s->codes[j][g] == set_f64(swap->before))
                                & (v_i64)(s->codes[j - 1][g] == set_f64(swap->now));
                v_f64 turned = older[g] + set_f64(swap->cost);
                left[g] = min_f64(left[g], select_f64(crossed, turned, set_f64(INFINITY)));
                older[g] = old[g];
                old[g] = deletion[j][g];
                deletion[j][g] = up;
            }
            if (local) {
                left[g] = min_f64(left[g], set_f64(0));
                lowest[g] = min_f64(lowest[g], left[g]);
            }
            if (ways && g == 0) {
                int way = left[0][0] == (diagonal[0] + costs[j][0])[0] ? 0
                          : left[0][0] == gone[0]                      ? 1
                          : left[0][0] == come[0]                      ? 2
                                                                       : 3;
                way |= (gone[0] < (up + first)[0]) * WEIGHTED_DELETED;
                way |= (come[0] < begun[0]) * WEIGHTED_INSERTED;
                ways[j / 2] = (uint8_t)(j % 2 ? ways[j / 2] | way << 4 : way);
            }
            diagonal[g] = up;
            score[j][g] = left[g];
        }
    }
    D2KE_UNROLL for (int g = 0; local && g < WEIGHTED_GROUPS; g++)
        least[g] = lowest[g];
}

/* The row before the first letter of x. */
static void weighted_begin(const weighted_scratch_t *s, int local)
{
    for (int g = 0; g < WEIGHTED_GROUPS; g++) {
        v_f64 come = set_f64(INFINITY), last = set_f64(0);
        s->score[0][g] = last;
        s->deletion[0][g] = come;
        for (int64_t j = 1; j <= s->longest; j++) {
            come = min_f64(last + s->first[j][g], come + s->next[j][g]);
            s->score[j][g] = last = local ? set_f64(0) : come;
            s->deletion[j][g] = set_f64(INFINITY);
        }
    }
}

/* The row of letter i of x. */
D2KE_INLINE void weighted_next(const weighted_options *o, const weighted_scratch_t *s,
                               int64_t columns, const uint32_t *text, int64_t i,
                               uint8_t *const ways, v_f64 *least)
{
    uint32_t letter = text[i];
    const weighted_vectors *costs = weighted_row(o, s, columns, letter);
    double first = o->delete_first[o->classes[letter]];
    double next = o->delete_next[o->classes[letter]];
    if (o->mode == LEV_LOCAL && o->affine)
        weighted_step(s, costs, first, next, 1, 1, NULL, NULL, 1, least);
    else if (o->mode == LEV_LOCAL)
        weighted_step(s, costs, first, next, 1, 0, NULL, NULL, 1, least);
    else if (o->mode == LEV_INFIX && o->affine)
        weighted_step(s, costs, first, next, 1, 1, NULL, ways, 0, NULL);
    else if (o->mode == LEV_INFIX)
        weighted_step(s, costs, first, next, 1, 0, NULL, ways, 0, NULL);
    else if (o->affine)
        weighted_step(s, costs, first, next, 0, 1, NULL, ways, 0, NULL);
    else if (o->transposition < INFINITY) {
        int differ = i > 0 && text[i - 1] != letter;
        weighted_swap swap = {differ ? text[i - 1] : -2, letter, o->transposition};
        weighted_step(s, costs, first, next, 0, 0, &swap, ways, 0, NULL);
    } else
        weighted_step(s, costs, first, next, 0, 0, NULL, ways, 0, NULL);
}

static void weighted(const d2ke_problem *problem, int64_t row, int64_t block, void *scratch,
                     double *result, const d2ke_poll *poll)
{
    const weighted_options *o = problem->options;
    weighted_scratch_t *s = scratch;
    if (s->cache.block != block)
        weighted_prepare(problem, block, s);
    int64_t n = d2ke_length(&problem->x, row), columns = problem->y.longest + 1, steps = 0;
    int64_t begin = problem->blocks[block], n_items = problem->blocks[block + 1] - begin;
    const uint32_t *text = (const uint32_t *)problem->x.values + problem->x.offsets[row];
    const double *score[WEIGHTED_LANES]; /* of each string's last column */
    for (int64_t k = 0; k < n_items; k++) {
        int64_t length = d2ke_length(&problem->y, problem->order[begin + k]);
        score[k] = (const double *)s->score + length * WEIGHTED_LANES + k;
    }
    weighted_vectors least = {{0}};
    weighted_begin(s, o->mode == LEV_LOCAL);
    for (int64_t k = 0; k < n_items; k++)
        result[k] = *score[k];
    for (int64_t i = 0; i < n; i++) {
        weighted_next(o, s, columns, text, i, NULL, least);
        if (o->mode == LEV_PREFIX || o->mode == LEV_INFIX)
            for (int64_t k = 0; k < n_items; k++)
                result[k] = *score[k] < result[k] ? *score[k] : result[k];
        steps += columns;
        if (steps >= 100000) {
            steps = 0;
            if (d2ke_stopped(poll))
                return;
        }
    }
    if (o->mode == LEV_GLOBAL)
        for (int64_t k = 0; k < n_items; k++)
            result[k] = *score[k];
    for (int64_t k = 0; o->mode == LEV_LOCAL && k < n_items; k++) {
        int64_t m = d2ke_length(&problem->y, problem->order[begin + k]), shorter = n < m ? n : m;
        result[k] = shorter ? 1 + ((double *)least)[k] / (double)shorter : n != m;
    }
}

/* Rows of the first pair; the state holds the scores of all columns, then those of deletions or of
 * the row before. */
static void weighted_trace(const d2ke_problem *problem, void *scratch, d2ke_rows *rows,
                           const d2ke_poll *poll)
{
    const weighted_options *o = problem->options;
    weighted_scratch_t *s = scratch;
    if (s->cache.block != 0)
        weighted_prepare(problem, 0, s);
    int64_t m = problem->y.longest, columns = m + 1, steps = 0;
    const uint32_t *text = problem->x.values;
    double *score = rows->state, *deletion = score + rows->columns;
    weighted_vectors least; /* of no use: local alignments have no way back here */
    s->longest = rows->columns - 1; /* which become fewer from call to call: rows of costs stay */
    if (rows->first == 0) {
        weighted_begin(s, 0);
        rows->value = s->score[s->longest][0][0];
        rows->best = 0;
    } else {
        for (int64_t j = 0; j < rows->columns; j++) {
            s->score[j][0] = set_f64(score[j]);
            s->deletion[j][0] = set_f64(deletion[j]);
        }
    }
    for (int64_t i = rows->first; i < rows->last; i++) {
        if (rows->ways)
            weighted_next(o, s, columns, text, i,
                          rows->ways + (i - rows->first) * rows->row_bytes, least);
        else
            weighted_next(o, s, columns, text, i, NULL, least);
        double last = s->score[s->longest][0][0];
        if (o->mode == LEV_GLOBAL || last < rows->value) {
            rows->value = last;
            rows->best = i + 1;
        }
        steps += rows->columns;
        if (steps >= 100000) {
            steps = 0;
            if (d2ke_stopped(poll))
                return;
        }
    }
    for (int64_t j = 0; j < rows->columns; j++) {
        score[j] = s->score[j][0][0];
        deletion[j] = s->deletion[j][0][0];
    }
}
