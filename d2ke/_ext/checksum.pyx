# SPDX-License-Identifier: BSD-3-Clause
"""Chunks of HDF5 with Fletcher's checksum behind each."""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

cdef extern from "fletcher.h":
    void d2ke_fletcher(const unsigned char *content, int64_t n, uint64_t *first,
                       uint64_t *second) noexcept nogil

cdef enum:
    CHECKSUM = 4


cdef void put_checksum(const unsigned char *content, int64_t n_bytes,
                       unsigned char *target) noexcept nogil:
    """Write what HDF5's filter fletcher32 appends to an even number of bytes, below 2^25.

    HDF5 takes words of two bytes as big-endian ones; turning the bytes of a word round multiplies
    it by 256 modulo 65535. Folding a sum never makes 0 of anything else.
    """
    cdef uint64_t sums[2]
    cdef int k
    d2ke_fletcher(content, n_bytes // 2, &sums[0], &sums[1])
    for k in range(2):
        if sums[k]:
            sums[k] = (256 * sums[k] - 1) % 65535 + 1
        target[2 * k] = sums[k] & 255
        target[2 * k + 1] = sums[k] >> 8


def fletcher32(const unsigned char[::1] content):
    """Return the checksum of the bytes of a chunk."""
    cdef unsigned char found[CHECKSUM]
    cdef const unsigned char *start = &content[0] if content.shape[0] else NULL
    with nogil:
        put_checksum(start, content.shape[0], found)
    return found[:CHECKSUM]


def encode(const unsigned char[:, :] rows, unsigned char[:, ::1] chunks, int64_t height):
    """Cut rows of bytes into chunks of so many rows from the left to the right.

    Each chunk is a row of `chunks`: its rows end to end, with zeros for what lies beyond, and its
    checksum.
    """
    cdef int64_t body = chunks.shape[1] - CHECKSUM, width = body // height
    cdef int64_t n = rows.shape[0], i, j, here
    cdef unsigned char *chunk
    with nogil:
        for j in range(chunks.shape[0]):
            chunk = &chunks[j, 0]
            here = min(width, rows.shape[1] - j * width)
            for i in range(n):
                memcpy(chunk + i * width, &rows[i, j * width], here)
                memset(chunk + i * width + here, 0, width - here)
            memset(chunk + n * width, 0, body - n * width)
            put_checksum(chunk, body, chunk + body)
