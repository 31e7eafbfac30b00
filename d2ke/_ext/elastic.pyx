# SPDX-License-Identifier: BSD-3-Clause
"""Elastic distances of series: dynamic time warping."""

import numpy as np

from cython cimport floating
from libc.stdint cimport int64_t

from d2ke._ext.pairwise cimport PairwiseKernel
from d2ke._ext.pairwise import by_length
from d2ke._ext.isa cimport current

cdef extern from "options.h":
    ctypedef struct dtw_options:
        int64_t ground
        int64_t window
    cdef enum:
        DTW_PLAIN
        DTW_SQUARED
        DTW_SAFE
        DTW_NO_WINDOW
        DTW_RWS_WINDOW

# Windows that are rules rather than radii.
NO_WINDOW = DTW_NO_WINDOW
RWS_WINDOW = DTW_RWS_WINDOW


def dtw(const floating[:, ::1] x, const int64_t[::1] x_offsets,
        const floating[:, ::1] y, const int64_t[::1] y_offsets,
        int64_t window, bint squared, bint same):
    """Prepare DTW; `same`: y is x, and its pairs are wanted once."""
    cdef PairwiseKernel pairs = PairwiseKernel()
    cdef dtw_options options
    cdef int which = 1 if floating is float else 0
    cdef int64_t lanes = current().vector_bytes // sizeof(floating)
    cdef int64_t n = y_offsets.shape[0] - 1
    pairs.set_items(&x[0, 0], x_offsets, &y[0, 0], y_offsets, x.shape[1], (x, y))
    columns = by_length(y_offsets)
    pairs.set_order(columns if same else by_length(x_offsets, True), columns,
                    np.append(np.arange(0, n, lanes), n))
    options.window = window
    if squared:
        options.ground = DTW_SQUARED
    else:
        options.ground = DTW_PLAIN if squares_are_safe(x) and squares_are_safe(y) else DTW_SAFE
    pairs.set_options(&options, sizeof(options))
    pairs.kernel = current().dtw[which]
    pairs.scratch_bytes = current().dtw_scratch[which](&pairs.problem)
    pairs.block_outer = True
    return pairs


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
