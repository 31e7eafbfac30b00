# SPDX-License-Identifier: BSD-3-Clause
"""`d2ke neighbors`: the graph in the file is that of all distances."""

import re

import numpy as np
import pytest
from model_file_cases import (
    put,
    series_csv,
    series_npz,
    series_ts,
    splice,
    strings_csv,
    strings_fasta,
    vowels,
)
from scipy import sparse

import d2ke
from d2ke.cli import result_files
from d2ke.cli.main import main

WORDS = ["kitten", "mitten", "kitten", "sitting", "fitting", "cat", "knitting"]


def done(capsys, *words):
    """Run a command that succeeds, and return its lines."""
    assert main(["neighbors", *map(str, words), "--threads", "2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


def rows_of(file):
    """Return, for each row, the (distance, index) of its entries in their order in the file."""
    graph = sparse.load_npz(file)
    assert graph.format == "csr"
    assert graph.shape[0] == graph.shape[1]
    return [
        list(zip(graph.data[a:b].tolist(), graph.indices[a:b].tolist(), strict=True))
        for a, b in zip(graph.indptr[:-1], graph.indptr[1:], strict=True)
    ]


def sorted_rows(D, include_self):
    """Return (distance, index) of the others for each row, the nearest first."""
    return [
        [
            (d, j)
            for d, _, j in sorted(
                (d, j != i, j) for j, d in enumerate(row) if include_self or j != i
            )
        ]
        for i, row in enumerate(D.tolist())
    ]


def check(file, D, include_self, *, k=None, radius=None):
    for row, expected in zip(rows_of(file), sorted_rows(D, include_self), strict=True):
        if radius is not None:
            expected = [pair for pair in expected if pair[0] <= radius]
        assert row == expected[: None if k is None else k + include_self]


@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize(
    "chosen",
    [
        {"k": 3},
        {"k": 6},
        {"radius": 2},
        {"radius": 0},
        {"k": 2, "radius": 3},
        {"k": 6, "radius": 0},
    ],
)
def test_words(tmp_path, capsys, chosen, include_self):
    file, out = tmp_path / "words.csv", tmp_path / "graph.npz"
    put(file, ["string,n", *(f"{word},1" for word in WORDS)])
    more = ["--include-self"] if include_self else []
    more += [f"--{option}={value}" for option, value in chosen.items()]
    lines = done(capsys, file, "--labels", "n", "--out", out, *more)
    check(out, d2ke.distance_matrix(WORDS, WORDS, "levenshtein"), include_self, **chosen)
    assert re.fullmatch(
        r"levenshtein: \d+ neighbours of 7 objects; \d+ of 4\d distances computed \(\d+\.\d %\)",
        lines[-2],
    )
    assert lines[-1] == f"graph: {out}"


@pytest.mark.parametrize(
    ("data", "write", "suffix", "distance", "parameters"),
    [
        (splice, strings_csv, ".csv", None, {}),
        (splice, strings_fasta, ".fasta", "levenshtein", {"mode": "prefix"}),
        (vowels, series_ts, ".ts", None, {"window": 3}),
        (vowels, series_csv, ".csv", "dtw", {"window": "rws", "ground": "sqeuclidean"}),
        (vowels, series_npz, ".npz", "mhd", {}),
        (vowels, series_npz, ".npz", "kernel", {"sigma": 0.5, "normalize": True}),
    ],
)
def test_files_and_distances(tmp_path, capsys, data, write, suffix, distance, parameters):
    file, out = tmp_path / f"objects{suffix}", tmp_path / "graph.npz"
    X, y = (part[:40] for part in data("test"))
    write(file, X, y)
    words = ["--k", 5, "--out", out]
    if distance is not None:
        words += ["--distance", distance]
    for name, value in parameters.items():
        words += ["--parameter", f"{name}={str(value).lower()}"]
    done(capsys, file, *words)
    name = distance or ("levenshtein" if data is splice else "dtw")
    check(out, d2ke.distance_matrix(X, X, name, **parameters), False, k=5)


@pytest.mark.parametrize(("option", "value"), [("k", 3), ("radius", 2), ("radius", 0)])
def test_tables_have_the_rows_of_the_graph(tmp_path, capsys, monkeypatch, option, value):
    monkeypatch.setattr(result_files, "_ROWS", 4)
    for name, distance in (("words.csv", "levenshtein"), ("numbers.npz", "dtw")):
        file, out, table = tmp_path / name, tmp_path / "graph.npz", tmp_path / "graph.csv"
        if name == "words.csv":
            put(file, ["string", *WORDS])
        else:
            np.savez(file, X=np.random.default_rng(0).normal(size=(9, 5)))
        for place in (out, table):
            done(capsys, file, f"--{option}", value, "--distance", distance, "--out", place)
        head, *lines = table.read_text("utf-8").splitlines()
        cells = [line.split(",") for line in lines]
        if name == "words.csv" and cells:
            assert head == "item,text,neighbor,neighbor_text,distance"
            for one in cells:
                for place in (1, 2):  # the text after each number
                    assert one.pop(place) == WORDS[int(one[place - 1])]
        else:
            assert head == "item,neighbor,distance"
        read = [(int(i), int(j), float(d)) for i, j, d in cells]
        rows = enumerate(rows_of(out))
        assert read == [(i, j, d) for i, row in rows for d, j in row]
