# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a method on several divisions: the record is complete, and is kept whatever happens."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from experiment_cases import division_of, signs

import d2ke
from d2ke._base import progress
from d2ke.datasets import REGISTRY
from d2ke.experiments import methods
from d2ke.experiments import run as run_module
from d2ke.experiments.methods import evaluate
from d2ke.experiments.run import run, summary, write_json
from d2ke.experiments.session import Session
from d2ke.experiments.settings import SETTINGS

FIELDS = {
    "dataset": str,
    "method": str,
    "accuracy_mean": float,
    "accuracy_sd": float,
    "seconds": float,
    "seconds_by_stage": dict,
    "parameters": list,
    "n_train": int,
    "n_test": int,
    "version": str,
}


@pytest.fixture
def toy(small, monkeypatch):
    """A data set of which a division takes a few milliseconds."""
    monkeypatch.setattr(run_module, "load", lambda name, data_dir: signs(60))
    return "auslan"


@pytest.mark.parametrize(
    ("name", "method", "n_train", "n_test", "least"),
    [
        ("splice", "d2ke", 2233, 957, 60),
        ("splice", "rsm", 2233, 957, 60),
        ("splice", "knn", 2233, 957, 70),
        pytest.param("auslan", "d2ke", 1795, 770, 60, marks=pytest.mark.slow),
        pytest.param("auslan", "rsm", 1795, 770, 60, marks=pytest.mark.slow),
    ],
)
def test_real_data(data_dir, small, tmp_path, name, method, n_train, n_test, least):
    file = tmp_path / "record.json"
    record = run(
        name, method=method, seeds=1, json_file=file,
        session=Session(data_dir, n_threads=2),
    )  # fmt: skip
    written = json.loads(file.read_text())
    assert written == json.loads(json.dumps(record))
    for field, kind in FIELDS.items():
        assert type(written[field]) is kind, field
    assert (written["dataset"], written["method"]) == (name, method)
    assert (written["n_train"], written["n_test"]) == (n_train, n_test)
    assert least < written["accuracy_mean"] <= 100  # percent
    # A whole number of test objects.
    assert written["accuracy_mean"] * n_test / 100 == pytest.approx(
        round(written["accuracy_mean"] * n_test / 100)
    )
    assert written["accuracy_sd"] == 0
    assert {"search", "distances", "prediction"} <= set(written["seconds_by_stage"])
    assert written["version"] == d2ke.__version__
    assert os.listdir(tmp_path) == ["record.json"]


def test_record_of_several_divisions(toy, tmp_path):
    lines, file = [], tmp_path / "r.json"
    record = run(
        toy, seeds=3, R=5, json_file=file, session=Session(n_threads=1, report=lines.append)
    )
    each = [evaluate("d2ke", division_of(signs(60), seed)) for seed in range(3)]
    assert record["accuracy_mean"] == pytest.approx(np.mean(record["accuracies"]))
    assert record["accuracy_sd"] == pytest.approx(np.std(record["accuracies"], ddof=1))
    assert [one["R"] for one in record["parameters"]] == [5, 5, 5]
    assert record["seeds"] == [0, 1, 2]
    assert len(lines) == 3
    assert all(f"seed {seed}: " in line for seed, line in enumerate(lines))
    assert set(record["seconds_by_stage"]) == set(each[0].seconds)
    assert record["seconds"] == pytest.approx(sum(record["seconds_by_stage"].values()))
    assert record["paper"] == 92.6
    text = summary(record)
    assert text.startswith(f"auslan d2ke: {record['accuracy_mean']:.2f} +- ")
    assert "(paper: 92.60)" in text
    assert "3 divisions of 42/18" in text


def test_accuracies_are_those_of_evaluate(toy):
    record = run(toy, method="rsm", seeds=2, session=Session(n_threads=1))
    each = [evaluate("rsm", division_of(signs(60), seed)) for seed in range(2)]
    assert record["accuracies"] == [one.accuracy for one in each]
    assert record["parameters"] == [one.parameters for one in each]


def test_record_is_written_after_every_division(toy, tmp_path, monkeypatch):
    file, calls = tmp_path / "r.json", []

    def stopped(method, division):
        calls.append(json.loads(file.read_text())["seeds"] if file.exists() else None)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return evaluate(method, division)

    monkeypatch.setattr(run_module, "evaluate", stopped)
    with pytest.raises(KeyboardInterrupt):
        run(toy, seeds=5, json_file=file, session=Session(n_threads=1))
    assert calls == [None, [0], [0, 1]]
    record = json.loads(file.read_text())
    assert record["seeds"] == [0, 1]
    assert len(record["accuracies"]) == len(record["parameters"]) == 2


