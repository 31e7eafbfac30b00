# SPDX-License-Identifier: BSD-3-Clause
"""Features selected from a large pool against as many random ones: accuracy at equal R.

    python -m benchmarks.selection [--data auslan splice ...] [--pool N] [--divisions 5]

Auslan and splice need the folder of the original data files in D2KE_DATA. Everything is chosen on
the training part of each division: gamma and C for both kinds of features, and rho and the
scale at which columns are compared for the selected ones, which are selected anew without each
left-out fold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import d2ke
from benchmarks import measure
from d2ke.embedding.scaling import Scaling
from d2ke.learners.ridge import class_indicators, decompose
from d2ke.model_selection.cross_validation import count_correct
from d2ke.model_selection.folds import stratified_folds
from papers.datasets import load

SIZES = (64, 128, 256, 512, 1024)
COSTS = (0.01, 0.1, 1.0, 10.0, 1e2, 1e3, 1e4)
N_FOLDS = 3
KINDS = ("random", "best", "sample")


class Task(NamedTuple):
    """A data set, its p(omega), and gammas in units of 1 / (median distance)."""

    data: str
    sampler: dict[str, Any]
    gammas: tuple[float, ...]


TASKS = {
    "splice": Task("splice", {"length": (60, 100)}, (2.5, 5.0)),
    "splice-short": Task("splice", {"length": (2, 50)}, (2.5, 5.0)),
    "auslan": Task("auslan", {"length": (2, 25), "sigma": 2.0}, (0.3, 1.0)),
    "digits-str8": Task("digits-str8", {"length": (10, 40)}, (1.0, 3.0)),
}

Chooser = Callable[[np.ndarray, np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]


def main() -> None:
    """Print a table for each data set."""
    parser = measure.parser(__doc__, threads=True)
    parser.add_argument("--data", nargs="+", choices=TASKS, default=list(TASKS), metavar="NAME")
    parser.add_argument("--pool", type=int, default=8192, help="random objects to select from")
    parser.add_argument("--divisions", type=int, default=5)
    arguments = parser.parse_args()
    for name in arguments.data:
        found = [
            compare(TASKS[name], arguments.pool, seed, arguments.threads)
            for seed in range(arguments.divisions)
        ]
        print(f"\n{name}, a pool of {arguments.pool}, {arguments.divisions} divisions\n")
        measure.header("R", *KINDS, "best - random")
        for R in SIZES:
            by_kind = {kind: np.array([one[R, kind] for one in found]) for kind in KINDS}
            gain = measure.mean_and_sd(by_kind["best"] - by_kind["random"], "+")
            measure.row(R, *map(measure.mean_and_sd, by_kind.values()), gain)
        measure.row(arguments.pool, measure.mean_and_sd([one["pool"] for one in found]), "", "", "")


def compare(task: Task, N: int, seed: int, n_threads: int | None) -> dict[Any, float]:
    """Return test accuracies on one division, by (R, kind) and for the whole pool."""
    dataset = load(task.data)
    rows, others = dataset.split(seed)
    train, test = dataset.objects[rows], dataset.objects[others]
    if dataset.domain == "series":
        train, test = d2ke.datasets.standardize(train, test)
        omega = d2ke.samplers.random_series(N, train.dim, seed=seed, **task.sampler)
    else:
        omega = d2ke.samplers.random_strings(N, dataset.alphabet, seed=seed, **task.sampler)
    D, D_test = (
        d2ke.distance_matrix(X, omega, dataset.distance, n_threads=n_threads) for X in (train, test)
    )
    classes, codes = np.unique(dataset.labels[rows], return_inverse=True)
    codes_test = np.searchsorted(classes, dataset.labels[others])
    folds = stratified_folds(codes, N_FOLDS, seed=seed)
    best: dict[Any, tuple[float, float, float, Chooser]] = {}
    for gamma in np.array(task.gammas) / np.median(D):
        Z = d2ke.d2ke_features(D, gamma, n_threads=n_threads)
        F = Scaling.fit(Z).apply(Z)
        for key, chooser in choosers(N, seed):
            for C, score in zip(COSTS, held_out(Z, F, codes, folds, chooser), strict=True):
                if key not in best or score > best[key][0]:
                    best[key] = score, C, gamma, chooser
    accuracies = {}
    for gamma in {one[2] for one in best.values()}:
        Z = d2ke.d2ke_features(D, gamma, n_threads=n_threads)
        Z_test = d2ke.d2ke_features(D_test, gamma, n_threads=n_threads)
        scaling = Scaling.fit(Z)
        F, F_test = scaling.apply(Z), scaling.apply(Z_test)
        for key, (_, C, its_gamma, chooser) in best.items():
            if its_gamma == gamma:
                chosen = chooser(Z, F, codes)
                options = f"-s 2 -e 0.01 -B 1 -c {C}"
                model = d2ke.train(codes, chosen(F), options, solver="block", n_threads=n_threads)
                accuracies[key] = d2ke.predict(codes_test, chosen(F_test), model)[1][0]
    return accuracies


def choosers(N: int, seed: int) -> Iterator[tuple[Any, Chooser]]:
    """Yield (R, kind) and a way to choose columns, for each candidate."""
    yield "pool", lambda Z, F, codes: lambda X: X
    for R in SIZES:
        yield (R, "random"), lambda Z, F, codes, R=R: lambda X: X[:, :R] * np.sqrt(N / R)
        for scaled in (True, False):
            for kind, rho in (("best", 0), ("best", 4), ("sample", 1)):
                options = {"rho": rho, "keep": kind} | ({"seed": seed} if kind == "sample" else {})

                def selected(Z, F, codes, R=R, scaled=scaled, options=options):
                    return d2ke.embedding.select_features(
                        F if scaled else Z, codes, R, **options
                    ).apply

                yield (R, kind), selected


def held_out(
    Z: np.ndarray, F: np.ndarray, codes: np.ndarray, folds: np.ndarray, chooser: Chooser
) -> np.ndarray:
    """Return the accuracy of least-squares classifiers on left-out rows, for each of COSTS.

    The columns are chosen without the rows that are left out.
    """
    n_classes = int(codes.max()) + 1
    right = np.zeros(len(COSTS))
    for fold in range(N_FOLDS):
        kept, out = folds != fold, folds == fold
        chosen = chooser(Z[kept], F[kept], codes[kept])
        A, B = chosen(F[kept]), chosen(F[out])
        ridge, _ = decompose(A, class_indicators(codes[kept], n_classes), np.ones(A.shape[1]))
        for i, C in enumerate(COSTS):
            weights, offsets = ridge.weights(C)
            decision = (B - ridge.mean) @ weights.T + offsets
            right[i] += count_correct(decision[:, None], codes[out])[0]
    return 100 * right / len(codes)


if __name__ == "__main__":
    main()
