/* SPDX-License-Identifier: BSD-3-Clause */
/* Edit distances of one pattern to many texts, up to a cut: one pair at a time.
 *
 * The columns of the table are bit-vectors of vertical differences (Myers 1999; Hyyro 2003, 2004;
 * the distances are those of edits.h).
 * Cells farther than the cut from the diagonal cannot be on a path that counts (Ukkonen 1985):
 * for a cut of at most CUT_SMALL the band is one word that moves down a row with each column;
 * otherwise only those words of a column are computed that the band meets.  What lies outside is
 * taken for one more than its neighbour, which is never too small.
 *
 * Damerau's unrestricted distance has no bit-vectors.  It is at most that of optimal string
 * alignment, and at least 2/3 of it: crossed letters with c > 1 edits cost at most c + 1 without. */
#ifndef D2KE_CUTOFF_H
#define D2KE_CUTOFF_H

#include <stdint.h>
#include <string.h>

enum { CUT_SMALL = 31, CUT_BAG = 16 };
enum { CUT_LEVENSHTEIN, CUT_OSA, CUT_INDEL, CUT_DAMERAU };

/* Where each letter of the pattern occurs.  Row 0 of `masks` is that of all other letters; a row
 * has an empty word before its `words` words and one after them. */
typedef struct {
    int64_t length;
    int64_t words;
    int64_t n_rows;
    uint32_t *rows;    /* of each letter of the alphabet */
    uint64_t *masks;   /* (longest + 1) rows */
    uint64_t *up;      /* scratch: a column, where the difference is +1 */
    uint64_t *down;    /* and -1 */
    uint64_t *zero;    /* and the diagonal one 0 */
    const uint32_t *letters;
    int32_t *cells;    /* scratch for Damerau's: 4 rows of the table */
    int32_t *last;     /* and the last row of each letter, which is 0 between two strings */
} cut_pattern;

static inline int64_t cut_words(int64_t length) { return length > 0 ? (length + 63) / 64 : 1; }

/* Rows that a pattern of this length may need, and words of each. */
static inline int64_t cut_mask_words(int64_t length, int64_t n_letters)
{
    return ((length < n_letters ? length : n_letters) + 1) * (cut_words(length) + 2);
}

static inline void cut_forget(cut_pattern *p, const uint32_t *letters)
{
    for (int64_t i = 0; i < p->length; i++) p->rows[letters[i]] = 0;
}

static inline void cut_prepare(cut_pattern *p, const uint32_t *letters, int64_t length)
{
    p->letters = letters;
    int64_t stride = cut_words(length) + 2;
    p->length = length;
    p->words = stride - 2;
    p->n_rows = 1;
    memset(p->masks, 0, (size_t)stride * sizeof *p->masks);
    for (int64_t i = 0; i < length; i++) {
        uint32_t row = p->rows[letters[i]];
        if (row == 0) {
            row = p->rows[letters[i]] = (uint32_t)p->n_rows++;
            memset(p->masks + row * stride, 0, (size_t)stride * sizeof *p->masks);
        }
        p->masks[row * stride + 1 + i / 64] |= UINT64_C(1) << i % 64;
    }
}

/* One column of the moving band, whose lowest row is that of the letter number start + 63. */
#define CUT_COLUMN()                                                                              \
    const uint64_t *row = p->masks + p->rows[text[j]] * stride + (start >> 6);                    \
    uint64_t match = row[0] >> (start & 63) | row[1] << 1 << (63 - (start & 63));                 \
    uint64_t zero, more, less;                                                                    \
    if (edits == CUT_INDEL) {                                                                     \
        less = up & (match | ~((match & up) + up));                                               \
        zero = less | ~up;                                                                        \
        more = ~less;                                                                             \
        up = less | ~(zero >> 1);                                                                 \
    } else {                                                                                      \
        zero = (((match & up) + up) ^ up) | match | down;                                         \
        if (edits == CUT_OSA) {                                                                   \
            zero |= crossed & match << 1 & before >> 1;                                           \
            crossed = ~zero;                                                                      \
            before = match;                                                                       \
        }                                                                                         \
        more = down | ~(zero | up);                                                               \
        less = zero & up;                                                                         \
        up = less | ~(zero >> 1 | more);                                                          \
        down = zero >> 1 & more;                                                                  \
    }

