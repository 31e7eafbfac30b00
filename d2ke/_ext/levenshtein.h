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
 *   off the sum.  Where it matters to the next column the sum itself will do: 8
 *   instructions for a letter with AVX-512, 10 with AVX2 (lev_across, lev_step).
 *
 * Short patterns, to be compared with short texts, have a lane of 8, 16 or 32 bits each, and stay in
 * the order of the items (`own_block`): they need no guards, the distances of a whole vector are
 * counted at once, and rows of results are written as they are.
 *
 * No score is kept: when the text of length n is over, the distance is n plus
 * the sum of the pattern's own vertical differences.
 *
 * For the distance to the nearest prefix or substring of the text (LEV_PREFIX,
 * LEV_INFIX) the least score of any column is wanted.  It is the last column's
 * score less its excess above the least one, and the excess is counted in bytes:
 * it gains what enters the guard bit above the pattern, but never falls below 0.
 * Every pattern has a guard then, and no two of them are in one byte; a tile is
 * so short, or the patterns are, that a byte suffices.  Where no two are in the
 * same 16 bits, the guards of two vectors are counted in one (lev_pair).  For substrings row 0 of
 * the table is all zeros: the first bit of each pattern is handed the difference 0.
 * Where each lane holds one pattern in one word, it ends at the lane's top: its
 * last differences are the signs of the lanes, those of LEV_GROUPS vectors are
 * packed into one, and the scores and their least are kept in 16 bits.
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
 * take 3 bits for each bit of the lanes, and 4 more where the least score is wanted.
 */
enum {
    LEV_GROUPS = 4, /* independent vectors that hide each other's latency */
    LEV_LANES = LEV_GROUPS * D2KE_BYTES / 8,
    LEV_TILE = 1024,
    LEV_LONG_TILE = 64 * LEV_TILE, /* where one word has no other to hand its differences to */
    LEV_PART_TILE = 255, /* where an excess is counted, in bytes */
    LEV_PART_SIZE = 8, /* and least bits of a pattern with its guard */
    LEV_TABLES = 4 << 20,
};

typedef v_u64 lev_vectors[LEV_GROUPS];

/* What is read of the lanes of vectors. */
typedef uint8_t __attribute__((may_alias)) lev_u8;
typedef uint16_t __attribute__((may_alias)) lev_u16;
typedef int32_t __attribute__((may_alias)) lev_i32;

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

/* What a word has beside the state where the least score of any column is wanted. */
typedef struct {
    lev_vectors begins; /* one where row 0's difference 0 enters */
    lev_vectors guards; /* one at the bit above each pattern */
    lev_vectors excess; /* a byte for each guard, counted from LEV_NO_EXCESS */
    v_u64 pairs[LEV_GROUPS / 2]; /* with LEV_PAIRS, see lev_pair */
    uint64_t moved[LEV_GROUPS / 2];
    int64_t any; /* whether there are begins or guards */
} lev_border;

/* Where a pattern's excess is: `at` counts the uint64_t of lev_scratch.borders. */
typedef struct {
    int32_t at, shift;
} lev_byte;

enum { LEV_NO_EXCESS = 0x80 }; /* the least signed byte: sums saturate there */

/* Whose excess is counted in a word: nobody's, each vector's, or two vectors' in one. */
enum { LEV_NONE, LEV_EACH, LEV_PAIRS };

typedef D2KE_VECTOR(int16_t) v_i16;

/* The scores of patterns at the tops of their lanes, less the patterns' lengths, in 16 bits. */
typedef struct {
    v_i16 now, least;
} lev_scores;

typedef struct {
    d2ke_cache cache;
    size_t bytes;
    int64_t words; /* of the current block */
    int64_t tops; /* its patterns are at the tops of the lanes */
    int64_t part; /* else how their excesses are counted */
    lev_scores scores;
    int64_t longest; /* its longest pattern */
    int64_t most_words; /* of any block */
    int64_t n_tables;
    lev_table *tables;
    lev_place *places;
    lev_piece *pieces; /* of all patterns, in packing order */
    lev_vectors *keep; /* per word: zero at the guards, one elsewhere */
    lev_vectors *own; /* the bits of the patterns in lanes of their own */
    lev_border *borders; /* per word, or none */
    lev_byte *counts; /* per pattern, in packing order */
    lev_vectors (*state)[2]; /* per word: where the vertical difference is +1, is -1 */
    lev_vectors (*carry)[2]; /* per letter: horizontal difference is not +1, is -1 */
    lev_vectors *diagonal; /* per word, of transpositions: the last column's diagonal difference 0, */
    lev_vectors *crossed; /* and per letter: what enters the next word, see osa_word */
    lev_vectors *found; /* of patterns alone: a bit for each letter of text, see jaro.h */
} lev_scratch;

static int64_t lev_mode(const d2ke_problem *problem)
{
    return ((const levenshtein_options *)problem->options)->mode;
}

