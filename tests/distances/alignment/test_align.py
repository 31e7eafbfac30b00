# SPDX-License-Identifier: BSD-3-Clause
"""Alignments: what they say about x and y holds, and costs what `distance_matrix` says."""

import subprocess
import sys

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import d2ke
from d2ke._ext import emd
from d2ke.distances.alignment import align as module
from d2ke.distances.alignment import series as align_series
from d2ke.distances.alignment import tables as align_tables
from d2ke.distances.registry import DISTANCES

GROUNDS = ("euclidean", "sqeuclidean")
MODES = ("global", "prefix", "infix")
SETS = [row.name for row in DISTANCES if row.kind == "sets" and row.name not in ("emd", "kernel")]
DIMS = (1, 2, 3, 5, 9)


def entry(x, y, distance, **params):
    X, Y = (d2ke.pack([one]) if isinstance(one, (str, bytes)) else vectors(one) for one in (x, y))
    return d2ke.distance_matrix(X, Y, distance, **params)[0, 0]


def vectors(one):
    return one if isinstance(one, d2ke.Objects) else d2ke.pack([one], channels_first=False)


# ---- DTW


@st.composite
def two_series(draw, most=14, dtypes=(np.float64, np.float32)):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dim = draw(st.sampled_from(DIMS))
    style = draw(st.sampled_from(["normal", "integers", "zero", "huge", "tiny"]))
    n, m = draw(st.integers(1, most)), draw(st.integers(1, most))
    dtype = draw(st.sampled_from(dtypes))
    values = rng.standard_normal((n + m, dim))
    if style == "integers":
        values = rng.integers(-2, 3, (n + m, dim)).astype(float)
    elif style == "zero":
        values[:] = 0
    elif style == "huge":
        values = np.clip(values, -1, 1) * np.finfo(dtype).max
    elif style == "tiny":
        values = rng.integers(-3, 4, (n + m, dim)) * np.finfo(dtype).smallest_subnormal
    values = values.astype(dtype)
    return values[:n], values[n:]


def test_less_memory_has_the_same_path(monkeypatch):
    x, y = (np.random.default_rng(k).standard_normal(1200 + k).cumsum() for k in (0, 1))
    wanted = d2ke.align(x, y)
    for limit in (0, 10**5):
        monkeypatch.setattr(align_series, "TABLE_BYTES", limit)
        path = d2ke.align(x, y)
        reference.same(path.pairs, wanted.pairs)
        assert path.value == wanted.value == entry(x, y, "dtw")


def test_plans_fit():
    class Table:
        rows, row_bytes, state_bytes = 10**6, 250_000, 250_000

    for memory in (10**6, 10**7, 10**8, 10**12):
        plan = align_tables.plan(Table, memory)
        assert plan.bytes(Table) <= max(memory, 13 * 10**6)
        assert plan.rows * plan.states**plan.levels >= Table.rows


# ---- Levenshtein


def applied(alignment):
    """Make y of the part of x that the operations meet."""
    out = []
    operations = alignment.operations
    i = first = operations.i[0] if len(operations) else 0
    for op, at, to in zip(operations.op, operations.i, operations.j, strict=True):
        assert at == i
        assert to == len(out)
        if op in ("equal", "replace"):
            assert (alignment.x[at] == alignment.y[to]) == (op == "equal")
        if op != "delete":
            out.append(alignment.y[to])
        i += op != "insert"
    return first, i, out


texts = st.text("ab", max_size=12) | st.text("abcdef", max_size=150)


@settings(max_examples=reference.examples(300))
@given(x=texts, y=texts, mode=st.sampled_from(MODES))
def test_operations_make_y_of_x(x, y, mode):
    found = d2ke.align(x, y, "levenshtein", mode=mode)
    assert found.value == entry(x, y, "levenshtein", mode=mode)
    assert found.value == reference.levenshtein(x, y, mode)
    assert found.costs.sum() == found.value == (found.operations.op != "equal").sum()
    first, end, out = applied(found)
    assert "".join(out) == y
    assert 0 <= first <= end <= len(x)
    if mode != "infix" and len(found.operations):
        assert first == 0
    if mode == "global":
        assert end == len(x)
    in_x, in_y = (found.pairs >= 0).T
    assert (in_x | in_y).all()
    assert (in_x == (found.operations.op != "insert")).all()
    assert (in_y == (found.operations.op != "delete")).all()
    assert found.pairs[in_x, 0].tolist() == list(range(first, end))
    assert found.pairs[in_y, 1].tolist() == list(range(len(y)))


def test_letters_of_every_kind():
    for x, y in [
        (b"abc", b"xbc"),
        ("a\U0001f600c", "x\U0001f600c"),
        (d2ke.pack([[5, 2**62, -1]], kind="strings"), d2ke.pack([[7, 2**62, -1]], kind="strings")),
    ]:
        found = d2ke.align(x, y)
        assert found.value == 1
        assert found.operations.op.tolist() == ["replace", "equal", "equal"]
    assert str(found) == (
        "levenshtein 1.0\n5 4611686018427387904 -1\n  |                   |\n"
        "7 4611686018427387904 -1"
    )


