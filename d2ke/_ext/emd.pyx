# SPDX-License-Identifier: BSD-3-Clause
"""The earth mover's distance of weighted sets of vectors."""

import numpy as np

from libc.math cimport rint
from libc.stdint cimport int64_t

from d2ke._ext.pairwise cimport PairwiseKernel
from d2ke._ext.pairwise import by_length
from d2ke._ext.isa cimport current

cdef extern from "options.h":
    ctypedef struct emd_flow:
        int64_t n
        int64_t *from_ "from"
        int64_t *to
        int64_t *mass
        double *apart
    ctypedef struct emd_options:
        int64_t squared
        const int64_t *x_masses
        const int64_t *y_masses
        emd_flow *flow
    const int64_t EMD_TOTAL

TOTAL = EMD_TOTAL  # the mass of every measure

cdef enum:
    MAX_VECTORS = 536870912  # vertices of the tree have numbers of 32 bits
    CELL_WORK = 30  # the simplex, in operations for a cell of the cost matrix


def emd(x, y, bint squared, bint same):
    """Prepare the distance of measures (see `measures`); `same`: y is x, wanted once."""
    return prepare(x, y, squared, same, NULL)


def flow(x, y, bint squared):
    """Distance of one pair of measures, and the optimal flow that it is the cost of.

    The flow is four arrays, in the order in which the cost is summed: number of the vector of x and
    of y, mass in units of 1 / EMD_TOTAL, ground distance.
    """
    cdef emd_flow found
    cdef int64_t most = len(x[0]) + len(y[0])
    sources, targets, masses = (np.empty(most, dtype=np.int64) for _ in range(3))
    ground = np.empty(most)
    cdef int64_t[::1] sources_view = sources, targets_view = targets, masses_view = masses
    cdef double[::1] ground_view = ground
    found.n = 0
    found.from_ = &sources_view[0]
    found.to = &targets_view[0]
    found.mass = &masses_view[0]
    found.apart = &ground_view[0]
    cost = np.empty((1, 1))
    prepare(x, y, squared, False, &found).run(cost, 1, False)
    return cost[0, 0], *(a[:found.n] for a in (sources, targets, masses, ground))


cdef PairwiseKernel prepare(x, y, bint squared, bint same, emd_flow *flow):
    cdef PairwiseKernel pairs = PairwiseKernel()
    cdef emd_options options
    cdef const double[:, ::1] x_values = x[0], y_values = y[0]
    cdef const int64_t[::1] x_offsets = x[1], y_offsets = y[1], x_masses = x[2], y_masses = y[2]
    cdef int64_t n = y_offsets.shape[0] - 1
    for name, offsets in (("X", x_offsets), ("Y", y_offsets)):
        longest = np.diff(offsets).max()
        if longest > MAX_VECTORS:
            raise ValueError(f"an object of {name} has {longest} different vectors; emd is for "
                             f"objects of at most {MAX_VECTORS}")
    pairs.set_items(&x_values[0, 0], x_offsets, &y_values[0, 0], y_offsets, x_values.shape[1],
                    (x_values, y_values, x_masses, y_masses))
    # The costly rows first; a block is one object, so that no pair is computed twice.
    rows = by_length(x_offsets, True)
    pairs.set_order(rows, rows if same else np.arange(n), np.arange(n + 1))
    options.squared = squared
    options.x_masses = &x_masses[0]
    options.y_masses = &y_masses[0]
    options.flow = flow
    pairs.set_options(&options, sizeof(options))
    pairs.cell_work = CELL_WORK
    pairs.kernel = current().emd
    pairs.scratch_bytes = current().emd_scratch(&pairs.problem)
    return pairs


def measures(const double[:, ::1] values, const int64_t[::1] offsets, weights):
    """Objects as what the kernel wants: distinct vectors in order, and integers for their weights.

    The masses of an object are its weights, equal ones where `weights` is None, in units of
    2**-62 of their sum.  Equal vectors become one with the sum of their weights; vectors whose
    share rounds to nothing are left out.  Returns values, offsets and masses.
    """
    cdef int64_t n = offsets.shape[0] - 1, dim = values.shape[1], i, k, j, last, begin, end
    cdef int64_t at = 0, from_vector, unspent, heaviest
    cdef const double[::1] weight
    cdef double total
    cdef bint weighted = weights is not None
    cdef double one = 1.0
    new_values, masses = np.empty_like(values), np.empty(values.shape[0], dtype=np.int64)
    new_offsets = np.zeros(n + 1, dtype=np.int64)
    cdef double[:, ::1] out = new_values
    cdef int64_t[::1] mass = masses
    cdef int64_t[::1] ends = new_offsets
    cdef double[::1] sums = np.empty(values.shape[0])
    cdef int64_t[::1] order = np.arange(values.shape[0])
    cdef int64_t[::1] spare = np.empty(values.shape[0], dtype=np.int64)
    if weighted:
        weight = weights
    with nogil:
        for i in range(n):
            begin, end = offsets[i], offsets[i + 1]
            sort(values, order, spare, begin, end)
            # Vectors of no weight go, equal ones are joined; `spare` has what is kept.
            last = begin - 1
            total = 0
            for k in range(begin, end):
                j = order[k]
                one = weight[j] if weighted else 1.0
                if one == 0:
                    continue
                total += one
                if last >= begin and compare(values, spare[last], j) == 0:
                    sums[last] += one
                else:
                    last += 1
                    spare[last] = j
                    sums[last] = one
            unspent = EMD_TOTAL
            heaviest = -1
            for k in range(begin, last + 1):
                mass[at] = <int64_t> rint(sums[k] / total * <double> EMD_TOTAL)
                if mass[at] == 0:
                    continue
                unspent -= mass[at]
                if heaviest < 0 or mass[at] > mass[heaviest]:
                    heaviest = at
                from_vector = spare[k]
                for j in range(dim):
                    out[at, j] = values[from_vector, j]
                at += 1
            mass[heaviest] += unspent
            ends[i + 1] = at
    return new_values[:at], new_offsets, masses[:at]


cdef int compare(const double[:, ::1] values, int64_t a, int64_t b) noexcept nogil:
    """Lexicographic order of two vectors: < 0, 0 or > 0."""
    cdef int64_t k
    for k in range(values.shape[1]):
        if values[a, k] != values[b, k]:
            return -1 if values[a, k] < values[b, k] else 1
    return 0


cdef void sort(const double[:, ::1] values, int64_t[::1] order, int64_t[::1] spare, int64_t begin,
               int64_t end) noexcept nogil:
    """Sort order[begin:end] by the vectors it names, equal ones as they were (merges)."""
    cdef int64_t width = 1, low, middle, high, a, b, k
    while width < end - begin:
        low = begin
        while low + width < end:
            middle = low + width
            high = min(middle + width, end)
            a, b = low, middle
            for k in range(low, high):
                if b == high or (a < middle and compare(values, order[a], order[b]) <= 0):
                    spare[k] = order[a]
                    a += 1
                else:
                    spare[k] = order[b]
                    b += 1
            for k in range(low, high):
                order[k] = spare[k]
            low = high
        width *= 2
