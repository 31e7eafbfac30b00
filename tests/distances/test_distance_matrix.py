# SPDX-License-Identifier: BSD-3-Clause
"""What holds for every distance of the registry, and the arguments of distance_matrix."""

import functools
import threading
from contextlib import contextmanager

import numpy as np
import pytest
import reference
from reference import same_bits

import d2ke
from d2ke.distances import matrix, registry
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import PairBlock

# Tiny arrays, which are meant as they are.
pytestmark = pytest.mark.filterwarnings("ignore:every item of .* has shape")

NAMES = d2ke.distance_names()
ROWS = {row.name: row for row in registry.DISTANCES}
VECTORS = [name for name in NAMES if ROWS[name].kind != "strings"]


def case(name, dtype, n=23, m=19, seed=0):
    rng = np.random.default_rng(seed)
    return (d2ke.pack(reference.sample_objects(name, rng, k, dtype)) for k in (n, m))


CASES = [
    (name, dtype)
    for name in NAMES
    for dtype in ((np.float64, np.float32) if name in VECTORS else (np.float64,))
]


def test_every_distance_has_a_reference():
    assert set(NAMES) == set(reference.DISTANCES)


@functools.cache
def with_reference(name, dtype):
    """Return two lists of objects and the matrix of the definition."""
    # Those of gapped take long; 19 columns do not fill all lanes.
    X, Y = case(name, dtype, *((2, 4) if name == "gapped" else (5, 19)))
    return X, Y, reference.matrix(reference.DISTANCES[name], X, Y, **reference.given(name))


@pytest.mark.sample(2)
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_reference(isa, name, dtype):
    X, Y, wanted = with_reference(name, dtype)
    D = d2ke.distance_matrix(X, Y, name, **reference.given(name))
    assert D.dtype == dtype
    assert D.flags.c_contiguous
    close = reference.ROUNDING.get(name, 0)
    rtol = close or (1e-12 if dtype == np.float64 else 1e-5)
    np.testing.assert_allclose(D, wanted, rtol, atol=close)


@pytest.mark.parametrize("name", NAMES)
def test_no_objects_have_no_distances(name):
    X, Y = case(name, np.float64, 3, 2)
    pairs = check_pairs(X, Y, name, reference.given(name))
    assert pairs.distances(PairBlock(X, Y[:0]), 1).shape == (3, 0)
    assert pairs.distances(PairBlock(X[:0], Y), 1).shape == (0, 2)


def with_gaps(objects):
    """Leave out a number of every third series of several vectors."""
    items = [np.array(item) for item in objects]
    for item in items[::3]:
        item[1 : len(item) // 2 + 1, 0] = np.nan
    return d2ke.pack(items, channels_first=False, missing=True)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("name", "dtype", "params"),
    [
        *((name, dtype, {}) for name, dtype in CASES),
        *(("levenshtein", np.float64, {"mode": mode}) for mode in ("prefix", "infix")),
        *(("dtw", dtype, {"missing": "arow"}) for dtype in (np.float64, np.float32)),
    ],
)
def test_same_bits_for_any_threads_and_chunks(isa, name, dtype, params):
    X, Y = case(name, dtype, 40, 75, seed=1)
    if params.get("missing"):
        X, Y = with_gaps(X), with_gaps(Y)
    compute = functools.partial(
        d2ke.distance_matrix, distance=name, **reference.given(name), **params
    )
    D = compute(X, Y, n_threads=1)
    for n_threads in (2, 3, 300):
        assert same_bits(compute(X, Y, n_threads=n_threads), D)
    rng = np.random.default_rng(2)
    for _ in range(4):
        rows = rng.permutation(len(X))[: rng.integers(1, len(X))]
        columns = rng.permutation(len(Y))[: rng.integers(1, len(Y))]
        part = compute(X[rows], Y[columns], n_threads=2)
        assert same_bits(part, D[np.ix_(rows, columns)])
    full = compute(Y, Y, n_threads=1)
    for n_threads in (1, 4):
        assert same_bits(compute(Y, n_threads=n_threads), full)