def test_record_is_written_before_it_is_reported(toy, tmp_path):
    file = tmp_path / "r.json"

    def report(line):
        assert line.startswith(f"seed {json.loads(file.read_text())['seeds'][-1]}:")

    run(toy, seeds=2, json_file=file, session=Session(n_threads=1, report=report))


@pytest.mark.skipif(os.name != "posix", reason="sends SIGKILL")
def test_killed_between_divisions(tmp_path):
    pytest.importorskip("sklearn")
    file = tmp_path / "r.json"
    with subprocess.Popen(
        [
            *[sys.executable, "-m", "d2ke", "run", "digits-points", "--method", "rsm"],
            *["--R", "16", "--seeds", "1000", "--threads", "2", "--json", str(file)],
        ],
        stdout=subprocess.DEVNULL,
    ) as child:
        deadline = time.monotonic() + 60
        while not file.exists() and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
        child.send_signal(signal.SIGKILL)
    record = json.loads(file.read_text())
    assert record["seeds"] == list(range(len(record["accuracies"])))
    assert record["accuracies"]


def test_earlier_record_is_replaced(toy, tmp_path):
    file = tmp_path / "r.json"
    file.write_text("something else")
    run(toy, seeds=1, json_file=str(file), session=Session(n_threads=1))
    assert json.loads(file.read_text())["seeds"] == [0]
    assert os.listdir(tmp_path) == ["r.json"]


def test_a_record_that_cannot_be_written_leaves_the_old_one(tmp_path):
    file = tmp_path / "r.json"
    write_json(file, {"a": 1})
    with pytest.raises(TypeError):
        write_json(file, {"a": object()})
    assert json.loads(file.read_text()) == {"a": 1}
    assert os.listdir(tmp_path) == ["r.json"]


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_record_can_be_read_by_whom_the_umask_allows(tmp_path):
    before = os.umask(0o022)
    try:
        write_json(tmp_path / "r.json", {})
    finally:
        os.umask(before)
    assert (tmp_path / "r.json").stat().st_mode & 0o777 == 0o644


@pytest.fixture
def no_work(monkeypatch):
    def fail(*arguments, **options):
        pytest.fail("work has begun")

    monkeypatch.setattr(run_module, "load", fail)
    monkeypatch.setattr(methods, "distance_matrix", fail)


def test_missing_folder_is_noticed_before_any_work(no_work, tmp_path):
    with pytest.raises(OSError, match="missing"):
        run("splice", json_file=tmp_path / "missing" / "r.json")


@pytest.mark.parametrize("place", ["folder", "/proc/r.json"])
def test_unwritable_place_is_noticed_before_any_work(no_work, tmp_path, place):
    (tmp_path / "folder").mkdir()
    if place.startswith("/") and not os.path.isdir("/proc"):
        pytest.skip("needs a folder in which even root can make no file")
    with pytest.raises(OSError, match=r"folder|proc"):
        run("splice", json_file=tmp_path / place)
    assert os.listdir(tmp_path) == ["folder"]


def test_wrong_arguments_are_noticed_before_any_work(no_work):
    with pytest.raises(ValueError, match=r"dataset must be one of auslan, .*; got 'x'"):
        run("x")
    with pytest.raises(ValueError, match="seeds must be at least 1, got 0"):
        run("splice", seeds=0)
    with pytest.raises(ValueError, match="R must be at least 1, got -4"):
        run("splice", R=-4)
    with pytest.raises(TypeError, match=r"R must be an integer, got 2\.5"):
        run("splice", R=2.5)


def test_unknown_method_is_noticed_before_any_work(no_work):
    with pytest.raises(
        ValueError,
        match="method must be one of d2ke_views, d2ke, rsm, knn, dsk_rbf, dsk_nd, gdk_led; got",
    ):
        run("splice", method="svm")


def test_settings_fit_the_data_sets():
    for name, setting in SETTINGS.items():
        assert name in REGISTRY
        assert 0 < setting.search_R <= setting.R
        key = "size" if REGISTRY[name].domain == "sets" else "length"
        assert key in setting.omega
        assert all(values for values in setting.omega.values())


# ---------------------------------------------------------------- progress bars


class Terminal:
    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_progress_is_shown_on_a_terminal_only(monkeypatch, capsys):
    with progress.progress_bar(True, "pairs") as report:
        assert report is None
    items = [1, 2]
    assert progress.stages(items, "search", True) is items
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.progress_bar(False, "pairs") as report:
        assert report is None
    assert list(progress.stages(items, "search", True)) == items
    assert "search" in terminal.text
    with progress.progress_bar(True, "pairs") as report:
        time.sleep(0.6)
        report(5, 10)
        report(10, 10)
    assert "pairs" in terminal.text
