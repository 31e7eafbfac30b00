# SPDX-License-Identifier: BSD-3-Clause
"""CDSK and LPDSK with the widths that they choose, against scikit-learn's methods.

    python -m benchmarks.clustering [--data iris wine ...] [--seeds 3] [--draws 5] [--json FILE]
    python -m benchmarks.clustering large

One process, the same objects for all: at most 1500 of each set, by a fixed draw. Columns of the
tables of measurements are standardised; images, digits and expression levels are taken as they are;
of series and strings there are distances only. Files are read from D2KE_DATA.

Clustering: the mean over the seeds. SpectralClustering has the Gaussian kernel with the width h
that `cdsk` chose ("rbf"), and its graph of 10 nearest neighbours ("knn"); KMeans has the points.
"CDSK, 1 round" ends before the weights have been used.

Propagation: 1, 3 and 10 labels for each class, mean accuracy in percent on the other objects over
the draws of the labelled ones. scikit-learn's models have the Gaussian kernel with the width of
`neighbor_similarities`, and their own 7 nearest neighbours.

The rule of `cdsk` was made with the sets of MADE; OPENED were looked at before its last change,
HELD_OUT after it.

large: time and memory of `cdsk` and `lpdsk` on features of 20000 strings of MNIST, each in a new
process, and of the weights' quadratic program for 5000 objects.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.spatial.distance import cdist
from sklearn import datasets
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.neighbors import kneighbors_graph
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

import d2ke
from benchmarks import measure
from d2ke._ext import isa
from d2ke.discriminative.similarity_graph import DenseKernel
from papers.datasets import load

N_LABELS = (1, 3, 10)
N_POINTS = 400
MOST = 1500  # objects of a set
EQUAL = 5e-4  # values that differ by less are equal, as printed
N_LARGE, N_FEATURES, N_WEIGHTS = 20_000, 512, 5000
GAMMA = 1.0  # of the large features, in units of 1 / (median distance)


def main() -> None:
    """Print the two tables and how often ours is ahead; or the measurements of large inputs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=("small", "large"), default="small")
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA), metavar="NAME")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=5, help="0: no label propagation")
    parser.add_argument("--json", type=Path, help="file for all values")
    arguments = parser.parse_args()
    if arguments.part == "large":
        large()
        return
    # About convergence, and of isolated objects; the results are what is compared.
    warnings.filterwarnings("ignore", module="sklearn")
    sets = {name: read(name) for name in arguments.data}
    kept: dict[str, Any] = {"clustering": {}, "propagation": {}}
    print("| data | n | classes | " + " | ".join(f"{m} ACC | NMI" for m in CLUSTERERS) + " |")
    print("|---" * (3 + 2 * len(CLUSTERERS)) + "|")
    for name, data in sets.items():
        values = kept["clustering"][name] = clusterings(data, arguments.seeds)
        cells = [f"{v:.3f}" for pair in values.values() for v in pair]
        head = f"| {name} | {len(data.y)} | {data.y.max() + 1} |"
        print(f"{head} {' | '.join(cells)} |", flush=True)
    print()
    for title, names in (("made with", MADE), ("opened", OPENED), ("held out", HELD_OUT)):
        rows = [kept["clustering"][name] for name in names if name in kept["clustering"]]
        for peers in (("Spectral rbf", "Spectral knn"), ("Spectral rbf",), ("Spectral knn",)):
            won = sum(row["CDSK"][1] >= max(row[peer][1] for peer in peers) - EQUAL for row in rows)
            print(f"{title}: NMI of CDSK at or above {' and '.join(peers)}: {won} of {len(rows)}")
    if arguments.draws:
        kept["propagation"] = propagation_tables(sets, arguments.draws)
    if arguments.json:
        arguments.json.write_text(json.dumps(kept, indent=1))


def propagation_tables(sets: dict[str, Set], n_draws: int) -> dict[str, dict[str, float]]:
    """Print the table of label propagation and how often ours is ahead; return its values."""
    values: dict[str, dict[str, float]] = {}
    print("\n| data | labels per class | " + " | ".join(PROPAGATORS) + " |")
    print("|---" * (2 + len(PROPAGATORS)) + "|")
    for name, data in sets.items():
        for k, row in propagations(data, n_draws).items():
            values[f"{name} {k}"] = row
            print(
                f"| {name} | {k} | " + " | ".join(f"{v:.1f}" for v in row.values()) + " |",
                flush=True,
            )
    print()
    for title, names in (("made with", MADE), ("opened", OPENED), ("held out", HELD_OUT)):
        for k in N_LABELS:
            rows = [values.get(f"{name} {k}") for name in names]
            gains = [
                row["LPDSK"] - max(v for peer, v in row.items() if peer != "LPDSK")
                for row in rows
                if row
            ]
            if gains:
                won = sum(gain >= -100 * EQUAL for gain in gains)
                print(
                    f"{title}, {k} labels: LPDSK at or above all: {won} of {len(gains)}, "
                    f"median gain {np.median(gains):.1f}"
                )
    return values


