# SPDX-License-Identifier: BSD-3-Clause
"""The one parallel loop: every row item against every block of column items.

Tasks (a tile of rows x a run of blocks) are taken from a shared counter.  The
calling thread is thread 0 of the team; it alone takes the GIL, every 50 ms, to
let Python handle signals and to report progress, also while it waits for the
others at the end.
"""

import numpy as np

from cython.parallel cimport parallel, threadid
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset
from cpython.exc cimport PyErr_CheckSignals

from d2ke._ext.isa cimport (current, d2ke_fetch_add, d2ke_items, d2ke_load, d2ke_poll,
                            d2ke_store)

cdef extern from "clock.h":
    double d2ke_seconds() noexcept nogil
    void d2ke_nap() noexcept nogil

cdef enum:
    MIRROR_TILE = 64
    THREAD_WORK = 1000000

ctypedef fused Element:
    float
    double


cdef struct Tiling:
    int64_t rows            # rows of a task
    int64_t row_tiles
    int64_t block_runs
    int64_t width           # most columns of a task
    const int64_t *runs     # run k holds blocks runs[k] .. runs[k+1]


class NotADistance(ValueError):
    """A user's function returned what is not finite and >= 0; its arguments: row, column, value."""


cdef class Cross:
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

    def run(self, out, int n_threads, bint symmetric, progress=None, gamma=None,
            double scale=1.0):
        """Fill `out` with scale * d, or with scale * exp(-gamma * d) when gamma is given.

        `symmetric` says that x and y are the same items in the same orders and
        that d(a, b) = d(b, a): then half of the pairs is computed.
        """
        exponential = gamma is not None
        gamma = gamma if exponential else 0.0
        if out.dtype == np.float32:
            _run[float](self, out, n_threads, symmetric, progress, exponential, gamma, scale)
        else:
            _run[double](self, out, n_threads, symmetric, progress, exponential, gamma, scale)


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


def by_length(offsets, bint descending=False):
    """Items in the order of their lengths; equal lengths stay in their order."""
    lengths = np.diff(offsets)
    return np.argsort(-lengths if descending else lengths, kind="stable")


cdef class Loop:
    """What thread 0 needs when it visits Python."""

    def visit(self):
        PyErr_CheckSignals()
        if self.progress is not None:
            self.progress(self.shared.done, self.shared.total)


cdef int check(void *state, int thread) noexcept nogil:
    cdef Shared *shared = <Shared *> state
    cdef double now
    if thread == 0 and not d2ke_load(&shared.stop):
        now = d2ke_seconds()
        if now - shared.last_check >= 0.05:
            with gil:
                loop = <Loop> shared.owner
                try:
                    loop.visit()
                except BaseException as error:
                    loop.error = error
                    d2ke_store(&shared.stop, 1)
            shared.last_check = d2ke_seconds()
    return d2ke_load(&shared.stop) != 0


cdef void work(Cross cross, Shared *shared, const Tiling *tiling, int thread, char *scratch,
               double *buffer, Element *out, int64_t out_stride, bint symmetric,
               bint exponential, double gamma, double scale) noexcept nogil:
    """Take tasks until there are none left."""
    cdef d2ke_poll poll
    cdef int64_t n_tasks = tiling.row_tiles * tiling.block_runs
    cdef int64_t task, row_begin, row_end, run, first, last, b, r, p, width, column0, start, row
    cdef const int64_t *blocks = cross.problem.blocks
    cdef const int64_t *order = cross.problem.order
    cdef const int64_t *rows = &cross.row_order[0]
    cdef double *values
    cdef Element *out_row
    poll.check = check
    poll.state = shared
    poll.thread = thread
    while not check(shared, thread):
        task = d2ke_fetch_add(&shared.next_task, 1)
        if task >= n_tasks:
            break
        row_begin = (task / tiling.block_runs) * tiling.rows
        row_end = min(row_begin + tiling.rows, cross.problem.x.n)
        run = task % tiling.block_runs
        first = tiling.runs[run]
        last = tiling.runs[run + 1]
        if symmetric:
            while first < last and blocks[first + 1] <= row_begin:
                first += 1
            if first == last:
                continue
        column0 = blocks[first]
        width = blocks[last] - column0
        if cross.block_outer:
            for b in range(first, last):
                for r in range(row_begin, row_end):
                    if symmetric and blocks[b + 1] <= r:
                        break
                    cross.kernel(&cross.problem, rows[r], b, scratch,
                                 buffer + (r - row_begin) * width + blocks[b] - column0, &poll)
                if check(shared, thread):
                    return
        else:
            for r in range(row_begin, row_end):
                for b in range(first, last):
                    if symmetric and blocks[b + 1] <= r:
                        continue
                    cross.kernel(&cross.problem, rows[r], b, scratch,
                                 buffer + (r - row_begin) * width + blocks[b] - column0, &poll)
                if check(shared, thread):
                    return
        for r in range(row_begin, row_end):
            row = rows[r]
            start = max(r - column0, 0) if symmetric else 0
            if start >= width:
                continue
            values = buffer + (r - row_begin) * width
            out_row = out + row * out_stride
            if cross.doubtful:
                for p in range(start, width):
                    if not 0 <= values[p] < INFINITY:
                        if d2ke_fetch_add(&shared.bad, 1) == 0:
                            shared.bad_row = row
                            shared.bad_column = order[column0 + p]
                            shared.bad_value = values[p]
                        d2ke_store(&shared.stop, 1)
                        return
            # Fused features are those of the distances as `out` would hold them.
            for p in range(start, width):
                values[p] = <Element> values[p]
            if exponential:
                current().exp_features(values + start, width - start, gamma, scale)
                for p in range(start, width):
                    out_row[order[column0 + p]] = <Element> values[p]
            else:
                for p in range(start, width):
                    out_row[order[column0 + p]] = <Element> (scale * values[p])
            d2ke_fetch_add(&shared.done, width - start)


