# SPDX-License-Identifier: BSD-3-Clause
"""Tables of dynamic programs, some rows at a time, and the way back through them.

A state is what the rows before leave: with it, the rows that follow can be computed again. Whoever
calls keeps states at some rows, and keeps for few rows at a time what the way back needs.
"""

import numpy as np

from cython cimport floating
from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int8_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memset

from d2ke._ext.isa cimport (current, d2ke_length, d2ke_poll, d2ke_problem, d2ke_rows,
                            d2ke_stopped, d2ke_trace, d2ke_ways, d2ke_ways_kernel, d2ke_ways_width)
from d2ke._ext.pairwise cimport PairwiseKernel
from d2ke._ext.tasks cimport POLL_WORK, run, worth
from d2ke._ext import elastic

cdef extern from "options.h":
    int64_t dtw_radius(int64_t window, int64_t n, int64_t m) noexcept nogil

cdef enum:
    TILE = 1024     # letters of x for which the differences between two words are kept
    WORD_WORK = 13  # operations for one of them and a word

# Edit operations.
EQUAL, REPLACE, DELETE, INSERT, TRANSPOSE = range(5)


# ---- the rows that a kernel computes of one pair

cdef class TableRows:
    """Rows of the table of the first pair of a compiled distance."""
    cdef PairwiseKernel pairs
    cdef object memory
    cdef const d2ke_problem *problem
    cdef d2ke_trace trace
    cdef char *scratch
    cdef d2ke_rows rows
    cdef readonly int64_t n
    cdef readonly int64_t m
    cdef readonly bint leaves_out

    def __init__(self, PairwiseKernel pairs, int64_t n, int64_t m):
        cdef char[::1] memory
        self.pairs, self.n, self.m, self.leaves_out = pairs, n, m, pairs.leaves_out
        self.problem, self.trace = &pairs.problem, pairs.trace
        self.memory = memory = np.full(pairs.scratch_bytes + 64, 0xFF, np.uint8).view(np.int8)
        self.scratch = <char *> ((<uintptr_t> &memory[0] + 63) & ~<uintptr_t> 63)
        memset(&self.rows, 0, sizeof(d2ke_rows))

    def fill(self, int64_t radius, int64_t first, int64_t last, int64_t columns, state,
             uint8_t[:, ::1] ways=None):
        """Compute rows first .. last, some columns, from a state to a later one.

        Returns the value after all rows, and the first row where it is the least.
        """
        cdef uint8_t[::1] state_bytes = state.reshape(-1).view(np.uint8)
        self.rows.first, self.rows.last, self.rows.columns = first, last, columns
        self.rows.radius, self.rows.state = radius, &state_bytes[0]
        self.rows.ways = NULL if ways is None else &ways[0, 0]
        self.rows.row_bytes = 0 if ways is None else ways.shape[1]
        self.rows.pairs = NULL
        run(rows_task, <void *> self, 1, 1)
        return self.rows.value, self.rows.best

    def costs(self, const int64_t[:, ::1] pairs, const int8_t[::1] steps):
        """The costs of the steps of a path: 0 along the diagonal, 1 to a row, 2 to a column."""
        out = np.empty(len(pairs))
        cdef double[::1] view = out
        self.rows.pairs, self.rows.steps, self.rows.n_steps = &pairs[0, 0], &steps[0], len(pairs)
        self.rows.costs = &view[0]
        run(rows_task, <void *> self, 1, 1)
        return out


cdef void rows_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    (<TableRows> context).trace((<TableRows> context).problem, (<TableRows> context).scratch,
                                &(<TableRows> context).rows, poll)


# ---- strings

cdef struct EditRows:
    const uint32_t *x
    const uint32_t *y
    int64_t n
    int64_t m
    int64_t words
    bint free           # a path may begin at any row
    uint64_t *state     # of each word: where the vertical difference is +1, is -1
    uint64_t *table     # [words][n + 1][2]: the states of all rows, or NULL
    uint64_t *masks     # of each letter, for one word
    uint8_t[TILE] more  # whether a word hands on the horizontal difference +1, or -1
    uint8_t[TILE] less
    int64_t score       # of the last row, all of y
    int64_t best
    int64_t best_row


