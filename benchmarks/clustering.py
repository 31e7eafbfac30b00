# SPDX-License-Identifier: BSD-3-Clause
"""CDSK and LPDSK with the widths that they choose, against scikit-learn's methods.

    python -m benchmarks.clustering [--data iris wine ...] [--seeds 3] [--draws 5]
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

import gzip
import os
import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
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
    parser = measure.parser(__doc__)
    parser.add_argument("part", nargs="?", choices=("small", "large"), default="small")
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA), metavar="NAME")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=5, help="0: no label propagation")
    arguments = parser.parse_args()
    if arguments.part == "large":
        large()
        return
    # About convergence, and of isolated objects; the results are what is compared.
    warnings.filterwarnings("ignore", module="sklearn")
    sets = {name: read(name) for name in arguments.data}
    measure.header(
        "data", "n", "classes", *(f"{m} {v}" for m in CLUSTERERS for v in ("ACC", "NMI"))
    )
    found = {}
    for name, data in sets.items():
        found[name] = clusterings(data, arguments.seeds)
        cells = [f"{v:.3f}" for pair in found[name].values() for v in pair]
        measure.row(name, len(data.y), data.y.max() + 1, *cells)
    print()
    for title, names in GROUPS.items():
        rows = [found[name] for name in names if name in found]
        for peers in (("Spectral rbf", "Spectral knn"), ("Spectral rbf",), ("Spectral knn",)):
            won = sum(row["CDSK"][1] >= max(row[peer][1] for peer in peers) - EQUAL for row in rows)
            print(f"{title}: NMI of CDSK at or above {' and '.join(peers)}: {won} of {len(rows)}")
    if arguments.draws:
        propagation_tables(sets, arguments.draws)


def propagation_tables(sets: dict[str, Set], n_draws: int) -> None:
    """Print the table of label propagation and how often ours is ahead."""
    gains: dict[tuple[str, int], float] = {}
    print()
    measure.header("data", "labels per class", *PROPAGATORS)
    for name, data in sets.items():
        for k, row in propagations(data, n_draws).items():
            ours, *others = row.values()
            gains[name, k] = ours - max(others)
            measure.row(name, k, *(f"{v:.1f}" for v in row.values()))
    print()
    for title, names in GROUPS.items():
        for k in N_LABELS:
            own = [gains[name, k] for name in names if (name, k) in gains]
            if own:
                won = sum(gain >= -100 * EQUAL for gain in own)
                print(
                    f"{title}, {k} labels: LPDSK at or above all: {won} of {len(own)}, "
                    f"median gain {np.median(own):.1f}"
                )


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
            results[method].append(
                (np.nan, np.nan) if labels is None else _agreement(data.y, labels)
            )
    return {method: tuple(np.mean(values, axis=0)) for method, values in results.items()}


def _agreement(y: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    return d2ke.discriminative.clustering_accuracy(
        y, labels
    ), d2ke.discriminative.normalized_mutual_information(y, labels)


def _cdsk(data: Set, h: float, c: int, seed: int, **options: Any) -> np.ndarray:
    return d2ke.cdsk(n_clusters=c, seed=seed, **options, **data.argument).labels


def _spectral(K: np.ndarray, c: int, seed: int) -> np.ndarray:
    return SpectralClustering(c, affinity="precomputed", random_state=seed).fit(K).labels_


def _spectral_knn(data: Set, h: float, c: int, seed: int) -> np.ndarray:
    one = data.neighbors(min(10, len(data.y)))  # as of affinity="nearest_neighbors"
    return _spectral((one + one.T) / 2, c, seed)


def _kmeans(data: Set, h: float, c: int, seed: int) -> np.ndarray | None:
    if data.points is None:
        return None
    return KMeans(c, n_init=10, random_state=seed).fit(data.points).labels_


CLUSTERERS: dict[str, Callable[..., np.ndarray | None]] = {
    "CDSK": _cdsk,
    "CDSK, 1 round": partial(_cdsk, max_iter=1),
    "Spectral rbf": lambda data, h, c, seed: _spectral(data.gaussian(h), c, seed),
    "Spectral knn": _spectral_knn,
    "KMeans": _kmeans,
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
            for method, choice in PROPAGATORS.items():
                labels = result.labels
                if choice is not None:
                    labels = _scikit(choice[0], one if choice[1] else K, marked)
                right = labels[marked < 0] == data.y[marked < 0]
                rows[method].append(100 * float(right.mean()))
        results[k] = {method: float(np.mean(values)) for method, values in rows.items()}
    return results


def _scikit(model: Any, K: np.ndarray, marked: np.ndarray) -> np.ndarray:
    # A kernel as a function of serial numbers: the models take no Gram matrix.
    numbers = np.arange(len(K))[:, None]
    rows = lambda X, Y: K[np.ix_(X[:, 0].astype(int), Y[:, 0].astype(int))]  # noqa: E731
    return model(kernel=rows, max_iter=1000).fit(numbers, marked).transduction_


# A model of scikit-learn's, and whether of nearest neighbours; None: ours.
PROPAGATORS: dict[str, tuple[Any, bool] | None] = {
    "LPDSK": None,
    "LabelSpreading rbf": (LabelSpreading, False),
    "LabelSpreading knn": (LabelSpreading, True),
    "LabelPropagation rbf": (LabelPropagation, False),
    "LabelPropagation knn": (LabelPropagation, True),
}


def large() -> None:
    """Print time and memory for features of many objects, and time for a dense program."""
    measure.header("method", "seconds", "processor seconds", "peak MB", "rounds", "ACC", "NMI")
    for method in LARGE:
        measure.row(
            *measure.in_child("benchmarks.clustering:run_large", method, isa=isa.selected())
        )
    print(f"\nThe quadratic program of {N_WEIGHTS} weights, to a gap of 1e-6:\n")
    measure.header("kernel", "lam / n", "seconds", "steps", "weights above 0")
    X, y = _mnist_features(N_WEIGHTS)
    kernels = {"features": X @ X.T}
    for part in (1.0, 0.5, 0.25):
        kernels[f"Gaussian, {part:g} bandwidth"] = d2ke.discriminative.gaussian_gram(
            X, h=part * d2ke.discriminative.bandwidth(X)
        )
    for name, K in kernels.items():
        for lam in (0.5, 0.25):
            problem = DenseKernel(K).hard(y, 0.5, lam * N_WEIGHTS, 2.0)
            seconds, found = measure.least(
                partial(d2ke.discriminative.simplex_qp, problem.H, problem.f)
            )
            used = (found.alpha > 0).sum()
            measure.row(name, lam, f"{seconds:.2f}", found.n_steps, used)
            if not found.converged:
                raise AssertionError(f"stopped at a gap of {found.gap}")


def run_large(method: str) -> list[str]:
    """Return a row of the table."""
    Z, y = _mnist_features(N_LARGE)
    begin = time.perf_counter()
    cpu, found = measure.least(lambda: LARGE[method](Z, y))
    seconds = time.perf_counter() - begin
    peak = measure.peak_kilobytes() / 1024
    shown = f"{seconds:.1f}", f"{cpu:.1f}", f"{peak:.0f}", str(len(found.objectives))
    return [method, *shown, *(f"{v:.3f}" for v in _agreement(y, found.labels))]


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
    omega = d2ke.samplers.random_strings(N_FEATURES, dataset.alphabet, length=(10, 40), seed=0)
    D = d2ke.distance_matrix(X, omega, "levenshtein")
    return d2ke.d2ke_features(D, GAMMA / np.median(D)), dataset.labels[:n]


def _standardised(X: np.ndarray) -> np.ndarray:
    X = np.asarray(X, dtype=np.float64)
    varied = X[:, X.std(axis=0) > 0]
    return (varied - varied.mean(axis=0)) / varied.std(axis=0)


def _bundled(load: Callable[[], Any], standardise: bool) -> tuple[np.ndarray, np.ndarray]:
    data = load()
    return _standardised(data.data) if standardise else data.data, data.target


def _file(name: str, folder: str = "clustering") -> Path:
    root = os.environ.get("D2KE_DATA")
    if not root:
        raise SystemExit(f"{name} needs the folder of the original data files in D2KE_DATA")
    return Path(root, folder, name)


def _mnist() -> tuple[np.ndarray, np.ndarray]:
    parts = [
        np.frombuffer(gzip.decompress(_file(f"t10k-{name}-ubyte.gz", "mnist").read_bytes()), "u1")
        for name in ("images-idx3", "labels-idx1")
    ]
    return parts[0][16:].reshape(-1, 784).astype(np.float64), parts[1][8:]


def _alphadigits() -> tuple[np.ndarray, np.ndarray]:
    cells = loadmat(_file("binaryalphadigs.mat", "mat_fixtures"))["dat"]
    X = np.array([cell.ravel() for cell in cells.ravel()], dtype=np.float64)
    return X, np.repeat(np.arange(len(cells)), cells.shape[1])


def _objects(name: str, most: int, classes: range | None = None) -> Set:
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


def _drawn(n: int, most: int) -> np.ndarray:
    return np.sort(np.random.default_rng(0).permutation(n)[:most])


def read(name: str) -> Set:
    """Return a set."""
    if name not in POINTS:
        return _objects(*OBJECTS.get(name, (name, 1000)))
    X, y = POINTS[name]()
    some = _drawn(len(X), MOST)
    X, y = X[some], np.unique(y[some], return_inverse=True)[1]
    return Set(cdist(X, X), y, X)


def _matlab(name: str) -> tuple[np.ndarray, np.ndarray]:
    variables = loadmat(_file(f"{name}.mat"))
    return variables["X"].astype(np.float64), variables["Y"].ravel()


def _arff(name: str) -> tuple[np.ndarray, np.ndarray]:
    data = re.split(r"(?im)^@data\s*$", _file(f"{name}.arff").read_text("utf-8"))[1]
    rows = [line.split(",") for line in data.split("\n") if line and line[0] != "%"]
    X = np.array([[float(value) for value in row[:-1]] for row in rows])
    return _standardised(X), np.array([row[-1].strip() for row in rows])


moons = partial(datasets.make_moons, N_POINTS, noise=0.1, random_state=0)
circles = partial(datasets.make_circles, N_POINTS, noise=0.05, factor=0.5, random_state=0)
POINTS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "iris": partial(_bundled, datasets.load_iris, True),
    "wine": partial(_bundled, datasets.load_wine, True),
    "breast": partial(_bundled, datasets.load_breast_cancer, True),
    "digits": partial(_bundled, datasets.load_digits, False),
    "moons": moons,
    "circles": circles,
    "ionosphere": partial(_arff, "ionosphere"),
    "heart": partial(_arff, "heart.statlog"),
    **{name: partial(_matlab, name) for name in ("COIL20", "Yale", "pixraw10P", "lung_small")},
    "mnist": _mnist,
    "alphadigits": _alphadigits,
}
# Of the others, which are no points: the data set, how many objects at most, and of which classes.
OBJECTS: dict[str, tuple[Any, ...]] = {
    "auslan": ("auslan", 540, range(20)),
    "auslan-b": ("auslan", 540, range(60, 80)),
    "pentip": ("pentip-trimmed", 1000),
}
MADE = (
    "iris", "wine", "breast", "digits", "moons", "circles", "ionosphere", "heart", "COIL20", "Yale",
    "lung_small", "auslan",
)  # fmt: skip
OPENED = ("pixraw10P", "mnist", "alphadigits", "pentip", "japanese-vowels", "splice")
HELD_OUT = ("digits-str8", "mnist-str8", "actrecog", "basic-motions", "gun-point", "auslan-b")
GROUPS = {"made with": MADE, "opened": OPENED, "held out": HELD_OUT}
DATA = MADE + OPENED + HELD_OUT


if __name__ == "__main__":
    main()
