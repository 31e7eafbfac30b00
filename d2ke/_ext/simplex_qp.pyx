# SPDX-License-Identifier: BSD-3-Clause
"""Quadratic programs on the simplex, by steps that move weight from one coordinate to another."""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from d2ke._ext.isa cimport d2ke_poll, d2ke_stopped
from d2ke._ext.tasks cimport run

cdef enum:
    STEPS_PER_LOOK = 32     # between looks at the clock


cdef int64_t _steps(const double *H, const double *diagonal, double *alpha, double *gradient,
                    int64_t n, int64_t n_steps, double tolerance, double *gap) noexcept nogil:
    """Make up to n_steps steps; fewer only once the gap is within the tolerance.

    Weight moves to i, whose gradient is the least, from the j that promises the largest
    decrease: (g_j - g_i)^2 over the curvature along the move.
    """
    cdef int64_t step, k, i, j
    cdef double least, most, slope, curvature, gain, best, move
    cdef const double *to
    cdef const double *away
    for step in range(n_steps):
        i = 0
        least = INFINITY
        most = -INFINITY
        for k in range(n):
            if gradient[k] < least:
                least = gradient[k]
                i = k
            if alpha[k] > 0 and gradient[k] > most:
                most = gradient[k]
        gap[0] = most - least
        if gap[0] <= tolerance:
            return step
        to = H + i * n
        j = -1
        best = -1.0
        for k in range(n):
            slope = gradient[k] - least
            if alpha[k] > 0 and slope > 0:
                curvature = diagonal[i] + diagonal[k] - 2 * to[k]
                if curvature * alpha[k] <= slope:
                    # All of its weight moves, also where the curvature is negative.
                    gain = alpha[k] * (2 * slope - curvature * alpha[k])
                else:
                    gain = slope * slope / curvature
                if gain > best:
                    best = gain
                    j = k
        if j < 0:  # only where values have overflowed
            return step
        away = H + j * n
        slope = gradient[j] - least
        curvature = diagonal[i] + diagonal[j] - 2 * to[j]
        if curvature * alpha[j] <= slope:
            move = alpha[j]
            alpha[j] = 0.0
        else:
            move = slope / curvature
            alpha[j] -= move
        alpha[i] += move
        for k in range(n):
            gradient[k] += move * (to[k] - away[k])
    return n_steps


cdef struct Program:
    const double *H
    const double *diagonal
    double *alpha
    double *gradient
    int64_t n
    double tolerance
    int64_t max_steps
    int64_t done
    double gap


cdef void _solve_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Program *p = <Program *> context
    cdef int64_t wanted, made
    while p.done < p.max_steps:
        wanted = min(<int64_t> STEPS_PER_LOOK, p.max_steps - p.done)
        made = _steps(p.H, p.diagonal, p.alpha, p.gradient, p.n, wanted, p.tolerance, &p.gap)
        p.done += made
        if made < wanted or d2ke_stopped(poll):
            return


def solve(const double[:, ::1] H, const double[::1] diagonal, double[::1] alpha,
          double[::1] gradient, double tolerance, int64_t max_steps):
    """Decrease alpha'H alpha / 2 + f'alpha over the simplex, from the given alpha and gradient.

    `alpha` and `gradient` = H alpha + f are changed in place. Returns the number of steps and the
    gap, max g_j over alpha_j > 0 less min g_i, which is 0 at a stationary point.
    """
    cdef Program program
    program.H = &H[0, 0]
    program.diagonal = &diagonal[0]
    program.alpha = &alpha[0]
    program.gradient = &gradient[0]
    program.n = H.shape[0]
    program.tolerance = tolerance
    program.max_steps = max_steps
    program.done = 0
    program.gap = INFINITY
    run(_solve_task, &program, 1, 1)
    return program.done, program.gap