def edit_rows(const uint32_t[::1] x, const uint32_t[::1] y, uint64_t[::1] masks,
              uint64_t[:, ::1] state, bint free, uint64_t[:, :, ::1] table=None,
              int64_t score=0):
    """Compute the rows of the letters of x, all columns of y, from a state to a later one.

    `masks` is zero for each letter, before and after. `score` is that of all of y before these
    rows. Returns it after the rows, the least score of any of them, and the first row with it.
    """
    cdef EditRows rows
    rows.n, rows.m, rows.words = x.shape[0], y.shape[0], state.shape[0]
    rows.x, rows.y, rows.masks, rows.state = &x[0], &y[0], &masks[0], &state[0, 0]
    rows.table = NULL if table is None else &table[0, 0, 0]
    rows.free = free
    rows.score = rows.best = score
    rows.best_row = 0
    run(edit_task, &rows, 1, 1)
    return rows.score, rows.best, rows.best_row


cdef void edit_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef EditRows *rows = <EditRows *> context
    cdef int64_t begin = 0, end, w, j, t, shift, work = 0
    while begin < rows.n:
        end = min(begin + TILE, rows.n)
        memset(rows.more, not rows.free, TILE)
        memset(rows.less, 0, TILE)
        for w in range(rows.words):
            for j in range(64 * w, min(64 * w + 64, rows.m)):
                rows.masks[rows.y[j]] |= <uint64_t> 1 << (j - 64 * w)
            shift = 63 if w < rows.words - 1 else (rows.m - 1) % 64
            edit_word(rows, w, begin, end, <int> shift)
            for j in range(64 * w, min(64 * w + 64, rows.m)):
                rows.masks[rows.y[j]] = 0
            work += WORD_WORK * (end - begin)
            if work > POLL_WORK:
                work = 0
                if d2ke_stopped(poll):
                    return
        for t in range(end - begin):
            rows.score += rows.more[t] - rows.less[t]
            if rows.score < rows.best:
                rows.best = rows.score
                rows.best_row = begin + t + 1
        begin = end


cdef void edit_word(EditRows *rows, int64_t w, int64_t begin, int64_t end,
                    int shift) noexcept nogil:
    """Letters begin .. end of x against one word of y (Myers 1999; Hyyro 2003)."""
    cdef uint64_t up = rows.state[2 * w], down = rows.state[2 * w + 1]
    cdef uint64_t match, zero, more, less, more_in, less_in
    cdef uint64_t *out = rows.table
    cdef int64_t t
    if out != NULL:
        out += 2 * (w * (rows.n + 1) + begin)
        out[0], out[1] = up, down
    for t in range(end - begin):
        more_in, less_in = rows.more[t], rows.less[t]
        match = rows.masks[rows.x[begin + t]] | less_in
        zero = (((match & up) + up) ^ up) | match | down
        more = down | ~(zero | up)
        less = zero & up
        rows.more[t] = <uint8_t> (more >> shift & 1)
        rows.less[t] = <uint8_t> (less >> shift & 1)
        more = more << 1 | more_in
        less = less << 1 | less_in
        up = less | ~(zero | more)
        down = zero & more
        if out != NULL:
            out += 2
            out[0], out[1] = up, down
    rows.state[2 * w], rows.state[2 * w + 1] = up, down


def edit_path(const uint32_t[::1] x, const uint32_t[::1] y, const uint64_t[:, :, ::1] table,
              int64_t j, int8_t[::1] operations, int64_t at):
    """Go back from the last row and column j, writing operations before place `at`.

    Ends at row 0 of these, or in column 0. Returns row, column and place.
    """
    cdef int64_t i = x.shape[0], w
    cdef uint64_t bit
    cdef int8_t equal = EQUAL, replace = REPLACE, delete = DELETE, insert = INSERT
    with nogil:
        while i > 0 and j > 0:
            at -= 1
            w = (j - 1) / 64
            bit = <uint64_t> 1 << (j - 1) % 64
            if x[i - 1] == y[j - 1]:
                operations[at] = equal
                i -= 1
                j -= 1
            elif table[w, i, 0] & bit:
                operations[at] = insert
                j -= 1
            elif table[w, i - 1, 1] & bit:
                operations[at] = delete
                i -= 1
            else:
                operations[at] = replace
                i -= 1
                j -= 1
    return i, j, at


# ---- strings whose cells have half a byte each: what weighted.h and damerau.h write

cdef extern from *:
    """
    enum { ALIGN_DELETION = 1, ALIGN_INSERTION, ALIGN_CROSS_ROWS, ALIGN_LATER_DELETION,
           ALIGN_LATER_INSERTION = 8 };
    """
    cdef enum:
        ALIGN_DELETION
        ALIGN_INSERTION
        ALIGN_CROSS_ROWS        # with letters of x between, else of y
        ALIGN_LATER_DELETION    # a run of deletions began before
        ALIGN_LATER_INSERTION


