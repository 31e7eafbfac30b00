# SPDX-License-Identifier: BSD-3-Clause
"""What a MAT-file lists without its values being read."""

import os
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from d2ke.io import MatFileError, save_mat, whos_mat

pairs = np.zeros((2, 3), dtype=[("a", object), ("b", object)])
pairs["a"][:], pairs["b"][:] = 1.0, "x"
CONTENT = {
    "b": np.zeros((2, 2), bool),
    "c": ["x", 1.0],
    "e": np.zeros((0, 3), np.int8),
    "i": np.zeros((2, 3, 4), np.int16),
    "none": np.empty((0, 2), object),
    "p": pairs,
    "s": {"f": 1.0},
    "sp": scipy.sparse.csc_array(np.eye(4)[:3]),
    "t": "text",
    "u": {},
    "x": np.zeros((3, 400)),
    "z": np.zeros((2, 1), np.complex64),
}
OTHERS = ("unknown", "opaque", "object", "function", "char")
LISTED = [
    ("b", (2, 2), "logical"),
    ("c", (1, 2), "cell"),
    ("e", (0, 3), "int8"),
    ("i", (2, 3, 4), "int16"),
    ("none", (0, 2), "cell"),
    ("p", (2, 3), "struct"),
    ("s", (1, 1), "struct"),
    ("sp", (3, 4), "sparse"),
    ("t", (1, 4), "char"),
    ("u", (1, 1), "struct"),
    ("x", (3, 400), "double"),
    ("z", (2, 1), "single"),
]


@pytest.mark.parametrize("options", [{}, {"compress": False}, {"version": "7.3"}], ids=str)
def test_variables_are_listed(tmp_path, options):
    save_mat(tmp_path / "a.mat", CONTENT, **options)
    assert whos_mat(tmp_path / "a.mat") == LISTED


def test_values_are_not_read(tmp_path):
    path = tmp_path / "a.mat"
    save_mat(path, {"first": np.arange(3.0), "x": np.random.default_rng(0).random((200, 100))})
    content = bytearray(path.read_bytes())
    content[-9000:-100] = bytes(8900)
    path.write_bytes(content)
    assert whos_mat(path) == [("first", (1, 3), "double"), ("x", (200, 100), "double")]


@pytest.mark.skipif("D2KE_DATA" not in os.environ, reason="needs the files of scipy's tests")
def test_listed_as_scipy_does():
    compared = 0
    for path in sorted(Path(os.environ["D2KE_DATA"], "mat_fixtures").rglob("*.mat")):
        try:
            expected = scipy.io.whosmat(path)
            listed = whos_mat(path)
        except (MatFileError, NotImplementedError, ValueError, TypeError, zlib.error):
            continue
        names = [entry[0] for entry in listed]
        for name, shape, matlab_class in expected:
            # scipy's shapes of char are those of its arrays of str.
            if name not in names or matlab_class in OTHERS:
                continue
            assert (name, tuple(shape), matlab_class) in listed, path.name
            compared += 1
    assert compared > 100
