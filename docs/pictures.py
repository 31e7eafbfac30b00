# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of the start, Distances, Windows and "How sure is it?".

``python docs/pictures.py`` writes them.

The data are installed with d2ke: the Japanese vowels (series) and splice (DNA strings).
"""

import runpy
from pathlib import Path
from unittest import mock

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import LogLocator
from scipy.special import softmax

import d2ke
from d2ke.models.calibration import reliability

HERE = Path(__file__).parent / "start"
PAPER = {"dpi": 80, "facecolor": "white", "metadata": {"Software": None}}
TWO = {"figsize": (9, 3.4), "layout": "constrained", "gridspec_kw": {"wspace": 0.08}}
COLOURS = plt.get_cmap("tab10").colors


def vowels():
    """Return the spoken vowels as series, and the speakers as numbers."""
    data = d2ke.datasets.load("japanese-vowels")
    return data.objects, np.unique(data.labels, return_inverse=True)[1]


def save(figure, name):
    """Write one picture."""
    figure.savefig(HERE / name, bbox_inches="tight", **PAPER)
    plt.close(figure)


def overview():
    """Draw objects, their distances to random objects, and a map of their features."""
    X, y = vowels()
    omega = d2ke.samplers.segments(256, X, length=(3, 12), seed=0)
    D = d2ke.distance_matrix(X, omega, "dtw")
    Z = d2ke.d2ke_features(D, gamma=1 / np.median(D))
    figure, (left, middle, right) = plt.subplots(1, 3, **(TWO | {"figsize": (11, 3.2)}))
    rows = np.concatenate([np.flatnonzero(y == speaker)[:3] for speaker in range(3)])
    for shift, i in enumerate(rows):
        left.plot(X[i][:, 0] + 1.2 * shift, color=COLOURS[y[i]], linewidth=1.5)
    left.set(title="objects: series of unequal length", xlabel="time", yticks=[])
    rows = np.concatenate([np.flatnonzero(y == speaker)[:10] for speaker in range(3)])
    middle.imshow(D[rows, :30], cmap="viridis_r", aspect="auto")
    middle.set(title="distances to random objects", xlabel="random object", ylabel="object")
    U, s, _ = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    for speaker in range(9):
        right.scatter(*(U[y == speaker, :2] * s[:2]).T, s=9, color=COLOURS[speaker])
    right.set(title="features: a map, one colour a speaker", xticks=[], yticks=[])
    save(figure, "overview.png")


def distances():
    """Draw two warped series, and the distances of thirty, ordered by speaker."""
    X, y = vowels()
    a, b = X[0], X[1]
    path = d2ke.align(a, b, "dtw")
    figure, (left, right) = plt.subplots(1, 2, **TWO)
    left.plot(a[:, 0] + 2, marker=".", color=COLOURS[0])
    left.plot(b[:, 0], marker=".", color=COLOURS[1])
    for i, j in path.pairs:
        left.plot([i, j], [a[i, 0] + 2, b[j, 0]], color="0.7", linewidth=0.8, zorder=0)
    left.set(title=f"dtw = {path.value:.2f}: the sum of the grey steps", xlabel="time", yticks=[])
    rows = np.concatenate([np.flatnonzero(y == speaker)[:10] for speaker in range(3)])
    shown = right.imshow(d2ke.distance_matrix(X[rows], distance="dtw"), cmap="viridis_r")
    right.set(title="distances of 30 series, 10 of each speaker")
    figure.colorbar(shown)
    save(figure, "distances.png")


def random_objects():
    """Draw two random series, and how far the series of three speakers are from them."""
    X, y = vowels()
    omega = d2ke.samplers.segments(2, X, length=(4, 12), seed=3)
    D = d2ke.distance_matrix(X, omega, "dtw")
    figure, (left, right) = plt.subplots(1, 2, **TWO)
    for i in (0, 30, 60):
        left.plot(
            X[i][:, 0], color=COLOURS[y[i]], linewidth=1, label=f"object of speaker {y[i] + 1}"
        )
    for j, style in enumerate(("--", ":")):
        random = omega[j][:, 0]
        left.plot(random, color="black", linestyle=style, linewidth=2.5, label=f"omega {j + 1}")
    left.set(title="two random objects", xlabel="time", yticks=[])
    left.legend(fontsize=7)
    for speaker in range(3):
        name = f"speaker {speaker + 1}"
        right.scatter(*D[y == speaker].T, s=12, color=COLOURS[speaker], label=name)
    right.set(title="each object by its two distances")
    right.set(xlabel="distance to omega 1", ylabel="distance to omega 2")
    right.legend(fontsize=7)
    save(figure, "random-objects.png")


def families():
    """Draw what distances of each family compare in the same two objects."""
    place = np.arange(24)
    x = np.sin(place / 3.0)[:, None]
    y = np.concatenate([np.zeros(3), np.sin(np.arange(24) / 3.0), [0.0]])[:, None]
    y[14] += 3.0  # an outlier
    rng = np.random.default_rng(0)
    cloud, other = rng.normal(size=(9, 2)), rng.normal(size=(7, 2)) * 0.8 + [2.2, 0.6]
    figure, axes = plt.subplots(2, 4, **(TWO | {"figsize": (13, 5.6)}))
    for ax, (title, name, options) in zip(
        axes.flat,
        (
            ("dtw: warps freely", "dtw", {}),
            ("msm: each step costs c", "msm", {"c": 0.5}),
            ("erp: leaves values out", "erp", {}),
            ("lcss: only pairs within epsilon", "lcss", {"epsilon": 0.3}),
            ("frechet: the worst pair alone", "frechet", {}),
        ),
        strict=False,
    ):
        d2ke.align(x, y, name, **options).plot(ax)
        ax.set_title(title)
    d2ke.align("GATTACAGATA", "GCATGCATA", "levenshtein").plot(axes.flat[5])
    axes.flat[5].set_title("levenshtein: edits letters")
    for ax, title, name in (
        (axes.flat[6], "mhd: each vector to its nearest", "mhd"),
        (axes.flat[7], "emd: moves all weight", "emd"),
    ):
        d2ke.align(cloud, other, name).plot(ax)
        ax.set_title(title)
    save(figure, "families.png")


def accuracy(y, train, test, Z):
    """Return the percentage of test labels that a linear model of the features has right."""
    Z = d2ke.embedding.Scaling.fit(Z[train], "standard").apply(Z)
    model = d2ke.train_least_squares(y[train], Z[train], C=1.0)
    return d2ke.predict(y[test], Z[test], model)[1][0]


def strings():
    """Return the distances of splice's strings to random ones, labels and a division."""
    data = d2ke.datasets.load("splice")
    train, test = data.split(seed=0)
    omega = d2ke.samplers.markov_strings(2048, data.objects[train], length=(60, 100), seed=0)
    return d2ke.distance_matrix(data.objects, omega, "levenshtein"), data.labels, train, test


