# SPDX-License-Identifier: BSD-3-Clause
"""Objects of few different distances and of many, and a naive minimum spanning tree."""

import contextlib
from unittest import mock

import numpy as np

import d2ke
from d2ke.groups import growth
from d2ke.neighbors import bounded, strings


def kruskal(D, first=None):
    """Return the edges and the weights of the minimum spanning tree, ties by (i, j).

    Of equal weights, those of the pairs `first` come first.
    """
    i, j = np.triu_indices(len(D), 1)
    late = np.zeros(len(i)) if first is None else ~first[i, j]
    labels, edges = np.arange(len(D)), []
    for e in np.lexsort((j, i, late, D[i, j])):
        a, b = labels[i[e]], labels[j[e]]
        if a != b:
            labels[labels == b] = a
            edges.append((i[e], j[e]))
    edges = np.array(edges, np.int64).reshape(-1, 2)
    return edges, D[edges[:, 0], edges[:, 1]]


@contextlib.contextmanager
def large_search():
    """Search few objects as many are: by an index, by bounds, and by lists of all distances."""
    with contextlib.ExitStack() as stack:
        for module, name, value in (
            (growth, "pays", lambda *_: True),
            (growth, "_FEW_STRINGS", 0),
            (growth, "_TILE", (7, 11)),
            (growth, "_BLOCK", 50),
            (growth, "FEWEST_PAIRS", 0),
            (bounded, "FEWEST_PAIRS", 0),
            (strings, "_FEWEST", 0),
            (strings, "_TRY", 5),
        ):
            stack.enter_context(mock.patch.object(module, name, value))
        yield


def equal(X):
    """Return which pairs of items are equal."""
    keys = [(type(item), np.asarray(item).shape, np.asarray(item).tobytes()) for item in X]
    return np.array([[a == b for b in keys] for a in keys])


def words(rng, n):
    return ["".join(rng.choice(list("abc"), rng.integers(1, 8))) for _ in range(n)]


def walks(rng, n):
    return [rng.standard_normal((rng.integers(3, 12), 1)).cumsum(axis=0) for _ in range(n)]


def steps(rng, n):
    return [rng.integers(0, 3, (rng.integers(2, 5), 1)).astype(float) for _ in range(n)]


DRAWN = {
    "levenshtein": (words, {"distance": "levenshtein"}),
    "osa": (words, {"distance": "osa"}),
    "dtw": (walks, {"distance": "dtw"}),
    "dtw window": (walks, {"distance": "dtw", "window": 2}),
    "dtw ties": (steps, {"distance": "dtw"}),
    "hausdorff": (walks, {"distance": "hausdorff"}),
    "hausdorff ties": (steps, {"distance": "hausdorff"}),
    "emd": (walks, {"distance": "emd"}),
    "mhd": (walks, {"distance": "mhd"}),
    "function": (
        lambda rng, n: rng.integers(0, 50, n).tolist(),
        {"distance": lambda a, b: abs(a - b)},
    ),
    "metric": (
        lambda rng, n: rng.integers(0, 50, n).tolist(),
        {"distance": lambda a, b: abs(a - b), "metric": True},
    ),
}


def drawn(name, seed, n):
    """Return n objects, the options of their search, and their distances."""
    draw, options = DRAWN[name]
    X = draw(np.random.default_rng(seed), n)
    params = {key: value for key, value in options.items() if key != "metric"}
    return X, options, d2ke.distance_matrix(X, **params)
