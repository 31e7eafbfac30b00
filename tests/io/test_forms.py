# SPDX-License-Identifier: BSD-3-Clause
"""Forms of files and of list items that people bring."""

import gzip
import zipfile
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import d2ke
from d2ke.io import read_objects


@pytest.fixture
def put(tmp_path):
    def write(text, name):
        (tmp_path / name).write_bytes(text.encode())
        return tmp_path / name

    return write


# ------------------------------------------------------------------ a series on each row

WIDE = {
    "a.csv": "t0,t1,t2,label\n1,2,3,x\n4,5,,y\n",
    "numbered.csv": "0,1,2,label\n1,2,3,x\n4,5,,y\n",
    "a.tsv": "id\tt0\tt1\tt2\ttown\tlabel\np\t1\t2\t3\tUlm\tx\nq\t4\t5\t\tBonn\ty\n",
}


@pytest.mark.parametrize("name", WIDE)
def test_wide_tables(put, name):
    held = read_objects(put(WIDE[name], name), series=True)
    assert [series[:, 0].tolist() for series in held.objects] == [[1, 2, 3], [4, 5]]
    assert held.labels.tolist() == ["x", "y"]
    assert (held.ids is not None) == (name == "a.tsv")
    frame = pd.read_csv(put(WIDE[name], name), sep="\t" if name == "a.tsv" else ",")
    assert [s[:, 0].tolist() for s in read_objects(frame, series=True).objects] == [
        [1, 2, 3],
        [4, 5],
    ]


def test_gaps_inside_wide_series(put):
    file = put("t0,t1,t2\n1,,3\n4,5,6\n", "a.csv")
    with pytest.raises(ValueError, match=r"line 2, column 't1': the value is missing"):
        read_objects(file, series=True)
    filled = read_objects(file, series=True, missing="interpolate")
    assert filled.objects[0][:, 0].tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="has no column of numbers"):
        read_objects(put("s,label\nab,x\n", "b.csv"), series=True)


def test_csv_of_the_ucr_archive(put):
    text = "1,0.5,1.5,NaN\n2,3,4,5\n"
    for file, options in (("Steps_TRAIN.csv", {}), ("steps.csv", {"series": True})):
        objects, labels = read_objects(put(text, file), **options)
        assert objects.lengths.tolist() == [2, 3]
        assert labels.tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"if each row is a series, say so \(series\)"):
        read_objects(put(text, "steps.csv"))


# ------------------------------------------------------------------ FASTA


def fasta(*headers):
    return "".join(f">{header}\nACGT\n" for header in headers)


@pytest.mark.parametrize(
    ("headers", "labels"),
    [
        (["a|x", "b|x", "c|y", "d|y"], ["x", "x", "y", "y"]),
        (["gi|1|gb|A.1|", "gi|2|gb|B.1|", "gi|3|gb|C.1|"], None),
        (["sp|P1|A_HUMAN one", "sp|P2|B_HUMAN two", "sp|P3|C_HUMAN three"], None),
        (["a|x", "b", "c|x", "d|x"], None),
    ],
)
@pytest.mark.parametrize("name", ["a.fasta", "a.fa", "a.fna", "a.faa", "a.fas", "a.fasta.gz"])
def test_the_last_field_is_a_guess(tmp_path, headers, labels, name):
    for ends in ("\n", "\r\n", "\r"):
        content = fasta(*headers).replace("\n", ends).encode()
        (tmp_path / name).write_bytes(gzip.compress(content) if ".gz" in name else content)
        held = read_objects(tmp_path / name)
        assert list(held.objects) == ["ACGT"] * len(headers)
        assert (None if held.labels is None else held.labels.tolist()) == labels


# ------------------------------------------------------------------ small forms of tables


def test_compressed_tables(tmp_path):
    content = b"sequence,label\nAC,a\nGT,b\n"
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(content))
    with zipfile.ZipFile(tmp_path / "a.csv.zip", "w") as archive:
        archive.writestr("a.csv", content)
    for name in ("a.csv.gz", "a.csv.zip"):
        assert list(read_objects(tmp_path / name).objects) == ["AC", "GT"]
        (tmp_path / name).write_bytes(b"no archive")
        with pytest.raises(ValueError, match=r"is not a (gzip|zip) file"):
            read_objects(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "two.csv.zip", "w") as archive:
        archive.writestr("a.csv", content)
        archive.writestr("b.csv", content)
    with pytest.raises(ValueError, match="has 2 files"):
        read_objects(tmp_path / "two.csv.zip")


def test_arrays_of_numpy(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(6.0).reshape(2, 3))
    assert read_objects(tmp_path / "a.npy").objects.lengths.tolist() == [3, 3]


