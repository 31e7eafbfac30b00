# SPDX-License-Identifier: BSD-3-Clause
"""New rows of a table whose groups are known; all rows at once are the reference."""

import io
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples
from test_group_copies import tables

import d2ke
from benchmarks.records import CLEAN, RADIUS, pair_scores, people
from d2ke.groups.pair_weights import Multiplicities
from d2ke.groups.record_groups import Linkage, extend_groups, group_rows, membership_odds
from d2ke.objects.copies import Copies, no_copies

PEOPLE = {
    "name": ["anna lee", "ana lee", "jon smith", "bo ek", "zoe park"],
    "town": ["rome", "roma", "oslo", None, "bonn"],
}
WITHIN = {"name": 2, "town": 1}
LINKAGES = pytest.mark.parametrize("linkage", ["average", "complete", "single"])


def part(table, rows):
    return {name: [entries[row] for row in rows] for name, entries in table.items()}


def same_result(a, b, order=slice(None)):
    """Compare two results; b has the new rows of a in another order."""
    for name in ("labels", "probabilities", "rivals"):
        assert np.array_equal(getattr(a, name)[order], getattr(b, name)), name
    assert np.array_equal(a.bridges, b.bridges)


def same_duplicates(a, b):
    for name in ("labels", "examples", "pairs", "distances"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert a.threshold == b.threshold
    assert np.array_equal(a.weights.evidence, b.weights.evidence)


def f1(labels, truth):
    precision, recall = pair_scores(labels, truth)
    return 2 * precision * recall / (precision + recall)


@LINKAGES
def test_growing_is_as_good_as_all_at_once(linkage):
    """On drawn names and addresses: the mean over tables, of 400 rows and 5 times 40 more."""
    short = []
    for seed in range(4):
        table, truth = people(600, seed)
        options = {"radius": RADIUS, "clean": CLEAN, "linkage": linkage}
        at_once = d2ke.dedupe(table, **options)
        found = d2ke.dedupe(part(table, range(400)), **options)
        for first in range(400, 600, 40):
            old, found = found, found.assign(part(table, range(first, first + 40))).duplicates
            assert np.array_equal(found.labels[:first], old.labels)
        assert f1(found.labels, truth) > 0.85
        short.append(f1(at_once.labels, truth) - f1(found.labels, truth))
    assert np.mean(short) <= 0.01


@settings(max_examples=examples(40), deadline=None)
@given(drawn=tables(), data=st.data())
def test_the_order_of_new_rows_does_not_matter(drawn, data):
    table, rows = drawn
    n_old = data.draw(st.integers(1, len(rows) - 1))
    old, new = part(table, range(n_old)), part(table, range(n_old, len(rows)))
    radius = dict(WITHIN)
    if not any(old["town"]):
        del old["town"], new["town"], radius["town"]
    linkage = data.draw(st.sampled_from(["average", "complete", "single"]))
    found = d2ke.dedupe(old, radius=radius, linkage=linkage, threshold=0.8)
    before = {name: getattr(found, name).copy() for name in ("labels", "examples", "pairs")}
    one = found.assign(new)
    order = data.draw(st.permutations(range(len(rows) - n_old)))
    other = found.assign(part(new, order), n_threads=2)
    same_result(one, other, order)
    assert np.array_equal(other.duplicates.labels[n_old:], other.labels)
    later = part(table, range(0, len(rows), 2)) | {"name": ["ana lea"] * len(rows[::2])}
    later = {name: later[name] for name in radius}
    same_result(one.duplicates.assign(later), other.duplicates.assign(later))
    for name, values in before.items():
        assert np.array_equal(getattr(found, name), values)
    # Equal rows are in one group; labels are those that were there, and the next ones.
    labels = one.duplicates.labels
    assert np.array_equal(labels[:n_old], found.labels)
    assert sorted(set(labels.tolist())) == list(range(len(one.duplicates.examples)))
    first = {}
    columns = [(old[name] + new[name]) for name in radius]
    for row, label in zip(zip(*columns, strict=True), labels.tolist(), strict=True):
        assert first.setdefault(row, label) == label
    example = one.duplicates.examples
    assert labels[example].tolist() == list(range(len(example)))
    assert ((one.probabilities >= 0) & (one.probabilities <= 1)).all()


@settings(max_examples=examples(40), deadline=None)
@given(drawn=tables(), data=st.data())
def test_pairs_are_those_of_all_at_once(drawn, data):
    """Which pairs are compared does not depend on when the rows came."""
    table, rows = drawn
    n_old = data.draw(st.integers(1, len(rows)))
    old = part(table, range(n_old))
    if not any(old["town"]):
        return
    found = d2ke.dedupe(old, radius=WITHIN)
    if n_old < len(rows):
        found = found.assign(part(table, range(n_old, len(rows)))).duplicates
    every = d2ke.dedupe(table, radius=WITHIN)
    basis = found.basis.pairs
    rows = found.basis.rows
    assert found.pairs.tolist() == every.pairs.tolist()
    assert np.unique(basis, axis=0).shape == basis.shape
    assert np.array_equal(rows.counts, np.bincount(rows.numbers))
    assert len(basis) == len(every.basis.pairs)  # with those of copies
    ends = np.sort(rows.firsts[basis], axis=1).tolist()
    levels = dict(zip(map(tuple, ends), found.basis.levels.T.tolist(), strict=True))
    pairs = every.basis.rows.firsts[every.basis.pairs].tolist()
    assert levels == dict(zip(map(tuple, pairs), every.basis.levels.T.tolist(), strict=True))


@pytest.mark.parametrize("labelled", [False, True])
def test_odds_of_new_rows_are_those_of_all_at_once(labelled):
    """If the weights are: what is common is counted as among all rows."""
    table, truth = people(500, 3)
    plain = d2ke.dedupe(table, radius=RADIUS, clean=CLEAN)
    distinct = plain.basis.rows.firsts
    table, truth, known = part(table, distinct), truth[distinct], None
    if labelled:
        pairs = d2ke.dedupe(table, radius=RADIUS, clean=CLEAN).pairs
        known = pairs, truth[pairs[:, 0]] == truth[pairs[:, 1]]
    n = len(table["name"])
    every, n_old = d2ke.dedupe(table, radius=RADIUS, clean=CLEAN, known=known), n - 60
    basis = every.basis
    old = (basis.pairs < n_old).all(axis=1)
    rows = np.arange(n_old)
    columns = {name: column.take(rows, rows) for name, column in basis.columns.items()}
    pairs, odds, levels = basis.pairs[old], basis.odds[old], basis.levels[:, old]
    small = replace(basis, columns=columns, rows=no_copies(n_old), pairs=pairs, odds=odds,
                    levels=levels)  # fmt: skip
    found = replace(every, labels=np.arange(n_old), basis=small)
    new = found.assign(part(table, range(n_old, n))).duplicates.basis
    pairs = np.sort(new.rows.firsts[new.pairs], axis=1)
    order = np.lexsort(pairs.T[::-1])
    assert pairs[order].tolist() == basis.pairs.tolist()
    # Known pairs change the probabilities by which others make an entry common.
    np.testing.assert_allclose(new.odds[order], basis.odds, atol=0.3 if labelled else 0.1)
    assert (np.abs(new.odds[order] - basis.odds) < 0.01).mean() > 0.95


@LINKAGES
def test_a_row_that_is_equal_to_an_old_one_joins_its_group(linkage):
    table, _ = people(300, 9)
    found = d2ke.dedupe(table, radius=RADIUS, clean=CLEAN, linkage=linkage)
    rows = [3, 17, 17, 250, 299]
    new = found.assign(part(table, rows))
    assert new.labels.tolist() == found.labels[rows].tolist()
    cleaned = {name: [text and text.upper() + "." for text in texts]
               for name, texts in part(table, rows).items()}  # fmt: skip
    assert found.assign(cleaned).labels.tolist() == new.labels.tolist()
    assert len(new.duplicates.examples) == len(found.examples)


@LINKAGES
def test_rows_far_from_all_found_groups(linkage):
    found = d2ke.dedupe(PEOPLE, radius=WITHIN, linkage=linkage)
    n = len(found.examples)
    new = found.assign({"name": ["qqqqqqqqq", "wwwwwwww"], "town": ["yyyyyyyyy", None]})
    assert new.labels.tolist() == [n, n + 1]
    assert (new.probabilities > 0.99).all()
    assert new.bridges.shape == (0, 2)
    assert new.rivals.tolist() == [-1, -1]
    # Copies of each other found one group, equal ones and near ones.
    new = found.assign({"name": ["qqqqqqqqq", "wwwwwwww", "qqqqqqqqq", "qqqqqqqqr"],
                        "town": ["yyyyyyyyy", None, "yyyyyyyyy", "yyyyyyyyy"]})  # fmt: skip
    assert new.labels.tolist() == [n, n + 1, n, n]
    assert new.duplicates.labels.tolist() == [*found.labels, n, n + 1, n, n]
    again = new.duplicates.assign({"name": ["wwwwwwww"], "town": [None]})
    assert again.labels.tolist() == [n + 1]


class Oracle:
    """Linkage on, from the values of all pairs of rows; slow and obvious."""

    def __init__(self, counts, i, j, odds, cut, linkage):
        self.far = min(-5.0, cut - 1)
        self.top = np.inf if linkage == "single" else max(5.0, cut)
        self.V = np.full((len(counts), len(counts)), self.far)
        self.V[i, j] = self.V[j, i] = np.clip(odds, self.far, self.top)
        self.counts, self.cut, self.linkage = np.asarray(counts, float), cut, linkage

    def value(self, a, b, counts=None):
        """The value of two groups of distinct rows, whose copies pair with each other too."""
        counts = self.counts if counts is None else np.asarray(counts, float)
        values, weights = self.V[np.ix_(a, b)], np.outer(counts[a], counts[b])
        if self.linkage == "average":
            return (values * weights).sum() / weights.sum()
        return values.max() if self.linkage == "single" else values.min()

    def extend(self, held, old):
        groups = [np.flatnonzero(held == g).tolist() for g in range(held.max(initial=-1) + 1)]
        n_held = len(groups)
        counts = np.append(old, self.counts[len(old) :])
        before = {(a, b) for a in range(n_held) for b in range(a + 1, n_held)
                  if self.value(groups[a], groups[b], counts) >= self.cut}  # fmt: skip
        groups += [[row] for row in range(len(held), len(self.counts))]
        bridges, refused = set(), set()
        while True:
            pairs = [(self.value(groups[a], groups[b]), -a, -b) for a in range(len(groups))
                     for b in range(a + 1, len(groups))
                     if (tuple(groups[a]), tuple(groups[b])) not in refused]  # fmt: skip
            value, a, b = max(pairs, default=(-np.inf, 0, 0))
            a, b = -a, -b
            if value < self.cut:
                return groups, bridges - before
            if b < n_held:
                bridges.add((a, b))
                refused.add((tuple(groups[a]), tuple(groups[b])))
            else:
                groups[a] += groups.pop(b)


@settings(max_examples=examples(150), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), n_old=st.integers(0, 7), n_new=st.integers(1, 7),
    linkage=st.sampled_from(["average", "complete", "single"]),
)  # fmt: skip
def test_linkage_goes_on_from_the_groups_there_are(seed, n_old, n_new, linkage):
    rng = np.random.default_rng(seed)
    n, cut = n_old + n_new, rng.uniform(-2, 2)
    i, j = np.triu_indices(n, 1)
    given = rng.random(len(i)) < rng.uniform(0.3, 1)
    high = 9 if linkage == "single" else 4.9  # nothing is capped, so that nothing ties
    i, j, odds = i[given], j[given], rng.uniform(-7, high, given.sum())
    counts = rng.integers(1, 4, n)
    old = np.minimum(counts[:n_old], rng.integers(1, 4, n_old))
    held = np.unique(rng.integers(0, max(n_old, 1), n_old), return_inverse=True)[1]
    oracle = Oracle(counts, i, j, odds, cut, linkage)
    rule, pairs = Linkage(linkage, cut), np.column_stack([i, j])
    labels, bridges = extend_groups(held, old, counts, pairs, odds, rule)
    groups, expected = oracle.extend(held, old)
    for g, rows in enumerate(groups):
        assert (labels[rows] == labels[rows[0]]).all()
        assert g >= held.max(initial=-1) + 1 or labels[rows[0]] == g
    assert len(set(labels.tolist())) == len(groups) == labels.max() + 1
    assert set(map(tuple, bridges.tolist())) == expected
    if n_old == 0:
        assert np.array_equal(labels, group_rows(counts, pairs, odds, rule))
    # And how well the new rows go with the groups; copies of a row pair with each other.
    alone = np.flatnonzero(counts > 1)
    again = rng.uniform(0, 4, len(alone))
    pairs = np.column_stack([np.append(i, alone), np.append(j, alone)])
    odds = np.append(odds, again)
    V = Oracle(counts, *pairs.T, odds, cut, linkage).V
    numbers = np.repeat(np.arange(n), counts)
    rows = Copies(np.arange(n), numbers, counts)
    asked = np.arange(n_old, n)
    counted = Multiplicities.of(pairs, rows)
    own, best, rivals = membership_odds(asked, labels, counted, counts, odds, rule)
    combine = {"average": np.mean, "complete": np.min, "single": np.max}[linkage]
    for row, *got in zip(asked.tolist(), own, best, rivals, strict=True):
        place = int(np.flatnonzero(numbers == row)[0])
        others = {}
        for g in range(labels.max() + 1):
            members = [k for k in np.flatnonzero(labels[numbers] == g) if k != place]
            others[g] = combine(V[row, numbers[members]]) if members else np.nan
        np.testing.assert_allclose(got[0], others.pop(labels[row]), atol=1e-9)
        assert got[1] == pytest.approx(max(others.values(), default=oracle.far), abs=1e-9)
        if got[1] > oracle.far + 1e-6:
            assert others[got[2]] == pytest.approx(got[1], abs=1e-9)
        else:
            assert got[2] == -1


