# SPDX-License-Identifier: BSD-3-Clause
"""The examples run, and show what they say."""

import json
import re
import runpy
import sys
from ast import literal_eval
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from urllib.parse import urlencode

import numpy as np
import pytest

import d2ke

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(monkeypatch, capsys, name, *options):
    """Run an example as a script, and return what it printed."""
    monkeypatch.setattr(sys, "argv", [name, *options])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out


@pytest.mark.slow
def test_regression(monkeypatch, capsys):
    pytest.importorskip("sklearn")
    printed = run(monkeypatch, capsys, "regression.py", "--small")
    rows = re.findall(r"^(\S.*?) +([\d.]+) ± [\d.]+ +(-?[\d.]+) ±", printed, re.M)
    rmse = {name: float(value) for name, value, _ in rows}
    r2 = {name: float(value) for name, _, value in rows}
    assert list(rmse) == ["mean", "string length", "KNN", "D2KE"]
    assert rmse["D2KE"] < 0.6 * rmse["mean"]
    assert rmse["D2KE"] < 0.6 * rmse["string length"]
    assert r2["D2KE"] > 0.7
    assert abs(r2["mean"]) < 0.05


@pytest.mark.slow
def test_clustering(monkeypatch, capsys, tmp_path):
    pytest.importorskip("sklearn")
    image = pytest.importorskip("matplotlib.image")
    printed = run(monkeypatch, capsys, "clustering.py", "--small", "--out", str(tmp_path))
    rows = re.findall(r"^(digits-\w+) +(\S.*?) +([\d.]+) ± +[\d.]+ +([\d.]+) ±", printed, re.M)
    accuracy = {(data, method): float(value) for data, method, value, _ in rows}
    assert len(accuracy) == 12
    for data in ("digits-str8", "digits-points"):
        # Chance is 10 %.
        assert accuracy[data, "CDSK, D2KE Gram matrix"] > 50
        assert accuracy[data, "LPDSK, Gaussian of kernel distance"] > 65
        assert image.imread(tmp_path / f"clustering-{data}.png").shape[1] > 2000  # three panels


@pytest.mark.slow
def test_retrieval(monkeypatch, capsys, tmp_path):
    pytest.importorskip("sklearn")
    image = pytest.importorskip("matplotlib.image")
    picture = tmp_path / "retrieval.png"
    printed = run(monkeypatch, capsys, "retrieval.py", "--small", "--picture", str(picture))
    rows = re.findall(r"^(\w.*?) +[\d.]+ +([\d.]+) +([\d.]+)% +([\d.]+)%", printed, re.M)
    correlation = {name: float(value) for name, value, _, _ in rows}
    at_ten = {name: float(value) for name, _, _, value in rows}
    assert list(correlation) == ["EMD", "kernel distance", "kernel distance, features"]
    assert correlation["EMD"] == 1
    assert correlation["kernel distance"] > 0.8
    assert correlation["kernel distance, features"] > 0.8
    assert at_ten["kernel distance"] > at_ten["EMD"] > 70
    assert image.imread(picture).shape[1] == 1300


def test_alignment(monkeypatch, capsys, tmp_path):
    image = pytest.importorskip("matplotlib.image")
    printed = run(monkeypatch, capsys, "alignment.py", "--out", str(tmp_path))
    heads = re.findall(r"^(dtw|levenshtein|emd) [\d.]+$", printed, re.M)
    assert heads == ["dtw", "levenshtein", "emd"]
    for name in ("series", "strings", "documents"):
        picture = tmp_path / f"alignment-{name}.png"
        assert image.imread(picture).shape[1] == 520
        assert picture.stat().st_size < 60_000
        assert (EXAMPLES.parent / "docs" / picture.name).stat().st_size < 60_000
    example = runpy.run_path(str(EXAMPLES / "alignment.py"))
    assert all(memory < 100 for _, memory in example["measure"](2000, 300).values())


