# SPDX-License-Identifier: BSD-3-Clause
"""Distances of strings letter by letter: Damerau's, with costs, Hamming's, Jaccard's, of bags."""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from d2ke._ext.pairwise cimport SINGLE_COLUMNS, PairwiseKernel
from d2ke._ext.pairwise import by_length
from d2ke._ext.isa cimport current, d2ke_kernel

cdef extern from "options.h":
    ctypedef struct weighted_options:
        int64_t n_letters
        int64_t mode
        int64_t affine
        int64_t n_classes
        const uint32_t *classes
        const double *substitution
        const double *equal
        const double *delete_first
        const double *delete_next
        const double *insert_first
        const double *insert_next
        double transposition
    ctypedef struct jaccard_options:
        int64_t words
        const int64_t *x_sizes
        const int64_t *y_sizes
cdef extern from "letter_shares.h":
    ctypedef struct shares_options:
        const uint32_t *x_counts
        const uint32_t *counts
        const int64_t *x_sizes
        const int64_t *y_sizes
        const int64_t *blocks
        const uint32_t *letters
        const int64_t *places
        const uint32_t *columns
        const uint32_t *y_counts
    const d2ke_kernel shares_kernel

cdef enum:
    SHORT_LETTERS = 65534   # codes of 16 bits, two of which are no letters
    SHORT_SCORE = 8000      # lengths whose scores fit into 16 bits, see DAM_FAR
    DAMERAU_WORK = 4        # a cell, in elementary operations
    WEIGHTED_GROUPS = 2     # of weighted.h
    COLUMNS = 256           # of a block where nothing is prepared for it
    BAGS = 512              # of a block of bags of letters

ctypedef fused Letter:
    uint8_t
    uint32_t

ctypedef fused Member:
    uint32_t
    uint64_t


