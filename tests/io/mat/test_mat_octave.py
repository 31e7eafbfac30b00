# SPDX-License-Identifier: BSD-3-Clause
"""GNU Octave loads what is written, and what it saves is read."""

import numpy as np
import pytest
import scipy.sparse
from test_mat import same

from d2ke.io import load_mat, save_mat

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


OCTAVES_NESTED = """
c = {full(eye(2)), 'abc', {1}}; s = struct('f', 1); s.c = c;
pair = struct('a', {full(eye(2)), 'x'}, 'b', {struct('f', 'g'), []});
"""


@pytest.mark.parametrize("option", ["-v7", "-v6"])
def test_what_octave_saves_is_read(tmp_path, octave, option):
    file = tmp_path / "octave.mat"
    code = [f"{name} = {expression};" for name, (expression, _) in VALUES.items()]
    code += [OCTAVES_NESTED, f"save('{option}', '{file}')"]
    octave("\n".join(code))
    expected = {name: value for name, (_, value) in VALUES.items()} | nested()
    assert same(load_mat(file, list(expected)), expected)


@pytest.mark.parametrize("compress", [True, False])
def test_octave_loads_what_is_written(tmp_path, octave, compress):
    file = tmp_path / "d2ke.mat"
    values = {name: value for name, (_, value) in VALUES.items()}
    save_mat(file, values | nested(), compress=compress)
    code = [f"g = load('{file}');"]
    for name, (expression, _) in VALUES.items():
        code.append(f"e = {expression}; o = g.{name};")
        code.append("assert(strcmp(class(o), class(e))); assert(isequaln(size(o), size(e)));")
        code.append("assert(issparse(o) == issparse(e)); assert(isequaln(o, e));")
    code.append(OCTAVES_NESTED)
    code += [f"assert(isequal(g.{name}, {name}));" for name in ("c", "s", "pair")]
    octave("\n".join(code))


def test_short_rows_of_octave(tmp_path, octave):
    """Octave 7 declares 4 bytes more than it writes."""
    file = tmp_path / "octave.mat"
    octave(f"rows = ['ab'; 'cd']; x = 1; save('-v7', '{file}', 'rows', 'x')")
    assert same(load_mat(file), {"rows": np.array(["ab", "cd"]), "x": np.array([[1.0]])})


def test_octave_reads_numbers_of_v73(tmp_path, octave):
    """It knows nothing of MATLAB's attributes; docs/mat_io.md says what is lost."""
    file = tmp_path / "d2ke.mat"
    save_mat(file, {"x": np.arange(6.0).reshape(2, 3), "z": np.array([[1 + 2j]])}, version="7.3")
    octave(f"s = load('{file}'); assert(s.x, [0 1 2; 3 4 5]); assert(s.z, 1+2i); clear s")
