# SPDX-License-Identifier: BSD-3-Clause
"""Files where the calls of POSIX are missing, and open files cannot be renamed or removed."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from d2ke._base.files import open_file

ROOT = Path(__file__).parents[2]

FOLDERS = "benchmarks", "d2ke", "docs", "examples", "matlab_compat", "papers", "tests", "tools"
# Files in place of others, files of which parts are read, and work that is resumed.
TESTS = """
    tests/test_write_files.py tests/base/test_atomic_files.py
    tests/base/test_memory.py::test_limit_of_this_machine tests/io tests/cli
"""

of_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="open files as Linux lists them"
)


def run(*words):
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
        capture_output=True,
        encoding="utf-8",
    )


@of_linux
@pytest.mark.slow
def test_without_the_calls_of_posix():
    options = f"-m pytest -p without_posix -p no:cacheprovider --maxfail=5 {TESTS}"
    done = run(*options.split())
    assert done.returncode == 0, done.stdout


def test_a_folder_that_cannot_be_opened_is_named(tmp_path, monkeypatch):
    """Windows refuses to open a folder as it refuses files of other users."""

    def refused(path, *_):
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(IsADirectoryError, match="is a folder; a file's name is needed"):
        open_file(tmp_path)
    with pytest.raises(PermissionError):
        open_file(tmp_path / "file")


@pytest.mark.slow
def test_text_files_are_read_and_written_in_utf8():
    """Ruff sees `open` only; the encoding of Path's functions is the system's if none is given."""
    for file in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        text = file.read_text("utf-8")
        # Most files have an encoding in every such line, and are not parsed.
        doubtful = any(line.count("_text(") > line.count("utf-8") for line in text.splitlines())
        for node in ast.walk(ast.parse(text)) if doubtful else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                given = len(node.args) + any(option.arg == "encoding" for option in node.keywords)
                needed = {"read_text": 1, "write_text": 2}.get(node.func.attr, 0)
                assert given >= needed, f"{file}:{node.lineno} has no encoding"
