# SPDX-License-Identifier: BSD-3-Clause
"""Cost against size: slopes, crossings, points that are kept, rows that stop."""

import json

import numpy as np
import pytest
from experiment_cases import SMALL, signs, subset
from hypothesis import given
from hypothesis import strategies as st

from d2ke.cli.session import Session
from d2ke.objects.packing import pack
from papers import scaling as module
from papers import scaling_report
from papers.methods import METHODS, Outcome
from papers.paper import METHOD_NAMES
from papers.peak import peak_memory
from papers.scaling import Scale, main, scaling, stretched
from papers.scaling_curves import crossing, predicted, slopes, summary
from papers.settings import SETTINGS

pytestmark = pytest.mark.slow  # test_tables runs two methods from end to end

SIZES = [100, 200, 400, 800]


def power(factor, slope, sizes=SIZES):
    return {size: factor * size**slope for size in sizes}


# ---------------------------------------------------------------- curves


@given(st.floats(-1, 3), st.floats(1e-6, 10))
def test_slopes_of_power_laws(slope, factor):
    curve = power(factor, slope)
    assert slopes(curve) == pytest.approx({"fit": slope, "last": slope}, abs=1e-9)
    expected = factor * 1600 ** max(slope, 0) if slope >= 0 else curve[800]
    assert predicted(curve, 1600) == pytest.approx(expected)


def test_slopes_of_two_parts_and_of_few_sizes():
    curve = {100: 1.0, 200: 1.0, 400: 4.0}
    found = slopes(curve)
    assert found["last"] == pytest.approx(2)
    assert found["fit"] == pytest.approx(1)  # of 0, 0, 2 at 0, 1, 2
    assert predicted(curve, 800) == pytest.approx(16)
    assert slopes({100: 1.0}) is None
    assert predicted({100: 1.0}, 200) == pytest.approx(4)  # the square, if nothing is known


@given(st.floats(0.2, 1.2), st.floats(0.3, 1.5), st.floats(110, 790))
def test_crossings_of_power_laws(slope, more, size):
    """Where the curves meet at `size`, straight lines through the logarithms meet there."""
    ours, other = power(1, slope), power(size**-more, slope + more)
    found = crossing(ours, other)
    assert found["kind"] == "measured"
    assert found["size"] == pytest.approx(size, abs=0.51)
    low, high = found["between"]
    assert low <= size <= high
    assert ours[low] >= other[low]
    assert ours[high] <= other[high]


def test_kinds_of_crossings():
    slow, quick = power(1, 2), power(1, 1)
    assert crossing(quick, slow) == {"kind": "always", "size": None}
    assert crossing(slow, quick) == {"kind": "never", "size": None}
    assert crossing(power(2, 1), quick) == {"kind": "never", "size": None}
    # They would cross at 3200, and 16 times the largest size is 12800.
    assert crossing(power(3200, 1), slow) == {"kind": "predicted", "size": 3200}
    assert crossing(power(12000, 1), slow)["kind"] == "predicted"
    assert crossing(power(14000, 1), slow)["kind"] == "never"
    assert crossing(quick, {900: 1.0}) is None
    # Only common sizes count, and the last change decides.
    assert crossing(power(3200, 1), {**slow, 3200: 1e9, 6400: 1e9})["kind"] == "predicted"
    ours, other = {1: 1.0, 2: 4.0, 4: 1.0}, {1: 2.0, 2: 2.0, 4: 2.0}
    assert crossing(ours, other) == {"kind": "measured", "size": 3, "between": [2, 4]}
    # One size has no slope.
    assert crossing({100: 2.0}, {100: 1.0})["kind"] == "never"


