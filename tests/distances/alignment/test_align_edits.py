# SPDX-License-Identifier: BSD-3-Clause
"""Operations of edit distances: they make y of x, and cost what `distance_matrix` says."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import d2ke
from d2ke.distances.alignment import edits as align_edits
from d2ke.distances.alignment import tables as align_tables

MODES = ("global", "prefix", "infix")
UNIT = ("osa", "damerau_levenshtein", "indel")
texts = st.text("ab", max_size=12) | st.text("abcd", max_size=30) | st.text("abcdefgh", max_size=60)
costs = st.sampled_from([0.0, 0.1, 0.3, 1.0, 2.5, 1 / 3])


def entry(x, y, name, **params):
    return d2ke.distance_matrix(d2ke.pack([x]), d2ke.pack([y]), name, **params)[0, 0]


def apply(found):
    """Follow the operations through x: the letters that they make, and where they begin and end."""
    x, y, op = found.x, found.y, found.operations
    made, first = [], int(op.i[0]) if len(op) else 0
    i = first
    waiting = None  # the first of two crossed letters, and where it stands in y
    for name, at, to in zip(op.op.tolist(), op.i.tolist(), op.j.tolist(), strict=True):
        assert (at, to) == (i, len(made))
        if name in ("equal", "replace"):
            assert (x[i] == y[to]) == (name == "equal")
            made.append(x[i] if name == "equal" else y[to])
        elif name == "insert":
            made.append(y[to])
        elif name == "transpose" and waiting is None:
            waiting = x[i], to
            made.append(None)
        elif name == "transpose":
            made[waiting[1]] = x[i]
            made.append(waiting[0])
            waiting = None
        i += name != "insert"
    assert waiting is None
    return first, i, "".join(made)


def check_pairs(found, first, end):
    """Pairs name each letter that is met once; letters that belong together are equal or not."""
    op, pairs = found.operations.op, found.pairs
    assert ((pairs[:, 0] < 0) == (op == "insert")).all()
    assert ((pairs[:, 1] < 0) == (op == "delete")).all()
    assert pairs[pairs[:, 0] >= 0, 0].tolist() == list(range(first, end))
    assert sorted(pairs[pairs[:, 1] >= 0, 1].tolist()) == list(range(len(found.y)))
    for name, (i, j) in zip(op.tolist(), pairs.tolist(), strict=True):
        if name in ("equal", "transpose"):
            assert found.x[i] == found.y[j]


def check_whole(found, x, y):
    first, end, made = apply(found)
    assert (first, end, made) == (0, len(x), y)
    check_pairs(found, first, end)


@pytest.mark.parametrize("name", UNIT)
@settings(max_examples=reference.examples(300))
@given(x=texts, y=texts)
def test_fewest_operations(isa, name, x, y):
    found = d2ke.align(x, y, name)
    assert found.value == entry(x, y, name)
    if len(x) * len(y) < 400:
        assert found.value == reference.DISTANCES[name](x, y)
    assert found.costs.sum() == found.value
    check_whole(found, x, y)
    op = found.operations.op
    crossed = np.flatnonzero(op == "transpose")
    assert (found.costs == ((op != "equal") & ~np.isin(np.arange(len(op)), crossed[1::2]))).all()
    if name == "osa":
        assert (np.diff(crossed)[::2] == 1).all()
    if name == "indel":
        assert set(op) <= {"equal", "insert", "delete"}


def test_letters_between_crossed_ones():
    found = d2ke.align("ca", "abc", "damerau_levenshtein")
    assert found.value == 2
    assert str(found.operations) == ("transpose x[0] and x[1]\ninsert  y[1] before x[1]")
    assert found.pairs.tolist() == [[0, 2], [-1, 1], [1, 0]]
    assert found.costs.tolist() == [1.0, 1.0, 0.0]
    twice = d2ke.align("abcdx", "badcx", "osa")
    assert str(twice.operations).splitlines() == [
        "transpose x[0] and x[1]",
        "transpose x[2] and x[3]",
        "equal   x[4] to y[4]",
    ]
    assert str(twice) == "osa 2.0\nabcdx\nxxxx|\nbadcx"


@settings(max_examples=reference.examples(100))
@given(x=texts, seed=st.integers(0, 99))
def test_hamming(isa, x, seed):
    y = "".join(np.random.default_rng(seed).permutation(list(x)).tolist())
    found = d2ke.align(x, y, "hamming")
    assert found.value == entry(x, y, "hamming") == reference.hamming(x, y) == found.costs.sum()
    check_whole(found, x, y)
    assert set(found.operations.op) <= {"equal", "replace"}


@settings(max_examples=reference.examples(100))
@given(x=texts, y=texts)
def test_letters_in_common(isa, x, y):
    found = d2ke.align(x, y, "jaccard")
    assert found.value == entry(x, y, "jaccard")
    common = [[x.index(a), y.index(a)] for a in dict.fromkeys(x) if a in y]
    left = [[x.index(a), -1] for a in dict.fromkeys(x) if a not in y]
    right = [[-1, y.index(a)] for a in dict.fromkeys(y) if a not in x]
    assert found.pairs.tolist() == sorted(common + left) + right
    assert found.costs.tolist() == [float(-1 in pair) for pair in found.pairs.tolist()]


@settings(max_examples=reference.examples(100))
@given(x=texts, y=texts)
def test_shares_of_letters(x, y):
    found = d2ke.align(x, y, "bag")
    assert found.value == entry(x, y, "bag")
    np.testing.assert_allclose(found.costs.sum(), found.value, atol=1e-12)
    letters = [x[i] if i >= 0 else y[j] for i, j in found.pairs.tolist()]
    assert sorted(letters) == sorted({*x, *y})
    places = [[x.find(a), y.find(a)] for a in letters]
    assert found.pairs.tolist() == places
    shared = [min(x.count(a) / len(x), y.count(a) / len(y)) if x and y else 0 for a in letters]
    assert shared == sorted(shared, reverse=True)


@st.composite
def weights(draw):
    """Costs of letters, as parameters and as functions."""
    style = draw(st.sampled_from(["plain", "letters", "matrix", "affine", "swaps"]))
    if style == "affine":
        extend = draw(costs)
        gap = extend + draw(costs), extend
        mismatch = draw(costs)
        params = {"gap_open": gap[0], "gap_extend": gap[1], "mismatch": mismatch}
        return params, {"gap": gap, "substitute": lambda a, b: mismatch * (a != b)}
    if style == "letters":
        of = {a: draw(costs) for a in "abcd"}
        put = draw(costs)
        params = {"deletion": of, "insertion": put}
        return params, {"delete": lambda a: of.get(a, 1.0), "insert": lambda _: put}
    if style == "matrix":
        matrix = np.array([[draw(costs) for _ in "abcdefgh"] for _ in "abcdefgh"])
        params = {"substitution": matrix, "alphabet": "abcdefgh"}
        return params, {"substitute": lambda a, b: matrix[ord(a) - 97, ord(b) - 97]}
    if style == "swaps":
        params = {"transposition": draw(costs), "mismatch": draw(costs)}
        swap, mismatch = params.values()
        return params, {"transposition": swap, "substitute": lambda a, b: mismatch * (a != b)}
    return {}, {}


@settings(max_examples=reference.examples(300))
@given(x=texts, y=texts, mode=st.sampled_from(MODES), weights=weights())
def test_cheapest_operations(isa, x, y, mode, weights):
    params, functions = weights
    mode = "global" if "transposition" in params else mode
    found = d2ke.align(x, y, "weighted_levenshtein", mode=mode, **params)
    assert found.value == entry(x, y, "weighted_levenshtein", mode=mode, **params)
    assert found.value == price(found, **functions) == np.cumsum([0.0, *found.costs])[-1]
    first, end, made = apply(found)
    assert made == y
    assert mode == "infix" or first == 0
    assert mode != "global" or end == len(x)
    check_pairs(found, first, end)


def price(
    found, substitute=lambda a, b: float(a != b), delete=None, insert=None, gap=None,
    transposition=0.0,
):  # fmt: skip
    """Cost of the operations, one after the other."""
    total, before = 0.0, None
    x, y = found.x, found.y
    for op, (i, j) in zip(found.operations.op.tolist(), found.pairs.tolist(), strict=True):
        if op in ("equal", "replace"):
            total += substitute(x[i], y[j])
        elif op == "transpose":
            total += transposition * (j > i)  # the first of the two
        elif gap is not None:
            total += gap[op == before]
        elif op == "delete":
            total += delete(x[i]) if delete else 1.0
        else:
            total += insert(y[j]) if insert else 1.0
        before = op
    return total


@pytest.mark.parametrize("name", ["levenshtein", *UNIT, "weighted_levenshtein"])
@settings(max_examples=reference.examples(40))
@given(
    seed=st.integers(0, 2**32),
    mode=st.sampled_from(MODES),
    rows=st.integers(1, 9),
    states=st.integers(2, 4),
)
def test_few_rows_in_memory(name, seed, mode, rows, states):
    rng, longest = np.random.default_rng(seed), 300 if name == "levenshtein" else 60
    x, y = ("".join(rng.choice(list("abcdefg"), n)) for n in rng.integers(0, longest, 2))
    params = {"mode": mode, "gap_open": 1.5, "gap_extend": 0.5} if name[0] == "w" else {}
    if params and seed % 2:
        params = {"transposition": 0.4}
    wanted = d2ke.align(x, y, name, **params)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(align_tables, "plan", lambda *_: align_tables.Plan(rows, states, 9))
        found = d2ke.align(x, y, name, **params)
    reference.same(found.pairs, wanted.pairs)
    assert found.value == wanted.value == entry(x, y, name, **params)


def test_less_memory_has_the_same_operations(monkeypatch):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(97, 105, n).astype(np.uint8).tobytes() for n in (1400, 1300))
    names = ("damerau_levenshtein", "weighted_levenshtein")
    wanted = [d2ke.align(x, y, name).pairs for name in names]
    monkeypatch.setattr(align_edits, "TABLE_BYTES", 2 * 10**5)
    for name, pairs in zip(names, wanted, strict=True):
        reference.same(d2ke.align(x, y, name).pairs, pairs)
