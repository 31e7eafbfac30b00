# SPDX-License-Identifier: BSD-3-Clause
"""The result of a search: choice, print, files and plots."""

import json
import os
import zlib
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples

import d2ke
from d2ke.model_selection.result import Search, load_search

PAIRS = [
    ({"length": length, "R": 8, "gamma": gamma, "C": C}, 50.0 + 10 * gamma + C + length[0])
    for length in ((1, 3), (2, 20))
    for gamma in (0.1, 1.0)
    for C in (0.01, 1.0, 10.0)
]


def example():
    info = {"method": "d2ke", "n": 12, "seconds": 0.5}
    return replace(Search.best_of(PAIRS), info=info)


# ---------------------------------------------------------------- choice and print


def test_the_earlier_of_equals():
    tried = [({"k": 1}, 50.0), ({"k": 2}, 70.0), ({"k": 3}, 70.0)]
    assert Search.best_of(tried) == Search({"k": 2}, 70.0, tuple(tried))


def test_nothing_to_choose_from():
    with pytest.raises(ValueError, match="empty"):
        Search.best_of([])


def test_the_printed_text():
    lines = str(example()).splitlines()
    chosen = "length 2 to 20, R 8, gamma 1, C 10"
    assert lines[0] == f"d2ke: 72.00 % in cross-validation with {chosen}"
    assert lines[1].split() == f"72.00 % {chosen}".split()
    assert len(lines) == 7
    assert lines[-1].strip() == "and 7 more"
    assert str(Search({}, 50.0, (({}, 50.0),))).splitlines()[0].endswith("with no parameters")


def test_the_printed_text_lists_losses_that_were_not_for_choice():
    tried = (({"C": 1.0, "loss": "squared"}, 90.0), ({"C": 3.0, "loss": "squared_hinge"}, 61.0))
    lines = str(Search(*tried[1], tried)).splitlines()
    assert lines[0] == "61.00 % in cross-validation with C 3, loss squared_hinge"
    assert lines[1:] == ["    90.00 %  C 1, loss squared", "    61.00 %  C 3, loss squared_hinge"]


# ---------------------------------------------------------------- files

NUMBERS = st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.booleans()
TEXTS = st.text(max_size=8)
VALUES = st.recursive(
    NUMBERS | TEXTS | st.none(), lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4
)
SETTINGS = st.dictionaries(TEXTS, VALUES, max_size=4)
TRIED = st.lists(st.tuples(SETTINGS, st.floats(0, 100)), min_size=1, max_size=5)


@given(TRIED, st.integers(0, 4), SETTINGS, SETTINGS)
def test_files_hold_everything(tmp_path, tried, chosen, info, grid):
    # The chosen one need not be the most accurate: not every loss tried is for choice.
    info = {**info, "grid": grid}
    search = Search(*tried[chosen % len(tried)], tuple(tried), info)
    path = tmp_path / "search.json"
    search.save(path)
    loaded = load_search(str(path))
    assert loaded == search
    assert repr((loaded.parameters, loaded.tried)) == repr((search.parameters, search.tried))
    assert repr(loaded.info) == repr(info)
    assert not list(tmp_path.glob("*.part"))


def test_numbers_of_numpy_can_be_saved(tmp_path):
    values = {"R": np.int64(4), "gamma": np.float64(0.1), "low": np.array([0.5, 1.5])}
    path = tmp_path / "search.json"
    replace(Search.best_of([(values, np.float32(50))]), info={"n": np.int32(3)}).save(path)
    found = load_search(path)
    assert found.parameters == {"R": 4, "gamma": 0.1, "low": (0.5, 1.5)}
    assert found.accuracy == 50
    assert found.info == {"n": 3}


def test_no_flipped_bit_gives_another_search(tmp_path):
    path = tmp_path / "search.json"
    example().save(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 3):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with suppress(d2ke.ArgumentError):
            assert load_search(path) == example()
    path.write_bytes(whole.replace(b'"R": 8', b'"R": 9'))
    with pytest.raises(ValueError, match=r"search\.json is damaged"):
        load_search(path)


def test_what_cannot_be_saved_leaves_the_old_file(tmp_path):
    path = tmp_path / "search.json"
    example().save(path)
    with pytest.raises(TypeError, match="object, which cannot be saved"):
        Search.best_of([({"a": object()}, 1.0)]).save(path)
    assert load_search(path) == example()
    assert os.listdir(tmp_path) == [path.name]


RECORD = {
    "format": "d2ke search",
    "parameters": {"k": 1},
    "accuracy": 50.0,
    "tried": [[{"k": 1}, 50.0]],
    "info": {},
}


def write(path, record):
    crc = f"{zlib.crc32(json.dumps(record, sort_keys=True).encode()):08x}"
    path.write_text(json.dumps({**record, "CRC": crc}), "utf-8")


@pytest.mark.parametrize("name", RECORD)
@pytest.mark.parametrize("value", [..., None, 7, "x", [1, 2], [["x"]], {"a": {"b": 1}}, [[1, 2]]])
def test_malformed_json(tmp_path, name, value):
    if (name, value) in (
        ("parameters", {"a": {"b": 1}}),
        ("info", {"a": {"b": 1}}),
        ("accuracy", 7),
    ):
        return  # these are well-formed
    path = tmp_path / "s.json"
    write(path, RECORD)
    assert load_search(path).parameters == {"k": 1}
    record = {key: one for key, one in RECORD.items() if key != name}
    write(path, record if value is ... else record | {name: value})
    with pytest.raises(ValueError, match=r"s\.json does not hold a search"):
        load_search(path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b"null", b"\xff\xfe\x00", b"\x89HDF"])
def test_other_files(tmp_path, content):
    path = tmp_path / "s.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="does not hold a search"):
        load_search(path)


# ---------------------------------------------------------------- plots


@settings(max_examples=examples(24))
@given(TRIED)
def test_anything_can_be_drawn(tried):
    pytest.importorskip("matplotlib")
    # All settings of a search have the same names.
    names = ["a", "b"]
    tried = [
        (dict(zip(names, [*values.values(), None, None], strict=False)), accuracy)
        for values, accuracy in tried
    ]
    figure = Search.best_of(tried).plot()
    assert len(figure.axes) >= 1
