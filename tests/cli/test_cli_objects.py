# SPDX-License-Identifier: BSD-3-Clause
"""`d2ke cluster` and `d2ke propagate` on files of objects; data sets by name in all commands."""

from pathlib import Path

import numpy as np
import pytest
from command_cases import rows
from model_file_cases import strings_csv

import d2ke
from d2ke.cli.commands import COMMANDS
from d2ke.cli.main import main
from d2ke.discriminative import cdsk as cdsk_module
from d2ke.groups.cleaning import CLEANING
from d2ke.io import load_features
from d2ke.plots.tree import MAX_LEAVES

LANGUAGES = {
    "de": "STRASSE SCHULE SCHNEIDER SCHMIDT SCHREIBER FISCHER SCHUSTER SCHATTEN SCHNECKE SCHRANK",
    "it": "PAROLA PIETANZA BALLATA PALOMA BANANA CAROTA PATATA FARFALLA MONTAGNA CAMPANA",
}
WORDS = [(word, name) for name, words in LANGUAGES.items() for word in words.split()]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *words):
    """Run a command that succeeds, and return its lines."""
    status = main([str(word) for word in words])
    out, err = capsys.readouterr()
    assert (status, err) == (0, "")
    return out.splitlines()


def write_words(file="words.csv", hidden=()):
    """Write words with their languages, which are empty in the `hidden` rows."""
    with open(file, "w", encoding="utf-8") as stream:
        stream.write("id,word,language\n")
        for i, (word, language) in enumerate(WORDS):
            stream.write(f"w{i},{word},{'' if i in hidden else language}\n")


def share_of_right(table, name="label"):
    """Return how many words have the language of most words with their label."""
    found, true = [row[name] for row in table], [language for _, language in WORDS]
    return d2ke.discriminative.clustering_accuracy(true, found)


@pytest.mark.parametrize("options", [["--objects", "sequence"], ["--as", "objects"]])
def test_clusters_of_strings(capsys, options):
    strings_csv(Path("words.csv"), *zip(*WORDS, strict=True))
    lines = run(capsys, "cluster", "words.csv", *options, "--n-clusters", 2)
    assert lines[0].startswith("words.csv: 20 strings over")
    assert lines[1] == "distances: levenshtein"
    assert any(line.endswith("on the 20 labelled objects") for line in lines)


def test_labels_from_a_few(capsys):
    hidden = [i for i in range(20) if i % 10 > 2]
    write_words(hidden=hidden)
    names = ["--objects", "word", "--labels", "language"]
    lines = run(capsys, "propagate", "words.csv", *names, "--out", "p.csv")
    assert "given: labels of 6 objects of 2 classes" in lines
    found = rows("p.csv")
    assert [row["id"] for row in found] == [f"w{i}" for i in range(20)]
    assert [row["known"] == "" for row in found] == [i in hidden for i in range(20)]
    assert share_of_right(found) >= 0.8
    lines = run(capsys, "cluster", "words.csv", *names, "--out", "c.csv")
    assert any(line.endswith("on the 6 labelled objects") for line in lines)


def test_whole_numbers_with_gaps_stay_numbers(capsys):
    with open("words.csv", "w", encoding="utf-8") as stream:
        stream.write("word,label\n")
        for i, (word, language) in enumerate(WORDS):
            stream.write(f"{word},{'' if i % 10 > 2 else ['de', 'it'].index(language) + 9}\n")
    words = ["words.csv", "--objects", "word", "--save-features", "Z.h5"]
    lines = run(capsys, "propagate", *words, "--out", "p.csv")
    sizes = next(line for line in lines if line.startswith("sizes"))
    assert [part.split(":")[0] for part in sizes.removeprefix("sizes: ").split(", ")] == ["9", "10"]
    assert {row["known"] for row in rows("p.csv")} == {"9", "10", "-1"}
    assert load_features("Z.h5").labels.tolist().count(-1) == 14
    run(capsys, "propagate", "Z.h5", "--out", "q.csv")
    assert [row["label"] for row in rows("q.csv")] == [row["label"] for row in rows("p.csv")]


@pytest.mark.parametrize("unlabelled", [False, True])
def test_series_of_a_long_table(capsys, unlabelled):
    rng = np.random.default_rng(0)
    with open("walks.csv", "w", encoding="utf-8") as stream:
        stream.write("id,value,label\n")
        for i in range(20):
            label = "" if unlabelled and i % 4 else "up" if i < 10 else "down"
            sign = 1 if i < 10 else -1
            for value in np.cumsum(sign + 0.1 * rng.normal(size=15)):
                stream.write(f"s{i},{value:.4f},{label}\n")
    words = ["walks.csv", "--distance", "dtw", "--parameter", "window=5"]
    more = [] if unlabelled else ["--labeled", 2]
    lines = run(capsys, "propagate", *words, *more, "--out", "p.csv")
    assert lines[1] == "distances: dtw"
    found = rows("p.csv")
    assert [row["id"] for row in found] == [f"s{i}" for i in range(20)]
    assert [row["label"] for row in found] == ["up"] * 10 + ["down"] * 10


# ---------------------------------------------------------------- all commands


def test_data_sets_by_name(capsys):
    lines = run(capsys, "train", "japanese-vowels", "--R", 64, "--out", "m.h5")
    head = "japanese-vowels: 640 series of 12-dimensional vectors"
    assert lines[0].startswith(head)
    lines = run(capsys, "predict", "m.h5", "japanese-vowels", "--out", "p.csv")
    assert any(line.startswith(head) for line in lines)
    assert len(rows("p.csv")) == 640
    run(capsys, "embed", "m.h5", "japanese-vowels", "--out", "f.h5")
    assert len(load_features("f.h5").Z) == 640
    lines = run(
        capsys, "neighbors", "splice", "--radius", 1, "--distance", "hamming", "--out", "g.npz"
    )
    assert lines[0].startswith("splice: 3190 strings")


def test_texts_of_options_are_those_of_the_library():
    options = {}
    for command in COMMANDS:
        for option in command.options:
            if not isinstance(option, str):
                options[option[0]] = option[1]
    assert options["--variant"]["choices"] == list(cdsk_module.VARIANTS)
    assert f"default {cdsk_module.TRACE_WEIGHT}" in options["--trace-weight"]["help"]
    assert f"more than {MAX_LEAVES} objects" in options["--tree"]["help"]
    assert ",".join(CLEANING) in options["--clean"]["help"]