cdef void mirror(Shared *shared, Element *out, int64_t stride, const int64_t *order,
                 int64_t n) noexcept nogil:
    """Copy the half that was computed (in the visiting order) onto the other half."""
    cdef int64_t begin, end, base, r, c
    while True:
        begin = d2ke_fetch_add(&shared.next_task, MIRROR_TILE)
        if begin >= n:
            return
        end = min(begin + MIRROR_TILE, n)
        base = 0
        while base < end:
            for r in range(begin, end):
                for c in range(base, min(base + MIRROR_TILE, r)):
                    out[order[r] * stride + order[c]] = out[order[c] * stride + order[r]]
            base += MIRROR_TILE


cdef _run(Cross cross, Element[:, ::1] out, int n_threads, bint symmetric, progress,
          bint exponential, double gamma, double scale):
    cdef int64_t n = cross.problem.x.n
    cdef int64_t m = cross.problem.y.n
    cdef int64_t nb = cross.problem.n_blocks
    cdef Tiling tiling
    cdef Loop loop = Loop()
    cdef Shared *shared = &loop.shared
    cdef const int64_t[::1] runs
    cdef size_t stride
    cdef char *memory
    cdef char *aligned
    cdef int t
    cdef double cells
    if not cross.doubtful:
        # A thread is worth starting for about a millisecond of work.
        cells = <double> cross.problem.x.offsets[n] * cross.problem.y.offsets[m]
        cells *= cross.problem.x.dim + cross.cell_work
        n_threads = <int> min(<double> n_threads, 1 + cells / THREAD_WORK)
    blocks = np.asarray(<const int64_t[:nb + 1]> cross.problem.blocks)
    tile_rows, edges = tile_shape(n, blocks, n_threads, cross.block_outer)
    runs = edges
    tiling.rows = tile_rows
    tiling.row_tiles = (n + tiling.rows - 1) / tiling.rows
    tiling.block_runs = runs.shape[0] - 1
    tiling.runs = <const int64_t *> &runs[0]
    tiling.width = np.diff(blocks[edges]).max()
    n_threads = max(1, min(n_threads, tiling.row_tiles * tiling.block_runs))

    memset(shared, 0, sizeof(Shared))
    shared.total = n * (n + 1) / 2 if symmetric else n * m
    shared.owner = <void *> loop
    shared.last_check = d2ke_seconds()
    loop.progress = progress
    stride = (cross.scratch_bytes + tiling.rows * tiling.width * sizeof(double) + 255) / 64 * 64
    memory = <char *> malloc(stride * n_threads + 64)
    if memory == NULL:
        raise MemoryError(f"{stride * n_threads} bytes of scratch memory for {n_threads} threads")
    aligned = <char *> ((<uintptr_t> memory + 63) & ~<uintptr_t> 63)
    for t in range(n_threads):
        memset(aligned + t * stride, 0xFF, 64)
    try:
        with nogil, parallel(num_threads=n_threads):
            team(cross, shared, &tiling, threadid(), aligned, stride, &out[0, 0], m, symmetric,
                 exponential, gamma, scale)
        if loop.error is not None:
            raise loop.error
        if shared.bad:
            raise NotADistance(shared.bad_row, shared.bad_column, shared.bad_value)
    finally:
        free(memory)
    if symmetric:
        shared.next_task = 0
        with nogil, parallel(num_threads=n_threads):
            mirror(shared, &out[0, 0], m, &cross.row_order[0], n)
    if progress is not None:
        progress(shared.total, shared.total)


cdef void team(Cross cross, Shared *shared, const Tiling *tiling, int thread, char *memory,
               size_t stride, Element *out, int64_t out_stride, bint symmetric,
               bint exponential, double gamma, double scale) noexcept nogil:
    cdef char *own = memory + thread * stride
    cdef double *buffer = <double *> (own + stride
                                      - tiling.rows * tiling.width * sizeof(double))
    d2ke_fetch_add(&shared.running, 1)
    work(cross, shared, tiling, thread, own, buffer, out, out_stride, symmetric, exponential,
         gamma, scale)
    d2ke_fetch_add(&shared.running, -1)
    if thread == 0:
        while d2ke_load(&shared.running) > 0:
            check(shared, thread)
            d2ke_nap()


def tile_shape(n, blocks, n_threads, block_outer):
    """Rows of a task and the edges of its runs of blocks.

    A task's results stay in the cache (about 256 kB), and there are enough
    tasks for the threads to end together.  Kernels that prepare a block, and
    not a row, get more rows for each block.
    """
    columns = np.diff(blocks)
    n_blocks = len(columns)
    most, most_rows = (512, 128) if block_outer else (4096, 32)
    widest = int(columns.max())
    per_run = max(1, min(n_blocks, most // max(1, int(columns.mean()))))
    rows = max(1, min(most_rows, 32768 // max(widest, per_run * int(columns.mean() + 1))))
    wanted = 16 * n_threads if n_threads > 1 else 1
    while rows > 4 and -(-n // rows) * -(-n_blocks // per_run) < wanted:
        rows = (rows + 1) // 2
    while per_run > 1 and -(-n // rows) * -(-n_blocks // per_run) < wanted:
        per_run = (per_run + 1) // 2
    while rows > 1 and -(-n // rows) * -(-n_blocks // per_run) < wanted:
        rows = (rows + 1) // 2
    edges = np.append(np.arange(0, n_blocks, per_run), n_blocks)
    return rows, edges.astype(np.int64)
