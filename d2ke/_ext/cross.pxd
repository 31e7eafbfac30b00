# SPDX-License-Identifier: BSD-3-Clause
from libc.stdint cimport int64_t

from d2ke._ext.isa cimport d2ke_kernel, d2ke_problem


cdef struct Shared:
    int64_t next_task
    int64_t stop
    int64_t running         # threads still at work
    int64_t done            # pairs finished
    int64_t total
    int64_t bad             # 1 once a result was not a distance
    int64_t bad_row
    int64_t bad_column
    double bad_value
    double last_check
    void *owner             # the Loop, for thread 0's visits to Python


cdef class Loop:
    cdef object progress
    cdef object error
    cdef Shared shared


cdef int check(void *state, int thread) noexcept nogil


cdef class Cross:
    cdef d2ke_problem problem
    cdef d2ke_kernel kernel
    cdef size_t scratch_bytes
    # True: a task computes all its rows against one block, then the next block
    # (blocks are costly to prepare); False: one row against all its blocks.
    cdef bint block_outer
    # Operations for a pair of elements beyond one for each of their dimensions: what
    # threads have to do.
    cdef int64_t cell_work
    # The kernel is a user's: check that its results are distances.
    cdef bint doubtful
    # Rows are visited in this order; in the symmetric case it is also y's order.
    cdef const int64_t[::1] row_order
    cdef list keep

    cdef set_items(self, const void *x_values, const int64_t[::1] x_offsets,
                   const void *y_values, const int64_t[::1] y_offsets, int64_t dim, keep)
    cdef set_order(self, const int64_t[::1] rows, const int64_t[::1] columns,
                   const int64_t[::1] blocks)
