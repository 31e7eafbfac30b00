# SPDX-License-Identifier: BSD-3-Clause
"""`d2ke index`, and `d2ke neighbors` and `d2ke inspect` of an index."""

import numpy as np
import pytest
from command_cases import refused, rows, run
from scipy import sparse

import d2ke
from d2ke.cli.main import main

NAMES = ["jon smith", "joan smyth", "maria schmidt", "ann lee", "anna leigh"]
IDS = ["c1", "c2", "c3", "c4", "c5"]
QUERIES = {"q1": "jon smyth", "q2": "ann leigh"}
BUILD = "index", "names.csv", "--objects", "name", "--ids", "id"
QUERY = "neighbors", "q.csv", "--objects", "name", "--ids", "key", "--index", "names.d2ke"


def put(file, header, *lines):
    with open(file, "w", encoding="utf-8") as stream:
        stream.writelines(f"{line}\n" for line in (header, *lines))


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    """Change to a folder with an index and files of queries and of changes."""
    monkeypatch.chdir(tmp_path)
    put("names.csv", "id,name", *map(",".join, zip(IDS, NAMES, strict=True)))
    put("q.csv", "key,name", *map(",".join, QUERIES.items()))
    put("gone.csv", "id,why", "c2,moved", "c4,left")
    put("more.csv", "id,name", "7,jon smyth")
    run(capsys, *BUILD, "--out", "names.d2ke")
    return tmp_path


def found(file):
    """Return the ids of both sides, the indices and the distances."""
    return [
        (row["id"], row["neighbor_id"], int(row["neighbor"]), float(row["distance"]))
        for row in rows(file)
    ]


def expected(index, k=None, radius=None):
    """Return the same of an index in Python, each row by distance."""
    lists = index.nearest([*QUERIES.values()], k=k or len(index), radius=radius)
    return [
        (query, index.ids[i], i, distance)
        for query, near, row in zip(QUERIES, *(values.tolist() for values in lists), strict=True)
        for i, distance in zip(near, row, strict=True)
        if i >= 0
    ]


@pytest.mark.parametrize("how", [{"k": 3}, {"radius": 5}, {"k": 2, "radius": 1}])
def test_neighbours_are_those_of_the_index(folder, capsys, how):
    words = [f"--{name}={value}" for name, value in how.items()]
    wanted = expected(d2ke.Index(NAMES, distance="levenshtein", ids=IDS), **how)
    assert wanted
    run(capsys, *QUERY, *words, "--out", "near.csv")
    assert found("near.csv") == wanted
    run(capsys, *QUERY, *words, "--out", "near.npz")
    graph, arrays = sparse.load_npz("near.npz"), np.load("near.npz")
    near = arrays["neighbor_ids"][graph.indices]
    sides = np.repeat(arrays["ids"], np.diff(graph.indptr))
    assert [*zip(sides, near, graph.indices, graph.data, strict=True)] == wanted


def test_objects_come_and_go(folder, capsys):
    change = "index", "names.d2ke", "--objects", "name", "--ids", "id"
    lines = run(capsys, *change, "--remove", "gone.csv", "--add", "more.csv").splitlines()
    assert lines[1:] == [
        "removed: 2", "added: 1", "Index of 4 strings by 'levenshtein' in names.d2ke",
    ]  # fmt: skip
    index = d2ke.Index.open("names.d2ke")
    assert index.ids[index.indices].tolist() == ["c1", "c3", "c5", "7"]
    run(capsys, *QUERY, "--k", 2, "--out", "near.csv")
    assert found("near.csv") == expected(index, k=2)
    # A number is text here, as ids of the index are.
    put("gone.csv", "id", "7")
    assert "removed: 1\n" in run(capsys, "index", "names.d2ke", "--remove", "gone.csv")
    for how in ("--k=1", "--radius=1"):
        run(capsys, *QUERY, how, "--out", "near.npz")
        assert sparse.load_npz("near.npz").shape == (2, 5)