@pytest.mark.parametrize(
    ("entries", "use", "values"),
    [
        (["2024-1-5", "2024-02-29"], "dates", [19727, 19782]),
        (["1949-01", "1950-12"], "dates", [-7670, -6971]),
        (["10:05", "9:30"], "durations", [36300, 34200]),
        (["1949-01", "1950-12-01"], None, None),
        (["1949-13", "1950-12"], None, None),
        (["10:75", "9:30"], None, None),
    ],
)
def test_dates_where_a_whole_column_agrees(put, entries, use, values):
    rows = "".join(f"w{i},{entry}\n" for i, entry in enumerate(entries))
    column = read_objects(put(f"word,when\n{rows}", "a.csv"), objects=["word", "when"]).objects[
        "when"
    ]
    assert (column.use or None) == use
    if use:
        assert column.values.tolist() == values
    else:
        assert list(column.values) == entries


def test_fields_that_are_said_to_be_missing(put):
    file = put("name,land,kind\nNA,NA,NA\nann,DE,x\nbob,NA,?\n", "a.csv")
    columns = {"objects": ["name", "land"], "labels": "kind"}
    assert not read_objects(file, **columns).objects["land"].missing.any()  # a country
    assert read_objects(file, **columns).labels.tolist() == ["NA", "x", "?"]
    with pytest.raises(ValueError, match="line 2, column 'kind': the label is empty"):
        read_objects(file, **columns, na_values="NA")
    held = read_objects(file, objects=["name", "land"], na_values=["NA", "?"])
    assert held.objects["land"].missing.tolist() == [True, False, True]


def test_targets_comments_and_gaps_of_ts(put):
    text = "% made by hand\n@targetLabel true\n@data\n1,?,3:1.5\n4,5:-2\n"
    file = put(text, "a.ts")
    with pytest.raises(ValueError, match="line 4, dimension 0"):
        read_objects(file)
    objects, targets = read_objects(file, missing="interpolate")
    assert objects[0][:, 0].tolist() == [1, 2, 3]
    assert targets.tolist() == [1.5, -2]


# ------------------------------------------------------------------ items of lists

FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [True, False]})
ITEMS = {
    "float and bool": FRAME,
    "Float64": FRAME.astype({"a": "Float64"}),
    "pyarrow": FRAME.astype({"a": "double[pyarrow]"}),
    "polars": pl.DataFrame({"a": [1.0, 2.0], "b": [True, False]}),
    "decimals": [[Decimal(1), True], [Decimal(2), False]],
}


@pytest.mark.parametrize("name", ITEMS)
def test_items_are_read_as_tables(name):
    assert d2ke.pack([ITEMS[name]])[0].tolist() == [[1, 1], [2, 0]]


@pytest.mark.parametrize("item", [[1.0, None], pd.Series([1, None], dtype="Int64")])
def test_missing_entries_of_items(item):
    assert np.isnan(d2ke.pack([item], missing=True)[0][1, 0])
    with pytest.raises(ValueError, match=r"items\[0\] has nan at position \(1, 0\)"):
        d2ke.pack([item])


def test_errors_of_items_name_item_column_and_value():
    with pytest.raises(TypeError, match=r"items\[1\]\['a'\]\[1\] is 'x' in a column of numbers"):
        d2ke.pack([FRAME, pd.DataFrame({"a": [1.0, "x"], "b": [1, 2]})])


@pytest.mark.parametrize(
    "item",
    [pd.Series(["a", "b"]), pd.Series(["a", "b"], dtype="string"), pl.Series(["a", "b"])],
)
def test_columns_of_words_are_strings_of_tokens(item):
    assert d2ke.pack([item, item])[1] == ["a", "b"]


class Part:
    """What `graph_codes` asks of RDKit's molecules, atoms and bonds."""

    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, lambda value=value: value)


def test_molecules_and_the_index_of_a_column():
    atoms = [Part(GetAtomicNum=number) for number in (6, 6, 8)]
    bonds = [Part(GetBeginAtomIdx=i, GetEndAtomIdx=i + 1) for i in (0, 1)]
    ethanol, water = Part(GetAtoms=atoms, GetBonds=bonds), Part(GetAtoms=atoms[2:], GetBonds=[])
    codes = d2ke.graph_codes(pd.Series([ethanol, water], index=["ethanol", "water"]))
    assert codes.ids.tolist() == ["ethanol", "water"]
    assert codes == d2ke.graph_codes([([(0, 1), (1, 2)], [6, 6, 8]), (np.empty((0, 2), int), [8])])
