# SPDX-License-Identifier: BSD-3-Clause
"""Models of all kinds of objects are those that golden.npz holds.

``python tests/models/test_golden.py`` writes the file anew, where a model is meant to change.
"""

from pathlib import Path

import numpy as np
import pytest

import d2ke
from d2ke.models.distance_blocks import FittedBlock

FILE = Path(__file__).with_name("golden.npz")
RNG = np.random.default_rng(5)


def series(n, channels=1, k=2):
    shapes = [(RNG.integers(12, 24), channels) for _ in range(n)]
    return np.arange(n) % k, [RNG.normal(0.6 * (i % k), 1, shape) for i, shape in enumerate(shapes)]


def words(n, letters="ab", k=2, low=4, high=14):
    tilted = [np.roll(np.linspace(1, 3, len(letters)), c) for c in range(k)]
    y = np.arange(n) % k
    return y, [
        "".join(RNG.choice(list(letters), RNG.integers(low, high), p=tilted[c] / tilted[c].sum()))
        for c in y
    ]


def cases():
    y, X = series(50)
    yield "series", y, X, {"R": 200}
    yield "whole series", y, X, {"R": 60, "distance": "dtw"}
    yield "several distances", y, X, {"R": 60, "distance": ["dtw", "msm"]}
    yield "groups", y, X, {"R": 120, "groups": np.arange(50) // 5}
    yield "regression", np.array([x.mean() + 0.25 for x in X]), X, {"R": 150}
    yield "few targets", np.array([x.mean() + 0.25 for x in X[:6]]), X[:6], {"R": 60}
    copies = [x + 1e-3 * RNG.normal(size=x.shape) for x in X[:30] for _ in range(2)]
    yield "copies", np.repeat(y[:30], 2), copies, {"R": 150}
    yield "channels", *series(40, 3), {"R": 200}
    y, X = words(90, "abc", 3)
    yield "strings", y, X, {"R": 120}
    yield "weights", y, X, {"R": 60, "class_weight": "balanced", "sample_weight": np.arange(90.0)}
    yield "several labels", np.array([[c & 1, c >> 1] for c in y]), X, {"R": 60}
    yield "sums", y, X, {"R": 40, "keep_sums": True}
    yield "both strands", *words(60, "ACGT", low=12, high=20), {"R": 80, "strands": "both"}
    yield "hinge", *words(900), {"R": 24, "distance": "levenshtein", "groups": "none"}
    yield "sample", *words(4300, "abcd", 3, 6, 12), {"R": 32, "groups": "none"}
    y, sets = np.arange(60) % 2, [RNG.normal(0.7 * (i % 2), 1, (3 + i % 5, 3)) for i in range(60)]
    yield "sets", y, sets, {"R": 60}
    numbers = RNG.normal(size=60).tolist()
    yield "function", np.array(numbers) > 0, numbers, {"R": 20, "distance": lambda a, b: abs(a - b)}
    city = [["u", "v", None][i % 3] for i in range(60)]
    rows = {"text": words(60)[1], "track": series(60)[1], "size": numbers, "city": city}
    yield "records", y, rows, {"R": 120}


def facts(y, X, options):
    """Return what a model is: features and decisions of five objects, C, weights of families."""
    model = d2ke.d2ke_train(y, X, seed=3, n_threads=1, **options)
    new = {name: column[:5] for name, column in X.items()} if isinstance(X, dict) else X[:5]
    is_distance = [isinstance(block, FittedBlock) for block in model.blocks]
    columns = np.repeat(is_distance, [block.R for block in model.blocks])
    families = {block.family: block.kernel_weight for block in model.blocks}
    return {
        "features": model.features(model.check_objects(new), 1)[:, columns],
        "weights": model.linear.weights[:, columns],
        "decisions": d2ke.d2ke_predict(None, new, model)[2],
        "C": model.C,
        "families": list(families.values()),
    }


CASES = {name: case for name, *case in cases()}
# Scores of k-mers come from conjugate gradients, whose last steps follow the rounding of BLAS; so
# does C, for which many values are about as good here.
LOOSE = {"sample": ("features", "families")}


@pytest.mark.filterwarnings("ignore:little or nothing was learned")
@pytest.mark.parametrize("name", CASES)
def test_models_are_those_of_the_file(name):
    with np.load(FILE) as golden:
        for what, value in facts(*CASES[name]).items():
            if what not in LOOSE.get(name, (what,)):
                continue
            wanted = golden[f"{name} {what}"]
            rtol, atol = (1e-6, 1e-7) if what == "features" else (0, 1e-5 * np.std(wanted) + 1e-6)
            if name in LOOSE:
                rtol, atol = 2e-2, 1e-7
            np.testing.assert_allclose(value, wanted, rtol, atol, err_msg=what)


if __name__ == "__main__":
    parts = {f"{n} {what}": v for n, case in CASES.items() for what, v in facts(*case).items()}
    np.savez_compressed(FILE, **parts)
