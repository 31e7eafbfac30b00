# SPDX-License-Identifier: BSD-3-Clause
"""Training and prediction on very many strings: seconds, peak memory, accuracy.

    python -m benchmarks.scale                       three sizes, the default R
    python -m benchmarks.scale --n 1000000 --R 1024 one size
    python -m benchmarks.scale --n 6000 --classes 3000

Each size runs in a process of its own, whose peak memory (VmHWM) is printed before and after
training. Strings have 20 to 40 letters; each class has a Markov chain, or with many classes a
string of its own with random edits.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import d2ke

SIZES = (20_000, 50_000, 100_000)
_LETTERS = np.frombuffer(b"ACGT", np.uint8)


def chains(n: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Return strings of two Markov chains, and which chain each is of."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    stay = np.array([0.33, 0.45])[y]
    codes = np.empty((n, 40), np.uint8)
    codes[:, 0] = rng.integers(0, 4, n)
    for i in range(1, 40):
        step = rng.integers(1, 4, n)
        codes[:, i] = (codes[:, i - 1] + np.where(rng.random(n) < stay, 0, step)) % 4
    text = _LETTERS[codes].tobytes().decode()
    lengths = rng.integers(20, 41, n)
    return [text[40 * i : 40 * i + length] for i, length in enumerate(lengths.tolist())], y


def families(n: int, n_classes: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Return strings that are one string of their class with random letters changed."""
    rng = np.random.default_rng(seed)
    first = np.random.default_rng(7).integers(0, 4, (n_classes, 30), dtype=np.uint8)
    y = rng.permutation(np.arange(n) % n_classes)
    codes = first[y]
    changed = rng.random(codes.shape) < 0.1
    codes[changed] = rng.integers(0, 4, changed.sum(), dtype=np.uint8)
    text = _LETTERS[codes].tobytes().decode()
    return [text[30 * i : 30 * i + 30] for i in range(n)], y


def peak() -> int:
    """Return the peak memory of this process in MB."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1000


def run(n: int, R: int | None, n_classes: int) -> None:
    if n_classes == 2:
        (X, y), (X_test, y_test) = chains(n, 0), chains(n, 1)
    else:
        (X, y), (X_test, y_test) = families(n, n_classes, 0), families(n, n_classes, 1)
    X, X_test = d2ke.pack(X), d2ke.pack(X_test)
    before, started = peak(), time.perf_counter()
    model = d2ke.d2ke_train(y, X, R=R)
    trained = time.perf_counter() - started
    after, started = peak(), time.perf_counter()
    accuracy = d2ke.d2ke_predict(y_test, X_test, model)[1]
    predicted = time.perf_counter() - started
    print(
        f"{n:>9,} strings, {n_classes} classes, R = {model.R}: trained in {trained:.1f} s, peak "
        f"{after} MB ({before} before); as many predicted in {predicted:.1f} s; "
        f"{accuracy:.2f} % right, left out {model.accuracy:.2f} %, C = {model.C:g}",
        flush=True,
    )
    print("         ", {stage: round(seconds, 1) for stage, seconds in model.seconds.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int)
    parser.add_argument("--R", type=int)
    parser.add_argument("--classes", type=int, default=2)
    options = parser.parse_args()
    if options.n is not None:
        run(options.n, options.R, options.classes)
        return
    for n in SIZES:
        command = [sys.executable, "-m", "benchmarks.scale", "--n", str(n)]
        command += [] if options.R is None else ["--R", str(options.R)]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
