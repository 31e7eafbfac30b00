# SPDX-License-Identifier: BSD-3-Clause
"""Lower bounds of dynamic time warping; see envelopes.h."""

import numpy as np

from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memcpy

from d2ke._ext.isa cimport current, d2ke_poll, warp_bounds
from d2ke._ext.refine cimport Bounds
from d2ke._ext.tasks cimport run

cdef extern from "warping.h":
    ctypedef struct warp_side:
        const float *points
        const float *planar
        const int64_t *offsets
        const int64_t *starts
        int64_t n

    ctypedef struct warp_parts "warp_bounds":
        warp_side x
        warp_side y
        const int64_t *order
        const float *segments
        const float *low_sums
        const float *high_sums
        const float *kept
        int64_t kept_stride
        int64_t[16] turned
        int64_t wanted
        int64_t n_segments
        int64_t x_segments
        int64_t lanes
        int64_t dim
        int64_t longest_x
        int64_t longest_y
        int64_t window
        int64_t[16] radii
        int64_t n_levels
        int64_t root

    ctypedef struct warp_row:
        float *low_sums
        float *high_sums

    enum:
        WARP_LANES
        WARP_SEGMENT
        WARP_LEVELS
        WARP_ROWS

    size_t warp_lay(const warp_bounds *, void *, warp_row *) noexcept nogil
    void warp_begin(const warp_bounds *, void *) noexcept nogil

LANES = WARP_LANES      # places that a channel's part of `planar` is a multiple of
SEGMENT = WARP_SEGMENT  # places of a segment
LEVELS = WARP_LEVELS    # at most


cdef class Columns:
    """Series y, prepared for bounds of any rows of at most `longest_x` places.

    y: points, their planar copy, offsets and starts, see warping.h. `order`: its items by length.
    `radii`: of the levels, the last one at least that of any pair; `turned`: the levels of which
    y's boxes are added up.
    """
    cdef warp_parts parts
    cdef object keep

    def __init__(self, y, order, radii, turned, int64_t window, bint root, int64_t longest_x):
        cdef int64_t lanes = current().vector_bytes // sizeof(float)
        cdef const int64_t[::1] columns = order
        cdef const float[:, :, :, ::1] sums = segments(y, order, lanes)
        cdef const float[:, :, :, :, ::1] boxes
        self.parts.y = side(y)
        self.parts.order = &columns[0]
        self.parts.n_segments, self.parts.x_segments = longest(y) // SEGMENT, longest_x // SEGMENT
        self.parts.segments = &sums[0, 0, 0, 0] if self.parts.n_segments else NULL
        self.parts.dim, self.parts.lanes = sums.shape[2], lanes
        self.parts.longest_x, self.parts.longest_y = longest_x, longest(y)
        self.parts.n_levels = len(radii)
        for level, radius in enumerate(radii):
            self.parts.radii[level] = radius
            self.parts.turned[level] = -1
        self.parts.window = window
        self.parts.root = root
        self.keep = [y, order, sums]
        if turned and self.parts.x_segments:
            made = box_sums(&self.parts, turned)
            self.keep.append(made)
            boxes = made[0]
            self.parts.low_sums = &boxes[0, 0, 0, 0, 0]
            boxes = made[1]
            self.parts.high_sums = &boxes[0, 0, 0, 0, 0]
            for place, level in enumerate(turned):
                self.parts.turned[level] = place


