# SPDX-License-Identifier: BSD-3-Clause
"""Which columns and variables the commands read, by options, by rule or as in training."""

import h5py
import numpy as np
import pytest
from command_cases import rows, run
from model_file_cases import cell, put

from d2ke.cli.main import main
from d2ke.io import save_mat
from d2ke.models.persistence import load_model

RNG = np.random.default_rng(0)
WORDS = ["".join(RNG.choice(list(letters), 8)) for letters in ("aab", "bba") for _ in range(12)]
TONGUES = ["a"] * 12 + ["b"] * 12
SERIES = [RNG.normal(3.0 * (i % 2), size=(6, 2)) for i in range(16)]


def table_of_words(file, head):
    """Write a table whose columns are named by `head`, in its order."""
    columns = {"word": WORDS, "tongue": TONGUES, "note": ["x", *WORDS[1:]], "y": TONGUES[::-1]}
    names = head.split(",")
    put(file, [head, *map(",".join, zip(*(columns[name] for name in names), strict=True))])


def table_of_series(file, head):
    """Write a long table of series, its rows from the last time to the first."""
    lines = []
    for i, x in enumerate(SERIES):
        for step, (first, second) in reversed(list(enumerate(x.tolist()))):
            row = {"run": f"r{i}", "clock": step, "p": first, "q": second, "kind": "ab"[i % 2]}
            lines.append(",".join(str(row[name]) for name in head.split(",")))
    put(file, [head, *lines])


def variables(file, names):
    """Write variables to a .mat, .npz or .h5 file."""
    columns = {"words": WORDS, "more": WORDS[::-1], "tongue": TONGUES, "back": TONGUES[::-1]}
    if file.suffix == ".mat":
        save_mat(file, {name: cell(columns[name]) for name in names})
    elif file.suffix == ".npz":
        np.savez(file, **{name: np.array(columns[name]) for name in names})
    else:
        with h5py.File(file, "w") as store:
            for name in names:
                store[name] = columns[name]


@pytest.fixture(scope="module")
def word_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    table_of_words(folder / "old.csv", "note,tongue,word")
    words = ["--objects", "word", "--labels", "tongue", "--R", "16", "--threads", "1"]
    assert main(["train", str(folder / "old.csv"), "--out", str(folder / "m.h5"), *words]) == 0
    return folder / "m.h5"


NAMES = {"objects": ["word"], "labels": "tongue", "unused": ["note"]}


def test_names_are_in_the_model(word_model):
    assert load_model(word_model).columns == NAMES


@pytest.mark.parametrize(
    ("head", "labelled"), [("word,note,tongue", True), ("note,word", False), ("word,y", False)]
)
def test_tables_of_strings(tmp_path, capsys, word_model, head, labelled):
    table_of_words(tmp_path / "new.csv", head)
    command = ["predict", word_model, tmp_path / "new.csv", "--out", tmp_path / "o.csv"]
    assert ("accuracy" in run(capsys, *command)) == (labelled or "y" in head)
    own = (tmp_path / "o.csv").read_text("utf-8")
    more = ["--objects", "word", *(["--labels", "tongue"] if labelled else [])]
    run(capsys, *command, *more)
    assert (tmp_path / "o.csv").read_text("utf-8") == own
    run(capsys, "embed", word_model, tmp_path / "new.csv", "--out", tmp_path / "z.h5")


def test_options_win(tmp_path, capsys, word_model):
    table_of_words(tmp_path / "new.csv", "word,note,tongue,y")
    command = ["predict", word_model, tmp_path / "new.csv", "--out", tmp_path / "o.csv"]
    words = [*command, "--objects", "note", "--labels", "y"]
    run(capsys, *words)
    assert [row["true"] for row in rows(tmp_path / "o.csv")] == TONGUES[::-1]
    # An option for one of the names leaves the others as they were in training.
    assert "objects from 'word'; labels from 'y'" in run(capsys, *command, "--labels", "y")


def test_long_tables(tmp_path, capsys):
    table_of_series(tmp_path / "old.csv", "run,clock,p,q,kind")
    names = ["--objects", "q", "--objects", "p", "--labels", "kind", "--ids", "run"]
    names += ["--time", "clock"]
    model, out = tmp_path / "m.h5", tmp_path / "o.csv"
    run(capsys, "train", tmp_path / "old.csv", *names, "--out", model, "--R", "16")
    table_of_series(tmp_path / "new.csv", "p,clock,q,run")
    run(capsys, "predict", model, tmp_path / "new.csv", "--out", out)
    own = out.read_text("utf-8")
    del names[4:6]
    run(capsys, "predict", model, tmp_path / "new.csv", "--out", out, *names)
    assert out.read_text("utf-8") == own


@pytest.mark.parametrize("suffix", [".mat", ".npz", ".h5"])
def test_variables(tmp_path, capsys, suffix):
    old, new, model = tmp_path / f"o{suffix}", tmp_path / f"n{suffix}", tmp_path / "m.h5"
    variables(old, ["more", "words", "tongue", "back"])
    names = ["--objects", "words", "--labels", "tongue"]
    run(capsys, "train", old, *names, "--out", model, "--R", "16")
    wanted = {"objects": ["words"], "labels": "tongue", "unused": ["more", "back"]}
    found = load_model(model).columns
    assert {**found, "unused": sorted(found["unused"])[::-1]} == wanted
    for present, labelled in ((["back", "more", "tongue", "words"], True), (["words"], False)):
        variables(new, present)
        text = run(capsys, "predict", model, new, "--out", tmp_path / "o.csv")
        assert ("accuracy" in text) == labelled
    variables(new, ["more", "tongue", "back"])
    assert main(["predict", str(model), str(new), "--out", str(tmp_path / "o.csv")]) == 2
    assert "objects (--objects) must be one of" in capsys.readouterr().err


def test_values_and_offsets(tmp_path, capsys):
    file, model = tmp_path / "v.npz", tmp_path / "m.h5"
    arrays = {"values": np.concatenate(SERIES), "offsets": np.arange(0, 97, 6)}
    np.savez(file, **arrays, kind=np.arange(16) % 2, other=np.arange(16))
    run(capsys, "train", file, "--labels", "kind", "--out", model, "--R", "16")
    names = {"objects": ["values", "offsets"], "labels": "kind", "unused": ["other"]}
    how = {"format": "arrays", "channels_first": False}
    assert load_model(model).columns == names | {"how": how}
    assert "accuracy" in run(capsys, "predict", model, file, "--out", tmp_path / "o.csv")
    np.savez(file, X=np.array(SERIES))
    run(capsys, "predict", model, file, "--out", tmp_path / "o.csv")
