# SPDX-License-Identifier: BSD-3-Clause
"""Choosing few of many points: the order along a Hilbert curve, balanced halves, greedy choices.

Points are clouds, (dim, n + PADDING), and what they carry are unit vectors, (channels, n +
PADDING), so that K(p, p) <u, u> = 1.
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int64_t, int8_t, uint32_t, uint64_t

from d2ke._ext.isa cimport current, d2ke_cloud, d2ke_poll, d2ke_stopped
from d2ke._ext.pair_sums cimport describe
from d2ke._ext.tasks cimport run, worth

cdef enum:
    CURVE_POINTS = 4096     # of a task
    CURVE_DIMS = 64         # coordinates at most
    POLL_PAIRS = 100000     # between two looks at the clock


# ---- the order along a Hilbert curve

cdef struct Curve:
    const uint32_t *cells   # (n, dim)
    int64_t n
    int64_t dim
    int bits
    int64_t words
    uint64_t *keys          # (words, n), the most significant word first


cdef void _transpose(uint32_t *x, int64_t dim, int bits) noexcept nogil:
    """Change a cell's coordinates into the bits of its place on the curve (Skilling 2004)."""
    cdef uint32_t top = (<uint32_t> 1) << (bits - 1), q = top, t
    cdef int64_t i
    while q > 1:
        for i in range(dim):
            if x[i] & q:
                x[0] ^= q - 1
            else:
                t = (x[0] ^ x[i]) & (q - 1)
                x[0] ^= t
                x[i] ^= t
        q >>= 1
    for i in range(1, dim):
        x[i] ^= x[i - 1]
    t = 0
    q = top
    while q > 1:
        if x[dim - 1] & q:
            t ^= q - 1
        q >>= 1
    for i in range(dim):
        x[i] ^= t


cdef void _curve_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Curve *curve = <Curve *> context
    cdef int64_t begin = task * CURVE_POINTS, end = min(begin + CURVE_POINTS, curve.n)
    cdef int64_t p, i, filled
    cdef uint32_t[CURVE_DIMS] x
    cdef int bit
    for p in range(begin, end):
        for i in range(curve.dim):
            x[i] = curve.cells[p * curve.dim + i]
        _transpose(x, curve.dim, curve.bits)
        filled = 0
        for bit in range(curve.bits - 1, -1, -1):
            for i in range(curve.dim):
                curve.keys[filled // 64 * curve.n + p] |= (
                    <uint64_t> ((x[i] >> bit) & 1) << (63 - filled % 64)
                )
                filled += 1


def hilbert_keys(const uint32_t[:, ::1] cells, int bits, int n_threads):
    """Places of cells, given by `bits` bits for each of up to 64 coordinates: (words, n)."""
    cdef Curve curve
    cdef int64_t n_tasks = (cells.shape[0] + CURVE_POINTS - 1) // CURVE_POINTS
    curve.n = cells.shape[0]
    curve.dim = cells.shape[1]
    curve.bits = bits
    curve.words = (curve.dim * bits + 63) // 64
    result = np.zeros((curve.words, curve.n), dtype=np.uint64)
    cdef uint64_t[:, ::1] keys = result
    curve.cells = &cells[0, 0]
    curve.keys = &keys[0, 0]
    run(_curve_task, &curve, n_tasks,
        worth(n_threads, 2.5 * curve.n * curve.dim * bits, n_tasks))
    return result


# ---- balanced halves

cdef struct Halves:
    const double *points    # (n_blocks, dim, width)
    const double *units     # (n_blocks, channels, width)
    double *signed          # the same with the signs that were chosen, and a row of scratch
    const int64_t *sizes
    const int8_t *coins     # (n_blocks, width)
    int8_t *signs
    double *norms
    int64_t width
    int64_t dim
    int64_t channels
    int laplace
    double rate