@dataclass(frozen=True)
class Set:
    """Objects by their distances, with their points if they are points, and their classes."""

    D: np.ndarray
    y: np.ndarray
    points: np.ndarray | None = None

    @property
    def argument(self) -> dict[str, np.ndarray]:
        """What `cdsk` and `lpdsk` take."""
        return {"distances": self.D} if self.points is None else {"points": self.points}

    def gaussian(self, h: float) -> np.ndarray:
        """Return the kernel with one width."""
        return np.exp(-0.5 * (self.D / h) ** 2)

    def width(self) -> float:
        """Return the value that 90 % of half the distances to the third neighbour are not above."""
        local = np.sort(self.D, axis=1)[:, 3] / 2
        return float(np.percentile(local[local > 0], 90))

    def neighbors(self, k: int) -> np.ndarray:
        """Mark the k nearest neighbours of each object, itself included."""
        return kneighbors_graph(self.D, k, metric="precomputed", include_self=True).toarray()


def clusterings(data: Set, n_seeds: int) -> dict[str, tuple[float, float]]:
    """Return (accuracy, NMI) of each method, mean over the seeds."""
    c = int(data.y.max()) + 1
    results: dict[str, list] = {method: [] for method in CLUSTERERS}
    for seed in range(n_seeds):
        h = d2ke.cdsk(n_clusters=c, seed=seed, max_iter=1, **data.argument).h
        for method, cluster in CLUSTERERS.items():
            labels = cluster(data, h, c, seed)
            if labels is None:
                results[method].append((np.nan, np.nan))
                continue
            accuracy = d2ke.clustering_accuracy(data.y, labels)
            results[method].append((accuracy, d2ke.normalized_mutual_information(data.y, labels)))
    return {method: tuple(np.mean(values, axis=0)) for method, values in results.items()}


def _spectral(K: np.ndarray, c: int, seed: int) -> np.ndarray:
    return SpectralClustering(c, affinity="precomputed", random_state=seed).fit(K).labels_


def _spectral_knn(data: Set, c: int, seed: int) -> np.ndarray:
    one = data.neighbors(min(10, len(data.y)))  # as of affinity="nearest_neighbors"
    return _spectral((one + one.T) / 2, c, seed)


def _kmeans(data: Set, c: int, seed: int) -> np.ndarray | None:
    if data.points is None:
        return None
    return KMeans(c, n_init=10, random_state=seed).fit(data.points).labels_


CLUSTERERS: dict[str, Callable[..., np.ndarray | None]] = {
    "CDSK": lambda data, h, c, seed: d2ke.cdsk(n_clusters=c, seed=seed, **data.argument).labels,
    "CDSK, 1 round": lambda data, h, c, seed: (
        d2ke.cdsk(n_clusters=c, seed=seed, max_iter=1, **data.argument).labels
    ),
    "Spectral rbf": lambda data, h, c, seed: _spectral(data.gaussian(h), c, seed),
    "Spectral knn": lambda data, h, c, seed: _spectral_knn(data, c, seed),
    "KMeans": lambda data, h, c, seed: _kmeans(data, c, seed),
}


def propagations(data: Set, n_draws: int) -> dict[int, dict[str, float]]:
    """Return, by labels per class and method, the mean accuracies on unlabelled objects."""
    results: dict[int, dict[str, float]] = {}
    one = data.neighbors(min(7, len(data.y)))
    for k in N_LABELS:
        if np.bincount(data.y).min() <= k:
            continue
        rows: dict[str, list[float]] = {method: [] for method in PROPAGATORS}
        for draw in range(n_draws):
            rng = np.random.default_rng(draw)
            marked = np.full(len(data.y), -1)
            for label in range(data.y.max() + 1):
                marked[rng.permutation(np.flatnonzero(data.y == label))[:k]] = label
            result = d2ke.lpdsk(y=marked, **data.argument)
            K = data.gaussian(data.width())
            for method, labels in (
                ("LPDSK", result.labels),
                ("LabelSpreading rbf", _scikit(LabelSpreading, K, marked)),
                ("LabelSpreading knn", _scikit(LabelSpreading, one, marked)),
                ("LabelPropagation rbf", _scikit(LabelPropagation, K, marked)),
                ("LabelPropagation knn", _scikit(LabelPropagation, one, marked)),
            ):
                right = labels[marked < 0] == data.y[marked < 0]
                rows[method].append(100 * float(right.mean()))
        results[k] = {method: float(np.mean(values)) for method, values in rows.items()}
    return results