@pytest.mark.slow
def test_hypothetical_labels(monkeypatch, capsys):
    pytest.importorskip("sklearn")
    printed = run(monkeypatch, capsys, "hypothetical_labels.py", "--small")
    accuracy = {name: float(value) for name, value in
                re.findall(r"^(\w.*?) +([\d.]+)%$", printed, re.M)}  # fmt: skip
    assert len(accuracy) == 5
    assert min(accuracy.values()) > 85


@pytest.mark.slow
def test_pictures_of_the_concepts(monkeypatch, tmp_path):
    image = pytest.importorskip("matplotlib.image")
    docs = EXAMPLES.parent / "docs"
    drawn = runpy.run_path(str(docs / "pictures.py"))
    monkeypatch.setitem(drawn["save"].__globals__, "HERE", tmp_path)
    for name in (
        "windows",
        "overview",
        "distances",
        "random_objects",
        "families",
        "decisions",
        "letters",
        "neighbors",
        "clusters",
    ):
        drawn[name]()
    problem = drawn["strings"]()
    drawn["gammas"](*problem)
    drawn["numbers"](*problem)
    committed = sorted(path.name for path in (docs / "start").glob("*.png"))
    assert sorted(path.name for path in tmp_path.iterdir()) == committed
    for name in committed:
        assert image.imread(tmp_path / name).shape == image.imread(docs / "start" / name).shape
        assert (docs / "start" / name).stat().st_size < 160_000


def test_new_block(monkeypatch, capsys):
    printed = run(monkeypatch, capsys, "new_block.py")
    assert re.search(r"^  length +1 x length$", printed, re.M)
    assert float(re.search(r"R\^2 on new strings: ([\d.]+)", printed)[1]) > 0.95
    assert len((EXAMPLES / "new_block.py").read_text("utf-8").splitlines()) <= 40


def test_new_kind(monkeypatch, capsys):
    printed = run(monkeypatch, capsys, "new_kind.py")
    assert re.search(r"^  trees over \d+ words$", printed, re.M)
    assert float(re.search(r"([\d.]+) % of \d+ other functions", printed)[1]) > 75
    assert "pieces that add most" in printed
    assert len((EXAMPLES / "new_kind.py").read_text("utf-8").splitlines()) <= 60


def test_lookup(monkeypatch, capsys):
    pytest.importorskip("pyarrow")
    rows = literal_eval(run(monkeypatch, capsys, "lookup.py"))
    assert [(row["neighbor_id"], row["distance"]) for row in rows] == [("c1", 1), ("c4", 1)]


def test_lookup_service(tmp_path):
    """Two hundred requests of several threads are answered as the index answers."""
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice([*"abcdeé &"], 8)) + "x" for _ in range(1500)]
    ids = [f"n{i}" for i in range(len(names))]
    index = d2ke.Index(names, distance="levenshtein", ids=ids)
    index.save(tmp_path / "names.d2ke")
    queries = [name[:4] + name[5:] for name in names[:199]]
    wanted = [
        [{"id": ids[j], "name": names[j], "distance": d} for j, d in zip(*row, strict=True)]
        for row in zip(*(x.tolist() for x in index.nearest(queries, k=3)), strict=True)
    ]
    server = runpy.run_path(str(EXAMPLES / "lookup_service.py"))["serve"](
        tmp_path / "names.d2ke", 0, k=3
    )
    server.RequestHandlerClass.log_message = lambda *_: None

    def ask(query):
        connection = HTTPConnection(*server.server_address, timeout=60)
        connection.request("GET", f"/?{urlencode({'q': query})}")
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    serving = Thread(target=server.serve_forever)
    serving.start()
    try:
        with ThreadPoolExecutor(4) as pool:
            answers = [*pool.map(ask, [*queries, ""])]
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
    assert answers[:-1] == [(200, rows) for rows in wanted]
    assert answers[-1] == (400, {"error": "q is missing: ask /?q=NAME"})
    assert len((EXAMPLES / "lookup_service.py").read_text("utf-8").splitlines()) <= 40


def test_new_customers(monkeypatch, capsys):
    printed = run(monkeypatch, capsys, "new_customers.py")
    precision, recall = map(float, re.findall(r"[\d.]+", printed))
    assert precision > 0.95
    assert recall > 0.9