def damerau(const uint32_t[::1] x, const int64_t[::1] x_offsets,
            const uint32_t[::1] y, const int64_t[::1] y_offsets, int64_t n_letters, bint same):
    """Prepare the unrestricted Damerau-Levenshtein distance of letters 0 .. n_letters - 1."""
    cdef PairwiseKernel pairs = PairwiseKernel()
    cdef int wide
    pairs.set_items(&x[0], x_offsets, &y[0], y_offsets, 1, (x, y))
    wide = (n_letters > SHORT_LETTERS
            or pairs.problem.x.longest + pairs.problem.y.longest > SHORT_SCORE)
    _side_by_side(pairs, x_offsets, y_offsets, current().vector_bytes // (4 if wide else 2), same)
    pairs.kernel = current().damerau[wide]
    pairs.scratch_bytes = current().damerau_scratch[wide](&pairs.problem)
    pairs.cell_work = DAMERAU_WORK
    return pairs


def transpositions(const uint32_t[::1] x, const int64_t[::1] x_offsets,
                   const uint32_t[::1] y, const int64_t[::1] y_offsets, bint osa):
    """Prepare the rows of one pair for the way back: of optimal string alignment, or of Damerau."""
    cdef PairwiseKernel pairs = PairwiseKernel()
    pairs.set_items(&x[0], x_offsets, &y[0], y_offsets, 1, (x, y))
    _side_by_side(pairs, x_offsets, y_offsets, 1, False)
    pairs.scratch_bytes = current().damerau_scratch[1](&pairs.problem)
    pairs.trace = current().osa_rows if osa else current().damerau_rows
    return pairs


def weighted(const uint32_t[::1] x, const int64_t[::1] x_offsets,
             const uint32_t[::1] y, const int64_t[::1] y_offsets, bint same, int64_t mode,
             const uint32_t[::1] classes, const double[:, ::1] substitution,
             const double[:, ::1] costs, bint affine, double transposition=INFINITY):
    """Prepare an edit distance whose costs depend on the classes of the letters.

    Rows of `costs`, for each class: of a letter by itself; of a deletion as the first and as a
    later one of its run; of an insertion as the first and as a later one.
    """
    cdef PairwiseKernel pairs = PairwiseKernel()
    cdef weighted_options options
    pairs.set_items(&x[0], x_offsets, &y[0], y_offsets, 1, (x, y, classes, substitution, costs))
    _side_by_side(pairs, x_offsets, y_offsets, WEIGHTED_GROUPS * current().vector_bytes // 8, same)
    options.n_letters = classes.shape[0]
    options.mode = mode
    options.affine = affine
    options.n_classes = substitution.shape[0]
    options.classes = &classes[0]
    options.substitution = &substitution[0, 0]
    options.equal = &costs[0, 0]
    options.delete_first = &costs[1, 0]
    options.delete_next = &costs[2, 0]
    options.insert_first = &costs[3, 0]
    options.insert_next = &costs[4, 0]
    options.transposition = transposition
    pairs.set_options(&options, sizeof(options))
    pairs.kernel = current().weighted
    pairs.scratch = current().weighted_scratch
    pairs.scratch_bytes = pairs.scratch(&pairs.problem)
    pairs.trace = current().weighted_rows
    pairs.cell_work = DAMERAU_WORK
    return pairs


cdef _side_by_side(PairwiseKernel pairs, const int64_t[::1] x_offsets,
                   const int64_t[::1] y_offsets, int64_t lanes, bint same):
    """Blocks of as many columns as there are lanes, of about one length."""
    cdef int64_t n = y_offsets.shape[0] - 1
    columns = by_length(y_offsets, True)
    blocks = np.append(np.arange(0, n, lanes), n).astype(np.int64)
    pairs.set_order(columns if same else by_length(x_offsets, True), columns, blocks)
    pairs.block_outer = True


def hamming(const Letter[::1] x, const int64_t[::1] x_offsets,
            const Letter[::1] y, const int64_t[::1] y_offsets):
    """Prepare Hamming's distance of strings of one length; after the last are 64 bytes more."""
    cdef PairwiseKernel pairs = PairwiseKernel()
    pairs.set_items(&x[0], x_offsets, &y[0], y_offsets, 1, (x, y))
    _as_they_are(pairs, COLUMNS)
    pairs.takes = SINGLE_COLUMNS
    pairs.kernel = current().hamming[0 if Letter is uint8_t else 1]
    return pairs


def jaccard(const Member[::1] x, const int64_t[::1] x_offsets, const int64_t[::1] x_sizes,
            const Member[::1] y, const int64_t[::1] y_offsets, const int64_t[::1] y_sizes):
    """Prepare Jaccard's distance of sets: ascending lists, or bits of the same number of words."""
    cdef PairwiseKernel pairs = PairwiseKernel()
    cdef jaccard_options options
    pairs.set_items(&x[0], x_offsets, &y[0], y_offsets, 1, (x, y, x_sizes, y_sizes))
    _as_they_are(pairs, COLUMNS)
    options.words = x_offsets[1] if Member is uint64_t else 0
    options.x_sizes = &x_sizes[0]
    options.y_sizes = &y_sizes[0]
    pairs.set_options(&options, sizeof(options))
    pairs.kernel = current().jaccard
    return pairs


def bags(x, y):
    """Prepare the L1 distance of shares of letters.

    x, y: the letters of each string, ascending; how often the string has each; where those of each
    string begin; the lengths of the strings. Lengths multiply to less than 2^53.
    """
    cdef const uint32_t[::1] letters = x[0], counts = x[1], y_letters = y[0]
    cdef const uint32_t[::1] own_counts = y[1]
    cdef const int64_t[::1] offsets = x[2], sizes = x[3], y_offsets = y[2], y_sizes = y[3]
    cdef PairwiseKernel pairs = PairwiseKernel()
    cdef shares_options options
    pairs.set_items(&letters[0], offsets, &y_letters[0], y_offsets, 1, (x, y))
    _as_they_are(pairs, BAGS)
    pairs.takes = SINGLE_COLUMNS
    owners = np.repeat(np.arange(len(y[3])), np.diff(y[2]))
    order = np.empty(len(owners), np.int64)
    for start in range(0, len(y[3]), BAGS):
        a, b = y[2][start], y[2][min(start + BAGS, len(y[3]))]
        keys = y[0][a:b].astype(np.uint64) << 32 | np.arange(b - a, dtype=np.uint64)
        keys.sort()
        order[a:b] = a + (keys & 0xffffffff).astype(np.int64)
    blocks, found = (owners // BAGS)[order], y[0][order]
    is_new = (np.diff(found) != 0) | (np.diff(blocks) != 0)
    changes = np.flatnonzero(np.append(True, is_new)[:len(order)])
    cdef const int64_t[::1] places = np.append(changes, len(order))
    cdef const int64_t[::1] ends = np.searchsorted(blocks[changes],
                                                   np.arange(pairs.problem.n_blocks + 1))
    cdef const uint32_t[::1] first = np.append(found[changes], 0).astype(np.uint32)
    cdef const uint32_t[::1] columns = np.append(owners[order] % BAGS, 0).astype(np.uint32)
    cdef const uint32_t[::1] y_counts = np.append(y[1][order], 0).astype(np.uint32)
    pairs.keep += [places, ends, first, columns, y_counts]
    options.x_counts, options.counts = &counts[0], &own_counts[0]
    options.x_sizes, options.y_sizes = &sizes[0], &y_sizes[0]
    options.blocks, options.letters, options.places = &ends[0], &first[0], &places[0]
    options.columns, options.y_counts = &columns[0], &y_counts[0]
    pairs.set_options(&options, sizeof(options))
    pairs.kernel = shares_kernel
    return pairs


cdef _as_they_are(PairwiseKernel pairs, int64_t width):
    """Columns in the order of the items, in blocks of so many."""
    cdef int64_t n = pairs.problem.y.n
    pairs.set_order(np.arange(pairs.problem.x.n), np.arange(n),
                    np.append(np.arange(0, n, width), n).astype(np.int64))
    pairs.scratch_bytes = 64
    pairs.block_outer = True
