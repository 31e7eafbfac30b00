# SPDX-License-Identifier: BSD-3-Clause
"""A MAT-file up to version 7 that claims more than it holds is refused before memory is taken."""

import struct
import zlib

import pytest


def level_4(path):
    path.write_bytes(struct.pack("<5i", 0, 2**31 - 1, 2**31 - 1, 0, 2) + b"x\0" + bytes(64))


def level_5(content):
    def write(path):
        head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H2s", 0x0100, b"IM")
        path.write_bytes(head + content)

    return write


def matrix(shape, data_bytes, kind=6):
    flags = struct.pack("<IIII", 6, 8, kind, 0)
    sizes = struct.pack(f"<II{len(shape)}i", 5, 4 * len(shape), *shape)
    name = struct.pack("<HH4s", 1, 1, b"x")
    data = struct.pack("<II", 9, data_bytes) + bytes(16)
    body = flags + sizes + name + data
    return struct.pack("<II", 14, len(body)) + body


def squeezed(content, claimed):
    packed = zlib.compress(struct.pack("<II", 14, claimed) + content, 1)
    return struct.pack("<II", 15, len(packed)) + packed


MAT_FILES = {
    "4": level_4,
    "5, shape": level_5(matrix((2**30, 2**30), 16)),
    "5, bytes": level_5(matrix((1, 2), 2**32 - 8)),
    "5, cell": level_5(matrix((2**15, 2**15), 16, kind=1)),
    "5, struct": level_5(matrix((2**15, 2**15), 16, kind=2)),
    "5, char": level_5(matrix((2**15, 2**15), 16, kind=4)),
    "5, sparse": level_5(matrix((2, 2**31 - 2), 16, kind=5)),
    "5, compressed": level_5(squeezed(bytes(64), 2**32 - 16)),
    "5, a bomb": lambda path: level_5(squeezed(bytes(2**27), 64))(path),
}


@pytest.mark.parametrize("name", MAT_FILES)
def test_mat_files_claim_no_memory(name, tmp_path, refused):
    path = tmp_path / "x.mat"
    MAT_FILES[name](path)
    assert "MatFileError" in refused("d2ke.io.load_mat(sys.argv[1])", path)
