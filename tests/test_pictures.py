# SPDX-License-Identifier: BSD-3-Clause
"""What each picture shows: titles, labels, limits and the number of its artists."""

import re
from functools import cache

import numpy as np
import pytest

import d2ke

pytest.importorskip("matplotlib").use("agg")
pyplot = pytest.importorskip("matplotlib.pyplot")

RNG = np.random.default_rng(0)
WORDS = ["aab", "bba"] * 9
SERIES = [np.sin(np.arange(30) / (2 + i % 2)) + 0.1 * RNG.normal(size=30) for i in range(24)]


@cache
def classes():
    return d2ke.d2ke_train(["up", "down"] * 9, WORDS, R=32)


@cache
def values():
    return d2ke.d2ke_train(np.arange(18) + 0.5, [[float(i)] * 4 for i in range(18)], R=340)


@cache
def explanation():
    model = d2ke.d2ke_train([0, 1] * 12, SERIES, R=136)
    return d2ke.d2ke_explain(SERIES[0], model)


def searched(grid):
    y = [0, 1] * 9
    return d2ke.search(y, WORDS, "rsm", distance="levenshtein", n_folds=2, grid=grid)


CASES = {
    "model": lambda: classes().plot(),
    "objects": lambda: classes().plot(WORDS, ["up", "down"] * 9),
    "regression": lambda: values().plot(),
    "targets": lambda: values().plot([[float(i)] * 4 for i in range(18)], np.arange(18) + 0.5),
    "explanation": lambda: explanation().plot(),
    "one window": lambda: explanation().plot(limit=1),
    "series": lambda: d2ke.align(SERIES[0], SERIES[1]).plot(),
    "emd": lambda: d2ke.align([[0.0, 0.0], [1.0, 1.0]], [[0.0, 2.0]], "emd").plot(),
    "strings": lambda: d2ke.align("kitten", "sitting").plot(),
    "window": lambda: d2ke.align(SERIES[0][:5], SERIES[1], "window").plot(),
    "tree": lambda: d2ke.plot_tree(["ant", "aunt", "bee", "beet"], distance="levenshtein"),
    "search": lambda: searched({"gamma": [0.1, 1.0], "R": [2, 4]}).plot(),
}