cdef inline int half_byte(const uint8_t *row, int64_t j) noexcept nogil:
    return row[j / 2] >> 4 * (j % 2) & 15


def weighted_path(const uint8_t[:, ::1] ways, int64_t first, int64_t i, int64_t j, int gap,
                  bint free, const uint32_t[::1] x, const uint32_t[::1] y, int8_t[::1] codes,
                  int64_t at):
    """Go back from cell (i, j) to row `first` or beyond, or to column 0 if a path begins anywhere.

    Operations are written before place `at`; `gap` is that of deletions or insertions that the
    cell belongs to, or 0. Returns the last cell, its gap and the place.
    """
    cdef int8_t equal = EQUAL, replace = REPLACE, delete = DELETE, insert = INSERT
    cdef int8_t transpose = TRANSPOSE
    cdef int way
    with nogil:
        while i > first and (j > 0 or not free):
            way = half_byte(&ways[i - 1 - first, 0], j)
            if gap == 0:
                gap = way & 3
            at -= 1
            if gap == 0:
                i -= 1
                j -= 1
                codes[at] = equal if x[i] == y[j] else replace
            elif gap == ALIGN_DELETION:
                i -= 1
                codes[at] = delete
                gap = gap if way & ALIGN_LATER_DELETION else 0
            elif gap == ALIGN_CROSS_ROWS:
                i -= 2
                j -= 2
                codes[at] = transpose
                at -= 1
                codes[at] = transpose
                gap = 0
            else:
                j -= 1
                codes[at] = insert
                gap = gap if way & ALIGN_LATER_INSERTION else 0
    return i, j, gap, at


def crossed_path(const uint8_t[:, ::1] ways, int64_t first, int64_t i, int64_t j,
                 const uint32_t[::1] x, const uint32_t[::1] y, int8_t[::1] codes, int64_t at):
    """Go back from cell (i, j) to row `first` or beyond; see `weighted_path`."""
    cdef int8_t equal = EQUAL, replace = REPLACE, delete = DELETE, insert = INSERT
    cdef int8_t transpose = TRANSPOSE
    cdef uint32_t letter
    cdef int way
    with nogil:
        while i > first:
            way = half_byte(&ways[i - 1 - first, 0], j)
            at -= 1
            if way == ALIGN_DELETION:
                i -= 1
                codes[at] = delete
            elif way == ALIGN_INSERTION:
                j -= 1
                codes[at] = insert
            elif way == 0:
                i -= 1
                j -= 1
                codes[at] = equal if x[i] == y[j] else replace
            else:
                codes[at] = transpose
                i -= 2
                j -= 2
                letter = y[j + 1] if way == ALIGN_CROSS_ROWS else x[i + 1]
                while way == ALIGN_CROSS_ROWS and x[i] != letter:
                    i -= 1
                    at -= 1
                    codes[at] = delete
                while way != ALIGN_CROSS_ROWS and y[j] != letter:
                    j -= 1
                    at -= 1
                    codes[at] = insert
                at -= 1
                codes[at] = transpose
    return i, j, at


# ---- series