def test_without_ids(folder, capsys):
    put("plain.csv", "name", *NAMES)
    run(capsys, "index", "plain.csv", "--objects=name", "--out=plain.d2ke", "--distance=osa")
    put("gone.csv", "item", "1", "3")
    run(capsys, "index", "plain.d2ke", "--remove", "gone.csv", "--ids", "item")
    run(capsys, "index", "plain.d2ke", "--add", "more.csv", "--objects", "name")
    index = d2ke.Index.open("plain.d2ke")
    assert (index.indices.tolist(), index.ids) == ([0, 2, 4, 5], None)
    out = run(capsys, "inspect", "plain.d2ke")
    assert "ids: none" in out
    assert "'osa'" in out
    run(
        capsys, "neighbors", "q.csv", "--objects=name", "--index=plain.d2ke", "--k=1", "--out=n.csv"
    )
    assert [row["neighbor"] for row in rows("n.csv")] == ["5", "4"]


def test_series_sets_and_records(folder, capsys):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 2)) for n in (3, 4, 5, 6)]
    np.savez("x.npz", values=np.concatenate(X), offsets=np.cumsum([0, *map(len, X)]))
    for kind, distance, parameters in (("series", "dtw", {"window": 2}), ("sets", "mhd", {})):
        put_in = [f"--parameter={name}={value}" for name, value in parameters.items()]
        run(capsys, "index", "x.npz", "--kind", kind, *put_in, "--out", "x.d2ke")
        run(capsys, "neighbors", "x.npz", "--index", "x.d2ke", "--k", 2, "--out", "near.csv")
        indices, _ = d2ke.nearest(X, X, k=2, distance=distance, **parameters)
        assert [int(row["neighbor"]) for row in rows("near.csv")] == indices.ravel().tolist()
    assert "; no parameters\n" in run(capsys, "inspect", "x.d2ke")
    people = d2ke.pack_records({"name": NAMES, "age": [1.0, 2, 3, 4, 5]})
    d2ke.Index(people).save("people.d2ke")
    put("new.csv", "age,name,town", "3.5,maria schmitt,ulm")
    run(capsys, "neighbors", "new.csv", "--index", "people.d2ke", "--k", 1, "--out", "near.csv")
    assert [row["neighbor"] for row in rows("near.csv")] == ["2"]


def test_inspect(folder, capsys):
    lines = run(capsys, "inspect", "names.d2ke").splitlines()
    assert lines[0] == "Index of 5 strings by 'levenshtein' in names.d2ke; no parameters"
    assert lines[1] == "ids: c1, c2, c3, c4, c5"
    size = sum(file.stat().st_size for file in (folder / "names.d2ke").iterdir())
    assert lines[2] == f"size: {size / 1e6:.3g} MB"
    words = lines[3].removeprefix("next: d2ke ").replace("FILE", "q.csv --objects name").split()
    assert main([*words, "--threads", "1"]) == 0


def test_verify(folder, capsys):
    lines = run(capsys, "index", "names.d2ke", "--verify").splitlines()
    assert lines[0] == "names.d2ke: all checksums are right"
    [segment] = (folder / "names.d2ke").glob("*.segment")
    content = segment.read_bytes()
    place = content.index(b"c\0\0\0" + b"1\0\0\0")  # of the ids
    segment.write_bytes(content[:place] + b"d" + content[place + 1 :])
    for words in (("index", "names.d2ke", "--verify"), (*QUERY, "--k", "1", "--out", "n.csv")):
        assert "names.d2ke is damaged: segment 0, array ids" in refused(capsys, *words)
    assert not (folder / "n.csv").exists()