def test_copies_of_a_row_may_join_old_groups():
    rows, pairs = np.array([0, 1, 1]), (np.array([[0, 1], [1, 2]]), np.array([3.0, 5.0]))
    rule = Linkage("average", 0.0)
    labels, bridges = extend_groups(rows, np.ones(3, int), np.array([1, 9, 1]), *pairs, rule)
    assert labels.tolist() == [0, 1, 1]
    assert bridges.tolist() == [[0, 1]]
    _, bridges = extend_groups(rows, np.ones(3, int), np.array([1, 1, 9]), *pairs, rule)
    assert bridges.shape == (0, 2)


def test_groups_that_a_new_row_would_join_stay_two_and_are_reported():
    ends, options = ["nosen m lerdael", "nosen m lormael"], {"linkage": "single", "threshold": 0.7}
    found = d2ke.dedupe(ends, radius=1, **options)
    a, b = found.labels.tolist()
    assert a != b
    row = ["nosen m lordael"]
    new = found.assign(row)
    assert new.bridges.tolist() == [[a, b]]
    assert new.labels[0] in (a, b)
    assert {new.labels[0], new.rivals[0]} == {a, b}
    assert new.duplicates.labels[:2].tolist() == [a, b]
    assert "1 bridges" in repr(new)
    assert "1 rows that two groups claim" in repr(new)
    strict = replace(found, threshold=0.5).assign(row)
    assert (strict.labels.tolist(), strict.rivals.tolist()) == ([2], [-1])
    assert 0.5 < strict.probabilities[0] < 0.7
    # The next row is near both too, but it is not the one that joins them.
    again = new.duplicates.assign(row)
    assert again.bridges.shape == (0, 2)
    assert again.labels.tolist() == new.labels.tolist()


