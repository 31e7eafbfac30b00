# SPDX-License-Identifier: BSD-3-Clause
"""Each file of results that a command writes has the ids of the objects."""

import h5py
import numpy as np
import pytest
from command_cases import rows
from scipy import sparse

import d2ke
from d2ke.cli.main import main

rng = np.random.default_rng(0)
N = 40
NAMES = [f"o{i:02}" for i in range(N)]
WORDS = ["".join(rng.choice([*"ab"], 8, p=[0.8, 0.2] if i % 2 else [0.2, 0.8])) for i in range(N)]
SERIES = [np.sin(np.arange(6) * (1 + i % 2)) + rng.normal(0, 0.1, 6) for i in range(N)]
TABLES = {
    "strings": ("name,text,label", [(NAMES[i], WORDS[i], i % 2) for i in range(N)]),
    "records": (
        "name,text,size,label",
        [(NAMES[i], WORDS[i], i % 7, i % 2) for i in range(N)],
    ),
    "series": (
        "name,day,value,label",
        [(NAMES[i], t, SERIES[i][t], i % 2) for i in range(N) for t in range(6)],
    ),
}
OPTIONS = {
    "strings": ("--objects", "text"),
    "records": ("--objects", "text,size"),
    "series": ("--objects", "value", "--time", "day"),
}


def put(file, header, entries):
    lines = (",".join(map(str, row)) for row in entries)
    file.write_text("\n".join([header, *lines, ""]), "utf-8")


def run(*words):
    assert main([*map(str, words), "--threads", "1"]) == 0


@pytest.fixture(scope="module", params=TABLES)
def trained(request, tmp_path_factory):
    folder, kind = tmp_path_factory.mktemp(request.param), request.param
    put(folder / "objects.csv", *TABLES[kind])
    sets = ("--kind", "sets") if kind == "series" else ()
    report = ("--report", folder / "model.html") if kind == "strings" else ()
    run(
        "train", folder / "objects.csv", *OPTIONS[kind], *sets, "--ids", "name", "--out",
        folder / "model.h5", *report, "--R", "16",
    )  # fmt: skip
    return folder, kind


def test_predictions_and_features(trained, capsys):
    folder, kind = trained
    if kind == "strings":
        assert "o0" in (folder / "model.html").read_text("utf-8")
    # The model remembers the column.
    run("predict", folder / "model.h5", folder / "objects.csv", "--out", folder / "p.csv")
    assert "ids from 'name'" in capsys.readouterr().out
    assert [row["id"] for row in rows(folder / "p.csv")] == NAMES
    run("embed", folder / "model.h5", folder / "objects.csv", "--out", folder / "f.h5")
    assert d2ke.io.load_features(folder / "f.h5").ids.tolist() == NAMES
    # It does not need it.
    lines = (folder / "objects.csv").read_text("utf-8").splitlines()
    named = lines[0].startswith("name,day")
    put(folder / "other.csv", lines[0].replace("name", "name" if named else "code"),
        [line.split(",") for line in lines[1:]])  # fmt: skip
    run("predict", folder / "model.h5", folder / "other.csv", "--out", folder / "q.csv")
    assert ("id" in rows(folder / "q.csv")[0]) == named
    # Clusters of the features have them too.
    run("cluster", folder / "f.h5", "--n-clusters", "2", "--out", folder / "c.csv")
    assert [row["id"] for row in rows(folder / "c.csv")] == NAMES


def test_neighbours_clusters_and_labels(trained):
    folder, kind = trained
    if kind == "records":
        return  # these commands take objects of one kind
    common = folder / "objects.csv", *OPTIONS[kind], "--ids", "name"
    run("neighbors", *common, "--k", "2", "--out", folder / "n.csv")
    table = rows(folder / "n.csv")
    assert [row["id"] for row in table] == np.repeat(NAMES, 2).tolist()
    assert all(row["neighbor_id"] == NAMES[int(row["neighbor"])] for row in table)
    run("neighbors", *common, "--k", "2", "--out", folder / "n.npz")
    with np.load(folder / "n.npz") as archive:
        assert archive["ids"].tolist() == NAMES
    assert sparse.load_npz(folder / "n.npz").nnz == 2 * N
    for command, words in (("cluster", ("--n-clusters", "2")), ("propagate", ("--labeled", "3"))):
        run(command, *common, *words, "--out", folder / "c.csv", "--save-features",
            folder / "z.h5")  # fmt: skip
        assert [row["id"] for row in rows(folder / "c.csv")] == NAMES
        assert d2ke.io.load_features(folder / "z.h5").ids.tolist() == NAMES


def test_groups(tmp_path):
    put(tmp_path / "people.csv", "key,who", [(7, "Anna"), (3, "Ana"), (5, "Jon")])
    words = "dedupe", tmp_path / "people.csv", "--objects", "who", "--radius", "2", "--ids", "key"
    run(*words, "--out", tmp_path / "g.csv")
    table = rows(tmp_path / "g.csv")
    assert [(row["id"], row["group"], row["example_id"]) for row in table] == [
        ("7", "0", "7"), ("3", "0", "7"), ("5", "1", "5"),
    ]  # fmt: skip
    run(*words, "--out", tmp_path / "g.h5")
    with h5py.File(tmp_path / "g.h5") as store:
        assert store["id"][:].tolist() == [7, 3, 5]


def test_names_of_a_matrix_and_of_headers(tmp_path):
    D = d2ke.distance_matrix(WORDS, distance="levenshtein")
    np.savetxt(tmp_path / "d.csv", D, delimiter=",")
    (tmp_path / "names.txt").write_text("\n".join(NAMES), "utf-8")
    run("cluster", tmp_path / "d.csv", "--as", "distances", "--n-clusters", "2", "--names",
        tmp_path / "names.txt", "--out", tmp_path / "c.csv")  # fmt: skip
    assert [row["id"] for row in rows(tmp_path / "c.csv")] == NAMES
    lines = [f">{name} more\n{word}" for name, word in zip(NAMES, WORDS, strict=True)]
    (tmp_path / "w.fasta").write_text("\n".join(lines), "utf-8")
    run("neighbors", tmp_path / "w.fasta", "--k", "1", "--out", tmp_path / "n.csv")
    assert [row["id"] for row in rows(tmp_path / "n.csv")] == NAMES


def test_ids_that_lack_an_entry_are_not_dropped_in_silence(tmp_path, capsys):
    put(tmp_path / "words.csv", "id,text,label", [["a", "x", 0], ["", "y", 1], ["c", "z", 1]])
    run("inspect", tmp_path / "words.csv")
    text = capsys.readouterr().out
    assert "words.csv, line 3, column 'id': the id is empty, so that the column does not" in text
    assert "not used: 'id'" in text


def test_a_name_replaces_one_of_the_model(trained, capsys):
    folder, kind = trained
    if kind == "records":
        return
    lines = (folder / "objects.csv").read_text("utf-8").splitlines()
    put(folder / "truth.csv", lines[0].replace("label", "truth"),
        [line.split(",") for line in lines[1:]])  # fmt: skip
    run("predict", folder / "model.h5", folder / "truth.csv", "--labels", "truth", "--out",
        folder / "t.csv")  # fmt: skip
    text = capsys.readouterr().out
    assert "labels from 'truth'; ids from 'name'" in text
    assert ("truth.csv: 40 sets of" in text) == (kind == "series")
    assert [row["id"] for row in rows(folder / "t.csv")] == NAMES
