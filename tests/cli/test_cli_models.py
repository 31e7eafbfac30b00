# SPDX-License-Identifier: BSD-3-Clause
"""`d2ke train`, `update`, `predict` and `embed`, on files of every format."""

import base64
import os
import re

import h5py
import numpy as np
import pytest
from command_cases import refused, rows
from model_file_cases import (
    put,
    series_csv,
    series_h5,
    series_mat,
    series_npz,
    series_ts,
    splice,
    strings_csv,
    strings_fasta,
    strings_mat,
    vowels,
)

import d2ke
from d2ke.cli.main import main
from d2ke.cli.models import _print_confusion
from d2ke.cli.session import Session
from d2ke.io import load_features, read_objects
from d2ke.models.persistence import load_model

FORMATS = [
    (splice, strings_csv, ".csv", 70),
    (splice, strings_fasta, ".fasta", 70),
    (splice, strings_mat, ".mat", 70),
    (vowels, series_ts, ".ts", 90),
    (vowels, series_csv, ".csv", 90),
    (vowels, series_mat, ".mat", 90),
    (vowels, series_npz, ".npz", 90),
    (vowels, series_h5, ".h5", 90),
]


def test_parameters_of_the_distance(tmp_path):
    X, y = vowels("train")
    series_ts(tmp_path / "v.ts", X, y)
    words = ["train", str(tmp_path / "v.ts"), "--out", str(tmp_path / "m.h5"), "--R", "64"]
    assert main([*words, "--parameter", "window=3"]) == 0
    assert load_model(tmp_path / "m.h5").blocks[0].parameters == {"window": 3}
    assert main([*words, "--distance", "dtw,msm"]) == 0
    blocks = load_model(tmp_path / "m.h5").blocks
    assert {block.distance for block in blocks} == {"dtw", "msm"}


