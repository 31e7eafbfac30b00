# SPDX-License-Identifier: BSD-3-Clause
"""The start of a process: seconds until d2ke is imported, and until its first result.

``python -m benchmarks.startup [--rounds 10]``

Each line is the least of so many new processes, Python's own start included; they take turns, so
that other work on the machine meets all of them. ``processor`` is the seconds of the processor.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from benchmarks import measure

STARTS = {
    "python": ["-c", ""],
    "import numpy": ["-c", "import numpy"],
    "import d2ke": ["-c", "import d2ke"],
    "d2ke --help": ["-m", "d2ke", "--help"],
    "d2ke train --help": ["-m", "d2ke", "train", "--help"],
    'd2ke.pack(["ab"])': ["-c", 'import d2ke; d2ke.pack(["ab"])'],
    "first distance_matrix": [
        "-c",
        'import d2ke; d2ke.distance_matrix(["ab"], ["ac"], "levenshtein", n_threads=1)',
    ],
    "d2ke.d2ke_train, imported": ["-c", "import d2ke; d2ke.d2ke_train"],
}


def start(words: list[str]) -> tuple[float, float]:
    """Run Python; return its seconds by the clock, and those of the processor."""
    before, began = os.times(), time.perf_counter()
    subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)
    seconds, after = time.perf_counter() - began, os.times()
    user = after.children_user - before.children_user
    return seconds, user + after.children_system - before.children_system


def main() -> None:
    """Print the least seconds of each start."""
    options = measure.parser(__doc__ or "", rounds=10).parse_args()
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in STARTS}
    for _ in range(options.rounds):
        for name, words in STARTS.items():
            taken[name].append(start(words))
    print("| start | seconds | processor |\n|---|---|---|")
    for name, runs in taken.items():
        seconds, processor = map(min, zip(*runs, strict=True))
        print(f"| `{name}` | {seconds:.2f} | {processor:.2f} |")


if __name__ == "__main__":
    main()
