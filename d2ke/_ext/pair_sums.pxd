# SPDX-License-Identifier: BSD-3-Clause
from libc.stdint cimport int64_t

from d2ke._ext.isa cimport d2ke_cloud, d2ke_poll

cdef enum:
    BLOCK = 64              # rows that are added up at a time
    PAIR_WORK = 5           # a pair of points, in elementary operations

# K(p, q) <u, v> of pairs of points of x and y.
cdef struct PairSums:
    d2ke_cloud x
    d2ke_cloud y
    int laplace
    double rate

# A cloud in two arrays.
cdef void describe(d2ke_cloud *cloud, const double[:, ::1] points, const double[:, ::1] vectors)
# Rows begin..end against columns first..last, with looks at the clock every POLL_WORK
# operations, which `since` counts; 1: stop.
cdef int add_columns(const PairSums *pairs, int64_t begin, int64_t end, int64_t first,
                     int64_t last, double *total, double *potentials, int64_t *since,
                     const d2ke_poll *poll) noexcept nogil
