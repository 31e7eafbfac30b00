# SPDX-License-Identifier: BSD-3-Clause
"""Distances of strings by bit-vectors: edits of several kinds, Jaro's, sets of words."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint32_t, uint64_t

from d2ke._ext.pairwise cimport WHOLE_BLOCKS, PairwiseKernel
from d2ke._ext.pairwise import by_length
from d2ke._ext.isa cimport current, d2ke_kernel, d2ke_problem

cdef extern from "options.h":
    ctypedef struct levenshtein_options:
        int64_t n_letters
        int64_t mode
        int64_t swaps
        int64_t own_block
        int64_t own_bits
        int64_t alone
        double prefix_weight
    cdef enum:
        LEV_GLOBAL
        LEV_PREFIX
        LEV_INFIX
        LEV_LOCAL

cdef extern from "tokens.h":
    ctypedef struct token_side:
        const int64_t *words
        const int64_t *offsets
        const uint64_t *marks
    ctypedef struct token_options:
        d2ke_kernel kernel
        const void *options
        token_side x
        token_side y
        const uint32_t *letters
        const int64_t *offsets
        int64_t n_letters
        uint32_t space
    const d2ke_kernel token_kernel
    size_t token_scratch(const d2ke_problem *, int64_t) noexcept nogil

# What of x the whole y is compared with; LOCAL: a part of y is.
GLOBAL = LEV_GLOBAL
PREFIX = LEV_PREFIX
INFIX = LEV_INFIX
LOCAL = LEV_LOCAL

cdef enum:
    GROUPS = 4      # LEV_GROUPS of levenshtein.h
    STEP = 11       # instructions of the kernel for one word and letter,
    PART_STEP = 19  # the same where the least score of any column is wanted,
    CARRY = 6       # and for handing on what passes between two words of a lane
    MORE_WORDS = 7  # lanes are at most so many words longer than the longest pattern,
    BLOCKS = 16     # and then leave about so many blocks to divide among the threads
    PART_SIZE = 8   # LEV_PART_SIZE of levenshtein.h
    COUNT = 25      # instructions for the distances of a vector of lanes of one pattern each,
    OWN = 4         # for each of them, and
    SHARED = 24     # for that of a pattern in a lane with others
    SHORT_TEXT = 32767  # letters, for which numbers of 16 bits suffice


def levenshtein(const uint32_t[::1] x, const int64_t[::1] x_offsets,
                const uint32_t[::1] y, const int64_t[::1] y_offsets,
                int64_t n_letters, bint same, int64_t mode=LEV_GLOBAL):
    """Prepare Levenshtein's distance of letters 0 .. n_letters - 1; `same`: y is x.

    `mode`: the whole of x is compared with y, or the prefix or the substring of x that is nearest.
    """
    cdef PairwiseKernel pairs = _packed(x, x_offsets, y, y_offsets, n_letters, same, mode, False)
    pairs.kernel = current().levenshtein if mode == LEV_GLOBAL else current().levenshtein_part
    return pairs


def with_rows(PairwiseKernel pairs, const uint32_t[::1] x, const int64_t[::1] x_offsets):
    """Return a prepared distance for other rows, of letters 0 .. n_letters - 1."""
    return pairs.with_rows(&x[0], x_offsets, x)


def osa(const uint32_t[::1] x, const int64_t[::1] x_offsets,
        const uint32_t[::1] y, const int64_t[::1] y_offsets, int64_t n_letters, bint same):
    """Prepare the distance of optimal string alignment, as `levenshtein`."""
    cdef PairwiseKernel pairs = _packed(x, x_offsets, y, y_offsets, n_letters, same, LEV_GLOBAL,
                                        True)
    pairs.kernel = current().osa
    return pairs


def indel(const uint32_t[::1] x, const int64_t[::1] x_offsets,
          const uint32_t[::1] y, const int64_t[::1] y_offsets, int64_t n_letters, bint same):
    """Prepare the distance of insertions and deletions only, as `levenshtein`."""
    cdef PairwiseKernel pairs = _packed(x, x_offsets, y, y_offsets, n_letters, same, LEV_GLOBAL,
                                        False)
    pairs.kernel = current().indel
    return pairs


def jaro(const uint32_t[::1] x, const int64_t[::1] x_offsets,
         const uint32_t[::1] y, const int64_t[::1] y_offsets, int64_t n_letters, bint same,
         double prefix_weight):
    """Prepare Jaro's distance, or Winkler's with a weight of the common beginning."""
    cdef PairwiseKernel pairs = _packed(x, x_offsets, y, y_offsets, n_letters, same, LEV_GLOBAL,
                                        False, True, prefix_weight)
    pairs.kernel = current().jaro
    return pairs


def token_set(PairwiseKernel pairs, x, y, const uint32_t[::1] letters, const int64_t[::1] offsets,
              int64_t n_letters, uint32_t space):
    """Turn the indel distance of words in order, joined by spaces, into that of sets of words.

    x, y: the numbers of each string's words, ascending, and where they begin. `letters` and
    `offsets`: of the words.
    """
    cdef token_options options
    options.kernel = pairs.kernel
    options.options = pairs.problem.options
    _words(&options.x, x, pairs.keep)
    _words(&options.y, y, pairs.keep)
    options.letters = &letters[0]
    options.offsets = &offsets[0]
    options.n_letters = n_letters
    options.space = space
    pairs.keep += [letters, offsets]
    pairs.set_options(&options, sizeof(options))
    pairs.scratch_bytes += token_scratch(&pairs.problem, n_letters)
    pairs.kernel = token_kernel
    return pairs


cdef _words(token_side *side, arrays, list keep):
    """Point at the words of strings, and mark which ones each string may have."""
    cdef const int64_t[::1] words = arrays[0], offsets = arrays[1]
    cdef uint64_t[::1] marks = np.zeros(offsets.shape[0], np.uint64)
    cdef int64_t i, k
    for i in range(offsets.shape[0] - 1):
        for k in range(offsets[i], offsets[i + 1]):
            marks[i] |= <uint64_t> 1 << words[k] % 64
    side.words = &words[0]
    side.offsets = &offsets[0]
    side.marks = &marks[0]
    keep += [words, offsets, marks]


cdef PairwiseKernel _packed(const uint32_t[::1] x, const int64_t[::1] x_offsets,
                            const uint32_t[::1] y, const int64_t[::1] y_offsets,
                            int64_t n_letters, bint same, int64_t mode, bint swaps,
                            bint alone=False, double prefix_weight=0):
    """The strings in lanes, with all but the kernel."""
    cdef int64_t n_x = x_offsets.shape[0] - 1, n = y_offsets.shape[0] - 1
    cdef int64_t n_lanes = GROUPS * current().vector_bytes // 8
    cdef PairwiseKernel pairs = PairwiseKernel()
    cdef levenshtein_options options
    pairs.set_items(&x[0], x_offsets, &y[0], y_offsets, 1, (x, y))
    options.alone = 0
    options.own_bits = -1
    lengths = np.diff(y_offsets)
    if alone:
        columns = by_length(y_offsets, True)
        # Of patterns of up to 32 letters, and up to 16, several share a lane: see lev_alone.
        options.alone = 16 if pairs.problem.x.longest <= SHORT_TEXT else 32
        long = np.count_nonzero(lengths > 32)
        wide = np.count_nonzero(lengths > 16) if options.alone == 16 else n
        edges = (np.arange(0, long, n_lanes), np.arange(long, wide, 2 * n_lanes),
                 np.arange(wide, n, 4 * n_lanes), [n])
        blocks = np.concatenate(edges).astype(np.int64)
        options.own_block = len(blocks) - 1
    else:
        if mode == LEV_GLOBAL:
            options.own_bits = own_lanes(lengths, x_offsets[n_x] / <double> n_x,
                                         current().vector_bytes)
        bits = options.own_bits
        shared = (lengths > bits).nonzero()[0]
        columns, blocks = pack(lengths[shared], n_lanes, mode != LEV_GLOBAL)
        options.own_block = len(blocks) - 1
        if bits > 0:
            columns = np.concatenate([shared[columns], (lengths <= bits).nonzero()[0]])
            edges = np.arange(len(shared), n, n_lanes * 64 // bits)
            blocks = np.concatenate([blocks, edges[1:], [n]])
    pairs.set_order(columns if same else by_length(x_offsets, True), columns, blocks)
    pairs.takes = WHOLE_BLOCKS
    options.n_letters = n_letters
    options.mode = mode
    options.swaps = swaps
    options.prefix_weight = prefix_weight
    pairs.set_options(&options, sizeof(options))
    pairs.scratch = current().levenshtein_scratch
    pairs.scratch_bytes = pairs.scratch(&pairs.problem)
    pairs.block_outer = True
    return pairs


def own_lanes(const int64_t[::1] lengths, double letters, int64_t vector_bytes):
    """Return the bits of lanes of one short pattern each, or -1, for texts of so many letters.

    It is what costs the fewest instructions, where longer patterns share lanes of 64 bits.
    """
    cdef double word = STEP * letters / (8 * vector_bytes), cost, least = INFINITY
    cdef int64_t i, bits, best = -1
    for bits in (-1, 8, 16, 32):
        cost = 0
        for i in range(lengths.shape[0]):
            if lengths[i] <= bits:
                cost += (STEP * letters + COUNT) * bits / (8 * vector_bytes) + OWN
            else:
                cost += word * (lengths[i] + 1) + SHARED
        if cost < least:
            least = cost
            best = bits
    return best


def pack(const int64_t[::1] lengths, int64_t n_lanes, bint part=False):
    """Put the patterns into lanes and the lanes into blocks.

    Each lane of a block takes the longest pattern that is left, then the longest
    that fits above it, and so on.  Lanes that are longer than they must be waste
    less at their ends but hand more carries from word to word: for each block,
    the number of words is taken that costs the fewest instructions for a letter.
    `part`: every pattern has a guard bit above it, and at least PART_SIZE bits with it.

    Returns the patterns in packing order, lane by lane, and the edges of the
    blocks; from these the kernel finds the lanes again.
    """
    cdef int64_t n = lengths.shape[0], n_sizes = 0, i
    cdef int64_t done = 0, taken, bits = 0, least, words, best_words
    cdef double cost, best
    if n < 2:
        return np.arange(n), np.arange(n + 1)
    cdef const int64_t[::1] items = np.argsort(lengths, kind="stable")
    for i in range(n):
        n_sizes += i == 0 or lengths[items[i]] != lengths[items[i - 1]]
    cdef int64_t[::1] size, end, left, trial, order
    size, end, left, trial = np.zeros((4, n_sizes), np.int64)
    n_sizes = 0
    for i in range(n):
        n_sizes += i == 0 or lengths[items[i]] != lengths[items[i - 1]]
        size[n_sizes - 1] = lengths[items[i]]
        end[n_sizes - 1] = i + 1
        left[n_sizes - 1] += 1
    packed = np.empty(n, dtype=np.int64)
    blocks = [0]
    while done < n:
        order = packed[done:]
        while left[n_sizes - 1] == 0:
            n_sizes -= 1
        least = max(1, (size[n_sizes - 1] + part + 63) // 64)
        best = INFINITY
        best_words = least
        for words in range(least, least + MORE_WORDS + 1):
            trial[:] = left
            taken = fill(words, n_lanes, part, size, items, end, trial, order, &bits)
            if words > least and taken * BLOCKS > n:
                break
            cost = price(words, part) / bits
            if cost < best:
                best = cost
                best_words = words
            # Not even full lanes of one word more would be cheaper.
            if taken == n - done or best <= price(words + 1, part) / (64 * words + 65) / n_lanes:
                break
        done += fill(best_words, n_lanes, part, size, items, end, left, order, &bits)
        blocks.append(done)
    return packed, np.array(blocks, dtype=np.int64)


cdef double price(int64_t words, bint part) noexcept:
    return (PART_STEP if part else STEP) * words + CARRY * (words - 1)


cdef int64_t fill(int64_t words, int64_t n_lanes, bint part, const int64_t[::1] length,
                  const int64_t[::1] items, const int64_t[::1] end, int64_t[::1] left,
                  int64_t[::1] order, int64_t *bits) noexcept:
    """Fill one block; how many patterns it takes, and the bits that they take, into `bits`.

    `left[s]` patterns of length[s] are to be had, the last of items[:end[s]].
    """
    cdef int64_t taken = 0, _lane, room, size, s
    bits[0] = 0
    for _lane in range(n_lanes):
        # A pattern and its guard bit; the last one of whole strings needs no guard.
        room = 64 * words if part else 64 * words + 1
        for s in range(length.shape[0] - 1, -1, -1):
            size = max(length[s] + 1, PART_SIZE) if part else length[s] + 1
            while left[s] > 0 and size <= room:
                order[taken] = items[end[s] - left[s]]
                left[s] -= 1
                taken += 1
                room -= size
                bits[0] += size
    return taken
