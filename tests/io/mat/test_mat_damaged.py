# SPDX-License-Identifier: BSD-3-Clause
"""One variable that cannot be read does not refuse the others of a file."""

import h5py
import numpy as np
import pytest

from d2ke.io import MatFileError, Unreadable, load_mat, load_objects, save_mat


def damaged_v7(path):
    save_mat(path, {"a": "first", "b": np.random.default_rng(0).random((90, 100)), "c": "last"})
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 50] = bytes(50)
    path.write_bytes(content)


def damaged_v73(path):
    save_mat(path, {"a": "first", "b": np.zeros((2, 2)), "c": "last"}, version="7.3")
    with h5py.File(path, "r+") as file:
        file["b"].attrs["MATLAB_class"] = np.bytes_("cell")


@pytest.mark.parametrize("damage", [damaged_v7, damaged_v73])
def test_other_variables_are_read(tmp_path, damage):
    path = tmp_path / "a.mat"
    damage(path)
    data = load_mat(path)
    assert data["a"] == "first"
    assert data["c"] == "last"
    assert isinstance(data["b"], Unreadable)
    assert data["b"].name == "b"
    assert data["b"].matlab_class in ("double", "cell")
    assert data["b"].reason.startswith("damaged: ")
    assert load_mat(path, "c") == {"c": "last"}
    with pytest.raises(MatFileError, match=r"a\.mat cannot be read: "):
        load_mat(path, "b")
    with pytest.raises(MatFileError, match="b: "):
        load_objects(path, "b")
