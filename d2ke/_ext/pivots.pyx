# SPDX-License-Identifier: BSD-3-Clause
"""Lower bounds of a metric's distances by those to a few objects, the pivots."""

from libc.math cimport fabsf
from libc.stdint cimport int64_t

from d2ke._ext.isa cimport d2ke_poll, d2ke_stopped
from d2ke._ext.refine cimport Bounds

cdef enum:
    COLUMNS = 1024      # whose bounds stay in the cache for all pivots


cdef struct Context:
    const float *x      # [rows][pivots]
    const float *y      # [pivots][columns]
    int64_t n_pivots
    int64_t columns
    double margin


cdef class Pivots(Bounds):
    """The largest |d(x, p) - d(y, p)| over the pivots p, less a margin.

    x: distances (rows, pivots); y: distances (pivots, columns).
    """
    cdef Context parts
    cdef object keep

    def __init__(self, const float[:, ::1] x, const float[:, ::1] y, double margin):
        self.keep = x, y
        self.parts.x, self.parts.y = &x[0, 0], &y[0, 0]
        self.parts.n_pivots, self.parts.columns = y.shape[0], y.shape[1]
        self.parts.margin = margin
        self.context = &self.parts
        self.fill = fill
        self.begin = NULL
        self.tighten = NULL
        self.own_bytes = 0


cdef void fill(const void *context, const int64_t *rows, int64_t n_rows, float *bounds,
               int64_t stride, void *own, const d2ke_poll *poll) noexcept nogil:
    cdef const Context *c = <const Context *> context
    cdef int64_t first = 0, count, r, j, since = 0
    cdef float *into
    cdef double value
    while first < c.columns:
        count = min(<int64_t> COLUMNS, c.columns - first)
        for r in range(n_rows):
            into = bounds + r * stride + first
            widest(c, rows[r], first, count, into)
            for j in range(count):
                value = into[j] - c.margin
                into[j] = <float> value
        first += count
        since += count * n_rows * c.n_pivots
        if since > 1000000:
            since = 0
            if d2ke_stopped(poll):
                return


cdef void widest(const Context *c, int64_t row, int64_t first, int64_t count,
                 float *into) noexcept nogil:
    """The largest differences of a row and some columns."""
    cdef const float *own = c.x + row * c.n_pivots
    cdef const float *other
    cdef float difference
    cdef int64_t p, j
    for j in range(count):
        into[j] = 0
    for p in range(c.n_pivots):
        other = c.y + p * c.columns + first
        for j in range(count):
            difference = fabsf(own[p] - other[j])
            into[j] = difference if difference > into[j] else into[j]
