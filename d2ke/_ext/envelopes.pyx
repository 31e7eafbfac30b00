# SPDX-License-Identifier: BSD-3-Clause
"""Lower bounds of dynamic time warping by envelopes; see envelopes.h."""

from libc.stdint cimport int64_t

from d2ke._ext.isa cimport current, d2ke_poll, d2ke_stopped
from d2ke._ext.refine cimport Bounds


cdef struct Series:
    const float *down       # the points, rounded down
    const float *up
    const int64_t *offsets
    int64_t n
    const float *low        # the boxes, see envelopes.h
    const float *high
    const float *last


cdef struct Context:
    Series x
    Series y
    int64_t places
    int64_t dim
    int64_t lanes
    int root
    double error            # of the sums, for each place of a pair


cdef class Envelopes(Bounds):
    """Bounds by the boxes around y, then by those around x.

    Each side: points rounded down and up, offsets, boxes (blocks, places, dim, lanes) from low to
    high, and last points (blocks, 2, dim, lanes).
    """
    cdef Context parts
    cdef object keep

    def __init__(self, x, y, bint root):
        cdef const float[:, :, :, ::1] boxes = y[3]
        self.keep = x, y
        self.parts.x, self.parts.y = side(x), side(y)
        self.parts.places, self.parts.dim = boxes.shape[1], boxes.shape[2]
        self.parts.lanes = boxes.shape[3]
        self.parts.root = root
        self.context = &self.parts
        self.fill = fill
        self.begin = begin
        self.tighten = tighten
        self.own_bytes = 2 * self.parts.places * self.parts.dim * sizeof(float)


cdef Series side(parts):
    cdef Series series
    cdef const float[:, ::1] down = parts[0], up = parts[1]
    cdef const int64_t[::1] offsets = parts[2]
    cdef const float[:, :, :, ::1] low = parts[3], high = parts[4]
    cdef const float[:, :, :, ::1] last = parts[5]
    series.down, series.up = &down[0, 0], &up[0, 0]
    series.offsets, series.n = &offsets[0], offsets.shape[0] - 1
    series.low, series.high = &low[0, 0, 0, 0], &high[0, 0, 0, 0]
    series.last = &last[0, 0, 0, 0]
    return series


cdef float less(const Context *c, float bound, int64_t n, int64_t m) noexcept nogil:
    """The bound less what it and the distance may have been rounded by."""
    cdef double places = <double> (n + m + c.dim + 16)
    cdef double value = bound * (1 - 2 * places / 16777216) - places * c.dim * 1e-22
    return <float> value if value > 0 else 0


cdef void fill(const void *context, const int64_t *rows, int64_t n_rows, float *bounds,
               int64_t stride, const d2ke_poll *poll) noexcept nogil:
    cdef const Context *c = <const Context *> context
    cdef int64_t n, first, begin, j, r, since = 0, size = c.places * c.dim * c.lanes
    cdef const float *low = c.y.low
    cdef const float *high = c.y.high
    cdef const float *last = c.y.last
    cdef float *into
    first = 0
    while first < c.y.n:
        for r in range(n_rows):
            begin = c.x.offsets[rows[r]]
            n = c.x.offsets[rows[r] + 1] - begin
            into = bounds + r * stride
            current().envelope_block(c.x.down + begin * c.dim, c.x.up + begin * c.dim, n, c.dim,
                                     c.root, low, high, last, into + first)
            for j in range(first, min(first + c.lanes, c.y.n)):
                into[j] = less(c, into[j], n, c.y.offsets[j + 1] - c.y.offsets[j])
            since += n * c.dim
        low, high, last = low + size, high + size, last + 2 * c.dim * c.lanes
        first += c.lanes
        if since > 300000:
            since = 0
            if d2ke_stopped(poll):
                return


cdef void begin(const void *context, int64_t row, void *own) noexcept nogil:
    """The row's own boxes, place by place."""
    cdef const Context *c = <const Context *> context
    cdef int64_t length = c.places * c.dim, i
    cdef int64_t at = row // c.lanes * length * c.lanes + row % c.lanes
    cdef float *low = <float *> own
    for i in range(length):
        low[i] = c.x.low[at + i * c.lanes]
        low[length + i] = c.x.high[at + i * c.lanes]


cdef float tighten(const void *context, int64_t row, const void *own,
                   int64_t column) noexcept nogil:
    cdef const Context *c = <const Context *> context
    cdef int64_t first = c.y.offsets[column], m = c.y.offsets[column + 1] - first
    cdef const float *low = <const float *> own
    cdef float bound = current().envelope_pair(c.y.down + first * c.dim, c.y.up + first * c.dim, m,
                                               c.dim, c.root, low, low + c.places * c.dim)
    return less(c, bound, c.x.offsets[row + 1] - c.x.offsets[row], m)
