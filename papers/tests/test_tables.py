# SPDX-License-Identifier: BSD-3-Clause
"""The paper's tables: cells are stored and reused, reports say what was measured."""

import functools
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import fields, replace

import pytest
from interrupts import end, needs_proc

from d2ke.cli.session import Session
from d2ke.datasets import Dataset
from papers import (
    approximation,
    cells,
    paper,
    plan,
    records,
    report,
    settings,
)
from papers import tables as module
from papers.cells import RECORD, Cell
from papers.checkpoint import Checkpoint
from papers.datasets import REGISTRY, load
from papers.estimate import Estimate, duration
from papers.markdown import items, table
from papers.methods import METHODS, Outcome, evaluate
from papers.plan import Selection
from papers.settings import SETTINGS, Setting
from papers.tables import main, tables

GRAM = {"gram_gammas": (1.0, 10.0), "gram_costs": (1.0, 10.0), "costs": (1.0, 100.0)}
SMALL = {
    "digits-str8": Setting(omega={"length": ((2, 20), (20, 40))}, R=16, search_R=8, **GRAM),
    "digits-points": Setting(omega={"size": ((3, 15),)}, R=16, search_R=8, **GRAM),
}
NAMES = list(SMALL)


class Killed(BaseException):
    """What nothing in between can catch."""


@functools.cache
def part_of(name):
    whole = load(name)
    return Dataset(name, whole.objects[:150], whole.labels[:150], whole.source)


class Small:
    """Both data sets with 150 objects, and a record of what is loaded and computed."""

    def __init__(self, monkeypatch):
        pytest.importorskip("sklearn")
        self.parts = {name: part_of(name) for name in NAMES}
        self.loaded, self.evaluated, self.limit = [], [], None
        for name, setting in SMALL.items():
            monkeypatch.setitem(SETTINGS, name, setting)
        monkeypatch.setattr(approximation, "FULL", (30, 64, 32, (4, 8, 16)))
        monkeypatch.setattr(approximation, "QUICK", (20, 32, 16, (4, 8)))
        monkeypatch.setattr(module, "load", self.load)
        monkeypatch.setattr(plan, "load", self.load)
        monkeypatch.setattr(module, "evaluate", self.evaluate)

    def load(self, name, data_dir):
        self.loaded.append(name)
        return self.parts[name]

    def evaluate(self, method, division, **options):
        if len(self.evaluated) == self.limit:
            raise Killed
        self.evaluated.append(f"{division.dataset.name} {method} {division.seed}")
        return evaluate(method, division, **options)


@pytest.fixture
def small(monkeypatch):
    """Pictures are not what most tests are about."""
    monkeypatch.setattr(report, "figure", lambda *arguments: b"a picture")
    return Small(monkeypatch)


def start(out, names=NAMES, *, report=lambda line: None, command="", **options):
    selection = Selection(names, **{"seeds": 2} | options)
    session = Session(n_threads=2, report=report)
    return tables(selection, out=out, command=command, session=session)


def kept(file):
    """Return the finished cells of a checkpoint."""
    with Checkpoint(file, RECORD) as finished:
        return dict(finished)


CHANGING = {"date", "total_seconds", "seconds", "seconds_by_stage", "seconds_by_R"}


def lasting(value):
    """Return results without what differs from one run to the next."""
    if isinstance(value, dict):
        return {key: lasting(one) for key, one in value.items() if key not in CHANGING}
    return [lasting(one) for one in value] if isinstance(value, list) else value


# ---------------------------------------------------------------- a whole run

FIELDS = {
    "dataset": str,
    "method": str,
    "accuracy_mean": float,
    "accuracy_sd": float,
    "paper": type(None),
    "seconds": float,
    "seconds_by_stage": dict,
    "parameters": list,
    "accuracies": list,
    "search_accuracies": list,
    "by_R": dict,
    "seconds_by_R": dict,
    "seeds": list,
    "n_train": int,
    "n_test": int,
    "note": str,
    "version": str,
}


