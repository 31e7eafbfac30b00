# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of "Where are the errors?", and the numbers of its first table.

``D2KE_DATA=FOLDER python docs/series_pictures.py`` writes them. The folder ``ucr`` in it has sets
of the UCR archive, NAME_TRAIN.ts and NAME_TEST.ts, and published.csv with published accuracies.
"""

import csv
import os
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import d2ke

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("D2KE_DATA", ""), "ucr")
PUBLISHED = ("1NN-DTW", "EE", "PF", "MiniROCKET", "RDST", "Hydra", "MR", "MR-Hydra")
PUBLISHED += ("InceptionTime", "HC2")
WORST = 10  # sets that are shown
SIZES = (0, 5, 10, 20, 1000)  # training series of a class
SIZE_NAMES = ("up to 5", "6 to 10", "11 to 20", "more")


def save(figure, name):
    """Write one picture."""
    keep = {"dpi": 80, "facecolor": "white", "metadata": {"Software": None}}
    figure.savefig(HERE / f"series-errors-{name}.png", bbox_inches="tight", **keep)
    plt.close(figure)


def division(name):
    """Return labels and series of the training file, then those of the test file."""
    found = []
    for part in ("TRAIN", "TEST"):
        X, y, *_ = d2ke.io.read_objects(FOLDER / f"{name}_{part}.ts")
        found += [np.asarray(y), X]
    return found


def class_shift(y, new):
    """Return the share of the test series whose classes would have to change."""
    return sum(abs(np.mean(y == one) - np.mean(new == one)) for one in np.unique(y)) / 2


def result(row):
    """Train on a set; return what the pictures show of it."""
    y, X, new, X_new = division(row["set"])
    model = d2ke.d2ke_train(y, X, seed=0, n_threads=1)
    predicted = d2ke.d2ke_predict(None, X_new, model, n_threads=1)[0]
    accuracy = 100 * np.mean(predicted == new)
    published = {name: float(row[name]) for name in PUBLISHED}
    winner = max(published, key=published.get)
    return {
        "set": row["set"], "n": len(y), "n_new": len(new), "accuracy": accuracy,
        "left_out": model.accuracy, "shift": class_shift(y, new), "published": published,
        "winner": winner, "gap": published[winner] - accuracy,
    }  # fmt: skip


def gaps(results):
    """Draw the published accuracies and ours of the sets with the largest gaps."""
    worst = sorted(results, key=lambda one: one["gap"])[-WORST:]
    figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
    for place, one in enumerate(worst):
        values = list(one["published"].values())
        ax.scatter(values, [place] * len(values), s=16, color="0.7")
        ax.scatter(one["accuracy"], place, s=40, color="tab:blue")
        best, series = one["published"][one["winner"]], one["gap"] * one["n_new"] / 100
        text = f"{one['winner']}, by {series:.0f} of {one['n_new']} series"
        ax.annotate(text, (best, place), (8, -3), textcoords="offset points", fontsize=8)
    ax.set_yticks(range(len(worst)), [one["set"] for one in worst])
    ax.set(xlim=(45, 128), xlabel="accuracy on the test series, %", xticks=range(50, 101, 10))
    ax.set_title("d2ke_train (blue) and ten published classifiers (grey), with the best named")
    save(figure, "gaps")


def shifts(results):
    """Draw left-out and test accuracy, coloured by how far the shares of classes differ."""
    figure, ax = plt.subplots(figsize=(5.6, 4.2), layout="constrained")
    order = sorted(results, key=lambda one: one["shift"])
    values = np.array([[one["left_out"], one["accuracy"], one["shift"]] for one in order])
    ax.plot([50, 100], [50, 100], ":", color="0.5")
    dots = ax.scatter(values[:, 0], values[:, 1], c=100 * values[:, 2], cmap="viridis_r", s=40)
    for one in results:
        if one["left_out"] - one["accuracy"] > 5:
            name = one["set"].replace("Outline", "")
            place, side = (one["left_out"], one["accuracy"]), {"ha": "right", "va": "top"}
            ax.annotate(name, place, (-5, -2), textcoords="offset points", fontsize=7, **side)
    ax.set(xlabel="left-out accuracy in training, %", ylabel="accuracy on the test series, %")
    figure.colorbar(dots, label="test series whose class would have to change, %")
    save(figure, "shifts")


def sizes_of_classes():
    """Draw how often series of rare and of frequent words are right: two rules, one kernel."""
    y, X, new, X_new = division("WordSynonyms")
    model = d2ke.d2ke_train(y, X, seed=0, n_threads=1)
    predicted = d2ke.d2ke_predict(None, X_new, model, n_threads=1)[0]
    Z, Z_new = (d2ke.d2ke_transform(one, model, n_threads=1) for one in (X, X_new))
    squares = (Z**2).sum(axis=1) - 2 * Z_new @ Z.T
    rules = {"d2ke_train": predicted, "nearest, same kernel": y[squares.argmin(axis=1)]}
    classes, counts = np.unique(y, return_counts=True)
    group = np.digitize(counts[np.searchsorted(classes, new)], SIZES, right=True)
    figure, ax = plt.subplots(figsize=(5.6, 3.4), layout="constrained")
    places = np.arange(len(SIZE_NAMES))
    for shift, (name, labels) in zip((-0.2, 0.2), rules.items(), strict=True):
        right = [100 * np.mean(labels[group == g + 1] == new[group == g + 1]) for g in places]
        ax.bar(places + shift, right, width=0.38, label=name)
        print(name, 100 * np.mean(labels == new), np.round(right, 1), np.bincount(group)[1:])
    ax.set_xticks(places, SIZE_NAMES)
    ax.set(
        xlabel="training series of the class",
        ylabel="right, %",
        title="WordSynonyms",
        ylim=(0, 115),
    )
    ax.legend(loc="upper left", fontsize=8)
    save(figure, "classes")


if __name__ == "__main__":
    sizes_of_classes()
    with (FOLDER / "published.csv").open(newline="", encoding="utf-8") as stream:
        found = []
        for row in csv.DictReader(stream):
            found.append(result(row))
            one = found[-1]
            shown = (f"{one[key]:.2f}" for key in ("accuracy", "gap", "left_out", "shift"))
            print(one["set"], *shown, one["winner"], flush=True)
    gaps(found)
    shifts(found)
