# SPDX-License-Identifier: BSD-3-Clause
"""Sums of features over points: random Fourier features, Taylor expansions, Fourier series.

Work is cut into tasks by the sizes of the data alone, and each task has a result of its own: the
bits do not depend on the number of threads.
"""

import numpy as np

from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memset

from d2ke._ext.isa cimport (D2KE_FREQUENCIES, D2KE_SERIES_POINTS, current, d2ke_poll,
                            d2ke_stopped)
from d2ke._ext.tasks cimport POLL_WORK, run, worth

cdef enum:
    VECTOR = 8              # reals in the longest machine vector

FREQUENCIES = D2KE_FREQUENCIES
SERIES_POINTS = D2KE_SERIES_POINTS


# ---- random Fourier features

cdef struct Fourier:
    const double *points
    const double *vectors
    const int64_t *offsets
    int64_t dim
    int64_t channels
    const double *omega
    int64_t n_omega
    int far
    double *buffers
    double *out             # (n_sets, channels, 2, n_omega)


cdef void _fourier_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Fourier *f = <Fourier *> context
    cdef int64_t runs = f.n_omega / D2KE_FREQUENCIES
    cdef int64_t i = task / runs, j = task % runs * D2KE_FREQUENCIES
    cdef int64_t begin = f.offsets[i], end, c, k, size = 2 * f.channels * D2KE_FREQUENCIES
    cdef double *sums = f.buffers + poll.thread * size
    cdef double *out = f.out + i * 2 * f.channels * f.n_omega + j
    cdef int64_t step = max(1, POLL_WORK / ((f.dim + f.channels + 16) * D2KE_FREQUENCIES))
    while begin < f.offsets[i + 1]:
        end = min(begin + step, f.offsets[i + 1])
        memset(sums, 0, size * sizeof(double))
        current().fourier_sums(f.points, f.vectors, begin, end, f.dim, f.channels, f.omega + j,
                               f.n_omega, f.far, sums)
        for c in range(2 * f.channels):
            for k in range(D2KE_FREQUENCIES):
                out[c * f.n_omega + k] += sums[c * D2KE_FREQUENCIES + k]
        if d2ke_stopped(poll):
            return
        begin = end


def fourier(const double[:, ::1] points, const double[:, ::1] vectors,
            const int64_t[::1] offsets, const double[:, ::1] omega, bint far, int n_threads):
    """sum_p v_p exp(i <omega, p>) of every set: (n_sets, channels, 2, n_omega), real and imaginary.

    omega is (dim, n_omega) with n_omega a multiple of FREQUENCIES; `far` says that an argument may
    exceed 2^20.
    """
    cdef Fourier f
    cdef int64_t n_sets = offsets.shape[0] - 1
    cdef int64_t n_tasks = n_sets * (omega.shape[1] / D2KE_FREQUENCIES)
    result = np.zeros((n_sets, vectors.shape[1], 2, omega.shape[1]))
    cdef double[:, :, :, ::1] out = result
    n_threads = worth(n_threads, 20.0 * points.shape[0] * omega.shape[1], n_tasks)
    cdef double[::1] buffers = np.empty(n_threads * 2 * vectors.shape[1] * D2KE_FREQUENCIES)
    f.points = &points[0, 0]
    f.vectors = &vectors[0, 0]
    f.offsets = &offsets[0]
    f.dim = points.shape[1]
    f.channels = vectors.shape[1]
    f.omega = &omega[0, 0]
    f.n_omega = omega.shape[1]
    f.far = far
    f.buffers = &buffers[0]
    f.out = &out[0, 0, 0, 0]
    run(_fourier_task, &f, n_tasks, n_threads)
    return result


# ---- Taylor expansions

cdef struct Taylor:
    const double *points
    const double *vectors
    const int64_t *offsets
    int64_t dim
    int64_t channels
    int64_t degree
    int64_t terms
    double *buffers         # each thread's, on a boundary of vectors
    int64_t buffer_size
    double *out             # (n_segments, channels, terms)


