# SPDX-License-Identifier: BSD-3-Clause
"""Groups are those of the whole matrix, and equal objects stay together."""

import contextlib
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import examples
from test_hdbscan import mutual
from tree_cases import DRAWN, drawn, equal, kruskal, large_search

import d2ke
from d2ke.groups import candidates
from d2ke.groups.record_groups import linked_one_to_one, linked_pairs
from d2ke.objects.copies import find_copies, no_copies

SETS = [[[0.0, 1]], [[0.0, 1], [2, 2]], [[2.0, 2], [0, 1]], [[5.0, 5]], [[-0.0, 1]]]
KINDS = {
    "strings": (["ab", "ba", "", "abcd", "b", "cab"], {"distance": "levenshtein"}),
    "words": (["a b", "b a", "c", "a c", "c d e"], {"distance": "token_sort"}),
    "sets": (SETS, {"distance": "hausdorff"}),
    "series": (SETS, {"distance": "dtw"}),
    "weighted sets": (SETS, {"distance": "emd"}),
    "never 0, letters": (
        ["ab", "a", "", "bba"],
        {
            "distance": "weighted_levenshtein",
            "substitution": np.full((2, 2), 0.5),
            "alphabet": "ab",
        },
    ),
    "never 0": ([3, 1, 4, 9], {"distance": lambda a, b: abs(a - b) + 1}),
}


@st.composite
def objects(draw, name, limit=30):
    """Objects that mostly occur several times, or are drawn; equality, distances and options."""
    if name in DRAWN:
        X, options, D = drawn(name, draw(st.integers(0, 2**32 - 1)), draw(st.integers(1, 40)))
        return X, equal(X), D, options
    items, options = KINDS[name]
    places = draw(st.lists(st.integers(0, len(items) - 1), min_size=1, max_size=limit))
    X = [items[place] for place in places]
    if name in ("sets", "series"):
        kind = name if name == "sets" else None
        X = d2ke.pack(X, channels_first=False, **({"kind": kind} if kind else {}))
    if name == "weighted sets":
        weights = [[1.0 + i for i in range(len(items[place]))] for place in places]
        X = d2ke.pack(X, channels_first=False, kind="sets", weights=weights)
    return X, equal(X), d2ke.distance_matrix(X, **options), options


def together(labels, same):
    labels = np.asarray(labels)
    return (labels[:, None] == labels)[same].all()


def n_distinct(same):
    return len(np.unique(same, axis=0))


kinds = pytest.mark.parametrize("name", [*KINDS, *DRAWN])
some = settings(max_examples=examples(30), deadline=None)


@kinds
@some
@given(data=st.data(), large=st.booleans())
def test_trees(name, data, large):
    X, same, D, options = data.draw(objects(name))
    with large_search() if large and n_distinct(same) > 3 else contextlib.nullcontext():
        tree = d2ke.spanning_tree(X, n_threads=2, **options)
        Z = d2ke.single_linkage(X, **options)
    edges, weights = kruskal(D)
    assert np.array_equal(tree.edges, edges)
    assert np.array_equal(tree.weights, weights)
    assert tree.weights.dtype == D.dtype
    assert np.array_equal(Z, tree.linkage())


@kinds
@some
@given(data=st.data(), min_samples=st.integers(1, 9), quantile=st.floats(0, 0.6))
def test_dbscan(name, data, min_samples, quantile):
    cluster = pytest.importorskip("sklearn.cluster")
    X, same, D, options = data.draw(objects(name))
    eps = float(np.quantile(D, quantile))
    found = d2ke.dbscan(X, eps, min_samples, **options)
    np.fill_diagonal(D, 0)  # an object counts for itself, however far it is from a copy
    wanted = cluster.DBSCAN(eps=eps or 1e-9, min_samples=min_samples, metric="precomputed").fit(D)
    assert np.array_equal(found.labels, wanted.labels_)
    assert np.array_equal(np.flatnonzero(found.core), wanted.core_sample_indices_)
    assert name.startswith("never 0") or together(found.labels, same)


@kinds
@some
@given(data=st.data(), min_samples=st.integers(1, 9), size=st.integers(2, 9), large=st.booleans())
def test_hdbscan(name, data, min_samples, size, large):
    X, same, D, options = data.draw(objects(name))
    with large_search() if large and n_distinct(same) > 3 else contextlib.nullcontext():
        found = d2ke.hdbscan(
            X, min_cluster_size=size, min_samples=min_samples, n_threads=2, **options
        )
    if len(X) > 1:
        core, reachable = mutual(D, min_samples)
        edges, weights = kruskal(reachable, same)
        assert np.array_equal(found.core_distances, core)
        assert np.array_equal(found.tree.edges, edges)
        assert np.array_equal(found.tree.weights, weights)
    if not name.startswith("never 0"):
        assert together(found.labels, same)
        assert together(found.probabilities, same)


