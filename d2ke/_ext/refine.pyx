# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours by lower bounds first and distances last, row by row."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from d2ke._ext.isa cimport d2ke_kernel, d2ke_poll, d2ke_problem
from d2ke._ext.pairwise cimport SINGLE_COLUMNS, WHOLE_BLOCKS, PairwiseKernel
from d2ke._ext.tasks cimport advance, run, stop

cdef extern from "refine.h":
    ctypedef struct refine_item:
        float bound

    ctypedef struct refine_cut:
        float limit
        int64_t worst

    ctypedef struct refine_pair:
        int64_t row
        int64_t column
        double distance

    ctypedef struct refine_search:
        const d2ke_problem *problem
        d2ke_kernel kernel
        size_t scratch_bytes
        int64_t width
        int64_t single
        int64_t consecutive
        refine_fill fill
        refine_begin begin
        refine_tighten tighten
        refine_narrow narrow
        const void *context
        size_t own_bytes
        double slope
        double offset
        double ratio
        float tie
        int64_t skip
        const uint8_t *hidden
        const int64_t *groups
        const double *cores
        const int64_t *ranks
        refine_cut *limits
        float *kept
        int64_t first
        double radius
        int64_t k
        double *distances
        int64_t *indices
        int64_t *counts

    ctypedef struct refine_thread:
        char *memory
        void *scratch
        void *own
        float *bounds
        int64_t stride
        int64_t *order
        double *results
        refine_item *items
        refine_item *narrowed
        double *nearest
        int64_t *nearest_columns
        refine_pair *pairs
        int64_t used
        int64_t failed

    enum:
        REFINE_ROWS
        REFINE_GROUP
        REFINE_KEPT
        REFINE_COUNTS

    void refine_lower(const refine_search *) noexcept nogil
    int refine_rows(const refine_search *, refine_thread *, const int64_t *, int64_t,
                    const d2ke_poll *) noexcept nogil

cdef extern from "neighbor_heap.h":
    void d2ke_offer(double *, int64_t *, int64_t, double, int64_t) noexcept nogil

cdef enum:
    PADDING = 64    # columns that `fill` may write beyond the last


cdef struct Rows:
    refine_search search
    const int64_t *rows
    int64_t n
    refine_thread *threads


cdef class Bounds:
    def __cinit__(self, *_):
        self.slope, self.offset, self.ratio, self.tie = 1, 0, 1, 0


cdef class Limits:
    """Of n objects, the largest bounds of distances that count, and, if there is room, all first
    bounds of these objects."""
    cdef refine_cut *cuts
    cdef float *kept
    cdef int64_t n

    def __cinit__(self, int64_t n, bint keep):
        self.n = n
        self.cuts = <refine_cut *> calloc(n, sizeof(refine_cut))
        if keep:
            self.kept = <float *> malloc(n * line(n) * sizeof(float))
        if self.cuts == NULL or (keep and self.kept == NULL):
            raise MemoryError("limits of the neighbours")

    def __dealloc__(self):
        free(self.cuts)
        free(self.kept)

    def order(self):
        """The objects, those of the largest limits first."""
        limits = np.array([self.cuts[i].limit for i in range(self.n)])
        return np.argsort(-limits, kind="stable")


cdef int64_t line(int64_t m) noexcept:
    """The length of a line of bounds of m columns."""
    return (m + PADDING + 15) / 16 * 16


# Of each row, in the array `counts` of `search`.
COUNTS = REFINE_COUNTS


