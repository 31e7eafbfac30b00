# SPDX-License-Identifier: BSD-3-Clause
"""Parquet files: objects and labels by row groups, training that streams them, bad files."""

import numpy as np
import pytest

import d2ke
from d2ke.cli.main import main
from d2ke.io import ParquetObjects
from d2ke.models import blocks, data, inputs

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N = 250


def write(path, columns, group=60):
    pq.write_table(pa.table(columns), path, row_group_size=group)
    return path


@pytest.fixture(scope="module")
def words():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    X = ["".join(rng.permutation(list("abab" * 3 + "b" * 3 * label))) for label in y]
    return X, y


@pytest.fixture
def file(words, tmp_path):
    return write(tmp_path / "words.parquet", {"word": words[0], "label": words[1]})


def test_objects_and_labels(words, file):
    opened = ParquetObjects(file)
    assert len(opened) == N
    assert (opened.labels == words[1]).all()
    packed = d2ke.pack(words[0])
    assert (opened.lengths == packed.lengths).all()
    assert opened.kind == "strings"
    for start, stop in [(0, 1), (55, 130), (0, N), (N - 1, N)]:
        assert list(opened.span(start, stop)) == words[0][start:stop]
    rows = np.array([3, 59, 60, 200])
    assert list(opened[rows]) == [words[0][i] for i in rows]
    objects, labels = d2ke.io.read_objects(file)
    assert objects == packed
    assert (labels == words[1]).all()


@pytest.mark.parametrize("kept", [0, 1 << 30])
def test_training_streams_row_groups(words, file, monkeypatch, kept):
    monkeypatch.setattr(blocks, "SAMPLE", 100)
    monkeypatch.setattr(inputs, "_BLOCK_ROWS", (47, 47))
    monkeypatch.setattr(data, "MAX_KEPT", kept)
    opened = ParquetObjects(file)
    streamed = d2ke.d2ke_train(opened.labels, opened, R=40)
    whole = d2ke.d2ke_train(words[1], words[0], R=40)
    for one, other in zip(streamed.blocks, whole.blocks, strict=True):
        assert one.omega == other.omega
        assert np.array_equal(getattr(one, "gamma", 0), getattr(other, "gamma", 0))
    assert (streamed.confusion == whole.confusion).all()
    decisions = [d2ke.d2ke_predict(None, words[0], model)[2] for model in (streamed, whole)]
    np.testing.assert_allclose(*decisions, atol=1e-6)
    assert streamed.alphabet.tolist() == whole.alphabet.tolist()


def test_both_strands(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = ["".join(rng.choice(list("ACGT"), 30)) + "ACCTGA" * k for k in y.tolist()]
    opened = ParquetObjects(write(tmp_path / "dna.parquet", {"x": X, "y": y.tolist()}, 20))
    streamed, whole = (d2ke.d2ke_train(y, x, R=16, strands="both") for x in (opened, X))
    decisions = [d2ke.d2ke_predict(None, X, model)[2] for model in (streamed, whole)]
    np.testing.assert_allclose(*decisions, atol=1e-6)


def test_series_of_lists(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = [np.sin(np.arange(20) / (2 + label)) + 0.1 * rng.normal(size=20) for label in y]
    names = np.array(["slow", "fast"])[1 - y]
    file = write(tmp_path / "s.parquet", {"x": [x.tolist() for x in X], "y": names}, 30)
    opened = ParquetObjects(file)
    assert (opened.kind, opened.dim) == ("series", 1)
    model = d2ke.d2ke_train(opened.labels, opened, R=40)
    assert model.classes.tolist() == ["fast", "slow"]
    assert model.accuracy > 95


def test_the_command(words, file, tmp_path, capsys):
    model, labels = tmp_path / "m.h5", tmp_path / "p.csv"
    assert main(["train", str(file), "--out", str(model), "--R", "40"]) == 0
    assert "words.parquet: 250 strings" in capsys.readouterr().out
    assert main(["predict", str(model), str(file), "--out", str(labels)]) == 0
    assert "accuracy" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"label": [1, 2]}, {}, "must name the column of strings, one of no column"),
        ({"a": ["x", "y"]}, {"objects": "b"}, "one of the columns: .* has no column 'b'"),
        ({"a": ["x", None, "z"]}, {}, r"X\[1\]"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path, columns, options, message):
    file = write(tmp_path / "bad.parquet", columns, 2)
    with pytest.raises((TypeError, ValueError), match=message):
        ParquetObjects(file, **options)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "no.parquet"
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(ValueError, match="is not a Parquet file"):
        ParquetObjects(path)
    write(tmp_path / "empty.parquet", {"a": pa.array([], pa.string())})
    with pytest.raises(ValueError, match="has no rows"):
        ParquetObjects(tmp_path / "empty.parquet")


def test_labels_without_an_entry(tmp_path):
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"word": ["a", "b"], "label": pa.nulls(2)}), file)
    opened = ParquetObjects(file)
    assert opened.labels is None
    assert "not used: 'label'" in repr(opened)
