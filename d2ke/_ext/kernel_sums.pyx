# SPDX-License-Identifier: BSD-3-Clause
"""Sums for the kernel distance: over pairs of points, over pairs of boxes, and of features.

Work is cut into tasks by the sizes of the data alone, each task has a result of its own, and
these are added in their order: the bits do not depend on the number of threads.
"""

import numpy as np

from cython.parallel cimport parallel, threadid
from libc.math cimport INFINITY, exp, fmax, sqrt
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from d2ke._ext.cross cimport Cross, Loop, Shared, check
from d2ke._ext.cross import by_length
from d2ke._ext.isa cimport (D2KE_FREQUENCIES, D2KE_SERIES_POINTS, current, d2ke_cloud,
                            d2ke_fetch_add, d2ke_length, d2ke_load, d2ke_poll, d2ke_problem,
                            d2ke_stopped)

cdef extern from "clock.h":
    double d2ke_seconds() noexcept nogil
    void d2ke_nap() noexcept nogil

cdef enum:
    BLOCK = 64              # rows of a task
    COLUMNS = 256           # of one call; a multiple of the kernel's tile
    POLL_WORK = 200000      # elementary operations between two looks at the clock
    THREAD_WORK = 200000    # pairs that make a thread worth starting
    FIRST_PAIRS = 2048      # pairs of boxes that become tasks
    VECTOR = 8              # reals in the longest machine vector

FREQUENCIES = D2KE_FREQUENCIES
SERIES_POINTS = D2KE_SERIES_POINTS
PADDING = 32  # reals that may be read past the last point of a cloud

cdef inline void add_exactly(double term, double *high, double *low) noexcept nogil:
    cdef double total = high[0] + term
    cdef double kept = total - high[0]
    low[0] += (high[0] - (total - kept)) + (term - kept)
    high[0] = total


cdef void work(d2ke_task task, void *context, int64_t n_tasks, Shared *shared,
               int thread) noexcept nogil:
    """Take tasks until there are none left; thread 0 then polls until all have ended."""
    cdef d2ke_poll poll
    cdef int64_t k
    poll.check = check
    poll.state = shared
    poll.thread = thread
    d2ke_fetch_add(&shared.running, 1)
    while not check(shared, thread):
        k = d2ke_fetch_add(&shared.next_task, 1)
        if k >= n_tasks:
            break
        task(context, k, &poll)
    d2ke_fetch_add(&shared.running, -1)
    if thread == 0:
        while d2ke_load(&shared.running) > 0:
            check(shared, thread)
            d2ke_nap()


cdef run(d2ke_task task, void *context, int64_t n_tasks, int n_threads):
    cdef Loop loop = Loop()
    cdef Shared *shared = &loop.shared
    memset(shared, 0, sizeof(Shared))
    shared.owner = <void *> loop
    shared.last_check = d2ke_seconds()
    with nogil, parallel(num_threads=n_threads):
        work(task, context, n_tasks, shared, threadid())
    if loop.error is not None:
        raise loop.error


cdef int worth(int n_threads, double pairs, int64_t n_tasks):
    """Threads that are worth starting."""
    return <int> max(1.0, min(min(<double> n_threads, <double> n_tasks), 1 + pairs / THREAD_WORK))


cdef void _describe(d2ke_cloud *cloud, const double[:, ::1] points, const double[:, ::1] vectors):
    cloud.points = &points[0, 0]
    cloud.vectors = &vectors[0, 0]
    cloud.stride = points.shape[1]
    cloud.dim = points.shape[0]
    cloud.channels = vectors.shape[0]


# ---- all pairs

cdef struct Pairs:
    d2ke_cloud x
    d2ke_cloud y
    const int64_t *y_offsets
    int64_t n_y
    const int64_t *blocks   # block b: set, first row, end
    int symmetric           # y is x: only j >= i
    int halve               # ... and within a set only the upper triangle, doubled
    int laplace
    double rate
    double *partial         # (n_blocks, n_y, 2)
    double *potentials


cdef int _columns(const Pairs *pairs, int64_t begin, int64_t end, int64_t first, int64_t last,
                  double *total, double *potentials, int64_t *since,
                  const d2ke_poll *poll) noexcept nogil:
    """Rows begin..end against these columns, with looks at the clock; 1: stop."""
    cdef int64_t column = first, upto
    while column < last:
        upto = min(column + COLUMNS, last)
        current().pair_sums(&pairs.x, begin, end, &pairs.y, column, upto, pairs.laplace,
                            pairs.rate, total, potentials)
        since[0] += (end - begin) * (upto - column) * (pairs.x.dim + pairs.x.channels)
        if since[0] > POLL_WORK:
            since[0] = 0
            if d2ke_stopped(poll):
                return 1
        column = upto
    return 0