cdef class Envelopes(Bounds):
    """Bounds by envelopes around x, then by those around y, then by the table up to a limit.

    x: like y of the columns. `errors`: slope, offset and ratio, see refine.h.
    """
    cdef warp_parts parts
    cdef object keep

    def __init__(self, Columns columns, x, errors):
        cdef warp_row row
        self.parts = columns.parts
        self.parts.x = side(x)
        self.context = &self.parts
        self.keep = [columns, x]
        self.fill = fill
        self.begin = begin
        self.tighten = tighten
        self.narrow = narrow
        self.own_bytes = warp_lay(<const warp_bounds *> &self.parts, NULL, &row)
        self.slope, self.offset, self.ratio = errors

    def keep_first(self, int n_threads):
        """Make the first bounds of all pairs of the same objects at once, without y's boxes.

        The bound of a pair by the boxes of y is that of the exchanged pair by the boxes of x.
        """
        cdef Lines work
        cdef int64_t n = self.parts.y.n, n_tasks = (n + WARP_ROWS - 1) // WARP_ROWS
        cdef float[:, ::1] lines = np.empty((n, n + WARP_LANES), np.float32)
        cdef char[:, ::1] memory = np.empty((n_threads, self.own_bytes + 64), np.int8)
        work.parts, work.lines, work.n, work.stride = &self.parts, &lines[0, 0], n, n + WARP_LANES
        work.memory, work.own_bytes = &memory[0, 0], memory.shape[1]
        run(fill_lines, &work, n_tasks, n_threads)
        run(mirror_lines, &work, n_tasks, n_threads)
        self.parts.kept, self.parts.kept_stride = work.lines, work.stride
        self.keep.append(lines)

    def leave_tighter_out(self):
        """Search without the tighter bounds."""
        self.tighten = NULL


cdef longest(parts):
    return int(np.diff(parts[2]).max())


cdef warp_side side(parts):
    cdef warp_side series
    cdef const float[:, ::1] points = parts[0]
    cdef const float[::1] planar = parts[1]
    cdef const int64_t[::1] offsets = parts[2], starts = parts[3]
    series.points, series.planar = &points[0, 0], &planar[0]
    series.offsets, series.starts = &offsets[0], &starts[0]
    series.n = offsets.shape[0] - 1
    return series


def planar(const float[:, ::1] points, const int64_t[::1] offsets, const int64_t[::1] starts,
           float[::1] result):
    """Copy each item channel by channel; the rest of the result is left as it is."""
    cdef int64_t n = offsets.shape[0] - 1, dim = points.shape[1], i, t, c, stride
    with nogil:
        for i in range(n):
            stride = (starts[i + 1] - starts[i]) // dim
            for t in range(offsets[i + 1] - offsets[i]):
                for c in range(dim):
                    result[starts[i] + c * stride + t] = points[offsets[i] + t, c]