cdef void _halve_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Halves *halves = <Halves *> context
    cdef int64_t i, c, first, since = 0, width = halves.width, channels = halves.channels
    cdef d2ke_cloud x, y
    cdef double alpha, step
    cdef double[2] together
    cdef double *signed = halves.signed + task * (channels + 1) * width
    cdef double *gathered = signed + channels * width
    cdef int8_t sign
    x.points = halves.points + task * halves.dim * width
    x.vectors = halves.units + task * channels * width
    x.stride = width
    x.dim = halves.dim
    x.channels = channels
    y = x
    y.vectors = signed
    for i in range(halves.sizes[task] // 2):
        first = 2 * i
        alpha = 0
        if i:
            for c in range(2 * channels):
                gathered[c] = 0
            current().pair_sums(&x, first, first + 2, &y, 0, first, halves.laplace, halves.rate,
                                NULL, gathered)
            for c in range(channels):
                alpha += (x.vectors[c * width + first] * gathered[c]
                          - x.vectors[c * width + first + 1] * gathered[channels + c])
        together[0] = together[1] = 0
        current().pair_sums(&x, first, first + 1, &x, first + 1, first + 2, halves.laplace,
                            halves.rate, together, NULL)
        step = 2 - 2 * together[0]
        sign = halves.coins[task * width + i]
        if alpha != 0:
            sign = -1 if alpha > 0 else 1
        halves.signs[task * width + i] = sign
        halves.norms[task] += step - 2 * fabs(alpha)
        for c in range(channels):
            signed[c * width + first] = sign * x.vectors[c * width + first]
            signed[c * width + first + 1] = -sign * x.vectors[c * width + first + 1]
        since += 2 * first * (halves.dim + channels)
        if since > POLL_PAIRS:
            since = 0
            if d2ke_stopped(poll):
                return


def balanced_signs(const double[:, :, ::1] points, const double[:, :, ::1] units,
                   const int64_t[::1] sizes, const int8_t[:, ::1] coins, bint laplace,
                   double rate, int n_threads):
    """Signs for the pairs (0, 1), (2, 3), ... of every block.

    Each pair's sign makes the norm of the signed sum of the differences in its block least; where
    both are the same the coin decides. Returns the signs, (n_blocks, width), and each block's
    squared norm. `width` is the largest size plus PADDING, and at least two numbers of channels.
    """
    cdef Halves halves
    cdef int64_t n_blocks = points.shape[0], width = points.shape[2]
    cdef double[:, :, ::1] signed = np.zeros((n_blocks, units.shape[1] + 1, width))
    signs = np.zeros((n_blocks, width), dtype=np.int8)
    norms = np.zeros(n_blocks)
    cdef int8_t[:, ::1] signs_view = signs
    cdef double[::1] norms_view = norms
    halves.points = &points[0, 0, 0]
    halves.units = &units[0, 0, 0]
    halves.signed = &signed[0, 0, 0]
    halves.sizes = &sizes[0]
    halves.coins = &coins[0, 0]
    halves.signs = &signs_view[0, 0]
    halves.norms = &norms_view[0]
    halves.width = width
    halves.dim = points.shape[1]
    halves.channels = units.shape[1]
    halves.laplace = laplace
    halves.rate = rate
    run(_halve_task, &halves, n_blocks, worth(n_threads, 2.5 * n_blocks * width * width, n_blocks))
    return signs, norms


# ---- greedy choices

cdef struct Choice:
    d2ke_cloud cloud
    int64_t n
    int64_t m
    int laplace
    double rate
    const double *mean      # what the chosen points' mean field should be
    double *field
    double *barred          # infinite where a point must not be chosen (again)
    int64_t *chosen
    int distinct
    int64_t passes
    double tolerance
    int64_t made            # passes made
    double gain             # by which the squared distance, times m^2, has decreased


cdef int _add_row(Choice *choice, int64_t row, double factor, int64_t *since,
                  const d2ke_poll *poll) noexcept nogil:
    """Add the row's kernel values to the field, with looks at the clock; 1: stop."""
    current().pair_row(&choice.cloud, row, 0, choice.n, choice.laplace, choice.rate, factor,
                       choice.field)
    since[0] += choice.n * (choice.cloud.dim + choice.cloud.channels)
    if since[0] > POLL_PAIRS:
        since[0] = 0
        return d2ke_stopped(poll)
    return 0


cdef void _herd_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Choice *choice = <Choice *> context
    cdef int64_t t, k, best, since = 0
    cdef double score, highest
    for t in range(choice.m):
        best = -1
        highest = -INFINITY
        for k in range(choice.n):
            score = (t + 1) * choice.mean[k] - choice.field[k] - choice.barred[k]
            if score > highest:
                highest = score
                best = k
        choice.chosen[t] = best
        if choice.distinct:
            choice.barred[best] = INFINITY
        if _add_row(choice, best, 1, &since, poll):
            return


cdef void _swap_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    """Let each chosen point in turn be replaced by the best one; `field` is m mean - sums."""
    cdef Choice *choice = <Choice *> context
    cdef int64_t i, k, old, best, changes, since = 0
    cdef double score, highest, gain
    while choice.made < choice.passes:
        changes = 0
        gain = 0
        for i in range(choice.m):
            old = choice.chosen[i]
            if _add_row(choice, old, 1, &since, poll):
                return
            if choice.distinct:
                choice.barred[old] = 0
            best = old
            # Rounding must not make points change places for ever.
            highest = choice.field[old] + choice.tolerance
            for k in range(choice.n):
                score = choice.field[k] - choice.barred[k]
                if score > highest:
                    highest = score
                    best = k
            if best != old:
                changes += 1
                gain += 2 * (highest - choice.field[old])
                choice.chosen[i] = best
            if choice.distinct:
                choice.barred[best] = INFINITY
            if _add_row(choice, best, -1, &since, poll):
                return
        choice.made += 1
        choice.gain += gain
        if changes == 0:
            return


cdef _describe(Choice *choice, const double[:, ::1] points, const double[:, ::1] units, int64_t n,
               bint laplace, double rate, bint distinct):
    describe(&choice.cloud, points, units)
    choice.n = n
    choice.laplace = laplace
    choice.rate = rate
    choice.distinct = distinct


def herd(const double[:, ::1] points, const double[:, ::1] units, const double[::1] mean,
         int64_t m, bint laplace, double rate, bint distinct):
    """Choose m points one by one, each where the mean field exceeds that of the chosen most.

    The first of the best ones is taken; `distinct`: no point twice.
    """
    cdef Choice choice
    cdef int64_t n = mean.shape[0]
    result = np.zeros(m, dtype=np.int64)
    cdef int64_t[::1] chosen = result
    cdef double[::1] field = np.zeros(points.shape[1])
    cdef double[::1] barred = np.zeros(n)
    _describe(&choice, points, units, n, laplace, rate, distinct)
    choice.m = m
    choice.mean = &mean[0]
    choice.field = &field[0]
    choice.barred = &barred[0]
    choice.chosen = &chosen[0]
    run(_herd_task, &choice, 1, 1)
    return result


def swap(const double[:, ::1] points, const double[:, ::1] units, double[::1] field,
         int64_t n, int64_t[::1] chosen, int64_t passes, double tolerance, bint laplace,
         double rate, bint distinct):
    """Replace chosen points by better ones, in up to so many passes over them.

    `field` is m times the mean field less the sum of the chosen points' fields, padded as the
    points; it and `chosen` are changed in place. Returns the passes made and by how much
    the squared distance, times m^2, has decreased.
    """
    cdef Choice choice
    barred_array = np.zeros(n)
    cdef double[::1] barred = barred_array
    if distinct:
        barred_array[np.asarray(chosen)] = np.inf
    _describe(&choice, points, units, n, laplace, rate, distinct)
    choice.m = chosen.shape[0]
    choice.field = &field[0]
    choice.barred = &barred[0]
    choice.chosen = &chosen[0]
    choice.passes = passes
    choice.tolerance = tolerance
    choice.made = 0
    choice.gain = 0
    run(_swap_task, &choice, 1, 1)
    return choice.made, choice.gain
