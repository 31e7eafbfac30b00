# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of series on a folder of the archive's files."""

import re
import sys

import numpy as np
import pytest

from benchmarks import archive, series_accuracy


def series(seed):
    """Return classes and series that are told apart by their level: 6 of each, of 20 steps."""
    y = np.repeat([1, 2], 6)
    return y, np.random.default_rng(seed).normal(size=(12, 20)) + 100 * y[:, None]


@pytest.fixture
def folder(tmp_path):
    """Return a folder of a .ts file, .tsv files in a folder, and files with a missing value."""
    for name in ("Waves", "Holes"):
        for seed, part in enumerate(("TRAIN", "TEST")):
            lines = [
                ",".join(map(str, values)) + f":{label}"
                for label, values in zip(*series(seed), strict=True)
            ]
            lines[3] = lines[3].replace(",", ",?," if name == "Holes" else ",", 1)
            text = "\n".join(["@univariate true", "@classLabel true 1 2", "@data", *lines])
            (tmp_path / f"{name}_{part}.ts").write_text(text, "utf-8")
    (tmp_path / "Steps").mkdir()
    for seed, part in enumerate(("TRAIN", "TEST")):
        rows = [[label, *values] for label, values in zip(*series(seed), strict=True)]
        rows[0][-2:] = ["NaN", "NaN"]
        text = "\n".join("\t".join(map(str, row)) for row in rows)
        (tmp_path / f"Steps/Steps_{part}.tsv").write_text(text, "utf-8")
    return tmp_path


@pytest.fixture
def run(monkeypatch, capsys):
    """Return the rows of both tables and what was said beside them, of a run."""

    def start(*arguments):
        words = ["series_accuracy", "--peers", "--seeds", "1", *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", words)
        series_accuracy.main()
        out, err = capsys.readouterr()
        table = re.findall(r"^\| (.*) \|$", out, re.M)
        return {cells[0]: cells[1:] for cells in (line.split(" | ") for line in table)}, err

    return start


def test_a_folder_beside_a_table(folder, run):
    (folder / "published.csv").write_text(
        "set,n_train,HC2,RDST\nWaves,12,100.0,50.0\nOther,9,1.0,1.0\nSteps,12,,50.0\n", "utf-8"
    )
    rows, said = run("--archive", folder)
    assert rows["Waves"][:4] == ["12", "12", "20", "100.00"]
    assert rows["Steps"][:4] == ["12", "12", "20", "100.00"]
    assert "Holes" not in rows
    assert re.search(r"Holes is left out: .*Holes_TRAIN.ts, line 7, dimension 0: .*'\?'", said)
    assert rows["`d2ke_train`"][:2] == ["2", "100.00"]
    assert rows["HC2, published"][:6] == ["1", "100.00", "+0.00", "0", "1", "0"]
    assert rows["RDST, published"][:6] == ["2", "50.00", "+50.00", "2", "0", "0"]


def test_published_results_by_resamples(folder, run):
    (folder / "results").mkdir()
    for name, first in (("HC2_accuracy", "Resamples:"), ("TDE_ACC", "folds:")):
        text = f"{first},0,1\nSteps,1.0,0.25\nOther,0.5,0.5\n"
        (folder / f"results/{name}.csv").write_text(text, "utf-8")
    rows, _ = run("--archive", folder, "--published", folder / "results", "--data", "Steps")
    for name in ("HC2", "TDE"):
        assert rows[f"{name}, published"][:6] == ["1", "100.00", "+0.00", "0", "1", "0"]


def test_larger_files_are_left_out(folder):
    small = (folder / "Steps/Steps_TRAIN.tsv").stat().st_size / 1e6
    large = (folder / "Steps/Steps_TEST.tsv").stat().st_size / 1e6
    (folder / "Waves_TEST.ts").write_bytes(b" " * 10**5)
    sizes = (None, 1.0, max(small, large), 1e-6)
    found = [set(archive.training_files(folder, limit)) for limit in sizes]
    assert found[0] == found[1] == {"Waves", "Holes", "Steps"}
    assert "Steps" in found[2]
    assert "Waves" not in found[2]
    assert not found[3]
