# SPDX-License-Identifier: BSD-3-Clause
"""Tiles of a matrix of distances, of which the nearest or those within a radius are kept."""

import numpy as np

from libc.stdint cimport int64_t
from libc.string cimport memset

from d2ke._ext.isa cimport d2ke_poll
from d2ke._ext.tasks cimport run, worth

cdef extern from "neighbor_heap.h":
    void d2ke_offer(double *distances, int64_t *indices, int64_t k, double distance,
                    int64_t index) noexcept nogil

cdef enum:
    CHUNK = 16  # rows, or columns, of a task

ctypedef fused Element:
    float
    double


cdef struct Tile:
    const void *values
    bint single
    int64_t rows
    int64_t columns
    int64_t first_row
    int64_t first_column
    bint skip               # the diagonal of the matrix
    double *distances       # heaps of all rows of the matrix
    int64_t *indices
    int64_t k
    double radius
    int64_t *counts         # of each row of the tile
    int64_t *places         # where each row's entries go
    int64_t *found_rows
    int64_t *found_columns
    void *found


cdef Tile describe(const Element[:, ::1] values, int64_t first_row, int64_t first_column,
                   bint skip):
    cdef Tile tile
    memset(&tile, 0, sizeof(Tile))
    tile.values = &values[0, 0]
    tile.single = Element is float
    tile.rows = values.shape[0]
    tile.columns = values.shape[1]
    tile.first_row = first_row
    tile.first_column = first_column
    tile.skip = skip
    return tile


def keep_nearest(const Element[:, ::1] values, int64_t first_row, int64_t first_column, bint skip,
                 bint mirror, double[:, ::1] distances, int64_t[:, ::1] indices, int n_threads):
    """Offer the tile's entries to the heaps of its rows.

    `mirror`: those above the diagonal of the matrix go to the heaps of their columns too.
    """
    cdef Tile tile = describe(values, first_row, first_column, skip)
    cdef int64_t chunks = (tile.rows + CHUNK - 1) / CHUNK
    tile.distances = &distances[0, 0]
    tile.indices = &indices[0, 0]
    tile.k = distances.shape[1]
    n_threads = worth(n_threads, <double> tile.rows * tile.columns, chunks)
    run(offer_rows, &tile, chunks, n_threads)
    if mirror:
        run(offer_columns, &tile, (tile.columns + CHUNK - 1) / CHUNK, n_threads)


cdef void offer_rows(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef const Tile *tile = <const Tile *> context
    if tile.single:
        offer_to_rows(tile, <const float *> tile.values, task * CHUNK)
    else:
        offer_to_rows(tile, <const double *> tile.values, task * CHUNK)


cdef void offer_to_rows(const Tile *tile, const Element *values, int64_t begin) noexcept nogil:
    cdef int64_t r, c, row, k = tile.k
    cdef double *distances
    cdef int64_t *indices
    for r in range(begin, min(begin + CHUNK, tile.rows)):
        row = tile.first_row + r
        distances, indices = tile.distances + row * k, tile.indices + row * k
        for c in range(tile.columns):
            if values[r * tile.columns + c] <= distances[0]:
                if not (tile.skip and tile.first_column + c == row):
                    d2ke_offer(distances, indices, k, values[r * tile.columns + c],
                               tile.first_column + c)


cdef void offer_columns(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef const Tile *tile = <const Tile *> context
    if tile.single:
        offer_to_columns(tile, <const float *> tile.values, task * CHUNK)
    else:
        offer_to_columns(tile, <const double *> tile.values, task * CHUNK)


cdef void offer_to_columns(const Tile *tile, const Element *values, int64_t begin) noexcept nogil:
    cdef int64_t r, c, row, column, k = tile.k
    cdef int64_t end = min(begin + CHUNK, tile.columns)
    for r in range(tile.rows):
        row = tile.first_row + r
        for c in range(begin, end):
            column = tile.first_column + c
            if column > row and values[r * tile.columns + c] <= tile.distances[column * k]:
                d2ke_offer(tile.distances + column * k, tile.indices + column * k, k,
                           values[r * tile.columns + c], row)


def keep_within(const Element[:, ::1] values, int64_t first_row, int64_t first_column, bint skip,
                double radius, int n_threads):
    """Rows, columns and values of the tile's entries of at most the radius, row by row."""
    cdef Tile tile = describe(values, first_row, first_column, skip)
    cdef int64_t chunks = (tile.rows + CHUNK - 1) / CHUNK
    cdef int64_t[::1] counts = np.empty(tile.rows, np.int64)
    cdef int64_t[::1] places, rows, columns
    cdef Element[::1] found
    tile.radius = radius
    tile.counts = &counts[0]
    n_threads = worth(n_threads, <double> tile.rows * tile.columns, chunks)
    run(count_task, &tile, chunks, n_threads)
    ends = np.append(0, np.cumsum(counts))
    total = int(ends[tile.rows])
    dtype = np.float32 if Element is float else np.float64
    result = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, dtype)
    if total:
        places = ends
        rows, columns, found = result
        tile.places = &places[0]
        tile.found_rows = &rows[0]
        tile.found_columns = &columns[0]
        tile.found = &found[0]
        run(copy_task, &tile, chunks, n_threads)
    return result


cdef void count_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef const Tile *tile = <const Tile *> context
    if tile.single:
        count_rows(tile, <const float *> tile.values, task * CHUNK)
    else:
        count_rows(tile, <const double *> tile.values, task * CHUNK)


cdef void count_rows(const Tile *tile, const Element *values, int64_t begin) noexcept nogil:
    cdef int64_t r, c, count, own
    cdef double radius = tile.radius
    for r in range(begin, min(begin + CHUNK, tile.rows)):
        count = 0
        for c in range(tile.columns):
            count += values[r * tile.columns + c] <= radius
        own = tile.first_row + r - tile.first_column
        if tile.skip and 0 <= own < tile.columns:
            count -= values[r * tile.columns + own] <= radius
        tile.counts[r] = count


cdef void copy_task(void *context, int64_t task, const d2ke_poll *poll) noexcept nogil:
    cdef const Tile *tile = <const Tile *> context
    if tile.single:
        copy_rows(tile, <const float *> tile.values, <float *> tile.found, task * CHUNK)
    else:
        copy_rows(tile, <const double *> tile.values, <double *> tile.found, task * CHUNK)


cdef void copy_rows(const Tile *tile, const Element *values, Element *found,
                    int64_t begin) noexcept nogil:
    cdef int64_t r, c, place
    for r in range(begin, min(begin + CHUNK, tile.rows)):
        if tile.counts[r] == 0:
            continue
        place = tile.places[r]
        for c in range(tile.columns):
            if values[r * tile.columns + c] <= tile.radius:
                if tile.skip and tile.first_row + r == tile.first_column + c:
                    continue
                tile.found_rows[place] = tile.first_row + r
                tile.found_columns[place] = tile.first_column + c
                found[place] = values[r * tile.columns + c]
                place += 1
