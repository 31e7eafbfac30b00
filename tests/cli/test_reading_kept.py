# SPDX-License-Identifier: BSD-3-Clause
"""How a file was read is kept in the model and used again; `inspect` asks one question."""

import numpy as np
import pytest
from command_cases import refused, run, typed
from scipy.io import savemat

from d2ke.cli.main import main
from d2ke.cli.shell import shell_words
from d2ke.models.persistence import load_model


def uniprot(folder, name, n):
    rng, lines = np.random.default_rng(n), []
    for i in range(n):
        word = "".join(rng.choice(list(("ACDE", "FGHI")[i % 2]), 20))
        lines.append(f">sp|P{i}|X{i}_HUMAN a OS={('man', 'ape')[i % 2]} OX=96\n{word}\n")
    (folder / name).write_text("".join(lines), "utf-8")
    return folder / name


def squares(folder, name, n, key="X"):
    rng, cell = np.random.default_rng(n), np.empty((1, n), object)
    for i in range(n):
        cell[0, i] = np.column_stack(
            [(i % 2) * np.arange(4), np.zeros(4), *(0.1 * rng.standard_normal((2, 4)))]
        )
    savemat(folder / name, {key: cell, "y": np.arange(n) % 2})
    return folder / name


def wide(folder, name, n, gaps=False):
    rng, rows = np.random.default_rng(n), [",".join(f"t{t}" for t in range(8)) + ",kind"]
    for i in range(n):
        values = (i % 2) * np.arange(8) + 0.1 * rng.standard_normal(8)
        fields = list(map(str, values))
        if gaps and i % 3 == 0:
            fields[4] = ""
        rows.append(",".join(fields) + f",{'ab'[i % 2]}")
    (folder / name).write_text("\n".join(rows) + "\n", "utf-8")
    return folder / name


def accuracy(capsys, folder, *words):
    out = run(capsys, "predict", folder / "m.h5", *words, "--out", folder / "p.csv")
    return float(out.partition("accuracy ")[2].partition(" %")[0])


def train(capsys, folder, *words):
    return run(capsys, "train", *words, "--R", "16", "--out", folder / "m.h5")


def test_the_pattern_of_labels(tmp_path, capsys):
    train(capsys, tmp_path, uniprot(tmp_path, "a.fasta", 20), "--labels", "OS=(.+?) OX=")
    assert accuracy(capsys, tmp_path, uniprot(tmp_path, "b.fa", 10)) == 100
    unlabelled = tmp_path / "new.fasta"
    unlabelled.write_text(">q1\nACDE\n", "utf-8")
    out = run(capsys, "predict", tmp_path / "m.h5", unlabelled, "--out", tmp_path / "p.csv")
    assert "no labels" in out


@pytest.mark.parametrize("option", ["--no-channels-first", "--channels-first", None])
def test_the_axis_of_the_channels(tmp_path, capsys, option):
    options = [] if option is None else [option]
    train(capsys, tmp_path, squares(tmp_path, "a.mat", 80), *options)
    first = option != "--no-channels-first"
    assert load_model(tmp_path / "m.h5").columns["how"] == {
        "format": ".mat",
        "channels_first": first,
    }
    new = squares(tmp_path, "b.mat", 30)
    assert accuracy(capsys, tmp_path, new) >= 80
    other = "--no-channels-first" if first else "--channels-first"
    error = refused(capsys, "predict", tmp_path / "m.h5", new, other, "--out", tmp_path / "p.csv")
    assert f"read with channels_first={first}" in error


def test_rows_that_are_series_with_gaps(tmp_path, capsys):
    file = wide(tmp_path, "a.csv", 24, gaps=True)
    out = train(capsys, tmp_path, file, "--series", "--labels", "kind", "--missing", "interpolate")
    assert "missing values: 8 in 8 series, filled in linearly in time" in out
    assert accuracy(capsys, tmp_path, wide(tmp_path, "b.csv", 10, gaps=True)) == 100


def test_gaps_of_long_tables_are_counted(tmp_path, capsys):
    rows = ["id,t,v,label"]
    for i in range(16):
        for t in range(6):
            rows.append(f"s{i},{t},{'' if t == i % 5 else (i % 2) * t},{'ab'[i % 2]}")
    (tmp_path / "a.csv").write_text("\n".join(rows) + "\n", "utf-8")
    out = train(capsys, tmp_path, tmp_path / "a.csv", "--missing", "interpolate")
    assert "missing values: 16 in 16 series" in out
    assert accuracy(capsys, tmp_path, tmp_path / "a.csv") == 100
    assert "the value is empty" in refused(
        capsys, "train", tmp_path / "a.csv", "--out", tmp_path / "n.h5"
    )