cdef void _taylor_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Taylor *t = <Taylor *> context
    cdef int64_t begin = t.offsets[task], end
    cdef int64_t step = max(VECTOR, 8 * POLL_WORK / (t.terms * (1 + t.channels)) // VECTOR * VECTOR)
    while begin < t.offsets[task + 1]:
        end = min(begin + step, t.offsets[task + 1])
        current().taylor_sums(t.points, t.vectors, begin, end, t.dim, t.channels, t.degree,
                              t.terms, t.buffers + poll.thread * t.buffer_size,
                              t.out + task * t.channels * t.terms)
        if d2ke_stopped(poll):
            return
        begin = end


def taylor(const double[:, ::1] points, const double[:, ::1] vectors,
           const int64_t[::1] offsets, int64_t degree, int64_t terms, int n_threads):
    """sum_p v_p exp(-|p|^2) sqrt(2^k / k!) p^a of every segment: (n_segments, channels, terms).

    k is the degree of a. The monomials a of degree < `degree` are in the order of `exponents`.
    """
    cdef Taylor t
    cdef int64_t n_segments = offsets.shape[0] - 1
    result = np.zeros((n_segments, vectors.shape[1], terms))
    cdef double[:, :, ::1] out = result
    n_threads = worth(n_threads, 1.25 * points.shape[0] * terms, n_segments)
    t.buffer_size = VECTOR * ((vectors.shape[1] + 1) * terms + points.shape[1] + 8
                              + points.shape[1] // VECTOR)
    cdef double[::1] buffers = np.empty(n_threads * t.buffer_size + VECTOR)
    t.points = &points[0, 0]
    t.vectors = &vectors[0, 0]
    t.offsets = &offsets[0]
    t.dim = points.shape[1]
    t.channels = vectors.shape[1]
    t.degree = degree
    t.terms = terms
    t.buffers = <double *> ((<uintptr_t> &buffers[0] + 63) & ~<uintptr_t> 63)
    t.out = &out[0, 0, 0]
    run(_taylor_task, &t, n_segments, n_threads)
    return result


def exponents(int64_t dim, int64_t degree, int64_t terms):
    """Exponents of the monomials, (terms, dim), in the order in which `taylor` makes them."""
    result = np.zeros((terms, dim), dtype=np.int64)
    cdef int64_t[:, ::1] out = result
    cdef int64_t[::1] heads = np.zeros(dim, dtype=np.int64)
    cdef int64_t filled = 1, tail, _order, k, a, head
    for _order in range(1, degree):
        tail = filled
        for k in range(dim):
            head = heads[k]
            heads[k] = filled
            for a in range(head, tail):
                out[filled] = out[a]
                out[filled, k] += 1
                filled += 1
    return result


# ---- Fourier series

cdef struct Series:
    const double *points
    const double *vectors
    const int64_t *offsets
    int64_t dim
    int64_t channels
    int64_t n_front
    const int64_t *degrees
    const double *steps
    int64_t step            # points between two looks at the clock
    double *buffers         # each thread's, on a boundary of vectors
    int64_t buffer_size
    double *out             # (n_segments, terms)
    int64_t terms


cdef void _series_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Series *s = <Series *> context
    cdef int64_t begin = s.offsets[task], end
    while begin < s.offsets[task + 1]:
        end = min(begin + s.step, s.offsets[task + 1])
        current().series_sums(s.points, s.vectors, begin, end, s.dim, s.channels, s.n_front,
                              s.degrees, s.steps, s.buffers + poll.thread * s.buffer_size,
                              s.out + task * s.terms)
        if d2ke_stopped(poll):
            return
        begin = end


def series(const double[:, ::1] points, const double[:, ::1] vectors,
           const int64_t[::1] offsets, const int64_t[::1] degrees, const double[::1] steps,
           int64_t n_front, int n_threads):
    """sum_p v_p prod_k b_k(p) of every segment: (n_segments, front, channels, back).

    b_k is 1, or cos or sin of a steps[k] x_k for a = 1 ... degrees[k], in this order; arguments
    must not exceed 2^20. The front has the products of the first n_front coordinates, 1 to all of
    them, of which the last one's counts fastest; the back has those of the others.
    """
    cdef Series s
    cdef int64_t n_segments = offsets.shape[0] - 1, channels = vectors.shape[1]
    sizes = 2 * np.asarray(degrees) + 1
    cdef int64_t front = sizes[:n_front].prod(), back = sizes[n_front:].prod()
    result = np.zeros((n_segments, front, channels, back))
    cdef double[:, :, :, ::1] out = result
    s.terms = front * channels * back
    n_threads = worth(n_threads, 0.25 * points.shape[0] * s.terms, n_segments)
    # Pointers to the rows of each coordinate, the rows, some products of the front, the back.
    cdef int64_t rows = points.shape[1] // D2KE_SERIES_POINTS + 1 + sizes.sum() + 4
    s.buffer_size = (rows + channels * back + 2) * D2KE_SERIES_POINTS
    cdef double[::1] buffers = np.empty(n_threads * s.buffer_size + VECTOR)
    s.points = &points[0, 0]
    s.vectors = &vectors[0, 0]
    s.offsets = &offsets[0]
    s.dim = points.shape[1]
    s.channels = channels
    s.n_front = n_front
    s.degrees = &degrees[0]
    s.steps = &steps[0]
    s.step = D2KE_SERIES_POINTS * max(1, 32 * POLL_WORK / (s.terms * D2KE_SERIES_POINTS))
    s.buffers = <double *> ((<uintptr_t> &buffers[0] + 63) & ~<uintptr_t> 63)
    s.out = &out[0, 0, 0, 0]
    run(_series_task, &s, n_segments, n_threads)
    return result