@kinds
@some
@given(data=st.data(), k=st.integers(1, 6), seed=st.integers(0, 99), sample=st.integers(1, 6))
def test_kmedoids(name, data, k, seed, sample):
    X, same, D, options = data.draw(objects(name))
    k = min(k, len(X))
    sample_size = max(k, sample)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = d2ke.kmedoids(X, k, seed=seed, **options)
        some = d2ke.kmedoids(X, k, seed=seed, sample_size=sample_size, **options)
    for result in (found, some):
        count = len(result.medoids)
        assert count == k or caught
        assert np.unique(result.labels).tolist() == list(range(count))
        assert np.array_equal(result.labels, D[:, result.medoids].argmin(axis=1))
        assert np.array_equal(result.distances, D[:, result.medoids].min(axis=1))
        assert result.loss == pytest.approx(result.distances.sum())
        assert name.startswith("never 0") or together(result.labels, same)
    for place in range(len(found.medoids)):
        for other in range(len(X)):
            swapped = found.medoids.copy()
            swapped[place] = other
            assert D[:, swapped].min(axis=1).sum() >= found.loss * (1 - 1e-9)


def test_fewer_clusters_than_wanted_are_warned_of():
    with pytest.warns(UserWarning, match="only 2 of 3 clusters have objects"):
        found = d2ke.kmedoids(["a"] * 10 + ["b"] * 10, 3, distance="levenshtein")
    assert found.labels.tolist() == [0] * 10 + [1] * 10
    assert found.medoids.tolist() == [0, 10]


NAMES = ["anna lee", "ana lee", "jon smith", "john smith", "bo ek", "anna li", "bo eck", "zoe"]


@st.composite
def tables(draw):
    """A table in which rows occur several times, and its distinct rows."""
    towns = st.sampled_from(["rome", "roma", "oslo", None])
    people = draw(st.lists(st.tuples(st.sampled_from(NAMES), towns), min_size=2, max_size=9))
    rows = draw(st.lists(st.sampled_from(people), min_size=2, max_size=25))
    assume(any(town for _, town in rows))  # a column without any entry is refused
    return {"name": [name for name, _ in rows], "town": [town for _, town in rows]}, rows


def without_copies(monkeypatch):
    """Compare all rows, equal ones too."""
    monkeypatch.setattr(candidates, "distinct_rows", lambda columns: no_copies(len(columns[0])))


@settings(max_examples=examples(60), deadline=None)
@given(drawn=tables(), data=st.data())
def test_dedupe_has_the_weights_and_the_odds_of_all_rows(drawn, data):
    table, rows = drawn
    options = {"radius": {"name": 2, "town": 1}}
    if data.draw(st.booleans()):
        del table["town"]
        options, rows = {"radius": 2}, [row[:1] for row in rows]
    i, j = np.triu_indices(len(rows), 1)
    if data.draw(st.booleans()) and len(set(rows)) > 1:
        match = np.array([rows[a] == rows[b] for a, b in zip(i, j, strict=True)])
        if match.any() and not match.all():
            options["known"] = np.column_stack([i, j]), match
    linkage = data.draw(st.sampled_from(["average", "complete", "single"]))
    found = d2ke.dedupe(table, linkage=linkage, **options)
    with pytest.MonkeyPatch.context() as patch:
        without_copies(patch)
        plain = d2ke.dedupe(table, linkage=linkage, **options)
    np.testing.assert_allclose(found.weights.evidence, plain.weights.evidence, atol=1e-7)
    assert found.weights.offset == pytest.approx(plain.weights.offset, abs=1e-7)
    first = {row: number for number, row in reversed(list(enumerate(rows)))}
    apart = [n for n, (a, b) in enumerate(plain.pairs.tolist())
             if a == first[rows[a]] and b == first[rows[b]]]  # fmt: skip
    assert found.pairs.tolist() == plain.pairs[apart].tolist()
    np.testing.assert_allclose(found.distances, plain.distances[apart], atol=1e-9)
    same = np.array([[a == b for b in rows] for a in rows])
    assert together(found.labels, same)
    firsts = [np.flatnonzero(found.labels == g)[0] for g in range(found.labels.max() + 1)]
    assert firsts == sorted(firsts)
    if linkage == "single" and together(plain.labels, same):
        assert np.array_equal(found.labels, plain.labels)
        assert np.array_equal(found.examples, plain.examples)


