# SPDX-License-Identifier: BSD-3-Clause
"""Damaged MAT-files are read or refused: no crash, no hang, no memory.

D2KE_MAT_FUZZ=5000 reads that many instead of 300, or of 100 in a quick run; with D2KE_DATA
they are damaged files of MATLAB's, else of our own.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from reference import examples

SCRIPT = Path(__file__).with_name("mat_fuzz.py")
SECONDS_PER_CASE = 3  # of a clock on the wall, on a busy machine


def test_damaged_files_are_read_or_refused():
    count = int(os.environ.get("D2KE_MAT_FUZZ", examples(300)))
    folder = os.environ.get("D2KE_DATA")
    fixtures = [str(Path(folder, "mat_fixtures"))] if folder else []
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "0", str(count), *fixtures],
        capture_output=True,
        text=True,
        timeout=60 + SECONDS_PER_CASE * count,
        cwd=SCRIPT.parent.parent,
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parent.parent)},
    )
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stderr  # a crash would be negative
    *failures, summary = map(json.loads, done.stdout.splitlines())
    assert failures == []
    assert summary["cases"] == count
    assert summary["outcomes"]["refused"] > count / 10
    assert summary["outcomes"]["read"] > count / 20
    assert summary["most_seconds"] < 5
    assert summary.get("most_mb", 0) < 1024  # counted on Linux
