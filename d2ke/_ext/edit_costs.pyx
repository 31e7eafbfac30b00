# SPDX-License-Identifier: BSD-3-Clause
"""Lower bounds of edit distances with costs, by the letters of two strings, then by a cut-off.

The formulas stand in edit_costs.h.
"""

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

from d2ke._ext.isa cimport cost_bounds, current, d2ke_poll
from d2ke._ext.refine cimport Bounds

cdef extern from "cost_bounds.h":
    enum:
        COSTS_LONGEST
    ctypedef struct parts "cost_bounds":
        const uint32_t *x
        const uint32_t *y
        const int64_t *x_offsets
        const int64_t *y_offsets
        int64_t n
        int64_t n_letters
        int64_t longest
        const float *cost
        const float *deletion
        const float *insertion
        const uint16_t *out
        const uint16_t *into
        const uint8_t *counts
        const uint16_t *total
        float transposition
        float slope
    size_t cost_bounds_own(const parts *)

LONGEST = COSTS_LONGEST


cdef class Columns:
    """Strings y, with the counts of their letters, and what operations cost.

    classes: of each letter, the last of which y does not have; substitution and single: see `Costs`
    in d2ke/distances/letter_costs.py, without affine gaps.
    """
    cdef parts all
    cdef object keep
    cdef readonly int64_t n_letters

    def __init__(self, const uint32_t[::1] letters, const int64_t[::1] offsets, classes,
                 substitution, single, double transposition):
        cdef int64_t i, at, n = offsets.shape[0] - 1, n_letters = len(classes)
        costs = substitution.T[classes[:, None], classes]
        np.fill_diagonal(costs, single[0, classes])
        others = substitution.copy()
        named = np.arange(len(others) - 1)  # classes of one letter each
        others[named, named] = np.inf
        out = np.minimum(single[1], others.min(axis=1))[classes]
        into = np.minimum(single[3], others.min(axis=0))[classes]
        longest = max(1, int(np.diff(offsets).max()))
        scale = min(65535 / max(longest * max(out.max(), into.max()), 1e-200), 1e30)
        cdef const float[:, ::1] cost = costs.astype(np.float32)
        cdef const float[::1] deletion = single[1, classes].astype(np.float32)
        cdef const float[::1] insertion = single[3, classes].astype(np.float32)
        cdef const uint16_t[::1] least_out = (out * scale).astype(np.uint16)
        cdef const uint16_t[::1] least_into = (into * scale).astype(np.uint16)
        cdef uint8_t[:, ::1] counts = np.zeros((n_letters, n), np.uint8)
        cdef uint16_t[::1] total = np.zeros(n, np.uint16)
        for i in range(n):
            for at in range(offsets[i], offsets[i + 1]):
                counts[letters[at], i] += 1
                total[i] += least_into[letters[at]]
        self.keep = (letters, offsets, cost, deletion, insertion, least_out, least_into, counts,
                     total)
        self.n_letters = self.all.n_letters = n_letters
        self.all.y, self.all.y_offsets, self.all.n = &letters[0], &offsets[0], n
        self.all.cost, self.all.deletion = &cost[0, 0], &deletion[0]
        self.all.insertion, self.all.counts = &insertion[0], &counts[0, 0]
        self.all.out, self.all.into, self.all.total = &least_out[0], &least_into[0], &total[0]
        self.all.transposition, self.all.slope = transposition, scale


cdef class CostBounds(Bounds):
    """The bounds of strings x and of prepared columns; x has letters of the columns' classes."""
    cdef parts all
    cdef object keep

    def __init__(self, Columns columns, const uint32_t[::1] x, const int64_t[::1] offsets):
        self.keep, self.all = (columns, x, offsets), columns.all
        self.all.x, self.all.x_offsets = &x[0], &offsets[0]
        self.all.longest = int(np.diff(offsets).max())
        self.context, self.own_bytes = &self.all, cost_bounds_own(&self.all)
        self.fill, self.begin, self.narrow = fill, begin, narrow
        # Each step of a path adds two rounded numbers.
        error = 2.0**-22 * (self.all.longest + COSTS_LONGEST + 4)
        self.slope, self.offset, self.ratio = columns.all.slope * (1 + error), 0.5, 1 + 3 * error


cdef void fill(const void *context, const int64_t *rows, int64_t n, float *bounds, int64_t stride,
               void *own, const d2ke_poll *poll) noexcept nogil:
    current().cost_fill(<const cost_bounds *> context, rows, n, bounds, stride, own, poll)


cdef void begin(const void *context, int64_t row, void *own) noexcept nogil:
    current().cost_begin(<const cost_bounds *> context, row, own)


cdef void narrow(const void *context, int64_t row, void *own, const int64_t *columns, int64_t n,
                 const float *limits, float *bounds, const d2ke_poll *poll) noexcept nogil:
    current().cost_narrow(<const cost_bounds *> context, row, own, columns, n, limits, bounds, poll)
