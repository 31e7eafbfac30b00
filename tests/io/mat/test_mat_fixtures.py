# SPDX-License-Identifier: BSD-3-Clause
"""MAT-files that MATLAB wrote, of every age, against scipy's and h5py's reading of them."""

import re
import warnings
from collections import Counter
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from scipy.io.matlab import MatlabFunction, MatlabObject, MatlabOpaque

from d2ke.io import MatFileError, Unreadable, load_mat

DAMAGED = {
    "bad_miuint32.mat": r"cannot reshape array of size 10 into shape \(2147483649,10\)",
    "corrupted_zlib_checksum.mat": "incorrect data check",
    "debigged_m4.mat": "a needs 3221225472 bytes from byte 22, beyond the file's end",
    "malformed1.mat": "needs 658840 bytes, beyond the end at byte 2208",
}
SAME_CONTENT = {  # which scipy cannot read, and the file that it can
    "test_le_hdf5.mat": "test_le.mat",
    "test_file_hdf5.mat": "test_file.mat",
}


def equal(got, theirs):
    """Whether a value is what scipy reads, which has other types for some."""
    if isinstance(got, Unreadable):
        return isinstance(theirs, (MatlabFunction, MatlabObject, MatlabOpaque))
    if scipy.sparse.issparse(theirs):
        return np.array_equal(got.toarray(), theirs.toarray())
    if isinstance(got, str):
        return (theirs.item() if theirs.size else "") == got
    if isinstance(got, dict) and not got:
        return theirs.shape == (1, 1) and theirs[0, 0] is None
    if isinstance(got, dict):
        return theirs.dtype.names == tuple(got) and all(
            equal(got[field], theirs[field][0, 0]) for field in got
        )
    if got.shape != theirs.shape or got.dtype.names != theirs.dtype.names:
        return False
    if got.dtype.names:
        return all(equal(got[field], theirs[field]) for field in got.dtype.names)
    if got.dtype == object:
        return all(equal(x, y) for x, y in zip(got.ravel(), theirs.ravel(), strict=True))
    return np.array_equal(got, theirs, equal_nan=got.dtype.kind in "fc")


def has_unreadable(value):
    if isinstance(value, dict):
        return any(map(has_unreadable, value.values()))
    if isinstance(value, np.ndarray) and value.dtype == object:
        return any(map(has_unreadable, value.ravel()))
    return isinstance(value, Unreadable)


def outcome(path):
    """Read a file and compare; return what docs/mat_io.md counts, and fail if it differs."""
    if path.name in DAMAGED:
        with pytest.raises(MatFileError, match=DAMAGED[path.name]) as caught:
            load_mat(path)
        assert str(path) in str(caught.value)
        return "refused with the reason, as by scipy"
    got = load_mat(path)
    if path.name == "corrupted_zlib_data.mat":
        unread = [value for value in got.values() if isinstance(value, Unreadable)]
        assert [value.name for value in unread] == ["datagrid"]
        assert unread[0].reason == "damaged: compressed data end too early"
        assert got["dates"].shape == got["dscodes"].shape == (0, 1)
        return "two of three variables read, the damaged variable is Unreadable"
    if path.name in SAME_CONTENT:
        other = load_mat(path.with_name(SAME_CONTENT[path.name]))
        assert got.keys() == other.keys()
        # The other file is equal to scipy's reading of it; here each has the same types.
        for name, value in got.items():
            assert repr(value) == repr(other[name]), name
        return "version 7.3, equal to the same content in version 7"
    if path.name == "testhdf5_7.4_GLNX86.mat":
        with h5py.File(path) as file:
            assert np.array_equal(got["testdouble"], file["testdouble"][()].T)
        return "version 7.3, equal to h5py's content"
    if path.name == "bad_miutf8_array_name.mat":
        assert list(got) == ["äray_name"]
        return "read, although scipy refuses the name (UTF-8)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = scipy.io.loadmat(path)
    opaque = [theirs.pop(key) for key in list(theirs) if key in (None, "None")]
    theirs = {name: value for name, value in theirs.items() if not name.startswith("__")}
    if path.name == "testmatlabstring_7_WIN64.mat":
        assert opaque
        assert got == {"matstring1": "Hello!", "matstring2": "Goodbye!"}
        return "two strings; scipy returns one of the two, undecoded"
    if opaque:
        assert all(isinstance(value, Unreadable) for value in got.values())
    else:
        assert list(got) == list(theirs)
        for name, value in got.items():
            assert equal(value, theirs[name]), name
    if any(map(has_unreadable, got.values())):
        return "equal to scipy's result; functions and objects are Unreadable"
    return "equal to scipy's result"


def test_every_fixture(data_dir):
    counts = Counter(outcome(path) for path in sorted(data_dir.glob("mat_fixtures/**/*.mat")))
    text = (Path(__file__).parents[3] / "docs" / "mat_io.md").read_text("utf-8")
    documented = re.findall(r"^\| (\d+) \| (.*?) \|$", text, re.M)
    assert {label: int(count) for count, label in documented} == counts


def test_classes_are_matlabs(data_dir):
    dtypes = {"double": "f8", "single": "f4", "logical": "?"}
    for path in data_dir.glob("mat_fixtures/**/*.mat"):
        if path.name in DAMAGED or not path.read_bytes().startswith(b"MATLAB 5.0"):
            continue
        try:
            classes = {name: matlab_class for name, _, matlab_class in scipy.io.whosmat(path)}
        except (ValueError, TypeError):  # whosmat fails on some that loadmat reads
            continue
        got = load_mat(path)
        for name, value in got.items():
            if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
                assert value.dtype == dtypes.get(classes[name], classes[name]), path
