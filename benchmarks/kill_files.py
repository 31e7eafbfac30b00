# SPDX-License-Identifier: BSD-3-Clause
"""Kill `write_features` at random moments, resume it, and compare every bit.

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
from pathlib import Path

import numpy as np

import d2ke
from d2ke.io import feature_writer

N_OBJECTS, N_OMEGA = 20_000, 200
HOW = {"distance": "levenshtein", "gamma": 0.1}


def main(arguments: list[str] | None = None) -> int:
    """Run the trials and print the counts; the exit code is 0 if all results are right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=50, help="files to make, with kills")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--folder", help="where the files are made; by default a temporary folder")
    options = parser.parse_args(arguments)
    chance = random.Random(options.seed)
    feature_writer._RUN_SECONDS = 0.0  # a block at a time: as many moments as can be
    X, omega = inputs()
    wanted = d2ke.d2ke_embed(X, omega, **HOW, n_threads=1)
    trials = kills = same = 0
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder, "features.h5")
        started = time.perf_counter()
        run(X, omega, path, None)
        seconds = time.perf_counter() - started
        path.unlink()
        print(f"a whole run takes {seconds:.2f} s", flush=True)
        while trials < options.trials:
            killed = 0
            while not run(X, omega, path, chance.uniform(0, seconds) if killed < 4 else None):
                killed += 1
            trials, kills = trials + (killed > 0), kills + killed
            if killed:
                with d2ke.io.open_features(path) as features:
                    same += features.read().tobytes() == wanted.tobytes()
            path.unlink()
    print(f"{trials} files, {kills} processes killed, {same} files the same bit for bit")
    return int(same != trials)


def inputs() -> tuple[d2ke.Objects, d2ke.Objects]:
    """Return strings, and random strings to compare them with."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 60, N_OBJECTS)
    letters = rng.choice(list("ACGT"), lengths.sum())
    X = d2ke.pack(["".join(part) for part in np.split(letters, np.cumsum(lengths)[:-1])])
    return X, d2ke.samplers.random_strings(N_OMEGA, "ACGT", length=(2, 20), seed=0)


def run(X: d2ke.Objects, omega: d2ke.Objects, path: Path, delay: float | None) -> bool:
    """Write the file in a new process; return whether it ended before it was killed."""
    child = os.fork()  # with one thread only, for which OpenMP starts no others
    if child == 0:
        try:
            d2ke.write_features(path, X, omega, **HOW, n_threads=1)
        except BaseException as error:
            print(f"child: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise RuntimeError("a process failed; its error is above")
    return not os.WIFSIGNALED(status)


if __name__ == "__main__":
    sys.exit(main())
