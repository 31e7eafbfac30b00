/* SPDX-License-Identifier: BSD-3-Clause */
/* Levenshtein distances from one text to many patterns, exactly.
 *
 * The dynamic program's columns are bit-vectors of vertical differences (Myers
 * 1999; Hyyro 2003), 64 pattern letters to a word and one word to a lane.  Two
 * things are done differently:
 *
 * - A lane is a string of bits as long as the block needs, and holds several
 *   patterns one after the other, whatever their lengths, with one guard bit
 *   between neighbours.  Kept at vertical difference -1, a guard hands the
 *   horizontal difference +1 to the pattern above it, which is what row 0 of
 *   the table does, and it swallows what comes from below.  Little of a vector
 *   is wasted on short patterns or on the last words of long ones.
 * - Hyyro's HN << 1 is the very vector of carries of his addition, so it is read
 *   off the sum.
 *
 * No score is kept: when the text of length n is over, the distance is n plus
 * the sum of the pattern's own vertical differences.
 *
 * Words are the outer loop and letters the inner one; the horizontal differences
 * that leave a word wait, for LEV_TILE letters of text, until the next word is
 * computed.
 *
 * Memory per thread: a word's table of match masks has a row for each letter of
 * its patterns, never more than 64 * LEV_LANES + 1, and 4 bytes for each letter
 * of the alphabet.  Tables are kept for as many words as fit in LEV_TABLES
 * bytes, at least one; the others are made again when they are needed.  The
 * carries take 2 * LEV_GROUPS vectors for each letter of a tile; state and guards
 * take 3 bits for each bit of the lanes.
 */
enum {
    LEV_GROUPS = 4, /* independent vectors that hide each other's latency */
    LEV_LANES = LEV_GROUPS * D2KE_BYTES / 8,
    LEV_TILE = 1024,
    LEV_TABLES = 4 << 20,
};

typedef v_u64 lev_vectors[LEV_GROUPS];

/* Where a pattern is: bits begin .. end of a lane. */
typedef struct {
    int64_t lane, begin, end;
} lev_place;

/* A pattern's own bits in one word: `at` counts the uint64_t of lev_scratch.state. */
typedef struct {
    uint64_t own;
    int32_t at, last; /* last: of its pattern */
} lev_piece;

/* The match masks of one word; `rows[letter]` is a row's offset in bytes, and
 * row 0 is that of the letters that do not occur. */
typedef struct {
    int64_t key; /* which word of which block; -1: none yet */
    int64_t n_rows;
    lev_vectors *masks;
    uint32_t *letters; /* of row 1, 2, ... */
    uint32_t *rows;
} lev_table;

typedef struct {
    d2ke_cache cache;
    size_t bytes;
    int64_t words; /* of the current block */
    int64_t most_words; /* of any block */
    int64_t n_tables;
    lev_table *tables;
    lev_place *places;
    lev_piece *pieces; /* of all patterns, in packing order */
    lev_vectors *keep; /* per word: zero at the guards, one elsewhere */
    lev_vectors (*state)[2]; /* per word: where the vertical difference is +1, is -1 */
    lev_vectors (*carry)[2]; /* per letter: horizontal difference is not +1, is -1 */
} lev_scratch;

/* Lays the block's patterns into lanes in packing order, each into the current
 * lane if it fits, in the fewest words for which the lanes suffice. */
static int64_t lev_pack(const d2ke_problem *problem, int64_t block, lev_place *places)
{
    int64_t first = problem->blocks[block], n = problem->blocks[block + 1] - first;
    int64_t longest = 1, total = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t length = d2ke_length(&problem->y, problem->order[first + k]);
        longest = length > longest ? length : longest;
        total += length;
    }
    int64_t size = total / LEV_LANES > longest ? total / LEV_LANES : longest;
    for (int64_t words = (size + 63) / 64;; words++) {
        int64_t k = 0, lane = 0, bit = 0;
        for (; k < n; k++) {
            int64_t length = d2ke_length(&problem->y, problem->order[first + k]);
            if (bit + length > 64 * words) {
                bit = 0;
                if (++lane == LEV_LANES)
                    break;
            }
            if (places)
                places[k] = (lev_place){lane, bit, bit + length};
            bit += length + 1;
        }
        if (k == n)
            return words;
    }
}

static void *lev_take(lev_scratch *s, char *base, size_t bytes)
{
    void *p = base ? base + s->bytes : NULL;
    s->bytes += (size_t)d2ke_round_up((int64_t)bytes, 64);
    return p;
}

