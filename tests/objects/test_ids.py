# SPDX-License-Identifier: BSD-3-Clause
"""Ids name objects of every kind, wherever they come from, and stay with them."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import d2ke
from d2ke.io import ParquetObjects, read_objects

NAMES = ["p", "q", "r"]
KINDS = {
    "strings": d2ke.pack(["AC", "GATT", ""], ids=NAMES),
    "tokens": d2ke.pack([["the", "cat"], ["a"], []], ids=NAMES),
    "series": d2ke.pack([[1.0], [2.0, 3.0], [4.0]], ids=NAMES),
    "sets": d2ke.pack([np.eye(2), np.ones((1, 2)), np.zeros((3, 2))], kind="sets", ids=NAMES),
    "weighted": d2ke.pack([[1.0], [2.0, 3.0], [4.0]], weights=[[1], [1, 2], [1]], ids=NAMES),
    "records": d2ke.pack_records({"w": ["AC", None, "G"], "x": [1, 2, 3]}, ids=NAMES),
}


@pytest.mark.parametrize("kind", KINDS)
def test_ids_stay_with_the_objects(kind):
    X = KINDS[kind]
    assert X.ids.tolist() == NAMES
    assert X[1:].ids.tolist() == ["q", "r"]
    assert X[[2, 0, 2]].ids.tolist() == ["r", "p", "r"]
    assert X[np.array([True, False, True])].ids.tolist() == ["p", "r"]
    assert X.span(0, 2).ids.tolist() == ["p", "q"]
    for copied in (pickle.loads(pickle.dumps(X)), copy.deepcopy(X)):
        assert copied.ids.tolist() == NAMES
    if kind == "records":
        assert d2ke.pack_records(X) is X
        assert d2ke.pack_records(X, ids=[1, 2, 3]).ids.tolist() == [1, 2, 3]
        return
    assert d2ke.pack(X) is X
    assert d2ke.pack(X, ids=[1, 2, 3]).ids.tolist() == [1, 2, 3]
    assert d2ke.concatenate([X, X[:1]]).ids.tolist() == ["p", "q", "r", "p"]
    fields = "kind", "values", "offsets", "alphabet", "letters", "weights"
    other = d2ke.Objects(*[getattr(X, name) for name in fields])
    assert other.ids is None
    assert other == X  # what objects are does not depend on their names
    assert d2ke.concatenate([X, other]).ids is None
    assert d2ke.concatenate([X, d2ke.pack(other, ids=[7, 8, 9])]).ids.tolist() == [*NAMES, *"789"]
    with pytest.raises(ValueError, match="read-only"):
        X.ids[0] = "z"


def test_series_as_sets_and_standardised_series_keep_ids():
    X = KINDS["series"]
    assert d2ke.pack(X, kind="sets").ids.tolist() == NAMES
    assert d2ke.datasets.standardize(X)[0].ids.tolist() == NAMES


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["a", "b"], ["a", "b"]),
        (("7", "08"), ["7", "08"]),
        ([7, 8], [7, 8]),
        (np.array([7, 8], np.uint8), [7, 8]),
        (np.array(["a", "b"], object), ["a", "b"]),
        (pd.Series([7, 8], dtype="Int64"), [7, 8]),
        (pd.Index(["a", "b"]), ["a", "b"]),
        (pd.Series(["a", "b"], dtype="category"), ["a", "b"]),
        (pl.Series(["a", "b"]), ["a", "b"]),
        (pa.chunked_array([[7], [8]]), [7, 8]),
        (
            pd.to_datetime(["2024-02-29", "2024-03-01"]),
            ["2024-02-29T00:00:00", "2024-03-01T00:00:00"],
        ),
        ([1.5, 2.0], ["1.5", "2.0"]),
        ([2**63, 1], [str(2**63), "1"]),
        (["same", "same"], ["same", "same"]),
        (KINDS["series"][:2], ["p", "q"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_names_of_any_column(ids, expected):
    assert d2ke.pack(["x", "y"], ids=ids).ids.tolist() == expected
    assert d2ke.pack_records({"w": ["x", "y"]}, ids=ids).ids.tolist() == expected


def test_the_index_of_pandas():
    frame = pd.DataFrame({"w": ["x", "y", "z"], "v": [1, 2, 3]})
    named = frame.set_index(pd.Index(NAMES))
    for made, expected in [
        (named, NAMES),
        (named[1:], ["q", "r"]),
        (frame, None),
        (frame[frame.v != 2], [0, 2]),
        (frame.set_index(pd.Index(["p", None, "r"])), None),
        (frame.set_index(pd.MultiIndex.from_product([["a"], [1, 2, 3]])), None),
        (frame.set_index(pd.interval_range(0, 3)), None),
    ]:
        results = d2ke.pack(made["w"]), d2ke.pack_records(made), read_objects(made, objects="w")
        for result in results:
            assert (result.ids if expected is None else result.ids.tolist()) == expected
    for column in (pd.Index(["x", "y"]), pd.array(["x", "y"])):
        assert d2ke.pack(column).ids is None
    assert d2ke.pack(named["w"], ids=[1, 2, 3]).ids.tolist() == [1, 2, 3]
    assert "ids from the index" in repr(read_objects(named, objects="w"))
    level = named.rename_axis("code")
    assert "ids from 'code'" in repr(read_objects(level, objects="w"))
    assert "ids from" not in repr(read_objects(level[["v"]], objects="code"))
    records = read_objects(level, objects=["w", "v"]).objects
    assert records.ids.tolist() == NAMES
    assert list(records) == ["w", "v"]


@pytest.mark.parametrize("name", [None, "code"])
def test_the_index_of_pandas_in_files(tmp_path, name):
    frame = pd.DataFrame({"w": ["x", "y", "z"], "v": ["a", "b", "b"]})
    named = frame.set_index(pd.Index(NAMES, name=name))
    files = tmp_path / "w.csv", tmp_path / "w.parquet", tmp_path / "w.feather"
    for made, expected in ((named, NAMES), (frame, None)):
        made.to_csv(files[0])
        made.to_parquet(files[1])
        made.to_feather(files[2])
        tables = (pa.Table.from_pandas(made), *(files[1:] if name else files))
        for table in tables:
            held = read_objects(table, objects="w", labels="v")
            assert (held.ids if expected is None else held.ids.tolist()) == expected
            records = read_objects(table, objects=["w", "v"])
            assert (records.ids is None) == (expected is None)
        opened = d2ke.io.ParquetObjects(files[1], objects="w", labels="v")
        assert (opened.ids if expected is None else opened.ids.tolist()) == expected


def test_a_column_of_records_is_taken_out():
    table = {"key": [5, 6], "w": ["x", "y"]}
    for made in (table, pd.DataFrame(table), pl.DataFrame(table), pa.table(table)):
        records = d2ke.pack_records(made, ids="key")
        assert records.ids.tolist() == [5, 6]
        assert list(records) == ["w"]


def test_long_tables():
    table = {"who": [7, 3, 7], "t": [2, 1, 1], "v": [1.0, 2.0, 3.0]}
    for made in (table, pd.DataFrame(table), pl.DataFrame(table), pa.table(table)):
        X = d2ke.pack(made, ids="who", time="t")
        assert X.ids.tolist() == [7, 3]
        assert X[0].ravel().tolist() == [3.0, 1.0]
        assert read_objects(made, ids="who").ids.tolist() == [7, 3]
    indexed = pd.DataFrame(table).set_index("who")
    assert read_objects(indexed, ids="who").ids.tolist() == [7, 3]


TABLE = {
    "name": ["p", "q", "q"],
    "text": ["ab", "ba", "bb"],
    "size": [1, 2, 3],
    "label": [0, 1, 0],
}


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather", "frame"])
@pytest.mark.parametrize(
    ("columns", "options", "kind"),
    [
        (["name", "text", "label"], {}, "strings"),
        (["name", "text", "label"], {"objects": "text"}, "strings"),
        (["name", "text", "size", "label"], {}, "strings"),
        (["name", "text", "size", "label"], {"objects": ["text", "size"]}, "records"),
    ],
)
def test_names_that_repeat_are_kept(tmp_path, ending, columns, options, kind):
    frame = pd.DataFrame({name: TABLE[name] for name in columns})
    file = frame if ending == "frame" else tmp_path / f"table.{ending}"
    if ending == "csv":
        frame.to_csv(file, index=False)
    elif ending != "frame":
        getattr(frame, f"to_{ending}")(file)
    if columns == ["name", "text", "size", "label"] and not options:
        with pytest.raises(ValueError, match="name the columns that make up the series"):
            read_objects(file, ids="name")
        options = {"objects": "text"}
    held = read_objects(file, ids="name", **options)
    assert (held.objects.kind, held.ids.tolist()) == (kind, TABLE["name"])
    assert "ids from 'name'" in repr(held)
    assert held.labels.tolist() == TABLE["label"]


def test_records_of_numbers_have_ids_that_differ(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("who,age,size,label\na,1,2,x\nb,3,4,y\n", "utf-8")
    held = read_objects(file, objects=["age", "size"], ids="who")
    assert (held.objects.kind, held.ids.tolist()) == ("records", ["a", "b"])
    assert read_objects(file, objects="age", ids="who").objects.kind == "series"
    file.write_text("who,age,size,label\na,1,2,x\na,3,4,x\n", "utf-8")
    assert read_objects(file, objects=["age", "size"], ids="who").objects.kind == "series"


def test_ids_without_an_entry(tmp_path):
    file = tmp_path / "words.csv"
    file.write_text("id,word\na,xy\n,yx\n", "utf-8")
    with pytest.warns(UserWarning, match="line 3, column 'id': the id is empty, so that"):
        assert read_objects(file).ids is None  # a default that names only some
    with pytest.raises(ValueError, match="line 3, column 'id': the id is empty; it must name"):
        read_objects(file, ids="id")
    with pytest.raises(ValueError, match=r"ids\[1\] is missing"):
        d2ke.pack(["xy", "yx"], ids=["a", np.nan])


def test_whole_numbers_are_numbers(tmp_path):
    for texts, expected in [("12", [1, 2]), (("01", "2"), ["01", "2"]), (("1", "b"), ["1", "b"])]:
        file = tmp_path / "words.csv"
        file.write_text("id,word\n" + "".join(f"{x},ab\n" for x in texts), "utf-8")
        assert read_objects(file).ids.tolist() == expected


def test_headers_of_fasta(tmp_path):
    file = tmp_path / "genes.fasta"
    file.write_text(">g1 a gene|x\nACGT\n>g2|y\nTT\n", "utf-8")
    assert read_objects(file).objects.ids.tolist() == ["g1", "g2|y"]


def test_variables(tmp_path):
    np.savez(tmp_path / "a.npz", values=np.zeros((6, 2)), offsets=[0, 2, 6], ids=["p", "q"])
    assert read_objects(tmp_path / "a.npz").ids.tolist() == ["p", "q"]
    np.savez(tmp_path / "b.npz", X=np.zeros((3, 5)), who=[7, 8, 9], id=[1, 2])
    held = read_objects(tmp_path / "b.npz")
    assert held.ids is None
    assert "not used: 'who', 'id'" in repr(held)
    assert read_objects(tmp_path / "b.npz", ids="who").ids.tolist() == [7, 8, 9]
    with pytest.raises(ValueError, match="id has 2 ids, but there are 3 objects"):
        read_objects(tmp_path / "b.npz", ids="id")
    cell = np.array([["u"], ["v"], ["w"]], object)
    d2ke.io.save_mat(tmp_path / "c.mat", {"X": ["ab", "ba", "b"], "names": cell})
    assert read_objects(tmp_path / "c.mat", objects="X", ids="names").ids.tolist() == [*"uvw"]


def test_attributes(tmp_path):
    file = tmp_path / "bags.arff"
    bags = "@attribute bag relational\n@attribute a real\n@attribute b real\n@end bag\n"
    rows = "m1,'1,2\\n3,4',x\nm2,'5,6',y\nm1,'7,8',x\n"
    for kind, name in (("{m1,m2}", "molecule"), ("string", "id")):
        head = f"@relation r\n@attribute {name} {kind}\n{bags}@attribute class {{x,y}}\n@data\n"
        file.write_text(head + rows, "utf-8")
        options = {} if name == "id" else {"ids": name}
        held = read_objects(file, channels_first=False, kind="sets", **options)
        assert held.ids.tolist() == ["m1", "m2", "m1"]
        assert held.labels.tolist() == ["x", "y", "x"]
        assert f"ids from '{name}'" in repr(held)
    with pytest.raises(ValueError, match="ids must name one of the attributes"):
        read_objects(file, channels_first=False, ids="name")
    file.write_text("@relation r\n@attribute a real\n@attribute b real\n@attribute n integer\n"
                    "@data\n1,2,7\n3,4,8\n", "utf-8")  # fmt: skip
    held = read_objects(file, ids="n")
    assert held.ids.tolist() == [7, 8]
    assert held.objects[1].ravel().tolist() == [3.0, 4.0]


def test_parquet_objects(tmp_path):
    file = tmp_path / "words.parquet"
    pq.write_table(pa.table({"word": ["ab", "ba"], "key": [5, 4], "label": [0, 1]}), file)
    opened = ParquetObjects(file, objects="word", ids="key")
    assert opened.ids.tolist() == [5, 4]
    assert "ids from 'key'" in repr(opened)


def test_features_keep_ids(tmp_path):
    X, file = KINDS["strings"], tmp_path / "features.h5"
    d2ke.write_features(file, X, ["A", "C"], distance="levenshtein", gamma=1.0)
    store = d2ke.io.load_features(file, rows=slice(1, None))
    assert store.ids.tolist() == ["q", "r"]
    assert "ids: q, r" in repr(store)
    with pytest.raises(ValueError, match="ids"):
        d2ke.write_features(file, X, ["A", "C"], ids=[1, 2, 3], distance="levenshtein", gamma=1.0)
    d2ke.io.save_features(file, store.Z, ids=[4, 5])
    with d2ke.io.open_features(file) as opened:
        assert opened.ids(slice(1)).tolist() == [4]
    d2ke.io.save_features(file, store.Z)
    assert d2ke.io.load_features(file).ids is None


def test_models_forget_the_ids_of_their_random_objects(tmp_path):
    X = d2ke.pack(["aab", "bba"] * 9, ids=[f"person {i}" for i in range(18)])
    model = d2ke.d2ke_train([0, 1] * 9, X, R=8)
    d2ke.save_model(tmp_path / "model.h5", model)
    assert b"person" not in (tmp_path / "model.h5").read_bytes()


@pytest.mark.parametrize("ids", [[1.5], ["a", "b"], np.array([1], np.int32), [["a"]]])
def test_the_constructor_refuses_other_ids(ids):
    with pytest.raises((TypeError, ValueError), match="ids must"):
        d2ke.Objects("series", np.ones((2, 1)), [0, 2], ids=ids)
