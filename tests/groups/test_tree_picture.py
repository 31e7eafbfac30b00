# SPDX-License-Identifier: BSD-3-Clause
from itertools import pairwise

import numpy as np
import pytest
from tree_cases import walks, words

import d2ke

pytest.importorskip("matplotlib")


def named(figure):
    """Draw; return the texts of the names from below, and their boxes."""
    figure.draw_without_rendering()
    labels = figure.axes[1].get_yticklabels()
    return [text.get_text() for text in labels], [text.get_window_extent() for text in labels]


@pytest.mark.parametrize(
    ("n", "long"),
    [
        *((2, False), (7, False), (7, True), (100, True)),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in ((80, False), (100, False))),
    ],
)
def test_names_are_whole_and_apart(n, long):
    X = walks(np.random.default_rng(n), n)
    names = [f"{i} ${'a long name ' * 5 * long}" for i in range(n)]
    figure = d2ke.plot_tree(X, distance="dtw", names=names)
    texts, boxes = named(figure)
    assert len(texts) == min(n, 80)
    assert all(text in names or text[:-1] in names[int(text.split()[0])] for text in texts)
    width, height = figure.bbox.size
    assert all(0 <= box.x0 < box.x1 <= width and 0 <= box.y0 < box.y1 <= height for box in boxes)
    assert all(box.y1 <= above.y0 for box, above in pairwise(boxes))
    heat, tree = figure.axes[1].get_window_extent(), figure.axes[0].get_window_extent()
    assert all(box.x0 > heat.x1 for box in boxes)
    assert tree.x1 < heat.x0


def test_distances_are_in_the_order_of_the_names():
    X = sorted(set(words(np.random.default_rng(0), 30)))
    figure = d2ke.plot_tree(X, distance="levenshtein", method="single")
    names, _ = named(figure)
    assert sorted(names) == X
    shown = figure.axes[1].images[0].get_array()
    assert np.array_equal(shown, d2ke.distance_matrix(names, distance="levenshtein"))


def test_ids_are_names():
    X = d2ke.pack(["kitten", "mitten", "zoology"], ids=["a", "b", "c"])
    assert sorted(named(d2ke.plot_tree(X, distance="levenshtein"))[0]) == ["a", "b", "c"]


def test_a_function_and_a_sample():
    figure = d2ke.plot_tree(
        range(50), distance=lambda a, b: abs(a - b), max_leaves=10, names=range(50)
    )
    places = np.array(named(figure)[0], int)
    assert len(places) == 10
    shown = figure.axes[1].images[0].get_array()
    assert np.array_equal(shown, np.abs(places[:, None] - places))
