/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of strings on a mask, and sums of products of the roots of their counts.
 *
 * The windows of all rows are sorted by their words, in the order of the letters, so that sums have
 * the same order whatever the other rows are.  A word that is in x and in y becomes a list of its
 * rows of y, or a dense line where it is common; to a row of x each of its words adds one list.
 */
#ifndef D2KE_GAPPED_H
#define D2KE_GAPPED_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

#define GAPPED_DIGIT 11       /* bits that a pass of the sort looks at                      */
#define GAPPED_CHUNK 2000000  /* windows of a pass between two looks at the clock           */
#define GAPPED_LAST (UINT32_C(1) << 31)  /* in a list: the word's last row                  */
#define GAPPED_DENSE (UINT64_C(1) << 31) /* in a cell: the word has a dense line            */
#define GAPPED_COLUMNS 256     /* of lines that stay in the cache                            */
#define GAPPED_AHEAD 4         /* lists whose memory is asked for before they are read       */
#define GAPPED_SPARSE 6       /* one in 2^6 words of y alone stays for its hash, at most       */
#define GAPPED_COMMON 4       /* words of more than 1 / 4 of y's rows get a dense line      */

typedef struct {
    /* Letters of x, then of y (of x alone if it is symmetric); `strands` strings make up a row. */
    const uint32_t *codes;
    const int64_t *offsets;
    int64_t strands, n_rows, n_x, symmetric;
    uint64_t n_letters;
    const int64_t *mask;
    int64_t k;
    double *squares;    /* of each row, to be added to: the sum of its own products             */
    int64_t shared;     /* only of rows of x, so that words of y alone are not needed           */
    /* Made by gapped_prepare. */
    int64_t n_windows;
    uint64_t *keys;     /* window by window: the word, then the row in `row_bits` bits           */
    uint64_t *spare;    /* as many; then the roots of the lists                                 */
    int row_bits;
    int64_t *starts;    /* of each row of x, its cells                                          */
    uint64_t *cells;    /* count << 32 | GAPPED_DENSE? | the first of a list, or the dense line */
    uint32_t *columns;  /* the lists' rows of y                                                 */
    int64_t *dense;     /* where the lists of dense lines begin                                 */
    double *lines;
    int64_t n_lists, n_lines, n_columns, stride;
    int failed;         /* for want of memory                                                   */
} gapped_words;

static inline int gapped_bits(uint64_t largest)
{
    return largest ? 64 - __builtin_clzll(largest) : 0;
}

static inline double gapped_root(uint64_t count)
{
    return count == 1 ? 1.0 : sqrt((double)count);
}

/* Windows of a mask that spans `span` letters. */
static int64_t gapped_count(const gapped_words *w, int64_t span)
{
    int64_t total = 0;
    for (int64_t s = 0; s < w->n_rows * w->strands; s++) {
        int64_t length = w->offsets[s + 1] - w->offsets[s];
        if (length >= span) total += length - span + 1;
    }
    return total;
}

/* Sorts by the bits from `low` to `high`, stably; `carried`, if any, goes along.  1: stopped. */
static inline __attribute__((always_inline)) int gapped_passes(
    uint64_t **keys, uint64_t **spare, uint32_t **carried, uint32_t **spare_carried, int64_t n,
    int low, int high, int carries, const d2ke_poll *poll)
{
    int passes = (high - low + GAPPED_DIGIT - 1) / GAPPED_DIGIT;
    int width = passes ? (high - low + passes - 1) / passes : 0;
    int64_t places[1 << GAPPED_DIGIT];
    for (int shift = low; shift < high; shift += width) {
        uint64_t digit = (UINT64_C(1) << width) - 1;
        const uint64_t *from = *keys;
        uint64_t *to = *spare;
        memset(places, 0, sizeof(int64_t) << width);
        for (int64_t i = 0; i < n; i++) places[from[i] >> shift & digit]++;
        int64_t at = 0;
        for (uint64_t d = 0; d <= digit; d++) {
            int64_t count = places[d];
            places[d] = at;
            at += count;
        }
        for (int64_t begin = 0; begin < n; begin += GAPPED_CHUNK) {
            int64_t end = begin + GAPPED_CHUNK < n ? begin + GAPPED_CHUNK : n;
            if (d2ke_stopped(poll)) return 1;
            for (int64_t i = begin; i < end; i++) {
                int64_t place = places[from[i] >> shift & digit]++;
                to[place] = from[i];
                if (carries) (*spare_carried)[place] = (*carried)[i];
            }
        }
        *spare = *keys;
        *keys = to;
        if (carries) {
            uint32_t *swapped = *carried;
            *carried = *spare_carried;
            *spare_carried = swapped;
        }
    }
    return 0;
}