cdef void _pair_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Pairs *pairs = <Pairs *> context
    cdef int64_t i = pairs.blocks[3 * task]
    cdef int64_t begin = pairs.blocks[3 * task + 1], end = pairs.blocks[3 * task + 2]
    cdef int64_t j, first, last, since = 0
    cdef double *total
    cdef double[2] twice
    for j in range(i if pairs.symmetric else 0, pairs.n_y):
        total = pairs.partial + 2 * (task * pairs.n_y + j)
        first = pairs.y_offsets[j]
        last = pairs.y_offsets[j + 1]
        if pairs.halve and i == j:
            if _columns(pairs, begin, end, begin, end, total, NULL, &since, poll):
                return
            twice[0] = twice[1] = 0
            if _columns(pairs, begin, end, end, last, twice, NULL, &since, poll):
                return
            add_exactly(2 * twice[0], &total[0], &total[1])
            total[1] += 2 * twice[1]
        elif _columns(pairs, begin, end, first, last, total, NULL, &since, poll):
            return


cdef void _potential_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Pairs *pairs = <Pairs *> context
    cdef const int64_t *columns = pairs.y_offsets + 2 * pairs.blocks[3 * task]
    cdef int64_t begin = pairs.blocks[3 * task + 1], end = pairs.blocks[3 * task + 2], since = 0
    _columns(pairs, begin, end, columns[0], columns[1], NULL,
             pairs.potentials + begin * pairs.y.channels, &since, poll)


