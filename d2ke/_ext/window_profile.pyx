# SPDX-License-Identifier: BSD-3-Clause
"""The nearest other window of each window of long series; see window_profile.h, diagonals.h."""

import numpy as np

from libc.math cimport INFINITY, NAN, sqrt
from libc.stdint cimport INT64_MAX, int64_t, uintptr_t

from d2ke._ext.isa cimport current, d2ke_poll, d2ke_profile, profile_best
from d2ke._ext.tasks cimport advance, run, worth

cdef extern from "window_profile.h":
    ctypedef struct profile_side:
        const double *values
        const double *means
        const double *inverses
        const double *constants
        int64_t n
        int64_t first
        int64_t last

    ctypedef struct profile_parts "d2ke_profile":
        profile_side x
        profile_side y
        int64_t dim
        int64_t length
        int64_t normalize
        const int64_t *chosen
        int64_t round
        int64_t zone

    ctypedef struct best_parts "profile_best":
        double *x
        int64_t *x_at
        double *y
        int64_t *y_at

    ctypedef struct profile_scratch:
        pass

    enum:
        PROFILE_DIAGONALS

    size_t profile_lay(const d2ke_profile *, void *, profile_scratch *) noexcept nogil
    int profile_better(double, int64_t, double, int64_t) noexcept nogil

cdef enum:
    PLACES = 512            # of a task that looks at windows one by one

FRONT = PROFILE_DIAGONALS   # values before the first series, and behind the last, that are read


cdef struct Bands:
    profile_parts profile
    int64_t first           # diagonals
    int64_t last
    char *memory            # each thread's
    size_t stride
    best_parts *best        # each thread's


cdef struct Moments:
    int64_t dim
    int64_t n
    int64_t length
    int64_t first
    int64_t last
    const double *values
    const double *limits
    double *means
    double *inverses
    double *constants


cdef class Side:
    """Series one after another, (dim, n), and the moments of their windows of `length` values.

    NaN is before, between and behind the series: at least length + FRONT, 1, and FRONT values.
    The first and the last window begin at these places. Those that deviate in a channel by at most
    limits[channel, place] are constant; None: windows are not normalised.
    """
    cdef profile_side parts
    cdef int64_t dim
    cdef int64_t length
    cdef bint normalize
    cdef double[::1] constants
    cdef object keep

    def __init__(self, const double[:, ::1] values, int64_t length, int64_t first, int64_t last,
                 const double[:, ::1] limits, int n_threads):
        cdef Moments moments
        cdef int64_t tasks = (last - first) // PLACES + 1
        cdef double[:, ::1] means, inverses
        self.dim, self.length, self.normalize = values.shape[0], length, limits is not None
        self.parts.n, self.parts.first, self.parts.last = values.shape[1], first, last
        self.parts.values = self.parts.means = self.parts.inverses = &values[0, 0]
        self.keep = [values]
        if limits is None:
            return
        means, inverses = np.full((2, self.dim, self.parts.n), NAN)
        self.constants = np.zeros(self.parts.n)
        self.keep += [means, inverses]
        self.parts.means, self.parts.inverses = &means[0, 0], &inverses[0, 0]
        moments.dim, moments.n, moments.length = self.dim, self.parts.n, length
        moments.first, moments.last = first, last
        moments.values, moments.limits = &values[0, 0], &limits[0, 0]
        moments.means, moments.inverses = &means[0, 0], &inverses[0, 0]
        moments.constants = &self.constants[0]
        run(moments_task, &moments, tasks,
            worth(n_threads, 2.0 * self.dim * (last - first) * length, tasks))
        if np.any(self.constants):
            self.parts.constants = &self.constants[0]


cdef void moments_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    """Moments of some windows; the first value of a window is taken off, whatever its level."""
    cdef const Moments *own = <const Moments *> context
    cdef int64_t begin = own.first + task * PLACES, m = own.length, c, p, t
    cdef int64_t count = min(<int64_t> PLACES, own.last + 1 - begin)
    cdef double squares[PLACES]
    cdef double deviation, away
    cdef double *means
    cdef const double *x
    for c in range(own.dim):
        x, means = own.values + c * own.n + begin, own.means + c * own.n + begin
        for p in range(count):
            means[p] = squares[p] = 0
        for t in range(m):
            for p in range(count):
                means[p] += x[p + t] - x[p]
        for p in range(count):
            means[p] /= <double> m
        for t in range(m):
            for p in range(count):
                away = x[p + t] - x[p] - means[p]
                squares[p] += away * away
        for p in range(count):
            deviation = sqrt(squares[p] / <double> m)
            if deviation <= own.limits[c * own.n + begin + p]:
                own.inverses[c * own.n + begin + p] = 0
                own.constants[begin + p] += 0.5
            else:
                own.inverses[c * own.n + begin + p] = 1 / (deviation * sqrt(<double> m))


cdef void band_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Bands *bands = <Bands *> context
    cdef int64_t first = bands.first + task * PROFILE_DIAGONALS
    cdef int64_t count = min(<int64_t> PROFILE_DIAGONALS, bands.last + 1 - first)
    current().profile_band(<const d2ke_profile *> &bands.profile, first, count,
                           bands.memory + poll.thread * bands.stride,
                           <const profile_best *> &bands.best[poll.thread], poll)
    advance(poll, count)


