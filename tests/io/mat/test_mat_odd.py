# SPDX-License-Identifier: BSD-3-Clause
"""Structs with very many fields or without some members, and characters beyond 16 bits."""

import h5py
import numpy as np
import pytest

from d2ke.io import Unreadable, load_mat, save_mat


@pytest.mark.parametrize(
    ("n", "most"),
    [(40, 40), (41, 40)]
    + [pytest.param(n, 4000, marks=pytest.mark.slow) for n in (4000, 4001, 5000)],
)
def test_many_fields(tmp_path, monkeypatch, n, most):
    if most < 4000:
        monkeypatch.setattr("d2ke.io.mat.v73._MAX_FIELDS", most)
    values = {f"f{i:05}": float(i) for i in reversed(range(n))}
    save_mat(tmp_path / "a.mat", {"s": values}, version="7.3")
    with h5py.File(tmp_path / "a.mat") as file:
        kept = isinstance(file["s"].attrs["MATLAB_fields"], h5py.Reference)
        assert kept == (n > most)
    read = load_mat(tmp_path / "a.mat", squeeze=True)["s"]
    assert list(read) == list(values)
    assert read == values


def test_missing_members(tmp_path):
    path = tmp_path / "a.mat"
    pairs = np.zeros((1, 2), dtype=[("one", object), ("two", object), ("three", object)])
    for name in pairs.dtype.names:
        pairs[name][:] = name
    save_mat(path, {"s": {"a": 1.0, "b": 2.0, "c": 3.0}, "pairs": pairs}, version="7.3")
    with h5py.File(path, "r+") as file:
        del file["s/b"], file["pairs/two"]
        file["s"]["d"] = file["s"]["c"]
    data = load_mat(path)
    assert list(data["s"]) == ["a", "b", "c", "d"]
    assert data["s"]["c"] == data["s"]["d"] == 3
    assert data["s"]["b"] == Unreadable("s.b", "", "a field without a value in the file")
    assert data["pairs"].dtype.names == ("one", "two", "three")
    assert data["pairs"]["three"].tolist() == [["three", "three"]]
    assert all(isinstance(value, Unreadable) for value in data["pairs"]["two"].flat)


@pytest.mark.parametrize("version", ["5", "7.3"])
def test_rows_of_characters_beyond_16_bits(tmp_path, version):
    rows = np.array(["AB", "zz", "CD"])
    save_mat(tmp_path / "a.mat", {"t": rows}, version=version, compress=False)
    content = (tmp_path / "a.mat").read_bytes()
    stored = "AzCBzD".encode("utf-16-le")
    assert content.count(stored) == 1
    units = np.frombuffer("A_CB_D".encode("utf-16-le"), "<u2").copy()
    units[[1, 4]] = np.frombuffer("😀".encode("utf-16-le"), "<u2")
    (tmp_path / "a.mat").write_bytes(content.replace(stored, units.tobytes()))
    assert load_mat(tmp_path / "a.mat")["t"].tolist() == ["AB", "😀", "CD"]