/* For cut <= CUT_SMALL and lengths that differ by at most the cut. */
static inline __attribute__((always_inline)) int64_t cut_small(const cut_pattern *p,
                                                               const uint32_t *text, int64_t n,
                                                               int64_t cut, const int edits)
{
    int64_t m = p->length, stride = p->words + 2, j = 0;
    int64_t start = 1 + cut; /* in bits of a row of masks, whose first word is the empty one */
    uint64_t up = ~UINT64_C(0) << (63 - cut), down = 0, before = 0, crossed = 0;
    int64_t score = m < cut ? m : cut;
    /* Down the lower edge of the band: scores never fall along a diagonal. */
    for (int64_t most = 2 * cut + n - m; j < m - cut; j++, start++) {
        CUT_COLUMN()
        (void)less;
        (void)more;
        score += (1 + (edits == CUT_INDEL)) * !(zero >> 63);
        if (score > most) return cut + 1;
    }
    /* Along the last row. */
    for (; j < n; j++, start++) {
        CUT_COLUMN()
        int bit = (int)(62 - j - cut + m);
        score += (int64_t)(more >> bit & 1) - (int64_t)(less >> bit & 1);
        if (score - (n - 1 - j) > cut) return cut + 1;
    }
    return score;
}
#undef CUT_COLUMN

/* For any cut, and lengths that differ by at most the cut. */
static inline __attribute__((always_inline)) int64_t cut_wide(const cut_pattern *p,
                                                              const uint32_t *text, int64_t n,
                                                              int64_t cut, const int edits)
{
    int64_t m = p->length, words = p->words, stride = words + 2, pad = 64 * words - m;
    int64_t last = cut / 64 < words ? cut / 64 : words - 1, score = 64 * (last + 1);
    uint64_t *up = p->up, *down = p->down, *zero = p->zero;
    const uint64_t *before = p->masks + 1;
    for (int64_t w = 0; w <= last; w++) {
        up[w] = zero[w] = ~UINT64_C(0);
        down[w] = 0;
    }
    for (int64_t j = 0; j < n; j++) {
        const uint64_t *row = p->masks + p->rows[text[j]] * stride + 1;
        if (last < words - 1 && last < (j + cut) / 64) {
            last++;
            up[last] = zero[last] = ~UINT64_C(0);
            down[last] = 0;
            score += 64;
        }
        uint64_t more_in = 1, less_in = 0, cross_in = 0;
        for (int64_t w = j > cut ? (j - cut) / 64 : 0; w <= last; w++) {
            uint64_t match = row[w];
            if (edits == CUT_INDEL) {
                uint64_t sum = (match & up[w]) + up[w] + less_in;
                less_in = (up[w] & (match | ~sum)) >> 63;
                more_in = !less_in;
                up[w] = sum | (up[w] & ~match);
                down[w] = ~up[w];
                continue;
            }
            uint64_t cross = match & ~zero[w];
            match |= less_in;
            uint64_t equal = (((match & up[w]) + up[w]) ^ up[w]) | match | down[w];
            if (edits == CUT_OSA) {
                equal |= (cross << 1 | cross_in) & before[w];
                cross_in = cross >> 63;
                zero[w] = equal;
            }
            uint64_t more = down[w] | ~(equal | up[w]), less = equal & up[w];
            uint64_t more_out = more >> 63, less_out = less >> 63;
            more = more << 1 | more_in;
            less = less << 1 | less_in;
            up[w] = less | ~(equal | more);
            down[w] = equal & more;
            more_in = more_out;
            less_in = less_out;
        }
        before = row;
        score += (int64_t)more_in - (int64_t)less_in;
        if (last == words - 1 && score - pad - (n - 1 - j) > cut) return cut + 1;
    }
    /* From the last word's lowest row back up to the pattern's. */
    if (pad > 0) {
        uint64_t below = ~UINT64_C(0) << (63 - (pad - 1));
        score -= __builtin_popcountll(up[last] & below) - __builtin_popcountll(down[last] & below);
    }
    return score <= cut ? score : cut + 1;
}