def test_missing_entries():
    found = d2ke.dedupe(PEOPLE, radius=WITHIN, clean=["punctuation"])
    n = len(found.examples)
    new = found.assign({"name": ["bo ek", "", None, "?"], "town": [None, None, None, None]})
    assert new.labels[0] == found.labels[3]
    assert sorted(new.labels[1:].tolist()) == [n, n + 1, n + 2]  # a row without entry is alone
    # A column may be empty, and rows without entries equal none that come later.
    assert new.duplicates.assign({"name": [None], "town": [None]}).labels.tolist() == [n + 3]


def test_numbers_are_compared_as_text_and_columns_are_matched_by_name():
    table = {"zip": [12345, 54321, 54322], "name": ["ann", "bob", "bobb"], "age": [1, 2, 3]}
    found = d2ke.dedupe(table, radius={"zip": 0, "name": 1})
    new = {"name": ["ann", "bob"], "age": [5, 6], "zip": [12345, 54321]}
    assert found.assign(new).labels.tolist() == found.labels[:2].tolist()
    assert found.assign(new | {"zip": [12345, None]}).labels.tolist() == found.labels[:2].tolist()
    del new["age"]  # it is not compared
    assert found.assign(new).labels.tolist() == found.labels[:2].tolist()


def test_channels_are_matched_by_name():
    pandas = pytest.importorskip("pandas")
    walks = [pandas.DataFrame({"x": [0.0, 1, 2], "y": [5.0, 7, shift]}) for shift in (1, 9, 30)]
    found = d2ke.dedupe(walks, radius=0.5, distance="dtw")
    turned = [walk[["y", "x"]] for walk in walks[::-1]]
    assert found.assign(turned).labels.tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("error", "words", "rows"),
    [
        (ValueError, ("new_rows", "lacks the column 'town'"), {"name": ["bo"]}),
        (ValueError, ("new_rows", "'street'", "'name', 'town'"),
         {"name": ["bo"], "town": ["rome"], "street": ["elm"]}),
        (TypeError, ("new_rows", "a table with columns"), ["bo"]),
        (ValueError, ("new_rows", "empty"), {"name": [], "town": []}),
        (TypeError, ("new_rows['name']", "series", "strings"),
         {"name": [[1.0, 2.0]], "town": ["rome"]}),
        (TypeError, ("new_rows['name']", "bytes"), {"name": [b"bo"], "town": ["rome"]}),
        (TypeError, ("new_rows['name']", "numbers"),
         {"name": np.array(["2024-01-05"], "M8[D]"), "town": ["rome"]}),
        (ValueError, ("new_rows['town']", "1 rows"), {"name": ["bo", "ek"], "town": ["rome"]}),
    ],
)  # fmt: skip
def test_wrong_rows_are_refused_by_name(error, words, rows):
    found = d2ke.dedupe(PEOPLE, radius=WITHIN)
    with pytest.raises(error) as caught:
        found.assign(rows)
    for word in words:
        assert word in str(caught.value)


