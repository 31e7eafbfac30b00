/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances that compare letters without moving them: Hamming's, and Jaccard's of sets of letters. */

typedef __attribute__((vector_size(D2KE_BYTES), aligned(1), may_alias)) uint8_t overlap_loose;

/* Bits where letters of one vector differ, one for each letter; 64 / sizeof(letter) at most. */
#if D2KE_BYTES == 64
D2KE_INLINE uint64_t differ_u8(const void *a, const void *b)
{
    return _mm512_cmpneq_epi8_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b));
}
D2KE_INLINE uint64_t differ_u32(const void *a, const void *b)
{
    return _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b));
}
#elif D2KE_BYTES == 32
D2KE_INLINE uint64_t differ_u8(const void *a, const void *b)
{
    __m256i same = _mm256_cmpeq_epi8(_mm256_loadu_si256(a), _mm256_loadu_si256(b));
    return (uint32_t)~_mm256_movemask_epi8(same);
}
D2KE_INLINE uint64_t differ_u32(const void *a, const void *b)
{
    __m256i same = _mm256_cmpeq_epi32(_mm256_loadu_si256(a), _mm256_loadu_si256(b));
    return ~_mm256_movemask_ps((__m256)same) & 0xff;
}
#elif defined(__SSE2__)
D2KE_INLINE uint64_t differ_u8(const void *a, const void *b)
{
    __m128i same = _mm_cmpeq_epi8(_mm_loadu_si128(a), _mm_loadu_si128(b));
    return ~_mm_movemask_epi8(same) & 0xffff;
}
D2KE_INLINE uint64_t differ_u32(const void *a, const void *b)
{
    __m128i same = _mm_cmpeq_epi32(_mm_loadu_si128(a), _mm_loadu_si128(b));
    return ~_mm_movemask_ps((__m128)same) & 0xf;
}
#else
#define OVERLAP_DIFFER(letter)                                                                    \
    uint64_t bits = 0;                                                                            \
    for (int i = 0; i < D2KE_BYTES / (int)sizeof(letter); i++)                                    \
        bits |= (uint64_t)(((const letter *)a)[i] != ((const letter *)b)[i]) << i;                \
    return bits
D2KE_INLINE uint64_t differ_u8(const void *a, const void *b) { OVERLAP_DIFFER(uint8_t); }
D2KE_INLINE uint64_t differ_u32(const void *a, const void *b) { OVERLAP_DIFFER(uint32_t); }
#undef OVERLAP_DIFFER
#endif

/* Strings of one length, one after the other; a vector may be read past the last of them. */
#define OVERLAP_HAMMING(name, letter, differ)                                                     \
    static void name(const d2ke_problem *problem, int64_t row, int64_t block, void *scratch,      \
                     double *result, const d2ke_poll *poll)                                       \
    {                                                                                             \
        const int64_t step = D2KE_BYTES / (int64_t)sizeof(letter);                                \
        int64_t n = d2ke_length(&problem->x, row), whole = n / step * step, steps = 0;            \
        uint64_t rest = (UINT64_C(1) << (n - whole)) - 1;                                         \
        int64_t first = problem->blocks[block], count = problem->blocks[block + 1] - first;       \
        const letter *x = (const letter *)problem->x.values + row * n;                            \
        const letter *y = (const letter *)problem->y.values + problem->order[first] * n;          \
        (void)scratch;                                                                            \
        if (!whole) {                                                                             \
            const v_u8 own = *(const overlap_loose *)x;                                           \
            for (int64_t k = 0; k < count; k++, y += n)                                           \
                result[k] = (double)__builtin_popcountll(differ(&own, y) & rest);                 \
            return;                                                                               \
        }                                                                                         \
        for (int64_t k = 0; k < count; k++, y += n) {                                             \
            int64_t places = 0;                                                                   \
            for (int64_t i = 0; i < whole; i += step)                                             \
                places += __builtin_popcountll(differ(x + i, y + i));                             \
            if (rest)                                                                             \
                places += __builtin_popcountll(differ(x + whole, y + whole) & rest);              \
            result[k] = (double)places;                                                           \
            if (d2ke_pause(&steps, n, poll))                                                      \
                return;                                                                           \
        }                                                                                         \
    }
OVERLAP_HAMMING(hamming_u8, uint8_t, differ_u8)
OVERLAP_HAMMING(hamming_u32, uint32_t, differ_u32)
#undef OVERLAP_HAMMING

D2KE_INLINE int64_t overlap_bits(const uint64_t *a, const uint64_t *b, int64_t words)
{
    int64_t both = 0;
    for (int64_t w = 0; w < words; w++)
        both += __builtin_popcountll(a[w] & b[w]);
    return both;
}

static int64_t overlap_lists(const uint32_t *a, int64_t n, const uint32_t *b, int64_t m)
{
    int64_t both = 0;
    for (int64_t i = 0, j = 0; i < n && j < m;) {
        uint32_t u = a[i], v = b[j];
        both += u == v;
        i += u <= v;
        j += v <= u;
    }
    return both;
}

static void jaccard(const d2ke_problem *problem, int64_t row, int64_t block, void *scratch,
                    double *result, const d2ke_poll *poll)
{
    const jaccard_options *o = problem->options;
    const d2ke_items *x = &problem->x, *y = &problem->y;
    int64_t first = problem->blocks[block], last = problem->blocks[block + 1], steps = 0;
    int64_t begin = x->offsets[row], n = x->offsets[row + 1] - begin;
    (void)scratch;
    for (int64_t k = first; k < last; k++) {
        int64_t item = problem->order[k], start = y->offsets[item];
        int64_t m = y->offsets[item + 1] - start, both;
        if (o->words == 1)
            both = overlap_bits((const uint64_t *)x->values + begin,
                                (const uint64_t *)y->values + start, 1);
        else if (o->words)
            both = overlap_bits((const uint64_t *)x->values + begin,
                                (const uint64_t *)y->values + start, o->words);
        else
            both = overlap_lists((const uint32_t *)x->values + begin, n,
                                 (const uint32_t *)y->values + start, m);
        int64_t either = o->x_sizes[row] + o->y_sizes[item] - both;
        result[k - first] = either ? (double)(either - both) / (double)either : 0.0;
        if (d2ke_pause(&steps, n + m, poll))
            return;
    }
}