def _blocks(offsets):
    """Cut every set's rows into blocks: (set, first row, end) of each."""
    counts = -(-np.diff(offsets) // BLOCK)
    which = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    begin = offsets[which] + within * BLOCK
    return np.ascontiguousarray(
        np.stack([which, begin, np.minimum(begin + BLOCK, offsets[which + 1])], axis=1),
        dtype=np.int64,
    )


def pair_matrix(const double[:, ::1] x_points, const double[:, ::1] x_vectors,
                const int64_t[::1] x_offsets, const double[:, ::1] y_points,
                const double[:, ::1] y_vectors, const int64_t[::1] y_offsets, bint laplace,
                double rate, int n_threads, bint symmetric, bint halve):
    """kappa of every set of x with every set of y, as unevaluated sums high + low.

    Clouds are (dim, total + PADDING) and (channels, total + PADDING). Symmetric: y is x; below
    the diagonal are zeros. Every set has a point.
    """
    cdef Pairs pairs
    cdef int64_t b, i, j, n_x = x_offsets.shape[0] - 1, n_y = y_offsets.shape[0] - 1
    cdef int64_t[:, ::1] blocks = _blocks(np.asarray(x_offsets))
    cdef double[:, :, ::1] partial = np.zeros((blocks.shape[0], n_y, 2))
    result = np.zeros((2, n_x, n_y))
    cdef double[:, :, ::1] out = result
    _describe(&pairs.x, x_points, x_vectors)
    _describe(&pairs.y, y_points, y_vectors)
    pairs.y_offsets = &y_offsets[0]
    pairs.n_y = n_y
    pairs.blocks = &blocks[0, 0]
    pairs.symmetric = symmetric
    pairs.halve = halve
    pairs.laplace = laplace
    pairs.rate = rate
    pairs.partial = &partial[0, 0, 0]
    pairs.potentials = NULL
    n_threads = worth(n_threads, <double> x_offsets[n_x] * y_offsets[n_y], blocks.shape[0])
    run(_pair_task, &pairs, blocks.shape[0], n_threads)
    with nogil:
        for b in range(blocks.shape[0]):
            i = blocks[b, 0]
            for j in range(n_y):
                add_exactly(partial[b, j, 0], &out[0, i, j], &out[1, i, j])
                out[1, i, j] += partial[b, j, 1]
    return result[0], result[1]


def potentials(const double[:, ::1] x_points, int64_t n_x, const double[:, ::1] y_points,
               const double[:, ::1] y_vectors, int64_t n_y, bint laplace, double rate,
               int n_threads):
    """sum_q K(p, q) v_q at every point p of x: (n_x, channels)."""
    return local_potentials(x_points, np.array([0, n_x]), y_points, y_vectors,
                            np.array([[0, n_y]]), laplace, rate, n_threads)


def local_potentials(const double[:, ::1] x_points, const int64_t[::1] x_offsets,
                     const double[:, ::1] y_points, const double[:, ::1] y_vectors,
                     const int64_t[:, ::1] ranges, bint laplace, double rate, int n_threads):
    """The same, where the points p of set i of x count the points q of ranges[i] only."""
    cdef Pairs pairs
    cdef int64_t[:, ::1] blocks = _blocks(np.asarray(x_offsets))
    sizes = np.asarray(ranges)
    n_pairs = float((np.diff(x_offsets) * (sizes[:, 1] - sizes[:, 0])).sum())
    result = np.zeros((x_offsets[x_offsets.shape[0] - 1], y_vectors.shape[0]))
    cdef double[:, ::1] out = result
    _describe(&pairs.y, y_points, y_vectors)
    pairs.x = pairs.y
    pairs.x.points = &x_points[0, 0]
    pairs.x.stride = x_points.shape[1]
    pairs.y_offsets = &ranges[0, 0]
    pairs.blocks = &blocks[0, 0]
    pairs.laplace = laplace
    pairs.rate = rate
    pairs.potentials = &out[0, 0]
    run(_potential_task, &pairs, blocks.shape[0], worth(n_threads, n_pairs, blocks.shape[0]))
    return result


# ---- the distance of two sets, for the parallel loop over pairs of objects

cdef enum:
    CELL_WORK = 12  # a kernel value, in operations beyond those of the coordinates

cdef struct Sides:
    Pairs pairs             # x and y, and the kernel
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


cdef int _kappa(const Pairs *pairs, int64_t begin, int64_t end, int64_t first, int64_t last,
                double *total, const d2ke_poll *poll) noexcept nogil:
    """total = kappa of the rows with the columns, as high + low; 1: stop."""
    cdef int64_t upto, since = 0
    total[0] = total[1] = 0
    while begin < end:
        upto = min(begin + BLOCK, end)
        if _columns(pairs, begin, upto, first, last, total, NULL, &since, poll):
            return 1
        begin = upto
    return 0


cdef void _distance(const d2ke_problem *p, int64_t row, int64_t block, void *scratch,
                    double *result, const d2ke_poll *poll) noexcept nogil:
    cdef const Sides *sides = <const Sides *> p.user_data
    cdef int64_t column = p.order[p.blocks[block]]
    cdef int64_t i = sides.x_offsets[row], j = sides.y_offsets[column]
    cdef int64_t n = d2ke_length(&p.x, row), m = d2ke_length(&p.y, column)
    cdef const double *a = sides.x_own + 2 * row
    cdef const double *b = sides.y_own + 2 * column
    cdef double[2] total
    cdef Pairs pairs = sides.pairs
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
    result[0] = sqrt(fmax(total[0], 0.0))


cdef void _own_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef const Sides *sides = <const Sides *> context
    cdef Pairs pairs = sides.pairs
    cdef int64_t begin = sides.x_offsets[task], end = sides.x_offsets[task + 1]
    pairs.y = pairs.x
    _kappa(&pairs, begin, end, begin, end, <double *> sides.x_own + 2 * task, poll)


cdef class Distance(Cross):
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
        self.problem.user_data = &self.sides
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
        run(_own_task, &sides, n, worth(n_threads, squares.sum(), n))
        return own


def distance(x_points, x_vectors, const int64_t[::1] x_offsets, y_points, y_vectors,
             const int64_t[::1] y_offsets, bint laplace, double rate, bint same):
    """Prepare the kernel distance of sets, given as clouds, for the parallel loop.

    Sets that are equal must be so bit for bit (see `distinct`). `same`: y is x, wanted once.
    """
    cdef Distance cross = Distance()
    cdef const double[:, ::1] xp = x_points, xv = x_vectors, yp = y_points, yv = y_vectors
    cdef int64_t n = y_offsets.shape[0] - 1
    cross.set_items(&xp[0, 0], x_offsets, &yp[0, 0], y_offsets, xp.shape[0], (xp, xv, yp, yv))
    rows = by_length(x_offsets, True)
    cross.set_order(rows, rows if same else np.arange(n), np.arange(n + 1))
    _describe(&cross.sides.pairs.x, xp, xv)
    _describe(&cross.sides.pairs.y, yp, yv)
    cross.sides.pairs.laplace = laplace
    cross.sides.pairs.rate = rate
    cross.sides.x_offsets = &x_offsets[0]
    cross.sides.y_offsets = &y_offsets[0]
    cross.same = same
    cross.cell_work = CELL_WORK
    cross.kernel = _distance
    cross.scratch_bytes = 64
    return cross


# ---- features

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
    n_threads = worth(n_threads, 4.0 * points.shape[0] * omega.shape[1], n_tasks)
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
    n_threads = worth(n_threads, 0.25 * points.shape[0] * terms, n_segments)
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


# ---- pairs of boxes

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
    n_threads = worth(n_threads, 0.05 * points.shape[0] * s.terms, n_segments)
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


cdef struct Node:
    int64_t begin
    int64_t end
    int64_t left            # the other child is left + 1; -1: a leaf
    int64_t depth


cdef struct Sum:
    double high
    double low
    double bound            # of the error
    int64_t boxes           # pairs of boxes that one kernel value stood for
    int64_t points          # pairs of points evaluated one by one


cdef struct BoxPair:
    int64_t a
    int64_t b


cdef struct Walk:
    d2ke_cloud cloud
    const Node *nodes
    const double *boxes     # lower and upper corner of each node
    const double *totals    # sum of the vectors and of their lengths of each node
    int laplace
    double rate
    double tolerance        # dual tree: stop at K(nearest) - K(farthest) <= tolerance
    double alpha            # well-separated pairs: diameters <= alpha times the distance; else < 0
    double cutoff           # ... which count as 0 beyond this distance
    const BoxPair *tasks
    Sum *sums
    BoxPair *stacks
    int64_t stack_size


cdef class Tree:
    """Points in boxes that are halved at the middle of their longest side, tightened each time."""
    cdef readonly int64_t depth, n_nodes
    cdef Node[::1] nodes
    cdef double[:, :, ::1] boxes
    cdef double[:, ::1] totals
    cdef const double[:, ::1] points
    cdef const double[:, ::1] vectors

    def __init__(self, points, vectors, int64_t leaf_size):
        n, dim = points.shape
        order = np.arange(n)
        points = points.copy()
        for capacity in (min(2 * n, 64 + 16 * (n // leaf_size)), 2 * n):
            if self._build(points, order, leaf_size, capacity):
                break
        cloud = np.zeros((dim, n + PADDING))
        cloud[:, :n] = points.T
        self.points = cloud
        cloud = np.zeros((vectors.shape[1], n + PADDING))
        cloud[:, :n] = vectors[order].T
        self.vectors = cloud
        self._sum()

    def _build(self, double[:, ::1] points, int64_t[::1] order, int64_t leaf_size,
               int64_t capacity):
        cdef int64_t n = points.shape[0], dim = points.shape[1]
        cdef int64_t node = 0, filled = 1, i, j, k, begin, end, axis
        cdef double widest, middle, value
        cdef Loop loop = Loop()
        cdef Shared *shared = &loop.shared
        cdef bint fits = True
        self.nodes = np.empty(4 * capacity, dtype=np.int64).view(
            [("begin", "i8"), ("end", "i8"), ("left", "i8"), ("depth", "i8")])
        self.boxes = np.empty((capacity, 2, dim))
        memset(shared, 0, sizeof(Shared))
        shared.owner = <void *> loop
        shared.last_check = d2ke_seconds()
        self.nodes[0].begin = 0
        self.nodes[0].end = n
        self.nodes[0].depth = 0
        self.depth = 0
        with nogil:
            while node < filled:
                begin = self.nodes[node].begin
                end = self.nodes[node].end
                self.nodes[node].left = -1
                self.depth = max(self.depth, self.nodes[node].depth)
                for k in range(dim):
                    self.boxes[node, 0, k] = INFINITY
                    self.boxes[node, 1, k] = -INFINITY
                for i in range(begin, end):
                    for k in range(dim):
                        value = points[i, k]
                        if value < self.boxes[node, 0, k]:
                            self.boxes[node, 0, k] = value
                        if value > self.boxes[node, 1, k]:
                            self.boxes[node, 1, k] = value
                widest = 0
                axis = 0
                for k in range(dim):
                    value = self.boxes[node, 1, k] - self.boxes[node, 0, k]
                    if value > widest:
                        widest = value
                        axis = k
                if end - begin > leaf_size and widest > 0:
                    if filled + 2 > capacity:
                        fits = False
                        break
                    middle = 0.5 * self.boxes[node, 0, axis] + 0.5 * self.boxes[node, 1, axis]
                    # Between two neighbouring numbers lies no third: the lower goes left.
                    if not middle < self.boxes[node, 1, axis]:
                        middle = self.boxes[node, 0, axis]
                    i = begin
                    j = end
                    while i < j:
                        if points[i, axis] <= middle:
                            i += 1
                        else:
                            j -= 1
                            for k in range(dim):
                                value = points[i, k]
                                points[i, k] = points[j, k]
                                points[j, k] = value
                            k = order[i]
                            order[i] = order[j]
                            order[j] = k
                    self.nodes[node].left = filled
                    for k in range(2):
                        self.nodes[filled + k].begin = i if k else begin
                        self.nodes[filled + k].end = end if k else i
                        self.nodes[filled + k].depth = self.nodes[node].depth + 1
                    filled += 2
                node += 1
                if check(shared, 0):
                    break
        if loop.error is not None:
            raise loop.error
        self.n_nodes = filled
        return fits

    def _sum(self):
        """Add up every node's vectors, children before parents."""
        cdef int64_t node, c, i, left, channels = self.vectors.shape[0]
        cdef double square
        self.totals = np.zeros((self.n_nodes, channels + 1))
        with nogil:
            for node in range(self.n_nodes - 1, -1, -1):
                left = self.nodes[node].left
                if left >= 0:
                    for c in range(channels + 1):
                        self.totals[node, c] = self.totals[left, c] + self.totals[left + 1, c]
                    continue
                for i in range(self.nodes[node].begin, self.nodes[node].end):
                    square = 0
                    for c in range(channels):
                        self.totals[node, c] += self.vectors[c, i]
                        square += self.vectors[c, i] * self.vectors[c, i]
                    self.totals[node, channels] += sqrt(square)

    def norm(self, bint laplace, double rate, double tolerance, double alpha, double cutoff,
             int n_threads):
        """kappa of the points with themselves, approximately.

        Returns (high, low, bound of the error, pairs of boxes, pairs of points). alpha < 0 asks
        for the dual tree, which alone has a bound.
        """
        cdef Walk walk
        cdef Sum total
        cdef BoxPair[3] children
        cdef int64_t head = 0, tail = 1, k, made
        cdef double[:, ::1] sums
        _describe(&walk.cloud, self.points, self.vectors)
        walk.nodes = &self.nodes[0]
        walk.boxes = &self.boxes[0, 0, 0]
        walk.totals = &self.totals[0, 0]
        walk.laplace = laplace
        walk.rate = rate
        walk.tolerance = tolerance
        walk.alpha = alpha
        walk.cutoff = cutoff
        memset(&total, 0, sizeof(Sum))
        # A queue of pairs grows from the whole until there are enough for all threads.
        cdef int64_t[:, ::1] queue = np.zeros((4 * FIRST_PAIRS + 8, 2), dtype=np.int64)
        while head < tail and tail - head < FIRST_PAIRS and tail < 4 * FIRST_PAIRS:
            made = _step(&walk, queue[head, 0], queue[head, 1], children, &total)
            head += 1
            for k in range(made):
                queue[tail, 0] = children[k].a
                queue[tail, 1] = children[k].b
                tail += 1
        if head < tail:
            n_threads = min(n_threads, tail - head)
            sums = np.zeros((tail - head, sizeof(Sum) // 8))
            walk.tasks = <const BoxPair *> &queue[head, 0]
            walk.sums = <Sum *> &sums[0, 0]
            # A step takes one pair and leaves three at most, each one level deeper.
            walk.stack_size = 4 * self.depth + 64
            walk.stacks = <BoxPair *> malloc(n_threads * walk.stack_size * sizeof(BoxPair))
            if walk.stacks == NULL:
                raise MemoryError("no memory for the walk through the tree")
            try:
                run(_walk_task, &walk, tail - head, n_threads)
            finally:
                free(walk.stacks)
            for k in range(tail - head):
                _add(&total, walk.sums + k)
        return total.high, total.low, total.bound, total.boxes, total.points


cdef void _add(Sum *total, const Sum *part) noexcept nogil:
    add_exactly(part.high, &total.high, &total.low)
    total.low += part.low
    total.bound += part.bound
    total.boxes += part.boxes
    total.points += part.points


cdef void _walk_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Walk *walk = <Walk *> context
    cdef BoxPair *stack = walk.stacks + poll.thread * walk.stack_size
    cdef BoxPair[3] children
    cdef Sum total
    cdef int64_t height = 1, made, k, last = 0
    stack[0] = walk.tasks[task]
    memset(&total, 0, sizeof(Sum))
    while height > 0:
        height -= 1
        made = _step(walk, stack[height].a, stack[height].b, children, &total)
        for k in range(made):
            stack[height] = children[k]
            height += 1
        if total.boxes + total.points - last > 20000:
            last = total.boxes + total.points
            if d2ke_stopped(poll):
                return
    walk.sums[task] = total


cdef inline double _kernel(const Walk *walk, double square) noexcept nogil:
    return exp(-walk.rate * (sqrt(square) if walk.laplace else square))


cdef inline double _square(const double *box, int64_t dim) noexcept nogil:
    """Square of the box's diameter."""
    cdef double total = 0, side
    cdef int64_t k
    for k in range(dim):
        side = box[dim + k] - box[k]
        total += side * side
    return total


cdef int64_t _step(const Walk *walk, int64_t a, int64_t b, BoxPair *children,
                   Sum *total) noexcept nogil:
    """Settle the pair of nodes, or write the pairs that take its place and return their number."""
    cdef int64_t dim = walk.cloud.dim, channels = walk.cloud.channels, k
    cdef const Node *one = walk.nodes + a
    cdef const Node *other = walk.nodes + b
    cdef const double *box = walk.boxes + 2 * dim * a
    cdef const double *other_box = walk.boxes + 2 * dim * b
    cdef double least = 0, most = 0, gap, weight = 1.0 if a == b else 2.0
    cdef double highest, lowest, value
    cdef double[2] sums
    for k in range(dim):
        gap = fmax(fmax(box[k] - other_box[dim + k], other_box[k] - box[dim + k]), 0.0)
        least += gap * gap
        gap = fmax(box[dim + k] - other_box[k], other_box[dim + k] - box[k])
        most += gap * gap
    cdef double size = _square(box, dim), other_size = _square(other_box, dim)
    if walk.alpha >= 0:
        if least > walk.cutoff * walk.cutoff:
            total.boxes += 1
            return 0
        if fmax(size, other_size) <= walk.alpha * walk.alpha * least or size + other_size == 0:
            value = 0
            for k in range(dim):
                gap = (walk.cloud.points[k * walk.cloud.stride + one.begin]
                       - walk.cloud.points[k * walk.cloud.stride + other.begin])
                value += gap * gap
            value = _kernel(walk, value) if value <= walk.cutoff * walk.cutoff else 0.0
            _box_pair(walk, a, b, weight * value, total)
            return 0
    else:
        highest = _kernel(walk, least)
        lowest = _kernel(walk, most)
        if highest - lowest <= walk.tolerance:
            _box_pair(walk, a, b, 0.5 * weight * (highest + lowest), total)
            total.bound += (0.5 * weight * (highest - lowest)
                            * walk.totals[a * (channels + 1) + channels]
                            * walk.totals[b * (channels + 1) + channels])
            return 0
        if one.left < 0 and other.left < 0:
            sums[0] = sums[1] = 0
            current().pair_sums(&walk.cloud, one.begin, one.end, &walk.cloud, other.begin,
                                other.end, walk.laplace, walk.rate, sums, NULL)
            add_exactly(weight * sums[0], &total.high, &total.low)
            total.low += weight * sums[1]
            total.points += (one.end - one.begin) * (other.end - other.begin)
            return 0
    if a == b:
        children[0].a = children[0].b = children[1].a = one.left
        children[1].b = children[2].a = children[2].b = one.left + 1
        return 3
    if other.left < 0 or (one.left >= 0 and size >= other_size):
        children[0].a = one.left
        children[1].a = one.left + 1
        children[0].b = children[1].b = b
    else:
        children[0].b = other.left
        children[1].b = other.left + 1
        children[0].a = children[1].a = a
    return 2


cdef inline void _box_pair(const Walk *walk, int64_t a, int64_t b, double value,
                           Sum *total) noexcept nogil:
    cdef int64_t c, channels = walk.cloud.channels
    cdef double product = 0
    for c in range(channels):
        product += (walk.totals[a * (channels + 1) + c] * walk.totals[b * (channels + 1) + c])
    add_exactly(value * product, &total.high, &total.low)
    total.boxes += 1
