/* SPDX-License-Identifier: BSD-3-Clause */
/* The distance of two sets of words: the least of three insertion-deletion distances.
 *
 * Each string is its different words in order, joined by spaces; a word has a number, in order too.
 * With the common words first, the words of x, those of y and the common ones alone are compared.
 * Where no word is common, that is the distance of the strings as they are, of another kernel. */
#ifndef D2KE_TOKENS_H
#define D2KE_TOKENS_H

#include "cutoff.h"
#include "kernel.h"

/* The words of all strings end to end, and for each string a bit for each of its words. */
typedef struct {
    const int64_t *words;
    const int64_t *offsets;
    const uint64_t *marks;
} token_side;

typedef struct {
    d2ke_kernel kernel; /* of insertions and deletions, */
    const void *options; /* and what it reads           */
    token_side x, y;
    const uint32_t *letters; /* of the words, and where each begins */
    const int64_t *offsets;
    int64_t n_letters;
    uint32_t space;
} token_options;

typedef struct {
    d2ke_cache cache;
    cut_pattern pattern;
    uint32_t *rest[2]; /* words of x and of y that are not common, joined */
    char *scratch;     /* of the other kernel */
} token_scratch_t;

static char *token_room(char **memory, size_t bytes)
{
    char *room = *memory;
    *memory += d2ke_round_up((int64_t)bytes, 64);
    return room;
}

/* Divides the scratch memory at `base`; with NULL, only finds how much comes before `scratch`. */
static token_scratch_t token_layout(const d2ke_problem *p, int64_t n_letters, char *base)
{
    token_scratch_t s = {.cache = {.block = 0}};
    token_room(&base, sizeof s);
    s.pattern.rows = (uint32_t *)token_room(&base, n_letters * sizeof(uint32_t));
    s.pattern.masks = (uint64_t *)token_room(&base, cut_mask_words(p->x.longest, n_letters) * 8);
    s.pattern.up = (uint64_t *)token_room(&base, cut_words(p->x.longest) * 8);
    s.rest[0] = (uint32_t *)token_room(&base, p->x.longest * sizeof(uint32_t));
    s.rest[1] = (uint32_t *)token_room(&base, p->y.longest * sizeof(uint32_t));
    s.scratch = base;
    return s;
}

static size_t token_scratch(const d2ke_problem *p, int64_t n_letters)
{
    return (size_t)token_layout(p, n_letters, NULL).scratch;
}

static int64_t token_append(const token_options *o, int64_t word, uint32_t *rest, int64_t n)
{
    if (n) rest[n++] = o->space;
    for (int64_t i = o->offsets[word]; i < o->offsets[word + 1]; i++) rest[n++] = o->letters[i];
    return n;
}

/* Insertions and deletions between the two rests: the bit-vectors of edits.h, of one pair. */
static int64_t token_indel(token_scratch_t *s, const int64_t lengths[2])
{
    cut_pattern *p = &s->pattern;
    cut_prepare(p, s->rest[0], lengths[0]);
    int64_t stride = p->words + 2, common = 0;
    for (int64_t w = 0; w < p->words; w++) p->up[w] = ~UINT64_C(0);
    for (int64_t j = 0; j < lengths[1]; j++) {
        const uint64_t *row = p->masks + p->rows[s->rest[1][j]] * stride + 1;
        uint64_t carry = 0;
        for (int64_t w = 0; w < p->words; w++) {
            uint64_t up = p->up[w], some = row[w] & up, sum = up + some + carry;
            carry = (some | (up & ~sum)) >> 63;
            p->up[w] = sum | (up & ~some);
        }
    }
    for (int64_t w = 0; w < p->words; w++) common += __builtin_popcountll(~p->up[w]);
    cut_forget(p, s->rest[0]);
    return lengths[0] + lengths[1] - 2 * common;
}

/* The distance of strings of n and m letters that may have words in common; -1: they have none. */
static double token_pair(const token_options *o, token_scratch_t *s, int64_t row, int64_t item,
                         int64_t n, int64_t m)
{
    const int64_t *a = o->x.words + o->x.offsets[row], *a_end = o->x.words + o->x.offsets[row + 1];
    const int64_t *b = o->y.words + o->y.offsets[item];
    const int64_t *b_end = o->y.words + o->y.offsets[item + 1];
    int64_t common = -1, rest[2] = {0, 0}; /* letters, joined */
    while (a < a_end || b < b_end) {
        if (b == b_end || (a < a_end && *a < *b)) {
            rest[0] = token_append(o, *a++, s->rest[0], rest[0]);
        } else if (a == a_end || *b < *a) {
            rest[1] = token_append(o, *b++, s->rest[1], rest[1]);
        } else {
            common += 1 + o->offsets[*a + 1] - o->offsets[*a];
            a++;
            b++;
        }
    }
    if (common < 0) return -1;
    if (!rest[0] || !rest[1]) return 0;
    double x_share = (double)(1 + rest[0]) / (double)(common + n);
    double y_share = (double)(1 + rest[1]) / (double)(common + m);
    double least = x_share < y_share ? x_share : y_share, both = (double)(n + m);
    int64_t difference = rest[0] > rest[1] ? rest[0] - rest[1] : rest[1] - rest[0];
    if ((double)difference / both >= least) return least;
    double share = (double)token_indel(s, rest) / both;
    return share < least ? share : least;
}

static void token_kernel(const d2ke_problem *p, int64_t row, int64_t block, void *scratch,
                         double *result, const d2ke_poll *poll)
{
    const token_options *o = p->options;
    token_scratch_t *s = scratch;
    if (s->cache.block < 0) {
        *s = token_layout(p, o->n_letters, scratch);
        memset(s->pattern.rows, 0, (size_t)o->n_letters * sizeof(uint32_t));
        memset(s->scratch, 0xff, sizeof(d2ke_cache));
    }
    d2ke_problem plain = *p;
    plain.options = o->options;
    o->kernel(&plain, row, block, s->scratch, result, poll);
    int64_t n = d2ke_length(&p->x, row), first = p->blocks[block], steps = 0;
    for (int64_t k = first; k < p->blocks[block + 1]; k++) {
        int64_t item = p->order[k], m = d2ke_length(&p->y, item);
        double apart = -1;
        if (o->x.marks[row] & o->y.marks[item]) {
            apart = token_pair(o, s, row, item, n, m);
            if (d2ke_pause(&steps, n + m + cut_words(n) * m, poll)) return;
        }
        if (apart >= 0)
            result[k - first] = apart;
        else if (n + m > 0)
            result[k - first] /= (double)(n + m);
    }
}

#endif
