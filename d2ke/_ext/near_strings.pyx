# SPDX-License-Identifier: BSD-3-Clause
"""Strings within a radius of others, or the nearest ones, by cut-off edit distances."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from d2ke._ext.isa cimport d2ke_poll
from d2ke._ext.isa import vector_bytes
from d2ke._ext.tasks cimport advance, run, stop

cdef extern from "near_strings.h":
    enum:
        BAG_BLOCK
        CUT_BAG
        CUT_LEVENSHTEIN
        CUT_OSA
        CUT_INDEL
        CUT_DAMERAU
        LANE_MARGIN
        LANE_PAD
        NEAR_BOTH
        NEAR_LONGER
        NEAR_WHOLE
        NEAR_WIDTHS
        NEAR_WORK

    ctypedef struct near_side "near_strings":
        const uint32_t *letters
        const int64_t *offsets
        const uint8_t *bags
        const uint8_t *blocks
        const uint8_t *codes
        const uint64_t *grams
        int64_t n

    ctypedef struct near_slot:
        uint64_t key
        int64_t start

    ctypedef struct near_search:
        near_side x
        near_side y
        int64_t radius
        double value
        int64_t edits
        int64_t share
        int64_t n_letters
        int64_t longest
        const int64_t *starts
        int64_t n_lengths
        int64_t half
        int64_t skip
        const near_slot *slots
        const uint64_t *filter
        int64_t slot_bits
        int64_t filter_bits
        int64_t pieces
        const int32_t *items
        const uint64_t *powers
        int64_t k
        double *distances
        int64_t *indices
        const int64_t *names
        int64_t *counts
        int64_t *work
        int64_t vector_bytes

    ctypedef struct cut_pattern:
        uint32_t *rows
        uint64_t *masks
        uint64_t *up
        uint64_t *down
        uint64_t *zero
        int32_t *cells
        int32_t *last

    ctypedef struct near_pairs:
        int32_t *values
        int64_t used
        int64_t room
        int64_t failed

    ctypedef struct near_thread:
        cut_pattern pattern
        uint64_t *hashes
        int32_t *stamps
        int32_t stamp
        near_pairs pairs
        int64_t since
        uint8_t *sums
        void *masks[NEAR_WIDTHS]

    uint64_t NEAR_BASE
    int64_t cut_words(int64_t length) noexcept nogil
    int64_t cut_mask_words(int64_t length, int64_t n_letters) noexcept nogil
    void cut_prepare(cut_pattern *, const uint32_t *, int64_t) noexcept nogil
    void cut_forget(cut_pattern *, const uint32_t *) noexcept nogil
    int64_t cut_distance(const cut_pattern *, const uint32_t *, int64_t, int64_t, int64_t,
                         int) noexcept nogil
    void cut_bag(const uint32_t *, int64_t, uint8_t *) noexcept nogil
    int64_t near_mask_bytes(int64_t longest, int64_t bits) noexcept nogil
    uint64_t bag_grams(const uint32_t *, int64_t) noexcept nogil
    int64_t cut_bag_sum(const uint8_t *, const uint8_t *, int64_t, int) noexcept nogil
    int64_t cut_each(int) noexcept nogil
    void near_hash(const uint32_t *, int64_t, uint64_t *) noexcept nogil
    void near_piece(int64_t, int64_t, int64_t, int64_t *, int64_t *) noexcept nogil
    uint64_t near_key(uint64_t, int64_t, int64_t) noexcept nogil
    int near_query(const near_search *, near_thread *, int64_t, const d2ke_poll *) noexcept nogil

cdef enum:
    ROWS = 16  # queries of a task

# Numbers for each query, in the array `work` of `search`, of which the last is 1 where a nearer
# string may be beyond the radius.
WORK = NEAR_WORK
LEVENSHTEIN, OSA, INDEL, DAMERAU = CUT_LEVENSHTEIN, CUT_OSA, CUT_INDEL, CUT_DAMERAU
WHOLE, LONGER, BOTH = NEAR_WHOLE, NEAR_LONGER, NEAR_BOTH


cdef struct Queries:
    near_search search
    const int64_t *rows
    int64_t n_rows
    near_thread *threads


cdef class Scratch:
    """Memory of the threads, kept with the searched strings: it takes longer than a query."""
    cdef near_thread *threads
    cdef int n_threads
    cdef int64_t longest, n_letters, edits

    def __cinit__(self, int n_threads, int64_t longest, int64_t n_letters, int64_t edits,
                  int64_t n):
        cdef int t
        self.n_threads, self.longest = n_threads, longest
        self.n_letters, self.edits = n_letters, edits
        self.threads = <near_thread *> calloc(n_threads, sizeof(near_thread))
        if self.threads == NULL:
            raise MemoryError("scratch memory for the threads")
        for t in range(n_threads):
            prepare(&self.threads[t], longest, n_letters, edits, n)

    def __dealloc__(self):
        cdef int t
        if self.threads != NULL:
            for t in range(self.n_threads):
                release(&self.threads[t])
        free(self.threads)

    cdef bint suffices(self, int n_threads, const near_search *s) noexcept:
        return (n_threads <= self.n_threads and s.longest <= self.longest
                and s.n_letters <= self.n_letters and s.edits == self.edits)


cdef class Index:
    """So many pieces of all strings that are long enough; see near_strings.h."""
    cdef readonly int64_t pieces
    cdef const near_slot[::1] slots
    cdef const uint64_t[::1] filter
    cdef const int32_t[::1] items
    cdef int64_t slot_bits, filter_bits

    def arrays(self):
        """Return the arrays of the index, which `from_arrays` takes."""
        slots = np.asarray(self.slots).view(np.uint64)
        return {"slots": slots, "filter": np.asarray(self.filter), "items": np.asarray(self.items)}

    @classmethod
    def from_arrays(cls, int64_t pieces, arrays):
        """Return the index with these arrays."""
        cdef Index index = cls.__new__(cls)
        index.pieces = pieces
        index.slots = arrays["slots"].view([("key", np.uint64), ("start", np.int64)])
        index.filter, index.items = arrays["filter"], arrays["items"]
        index.slot_bits = index.slots.shape[0].bit_length() - 1
        index.filter_bits = (64 * index.filter.shape[0]).bit_length() - 1
        return index

    def __init__(self, Strings y, int64_t pieces):
        cdef int64_t n = y.n, i, piece, start, size, length, used = 0, u, bit
        cdef uint64_t slot, last
        cdef const uint32_t[::1] letters = y.letters
        cdef const int64_t[::1] offsets = y.offsets
        cdef const uint64_t[::1] powers = y.powers
        cdef int64_t first = int(np.searchsorted(np.diff(y.offsets), pieces))
        cdef uint64_t[::1] hashes = np.empty(y.longest + 1, np.uint64)
        self.pieces = pieces
        keys = np.empty((n - first) * pieces, np.uint64)
        cdef uint64_t[::1] key = keys
        with nogil:
            for i in range(first, n):
                length = offsets[i + 1] - offsets[i]
                near_hash(&letters[0] + offsets[i], length, &hashes[0])
                for piece in range(pieces):
                    near_piece(length, pieces, piece, &start, &size)
                    key[used] = near_key(hashes[start + size] - hashes[start] * powers[size],
                                         length, piece)
                    used += 1
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        order //= pieces
        order += first
        cdef int32_t[::1] items = order.astype(np.int32)
        del order
        begins = np.flatnonzero(np.append(1, np.diff(keys))) if used else np.empty(0, np.int64)
        cdef const int64_t[::1] begin = np.append(begins, used).astype(np.int64)
        cdef int64_t distinct = len(begins)
        key = keys
        self.slot_bits = max(6, int(2 * distinct).bit_length())
        self.filter_bits = max(6, int(16 * distinct).bit_length())
        table = np.empty(1 << self.slot_bits, [("key", np.uint64), ("start", np.int64)])
        table["start"] = -1
        cdef near_slot[::1] slots = table
        cdef uint64_t[::1] bits = np.zeros(1 << (self.filter_bits - 6), np.uint64)
        last = (<uint64_t> 1 << self.slot_bits) - 1
        with nogil:
            for u in range(distinct):
                i = begin[u + 1] - 1
                items[i] = ~items[i]
                slot = key[begin[u]] & last
                while slots[slot].start >= 0:
                    slot = (slot + 1) & last
                slots[slot].key = key[begin[u]]
                slots[slot].start = begin[u]
                bit = <int64_t> (key[begin[u]] >> (64 - self.filter_bits))
                bits[bit >> 6] |= <uint64_t> 1 << (bit & 63)
        self.slots, self.filter, self.items = slots, bits, items


cdef class Strings:
    """Strings in the order of their lengths, with what the search reads beside their letters.

    longest: the length of the longest string on both sides. Strings that are only searched for
    (`rows`) have no blocks, codes, powers and starts.
    """
    cdef readonly object letters, offsets, bags, blocks, codes, grams, powers, starts
    cdef readonly int64_t n, longest, n_letters
    cdef list scratch  # of searches that are over
    cdef near_side side

    def arrays(self):
        """Return the arrays of the strings, which `from_arrays` takes."""
        names = "letters", "offsets", "bags", "blocks", "codes", "grams", "powers", "starts"
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_arrays(cls, int64_t n_letters, arrays):
        """Return the strings with these arrays."""
        cdef Strings strings = cls.__new__(cls)
        strings.letters, strings.offsets = arrays["letters"], arrays["offsets"]
        strings.bags, strings.blocks = arrays["bags"], arrays["blocks"]
        strings.codes, strings.grams = arrays["codes"], arrays["grams"]
        strings.powers, strings.starts = arrays["powers"], arrays["starts"]
        strings.longest = len(arrays["powers"]) - 1
        strings.keep(n_letters)
        return strings

    def __init__(self, const uint32_t[::1] letters, const int64_t[::1] offsets, int64_t n_letters,
                 int64_t longest, bint rows=False):
        cdef int64_t i, n = offsets.shape[0] - 1
        cdef uint8_t[:, ::1] bags = np.empty((n, CUT_BAG), np.uint8)
        cdef uint64_t[::1] grams = np.empty(n, np.uint64)
        for i in range(n):
            cut_bag(&letters[0] + offsets[i], offsets[i + 1] - offsets[i], &bags[i, 0])
            grams[i] = bag_grams(&letters[0] + offsets[i], offsets[i + 1] - offsets[i])
        self.letters, self.offsets = letters.base, offsets.base
        self.bags, self.grams, self.longest = bags.base, grams.base, longest
        if not rows:
            self.prepare_columns(letters, offsets, bags)
        self.keep(n_letters)

    cdef prepare_columns(self, const uint32_t[::1] letters, const int64_t[::1] offsets,
                         const uint8_t[:, ::1] bags):
        cdef int64_t i, g, at, n = offsets.shape[0] - 1
        cdef uint64_t[::1] powers = np.empty(self.longest + 1, np.uint64)
        shape = n // BAG_BLOCK + 1, CUT_BAG, BAG_BLOCK
        cdef uint8_t[:, :, ::1] blocks = np.zeros(shape, np.uint8)
        cdef uint8_t[::1] codes = np.full(offsets[n] + (n + 1) * LANE_MARGIN, LANE_PAD, np.uint8)
        for i in range(n):
            for at in range(offsets[i], offsets[i + 1]):
                codes[(i + 1) * LANE_MARGIN + at] = letters[at] % LANE_PAD
            for g in range(CUT_BAG):
                blocks[i // BAG_BLOCK, g, i % BAG_BLOCK] = bags[i, g]
        powers[0] = 1
        for i in range(self.longest):
            powers[i + 1] = powers[i] * NEAR_BASE
        self.blocks, self.codes, self.powers = blocks.base, codes.base, powers.base
        lengths = np.diff(self.offsets)
        self.starts = np.searchsorted(lengths, np.arange(int(lengths[n - 1]) + 2))

    cdef keep(self, int64_t n_letters):
        """Keep the addresses of the arrays: getting them takes as long as a short search."""
        cdef const uint32_t[::1] letters = self.letters
        cdef const int64_t[::1] offsets = self.offsets
        cdef const uint8_t[:, ::1] bags = self.bags
        cdef const uint64_t[::1] grams = self.grams
        cdef const uint8_t[:, :, ::1] blocks = self.blocks
        cdef const uint8_t[::1] codes = self.codes
        self.n, self.n_letters, self.scratch = offsets.shape[0] - 1, n_letters, []
        self.side.letters, self.side.offsets, self.side.n = &letters[0], &offsets[0], self.n
        self.side.bags, self.side.grams = &bags[0, 0], &grams[0]
        if blocks is not None:
            self.side.blocks, self.side.codes = &blocks[0, 0, 0], &codes[0]


def search(Strings x, Strings y, rows, int64_t edits, int64_t share, int64_t radius, double value,
           Index index, bint half, bint skip, heaps, int64_t[:, ::1] counts, int64_t[:, ::1] work,
           int n_threads, progress=None):
    """Search what is near the strings `rows` of x, among all of y.

    edits, share: the distance, and what it is divided by. What is farther than `value`, or by more
    edits than `radius`, does not count. heaps: None, or (distances, indices, names), of which the
    rows' heaps are filled. Returns an array of pairs (row, string, edits), which is empty with
    heaps. The index may be None.
    """
    cdef Queries queries
    cdef const int64_t[::1] row = rows, starts = y.starts, names
    cdef const uint64_t[::1] powers = y.powers
    cdef double[:, ::1] distances
    cdef int64_t[:, ::1] indices
    cdef int64_t n_tasks, t, total = 0
    memset(&queries, 0, sizeof(Queries))
    queries.search.x, queries.search.y = x.side, y.side
    queries.search.radius, queries.search.value = radius, value
    queries.search.edits, queries.search.share = edits, share
    queries.search.n_letters = x.n_letters
    queries.search.longest = max(x.longest, y.longest)
    queries.search.starts = &starts[0]
    queries.search.n_lengths = starts.shape[0] - 1
    queries.search.half = half
    queries.search.skip = skip
    queries.search.powers = &powers[0]
    queries.search.counts = &counts[0, 0]
    queries.search.work = &work[0, 0]
    queries.search.vector_bytes = vector_bytes()
    queries.rows = &row[0]
    queries.n_rows = row.shape[0]
    if index is not None:
        queries.search.pieces = index.pieces
        queries.search.slots = &index.slots[0]
        queries.search.filter = &index.filter[0]
        queries.search.slot_bits = index.slot_bits
        queries.search.filter_bits = index.filter_bits
        queries.search.items = &index.items[0] if index.items.shape[0] else NULL
    if heaps is not None:
        distances, indices, names = heaps
        queries.search.k = distances.shape[1]
        queries.search.distances = &distances[0, 0]
        queries.search.indices = &indices[0, 0]
        queries.search.names = &names[0]
    n_tasks = (queries.n_rows + ROWS - 1) / ROWS
    n_threads = max(1, min(n_threads, n_tasks))
    cdef Scratch scratch = y.scratch.pop() if y.scratch else None
    if scratch is None or not scratch.suffices(n_threads, &queries.search):
        scratch = Scratch(n_threads, queries.search.longest, x.n_letters, edits, y.n)
    queries.threads = scratch.threads
    for t in range(n_threads):
        queries.threads[t].pairs.used = 0
    run(task, &queries, n_tasks, n_threads, progress, queries.n_rows)
    for t in range(n_threads):
        if queries.threads[t].pairs.failed:
            raise MemoryError("memory for the pairs within radius")
        total += queries.threads[t].pairs.used
    found = collect(queries.threads, n_threads, total)
    if not y.scratch:
        y.scratch.append(scratch)
    return found


cdef prepare(near_thread *thread, int64_t longest, int64_t n_letters, int64_t edits, int64_t n):
    cdef int64_t words = cut_mask_words(longest, n_letters)
    cdef int width
    thread.pattern.rows = <uint32_t *> calloc(n_letters + 1, sizeof(uint32_t))
    thread.pattern.masks = <uint64_t *> malloc(words * sizeof(uint64_t))
    thread.pattern.up = <uint64_t *> malloc(cut_words(longest) * sizeof(uint64_t))
    thread.pattern.down = <uint64_t *> malloc(cut_words(longest) * sizeof(uint64_t))
    thread.pattern.zero = <uint64_t *> malloc(cut_words(longest) * sizeof(uint64_t))
    if edits == CUT_DAMERAU:
        thread.pattern.cells = <int32_t *> calloc(4 * (longest + 3) + n_letters + 1,
                                                  sizeof(int32_t))
        thread.pattern.last = thread.pattern.cells + 4 * (longest + 3)
    thread.hashes = <uint64_t *> malloc((longest + 1) * sizeof(uint64_t))
    thread.stamps = <int32_t *> malloc(n * sizeof(int32_t))
    thread.sums = <uint8_t *> malloc(n + BAG_BLOCK)
    for width in range(NEAR_WIDTHS):
        thread.masks[width] = malloc(near_mask_bytes(longest, 16 << width))
        if thread.masks[width] == NULL:
            raise MemoryError("scratch memory for the threads")
    if (thread.pattern.rows == NULL or thread.pattern.masks == NULL or thread.pattern.up == NULL
            or thread.pattern.down == NULL or thread.pattern.zero == NULL
            or (thread.pattern.cells == NULL and edits == CUT_DAMERAU)
            or thread.hashes == NULL or thread.stamps == NULL
            or thread.sums == NULL):
        raise MemoryError("scratch memory for the threads")
    memset(thread.stamps, 0, n * sizeof(int32_t))


cdef void release(near_thread *thread) noexcept:
    cdef int width
    free(thread.pattern.rows)
    free(thread.pattern.masks)
    free(thread.pattern.up)
    free(thread.pattern.down)
    free(thread.pattern.zero)
    free(thread.pattern.cells)
    free(thread.hashes)
    free(thread.stamps)
    free(thread.sums)
    for width in range(NEAR_WIDTHS):
        free(thread.masks[width])
    free(thread.pairs.values)


cdef collect(const near_thread *threads, int n_threads, int64_t total):
    cdef int32_t[:, ::1] pairs = np.empty((total, 3), np.int32)
    cdef int64_t done = 0, used
    cdef int t
    for t in range(n_threads):
        used = threads[t].pairs.used
        if used:
            memcpy(&pairs[done, 0], threads[t].pairs.values, used * 3 * sizeof(int32_t))
        done += used
    return np.asarray(pairs)


cdef void task(void *context, int64_t number, const d2ke_poll *poll) noexcept nogil:
    cdef Queries *queries = <Queries *> context
    cdef int64_t begin = number * ROWS, end = min(begin + ROWS, queries.n_rows), i
    for i in range(begin, end):
        if not near_query(&queries.search, &queries.threads[poll.thread], queries.rows[i], poll):
            stop(poll)
            return
    advance(poll, end - begin)


def bounded(const uint32_t[::1] x, const uint32_t[::1] y, int64_t n_letters, int64_t cut,
            int edits=CUT_LEVENSHTEIN):
    """For tests: the bound by letters, and the distance or cut + 1."""
    cdef near_search s
    cdef near_thread thread
    cdef uint8_t[::1] bags = np.empty(2 * CUT_BAG, np.uint8)
    cdef int64_t total
    memset(&thread, 0, sizeof(thread))
    memset(&s, 0, sizeof(s))
    s.longest, s.n_letters, s.y.n = max(x.shape[0], y.shape[0]), n_letters, 1
    s.edits = edits
    try:
        prepare(&thread, s.longest, n_letters, edits, 1)
        cut_bag(&x[0], x.shape[0] - 1, &bags[0])
        cut_bag(&y[0], y.shape[0] - 1, &bags[CUT_BAG])
        cut_prepare(&thread.pattern, &x[0], x.shape[0] - 1)
        total = cut_bag_sum(&bags[0], &bags[CUT_BAG], x.shape[0] - y.shape[0], edits)
        return ((total + cut_each(edits) - 1) / cut_each(edits),
                cut_distance(&thread.pattern, &y[0], y.shape[0] - 1, cut, s.longest, edits))
    finally:
        release(&thread)
