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


def exp_features(const Element[::1] source, Element[::1] target, double gamma, double scale,
                 int n_threads):
    """target = scale * exp(-gamma * source); they may be the same array."""
    cdef int64_t n = source.shape[0]
    cdef int64_t k, chunks = (n + CHUNK - 1) // CHUNK
    n_threads = min(n_threads, 1 + chunks // 8)  # a thread must be worth starting
    for k in prange(chunks, nogil=True, num_threads=n_threads):
        _chunk(&source[k * CHUNK], &target[k * CHUNK], min(CHUNK, n - k * CHUNK), gamma, scale)