CHANGE = "index names.d2ke --objects name"
LOOK = "neighbors q.csv --objects name --index names.d2ke --out n.csv"
REFUSED = [
    ("index names.csv --objects name", "out (--out) is needed"),
    ("index names.d2ke", "--add, --remove or --verify"),
    ("index names.csv --out names", "out must end in .d2ke, got 'names'"),
    ("index names.csv --out a.d2ke --add more.csv", "add (--add) is for an index that exists"),
    ("index names.csv --objects name,id --out a.d2ke", "records of several columns"),
    (
        "index names.csv --objects name --distance dwt --out a.d2ke",
        "distance (--distance)",
        "'dtw'",
    ),
    ("index twice.csv --objects name --out a.d2ke", "ids (--ids) has 'c1' twice"),
    ("index names.csv --verify", "names.csv is a file; an index is a folder"),
    ("index q.csv --objects name --ids key --out function.d2ke --parameter a=1", "parameter 'a'"),
    (f"{CHANGE} --add more.csv --distance osa", "distance (--distance) belongs to the index"),
    (f"{CHANGE} --add names.csv --ids id", "ids (--ids) is 'c1', which an object"),
    (f"{CHANGE} --add q.csv", "ids (--ids) are needed"),
    (f"{CHANGE} --remove q.csv", "ids (--ids) is needed: q.csv has the columns 'key', 'name'"),
    (f"{CHANGE} --remove q.csv --ids key", "ids (--ids) has 'q1', but no object"),
    (f"{CHANGE} --remove q.csv --ids no", "q.csv has no column 'no'"),
    (f"{CHANGE} --remove names.csv", "ids (--ids) are those of all objects"),
    (f"{CHANGE} --remove q.csv --ids key".replace("names", "plain"), "plain.d2ke has no ids"),
    (f"{CHANGE} --remove x.npz", "remove (--remove) must be a table"),
    (LOOK, "k or radius is needed"),
    (f"{LOOK} --k 6", "k is 6, but the index has 5 objects"),
    (f"{LOOK} --k 1 --distance osa", "distance (--distance) does not go with --index"),
    (f"{LOOK} --k 1 --parameter mode=infix", "parameter (--parameter) does not go with"),
    (f"{LOOK} --k 1 --include-self", "include_self (--include-self) does not go with"),
    (f"{LOOK} --k 1".replace("names.d2ke", "q.csv"), "is a file; an index is a folder"),
    (f"{LOOK} --k 1".replace("names.d2ke", "function.d2ke"), "was built with a function"),
    ("inspect empty.d2ke", "empty.d2ke is not an index of d2ke"),
]


@pytest.mark.parametrize(("words", "said"), [(words, said) for words, *said in REFUSED])
def test_refused(folder, capsys, words, said):
    put("twice.csv", "id,name", "c1,a", "c1,b")
    np.savez("x.npz", X=np.zeros((3, 4)))
    (folder / "empty.d2ke").mkdir()
    d2ke.Index(["a", "b"], distance=lambda a, b: float(a != b)).save("function.d2ke")
    d2ke.Index(["a", "b"], distance="levenshtein").save("plain.d2ke")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    error = refused(capsys, *words.split())
    assert [text for text in said if text not in error] == [], error
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_places_that_cannot_be_written_and_a_second_writer(folder, capsys, monkeypatch):
    (folder / "other.d2ke").mkdir()
    put("other.d2ke/x", "mine")
    monkeypatch.setattr("d2ke.cli.index.read", None)  # they are named before the file is read
    for place, said in (
        ("no/a.d2ke", "the folder no does not exist"),
        ("other.d2ke", "other.d2ke is a folder that is no index"),
    ):
        assert main([*BUILD, "--out", place]) == 1
        assert said in capsys.readouterr().err
    for words in (["inspect", "none.d2ke"], [*LOOK.replace("names", "none").split(), "--k=1"]):
        assert main(words) == 1
        assert capsys.readouterr().err == "d2ke: there is no such folder: none.d2ke\n"
    with d2ke.Index.open("names.d2ke", writable=True):
        assert main(["index", "names.d2ke", "--remove", "gone.csv"]) == 1
        assert "lock" in capsys.readouterr().err
    assert len(d2ke.Index.open("names.d2ke")) == 5
