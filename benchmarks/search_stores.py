# SPDX-License-Identifier: BSD-3-Clause
"""`search` with its distances in files and in memory: time and resident memory.

The strings are outlines of MNIST's digits, as in `benchmarks.streaming`, with their classes. Each
run has its own process.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import d2ke
from benchmarks.measure import in_child, peak_kilobytes, processor
from benchmarks.streaming import make_strings
from d2ke._base.threads import thread_count
from d2ke._ext import isa
from papers.datasets import load


def main(arguments: list[str] | None = None) -> int:
    """Run both, in turns, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=60_000, help="strings")
    parser.add_argument("--R", type=int, default=512, help="random strings")
    parser.add_argument("--max-memory", default="500MB")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--loss", nargs="+", default=["squared", "squared_hinge"])
    parser.add_argument("--folder", help="on the disk to write to; by default a temporary folder")
    parser.add_argument("--only", choices=["folder", "memory"], help="one of the two runs")
    options = parser.parse_args(arguments)
    threads = thread_count(options.threads)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        make_strings(options.n, options.R, folder)
        print(f"{processor()}; {threads} threads, {isa.selected()}, d2ke")
        size = options.n * options.R * 8 / 1e6
        print(f"{options.n} strings x {options.R}: {size:.0f} MB for each of 2 p(omega)")
        print("| run | seconds | peak resident memory, MB | chosen | accuracy, % |")
        print("|---|---|---|---|---|")
        for name in ("memory", "folder"):
            if options.only not in (None, name):
                continue
            limit = options.max_memory if name == "folder" else None
            call = "benchmarks.search_stores:measured"
            arguments = (folder, options.R, threads, options.loss, limit)
            run = in_child(call, *arguments, isa=isa.selected())
            title = f"folder, max_memory={limit}" if limit else "in memory"
            print(f"| {title} | {run['seconds']:.1f} | {run['peak']:.0f} | {run['chosen']} | "
                  f"{run['accuracy']:.4f} |", flush=True)  # fmt: skip
    return 0


def measured(
    folder: str, R: int, threads: int, losses: list[str], limit: str | None
) -> dict[str, Any]:
    """Search, and return the seconds, the process's peak and the choice."""
    X = d2ke.Objects("strings", letters="str", **np.load(Path(folder, "X.npz")))
    data = load("mnist-str8")
    y, alphabet = np.resize(data.labels, len(X)), data.alphabet
    del data
    stores = {} if limit is None else {"folder": Path(folder, "search"), "max_memory": limit}
    started = time.perf_counter()
    result = d2ke.search(
        X,
        y,
        distance="levenshtein",
        sampler=partial(d2ke.random_strings, alphabet=alphabet),
        grid={"length": [(10, 40), (10, 20)], "R": [R], "loss": losses},
        n_threads=threads,
        **stores,
    )
    return {
        "seconds": time.perf_counter() - started,
        "peak": peak_kilobytes() * 1024 / 1e6,
        "chosen": ", ".join(f"{name} {value}" for name, value in result.parameters.items()),
        "accuracy": result.accuracy,
    }


if __name__ == "__main__":
    sys.exit(main())
