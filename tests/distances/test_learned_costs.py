# SPDX-License-Identifier: BSD-3-Clause
"""Costs of edits that are learned from pairs of strings, and the transducer that learns them."""

import io
import math
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import d2ke
from d2ke._ext import transducer
from d2ke.distances.learned_costs import Pairs, maximize

RIGHT = ["believe", "receive", "necessary", "separate", "definite"] * 5
WRONG = ["beleive", "recieve", "neccesary", "seperate", "definate"] * 5
K = 3


def alignments(x, y):
    """Yield all alignments of two strings, as lists of edits; K is the empty letter."""
    if not x and not y:
        yield []
    if x:
        yield from ([(x[0], K), *rest] for rest in alignments(x[1:], y))
    if y:
        yield from ([(K, y[0]), *rest] for rest in alignments(x, y[1:]))
    if x and y:
        yield from ([(x[0], y[0]), *rest] for rest in alignments(x[1:], y[1:]))
    if len(x) > 1 and len(y) > 1 and x[0] == y[1] != x[1] == y[0]:
        yield from ([(x[0], x[1], "swap"), *rest] for rest in alignments(x[2:], y[2:]))


def slow_expectations(x, y, weights, p, swap):
    """The expected edits of each pair, alignment by alignment."""
    counts, swaps, logs = np.zeros((K + 1, K + 1)), 0.0, []
    for a, b, weight in zip(x, y, weights, strict=True):
        ways = list(alignments(a, b))
        odds = [
            math.prod(p[e] if len(e) == 2 else swap[e[0]] * swap[e[1]] for e in edits)
            for edits in ways
        ]
        total = math.fsum(odds)
        logs.append(math.log(total))
        for edits, odd in zip(ways, odds, strict=True):
            for edit in edits:
                if len(edit) == 2:
                    counts[edit] += weight * odd / total
                else:
                    swaps += weight * odd / total
    return counts, swaps, logs


def expectations(x, y, weights, p, swap, n_threads=1):
    codes = [np.array([c for s in side for c in s] or [0], np.uint32) for side in (x, y)]
    offsets = [np.cumsum([0, *map(len, side)]) for side in (x, y)]
    with np.errstate(divide="ignore"):
        return transducer.expectations(
            codes[0], offsets[0], codes[1], offsets[1], np.array(weights, float), np.log(p),
            np.log(swap), n_threads,
        )  # fmt: skip


word = st.lists(st.integers(0, K - 1), max_size=4)
odds = st.lists(st.sampled_from([1e-9, 0.01, 0.3, 1.0]), min_size=1, max_size=40)


@given(
    pairs=st.lists(st.tuples(word, word, st.sampled_from([0.0, 0.5, 3.0])), min_size=1, max_size=5),
    odds=odds,
    may_swap=st.booleans(),
)
def test_the_tables_are_the_sums_over_all_alignments(pairs, odds, may_swap):
    x, y, weights = zip(*pairs, strict=True)
    drawn = np.resize(odds, (K + 1) ** 2 + K)
    p, swap = drawn[K:].reshape(K + 1, K + 1), drawn[:K] * may_swap
    counts, swaps, logs = expectations(x, y, weights, p, swap)
    slow_counts, slow_swaps, slow_logs = slow_expectations(x, y, weights, p, swap)
    np.testing.assert_allclose(counts, slow_counts, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(swaps, slow_swaps, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(logs, slow_logs, rtol=1e-10, atol=1e-10)


def drawn_words(seed, n, longest):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, K, rng.integers(1, longest)).tolist() for _ in range(n)]


def test_long_strings_do_not_underflow():
    x, y = drawn_words(0, 4, 500), drawn_words(1, 4, 500)
    p, swap = np.full((K + 1, K + 1), 1e-6), np.full(K, 1e-3)
    counts, swaps, logs = expectations(x, y, np.ones(4), p, swap)
    assert np.isfinite(logs).all()
    assert min(logs) < -1000
    for letters, own in ((x, counts[:K]), (y, counts[:, :K])):  # each letter is in one edit
        np.testing.assert_allclose(own.sum() + 2 * swaps, sum(map(len, letters)), rtol=1e-10)


def test_bits_do_not_depend_on_threads():
    x, y = drawn_words(2, 100, 30), drawn_words(3, 100, 30)
    p, swap = np.random.default_rng(4).random((K + 1, K + 1)), np.full(K, 0.1)
    one, three = (expectations(x, y, np.ones(100), p, swap, n) for n in (1, 3))
    assert all(map(np.array_equal, one, three))