/* Numbers the windows' words by their order where letters do not fit into a key: by as many letters
 * as fit, then by that number and the letters after them.  1: stopped, or no memory. */
static int gapped_rank(gapped_words *w, uint32_t *ranks, uint32_t *carried, uint32_t *spare,
                       int64_t span, const d2ke_poll *poll)
{
    uint64_t n_ranks = 1;
    int64_t n = w->n_windows;
    memset(ranks, 0, n * sizeof(uint32_t));
    for (int64_t first = 0, last; first < w->k; first = last) {
        uint64_t room = UINT64_MAX / n_ranks, base = 1;
        for (last = first; last < w->k && room >= w->n_letters; last++) {
            room /= w->n_letters;
            base *= w->n_letters;
        }
        int64_t i = 0;
        for (int64_t s = 0; s < w->n_rows * w->strands; s++)
            for (int64_t at = w->offsets[s]; at + span <= w->offsets[s + 1]; at++, i++) {
                uint64_t key = ranks[i];
                for (int64_t j = first; j < last; j++)
                    key = key * w->n_letters + w->codes[at + w->mask[j]];
                w->keys[i] = key;
                carried[i] = (uint32_t)i;
            }
        if (gapped_passes(&w->keys, &w->spare, &carried, &spare, n, 0,
                          gapped_bits(n_ranks * base - 1), 1, poll)) return 1;
        n_ranks = 0;
        for (i = 0; i < n; i++) {
            n_ranks += i && w->keys[i] != w->keys[i - 1];
            ranks[carried[i]] = (uint32_t)n_ranks;
        }
        n_ranks++;
    }
    return 0;
}

static inline uint64_t gapped_hash(uint64_t word, int bits)
{
    return word * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits);
}

/* A bit for each hash of the first n keys' words; NULL without memory. */
static uint64_t *gapped_seen(const gapped_words *w, int64_t n, int bits)
{
    uint64_t *seen = calloc(UINT64_C(1) << (bits - 6), sizeof(uint64_t));
    for (int64_t i = 0; seen && i < n; i++) {
        uint64_t hash = gapped_hash(w->keys[i] >> w->row_bits, bits);
        seen[hash >> 6] |= UINT64_C(1) << (hash & 63);
    }
    return seen;
}

/* Sorts the windows by words, those of a word by rows. */
static int gapped_sort(gapped_words *w, const d2ke_poll *poll)
{
    int64_t span = w->mask[w->k - 1] + 1, i = 0, n = w->n_windows;
    uint64_t words = 1, room, *seen = NULL;
    uint32_t *ranks = NULL;
    int bits = 0;
    w->row_bits = gapped_bits((uint64_t)w->n_rows - 1);
    room = UINT64_MAX >> w->row_bits;
    for (int64_t j = 0; j < w->k; j++) {
        if (room < w->n_letters) {
            ranks = malloc(3 * n * sizeof(uint32_t));
            w->failed = ranks == NULL;
            if (w->failed || gapped_rank(w, ranks, ranks + n, ranks + 2 * n, span, poll)) {
                free(ranks);
                return 1;
            }
            words = (uint64_t)n;
            break;
        }
        room /= w->n_letters;
        words *= w->n_letters;
    }
    for (int64_t s = 0; s < w->n_rows * w->strands; s++) {
        uint64_t row = (uint64_t)(s / w->strands);
        if (w->shared && !ranks && !seen && (int64_t)row == w->n_x) {
            bits = gapped_bits((uint64_t)i) + GAPPED_SPARSE;
            seen = gapped_seen(w, i, bits);
            w->failed = seen == NULL;
            if (w->failed) return 1;
        }
        for (int64_t at = w->offsets[s]; at + span <= w->offsets[s + 1]; at++) {
            uint64_t key = 0;
            if (ranks)
                key = ranks[i];
            else
                for (int64_t j = 0; j < w->k; j++)
                    key = key * w->n_letters + w->codes[at + w->mask[j]];
            if (seen) {
                uint64_t hash = gapped_hash(key, bits);
                if (!(seen[hash >> 6] >> (hash & 63) & 1)) continue;
            }
            w->keys[i++] = key << w->row_bits | row;
        }
    }
    free(ranks);
    free(seen);
    w->n_windows = n = i;
    return gapped_passes(&w->keys, &w->spare, NULL, NULL, n, w->row_bits,
                         w->row_bits + gapped_bits(words - 1), 0, poll);
}

