# SPDX-License-Identifier: BSD-3-Clause
"""The nearest other window of each window of long series; see diagonals.h."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport INT64_MAX, int64_t, uintptr_t

from d2ke._ext.isa cimport current, d2ke_poll, d2ke_profile
from d2ke._ext.tasks cimport advance, run, worth

cdef extern from "diagonals.h":
    ctypedef struct profile_side:
        const double *values
        const double *means
        const double *inverses
        const double *constants
        int64_t n, first, last

    ctypedef struct profile_parts "d2ke_profile":
        profile_side x, y
        int64_t dim, length, normalize, flat
        const double *unreached
        const int64_t *chosen
        int64_t round, zone

    enum:
        PROFILE_DIAGONALS
        PROFILE_LANES

FRONT = PROFILE_DIAGONALS   # values before the first series, and behind the last, that are read


cdef struct Bands:
    profile_parts profile
    int64_t first, last     # diagonals
    double *sums            # each thread's
    double *best            # each thread's, (n,)
    int64_t *at


cdef profile_side point(windows):
    """Point at the arrays of one side, which have the names of the struct."""
    cdef profile_side side
    cdef const double[:, ::1] values = windows.values
    cdef const double[:, ::1] means = windows.means
    cdef const double[:, ::1] inverses = windows.inverses
    cdef const double[::1] constants = windows.constants
    side.values, side.means, side.inverses = &values[0, 0], &means[0, 0], &inverses[0, 0]
    side.constants, side.n = &constants[0], values.shape[1]
    side.first, side.last = windows.first, windows.last
    return side


cdef void band_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Bands *bands = <Bands *> context
    cdef int64_t first = bands.first + task * PROFILE_DIAGONALS, n = bands.profile.x.n
    cdef int64_t count = min(<int64_t> PROFILE_DIAGONALS, bands.last + 1 - first)
    current().profile_band(<const d2ke_profile *> &bands.profile, first, count, bands.sums
                           + poll.thread * 2 * PROFILE_LANES * bands.profile.length,
                           bands.best + poll.thread * n, bands.at + poll.thread * n, poll)
    advance(poll, count)


def nearest_places(x, y, int64_t length, bint normalize, int64_t zone,
                   const int64_t[:, ::1] chosen, int n_threads, progress=None):
    """The place of the window of y that is nearest to each window of x, or -1.

    Of two, it is the first one. It is more than `zone` places away from those that the window of x
    has chosen already, (round, n); and where x is y, from the window itself.
    """
    cdef Bands bands
    cdef profile_parts *profile = &bands.profile
    cdef int64_t tasks
    profile.x, profile.y = point(x), point(y)
    profile.dim, profile.length, profile.zone = x.values.shape[0], length, zone
    profile.normalize, profile.round = normalize, chosen.shape[0]
    profile.flat = np.any(x.constants) or np.any(y.constants)
    profile.chosen = &chosen[0, 0] if chosen.shape[0] else NULL
    # No value reaches these: windows of another collection gain nothing.
    cdef double[::1] unreached = np.full(1 if x is y else profile.y.n, INFINITY)
    profile.unreached = NULL if x is y else &unreached[0]
    bands.first = zone + 1 if x is y else profile.y.first - profile.x.last
    bands.last = profile.y.last - profile.x.first
    tasks = max(<int64_t> 0, (bands.last - bands.first + PROFILE_DIAGONALS) // PROFILE_DIAGONALS)
    n_threads = worth(n_threads, 5.0 * profile.dim * profile.x.n * (bands.last - bands.first),
                      max(<int64_t> 1, tasks))
    cdef double[:, ::1] best = np.full((n_threads, profile.x.n), -INFINITY)
    cdef int64_t[:, ::1] at = np.full((n_threads, profile.x.n), INT64_MAX)
    cdef double[::1] sums = np.empty(n_threads * 2 * PROFILE_LANES * length + 8)
    bands.best, bands.at = &best[0, 0], &at[0, 0]
    bands.sums = <double *> ((<uintptr_t> &sums[0] + 63) & ~<uintptr_t> 63)
    run(band_task, &bands, tasks, n_threads, progress, bands.last + 1 - bands.first)
    found = np.min(at, axis=0, where=np.equal(best, np.max(best, axis=0)), initial=INT64_MAX)
    return np.where(found == INT64_MAX, -1, found)
