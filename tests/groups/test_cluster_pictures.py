# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of clusters and of neighbours."""

import numpy as np
import pytest

import d2ke
from d2ke.groups import plot_clusters
from d2ke.neighbors import plot_neighbors

pytest.importorskip("matplotlib").use("agg")

RNG = np.random.default_rng(0)
WORDS = ["ant", "aunt", "and", "beetle", "beatle", "beetles", "wasp"]
WAVES = [np.sin(np.arange(20 + i) / (2 + i % 2)) for i in range(8)]
SETS = d2ke.pack([RNG.normal(size=(6, 3)) + i % 2 for i in range(8)], kind="sets")


def lines(axes):
    """Return the texts of axes by their lines."""
    result = {}
    for text in axes.texts:
        x, y = text.get_position()
        if x >= 0:
            result[y] = result.get(y, "") + text.get_text()
    return [result[y] for y in sorted(result)]


def coloured(axes, line):
    texts = [text for text in axes.texts if text.get_position()[1] == line]
    return "".join(text.get_text() for text in texts if text.get_weight() == "bold")


class TestClusters:
    def test_words(self):
        clusters = d2ke.kmedoids(WORDS, 2, distance="levenshtein")
        figure = plot_clusters(WORDS, clusters.labels, medoids=clusters.medoids)
        first, second = figure.axes
        assert first.get_title() == f"cluster {clusters.labels[0]}: 4"
        assert set(lines(first)) == {"ant", "aunt", "and", "wasp"}
        assert lines(first)[0] == WORDS[clusters.medoids[clusters.labels[0]]]
        assert coloured(second, 0) == lines(second)[0]
        figure.canvas.draw()

    @pytest.mark.parametrize("X", [WAVES, SETS], ids=["series", "sets"])
    def test_series_and_sets(self, X):
        labels = np.array([0, 1, 0, 1, 0, 1, -1, -1])
        figure = plot_clusters(X, labels, medoids=[2])
        assert [axes.get_title() for axes in figure.axes if axes.get_title()] == [
            "cluster 0: 3", "cluster 1: 3", "none: 2",
        ]  # fmt: skip
        drawn = figure.axes[0].lines or figure.axes[0].collections
        assert [artist.get_alpha() for artist in drawn] == [0.25, 0.25, 1.0]

    def test_many(self):
        figure = plot_clusters([chr(97 + i) for i in range(20)], range(20), limit=5)
        assert figure.get_suptitle() == "5 of 20 clusters"


class TestNeighbors:
    def test_words(self):
        found = d2ke.nearest(WORDS, k=2, distance="levenshtein")
        figure = plot_neighbors(WORDS, *found, limit=2, names=list("ABCDEFG"))
        first, second = figure.axes
        assert lines(first) == ["ant", "aunt", "and"]
        assert coloured(first, 1) == "u"
        assert coloured(first, 2) == "d"
        assert [text.get_text() for text in first.texts if text.get_color() == "#A0A0A0"] == [
            "B at 1", "C at 1",
        ]  # fmt: skip
        assert lines(second)[0] == "aunt"
        figure.canvas.draw()

    def test_strings_beside_others(self):
        figure = plot_neighbors(["", "ab"], [[0], [0]], [[1.0], [2.0]], Y=["x"])
        assert lines(figure.axes[0]) == ["x"]
        assert coloured(figure.axes[0], 1) == coloured(figure.axes[1], 1) == "x"

    @pytest.mark.parametrize(("X", "distance"), [(WAVES, "dtw"), (SETS, "mhd")])
    def test_series_and_sets(self, X, distance):
        found = d2ke.nearest(X, k=3, distance=distance)
        figure = plot_neighbors(X, *found, limit=2, k=2)
        assert len(figure.axes) == 4
        indices, distances = found
        assert figure.axes[3].get_title() == f"{indices[1, 1]} at {distances[1, 1]:.4g}"

    def test_ids_are_names(self):
        ids = ["a name of more than 18 letters", *"BCDEFG"]
        words = d2ke.pack(WORDS, ids=ids)
        axes = plot_neighbors(words, *d2ke.nearest(words, k=1, distance="levenshtein")).axes
        grey = [text.get_text() for text in axes[1].texts if text.get_color() == "#A0A0A0"]
        assert grey == ["B", "a name of more th… at 1"]

    def test_sets_of_many_coordinates_share_a_plane(self):
        X = d2ke.pack([np.eye(5), np.eye(5), 2 * np.eye(5)], kind="sets")
        axes = plot_neighbors(X, *d2ke.nearest(X, k=2, distance="mhd"), limit=1).axes
        own, same = (dots.get_offsets() for dots in axes[0].collections)
        np.testing.assert_array_equal(own, same)
        own, twice = (np.array(dots.get_offsets()) for dots in axes[1].collections)
        np.testing.assert_allclose(twice - twice[0], 2 * (own - own[0]), atol=1e-12)

    def test_missing_neighbours_have_no_picture(self):
        indices, distances = np.array([[1, -1]]), np.array([[1.0, np.inf]])
        figure = plot_neighbors(WAVES, indices, distances)
        assert [bool(axes.get_title()) for axes in figure.axes] == [True, False]