PEAK = """
import ctypes
from pathlib import Path
import numpy as np
import d2ke

def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))

rng = np.random.default_rng(0)
x = rng.integers(97, 101, {n}).astype(np.uint8).tobytes()
y = bytearray(x)
for i in rng.integers(0, len(y) // 2, {n} // 20).tolist():
    y[i] = 97
    del y[(i * 7) % len(y)]
y = bytes(y) + rng.integers(97, 101, {n} - len(y)).astype(np.uint8).tobytes()
d2ke.align("abc", "abd")
ctypes.CDLL(None).malloc_trim(0)
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
found = d2ke.align(x, y)
print(status("VmHWM") - before)
assert found.value == d2ke.distance_matrix([x], [y], "levenshtein")[0, 0]
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read from /proc")
@pytest.mark.parametrize("n", [20_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_long_strings_take_little_memory(n):
    done = subprocess.run(
        [sys.executable, "-c", PEAK.format(n=n)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 100e6


# ---- EMD


@st.composite
def two_sets(draw, most=9):
    x, y = draw(two_series(most=most, dtypes=(np.float64,)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if draw(st.booleans()):  # equal ones
        x = x[rng.integers(0, len(x), len(x))]
        y = np.concatenate([y, x])[rng.permutation(len(x) + len(y))[: len(y)]]
    return np.clip(x, -1e150, 1e150), np.clip(y, -1e150, 1e150)


@pytest.mark.parametrize("ground", GROUNDS)
@settings(max_examples=reference.examples(100))
@given(pair=two_sets(), weighted=st.booleans(), seed=st.integers(0, 99))
def test_flow(isa, ground, pair, weighted, seed):
    x, y = pair
    X, Y = vectors(x), vectors(y)
    rng = np.random.default_rng(seed)
    shares = [np.full(len(one), 1 / len(one)) for one in pair]
    if weighted:
        weights = [rng.integers(0, 4, len(one)) + (np.arange(len(one)) == 0) for one in pair]
        X, Y = (d2ke.pack(o, weights=[w]) for o, w in zip((X, Y), weights, strict=True))
        shares = [w / w.sum() for w in weights]
    flow = d2ke.align(X, Y, "emd", ground=ground)
    assert flow.value == entry(X, Y, "emd", ground=ground)
    assert (flow.masses > 0).all()
    for side, share in enumerate(shares):
        sums = np.bincount(flow.pairs[:, side], flow.masses, len(share))
        np.testing.assert_allclose(sums, share, rtol=0, atol=1e-15)
    assert len(np.unique(flow.pairs, axis=0)) == len(flow.pairs)
    np.testing.assert_allclose(
        flow.costs, cdist(x, y, ground)[tuple(flow.pairs.T)], rtol=1e-12, atol=1e-160
    )
    assert (flow.masses * flow.costs).sum() == pytest.approx(flow.value, rel=1e-12, abs=1e-300)
    cost = reference.emd(X[0], Y[0], *shares, ground) if np.abs(x).max() < 1e9 else flow.value
    assert flow.value == pytest.approx(cost, rel=1e-7, abs=1e-7 * (1 + cdist(x, y, ground).max()))


def test_shares_of_nothing():
    x = d2ke.pack([[[0.0], [0.0], [1.0]]], weights=[[1e-300, 1e-290, 1.0]])
    y = d2ke.pack([[[0.0], [0.0]]], weights=[[1e-30, 1.0]])
    flow = d2ke.align(x, y, "emd")
    assert flow.pairs.tolist() == [[2, 1]]
    assert flow.masses.tolist() == [1.0]
    assert flow.value == entry(x, y, "emd") == 1


@settings(max_examples=reference.examples(60))
@given(pair=two_sets())
def test_the_flow_is_that_of_the_distance(pair):
    """The kernel's arcs, all different vectors: their costs in order are the distance."""
    measures = [emd.measures(one, np.array([0, len(one)]), None) for one in pair]
    value, sources, targets, masses, apart = emd.flow(*measures, False)
    assert value == emd_value(*pair)
    for places, measure in ((sources, measures[0]), (targets, measures[1])):
        sums = np.zeros(len(measure[2]), np.int64)
        np.add.at(sums, places, masses)
        assert (sums == measure[2]).all()  # integers, to the last one
    total = lost = 0.0
    for mass, cost in zip(masses / emd.TOTAL, apart, strict=True):
        step = mass * cost - lost
        total, lost = total + step, ((total + step) - total) - step
    assert total == pytest.approx(value, rel=4e-16, abs=0)