/* The bits of the block's lanes if each pattern has its own, else 64. */
static int lev_bits(const d2ke_problem *problem, int64_t block)
{
    const levenshtein_options *options = problem->options;
    return block < options->own_block ? 64 : (int)options->own_bits;
}

/* Bits of a pattern that is alone, of a block with this longest one; strings.pyx divides them. */
static int64_t lev_alone(int64_t longest, int64_t least)
{
    return longest <= 16 && least <= 16 ? 16 : longest <= 32 && least <= 32 ? 32 : 64;
}

/* Lays the block's patterns into lanes in packing order, each into the current
 * lane if it fits, in the fewest words for which the lanes suffice. */
static int64_t lev_pack(const d2ke_problem *problem, int64_t block, lev_place *places)
{
    int64_t part = lev_mode(problem) != LEV_GLOBAL, least = part ? LEV_PART_SIZE : 1;
    int64_t alone = ((const levenshtein_options *)problem->options)->alone;
    int64_t first = problem->blocks[block], n = problem->blocks[block + 1] - first;
    int64_t longest = 1, total = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t length = d2ke_length(&problem->y, problem->order[first + k]);
        longest = length > longest ? length : longest;
        total += length;
    }
    if (alone) {
        alone = lev_alone(longest, alone);
        for (int64_t k = 0; places && k < n; k++) {
            int64_t begin = k * alone % 64, item = problem->order[first + k];
            places[k] = (lev_place){k * alone / 64, begin, begin + d2ke_length(&problem->y, item)};
        }
        return (longest + 63) / 64;
    }
    longest += part;
    int64_t most = total / LEV_LANES > longest ? total / LEV_LANES : longest;
    for (int64_t words = (most + 63) / 64;; words++) {
        int64_t k = 0, lane = 0, bit = 0;
        for (; k < n; k++) {
            int64_t length = d2ke_length(&problem->y, problem->order[first + k]);
            int64_t size = length + 1 < least ? least : length + 1;
            if (bit + size - 1 + part > 64 * words) {
                bit = 0;
                if (++lane == LEV_LANES)
                    break;
            }
            if (places)
                places[k] = (lev_place){lane, bit + size - 1 - length, bit + size - 1};
            bit += size;
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
        int64_t w = lev_bits(problem, b) < 64 ? 1 : lev_pack(problem, b, NULL);
        int64_t n = problem->blocks[b + 1] - problem->blocks[b];
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
    s.own = lev_take(&s, base, sizeof *s.own);
    if (lev_mode(problem) != LEV_GLOBAL) {
        s.borders = lev_take(&s, base, s.most_words * sizeof *s.borders);
        s.counts = lev_take(&s, base, patterns * sizeof *s.counts);
    }
    s.state = lev_take(&s, base, s.most_words * sizeof *s.state);
    s.carry = lev_take(&s, base, s.most_words > 1 ? LEV_TILE * sizeof *s.carry : 0);
    if (((const levenshtein_options *)problem->options)->alone)
        s.found = lev_take(&s, base, (problem->x.longest + 15) / 16 * sizeof *s.found);
    if (((const levenshtein_options *)problem->options)->swaps) {
        s.diagonal = lev_take(&s, base, s.most_words * sizeof *s.diagonal);
        s.crossed = lev_take(&s, base, s.most_words > 1 ? LEV_TILE * sizeof *s.crossed : 0);
    }
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

/* Turns bit `bit` of a lane whose words are `stride` bytes apart, the first of them in `word`. */
static void lev_flip(lev_vectors *word, size_t stride, int64_t lane, int64_t bit)
{
    uint64_t *words = (uint64_t *)((char *)word + bit / 64 * stride);
    words[lane] ^= UINT64_C(1) << bit % 64;
}

/* Where the excess of a pattern that ends at `bit` of a word is counted with LEV_PAIRS; adds its
 * guard, and what brings the guards of two vectors into one.
 *
 * No two guards of a lane are in the same 16 bits.  With AVX-512 the odd vector's bytes with guards
 * are moved into the even one, each into one of the two bytes that the even one's guard leaves:
 * `pairs` says from where, and `moved` where to.  Else both are masked, and 16 bits are packed into
 * a byte; `pairs` are the guards packed. */
static lev_byte lev_pair(lev_border *border, int64_t lane, int64_t bit)
{
    const int64_t lanes = D2KE_BYTES / 8;
    int64_t group = lane / lanes, pair = group / 2, at = lane % lanes, byte = bit / 8;
    uint64_t *guards = (uint64_t *)&border->guards[group] + at;
#if D2KE_BYTES == 64
    if (group % 2) {
        guards -= lanes;
        byte ^= (*guards >> 8 * byte & 0xff) != 0;
        border->moved[pair] |= UINT64_C(1) << (8 * at + byte);
        ((uint8_t *)&border->pairs[pair])[8 * at + byte] = (uint8_t)(at % 2 * 8 + bit / 8);
    }
    byte += 8 * at;
    *guards |= UINT64_C(1) << (byte % 8 * 8 + bit % 8);
#else
    *guards |= UINT64_C(1) << bit;
    byte = at / 2 * 16 + group % 2 * 8 + at % 2 * 4 + byte / 2;
#if D2KE_BYTES == 32
    border->pairs[pair] = (v_u64)_mm256_packs_epi16((__m256i)border->guards[2 * pair],
                                                    (__m256i)border->guards[2 * pair + 1]);
#elif defined(__SSE2__)
    border->pairs[pair] = (v_u64)_mm_packs_epi16((__m128i)border->guards[2 * pair],
                                                 (__m128i)border->guards[2 * pair + 1]);
#endif
#endif
    return (lev_byte){(int32_t)(lanes * pair + byte / 8), (int32_t)(byte % 8 * 8)};
}

/* The block's guards and where its patterns begin, for the least score of any column. */
static void lev_prepare_borders(const d2ke_problem *problem, int64_t n, lev_scratch *s)
{
    lev_border *borders = s->borders;
    memset(borders, 0, s->words * sizeof *borders);
    s->longest = 0;
    s->part = LEV_EACH;
#if defined(__SSE2__)
    s->part = LEV_PAIRS;
    for (int64_t k = 1; k < n; k++)
        if (s->places[k - 1].lane == s->places[k].lane
            && s->places[k - 1].end / 16 == s->places[k].end / 16)
            s->part = LEV_EACH;
#endif
    for (int64_t k = 0; k < n; k++) {
        int64_t lane = s->places[k].lane, begin = s->places[k].begin, end = s->places[k].end;
        s->longest = end - begin > s->longest ? end - begin : s->longest;
        lev_flip(s->keep, sizeof *s->keep, lane, end);
        /* Bits below, up to the least size, are guards too, but are not counted. */
        for (int64_t bit = end + 1 - LEV_PART_SIZE; bit < begin; bit++)
            lev_flip(s->keep, sizeof *s->keep, lane, bit);
        s->counts[k] = (lev_byte){0, 0};
        if (begin == end)
            continue;
        lev_byte *count = &s->counts[k];
        if (s->part == LEV_PAIRS) {
            *count = lev_pair(&borders[end / 64], lane, end % 64);
        } else {
            *count = (lev_byte){(int32_t)lane, (int32_t)(end % 64 & ~7)};
            lev_flip(&borders->guards, sizeof *borders, lane, end);
        }
        count->at += (int32_t)((uint64_t *)borders[end / 64].excess - (uint64_t *)borders);
        borders[end / 64].any = 1;
        if (lev_mode(problem) == LEV_INFIX) {
            lev_flip(&borders->begins, sizeof *borders, lane, begin);
            borders[begin / 64].any = 1;
        }
    }
}

/* Moves the patterns, one to a lane of one word, up to the last bit, which is the guard.  The rows
 * below hand on what enters them: no letter of theirs matches, and in a column they rise where
 * that is 0 (substrings), or fall where it is +1 (prefixes). */
static void lev_prepare_tops(const d2ke_problem *problem, int64_t n, lev_scratch *s)
{
    s->longest = 0;
    for (int64_t k = 0; k < n; k++) {
        lev_place *place = &s->places[k];
        int64_t length = place->end - place->begin;
        s->longest = length > s->longest ? length : s->longest;
        place->end = 63;
        place->begin = 63 - length;
        if (lev_mode(problem) == LEV_PREFIX)
            ((uint64_t *)s->keep)[place->lane] = ~UINT64_C(0) << place->begin;
    }
}

/* The patterns in lanes of their own, each at the bottom: what is above does not reach it. */
static void lev_prepare_own(const d2ke_problem *problem, int64_t block, lev_scratch *s)
{
    int64_t first = problem->blocks[block], n = problem->blocks[block + 1] - first;
    int bits = lev_bits(problem, block);
    s->words = 1;
    memset(s->keep, 0xff, sizeof *s->keep);
    memset(s->own, 0, sizeof *s->own);
    for (int64_t k = 0; k < n; k++) {
        int64_t length = d2ke_length(&problem->y, problem->order[first + k]), bit = k * bits % 64;
        s->places[k] = (lev_place){k * bits / 64, bit, bit + length};
        ((uint64_t *)s->own)[k * bits / 64] |= ((UINT64_C(1) << length) - 1) << bit;
    }
}

static void lev_prepare(const d2ke_problem *problem, int64_t block, lev_scratch *s)
{
    s->cache.block = block;
    if (lev_bits(problem, block) < 64) {
        lev_prepare_own(problem, block, s);
        return;
    }
    s->words = lev_pack(problem, block, s->places);
    memset(s->keep, 0xff, s->words * sizeof *s->keep);
    int64_t first = problem->blocks[block], n = problem->blocks[block + 1] - first;
    s->tops = s->borders && s->words == 1 && s->places[n - 1].lane + 1 == n;
    if (s->tops) {
        lev_prepare_tops(problem, n, s);
        return;
    }
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
        if (!s->borders && k + 1 < n && s->places[k + 1].lane == lane)
            lev_flip(s->keep, sizeof *s->keep, lane, end);
    }
    if (s->borders)
        lev_prepare_borders(problem, n, s);
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

/* (a | b) & c, (a | b) & ~c and a & ~(b & ~c), for which compilers take more instructions than
 * there are. */
#if D2KE_BYTES == 64
#define LEV_LOGIC(a, b, c, table)                                                                  \
    ((v_u64)_mm512_ternarylogic_epi64((__m512i)(a), (__m512i)(b), (__m512i)(c), table))
D2KE_INLINE v_u64 lev_enter(v_u64 a, v_u64 b, v_u64 c) { return LEV_LOGIC(a, b, c, 0xA8); }
D2KE_INLINE v_u64 lev_either(v_u64 a, v_u64 b, v_u64 c) { return LEV_LOGIC(a, b, c, 0x54); }
D2KE_INLINE v_u64 lev_except(v_u64 a, v_u64 b, v_u64 c) { return LEV_LOGIC(a, b, c, 0xB0); }
#else
#if D2KE_BYTES == 32
#define LEV_NOT(a, b) ((v_u64)_mm256_andnot_si256((__m256i)(b), (__m256i)(a)))
#elif defined(__SSE2__)
#define LEV_NOT(a, b) ((v_u64)_mm_andnot_si128((__m128i)(b), (__m128i)(a)))
#else
#define LEV_NOT(a, b) ((a) & ~(b))
#endif
D2KE_INLINE v_u64 lev_enter(v_u64 a, v_u64 b, v_u64 c) { return (a | b) & c; }
D2KE_INLINE v_u64 lev_either(v_u64 a, v_u64 b, v_u64 c) { return LEV_NOT(a | b, c); }
D2KE_INLINE v_u64 lev_except(v_u64 a, v_u64 b, v_u64 c) { return LEV_NOT(a, LEV_NOT(b, c)); }
#endif

/* Sums in lanes of 8, 16, 32 or 64 bits. */
D2KE_INLINE v_u64 lev_add(v_u64 a, v_u64 b, const int bits)
{
    if (bits == 8)
        return (v_u64)((v_u8)a + (v_u8)b);
    if (bits == 16)
        return (v_u64)((v_u16)a + (v_u16)b);
    if (bits == 32)
        return (v_u64)((v_u32)a + (v_u32)b);
    return a + b;
}

/* A word of a column without what enters from the words below, but with the carries in `sum`. */
typedef struct {
    v_u64 sum;
    v_u64 equal; /* diagonal difference 0, but for where -1 enters the row from below */
    v_u64 leaving; /* horizontal difference of the row is not +1 */
} lev_column;

/* The carries are the differences -1 that enter.  `sum` has them where `plus` has no bit; where it
 * has one, `leaving` is set in any case. */
D2KE_INLINE lev_column lev_across(v_u64 match, v_u64 plus, v_u64 minus, v_u64 sum)
{
    return (lev_column){sum, match | minus, lev_either(match | plus, sum, minus)};
}

/* Where the horizontal difference -1 enters the row. */
D2KE_INLINE v_u64 lev_negative(v_u64 match, v_u64 plus, v_u64 sum) { return sum ^ (plus & ~match); }

/* The vertical differences after the column; `flat`: the difference entering the row is not +1, as
 * it is wherever -1 enters.  In `equal`, `sum` is where -1 enters. */
D2KE_INLINE void lev_step(lev_column c, v_u64 flat, v_u64 *plus, v_u64 *minus)
{
    *minus = c.equal & ~flat;
    *plus = lev_except(flat, c.equal, c.sum);
}

/* One less, but not below 0, where `less` is all ones. */
D2KE_INLINE v_u64 lev_lessen(v_u8 excess, v_u8 less)
{
#if D2KE_BYTES == 32
    return (v_u64)_mm256_adds_epi8((__m256i)excess, (__m256i)less);
#elif D2KE_BYTES == 16 && defined(__SSE2__)
    return (v_u64)_mm_adds_epi8((__m128i)excess, (__m128i)less);
#else
    return (v_u64)(excess + (less & (v_u8)(excess != LEV_NO_EXCESS)));
#endif
}

/* The excess after a column, in bytes of one guard each; bytes without a guard hold anything. */
D2KE_INLINE v_u64 lev_exceed(v_u64 excess, v_u64 flat, v_u64 negative, v_u64 guards)
{
#if D2KE_BYTES == 64
    const __m512i one = _mm512_set1_epi8(1);
    __m512i e = (__m512i)excess;
    e = _mm512_mask_add_epi8(e, _mm512_testn_epi8_mask((__m512i)flat, (__m512i)guards), e, one);
    e = _mm512_mask_subs_epi8(e, _mm512_test_epi8_mask((__m512i)negative, (__m512i)guards), e, one);
    return (v_u64)e;
#else
    v_u8 e = (v_u8)excess - (v_u8)((v_u8)(flat & guards) == 0);
    return lev_lessen(e, (v_u8)((v_u8)(negative & guards) == (v_u8)guards));
#endif
}

/* The same of two vectors, whose guards are brought into one. */
D2KE_INLINE v_u64 lev_exceed_pair(v_u64 excess, const v_u64 flat[2], const v_u64 negative[2],
                                  const v_u64 guards[2], v_u64 pairs, uint64_t moved)
{
#if D2KE_BYTES == 64
#define LEV_BOTH(a)                                                                                \
    (v_u64)_mm512_mask_shuffle_epi8((__m512i)a[0], moved, (__m512i)a[1], (__m512i)pairs)
    return lev_exceed(excess, LEV_BOTH(flat), LEV_BOTH(negative), guards[0]);
#elif defined(__SSE2__)
#if D2KE_BYTES == 32
#define LEV_BOTH(a)                                                                                \
    (v_u8)_mm256_packs_epi16((__m256i)(a[0] & guards[0]), (__m256i)(a[1] & guards[1]))
#else
#define LEV_BOTH(a)                                                                                \
    (v_u8)_mm_packs_epi16((__m128i)(a[0] & guards[0]), (__m128i)(a[1] & guards[1]))
#endif
    v_u8 e = (v_u8)excess - (v_u8)(LEV_BOTH(flat) == 0);
    v_u8 less = (v_u8)(LEV_BOTH(negative) == (v_u8)pairs);
    return lev_lessen(e, less);
#else
    return excess;
#endif
}

/* The upper halves of the lanes of two groups, and of those of four their upper halves, as far as
 * their signs; lev_top says which is where. */
D2KE_INLINE v_u32 lev_upper(v_u64 a, v_u64 b)
{
#if D2KE_BYTES == 64
    return (v_u32)_mm512_shuffle_ps((__m512)a, (__m512)b, 0xDD);
#elif D2KE_BYTES == 32
    return (v_u32)_mm256_shuffle_ps((__m256)a, (__m256)b, 0xDD);
#elif defined(__SSE2__)
    return (v_u32)_mm_shuffle_ps((__m128)a, (__m128)b, 0xDD);
#else
    return (v_u32){a[0] >> 32, a[1] >> 32, b[0] >> 32, b[1] >> 32};
#endif
}

D2KE_INLINE v_i16 lev_tops(v_u32 a, v_u32 b)
{
#if D2KE_BYTES == 64
    return (v_i16)_mm512_packs_epi32((__m512i)a, (__m512i)b);
#elif D2KE_BYTES == 32
    return (v_i16)_mm256_packs_epi32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (v_i16)_mm_packs_epi32((__m128i)a, (__m128i)b);
#else
    return (v_i16){a[0] >> 16, a[1] >> 16, a[2] >> 16, a[3] >> 16,
                   b[0] >> 16, b[1] >> 16, b[2] >> 16, b[3] >> 16};
#endif
}

/* Which of lev_tops' numbers is a lane's: of each 128 bits, two from every group. */
static int64_t lev_top(int64_t lane)
{
    int64_t group = lane / (D2KE_BYTES / 8), at = lane % (D2KE_BYTES / 8);
    return at / 2 * 2 * LEV_GROUPS + 2 * group + at % 2;
}

/* The scores after a column; negative where the last difference is not +1, and where it is -1. */
D2KE_INLINE void lev_score(lev_scores *scores, v_i16 level, v_i16 fall)
{
    v_i16 now = scores->now;
#if D2KE_BYTES == 64
    const __m512i one = _mm512_set1_epi16(1);
    __mmask32 rises = _mm512_cmpgt_epi16_mask((__m512i)level, _mm512_set1_epi16(-1));
    __mmask32 falls = _mm512_movepi16_mask((__m512i)fall);
    now = (v_i16)_mm512_mask_add_epi16((__m512i)now, rises, (__m512i)now, one);
    now = (v_i16)_mm512_mask_sub_epi16((__m512i)now, falls, (__m512i)now, one);
    scores->least = (v_i16)_mm512_min_epi16((__m512i)scores->least, (__m512i)now);
#elif D2KE_BYTES == 32
    __m256i ones = _mm256_set1_epi16(-1);
    __asm__("" : "+x"(ones)); /* else two instructions become three */
    now -= (v_i16)_mm256_cmpgt_epi16((__m256i)level, ones);
    now += fall >> 15;
    scores->least = (v_i16)_mm256_min_epi16((__m256i)scores->least, (__m256i)now);
#elif defined(__SSE2__)
    __m128i ones = _mm_set1_epi16(-1);
    __asm__("" : "+x"(ones));
    now -= (v_i16)_mm_cmpgt_epi16((__m128i)level, ones);
    now += fall >> 15;
    scores->least = (v_i16)_mm_min_epi16((__m128i)scores->least, (__m128i)now);
#else
    now -= level >= 0;
    now += fall >> 15;
    scores->least += (now - scores->least) & (now < scores->least);
#endif
    scores->now = now;
}

/* The vertical differences of a group before n letters of text, the first ones or more. */
D2KE_INLINE void lev_begin(int first, v_u64 kept, lev_vectors state[2], int g, v_u64 *plus,
                           v_u64 *minus)
{
    *plus = first ? kept : state[0][g];
    *minus = first ? ~kept : state[1][g];
}

/* One word of every lane of some groups along n letters of text; `part`: the excess is counted, in
 * `border`. */
D2KE_INLINE void lev_word(const uint32_t *text, int64_t n, int first, const lev_table *table,
                          const lev_vectors keep, lev_vectors state[2], lev_vectors (*carry)[2],
                          lev_border *border, const int groups, const int bits, const int part,
                          const int guarded, const int from_below, const int to_above)
{
    lev_vectors plus, minus, kept, excess, guards, begins, entering, falling;
    if (part != LEV_NONE) {
        D2KE_UNROLL for (int g = 0; g < groups; g++) {
            guards[g] = border->guards[g];
            begins[g] = border->begins[g];
            excess[g] = (v_u64)((v_u8){0} + (uint8_t)LEV_NO_EXCESS);
        }
    }
    const uint32_t *rows = table->rows;
    const char *masks = (const char *)table->masks;
    D2KE_UNROLL for (int g = 0; g < groups; g++) {
        kept[g] = guarded ? keep[g] : ~(v_u64){0};
        lev_begin(first, kept[g], state, g, &plus[g], &minus[g]);
    }
    for (int64_t i = 0; i < n; i++) {
        const v_u64 *row = (const v_u64 *)(masks + rows[text[i]]);
        D2KE_UNROLL for (int g = 0; g < groups; g++) {
            v_u64 match = row[g];
            v_u64 sum = lev_add(match & plus[g], plus[g], bits);
            if (from_below)
                sum += carry[i][1][g];
            lev_column c = lev_across(match, plus[g], minus[g], sum);
            v_u64 flat = lev_add(c.leaving, c.leaving, bits);
            v_u64 below = from_below ? carry[i][0][g] : flat;
            if (to_above) {
                carry[i][0][g] = c.leaving >> 63;
                carry[i][1][g] = ((match & plus[g]) | (plus[g] & ~sum)) >> 63;
            }
            entering[g] = flat | below;
            falling[g] = lev_negative(match, plus[g], sum);
            if (part == LEV_EACH)
                excess[g] = lev_exceed(excess[g], entering[g], falling[g], guards[g]);
            else if (part == LEV_PAIRS && g % 2)
                excess[g / 2] = lev_exceed_pair(excess[g / 2], &entering[g - 1], &falling[g - 1],
                                                &guards[g - 1], border->pairs[g / 2],
                                                border->moved[g / 2]);
            if (guarded)
                flat = lev_enter(flat, below, kept[g]);
            if (part)
                flat |= begins[g];
            lev_step(c, flat, &plus[g], &minus[g]);
        }
    }
    D2KE_UNROLL for (int g = 0; g < groups; g++) {
        state[0][g] = plus[g];
        state[1][g] = minus[g];
        if (part)
            border->excess[g] = excess[g];
    }
}

/* The next column of such a word.  Returns where the difference entering a row is not +1 (is +1,
 * where LEV_RISING), and into `negative`, where it is -1.  Row 0 hands on 0 if `zero`, else +1. */
#define LEV_RISING(zero) (D2KE_BYTES == 64 && (zero))
D2KE_INLINE v_u64 lev_advance(v_u64 match, v_u64 *plus, v_u64 *minus, v_u64 *negative,
                              const int zero)
{
    lev_column c = lev_across(match, *plus, *minus, (match & *plus) + *plus);
    *negative = lev_negative(match, *plus, c.sum);
#if D2KE_BYTES == 64
    if (LEV_RISING(zero)) { /* the shift brings in the right bit */
        v_u64 rising = LEV_LOGIC(match | *plus, c.sum, *minus, 0xAB);
        rising += rising;
        *minus = c.equal & rising;
        *plus = LEV_LOGIC(rising, c.equal, c.sum, 0x0B);
        return rising;
    }
#endif
    v_u64 flat = c.leaving + c.leaving;
    if (zero)
        flat |= 1;
    lev_step(c, flat, plus, minus);
    return flat;
}

/* The only word of patterns at the tops of their lanes along n letters of text. */
D2KE_INLINE void lev_word_tops(const uint32_t *text, int64_t n, int first, const lev_table *table,
                               const lev_vectors keep, lev_vectors state[2],
                               lev_scores *scores, const int zero)
{
    const uint32_t *rows = table->rows;
    const char *masks = (const char *)table->masks;
    lev_scores s = *scores;
    lev_vectors plus, minus;
    D2KE_UNROLL for (int g = 0; g < LEV_GROUPS; g++)
        lev_begin(first, keep[g], state, g, &plus[g], &minus[g]);
    for (int64_t i = 0; i < n; i++) {
        const v_u64 *row = (const v_u64 *)(masks + rows[text[i]]);
        v_u32 level[2], fall[2];
        D2KE_UNROLL for (int g = 0; g < LEV_GROUPS; g += 2) {
            v_u64 fall0, fall1;
            v_u64 level0 = lev_advance(row[g], &plus[g], &minus[g], &fall0, zero);
            v_u64 level1 = lev_advance(row[g + 1], &plus[g + 1], &minus[g + 1], &fall1, zero);
            level[g / 2] = lev_upper(level0, level1);
            fall[g / 2] = lev_upper(fall0, fall1);
        }
        v_i16 flat = lev_tops(level[0], level[1]);
        lev_score(&s, LEV_RISING(zero) ? ~flat : flat, lev_tops(fall[0], fall[1]));
    }
    D2KE_UNROLL for (int g = 0; g < LEV_GROUPS; g++) {
        state[0][g] = plus[g];
        state[1][g] = minus[g];
    }
    *scores = s;
}

/* The thread's scratch memory with the block prepared. */
static lev_scratch *lev_start(const d2ke_problem *problem, int64_t block, void *scratch)
{
    lev_scratch *s = scratch;
    if (s->cache.block < 0)
        *s = lev_layout(problem, scratch);
    if (s->cache.block != block)
        lev_prepare(problem, block, s);
    return s;
}

/* The sum of a pattern's vertical differences; moves `piece` to the next pattern. */
D2KE_INLINE int64_t lev_rise(const lev_scratch *s, const lev_piece **piece)
{
    const uint64_t *plus = (const uint64_t *)s->state, *minus = plus + LEV_LANES;
    const lev_piece *p = *piece;
    int64_t rise = 0;
    do {
        rise += __builtin_popcountll(plus[p->at] & p->own);
        rise -= __builtin_popcountll(minus[p->at] & p->own);
    } while (!p++->last);
    *piece = p;
    return rise;
}

/* How many bits of a and b are one, for each byte. */
D2KE_INLINE v_u64 lev_ones(v_u64 a, v_u64 b)
{
#if D2KE_BYTES > 16
#if D2KE_BYTES == 64
#define LEV_LOOK(a) (v_u8)_mm512_shuffle_epi8((__m512i)ones, (__m512i)((a) & 0x0f0f0f0f0f0f0f0f))
#else
#define LEV_LOOK(a) (v_u8)_mm256_shuffle_epi8((__m256i)ones, (__m256i)((a) & 0x0f0f0f0f0f0f0f0f))
#endif
    v_u64 ones; /* of numbers below 16 */
    D2KE_UNROLL for (int i = 0; i < D2KE_BYTES / 8; i++)
        ones[i] = i % 2 ? UINT64_C(0x0403030203020201) : UINT64_C(0x0302020102010100);
    return (v_u64)(LEV_LOOK(a) + LEV_LOOK(a >> 4) + LEV_LOOK(b) + LEV_LOOK(b >> 4));
#undef LEV_LOOK
#else
#define LEV_FOLD(a, shift, field) (((a) & UINT64_C(field)) + ((a) >> (shift) & UINT64_C(field)))
    a -= a >> 1 & UINT64_C(0x5555555555555555);
    b -= b >> 1 & UINT64_C(0x5555555555555555);
    a = LEV_FOLD(a, 2, 0x3333333333333333) + LEV_FOLD(b, 2, 0x3333333333333333);
    return LEV_FOLD(a, 4, 0x0f0f0f0f0f0f0f0f);
#undef LEV_FOLD
#endif
}

/* The distances of the patterns in lanes of their own after n letters of text: how many vertical
 * differences are +1, and how many bits of the lane are not a difference -1. */
D2KE_INLINE void lev_counts(const lev_scratch *s, int64_t n, double *result, int64_t n_items,
                            const int bits)
{
    lev_vectors counts;
    D2KE_UNROLL for (int g = 0; g < LEV_GROUPS; g++) {
        v_u64 own = (*s->own)[g];
        v_u64 ones = lev_ones(s->state[0][0][g] & own, ~(s->state[0][1][g] & own));
        if (bits > 8)
            ones = (v_u64)(((v_u16)ones & 0xff) + ((v_u16)ones >> 8));
        if (bits > 16)
            ones = (v_u64)(((v_u32)ones & 0xffff) + ((v_u32)ones >> 16));
        counts[g] = ones;
    }
    const int32_t above = (int32_t)n - bits;
    for (int64_t k = 0; k < n_items; k++)
        result[k] = above + (bits == 8 ? ((lev_u8 *)counts)[k] : bits == 16 ? ((lev_u16 *)counts)[k]
                                       : ((lev_i32 *)counts)[k]);
}

/* The distances of patterns at the tops of their lanes. */
static void lev_part_tops(const d2ke_problem *problem, lev_scratch *s, const uint32_t *text,
                          int64_t n, double *result, int64_t n_items, const d2ke_poll *poll)
{
    const lev_table *table = lev_masks(problem, s, 0);
    lev_scores scores = {{0}, {0}};
    for (int64_t begin = 0; begin < n; begin += LEV_LONG_TILE) {
        int64_t m = n - begin < LEV_LONG_TILE ? n - begin : LEV_LONG_TILE;
        if (lev_mode(problem) == LEV_INFIX)
            lev_word_tops(text + begin, m, begin == 0, table, *s->keep, *s->state, &scores, 1);
        else
            lev_word_tops(text + begin, m, begin == 0, table, *s->keep, *s->state, &scores, 0);
        if (m < n && d2ke_stopped(poll))
            return;
    }
    for (int64_t k = 0; k < n_items; k++) {
        int64_t lane = s->places[k].lane;
        result[k] = (double)(63 - s->places[k].begin + scores.least[lev_top(lane)]);
    }
}

/* The distances of the patterns to the nearest prefix or substring of the text. */
static void levenshtein_part(const d2ke_problem *problem, int64_t row, int64_t block,
                             void *scratch, double *result, const d2ke_poll *poll)
{
    lev_scratch *s = lev_start(problem, block, scratch);
    int64_t n = d2ke_length(&problem->x, row), words = s->words, steps = 0;
    const uint32_t *text = (const uint32_t *)problem->x.values + problem->x.offsets[row];
    int64_t n_items = problem->blocks[block + 1] - problem->blocks[block];
    int prefix = lev_mode(problem) == LEV_PREFIX;
    /* No prefix of more than twice the pattern's letters is nearer than the empty one. */
    if (prefix && n > 2 * s->longest)
        n = 2 * s->longest;
    if (s->tops) {
        lev_part_tops(problem, s, text, n, result, n_items, poll);
        return;
    }
    /* No excess is above the highest score. */
    int64_t tile = (prefix ? 2 : 1) * s->longest <= LEV_PART_TILE ? LEV_TILE : LEV_PART_TILE;
    for (int64_t begin = 0; begin < n || begin == 0; begin += tile) {
        int64_t m = n - begin < tile ? n - begin : tile;
        for (int64_t w = 0; w < words; w++) {
            const lev_table *table = lev_masks(problem, s, w);
#define LEV_WORD(part, from_below, to_above)                                                      \
    lev_word(text + begin, m, begin == 0, table, s->keep[w], s->state[w], s->carry,               \
             s->borders + w, LEV_GROUPS, 64, part, 1, from_below, to_above)
#define LEV_PART(from_below, to_above)                                                            \
    do {                                                                                          \
        if (s->part == LEV_PAIRS)                                                                 \
            LEV_WORD(LEV_PAIRS, from_below, to_above);                                            \
        else                                                                                      \
            LEV_WORD(LEV_EACH, from_below, to_above);                                             \
    } while (0)
            if (words == 1)
                LEV_PART(0, 0);
            else if (w == words - 1)
                LEV_PART(1, 0);
            else if (!s->borders[w].any && w == 0)
                LEV_WORD(LEV_NONE, 0, 1);
            else if (!s->borders[w].any)
                LEV_WORD(LEV_NONE, 1, 1);
            else if (w == 0)
                LEV_PART(0, 1);
            else
                LEV_PART(1, 1);
#undef LEV_PART
#undef LEV_WORD
            if (d2ke_pause(&steps, m * LEV_GROUPS, poll))
                return;
        }
        const lev_piece *piece = s->pieces;
        int64_t letters = prefix ? begin + m : 0;
        const uint64_t *excess = (const uint64_t *)s->borders;
        for (int64_t k = 0; k < n_items; k++) {
            int64_t score = letters + lev_rise(s, &piece);
            lev_byte byte = s->counts[k];
            score -= (int64_t)((excess[byte.at] >> byte.shift & 0xff) ^ LEV_NO_EXCESS);
            score = score < 0 ? 0 : score; /* of an empty pattern */
            double least = begin ? result[k] : (double)(s->places[k].end - s->places[k].begin);
            result[k] = (double)score < least ? (double)score : least;
        }
    }
}