@pytest.mark.parametrize(
    "methods", [["d2ke", "knn"], pytest.param(None, marks=pytest.mark.slow)], ids=["two", "all"]
)
def test_a_whole_run(methods, monkeypatch, tmp_path):
    small, lines = Small(monkeypatch), []
    options = {"report": lines.append, "command": "tables <x>"}
    results = start(tmp_path / "out", methods=methods, **options)
    methods = methods or list(METHODS)
    out = tmp_path / "out"
    written = json.loads((out / "results.json").read_text("utf-8"))
    assert written == json.loads(json.dumps(results))
    assert small.loaded == NAMES
    assert len(small.evaluated) == 2 * 2 * len(methods) == len(set(small.evaluated))
    assert sorted(os.listdir(out)) == [*["cells", "figures", "report.md", "results.json"]]

    # One record for each data set and method.
    records = written["results"]
    assert [(one["dataset"], one["method"]) for one in records] == [
        (name, method) for name in NAMES for method in methods
    ]
    for record in records:
        assert {key: type(value) for key, value in record.items()} == FIELDS
        assert (record["n_train"], record["n_test"]) == (105, 45)
        assert record["seeds"] == [0, 1]
        assert record["seconds"] == pytest.approx(sum(record["seconds_by_stage"].values()))
        assert len(record["accuracies"]) == len(record["parameters"]) == 2
        curve = {"4", "8", "16"} if record["method"] in ("d2ke", "rsm") else set()
        assert set(record["by_R"]) == set(record["seconds_by_R"]) == curve
        assert all(len(values) == 2 for values in record["by_R"].values())
    assert set(written["kernel_errors"]) == set(NAMES)
    assert written["kernel_errors"]["digits-str8"]["R"] == [4, 8, 16]
    assert written["kernel_errors"]["digits-str8"]["blocks"] == [8, 4, 2]
    assert written["datasets"]["digits-points"]["n_channels"] == 2
    assert written["datasets"]["digits-str8"]["cells_finished"] == 2 * len(methods) + 1
    assert written["not_run"] == []
    assert written["quick"] is False
    assert {"cpu", "cores", "threads", "memory_gib", "instruction_set"} <= set(written["machine"])
    assert {"python", "d2ke", "numpy", "scipy", "liblinear-official"} <= set(written["versions"])

    # One line for each cell.
    first, *each = lines
    total = 2 * (2 * len(methods) + 1)
    assert re.fullmatch(rf"{total} cells to compute, about \d+ (s|min)", first)
    assert len(each) == total
    for number, line in enumerate(each, 1):
        assert re.fullmatch(
            rf"\[{number}/{total}\] digits-(str8|points) "
            r"(\w+ seed [01]: \d+\.\d\d %|kernel: error \d\S* at R = 16) in \d+\.\d s; "
            r"(about \d+ (s|min) left|all done)",
            line,
        ), line
    assert each[-1].endswith("; all done")

    for name in NAMES:
        picture = (out / "figures" / f"{name}.png").read_bytes()
        assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    check_report((out / "report.md").read_text("utf-8"), results)


def check_report(markdown, results):
    text = markdown.replace("\\", "").replace("**", "")
    for record in results["results"]:
        assert f"{record['accuracy_mean']:.2f} ± {record['accuracy_sd']:.2f}" in text
        for stage in record["seconds_by_stage"].values():
            assert f"{stage:.2f}" in text
        assert f"{record['seconds']:.2f}" in text
        for chosen in record["parameters"]:
            for key, value in chosen.items():
                if isinstance(value, list):
                    shown = f"{value[0]} to {value[1]}"
                else:
                    shown = f"{value:.4g}" if isinstance(value, float) else str(value)
                assert re.search(rf"\b{key}\b[^;|]*{re.escape(shown)}", text), (key, value)
    for errors in results["kernel_errors"].values():
        for rms, largest in zip(errors["rms"], errors["max"], strict=True):
            assert f"{rms:.4f} ({largest:.4f})" in text
    for one in results["datasets"].values():
        assert str(one["n_objects"]) in text
        assert f"{one['lengths'][0]} to {one['lengths'][1]}" in text
    for value in (*results["machine"].values(), *results["versions"].values()):
        assert str(value) in text
    assert results["date"] in text
    assert "tables <x>" in text


# ---------------------------------------------------------------- going on


