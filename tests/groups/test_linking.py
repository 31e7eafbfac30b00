# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

import d2ke
from d2ke.groups.pair_weights import learn_weights

PEOPLE = {
    "name": ["Anna Lee", "ANA LEE", "Jon Smith", "John Smith", "Bo Ek", None],
    "street": ["Main St. 5", "main st 5", "Elm Rd 1", None, "Elm Rd 7", "elm rd. 7"],
}
RADIUS = {"name": 2, "street": 3}


def record_distances(table, radius):
    """All distances of records, by the definition."""
    parts = []
    for name, own in radius.items():
        part = np.ones((len(table[name]),) * 2)
        there = [i for i, entry in enumerate(table[name]) if entry]
        D = d2ke.distance_matrix([table[name][i] for i in there], distance="levenshtein")
        part[np.ix_(there, there)] = D / own
        parts.append(part)
    D = np.mean(parts, axis=0)
    np.fill_diagonal(D, 0)
    return D


def same_groups(a, b):
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(5, 40), threshold=st.floats(0.1, 1))
def test_groups_are_those_of_all_distances(seed, n, threshold):
    rng = np.random.default_rng(seed)
    table = {
        name: ["".join(rng.choice(list("abc"), rng.integers(1, 9))) for _ in range(n)]
        for name in ("name", "street")
    }
    for i in rng.integers(0, n, 3).tolist():
        table["name"][i] = None
    D = record_distances(table, RADIUS)
    for method in ("complete", "single"):
        found = d2ke.dedupe(table, radius=RADIUS, threshold=threshold, linkage=method)
        i, j = found.pairs.T
        assert (i < j).all()
        assert np.array_equal(found.distances, D[i, j])
        seen = np.zeros_like(D, bool)
        seen[i, j] = seen[j, i] = True
        # A pair in which both rows lack an entry has no column to be found by.
        both = np.array([entry is None for entry in table["name"]])
        assert not ((D <= 1) & ~seen & ~np.eye(n, dtype=bool) & ~np.add.outer(both, both)).any()
        if method == "complete":
            joined = found.labels[:, None] == found.labels
            assert D[joined].max() <= threshold
        else:
            Z = linkage(squareform(np.where(seen, D, 9), checks=False), method)
            assert same_groups(found.labels, fcluster(Z, threshold, "distance"))
        firsts = [int(np.flatnonzero(found.labels == g)[0]) for g in range(len(found.examples))]
        assert firsts == sorted(firsts)
        for g, example in enumerate(found.examples):
            assert found.labels[example] == g


@pytest.mark.parametrize("seed", range(20))
def test_complete_linkage_is_scipy_s(seed):
    rng = np.random.default_rng(seed)
    X = d2ke.pack(rng.random((30, 1, 4)), channels_first=False)  # no ties
    options = {"distance": "dtw"}
    D = d2ke.distance_matrix(X, **options)
    radius = float(np.quantile(D, 0.3))
    found = d2ke.dedupe(X, radius=radius, **options)
    Z = linkage(squareform(D, checks=False), "complete")
    assert same_groups(found.labels, fcluster(Z, radius, "distance"))
    for g, example in enumerate(found.examples):
        rows = np.flatnonzero(found.labels == g)
        assert example == rows[np.argmin(D[np.ix_(rows, rows)].sum(axis=1).round(12))]


def test_cleaned_table_with_missing_entries():
    found = d2ke.dedupe(PEOPLE, radius=RADIUS, clean=["case", "punctuation"])
    assert found.labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert found.examples.tolist() == [0, 2, 4]
    assert [0, 1] in found.pairs.tolist()
    plain = d2ke.dedupe(PEOPLE, radius=RADIUS)
    assert plain.labels[0] != plain.labels[1]


@pytest.mark.parametrize(
    ("steps", "a", "b"),
    [
        (["case"], "STRASSE", "straße"),
        (["accents"], "Zoë Åström", "Zoe Astrom"),
        (["punctuation"], "O'Neil-Lee, A.", "ONeil Lee A"),
        (["spaces"], " a  b ", "a b"),
        (["case", "accents"], "É", "e"),
    ],
)
def test_cleaning(steps, a, b):
    assert d2ke.dedupe([a, b], radius=0.5, clean=steps).labels.tolist() == [0, 0]
    assert d2ke.dedupe([a, b], radius=0.5).labels.tolist() == [0, 1]


def test_nothing_left_is_missing():
    found = d2ke.dedupe(["?", "!", "a"], radius=1, clean=["punctuation"])
    assert found.labels.tolist() == [0, 1, 2]


def test_chains_are_cut():
    chain = ["nosen m lerdael", "nosen m lordael", "nosen m lormael", "nosen m lormkael"]
    single = d2ke.dedupe(chain, radius=1, linkage="single")
    assert single.labels.tolist() == [0, 0, 0, 0]
    assert d2ke.dedupe(chain, radius=1).labels.tolist() == [0, 0, 1, 1]


