# SPDX-License-Identifier: BSD-3-Clause
"""The kernel distance of all pairs of objects, by all pairs of their points."""

import numpy as np

from libc.math cimport INFINITY, NAN, fabs, fmax, isnan, sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from d2ke._ext.elementary cimport d2ke_one_exp as exp, d2ke_one_expm1 as expm1
from d2ke._ext.isa cimport (d2ke_add_exactly, d2ke_cloud, d2ke_length, d2ke_poll, d2ke_problem,
                            d2ke_stopped)
from d2ke._ext.pair_sums cimport BLOCK, PAIR_WORK, PairSums, add_columns, describe
from d2ke._ext.pairwise cimport WHOLE_BLOCKS, PairwiseKernel
from d2ke._ext.pairwise import by_length
from d2ke._ext.tasks cimport run, worth

cdef enum:
    CELL_WORK = 12  # a kernel value, in operations beyond those of the coordinates
    NEAR_POINTS = 2000
    TERMS = 14      # of exp(t) - 1 - t - t^2/2, for |t| of at most WIDE

# Squares below this part of the sums of both sets are mostly rounding.
NEAR_SHARE = 1e-6
cdef double _SHARE = NEAR_SHARE
cdef double WIDE = 0.25     # the largest squared radius over sigma^2 of the points of a wide kernel
cdef double SURE = 1e-9     # relative error of a square, of which no better one is looked for
cdef double EPS = 2.0**-52

cdef struct Sides:
    PairSums pairs
    const int64_t *x_offsets
    const int64_t *y_offsets
    const double *x_own     # kappa of each set with itself, as high + low
    const double *y_own


cdef int _order(const d2ke_cloud *x, int64_t i, int64_t n, const d2ke_cloud *y, int64_t j,
                int64_t m) noexcept nogil:
    """Compare two sets by size, points and vectors: < 0, 0 or > 0."""
    cdef int64_t p, k
    cdef double a, b
    if n != m:
        return -1 if n < m else 1
    for p in range(n):
        for k in range(x.dim + x.channels):
            if k < x.dim:
                a, b = x.points[k * x.stride + i + p], y.points[k * y.stride + j + p]
            else:
                a = x.vectors[(k - x.dim) * x.stride + i + p]
                b = y.vectors[(k - x.dim) * y.stride + j + p]
            if a != b:
                return -1 if a < b else 1
    return 0


cdef int _kappa(const PairSums *pairs, int64_t begin, int64_t end, int64_t first, int64_t last,
                double *total, const d2ke_poll *poll) noexcept nogil:
    """total = kappa of the rows with the columns, as high + low; 1: stop."""
    cdef int64_t upto, since = 0
    total[0] = total[1] = 0
    while begin < end:
        upto = min(begin + BLOCK, end)
        if add_columns(pairs, begin, upto, first, last, total, NULL, &since, poll):
            return 1
        begin = upto
    return 0


cdef bint _partners(const PairSums *pairs, int64_t first, int64_t other, int64_t n,
                    int64_t *partner) noexcept nogil:
    """Find each point's nearest one, of the same vectors; false if they are no pairs or far."""
    cdef const d2ke_cloud *x = &pairs.x
    cdef const d2ke_cloud *y = &pairs.y
    cdef bint[NEAR_POINTS] taken
    cdef int64_t p, q, k, best
    cdef double square, least, apart
    for q in range(n):
        taken[q] = False
    for p in range(n):
        least, best = INFINITY, 0
        for q in range(n):
            square = 0
            for k in range(x.dim):
                apart = x.points[k * x.stride + first + p] - y.points[k * y.stride + other + q]
                square += apart * apart
            if square < least:
                least, best = square, q
        if taken[best] or pairs.rate * (sqrt(least) if pairs.laplace else least) > 0.01:
            return False
        for k in range(x.channels):
            if x.vectors[k * x.stride + first + p] != y.vectors[k * y.stride + other + best]:
                return False
        taken[best] = True
        partner[p] = best
    return True


cdef double _bend(const PairSums *pairs, double square, double along, double step) noexcept nogil:
    """K(d + s) + K(d - s) - 2 K(d) over K(d), from |d|^2, <d, s> and |s|^2, for a short s."""
    cdef double half, length, total = 0
    cdef int sign
    if not pairs.laplace:
        half = expm1(pairs.rate * along)
        half = (half + half / (half + 1)) / 2  # the hyperbolic sine
        return 2 * (expm1(-pairs.rate * step) + 2 * exp(-pairs.rate * step) * half * half)
    for sign in range(-1, 2, 2):
        length = sqrt(fmax(square + 2 * sign * along + step, 0)) + sqrt(square)
        if length > 0:
            total += expm1(-pairs.rate * (2 * sign * along + step) / length)
    return total


