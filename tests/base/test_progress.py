# SPDX-License-Identifier: BSD-3-Clause
"""Progress bars are shown on a terminal only."""

import sys
import time

from d2ke._base import progress


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


def test_without_an_output_for_errors(monkeypatch):
    """As in Windows' pythonw.exe."""
    monkeypatch.setattr(sys, "stderr", None)
    with progress.progress_bar(True, "pairs") as report:
        assert report is None