SHOWN = {
    "model": [
        ("; predicted; true",
         "linear linear", [0, 0, 0, 2, 1, 0], [-0.5, 1.5, 1.5, -0.5]),
        ("calibration error # %; probability of the predicted class; "
         "share of objects that are of it; equal",
         "linear linear", [4, 1, 0, 0, 0, 1, 2, 15], [0.9045, 1.005, 0.9045, 1.005]),
        ("area under the curve #; false positive rate; true positive rate; chance",
         "linear linear", [2, 0, 0, 0, 0, 1, 2, 3], [-0.05, 1.05, -0.05, 1.05]),
    ],
    "objects": [
        ("training objects; first component; second component; down (#); up (#)",
         "linear linear", [0, 3, 0, 0, 0, 2], [-1.1, 1.1, -0.8815, 0.8815]),
        ("; predicted; true",
         "linear linear", [0, 0, 0, 2, 1, 0], [-0.5, 1.5, 1.5, -0.5]),
        ("calibration error # %; probability of the predicted class; "
         "share of objects that are of it; equal",
         "linear linear", [4, 1, 0, 0, 0, 1, 2, 15], [0.9045, 1.005, 0.9045, 1.005]),
        ("area under the curve #; false positive rate; true positive rate; chance",
         "linear linear", [2, 0, 0, 0, 0, 1, 2, 3], [-0.05, 1.05, -0.05, 1.05]),
        ("; R, random objects of all blocks; cross-validated accuracy (%); largest class",
         "log linear", [2, 0, 0, 0, 0, 1, 2, 2], [6.677, 18.87, 47.5, 102.5]),
    ],
    "regression": [
        ("; true value; predicted value; equal",
         "linear linear", [1, 1, 0, 0, 0, 1, 2], [-0.35, 18.35, -0.35, 18.35]),
    ],
    "targets": [
        ("training objects; first component; second component; # to # (#); # to # (#)",
         "linear linear", [0, 6, 0, 0, 0, 5], [-1.064, 1.074, -0.7828, 0.9922]),
        ("; true value; predicted value; equal",
         "linear linear", [1, 1, 0, 0, 0, 1, 2], [-0.35, 18.35, -0.35, 18.35]),
        ("; R, random objects of all blocks; cross-validated R^#",
         "log linear", [1, 0, 0, 0, 0, 0, 4], [5.271, 91.06, 0.2123, 1.036]),
    ],
    "explanation": [
        ("#: decision +#; windows found in it add +#; step; value; "
         "+# shape every # steps, in # % of places; "
         "+# values every # steps, in # % of places",
         "linear linear", [3, 1, 3, 0, 0, 3, 7, 7], [-2.0, 31.0, -1.21, 1.114]),
        ("; ; what each step adds",
         "linear linear", [0, 2, 0, 0, 0, 0], [0.0, 1.0, -0.08655, 0.08655]),
    ],
    "one window": [
        ("#: decision +#; windows found in it add +#; step; value; "
         "+# shape every # steps, in # % of places",
         "linear linear", [1, 1, 1, 0, 0, 1, 7], [-1.475, 30.98, -1.21, 1.114]),
        ("; ; what each step adds",
         "linear linear", [0, 2, 0, 0, 0, 0], [0.0, 1.0, -0.08655, 0.08655]),
    ],
    "series": [
        ("dtw #; place; ; x; y",
         "linear linear", [2, 1, 0, 0, 0, 2, 30, 30], [-1.45, 30.45, -1.209, 3.594]),
    ],
    "emd": [
        ("emd #; ; ; x; y",
         "linear linear", [2, 1, 0, 0, 0, 2, 2, 1], [-1.245, 2.245, -0.2409, 2.241]),
    ],
    "strings": [
        ("levenshtein #; place in x; place in y; replace; insert",
         "linear linear", [3, 0, 0, 0, 0, 2, 8, 2], [-0.3, 6.3, -0.35, 7.35]),
    ],
    "window": [
        ("window #; place; ; x; y",
         "linear linear", [2, 1, 0, 0, 0, 2, 5, 30], [-1.45, 30.45, -1.147, 2.304]),
    ],
    "tree": [
        ("; distance; ",
         "linear linear", [0, 1, 0, 0, 0, 0], [3.413, 0.0, 0.0, 40.0]),
        ("; ; ",
         "linear linear", [0, 0, 0, 0, 1, 0], [0.0, 40.0, 0.0, 40.0]),
        ("; distance; ",
         "linear linear", [0, 2, 0, 0, 0, 0], [0.0, 4.0, 0.0, 1.0]),
    ],
    "search": [
        ("; R; accuracy in cross-validation, %",
         "linear linear", [1, 0, 0, 0, 0, 0, 2], [1.9, 4.1, 94.5, 105.5]),
        ("; gamma; ",
         "linear linear", [1, 0, 0, 0, 0, 0, 2], [0.055, 1.045, 94.5, 105.5]),
        ("; C; ",
         "log linear", [1, 0, 0, 0, 0, 0, 8], [0.05623, 17780.0, 94.5, 105.5]),
        ("; loss; ",
         "linear linear", [1, 0, 0, 0, 0, 0, 2], [-0.05, 1.05, 94.5, 105.5]),
    ],
}  # fmt: skip


def shown(axes):
    """Return the words and the scales of axes, the number of their artists, and their limits."""
    artists = [axes.lines, axes.collections, axes.patches, axes.texts, axes.images]
    points = [len(line.get_xdata()) for line in axes.lines[:2]]
    legend = axes.get_legend()
    entries = [text.get_text() for text in legend.get_texts()] if legend else []
    # A rare window and its longest run may add the same but for rounding.
    entries = [entry.replace("in a run of", "in") for entry in entries]
    words = "; ".join([axes.get_title(), axes.get_xlabel(), axes.get_ylabel(), *entries[:2]])
    scales = f"{axes.get_xscale()} {axes.get_yscale()}"
    counts = [*map(len, artists), len(entries), *points]
    return re.sub("[0-9.]+", "#", words), scales, counts, [*axes.get_xlim(), *axes.get_ylim()]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_what_a_picture_shows(name):
    picture = CASES[name]()
    first = picture[0] if isinstance(picture, tuple) else picture
    figure = getattr(first, "figure", None) or first
    figure.canvas.draw()
    found = [shown(axes) for axes in figure.axes]
    assert [facts for *facts, _ in found] == [facts for *facts, _ in SHOWN[name]]
    for (*_, limits), (title, *_, wanted) in zip(found, SHOWN[name], strict=True):
        spans = np.repeat(np.ptp(np.reshape(wanted, (2, 2)), axis=1), 2)
        assert (np.abs(np.subtract(limits, wanted)) < 0.02 * spans).all(), title
    pyplot.close("all")
