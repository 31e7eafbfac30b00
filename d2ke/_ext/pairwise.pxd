# SPDX-License-Identifier: BSD-3-Clause
from libc.stdint cimport int64_t

from d2ke._ext.isa cimport (d2ke_kernel, d2ke_problem, d2ke_scratch, d2ke_trace,
                            d2ke_ways_kernel)


cdef enum:
    ANY_COLUMNS             # in any order
    SINGLE_COLUMNS          # any, but one at a time: the kernel does not read their order
    WHOLE_BLOCKS            # those that were prepared


cdef class PairwiseKernel:
    cdef d2ke_problem problem
    cdef d2ke_kernel kernel
    cdef size_t scratch_bytes
    cdef d2ke_scratch scratch  # the bytes for a problem; set where `with_rows` is used
    # The table's rows for the way back, or NULL; those of a whole block; and whether a step
    # that is not along the diagonal leaves out an element of x or y.
    cdef d2ke_trace trace
    cdef d2ke_ways_kernel ways
    cdef bint leaves_out
    # True: a task computes all its rows against one block, then the next block
    # (blocks are costly to prepare); False: one row against all its blocks.
    cdef bint block_outer
    # Operations for a pair of elements beyond one for each of their dimensions: what
    # threads have to do.
    cdef int64_t cell_work
    # The kernel is a user's: check that its results are distances.
    cdef bint user_defined
    # Which columns a search may ask for.
    cdef int takes
    # Rows are visited in this order; in the symmetric case it is also y's order.
    cdef const int64_t[::1] row_order
    cdef list keep

    cdef set_items(self, const void *x_values, const int64_t[::1] x_offsets,
                   const void *y_values, const int64_t[::1] y_offsets, int64_t dim, keep)
    cdef set_order(self, const int64_t[::1] rows, const int64_t[::1] columns,
                   const int64_t[::1] blocks)
    cdef set_options(self, const void *options, size_t size)
    cdef PairwiseKernel with_rows(self, const void *x_values, const int64_t[::1] x_offsets, keep)
