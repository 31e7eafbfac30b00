# SPDX-License-Identifier: BSD-3-Clause
"""Elastic distances of series: dynamic time warping, and those of elastic_cells.h."""

import numpy as np

from cython cimport floating
from libc.stdint cimport int64_t

from d2ke._ext.pairwise cimport PairwiseKernel
from d2ke._ext.pairwise import by_length
from d2ke._ext.isa cimport current, d2ke_elastic_narrow, d2ke_items, d2ke_poll, elastic_bounds
from d2ke._ext.refine cimport Bounds, refine_fill

cdef extern from "options.h":
    """
    static const char *const d2ke_elastic_names[] = {
    #define X(name, cell, border, result) #name,
        ELASTIC_DISTANCES(X)
    #undef X
    };
    static const int d2ke_elastic_borders[] = {
    #define X(name, cell, border, result) border,
        ELASTIC_DISTANCES(X)
    #undef X
    };
    """
    const char *d2ke_elastic_names[]
    const int d2ke_elastic_borders[]
    ctypedef struct dtw_options:
        int64_t ground
        int64_t window
        const int64_t *x_observed
        const int64_t *y_observed
    ctypedef struct elastic_options:
        int64_t window
        int64_t dim
        int64_t safe
        const double *parameters
    cdef enum:
        ELASTIC_COUNT_OF_ALL
        ELASTIC_NEVER
        DTW_PLAIN
        DTW_SQUARED
        DTW_SAFE
        DTW_NO_WINDOW
        DTW_RWS_WINDOW

cdef extern from "elastic_bounds.h":
    ctypedef struct elastic_parts "elastic_bounds":
        d2ke_items x
        d2ke_items y
        elastic_options options
        int64_t *cells

    size_t elastic_bounds_own(const elastic_bounds *) noexcept nogil

cdef struct cut_calls:
    refine_fill fill
    const void *first
    d2ke_elastic_narrow narrow
    const elastic_bounds *parts

# Windows that are rules rather than radii.
NO_WINDOW = DTW_NO_WINDOW
RWS_WINDOW = DTW_RWS_WINDOW

KINDS = {d2ke_elastic_names[k].decode(): k for k in range(ELASTIC_COUNT_OF_ALL)}


def dtw(const floating[:, ::1] x, const int64_t[::1] x_offsets,
        const floating[:, ::1] y, const int64_t[::1] y_offsets,
        int64_t window, bint squared, bint same, const int64_t[::1] x_observed=None,
        const int64_t[::1] y_observed=None):
    """Prepare DTW; `same`: y is x, and its pairs are wanted once.

    `x_observed`, `y_observed`: DTW-AROW; of each series, how many vectors are not missing. All
    channels of those that are missing are NaN.
    """
    cdef PairwiseKernel pairs = PairwiseKernel()
    cdef dtw_options options
    cdef int which = 1 if floating is float else 0
    set_series(pairs, x, x_offsets, y, y_offsets, same)
    options.window = window
    options.x_observed = options.y_observed = NULL
    if x_observed is not None:
        pairs.keep.append((x_observed, y_observed))
        options.x_observed, options.y_observed = &x_observed[0], &y_observed[0]
    if squared:
        options.ground = DTW_SQUARED
    else:
        options.ground = DTW_PLAIN if squares_are_safe(x) and squares_are_safe(y) else DTW_SAFE
    pairs.set_options(&options, sizeof(options))
    pairs.kernel = current().dtw[which]
    pairs.scratch = current().dtw_scratch[which]
    pairs.scratch_bytes = pairs.scratch(&pairs.problem)
    pairs.block_outer = True
    return pairs


def with_rows(PairwiseKernel pairs, const floating[:, ::1] x, const int64_t[::1] x_offsets):
    """Return what `dtw` prepared of series without missing vectors, for other rows.

    None if the squares of the rows need the careful way, and those before did not.
    """
    cdef const dtw_options *options = <const dtw_options *> pairs.problem.options
    if options.ground == DTW_PLAIN and not squares_are_safe(x):
        return None
    return pairs.with_rows(&x[0, 0], x_offsets, x)


def elastic(str kind, const double[:, ::1] x, const int64_t[::1] x_offsets,
            const double[:, ::1] y, const int64_t[::1] y_offsets, int64_t dim,
            const double[::1] parameters, int64_t window, bint same):
    """Prepare an elastic distance of series of `dim` channels, each with a row of zeros first.

    `parameters` is what elastic_cells.h says of the kind; `same` as for `dtw`.
    """
    cdef PairwiseKernel pairs = PairwiseKernel()
    cdef elastic_options options
    set_series(pairs, x, x_offsets, y, y_offsets, same)
    pairs.keep.append(parameters)
    options.window = window
    options.dim = dim
    options.safe = not (squares_are_safe(x) and squares_are_safe(y))
    options.parameters = &parameters[0]
    pairs.set_options(&options, sizeof(options))
    pairs.kernel = current().elastic[<int> KINDS[kind]]
    pairs.scratch = current().elastic_scratch
    pairs.scratch_bytes = pairs.scratch(&pairs.problem)
    pairs.trace = current().elastic_rows[<int> KINDS[kind]]
    pairs.ways = current().elastic_ways[<int> KINDS[kind]]
    pairs.leaves_out = d2ke_elastic_borders[<int> KINDS[kind]] != ELASTIC_NEVER
    pairs.block_outer = True
    return pairs


