# SPDX-License-Identifier: BSD-3-Clause
"""CDSK and LPDSK with their default rule against scikit-learn on the same Gram matrices.

    python -m benchmarks.clustering [--data iris wine ...] [--seeds 10] [--draws 20] [--json FILE]
    python -m benchmarks.clustering large

One process, one Gaussian kernel for all methods, its width from `bandwidth`; KMeans on the points
themselves. Columns of the tables of measurements are standardised; images, digits and expression
levels are taken as they are. ionosphere, heart, COIL20, Yale, pixraw10P and lung_small are read
from the folder ``clustering`` in D2KE_DATA.

Clustering: mean and standard deviation over the seeds of k-means and, of moons and circles, the
points. Propagation: 1, 3 and 10 labels for each class, mean accuracy in percent on the other
objects over the draws of the labelled ones.

"CDSK, 1 round" ends before the weights have been used: it is spectral clustering with the smoothing
of `cdsk`. What CDSK has over it is due to the weights.

large: time and memory of `cdsk` and `lpdsk` on features of 20000 strings of MNIST, each in a new
process, and of the weights' quadratic program for 5000 objects.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from sklearn import datasets
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

import d2ke
from benchmarks import measure
from d2ke._ext import isa
from d2ke.discriminative.similarity_graph import DenseKernel

N_LABELS = (1, 3, 10)
N_POINTS = 400
N_LARGE, N_FEATURES, N_WEIGHTS = 20_000, 512, 5000
GAMMA = 1.0  # of the large features, in units of 1 / (median distance)


def main() -> None:
    """Print the two tables and how often CDSK is ahead; or the measurements of large inputs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=("small", "large"), default="small")
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA), metavar="NAME")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--draws", type=int, default=20, help="0: no label propagation")
    parser.add_argument("--json", type=Path, help="file for all single values")
    arguments = parser.parse_args()
    if arguments.part == "large":
        large()
        return
    # About convergence, and of isolated objects; the results are what is compared.
    warnings.filterwarnings("ignore", module="sklearn")
    kept: dict[str, Any] = {"clustering": {}, "propagation": {}}
    print("| data | n | classes | " + " | ".join(f"{m} ACC | NMI" for m in CLUSTERERS) + " |")
    print("|---" * (3 + 2 * len(CLUSTERERS)) + "|")
    for name in arguments.data:
        found = kept["clustering"][name] = clusterings(name, arguments.seeds)
        _, y = DATA[name](0)
        cells = [
            f"{np.mean(values):.3f} +- {np.std(values):.3f}"
            for method in CLUSTERERS
            for values in np.transpose(found[method])
        ]
        print(f"| {name} | {len(y)} | {len(np.unique(y))} | {' | '.join(cells)} |", flush=True)
    gaps = [
        np.subtract(*(np.mean(found[method], axis=0)[1] for method in ("CDSK", "Spectral")))
        for found in kept["clustering"].values()
    ]
    print(
        f"\nNMI of CDSK at least that of SpectralClustering: {sum(gap > -1e-9 for gap in gaps)} of "
        f"{len(gaps)}; better by 0.02 or more: {sum(gap >= 0.02 for gap in gaps)}\n"
    )
    if arguments.draws:
        print("| data | labels per class | " + " | ".join(PROPAGATORS) + " |")
        print("|---" * (2 + len(PROPAGATORS)) + "|")
    for name in arguments.data if arguments.draws else []:
        found = kept["propagation"][name] = propagations(name, arguments.draws)
        for k, by_method in found.items():
            cells = [f"{100 * np.mean(v):.1f} +- {100 * np.std(v):.1f}" for v in by_method.values()]
            print(f"| {name} | {k} | {' | '.join(cells)} |", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(kept, indent=1))


def clusterings(name: str, n_seeds: int) -> dict[str, list[tuple[float, float]]]:
    """Return (accuracy, NMI) of each method for each seed."""
    found: dict[str, list[tuple[float, float]]] = {method: [] for method in CLUSTERERS}
    for seed in range(n_seeds):
        X, y = DATA[name](seed)
        K = d2ke.gaussian_gram(X)
        for method, cluster in CLUSTERERS.items():
            labels = cluster(X, K, len(np.unique(y)), seed)
            found[method].append(
                (
                    d2ke.clustering_accuracy(y, labels),
                    d2ke.normalized_mutual_information(y, labels),
                )
            )
    return found


