# SPDX-License-Identifier: BSD-3-Clause
"""Small calls: the least milliseconds that one of them takes.

python -m benchmarks.small_calls [--calls 300]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import d2ke

N = 300  # objects that train
STEPS = 100


def predictions() -> dict[str, Callable[[], object]]:
    """Return calls of `d2ke_predict` with one object, by models of the default recipes."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    letters = [list("acgt" if label else "aacg") for label in y]
    words = ["".join(rng.choice(choice, rng.integers(8, 30))) for choice in letters]
    t = np.arange(STEPS)
    courses = [rng.normal(size=STEPS).cumsum() + np.sin(t / (3 + 2 * label)) for label in y]
    of_words, of_courses = d2ke.d2ke_train(y, words), d2ke.d2ke_train(y, courses)
    return {
        f"d2ke_predict of a string ({of_words.R} features)": lambda: d2ke.d2ke_predict(
            None, words[:1], of_words
        ),
        f"d2ke_predict of a series ({of_courses.R} features)": lambda: d2ke.d2ke_predict(
            None, courses[:1], of_courses
        ),
    }


def matrices() -> dict[str, Callable[[], object]]:
    """Return calls of `distance_matrix` with two lists of three words."""
    X, Y = ["kitten", "sitting", "a"], ["mitten", "fitting", ""]
    return {
        "distance_matrix of 3 x 3 words": lambda: d2ke.distance_matrix(X, Y, "levenshtein"),
    }


def least(call: Callable[[], object], n_calls: int) -> float:
    """Return the shortest time of a call in milliseconds."""
    times = []
    for _ in range(n_calls):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=300)
    options = parser.parse_args()
    for name, call in (predictions() | matrices()).items():
        print(f"{name:45} {least(call, options.calls):7.3f} ms")


if __name__ == "__main__":
    main()
