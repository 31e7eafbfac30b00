# SPDX-License-Identifier: BSD-3-Clause
"""Long work shows itself on a terminal or in a notebook, and nowhere else unless it is asked to."""

import sys
import threading
import time
import types

import pytest

import d2ke
from d2ke._base import progress


class Terminal:
    """What sys.stderr is on a terminal."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.fixture(autouse=True)
def short_delay(monkeypatch):
    """Work of 0.1 seconds counts as long."""
    monkeypatch.setattr(progress, "_DELAY", 0.1)


def on_terminal(monkeypatch):
    """Return what is written to a terminal from now on."""
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    return made


def run(shown, seconds):
    """Report twice, with a time between the reports."""
    with progress.progress_bar(shown, "pairs") as report:
        if report is None:
            return
        report(1, 10)
        time.sleep(seconds)
        report(5, 10)


@pytest.mark.parametrize(
    ("shown", "seconds", "seen"),
    [(None, 0.2, "pairs:  50%"), (None, 0, ""), (True, 0, "pairs:  10%"), (False, 0.2, "")],
)
def test_on_a_terminal(shown, seconds, seen, monkeypatch):
    terminal = on_terminal(monkeypatch)
    run(shown, seconds)
    assert seen in terminal.text
    assert bool(seen) == bool(terminal.text)


def test_elsewhere(capsys):
    run(None, 0.2)
    assert capsys.readouterr().err == ""
    run(True, 0)
    assert "pairs" in capsys.readouterr().err


def test_stages(monkeypatch):
    terminal = on_terminal(monkeypatch)
    for _ in progress.stages([1, 2], "search", None):
        time.sleep(0.2)
    assert "search:  50%" in terminal.text


def test_in_a_notebook(monkeypatch):
    shell = types.SimpleNamespace(config={"IPKernelApp": {}})
    module = types.SimpleNamespace(get_ipython=lambda: shell, version_info=(9, 0), __version__="9")
    monkeypatch.setitem(sys.modules, "IPython", module)
    assert progress.is_shown(None)
    run(None, 0.2)  # as text, without ipywidgets
    shell.config = {}
    assert not progress.is_shown(None)


def test_in_other_threads(monkeypatch):
    on_terminal(monkeypatch)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(progress.is_shown(None)))
    thread.start()
    thread.join()
    assert seen == [False]


def test_without_an_output_for_errors(monkeypatch):
    """As in Windows' pythonw.exe."""
    monkeypatch.setattr(sys, "stderr", None)
    assert not progress.is_shown(None)
    assert not progress.is_shown(True)


@pytest.mark.parametrize("wrong", ["yes", 1])
def test_wrong_values(wrong):
    with pytest.raises(d2ke.ArgumentTypeError, match=r"^progress must be True, False or None"):
        d2ke.distance_matrix(["a", "b"], progress=wrong)