/* Divides the scratch memory at `base`; with NULL, only finds how much it takes. */
static lev_scratch lev_layout(const d2ke_problem *problem, char *base)
{
    lev_scratch s = {.cache = {.block = -1}};
    int64_t patterns = 0, letters = ((const levenshtein_options *)problem->options)->n_letters;
    for (int64_t b = 0; b < problem->n_blocks; b++) {
        int64_t w = lev_pack(problem, b, NULL), n = problem->blocks[b + 1] - problem->blocks[b];
        s.most_words = w > s.most_words ? w : s.most_words;
        patterns = n > patterns ? n : patterns;
    }
    int64_t rows = (letters < 64 * LEV_LANES ? letters : 64 * LEV_LANES) + 1;
    int64_t fit = LEV_TABLES / (rows * (int64_t)sizeof(lev_vectors) + letters * 4);
    int64_t wanted = problem->n_blocks * s.most_words;
    s.n_tables = fit < 1 ? 1 : fit < wanted ? fit : wanted;

    lev_take(&s, base, sizeof s);
    s.tables = lev_take(&s, base, s.n_tables * sizeof *s.tables);
    s.places = lev_take(&s, base, patterns * sizeof *s.places);
    s.pieces = lev_take(&s, base, (patterns + s.most_words * LEV_LANES) * sizeof *s.pieces);
    s.keep = lev_take(&s, base, s.most_words * sizeof *s.keep);
    s.state = lev_take(&s, base, s.most_words * sizeof *s.state);
    s.carry = lev_take(&s, base, s.most_words > 1 ? LEV_TILE * sizeof *s.carry : 0);
    for (int64_t t = 0; t < s.n_tables; t++) {
        lev_table table = {.key = -1};
        table.masks = lev_take(&s, base, rows * sizeof *table.masks);
        table.letters = lev_take(&s, base, rows * sizeof *table.letters);
        table.rows = lev_take(&s, base, letters * sizeof *table.rows);
        if (base) {
            memset(table.rows, 0, letters * sizeof *table.rows);
            s.tables[t] = table;
        }
    }
    return s;
}

static size_t levenshtein_scratch(const d2ke_problem *problem)
{
    return lev_layout(problem, NULL).bytes;
}

static void lev_prepare(const d2ke_problem *problem, int64_t block, lev_scratch *s)
{
    s->cache.block = block;
    s->words = lev_pack(problem, block, s->places);
    memset(s->keep, 0xff, s->words * sizeof *s->keep);
    int64_t first = problem->blocks[block], n = problem->blocks[block + 1] - first;
    lev_piece *piece = s->pieces;
    for (int64_t k = 0; k < n; k++) {
        int64_t lane = s->places[k].lane, bit = s->places[k].begin, end = s->places[k].end;
        if (bit == end) /* empty, maybe above the last word */
            *piece++ = (lev_piece){.last = 1};
        for (int64_t next; bit < end; bit = next) {
            uint64_t own = ~UINT64_C(0) << bit % 64;
            next = (bit | 63) + 1;
            if (next > end)
                own &= ~(~UINT64_C(0) << end % 64);
            *piece++ = (lev_piece){own, (int32_t)(bit / 64 * 2 * LEV_LANES + lane), next >= end};
        }
        if (k + 1 < n && s->places[k + 1].lane == lane)
            ((uint64_t *)s->keep[end / 64])[lane] ^= UINT64_C(1) << end % 64;
    }
}

/* The current block's match masks for a word, as left by an earlier call or made anew. */
static const lev_table *lev_masks(const d2ke_problem *problem, const lev_scratch *s, int64_t word)
{
    int64_t key = s->cache.block * s->most_words + word;
    lev_table *table = &s->tables[key % s->n_tables];
    if (table->key == key)
        return table;
    table->key = key;
    for (int64_t r = 1; r < table->n_rows; r++)
        table->rows[table->letters[r]] = 0;
    table->n_rows = 1;
    memset(table->masks, 0, sizeof *table->masks);
    int64_t first = problem->blocks[s->cache.block];
    int64_t n = problem->blocks[s->cache.block + 1] - first;
    for (int64_t k = 0; k < n; k++) {
        const lev_place *place = &s->places[k];
        int64_t begin = place->begin - 64 * word, end = place->end - 64 * word;
        const uint32_t *pattern = (const uint32_t *)problem->y.values
                                  + problem->y.offsets[problem->order[first + k]];
        for (int64_t i = begin < 0 ? 0 : begin; i < end && i < 64; i++) {
            uint32_t letter = pattern[i - begin];
            uint32_t *row = &table->rows[letter];
            if (!*row) {
                *row = (uint32_t)(table->n_rows * sizeof(lev_vectors));
                memset(table->masks[table->n_rows], 0, sizeof(lev_vectors));
                table->letters[table->n_rows++] = letter;
            }
            ((uint64_t *)((char *)table->masks + *row))[place->lane] |= UINT64_C(1) << i;
        }
    }
    return table;
}

/* Two functions for which compilers take more instructions than there are:
 * a | b | c, and a & ~(b & ~c) where c has no bits that b has not. */
#if D2KE_BYTES == 64
#define LEV_LOGIC(a, b, c, table)                                                                  \
    ((v_u64)_mm512_ternarylogic_epi64((__m512i)(a), (__m512i)(b), (__m512i)(c), table))
