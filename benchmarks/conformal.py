# SPDX-License-Identifier: BSD-3-Clause
"""Coverage and mean size of `predict_set` over random divisions of the installed data sets.

    python -m benchmarks.conformal [NAME ...] [--divisions 20] [--train 600]

For each data set and alpha: the share of new objects whose class is in their set, with the standard
error of the mean over divisions, and the classes in a set. Each division trains on --train
objects, seven tenths of fewer, and predicts the others, at most 2,000 of them. `top` is the share
of new objects whose most probable class is theirs.
"""

from __future__ import annotations

import numpy as np

import d2ke
from benchmarks import measure
from d2ke.explain.conformal import sets_of

NAMES = ("splice", "japanese-vowels", "digits")
ALPHAS = (0.05, 0.1, 0.2)
_MOST = 2000


def main() -> None:
    """Print a row for each data set and alpha."""
    parser = measure.parser(__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--divisions", type=int, default=20)
    parser.add_argument("--train", type=int, default=600)
    arguments = parser.parse_args()
    measure.header("data", "train", "new", "alpha", "covered", "error", "size", "empty", "top")
    for name in arguments.names:
        data = d2ke.datasets.load(name)
        n = len(data.labels)
        size = min(arguments.train, n * 7 // 10)
        found = []
        for seed in range(arguments.divisions):
            order = np.random.default_rng(seed).permutation(n)
            train, new = order[:size], order[size : size + _MOST]
            model = d2ke.d2ke_train(data.labels[train], data.objects[train], seed=seed, n_threads=1)
            F = d2ke.d2ke_predict(None, data.objects[new], model, n_threads=1)[2]
            true = model.classes == data.labels[new][:, None]
            top = sets_of(F, model.calibration, 1 - 1e-9)
            found.append([_scores(sets_of(F, model.calibration, a), true, top) for a in ALPHAS])
        means = np.mean(found, axis=0)
        errors = (
            np.std(found, axis=0, ddof=1) / np.sqrt(len(found)) if len(found) > 1 else 0 * means
        )
        for alpha, mean, error in zip(ALPHAS, means, errors, strict=True):
            row = mean[0], error[0], *mean[1:]
            measure.row(name, size, len(new), f"{alpha:g}", *(f"{value:.3f}" for value in row))


def _scores(sets: np.ndarray, true: np.ndarray, top: np.ndarray) -> list[float]:
    """Return the coverage, the mean size, and the shares of empty sets and of right top classes."""
    sizes = sets.sum(axis=1)
    return [
        (sets & true).any(1).mean(),
        sizes.mean(),
        (sizes == 0).mean(),
        (top & true).any(1).mean(),
    ]


if __name__ == "__main__":
    main()
