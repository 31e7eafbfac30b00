# SPDX-License-Identifier: BSD-3-Clause
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import d2ke
from d2ke.groups.pair_weights import Multiplicities, _calibrate, _commonness, _evidence
from d2ke.groups.record_groups import Linkage, group_rows

PEOPLE = {
    "name": ["Anna Lee", "ANA LEE", "Jon Smith", "John Smith", "Bo Ek", None],
    "street": ["Main St. 5", "main st 5", "Elm Rd 1", None, "Elm Rd 7", "elm rd. 7"],
}
RADIUS = {"name": 2, "street": 3}


def same_groups(a, b):
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


@settings(max_examples=examples(40), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 40), threshold=st.floats(0.1, 0.9))
def test_candidates_groups_and_examples(seed, n, threshold):
    rng = np.random.default_rng(seed)
    table = {
        name: ["".join(rng.choice(list("abc"), rng.integers(1, 9))) for _ in range(n)]
        for name in RADIUS
    }
    table["name"][n // 2] = None if n > 1 else "a"
    wanted = np.zeros((n, n), bool)
    for name, radius in RADIUS.items():
        there = [i for i, entry in enumerate(table[name]) if entry]
        D = d2ke.distance_matrix([table[name][i] for i in there], distance="levenshtein")
        wanted[np.ix_(there, there)] |= radius >= D
    options = {"radius": RADIUS, "threshold": threshold}
    found = d2ke.dedupe(table, linkage="single", **options)
    rows = list(zip(*table.values(), strict=True))
    again = [i for i, row in enumerate(rows) if row in rows[:i]]
    wanted[again], wanted[:, again] = False, False
    assert found.pairs.tolist() == np.argwhere(np.triu(wanted, 1)).tolist()
    assert ((found.distances >= 0) & (found.distances <= 1)).all()
    near = found.pairs[found.distances <= threshold]
    near = np.vstack([near, [[rows.index(row), i] for i, row in enumerate(rows)]])
    links = coo_array((np.ones(len(near)), tuple(near.T)), shape=(n, n))
    assert same_groups(found.labels, connected_components(links, directed=False)[1])
    for result in (found, d2ke.dedupe(table, **options)):
        firsts = [np.flatnonzero(result.labels == g)[0] for g in range(len(result.examples))]
        assert firsts == sorted(firsts)
        assert result.labels[result.examples].tolist() == list(range(len(result.examples)))
        again = d2ke.dedupe(table, linkage="single", n_threads=2, **options)
        assert np.array_equal(again.labels, found.labels)


@pytest.mark.parametrize("seed", range(20))
def test_average_linkage_is_scipy_s(seed):
    n, rng = 30, np.random.default_rng(seed)
    odds = rng.uniform(-7, 7, n * (n - 1) // 2)  # no ties below the clip
    pairs = np.argwhere(np.triu(np.ones((n, n)), 1))
    i, j = pairs.T
    given = rng.random(len(odds)) < 0.8
    cut = rng.uniform(-2, 2)
    labels = group_rows(np.ones(n, int), pairs[given], odds[given], Linkage("average", cut))
    strong = np.clip(np.where(given, odds, -9), -5, 5)
    strong[strong == 5] -= rng.random((strong == 5).sum()) * 1e-9
    expected = fcluster(linkage(-strong + 5, "average"), 5 - cut, "distance")
    if (odds[given] < 5).all():
        assert same_groups(labels, expected)
    for a, b in itertools.combinations(range(labels.max() + 1), 2):
        across = (labels[i] == a) & (labels[j] == b) | (labels[i] == b) & (labels[j] == a)
        assert strong[across].mean() < cut
    for g in range(labels.max() + 1):
        inside = (labels[i] == g) & (labels[j] == g)
        assert not inside.any() or strong[inside].mean() > cut - 1e-6


def test_evidence_is_isotonic():
    isotonic = pytest.importorskip("sklearn.isotonic")
    rng = np.random.default_rng(0)
    for _ in range(50):
        matches, others = rng.random((2, 8)) + 0.01
        ratios = np.log(matches / matches.sum() / (others / others.sum()))
        fit = isotonic.isotonic_regression(ratios, sample_weight=matches, increasing=False)
        np.testing.assert_allclose(_evidence(matches, others), fit, rtol=1e-9)


def test_commonness_by_the_definition():
    rng = np.random.default_rng(0)
    n, m = 6, 40
    ends, levels = rng.integers(0, n, (2, m)), rng.integers(0, 5, m)
    ends[1] += n
    others, share = rng.random(m), np.sort(rng.random(5)) / 10
    partners = np.full(2 * n, n)
    counted = Multiplicities(np.ones(m), tuple(ends), (np.ones(m), np.ones(m)), partners, n)
    found = _commonness(levels, others, share, counted)
    for pair in range(m):
        expected = 0.0
        for row in ends[:, pair]:
            near = [q for q in range(m) if q != pair and row in ends[:, q]]
            number = sum(others[q] for q in near if levels[q] <= levels[pair])
            expected += np.log((number + 0.1) / (share[levels[pair]] * n + 0.1)) / 2
        assert found[pair] == pytest.approx(expected, abs=1e-9)


def scores(labels, truth):
    i, j = np.triu_indices(len(truth), 1)
    together, matches = labels[i] == labels[j], truth[i] == truth[j]
    return (together & matches).sum() / together.sum(), (together & matches).sum() / matches.sum()


def drawn_records(n, seed, copies=2, alphabet="abcdefghij"):
    """A name and a town with typos, a nickname that says nothing and may be missing; the truth."""
    rng = np.random.default_rng(seed)
    letters = list(alphabet)
    people = n // copies
    truth = np.arange(n) % people
    table = {}
    for column, entries in (("name", people), ("town", 30)):
        own = rng.choice(letters, (entries, 8))[rng.integers(0, entries, people)]
        noisy = np.where(rng.random((n, 8)) < 0.07, rng.choice(letters, (n, 8)), own[truth])
        table[column] = ["".join(row) for row in noisy]
    other = rng.choice(letters, (n, 3))
    table["nick"] = [None if rng.random() < 0.2 else "".join(row) for row in other]
    return table, truth


DRAWN_RADIUS = {"name": 3, "town": 2, "nick": 1}


@pytest.mark.parametrize("copies", [2, 7])
@pytest.mark.parametrize("alphabet", ["abcdefghij", "абвгдежзий", "永和九年歲在癸丑暮"])
def test_records_of_many_kinds(copies, alphabet):
    table, truth = drawn_records(400, 5, copies, alphabet)
    truth = np.unique(truth, return_inverse=True)[1]
    found = d2ke.dedupe(table, radius=DRAWN_RADIUS)
    precision, recall = scores(found.labels, truth)
    assert precision > 0.9
    assert recall > 0.8
    says = found.weights.evidence[:, 0] - found.weights.evidence[:, -1]
    assert says[0] > says[2] - 1


def test_without_duplicates_hardly_any_rows_are_joined():
    table, _ = drawn_records(600, 1, 1)
    found = d2ke.dedupe(table, radius=DRAWN_RADIUS)
    assert len(found.examples) > 580


def test_agreement_on_what_is_common_counts_less():
    rng = np.random.default_rng(0)
    table, truth = drawn_records(400, 2)
    common = rng.random(200) < 0.4
    for row, person in enumerate(truth.tolist()):
        if common[person]:
            table["name"][row] = "john doe"
    found = d2ke.dedupe(table, radius=DRAWN_RADIUS)
    equal = np.array([table["name"][i] == table["name"][j] for i, j in found.pairs.tolist()])
    matches = truth[found.pairs[:, 0]] == truth[found.pairs[:, 1]]
    rare = np.array([table["name"][i] != "john doe" for i in found.pairs[:, 0].tolist()])
    same = equal & matches
    assert np.median(found.distances[same & ~rare]) > 5 * np.median(found.distances[same & rare])


@pytest.mark.parametrize("table", [["ab"], ["ab", "xyzxyz"], [str(i) * 5 for i in range(9)]])
def test_nothing_is_near(table):
    for X in (table, {"a": table, "b": table}):
        found = d2ke.dedupe(X, radius=1)
        assert found.labels.tolist() == list(range(len(table)))
        assert found.pairs.shape == (0, 2)


def test_column_that_is_missing_in_many_or_all_rows():
    table = {"name": ["anna lee", "anna lee", "bo ek"], "town": [None, None, "rom"]}
    assert d2ke.dedupe(table, radius=2).labels.tolist() == [0, 0, 1]
    with pytest.raises(TypeError, match="holds missing"):
        d2ke.dedupe(table | {"town": [None] * 3}, radius=2)


def test_columns_with_many_equal_entries_are_compared_but_not_searched():
    table, truth = drawn_records(500, 3)
    table["state"] = ["ab"[person % 2] * 9 for person in truth.tolist()]
    found = d2ke.dedupe(table, radius={**DRAWN_RADIUS, "state": 1})
    assert len(found.pairs) < 25_000
    assert found.weights.evidence[3, 0] > 0.3


def test_cleaned_table_with_missing_entries():
    found = d2ke.dedupe(PEOPLE, radius=RADIUS, clean=["case", "punctuation"])
    assert found.labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert found.examples.tolist() == [0, 2, 4]
    assert [0, 1] in found.pairs.tolist()
    plain = d2ke.dedupe(PEOPLE, radius=RADIUS)
    assert plain.distances[plain.pairs.tolist().index([0, 1])] > found.distances[0]


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


@pytest.mark.parametrize("seed", range(20))
def test_complete_linkage_is_scipy_s(seed):
    n, rng = 30, np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(np.ones((n, n)), 1))
    odds = rng.uniform(-4.9, 4.9, len(pairs))
    given, cut = rng.random(len(odds)) < 0.9, rng.uniform(-2, 2)
    labels = group_rows(np.ones(n, int), pairs[given], odds[given], Linkage("complete", cut))
    Z = linkage(5 - np.where(given, odds, -5), "complete")
    assert same_groups(labels, fcluster(Z, 5 - cut, "distance"))


def test_a_strict_threshold_keeps_what_is_certain():
    for linkage_name in ("average", "complete", "single"):
        pairs, odds = np.array([[0, 1], [0, 2]]), np.array([9.0, 6.0])
        labels = group_rows(np.ones(3, int), pairs, odds, Linkage(linkage_name, 7.0))
        assert labels.tolist() == [0, 0, 1]


def test_complete_linkage_never_joins_rows_that_were_not_compared():
    pairs, odds = np.array([[0, 1], [1, 2]]), np.array([1.0, -6.0])
    labels = group_rows(np.ones(3, int), pairs, odds, Linkage("complete", -6.9))
    assert labels.tolist() == [0, 0, 1]


def test_chains_are_cut():
    chain = ["nosen m lerdael", "nosen m lordael", "nosen m lormael", "nosen m lormkael"]
    single = d2ke.dedupe(chain, radius=1, linkage="single")
    assert single.labels.tolist() == [0, 0, 0, 0]
    for linkage_name in ("average", "complete"):
        found = d2ke.dedupe(chain, radius=1, linkage=linkage_name)
        assert found.labels.tolist() == [0, 0, 1, 1]


def test_factors_of_known_pairs_are_the_least_loss():
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(2, 50)) * 3
    match = parts[1] + rng.normal(0, 2, 50) > 0
    factors, offset = _calibrate(parts, -1.0, match)

    def loss(v):
        p = 1 / (1 + np.exp(-(v[:2] @ parts + v[2])))
        away = np.array(v) - [1, 1, -1]
        return -np.log(np.where(match, p, 1 - p)).sum() + np.array([10, 10, 0.1]) @ away**2 / 2

    best = np.array([*factors, offset])
    for place in range(3):
        for step in (-0.01, 0.01):
            other = best.copy()
            other[place] = max(0.0, other[place] + step) if place < 2 else other[place] + step
            assert loss(other) >= loss(best) - 1e-9