cdef class GroundRows:
    """Ground distances of all vectors of x from those of y, row by row.

    They are DTW's distances of series of one vector each, computed by its own kernel: the very
    bits that are in its tables.
    """
    cdef PairwiseKernel pairs
    cdef object memory
    cdef char *scratch
    cdef int64_t lanes
    cdef bint single
    cdef readonly int64_t n
    cdef readonly int64_t m
    cdef readonly bint leaves_out  # nothing

    def __init__(self, x, y, bint squared):
        cdef char[::1] memory
        self.n, self.m = len(x), len(y)
        self.single = x.dtype == np.float32
        self.lanes = current().vector_bytes // (4 if self.single else 8)
        self.pairs = elastic.dtw(x, np.arange(self.n + 1), y, np.arange(self.m + 1),
                                 elastic.NO_WINDOW, squared, False)
        self.memory = memory = np.full(self.pairs.scratch_bytes + 64, 0xFF, np.uint8).view(np.int8)
        self.scratch = <char *> ((<uintptr_t> &memory[0] + 63) & ~<uintptr_t> 63)

    cdef int64_t compute(self, int64_t i, int64_t low, int64_t high, double *out,
                         const d2ke_poll *poll) noexcept nogil:
        """Row i from column low to before high; returns where in `out` the first one is."""
        cdef int64_t first = low / self.lanes, b
        for b in range(first, (high - 1) / self.lanes + 1):
            self.pairs.kernel(&self.pairs.problem, i, b, self.scratch,
                              out + (b - first) * self.lanes, poll)
        return low - first * self.lanes

    def fill(self, int64_t radius, int64_t first, int64_t last, int64_t columns, row, ways=None):
        """As `TableRows.fill`."""
        series_rows(self, radius, first, last, columns, row, ways)
        return row[len(row) - 1], 0

    def costs(self, const int64_t[:, ::1] path, steps):
        """Ground distances of pairs of vectors."""
        cdef PathCosts work
        out = np.empty(len(path))
        cdef double[::1] view = out
        work.ground, work.path, work.n, work.out = <void *> self, &path[0, 0], len(path), &view[0]
        run(path_task, &work, 1, 1)
        return out

    def nearest(self):
        """Number of the nearest vector of y for each one of x, and the other way round."""
        cdef Nearest work
        of_x, of_y = np.empty(self.n, np.int64), np.empty(self.m, np.int64)
        cdef int64_t[::1] x_view = of_x, y_view = of_y
        cdef double[::1] row = np.empty(self.m + self.lanes), least = np.full(self.m, np.inf)
        of_y.fill(0)
        work.ground, work.of_x, work.of_y = <void *> self, &x_view[0], &y_view[0]
        work.row, work.least = &row[0], &least[0]
        run(nearest_task, &work, 1, 1)
        return of_x, of_y


cdef struct PathCosts:
    void *ground
    const int64_t *path
    int64_t n
    double *out


cdef void path_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef PathCosts *work = <PathCosts *> context
    cdef int64_t k, j, at
    cdef double[64] row
    for k in range(work.n):
        j = work.path[2 * k + 1]
        at = (<GroundRows> work.ground).compute(work.path[2 * k], j, j + 1, row, poll)
        work.out[k] = row[at]
        if k % 4096 == 0 and d2ke_stopped(poll):
            return


cdef struct Nearest:
    void *ground
    int64_t *of_x
    int64_t *of_y
    double *row
    double *least       # of each column


cdef void nearest_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef Nearest *work = <Nearest *> context
    cdef int64_t n = (<GroundRows> work.ground).n, m = (<GroundRows> work.ground).m, i, j, best
    for i in range(n):
        (<GroundRows> work.ground).compute(i, 0, m, work.row, poll)
        best = 0
        for j in range(m):
            if work.row[j] < work.row[best]:
                best = j
            if work.row[j] < work.least[j]:
                work.least[j] = work.row[j]
                work.of_y[j] = i
        work.of_x[i] = best
        if d2ke_stopped(poll):
            return


cdef struct SeriesRows:
    void *ground
    int64_t radius
    int64_t first
    int64_t last
    int64_t columns
    void *row           # D of the last row; infinite right of its band
    uint8_t *table      # [rows][row_bytes]: two bits for each cell of the band, or NULL
    int64_t row_bytes
    double *costs


def series_radius(int64_t window, int64_t n, int64_t m):
    """Return the largest distance from the diagonal of a path of series of these lengths."""
    return dtw_radius(window, n, m)


def series_rows(GroundRows ground, int64_t radius, int64_t first, int64_t last, int64_t columns,
                floating[::1] row, uint8_t[:, ::1] table=None):
    """Compute rows first .. last of DTW's table, some columns, from the row before (a state)."""
    cdef SeriesRows rows
    cdef double[::1] costs = np.empty(min(columns, 2 * radius + 1) + 2 * ground.lanes)
    rows.ground, rows.radius, rows.first, rows.last = <void *> ground, radius, first, last
    rows.columns, rows.row, rows.costs = columns, &row[0], &costs[0]
    rows.table = NULL if table is None else &table[0, 0]
    rows.row_bytes = 0 if table is None else table.shape[1]
    if floating is float:
        run(series_task_f32, &rows, 1, 1)
    else:
        run(series_task_f64, &rows, 1, 1)