D2KE_INLINE v_u64 lev_any(v_u64 a, v_u64 b, v_u64 c) { return LEV_LOGIC(a, b, c, 0xFE); }
D2KE_INLINE v_u64 lev_except(v_u64 a, v_u64 b, v_u64 c) { return LEV_LOGIC(a, b, c, 0xB0); }
#else
D2KE_INLINE v_u64 lev_any(v_u64 a, v_u64 b, v_u64 c) { return a | b | c; }
#if D2KE_BYTES == 32
D2KE_INLINE v_u64 lev_except(v_u64 a, v_u64 b, v_u64 c)
{
    return (v_u64)_mm256_andnot_si256((__m256i)(b ^ c), (__m256i)a);
}
#else
D2KE_INLINE v_u64 lev_except(v_u64 a, v_u64 b, v_u64 c) { return a & ~(b ^ c); }
#endif
#endif

/* One word of every lane along n letters of text. */
D2KE_INLINE void lev_word(const uint32_t *text, int64_t n, const lev_table *table,
                          const lev_vectors keep, lev_vectors state[2], lev_vectors (*carry)[2],
                          const int guarded, const int from_below, const int to_above)
{
    lev_vectors plus, minus;
    const uint32_t *rows = table->rows;
    const char *masks = (const char *)table->masks;
    D2KE_UNROLL for (int g = 0; g < LEV_GROUPS; g++) {
        plus[g] = state[0][g];
        minus[g] = state[1][g];
    }
    for (int64_t i = 0; i < n; i++) {
        const v_u64 *row = (const v_u64 *)(masks + rows[text[i]]);
        D2KE_UNROLL for (int g = 0; g < LEV_GROUPS; g++) {
            v_u64 match = row[g];
            v_u64 sum = (match & plus[g]) + plus[g];
            if (from_below)
                sum += carry[i][1][g];
            v_u64 negative = sum ^ (plus[g] & ~match); /* entering each row from below */
            v_u64 diagonal = lev_any(match, minus[g], negative);
            v_u64 leaving = (diagonal | plus[g]) & ~minus[g]; /* each row, not as +1 */
            v_u64 flat = leaving + leaving; /* entering each row, not as +1 */
            if (from_below)
                flat |= carry[i][0][g];
            if (to_above) {
                carry[i][0][g] = leaving >> 63;
                carry[i][1][g] = (diagonal & plus[g]) >> 63;
            }
            if (guarded)
                flat &= keep[g];
            minus[g] = diagonal & ~flat;
            plus[g] = lev_except(flat, diagonal, negative);
        }
    }
    D2KE_UNROLL for (int g = 0; g < LEV_GROUPS; g++) {
        state[0][g] = plus[g];
        state[1][g] = minus[g];
    }
}

static void levenshtein(const d2ke_problem *problem, int64_t row, int64_t block, void *scratch,
                        double *result, const d2ke_poll *poll)
{
    lev_scratch *s = scratch;
    if (s->cache.block < 0)
        *s = lev_layout(problem, scratch);
    if (s->cache.block != block)
        lev_prepare(problem, block, s);

    int64_t n = d2ke_length(&problem->x, row), words = s->words, steps = 0;
    const uint32_t *text = (const uint32_t *)problem->x.values + problem->x.offsets[row];
    for (int64_t w = 0; w < words; w++)
        for (int g = 0; g < LEV_GROUPS; g++) {
            s->state[w][0][g] = s->keep[w][g];
            s->state[w][1][g] = ~s->keep[w][g];
        }
    int64_t n_items = problem->blocks[block + 1] - problem->blocks[block];
    int guarded = s->places[n_items - 1].lane + 1 < n_items;
    for (int64_t begin = 0; begin < n; begin += LEV_TILE) {
        int64_t m = n - begin < LEV_TILE ? n - begin : LEV_TILE;
        for (int64_t w = 0; w < words; w++) {
            const lev_table *table = lev_masks(problem, s, w);
#define LEV_WORD(guarded, from_below, to_above)                                                   \
    lev_word(text + begin, m, table, s->keep[w], s->state[w], s->carry, guarded, from_below,      \
             to_above)
            if (words == 1 && !guarded)
                LEV_WORD(0, 0, 0);
            else if (words == 1)
                LEV_WORD(1, 0, 0);
            else if (w == 0)
                LEV_WORD(1, 0, 1);
            else if (w < words - 1)
                LEV_WORD(1, 1, 1);
            else
                LEV_WORD(1, 1, 0);
#undef LEV_WORD
            steps += m * LEV_GROUPS;
            if (steps >= 1000000) {
                steps = 0;
                if (d2ke_stopped(poll))
                    return;
            }
        }
    }

    const lev_piece *piece = s->pieces;
    const uint64_t *plus = (const uint64_t *)s->state, *minus = plus + LEV_LANES;
    for (int64_t k = 0; k < n_items; k++) {
        int64_t distance = n;
        do {
            distance += __builtin_popcountll(plus[piece->at] & piece->own);
            distance -= __builtin_popcountll(minus[piece->at] & piece->own);
        } while (!piece++->last);
        result[k] = (double)distance;
    }
}