def test_added_kinds():
    d2ke.add_kind("small names", str.lower)
    names = ["Anna", "anne", "Bert"]
    found = d2ke.dedupe({"name": d2ke.pack(names, kind="small names")}, radius={"name": 0})
    new = {"name": d2ke.pack(["BERT", "Carl"], kind="small names")}
    file = io.BytesIO()
    found.save(file)
    for held in (found, d2ke.load_duplicates(io.BytesIO(file.getvalue()))):
        assert held.assign(new).labels.tolist() == [2, 3]
        with pytest.raises(TypeError, match=r"new_rows\['name'\] holds strings.*small names.*pack"):
            held.assign({"name": ["BERT"]})  # which nothing would read


def test_wrong_objects_are_refused_by_name():
    found = d2ke.dedupe(["ab", "ac"], radius=1)
    with pytest.raises(TypeError, match="new_rows must be a list of objects"):
        found.assign({"name": ["ab"]})
    with pytest.raises(ValueError, match="new_rows is empty"):
        found.assign([])
    with pytest.raises(TypeError, match="n_threads"):
        found.assign(["ab"], n_threads="2")
    found = d2ke.dedupe(["ab", "ac"], radius=1, distance=lambda a, b: float(a != b))
    with pytest.raises(TypeError, match=r"new_rows holds series"):
        found.assign([[1.0, 2.0]])
    found = d2ke.dedupe([[0.0, 1.0], [5.0, 5.0]], radius=1, distance="dtw")
    with pytest.raises(TypeError, match=r"new_rows.*float32.*float64"):
        found.assign(np.ones((1, 2, 1), np.float32))
    with pytest.raises(ValueError, match=r"1 dimensions.*new_rows has 2"):
        found.assign(d2ke.pack(np.ones((1, 3, 2)), channels_first=False))