def gammas(D, y, train, test):
    """Draw what exp(-gamma d) makes of distances, and accuracy against gamma."""
    figure, (left, right) = plt.subplots(1, 2, **TWO)
    left.hist(D[::10].ravel(), bins=np.arange(25, 90) - 0.5, color="0.85", density=True)
    left.set(title="distances (grey) and features", xlabel="distance d", yticks=[])
    curves = left.twinx()
    grid = np.linspace(0, 90, 200)
    for gamma in (0.001, 0.03, 0.3):
        curves.plot(grid, np.exp(-gamma * grid), label=f"gamma = {gamma}")
    curves.set(ylabel="exp(-gamma d)", ylim=(0, 1.02))
    curves.legend(fontsize=7)
    values = np.geomspace(0.001, 3, 12)
    found = [accuracy(y, train, test, d2ke.d2ke_features(D[:, :1024], gamma)) for gamma in values]
    right.semilogx(values, found, marker="o")
    right.set(title="DNA strings, R = 1024", xlabel="gamma", ylabel="accuracy, %")
    save(figure, "gamma.png")


def numbers(D, y, train, test):
    """Draw accuracy and the kernel's error against R."""
    figure, (left, right) = plt.subplots(1, 2, **TWO)
    sizes = 2 ** np.arange(3, 12)
    found = [accuracy(y, train, test, d2ke.d2ke_features(D[:, :R], 0.01)) for R in sizes]
    left.semilogx(sizes, found, marker="o", base=2)
    left.set(title="DNA strings", xlabel="R", ylabel="accuracy, %")
    error = []
    for R in sizes[:-1]:
        parts = [d2ke.d2ke_features(D[train[:400], k * R : (k + 1) * R], 0.01) for k in (0, 1)]
        K = [part @ part.T for part in parts]
        error.append(np.abs(K[0] - K[1]).max())
    right.loglog(sizes[:-1], error, marker="o", label="measured")
    right.loglog(sizes[:-1], error[0] * np.sqrt(sizes[0] / sizes[:-1]), "--", label="1 / sqrt(R)")
    right.set(title="largest difference of two kernels", xlabel="R")
    right.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    right.yaxis.set_major_formatter("{x:g}")
    right.yaxis.set_minor_formatter("")
    right.legend()
    save(figure, "R.png")


