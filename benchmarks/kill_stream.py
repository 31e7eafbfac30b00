# SPDX-License-Identifier: BSD-3-Clause
"""Kill streams of features at random moments, resume them, and compare every bit.

Each trial begins a file in a process of its own, kills that (SIGKILL) at a random moment, resumes
the file in another process, which may be killed in turn, and so on until one comes to its end.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import d2ke
from d2ke.distances import blocks
from d2ke.io.store import layout

N_OBJECTS, N_OMEGA = 20_000, 200


def main(arguments: list[str] | None = None) -> int:
    """Run the trials and print the counts; the exit code is 0 if all results are right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200, help="files to make, with kills")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--folder", help="where the files are made; by default a temporary folder")
    options = parser.parse_args(arguments)
    chance = random.Random(options.seed)
    blocks._RUN_SECONDS = 0.0  # runs of one block: as many moments as can be

    X, omega = inputs()
    wanted = d2ke.d2ke_embed(X, omega, distance="levenshtein", gamma=0.1, n_threads=1)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder, "features.h5")
        started = time.perf_counter()
        if not run(X, omega, path, None):
            raise RuntimeError("a process that nobody killed came to no good end")
        seconds = time.perf_counter() - started
        path.unlink()
        print(f"a whole run takes {seconds:.2f} s", flush=True)
        while counts["trials"] < options.trials:
            kills = 0
            # A moment may be after the end; each further one of a trial is less likely.
            while not run(X, omega, path, moment(chance, seconds) if kills < 4 else None):
                kills += 1
                counts["processes killed"] += 1
                counts["processes killed that had resumed"] += kills > 1
                counts[f"  {state(path)}"] += 1
            if kills:
                counts["trials"] += 1
                check(path, wanted, counts)
                if counts["trials"] % 20 == 0:
                    print(f"{counts['trials']} trials", file=sys.stderr, flush=True)
            path.unlink()
    for name, count in counts.items():
        print(f"{name}: {count}")
    return int(counts["wrong or damaged results"] > 0)


def moment(chance: random.Random, seconds: float) -> float:
    """Return when to kill; the first moments, when the structure is made, come more often."""
    return chance.uniform(0, 0.05 if chance.random() < 0.2 else 1.1 * seconds)


def inputs() -> tuple[d2ke.Objects, d2ke.Objects]:
    """Return strings, and random strings to compare them with."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 60, N_OBJECTS)
    letters = rng.choice(list("ACGT"), lengths.sum())
    ends = np.cumsum(lengths)
    X = d2ke.pack(["".join(part) for part in np.split(letters, ends[:-1])])
    return X, d2ke.random_strings(N_OMEGA, "ACGT", length=(2, 20), seed=0)


def run(X: d2ke.Objects, omega: d2ke.Objects, path: Path, delay: float | None) -> bool:
    """Write the file in a new process; whether it ended before it was killed."""
    child = os.fork()  # with one thread only, for which OpenMP starts no others
    if child == 0:
        try:
            d2ke.d2ke_embed(
                X, omega, distance="levenshtein", gamma=0.1, n_threads=1, out=path, resume=True
            ).close()
        except BaseException as error:
            print(f"child: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    if os.WEXITSTATUS(status):
        raise RuntimeError("a process failed; its error is above")
    return True


def state(path: Path) -> str:
    """Say how far the file has come."""
    part = path.with_name(f"{path.name}.part")
    if path.exists():
        return "after the renaming"
    if not part.exists():
        return "before the beginning"
    front = part.read_bytes()[:512].rstrip(b"\0")
    if front in (b"", layout.BEGUN):
        return "while the structure was made"
    if not front.startswith(layout.BEGUN):
        return "after the sealing"
    return "among the rows"


def check(path: Path, wanted: np.ndarray, counts: Counter[str]) -> None:
    """Count a result that is the same to the last bit, and leaves nothing behind."""
    try:
        with d2ke.io.open_features(path) as store:
            store.verify()
            same = store.read().tobytes() == wanted.tobytes()
    except ValueError as error:
        print(error, file=sys.stderr)
        same = False
    same = same and os.listdir(path.parent) == [path.name]
    counts["results that are the same bit for bit" if same else "wrong or damaged results"] += 1


if __name__ == "__main__":
    sys.exit(main())
