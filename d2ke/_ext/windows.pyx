# SPDX-License-Identifier: BSD-3-Clause
"""Distances of short windows to every place of long series; see windows.h."""

import numpy as np

from libc.math cimport fabsf
from libc.stdint cimport int64_t, uint8_t, uintptr_t

from d2ke._ext.isa cimport current, d2ke_poll, d2ke_windows, window_chunk
from d2ke._ext.pairwise cimport WHOLE_BLOCKS, PairwiseKernel
from d2ke._ext.pairwise import by_length
from d2ke._ext.tasks cimport run, worth

cdef extern from "windowing.h":
    ctypedef struct chunk_parts "window_chunk":
        const float *packed
        const int64_t *channels
        int64_t n_channels
        int64_t length
        int64_t dilation
        int64_t first
        int64_t count
        int64_t large

    ctypedef struct window_parts "d2ke_windows":
        const float *values
        const int64_t *offsets
        const uint8_t *large
        const float *limits
        int64_t n
        int64_t total
        int64_t dim
        int64_t longest
        int64_t longest_window
        int64_t longest_packed
        int64_t n_windows
        const float *places
        const float *thresholds
        double radius
        int64_t runs
        int64_t normalize

    ctypedef struct window_scratch:
        pass

    ctypedef struct window_options:
        const uint8_t *x_large
        const uint8_t *y_large
        const float *x_limits
        const float *y_limits
        const int64_t *channels
        int64_t dilation
        int64_t normalize
        double unit

    enum:
        WINDOW_CHUNK

    size_t window_lay(const d2ke_windows *, void *, window_scratch *) noexcept nogil

cdef enum:
    TASK_CHUNKS = 32        # of a task, with one series

cdef float LARGE = 2.0 ** 40  # squares of larger values are summed up in a smaller unit


cdef struct Rows:
    const window_parts *windows
    const chunk_parts *chunks
    int64_t n_chunks
    int64_t runs            # of chunks
    char *memory            # each thread's
    size_t stride
    float *out


