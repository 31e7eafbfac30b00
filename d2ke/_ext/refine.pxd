# SPDX-License-Identifier: BSD-3-Clause
from libc.stdint cimport int64_t

from d2ke._ext.isa cimport d2ke_poll

ctypedef void (*refine_fill)(const void *context, const int64_t *rows, int64_t n_rows,
                             float *bounds, int64_t stride, void *own,
                             const d2ke_poll *poll) noexcept nogil
ctypedef void (*refine_begin)(const void *context, int64_t row, void *own) noexcept nogil
ctypedef float (*refine_tighten)(const void *context, int64_t row, void *own, int64_t column,
                                 float limit) noexcept nogil
ctypedef void (*refine_narrow)(const void *context, int64_t row, void *own,
                               const int64_t *columns, int64_t n, const float *limits,
                               float *bounds, const d2ke_poll *poll) noexcept nogil


cdef class Bounds:
    """Lower bounds of slope * distance + offset of rows to columns, for `refine.search`."""
    cdef refine_fill fill
    cdef refine_begin begin         # these three, or NULL
    cdef refine_tighten tighten
    cdef refine_narrow narrow
    cdef const void *context
    cdef size_t own_bytes
    cdef double slope
    cdef double offset
    cdef double ratio               # see refine.h, of `narrow`
    cdef double tie                 # different distances differ by so much; 0: not known