cdef double _near_square(const PairSums *pairs, int64_t first, int64_t other, int64_t n,
                         const d2ke_poll *poll, double *error) noexcept nogil:
    """The squared distance of two sets of n points that are nearly equal; NAN: they are not.

    Partners are m - h and m + h; the terms of pairs of partners i and j are
    K(d + s) + K(d - s) - K(d + t) - K(d - t), for d = m_i - m_j, s = h_i - h_j, t = h_i + h_j.
    `error` bounds the rounding.
    """
    cdef int64_t[NEAR_POINTS] partner
    cdef int64_t i, j, k, a, c
    cdef const double *x = pairs.x.points + first
    cdef const double *y = pairs.y.points + other
    cdef double d, s, t, h_i, h_j, square, along_s, along_t, step_s, step_t, weight, value
    cdef double total = 0, row
    error[0] = 0
    if n > NEAR_POINTS or not _partners(pairs, first, other, n, partner):
        return NAN
    for i in range(n):
        row = 0
        for j in range(i + 1):
            square = along_s = along_t = step_s = step_t = weight = 0
            for k in range(pairs.x.dim):
                a, c = k * pairs.x.stride, k * pairs.y.stride
                h_i = (y[c + partner[i]] - x[a + i]) / 2
                h_j = (y[c + partner[j]] - x[a + j]) / 2
                s, t = h_i - h_j, h_i + h_j
                d = (x[a + i] - x[a + j]) + s
                square += d * d
                along_s += d * s
                along_t += d * t
                step_s += s * s
                step_t += t * t
            value = exp(-pairs.rate * (sqrt(square) if pairs.laplace else square))
            if value == 0:
                continue
            for k in range(pairs.x.channels):
                weight += (pairs.x.vectors[k * pairs.x.stride + first + i]
                           * pairs.x.vectors[k * pairs.x.stride + first + j])
            if pairs.laplace:
                step_s, step_t = sqrt(step_s), sqrt(step_t)
            error[0] += 32 * EPS * value * fabs(weight) * pairs.rate * (step_s + step_t)
            if pairs.laplace:
                step_s, step_t = step_s * step_s, step_t * step_t
            value *= weight * (_bend(pairs, square, along_s, step_s)
                               - _bend(pairs, square, along_t, step_t))
            row += value if i == j else 2 * value
        total += row
        if d2ke_stopped(poll):
            return NAN
    return total


cdef double _rest(double t) noexcept nogil:
    """exp(t) - 1 - t - t^2/2 for a small t."""
    cdef double sum = 1
    cdef int k
    for k in range(TERMS, 3, -1):
        sum = 1 + sum * t / k
    return t * t * t / 6 * sum


