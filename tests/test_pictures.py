# SPDX-License-Identifier: BSD-3-Clause
"""Pictures: titles, labels, limits, numbers of artists, and the data that they show."""

import re
import sys
from functools import cache

import numpy as np
import pytest

import d2ke
from d2ke.model_selection import Search
from d2ke.plots import plot_clusters, plot_neighbors
from d2ke.plots.maps import Colouring, draw_map

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


@cache
def track():
    """Explain the class of a track with a turn, whose channels are named as `tracks` are."""
    model = d2ke.d2ke_train([0, 1] * 12, tracks(), R=136)
    return d2ke.d2ke_explain(tracks()[1:2], model)


def tracks():
    bends = [np.cumsum(np.linspace(0, (1 + i % 2) / 9, 30)) + i for i in range(24)]
    places = [
        np.array([60, 24]) + 1e-4 * np.cumsum(np.c_[np.sin(bend), 2 * np.cos(bend)], axis=0)
        for bend in bends
    ]
    values, offsets = np.concatenate(places), 30 * np.arange(25)
    return d2ke.Objects("series", values, offsets, channel_names=("Latitude", "lon"))


OF_CLASSES = [
    "; predicted; true",
    "calibration error # %; probability of the predicted class; share classified correctly; ideal",
    "area under the curve #; false positive rate; true positive rate; chance",
]
PARTS = "+# shape, every # steps, in # % of places"
# What is drawn, and for each of its axes the title, the labels and the first of the legend.
SHOWN = {
    "model": (lambda: classes().plot(), OF_CLASSES),
    "objects": (lambda: classes().plot(WORDS, ["up", "down"] * 9), [
        "training objects; first component; second component; down (#); up (#)", *OF_CLASSES,
        "; R, random objects of all blocks; cross-validated accuracy (%) log; largest class",
    ]),
    "regression": (lambda: values().plot(), ["; true value; predicted value; equal"]),
    "targets": (lambda: values().plot([[float(i)] * 4 for i in range(18)], np.arange(18) + 0.5), [
        "training objects; first component; second component; # to # (#); # to # (#)",
        "; true value; predicted value; equal",
        "; R, random objects of all blocks; cross-validated R^# log",
    ]),
    "explanation": (lambda: explanation().plot(), [
        "#: decision +#; windows found in it add +#; step; value; " + PARTS + "; "
        "+# values, every # steps, in # % of places", "; ; what each step adds",
    ]),
    "one window": (lambda: explanation().plot(limit=1), [
        "#: decision +#; windows found in it add +#; step; value; " + PARTS,
        "; ; what each step adds",
    ]),
    "track": (lambda: track().plot(limit=1), [
        "#: decision +#; windows found in it add +#; lon; Latitude; +# slopes; start",
        "; ; what each step adds",
    ]),
    "channel of a track": (lambda: track().plot(limit=1, channel=0), [
        "#: decision +#; windows found in it add +#; step; Latitude; +# slopes",
        "; ; what each step adds",
    ]),
    "series": (lambda: d2ke.align(SERIES[0], SERIES[1]).plot(), ["dtw #; place; ; x; y"]),
    "emd": (lambda: d2ke.align([[0.0, 0.0], [1.0, 1.0]], [[0.0, 2.0]], "emd").plot(),
            ["emd #; ; ; x; y"]),
    "strings": (lambda: d2ke.align("kitten", "sitting").plot(),
                ["levenshtein #; place in x; place in y; replace; insert"]),
    "window": (lambda: d2ke.align(SERIES[0][:5], SERIES[1], "window").plot(),
               ["window #; place; ; x; y"]),
    "tree": (lambda: d2ke.plot_tree(["ant", "aunt", "bee", "beet"], distance="levenshtein"),
             ["; distance; ", "; ; ", "; distance; "]),
    "search": (lambda: searched({"gamma": [0.1, 1.0], "R": [2, 4]}).plot(),
               ["; R; accuracy in cross-validation, %", "; gamma; ", "; C;  log", "; loss; "]),
    "clusters": (lambda: clusters(), ["cluster #: #; ; ", "cluster #: #; ; "]),
    "neighbors": (lambda: neighbors(NAMES, 2, "levenshtein", limit=1), ["; ; "]),
}  # fmt: skip


