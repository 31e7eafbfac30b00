# SPDX-License-Identifier: BSD-3-Clause
"""Records: what each column becomes, missing entries, rows, and errors that name their place."""

import pickle

import numpy as np
import pytest
from test_columns import IN_MEMORY, MEMORY, plain_dict, polars

import d2ke
from d2ke.objects.records import join

TRACKS = [[[0.0, 1.0], [1.0, 2.0]], None, [[1.0, 2.0]] * 2, [[1.0, 2.0]] * 3]
DATA = {
    "name": ["a", "b", None, "cc"],
    "track": TRACKS,
    "age": [1.0, None, 3.5, float("nan")],
    "member": [True, None, False, True],
    "town": ["x", None, "y", "x"],
}
KINDS = {
    "name": "strings",
    "track": d2ke.pack(TRACKS[2:]).kind,
    "age": "numbers",
    "member": "numbers",
    "town": "categories",
}


def of_enums(table):
    pl = pytest.importorskip("polars")
    return polars(table).with_columns(pl.col("town").cast(pl.Enum(["x", "y"])))


@pytest.mark.parametrize("make", [*MEMORY, of_enums], ids=[*IN_MEMORY, "enums"])
def test_columns_of_every_container(make):
    records = d2ke.pack_records(make(DATA))
    assert {name: records[name].kind for name in records} == KINDS
    assert list(records["name"].values) == ["a", "b", "cc"]
    assert records["track"].values == d2ke.pack([TRACKS[0], *TRACKS[2:]])
    assert records["track"].rows.tolist() == [0, 2, 3]
    assert records["age"].values.tolist() == [1.0, 3.5]
    assert records["age"].missing.tolist() == [False, True, False, True]
    assert records["member"].values.tolist() == [1.0, 0.0, 1.0]
    assert records["town"].values.tolist() == ["x", "y", "x"]
    assert d2ke.pack_records(records) is records


def test_rows():
    records = d2ke.pack_records(plain_dict(DATA))
    assert len(records) == 4
    assert records.shape == (4, 5)
    assert records[-1]["name"] == "cc"
    assert records[-1]["age"] is None
    with pytest.raises(IndexError):
        records[4]
    rows = np.array([3, 1, 0])
    for some, known in [
        (records[rows], rows),
        (records[1:3], [1, 2]),
        (records.span(1, 3), [1, 2]),
        (records[np.array([True, False, False, True])], [0, 3]),
        (pickle.loads(pickle.dumps(records)), range(4)),
    ]:
        for place, row in enumerate(known):
            for name, value in records[int(row)].items():
                np.testing.assert_array_equal(some[place][name], value)
    assert np.shares_memory(records.span(1, 3)["track"].values.values,
                            records["track"].values.values)  # fmt: skip


def test_arrays_and_packed_objects_are_columns():
    sets = d2ke.pack([[0.0, 1.0], [2.0, 3.0]])
    records = d2ke.pack_records({"x": np.zeros((2, 5)), "y": np.arange(2), "z": sets})
    assert records["x"].values.lengths.tolist() == [5, 5]
    assert records["y"].kind == "numbers"
    assert records["z"].values is sets


def test_labels_are_compared_as_text():
    assert d2ke.categories([1, 1.0, "1", 2.5]).values.tolist() == ["1", "1", "1", "2.5"]


@pytest.mark.parametrize("cuts", [(4,), (1, 2, 3), (3,)])
def test_join_of_parts_is_the_whole(cuts):
    whole = d2ke.pack_records(DATA, ids=["p", "q", "r", "s"])
    parts = [whole[start:stop] for start, stop in zip((0, *cuts), (*cuts, 4), strict=True)]
    joined = join(parts)
    assert repr(joined) == repr(whole)
    assert joined.ids.tolist() == ["p", "q", "r", "s"]
    assert [repr(joined[row]) for row in range(4)] == [repr(whole[row]) for row in range(4)]
    assert join([*parts, d2ke.pack_records(DATA)]).ids is None
    assert join([["a"], [], ["b"]]) == ["a", "b"]


@pytest.mark.parametrize("order", [1, -1])
def test_dates_and_plain_numbers_are_joined_to_dates(order):
    columns = [[1, 2], [None, None], np.array(["2024-01-05"], "M8[D]")]
    column = join([d2ke.pack_records({"a": entries}) for entries in columns[::order]])["a"]
    assert column.use == "dates"
    assert len(column.values) == 3
    assert column.missing.sum() == 2


def test_a_column_without_entries():
    records = d2ke.pack_records({"a": [None, float("nan")], "b": ["x", "y"]})
    assert records["a"].kind == "missing"
    assert records[0] == {"a": None, "b": "x"}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [None, "x", 3]}, r"\['a'\]\[2\] is int"),
        ({"a": [None, [1.0], [np.nan]]}, r"\['a'\]\[2\] has nan at position"),
        ({"a": np.array(3.0)}, r"\['a'\] is 3.0, an array without an axis"),
        ({"a": [1 + 2j]}, r"\['a'\] holds complex; strings, series"),
        ({"a": {"b": [1]}}, r"\['a'\] is a dict; one column is needed"),
        ({1: ["x"]}, "a column named 1; names are strings"),
        ({}, "has no columns"),
    ],
)
def test_errors_name_column_row_and_value(columns, message):
    with pytest.raises((d2ke.ArgumentError, d2ke.ArgumentTypeError), match=message):
        d2ke.pack_records(columns)


def test_frames_that_are_not_columns_in_memory():
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="LazyFrame, which is not in memory"):
        d2ke.pack_records(pl.DataFrame({"a": [1]}).lazy())
    with pytest.raises(ValueError, match="two columns named 'a'"):
        d2ke.pack_records(pd.DataFrame([[1, 2]], columns=["a", "a"]))
