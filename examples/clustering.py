# SPDX-License-Identifier: BSD-3-Clause
"""Clusters and labels without vectors: DNA and photographs of flowers, by distances only.

The objects are strings of nucleotides (splice) under the Levenshtein distance, and images as sets
of SIFT descriptors (flower) under the modified Hausdorff distance. Three steps, no labels in any:

1. D2KE: features Z from the distances to R random objects, the Gram matrix Z Z'. Random strings
   come from a Markov chain fitted to the strings, random sets hold descriptors of all images;
   gamma is 5 / (median distance).
2. Kernel distance: the distance of two objects in that kernel's space, of the features scaled to
   length 1, and its Gaussian kernel, of the width `bandwidth` for clusters and of a third of
   it for labels, which spread from neighbour to neighbour.
3. Discriminative similarity: clusters by `d2ke.cdsk`, and labels of all objects from five of each
   class by `d2ke.lpdsk`, on the Gram matrix of step 1 or of step 2.

For comparison: k-means on Z, and the nearest labelled object by the plain distance.

    python examples/clustering.py            # needs the data files in D2KE_DATA; some minutes
    python examples/clustering.py --small    # handwritten digits, needs none; seconds
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

import d2ke
from d2ke.cli.clustering import matched
from d2ke.plots.maps import Colouring, coordinates, draw_maps
from d2ke.plots.style import palette

sys.path.insert(0, str(Path(__file__).parent.parent))  # for papers, which is not installed
from papers.datasets import load

GAMMA_SCALE = 5.0
LABELED = 5  # of each class


def main(
    names: tuple[str, ...] = ("splice", "flower"),
    R: int = 1024,
    n_draws: int = 5,
    n: int | None = None,
    folder: Path | None = None,
) -> dict[tuple[str, str], tuple[float, float]]:
    """Print a table, draw a picture for each data set, and return (accuracy, NMI) of each row."""
    results = {}
    print(f"{'data':14} {'method':42} {'accuracy %':>14} {'NMI':>14}")
    for name in names:
        data = load(name)
        some = np.random.default_rng(0).permutation(len(data.objects))[:n]
        X = data.objects[some]
        classes, y = np.unique(data.labels[some], return_inverse=True)
        Z = features(X, data, R)
        wide = {"D2KE Gram matrix": Z @ Z.T, "Gaussian of kernel distance": of_kernel_distance(Z)}
        narrow = wide | {"Gaussian of kernel distance": of_kernel_distance(Z, 1 / 3)}
        clusterings = {"k-means on Z": [kmeans(Z, len(classes), seed) for seed in range(n_draws)]}
        for gram, K in wide.items():
            found = [d2ke.cdsk(K, len(classes), seed=seed).labels for seed in range(n_draws)]
            clusterings[f"CDSK, {gram}"] = found
        for method, labelings in clusterings.items():
            right = [d2ke.discriminative.clustering_accuracy(y, labels) for labels in labelings]
            nmi = [
                d2ke.discriminative.normalized_mutual_information(y, labels) for labels in labelings
            ]
            results[name, method] = show(name, method, list(zip(right, nmi, strict=True)))
        clusters = labelings[0]

        # Label propagation: each method gets the same labels.
        values = {}
        for seed in range(n_draws):
            partial = np.where(drawn(y, seed), y, -1)
            labelings = {"nearest labelled object": nearest(X, data.distance, partial)}
            for gram, K in narrow.items():
                labelings[f"LPDSK, {gram}"] = d2ke.lpdsk(K, partial).labels
            rest = partial < 0
            for method, labels in labelings.items():
                right = float(np.mean(labels[rest] == y[rest]))
                nmi = d2ke.discriminative.normalized_mutual_information(y[rest], labels[rest])
                values.setdefault(method, []).append((right, nmi))
        for method in values:
            results[name, method] = show(name, method, values[method])

        if folder is not None:
            names_of_classes = [str(label) for label in classes]
            numbers = [f"cluster {i}" for i in range(clusters.max() + 1)]
            colours, given = palette(len(classes)), partial >= 0
            places_of = matched(clusters, y)
            of_clusters = [colours[i] for i in places_of]
            colourings = [
                Colouring("clusters (CDSK)", clusters, numbers, of_clusters, numbers=places_of),
                Colouring("propagated labels (LPDSK)", labels, names_of_classes, colours, given),
                Colouring("classes", y, names_of_classes, colours),
            ]
            places = coordinates(wide["Gaussian of kernel distance"], None)
            file = folder / f"clustering-{name}.png"
            draw_maps(f"{name}: {len(X)} {data.domain}", places, colourings).savefig(file, dpi=150)
            print(f"map: {file}")
    return results


def features(X: d2ke.Objects, data: d2ke.datasets.Dataset, R: int) -> np.ndarray:
    """Return D2KE features from random objects and a gamma that are chosen without labels."""
    if data.domain == "strings":
        median = int(np.median(X.lengths))
        span = (3 * median // 4, 5 * median // 4)
        omega = d2ke.samplers.markov_strings(R, X, order=3, length=span, seed=0)
    else:
        omega = d2ke.samplers.resampled(R, X, size=(3, 15), seed=0)
    D = d2ke.distance_matrix(X, omega, data.distance)
    return d2ke.d2ke_features(D, GAMMA_SCALE / np.median(D)).astype(np.float64)


def of_kernel_distance(Z: np.ndarray, width: float = 1.0) -> np.ndarray:
    """Return the Gaussian kernel of the distances in the space of the normalised D2KE kernel."""
    unit = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    return d2ke.discriminative.gaussian_gram(unit, h=width * d2ke.discriminative.bandwidth(unit))


def kmeans(Z: np.ndarray, n_clusters: int, seed: int) -> np.ndarray:
    """Return clusters by k-means."""
    return KMeans(n_clusters, n_init=5, random_state=seed).fit(Z).labels_


def drawn(y: np.ndarray, seed: int) -> np.ndarray:
    """Mark LABELED objects of each class."""
    rng = np.random.default_rng(seed)
    marked = np.zeros(len(y), bool)
    for label in range(y.max() + 1):
        marked[rng.permutation(np.flatnonzero(y == label))[:LABELED]] = True
    return marked


def nearest(X: d2ke.Objects, distance: str, y: np.ndarray) -> np.ndarray:
    """Return the label of the nearest labelled object."""
    known = np.flatnonzero(y >= 0)
    return y[known][d2ke.distance_matrix(X, X[known], distance).argmin(axis=1)]


def show(name: str, method: str, values: list[tuple[float, float]]) -> tuple[float, float]:
    """Print means and deviations, and return the means."""
    (accuracy, nmi), (accuracy_sd, nmi_sd) = np.mean(values, axis=0), np.std(values, axis=0)
    print(
        f"{name:14} {method:42} {100 * accuracy:6.2f} ± {100 * accuracy_sd:5.2f} "
        f"{nmi:6.3f} ± {nmi_sd:.3f}",
        flush=True,
    )
    return float(accuracy), float(nmi)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="300 digits, 256 features, one draw")
    parser.add_argument("--out", type=Path, default=Path(), help="folder of the maps (default .)")
    arguments = parser.parse_args()
    if arguments.small:
        main(("digits-str8", "digits-points"), R=256, n_draws=1, n=300, folder=arguments.out)
    else:
        main(folder=arguments.out)
