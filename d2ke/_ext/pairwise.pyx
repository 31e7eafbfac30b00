# SPDX-License-Identifier: BSD-3-Clause
"""Distances of all pairs: every row item against every block of column items.

A task is a tile of rows x a run of blocks.  Its distances become features where
they are wanted, by the same exponential as those of a whole matrix of distances.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from cpython.bytes cimport PyBytes_FromStringAndSize

from d2ke._ext.isa cimport (current, d2ke_fetch_add, d2ke_items, d2ke_kernel, d2ke_poll,
                            d2ke_problem, d2ke_stopped)
from d2ke._ext.tasks cimport advance, run, stop, worth

cdef extern from "shares.h":
    ctypedef struct share_options:
        d2ke_kernel kernel
        const void *options
        int64_t both
    const d2ke_kernel share_kernel

cdef enum:
    MIRROR_TILE = 64
    CHUNK = 2048            # values of a task of exp_features
    EXP_WORK = 20           # one of them, in operations of which ten take a nanosecond

ctypedef fused Element:
    float
    double


cdef struct Tiles:
    const d2ke_problem *problem
    d2ke_kernel kernel
    const int64_t *row_order
    bint block_outer
    bint user_defined
    bint symmetric
    bint exponential
    double gamma
    double scale
    int64_t rows            # of a task
    int64_t run_blocks      # of a task: run k begins with block k * run_blocks
    int64_t block_runs
    int64_t width           # most columns of a task
    char *memory            # each thread's scratch and buffer
    size_t stride
    void *out
    bint single             # `out` holds float32
    int64_t bad             # results that were not distances
    int64_t bad_row         # the first of them
    int64_t bad_column
    double bad_value


class NotADistance(ValueError):
    """A user's function returned what is not finite and >= 0; its arguments: row, column, value."""


cdef class PairwiseKernel:
    """A distance prepared for x against y; built by the modules of the families."""

    cdef set_items(self, const void *x_values, const int64_t[::1] x_offsets,
                   const void *y_values, const int64_t[::1] y_offsets, int64_t dim, keep):
        """Point at the packed items; `keep` holds whatever must stay alive with them."""
        self.keep = [x_offsets, y_offsets, keep]
        describe(&self.problem.x, x_values, x_offsets, dim)
        describe(&self.problem.y, y_values, y_offsets, dim)

    cdef set_order(self, const int64_t[::1] rows, const int64_t[::1] columns,
                   const int64_t[::1] blocks):
        """Order of the rows and of the columns, and where the blocks of columns begin and end."""
        self.keep += [columns, blocks]
        self.row_order = rows
        self.problem.order = &columns[0]
        self.problem.blocks = &blocks[0]
        self.problem.n_blocks = blocks.shape[0] - 1

    cdef set_options(self, const void *options, size_t size):
        """Keep a copy of the family's options, which the kernel alone understands."""
        cdef bytes copy = PyBytes_FromStringAndSize(<const char *> options, size)
        self.keep.append(copy)
        self.problem.options = <const char *> copy

    cdef PairwiseKernel with_rows(self, const void *x_values, const int64_t[::1] x_offsets, keep):
        """Return the distance of other rows to the same columns, which are not prepared again."""
        cdef PairwiseKernel pairs = PairwiseKernel()
        pairs.problem = self.problem
        describe(&pairs.problem.x, x_values, x_offsets, self.problem.x.dim)
        pairs.kernel = self.kernel
        pairs.scratch = self.scratch
        pairs.scratch_bytes = self.scratch(&pairs.problem)
        pairs.block_outer = self.block_outer
        pairs.cell_work = self.cell_work
        pairs.takes = self.takes
        pairs.row_order = by_length(x_offsets, True)
        pairs.keep = [self.keep, x_offsets, keep]
        return pairs

    def run(self, out, int n_threads, bint symmetric, progress=None, gamma=None,
            double scale=1.0):
        """Fill `out` with scale * d, or with scale * exp(-gamma * d) when gamma is given.

        `symmetric` says that x and y are the same items in the same orders and
        that d(a, b) = d(b, a): then half of the pairs is computed.
        """
        cdef int64_t n = self.problem.x.n, m = self.problem.y.n, n_tasks, total
        cdef Tiles tiles
        cdef double cells
        memset(&tiles, 0, sizeof(Tiles))
        tiles.problem = &self.problem
        tiles.kernel = self.kernel
        tiles.row_order = &self.row_order[0]
        tiles.block_outer = self.block_outer
        tiles.user_defined = self.user_defined
        tiles.symmetric = symmetric
        tiles.exponential = gamma is not None
        tiles.gamma = gamma if tiles.exponential else 0.0
        tiles.scale = scale
        tiles.single = out.dtype == np.float32
        tiles.out = address[float](out) if tiles.single else address[double](out)
        if not self.user_defined:
            cells = <double> self.problem.x.offsets[n] * self.problem.y.offsets[m]
            n_threads = worth(n_threads, cells * (self.problem.x.dim + self.cell_work), n_threads)
        shape_tiles(&tiles, n_threads)
        n_tasks = (n + tiles.rows - 1) / tiles.rows * tiles.block_runs
        n_threads = max(1, min(n_threads, n_tasks))
        total = n * (n + 1) / 2 if symmetric else n * m
        compute(&tiles, self.scratch_bytes, n_tasks, n_threads, progress, total)
        if symmetric:
            run(mirror_task, &tiles, (n + MIRROR_TILE - 1) / MIRROR_TILE, n_threads)
        if progress is not None:
            progress(total, total)