def test_a_killed_run_goes_on(small, tmp_path):
    methods = ["d2ke", "knn"]
    whole = start(tmp_path / "whole", methods=methods)
    everything = small.evaluated[:]
    small.evaluated.clear()
    for after in (0, 1, 5):
        small.limit = after
        with pytest.raises(Killed):
            start(tmp_path / "killed", methods=methods)
        assert small.evaluated == everything[:after]
        # Of whole data sets there is a report already.
        assert (tmp_path / "killed" / "report.md").exists() == (after >= 4)
    small.limit, lines = None, []
    small.loaded.clear()
    again = start(tmp_path / "killed", methods=methods, report=lines.append)
    assert small.evaluated == everything
    assert small.loaded == NAMES[1:]
    assert lasting(again) == lasting(whole)
    # 5 of methods, and the kernel of the first data set.
    assert lines[0] == f"6 finished cells are reused from {tmp_path / 'killed' / 'cells'}"
    assert lines[-1].startswith("[10/10]")
    # And when all is done, nothing is read or computed any more.
    (tmp_path / "killed" / "report.md").unlink()
    small.loaded.clear()
    small.limit = 0
    small.evaluated.clear()
    assert lasting(start(tmp_path / "killed", methods=methods)) == lasting(whole)
    assert small.loaded == []
    assert (tmp_path / "killed" / "report.md").exists()


def test_cells_of_other_settings_are_computed_anew(small, tmp_path, monkeypatch):
    start(tmp_path, methods=["knn"])
    small.evaluated.clear()
    lines = []
    # Random objects are nothing to the method.
    setting = replace(SMALL["digits-str8"], omega={"length": ((2, 21),)})
    monkeypatch.setitem(SETTINGS, "digits-str8", setting)
    start(tmp_path, methods=["knn"], report=lines.append)
    assert small.evaluated == []
    assert not any("computed again" in line for line in lines)
    lines.clear()
    monkeypatch.setitem(SETTINGS, "digits-str8", replace(setting, search_n=50))
    start(tmp_path, methods=["knn"], report=lines.append)
    assert small.evaluated == ["digits-str8 knn 0", "digits-str8 knn 1"]
    assert lines[0] == "computed again: digits-str8 knn seed 0 (other setting)"
    small.evaluated.clear()
    monkeypatch.setattr(cells, "__version__", "99")
    start(tmp_path, methods=["knn"], report=lines.append)
    assert len(small.evaluated) == 4
    assert "computed again: digits-points knn seed 1 (other d2ke)" in lines


def test_cells_of_other_data_are_computed_anew(small, tmp_path):
    start(tmp_path, NAMES[:1], methods=["knn"])
    small.evaluated.clear()
    part = small.parts["digits-str8"]
    small.parts["digits-str8"] = replace(part, objects=part.objects[:140], labels=part.labels[:140])
    lines = []
    results = start(tmp_path, NAMES[:1], methods=["knn"], seeds=3, report=lines.append)
    assert small.evaluated == [f"digits-str8 knn {seed}" for seed in range(3)]
    assert "digits-str8 knn seed 0 is of other data and is computed again" in lines
    assert results["results"][0]["n_train"] == 98


def test_the_kernel_follows_what_was_chosen(small, tmp_path):
    first = start(tmp_path, NAMES[:1], methods=["d2ke"], seeds=1)
    with Checkpoint(tmp_path / "cells", RECORD) as finished:
        content = finished["digits-str8", "d2ke", 0]
        content["outcome"]["parameters"]["gamma"] *= 3
        finished["digits-str8", "d2ke", 0] = content
    lines = []
    second = start(tmp_path, NAMES[:1], methods=["d2ke"], seeds=1, report=lines.append)
    assert "computed again: digits-str8 kernel seed 0 (other parameters)" in lines
    errors = [one["kernel_errors"]["digits-str8"]["rms"] for one in (first, second)]
    assert errors[0] != errors[1]


def test_quick_runs_keep_the_cells_of_full_ones(small, tmp_path):
    start(tmp_path, NAMES[:1], methods=["d2ke"])
    small.evaluated.clear()
    results = start(tmp_path, NAMES[:1], methods=["d2ke"], quick=True, seeds=None)
    assert small.evaluated == ["digits-str8 d2ke 0"]
    assert results["quick"] is True
    assert results["kernel_errors"]["digits-str8"]["n_objects"] == 20
    assert "quick run" in (tmp_path / "report.md").read_text("utf-8")
    assert "± 0" not in (tmp_path / "report.md").read_text("utf-8")
    small.evaluated.clear()
    results = start(tmp_path, NAMES[:1], methods=["d2ke"])
    assert small.evaluated == []
    assert results["quick"] is False