cdef void series_task_f32(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef SeriesRows *rows = <SeriesRows *> context
    series_work(rows, <float *> rows.row, poll)


cdef void series_task_f64(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef SeriesRows *rows = <SeriesRows *> context
    series_work(rows, <double *> rows.row, poll)


cdef void series_work(SeriesRows *rows, floating *row, const d2ke_poll *poll) noexcept nogil:
    cdef int64_t i, low, high, at, work = 0
    cdef uint8_t *directions = NULL
    for i in range(rows.first, rows.last):
        low = max(i - rows.radius, 0)
        high = min(i + rows.radius + 1, rows.columns)
        if low >= high:
            continue
        at = (<GroundRows> rows.ground).compute(i, low, high, rows.costs, poll)
        if rows.table != NULL:
            directions = rows.table + (i - rows.first) * rows.row_bytes
        series_row(row, rows.costs + at, i, low, high, directions)
        work += 8 * (high - low)
        if work > POLL_WORK:
            work = 0
            if d2ke_stopped(poll):
                return


cdef void series_row(floating *row, const double *costs, int64_t i, int64_t low, int64_t high,
                     uint8_t *directions) noexcept nogil:
    """One row; the direction of a cell is 0: from the corner, 1: from the row before, 2: along."""
    cdef floating corner = 0 if i == 0 else INFINITY, left = INFINITY, above, best
    cdef int64_t j
    cdef int direction
    if low > 0:
        corner = row[low - 1]
    if directions != NULL:
        memset(directions, 0, (high - low + 3) / 4)
    for j in range(low, high):
        above = row[j]
        best = above if above < corner else corner
        direction = above < corner
        direction = 2 if left < best else direction
        best = left if left < best else best
        left = <floating> costs[j - low] + best
        corner = above
        row[j] = left
        if directions != NULL:
            directions[(j - low) / 4] |= <uint8_t> (direction << 2 * ((j - low) % 4))


def series_path(const uint8_t[:, ::1] table, int64_t radius, int64_t first, int64_t i, int64_t j,
                int64_t[:, ::1] path, int64_t at, bint leaves_out=False):
    """Go back from cell (i, j) to row `first`, writing cells before place `at`.

    Returns the cell before the last one written, i = -1 after (0, 0), and the place. Where steps
    leave out vectors, -1 is written for the one without a partner, and a path ends at any border.
    """
    with nogil:
        at = way_back(&table[0, 0], table.shape[1], radius, first, &i, &j, &path[0, 0], at,
                      leaves_out)
    return i, j, at


cdef int64_t way_back(const uint8_t *table, int64_t row_bytes, int64_t radius, int64_t first,
                      int64_t *row, int64_t *column, int64_t *path, int64_t at,
                      bint leaves_out) noexcept nogil:
    cdef int64_t low, i = row[0], j = column[0]
    cdef int direction
    while i >= first and (not leaves_out or (j >= 0 and i - j <= radius and j - i <= radius)):
        low = max(i - radius, 0)
        if i == 0 and not leaves_out:
            direction = 2 if j > 0 else 0
        elif j == 0 and not leaves_out:
            direction = 1
        else:
            direction = table[(i - first) * row_bytes + (j - low) / 4] >> 2 * ((j - low) % 4) & 3
        at -= 1
        path[2 * at] = -1 if leaves_out and direction == 2 else i
        path[2 * at + 1] = -1 if leaves_out and direction == 1 else j
        i -= direction != 2
        j -= direction != 1
    row[0], column[0] = i, j
    return at


# ---- averages of series

# What a vector on another one counts: its series' weight, or that over their distance, which is
# of vectors or of each channel.
MEAN, BY_DISTANCE, BY_CHANNEL = range(3)

cdef enum:
    GROUP = 8           # series whose sums follow each other, of one block or several
    SUMS = 64           # sums of some groups each: the rounding does not depend on the threads


cdef struct AlignedSums:
    d2ke_ways_kernel align
    const d2ke_problem *problem
    const double *values
    const int64_t *offsets
    const double *center
    const double *weights
    int64_t n_groups, n_sums, lanes, dim, window, rows, center_length
    bint leaves_out
    int mode
    double least
    int64_t scratch_bytes, cells
    char *scratch       # of each thread, as the tables
    uint16_t *tables
    double *sums        # [n_sums][center_length][2][dim]


def aligned_sums(PairwiseKernel pairs, const double[:, ::1] values, const int64_t[::1] offsets,
                 const double[:, ::1] center, const double[::1] weights, int64_t window, int mode,
                 double least, int n_threads):
    """Align all series, y, with x's first, and add up the vectors on each vector of it.

    `values`, `offsets` and `center` are what is averaged; where the tables are of slopes, these
    belong to the vectors in their middle. Distances count as `least` at least. Returns sums of
    weighted vectors and of their weights, (len(center), 2, dim).
    """
    cdef AlignedSums work
    cdef int64_t n = len(weights), longest = pairs.problem.y.longest - 1, i, radius = 0
    work.align, work.problem, work.leaves_out = pairs.ways, &pairs.problem, pairs.leaves_out
    work.values, work.offsets, work.center = &values[0, 0], &offsets[0], &center[0, 0]
    work.dim, work.lanes = values.shape[1], current().vector_bytes // 8
    work.weights, work.window, work.mode, work.least = &weights[0], window, mode, least
    work.rows, work.center_length = pairs.problem.x.longest - 1, len(center)
    work.n_groups = (n + GROUP - 1) // GROUP
    work.n_sums = min(work.n_groups, SUMS)
    for i in range(n):
        radius = max(radius, dtw_radius(window, work.rows, d2ke_length(&pairs.problem.y, i) - 1))
    work.cells = work.rows * d2ke_ways_width(longest, radius)
    n_threads = worth(n_threads, 2.0 * n * work.cells, work.n_sums)
    work.scratch_bytes = (pairs.scratch_bytes + 127) // 64 * 64
    scratch = np.full(n_threads * work.scratch_bytes + 64, 0xFF, np.uint8)
    tables = np.empty(n_threads * work.cells, np.uint16)
    sums = np.zeros((work.n_sums, work.center_length, 2, work.dim))
    cdef uint8_t[::1] scratch_view = scratch
    cdef uint16_t[::1] tables_view = tables
    cdef double[::1] sums_view = sums.reshape(-1)
    work.scratch = <char *> ((<uintptr_t> &scratch_view[0] + 63) & ~<uintptr_t> 63)
    work.tables, work.sums = &tables_view[0], &sums_view[0]
    run(sums_task, &work, work.n_sums, n_threads)
    return sums.sum(axis=0)


cdef void sums_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef AlignedSums *work = <AlignedSums *> context
    cdef const d2ke_problem *problem = work.problem
    cdef double *sums = work.sums + 2 * task * work.center_length * work.dim
    cdef char *scratch = work.scratch + poll.thread * work.scratch_bytes
    cdef double[GROUP] distances
    cdef int64_t block, k, blocks = GROUP / work.lanes
    cdef d2ke_ways ways
    ways.table = work.tables + poll.thread * work.cells
    for block in range(task * work.n_groups / work.n_sums * blocks,
                       min((task + 1) * work.n_groups / work.n_sums * blocks, problem.n_blocks)):
        work.align(problem, 0, block, scratch, distances, &ways, poll)
        if d2ke_stopped(poll):
            return
        for k in range(problem.blocks[block], problem.blocks[block + 1]):
            add_aligned(work, &ways, problem.order[k], k - problem.blocks[block], sums)


cdef void add_aligned(const AlignedSums *work, const d2ke_ways *ways, int64_t item, int64_t lane,
                      double *sums) noexcept nogil:
    """Add the vectors of one series to those on which they lie, the last ones first."""
    cdef int64_t m = d2ke_length(&work.problem.y, item) - 1, i = work.rows - 1, j = m - 1, k
    cdef int64_t dim = work.dim, radius = dtw_radius(work.window, work.rows, m)
    cdef const double *x = work.center + (work.center_length - work.rows + 1) / 2 * dim
    cdef const double *y = work.values + dim * (
        work.offsets[item] + (work.offsets[item + 1] - work.offsets[item] - m + 1) / 2)
    cdef double *sum
    cdef double weight, square
    cdef bint corner, along
    sums += 2 * (x - work.center)
    while i >= 0 and j >= 0:
        if work.leaves_out and not -radius <= i - j <= radius:
            break
        corner = ways.table[i * ways.stride + j + ways.shift] >> lane & 1
        along = ways.table[i * ways.stride + j + ways.shift] >> (8 + lane) & 1
        if not work.leaves_out and (i == 0 or j == 0):
            corner, along = i == j, i == 0
        if corner or not work.leaves_out:
            sum, square = sums + 2 * i * dim, 0
            if work.mode == 1:
                for k in range(dim):
                    square += (x[i * dim + k] - y[j * dim + k]) ** 2
            for k in range(dim):
                weight = work.weights[item]
                if work.mode == 2:
                    square = (x[i * dim + k] - y[j * dim + k]) ** 2
                if work.mode != 0:
                    weight /= max(sqrt(square), work.least)
                sum[k] += weight * y[j * dim + k]
                sum[dim + k] += weight
        i -= corner or not along
        j -= corner or along
