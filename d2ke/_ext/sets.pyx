# SPDX-License-Identifier: BSD-3-Clause
"""Distances of sets of vectors: the Hausdorff family."""

import numpy as np

from cython cimport floating
from libc.stdint cimport int64_t

from d2ke._ext.pairwise cimport SINGLE_COLUMNS, PairwiseKernel
from d2ke._ext.pairwise import by_length
from d2ke._ext.isa cimport current

cdef extern from "options.h":
    ctypedef struct sets_options:
        int64_t mode
        const double *x_norms
        const double *y_norms
    cdef enum:
        SETS_MHD
        SETS_DIRECTED_MHD
        SETS_HAUSDORFF
        SETS_DIRECTED_HAUSDORFF
        SETS_CHAMFER

# Values of `mode`.
MHD, DIRECTED_MHD = SETS_MHD, SETS_DIRECTED_MHD
HAUSDORFF, DIRECTED_HAUSDORFF = SETS_HAUSDORFF, SETS_DIRECTED_HAUSDORFF
CHAMFER = SETS_CHAMFER

cdef enum:
    BLOCK_BYTES = 131072  # vectors of a block: they stay in the second-level cache
    MINIMA_BYTES = 1048576  # a block's running minima, one per row vector and set
    FEWEST_SETS = 16  # ... unless that would leave less than these
    MAX_SETS = 64
    PARTIAL_SUMS = 8  # sets.h bounds the norms' rounding by this many sums


def sets(const floating[:, ::1] x, const int64_t[::1] x_offsets,
         const floating[:, ::1] y, const int64_t[::1] y_offsets, int64_t mode, bint same):
    """Prepare the distance of this mode; `same`: y is x, and its pairs are wanted once."""
    cdef PairwiseKernel pairs = PairwiseKernel()
    cdef sets_options options
    cdef int which = 1 if floating is float else 0
    cdef double[::1] x_norms = _norms(x)
    cdef double[::1] y_norms = x_norms if same else _norms(y)
    pairs.set_items(&x[0, 0], x_offsets, &y[0, 0], y_offsets, x.shape[1],
                    (x, y, x_norms, y_norms))
    # The kernel walks through y's vectors as they lie in memory.
    columns = np.arange(y_offsets.shape[0] - 1)
    rows = columns if same else by_length(x_offsets, True)
    pairs.set_order(rows, columns,
                    _blocks(y_offsets, y.shape[1] * sizeof(floating),
                            pairs.problem.x.longest * sizeof(floating)))
    pairs.takes = SINGLE_COLUMNS
    options.mode = mode
    options.x_norms = &x_norms[0]
    options.y_norms = &y_norms[0]
    pairs.set_options(&options, sizeof(options))
    pairs.kernel = current().sets[which]
    pairs.scratch_bytes = current().sets_scratch[which](&pairs.problem)
    return pairs


def _norms(const floating[:, ::1] vectors):
    """Squared lengths of the vectors."""
    cdef int64_t n = vectors.shape[0], dim = vectors.shape[1], i, k, j
    cdef double[PARTIAL_SUMS] part
    cdef double value
    norms = np.empty(n)
    cdef double[::1] out = norms
    with nogil:
        for i in range(n):
            for j in range(PARTIAL_SUMS):
                part[j] = 0
            for k in range(dim // PARTIAL_SUMS):
                for j in range(PARTIAL_SUMS):
                    value = vectors[i, k * PARTIAL_SUMS + j]
                    part[j] += value * value
            for k in range(dim - dim % PARTIAL_SUMS, dim):
                value = vectors[i, k]
                part[k % PARTIAL_SUMS] += value * value
            value = 0
            for j in range(PARTIAL_SUMS):
                value += part[j]
            out[i] = value
    return norms


def _blocks(const int64_t[::1] offsets, int64_t vector_bytes, int64_t minima_bytes):
    """Edges of the blocks: runs of consecutive sets that fit into BLOCK_BYTES, at least one."""
    cdef int64_t n = offsets.shape[0] - 1, first = 0, s
    cdef int64_t limit = max(FEWEST_SETS, min(MAX_SETS, MINIMA_BYTES // minima_bytes))
    edges = [0]
    for s in range(1, n):
        if s - first >= limit or (offsets[s + 1] - offsets[first]) * vector_bytes > BLOCK_BYTES:
            edges.append(s)
            first = s
    edges.append(n)
    return np.array(edges, dtype=np.int64)
