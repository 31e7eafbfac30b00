# SPDX-License-Identifier: BSD-3-Clause
"""Trust region Newton method for the squared hinge loss, as in LIBLINEAR before version 2.40.

Where features are badly scaled, the rounding of sums decides where the method stops. All sums are
in one fixed order here, so that every processor finds the same weights; a BLAS chooses the order
by the processor.
"""

from libc.math cimport fabs, fmax, fmin, isfinite, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from cpython.exc cimport PyErr_CheckSignals

import numpy as np

cdef extern from "clock.h":
    double d2ke_seconds() noexcept nogil

cdef enum:
    MAX_STEPS = 1000        # that succeed, LIBLINEAR's limit
    MAX_TRIALS = 10000      # failed ones included
    MAX_PRODUCTS = 100      # per feature, in one search for a step


cdef struct Problem:
    int64_t n, R
    const double *F         # n x R
    const double *signs
    double C
    double *margins         # of all rows, at the last weights that were tried
    int64_t *active         # rows with a loss
    int64_t n_active
    double looked           # at the clock


cdef double _dot(const double *x, const double *y, int64_t n) noexcept nogil:
    """Sum five products at a time, the order of LIBLINEAR's own BLAS."""
    cdef double total = 0.0
    cdef int64_t i = 0
    while i < n - 4:
        total += (x[i] * y[i] + x[i + 1] * y[i + 1] + x[i + 2] * y[i + 2] + x[i + 3] * y[i + 3]
                  + x[i + 4] * y[i + 4])
        i += 5
    while i < n:
        total += x[i] * y[i]
        i += 1
    return total


cdef double _norm(const double *x, int64_t n) noexcept nogil:
    return sqrt(_dot(x, x, n))


cdef void _add(double factor, const double *x, double *y, int64_t n) noexcept nogil:
    """Add factor x to y."""
    cdef int64_t j
    for j in range(n):
        y[j] += factor * x[j]


cdef double _product(Problem *p, int64_t i, const double *w) noexcept nogil:
    """Return the product of row i and w, summed from the first feature to the last."""
    cdef const double *row = p.F + i * p.R
    cdef double total = 0.0
    cdef int64_t j
    for j in range(p.R):
        total += w[j] * row[j]
    return total


cdef double _value(Problem *p, const double *w) noexcept nogil:
    """Return |w|^2 / 2 + C sum max(0, 1 - margin)^2; keep the margins."""
    cdef double total = 0.0, lack
    cdef int64_t i
    for i in range(p.R):
        total += w[i] * w[i]
    total /= 2.0
    for i in range(p.n):
        p.margins[i] = p.signs[i] * _product(p, i, w)
        lack = 1 - p.margins[i]
        if lack > 0:
            total += p.C * lack * lack
    return total


cdef void _gradient(Problem *p, const double *w, double *gradient) noexcept nogil:
    """Set the gradient from the margins at w; keep which rows have a loss."""
    cdef int64_t i, j
    p.n_active = 0
    for j in range(p.R):
        gradient[j] = 0.0
    for i in range(p.n):
        if p.margins[i] < 1:
            p.active[p.n_active] = i
            p.n_active += 1
            _add(p.C * p.signs[i] * (p.margins[i] - 1), p.F + i * p.R, gradient, p.R)
    for j in range(p.R):
        gradient[j] = w[j] + 2 * gradient[j]


cdef void _curvature(Problem *p, const double *way, double *result) noexcept nogil:
    """Set the product of the generalised Hessian with a way."""
    cdef int64_t k, j
    for j in range(p.R):
        result[j] = 0.0
    for k in range(p.n_active):
        _add(p.C * _product(p, p.active[k], way), p.F + p.active[k] * p.R, result, p.R)
    for j in range(p.R):
        result[j] = way[j] + 2 * result[j]


cdef int _look(Problem *p) except -1 nogil:
    """Let an interrupt through now and then."""
    if d2ke_seconds() - p.looked >= 0.05:
        with gil:
            PyErr_CheckSignals()
        p.looked = d2ke_seconds()
    return 0


