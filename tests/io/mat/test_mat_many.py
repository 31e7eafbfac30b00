# SPDX-License-Identifier: BSD-3-Clause
"""Cells of many small matrices."""

import h5py
import numpy as np
import pytest
from test_mat import same

from d2ke.io import load_mat, save_mat

CELLS = [[], [1.5], ["A", [], [2.5, [True, "inner"]], {"a": [1]}], [np.zeros((3, 0))] * 3]
FORMS = [("5", False), ("5", True), ("7.3", False), ("7.3", True)]


def items():
    rng = np.random.default_rng(0)
    values = []
    for code in ("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?", "c16"):
        for shape in ((1, 1), (1, 3), (7, 2), (2, 3, 4), (0, 3), (90, 70)):
            values.append(rng.integers(0, 100, shape).astype(code))
    return [*values, "", "A", "text", "größe", "😀", [1.5, "inner"], {"a": 1, "b": "two"}, *CELLS]


@pytest.mark.parametrize(("version", "compress"), FORMS)
def test_all_classes_in_a_cell(tmp_path, version, compress):
    save_mat(tmp_path / "a.mat", {"x": items()}, version=version, compress=compress)
    read = load_mat(tmp_path / "a.mat")["x"]
    assert read.shape == (1, len(items()))
    for got, expected in zip(read[0], items(), strict=True):
        if isinstance(expected, np.ndarray):
            assert same(got, expected)
            got[...] = 1  # nobody else's memory
    assert read[0, -7 - len(CELLS) : -2 - len(CELLS)].tolist() == ["", "A", "text", "größe", "😀"]


def test_numbers_stored_in_smaller_types(tmp_path):
    """MATLAB stores doubles that are small integers as such, up to 4 bytes within the tag."""
    path = tmp_path / "a.mat"
    values = [np.arange(n, dtype=np.uint8)[np.newaxis] for n in (1, 2, 4, 5, 30)]
    save_mat(path, {"x": values}, compress=False)
    content = path.read_bytes()
    flags = np.array([6, 8, 9, 0], "<u4").tobytes()
    assert content.count(flags) == len(values)
    path.write_bytes(content.replace(flags, np.array([6, 8, 6, 0], "<u4").tobytes()))
    for got, value in zip(load_mat(path)["x"][0], values, strict=True):
        assert same(got, value.astype(float))


def test_compact_datasets(tmp_path):
    path = tmp_path / "a.mat"
    save_mat(path, {"x": [np.arange(6.0).reshape(2, 3)]}, version="7.3")
    with h5py.File(path, "r+") as file:
        old = file["#refs#/b1"]
        made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        made.set_layout(h5py.h5d.COMPACT)
        new = h5py.h5d.create(file.id, b"#compact#", old.id.get_type(), old.id.get_space(), made)
        new.write(h5py.h5s.ALL, h5py.h5s.ALL, old[()])
        new = h5py.Dataset(new)
        new.attrs["MATLAB_class"] = old.attrs["MATLAB_class"]
        file["x"][...] = new.ref
    assert same(load_mat(path)["x"][0, 0], np.arange(6.0).reshape(2, 3))