cdef segments(y, const int64_t[::1] order, int64_t lanes):
    """Add up the complete segments of y's items in this order, in blocks of lanes; others: NaN."""
    cdef const float[:, ::1] points = y[0]
    cdef const int64_t[::1] offsets = y[2]
    cdef int64_t n = order.shape[0], dim = points.shape[1], i, s, c, t, first
    cdef float[:, :, :, ::1] result
    cdef double total
    shape = (n + lanes - 1) // lanes, longest(y) // SEGMENT, dim, lanes
    result = np.full(shape, np.nan, np.float32)
    with nogil:
        for i in range(n):
            for s in range((offsets[order[i] + 1] - offsets[order[i]]) // WARP_SEGMENT):
                first = offsets[order[i]] + s * WARP_SEGMENT
                for c in range(dim):
                    total = 0
                    for t in range(first, first + WARP_SEGMENT):
                        total += points[t, c]
                    result[i // lanes, s, c, i % lanes] = <float> total
    return np.asarray(result)


cdef box_sums(const warp_parts *parts, levels):
    """Add up y's boxes of some levels: (level, block, segment of x, dim, lane), low and high."""
    cdef warp_parts turned = parts[0]
    cdef warp_row row
    cdef int64_t n = parts.y.n, dim = parts.dim, lanes = parts.lanes, first, r, s, c, at, place
    cdef int64_t[WARP_ROWS] rows
    cdef int64_t[::1] level = np.asarray(levels, np.int64)
    cdef float[:, :, :, :, ::1] low, high
    cdef d2ke_poll poll
    turned.x = parts.y
    turned.y.n = 0
    turned.longest_x, turned.longest_y = parts.longest_y, parts.longest_x
    turned.x_segments, turned.n_segments = parts.n_segments, parts.x_segments
    for place in levels:
        turned.wanted |= <int64_t> 1 << place
    cdef char[::1] memory = np.empty(
        warp_lay(<const warp_bounds *> &turned, NULL, &row) + 64, np.int8
    )
    cdef char *own = <char *> ((<uintptr_t> &memory[0] + 63) & ~<uintptr_t> 63)
    warp_lay(<const warp_bounds *> &turned, own, &row)
    shape = len(levels), (n + lanes - 1) // lanes, parts.x_segments, dim, lanes
    low, high = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    with nogil:
        first = 0
        while first < n:
            for r in range(min(<int64_t> WARP_ROWS, n - first)):
                rows[r] = parts.order[first + r]
            current().warp_fill(<const warp_bounds *> &turned, rows,
                                min(<int64_t> WARP_ROWS, n - first), NULL, 0, own, &poll)
            for r in range(min(<int64_t> WARP_ROWS, n - first)):
                for place in range(level.shape[0]):
                    at = (r * parts.n_levels + level[place]) * parts.x_segments * dim
                    for s in range(parts.x_segments):
                        for c in range(dim):
                            low[place, (first + r) // lanes, s, c, (first + r) % lanes] = \
                                row.low_sums[at + s * dim + c]
                            high[place, (first + r) // lanes, s, c, (first + r) % lanes] = \
                                row.high_sums[at + s * dim + c]
            first += WARP_ROWS
    return np.asarray(low), np.asarray(high)


cdef struct Lines:
    const warp_parts *parts
    float *lines
    int64_t n
    int64_t stride
    char *memory
    int64_t own_bytes


cdef void fill_lines(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Lines *work = <Lines *> context
    cdef int64_t[WARP_ROWS] rows
    cdef int64_t first = task * WARP_ROWS, count = min(<int64_t> WARP_ROWS, work.n - first), r
    cdef char *own = work.memory + poll.thread * work.own_bytes
    for r in range(count):
        rows[r] = first + r
    own = <char *> ((<uintptr_t> own + 63) & ~<uintptr_t> 63)
    current().warp_fill(<const warp_bounds *> work.parts, rows, count,
                        work.lines + first * work.stride, work.stride, own, poll)


cdef void mirror_lines(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    """Take the larger bound of each pair of these rows and of columns that are not before them."""
    cdef Lines *work = <Lines *> context
    cdef int64_t first = task * WARP_ROWS, block = first, i, j
    cdef float *one
    cdef float *other
    while block < work.n:  # a block of as many columns stays in the cache
        for i in range(first, min(first + WARP_ROWS, work.n)):
            for j in range(max(block, i + 1), min(block + WARP_ROWS, work.n)):
                one = work.lines + i * work.stride + j
                other = work.lines + j * work.stride + i
                one[0] = other[0] = max(one[0], other[0])
        block += WARP_ROWS


cdef void fill(const void *context, const int64_t *rows, int64_t n_rows, float *bounds,
               int64_t stride, void *own, const d2ke_poll *poll) noexcept nogil:
    cdef const warp_parts *parts = <const warp_parts *> context
    cdef int64_t r
    if parts.kept != NULL:
        for r in range(n_rows):
            memcpy(bounds + r * stride, parts.kept + rows[r] * parts.kept_stride,
                   parts.y.n * sizeof(float))
        return
    current().warp_fill(<const warp_bounds *> context, rows, n_rows, bounds, stride, own, poll)


cdef void begin(const void *context, int64_t row, void *own) noexcept nogil:
    warp_begin(<const warp_bounds *> context, own)


cdef float tighten(const void *context, int64_t row, void *own, int64_t column,
                   float limit) noexcept nogil:
    return current().warp_tighten(<const warp_bounds *> context, row, own, column, limit)


cdef void narrow(const void *context, int64_t row, void *own, const int64_t *columns, int64_t n,
                 const float *limits, float *bounds, const d2ke_poll *poll) noexcept nogil:
    current().warp_narrow(<const warp_bounds *> context, row, own, columns, n, limits, bounds, poll)