def emd_value(x, y):
    return entry(x, y, "emd")


# ---- sets


@pytest.mark.parametrize("name", SETS)
@settings(max_examples=reference.examples(60))
@given(pair=two_series())
@pytest.mark.filterwarnings("ignore:overflow")
def test_matching(isa, name, pair):
    x, y = pair
    found = d2ke.align(x, y, name)
    assert found.value == entry(x, y, name)
    n, m = len(x), len(y)
    directed = name.startswith("directed")
    assert len(found.pairs) == n + (0 if directed else m)
    assert found.pairs[:n, 0].tolist() == list(range(n))
    assert found.pairs[n:, 1].tolist() == ([] if directed else list(range(m)))
    if name.endswith("hausdorff"):
        assert found.costs[found.maximum] == found.value
    elif x.dtype == np.float64:
        means = [
            summed(part) / len(part) for part in (found.costs[:n], found.costs[n:]) if len(part)
        ]
        assert found.value == (sum(means) if name == "chamfer" else max(means))
    assert found.costs[found.maximum] == found.costs.max()
    wide = [one.astype(np.float64) / max(1, np.abs(pair[0]).max()) for one in pair]
    D = cdist(*wide)
    close = 1e-5 if x.dtype == np.float32 else 1e-12
    wanted = np.concatenate([D.min(axis=1), D.min(axis=0)])[: len(found.pairs)]
    finite = found.costs < np.inf
    got = D[tuple(found.pairs.T)]
    np.testing.assert_allclose(got[finite], wanted[finite], rtol=close, atol=1e-150)


def summed(values):
    """Add as the kernel does: eight sums of every eighth."""
    padded = np.append(values, np.zeros(-len(values) % 8)).reshape(-1, 8)
    parts = np.zeros(8)
    for row in padded:
        parts += row
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total


# ---- the function and its record


def test_defaults_and_aliases():
    assert d2ke.align("ab", "b").distance == "levenshtein"
    assert d2ke.align([1.0], [2.0]).distance == "dtw"
    assert d2ke.align("ab", "b", "edit").distance == "levenshtein"
    assert d2ke.align([1], [2], "wmd").distance == "emd"
    without = {"kernel", "jaro", "jaro_winkler", "token_sort", "token_set"}
    assert set(module.ALIGNERS) == {row.name for row in DISTANCES} - without
    with pytest.raises(ValueError, match="'kernel' has no alignment; these have one: dtw, ms"):
        d2ke.align([1.0], [2.0], "kernel", sigma=1.0)


def test_text():
    found = d2ke.align("the\ncat", "the cat")
    assert repr(found) == "<Alignment: levenshtein 1.0, 7 pairs>"
    assert str(found) == "levenshtein 1.0\nthe\ufffdcat\n||| |||\nthe cat"
    long = d2ke.align("a" * 100, "a" * 99)
    assert [len(line) for line in str(long).split("\n")] == [15, 60, 60, 60, 0, 40, 40, 40]
    assert str(d2ke.align("", "")) == "levenshtein 0.0"
    assert str(d2ke.align("", "").operations) == ""
    assert str(d2ke.align("kitten", "sitting").operations).splitlines() == [
        "replace x[0] by y[0]",
        "equal   x[1:4] to y[1:4]",
        "replace x[4] by y[4]",
        "equal   x[5] to y[5]",
        "insert  y[6] before x[6]",
    ]
    path = str(d2ke.align(np.zeros(30), np.zeros(30)))
    assert path.splitlines()[1] == "x[0] y[0]  cost 0"
    assert path.endswith("    and 10 more")
    assert "mass 0.5" in str(d2ke.align([[0.0], [1.0]], [[1.0], [2.0]], "emd"))


EDITS = ["levenshtein", "osa", "damerau_levenshtein", "indel", "hamming", "jaccard", "bag",
         "weighted_levenshtein"]  # fmt: skip
DRAWN = [
    ([0.0, 1, 2], [0.0, 2], "dtw"),
    ([1.0, 2.0], [1.0, 2.5], "chamfer"),
    *((np.eye(dim), np.ones((2, dim)), name) for dim in (2, 3) for name in ("dtw", "emd", *SETS)),
    *((np.zeros((3, dim)), np.full((2, dim), 9.0), "lcss") for dim in (1, 2, 3)),  # no pairs
    *((x, y, name) for x, y in (("abcde", "badxc"), ("", ""), ("abc", "abc")) for name in EDITS),
]


@pytest.mark.parametrize(("x", "y", "distance"), DRAWN)
def test_pictures(x, y, distance):
    ax = pytest.importorskip("matplotlib.figure").Figure().subplots()
    found = d2ke.align(x, y, distance)
    assert found.plot(ax) is ax
    assert ax.get_title().startswith(distance)
    assert str(found).startswith(f"{distance} {found.value}"[:12])
    ax.figure.canvas.draw()