cdef double _wide_square(const PairSums *pairs, int64_t first, int64_t n, int64_t other, int64_t m,
                         const d2ke_poll *poll, double *error) noexcept nogil:
    """The squared norm of n points of x minus m of y, all within sigma / 2; NAN: they are not.

    In units of sigma from their centre, K(p, q) = exp(-|p|^2/2) exp(-|q|^2/2) exp(<p, q>). What
    the series of the last factor has up to its squares are squares of sums over the points, which
    lose no digits to each other; the first one is the difference of the masses and a sum of
    exp(-|p|^2/2) - 1. The rest is added up over pairs, if it counts. Of the Laplace kernel,
    K - 1 is. `error` bounds the rounding.
    """
    cdef int64_t dim = pairs.x.dim, channels = pairs.x.channels, size = n + m, p, q, k, h, c
    cdef double scale = pairs.rate if pairs.laplace else sqrt(2 * pairs.rate)
    cdef double *points = <double *> malloc(
        (size * (dim + channels) + dim + 2) * sizeof(double))
    cdef double *vectors = points + size * dim
    cdef double *centre = vectors + size * channels
    cdef const d2ke_cloud *side
    cdef double square, radius = 0, weight = 0, total = 0, value, lost, away
    cdef double[2] sum
    cdef bint squares = dim <= size  # as sums over the points; else over pairs
    if points == NULL:
        return NAN
    for k in range(dim):
        centre[k] = 0
        for p in range(n):
            centre[k] += pairs.x.points[k * pairs.x.stride + first + p] / size
        for p in range(m):
            centre[k] += pairs.y.points[k * pairs.y.stride + other + p] / size
    for p in range(size):
        side = &pairs.x if p < n else &pairs.y
        q = first + p if p < n else other + p - n
        square = 0
        for k in range(dim):
            value = (side.points[k * side.stride + q] - centre[k]) * scale
            points[p * dim + k] = value
            square += value * value
        radius = fmax(radius, square)
        value = 0
        for c in range(channels):
            vectors[p * channels + c] = side.vectors[c * side.stride + q] * (1 if p < n else -1)
            value += fabs(vectors[p * channels + c])
        weight += value
    if radius > WIDE:
        free(points)
        return NAN
    for c in range(channels):  # the difference of the masses, and what points lose to their centre
        sum[0] = sum[1] = 0
        for p in range(size):
            d2ke_add_exactly(vectors[p * channels + c], &sum[0], &sum[1])
            if not pairs.laplace:
                square = 0
                for k in range(dim):
                    square += points[p * dim + k] * points[p * dim + k]
                value = vectors[p * channels + c] * expm1(-square / 2)
                d2ke_add_exactly(value, &sum[0], &sum[1])
                vectors[p * channels + c] += value
        total += (sum[0] + sum[1]) * (sum[0] + sum[1])
    for k in range(0 if pairs.laplace else dim):
        for h in range(-1, k + 1 if squares else 0):
            for c in range(channels):
                sum[0] = sum[1] = 0
                for p in range(size):
                    value = vectors[p * channels + c] * points[p * dim + k]
                    if h >= 0:
                        value *= points[p * dim + h]
                    d2ke_add_exactly(value, &sum[0], &sum[1])
                value = (sum[0] + sum[1]) * (sum[0] + sum[1])
                total += value / 2 if h == k else value
        if d2ke_stopped(poll):
            free(points)
            return NAN
    lost = 8 * EPS * weight * sqrt(radius)
    if pairs.laplace:
        away = weight * weight * sqrt(radius)
    else:
        away = weight * weight * radius * radius * (radius / 4 if squares else 1)
    if pairs.laplace or away > EPS / 16 * total:
        if size > 4 * NEAR_POINTS:  # too many pairs for one thread
            free(points)
            return NAN
        sum[0] = sum[1] = 0
        for p in range(size):
            for q in range(p + 1):
                square = 0
                for k in range(dim):
                    if pairs.laplace:
                        value = points[p * dim + k] - points[q * dim + k]
                        square += value * value
                    else:
                        square += points[p * dim + k] * points[q * dim + k]
                if pairs.laplace:
                    value = expm1(-sqrt(square))
                else:
                    value = _rest(square) + (0 if squares else square * square / 2)
                square = 0
                for c in range(channels):
                    square += vectors[p * channels + c] * vectors[q * channels + c]
                d2ke_add_exactly(value * square * (1 if p == q else 2), &sum[0], &sum[1])
            if d2ke_stopped(poll):
                free(points)
                return NAN
        total += sum[0] + sum[1]
        away *= 16 * EPS
    error[0] = 2 * sqrt(fmax(total, 0)) * lost + lost * lost + away if not pairs.laplace else away
    free(points)
    return total


cdef double _small_square(const PairSums *pairs, int64_t first, int64_t n, int64_t other,
                          int64_t m, const d2ke_poll *poll, double *error) noexcept nogil:
    """The squared distance of two sets that is mostly rounding in the sums; NAN: so it stays."""
    cdef double wide, near, near_error
    error[0] = INFINITY
    wide = _wide_square(pairs, first, n, other, m, poll, error)
    if n != m or error[0] <= SURE * wide:
        return wide
    near = _near_square(pairs, first, other, n, poll, &near_error)
    if not isnan(near) and (isnan(wide) or near_error < error[0]):
        error[0] = near_error
        return near
    return wide


cdef void _distance(const d2ke_problem *p, int64_t row, int64_t block, void *scratch,
                    double *result, const d2ke_poll *poll) noexcept nogil:
    cdef const Sides *sides = <const Sides *> p.options
    cdef int64_t column = p.order[p.blocks[block]]
    cdef int64_t i = sides.x_offsets[row], j = sides.y_offsets[column]
    cdef int64_t n = d2ke_length(&p.x, row), m = d2ke_length(&p.y, column)
    cdef const double *a = sides.x_own + 2 * row
    cdef const double *b = sides.y_own + 2 * column
    cdef double[2] total
    cdef double error
    cdef PairSums pairs = sides.pairs
    # Which of the two gives the rows must not depend on the order of the arguments: the bits do.
    cdef int sign = _order(&pairs.x, i, n, &pairs.y, j, m)
    if sign == 0:
        result[0] = 0
        return
    if sign > 0:
        pairs.x, pairs.y = pairs.y, pairs.x
        i, j, n, m = j, i, m, n
    if _kappa(&pairs, i, i + n, j, j + m, total, poll):
        return
    # Differences of nearly equal sums first, their low parts afterwards.
    total[0] = ((a[0] - total[0]) + (b[0] - total[0])) + ((a[1] - total[1]) + (b[1] - total[1]))
    if total[0] < _SHARE * (a[0] + b[0]):
        total[1] = _small_square(&pairs, i, n, j, m, poll, &error)
        if not isnan(total[1]):
            total[0] = total[1]
    result[0] = sqrt(fmax(total[0], 0.0))


