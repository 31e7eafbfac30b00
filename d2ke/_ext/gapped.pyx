# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of strings by the words that they share on masks.

Tasks are rows of x, each with sums of its own, and words come in the order of their letters: the
bits depend neither on the number of threads nor on the other rows and columns.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from d2ke._ext.isa cimport d2ke_poll
from d2ke._ext.tasks cimport run, worth

cdef extern from "gapped.h":
    ctypedef struct gapped_words:
        const uint32_t *codes
        const int64_t *offsets
        int64_t strands
        int64_t n_rows
        int64_t n_x
        int64_t symmetric
        uint64_t n_letters
        const int64_t *mask
        int64_t k
        double *squares
        int64_t shared
        int64_t n_windows
        int failed

    int64_t gapped_count(const gapped_words *, int64_t) noexcept nogil
    int gapped_prepare(gapped_words *, const d2ke_poll *) noexcept nogil
    void gapped_rows(const gapped_words *, int64_t, int64_t, double *,
                     const d2ke_poll *) noexcept nogil
    void gapped_free(gapped_words *) noexcept nogil

cdef enum:
    ROWS = 16       # of a task
    MIRROR_TILE = 64


cdef struct Products:
    gapped_words words
    double *sums


cdef void _prepare_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    gapped_prepare(&(<Products *> context).words, poll)


cdef void _product_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Products *products = <Products *> context
    gapped_rows(&products.words, task * ROWS, min((task + 1) * ROWS, products.words.n_x),
                products.sums, poll)


def add_products(const uint32_t[::1] codes, const int64_t[::1] offsets, int64_t strands,
                 int64_t n_letters, const int64_t[::1] mask, double[:, ::1] sums,
                 double[::1] squares, bint shared, int n_threads):
    """Add to sums[i, j] the products of the roots of the counts of words that x_i and y_j share.

    codes are less than n_letters, those of x and then those of y; `strands` strings make up a row.
    squares: one for each row, to which its product with itself is added; `shared`: for rows of x
    only, which is faster. If there are only as many rows as `sums` has, y is x, and nothing is
    added below the diagonal.
    """
    cdef Products products
    cdef int64_t n = sums.shape[0]
    memset(&products, 0, sizeof(Products))
    products.words.codes = &codes[0]
    products.words.offsets = &offsets[0]
    products.words.strands = strands
    products.words.n_rows = squares.shape[0]
    products.words.n_x = n
    products.words.symmetric = squares.shape[0] == n
    products.words.n_letters = max(n_letters, 1)
    products.words.mask = &mask[0]
    products.words.k = mask.shape[0]
    products.words.squares = &squares[0]
    products.words.shared = shared
    products.words.n_windows = gapped_count(&products.words, mask[mask.shape[0] - 1] + 1)
    products.sums = &sums[0, 0]
    if products.words.n_windows >= 2**31:
        raise ValueError(f"{products.words.n_windows} windows of letters; at most 2**31 - 1 fit")
    if products.words.n_windows == 0:
        return
    try:
        run(_prepare_task, &products, 1, 1)
        if products.words.failed:
            raise MemoryError(f"memory for {products.words.n_windows} words of strings")
        run(_product_task, &products, (n + ROWS - 1) / ROWS,
            worth(n_threads, <double> products.words.n_windows * sums.shape[1], n))
    finally:
        gapped_free(&products.words)
    if products.words.symmetric:
        for i in range(n):
            sums[i, i] = squares[i]


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