@pytest.mark.sample(5)
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_same_bits_when_there_is_work_for_many_threads(name, dtype):
    # Small matrices may be left to fewer threads than asked for (THREAD_WORK of tasks.pyx); this
    # one is not. Of earth mover's distances far fewer are work enough.
    X, Y = case(name, dtype, *((70, 60) if name == "emd" else (190, 170)), seed=3)
    for other in (Y, None):
        alone = d2ke.distance_matrix(X, other, name, **reference.given(name), n_threads=1)
        for n_threads in (2, 4):
            assert same_bits(
                d2ke.distance_matrix(X, other, name, **reference.given(name), n_threads=n_threads),
                alone,
            )
    Z = d2ke.d2ke_embed(X, Y, distance=name, gamma=0.1, n_threads=1, **reference.given(name))
    assert same_bits(
        d2ke.d2ke_embed(X, Y, distance=name, gamma=0.1, n_threads=4, **reference.given(name)),
        Z,
    )


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_registry_tells_the_truth(name, dtype):
    row = ROWS[name]
    X, _ = case(name, dtype)
    D = d2ke.distance_matrix(X, X, name, **reference.given(name))
    assert (D >= 0).all()
    np.testing.assert_array_equal(np.diag(D), 0)
    assert np.array_equal(D, D.T) == row.is_symmetric({})
    if row.metric:
        slack = 1 + 10 * np.finfo(dtype).eps
        assert (D[:, None, :] <= (D[:, :, None] + D[None, :, :]) * slack).all()
    for alias in row.aliases:
        assert same_bits(d2ke.distance_matrix(X, X, alias, **reference.given(name)), D)
        assert alias not in NAMES
    assert row.summary
    assert row.source


@pytest.mark.parametrize("name", VECTORS)
def test_element_types(name):
    X, Y = case(name, np.float32, 5, 7)
    wide = d2ke.pack([v.astype(np.float64) for v in Y])
    assert d2ke.distance_matrix(X, Y, name, **reference.given(name)).dtype == np.float32
    exact = d2ke.distance_matrix(
        d2ke.pack([v.astype(np.float64) for v in X]), wide, name, **reference.given(name)
    )
    for D in (
        d2ke.distance_matrix(X, wide, name, **reference.given(name)),
        d2ke.distance_matrix(wide, X, name, **reference.given(name)),
    ):
        assert D.dtype == np.float64
    assert same_bits(d2ke.distance_matrix(X, wide, name, **reference.given(name)), exact)


# out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["dtw", "levenshtein", "callable"])
def test_out(kind, dtype):
    if kind == "callable":
        X, Y, kind = [1.0, 2.5], [4.0, 1.25, 0.1], lambda x, y: abs(x - y)
    else:
        X, Y = case(kind, np.float64, 2, 3)
    wanted = d2ke.distance_matrix(X, Y, kind)
    out = np.full((2, 3), np.nan, dtype=dtype)
    assert d2ke.distance_matrix(X, Y, kind, out=out) is out
    np.testing.assert_array_equal(out, wanted.astype(dtype))


# Refusals


@pytest.mark.parametrize("bad", ["dtv", "DTW", ""])
def test_unknown_distance_lists_the_names(bad):
    with pytest.raises(d2ke.ArgumentError, match="distance must be one of") as caught:
        d2ke.distance_matrix([[1.0]], distance=bad)
    assert caught.value.argument == "distance"
    assert all(name in str(caught.value) for name in NAMES)
    assert repr(bad) in str(caught.value)
    assert ("(did you mean 'dtw'?)" in str(caught.value)) == bool(bad)


