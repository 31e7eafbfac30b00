# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C while the command imports its modules: a line and status 130, as at any other moment."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import d2ke

# Python imports this before the command; the signal comes in the middle of an import.
_CUSTOMIZE = """
import os, signal, sys

class Interrupt:
    def find_spec(name, path=None, target=None):
        if name == os.environ.get("INTERRUPTED_IMPORT"):
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, getattr(signal, os.environ.get("HANDLER", "default_int_handler")))
sys.meta_path.insert(0, Interrupt)
"""
# As the script that an installer writes.
_SCRIPT = "import sys\nfrom d2ke.cli.main import console\nsys.exit(console())\n"
_NEIGHBORS = ("neighbors", "words.csv", "--k", "1", "--out", "graph.npz")
_PRINT = (
    "import d2ke, signal\nprint(signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
)


@pytest.fixture
def start(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(_CUSTOMIZE, "utf-8")
    (tmp_path / "d2ke").write_text(_SCRIPT, "utf-8")
    home = str(Path(d2ke.__file__).parents[1])

    def run(*words, **variables):
        paths = os.pathsep.join([str(tmp_path), home])
        return subprocess.run(
            [sys.executable, *words],
            env={**os.environ, "PYTHONPATH": paths, **variables},
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )

    return run


@pytest.mark.parametrize(
    ("form", "module"),
    [
        *((["d2ke"], one) for one in ("numpy", "numpy.linalg", "h5py.defs", "d2ke.cli.main")),
        *((["-m", "d2ke"], one) for one in ("numpy", "scipy.sparse", "d2ke.cli.main")),
        (["-md2ke"], "d2ke.io"),
        pytest.param(["-X", "dev", "-m", "d2ke"], "d2ke.io", marks=pytest.mark.slow),
    ],
)
def test_imports(start, form, module):
    ended = start(*form, *_NEIGHBORS, INTERRUPTED_IMPORT=module)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "d2ke: interrupted\n")


def test_imports_of_a_running_command(start):
    ended = start("d2ke", "demo", INTERRUPTED_IMPORT="d2ke.cli.demo")
    assert (ended.returncode, ended.stderr) == (130, "d2ke: interrupted\n")


def test_an_ignored_signal_stays_ignored(start):
    ended = start("-m", "d2ke", "config", INTERRUPTED_IMPORT="numpy", HANDLER="SIG_IGN")
    assert ended.returncode == 0
    assert ended.stdout.split()[:2] == ["d2ke", d2ke.__version__]


def test_other_programs_keep_their_handler(start, tmp_path):
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "__init__.py").write_text(_PRINT, "utf-8")
    (tmp_path / "user" / "__main__.py").write_text("", "utf-8")
    for words in (["-c", _PRINT], ["-m", "user"], ["-m", "user", "d2ke"], ["user/__init__.py"]):
        ended = start(*words)
        assert (ended.stdout, ended.stderr) == ("True\n", "")