cdef compute(Tiles *tiles, size_t scratch_bytes, int64_t n_tasks, int n_threads, progress,
             int64_t total):
    """Run the tiles with scratch memory for each thread."""
    cdef size_t stride = (scratch_bytes + tiles.rows * tiles.width * sizeof(double)
                          + 255) / 64 * 64
    cdef int t
    cdef char *memory = <char *> malloc(stride * n_threads + 64)
    if memory == NULL:
        raise MemoryError(f"{stride * n_threads} bytes of scratch memory for {n_threads} threads")
    tiles.stride = stride
    tiles.memory = <char *> ((<uintptr_t> memory + 63) & ~<uintptr_t> 63)
    for t in range(n_threads):
        memset(tiles.memory + t * stride, 0xFF, 64)
    try:
        run(tile_task, tiles, n_tasks, n_threads, progress, total)
    finally:
        free(memory)
    if tiles.bad:
        raise NotADistance(tiles.bad_row, tiles.bad_column, tiles.bad_value)


cdef void *address(Element[:, ::1] out):
    return &out[0, 0]


cdef void describe(d2ke_items *items, const void *values, const int64_t[::1] offsets,
                   int64_t dim) noexcept:
    cdef int64_t i
    items.values = values
    items.offsets = &offsets[0]
    items.n = offsets.shape[0] - 1
    items.dim = dim
    items.longest = 0
    for i in range(items.n):
        items.longest = max(items.longest, offsets[i + 1] - offsets[i])


def divide_by_lengths(PairwiseKernel pairs, bint both):
    """Divide the distances of a prepared kernel by the longer length, or by the sum of both."""
    cdef share_options options
    options.kernel = pairs.kernel
    options.options = pairs.problem.options
    options.both = both
    pairs.set_options(&options, sizeof(options))
    pairs.kernel = share_kernel
    return pairs


def by_length(offsets, bint descending=False):
    """Items in the order of their lengths; equal lengths stay in their order."""
    lengths = np.diff(offsets)
    return (-lengths if descending else lengths).argsort(kind="stable")


# ---- a tile

cdef void tile_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    """Compute the pairs of one tile, and write them into `out` row by row."""
    cdef Tiles *tiles = <Tiles *> context
    cdef const int64_t *blocks = tiles.problem.blocks
    cdef int64_t run_of_blocks = task % tiles.block_runs
    cdef int64_t begin = task / tiles.block_runs * tiles.rows
    cdef int64_t end = min(begin + tiles.rows, tiles.problem.x.n)
    cdef int64_t first = run_of_blocks * tiles.run_blocks
    cdef int64_t last = min(first + tiles.run_blocks, tiles.problem.n_blocks)
    cdef int64_t width, r, start, done = 0
    cdef bint in_order
    cdef double *values
    cdef char *scratch = tiles.memory + poll.thread * tiles.stride
    cdef double *buffer = <double *> (scratch + tiles.stride
                                      - tiles.rows * tiles.width * sizeof(double))
    if tiles.symmetric:
        while first < last and blocks[first + 1] <= begin:
            first += 1
        if first == last:
            return
    width = blocks[last] - blocks[first]
    if not distances(tiles, begin, end, first, last, scratch, buffer, poll):
        return
    in_order = consecutive(tiles.problem.order + blocks[first], width)
    for r in range(begin, end):
        start = max(r - blocks[first], 0) if tiles.symmetric else 0
        if start >= width:
            continue
        values = buffer + (r - begin) * width
        if tiles.user_defined and not valid(tiles, r, blocks[first], start, width, values):
            stop(poll)
            return
        if tiles.single:
            store(tiles, <float *> tiles.out, r, blocks[first], start, width, values, in_order)
        else:
            store(tiles, <double *> tiles.out, r, blocks[first], start, width, values, in_order)
        done += width - start
    advance(poll, done)