/* The windows of a word: begin .. end; whether x and y have it, and in how many rows of y. */
typedef struct {
    int64_t begin, end, shared, columns;
} gapped_word;

static inline gapped_word gapped_next(const gapped_words *w, int64_t begin)
{
    const uint64_t *keys = w->keys;
    uint64_t row = (UINT64_C(1) << w->row_bits) - 1, first_column = w->symmetric ? 0 : w->n_x;
    gapped_word word = {begin, begin + 1, 0, (keys[begin] & row) >= first_column};
    for (; word.end < w->n_windows; word.end++) {
        uint64_t changed = keys[word.end] ^ keys[word.end - 1];
        if (changed > row) break;
        word.columns += changed && (keys[word.end] & row) >= first_column;
    }
    word.shared = w->symmetric ? word.columns > 1
                               : word.columns && (keys[begin] & row) < first_column;
    return word;
}

/* Counts equal windows from `at` on, of a word that ends at `end`. */
static inline int64_t gapped_equal(const gapped_words *w, int64_t at, int64_t end)
{
    int64_t next = at + 1;
    while (next < end && w->keys[next] == w->keys[at]) next++;
    return next - at;
}

/* Adds to the squares of rows, and counts the cells of the rows of x. */
static void gapped_measure(gapped_words *w)
{
    uint64_t mask = (UINT64_C(1) << w->row_bits) - 1;
    for (int64_t begin = 0; begin < w->n_windows;) {
        gapped_word word = gapped_next(w, begin);
        for (int64_t at = begin, count; at < word.end; at += count) {
            int64_t row = (int64_t)(w->keys[at] & mask);
            count = gapped_equal(w, at, word.end);
            double root = gapped_root((uint64_t)count);
            if (!w->shared || row < w->n_x) w->squares[row] += root * root;
            if (word.shared && row < w->n_x) w->starts[row + 1]++;
        }
        if (word.shared) w->n_columns += word.columns;
        w->n_lists += word.shared != 0;
        begin = word.end;
    }
    for (int64_t row = 0; row < w->n_x; row++) w->starts[row + 1] += w->starts[row];
}

/* Fills the cells of rows, and the lists of words; `next` holds each row's next cell. */
static void gapped_list(gapped_words *w, int64_t *next, int64_t common)
{
    uint64_t mask = (UINT64_C(1) << w->row_bits) - 1;
    double *roots = (double *)w->spare;
    int64_t list = 0;
    for (int64_t begin = 0; begin < w->n_windows;) {
        gapped_word word = gapped_next(w, begin);
        uint64_t start = (uint64_t)list, is_dense = word.columns >= common ? GAPPED_DENSE : 0;
        if (word.shared && is_dense) w->dense[w->n_lines] = list;
        for (int64_t at = begin, count; word.shared && at < word.end; at += count) {
            int64_t row = (int64_t)(w->keys[at] & mask);
            count = gapped_equal(w, at, word.end);
            if (row < w->n_x) {
                uint64_t place = w->symmetric ? (uint64_t)list : start;
                if (is_dense) place = is_dense | (uint64_t)w->n_lines;
                w->cells[next[row]++] = (uint64_t)count << 32 | place;
            }
            if (w->symmetric || row >= w->n_x) {
                roots[list] = gapped_root((uint64_t)count);
                w->columns[list++] = (uint32_t)(w->symmetric ? row : row - w->n_x);
            }
        }
        if (word.shared) {
            w->columns[list - 1] |= GAPPED_LAST;
            w->n_lines += is_dense != 0;
        }
        begin = word.end;
    }
}

static void gapped_free(gapped_words *w)
{
    free(w->keys);
    free(w->spare);
    free(w->starts);
    free(w->cells);
    free(w->columns);
    free(w->dense);
    free(w->lines);
}

/* Makes the cells and the lists of a mask's words; the caller frees them, also after a 1: stopped, or
 * `failed` for want of memory. */