@pytest.mark.parametrize(("data", "write", "suffix", "least"), FORMATS)
def test_train_predict_embed(tmp_path, capsys, data, write, suffix, least):
    old, new = tmp_path / f"old{suffix}", tmp_path / f"new{suffix}"
    write(old, *data("train"))
    X, y = data("test")
    write(new, X, y)
    model, labels, features = (tmp_path / name for name in ("m.h5", "labels.csv", "z.h5"))
    words = ["--R", "96" if data is splice else "256", "--threads", "2"]
    assert main(["train", str(old), "--out", str(model), *words]) == 0
    out, err = capsys.readouterr()
    assert f"{old.name}: {len(data('train')[0])} " in out
    assert "cross-validated accuracy" in out
    assert (out.splitlines()[-1], err) == (f"model: {model}", "")

    assert main(["predict", str(model), str(new), "--out", str(labels), "--threads", "2"]) == 0
    out = capsys.readouterr().out
    accuracy = float(re.search(r"accuracy (\d+\.\d\d) % on", out)[1])
    assert accuracy > least
    assert "confusion (rows true, columns predicted):" in out
    table = rows(labels)
    assert [row["true"] for row in table] == y
    assert np.mean([row["predicted"] == row["true"] for row in table]) * 100 == pytest.approx(
        accuracy, abs=0.006
    )
    decisions = d2ke.d2ke_predict(None, read_objects(new).objects, load_model(model))[2]
    names = [name for name in table[0] if name.startswith("decision")]
    written = [[float(row[name]) for name in names] for row in table]
    np.testing.assert_allclose(written, decisions, rtol=1e-5, atol=1e-6)
    counts = [list(map(int, line.split()[1:])) for line in out.splitlines()[-len(set(y)) - 1 : -1]]
    assert np.trace(counts) == round(accuracy * len(y) / 100)
    assert np.sum(counts) == len(y)

    assert main(["embed", str(model), str(new), "--out", str(features), "--threads", "2"]) == 0
    store = load_features(features)
    assert store.Z.shape == (len(X), load_model(model).R)
    assert store.labels.astype(str).tolist() == y


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make a model of splice, and files beside it."""
    folder = tmp_path_factory.mktemp("models")
    strings_csv(folder / "old.csv", *splice("train"))
    words = ["--R", "64", "--threads", "2", "--out", str(folder / "m.h5")]
    assert main(["train", str(folder / "old.csv"), *words]) == 0
    series_npz(folder / "series.npz", *vowels("test"))
    return folder


def test_report(tmp_path, capsys, folder):
    pytest.importorskip("matplotlib")
    report = tmp_path / "report.html"
    out = str(tmp_path / "m.h5")
    words = ["--R", "48", "--threads", "2", "--report", str(report)]
    assert main(["train", str(folder / "old.csv"), "--out", out, *words]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"report: {report}"
    page = report.read_text("utf-8")
    pictures = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    assert len(pictures) == 7
    assert all(base64.b64decode(one).startswith(b"\x89PNG\r\n\x1a\n") for one in pictures)
    assert "http" not in page
    titles = "Map of the objects", "Confusion", "How sure is it?", "Accuracy against R"
    for title in (*titles, "What matters", "What the model listens to", "What speaks for"):
        assert f">{title}" in page


def test_report_of_series(tmp_path):
    """Waves at any place and level, which windows find better than whole courses do."""
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 60, 1)) + 9 * rng.normal(size=(60, 1, 1)), ["wave", "none"] * 30
    for x, place in zip(X[::2], rng.integers(40, size=30), strict=True):
        x[place : place + 20, 0] += 3 * np.sin(np.arange(20))
    series_npz(tmp_path / "series.npz", list(X), y)
    report, out = tmp_path / "report.html", str(tmp_path / "m.h5")
    words = ["--R", "200", "--threads", "2", "--out", out, "--report", str(report)]
    assert main(["train", str(tmp_path / "series.npz"), *words]) == 0
    page = report.read_text("utf-8")
    assert len(re.findall(r'src="data:image/png;base64,', page)) == 7
    assert ">What the parts add<" in page


def test_how_sure_it_is(tmp_path, capsys, folder):
    X, y = splice("test")
    strings_csv(tmp_path / "new.csv", [*X, "ACGT" * 40, "A" * 200], [*y, "N", "N"])
    words = [str(folder / "m.h5"), str(tmp_path / "new.csv"), "--threads", "2", "--out"]
    assert main(["predict", *words, str(tmp_path / "l.csv"), "--alpha", "0.2"]) == 0
    said = capsys.readouterr().out
    table = rows(tmp_path / "l.csv")
    model, strings = load_model(folder / "m.h5"), [*X, "ACGT" * 40, "A" * 200]
    P = d2ke.d2ke_predict(None, strings, model, probability=True)[2]
    sets = d2ke.predict_set(strings, model, alpha=0.2)
    for name, wanted in (
        ("probability", P.max(axis=1)), ("novelty", d2ke.novelty(strings, model)),
    ):  # fmt: skip
        assert [float(row[name]) for row in table] == pytest.approx(wanted.tolist())
    for row, members in zip(table, sets, strict=True):
        assert row["set"] == "|".join(model.classes[members])
    held = 100 * np.mean([row["true"] in row["set"].split("|") for row in table])
    mean = f"{sets.sum(axis=1).mean():.2f}"
    assert f"alpha 0.2: {mean} classes on average; {held:.1f} % hold the true classes" in said
    level = max(0.01, 1 / (1 + model.n_train))
    strange = sum(float(row["novelty"]) <= level for row in table)
    assert 2 <= strange < 10
    assert f"strangers: {strange} of {len(table)} are unlike all training objects" in said
    same = tmp_path / "l.h5"
    assert main(["predict", *words, str(same), "--alpha", "0.2"]) == 0
    with h5py.File(same) as store:
        assert store["set"].asstr()[()].tolist() == [row["set"] for row in table]


def test_unseen_letters(tmp_path, capsys, folder):
    put(tmp_path / "new.csv", ["sequence", "ACXT", "ACGT"])
    files = [str(folder / "m.h5"), str(tmp_path / "new.csv")]
    out, features = tmp_path / "labels.csv", tmp_path / "features.h5"
    warning = "warning: 1 of 2 strings have letters that no training string has, such as 'X'"
    assert main(["predict", *files, "--out", str(out)]) == 0
    assert warning in capsys.readouterr().out
    assert len(out.read_text("utf-8").splitlines()) == 3
    assert main(["embed", *files, "--out", str(features)]) == 0
    assert warning in capsys.readouterr().out
    assert load_features(features).Z.shape[0] == 2


def test_names_of_files_are_compared_as_the_system_compares_them(monkeypatch, capsys, tmp_path):
    """On Windows the case of letters does not count."""
    monkeypatch.setattr(os.path, "normcase", str.lower)
    words = "train", tmp_path / "X.h5", "--out", tmp_path / "x.h5"
    assert "out and the file of objects are the same file" in refused(capsys, *words)


@pytest.mark.parametrize("command", ["predict", "embed", "update"])
def test_results_do_not_replace_what_a_link_leads_to(tmp_path, folder, capsys, symlink, command):
    symlink(tmp_path / "link.h5", folder / "m.h5")
    words = tmp_path / "link.h5", folder / "old.csv", "--out", folder / "m.h5"
    assert "out and the model are the same file" in refused(capsys, command, *words)


def test_classes_of_one_object_each(tmp_path, capsys):
    names = [f"a{i:03}" for i in range(30)]
    strings_csv(tmp_path / "x.csv", [*names, *names[:10]], [*names, *names[:10]])
    assert main(["train", str(tmp_path / "x.csv"), "--out", str(tmp_path / "m.h5")]) == 0
    note = "20 classes have one object each, which no model can learn"
    assert f"warning: {note}" in capsys.readouterr().out
    assert main(["inspect", str(tmp_path / "x.csv")]) == 0
    text = capsys.readouterr().out
    assert f"; {note}" in text
    assert "next: d2ke neighbors" in text
    assert "d2ke train" not in text
    strings_csv(tmp_path / "x.csv", names * 2, names * 2)
    assert main(["inspect", str(tmp_path / "x.csv")]) == 0
    text = capsys.readouterr().out
    assert "next: d2ke train" in text
    assert "no model" not in text


def test_a_wide_confusion_matrix_becomes_pairs():
    names = np.array([f"a long name of a class, {i}" for i in range(5)])
    lines = []
    _print_confusion(names, names[[1, 1, 2, 3, 4]], Session(report=lines.append))
    assert lines == [f"  {names[0]} taken for {names[1]}: 1"]
    lines.clear()
    _print_confusion(np.arange(20), np.arange(20), Session(report=lines.append))
    assert len(lines) == 22
