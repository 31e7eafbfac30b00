# SPDX-License-Identifier: BSD-3-Clause
"""`d2ke learn-costs`, and `--costs` of other commands."""

import json

import numpy as np
import pytest
from command_cases import refused, rows, run

import d2ke

RIGHT = ["believe", "receive", "necessary", "separate", "definite"] * 5
WRONG = ["beleive", "recieve", "neccesary", "seperate", "definate"] * 5
LEARN = "learn-costs", "pairs.csv", "--columns", "wrong,right", "--out", "costs.json"
NEAR = "neighbors", "words.csv", "--objects", "word", "--k", "2", "--out", "near.csv"


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    """Change to a folder with pairs, words and costs."""
    monkeypatch.chdir(tmp_path)
    lines = map(",".join, zip(WRONG, RIGHT, strict=True))
    (tmp_path / "pairs.csv").write_text("\n".join(["wrong,right", *lines, ""]), "utf-8")
    words = [f"{word},{word[0]}" for word in dict.fromkeys(WRONG + RIGHT)]
    (tmp_path / "words.csv").write_text("\n".join(["word,label", *words, ""]), "utf-8")
    run(capsys, *LEARN)
    return tmp_path


def test_costs_of_a_file_are_those_of_python(folder, capsys):
    costs = d2ke.learn_costs(WRONG, RIGHT)
    words = [*dict.fromkeys(WRONG + RIGHT)]
    indices, distances = d2ke.nearest(words, k=2, distance="weighted_levenshtein", **costs)
    run(capsys, *NEAR, "--costs", "costs.json")
    found = rows("near.csv")
    assert [int(row["neighbor"]) for row in found] == indices.ravel().tolist()
    assert [float(row["distance"]) for row in found] == distances.ravel().tolist()
    run(
        capsys,
        "index",
        "words.csv",
        "--objects",
        "word",
        "--costs",
        "costs.json",
        "--out",
        "i.d2ke",
    )
    index = d2ke.Index.open("i.d2ke")
    assert np.array_equal(index.nearest(None, k=2)[1], distances)
    assert "substitution {210 entries}" in run(capsys, "inspect", "i.d2ke")


def test_groups_by_costs(folder, capsys):
    words = [*dict.fromkeys(WRONG + RIGHT), "bereave", "deceive", "defiant", "desperate"]
    (folder / "words.csv").write_text("\n".join(["word", *words, ""]), "utf-8")
    dedupe = "dedupe", "words.csv", "--objects", "word", "--radius", "6", "--out", "groups.csv"
    assert "must be symmetric" in refused(capsys, *dedupe, "--costs", "costs.json")
    run(capsys, *LEARN, "--symmetric")
    run(capsys, *dedupe, "--costs", "costs.json", "--save", "groups.d2ke")
    costs = d2ke.learn_costs(WRONG, RIGHT, symmetric=True)
    groups = d2ke.dedupe(words, radius=6, distance=("weighted_levenshtein", costs))
    assert [int(row["group"]) for row in rows("groups.csv")] == groups.labels.tolist()
    again = d2ke.load_duplicates("groups.d2ke").assign({"word": words})
    assert again.labels.tolist() == groups.labels.tolist()
    assign = *dedupe[:2], *dedupe[-2:], "--with", "groups.d2ke", "--costs", "costs.json"
    assert "does not go with --with" in refused(capsys, *assign)


def test_options_of_learning(folder, capsys):
    out = run(capsys, *LEARN, "--symmetric", "--no-transposition")
    assert "costs of edits, learned from 25 pairs" in out
    held = json.loads((folder / "costs.json").read_text("utf-8"))
    assert "transposition" not in held
    assert held["insertion"] == held["deletion"]
    assert held["insertion"][-1][0] is None


def test_a_model_with_costs(folder, capsys):
    words = (folder / "words.csv").read_text("utf-8").splitlines()
    (folder / "words.csv").write_text("\n".join([words[0], *words[1:] * 3]), "utf-8")
    train = "train", "words.csv", "--objects", "word", "--labels", "label", "--out", "m.h5"
    assert "weighted_levenshtein" in run(capsys, *train, "--costs", "costs.json", "--R", "16")
    refused(capsys, *train, "--costs", "costs.json", "--distance", "osa,indel")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no costs of d2ke learn-costs"),
        ("[" * 100_000, "holds no costs"),
        ("[1, 2]", "holds no costs"),
        ({"format": "other"}, "holds no costs"),
        ({"version": 2}, "holds no costs"),
        ({"deletion": [[]]}, "is damaged: a row must have"),
        ({"deletion": [[1.0]]}, "is damaged"),
        ({"deletion": [["ab", 1.0]]}, "is damaged"),
        ({"deletion": [[["a"], 1.0]]}, "is damaged"),
        ({"deletion": [["a", "1"]]}, "is wrong: deletion['a'] must be a number"),
        ({"deletion": [["a", float("nan")]]}, "is wrong: deletion['a'] must be a cost"),
        ({"substitution": [["a", 1.0]]}, "is wrong: substitution"),
        ({"mismatch": -1}, "is wrong: mismatch must be a cost"),
        ({"more": 1}, "is wrong: 'weighted_levenshtein' has no parameter 'more'"),
    ],
)
def test_damaged_files_are_refused_by_name(folder, capsys, text, message):
    if isinstance(text, dict):
        text = json.dumps(json.loads((folder / "costs.json").read_text("utf-8")) | text)
    (folder / "bad.json").write_text(text, "utf-8")
    error = refused(capsys, *NEAR, "--costs", "bad.json")
    assert "costs (--costs)" in error
    assert "bad.json" in error
    assert message in error
    assert not (folder / "near.csv").exists()


def test_what_does_not_go_together(folder, capsys):
    run(capsys, "index", "words.csv", "--objects", "word", "--out", "i.d2ke")
    with_costs = *NEAR, "--costs", "costs.json"
    assert "does not go with --index" in refused(capsys, *with_costs, "--index", "i.d2ke")
    assert "not of osa" in refused(capsys, *with_costs, "--distance", "osa")
    assert "must be two" in refused(capsys, *LEARN[:3], "wrong", *LEARN[4:])
    assert "out must end in .json" in refused(capsys, *LEARN[:5], "costs.txt")
    assert "no column 'rihgt'" in refused(capsys, *LEARN[:3], "wrong,rihgt", *LEARN[4:])
    (folder / "pairs.csv").write_text("wrong,right\nab,ac\nab,\n", "utf-8")
    assert "'right' is missing in row 1 of pairs.csv" in refused(capsys, *LEARN)
    (folder / "pairs.csv").write_text("wrong,right\nab,ac\n", "utf-8")
    assert "have 1 pair of different strings" in refused(capsys, *LEARN)
