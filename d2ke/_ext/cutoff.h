/* SPDX-License-Identifier: BSD-3-Clause */
/* Levenshtein's distance of one pattern to many texts, up to a cut: one pair at a time.
 *
 * The columns of the table are bit-vectors of vertical differences (Myers 1999; Hyyro 2003).
 * Cells farther than the cut from the diagonal cannot be on a path that counts (Ukkonen 1985):
 * for a cut of at most CUT_SMALL the band is one word that moves down a row with each column;
 * otherwise only those words of a column are computed that the band meets.  What lies outside is
 * taken for one more than its neighbour, which is never too small. */
#ifndef D2KE_CUTOFF_H
#define D2KE_CUTOFF_H

#include <stdint.h>
#include <string.h>

enum { CUT_SMALL = 31, CUT_BAG = 16 };

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
    uint64_t zero = (((match & up) + up) ^ up) | match | down;                                    \
    uint64_t more = down | ~(zero | up), less = zero & up;                                        \
    up = less | ~(zero >> 1 | more);                                                              \
    down = zero >> 1 & more;

/* For cut <= CUT_SMALL and lengths that differ by at most the cut. */
static inline int64_t cut_small(const cut_pattern *p, const uint32_t *text, int64_t n, int64_t cut)
{
    int64_t m = p->length, stride = p->words + 2, j = 0;
    int64_t start = 1 + cut; /* in bits of a row of masks, whose first word is the empty one */
    uint64_t up = ~UINT64_C(0) << (63 - cut), down = 0;
    int64_t score = m < cut ? m : cut;
    /* Down the lower edge of the band: scores never fall along a diagonal. */
    for (int64_t most = 2 * cut + n - m; j < m - cut; j++, start++) {
        CUT_COLUMN()
        (void)less;
        score += !(zero >> 63);
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
static inline int64_t cut_wide(const cut_pattern *p, const uint32_t *text, int64_t n, int64_t cut)
{
    int64_t m = p->length, words = p->words, stride = words + 2, pad = 64 * words - m;
    int64_t last = cut / 64 < words ? cut / 64 : words - 1, score = 64 * (last + 1);
    uint64_t *up = p->up, *down = p->down;
    for (int64_t w = 0; w <= last; w++) {
        up[w] = ~UINT64_C(0);
        down[w] = 0;
    }
    for (int64_t j = 0; j < n; j++) {
        const uint64_t *row = p->masks + p->rows[text[j]] * stride + 1;
        if (last < words - 1 && last < (j + cut) / 64) {
            last++;
            up[last] = ~UINT64_C(0);
            down[last] = 0;
            score += 64;
        }
        uint64_t more_in = 1, less_in = 0;
        for (int64_t w = j > cut ? (j - cut) / 64 : 0; w <= last; w++) {
            uint64_t match = row[w] | less_in;
            uint64_t zero = (((match & up[w]) + up[w]) ^ up[w]) | match | down[w];
            uint64_t more = down[w] | ~(zero | up[w]), less = zero & up[w];
            uint64_t more_out = more >> 63, less_out = less >> 63;
            more = more << 1 | more_in;
            less = less << 1 | less_in;
            up[w] = less | ~(zero | more);
            down[w] = zero & more;
            more_in = more_out;
            less_in = less_out;
        }
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

/* The distance, or cut + 1 where it is larger than the cut. */
static inline int64_t cut_distance(const cut_pattern *p, const uint32_t *text, int64_t n,
                                   int64_t cut)
{
    int64_t difference = n > p->length ? n - p->length : p->length - n;
    if (difference > cut) return cut + 1;
    return cut <= CUT_SMALL ? cut_small(p, text, n, cut) : cut_wide(p, text, n, cut);
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

/* A lower bound of the distance: an edit changes the difference of the counts by 2 and leaves
 * that of the lengths, or changes each by 1. */
static inline int64_t cut_bag_bound(const uint8_t *a, const uint8_t *b, int64_t difference)
{
    int sum = 0;
    for (int i = 0; i < CUT_BAG; i++) sum += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
    return (sum + (difference < 0 ? -difference : difference) + 1) / 2;
}

#endif
