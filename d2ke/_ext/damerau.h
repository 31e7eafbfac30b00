/* SPDX-License-Identifier: BSD-3-Clause */
/* The unrestricted Damerau-Levenshtein distance from one string to many, one to a lane.
 *
 * Lowrance & Wagner's recurrence (1975) has a fourth term: the last pair of letters that stand
 * crossed, with what is between them inserted or deleted.  An optimal path needs only pairs with
 * nothing between them in one of the two strings (Zhao & Sahni 2019), and their costs are carried
 * along the rows and down the columns.  Three rows are kept, nothing is of the alphabet's size.
 *
 * Included twice: LETTER is u16, SCORE i16 for few letters and short strings, else u32 and i32.
 */
#undef DAM_
#undef DAM_V
#undef DAM_LETTER
#undef DAM_SCORE
#undef DAM_LANES
#define DAM_(name) D2KE_PASTE(D2KE_PASTE(name, _), LETTER)
#define DAM_V D2KE_PASTE(v_, SCORE)
#define DAM_LETTER D2KE_PASTE(D2KE_PASTE(damerau_, LETTER), _t)
#define DAM_SCORE D2KE_PASTE(D2KE_PASTE(damerau_, SCORE), _t)
#define DAM_LANES (D2KE_BYTES / (int64_t)sizeof(DAM_LETTER))

#ifndef D2KE_DAMERAU_H
#define D2KE_DAMERAU_H
typedef uint16_t damerau_u16_t;
typedef uint32_t damerau_u32_t;
typedef int16_t damerau_i16_t;
typedef int32_t damerau_i32_t;
/* What a cell of the way back says; crossed letters are those before the last row and the last
 * column of their letters, with what is between them edited in x or in y. */
enum { DAM_SUBSTITUTE, DAM_DELETE, DAM_INSERT, DAM_CROSS_ROWS, DAM_CROSS_COLUMNS };

/* More than any score; twice that is no overflow. */
enum { DAM_FAR_u16 = 0x3fff, DAM_FAR_u32 = 0x3fffffff };

#if D2KE_BYTES == 64
D2KE_INLINE v_i16 min_i16(v_i16 a, v_i16 b) { return (v_i16)_mm512_min_epi16((__m512i)a, (__m512i)b); }
D2KE_INLINE v_i32 min_i32(v_i32 a, v_i32 b) { return (v_i32)_mm512_min_epi32((__m512i)a, (__m512i)b); }
#elif D2KE_BYTES == 32
D2KE_INLINE v_i16 min_i16(v_i16 a, v_i16 b) { return (v_i16)_mm256_min_epi16((__m256i)a, (__m256i)b); }
D2KE_INLINE v_i32 min_i32(v_i32 a, v_i32 b) { return (v_i32)_mm256_min_epi32((__m256i)a, (__m256i)b); }
#else
#if defined(__SSE2__)
D2KE_INLINE v_i16 min_i16(v_i16 a, v_i16 b) { return (v_i16)_mm_min_epi16((__m128i)a, (__m128i)b); }
#else
D2KE_INLINE v_i16 min_i16(v_i16 a, v_i16 b) { return (a & (a < b)) | (b & ~(a < b)); }
#endif
D2KE_INLINE v_i32 min_i32(v_i32 a, v_i32 b) { return (a & (a < b)) | (b & ~(a < b)); }
#endif
#endif

/* A block's strings side by side, and the rows of the table. */
typedef struct {
    d2ke_cache cache;
    int64_t longest;
    DAM_V *letters; /* letter j - 1 of each string; a letter of none after its end */
    DAM_V *rows[2];
    DAM_V *crossed; /* per column: the cost up to the last row of its letter, less the row */
} DAM_(dam_scratch);

static size_t DAM_(damerau_scratch)(const d2ke_problem *problem)
{
    return sizeof(DAM_(dam_scratch)) + 128 + 4 * (problem->y.longest + 1) * D2KE_BYTES;
}

static void DAM_(dam_prepare)(const d2ke_problem *problem, int64_t block, DAM_(dam_scratch) *s)
{
    int64_t first = problem->blocks[block], n = problem->blocks[block + 1] - first;
    DAM_V *memory = (DAM_V *)((char *)s + d2ke_round_up(sizeof *s, 64));
    s->cache.block = block;
    s->longest = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t length = d2ke_length(&problem->y, problem->order[first + k]);
        s->longest = length > s->longest ? length : s->longest;
    }
    s->letters = memory;
    s->rows[0] = memory += s->longest + 1;
    s->rows[1] = memory += s->longest + 1;
    s->crossed = memory + s->longest + 1;
    memset(s->letters, 0xff, (s->longest + 1) * sizeof *s->letters);
    for (int64_t k = 0; k < n; k++) {
        int64_t item = problem->order[first + k], length = d2ke_length(&problem->y, item);
        const uint32_t *from = (const uint32_t *)problem->y.values + problem->y.offsets[item];
        DAM_LETTER *to = (DAM_LETTER *)s->letters + k;
        for (int64_t j = 0; j < length; j++)
            to[(j + 1) * DAM_LANES] = (DAM_LETTER)from[j];
    }
}

