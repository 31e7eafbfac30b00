# SPDX-License-Identifier: BSD-3-Clause
from libc.stdint cimport int64_t

from d2ke._ext.isa cimport d2ke_poll

ctypedef void (*refine_fill)(const void *context, const int64_t *rows, int64_t n_rows,
                             float *bounds, int64_t stride, const d2ke_poll *poll) noexcept nogil
ctypedef void (*refine_begin)(const void *context, int64_t row, void *own) noexcept nogil
ctypedef float (*refine_tighten)(const void *context, int64_t row, const void *own,
                                 int64_t column) noexcept nogil


cdef class Bounds:
    """Lower bounds of the distances of rows to columns, for `refine.search`."""
    cdef refine_fill fill
    cdef refine_begin begin         # or NULL, with `tighten`
    cdef refine_tighten tighten
    cdef const void *context
    cdef size_t own_bytes
