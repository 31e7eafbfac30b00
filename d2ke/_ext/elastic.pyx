# SPDX-License-Identifier: BSD-3-Clause
"""Elastic distances of series: dynamic time warping."""

import numpy as np

from cython cimport floating
from libc.stdint cimport int64_t

from d2ke._ext.cross cimport Cross
from d2ke._ext.cross import by_length
from d2ke._ext.isa cimport current

# Windows that are rules rather than radii; see dtw.h.
NO_WINDOW = -1
RWS_WINDOW = -2


cdef enum:
    PLAIN = 0
    SQUARED = 1
    SAFE = 2


def dtw(const floating[:, ::1] x, const int64_t[::1] x_offsets,
        const floating[:, ::1] y, const int64_t[::1] y_offsets,
        int64_t window, bint squared, bint same):
    """Prepare DTW; `same`: y is x, and its pairs are wanted once."""
    cdef Cross cross = Cross()
    cdef int which = 1 if floating is float else 0
    cdef int64_t lanes = current().vector_bytes // sizeof(floating)
    cdef int64_t n = y_offsets.shape[0] - 1
    cross.set_items(&x[0, 0], x_offsets, &y[0, 0], y_offsets, x.shape[1], (x, y))
    columns = by_length(y_offsets)
    cross.set_order(columns if same else by_length(x_offsets, True), columns,
                    np.append(np.arange(0, n, lanes), n))
    cross.problem.window = window
    if squared:
        cross.problem.mode = SQUARED
    else:
        cross.problem.mode = PLAIN if squares_are_safe(x) and squares_are_safe(y) else SAFE
    cross.kernel = current().dtw[which]
    cross.scratch_bytes = current().dtw_scratch[which](&cross.problem)
    cross.block_outer = True
    return cross


cdef bint squares_are_safe(const floating[:, ::1] values) noexcept nogil:
    """Whether squares of differences of these values neither overflow nor vanish.

    The least difference of two values is one unit in the last place of the
    smaller one, hence the bound from below.
    """
    cdef floating least = 2.0 ** -38 if floating is float else 2.0 ** -450
    cdef floating most = 2.0 ** 50 if floating is float else 2.0 ** 500
    cdef floating size
    cdef int64_t i, k
    cdef int64_t unsafe_values = 0
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            size = values[i, k] if values[i, k] >= 0 else -values[i, k]
            unsafe_values += (size > most) | ((size < least) & (size != 0))
    return unsafe_values == 0