cdef bint distances(const Tiles *tiles, int64_t begin, int64_t end, int64_t first, int64_t last,
                    void *scratch, double *buffer, const d2ke_poll *poll) noexcept nogil:
    """Rows begin..end against blocks first..last into the buffer, row by row; False: stopped."""
    cdef const d2ke_problem *problem = tiles.problem
    cdef const int64_t *blocks = problem.blocks
    cdef const int64_t *rows = tiles.row_order
    cdef d2ke_kernel kernel = tiles.kernel
    cdef bint symmetric = tiles.symmetric
    cdef int64_t b, r, width = blocks[last] - blocks[first]
    buffer -= blocks[first]
    if tiles.block_outer:
        for b in range(first, last):
            for r in range(begin, end):
                if symmetric and blocks[b + 1] <= r:
                    break
                kernel(problem, rows[r], b, scratch, buffer + (r - begin) * width + blocks[b],
                       poll)
            if d2ke_stopped(poll):
                return False
        return True
    for r in range(begin, end):
        for b in range(first, last):
            if symmetric and blocks[b + 1] <= r:
                continue
            kernel(problem, rows[r], b, scratch, buffer + (r - begin) * width + blocks[b], poll)
        if d2ke_stopped(poll):
            return False
    return True


cdef bint valid(Tiles *tiles, int64_t r, int64_t column, int64_t start, int64_t width,
                const double *values) noexcept nogil:
    """Return whether a user's results are distances; note the first that is not."""
    cdef int64_t p
    for p in range(start, width):
        if not 0 <= values[p] < INFINITY:
            if d2ke_fetch_add(&tiles.bad, 1) == 0:
                tiles.bad_row = tiles.row_order[r]
                tiles.bad_column = tiles.problem.order[column + p]
                tiles.bad_value = values[p]
            return False
    return True


cdef bint consecutive(const int64_t *order, int64_t n) noexcept nogil:
    """Return whether the columns are consecutive."""
    cdef int64_t p
    for p in range(1, n):
        if order[p] != order[0] + p:
            return False
    return True


cdef void store(const Tiles *tiles, Element *out, int64_t r, int64_t column, int64_t start,
                int64_t width, double *values, bint in_order) noexcept nogil:
    """Write the visited row r from `start` on, where its columns belong."""
    cdef const int64_t *order = tiles.problem.order + column
    cdef double scale = tiles.scale
    cdef int64_t p
    out += tiles.row_order[r] * tiles.problem.y.n
    if not tiles.exponential and in_order and scale == 1:
        out += order[0]
        for p in range(start, width):
            out[p] = <Element> values[p]
        return
    if not tiles.exponential:
        for p in range(start, width):
            out[order[p]] = <Element> (scale * <Element> values[p])
        return
    # Fused features are those of the distances as `out` would hold them.
    for p in range(start, width):
        values[p] = <Element> values[p]
    current().exp_features(values + start, width - start, tiles.gamma, scale)
    for p in range(start, width):
        out[order[p]] = <Element> values[p]


cdef void mirror_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef const Tiles *tiles = <const Tiles *> context
    if tiles.single:
        mirror(<float *> tiles.out, tiles.row_order, tiles.problem.x.n, task * MIRROR_TILE)
    else:
        mirror(<double *> tiles.out, tiles.row_order, tiles.problem.x.n, task * MIRROR_TILE)


cdef void mirror(Element *out, const int64_t *order, int64_t n, int64_t begin) noexcept nogil:
    """Copy the half that was computed (in the visiting order) onto some rows of the other half."""
    cdef int64_t end = min(begin + MIRROR_TILE, n), base = 0, r, c
    while base < end:
        for r in range(begin, end):
            for c in range(base, min(base + MIRROR_TILE, r)):
                out[order[r] * n + order[c]] = out[order[c] * n + order[r]]
        base += MIRROR_TILE