cdef int _step(Problem *p, double radius, const double *gradient, double *step, double *rest,
               double *way, double *bent) except -1 nogil:
    """Find a step within the radius by conjugate gradients, and the residual it leaves."""
    cdef int64_t n = p.R, j, _k
    cdef double tolerance = 0.1 * _norm(gradient, n)
    cdef double square, before, size, along, length, reach, root, slope
    for j in range(n):
        step[j] = 0.0
        rest[j] = -gradient[j]
        way[j] = rest[j]
    square = _dot(rest, rest, n)
    for _k in range(MAX_PRODUCTS * n):
        if sqrt(square) <= tolerance:
            break
        _look(p)
        _curvature(p, way, bent)
        slope = _dot(way, bent, n)
        if not (slope > 0 and isfinite(slope)):  # only where values have overflowed
            break
        size = square / slope
        _add(size, way, step, n)
        if _norm(step, n) > radius:
            # Back, and on to the boundary only.
            _add(-size, way, step, n)
            along = _dot(step, way, n)
            length = _dot(way, way, n)
            reach = radius * radius - _dot(step, step, n)
            root = sqrt(along * along + length * reach)
            size = reach / (along + root) if along >= 0 else (root - along) / length
            _add(size, way, step, n)
            _add(-size, bent, rest, n)
            break
        _add(-size, bent, rest, n)
        before = square
        square = _dot(rest, rest, n)
        for j in range(n):
            way[j] = way[j] * (square / before) + rest[j]
    return 0


cdef int _minimise(Problem *p, double tolerance, double *w, double *tried, double *gradient,
                   double *step, double *rest, double *way, double *bent) except -1 nogil:
    """Decrease the value from w = 0 until the gradient is tolerance times what it was."""
    cdef int64_t n = p.R, steps = 0, trial
    cdef double value = _value(p, w), new, gain, promised, slope, length, factor, first, radius
    _gradient(p, w, gradient)
    first = radius = _norm(gradient, n)
    if first <= tolerance * first:
        return 0
    for trial in range(MAX_TRIALS):
        _step(p, radius, gradient, step, rest, way, bent)
        memcpy(tried, w, n * sizeof(double))
        _add(1.0, step, tried, n)
        slope = _dot(gradient, step, n)
        promised = -0.5 * (slope - _dot(step, rest, n))
        new = _value(p, tried)
        gain = value - new
        length = _norm(step, n)
        if trial == 0:
            radius = fmin(radius, length)
        factor = 4.0
        if new - value - slope > 0:
            factor = fmax(0.25, -0.5 * (slope / (new - value - slope)))
        if gain < 1e-4 * promised:
            radius = fmin(factor * length, 0.5 * radius)
        elif gain < 0.25 * promised:
            radius = fmax(0.25 * radius, fmin(factor * length, 0.5 * radius))
        elif gain < 0.75 * promised:
            radius = fmax(0.25 * radius, fmin(factor * length, 4 * radius))
        else:
            radius = fmax(radius, fmin(factor * length, 4 * radius))
        if gain > 1e-4 * promised:
            memcpy(w, tried, n * sizeof(double))
            value = new
            _gradient(p, w, gradient)
            steps += 1
            if steps == MAX_STEPS or _norm(gradient, n) <= tolerance * first:
                break
        if fabs(gain) <= 0 and promised <= 0:
            break
        if fabs(gain) <= 1e-12 * fabs(value) and fabs(promised) <= 1e-12 * fabs(value):
            break
    return 0


def fit(const double[:, ::1] F, const double[::1] signs, double C, double tolerance):
    """Return w that minimises |w|^2 / 2 + C sum max(0, 1 - s_i w.f_i)^2, about.

    `signs` are 1 and -1; the gradient falls to `tolerance` times what it is at w = 0. LIBLINEAR's
    tolerance, `-e`, is multiplied by the share of the smaller class before.
    """
    cdef Problem p
    p.n, p.R = F.shape[0], F.shape[1]
    cdef double[::1] w = np.zeros(p.R)
    cdef double[:, ::1] room = np.empty((6, p.R))
    cdef double[::1] margins = np.empty(p.n)
    cdef int64_t[::1] active = np.empty(p.n, np.int64)
    p.F, p.signs, p.C = &F[0, 0], &signs[0], C
    p.margins, p.active, p.n_active = &margins[0], &active[0], 0
    p.looked = d2ke_seconds()
    with nogil:
        _minimise(&p, tolerance, &w[0], &room[0, 0], &room[1, 0], &room[2, 0], &room[3, 0],
                  &room[4, 0], &room[5, 0])
    return np.asarray(w)
