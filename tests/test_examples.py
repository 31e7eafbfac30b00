# SPDX-License-Identifier: BSD-3-Clause
"""The examples run, and show what they say."""

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

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


def test_slant_is_that_of_a_line():
    pytest.importorskip("sklearn")
    slant = runpy.run_path(str(EXAMPLES / "regression.py"))["slant"]
    upright = np.zeros((9, 9))
    upright[:, 4] = 3.0
    rising = np.eye(9)[::-1]  # from below left to above right
    np.testing.assert_allclose(slant(np.stack([upright, rising, rising[::-1]])), [0, 45, -45])


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