CLUSTERERS: dict[str, Callable[..., np.ndarray]] = {
    "CDSK": lambda X, K, c, seed: d2ke.cdsk(K, c, seed=seed).labels,
    "CDSK, 1 round": lambda X, K, c, seed: d2ke.cdsk(K, c, seed=seed, max_iter=1).labels,
    "KMeans": lambda X, K, c, seed: KMeans(c, n_init=10, random_state=seed).fit(X).labels_,
    "Spectral": lambda X, K, c, seed: (
        SpectralClustering(c, affinity="precomputed", random_state=seed).fit(K).labels_
    ),
}


def propagations(name: str, n_draws: int) -> dict[int, dict[str, list[float]]]:
    """Return, by labels per class and method, the accuracies on unlabelled objects."""
    found: dict[int, dict[str, list[float]]] = {}
    X, y = DATA[name](0)
    K = d2ke.gaussian_gram(X)
    y = np.unique(y, return_inverse=True)[1]
    for k in N_LABELS:
        if np.bincount(y).min() <= k:
            continue
        found[k] = {method: [] for method in PROPAGATORS}
        for draw in range(n_draws):
            rng = np.random.default_rng(draw)
            marked = np.full(len(y), -1)
            for label in range(y.max() + 1):
                chosen = rng.permutation(np.flatnonzero(y == label))[:k]
                marked[chosen] = label
            for method, propagate in PROPAGATORS.items():
                right = propagate(K, marked)[marked < 0] == y[marked < 0]
                found[k][method].append(float(right.mean()))
    return found


def _scikit(model: Any, K: np.ndarray, marked: np.ndarray) -> np.ndarray:
    # A kernel as a function of serial numbers: the models take no Gram matrix.
    numbers = np.arange(len(K))[:, None]
    rows = lambda X, Y: K[np.ix_(X[:, 0].astype(int), Y[:, 0].astype(int))]  # noqa: E731
    return model(kernel=rows, max_iter=1000).fit(numbers, marked).transduction_


PROPAGATORS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "LPDSK": lambda K, marked: d2ke.lpdsk(K, marked).labels,
    "LabelPropagation": lambda K, marked: _scikit(LabelPropagation, K, marked),
    "LabelSpreading": lambda K, marked: _scikit(LabelSpreading, K, marked),
}


def large() -> None:
    """Print time and memory for features of many objects, and time for a dense program."""
    print("| method | seconds | processor seconds | peak MB | rounds | ACC | NMI |")
    print("|---" * 7 + "|")
    for method in LARGE:
        found = measure.in_child("benchmarks.clustering:run_large", method, isa=isa.selected())
        seconds, cpu, peak, rounds, accuracy, information = found
        print(
            f"| {method} | {seconds:.1f} | {cpu:.1f} | {peak:.0f} | {rounds} | {accuracy:.3f} | "
            f"{information:.3f} |",
            flush=True,
        )
    print(f"\nThe quadratic program of {N_WEIGHTS} weights, to a gap of 1e-6:\n")
    print("| kernel | lam / n | seconds | steps | weights above 0 |\n|---|---|---|---|---|")
    X, y = _mnist_features(N_WEIGHTS)
    kernels = {"features": X @ X.T}
    for part in (1.0, 0.5, 0.25):
        kernels[f"Gaussian, {part:g} bandwidth"] = d2ke.gaussian_gram(X, h=part * d2ke.bandwidth(X))
    for name, K in kernels.items():
        for lam in (0.5, 0.25):
            problem = DenseKernel(K).hard(y, 0.5, lam * N_WEIGHTS, 2.0)
            begin = time.perf_counter()
            found = d2ke.simplex_qp(problem.H, problem.f)
            seconds = time.perf_counter() - begin
            used = (found.alpha > 0).sum()
            print(f"| {name} | {lam} | {seconds:.2f} | {found.n_steps} | {used} |", flush=True)
            if not found.converged:
                raise AssertionError(f"stopped at a gap of {found.gap}")


