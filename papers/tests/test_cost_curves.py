# SPDX-License-Identifier: BSD-3-Clause
"""Cost against size: points, slopes, rows that stop."""

import csv

import numpy as np
import pytest
from experiment_cases import SMALL, signs, subset
from hypothesis import given
from hypothesis import strategies as st

from d2ke.objects.packing import pack
from papers import scaling as module
from papers.methods import Outcome
from papers.peak import peak_memory
from papers.scaling import main, scaling, stretched
from papers.settings import SETTINGS

pytestmark = pytest.mark.slow

# ---------------------------------------------------------------- objects of other lengths


@given(st.lists(st.text("abc", max_size=9), min_size=1), st.sampled_from([0.25, 0.5, 1, 2, 4]))
def test_strings_are_cut_or_repeated(strings, factor):
    for before, after in zip(strings, stretched(pack(strings), factor, False), strict=True):
        n = max(round(factor * len(before)), min(len(before), 1))
        assert after == (before * 5)[:n]


@pytest.mark.parametrize("factor", [0.25, 0.5, 1.0, 2.0, 4.0])
def test_series_are_resampled(factor):
    before = signs(20).objects
    after = stretched(before, factor, True)
    assert after.dtype == before.dtype
    for x, y in zip(before, after, strict=True):
        m = max(round(factor * len(x)), 1)
        places = np.linspace(0, len(x) - 1, m)
        expected = [np.interp(places, np.arange(len(x)), channel) for channel in x.T]
        np.testing.assert_allclose(y, np.array(expected).T, rtol=1e-12, atol=1e-12)
    one = pack([np.ones((1, 2))], channels_first=False)
    assert stretched(one, 4, True).lengths.tolist() == [4]


# ---------------------------------------------------------------- runs


@pytest.fixture
def costs(monkeypatch):
    """Methods whose costs are known, in place of the true ones."""

    def evaluate(method, division):
        factor, slope = {"d2ke": (1e-2, 1), "knn": (1e-4, 2), "dsk_rbf": (1e-3, 2)}[method]
        if division.train.lengths.mean() < 30 and method == "knn":
            raise ValueError("too short")
        cost = factor * len(division.train) ** slope
        return Outcome(accuracy=90.0, processor={"search": cost / 2, "model": cost / 2})

    data = subset("digits-str8", 600)
    monkeypatch.setattr(module, "load", lambda name, data_dir: data)
    monkeypatch.setattr(module, "evaluate", evaluate)


def start(out, **options):
    methods = ["d2ke", "knn", "dsk_rbf"]
    return scaling("digits-str8", methods, smallest=50, R=8, out=out, n_threads=1, **options)


def test_a_row_stops_at_its_budget(costs, tmp_path, capsys):
    found = start(tmp_path, seconds=100.0)
    by_n = [point for point in found if point["axis"] == "n"]
    sizes = {
        method: [point["n"] for point in by_n if point["method"] == method]
        for method in ("d2ke", "knn", "dsk_rbf")
    }
    # 0.001 * 400^2 is 160 s.
    everything = [50, 100, 200, 400]
    assert sizes == {"d2ke": everything, "knn": everything, "dsk_rbf": everything[:3]}
    said = capsys.readouterr().out
    assert "DSK_RBF stops before n 400, which would take too long" in said
    assert "KNN refuses length 0.25: too short" in said
    with (tmp_path / "scaling-digits-str8.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(found)
    assert "| KNN | n | 2.00 | 2.00 |" in (tmp_path / "scaling-digits-str8.md").read_text("utf-8")


def test_a_part_that_is_too_small_is_refused(costs, tmp_path):
    with pytest.raises(ValueError, match=r"smallest must be at most 40, .* got 50"):
        start(tmp_path, largest=40)


def test_true_methods(monkeypatch, tmp_path):
    data = subset("digits-str8", 300)
    monkeypatch.setattr(module, "load", lambda name, data_dir: data)
    monkeypatch.setitem(SETTINGS, "digits-str8", SMALL["digits-str8"])
    monkeypatch.setattr(module, "FACTORS", (0.5, 1.0))
    monkeypatch.setattr(module, "_MOST_AT_LENGTHS", 40)
    words = ["--R", "16", "--smallest", "40", "--largest", "80", "--threads", "1"]
    main(["digits-str8", *words, "--methods", "d2ke", "knn", "--out", str(tmp_path)])
    with (tmp_path / "scaling-digits-str8.csv").open() as file:
        points = list(csv.DictReader(file))
    assert len(points) == 8
    assert {point["n"] for point in points if point["axis"] == "n"} == {"40", "80"}
    short, usual = sorted({float(p["length"]) for p in points if p["axis"] == "length"})
    assert short == pytest.approx(usual / 2, rel=0.05)


def test_peak_memory():
    with peak_memory() as peak:
        block = np.ones(4 << 20)
        del block
    if peak.bytes is None:
        pytest.skip("the system does not tell")
    assert 31 << 20 < peak.bytes < 60 << 20
    with peak_memory() as peak:
        pass
    assert peak.bytes < 4 << 20
