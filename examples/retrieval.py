# SPDX-License-Identifier: BSD-3-Clause
"""Retrieval of digits by the earth mover's distance and by the kernel distance.

Each digit is a set of points, the pixels with ink, of total weight 1. For every digit the others
are ranked by their distance to it: how alike are the two rankings, how many of the nearest are the
same digit, and how long does it take? The kernel distance is used twice, as it is and by features,
with which a digit is a vector.

    python examples/retrieval.py            # 1797 digits, a minute on one thread
    python examples/retrieval.py --small    # 300 digits
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

import d2ke

SIGMA = 1.0  # in pixels
NEAREST = (1, 2, 5, 10, 20, 50)


def main(n: int, picture: str) -> dict[str, dict[str, float]]:
    """Print a table of the distances, draw the picture, and return the table's numbers."""
    digits = d2ke.datasets.load("digits-points")
    sets, labels = list(digits.objects)[:n], np.asarray(digits.labels)[:n]
    weights = [np.full(len(points), 1 / len(points)) for points in sets]
    options = {"sigma": SIGMA, "weights_x": weights}
    makers = {
        "EMD": lambda: d2ke.distance_matrix(d2ke.pack(sets, weights=weights), distance="emd"),
        "kernel distance": lambda: d2ke.kernel_distance_matrix(sets, **options),
        "kernel distance, features": lambda: by_features(sets, weights),
    }
    matrices, table = {}, {}
    for name, make in makers.items():
        start = perf_counter()
        matrices[name] = make()
        seconds = perf_counter() - start
        table[name] = {
            "seconds": seconds,
            "correlation": rank_correlation(matrices["EMD"], matrices[name]),
            **{f"precision at {k}": precision(matrices[name], labels, k) for k in NEAREST},
        }
    print(f"{'':26}{'seconds':>8}{'rank corr.':>11}{'at 1':>8}{'at 10':>8}")
    for name, row in table.items():
        shown = "".join(f"{100 * row[f'precision at {k}']:7.1f}%" for k in (1, 10))
        print(f"{name:26}{row['seconds']:8.2f}{row['correlation']:11.3f}{shown}")
    draw(sets, labels, matrices, table, picture)
    return table


def by_features(sets, weights):
    """Return the distances of the sets' feature vectors: one vector for each set."""
    Z = d2ke.measures.kernel_features(sets, sigma=SIGMA, weights=weights, n_features=256)
    return cdist(Z, Z)


def ranks(D):
    """Return for each digit the ranks of the others' distances to it."""
    n = len(D)
    return rankdata(D[~np.eye(n, dtype=bool)].reshape(n, n - 1), axis=1)


def rank_correlation(D, E):
    """Return the mean over all digits of Spearman's correlation of two distances to the others."""
    a, b = (r - r.mean(axis=1, keepdims=True) for r in (ranks(D), ranks(E)))
    return float(((a * b).sum(axis=1) / np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))).mean())


def nearest(D, k):
    """Return each digit's k nearest others."""
    D = D.copy()
    np.fill_diagonal(D, np.inf)
    return np.argsort(D, axis=1, kind="stable")[:, :k]


def precision(D, labels, k):
    """Return the share of the same digit among the k nearest."""
    return float((labels[nearest(D, k)] == labels[:, None]).mean())


def draw(sets, labels, matrices, table, picture):
    """Draw the distances against each other, the precision, and what is nearest to one digit."""
    emd, kernel = matrices["EMD"], matrices["kernel distance"]
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    plots, gallery = figure.subfigures(1, 2, width_ratios=(2.2, 1))
    pairs, curves = plots.subplots(1, 2)
    i, j = np.triu_indices(min(len(emd), 200), 1)
    for colour, label in (("#999999", "other digits"), ("#d55e00", "same digit")):
        which = (labels[i] == labels[j]) == (label == "same digit")
        pairs.plot(emd[i, j][which], kernel[i, j][which], ",", color=colour)
        pairs.plot([], [], "o", color=colour, label=label)
    pairs.set(xlabel="earth mover's distance, pixels", ylabel="kernel distance")
    correlation = table["kernel distance"]["correlation"]
    pairs.set_title(f"Mean rank correlation {correlation:.2f}")
    pairs.legend(frameon=False)
    for (name, row), style in zip(table.items(), ("k-", "C1-", "C1:"), strict=True):
        shares = [100 * row[f"precision at {k}"] for k in NEAREST]
        curves.semilogx(NEAREST, shares, style, label=f"{name} ({row['seconds']:.1f} s)")
    curves.set(xlabel="nearest digits", ylabel="same digit, %", xticks=NEAREST, xticklabels=NEAREST)
    curves.minorticks_off()
    curves.legend(frameon=False)
    curves.set_title("What is retrieved")
    query = int(np.flatnonzero(labels == 8)[1])
    panels = gallery.subplots(2, 5)
    for row, (name, D) in zip(panels, (("EMD", emd), ("kernel", kernel)), strict=True):
        for axes, which in zip(row, (query, *nearest(D, 4)[query]), strict=True):
            axes.plot(*sets[which][:, ::-1].T, "ks", markersize=2.5)
            axes.set(xlim=(-1, 8), ylim=(8, -1), xticks=[], yticks=[], aspect="equal")
            axes.set_title(f"{labels[which]}", fontsize=9)
        row[0].set_ylabel(name)
        row[0].set_title("query", fontsize=9)
    figure.savefig(picture, dpi=100)
    print(f"picture: {picture}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="300 digits")
    parser.add_argument("--picture", default="retrieval.png", help="file of the picture")
    settings = parser.parse_args()
    main(300 if settings.small else 1797, settings.picture)
