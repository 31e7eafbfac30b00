# SPDX-License-Identifier: BSD-3-Clause
"""exp(-gamma d) over a whole matrix, with the same exponential as the fused form in cross.pyx."""


from cython.parallel cimport prange
from libc.stdint cimport int64_t

from d2ke._ext.isa cimport current

ctypedef fused Element:
    float
    double

cdef enum:
    CHUNK = 2048


cdef void _chunk(const Element *source, Element *target, int64_t n, double gamma,
                 double scale) noexcept nogil:
    cdef double buffer[CHUNK]
    cdef int64_t i
    for i in range(n):
        buffer[i] = source[i]
    current().exp_features(buffer, n, gamma, scale)
    for i in range(n):
        target[i] = <Element> buffer[i]


def exp_features(const Element[:, :] source, Element[:, :] target, double gamma, double scale,
                 int n_threads):
    """target = scale * exp(-gamma * source), whose rows are contiguous; they may be the same."""
    cdef int64_t m = source.shape[1]
    cdef int64_t per_row = (m + CHUNK - 1) // CHUNK
    cdef int64_t k, row, begin, chunks = source.shape[0] * per_row
    n_threads = min(n_threads, 1 + source.shape[0] * m // (8 * CHUNK))  # worth starting
    for k in prange(chunks, nogil=True, num_threads=n_threads):
        row = k // per_row
        begin = k % per_row * CHUNK
        _chunk(&source[row, begin], &target[row, begin], min(CHUNK, m - begin), gamma, scale)