def run_large(method: str) -> tuple[float, float, float, int, float, float]:
    """Return seconds, processor seconds, peak memory of the process, rounds, accuracy and NMI."""
    Z, y = _mnist_features(N_LARGE)
    begin, cpu = time.perf_counter(), time.process_time()
    found = LARGE[method](Z, y)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    return (
        seconds,
        cpu,
        measure.peak_kilobytes() / 1024,
        len(found.objectives),
        d2ke.clustering_accuracy(y, found.labels),
        d2ke.normalized_mutual_information(y, found.labels),
    )


def _some_labels(y: np.ndarray, k: int = 10) -> np.ndarray:
    marked = np.full(len(y), -1)
    for label in np.unique(y):
        first = np.flatnonzero(y == label)[:k]
        marked[first] = label
    return marked


LARGE: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "cdsk": lambda Z, y: d2ke.cdsk(features=Z, n_clusters=10),
    "cdsk, relaxed": lambda Z, y: d2ke.cdsk(features=Z, n_clusters=10, variant="relaxed"),
    "lpdsk": lambda Z, y: d2ke.lpdsk(features=Z, y=_some_labels(y)),
    "lpdsk, hard": lambda Z, y: d2ke.lpdsk(features=Z, y=_some_labels(y), variant="hard"),
}


def _mnist_features(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return D2KE features of the first strings of MNIST, and their labels."""
    dataset = d2ke.datasets.load("mnist-str8")
    X = dataset.objects[np.arange(n)]
    omega = d2ke.random_strings(N_FEATURES, dataset.alphabet, length=(10, 40), seed=0)
    D = d2ke.distance_matrix(X, omega, "levenshtein")
    return d2ke.d2ke_features(D, GAMMA / np.median(D)), dataset.labels[:n]


def _standardised(X: np.ndarray) -> np.ndarray:
    X = np.asarray(X, dtype=np.float64)
    varied = X[:, X.std(axis=0) > 0]
    return (varied - varied.mean(axis=0)) / varied.std(axis=0)


def _bundled(load: Callable[[], Any], standardise: bool) -> Callable[[int], tuple]:
    def get(seed: int) -> tuple[np.ndarray, np.ndarray]:
        data = load()
        return _standardised(data.data) if standardise else data.data, data.target

    return get


def _file(name: str) -> Path:
    folder = os.environ.get("D2KE_DATA")
    if not folder:
        raise SystemExit(f"{name} needs the folder of the original data files in D2KE_DATA")
    return Path(folder, "clustering", name)


def _matlab(name: str) -> Callable[[int], tuple]:
    def get(seed: int) -> tuple[np.ndarray, np.ndarray]:
        variables = loadmat(_file(f"{name}.mat"))
        return variables["X"].astype(np.float64), variables["Y"].ravel()

    return get


def _arff(name: str) -> Callable[[int], tuple]:
    def get(seed: int) -> tuple[np.ndarray, np.ndarray]:
        data = re.split(r"(?im)^@data\s*$", _file(f"{name}.arff").read_text())[1]
        rows = [line.split(",") for line in data.split("\n") if line and line[0] != "%"]
        X = np.array([[float(value) for value in row[:-1]] for row in rows])
        return _standardised(X), np.array([row[-1].strip() for row in rows])

    return get


DATA: dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]] = {
    "iris": _bundled(datasets.load_iris, True),
    "wine": _bundled(datasets.load_wine, True),
    "breast": _bundled(datasets.load_breast_cancer, True),
    "digits": _bundled(datasets.load_digits, False),
    "moons": lambda seed: datasets.make_moons(N_POINTS, noise=0.1, random_state=seed),
    "circles": lambda seed: datasets.make_circles(
        N_POINTS, noise=0.05, factor=0.5, random_state=seed
    ),
    "ionosphere": _arff("ionosphere"),
    "heart": _arff("heart.statlog"),
    "COIL20": _matlab("COIL20"),
    "Yale": _matlab("Yale"),
    "pixraw10P": _matlab("pixraw10P"),
    "lung_small": _matlab("lung_small"),
}


if __name__ == "__main__":
    main()