static int gapped_prepare(gapped_words *w, const d2ke_poll *poll)
{
    int64_t n = w->n_windows, m = w->symmetric ? w->n_x : w->n_rows - w->n_x;
    int64_t common = m / GAPPED_COMMON + 1;
    w->failed = 1;
    w->keys = malloc((n + 1) * sizeof(uint64_t));
    w->spare = malloc((n + 1) * sizeof(uint64_t));
    w->starts = calloc(w->n_x + 1, sizeof(int64_t));
    if (!w->keys || !w->spare || !w->starts) return 1;
    w->failed = 0;
    if (gapped_sort(w, poll)) return 1;
    gapped_measure(w);
    w->failed = 1;
    int64_t *next = malloc((w->n_x + 1) * sizeof(int64_t));
    w->cells = malloc((w->starts[w->n_x] + 1) * sizeof(uint64_t));
    w->columns = malloc((w->n_columns + 1) * sizeof(uint32_t));
    w->dense = malloc((w->n_columns / common + 1) * sizeof(int64_t));
    if (!next || !w->cells || !w->columns || !w->dense) {
        free(next);
        return 1;
    }
    memcpy(next, w->starts, w->n_x * sizeof(int64_t));
    gapped_list(w, next, common);
    free(next);
    free(w->keys);
    w->keys = NULL;
    w->stride = (m + 15) / 16 * 16 + 8; /* no power of 2, so that lines do not share places */
    w->lines = calloc(w->n_lines * w->stride + 1, sizeof(double));
    if (!w->lines) return 1;
    w->failed = 0;
    const double *roots = (const double *)w->spare;
    for (int64_t line = 0; line < w->n_lines; line++)
        for (int64_t at = w->dense[line];; at++) {
            uint32_t column = w->columns[at];
            w->lines[line * w->stride + (column & ~GAPPED_LAST)] = roots[at];
            if (column & GAPPED_LAST) break;
        }
    return d2ke_stopped(poll);
}

/* Adds the products of some dense words, of up to 4 at once, to columns; returns how many. */
static inline int64_t gapped_add_lines(const gapped_words *w, const uint64_t *cell,
                                       const uint64_t *end, int64_t first, int64_t last,
                                       double *restrict sums)
{
    const uint64_t place = GAPPED_DENSE - 1;
    const double *a = w->lines + (int64_t)(cell[0] & place) * w->stride;
    double root_a = gapped_root(cell[0] >> 32);
    if (end - cell < 4 || !(cell[1] & cell[2] & cell[3] & GAPPED_DENSE)) {
        for (int64_t j = first; j < last; j++) sums[j] += root_a * a[j];
        return 1;
    }
    const double *b = w->lines + (int64_t)(cell[1] & place) * w->stride;
    const double *c = w->lines + (int64_t)(cell[2] & place) * w->stride;
    const double *d = w->lines + (int64_t)(cell[3] & place) * w->stride;
    double root_b = gapped_root(cell[1] >> 32), root_c = gapped_root(cell[2] >> 32);
    double root_d = gapped_root(cell[3] >> 32);
    for (int64_t j = first; j < last; j++)
        sums[j] = (((sums[j] + root_a * a[j]) + root_b * b[j]) + root_c * c[j]) + root_d * d[j];
    return 4;
}

/* Adds the products of a row of x with columns first .. last of y. */
static void gapped_row(const gapped_words *w, int64_t i, int64_t first, int64_t last,
                       double *restrict sums)
{
    const double *restrict roots = (const double *)w->spare;
    const uint64_t *cell = w->cells + w->starts[i], *end = w->cells + w->starts[i + 1];
    while (cell < end) {
        if (*cell & GAPPED_DENSE) {
            cell += gapped_add_lines(w, cell, end, first, last, sums);
            continue;
        }
        double root = gapped_root(*cell >> 32);
        uint32_t column;
        if (end - cell > GAPPED_AHEAD) { /* lists are anywhere in memory */
            int64_t later = (int64_t)(cell[GAPPED_AHEAD] & (GAPPED_DENSE - 1));
            __builtin_prefetch(w->columns + later);
            __builtin_prefetch(roots + later);
        }
        for (int64_t at = (int64_t)(*cell++ & (GAPPED_DENSE - 1));; at++) {
            column = w->columns[at];
            sums[column & ~GAPPED_LAST] += root * roots[at];
            if (column & GAPPED_LAST) break;
        }
    }
}

/* Adds the products of some rows of x with all of y, with themselves and later ones if symmetric.
 * Where all words are dense, parts of the lines stay in the cache for all rows. */
static void gapped_rows(const gapped_words *w, int64_t begin, int64_t end, double *sums,
                        const d2ke_poll *poll)
{
    int64_t m = w->symmetric ? w->n_x : w->n_rows - w->n_x;
    int64_t width = w->n_lists == w->n_lines ? GAPPED_COLUMNS : m;
    for (int64_t column = 0; column < m; column += width) {
        int64_t last = column + width < m ? column + width : m;
        for (int64_t i = begin; i < end; i++) {
            int64_t first = w->symmetric && i > column ? i : column;
            if (first < last) gapped_row(w, i, first, last, sums + i * m);
            if (d2ke_stopped(poll)) return;
        }
    }
}

#endif