def _scikit(model: Any, K: np.ndarray, marked: np.ndarray) -> np.ndarray:
    # A kernel as a function of serial numbers: the models take no Gram matrix.
    numbers = np.arange(len(K))[:, None]
    rows = lambda X, Y: K[np.ix_(X[:, 0].astype(int), Y[:, 0].astype(int))]  # noqa: E731
    return model(kernel=rows, max_iter=1000).fit(numbers, marked).transduction_


PROPAGATORS = (
    "LPDSK",
    "LabelSpreading rbf",
    "LabelSpreading knn",
    "LabelPropagation rbf",
    "LabelPropagation knn",
)


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
    dataset = load("mnist-str8")
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


def _file(name: str, folder: str = "clustering") -> Path:
    root = os.environ.get("D2KE_DATA")
    if not root:
        raise SystemExit(f"{name} needs the folder of the original data files in D2KE_DATA")
    return Path(root, folder, name)


def _mnist(seed: int) -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(_file("t10k-images-idx3-ubyte.gz", "mnist")) as file:
        X = np.frombuffer(file.read()[16:], np.uint8).reshape(-1, 784)
    with gzip.open(_file("t10k-labels-idx1-ubyte.gz", "mnist")) as file:
        y = np.frombuffer(file.read()[8:], np.uint8)
    return X.astype(np.float64), y


def _alphadigits(seed: int) -> tuple[np.ndarray, np.ndarray]:
    cells = loadmat(_file("binaryalphadigs.mat", "mat_fixtures"))["dat"]
    X = np.array([cell.ravel() for cell in cells.ravel()], dtype=np.float64)
    return X, np.repeat(np.arange(len(cells)), cells.shape[1])


def _objects(name: str, most: int, classes: range | None = None) -> Callable[[], Set]:
    def get() -> Set:
        data = load(name)
        y = np.unique(data.labels, return_inverse=True)[1]
        some = np.arange(len(y)) if classes is None else np.flatnonzero(np.isin(y, classes))
        some = some[_drawn(len(some), most)]
        X = data.objects[some]
        if data.domain == "series":
            (X,) = d2ke.datasets.standardize(X)
        D = d2ke.distance_matrix(X, X, data.distance)
        D = (D + D.T) / 2
        np.fill_diagonal(D, 0.0)
        return Set(D, np.unique(y[some], return_inverse=True)[1])

    return get


def _drawn(n: int, most: int) -> np.ndarray:
    return np.sort(np.random.default_rng(0).permutation(n)[:most])


def read(name: str) -> Set:
    """Return a set."""
    if name in OBJECTS:
        return OBJECTS[name]()
    X, y = POINTS[name](0)
    some = _drawn(len(X), MOST)
    X, y = X[some], np.unique(y[some], return_inverse=True)[1]
    return Set(cdist(X, X), y, X)


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


POINTS: dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]] = {
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
    "mnist": _mnist,
    "alphadigits": _alphadigits,
}
OBJECTS: dict[str, Callable[[], Set]] = {
    "auslan": _objects("auslan", 540, range(20)),
    "pentip": _objects("pentip-trimmed", 1000),
    "japanese-vowels": _objects("japanese-vowels", 640),
    "splice": _objects("splice", 1000),
    "digits-str8": _objects("digits-str8", 1000),
    "mnist-str8": _objects("mnist-str8", 1000),
    "actrecog": _objects("actrecog", 1000),
    "basic-motions": _objects("basic-motions", 1000),
    "gun-point": _objects("gun-point", 1000),
    "auslan-b": _objects("auslan", 540, range(60, 80)),
}
MADE = (
    "iris", "wine", "breast", "digits", "moons", "circles", "ionosphere", "heart", "COIL20", "Yale",
    "lung_small", "auslan",
)  # fmt: skip
OPENED = ("pixraw10P", "mnist", "alphadigits", "pentip", "japanese-vowels", "splice")
HELD_OUT = ("digits-str8", "mnist-str8", "actrecog", "basic-motions", "gun-point", "auslan-b")
DATA = MADE + OPENED + HELD_OUT


if __name__ == "__main__":
    main()