cdef void _own_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef const Sides *sides = <const Sides *> context
    cdef PairSums pairs = sides.pairs
    cdef int64_t begin = sides.x_offsets[task], end = sides.x_offsets[task + 1]
    pairs.y = pairs.x
    _kappa(&pairs, begin, end, begin, end, <double *> sides.x_own + 2 * task, poll)


cdef class KernelDistance(PairwiseKernel):
    """The kernel distance of sets, whose own sums are computed in the first run."""
    cdef Sides sides
    cdef object owns        # of x and of y, or None before the first run
    cdef bint same

    def run(self, out, int n_threads, bint symmetric, progress=None, gamma=None,
            double scale=1.0):
        cdef const double[:, ::1] x_own, y_own
        if self.owns is None:
            x = self._own(self.sides, n_threads)
            self.owns = x, x if self.same else self._own(self._turned(), n_threads)
        x_own, y_own = self.owns
        self.sides.x_own = &x_own[0, 0]
        self.sides.y_own = &y_own[0, 0]
        super().run(out, n_threads, symmetric, progress, gamma, scale)

    cdef Sides _turned(self):
        cdef Sides turned = self.sides
        turned.pairs.x, turned.x_offsets = turned.pairs.y, turned.y_offsets
        return turned

    cdef _own(self, Sides sides, int n_threads):
        cdef int64_t n = self.problem.x.n if sides.x_offsets == self.sides.x_offsets \
            else self.problem.y.n
        cdef double[:, ::1] own = np.empty((n, 2))
        sides.x_own = &own[0, 0]
        squares = np.square(np.diff(<int64_t[:n + 1]> <int64_t *> sides.x_offsets), dtype=float)
        run(_own_task, &sides, n, worth(n_threads, PAIR_WORK * squares.sum(), n))
        return own


def distance(x_points, x_vectors, const int64_t[::1] x_offsets, y_points, y_vectors,
             const int64_t[::1] y_offsets, bint laplace, double rate, bint same):
    """Prepare the kernel distance of sets, given as clouds, for the parallel loop.

    Sets that are equal must be so bit for bit (see `distinct`). `same`: y is x, wanted once.
    """
    cdef KernelDistance pairs = KernelDistance()
    cdef const double[:, ::1] xp = x_points, xv = x_vectors, yp = y_points, yv = y_vectors
    cdef int64_t n = y_offsets.shape[0] - 1
    pairs.set_items(&xp[0, 0], x_offsets, &yp[0, 0], y_offsets, xp.shape[0], (xp, xv, yp, yv))
    rows = by_length(x_offsets, True)
    pairs.set_order(rows, rows if same else np.arange(n), np.arange(n + 1))
    pairs.takes = WHOLE_BLOCKS
    describe(&pairs.sides.pairs.x, xp, xv)
    describe(&pairs.sides.pairs.y, yp, yv)
    pairs.sides.pairs.laplace = laplace
    pairs.sides.pairs.rate = rate
    pairs.sides.x_offsets = &x_offsets[0]
    pairs.sides.y_offsets = &y_offsets[0]
    pairs.problem.options = &pairs.sides
    pairs.same = same
    pairs.cell_work = CELL_WORK
    pairs.kernel = _distance
    pairs.scratch_bytes = 64
    return pairs


cdef struct SmallSets:
    PairSums pairs
    int64_t n
    int64_t m
    double square
    double error


cdef void _small_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef SmallSets *sets = <SmallSets *> context
    sets.square = _small_square(&sets.pairs, 0, sets.n, 0, sets.m, poll, &sets.error)


def small_square(const double[:, ::1] x_points, const double[:, ::1] x_vectors, int64_t n,
                 const double[:, ::1] y_points, const double[:, ::1] y_vectors, int64_t m,
                 bint laplace, double rate):
    """The squared distance of two clouds of n and m points, and a bound of its rounding.

    NAN for sets that are neither nearly equal nor small beside sigma. m may be 0.
    """
    cdef SmallSets sets
    describe(&sets.pairs.x, x_points, x_vectors)
    describe(&sets.pairs.y, y_points, y_vectors)
    sets.pairs.laplace, sets.pairs.rate, sets.n, sets.m = laplace, rate, n, m
    sets.error = INFINITY
    run(_small_task, &sets, 1, 1)
    return sets.square, sets.error