def nearest_places(Side x, Side y, int64_t zone, const int64_t[:, ::1] chosen, int n_threads,
                   progress=None):
    """The place of the window of y that is nearest to each window of x, or -1.

    Of two, it is the first one. It is more than `zone` places away from those that the window of x
    has chosen already, (round, n); and where x is y, from the window itself.
    """
    cdef Bands bands
    cdef int64_t n = x.parts.n, i, tasks
    cdef int thread
    cdef bint itself = x is y
    cdef profile_scratch scratch
    bands.profile.x, bands.profile.y = x.parts, y.parts
    if y.parts.constants != NULL and x.parts.constants == NULL:
        bands.profile.x.constants = &x.constants[0]
    if x.parts.constants != NULL and y.parts.constants == NULL:
        bands.profile.y.constants = &y.constants[0]
    bands.profile.dim, bands.profile.length, bands.profile.zone = x.dim, x.length, zone
    bands.profile.normalize, bands.profile.round = x.normalize, chosen.shape[0]
    bands.profile.chosen = &chosen[0, 0] if chosen.shape[0] else NULL
    bands.first = zone + 1 if itself else y.parts.first - x.parts.last
    bands.last = y.parts.last - x.parts.first
    tasks = max(<int64_t> 0, (bands.last - bands.first) // PROFILE_DIAGONALS + 1)
    n_threads = worth(n_threads, 5.0 * x.dim * n * (bands.last - bands.first),
                      max(<int64_t> 1, tasks))
    cdef double[:, ::1] values = np.full((n_threads, n), -INFINITY)
    cdef int64_t[:, ::1] places = np.full((n_threads, n), INT64_MAX)
    # No value reaches these: windows of another collection gain nothing.
    cdef double[::1] unreached = np.full(1 if itself else y.parts.n, INFINITY)
    cdef int64_t[:, ::1] lists = np.empty((n_threads, sizeof(best_parts) // 8), np.int64)
    bands.best = <best_parts *> &lists[0, 0]
    for thread in range(n_threads):
        bands.best[thread].x = &values[thread, 0]
        bands.best[thread].x_at = bands.best[thread].y_at = &places[thread, 0]
        bands.best[thread].y = &values[thread, 0] if itself else &unreached[0]
    bands.stride = profile_lay(<const d2ke_profile *> &bands.profile, NULL, &scratch)
    cdef char[::1] memory = np.empty(n_threads * bands.stride + 64, np.int8)
    bands.memory = <char *> ((<uintptr_t> &memory[0] + 63) & ~<uintptr_t> 63)
    run(band_task, &bands, tasks, n_threads, progress, bands.last + 1 - bands.first)
    with nogil:
        for thread in range(1, n_threads):
            for i in range(n):
                if profile_better(values[thread, i], places[thread, i], values[0, i], places[0, i]):
                    values[0, i], places[0, i] = values[thread, i], places[thread, i]
    result = np.asarray(places[0])
    return np.where(result == INT64_MAX, -1, result)


cdef struct Pairs:
    profile_parts profile
    int64_t n
    const int64_t *x_places
    const int64_t *y_places
    double *out


cdef void pairs_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef const Pairs *pairs = <const Pairs *> context
    cdef const profile_side *one = &pairs.profile.x
    cdef const profile_side *other = &pairs.profile.y
    cdef int64_t k, c, t, i, j, m = pairs.profile.length
    cdef double square, away, x_scale, y_scale, root = sqrt(<double> m)
    cdef const double *x
    cdef const double *y
    for k in range(task * PLACES, min(pairs.n, (task + 1) * PLACES)):
        square = 0
        for c in range(pairs.profile.dim):
            i, j = c * one.n + pairs.x_places[k], c * other.n + pairs.y_places[k]
            x, y = one.values + i, other.values + j
            if pairs.profile.normalize:
                x_scale, y_scale = one.inverses[i] * root, other.inverses[j] * root
                for t in range(m):
                    away = ((x[t] - x[0] - one.means[i]) * x_scale
                            - (y[t] - y[0] - other.means[j]) * y_scale)
                    square += away * away
            else:
                for t in range(m):
                    away = x[t] - y[t]
                    square += away * away
        pairs.out[k] = sqrt(square)


def window_pairs(Side x, Side y, const int64_t[::1] x_places, const int64_t[::1] y_places,
                 int n_threads):
    """Distances of windows of x to windows of y, value by value."""
    cdef Pairs pairs
    cdef int64_t n = x_places.shape[0], tasks = (n + PLACES - 1) // PLACES
    cdef double[::1] out = np.empty(n)
    if n:
        pairs.profile.x, pairs.profile.y, pairs.profile.dim = x.parts, y.parts, x.dim
        pairs.profile.length, pairs.profile.normalize = x.length, x.normalize
        pairs.n, pairs.out = n, &out[0]
        pairs.x_places, pairs.y_places = &x_places[0], &y_places[0]
        run(pairs_task, &pairs, tasks, worth(n_threads, 1.0 * n * x.dim * x.length, tasks))
    return np.asarray(out)
