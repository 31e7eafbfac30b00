# SPDX-License-Identifier: BSD-3-Clause
"""Errors of wrong arguments, and the peak memory of training."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

from snapshot_cases import exact, rounded


@exact("errors/wrong arguments")
def wrong_arguments():
    """Make each call of the table of wrong arguments in the current folder's tests."""
    file = Path.cwd() / "tests/base/test_bad_input.py"
    spec = importlib.util.spec_from_file_location("bad_input", file)
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    found, repeated = {}, {}
    for name, (_, _, function, *arguments) in zip(table.ids(table.CASES), table.CASES, strict=True):
        repeated[name] = repeated.get(name, -1) + 1
        *arguments, keywords = (
            arguments if arguments and isinstance(arguments[-1], table.given) else (*arguments, {})
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                function(*arguments, **keywords)
                found[f"{name} {repeated[name]}"] = "no error"
            except Exception as error:
                found[f"{name} {repeated[name]}"] = error
    return found


# Not ru_maxrss, which a child inherits from the process that starts it.
_TRAIN = """
import d2ke
data = d2ke.datasets.load({name!r})
d2ke.d2ke_train(data.labels, data.objects, n_threads=1)
status = open("/proc/self/status").read()
print(int(status.split("VmHWM:")[1].split()[0]) * 1024)
"""


def peak(name):
    """Train in a new process; return the most memory that it had, in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", _TRAIN.format(name=name)], check=True, capture_output=True, text=True
    )
    return np.float64(done.stdout)


for _name in ("splice", "japanese-vowels"):
    rounded(f"learning/peak memory of d2ke_train on {_name}", 0.1, _name)(peak)