WEIGHTED = d2ke.pack(
    [[[0.0, 1], [2, 2]], [[0.0, 1], [2, 2]], [[5.0, 5]], [[5.0, 5.5], [5, 5]]],
    channels_first=False, kind="sets", weights=[[1.0, 2], [2, 1], [1], [1, 3]],
)  # fmt: skip
FLOAT32 = d2ke.pack(
    [np.full((n, 2), value, np.float32) for n, value in [(2, 0), (3, 1), (1, 0.9), (1, 9)]],
    channels_first=False, kind="sets",
)  # fmt: skip
OF_KINDS = {
    "strings": (["anna lee", "ana lee", "jon smith", "bo ek"], ["anna le", "zoe"], {}),
    "weighted edits": (["aba", "abb", "bbbbb"], ["ab", "bbbb"],
                       {"distance": ("weighted_levenshtein",
                                     {"substitution": np.array([[0, 0.5], [0.5, 0]]),
                                      "alphabet": "ab"})}),
    "words": (["a b c", "c b a", "d e"], ["b a c", "e d"], {"distance": "token_sort"}),
    "series": ([[0.0, 1.0], [0.1, 1.0], [9.0, 9.0, 3.0]], [[0.0, 1.1], [9.0, 3.0]],
               {"distance": ("dtw", {"window": 1})}),
    "float32 sets": (FLOAT32[:2], FLOAT32[2:], {"distance": "hausdorff"}),
    "weighted sets": (WEIGHTED[:3], WEIGHTED[2:], {"distance": "emd"}),
    "function": (["xxx", "x", "x" * 40, "x" * 41], ["x" * 42, "x" * 90],
                 {"distance": lambda a, b: float(abs(len(a) - len(b)))}),
}  # fmt: skip


