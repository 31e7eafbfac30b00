# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of text in .npz and HDF5 files, and which variable holds the labels."""

import h5py
import numpy as np
import pytest

from d2ke.io import read_objects


def write(path, arrays):
    if path.suffix == ".npz":
        np.savez(path, **arrays)
        return
    with h5py.File(path, "w") as store:
        for name, value in arrays.items():
            store[name] = value


@pytest.mark.parametrize("name", ["a.npz", "a.h5"])
def test_bytes_are_utf_8_text(tmp_path, name):
    words, classes = ["ab", "\u00e9"], ["x", "\u0142"]
    arrays = {"X": np.char.encode(words, "utf-8"), "y": np.char.encode(classes, "utf-8")}
    write(tmp_path / name, arrays)
    objects, labels = read_objects(tmp_path / name)
    assert (list(objects), labels.tolist()) == (words, classes)
    write(tmp_path / name, {**arrays, "y": np.array([b"x", b"\xff"])})
    with pytest.raises(ValueError, match=rf"{name}: y has bytes that are not UTF-8 text"):
        read_objects(tmp_path / name)


@pytest.mark.parametrize("name", ["a.npz", "a.h5"])
def test_labels_are_chosen_by_name_as_in_tables(tmp_path, name):
    write(tmp_path / name, {"X": np.eye(2), "target": [0.5, 1.5], "y": [1, 2], "Class": [3, 4]})
    held = read_objects(tmp_path / name)
    assert (held.labels.tolist(), held.columns.labels) == ([3, 4], "Class")
    assert set(held.columns.unused) == {"target", "y"}
