# SPDX-License-Identifier: BSD-3-Clause
"""tools/fuzz.py finds what it is for, and its first batches find nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "tools" / "fuzz.py"


def fuzz(*arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("command", ["pack", "distances", "kernels", "mat", "hdf5", "options"])
def test_the_first_batches_find_nothing(command):
    done = fuzz(command, "--seed", 1, "--here")
    assert done.returncode == 0, done.stderr
    assert "nothing found" in done.stdout


def test_crashes_are_kept(tmp_path):
    done = fuzz("crash", "--count", 2, "--seed", 7, "--jobs", 1, "--findings", tmp_path)
    assert done.returncode == 1
    found = json.loads((tmp_path / "crash-7.json").read_text())
    assert found["seed"] == 7
    assert "Fatal Python error: Aborted" in found["problem"]
    assert not (tmp_path / "crash-8.json").exists()