def test_deterministic_methods_run_once_on_a_published_division(small, tmp_path, monkeypatch):
    source = replace(REGISTRY["digits-str8"], n_train=100)
    monkeypatch.setitem(REGISTRY, "digits-str8", source)
    small.parts["digits-str8"] = replace(small.parts["digits-str8"], source=source)
    results = start(tmp_path, NAMES[:1], methods=["knn", "rsm", "gdk_led"])
    assert sorted(small.evaluated) == [
        f"digits-str8 {one}" for one in ("gdk_led 0", "knn 0", "rsm 0", "rsm 1")
    ]
    found = {one["method"]: one for one in results["results"]}
    assert found["knn"]["accuracy_sd"] == 0
    assert found["knn"]["seeds"] == [0]
    assert found["rsm"]["seeds"] == [0, 1]
    row = report.accuracy_table(results["results"])[1][0]
    assert [", one division" in cell for cell in row] == [False, True, True, False]
    assert results["datasets"]["digits-str8"]["division"] == "published"


@pytest.mark.parametrize("n_train", [None, 100])
def test_sizes_of_a_curve(monkeypatch, n_train):
    asked = {}

    def recorded(method, division, *, sizes):
        asked[method, division] = list(sizes)
        return Outcome()

    name = "digits-str8"
    monkeypatch.setattr(module, "evaluate", recorded)
    monkeypatch.setitem(REGISTRY, name, replace(REGISTRY[name], n_train=n_train))
    for R, sizes in ((1, []), (4, [4]), (31, [4, 8, 16]), (32, [4, 8, 16, 32])):
        setting = replace(SMALL[name], R=R)
        made = plan.Plan(name, setting, False, [])
        for seed in range(3):
            # The division stands for itself: only its cell's seed is looked at.
            module._content(Cell(name, "rsm", seed), seed, made)
        assert asked["rsm", 0] == sizes
        assert asked["rsm", 1] == asked["rsm", 2] == ([] if n_train else sizes)


def gathered(*curves):
    outcomes = [Outcome(by_R=curve, seconds_by_R=curve) for curve in curves]
    seeds = range(len(outcomes))
    record = records.make_record("auslan", "rsm", seeds, outcomes, 10, 5)
    assert record["seconds_by_R"] == record["by_R"]
    assert len(record["accuracies"]) == len(curves)
    return record["by_R"]


def test_curves_of_some_divisions():
    one, two = {4: 50.0, 8: 60.0}, {4: 55.0, 8: 65.0}
    assert gathered(one, two) == {4: [50.0, 55.0], 8: [60.0, 65.0]}
    assert gathered(one, {}, {}) == {4: [50.0], 8: [60.0]}
    assert gathered({}, one, {}, two) == {4: [50.0, 55.0], 8: [60.0, 65.0]}
    assert gathered({}, {}) == gathered({}) == {}
    # Where a division had room for fewer.
    assert gathered(one, {4: 55.0}) == gathered(one, {}, {4: 55.0}) == {4: [50.0, 55.0]}
    assert gathered({8: 1.0}, one) == {8: [1.0, 60.0]}
    assert gathered({4: 0.0}, {4: 100.0}) == {4: [0.0, 100.0]}
    assert gathered({4: 1.0}, {8: 2.0}) == {}


# ---------------------------------------------------------------- what a cell depends on

OTHERS = {
    "omega": {"length": ((2, 21),)},
    "R": 17,
    "search_R": 9,
    "gammas": (0.3, 1.0),
    "scalings": ("standard", "none"),
    "costs": (1.0,),
    "gram_gammas": (1.0,),
    "gram_costs": (1.0,),
    "distance_parameters": {"window": 3},
    "search_n": 50,
    "gram_n": 50,
    "scale_channels": True,
    "single": True,
    "losses": ("squared",),
    "absolute": True,
    "rsm_R": 3,
    "transductive": True,
}