/* Damerau's unrestricted distance, in the diagonals that the cut allows.  Of all crossed letters
 * those count that have edits on one side only between them (Zhao & Sahni 2019). */
static inline int64_t cut_damerau(const cut_pattern *p, const uint32_t *text, int64_t n,
                                  int64_t cut, int64_t longest)
{
    int64_t m = p->length, size = longest + 3;
    /* Rows i, i - 1 and i - 2 from column -1 on; of each column, what is before its crossing. */
    int32_t *here = p->cells, *above = here + size, *higher = above + size, *saved = higher + size;
    int32_t *rows = p->last, far = (int32_t)cut + 1;
    for (int64_t j = 0; j < n + 3; j++) {
        above[j] = j && j - 1 <= cut ? (int32_t)j - 1 : far;
        here[j] = higher[j] = saved[j] = far;
    }
    for (int64_t i = 1; i <= m; i++) {
        uint32_t letter = p->letters[i - 1];
        int64_t low = i > cut ? i - cut : 1, high = i + cut < n ? i + cut : n, column = -1;
        int32_t crossed = far;
        here[low] = low == 1 && i <= cut ? (int32_t)i : far;
        for (int64_t j = low; j <= high; j++) {
            int32_t d = above[j] + (letter != text[j - 1]), other;
            if (above[j + 1] + 1 < d) d = above[j + 1] + 1;
            if (here[j] + 1 < d) d = here[j] + 1;
            if (letter == text[j - 1]) {
                column = j;
                saved[j] = above[j - 1];
                crossed = higher[j];
            } else if (column == j - 1) {
                other = saved[j] + (int32_t)(i - rows[text[j - 1]]);
                if (other < d) d = other;
            } else if (column >= 0 && rows[text[j - 1]] == i - 1) {
                other = crossed + (int32_t)(j - column);
                if (other < d) d = other;
            }
            here[j + 1] = d < far ? d : far;
        }
        here[high + 2] = far;
        rows[letter] = (int32_t)i;
        int32_t *next = higher;
        higher = above;
        above = here;
        here = next;
    }
    for (int64_t i = 0; i < m; i++) rows[p->letters[i]] = 0;
    return above[n + 1];
}

/* The distance, or cut + 1 where it is larger than the cut. */
static inline int64_t cut_distance(const cut_pattern *p, const uint32_t *text, int64_t n,
                                   int64_t cut, int64_t longest, int edits)
{
    int64_t difference = n > p->length ? n - p->length : p->length - n;
    if (difference > cut) return cut + 1;
#define CUT_EACH(EDITS)                                                                           \
    (cut <= CUT_SMALL ? cut_small(p, text, n, cut, EDITS) : cut_wide(p, text, n, cut, EDITS))
    if (edits == CUT_DAMERAU) return cut_damerau(p, text, n, cut, longest);
    if (edits == CUT_OSA) return CUT_EACH(CUT_OSA);
    if (edits == CUT_INDEL) return CUT_EACH(CUT_INDEL);
    return CUT_EACH(CUT_LEVENSHTEIN);
#undef CUT_EACH
}

/* Counts of letters in CUT_BAG groups, none above 255. */
static inline void cut_bag(const uint32_t *letters, int64_t n, uint8_t *bag)
{
    memset(bag, 0, CUT_BAG);
    for (int64_t i = 0; i < n; i++) {
        uint8_t *count = &bag[letters[i] < CUT_BAG ? letters[i] : CUT_BAG - 1];
        *count += *count < 255;
    }
}

/* The sum of the differences of the counts, and that of the lengths where letters are replaced: an
 * edit changes the one by 2 and leaves the other, or changes each by 1, and insertions and
 * deletions change the counts by 1.  So the sum is at most cut_each(edits) for each edit. */
static inline int64_t cut_each(int edits) { return edits == CUT_INDEL ? 1 : 2; }

static inline int64_t cut_bag_sum(const uint8_t *a, const uint8_t *b, int64_t difference, int edits)
{
    int64_t sum = edits == CUT_INDEL ? 0 : difference < 0 ? -difference : difference;
    for (int i = 0; i < CUT_BAG; i++) sum += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
    return sum;
}

#endif