def shown(axes):
    """Return the words of axes, and whether one of its scales is logarithmic."""
    legend = axes.get_legend()
    entries = [text.get_text() for text in legend.get_texts()] if legend else []
    # A rare window and its longest run may add the same but for rounding.
    entries = [entry.replace("in a run of", "in") for entry in entries]
    log = " log" * (axes.get_xscale() == "log")
    words = [axes.get_title(), axes.get_xlabel(), axes.get_ylabel() + log, *entries[:2]]
    return re.sub("[0-9.]+", "#", "; ".join(words))


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.filterwarnings("ignore")
def test_what_a_picture_shows(name):
    draw, words = SHOWN[name]
    picture = draw()
    first = picture[0] if isinstance(picture, tuple) else picture
    figure = getattr(first, "figure", None) or first
    figure.canvas.draw()
    assert [shown(axes) for axes in figure.axes] == words
    assert all(axes.has_data() or axes.texts for axes in figure.axes)
    pyplot.close("all")


@pytest.mark.parametrize(
    "name", ["model", "strings", "explanation", "tree", "search", "clusters", "neighbors"]
)
def test_without_matplotlib(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "d2ke\[demo\]"'):
        SHOWN[name][0]()


# ---------------------------------------------------------------- the data

NAMES = ["ant", "aunt", "and", "beetle", "beatle", "beetles", "wasp"]
WAVES = [np.sin(np.arange(20 + i) / (2 + i % 2)) for i in range(8)]
SETS = d2ke.pack([RNG.normal(size=(6, 3)) + i % 2 for i in range(8)], kind="sets")
EYES = d2ke.pack([np.eye(5), np.eye(5), 2 * np.eye(5)], kind="sets")
TRIED = [
    ({"length": (low, 3), "gamma": gamma, "C": 10.0**power}, 60.0 + low + gamma + power)
    for low in (1, 2) for gamma in (0.5, 1.0) for power in (0, 1, 2)
]  # fmt: skip


def neighbors(X, k, distance, **options):
    return plot_neighbors(X, *d2ke.nearest(X, k=k, distance=distance), **options)


def clusters():
    found = d2ke.kmedoids(NAMES, 2, distance="levenshtein")
    return plot_clusters(NAMES, found.labels, medoids=found.medoids)


def noisy():
    X = ["".join(RNG.choice(list("ab" if i % 2 else "cd"), 5)) for i in range(90)]
    y = [str((i % 2 == 1) ^ (RNG.random() < 0.15)) for i in range(90)]
    return d2ke.d2ke_train(y, X, R=32)


def lines(axes, bold=False):
    """Return the texts of axes by their lines, or what is bold in them."""
    result = {}
    for text in axes.texts:
        x, y = text.get_position()
        if x >= 0:
            shown = not bold or text.get_weight() == "bold"
            result[y] = result.get(y, "") + text.get_text() * shown
    return [result[y] for y in sorted(result)]


def margin(axes):
    return [text.get_text() for text in axes.texts if text.get_position()[0] < 0]


def titles(figure):
    return [axes.get_title() for axes in figure.axes]


def bars(axes):
    """Return the errors that the bars of a reliability diagram show, and those of its shares."""
    _, share, counts = noisy_model.calibration.reliability()
    low, high = np.array(axes.containers[0][2][0].get_segments())[:, :, 1].T
    errors = 2 * np.sqrt(share * (1 - share) / counts)
    wanted = np.maximum(share - errors, 0), np.minimum(share + errors, 1)
    return np.abs(np.subtract((low, high), wanted)).max() < 1e-12


noisy_model = noisy()
LETTERS = "abcdefghijklmnopqr"
MANY = [letter * 3 for letter in LETTERS] * 2, list(LETTERS) * 2


@cache
def many():
    return d2ke.d2ke_train(MANY[1], MANY[0], R=32)


# What is drawn, what is read from it, and what that must be.
DATA = {
    "more classes than colours": (lambda: many().plot(*MANY)[0], lambda axes: (
        [len(one.get_offsets()) for one in axes.collections][:2],
        [text.get_text() for text in axes.get_legend().get_texts()],
    ), ([24, 12], [f"{letter} (2)" for letter in LETTERS])),
    "track as on a map": (lambda: track().plot(limit=1), lambda axes: (
        axes.lines[-1].get_xydata()[0].tolist(), round(axes.get_aspect(), 2)
    ), (tracks()[1][0, ::-1].tolist(), 2.0)),
    "neighbours of tracks": (
        lambda: neighbors(tracks(), 1, "dtw", limit=1),
        lambda figure: figure.axes[0].lines[0].get_xydata().tolist(),
        tracks()[0][:, ::-1].tolist()),
    "classes": (lambda: classes().plot()[0], lambda axes: (
        [one.get_text() for one in axes.get_xticklabels()], [one.get_text() for one in axes.texts]
    ), (["down", "up"], ["9", "9"])),
    "roc": (lambda: classes().plot()[2], lambda axes: axes.lines[1].get_xydata().tolist(),
            [[0, 0], [0, 1], [1, 1]]),
    "bars of two standard errors": (lambda: noisy_model.plot()[1], bars, True),
    "map": (lambda: classes().plot(WORDS, ["up", "down"] * 9)[0],
            lambda axes: len(axes.collections[0].get_offsets()), 18),
    "curve": (lambda: classes().plot(WORDS, ["up", "down"] * 9)[4],
              lambda axes: axes.lines[0].get_xydata()[-1].tolist() ==
              [classes().R, classes().accuracy], True),
    "three classes have no roc curve": (
        lambda: d2ke.d2ke_train(["a", "b", "c"] * 6, ["aab", "bba", "ccc"] * 6, R=32).plot(),
        len, 2),
    "clusters of words": (clusters, lambda figure: (
        len(figure.axes), sorted(lines(figure.axes[0])) in (
            sorted(["ant", "aunt", "and", "wasp"]), sorted(["beetle", "beatle", "beetles"])
        ), [lines(axes)[0] == "".join(lines(axes, bold=True)) for axes in figure.axes],
    ), (2, True, [True, True])),
    "clusters of series": (
        lambda: plot_clusters(WAVES, [0, 1, 0, 1, 0, 1, -1, -1], medoids=[2]),
        lambda figure: (titles(figure), [line.get_alpha() for line in figure.axes[0].lines]),
        (["cluster 0: 3", "cluster 1: 3", "none: 2"], [0.25, 0.25, 1.0])),
    "clusters of sets": (
        lambda: plot_clusters(SETS, [0, 1, 0, 1, 0, 1, -1, -1], medoids=[2]),
        lambda figure: [dots.get_alpha() for dots in figure.axes[0].collections],
        [0.25, 0.25, 1.0]),
    "many clusters": (lambda: plot_clusters([chr(97 + i) for i in range(20)], range(20), limit=5),
                      lambda figure: figure.get_suptitle(), "5 of 20 clusters"),
    "neighbours of words": (
        lambda: neighbors(NAMES, 2, "levenshtein", limit=2, names=list("ABCDEFG")),
        lambda figure: (*(f(figure.axes[0]) for f in (lines, lambda a: lines(a, True), margin)),
                        lines(figure.axes[1])[0]),
        (["ant", "aunt", "and"], ["", "u", "d"], ["B at 1", "C at 1"], "aunt")),
    "neighbours among others": (
        lambda: plot_neighbors(["", "ab"], [[0], [0]], [[1.0], [2.0]], Y=["x"]),
        lambda figure: [lines(axes, bold=True) for axes in figure.axes], [["x"], ["", "x"]]),
    "neighbours by their ids": (
        lambda: neighbors(d2ke.pack(NAMES, ids=["a name of more than 18 letters", *"BCDEFG"]), 1,
                          "levenshtein"),
        lambda figure: margin(figure.axes[1]), ["B", "a name of more th… at 1"]),
    "neighbours of series": (
        lambda: plot_neighbors(WAVES, *d2ke.nearest(WAVES, k=3, distance="dtw"), limit=2, k=2),
        lambda figure: titles(figure)[3],
        "{0[0][1][1]} at {0[1][1][1]:.4g}".format(d2ke.nearest(WAVES, k=3, distance="dtw"))),
    "no neighbour, no picture": (
        lambda: plot_neighbors(WAVES, np.array([[1, -1]]), np.array([[1.0, np.inf]])),
        lambda figure: [bool(title) for title in titles(figure)], [True, False]),
    "sets of one plane": (lambda: neighbors(EYES, 2, "mhd", limit=1), lambda figure: [
        float(np.ptp(two.get_offsets() - scale * one.get_offsets(), axis=0).max()) < 1e-12
        for scale, axes in zip((1, 2), figure.axes, strict=True)
        for one, two in [axes.collections]
    ], [True, True]),
    "search": (lambda: Search.best_of(TRIED).plot(), lambda figure: [
        (axes.get_xlabel(), axes.get_xscale(), axes.lines[0].get_ydata().tolist())
        for axes in figure.axes
    ], [("length", "linear", [64, 65]), ("gamma", "linear", [64.5, 65]),
        ("C", "log", [63, 64, 65])]),
    "search in order": (
        lambda: Search.best_of([({"k": k}, 50.0 + k) for k in (5, 1, 3)]).plot(),
        lambda figure: figure.axes[0].lines[0].get_xdata().tolist(), [1, 3, 5]),
}  # fmt: skip


def test_groups_of_one_colour_have_markers():
    """Clusters take the colours and markers of classes, in any order; the last group is none."""
    axes = pyplot.figure().add_subplot()
    codes, numbers = np.array([0, 1, 1, 2, -1]), np.array([13, 1, 40])
    colours = ["#D55E00", "#D55E00", "#E69F00"]
    one = Colouring("", codes, ["a", "b", "c"], colours, numbers=numbers)
    draw_map(axes, np.arange(10.0).reshape(5, 2), one)
    n_vertices = [len(dots.get_paths()[0]) for dots in axes.collections[:2]]
    assert [len(dots.get_offsets()) for dots in axes.collections[:2]] == [4, 1]
    assert n_vertices[0] > n_vertices[1] == 4  # a circle and a triangle, which is closed
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["a (1)", "b (2)", "c (1)", "none (1)"]
    pyplot.close("all")


@pytest.mark.parametrize("name", DATA)
def test_the_data_of_a_picture(name):
    draw, read, wanted = DATA[name]
    before = pyplot.get_fignums()
    picture = draw()
    assert read(picture) == wanted
    if isinstance(picture, pyplot.Figure):  # it is shown once, by the notebook
        picture.canvas.draw()
        assert pyplot.get_fignums() == before
    pyplot.close("all")


@pytest.mark.parametrize(
    ("objects", "labels", "problem"),
    [
        (None, ["up"], "X is needed with y"),
        (WORDS[:2], ["up", "down"], "X must be the 18 training objects"),
        (WORDS, ["up", "down"], "y has 2 labels, but X has 18 rows"),
        (WORDS, ["x"] * 18, "is 'x', which is not one of the model's 2 classes"),
        (WORDS, None, "y must be a sequence of labels"),
        ([[1.0]], ["up"] * 18, "X holds series"),
    ],
)
def test_other_objects_than_the_model_s(objects, labels, problem):
    with pytest.raises((ValueError, TypeError), match=problem):
        classes().plot(objects, labels)