@given(
    pairs=st.lists(st.tuples(word, word), min_size=1, max_size=12).filter(
        lambda pairs: any(x and y for x, y in pairs)
    ),
    transposition=st.booleans(),
)
def test_the_likelihood_rises_in_every_round(pairs, transposition):
    x, y = zip(*pairs, strict=True)
    codes = [np.array([c for s in side for c in s], np.uint32) for side in (x, y)]
    offsets = [np.cumsum([0, *map(len, side)]) for side in (x, y)]
    given_pairs = Pairs(codes[0], offsets[0], codes[1], offsets[1], K, np.ones(len(pairs)))
    rounds = list(maximize(given_pairs, transposition))
    logs = [log for log, _, _ in rounds]
    assert len(logs) == 8
    assert np.isfinite(logs).all()
    assert (np.diff(logs) > -1e-9 * np.abs(logs[0])).all()
    for _, counts, swaps in rounds:  # each letter is in one edit
        assert counts[:K].sum() + 2 * swaps == pytest.approx(len(codes[0]))
        assert counts[:, :K].sum() + 2 * swaps == pytest.approx(len(codes[1]))


def test_edits_that_are_needed_often_cost_least():
    costs = d2ke.learn_costs(WRONG, RIGHT)
    assert set(costs) == {"substitution", "mismatch", "insertion", "deletion", "transposition"}
    letters = set("".join(RIGHT))
    pairs = {(a, b) for a in letters for b in letters if a != b}
    assert set(costs["substitution"]) == pairs
    assert set(costs["insertion"]) == set(costs["deletion"]) == {*letters, None}
    cheapest = {edit[:3] for edit in costs.edits()[:5]}
    assert cheapest == {
        ("substitution", "e", "a"), ("substitution", "a", "i"), ("insertion", None, "s"),
        ("deletion", "c", None), ("transposition", None, None),
    }  # fmt: skip
    assert "insertion 's'" in repr(costs)
    assert len(repr(costs).splitlines()) == 11
    assert min(edit[3] for edit in costs.edits()) >= 0.05
    # What was never seen costs about the same for all letters, also for those of other strings.
    never = costs["substitution"]["v", "n"], costs["substitution"]["t", "b"], costs["mismatch"]
    assert max(never) - min(never) < 0.5


def test_options():
    costs = d2ke.learn_costs(WRONG, RIGHT, transposition=False)
    assert "transposition" not in costs
    assert costs["substitution"]["e", "a"] < costs["substitution"]["a", "e"]
    both = d2ke.learn_costs(WRONG, RIGHT, transposition=False, symmetric=True)
    assert both["insertion"] == both["deletion"]
    assert all(both["substitution"][b, a] == c for (a, b), c in both["substitution"].items())
    # A weight is how often a pair counts.
    counts = [1] * 20 + [3] * 4 + [0]
    often = [word for word, n in zip(WRONG, counts, strict=True) for _ in range(n)]
    meant = [word for word, n in zip(RIGHT, counts, strict=True) for _ in range(n)]
    weighted = d2ke.learn_costs(WRONG, RIGHT, weights=counts).edits()
    for one, other in zip(weighted, d2ke.learn_costs(often, meant).edits(), strict=True):
        assert one[3] == pytest.approx(other[3], rel=1e-9)


def test_letters_of_no_counted_pair_have_no_costs():
    costs = d2ke.learn_costs([*WRONG, "x"], [*RIGHT, "y"], weights=[1] * 25 + [0])
    assert "x" not in costs["deletion"]
    assert all(map(math.isfinite, [edit[3] for edit in costs.edits()]))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_letters_of_any_type(n_threads):
    plain = d2ke.learn_costs(WRONG, RIGHT, n_threads=n_threads)
    codes = d2ke.learn_costs([[*map(ord, w)] for w in WRONG], [[*map(ord, w)] for w in RIGHT])
    tokens = d2ke.learn_costs([[*w] for w in WRONG], [[*w] for w in RIGHT])
    assert tokens == plain
    assert codes["substitution"][ord("e"), ord("a")] == plain["substitution"]["e", "a"]
    pairs = d2ke.learn_costs([[("a", 1), "b"]] * 20, [[("a", 1), "c"]] * 20)
    assert pairs.edits()[0][:3] == ("substitution", "b", "c")


def test_one_letter():
    costs = d2ke.learn_costs(["aa"] * 20, ["a"] * 20)
    assert costs["substitution"] == {}
    assert costs["mismatch"] == costs["insertion"][None] + costs["deletion"][None]


def test_costs_are_a_mapping_that_is_only_read():
    costs = d2ke.learn_costs(WRONG, RIGHT)
    assert dict(**costs) == costs
    assert pickle.loads(pickle.dumps(costs)) == costs
    with pytest.raises(TypeError):
        costs["mismatch"] = 1.0


