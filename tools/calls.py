# SPDX-License-Identifier: BSD-3-Clause
"""Count the Python files and functions of d2ke that public functions call.

    python tools/calls.py             # one line for each workload
    python tools/calls.py --list      # and the names of the functions, by file

Every workload runs twice, and the second run is counted, so that caches are warm. Compiled
functions are not seen. Comprehensions, lambdas and generator expressions count as functions.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import d2ke

PACKAGE = str(Path(d2ke.__file__).parent)


def two_lists() -> None:
    """Compute the distances of two lists of strings."""
    d2ke.distance_matrix(["kitten", "sitting"], ["mitten", "fitting", ""], "levenshtein")


def train_and_predict() -> None:
    """Train on 60 series of three classes and predict them."""
    random = np.random.default_rng(0)
    series = [random.normal(i % 3, 1, (random.integers(8, 16), 2)) for i in range(60)]
    y = np.arange(60) % 3
    model = d2ke.d2ke_train(y, series, seed=0)
    d2ke.d2ke_predict(y, series, model)


def random_features() -> None:
    """Compute a kernel distance of two sets by random features."""
    random = np.random.default_rng(0)
    first, second = random.normal(size=(50, 3)), random.normal(size=(40, 3))
    d2ke.kernel_distance(first, second, sigma=1.0, method="rff", eps=0.1, seed=0)


def called(workload: Callable[[], None]) -> Counter[tuple[str, str]]:
    """Count the calls of each function of d2ke, by file and name."""
    calls: Counter[tuple[str, str]] = Counter()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            name = f"{code.co_qualname}:{code.co_firstlineno}"
            calls[str(Path(code.co_filename).relative_to(PACKAGE)), name] += 1

    workload()
    sys.setprofile(note)
    try:
        workload()
    finally:
        sys.setprofile(None)
    return calls


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the functions of each file")
    names = parser.parse_args().list
    for workload in (two_lists, train_and_predict, random_features):
        calls = called(workload)
        files = sorted({file for file, _ in calls})
        n_calls = sum(calls.values())
        print(f"{workload.__name__}: {len(files)} files, {len(calls)} functions, {n_calls} calls")
        for file in files if names else ():
            own = [f"{name} x{n}" for (path, name), n in calls.items() if path == file]
            print(f"  {file}: {len(own)}: {', '.join(own)}")


if __name__ == "__main__":
    main()
