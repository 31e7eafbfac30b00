# SPDX-License-Identifier: BSD-3-Clause
"""Expected edits of pairs of strings: forward and backward tables over all their alignments.

    f[i, j] = log of the sum over all alignments of the first i letters of x and j letters of y
            = log(exp(f[i - 1, j - 1] + p[a, b]) + exp(f[i - 1, j] + p[a, -])
                  + exp(f[i, j - 1] + p[-, b]) + exp(f[i - 2, j - 2] + swap[a] + swap[b]))

with a = x[i - 1], b = y[j - 1], the last row and column of p for the empty letter, and the last
term where x[i - 2] = b != a = y[j - 2]. Logarithms, since the sums of long strings underflow.
"""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int64_t, uint32_t

import numpy as np

from d2ke._ext.isa cimport d2ke_poll, d2ke_stopped
from d2ke._ext.tasks cimport run, worth

cdef enum:
    N_BLOCKS = 16       # of pairs, whatever the number of threads: each has sums of its own
    CELL_WORK = 400     # of both tables, in elementary operations

BLOCKS = N_BLOCKS


cdef struct Pairs:
    const uint32_t *x
    const int64_t *x_offsets
    const uint32_t *y
    const int64_t *y_offsets
    const double *weights
    int64_t n
    int64_t empty           # the code of the empty letter, which is the number of letters
    const double *p
    const double *swap
    double *tables          # of each block
    int64_t size            # of the tables of a block
    double *counts          # of each block
    double *swaps           # of each block
    double *logs            # of each pair


def expectations(const uint32_t[::1] x, const int64_t[::1] x_offsets,
                 const uint32_t[::1] y, const int64_t[::1] y_offsets,
                 const double[::1] weights, const double[:, ::1] p, const double[::1] swap,
                 int n_threads):
    """Return the expected number of each edit, of swaps, and the log probability of each pair.

    p: log probabilities of letters 0 .. K - 1 of x and of y, and of the empty letter K. swap: the
    part that a letter has in the log probability of a swap. A pair counts `weights` times.
    """
    cdef Pairs pairs
    cdef int64_t n = x_offsets.shape[0] - 1, k
    cdef int64_t columns = np.diff(y_offsets).max() + 1
    cdef int64_t rows = np.diff(x_offsets).max() + 1
    cdef double cells = np.dot(np.diff(x_offsets) + 1., np.diff(y_offsets) + 1.)
    pairs.x, pairs.x_offsets, pairs.y, pairs.y_offsets = &x[0], &x_offsets[0], &y[0], &y_offsets[0]
    pairs.weights, pairs.n, pairs.empty = &weights[0], n, p.shape[0] - 1
    pairs.p, pairs.swap = &p[0, 0], &swap[0]
    pairs.size = (rows + 3) * columns
    cdef double[:, ::1] tables = np.empty((N_BLOCKS, pairs.size))
    cdef double[:, :, ::1] counts = np.zeros((N_BLOCKS, p.shape[0], p.shape[0]))
    cdef double[::1] swaps = np.zeros(N_BLOCKS)
    cdef double[::1] logs = np.empty(n)
    pairs.tables, pairs.counts = &tables[0, 0], &counts[0, 0, 0]
    pairs.swaps, pairs.logs = &swaps[0], &logs[0]
    run(block, &pairs, N_BLOCKS, worth(n_threads, CELL_WORK * cells, N_BLOCKS))
    total = np.zeros((p.shape[0], p.shape[0]))
    for k in range(N_BLOCKS):
        total += counts[k]
    return total, sum(swaps), np.asarray(logs)


