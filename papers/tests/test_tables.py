# SPDX-License-Identifier: BSD-3-Clause
"""The paper's tables: rows of every cell, and a report of what was measured."""

import csv
import json
import statistics
from dataclasses import replace

import pytest
from experiment_cases import SMALL, subset

from papers import paper, scaling
from papers import tables as module
from papers.datasets import REGISTRY, load
from papers.methods import METHODS, Division, evaluate
from papers.settings import SETTINGS
from papers.tables import main, tables

NAMES = ("digits-str8", "digits-points")


@pytest.fixture
def data(monkeypatch):
    """Both data sets with 150 objects, and small settings."""
    parts = {name: subset(name, 150) for name in NAMES}
    for name in NAMES:
        small = replace(SMALL[name], R=16, search_R=8)
        monkeypatch.setitem(SETTINGS, name, small)
        monkeypatch.setitem(module.KINDS, "paper", lambda name: SETTINGS[name])
    monkeypatch.setattr(module, "load", lambda name, data_dir: parts[name])
    return parts


@pytest.mark.parametrize(
    "methods", [["d2ke", "knn"], pytest.param([*METHODS], marks=pytest.mark.slow)], ids=len
)
def test_a_whole_run(data, methods, tmp_path, capsys):
    main(["--datasets", *NAMES, "--methods", *methods, "--seeds", "2", "--threads", "1",
          "--out", str(tmp_path)])  # fmt: skip
    with (tmp_path / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    cells = [row for row in rows if row["parameters"] != "{}"]
    assert {(row["dataset"], row["method"], row["seed"]) for row in cells} == {
        (name, method, seed) for name in NAMES for method in methods for seed in "01"
    }
    assert len(cells) == 4 * len(methods)
    sizes = [row["R"] for row in rows if (row["method"], row["seed"]) == ("d2ke", "0")]
    assert sizes == ["16", "4", "8"] * 2
    # The numbers are those of the methods themselves.
    row = next(row for row in cells if row["method"] == "knn")
    division = Division.of(data[NAMES[0]], SETTINGS[NAMES[0]], 0, n_threads=1)
    found = evaluate("knn", division)
    assert float(row["accuracy"]) == found.accuracy
    assert json.loads(row["parameters"]) == found.parameters
    values = [float(one["accuracy"]) for one in cells
              if (one["dataset"], one["method"]) == (NAMES[0], "knn")]  # fmt: skip
    text = (tmp_path / "report.md").read_text("utf-8")
    assert f"{statistics.fmean(values):.2f} ± {statistics.stdev(values):.2f} |" in text
    assert "digits-str8 knn seed 0: " in capsys.readouterr().out


def test_the_papers_protocol_stands_beside_its_numbers(data, tmp_path, monkeypatch):
    monkeypatch.setitem(paper.ACCURACIES, (NAMES[0], "knn"), 50.0)
    rows = tables(NAMES[:1], ["knn"], seeds=2, kind="paper", out=tmp_path)
    mean = statistics.fmean(row["accuracy"] for row in rows)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert f"**{mean - 50:+.2f}**" in text
    assert "(50.00)" in text
    assert "embeds the test objects with the training objects" in text


def test_deterministic_methods_run_once_on_a_published_division(data, tmp_path, monkeypatch):
    source = replace(REGISTRY[NAMES[0]], n_train=100)
    monkeypatch.setitem(REGISTRY, NAMES[0], source)
    data[NAMES[0]] = replace(data[NAMES[0]], source=source)
    rows = tables(NAMES[:1], ["knn", "rsm"], seeds=2, out=tmp_path, n_threads=1)
    found = [(row["method"], row["seed"], row["R"]) for row in rows]
    # All seeds share the division: one curve is enough.
    assert found == [("rsm", 0, 16), ("rsm", 0, 4), ("rsm", 0, 8), ("knn", 0, ""), ("rsm", 1, 16)]


def test_data_that_are_missing(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("D2KE_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"auslan.*tctodd.tar.gz"):
        tables(["auslan"], out=tmp_path, data_dir=tmp_path)
    with pytest.raises(FileNotFoundError, match="no data set can be run"):
        tables(domain="images", out=tmp_path, data_dir=tmp_path)
    assert "not run: flower: " in capsys.readouterr().out


def test_the_papers_numbers():
    assert set(paper.ACCURACIES) == set(paper.SECONDS)
    assert len(paper.ACCURACIES) == 12 * (len(METHODS) - 1)
    assert {name for name, _ in paper.ACCURACIES} == set(paper.ORDER) - {"pentip-trimmed"}
    assert {method for _, method in paper.ACCURACIES} == set(METHODS) - {"d2ke_views"}
    assert paper.ACCURACIES["splice", "d2ke"] == 90.17
    assert paper.FIRST_VERSION["splice", "d2ke"] == 88.51
    assert paper.ACCURACIES["letters2", "gdk_led"] == 58.54
    assert paper.SECONDS["mnist-str4", "gdk_led"] == 102130
    assert paper.ACCURACIES["decor", "rsm"] == 68.75
    assert set(paper.NOTES) <= {*paper.ORDER, *REGISTRY}


@pytest.mark.parametrize(
    ("name", "method", "n_train", "n_test", "least"),
    [
        ("splice", "rsm", 2233, 957, 60),
        ("splice", "knn", 2233, 957, 70),
        pytest.param("auslan", "d2ke", 1795, 770, 60, marks=pytest.mark.slow),
    ],
)
def test_real_data(data_dir, small, name, method, n_train, n_test, least):
    division = Division.of(load(name, data_dir), SETTINGS[name], 0, n_threads=2)
    assert (len(division.train), len(division.test)) == (n_train, n_test)
    assert least < evaluate(method, division).accuracy <= 100


def test_settings_fit_the_data_sets():
    for name, setting in SETTINGS.items():
        assert 0 < setting.search_R <= setting.R
        key = "size" if REGISTRY[name].domain == "sets" else "length"
        assert key in setting.omega
        assert all(values for values in setting.omega.values())


def test_cost_against_size(monkeypatch, capsys):
    """A method stops before the size that would take too long."""
    monkeypatch.setattr(scaling, "load", lambda name: subset("digits-str8", 300))
    monkeypatch.setitem(SETTINGS, "digits-str8", SMALL["digits-str8"])
    words = ["digits-str8", "--R", "16", "--smallest", "40", "--threads", "1"]
    scaling.main([*words, "--methods", "d2ke", "knn", "--largest", "80"])
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[:2] for row in rows] == [
        ["| D2KE", "40"], ["| D2KE", "80"], ["| KNN", "40"], ["| KNN", "80"],
    ]  # fmt: skip
    assert all(float(row[2]) > 10 and float(row[3]) >= float(row[4][:-2]) for row in rows)
    scaling.main([*words, "--methods", "knn", "--seconds", "1e-9"])
    assert len(capsys.readouterr().out.splitlines()) == 3