cdef void shape_tiles(Tiles *tiles, int n_threads) noexcept:
    """Choose the rows of a task and the blocks of its run.

    A task's results stay in the cache (about 256 kB), and there are enough
    tasks for the threads to end together.  Kernels that prepare a block, and
    not a row, get more rows for each block.
    """
    cdef const int64_t *blocks = tiles.problem.blocks
    cdef int64_t n = tiles.problem.x.n, n_blocks = tiles.problem.n_blocks, b, widest = 0
    cdef int64_t most = 512 if tiles.block_outer else 4096
    cdef int64_t rows = 128 if tiles.block_outer else 32
    cdef int64_t mean = blocks[n_blocks] // n_blocks
    cdef int64_t run_blocks = max(<int64_t> 1, min(n_blocks, most // max(<int64_t> 1, mean)))
    cdef int64_t wanted = 16 * n_threads if n_threads > 1 else 1
    for b in range(n_blocks):
        widest = max(widest, blocks[b + 1] - blocks[b])
    rows = max(<int64_t> 1, min(rows, 32768 // max(widest, run_blocks * (mean + 1))))
    while rows > 4 and tasks_of(n, rows, n_blocks, run_blocks) < wanted:
        rows = (rows + 1) // 2
    while run_blocks > 1 and tasks_of(n, rows, n_blocks, run_blocks) < wanted:
        run_blocks = (run_blocks + 1) // 2
    while rows > 1 and tasks_of(n, rows, n_blocks, run_blocks) < wanted:
        rows = (rows + 1) // 2
    tiles.rows, tiles.run_blocks = rows, run_blocks
    tiles.block_runs = (n_blocks + run_blocks - 1) // run_blocks
    for b in range(0, n_blocks, run_blocks):
        tiles.width = max(tiles.width, blocks[min(b + run_blocks, n_blocks)] - blocks[b])


cdef int64_t tasks_of(int64_t n, int64_t rows, int64_t n_blocks, int64_t run_blocks) noexcept:
    return (n + rows - 1) // rows * ((n_blocks + run_blocks - 1) // run_blocks)


# ---- features of distances that are there already

cdef struct Features:
    const char *source
    char *target
    int64_t source_stride   # bytes from row to row
    int64_t target_stride
    int64_t columns
    int64_t per_row         # tasks
    bint single
    double gamma
    double scale


cdef void feature_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef const Features *f = <const Features *> context
    cdef int64_t row = task / f.per_row, begin = task % f.per_row * CHUNK
    cdef int64_t n = min(<int64_t> CHUNK, f.columns - begin)
    cdef const char *source = f.source + row * f.source_stride
    cdef char *target = f.target + row * f.target_stride
    if f.single:
        exponentials(<const float *> source + begin, <float *> target + begin, n, f)
    else:
        exponentials(<const double *> source + begin, <double *> target + begin, n, f)


cdef void exponentials(const Element *source, Element *target, int64_t n,
                       const Features *f) noexcept nogil:
    cdef double[CHUNK] buffer
    cdef int64_t i
    for i in range(n):
        buffer[i] = source[i]
    current().exp_features(buffer, n, f.gamma, f.scale)
    for i in range(n):
        target[i] = <Element> buffer[i]


def exp_features(const Element[:, :] source, Element[:, :] target, double gamma, double scale,
                 int n_threads):
    """target = scale * exp(-gamma * source), whose rows are contiguous; they may be the same."""
    cdef Features f
    cdef int64_t n_tasks
    f.columns = source.shape[1]
    f.per_row = (f.columns + CHUNK - 1) // CHUNK
    n_tasks = source.shape[0] * f.per_row
    if n_tasks == 0:
        return
    f.source = <const char *> &source[0, 0]
    f.target = <char *> &target[0, 0]
    f.source_stride = source.strides[0]
    f.target_stride = target.strides[0]
    f.single = Element is float
    f.gamma = gamma
    f.scale = scale
    n_threads = worth(n_threads, <double> EXP_WORK * source.shape[0] * f.columns, n_tasks)
    run(feature_task, &f, n_tasks, n_threads)