cdef void block(void *context, int64_t k, const d2ke_poll *poll) noexcept nogil:
    cdef const Pairs *c = <const Pairs *> context
    cdef double *counts = c.counts + k * (c.empty + 1) * (c.empty + 1)
    cdef int64_t i
    for i in range(k * c.n // N_BLOCKS, (k + 1) * c.n // N_BLOCKS):
        if d2ke_stopped(poll):
            return
        one_pair(c, i, c.tables + k * c.size, counts, c.swaps + k, poll)


cdef void one_pair(const Pairs *c, int64_t pair, double *f, double *counts, double *swaps,
                   const d2ke_poll *poll) noexcept nogil:
    """Add the expected edits of a pair to the counts. f: a forward table and three rows more."""
    cdef const uint32_t *x = c.x + c.x_offsets[pair]
    cdef const uint32_t *y = c.y + c.y_offsets[pair]
    cdef int64_t n = c.x_offsets[pair + 1] - c.x_offsets[pair]
    cdef int64_t m = c.y_offsets[pair + 1] - c.y_offsets[pair]
    cdef int64_t letters = c.empty + 1, i, j
    cdef double weight = c.weights[pair], total, here
    cdef double step, delete, insert, swap      # log sums of what begins or ends with this edit
    cdef const double *p                        # edits of a letter of x
    cdef const double *new = c.p + c.empty * letters
    cdef double *row
    cdef double *b                              # the backward row i, and those below it
    cdef double *b1
    cdef double *b2
    for i in range(n + 1):
        row, p = f + i * (m + 1), c.p + x[i - 1] * letters if i else NULL
        for j in range(m + 1):
            step = delete = insert = swap = -INFINITY
            if i:
                delete = row[j - m - 1] + p[c.empty]
            if j:
                insert = row[j - 1] + new[y[j - 1]]
            if i and j:
                step = row[j - m - 2] + p[y[j - 1]]
                if i > 1 and j > 1 and swapped(x + i - 2, y + j - 2):
                    swap = row[j - 2 * m - 4] + c.swap[x[i - 1]] + c.swap[x[i - 2]]
            row[j] = log_sum(step, delete, insert, swap) if i or j else 0
        if d2ke_stopped(poll):
            return
    total = f[n * (m + 1) + m]
    c.logs[pair] = total
    b = f + (n + 1) * (m + 1)
    b1, b2 = b + m + 1, b + 2 * (m + 1)
    for i in range(n, -1, -1):
        b, b1, b2 = b2, b, b1
        row, p = f + i * (m + 1), c.p + x[i] * letters if i < n else NULL
        for j in range(m, -1, -1):
            step = delete = insert = swap = -INFINITY
            here = row[j] - total
            if i < n:
                delete = b1[j] + p[c.empty]
                counts[x[i] * letters + c.empty] += weight * exp(here + delete)
            if j < m:
                insert = b[j + 1] + new[y[j]]
                counts[c.empty * letters + y[j]] += weight * exp(here + insert)
            if i < n and j < m:
                step = b1[j + 1] + p[y[j]]
                counts[x[i] * letters + y[j]] += weight * exp(here + step)
                if i + 1 < n and j + 1 < m and swapped(x + i, y + j):
                    swap = b2[j + 2] + c.swap[x[i]] + c.swap[x[i + 1]]
                    swaps[0] += weight * exp(here + swap)
            b[j] = log_sum(step, delete, insert, swap) if i < n or j < m else 0
        if d2ke_stopped(poll):
            return


cdef inline bint swapped(const uint32_t *x, const uint32_t *y) noexcept nogil:
    """Whether two letters of x are two different ones of y in the other order."""
    return x[0] == y[1] and x[1] == y[0] and x[0] != x[1]


cdef inline double log_sum(double a, double b, double c, double d) noexcept nogil:
    """Return log(exp(a) + exp(b) + exp(c) + exp(d))."""
    cdef double most = max(max(a, b), max(c, d))
    if most == -INFINITY:
        return most
    return most + log(small_exp(a - most) + small_exp(b - most) + small_exp(c - most)
                      + small_exp(d - most))


cdef inline double small_exp(double value) noexcept nogil:
    """Return exp(value), or 0 where it is lost beside 1."""
    return exp(value) if value > -40 else 0
