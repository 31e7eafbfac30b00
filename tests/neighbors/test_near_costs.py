# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours by edit distances with costs, and the bounds of these."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples, same

import d2ke
from d2ke._ext import refine
from d2ke.distances.pairs import check_pairs
from d2ke.neighbors import bounded, edit_costs
from d2ke.neighbors.problem import NeighborSearch

pytestmark = pytest.mark.usefixtures("isa")
many = settings(max_examples=examples(80))

NUMBERS = st.sampled_from([0.0, 0.05, 0.3, 1.0, 2.5, 7.0, 1e6])


@st.composite
def costs(draw):
    """Costs of some of four letters, in both orders, with or without a transposition."""
    letters = draw(st.sampled_from(["abc", "ab", "z"]))
    pairs = {(a, b): draw(NUMBERS) for a in letters for b in letters}
    params = {"substitution": pairs, "mismatch": draw(NUMBERS)}
    for name in ("insertion", "deletion"):
        params[name] = {a: draw(NUMBERS) for a in letters} | {None: draw(NUMBERS)}
    if draw(st.booleans()):
        params["transposition"] = draw(NUMBERS)
    return params


def words(draw, most=40):
    return draw(st.lists(st.text("abcdé", max_size=12), min_size=1, max_size=most))


@many
@given(data=st.data())
def test_bounds_are_never_above_the_distance(data):
    X, Y = words(data.draw, 6), words(data.draw)
    params = data.draw(costs())
    pairs = check_pairs(X, Y, "weighted_levenshtein", params)
    D = d2ke.distance_matrix(X, Y, "weighted_levenshtein", **params)
    bounds = edit_costs.CostIndex(pairs).bounds(pairs, 1).bounds
    limit = float(data.draw(st.sampled_from(list(D.ravel()))))
    for cut in (np.inf, limit):
        for bound in refine.bounds_of(bounds, *D.shape, cut):
            assert (bound <= np.where(cut >= D, D * (1 + 1e-12), np.inf)).all()
    closest = refine.bounds_of(bounds, *D.shape)[-1]
    np.testing.assert_allclose(closest, D, rtol=1e-3, atol=1e-3 * max(1.0, D.max()))


@many
@given(data=st.data())
def test_searches_find_what_the_matrix_has(data):
    X, Y, params = words(data.draw, 6), words(data.draw), data.draw(costs())
    D = d2ke.distance_matrix(X, Y, "weighted_levenshtein", **params)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded, "FEWEST_PAIRS", 0)
        patch.setattr(bounded, "pays", lambda *_: True)
        k, radius = data.draw(st.integers(1, len(Y))), float(data.draw(st.sampled_from([*D.flat])))
        near = d2ke.nearest(X, Y, k=k, distance="weighted_levenshtein", **params)
        graph = d2ke.within(X, Y, radius=radius, distance="weighted_levenshtein", **params)
    order = np.lexsort((np.arange(len(Y)) + 0 * D, D), axis=1)[:, :k]
    same(near[0], order)
    same(near[1], np.take_along_axis(D, order, 1))
    rows, columns = np.nonzero(radius >= D)
    same(graph.tocoo().row, rows.astype(graph.tocoo().row.dtype))
    assert (graph.indices == columns).all()
    same(graph.data, D[rows, columns])


def test_many_words():
    """An index of words, whose queries come one by one, and one after another."""
    rng = np.random.default_rng(0)
    Y = ["".join(rng.choice(list("abcdefgh"), n)) for n in rng.integers(0, 12, 3000)]
    pairs = {(a, b): float(rng.random() + 0.1) for a in "abcdef" for b in "abcdef" if a != b}
    params = {"substitution": pairs, "mismatch": 1.5, "deletion": 0.8, "transposition": 0.2}
    index = d2ke.Index(Y, distance="weighted_levenshtein", **params)
    assert isinstance(index._collection.segments[0].index(1), edit_costs.CostIndex)
    X = [y[1:][::-1] + "x" for y in Y[:40]]
    D = d2ke.distance_matrix(X, Y, "weighted_levenshtein", **params)
    order = np.lexsort((np.arange(len(Y)) + 0 * D, D), axis=1)[:, :7]
    together = index.nearest(X, k=7)
    same(together[0], order)
    for i, x in enumerate(X):
        same(index.nearest([x], k=7)[0], order[i : i + 1])


@pytest.mark.parametrize(
    ("Y", "params", "applies"),
    [
        (["ab", "ba"], {}, True),
        (["ab", "ba"], {"transposition": 1.0}, True),
        (["ab", "ba"], {"mode": "infix"}, False),
        (["ab", "ba"], {"gap_open": 2.0, "gap_extend": 1.0}, False),
        (["ab", "a" * 256], {}, False),
        (["".join(map(chr, range(0x4E00, 0x4E00 + 200)))] * 2 + ["x"], {}, True),
        ([chr(0x4E00 + i) for i in range(1024)], {}, False),
    ],
)
def test_what_the_bounds_are_for(Y, params, applies):
    pairs = check_pairs(Y, None, "weighted_levenshtein", params)
    search = NeighborSearch(pairs, True, True, 1)
    assert edit_costs.CostIndex.applies(search, True) == applies