def test_summary_is_of_the_processor_and_of_the_parts():
    def points(method, by_size, search):
        return [
            {"method": method, "n": n, "length": n / 10, "memory": 10 * n, "processor_seconds": s,
             "processor_by_stage": {"search": search * s, "model": (1 - search) * s},
             "seconds": 1e9}
            for n, s in by_size.items()
        ]  # fmt: skip

    by_n = points("d2ke", power(0.3, 1), 0.9) + points("knn", power(1e-3, 2), 0.0)
    found = summary(by_n, points("d2ke", power(1, 3), 0.5))
    assert found["slopes"]["d2ke"]["seconds"]["fit"] == pytest.approx(1)
    assert found["slopes"]["d2ke"]["seconds_by_length"]["last"] == pytest.approx(3)
    assert found["slopes"]["knn"]["memory"]["fit"] == pytest.approx(1)
    assert found["slopes"]["knn"]["seconds_by_length"] is None
    first, second = found["crossings"]
    assert first == {
        "quantity": "seconds", "method": "d2ke", "other": "knn", "kind": "measured", "size": 300,
        "between": [200, 400],
    }  # fmt: skip
    assert (second["quantity"], second["kind"]) == ("without_search", "always")


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


class Killed(BaseException):
    """What nothing in between can catch."""


class Costs:
    """Methods whose costs are known, in place of the true ones."""

    def __init__(self):
        self.seconds = {"d2ke": (1e-2, 1), "knn": (1e-4, 2), "dsk_rbf": (1e-3, 2)}
        self.points, self.limit = [], None

    def __call__(self, method, division):
        if len(self.points) == self.limit:
            raise Killed
        n = len(division.train)
        self.points.append((method, n, int(division.train.lengths.sum())))
        factor, slope = self.seconds[method]
        parts = {"search": 0.5 * factor * n**slope, "model": 0.5 * factor * n**slope}
        return Outcome(accuracy=float(n), seconds=dict(parts), processor=dict(parts))


@pytest.fixture
def costs(monkeypatch):
    data, fake = subset("digits-str8", 1000), Costs()
    monkeypatch.setattr(module, "load", lambda name, data_dir: data)
    monkeypatch.setattr(module, "evaluate", fake)
    monkeypatch.setattr(module, "draw", lambda results: b"a picture")
    return fake


def start(out, lines=None, **options):
    scale = Scale(**{"methods": ["d2ke", "knn", "dsk_rbf"], "smallest": 50, "R": 8} | options)
    report = (lambda line: None) if lines is None else lines.append
    session = Session(n_threads=1, report=report)
    return scaling("digits-str8", scale, out=out, session=session)


def test_a_row_stops_at_its_budget(costs, tmp_path):
    lines = []
    results = start(tmp_path, lines, seconds=100.0)
    sizes = {
        method: [point["n"] for point in results["by_n"] if point["method"] == method]
        for method in costs.seconds
    }
    # 0.001 * 400^2 is 160 s.
    everything = [50, 100, 200, 400]
    assert sizes == {"d2ke": everything, "knn": everything, "dsk_rbf": everything[:3]}
    (stop,) = [row for row in results["stopped"] if row["axis"] == "n"]
    assert (stop["method"], stop["size"]) == ("dsk_rbf", 400)
    assert stop["reason"] == "would take about 3 min of processor time, more than 2 min"
    assert f"DSK_RBF without N = 400, which {stop['reason']}" in lines
    assert results["slopes"]["knn"]["seconds"]["fit"] == pytest.approx(2)
    assert results["crossings"][0]["size"] == 100  # of 0.01 n and 0.0001 n^2
    assert results["crossings"][1]["kind"] == "always" or results["crossings"][1]["size"] == 10
    # With a larger budget the same folder resumes: only what is missing is computed.
    costs.points.clear()
    again = start(tmp_path, seconds=1000.0)
    computed = [point for point in costs.points if point[1] == 400 and point[2] > 0]
    assert ("dsk_rbf", 400) in {point[:2] for point in computed}
    assert len(again["by_n"]) == 12
    assert not [row for row in again["stopped"] if row["axis"] == "n"]


def test_a_run_that_was_stopped_resumes(costs, tmp_path):
    whole = start(tmp_path / "whole")
    everything = len(costs.points)
    for limit in (4, 9):
        costs.points.clear()
        costs.limit = limit
        with pytest.raises(Killed):
            start(tmp_path / "killed")
    costs.limit = None
    costs.points.clear()
    again = start(tmp_path / "killed")
    assert 0 < len(costs.points) <= everything - 8
    for axis in ("by_n", "by_length"):
        keys = ("method", "n", "length", "accuracy", "processor_seconds")
        assert [[point[key] for key in keys] for point in again[axis]] == [
            [point[key] for key in keys] for point in whole[axis]
        ]
    costs.points.clear()
    start(tmp_path / "killed")
    assert costs.points == []
    with pytest.raises(ValueError, match=r"scaling-digits-str8 was made .* R was 8 and is 9"):
        start(tmp_path / "killed", R=9)