@pytest.mark.filterwarnings("ignore:one_to_one=True leaves")
@settings(max_examples=examples(25), deadline=None)
@given(one=tables(), two=tables(), one_to_one=st.booleans(), threshold=st.floats(0.2, 0.95))
def test_link_is_that_of_all_rows(one, two, one_to_one, threshold):
    options = {"radius": {"name": 2, "town": 1}, "one_to_one": one_to_one}
    found = d2ke.link(one[0], two[0], threshold=threshold, **options)
    with pytest.MonkeyPatch.context() as patch:
        without_copies(patch)
        plain = d2ke.link(one[0], two[0], threshold=threshold, **options)
    np.testing.assert_allclose(found.weights.evidence, plain.weights.evidence, atol=1e-7)
    if len(found.pairs) == len(plain.pairs):  # odds that nearly tie are ordered by rounding
        np.testing.assert_allclose(found.distances.sum(), plain.distances.sum(), atol=1e-6)
    if not one_to_one:
        assert found.pairs.tolist() == plain.pairs.tolist()


@settings(max_examples=examples(100), deadline=None)
@given(data=st.data())
def test_one_to_one_links_the_likeliest_free_rows(data):
    sides = [data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=12)) for _ in range(2)]
    x, y = map(find_copies, sides)
    n, m = len(x.firsts), len(y.firsts)
    pairs = np.array([[a, b] for a in range(n) for b in range(m) if data.draw(st.booleans())])
    pairs = pairs.reshape(-1, 2).astype(np.int64)
    odds = np.array([data.draw(st.sampled_from([1.0, 2.0, 3.0])) for _ in pairs])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        places, found = linked_one_to_one(pairs, odds, x, y)
    every, rows = linked_pairs(pairs, odds, x, y)
    wanted, used = [], (set(), set())
    for place in np.argsort(-odds[every], kind="stable"):
        i, j = rows[place].tolist()
        if i not in used[0] and j not in used[1]:
            used[0].add(i)
            used[1].add(j)
            wanted.append([i, j])
    assert found.tolist() == sorted(wanted)
    # the warning: rows without a partner for which a row of the same odds has theirs
    odds_of = {(i, j): odds[place] for place, (i, j) in zip(every, rows.tolist(), strict=True)}
    near = {(y.numbers[j], odds_of[i, j]) for i, j in wanted}
    lost = {i for (i, j), o in odds_of.items() if (y.numbers[j], o) in near} - used[0]
    near = {(x.numbers[i], odds_of[i, j]) for i, j in wanted}
    others = {j for (i, j), o in odds_of.items() if (x.numbers[i], o) in near} - used[1]
    told = [str(warning.message) for warning in caught]
    first = f"left[{min(lost)}]" if lost else f"right[{min(others, default=0)}]"
    assert len(told) == bool(lost | others)
    assert all(f"such rows: {len(lost) + len(others)}." in text for text in told)
    assert all(f"leaves {first} without" in text for text in told)
    assert np.array_equal(x.numbers[found[:, 0]], pairs[places, 0])
    assert np.array_equal(y.numbers[found[:, 1]], pairs[places, 1])


def test_many_equal_rows_are_one_pair_with_themselves():
    found = d2ke.dedupe(["ab"] * 3000 + ["xyz"], radius=1)
    assert found.labels.tolist() == [0] * 3000 + [1]
    assert found.pairs.shape == (0, 2)
    left, right = ["ab"] * 2000, ["ab"] * 1500
    with pytest.warns(UserWarning, match=r"left\[1500\] without a link.*: 500\."):
        linked = d2ke.link(left, right, radius=1)
    assert linked.pairs.tolist() == [[i, i] for i in range(1500)]


def test_equal_rows_that_do_not_match_teach_and_stay_together():
    names = [*["jon smith"] * 4, "john smith", "ann lee", "anne lee", "bo ek"]
    plain = d2ke.dedupe(names, radius=1)
    known = [[0, 1], [1, 2], [5, 6]], [0, 0, 1]
    found = d2ke.dedupe(names, radius=1, known=known)
    assert found.labels[:4].tolist() == [0] * 4
    assert found.weights.offset < plain.weights.offset
