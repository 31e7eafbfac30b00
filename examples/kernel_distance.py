# SPDX-License-Identifier: BSD-3-Clause
"""Handwritten digits as point sets and as curves, compared by the kernel distance.

The points are the pixels with ink; the curves are the outlines of the ink, counter-clockwise
around it. Three distances compare the same images: the modified Hausdorff distance (MHD) and the
kernel distance of the points, and the current distance of the outlines, which sees directions
too. On each of them run

- KNN: k nearest neighbours;
- SVM: the kernel exp(-gamma D^2), which is positive definite for the kernel distance but not for
  MHD;
- D2KE: a linear model on features exp(-gamma D(x, omega)), where omega are random sets of points
  or, for outlines, random polygons.

All parameters, also the scale sigma of the kernel, are chosen by cross-validation on the
training part. The picture shows where two digits differ (the witness function), and a digit that
was turned and moved, and aligned again.

    python examples/kernel_distance.py            # five divisions, ten minutes on 4 cores
    python examples/kernel_distance.py --small    # one division, fewer parameters
"""

from __future__ import annotations

import argparse
from functools import partial

import contourpy
import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

import d2ke

SIGMAS = (0.5, 0.75, 1.0, 1.5)  # in pixels
NEIGHBORS = {"k": (1, 3, 5, 7)}
SVM = {"gamma_scale": (0.03, 0.1, 0.3, 1.0, 3.0, 10.0), "C": (1.0, 10.0, 100.0)}
SIZES = ((3, 8), (6, 16))  # of the random sets and polygons
R = 512
N_FOLDS = 3


def main(n_divisions: int, sigmas: tuple[float, ...], picture: str) -> dict[str, list[float]]:
    """Print a table of accuracies, draw the picture, and return the accuracies."""
    digits = d2ke.datasets.load("digits-points")
    points, labels = digits.objects, digits.labels
    outlines = [outline(image) for image in load_digits().images]
    random_points = [
        d2ke.samplers.random_sets(R, 2, size=size, seed=0, region="box", high=7.0) for size in SIZES
    ]
    random_outlines = [[d2ke.curve(p, closed=True) for p in sets] for sets in random_points]
    # Of all digits, and of all digits to random objects; for every scale and size.
    plain = partial(d2ke.distance_matrix, points)
    current = partial(d2ke.kernel_distance_matrix, outlines)
    distances = {
        "MHD": (
            [plain(distance="mhd")],
            [plain(omega, "mhd") for omega in random_points],
        ),
        "kernel distance": (
            [plain(distance="kernel", sigma=s) for s in sigmas],
            [plain(omega, "kernel", sigma=s) for s in sigmas for omega in random_points],
        ),
        "current distance": (
            [current(sigma=s) for s in sigmas],
            [current(omega, sigma=s) for s in sigmas for omega in random_outlines],
        ),
    }
    accuracies: dict[str, list[float]] = {}
    for seed in range(n_divisions):
        train, test = digits.split(seed)
        for name, (among, to_random) in distances.items():
            for method in (by_neighbors, by_machine, by_features):
                matrices = to_random if method is by_features else among
                accuracy = method(matrices, labels, train, test)
                accuracies.setdefault(f"{method.__doc__:5}{name}", []).append(accuracy)
    for name, values in accuracies.items():
        print(f"{name:22} {np.mean(values):6.2f} +- {np.std(values):.2f} %")
    draw(points, labels, outlines, picture)
    return accuracies


def outline(image: np.ndarray) -> d2ke.Measure:
    """Return the lines along which the ink is half as dark as can be, closed, ink on the left."""
    padded = np.pad(image, 1)
    lines = contourpy.contour_generator(z=padded).lines(8.0)
    parts = [d2ke.curve(line - 1) for line in lines]
    return d2ke.Measure(
        np.concatenate([part.points for part in parts]),
        np.concatenate([part.vectors for part in parts]),
        "curve",
    )


def by_neighbors(matrices, labels, train, test):
    """KNN"""  # noqa: D400
    result, D = best(partial(by_distances, labels, train, method="knn", grid=NEIGHBORS), matrices)
    predicted = d2ke.knn_predict(labels[train], D[np.ix_(test, train)], result.parameters["k"])
    return 100 * np.mean(predicted == labels[test])


