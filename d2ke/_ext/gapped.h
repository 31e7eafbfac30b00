/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of strings on a mask, and sums of products of the roots of their counts.
 *
 * The words of a row are sorted in the order of the letters, so that sums have the same order
 * whatever the other rows are.  The rows of y become lists, one for each word, of the rows that have
 * it; to a row of x each of its words adds one list.  Rows of x take lists by turns while these are
 * in the cache, and lists that many of them need as dense lines.
 */
#ifndef D2KE_GAPPED_H
#define D2KE_GAPPED_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

#define GAPPED_DIGIT 11       /* bits that a pass of the sort looks at, at most              */
#define GAPPED_FEW 40         /* windows that are sorted by insertion                        */
#define GAPPED_TABLE 24       /* bits of words that are counted in a table                   */
#define GAPPED_CHUNK 2000000  /* windows of a pass between two looks at the clock            */
#define GAPPED_ROWS 128       /* of x, that take turns at lists, at most                     */
#define GAPPED_TURN 32768     /* cells of the lists of a turn, at least                      */
#define GAPPED_MOST 262144    /* and at most                                                 */
#define GAPPED_DENSE 6        /* numbers of a line take as long as a cell of a list          */

/* The words of rows, in order; row i has sizes[i] of them from starts[i] on. */
typedef struct {
    /* Letters; `strands` strings make up a row.  Windows with letters >= n_letters don't count. */
    const uint32_t *codes;
    const int64_t *offsets;
    int64_t strands, n_rows;
    uint64_t n_letters;
    const int64_t *mask;
    int64_t k;
    /* Where letters don't fit into 64 bits: (j, begin, end) of each stage.  The first j letters are
     * their index in the part of the dictionary, and windows that aren't there don't count. */
    const uint64_t *dictionary;
    const int64_t *stages;
    int64_t n_stages;
    int is_plain;       /* no stages, and all letters count */
    int bits;           /* of a word */
    const int64_t *starts;
    int64_t *sizes;
    uint64_t *words;
    uint32_t *counts;
    double *squares;    /* of each row, to be added to: the sum of its own products; or NULL */
    int failed;         /* for want of memory */
} gapped_words;

/* The rows of y that have a word: row and index of a root in row_bits and the other bits of a cell. */
typedef struct {
    const uint64_t *words;
    const int64_t *starts;
    int64_t n_words;
    const uint32_t *cells;
    const double *roots;
    int row_bits;
    double mean;        /* size of a cell's list */
} gapped_lists;

static inline int gapped_bits(uint64_t largest)
{
    return largest ? 64 - __builtin_clzll(largest) : 0;
}

static inline double gapped_root(uint32_t count)
{
    return count == 1 ? 1.0 : sqrt((double)count);
}

/* Windows of a row of a mask that spans `span` letters. */
static int64_t gapped_windows(const gapped_words *w, int64_t row, int64_t span)
{
    int64_t total = 0;
    for (int64_t s = row * w->strands; s < (row + 1) * w->strands; s++) {
        int64_t length = w->offsets[s + 1] - w->offsets[s];
        if (length >= span) total += length - span + 1;
    }
    return total;
}