def search(PairwiseKernel pairs, Bounds bounds, rows, bint skip, single, heaps, double radius,
           int64_t[:, ::1] counts, int n_threads, progress=None,
           const int64_t[::1] groups=None, const double[::1] cores=None,
           const int64_t[::1] ranks=None, Limits limits=None, hidden=None):
    """Search the neighbours of some rows.

    heaps: None, or (distances, indices), of which the rows' heaps are filled. Returns rows, columns
    and distances of the pairs within the radius, none with heaps. All others are of the same
    objects as rows and as columns. groups: neighbours in an object's own group do not count. cores:
    the least distance that each has to any other. ranks: pairs with a column of less than the row's
    rank are left out, the others count for both objects. limits: with heaps, what counts at most;
    found without ranks, and lowered with them. hidden: columns that are no neighbours of any.
    """
    cdef Rows work
    cdef const uint8_t[::1] hide
    cdef const int64_t[::1] row = rows
    cdef double[:, ::1] distances
    cdef int64_t[:, ::1] indices
    cdef int64_t n = row.shape[0], n_tasks, b
    cdef int t
    memset(&work, 0, sizeof(Rows))
    work.search.problem = &pairs.problem
    work.search.kernel = pairs.kernel
    work.search.scratch_bytes = pairs.scratch_bytes
    for b in range(pairs.problem.n_blocks):
        work.search.width = max(work.search.width,
                                pairs.problem.blocks[b + 1] - pairs.problem.blocks[b])
    work.search.single = single
    if pairs.takes == WHOLE_BLOCKS:
        raise TypeError("the kernel computes whole blocks of columns only")
    work.search.consecutive = pairs.takes == SINGLE_COLUMNS
    work.search.fill = bounds.fill
    work.search.begin = bounds.begin
    work.search.tighten = bounds.tighten
    work.search.narrow = bounds.narrow
    work.search.context = bounds.context
    work.search.own_bytes = bounds.own_bytes
    work.search.slope, work.search.offset = bounds.slope, bounds.offset
    work.search.ratio = bounds.ratio
    work.search.tie = 0 if cores is not None else bounds.tie * bounds.slope
    work.search.skip = skip
    if hidden is not None:
        hide = hidden.view(np.uint8)
        work.search.hidden = &hide[0]
    work.search.groups = NULL if groups is None else &groups[0]
    work.search.cores = NULL if cores is None else &cores[0]
    work.search.ranks = NULL if ranks is None else &ranks[0]
    if limits is not None:
        work.search.limits, work.search.first = limits.cuts, ranks is None
        work.search.kept = limits.kept
    work.search.radius = radius
    work.search.counts = &counts[0, 0]
    work.rows, work.n = &row[0], n
    if heaps is not None:
        distances, indices = heaps
        work.search.k = distances.shape[1]
        work.search.distances, work.search.indices = &distances[0, 0], &indices[0, 0]
    n_tasks = (n + REFINE_ROWS - 1) / REFINE_ROWS
    n_threads = max(1, min(n_threads, n_tasks))
    work.threads = <refine_thread *> calloc(n_threads, sizeof(refine_thread))
    if work.threads == NULL:
        raise MemoryError("scratch memory for the threads")
    try:
        for t in range(n_threads):
            prepare(&work.threads[t], &work.search)
        run(task, &work, n_tasks, n_threads, progress, n)
        if heaps is None:
            return collect(work.threads, n_threads)
        if ranks is not None:
            merge(&work, n_threads)
    finally:
        for t in range(n_threads):
            free(work.threads[t].memory)
            free(work.threads[t].pairs)
        free(work.threads)


cdef prepare(refine_thread *thread, const refine_search *s):
    cdef int64_t m = line(s.problem.y.n)
    cdef int64_t most = max(s.width, <int64_t> REFINE_GROUP)
    cdef size_t[6] sizes
    cdef size_t total = 64
    cdef char *place
    cdef int i
    sizes[0] = s.scratch_bytes + 64
    sizes[1] = s.own_bytes
    sizes[2] = REFINE_ROWS * m * sizeof(float)
    sizes[3] = most * (sizeof(int64_t) + sizeof(double))
    sizes[4] = 2 * m * sizeof(refine_item)
    sizes[5] = REFINE_KEPT * sizeof(refine_item) + s.k * (sizeof(double) + sizeof(int64_t))
    for i in range(6):
        sizes[i] = (sizes[i] + 63) / 64 * 64
        total += sizes[i]
    thread.memory = <char *> malloc(total)
    if thread.memory == NULL:
        raise MemoryError(f"{total} bytes of scratch memory for a thread")
    place = <char *> ((<uintptr_t> thread.memory + 63) & ~<uintptr_t> 63)
    thread.scratch = place
    memset(place, 0xFF, 64)
    thread.own = place + sizes[0]
    thread.bounds = <float *> (place + sizes[0] + sizes[1])
    thread.stride = m
    thread.order = <int64_t *> (place + sizes[0] + sizes[1] + sizes[2])
    thread.results = <double *> (thread.order + most)
    thread.items = <refine_item *> (place + sizes[0] + sizes[1] + sizes[2] + sizes[3])
    thread.narrowed = <refine_item *> (<char *> thread.items + sizes[4])
    thread.nearest = <double *> (thread.narrowed + REFINE_KEPT)
    thread.nearest_columns = <int64_t *> (thread.nearest + s.k)