def test_known_pairs_choose_the_weights():
    words = ["aaaa", "aaab", "bbbb", "bbcc", "dddd", "dddd"]
    known = [[0, 1], [4, 5], [2, 3], [0, 2]], [1, 1, 0, 0]
    found = d2ke.dedupe(words, radius=2, known=known)
    assert found.threshold == 0.5
    assert found.labels.tolist() == [0, 0, 1, 2, 3, 3]
    i, j = found.pairs.T
    D = d2ke.distance_matrix(words, distance="levenshtein")[i, j] / 2
    score = found.weights.distance[0] * D - found.weights.offset
    np.testing.assert_allclose(found.distances, 1 / (1 + np.exp(-score)))
    strict = d2ke.dedupe(words, radius=2, known=known, threshold=0.001)
    assert strict.labels.tolist() == [0, 1, 2, 3, 4, 4]


def drawn_records(n, seed):
    """A name with typos, a nickname that says little and may be missing; of whom they are."""
    rng = np.random.default_rng(seed)
    letters = list("abcdefghij")
    names = rng.choice(letters, (n // 2, 8))
    truth = np.tile(np.arange(n // 2), 2)
    noisy = np.where(rng.random((n, 8)) < 0.1, rng.choice(letters, (n, 8)), names[truth])
    other = rng.choice(letters, (n, 3))
    table = {
        "name": ["".join(letters) for letters in noisy],
        "nick": [None if rng.random() < 0.2 else "".join(letters) for letters in other],
    }
    return table, truth


@pytest.mark.parametrize("near", [False, True])
def test_learned_weights_beat_the_mean(near):
    table, truth = drawn_records(400, 0)
    radius = {"name": 3, "nick": 1}
    plain = d2ke.dedupe(table, radius=radius)
    right = truth[plain.pairs[:, 0]] == truth[plain.pairs[:, 1]]
    rng = np.random.default_rng(1)
    rows = np.flatnonzero(plain.distances <= 1.5) if near else np.arange(len(right))
    some = rng.choice(rows, 60, replace=False)
    found = d2ke.dedupe(table, radius=radius, known=(plain.pairs[some], right[some]))
    assert found.weights.distance[0] > 2 * found.weights.distance[1] >= 0

    def f1(result):
        i, j = np.triu_indices(len(truth), 1)
        together, matches = result.labels[i] == result.labels[j], truth[i] == truth[j]
        return 2 * (together & matches).sum() / (together.sum() + matches.sum())

    assert f1(found) > f1(plain) + 0.1
    assert np.array_equal(found.pairs, plain.pairs)


def test_learned_weights_are_the_least_loss():
    rng = np.random.default_rng(0)
    parts = rng.random((2, 50)) * 2
    parts[0, :9] = np.nan
    match = parts[1] + rng.normal(0, 0.3, 50) < 1
    found = learn_weights(("a", "b"), parts, match)

    def loss(v):
        score = np.where(np.isnan(parts[0]), v[2], v[0] * parts[0]) + v[1] * parts[1] - v[4]
        p = 1 / (1 + np.exp(score))
        away = np.array(v) - [6, 6, 6, 6, 12]
        return -np.log(np.where(match, p, 1 - p)).sum() + 0.05 * (away**2).sum()

    best = [*found.distance, *found.missing, found.offset]
    for place in range(5):
        for step in (-0.05, 0.05):
            other = best.copy()
            other[place] = max(0.0, other[place] + step)
            assert loss(other) >= loss(best)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (([[0, 1]], [1]), "needs pairs that match, and pairs that do not"),
        (([[0, 1], [1, 2]], [1]), "must say of each of the 2 pairs"),
        (([[0, 9], [1, 2]], [1, 0]), r"known\[0\] is \[0, 9\], but X has 3 rows"),
        (([0, 1], [1, 0]), "must have pairs of rows"),
    ],
)
def test_wrong_known_pairs(known, message):
    with pytest.raises(ValueError, match=message):
        d2ke.dedupe(["ab", "ac", "bd"], radius=1, known=known)


def test_link_of_two_tables():
    left = {"name": ["anna lee", "jon smith", "bo ek", "anna lee"]}
    right = {"name": ["john smith", "ana lee", "zoe park"], "age": [1, 2, 3]}
    found = d2ke.link(left, right, radius={"name": 1})
    assert found.pairs.tolist() == [[0, 1], [1, 0]]
    assert found.distances.tolist() == [1, 1]
    every = d2ke.link(left, right, radius={"name": 1}, one_to_one=False)
    assert every.pairs.tolist() == [[0, 1], [1, 0], [3, 1]]


def test_columns_of_other_kinds():
    table = {"walk": [[0.0, 1.0], [0.0, 1.1], [5.0, 5.0]], "name": ["ab", "ab", "ab"]}
    distance = {"walk": ("dtw", {"window": 1}), "name": "levenshtein"}
    found = d2ke.dedupe(table, radius={"walk": 0.5, "name": 1}, distance=distance)
    assert found.labels.tolist() == [0, 0, 1]
