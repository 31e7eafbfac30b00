# SPDX-License-Identifier: BSD-3-Clause
"""How much of d2ke a call enters does not grow; a change that needs more raises the bound here."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MOST = {"two_lists": (13, 36), "train_and_predict": (46, 335), "random_features": (11, 38)}


@pytest.mark.slow
def test_files_and_functions_of_a_call():
    done = subprocess.run(
        [sys.executable, "tools/calls.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    rows = re.findall(r"^(\w+): (\d+) files, (\d+) functions", done.stdout, re.M)
    counts = {name: (int(files), int(functions)) for name, files, functions in rows}
    assert counts.keys() == MOST.keys()
    for name, (files, functions) in counts.items():
        assert files <= MOST[name][0], name
        assert functions <= MOST[name][1], name