def by_machine(matrices, labels, train, test):
    """SVM"""  # noqa: D400
    result, D = best(partial(by_distances, labels, train, method="dsk_rbf", grid=SVM), matrices)
    gamma, C = result.parameters["gamma"], result.parameters["C"]
    K = d2ke.dsk_gram(D[:, train], gamma=gamma)
    model = d2ke.svmtrain(labels[train], K[train], f"-t 4 -c {C} -q")
    return d2ke.svmpredict(labels[test], K[test], model)[1][0]


def by_features(matrices, labels, train, test):
    """D2KE"""  # noqa: D400

    def search(D):
        values = D.tolist()
        given = {"distance": lambda i, j: values[i][j], "sampler": lambda R, seed: range(R)}
        return d2ke.search(labels[train], train, grid={"R": [R]}, n_folds=N_FOLDS, **given)

    result, D = best(search, matrices)
    chosen = result.parameters
    Z = d2ke.d2ke_features(D, chosen["gamma"])
    Z = d2ke.embedding.Scaling.fit(Z[train], chosen["scaling"]).apply(Z)
    model = d2ke.train_classifier(labels[train], Z[train], loss=chosen["loss"], C=chosen["C"])
    return d2ke.predict(labels[test], Z[test], model)[1][0]


def by_distances(labels, train, D, **how):
    """Search with the distances of the training part."""
    within = D[np.ix_(train, train)]
    return d2ke.search(labels[train], train, distance="mhd", within=within, n_folds=N_FOLDS, **how)


def best(search, matrices):
    """Search with each matrix of distances; return what was best, and its matrix."""
    return max(((search(D), D) for D in matrices), key=lambda pair: pair[0].accuracy)


def draw(points, labels, outlines, picture):
    """Draw where a 3 and an 8 differ, and an 8 that was moved and aligned again."""
    three, eight = (int(np.flatnonzero(labels == digit)[0]) for digit in (3, 8))
    figure = Figure(figsize=(12, 4.2), layout="constrained")
    witness, before, after = figure.subplots(1, 3)
    x, y = np.meshgrid(np.linspace(-1, 8, 91), np.linspace(-1, 8, 91))
    places = np.stack([x.ravel(), y.ravel()], axis=1)
    inks = {i: points[i][:, ::-1] for i in (three, eight)}  # columns to the right, rows down
    # Shares of the ink, smoothed by the kernel: the difference is the witness of the distance.
    smooth = [
        np.exp(-cdist(places, inks[i], "sqeuclidean") / 2).mean(axis=1) for i in (three, eight)
    ]
    gap = (smooth[0] - smooth[1]).reshape(x.shape)
    limit = np.abs(gap).max()
    drawn = witness.contourf(x, y, gap, np.linspace(-limit, limit, 17), cmap="RdBu_r")
    figure.colorbar(drawn, ax=witness, shrink=0.8, ticks=[-0.05, 0, 0.05])
    for i, marker in ((three, "o"), (eight, "x")):
        witness.plot(*inks[i].T, marker, color="black", markersize=5, fillstyle="none",
                     label=f"ink of {labels[i]}")  # fmt: skip
    witness.set_title("Where they differ")

    P = outlines[eight].points
    turn = np.radians(70)
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    Q = (P - P.mean(axis=0)) @ R.T + [9.0, 1.0]
    Q += np.random.default_rng(0).normal(scale=0.1, size=Q.shape)
    result = d2ke.kernel_align(P, Q, sigma=0.5, motion="rigid")
    moved = Q @ result.rotation.T + result.translation
    for axes, other, title in (
        (before, Q, f"Turned and moved: distance {result.distance_before:.2f}"),
        (after, moved, f"Aligned: distance {result.distance:.2f}"),
    ):
        axes.plot(*P.T, "o", color="black", fillstyle="none", markersize=5, label="an 8")
        axes.plot(*other.T, "x", color="#d55e00", markersize=5, label="its copy, with noise")
        axes.set_title(title)
        axes.set(xlim=(0, 14), ylim=(-3, 10))
    for axes in (witness, before, after):
        axes.set_aspect("equal")
        axes.invert_yaxis()
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2, frameon=False)
    figure.savefig(picture, dpi=100)
    print(f"picture: {picture}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="one division, fewer parameters")
    parser.add_argument("--picture", default="kernel_distance.png", help="file of the picture")
    settings = parser.parse_args()
    size = (1, SIGMAS[1:2]) if settings.small else (5, SIGMAS)
    main(*size, picture=settings.picture)
