# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files with a header as d2ke writes it, over any content."""

from d2ke.io.store.hdf5 import header


def seal(path, lines, *spared):
    """Write the header of an HDF5 file made with ``userblock_size=HEADER_BYTES``."""
    with open(path, "r+b") as stream:
        front = header(lines, stream, *spared)
        stream.seek(0)
        stream.write(front)