cdef merge(Rows *work, int n_threads):
    """Offer the pairs that rows found for their columns; no limit is above a heap's largest."""
    cdef refine_search *s = &work.search
    cdef const refine_pair *pair
    cdef int64_t i
    cdef int t
    for t in range(n_threads):
        if work.threads[t].failed:
            raise MemoryError("memory for the neighbours of columns")
        for i in range(work.threads[t].used):
            pair = &work.threads[t].pairs[i]
            d2ke_offer(s.distances + pair.row * s.k, s.indices + pair.row * s.k, s.k,
                       pair.distance, pair.column)
    refine_lower(s)


cdef collect(const refine_thread *threads, int n_threads):
    cdef int64_t total = 0, at = 0, i
    cdef int t
    for t in range(n_threads):
        if threads[t].failed:
            raise MemoryError("memory for the pairs within radius")
        total += threads[t].used
    cdef int64_t[::1] rows = np.empty(total, np.int64), columns = np.empty(total, np.int64)
    cdef double[::1] distances = np.empty(total)
    for t in range(n_threads):
        for i in range(threads[t].used):
            rows[at], columns[at] = threads[t].pairs[i].row, threads[t].pairs[i].column
            distances[at] = threads[t].pairs[i].distance
            at += 1
    return np.asarray(rows), np.asarray(columns), np.asarray(distances)


cdef void task(void *context, int64_t number, const d2ke_poll *poll) noexcept nogil:
    cdef Rows *work = <Rows *> context
    cdef int64_t first = number * REFINE_ROWS, count = min(<int64_t> REFINE_ROWS, work.n - first)
    if refine_rows(&work.search, &work.threads[poll.thread], work.rows + first, count, poll):
        advance(poll, count)
    else:
        stop(poll)


def bounds_of(Bounds bounds, int64_t n, int64_t m, limit=np.inf):
    """For tests: the bounds of all pairs, each closer than the one before.

    `limit`: a distance; of larger ones the closest bound is infinite, or as it would be.
    """
    cdef int64_t stride = m + PADDING
    cdef float[:, ::1] first = np.empty((n, stride), np.float32)
    cdef float[:, ::1] tighter = np.empty((n, m), np.float32)
    cdef float[:, ::1] closest = np.empty((n, m), np.float32)
    cdef char[::1] memory = np.empty(bounds.own_bytes + 64, np.int8)
    cdef char *own = <char *> ((<uintptr_t> &memory[0] + 63) & ~<uintptr_t> 63)
    cdef const int64_t[::1] columns = np.arange(m)
    cdef const float[::1] limits = np.full(m, limit * bounds.slope + bounds.offset, np.float32)
    cdef d2ke_poll poll
    cdef int64_t i, j
    memset(&poll, 0, sizeof(poll))
    poll.check = _never
    for i in range(n):
        bounds.fill(bounds.context, &i, 1, &first[i, 0], stride, own, &poll)
        if bounds.begin != NULL:
            bounds.begin(bounds.context, i, own)
        if bounds.tighten != NULL:
            for j in range(m):
                tighter[i, j] = bounds.tighten(bounds.context, i, own, j, INFINITY)
        if bounds.narrow != NULL:
            for j in range(0, m, REFINE_GROUP):
                bounds.narrow(bounds.context, i, own, &columns[j], min(m - j, REFINE_GROUP),
                              &limits[j], &closest[i, j], &poll)
    made = [np.asarray(first)[:, :m]]
    made += [np.asarray(tighter)] if bounds.tighten != NULL else []
    made += [np.asarray(closest)] if bounds.narrow != NULL else []
    return [np.maximum(bound.astype(float) - bounds.offset, 0) / bounds.slope for bound in made]


cdef int _never(void *state, int thread) noexcept nogil:
    return 0