def elastic_with_rows(PairwiseKernel columns, PairwiseKernel rows):
    """Return the distance of the rows that `elastic` prepared to columns that it prepared.

    None if the squares of the rows need the careful way, and those of the columns do not.
    """
    cdef const elastic_options *options = <const elastic_options *> columns.problem.options
    cdef const elastic_options *own = <const elastic_options *> rows.problem.options
    cdef const double[:, ::1] x = rows.keep[2][0]
    if own.safe and not options.safe:
        return None
    return columns.with_rows(&x[0, 0], rows.keep[0], x)


cdef set_series(PairwiseKernel pairs, const floating[:, ::1] x, const int64_t[::1] x_offsets,
                const floating[:, ::1] y, const int64_t[::1] y_offsets, bint same):
    """Put the series into blocks of similar lengths, as many as there are lanes."""
    cdef int64_t lanes = current().vector_bytes // sizeof(floating)
    cdef int64_t n = y_offsets.shape[0] - 1
    pairs.set_items(&x[0, 0], x_offsets, &y[0, 0], y_offsets, x.shape[1], (x, y))
    columns = by_length(y_offsets)
    pairs.set_order(columns if same else by_length(x_offsets, True), columns,
                    np.append(np.arange(0, n, lanes), n))


cdef bint squares_are_safe(const floating[:, ::1] values) noexcept nogil:
    """Return whether squares of differences of these values neither overflow nor vanish.

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


def inputs(PairwiseKernel pairs):
    """Return (rows, offsets) of both sides and the parameters of what `elastic` prepared."""
    other_rows = isinstance(pairs.keep[0], list)  # see `with_rows`
    made = pairs.keep[0] if other_rows else pairs.keep
    x_offsets, y_offsets, (x, y), _, _, parameters = made[:6]
    if other_rows:
        x_offsets, x = pairs.keep[1:]
    sides = (np.asarray(x), np.asarray(x_offsets)), (np.asarray(y), np.asarray(y_offsets))
    return sides, np.asarray(parameters)


cdef class Cut(Bounds):
    """The table of an elastic distance up to a limit, after other bounds; see elastic_cut.h.

    x, y: rows of float32 as those of the distance, and potentials as the last channel, with room
    behind the last row for the longest series; `errors`: slope, offset and ratio, see refine.h;
    `tie`: by how much different distances differ at least.
    The bounds `first` are of the distance itself.
    """
    cdef elastic_parts parts
    cdef Bounds first
    cdef cut_calls calls
    cdef object keep
    cdef readonly object cells      # that were computed, of each row

    def __init__(self, str kind, Bounds first, const float[:, ::1] x, const int64_t[::1] x_offsets,
                 const float[:, ::1] y, const int64_t[::1] y_offsets, int64_t dim,
                 const double[::1] parameters, int64_t window, errors, double tie):
        cdef PairwiseKernel pairs = PairwiseKernel()
        pairs.set_items(&x[0, 0], x_offsets, &y[0, 0], y_offsets, x.shape[1], (x, y))
        self.parts.x, self.parts.y = pairs.problem.x, pairs.problem.y
        self.parts.options.window, self.parts.options.dim = window, dim
        self.parts.options.parameters = &parameters[0]
        cdef int64_t[::1] cells = np.zeros(self.parts.x.n, np.int64)
        self.parts.cells = &cells[0]
        self.cells = np.asarray(cells)
        self.keep = pairs, parameters
        self.first = first
        self.calls.fill, self.calls.first = first.fill, first.context
        self.calls.narrow = current().elastic_narrow[<int> KINDS[kind]]
        self.calls.parts = <const elastic_bounds *> &self.parts
        self.context = &self.calls
        self.fill, self.begin, self.narrow = cut_fill, NULL, cut_narrow
        self.tighten = NULL
        self.own_bytes = elastic_bounds_own(<const elastic_bounds *> &self.parts)
        self.slope, self.offset, self.ratio = errors
        self.tie = tie


cdef void cut_fill(const void *context, const int64_t *rows, int64_t n_rows, float *bounds,
                   int64_t stride, void *own, const d2ke_poll *poll) noexcept nogil:
    cdef cut_calls *cut = <cut_calls *> context
    cut.fill(cut.first, rows, n_rows, bounds, stride, own, poll)


cdef void cut_narrow(const void *context, int64_t row, void *own, const int64_t *columns, int64_t n,
                     const float *limits, float *bounds, const d2ke_poll *poll) noexcept nogil:
    cdef cut_calls *cut = <cut_calls *> context
    cut.narrow(cut.parts, row, own, columns, n, limits, bounds, poll)
