# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of strings by the words that they share on masks.

Tasks are rows of x, each with sums of its own, and words come in the order of their letters: the
bits depend neither on the number of threads nor on the other rows and columns.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

import numpy as np

from d2ke._ext.isa cimport current, d2ke_poll
from d2ke._ext.tasks cimport run, worth

cdef extern from "gapped.h":
    const int64_t GAPPED_ROWS

    ctypedef struct gapped_words:
        const uint32_t *codes
        const int64_t *offsets
        int64_t strands
        int64_t n_rows
        uint64_t n_letters
        const int64_t *mask
        int64_t k
        const uint64_t *dictionary
        const int64_t *stages
        int64_t n_stages
        int is_plain
        int bits
        const int64_t *starts
        int64_t *sizes
        uint64_t *words
        uint32_t *counts
        double *squares
        int failed

    ctypedef struct gapped_lists:
        const uint64_t *words
        const int64_t *starts
        int64_t n_words
        const uint32_t *cells
        const double *roots
        int row_bits
        double mean

    int gapped_bits(uint64_t) noexcept nogil
    int64_t gapped_windows(const gapped_words *, int64_t, int64_t) noexcept nogil
    void gapped_sort_rows(gapped_words *, int64_t, int64_t, const d2ke_poll *) noexcept nogil
    int64_t gapped_join(const gapped_words *, uint64_t *, uint32_t *, int, uint32_t,
                        double *) noexcept nogil
    int gapped_sort(uint64_t **, uint64_t **, uint32_t **, uint32_t **, int64_t, int, int,
                    const d2ke_poll *) noexcept nogil
    void gapped_locate_own(gapped_words *, const gapped_lists *, int64_t *) noexcept nogil
    void gapped_add_rows(gapped_words *, const gapped_lists *, int64_t, int64_t, int64_t, int64_t,
                         int64_t, double *, const d2ke_poll *) noexcept nogil

cdef enum:
    ROWS = 16       # of a task that sorts words or scales sums
    SUMS = 160000   # of a task that adds products
    MIRROR_TILE = 64
    FEW = 65536     # counts below it are their own index into the roots


