# SPDX-License-Identifier: BSD-3-Clause
"""`d2ke outliers`: the scores in the file are those of `d2ke.window_outliers`."""

import csv

import numpy as np
import pytest

import d2ke
from d2ke.cli.main import main

SIZE = 600


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A table whose rows are not in the order of time, with a fault and an empty field."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = np.sin(np.arange(SIZE) / 5) + 0.05 * rng.normal(size=SIZE)
    x[400:430] += 2
    x[100] = np.nan
    order = rng.permutation(SIZE)
    times = np.datetime64("2024-01-01T00:00") + np.arange(SIZE) * np.timedelta64(5, "m")
    with open("machine.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["t", "value", "state"])
        for row in order:
            field = "" if np.isnan(x[row]) else repr(float(x[row]))
            writer.writerow([times[row], field, "on"])
    return x, order


def rows_of(file):
    with open(file, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_scores_and_windows(machine, capsys):
    x, order = machine
    command = "outliers machine.csv --time t --columns value --window 30 --n 2 --out s.csv"
    assert main(command.split()) == 0
    said = capsys.readouterr().out
    assert "warning: 30 of 571 windows of X hold a missing value" in said
    with pytest.warns(UserWarning, match="missing"):
        wanted = d2ke.window_outliers(d2ke.pack([x], missing=True), 30, n=2)
    rows = rows_of("s.csv")
    np.testing.assert_array_equal(order[[int(row["row"]) for row in rows]], np.arange(SIZE))
    np.testing.assert_allclose([float(row["score"]) for row in rows], wanted.step_scores)
    ranks = np.array([int(row["window"]) for row in rows])
    for rank, start in enumerate(wanted.starts, 1):
        np.testing.assert_array_equal(np.flatnonzero(ranks == rank), start + np.arange(30))
    assert 370 < wanted.starts[0] < 430
    first = rows[wanted.starts[0]]["t"]
    assert f"1. {first} to " in said


def test_a_page_shows_the_series(machine, capsys):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    assert (
        main(["outliers", "machine.csv", "--time", "t", "--out", "s.csv", "--report", "r.html"])
        == 0
    )
    with open("r.html", encoding="utf-8") as file:
        page = file.read()
    assert "data:image/png;base64," in page
    assert "Outliers of machine.csv" in page
    assert "warning: length=31 was chosen" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("--columns speed", "columns (--columns): machine.csv has no column 'speed'"),
        ("--time when", "time (--time): machine.csv has no column 'when'"),
        ("--columns state", "state"),
        ("--window 700", "length (--window) is 700, but the longest series of X has 600"),
    ],
)
def test_refused(more, said, machine, capsys):
    assert main(f"outliers machine.csv {more} --out s.csv".split()) == 2
    assert said in capsys.readouterr().err


def test_a_column_of_numbers_alone(tmp_path, monkeypatch, capsys):
    """Its name in the first line is none of the steps."""
    monkeypatch.chdir(tmp_path)
    x = np.sin(np.arange(200) / 5)
    x[120:125] = 3
    lines = "\n".join(map(repr, x.tolist()))
    (tmp_path / "v.csv").write_text(f"v\n{lines}\n", "utf-8")
    arguments = ["outliers", "v.csv", "--window", "20", "--n", "1", "--out", "s.csv"]
    assert main([*arguments, "--columns", "v"]) == 0
    assert len(rows_of("s.csv")) == 200
    assert main(arguments) != 0
    assert "the first line may be a header" in capsys.readouterr().err