def test_memory_stops_a_row_too(costs, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "memory_limit", lambda: 0)
    monkeypatch.setattr(module, "curve", lambda points, key, value: {p[key]: 1.0 for p in points})
    results = start(tmp_path, seconds=1e9)
    assert {point["n"] for point in results["by_n"]} == {50}
    assert all("of memory, more than there is" in row["reason"] for row in results["stopped"])


def test_a_size_that_a_method_refuses_is_left_out(costs, tmp_path, monkeypatch):
    def refusing(method, division):
        if division.train.lengths.mean() < 30 and method == "knn":
            raise ValueError("too short")
        return costs(method, division)

    monkeypatch.setattr(module, "evaluate", refusing)
    results = start(tmp_path, methods=["knn", "d2ke"], seconds=1e6)
    assert results["stopped"] == [
        {"method": "knn", "axis": "length", "size": 0.25, "reason": "is refused: too short"}
    ]
    assert len([point for point in results["by_length"] if point["method"] == "knn"]) == 4


@pytest.mark.parametrize(
    "methods", [["d2ke", "knn"], pytest.param([*METHODS], marks=pytest.mark.slow)], ids=len
)
def test_true_methods(methods, monkeypatch, tmp_path):
    data = subset("digits-str8", 300)
    monkeypatch.setattr(module, "load", lambda name, data_dir: data)
    monkeypatch.setitem(SETTINGS, "digits-str8", SMALL["digits-str8"])
    monkeypatch.setattr(module, "FACTORS", (0.5, 1.0))
    monkeypatch.setattr(module, "_MOST_AT_LENGTHS", 40)
    out = tmp_path / "out"
    words = ["--R", "16", "--smallest", "40", "--largest", "80", "--threads", "1"]
    assert main(["digits-str8", *words, "--methods", *methods, "--out", str(out)]) == 0
    results = json.loads((out / "scaling-digits-str8.json").read_text("utf-8"))
    assert {point["method"] for point in results["by_n"]} == set(methods)
    assert len(results["by_n"]) == len(results["by_length"]) == 2 * len(methods)
    for point in results["by_n"] + results["by_length"]:
        stages = point["processor_by_stage"].values()
        assert point["processor_seconds"] == pytest.approx(sum(stages))
        assert point["seconds"] > 0
        assert point["accuracy"] >= 0
    assert {point["n"] for point in results["by_n"]} == {40, 80}
    short, usual = sorted({point["length"] for point in results["by_length"]})
    assert short == pytest.approx(usual / 2, rel=0.05)
    assert (out / "scaling-digits-str8.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "scaling-digits-str8.png").stat().st_size < 100_000
    page = (out / "scaling-digits-str8.md").read_text("utf-8")
    assert "cut or repeated" in page
    assert all(f"| {METHOD_NAMES[method]} |" in page for method in methods)
    # The report of the tables in the same folder has it as a section.
    text = "\n".join(scaling_report.sections(out))
    assert "Cost against size" in text
    assert "scaling-digits-str8.png" in text
    assert list(scaling_report.sections(tmp_path)) == []


def test_ctrl_c_says_how_to_resume(costs, tmp_path, capsys, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "evaluate", stop)
    words = ["digits-str8", "--smallest", "50", "--out", str(tmp_path)]
    assert main(words) == 130
    assert (
        f"finished points are in {tmp_path}; to resume: python -m papers.scaling"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["svm"]}, "methods must be one of d2ke_views, .*; got 'svm'"),
        ({"R": 0}, "R must be .*0"),
        ({"smallest": 5}, "smallest must be .*5"),
        ({"smallest": 50, "largest": 49}, "largest must be .*49"),
        ({"seconds": 0}, "seconds must be .*0"),
        ({"smallest": 5000}, "smallest must be at most 700, the number of training objects"),
    ],
)
def test_bad_options(costs, tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        start(tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


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
