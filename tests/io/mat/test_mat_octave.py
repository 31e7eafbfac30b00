# SPDX-License-Identifier: BSD-3-Clause
"""GNU Octave loads what is written, and what it saves is read."""

import shutil
import subprocess

import numpy as np
import pytest
import scipy.sparse

from d2ke.io import load_mat, save_mat

OCTAVE = shutil.which("octave-cli")
pytestmark = pytest.mark.skipif(OCTAVE is None, reason="GNU Octave (octave-cli) is not installed")

# Each value as Octave writes it, and as load_mat returns it.
VALUES = {
    "x": ("reshape(0:5, 2, 3)", np.arange(6.0).reshape(3, 2).T),
    "i64": ("int64(4611686018427387905)", np.array([[2**62 + 1]])),
    "u64": ("intmax('uint64')", np.array([[2**64 - 1]], dtype=np.uint64)),
    "i8": ("int8([-128 127])", np.array([[-128, 127]], dtype=np.int8)),
    "single": ("single(1.5)", np.array([[1.5]], dtype=np.float32)),
    "z": ("[1+2i 3]", np.array([[1 + 2j, 3]])),
    "b": ("[true false]", np.array([[True, False]])),
    "text": ("'text'", "text"),
    "rows": ("['abc'; 'def'; 'ghi']", np.array(["abc", "def", "ghi"])),
    "none": ("''", ""),
    "nan": ("[NaN -Inf]", np.array([[np.nan, -np.inf]])),
    "e": ("zeros(0, 3)", np.zeros((0, 3))),
    "nd": ("reshape(0:23, 2, 3, 4)", np.arange(24.0).reshape(4, 3, 2).T),
    "nocell": ("cell(0, 2)", np.empty((0, 2), dtype=object)),
    "sp": ("sparse([0 1.5; 2 0])", scipy.sparse.csc_array(np.array([[0, 1.5], [2, 0]]))),
    "spz": ("sparse([0 1i])", scipy.sparse.csc_array(np.array([[0, 1j]]))),
    "none_sp": ("sparse(3, 2)", scipy.sparse.csc_array((3, 2))),
}


def octave(code):
    done = subprocess.run(
        [OCTAVE, "--norc", "--quiet", "--eval", code], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def nested():
    """One of everything inside cells and structs."""
    cell = np.empty((1, 3), dtype=object)
    inner = np.empty((1, 1), dtype=object)
    inner[0, 0] = np.array([[1.0]])
    cell[0, :] = [np.eye(2), "abc", inner]
    pair = np.zeros((1, 2), dtype=[("a", object), ("b", object)])
    pair["a"][0, :] = [np.eye(2), "x"]
    pair["b"][0, :] = [{"f": "g"}, np.zeros((0, 0))]
    return {"c": cell, "s": {"f": np.array([[1.0]]), "c": cell}, "pair": pair}


def assert_same(got, expected, name):
    assert type(got) is type(expected), name
    if scipy.sparse.issparse(expected):
        assert got.dtype == expected.dtype, name
        assert_same(got.toarray(), expected.toarray(), name)
    elif isinstance(expected, dict):
        assert list(got) == list(expected), name
        for field, value in expected.items():
            assert_same(got[field], value, f"{name}.{field}")
    elif isinstance(expected, np.ndarray):
        assert got.dtype == expected.dtype, name
        assert got.shape == expected.shape, name
        if expected.dtype.names:
            for field in expected.dtype.names:
                assert_same(got[field], expected[field], f"{name}.{field}")
        elif expected.dtype == object:
            for x, y in zip(got.ravel(), expected.ravel(), strict=True):
                assert_same(x, y, name)
        else:
            assert np.array_equal(got, expected, equal_nan=expected.dtype.kind in "fc"), name
    else:
        assert got == expected, name


@pytest.mark.parametrize("option", ["-v7", "-v6"])
def test_what_octave_saves_is_read(tmp_path, option):
    file = tmp_path / "octave.mat"
    code = [f"{name} = {expression};" for name, (expression, _) in VALUES.items()]
    code += [
        "c = {eye(2), 'abc', {1}}; s = struct('f', 1); s.c = c;",
        "pair = struct('a', {full(eye(2)), 'x'}, 'b', {struct('f', 'g'), []});",
        "c{1} = full(c{1}); s.c = c;",
        f"save('{option}', '{file}')",
    ]
    octave(" ".join(code))
    got = load_mat(file)
    expected = {name: value for name, (_, value) in VALUES.items()} | nested()
    assert got.keys() == expected.keys()
    for name, value in expected.items():
        assert_same(got[name], value, name)


@pytest.mark.parametrize("compress", [True, False])
def test_octave_loads_what_is_written(tmp_path, compress):
    file = tmp_path / "d2ke.mat"
    values = {name: value for name, (_, value) in VALUES.items()}
    save_mat(file, values | nested(), compress=compress)
    code = [f"s = load('{file}');"]
    for name, (expression, _) in VALUES.items():
        code.append(f"e = {expression}; g = s.{name};")
        code.append("assert(strcmp(class(g), class(e))); assert(isequaln(size(g), size(e)));")
        code.append("assert(issparse(g) == issparse(e)); assert(isequaln(g, e));")
    code += [
        "c = {full(eye(2)), 'abc', {1}}; assert(isequal(s.c, c));",
        "assert(isequal(s.s, struct('f', 1, 'c', {c})));",
        "pair = struct('a', {full(eye(2)), 'x'}, 'b', {struct('f', 'g'), []});",
        "assert(isequal(s.pair, pair)); disp('done')",
    ]
    assert octave("\n".join(code)).strip() == "done"


def test_values_come_back_through_octave(tmp_path):
    ours, theirs = tmp_path / "ours.mat", tmp_path / "theirs.mat"
    data = {name: value for name, (_, value) in VALUES.items()} | nested()
    save_mat(ours, data)
    octave(f"load('{ours}'); save('-v7', '{theirs}')")
    got = load_mat(theirs)
    for name, value in data.items():
        assert_same(got[name], value, name)


def test_short_rows_of_octave(tmp_path):
    # Octave 7 declares 4 bytes more than it writes.
    file = tmp_path / "octave.mat"
    octave(f"rows = ['ab'; 'cd']; x = 1; save('-v7', '{file}')")
    assert_same(load_mat(file), {"rows": np.array(["ab", "cd"]), "x": np.array([[1.0]])}, "file")


def test_octave_reads_numbers_of_v73(tmp_path):
    # It knows nothing of MATLAB's attributes; docs/mat_io.md says what is lost.
    file = tmp_path / "d2ke.mat"
    save_mat(file, {"x": np.arange(6.0).reshape(2, 3), "z": np.array([[1 + 2j]])}, version="7.3")
    code = f"s = load('{file}'); assert(s.x, [0 1 2; 3 4 5]); assert(s.z, 1+2i); disp('done')"
    assert octave(code).strip() == "done"