def test_frames():
    costs = d2ke.learn_costs(WRONG, RIGHT)
    pytest.importorskip("pandas")
    frame = costs.to_frame()
    assert list(frame) == ["edit", "wrong", "right", "cost"]
    assert frame["cost"].is_monotonic_increasing
    assert len(frame) == len(costs.edits()) == len(d2ke.frame(costs))


@pytest.mark.parametrize(
    ("wrong", "right", "options", "message"),
    [
        ([], [], {}, "wrong is empty"),
        (WRONG, RIGHT[:-1], {}, "right has 24 strings, but wrong has 25"),
        ([*WRONG[:-1], ""], RIGHT, {}, r"wrong\[24\] is empty"),
        (WRONG, [*RIGHT[:3], "", *RIGHT[4:]], {}, r"right\[3\] is empty"),
        (RIGHT, RIGHT, {}, "wrong and right have equal strings only"),
        (WRONG[:19] + RIGHT, RIGHT[:19] + RIGHT, {}, "have 19 pairs of different strings"),
        (WRONG, RIGHT, {"weights": [0] * 24 + [1]}, "have 1 pair of different strings"),
        (WRONG, RIGHT, {"weights": [1.0]}, "weights must have shape"),
        (WRONG, RIGHT, {"weights": [1] * 24 + [-1]}, r"weights\[24\] is -1.0"),
        ([*WRONG[:-1], None], RIGHT, {}, r"wrong\[24\] is None"),
        (WRONG, [*RIGHT[:-1], 5.0], {}, r"right\[24\] is float"),
        ("wrong", "right", {}, "wrong must be a sequence of objects"),
        ([[0.5]] * 20, RIGHT[:20], {}, "wrong"),
        (WRONG, [w.encode() for w in RIGHT], {}, "wrong holds strings of str but right holds"),
        ([[None, "a"]] * 20, [["b"]] * 20, {}, "must not have the token None"),
        ([[1, "a"]] * 20, [[True, "a"]] * 20, {}, "nor 1 and True"),
        (WRONG, RIGHT, {"symmetric": 1}, "symmetric must be True or False"),
        (WRONG, RIGHT, {"transposition": None}, "transposition must be True or False"),
    ],
)
def test_what_is_refused(wrong, right, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        d2ke.learn_costs(wrong, right, **options)


def test_too_many_letters_are_refused_before_work_starts(monkeypatch):
    monkeypatch.setattr("d2ke._base.memory.memory_limit", lambda: 1000)
    with pytest.raises(MemoryError, match="edits of 15 letters"):
        d2ke.learn_costs(WRONG, RIGHT)


COSTS = d2ke.learn_costs(WRONG, RIGHT)


@pytest.mark.parametrize(
    "group",
    [
        partial(d2ke.dbscan, eps=2), d2ke.single_linkage, partial(d2ke.kmedoids, k=2),
        partial(d2ke.hdbscan, min_cluster_size=2), lambda X, **how: d2ke.Index(X, **how).groups(2),
    ],
    ids=["dbscan", "single_linkage", "kmedoids", "hdbscan", "groups"],
)  # fmt: skip
def test_groups_need_symmetric_costs(group):
    with pytest.raises(d2ke.ArgumentError, match=r"must be symmetric.*symmetric=True"):
        group(RIGHT, distance="weighted_levenshtein", **COSTS)
    both = d2ke.learn_costs(WRONG, RIGHT, symmetric=True)
    group(RIGHT, distance="weighted_levenshtein", **both)


def test_models_and_indexes_keep_costs(tmp_path):
    index = d2ke.Index(RIGHT, distance="weighted_levenshtein", **COSTS)
    index.save(tmp_path / "right.d2ke")
    held = d2ke.Index.open(tmp_path / "right.d2ke")
    expected = d2ke.nearest(WRONG, RIGHT, k=2, distance="weighted_levenshtein", **COSTS)
    assert all(map(np.array_equal, held.nearest(WRONG, k=2), expected))
    table = {"word": RIGHT}
    d2ke.Index(table, distance={"word": ("weighted_levenshtein", COSTS)}).save(tmp_path / "t.d2ke")
    held = d2ke.Index.open(tmp_path / "t.d2ke")
    assert np.array_equal(held.nearest({"word": WRONG}, k=2)[0], expected[0])
    labels = [word[0] for word in RIGHT]
    model = d2ke.d2ke_train(labels, RIGHT, distance="weighted_levenshtein", R=16, **COSTS)
    assert "substitution={210 entries}" in str(model)
    file = io.BytesIO()
    d2ke.save_model(file, model)
    again = d2ke.load_model(io.BytesIO(file.getvalue()))
    assert np.array_equal(model.transform(WRONG), again.transform(WRONG))
