# SPDX-License-Identifier: BSD-3-Clause
"""MAT-files with a cell of many items: `d2ke.io.load_mat` beside scipy, and beside h5py.

`python -m benchmarks.mat_files`; `--count N` for fewer items. Processor times
are the least of several rounds, taken in turns. Memory is the peak of `tracemalloc`, which sees
numpy's arrays.
"""

from __future__ import annotations

import importlib
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.io

from benchmarks import measure
from d2ke.io import load_mat, save_mat

ROUNDS = {"5": 7, "7": 7, "7.3": 1}


def contents(count: int) -> dict[str, list]:
    """Return the items of each cell."""
    rng = np.random.default_rng(0)
    letters = np.array(list("ACGT"))
    lengths = rng.integers(20, 100, count)
    return {
        "series, 1 x 20 to 99": [rng.random((1, n)) for n in lengths],
        "series, 3 x 20 to 99": [rng.random((3, n)) for n in lengths],
        "logical, 1 x 20 to 99": [rng.random((1, n)) < 0.5 for n in lengths],
        "cells of a series": [[rng.random((1, n))] for n in lengths],
        "strings of 60 letters": ["".join(rng.choice(letters, 60)) for _ in range(count)],
    }


def by_h5py(path: Path) -> list[np.ndarray]:
    """Read a cell of numbers or text by the plainest code: no classes, no checks."""
    with h5py.File(path) as file:
        return [file[reference][()].T for reference in file["x"][()].ravel()]


def readers(version: str) -> dict[str, Callable[[Path], Any]]:
    """Return the readers of a version that are installed, ours last."""
    if version != "7.3":
        return {"scipy": scipy.io.loadmat, "d2ke": load_mat}
    result: dict[str, Callable[[Path], Any]] = {"h5py": by_h5py}
    for package, name in (("mat73", "loadmat"), ("pymatreader", "read_mat")):
        try:
            result[package] = getattr(importlib.import_module(package), name)
        except ImportError:
            continue
    return {**result, "d2ke": load_mat}


def peak(call: Callable[[], Any]) -> float:
    """Return the MB that one reading takes at most."""
    tracemalloc.start()
    kept = call()
    top = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del kept
    return top / 2**20


def main() -> None:
    """Print a table."""
    parser = measure.parser(__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="items of a cell")
    count = parser.parse_args().count
    measure.header("items", "version", "reader", "seconds", "d2ke / reader", "peak MB")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.mat")
        for label, items in contents(count).items():
            for version, rounds in ROUNDS.items():
                own = "7.3" if version == "7.3" else "5"
                save_mat(path, {"x": items}, version=own, compress=version != "5")
                calls = {name: partial(read, path) for name, read in readers(version).items()}
                times = measure.interleaved(list(calls.values()), rounds, clock=time.process_time)
                least = dict(zip(calls, map(min, times), strict=True))
                for name, call in calls.items():
                    ratio = least["d2ke"] / max(least[name], 1e-3)
                    shown = f"{least[name]:.3f}", f"{ratio:.2f}", f"{peak(call):.0f}"
                    measure.row(label, version, name, *shown)


if __name__ == "__main__":
    main()