def known_table():
    """A table of people, later rows, and options with known pairs."""
    table, truth = people(400, 1)
    old, options = part(table, range(300)), {"radius": RADIUS, "clean": CLEAN}
    pairs = d2ke.dedupe(old, **options).pairs[::3]
    options["known"] = pairs, truth[pairs[:, 0]] == truth[pairs[:, 1]]
    return old, part(table, range(300, 400)), options


@pytest.mark.parametrize("name", [*OF_KINDS, "table"])
@LINKAGES
def test_saved_and_loaded(name, linkage, tmp_path):
    old, new, options = known_table() if name == "table" else OF_KINDS[name]
    found = d2ke.dedupe(old, **{"radius": 1, "threshold": 0.6} | options, linkage=linkage)
    own = {"distance": options["distance"]} if name == "function" else {}
    first_new = part(new, [0]) if name == "table" else new[:1]
    for first in (found, found.assign(first_new).duplicates):
        first.save(tmp_path / "groups.d2ke")
        loaded = d2ke.load_duplicates(tmp_path / "groups.d2ke", **own)
        same_duplicates(loaded, first)
        same_result(loaded.assign(new), first.assign(new))
        same_duplicates(loaded.assign(new).duplicates, first.assign(new).duplicates)
    file = io.BytesIO()
    loaded.save(file)
    assert file.getvalue() == (tmp_path / "groups.d2ke").read_bytes()
    if own:
        with pytest.raises(ValueError, match=r"distance must.*load_duplicates\(file, distance=f"):
            d2ke.load_duplicates(tmp_path / "groups.d2ke")


def test_damaged_and_other_files_are_refused(tmp_path):
    file = io.BytesIO()
    d2ke.dedupe(PEOPLE, radius=WITHIN).save(file)
    content = file.getvalue()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(content), 200).tolist():
        changed = bytearray(content)
        changed[place] ^= 1 << int(rng.integers(0, 8))
        with pytest.raises(ValueError, match=r"damaged|is not a result of dedupe"):
            d2ke.load_duplicates(io.BytesIO(bytes(changed)))
    for size in (0, 100, 600, len(content) - 1):
        with pytest.raises(ValueError, match=r"damaged|is not a result of dedupe"):
            d2ke.load_duplicates(io.BytesIO(content[:size]))
    model = io.BytesIO()
    d2ke.save_model(model, d2ke.train([0, 1], np.eye(2)))
    with pytest.raises(ValueError, match="not a result of dedupe saved by d2ke: it is a model"):
        d2ke.load_duplicates(io.BytesIO(model.getvalue()))
    with pytest.raises(ValueError, match="not a model saved by d2ke: it is a result of dedupe"):
        d2ke.load_model(io.BytesIO(content))
    with pytest.raises(OSError, match="none"):
        d2ke.load_duplicates(tmp_path / "none")


WRONG = [
    ("labels", np.array([0, 0, 1, 9, 3])),
    ("labels", np.array([0, 0, 1, 3, 3])),
    ("numbers", np.array([0, 1, 2, 3, 70])),
    ("pairs", np.array([[0, 80]])),
    ("evidence", np.zeros((2, 3))),
    ("levels", np.zeros((2, 9), np.int8)),
    ("searched", np.ones(7, bool)),
    ("offset", "a"),
    ("linkage", "mean"),
    ("threshold", 2.0),
    ("clean", ["vowels"]),
    ("names", ["street"]),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_what_a_file_claims_is_not_believed(name, value):
    from d2ke.models.persistence import write_values

    found, held = d2ke.dedupe(PEOPLE, radius=WITHIN), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("d2ke.models.persistence.write_values", lambda *given: held.update(given[2]))
        found.save("nowhere")
    file = io.BytesIO()
    write_values(file, "duplicates", held, [])
    assert len(d2ke.load_duplicates(io.BytesIO(file.getvalue())).labels) == 5
    file = io.BytesIO()
    write_values(file, "duplicates", held | {name: value}, [])
    with pytest.raises(ValueError, match="file is damaged"):
        d2ke.load_duplicates(io.BytesIO(file.getvalue()))
