# SPDX-License-Identifier: BSD-3-Clause
"""MAT-files: what a file claims is not believed, and none leads to another."""

import io
import json
import shutil
import struct
import zlib

import h5py
import numpy as np
import pytest
from hostile_files import HUGE, level_73

import d2ke
from d2ke.io.mat.errors import Damaged
from d2ke.io.mat.v73 import _received


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
    packed = zlib.compress(struct.pack("<II", 14, claimed) + content)
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
    "5, a bomb": lambda path: level_5(squeezed(bytes(2**28), 64))(path),
    "7.3, shape": level_73((2**30, 2**30), (1, 1)),
    "7.3, contiguous": level_73((2**28, 2**28), None),
    "7.3, chunk": level_73((2**28, 4), (2**26, 4)),
    "7.3, cell": level_73((2**40, 1), (4, 1), h5py.ref_dtype, "cell"),
    "7.3, char": level_73((2**40, 1), (4, 1), "u2", "char"),
}


@pytest.mark.parametrize("name", MAT_FILES)
def test_mat_files_claim_no_memory(name, tmp_path, refused):
    path = tmp_path / "x.mat"
    MAT_FILES[name](path)
    assert "MatFileError" in refused("d2ke.io.load_mat(sys.argv[1])", path)


def mat_external(file):
    file.create_dataset("y", (1, 8), "u1", external=[("/etc/passwd", 0, 8)])
    file["y"].attrs["MATLAB_class"] = np.bytes_("uint8")


def mat_virtual(file):
    layout = h5py.VirtualLayout((1, 8), "f8")
    layout[:] = h5py.VirtualSource("other.h5", "x", (1, 8))
    file.create_virtual_dataset("y", layout).attrs["MATLAB_class"] = np.bytes_("double")


def mat_link(file):
    file["y"] = h5py.ExternalLink("other.h5", "/x")


def mat_soft(file):
    file["far"] = h5py.ExternalLink("other.h5", "/")
    file["y"] = h5py.SoftLink("/far/x")


def mat_field(file):
    group = file.create_group("y")
    group.attrs["MATLAB_class"] = np.bytes_("struct")
    group["field"] = h5py.ExternalLink("other.h5", "/x")


def mat_sparse(file):
    group = file.create_group("y")
    group.attrs["MATLAB_class"] = np.bytes_("double")
    group.attrs["MATLAB_sparse"] = np.uint64(1)
    group["jc"], group["ir"] = np.array([0, 1], np.uint64), np.array([0], np.uint64)
    group["data"] = h5py.ExternalLink("other.h5", "/x")


@pytest.mark.parametrize(
    "change", [mat_external, mat_virtual, mat_link, mat_soft, mat_field, mat_sparse]
)
def test_mat_files_are_one_file(change, tmp_path, refused):
    path = tmp_path / "x.mat"
    level_73((1,), None)(path)
    shutil.copy(path, tmp_path / "other.h5")
    assert d2ke.io.load_mat(path)
    with h5py.File(path, "r+") as file:
        change(file)
    message = refused("d2ke.io.load_mat(sys.argv[1], 'y')", path)
    assert "is a link to elsewhere" in message or "is in another file" in message


# Messages of the process that reads version 7.3.


def framed(message, arrays=b""):
    text = json.dumps(message).encode()
    return len(text).to_bytes(8, "little") + text + arrays


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x04\x95",  # the beginning of a pickle
        (2**62).to_bytes(8, "little"),
        framed(["node", ["array", {"dtype": "|O", "shape": [1]}]], bytes(8)),
        framed(["node", ["array", {"dtype": "<f8", "shape": [HUGE]}]], bytes(64)),
        framed(["node", ["array", {"dtype": "<f8", "shape": [-1]}]]),
        framed(["node", ["array", {"dtype": "V8", "shape": [1]}]], bytes(8)),
        framed(["node", ["other", 1]]),
        framed(["node", ["cell", [1.5, 1], []]]),
        framed(["node"]),
        framed({}),
        framed(3),
        (4).to_bytes(8, "little") + b"[[[[",
        (9).to_bytes(8, "little") + b"\xff" * 9,
    ],
)
def test_bad_messages_are_refused(content):

    class Process:
        stdout = io.BytesIO(content)

        def wait(self):
            return 1

    with pytest.raises(Damaged):
        list(_received(Process()))
