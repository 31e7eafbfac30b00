# SPDX-License-Identifier: BSD-3-Clause
"""Models of objects to files and back."""

import io
import json
from functools import partial
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from reference import reloaded
from seals import seal_model, sealed

import d2ke
from d2ke.models.persistence import _decoded, _encoded, _File
from d2ke.objects.hdf5 import get_json, put_json, put_text

X_STRINGS = ["abab", "aabb", "ababab", "aaabbb", "b"] * 4
LABELS = {
    "str": ["x", "ä", "x", "ä", "x"] * 4,
    "int": [3, 1, 3, 1, 2] * 4,
    "bool": [True, False, True, False, True] * 4,
    "bytes": np.array([b"x", b"yy", b"x", b"yy", b"x"] * 4),
    "float": [0.5, 1.0, 0.5, 1.0, 0.75] * 4,
}


@pytest.mark.parametrize("kind", LABELS)
def test_strings_with_labels_of_every_type(kind):
    model = d2ke.d2ke_train(LABELS[kind], X_STRINGS, R=40, groups="none")
    again = reloaded(model)
    assert str(again) == str(model)
    for x in (X_STRINGS, ["ba"]):
        one, other = (d2ke.d2ke_predict(None, x, m) for m in (model, again))
        assert (one[0] == other[0]).all()
        assert one[0].dtype == other[0].dtype
        assert one[2].tobytes() == other[2].tobytes()
    assert again.feature_names() == model.feature_names()
    if model.confusion is not None:
        assert (again.confusion == model.confusion).all()


@pytest.mark.parametrize("distance", [None, "mhd", "emd", "kernel"])
def test_vectors(distance):
    rng = np.random.default_rng(0)
    X = [rng.random((rng.integers(2, 6), 17)) + i % 2 for i in range(20)]
    options = {} if distance is None else {"distance": distance}
    if distance == "kernel":
        options["sigma"] = 2.0
    model = d2ke.d2ke_train([0, 1] * 10, X, R=80, **options)
    again = reloaded(model)
    for one, other in zip(model.blocks, again.blocks, strict=True):
        assert one.omega == other.omega
        assert (one.gamma == other.gamma).all()
        np.testing.assert_array_equal(one.own, other.own)
        assert one.parameters == other.parameters
        assert one.from_omega == other.from_omega
    one, other = (d2ke.d2ke_predict(None, X, m)[2] for m in (model, again))
    assert one.tobytes() == other.tobytes()


def test_file_objects_and_other_models(tmp_path):
    model = d2ke.d2ke_train(LABELS["int"], X_STRINGS, R=40, groups="none")
    stream = io.BytesIO()
    d2ke.save_model(stream, model)
    stream.seek(0)
    assert d2ke.load_model(stream).R == model.R
    d2ke.save_model(tmp_path / "linear", model.linear)
    linear = d2ke.load_model(tmp_path / "linear")
    assert (linear.weights == model.linear.weights).all()


def test_what_is_no_model_is_refused():
    estimator = SimpleNamespace(model_=None)
    for wrong, hint in ((estimator, "SimpleNamespace; save its model_"), ("model.h5", "str")):
        with pytest.raises(TypeError, match=f"model must be a D2KEModel, .* got {hint}$"):
            d2ke.save_model(io.BytesIO(), wrong)


def gap(a, b):
    return float(abs(len(a) - len(b)))


def unlike(a, b):
    return float(a[0] != b[0]) + 0.5 * gap(a, b)