@pytest.mark.parametrize("method", METHODS)
def test_fingerprints_follow_the_fields_that_a_method_uses(method, tmp_path):
    setting, cell = SMALL["digits-str8"], Cell("digits-str8", method, 0)

    def fingerprint(setting):
        return plan.Plan(cell.dataset, setting, "full", [cell]).expected(cell)

    matters = settings.used(setting, method)
    plain = fingerprint(setting)
    assert fingerprint(replace(setting)) == plain
    assert {one.name for one in fields(Setting)} == set(OTHERS)
    for name, value in OTHERS.items():
        assert value != getattr(setting, name)
        other = fingerprint(replace(setting, **{name: value}))
        assert {key for key in plain if plain[key] != other[key]} == (
            {"setting"} if name in matters else set()
        ), name
    # So does what is kept.
    finished = cells.Cells(tmp_path / "cells")
    with closing(finished):
        finished.open()
        finished.write(cell, {"fingerprint": plain, "wall": 1.0, "summary": {}})
        for name, value in OTHERS.items():
            other = fingerprint(replace(setting, **{name: value}))
            content, differences = finished.read(cell, other)
            assert (content is None) == bool(differences) == (name in matters)


def test_ctrl_c_says_how_to_resume(small, tmp_path, capsys, monkeypatch):
    def stop(*arguments, **options):
        if small.evaluated:
            raise KeyboardInterrupt
        return small.evaluate(*arguments, **options)

    monkeypatch.setattr(module, "evaluate", stop)
    words = ["--datasets", "digits-str8", "--methods", "knn", "--out", str(tmp_path)]
    assert main(words) == 130
    message = f"finished cells are in {tmp_path}; to resume: python -m papers.tables"
    assert message in capsys.readouterr().err
    assert list(kept(tmp_path / "cells")) == [("digits-str8", "knn", 0)]