cdef class Windows:
    """Series and windows in the form of the kernel.

    values: (dim, total), the series one after another; offsets: theirs; limits: (dim, n), the
    deviations up to which windows of them are constant. Group g has the windows
    first[g] .. first[g + 1] - 1, each lengths[g] values, dilations[g] apart, of the channels
    channels[channel_offsets[g]:channel_offsets[g + 1]]. `windows` has their values, window after
    window, in a window channel after channel. No series is empty.
    """
    cdef window_parts parts
    cdef chunk_parts *chunks
    cdef int64_t n_series
    cdef int64_t n_chunks
    cdef size_t bytes
    cdef object keep        # of the windows
    cdef object series

    def __init__(self, const float[:, ::1] values, const int64_t[::1] offsets,
                 const float[:, ::1] limits, const float[::1] windows, const int64_t[::1] first,
                 const int64_t[::1] lengths, const int64_t[::1] dilations,
                 const int64_t[::1] channel_offsets, const int64_t[::1] channels,
                 bint normalize):
        cdef int64_t n_groups = lengths.shape[0], g, w, size, at = 0, packed_at = 0
        cdef chunk_parts *chunk
        counts = -(-np.diff(first) // WINDOW_CHUNK)
        sizes = np.diff(channel_offsets) * np.asarray(lengths) * WINDOW_CHUNK
        values_of = np.diff(first) * (sizes // WINDOW_CHUNK)
        starts = np.cumsum(values_of) - values_of
        # Groups with windows of one length and dilation follow each other, and share a pass.
        order = np.lexsort((np.asarray(channels)[channel_offsets[:n_groups]], dilations, lengths))
        records = np.zeros((counts.sum() + 1, sizeof(chunk_parts) // 8), np.int64)
        cdef float[::1] packed = np.zeros((counts * sizes).sum() + WINDOW_CHUNK, np.float32)
        cdef int64_t[:, ::1] memory = records
        self.keep = [windows, channels, packed, records]
        self.chunks = chunk = <chunk_parts *> &memory[0, 0]
        self.n_chunks = counts.sum()
        for g in order:
            at = starts[g]
            size = (channel_offsets[g + 1] - channel_offsets[g]) * lengths[g]
            w = first[g]
            while w < first[g + 1]:
                chunk.packed = &packed[packed_at]
                chunk.channels = &channels[channel_offsets[g]]
                chunk.n_channels = channel_offsets[g + 1] - channel_offsets[g]
                chunk.length, chunk.dilation = lengths[g], dilations[g]
                chunk.first = w
                chunk.count = min(<int64_t> WINDOW_CHUNK, first[g + 1] - w)
                interleave(&windows[at], size, chunk.count, &packed[packed_at], &chunk.large)
                at += size * chunk.count
                packed_at += size * WINDOW_CHUNK
                w += chunk.count
                chunk += 1
        self.parts.longest_window = np.max(lengths)
        self.parts.longest_packed = sizes.max()
        self.parts.n_windows = first[n_groups]
        self.parts.normalize = normalize
        self.take(values, offsets, limits)

    cdef take(self, const float[:, ::1] values, const int64_t[::1] offsets,
              const float[:, ::1] limits):
        """Point at series."""
        cdef int64_t n = offsets.shape[0] - 1, i
        cdef uint8_t[::1] large = np.zeros(n + 1, np.uint8)
        cdef window_scratch scratch
        mark_large(values, offsets, large)
        self.series = [values, offsets, limits, large]
        self.n_series = n
        self.parts.values, self.parts.offsets = &values[0, 0], &offsets[0]
        self.parts.large = &large[0]
        self.parts.limits, self.parts.n = &limits[0, 0], n
        self.parts.total, self.parts.dim = values.shape[1], values.shape[0]
        self.parts.longest = 0
        for i in range(n):
            self.parts.longest = max(self.parts.longest, offsets[i + 1] - offsets[i])
        self.bytes = window_lay(<const d2ke_windows *> &self.parts, NULL, &scratch)

    def of_series(self, const float[:, ::1] values, const int64_t[::1] offsets,
                  const float[:, ::1] limits):
        """Return the same windows with other series of as many channels."""
        cdef Windows other = Windows.__new__(Windows)
        other.parts, other.chunks, other.n_chunks = self.parts, self.chunks, self.n_chunks
        other.keep = self.keep
        other.take(values, offsets, limits)
        return other

    def rows(self, const float[::1] places, const float[::1] thresholds, double radius,
             bint runs, int n_threads):
        """Sum up every window's profile in every series; see `window_distances`."""
        cdef Rows rows
        cdef int64_t n_windows = self.parts.n_windows
        cdef int64_t n_tasks
        result = np.empty((self.n_series, (3 + runs) * n_windows), np.float32)
        cdef float[:, ::1] out = result
        self.parts.places, self.parts.thresholds = &places[0], &thresholds[0]
        self.parts.radius, self.parts.runs = radius, runs
        rows.windows, rows.chunks, rows.n_chunks = &self.parts, self.chunks, self.n_chunks
        rows.runs = (self.n_chunks + TASK_CHUNKS - 1) // TASK_CHUNKS
        n_tasks = self.n_series * rows.runs
        n_threads = worth(n_threads, 0.1 * self.parts.total * self.parts.longest_packed
                          * self.n_chunks, n_tasks)
        rows.stride = (self.bytes + 63) // 64 * 64
        cdef char[::1] memory = np.empty(n_threads * rows.stride + 64, np.int8)
        rows.memory = <char *> ((<uintptr_t> &memory[0] + 63) & ~<uintptr_t> 63)
        rows.out = &out[0, 0]
        run(rows_task, &rows, n_tasks, n_threads)
        return result

    def sample(self, const int64_t[::1] series, float[:, ::1] places):
        """D of every window w at random places of series[w]; `places`, below 1, become it."""
        cdef int64_t c, k, i, w, n, span
        cdef const d2ke_windows *parts = <const d2ke_windows *> &self.parts
        cdef chunk_parts one
        cdef double[::1] profile = np.empty(self.parts.longest)
        cdef char[::1] memory = np.empty(self.bytes + 64, np.int8)
        cdef char *scratch = <char *> ((<uintptr_t> &memory[0] + 63) & ~<uintptr_t> 63)
        with nogil:
            for c in range(self.n_chunks):
                for k in range(self.chunks[c].count):
                    one = self.chunks[c]
                    one.packed, one.count = one.packed + k, 1
                    w, span = one.first + k, (one.length - 1) * one.dilation
                    n = max(<int64_t> 1, self.parts.offsets[series[w] + 1]
                            - self.parts.offsets[series[w]] - span)
                    current().window_profile(parts, series[w], <const window_chunk *> &one, 0, n,
                                             scratch, &profile[0])
                    for i in range(places.shape[1]):
                        places[w, i] = <float> profile[<int64_t> (places[w, i] * <double> n)]
        return np.asarray(places)

    def profile(self, int64_t series, int64_t begin, int64_t end):
        """D of every window at places begin .. end - 1 of a series, (n_windows, end - begin)."""
        cdef int64_t c
        cdef const d2ke_windows *parts = <const d2ke_windows *> &self.parts
        result = np.empty((self.parts.n_windows, end - begin))
        cdef double[:, ::1] out = result
        cdef char[::1] memory = np.empty(self.bytes + 64, np.int8)
        cdef char *scratch = <char *> ((<uintptr_t> &memory[0] + 63) & ~<uintptr_t> 63)
        with nogil:
            for c in range(self.n_chunks):
                current().window_profile(parts, series, <const window_chunk *> &self.chunks[c],
                                         begin, end, scratch, &out[self.chunks[c].first, 0])
        return result


cdef void interleave(const float *windows, int64_t size, int64_t count, float *packed,
                     int64_t *large) noexcept nogil:
    cdef int64_t k, i
    for k in range(count):
        for i in range(size):
            packed[i * WINDOW_CHUNK + k] = windows[k * size + i]
            large[0] |= fabsf(windows[k * size + i]) > LARGE


cdef void mark_large(const float[:, ::1] values, const int64_t[::1] offsets,
                     uint8_t[::1] large) noexcept nogil:
    cdef int64_t c, i, t
    cdef float most
    for c in range(values.shape[0]):
        for i in range(offsets.shape[0] - 1):
            most = 0
            for t in range(offsets[i], offsets[i + 1]):
                most = max(most, fabsf(values[c, t]))
            large[i] |= most > LARGE


cdef void rows_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef const Rows *rows = <const Rows *> context
    cdef int64_t series = task // rows.runs, first = task % rows.runs * TASK_CHUNKS
    current().window_row(<const d2ke_windows *> rows.windows, series,
                         <const window_chunk *> &rows.chunks[first],
                         min(<int64_t> TASK_CHUNKS, rows.n_chunks - first),
                         rows.memory + poll.thread * rows.stride,
                         rows.out + series * (3 + rows.windows.runs) * rows.windows.n_windows, poll)


def window_distances(const float[:, ::1] values, const int64_t[::1] offsets,
                     const float[:, ::1] limits, const float[::1] windows, const int64_t[::1] first,
                     const int64_t[::1] lengths, const int64_t[::1] dilations,
                     const int64_t[::1] channel_offsets, const int64_t[::1] channels,
                     const float[::1] places, double radius, const float[::1] thresholds,
                     bint normalize, int n_threads, bint runs=False):
    """Three numbers of every window w in every series, (n, 3 * n_windows); four with `runs`.

    Of the profile D of a window, see `Windows` for the arguments: sqrt(min D); sqrt of the least
    D over places p with |p - places[w] * (T - span)| <= radius * T and the one nearest to
    places[w] * (T - span); the share of places where D exceeds thresholds[w]; 1 less the root of
    the share of places that the longest run of places has where D does not. T is the length of the
    series, span that of the window with its dilation. Where T < span there is one place: the window
    is stretched over the series. With `normalize` the windows of the series are taken with mean 0
    and deviation 1, or as zeros where their deviation is at most that of `limits`.
    """
    prepared = Windows(values, offsets, limits, windows, first, lengths, dilations, channel_offsets,
                       channels, normalize)
    return prepared.rows(places, thresholds, radius, runs, n_threads)


def pairs(const float[:, ::1] x, const float[:, ::1] x_limits, const int64_t[::1] x_offsets,
          const float[:, ::1] y, const float[:, ::1] y_limits, const int64_t[::1] y_offsets,
          int64_t dilation, bint normalize, double unit):
    """Prepare the least distance of each of y's items, as a window, to a place of one of x's.

    x and y are (dim, total), channel by channel, and limits those of `Windows`. Distances are
    multiplied with `unit`.
    """
    cdef PairwiseKernel kernel = PairwiseKernel()
    cdef window_options options
    cdef int64_t n = y_offsets.shape[0] - 1
    cdef uint8_t[::1] x_large = np.zeros(x_offsets.shape[0], np.uint8)
    cdef uint8_t[::1] y_large = np.zeros(n + 1, np.uint8)
    cdef int64_t[::1] channels = np.arange(x.shape[0])
    mark_large(x, x_offsets, x_large)
    mark_large(y, y_offsets, y_large)
    kernel.set_items(&x[0, 0], x_offsets, &y[0, 0], y_offsets, x.shape[0],
                     (x, y, x_large, y_large, x_limits, y_limits, channels))
    columns = by_length(y_offsets)
    lengths = np.diff(y_offsets)[columns]
    # Blocks of windows of one length, as many as a chunk has.
    starts = np.flatnonzero(np.diff(lengths, prepend=-1))
    sizes = np.diff(starts, append=n)
    edges = [np.arange(a, a + size, WINDOW_CHUNK) for a, size in zip(starts, sizes)]
    kernel.set_order(by_length(x_offsets, True), columns, np.append(np.concatenate(edges), n))
    kernel.takes = WHOLE_BLOCKS
    options.x_large, options.y_large = &x_large[0], &y_large[0]
    options.x_limits, options.y_limits, options.unit = &x_limits[0, 0], &y_limits[0, 0], unit
    options.channels, options.dilation, options.normalize = &channels[0], dilation, normalize
    kernel.set_options(&options, sizeof(options))
    kernel.kernel = current().window_pairs
    kernel.block_outer = True
    kernel.scratch_bytes = current().window_pairs_scratch(&kernel.problem)
    return kernel