# ------------------------------------------------------------------ inspect


def proposed(capsys, file, *options):
    """Run the commands that inspect proposes, until it proposes another one."""
    out = run_inspect(capsys, file, *options)
    line = out.splitlines()[-1]
    assert line.startswith("next: d2ke ")
    command = typed(line.removeprefix("next: d2ke "))
    return proposed(capsys, *command[1:]) if command[0] == "inspect" else command


def run_inspect(capsys, *words):
    assert main(["inspect", *map(str, words)]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("gaps", [False, True])
def test_inspect_sees_series_in_rows(tmp_path, capsys, gaps):
    file = wide(tmp_path, "a.csv", 12, gaps)
    out = run_inspect(capsys, file)
    again = f"next: d2ke inspect {shell_words(str(file))} --series\n"
    assert out.endswith(f"is each row a series? If so:\n{again}")
    found = run_inspect(capsys, file, "--series", "--labels", "kind").splitlines()[-1]
    assert ("--missing interpolate" in found) == gaps
    headless = tmp_path / "b.csv"
    headless.write_text("1,0.5,2\n2,3,4\n1,4,5\n2,5,7\n", "utf-8")
    assert proposed(capsys, headless)[0] == "train"


def test_inspect_counts_marks_of_no_label(tmp_path, capsys):
    file = tmp_path / "a.csv"
    file.write_text("word,label\nab,-1\nba,0\nbb,1\naa,-1\n", "utf-8")
    out = run_inspect(capsys, file, "--objects", "word")
    assert "labels: 2 classes: 0 (1), 1 (1); 2 objects of -1, which marks no label" in out
    assert "next: d2ke propagate" in out
    file.write_text("word,label\nab,-1\nba,1\n", "utf-8")
    assert "2 classes: -1 (1), 1 (1)\n" in run_inspect(capsys, file, "--objects", "word")


def test_inspect_counts_labels_that_may_be_missing(tmp_path, capsys):
    file = tmp_path / "a.csv"
    file.write_text("word,label\nab,NA\nba,x\nbb,y\naa,NA\nbab,x\naba,y\n", "utf-8")
    out = run_inspect(capsys, file, "--objects", "word")
    assert "2 labels are 'NA', a class; if they are missing: --na-values NA" in out
    options = ["--objects", "word", "--na-values", "NA"]
    out = run_inspect(capsys, file, *options)
    assert "labels: 2 classes: x (2), y (2); 2 objects without" in out
    command = typed(out.splitlines()[-1].removeprefix("next: d2ke "))
    assert command[0] == "propagate"
    command[command.index("labels.csv")] = str(tmp_path / "labels.csv")
    assert "given: labels of 4 objects of 2 classes" in run_command(capsys, command)
    as_class = [*command[: command.index("--na-values")], *command[command.index("--as") :]]
    assert "'NA' is a class; if such labels are missing: --unknown NA" in run_command(
        capsys, as_class
    )


def run_command(capsys, words):
    assert main([*words, "--R", "16"]) == 0
    return capsys.readouterr().out


# ------------------------------------------------------------------ channels by name


def long_rows(folder, name, columns, n=16):
    """Write series in which u rises or falls by class, and v is noise of another scale."""
    rng, rows = np.random.default_rng(1), [",".join([*columns, "label"])]
    for i in range(n):
        for t in range(6):
            u, v = (2 * (i % 2) - 1) * t + 0.1 * rng.normal(), 5 * rng.normal()
            held = {"id": f"s{i}", "time": t, "u": u, "v": v, "w": v}
            rows.append(",".join(str(held[column]) for column in columns) + f",{'ab'[i % 2]}")
    (folder / name).write_text("\n".join(rows) + "\n", "utf-8")
    return folder / name


def test_columns_in_another_order(tmp_path, capsys):
    train(capsys, tmp_path, long_rows(tmp_path, "a.csv", ["id", "time", "u", "v"]))
    answers = []
    for columns in (["id", "time", "u", "v"], ["v", "time", "u", "id"]):
        new = long_rows(tmp_path, "b.csv", columns)
        assert accuracy(capsys, tmp_path, new) == 100
        answers.append((tmp_path / "p.csv").read_text("utf-8"))
    assert answers[0] == answers[1]
    other = long_rows(tmp_path, "c.csv", ["id", "time", "u", "w"])
    error = refused(capsys, "predict", tmp_path / "m.h5", other, "--out", tmp_path / "q.csv")
    assert "has the channels 'u', 'w', but the training data has 'u', 'v'" in error