/* The first two rows that are above of others: none, and that before the first letter. */
static void DAM_(dam_begin)(const DAM_(dam_scratch) *s, DAM_V *above, DAM_V *here)
{
    for (int64_t j = 0; j <= s->longest; j++) {
        above[j] = (DAM_V){0} + (DAM_SCORE)j;
        here[j] = s->crossed[j] = (DAM_V){0} + DAM_(DAM_FAR);
    }
}

/* Row i from the one above; `here` is the one before that, and is written.  `last` is the letter
 * before.  osa: nothing is edited between crossed letters.  `ways`: half a byte for each of the
 * first string's cells, or NULL. */
D2KE_INLINE void DAM_(dam_row)(const DAM_(dam_scratch) *s, const DAM_V *above, DAM_V *here,
                               int64_t i, DAM_V letter, DAM_V last, const int osa,
                               uint8_t *const ways)
{
    const DAM_V far = (DAM_V){0} + DAM_(DAM_FAR), one = (DAM_V){0} + 1;
    const DAM_V *letters = s->letters, down = (DAM_V){0} + (DAM_SCORE)i;
    DAM_V *crossed = s->crossed;
    DAM_V left = down, diagonal = above[0], before = far; /* scores i, j-1; i-1, j-1; i-1, j-2 */
    DAM_V corner = here[0], edge = far; /* i-2, j-1; i-2, j-2 */
    DAM_V turn = far; /* the cost up to the last column of this letter, less the column */
    DAM_V matched = {0}, across = {0};
    here[0] = left;
    if (ways)
        ways[0] = DAM_DELETE;
    for (int64_t j = 1; j <= s->longest; j++) {
        DAM_V own = letters[j], up = above[j], from = crossed[j];
        DAM_V match = own == letter, swap = own == last;
        across += one;
        DAM_V best = D2KE_PASTE(min_, SCORE)(up, diagonal + match) + one;
        DAM_V first = from + down, second = turn + across;
        if (osa) {
            matched &= swap;
            first = edge + one;
            swap = (DAM_V){0};
        }
        first = (first & matched) | (far & ~matched);
        second = (second & swap) | (far & ~swap);
        best = D2KE_PASTE(min_, SCORE)(best, D2KE_PASTE(min_, SCORE)(first, second));
        crossed[j] = ((before - down) & match) | (from & ~match);
        turn = ((corner - across) & match) | (turn & ~match);
        DAM_V come = left + one;
        left = D2KE_PASTE(min_, SCORE)(best, come);
        if (ways) {
            DAM_SCORE least = left[0];
            int way = least == (diagonal + match)[0] + 1 ? DAM_SUBSTITUTE
                    : least == up[0] + 1                 ? DAM_DELETE
                    : least == come[0]                   ? DAM_INSERT
                    : least == first[0]                  ? DAM_CROSS_ROWS
                                                         : DAM_CROSS_COLUMNS;
            ways[j / 2] = (uint8_t)(j % 2 ? ways[j / 2] | way << 4 : way);
        }
        edge = corner;
        corner = here[j];
        here[j] = left;
        before = diagonal;
        diagonal = up;
        matched = match;
    }
}

static void DAM_(damerau)(const d2ke_problem *problem, int64_t row, int64_t block, void *scratch,
                          double *result, const d2ke_poll *poll)
{
    DAM_(dam_scratch) *s = scratch;
    if (s->cache.block != block)
        DAM_(dam_prepare)(problem, block, s);
    int64_t n = d2ke_length(&problem->x, row), m = s->longest, steps = 0;
    const uint32_t *text = (const uint32_t *)problem->x.values + problem->x.offsets[row];
    DAM_V *above = s->rows[0], *here = s->rows[1];
    DAM_V last = (DAM_V){0} - 2; /* no letter */
    DAM_(dam_begin)(s, above, here);
    for (int64_t i = 1; i <= n; i++) {
        const DAM_V letter = (DAM_V){0} + (DAM_SCORE)text[i - 1];
        DAM_(dam_row)(s, above, here, i, letter, last, 0, NULL);
        DAM_V *swapped = above;
        above = here;
        here = swapped;
        last = letter;
        if (d2ke_pause(&steps, 10 * m, poll))
            return;
    }
    int64_t begin = problem->blocks[block], end = problem->blocks[block + 1];
    for (int64_t k = 0; k < end - begin; k++) {
        int64_t length = d2ke_length(&problem->y, problem->order[begin + k]);
        result[k] = (double)((const DAM_SCORE *)(above + length))[k];
    }
}