/* Sorts keys of so many bits, stably; `carried`, if any, goes along.  1: stopped. */
static inline __attribute__((always_inline)) int gapped_sort(
    uint64_t **keys, uint64_t **spare, uint32_t **carried, uint32_t **spare_carried, int64_t n,
    int bits, int carries, const d2ke_poll *poll)
{
    int digits = n < 1024 ? 7 : n < 65536 ? 8 : GAPPED_DIGIT;
    int passes = (bits + digits - 1) / digits, width = passes ? (bits + passes - 1) / passes : 0;
    int64_t places[1 << GAPPED_DIGIT];
    if (!carries && n <= GAPPED_FEW) {
        uint64_t *key = *keys;
        for (int64_t i = 1; i < n; i++) {
            uint64_t moved = key[i];
            int64_t j = i;
            for (; j > 0 && key[j - 1] > moved; j--) key[j] = key[j - 1];
            key[j] = moved;
        }
        return 0;
    }
    for (int shift = 0; shift < bits; shift += width) {
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

/* The first index from `low` to `high` whose word isn't less; words[high], if any, isn't. */
static inline int64_t gapped_find(const uint64_t *words, int64_t low, int64_t high, uint64_t word)
{
    for (int64_t n = high - low, half; n > 0;) { /* without branches */
        half = n / 2;
        int64_t is_less = words[low + half] < word;
        low += is_less * (half + 1);
        n = half - is_less * (1 - n % 2);
    }
    return low;
}

/* Writes the word of a window; 0: it doesn't count. */
static inline __attribute__((always_inline)) int gapped_word(
    const gapped_words *w, const uint32_t *window, int64_t n_stages, int checks, uint64_t *result)
{
    const int64_t *stage = w->stages, *last = stage + 3 * n_stages;
    uint64_t word = 0, n_letters = w->n_letters;
    int counts = 1;
    for (int64_t j = 0; j < w->k; j++) {
        if (n_stages && stage < last && *stage == j) {
            int64_t at = gapped_find(w->dictionary, stage[1], stage[2], word);
            if (at == stage[2] || w->dictionary[at] != word) return 0;
            word = (uint64_t)(at - stage[1]);
            stage += 3;
        }
        uint32_t letter = window[w->mask[j]];
        if (checks) counts &= letter < n_letters;
        word = word * n_letters + letter;
    }
    *result = word;
    return counts;
}

/* Makes the words of some rows. */
static void gapped_sort_rows(gapped_words *w, int64_t begin, int64_t end, const d2ke_poll *poll)
{
    int64_t span = w->mask[w->k - 1] + 1, longest = 0, work = 0;
    int64_t n_words = w->bits < GAPPED_TABLE ? INT64_C(1) << w->bits : INT64_MAX;
    for (int64_t row = begin; row < end; row++) {
        int64_t n = w->starts[row + 1] - w->starts[row];
        if (longest < n) longest = n;
    }
    uint64_t *memory = malloc((2 * longest + 1) * sizeof(uint64_t));
    /* For rows of more windows than a quarter of all words, which needs no sorting. */
    uint32_t *table = calloc(longest > n_words / 4 ? n_words : 1, sizeof(uint32_t));
    if (!memory || !table) w->failed = 1;
    for (int64_t row = begin; !w->failed && row < end; row++) {
        uint64_t *keys = memory, *spare = memory + longest, *words = w->words + w->starts[row];
        uint32_t *counts = w->counts + w->starts[row];
        double square = w->squares ? w->squares[row] : 0;
        int64_t n = 0, size = 0;
        for (int64_t s = row * w->strands; s < (row + 1) * w->strands; s++)
            for (int64_t at = w->offsets[s]; at + span <= w->offsets[s + 1]; at++) {
                n += w->is_plain ? gapped_word(w, w->codes + at, 0, 0, keys + n)
                                 : gapped_word(w, w->codes + at, w->n_stages, 1, keys + n);
                if (d2ke_pause(&work, 10 + 100 * w->n_stages, poll)) goto done;
            }
        if (w->starts[row + 1] - w->starts[row] > n_words / 4) {
            for (int64_t i = 0; i < n; i++) table[keys[i]]++;
            for (int64_t word = 0; word < n_words; word++) {
                memory[size] = (uint64_t)word << 32 | table[word];
                size += table[word] > 0;
                table[word] = 0;
            }
            for (int64_t i = 0; i < size; i++) {
                words[i] = memory[i] >> 32;
                counts[i] = (uint32_t)memory[i];
            }
        } else {
            if (gapped_sort(&keys, &spare, NULL, NULL, n, w->bits, 0, poll)) break;
            for (int64_t i = 0; i < n; i++) {
                size += i && keys[i] != keys[i - 1];
                words[size] = keys[i];
                counts[size] = (uint32_t)(i + 1);
            }
            size += n > 0;
            for (int64_t i = size - 1; i > 0; i--) counts[i] -= counts[i - 1];
        }
        for (int64_t i = 0; i < size; i++) {
            double root = gapped_root(counts[i]);
            square += root * root;
        }
        w->sizes[row] = size;
        if (w->squares) w->squares[row] = square;
    }
done:
    free(memory);
    free(table);
}

/* Writes the words of all rows one after another, and cells: the row, and the index of the root.
 * Counts below `few` are their own index, `more` ones take the next.  Returns how many words. */
static int64_t gapped_join(const gapped_words *w, uint64_t *keys, uint32_t *cells, int row_bits,
                           uint32_t few, double *more)
{
    int64_t n = 0;
    uint32_t next = few;
    for (int64_t row = 0; row < w->n_rows; row++)
        for (int64_t at = w->starts[row]; at < w->starts[row] + w->sizes[row]; at++, n++) {
            uint32_t count = w->counts[at];
            if (count >= few) {
                *more++ = gapped_root(count);
                count = next++;
            }
            keys[n] = w->words[at];
            cells[n] = (uint32_t)((uint64_t)count << row_bits | (uint64_t)row);
        }
    return n;
}

/* A row's word once it is located: the index of its list, and the list's first cell for the row. */
#define GAPPED_LIST(word) ((int64_t)((word) >> 32))
#define GAPPED_CELL(word) ((int64_t)(uint32_t)(word))

/* Replaces a row's words by their lists; drops those without one. */
static void gapped_locate(gapped_words *w, const gapped_lists *y, int64_t row)
{
    uint64_t *words = w->words + w->starts[row];
    uint32_t *counts = w->counts + w->starts[row];
    int64_t at = 0, n = 0;
    for (int64_t i = 0; i < w->sizes[row]; i++) {
        uint64_t word = words[i];
        if (!y->n_words || word > y->words[y->n_words - 1]) break;
        if (y->words[at] < word) {
            /* Words differ, so it can't be further on than that. */
            uint64_t furthest = word - y->words[at];
            int64_t high = y->n_words - 1, step = 1;
            if (furthest < (uint64_t)(high - at)) high = at + (int64_t)furthest;
            if (high == at + (int64_t)furthest && y->words[high] == word)
                at = high;
            else {
                for (; at + step < high && y->words[at + step] < word; step *= 2) at += step;
                at = gapped_find(y->words, at + 1, at + step < high ? at + step : high, word);
            }
        }
        if (y->words[at] != word) continue;
        words[n] = (uint64_t)at << 32 | (uint64_t)y->starts[at];
        counts[n++] = counts[i];
    }
    w->sizes[row] = n;
}

/* The same for all rows that the lists are of; their own cell is the first of a list.  Words of one row
 * are dropped too. */
static void gapped_locate_own(gapped_words *w, const gapped_lists *y, int64_t *seen)
{
    const uint32_t row_mask = (uint32_t)((UINT64_C(1) << y->row_bits) - 1);
    for (int64_t row = 0; row < w->n_rows; row++) {
        seen[row] = w->starts[row];
        w->sizes[row] = 0;
    }
    for (int64_t word = 0; word < y->n_words; word++)
        for (int64_t at = y->starts[word]; at < y->starts[word + 1]; at++) {
            int64_t row = y->cells[at] & row_mask, old = seen[row]++;
            if (y->starts[word + 1] - y->starts[word] == 1) continue;
            int64_t new = w->starts[row] + w->sizes[row]++;
            w->words[new] = (uint64_t)word << 32 | (uint64_t)at;
            w->counts[new] = w->counts[old];
        }
}

/* Up to four words of a row of x that have dense lines, and the roots of their counts. */
typedef struct {
    const double *lines[4];
    double roots[4];
    int n;
} gapped_dense;

/* Adds their products to columns first .. last. */
static inline __attribute__((always_inline)) void gapped_add(const gapped_dense *x, int64_t first,
                                                             int64_t last, double *restrict sums)
{
    if (x->n == 4) {
        const double *restrict a = x->lines[0], *restrict b = x->lines[1];
        const double *restrict c = x->lines[2], *restrict d = x->lines[3];
        double root_a = x->roots[0], root_b = x->roots[1];
        double root_c = x->roots[2], root_d = x->roots[3];
        for (int64_t j = first; j < last; j++)
            sums[j] = (((sums[j] + root_a * a[j]) + root_b * b[j]) + root_c * c[j]) + root_d * d[j];
        return;
    }
    for (int k = 0; k < x->n; k++) {
        const double *restrict line = x->lines[k];
        double root = x->roots[k];
        for (int64_t j = first; j < last; j++) sums[j] += root * line[j];
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2")))
static void gapped_add_avx2(const gapped_dense *x, int64_t first, int64_t last, double *sums)
{
    gapped_add(x, first, last, sums);
}
#endif

static void gapped_add_baseline(const gapped_dense *x, int64_t first, int64_t last, double *sums)
{
    gapped_add(x, first, last, sums);
}

/* Adds the products of some rows of x, at most GAPPED_ROWS, with all m of y; with themselves and later
 * ones if symmetric.
 *
 * The rows take turns at the lists of some words, which so stay in the cache. In a turn, a row adds
 * about 4 m products, or else its sums would have to be fetched too often. */
static void gapped_add_rows(gapped_words *w, const gapped_lists *y, int64_t begin, int64_t end,
                            int64_t m, int64_t symmetric, int64_t vector_bytes, double *sums,
                            const d2ke_poll *poll)
{
    const uint32_t row_mask = (uint32_t)((UINT64_C(1) << y->row_bits) - 1);
    const int row_bits = y->row_bits;
    int64_t at[GAPPED_ROWS], last[GAPPED_ROWS], work = 0;
    void (*add)(const gapped_dense *, int64_t, int64_t, double *) = gapped_add_baseline;
#if defined(__x86_64__)
    if (vector_bytes > 16) add = gapped_add_avx2;
#endif
    for (int64_t row = begin; row < end; row++) {
        if (!symmetric) gapped_locate(w, y, row);
        at[row - begin] = w->starts[row];
        last[row - begin] = w->starts[row] + w->sizes[row];
        if (d2ke_stopped(poll)) return;
    }
    double cells = 4. * m * m / y->mean; /* of which a row needs mean / m, if it is like those of y */
    int64_t turn = (int64_t)(cells < GAPPED_MOST ? cells : GAPPED_MOST);
    if (turn < GAPPED_TURN) turn = GAPPED_TURN;
    /* Of each list of a turn: how many rows of x have it, or GAPPED_ROWS + the number of its line. */
    uint32_t *uses = calloc(turn, sizeof(uint32_t));
    uint32_t *used = malloc(turn * sizeof(uint32_t)); /* those that rows of x have */
    double *lines = malloc((GAPPED_DENSE * turn + m) * sizeof(double));
    if (!uses || !used || !lines) w->failed = 1;
    while (!w->failed && !d2ke_stopped(poll)) {
        int64_t from = y->n_words, to = from, n_used = 0, n_lines = 0;
        for (int64_t r = 0; r < end - begin; r++)
            if (at[r] < last[r] && GAPPED_LIST(w->words[at[r]]) < from)
                from = GAPPED_LIST(w->words[at[r]]);
        if (from == to) break;
        if (end - begin > 1) {
            int64_t least = from + 1;
            if (to - from > turn) to = from + turn;
            while (least < to) {
                int64_t middle = least + (to - least + 1) / 2;
                if (y->starts[middle] - y->starts[from] > turn) to = middle - 1;
                else least = middle;
            }
            int64_t longer = from;
            while (longer < to && GAPPED_DENSE * (y->starts[longer + 1] - y->starts[longer]) <= m)
                longer++;
            for (int64_t r = 0; longer < to && r < end - begin; r++)
                for (int64_t i = at[r]; i < last[r] && GAPPED_LIST(w->words[i]) < to; i++) {
                    int64_t list = GAPPED_LIST(w->words[i]);
                    if (++uses[list - from] == 1) used[n_used++] = (uint32_t)list;
                }
            for (int64_t k = 0; k < n_used; k++) {
                int64_t list = used[k], n = uses[list - from];
                int64_t size = GAPPED_DENSE * (y->starts[list + 1] - y->starts[list]);
                if (n * (size - m) <= size + m) continue; /* a cell is to be written, too */
                double *line = lines + n_lines++ * m;
                memset(line, 0, m * sizeof(double));
                for (int64_t i = y->starts[list]; i < y->starts[list + 1]; i++)
                    line[y->cells[i] & row_mask] = y->roots[y->cells[i] >> row_bits];
                uses[list - from] = (uint32_t)(GAPPED_ROWS + n_lines);
            }
        }
        for (int64_t row = begin, r = 0; row < end; row++, r++) {
            double *restrict row_sums = sums + row * m;
            int64_t first = symmetric ? row : 0;
            gapped_dense dense = {.n = 0};
            for (; at[r] < last[r] && GAPPED_LIST(w->words[at[r]]) < to; at[r]++) {
                int64_t list = GAPPED_LIST(w->words[at[r]]), stop = y->starts[list + 1];
                double root = gapped_root(w->counts[at[r]]);
                int64_t line = n_lines ? (int64_t)uses[list - from] - GAPPED_ROWS : 0;
                int64_t i = GAPPED_CELL(w->words[at[r]]);
                if (line > 0) {
                    dense.lines[dense.n] = lines + (line - 1) * m;
                    dense.roots[dense.n++] = root;
                    i = stop;
                }
                if (dense.n == 4 || (line <= 0 && dense.n)) {
                    add(&dense, first, m, row_sums);
                    dense.n = 0;
                }
                for (; i < stop; i++) {
                    uint32_t cell = y->cells[i];
                    row_sums[cell & row_mask] += root * y->roots[cell >> row_bits];
                }
                if (d2ke_pause(&work, stop - y->starts[list], poll)) break;
            }
            if (dense.n) add(&dense, first, m, row_sums);
        }
        if (n_used) memset(uses, 0, (to - from) * sizeof(uint32_t));
    }
    free(uses);
    free(used);
    free(lines);
}

#endif
