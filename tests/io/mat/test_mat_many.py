# SPDX-License-Identifier: BSD-3-Clause
"""Cells of many small matrices are read by a short way; it gives what the long one gives."""

import h5py
import numpy as np
import pytest
from test_mat import same

from d2ke.io import load_mat, save_mat
from d2ke.io.mat import v5, v5_plain

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


@pytest.mark.parametrize("compress", [False, True])
def test_the_short_way_of_version_5(tmp_path, monkeypatch, compress):
    path = tmp_path / "a.mat"
    pairs = np.zeros((2, 3), dtype=[("one", object), ("two", object)])
    pairs["one"], pairs["two"] = 1.5, "t"
    save_mat(path, {"x": items(), "pairs": pairs}, compress=compress)
    short = load_mat(path)
    monkeypatch.setattr(v5, "plain_matrix", lambda *_: None)
    assert same(short, load_mat(path))


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


def test_what_is_not_plain_is_left(tmp_path):
    save_mat(tmp_path / "a.mat", {"x": [np.ones((2, 3))]}, compress=False)
    content = np.frombuffer((tmp_path / "a.mat").read_bytes(), np.uint8).copy()
    at = len(content) - 56 - 48

    def plain(content, end):
        return v5_plain.plain_matrix(content, content.ctypes.data, at, end, False)

    assert plain(content, len(content))[1] == len(content)
    for byte in range(56):
        if 20 <= byte % 56 < 24:
            continue  # a word that only sparse matrices use
        for value in (0, 1, 2, 7, 127, 128, 255):
            damaged = content.copy()
            damaged[at + byte] = value
            found = plain(damaged, len(content))
            assert found is None or byte in (4, 16, 48) or value == content[at + byte]
    assert plain(content, len(content) - 1) is None


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
