# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours among many equal objects are those of the whole matrix, and cost no more distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbor_cases import check_bounded, check_nearest, check_within
from reference import counted, examples

import d2ke


def difference(x, y):
    return abs(x - y)


difference.version = "1"


def directed(x, y):
    return abs(x - y) + 0.5 * (x > y) + 0.25


WALKS = [np.random.default_rng(i).integers(-1, 2, (1 + i % 4, 2)).astype(float) for i in range(6)]
WEIGHTS = [np.arange(1.0, 1 + len(walk)) for walk in WALKS]
KINDS = {
    "strings": (d2ke.pack(["ab", "ba", "", "abc", "b", "cab"]), "levenshtein", {}),
    "normalized": (d2ke.pack(["ab", "ba", "", "abc", "b", "cab"]), "osa", {"normalize": True}),
    "letters": (
        d2ke.pack(["ab", "a", "", "bba"]),
        "weighted_levenshtein",
        {"substitution": np.full((2, 2), 0.5), "alphabet": "ab"},
    ),
    "infix": (d2ke.pack(["ab", "ba", "", "abc", "b"]), "levenshtein", {"mode": "infix"}),
    "words": (d2ke.pack(["a b", "b a", "c", "a c"]), "token_sort", {}),
    "series": (d2ke.pack(WALKS, channels_first=False), "dtw", {"window": 2}),
    "metric": (d2ke.pack(WALKS, channels_first=False), "msm", {}),
    "sets": (d2ke.pack(WALKS, kind="sets", channels_first=False), "hausdorff", {}),
    "directed sets": (
        d2ke.pack(WALKS, kind="sets", channels_first=False),
        "directed_mhd",
        {},
    ),
    "weighted sets": (
        d2ke.pack(WALKS + WALKS, kind="sets", weights=WEIGHTS * 2, channels_first=False),
        "emd",
        {},
    ),
    "records": (
        d2ke.pack_records({"name": ["ab", "b", "ab", "c"], "age": [1.0, 1, 2, 1]}),
        {"name": "levenshtein", "age": "absolute"},
        {"weights": {"name": 1, "age": 0.5}},
    ),
    "function": ([3, 1, 4, 9], difference, {}),
    "function that is a metric": ([3, 1, 4, 9], difference, {"metric": True}),
    "directed function": ([3, 1, 4, 9], directed, {}),
}


def taken(items, places):
    return [items[i] for i in places] if isinstance(items, list) else items[np.array(places)]


@st.composite
def multiples(draw, items, least=2):
    """A collection in which most objects occur several times."""
    places = st.integers(0, len(items) - 1)
    return taken(items, draw(st.lists(places, min_size=least, max_size=25)))


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=examples(25), deadline=None)
@given(data=st.data())
def test_all_objects_have_the_neighbours_of_the_matrix(name, data):
    items, distance, params = KINDS[name]
    X, Y = data.draw(multiples(items)), data.draw(st.none() | multiples(items, 1))
    D = d2ke.distance_matrix(
        X, Y, distance, **{key: value for key, value in params.items() if key != "metric"}
    )
    options = {"distance": distance, "n_threads": 1, **params}
    k = data.draw(st.integers(1, D.shape[1] - (Y is None)))
    radius = float(data.draw(st.sampled_from(D.ravel().tolist())))
    within = {"radius": radius} if data.draw(st.booleans()) else {}
    check_nearest(D, X, Y, k=k, **within, **options)
    check_within(D, X, Y, radius=radius, **options)


@settings(max_examples=examples(20), deadline=None)
@given(data=st.data())
def test_searches_by_bounds(data):
    name = data.draw(st.sampled_from(["series", "metric"]))
    items, distance, params = KINDS[name]
    check_bounded(data, data.draw(multiples(items, 3)), {"distance": distance, **params})


def test_distances_of_copies_are_not_computed_again():
    names = ["kitten", "mitten", "sitting", "fitting"]
    _, info = counted(d2ke.nearest, names * 100, k=5, distance="levenshtein")
    assert info.computed <= len(names) ** 2
    _, info = counted(d2ke.within, names * 100, names[:2] * 50, radius=1, distance="osa")
    assert info.computed <= 2 * len(names)