@pytest.mark.parametrize("functions", [gap, [unlike, gap]])
def test_distances_of_the_user_are_given_again(functions):
    words = ["ab", "bbbbbb"] * 10
    model = d2ke.d2ke_train([0, 1] * 10, words, distance=functions, R=8)
    file = io.BytesIO()
    d2ke.save_model(file, model)
    loaded = d2ke.load_model(io.BytesIO(file.getvalue()), distance=functions)
    decisions = d2ke.d2ke_predict(None, words, model)[2]
    np.testing.assert_array_equal(d2ke.d2ke_predict(None, words, loaded)[2], decisions)
    for wrong in (None, [gap, gap, gap], "levenshtein"):
        with pytest.raises(ValueError, match=r"distance must be what the model was trained with"):
            d2ke.load_model(io.BytesIO(file.getvalue()), distance=wrong)
    d2ke.save_model(file := io.BytesIO(), model.linear)
    with pytest.raises(ValueError, match="no own function"):
        d2ke.load_model(io.BytesIO(file.getvalue()), distance=gap)


def test_functions_of_the_user_are_refused(tmp_path):
    own = d2ke.Block("own", "levenshtein", d2ke.samplers.segments, 9, (lambda X: X,))
    model = d2ke.d2ke_train(LABELS["int"], X_STRINGS, blocks=[own], groups="none")
    with pytest.raises(TypeError, match="no file can hold it"):
        d2ke.save_model(tmp_path / "m.h5", model)
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def content():
    half = partial(d2ke.views.part, stop=0.5)
    blocks = [d2ke.Block("half", "levenshtein", d2ke.samplers.training_objects, 5, (half,))]
    stream = io.BytesIO()
    d2ke.save_model(stream, d2ke.d2ke_train(LABELS["str"], X_STRINGS, blocks=blocks, groups="none"))
    return stream.getvalue()


def test_files_of_others_and_newer_ones(content, tmp_path):
    stream = io.BytesIO(content)
    with h5py.File(stream, "r+") as store:
        store.attrs["version"] = 7
    with pytest.raises(ValueError, match="version 7 of the format; this reads 1"):
        d2ke.load_model(io.BytesIO(sealed(stream.getvalue())))
    for block in (0, 512):
        other = io.BytesIO()
        h5py.File(other, "w", userblock_size=block).close()
        with pytest.raises(ValueError, match="not a model saved by d2ke: another program wrote it"):
            d2ke.load_model(io.BytesIO(other.getvalue()))
    d2ke.io.save_features(tmp_path / "Z.h5", np.eye(2))


def _structure(store, before, after):
    text = json.dumps(get_json(store, "structure"))
    assert before in text
    del store["structure"]
    put_text(store, "structure", np.array(text.replace(before, after, 1)))


def _part(value, *path):
    """Return a part of a structure by the names of attributes, and numbers of items."""
    for name in path:
        ((form, arguments),) = value.items()
        value = arguments[name] if form in ("tuple", "objects") else dict(arguments)[name]
    return value


def _edit(store, path, edit):
    """Give the part of the structure at a path to a function that changes it."""
    structure = get_json(store, "structure")
    edit(_part(structure, *path))
    del store["structure"]
    put_json(store, "structure", structure)


def _set(store, path, value):
    """Put an array in the place of another, at the end of the numbers of its type."""
    name = value.dtype.str[1:]
    ref = [name, len(store[name]), list(value.shape), value.dtype.str]
    _set_numbers(store, name, lambda numbers: np.append(numbers, value))
    _edit(store, path, lambda part: part.update(array=[ref]))


def _array(part):
    """Return type, place, shape and dtype of the array of a structure."""
    return part["array"][0]


def _set_numbers(store, name, change):
    numbers = change(store[name][()])
    del store[name]
    store[name] = numbers


