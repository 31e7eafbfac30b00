# SPDX-License-Identifier: BSD-3-Clause
"""Sums over all pairs of points of weighted sets.

Work is cut into tasks by the sizes of the data alone, each task has a result of its own, and
these are added in their order: the bits do not depend on the number of threads.
"""

import numpy as np

from libc.stdint cimport int64_t

from d2ke._ext.isa cimport (current, d2ke_add_exactly, d2ke_cloud, d2ke_poll, d2ke_stopped)
from d2ke._ext.tasks cimport POLL_WORK, run, worth

cdef enum:
    COLUMNS = 256           # of one call; a multiple of the kernel's tile

PADDING = 32  # reals that may be read past the last point of a cloud


cdef void describe(d2ke_cloud *cloud, const double[:, ::1] points, const double[:, ::1] vectors):
    cloud.points = &points[0, 0]
    cloud.vectors = &vectors[0, 0]
    cloud.stride = points.shape[1]
    cloud.dim = points.shape[0]
    cloud.channels = vectors.shape[0]


cdef int add_columns(const PairSums *pairs, int64_t begin, int64_t end, int64_t first,
                     int64_t last, double *total, double *potentials, int64_t *since,
                     const d2ke_poll *poll) noexcept nogil:
    cdef int64_t column = first, upto
    while column < last:
        upto = min(column + COLUMNS, last)
        current().pair_sums(&pairs.x, begin, end, &pairs.y, column, upto, pairs.laplace,
                            pairs.rate, total, potentials)
        since[0] += (end - begin) * (upto - column) * (pairs.x.dim + pairs.x.channels)
        if since[0] > POLL_WORK:
            since[0] = 0
            if d2ke_stopped(poll):
                return 1
        column = upto
    return 0


cdef struct Blocks:
    PairSums pairs
    const int64_t *y_offsets
    int64_t n_y
    const int64_t *blocks   # block b: set, first row, end
    int symmetric           # y is x: only j >= i
    int halve               # ... and within a set only the upper triangle, doubled
    double *partial         # (n_blocks, n_y, 2)
    double *potentials


cdef void _pair_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef const Blocks *b = <const Blocks *> context
    cdef int64_t i = b.blocks[3 * task]
    cdef int64_t begin = b.blocks[3 * task + 1], end = b.blocks[3 * task + 2]
    cdef int64_t j, first, last, since = 0
    cdef double *total
    cdef double[2] twice
    for j in range(i if b.symmetric else 0, b.n_y):
        total = b.partial + 2 * (task * b.n_y + j)
        first = b.y_offsets[j]
        last = b.y_offsets[j + 1]
        if b.halve and i == j:
            if add_columns(&b.pairs, begin, end, begin, end, total, NULL, &since, poll):
                return
            twice[0] = twice[1] = 0
            if add_columns(&b.pairs, begin, end, end, last, twice, NULL, &since, poll):
                return
            d2ke_add_exactly(2 * twice[0], &total[0], &total[1])
            total[1] += 2 * twice[1]
        elif add_columns(&b.pairs, begin, end, first, last, total, NULL, &since, poll):
            return


cdef void _potential_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef const Blocks *b = <const Blocks *> context
    cdef const int64_t *columns = b.y_offsets + 2 * b.blocks[3 * task]
    cdef int64_t begin = b.blocks[3 * task + 1], end = b.blocks[3 * task + 2], since = 0
    add_columns(&b.pairs, begin, end, columns[0], columns[1], NULL,
                b.potentials + begin * b.pairs.y.channels, &since, poll)


def _blocks(offsets):
    """Cut every set's rows into blocks: (set, first row, end) of each."""
    counts = -(-np.diff(offsets) // BLOCK)
    which = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    begin = offsets[which] + within * BLOCK
    return np.ascontiguousarray(
        np.stack([which, begin, np.minimum(begin + BLOCK, offsets[which + 1])], axis=1),
        dtype=np.int64,
    )


def pair_matrix(const double[:, ::1] x_points, const double[:, ::1] x_vectors,
                const int64_t[::1] x_offsets, const double[:, ::1] y_points,
                const double[:, ::1] y_vectors, const int64_t[::1] y_offsets, bint laplace,
                double rate, int n_threads, bint symmetric, bint halve):
    """kappa of every set of x with every set of y, as unevaluated sums high + low.

    Clouds are (dim, total + PADDING) and (channels, total + PADDING). Symmetric: y is x; below
    the diagonal are zeros. Every set has a point.
    """
    cdef Blocks context
    cdef int64_t b, i, j, n_x = x_offsets.shape[0] - 1, n_y = y_offsets.shape[0] - 1
    cdef int64_t[:, ::1] blocks = _blocks(np.asarray(x_offsets))
    cdef double[:, :, ::1] partial = np.zeros((blocks.shape[0], n_y, 2))
    result = np.zeros((2, n_x, n_y))
    cdef double[:, :, ::1] out = result
    describe(&context.pairs.x, x_points, x_vectors)
    describe(&context.pairs.y, y_points, y_vectors)
    context.y_offsets = &y_offsets[0]
    context.n_y = n_y
    context.blocks = &blocks[0, 0]
    context.symmetric = symmetric
    context.halve = halve
    context.pairs.laplace = laplace
    context.pairs.rate = rate
    context.partial = &partial[0, 0, 0]
    context.potentials = NULL
    n_threads = worth(n_threads, <double> PAIR_WORK * x_offsets[n_x] * y_offsets[n_y],
                      blocks.shape[0])
    run(_pair_task, &context, blocks.shape[0], n_threads)
    with nogil:
        for b in range(blocks.shape[0]):
            i = blocks[b, 0]
            for j in range(n_y):
                d2ke_add_exactly(partial[b, j, 0], &out[0, i, j], &out[1, i, j])
                out[1, i, j] += partial[b, j, 1]
    return result[0], result[1]


def potentials(const double[:, ::1] x_points, int64_t n_x, const double[:, ::1] y_points,
               const double[:, ::1] y_vectors, int64_t n_y, bint laplace, double rate,
               int n_threads):
    """sum_q K(p, q) v_q at every point p of x: (n_x, channels)."""
    return local_potentials(x_points, np.array([0, n_x]), y_points, y_vectors,
                            np.array([[0, n_y]]), laplace, rate, n_threads)


def local_potentials(const double[:, ::1] x_points, const int64_t[::1] x_offsets,
                     const double[:, ::1] y_points, const double[:, ::1] y_vectors,
                     const int64_t[:, ::1] ranges, bint laplace, double rate, int n_threads):
    """The same, where the points p of set i of x count the points q of ranges[i] only."""
    cdef Blocks context
    cdef int64_t[:, ::1] blocks = _blocks(np.asarray(x_offsets))
    sizes = np.asarray(ranges)
    work = PAIR_WORK * float((np.diff(x_offsets) * (sizes[:, 1] - sizes[:, 0])).sum())
    result = np.zeros((x_offsets[x_offsets.shape[0] - 1], y_vectors.shape[0]))
    cdef double[:, ::1] out = result
    describe(&context.pairs.y, y_points, y_vectors)
    context.pairs.x = context.pairs.y
    context.pairs.x.points = &x_points[0, 0]
    context.pairs.x.stride = x_points.shape[1]
    context.y_offsets = &ranges[0, 0]
    context.blocks = &blocks[0, 0]
    context.pairs.laplace = laplace
    context.pairs.rate = rate
    context.potentials = &out[0, 0]
    run(_potential_task, &context, blocks.shape[0], worth(n_threads, work, blocks.shape[0]))
    return result