def decisions():
    """Draw how often probabilities and sets of new DNA strings are right."""
    data = d2ke.datasets.load("splice")
    rng = np.random.default_rng(0)
    train, test = np.split(rng.permutation(len(data.objects)), [600])
    model = d2ke.d2ke_train(data.labels[train], data.objects[train])
    X, codes = data.objects[test], np.searchsorted(model.classes, data.labels[test])
    P = d2ke.d2ke_predict(None, X, model, probability=True)[2]
    F = d2ke.d2ke_predict(None, X, model)[2]
    figure, (left, right) = plt.subplots(1, 2, **TWO)
    for values, colour, label in (
        (softmax(F, axis=1), "0.7", "softmax of the decisions"),
        (P, COLOURS[0], "probability=True"),
    ):
        confidence, correct, counts = reliability(values, codes)
        error = 2 * np.sqrt(correct * (1 - correct) / counts)
        left.errorbar(confidence, correct, error, fmt="o", color=colour, capsize=2, label=label)
    left.plot([0.4, 1], [0.4, 1], ":", color="0.5")
    left.set(title="new DNA strings: how often the label is right", ylim=(0.3, 1.05))
    left.set(xlabel="probability of the label", ylabel="share of right labels")
    left.legend(fontsize=8)
    levels = np.linspace(0.8, 0.99, 20)
    sets = [d2ke.predict_set(X, model, alpha=1 - level) for level in levels]
    right.plot(levels, [S[np.arange(len(X)), codes].mean() for S in sets], marker="o")
    right.plot([0.8, 1], [0.8, 1], ":", color="0.5")
    ticks = [0.8, 0.85, 0.9, 0.95, 1]
    right.set(title="how often the true class is in the set", xlabel="1 - alpha")
    right.set(xticks=ticks, yticks=ticks)
    save(figure, "decisions.png")
    for level, S in ((levels[k], sets[k]) for k in (10, 15, 19)):
        shares = np.bincount(S.sum(axis=1), minlength=4) / len(S)
        print(level.round(2), S[np.arange(len(X)), codes].mean().round(3), shares.round(3))


def letters():
    """Draw what the letters of three DNA strings add to their decisions."""
    data = d2ke.datasets.load("splice")
    train, test = data.split(seed=0)
    model = d2ke.d2ke_train(data.labels[train], data.objects[train])
    figure, rows = plt.subplots(3, 1, figsize=(9, 4.2), layout="constrained")
    for axes, label in zip(rows, ("EI", "IE", "N"), strict=True):
        first = test[np.flatnonzero(data.labels[test] == label)[0]]
        d2ke.d2ke_explain(data.objects[first], model).plot(ax=axes)
    save(figure, "letters.png")


def neighbors():
    """Draw names beside their nearest neighbours."""
    names = [
        "Jon Smith",
        "John Smith",
        "Jon Smyth",
        "J. Smith",
        "Ann Lee",
        "Anne Lee",
        "Anna Leigh",
    ]
    found = d2ke.nearest(names, k=3, distance="levenshtein")
    save(d2ke.plots.plot_neighbors(names, *found, limit=2), "neighbors.png")


def clusters():
    """Draw the medoids of one coefficient of spoken vowels, and the members of their clusters."""
    X, _ = vowels()
    X = d2ke.pack([x[:, :1] for x in X])
    found = d2ke.kmedoids(X, 4, distance="dtw")
    save(d2ke.plots.plot_clusters(X, found.labels, medoids=found.medoids), "clusters.png")


def windows():
    """Draw the windows in three records, the first picture of the gallery's example."""
    plt.close("all")
    with mock.patch.object(plt, "show"):
        runpy.run_path(str(Path(__file__).parent / "gallery" / "plot_23_windows.py"))
    save(plt.figure(1), "windows.png")


if __name__ == "__main__":
    decisions()
    letters()
    neighbors()
    clusters()
    windows()
    overview()
    distances()
    random_objects()
    families()
    problem = strings()
    gammas(*problem)
    numbers(*problem)