MEAN = "scaling", "mean"
OMEGA = "blocks", 0, "omega"
DAMAGE = {
    "no numbers": lambda s: s.__delitem__("f8"),
    "too few numbers": lambda s: _set_numbers(s, "f8", lambda values: values[:-1]),
    "unknown class": lambda s: _structure(s, '{"Scaling": ', '{"Popen": '),
    "unknown part": lambda s: _structure(s, '["kernel_weight", ', '["other", '),
    "two parts": lambda s: _structure(s, '{"Scaling": ', '{"a": [], "Scaling": '),
    "mean too short": lambda s: _set(s, MEAN, np.zeros(2)),
    "mean NaN": lambda s: _set(s, MEAN, np.full(5, np.nan)),
    "mean beyond the numbers": lambda s: _edit(
        s, MEAN, lambda part: _array(part).__setitem__(1, 10**9)
    ),
    "mean of another dtype": lambda s: _edit(
        s, MEAN, lambda part: _array(part).__setitem__(3, "<f4")
    ),
    "weights too narrow": lambda s: _set(s, ("linear", "weights"), np.zeros((1, 2))),
    "reference NaN": lambda s: _set(s, ("reference", "scores"), np.full(20, np.nan, np.float32)),
    "gamma of float32": lambda s: _set(s, ("blocks", 0, "gamma"), np.ones(5, np.float32)),
    "unknown distance": lambda s: _structure(s, '"levenshtein"', '"dwt"'),
    "distance of vectors": lambda s: _structure(s, '"levenshtein"', '"dtw"'),
    "unknown parameter": lambda s: _structure(
        s, '["parameters", {"mapping": []', '["parameters", {"mapping": [["a", 1]]'
    ),
    "unknown view": lambda s: _structure(s, '{"view": ["part", ', '{"view": ["system", '),
    "view of no arguments": lambda s: _structure(s, '{"view": ["part", ', '{"view": ["part", 3, '),
    "a number for an array": lambda s: _edit(s, MEAN, lambda part: part.update(array=[3])),
    "an object dtype": lambda s: _edit(s, MEAN, lambda part: _array(part).__setitem__(3, "|O")),
    "offsets beyond": lambda s: _edit(
        s, OMEGA, lambda part: part["objects"][2].__setitem__(1, 0)
    ),
    "no alphabet": lambda s: _edit(s, OMEGA, lambda part: part["objects"].__setitem__(3, None)),
    "a group for numbers": lambda s: (s.__delitem__("f8"), s.create_group("f8")),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_hostile_files_are_refused(name, content, tmp_path):
    path = tmp_path / "m.h5"
    path.write_bytes(content)
    with h5py.File(path, "r+") as store:
        DAMAGE[name](store)
    seal_model(path)
    with pytest.raises(ValueError, match=r"m\.h5 is damaged"):
        d2ke.load_model(path)


def test_labels_in_the_other_byte_order(tmp_path):
    y = np.array(["odd", "even"] * 10, ">U4")
    model = d2ke.d2ke_train(y, ["abab", "aabb"] * 10, R=8)
    d2ke.save_model(tmp_path / "model", model)
    assert d2ke.load_model(tmp_path / "model").classes.tolist() == ["even", "odd"]


def test_arrays_have_their_types_and_bits_again():
    """They are narrower in the file, and triangles are there once."""
    rng = np.random.default_rng(0)
    square = rng.normal(size=(40, 40))
    sets = [
        np.arange(5), np.array([], np.uint8), np.array([True, False]), np.array([-1, 2**40]),
        np.array([2**63], np.uint64), np.array([0.5, -0.0]), np.array([0.1]),
        np.array([1e300, 1e-300]), np.float32([0.1, 3e38]), np.float16([0.1]), np.zeros((0, 3)),
        np.zeros((3, 3)), np.array([b"ab", b"c"]), np.array([["a", "\u00e4"]]), np.arange(4)[::2],
        np.arange(3, dtype=">i4"), square, square.T, np.tril(square), np.triu(square),
        np.tril(square.astype(np.float32)).astype(float), np.array(2.5),
    ]  # fmt: skip
    numbers = {}
    encoded = _encoded(_File(numbers, []), sets)
    file = _File({name: np.concatenate(held) for name, held in numbers.items()}, [])
    text = json.dumps(encoded)
    again = json.loads(text, object_hook=partial(_decoded, file))
    for array, other in zip(sets, again, strict=True):
        assert other.dtype == array.dtype.newbyteorder("=")
        assert other.shape == array.shape
        assert other.tobytes() == array.astype(other.dtype).tobytes()
    assert sum(map(len, file.numbers.values())) < 3 * 40 * 41 / 2 + 2 * 40**2 + 200