def test_link_of_two_tables():
    left = {"name": ["anna lee", "jon smith", "bo ek", "anna lee"]}
    right = {"name": ["john smith", "ana lee", "zoe park"], "age": [1, 2, 3]}
    with pytest.warns(UserWarning, match=r"leaves left\[3\] without a link.*: 1\."):
        found = d2ke.link(left, right, radius={"name": 1})
    assert found.pairs.tolist() == [[0, 1], [1, 0]]
    assert found.distances[0] == found.distances[1] < 0.5
    every = d2ke.link(left, right, radius={"name": 1}, one_to_one=False)
    assert every.pairs.tolist() == [[0, 1], [1, 0], [3, 1]]


def test_columns_of_other_kinds():
    walks = [[0.0, 1.0], [0.0, 1.1], [5.0, 5.0], [9.0, 0.0], [0.0, 9.0]]
    table = {"walk": walks, "name": ["ab", "ab", "cdef", "ghij", "klmn"]}
    distance = {"walk": ("dtw", {"window": 1}), "name": "levenshtein"}
    found = d2ke.dedupe(table, radius={"walk": 0.5, "name": 1}, distance=distance)
    assert found.labels.tolist() == [0, 0, 1, 2, 3]


def test_link_learns_from_known_pairs():
    table, truth = drawn_records(300, 5)
    left = {name: texts[:150] for name, texts in table.items()}
    right = {name: texts[150:] for name, texts in table.items()}
    found = d2ke.link(left, right, radius=DRAWN_RADIUS)
    assert (truth[found.pairs[:, 0]] == truth[150 + found.pairs[:, 1]]).mean() > 0.9
    assert len(found.pairs) > 120
    every = d2ke.link(left, right, radius=DRAWN_RADIUS, one_to_one=False, threshold=0.99)
    match = truth[every.pairs[:, 0]] == truth[150 + every.pairs[:, 1]]
    known = d2ke.link(left, right, radius=DRAWN_RADIUS, known=(every.pairs, match))
    right_ones = (truth[known.pairs[:, 0]] == truth[150 + known.pairs[:, 1]]).mean()
    assert right_ones > 0.9


def test_numbers_are_compared_as_text_and_a_radius_of_0_asks_for_equal_entries():
    table = {"name": ["ann", "ann", "bob", "bobb"], "zip": [12345, 12345, 54321, 54322]}
    assert d2ke.dedupe(table, radius={"name": 1, "zip": 0}).labels.tolist() == [0, 0, 1, 2]
    assert d2ke.dedupe(table, radius=1).labels.tolist() == [0, 0, 1, 1]
    for distance in (None, "equal", {"zip": "equal"}):
        found = d2ke.dedupe({"zip": table["zip"]}, radius=0, distance=distance)
        assert found.labels.tolist() == [0, 0, 1, 2]