cdef class RowWords:
    """The words of rows of strings on a mask, in order, and how often each occurs.

    codes: letters of all strings; windows with letters not less than n_letters do not count.
    `strands` strings make up a row. Where the letters of a word do not fit into 64 bits, `stages`
    holds (j, begin, end): the first j letters are their index in this part of the `dictionary`, and
    windows that are not there do not count. squares, if any: one for each row, to which the sum of
    squares of the roots of its counts is added, in the order of the words.
    """

    cdef gapped_words rows
    cdef int64_t[::1] starts, sizes
    cdef uint64_t[::1] words
    cdef uint32_t[::1] counts
    cdef int64_t n_windows

    def __init__(self, const uint32_t[::1] codes, const int64_t[::1] offsets, int64_t strands,
                 int64_t n_letters, const int64_t[::1] mask, const uint64_t[::1] dictionary,
                 const int64_t[:, ::1] stages, double[::1] squares, int n_threads):
        cdef gapped_words *rows = &self.rows
        cdef int64_t i, span = mask[mask.shape[0] - 1] + 1, n
        cdef uint64_t most = 1
        cdef uint32_t largest = 0
        memset(rows, 0, sizeof(gapped_words))
        rows.codes, rows.offsets = &codes[0], &offsets[0]
        rows.strands, rows.n_rows = strands, (offsets.shape[0] - 1) / strands
        rows.n_letters = max(n_letters, 1)
        rows.mask, rows.k = &mask[0], mask.shape[0]
        n, i = rows.n_rows, 0
        rows.n_stages = stages.shape[0]
        if rows.n_stages:
            rows.dictionary, rows.stages = &dictionary[0], &stages[0, 0]
            i = rows.n_stages - 1
            i, most = stages[i, 0], stages[i, 2] - stages[i, 1]
        for _ in range(rows.k - i):
            most *= rows.n_letters
        rows.bits = gapped_bits(most - 1)
        with nogil:
            for i in range(codes.shape[0]):
                largest = max(largest, codes[i])
        rows.is_plain = not rows.n_stages and largest < rows.n_letters
        self.starts, self.sizes = np.zeros(n + 1, np.int64), np.zeros(n, np.int64)
        for i in range(n):
            self.starts[i + 1] = self.starts[i] + gapped_windows(rows, i, span)
        self.n_windows = self.starts[n]
        if self.n_windows >= 2**31:
            raise ValueError(f"{self.n_windows} windows of letters; at most 2**31 - 1 fit")
        self.words = np.empty(max(self.n_windows, 1), np.uint64)
        self.counts = np.empty(max(self.n_windows, 1), np.uint32)
        rows.starts, rows.sizes = &self.starts[0], &self.sizes[0]
        rows.words, rows.counts = &self.words[0], &self.counts[0]
        if squares is not None:
            rows.squares = &squares[0]
        run(_sort_task, rows, (n + ROWS - 1) / ROWS, worth(n_threads, 20. * self.n_windows, n))
        if rows.failed:
            raise MemoryError(f"memory for {self.n_windows} words of strings")

    def lists(self):
        """Return the words of all rows, and the rows that have them.

        Returns
        -------
        words : ndarray of uint64
            Each word once, in order.
        starts : ndarray of int64
            Where the cells of each word begin, and where the last end.
        cells : ndarray of uint32
            The row in the low bits, as many as the last row has, and above it an index of `roots`.
        roots : ndarray of float64
            Roots of counts.
        """
        cdef int64_t n = np.sum(self.sizes), i, n_words = 0, n_more = 0, row, at
        cdef int row_bits = gapped_bits(self.rows.n_rows - 1)
        cdef uint32_t few = min(FEW, 2**31 >> row_bits), largest = 0, count
        cdef Sort sort
        with nogil:
            for row in range(self.rows.n_rows):
                for at in range(self.starts[row], self.starts[row] + self.sizes[row]):
                    count = self.counts[at]
                    n_more += count >= few
                    largest = max(largest, count)
        few = min(few, largest + 1)
        if few + n_more > 2**32 >> row_bits:
            raise ValueError(f"{self.n_windows} windows of {self.rows.n_rows} strings do not fit")
        cdef uint64_t[::1] keys = np.empty(n + 1, np.uint64), spare = np.empty(n + 1, np.uint64)
        cdef uint32_t[::1] cells = np.empty(n + 1, np.uint32), more = np.empty(n + 1, np.uint32)
        roots = np.empty(few + n_more)
        roots[:few] = np.sqrt(np.arange(few))
        cdef double[::1] all_roots = roots
        sort.keys, sort.spare, sort.cells, sort.more = &keys[0], &spare[0], &cells[0], &more[0]
        sort.n, sort.bits = n, self.rows.bits
        with nogil:
            gapped_join(&self.rows, sort.keys, sort.cells, row_bits, few, &all_roots[0] + few)
        run(_merge_task, &sort, 1, 1)
        if sort.keys != &keys[0]:
            keys, cells = spare, more
        with nogil:
            for i in range(n):
                n_words += i == 0 or keys[i] != keys[i - 1]
        cdef uint64_t[::1] words = np.empty(n_words, np.uint64)
        cdef int64_t[::1] starts = np.empty(n_words + 1, np.int64)
        n_words = 0
        with nogil:
            for i in range(n):
                if i == 0 or keys[i] != keys[i - 1]:
                    words[n_words] = keys[i]
                    starts[n_words] = i
                    n_words += 1
        starts[n_words] = n
        return np.asarray(words), np.asarray(starts), np.asarray(cells)[:n], roots

    def add_products(self, const uint64_t[::1] words, const int64_t[::1] starts,
                     const uint32_t[::1] cells, const double[::1] roots, double[:, ::1] sums,
                     bint symmetric, int n_threads):
        """Add to sums[i, j] the products of the roots of the counts of words that x_i and y_j have.

        The rows are x, and the lists of `lists` y. symmetric: y is x, and nothing counts below and
        on the diagonal. The rows are used up.
        """
        cdef Products products
        cdef int64_t n = sums.shape[0], i
        cdef int64_t[::1] seen
        cdef double size
        if not words.shape[0] or not sums.shape[1]:
            return
        products.rows, products.sums, products.m = &self.rows, &sums[0, 0], sums.shape[1]
        products.symmetric = symmetric
        products.lists.words, products.lists.starts = &words[0], &starts[0]
        products.lists.n_words = words.shape[0]
        products.lists.cells, products.lists.roots = &cells[0], &roots[0]
        products.lists.row_bits = gapped_bits(sums.shape[1] - 1)
        products.lists.mean = 1
        if n > 1:
            for i in range(words.shape[0]):
                size = starts[i + 1] - starts[i]
                products.lists.mean += size * size / starts[words.shape[0]]
        products.vector_bytes = current().vector_bytes
        # Many rows share the making of lines; their sums stay in the cache.
        products.n_rows = max(16, min(GAPPED_ROWS, SUMS / products.m))
        n_threads = worth(n_threads, <double> self.n_windows * sums.shape[1], n)
        if n_threads > 1:
            products.n_rows = min(products.n_rows, n / (4 * n_threads) + 1)
        if symmetric:
            seen = np.empty(n, np.int64)
            with nogil:
                gapped_locate_own(&self.rows, &products.lists, &seen[0])
        run(_product_task, &products, (n + products.n_rows - 1) / products.n_rows, n_threads)
        if self.rows.failed:
            raise MemoryError(f"memory for the products of {n} strings")