# Finished cells are written at once, whatever the signal; a process in the background may have
# been told to ignore SIGINT.
LAUNCHER = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from d2ke.cli.main import console
from papers.tables import main
console(main)
"""


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_signals(tmp_path, number):
    """The data set is the whole one, so that long calls are met."""
    pytest.importorskip("sklearn")
    out = tmp_path / "a folder"
    arguments = [
        *["--datasets", "digits-points", "--methods", "knn", "dsk_nd"],
        *["--quick", "--seeds", "500", "--threads", "2", "--out", str(out)],
    ]
    with subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert re.match(r"1000 cells to compute, about ", child.stdout.readline())
        assert re.match(r"\[1/1000\] digits-points knn seed 0: ", child.stdout.readline())
        time.sleep(0.3)
        end(child, number)
        _, err = child.communicate()
    if number == signal.SIGINT:
        assert child.returncode == 130, err
        command = f"python -m papers.tables .* --out '{out}'"
        assert re.fullmatch(
            rf"papers.tables: interrupted; finished cells are in {out}; to resume: {command}\n", err
        )
    assert kept(out / "cells-quick")["digits-points", "knn", 0]["wall"] > 0
    lines = []
    selection = Selection(["digits-points"], methods=["knn"], quick=True)
    tables(selection, out=out, session=Session(report=lines.append))
    assert lines == [f"1 finished cells are reused from {out / 'cells-quick'}"]


# ---------------------------------------------------------------- what cannot be run


def test_missing_data_by_name(monkeypatch, tmp_path, capsys):
    def fail(*arguments, **options):
        pytest.fail("work has begun")

    monkeypatch.delenv("D2KE_DATA", raising=False)
    monkeypatch.setattr(module, "load", fail)
    monkeypatch.setattr(plan, "load", fail)
    out, empty = tmp_path / "out", tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(FileNotFoundError) as error:
        tables(Selection(["pentip", "auslan"]), out=out, data_dir=empty)
    assert str(error.value).count("not found in") == 2
    assert all(REGISTRY[name].page in str(error.value) for name in ("pentip", "auslan"))
    assert main(["--out", str(out), "--data", str(empty), "--datasets", "auslan"]) == 1
    assert capsys.readouterr().err.startswith("papers.tables: auslan: tctodd.tar.gz not found")
    assert not out.exists()


def test_nothing_can_be_run(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("D2KE_DATA", raising=False)
    monkeypatch.setattr(paper, "ORDER", {"auslan": "series", "iq-radio": "series"})
    assert main(["--out", str(tmp_path / "out")]) == 1
    err = capsys.readouterr().err
    assert err.startswith("papers.tables: no data set can be run:")
    assert "iq-radio: the data were never published" in err
    assert "auslan: no data folder is given" in err
    assert not (tmp_path / "out").exists()


def test_what_is_missing_of_the_paper_is_listed(small, monkeypatch, tmp_path):
    def without_opencv(name, data_dir):
        if name == "digits-points":
            raise ImportError("digits-points needs an <extra>")
        return small.load(name, data_dir)

    monkeypatch.delenv("D2KE_DATA", raising=False)
    order = {"iq-radio": "series", "auslan": "series", "digits-str8": "strings"}
    monkeypatch.setattr(paper, "ORDER", order | {"digits-points": "images"})
    monkeypatch.setattr(plan, "load", without_opencv)
    for name in NAMES:
        source = replace(REGISTRY[name], package="no_such_package")
        monkeypatch.setitem(REGISTRY, name, source)
    lines = []
    results = start(tmp_path, None, methods=["knn"], report=lines.append)
    reasons = {one["dataset"]: one["reason"] for one in results["not_run"]}
    assert list(reasons) == ["iq-radio", "auslan", "digits-points"]
    assert [one["dataset"] for one in results["results"]] == ["digits-str8"]
    assert reasons["digits-points"] == "digits-points needs an <extra>"
    assert lines[:3] == [f"not run: {name}: {reason}" for name, reason in reasons.items()]
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "- iq-radio: the data were never published" in text
    assert "- digits-points: digits-points needs an \\<extra>" in text
    assert REGISTRY["auslan"].page in text
    with pytest.raises(ImportError, match="needs an <extra>"):
        start(tmp_path, ["digits-points"], methods=["rsm"])


def test_a_data_set_that_turns_out_wrong(small, monkeypatch, tmp_path):
    def load_one(name, data_dir):
        if name == "digits-str8":
            raise ValueError("the counts differ")
        return small.load(name, data_dir)

    monkeypatch.setattr(paper, "ORDER", {"digits-str8": "strings", "digits-points": "images"})
    monkeypatch.setattr(module, "load", load_one)
    lines = []
    results = start(tmp_path, None, methods=["knn"], report=lines.append)
    assert results["not_run"] == [{"dataset": "digits-str8", "reason": "the counts differ"}]
    assert lines[-1].startswith("[2/2] digits-points knn seed 1")
    with pytest.raises(ValueError, match="the counts differ"):
        start(tmp_path, ["digits-str8"], methods=["knn"])


def test_default_data_sets(monkeypatch):
    for domain, kind in (("series", "series"), ("strings", "strings"), ("images", "sets")):
        names, not_run = Selection(domain=domain).checked_datasets()
        assert all(REGISTRY[name].domain == kind for name in names)
        assert {*names, *not_run} == {one for one, where in paper.ORDER.items() if where == domain}
    names, not_run = Selection(None).checked_datasets()
    assert not any(name.startswith("digits") for name in names)
    assert names == [name for name in paper.ORDER if name in names]
    assert {"iq-radio", "bit-str4"} <= set(not_run)
    assert Selection(["digits-str8", "splice", "auslan", "splice"]).checked_datasets() == (
        ["auslan", "splice", "digits-str8"],
        {},
    )


def test_wrong_arguments(tmp_path):
    with pytest.raises(ValueError, match=r"dataset must be one of auslan, .*; got 'x'"):
        start(tmp_path, ["x"])
    with pytest.raises(ValueError, match="dataset splice is not of the domain series"):
        start(tmp_path, ["splice"], domain="series")
    with pytest.raises(ValueError, match="domain must be one of series, strings, images; got"):
        start(tmp_path, None, domain="graphs")
    with pytest.raises(ValueError, match=r"method must be one of d2ke_views, d2ke, .*; got 'svm'"):
        start(tmp_path, methods=["svm"])
    with pytest.raises(ValueError, match="seeds must be at least 1, got 0"):
        start(tmp_path, seeds=0)


def test_output_folder_is_checked_before_any_work(small, tmp_path):
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(NotADirectoryError, match="file"):
        start(tmp_path / "file")
    (tmp_path / "results.json").mkdir()
    with pytest.raises(IsADirectoryError, match=r"results\.json"):
        start(tmp_path)
    assert small.loaded == []


# ---------------------------------------------------------------- the report


def record(method, mean, dataset="auslan", sd=0.5, seeds=(0, 1), known=None):
    return {
        "dataset": dataset,
        "method": method,
        "accuracy_mean": mean,
        "accuracy_sd": sd,
        "paper": known,
        "seeds": list(seeds),
    }


def test_best_of_each_row_is_bold():
    header, rows = report.accuracy_table(
        [
            record("d2ke", 94.994, known=92.6),
            record("knn", 94.986, seeds=(0,)),
            record("rsm", 90.0),
            record("knn", 80.0, dataset="splice", known=79.41),
        ]
    )
    assert header == ["data", "D2KE", "KNN", "RSM"]
    assert rows == [
        # 94.99 both, as shown.
        ["auslan", "**94.99 ± 0.50** (92.60)", "**94.99**, one division", "90.00 ± 0.50"],
        ["splice", "-", "**80.00 ± 0.50** (79.41)", "-"],
    ]


def test_where_a_baseline_wins_is_said():
    said = list(
        report.comparisons(
            [
                record("d2ke", 92.0, known=92.6),
                record("knn", 93.0),
                record("rsm", 94.0),
                record("gdk_led", 91.0),
                record("d2ke", 90.17, dataset="splice", known=90.17),
                record("dsk_rbf", 90.174, dataset="splice"),
                record("d2ke", 50.0, dataset="flower", known=46.03),
                record("gdk_led", 50.01, dataset="flower"),
                record("knn", 50.01, dataset="decor"),
            ]
        )
    )
    assert said == [
        "auslan: KNN (93.00 %) and RSM (94.00 %) beat our D2KE (92.00 %).",
        "auslan: our D2KE (92.00 %) is below the paper's (92.60 %).",
        "flower: GDK_LED (50.01 %) beats our D2KE (50.00 %).",
    ]


def test_sentences_reach_the_report(small, tmp_path):
    results = start(tmp_path, ["digits-str8"], methods=["d2ke", "knn"])
    ours, knn = (
        round(next(one["accuracy_mean"] for one in results["results"] if one["method"] == name), 2)
        for name in ("d2ke", "knn")
    )
    assert ("KNN (" in (tmp_path / "report.md").read_text("utf-8")) == (knn > ours)


def test_markdown():
    assert items(["x < 3, **bold**, 2 * 3", "two"]) == "- x \\< 3, **bold**, 2 \\* 3\n- two"
    assert table(["k", "v"], [["a|b", "**1**"]]) == "| k | v |\n| --- | --- |\n| a\\|b | **1** |"


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


# ---------------------------------------------------------------- time left


def test_remaining_time():
    estimate = Estimate()
    splice = [Cell("splice", "knn", seed) for seed in range(4)]
    auslan = Cell("auslan", "knn", 0)
    # Nothing is known: the paper's seconds.
    assert estimate.remaining([*splice, auslan]) == pytest.approx(4 * 63.2 + 10.0)
    # A tenth of the paper's, here and presumably there.
    estimate.add(splice[0], 6.32)
    assert estimate.remaining([auslan]) == pytest.approx(1.0)
    # The mean of the same data set and method is not scaled.
    estimate.add(splice[1], 8.32)
    assert estimate.remaining(splice[2:]) == pytest.approx(2 * 7.32)
    estimate.add(auslan, 40.0)
    assert estimate.remaining([auslan, splice[2]]) == pytest.approx(40 + 7.32)
    # Half between 7.32 / 63.2 and 4.
    speed = (7.32 / 63.2 + 4) / 2
    assert estimate.remaining([Cell("auslan", "rsm", 0)]) == pytest.approx(18.6 * speed)
    assert estimate.remaining([]) == 0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "1 s"), (42.4, "42 s"), (89, "89 s"), (91, "2 min"), (2460, "41 min"), (12240, "3.4 h")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text