@pytest.mark.parametrize("items", [["ab", "b"], d2ke.pack(["ab", "b"])])
def test_a_distance_for_another_kind_names_some_for_this_one(items):
    for call in (d2ke.distance_matrix, lambda X, distance: d2ke.nearest(X, k=1, distance=distance)):
        with pytest.raises(TypeError, match="strings are 'levenshtein', 'osa'") as caught:
            call(items, distance="dtw")
        assert caught.value.argument == "distance"
    with pytest.raises(TypeError, match="series are 'dtw', 'msm', 'erp', 'twe' and others"):
        d2ke.distance_matrix([[0.5], [1.5]], distance="levenshtein")


@pytest.mark.parametrize("name", NAMES)
def test_unknown_parameter(name):
    X = reference.sample_objects(name, np.random.default_rng(0), 2)
    with pytest.raises(TypeError, match=f"'{name}' has no parameter 'beta'"):
        d2ke.distance_matrix(X, distance=name, **reference.given(name), beta=1)


@pytest.mark.parametrize("name", VECTORS)
def test_refused_vectors(name):
    good = [np.ones((2, 3))]
    for items, error, message in [
        ([], ValueError, "Y is empty: at least one object is needed"),
        (d2ke.pack(good)[:0], ValueError, "Y is empty: at least one object is needed"),
        ([np.ones((2, 3)), np.ones((0, 3))], ValueError, rf"Y\[1\] is empty: {name} is defined"),
        ([np.ones((2, 2))], ValueError, r"X has vectors of 3 dimensions \(channels\) but Y has 2"),
        ([np.full((1, 3), np.nan)], ValueError, r"Y\[0\] has nan at position \(0, 0\)"),
        (["abc"], TypeError, r"Y\[0\] is str; arrays of numbers are needed"),
        (d2ke.pack(["abc"]), TypeError, "Y holds strings, but (series|sets) are needed"),
        ("abc", TypeError, "Y must be a sequence of objects, got one str"),
    ]:
        with pytest.raises(error, match=message):
            d2ke.distance_matrix(good, items, name, **reference.given(name))


def test_more_threads_than_there_could_be():
    assert d2ke.distance_matrix(["a", "b"], ["c"], "levenshtein", n_threads=10**12).shape == (2, 1)


# Threads and progress


def test_other_python_threads_run_meanwhile():
    # The loop must not hold the GIL: meanwhile this thread counts.
    X = d2ke.pack([np.zeros(4_000), np.ones(4_000)])
    worker = threading.Thread(
        target=d2ke.distance_matrix, args=(X, X, "dtw"), kwargs={"n_threads": 1}
    )
    worker.start()
    count = 0
    while worker.is_alive():
        count += 1
    worker.join()
    assert count > 10_000


@pytest.mark.parametrize("function", ["dtw", lambda x, y: 1.0])
def test_progress(function, capsys):
    X, Y = case("dtw", np.float64)
    D = d2ke.distance_matrix(X, Y, function, progress=True)
    assert same_bits(D, d2ke.distance_matrix(X, Y, function))
    assert "distances" in capsys.readouterr().err
    d2ke.distance_matrix(X, Y, function, progress=False)
    assert capsys.readouterr().err == ""


def reporting_to(report):
    """A stand-in for `progress_bar` that always reports."""

    @contextmanager
    def bar(wanted, description):
        yield report

    return bar


@pytest.mark.parametrize("same", [False, True])
def test_progress_counts_up_to_the_number_of_pairs(monkeypatch, same):
    seen = []
    monkeypatch.setattr(matrix, "progress_bar", reporting_to(lambda *at: seen.append(at)))
    X = d2ke.pack([np.zeros(3000)] * 12)
    d2ke.distance_matrix(X, None if same else X, "dtw", n_threads=2, progress=True)
    total = 12 * 13 // 2 if same else 144
    done = [at for at, _ in seen]
    assert done == sorted(done)
    assert seen[-1] == (total, total)
    assert {of for _, of in seen} == {total}
    assert len(seen) > 1