cdef struct Sort:
    uint64_t *keys
    uint64_t *spare
    uint32_t *cells
    uint32_t *more
    int64_t n
    int bits


cdef struct Products:
    gapped_words *rows
    gapped_lists lists
    double *sums
    int64_t m
    int64_t n_rows          # of a task
    int64_t vector_bytes
    bint symmetric


cdef void _sort_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef gapped_words *rows = <gapped_words *> context
    gapped_sort_rows(rows, task * ROWS, min((task + 1) * ROWS, rows.n_rows), poll)


cdef void _merge_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Sort *sort = <Sort *> context
    gapped_sort(&sort.keys, &sort.spare, &sort.cells, &sort.more, sort.n, sort.bits, 1, poll)


cdef void _product_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Products *all = <Products *> context
    gapped_add_rows(all.rows, &all.lists, task * all.n_rows,
                    min((task + 1) * all.n_rows, all.rows.n_rows), all.m, all.symmetric,
                    all.vector_bytes, all.sums, poll)


cdef struct Scaled:
    const double *sums
    const double *x_scales
    const double *y_scales
    double *out
    int64_t n
    int64_t m
    bint symmetric
    double weight


cdef void _scale_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef const Scaled *all = <const Scaled *> context
    cdef int64_t i, j, m = all.m
    cdef double scale
    cdef const double *sums
    cdef double *out
    for i in range(task * ROWS, min((task + 1) * ROWS, all.n)):
        sums = all.sums + i * m
        out = all.out + i * m
        scale = all.x_scales[i]
        for j in range(i if all.symmetric else 0, m):
            out[j] += all.weight * (sums[j] * (scale * all.y_scales[j]))


cdef void _mirror_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    """Copy the half above the diagonal onto some rows of the other half."""
    cdef const Scaled *all = <const Scaled *> context
    cdef int64_t begin = task * MIRROR_TILE, end = min(begin + MIRROR_TILE, all.n), base = 0, i, j
    while base < end:
        for i in range(begin, end):
            for j in range(base, min(base + MIRROR_TILE, i)):
                all.out[i * all.n + j] = all.out[j * all.n + i]
        base += MIRROR_TILE


def add_scaled(const double[:, ::1] sums, const double[::1] x_scales,
               const double[::1] y_scales, bint symmetric, double weight,
               double[:, ::1] out, int n_threads):
    """out[i, j] += weight * (sums[i, j] * (x_scales[i] * y_scales[j])).

    symmetric: `sums` is read on and above the diagonal only.
    """
    cdef Scaled context
    context.sums, context.out = &sums[0, 0], &out[0, 0]
    context.x_scales, context.y_scales = &x_scales[0], &y_scales[0]
    context.n, context.m = sums.shape[0], sums.shape[1]
    context.symmetric = symmetric
    context.weight = weight
    n_threads = worth(n_threads, <double> context.n * context.m, context.n)
    run(_scale_task, &context, (context.n + ROWS - 1) / ROWS, n_threads)
    if symmetric:
        run(_mirror_task, &context, (context.n + MIRROR_TILE - 1) / MIRROR_TILE, n_threads)
