# SPDX-License-Identifier: BSD-3-Clause
"""The samplers: nested, reproducible, with the distributions they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import d2ke

POOL = d2ke.pack(["a", "bb", "ccc", "", "e\U0001f600"] * 20)


def numbered(*lengths, dtype=np.float64):
    """Objects whose vectors say where they are: (object, position)."""
    parts = [np.stack([np.full(n, i), np.arange(n)], axis=1) for i, n in enumerate(lengths)]
    return d2ke.pack([part.astype(dtype) for part in parts], channels_first=False)


VECTORS = numbered(0, 12, 3, 0, 9, 1, 0)
FLOATS = numbered(0, 12, 3, 0, 9, 1, 0, dtype=np.float32)
WORDS = d2ke.pack(["", "abracadabra", "a", "", "barbarian", "cab", ""])
BYTES = d2ke.pack([bytes(word, "ascii") for word in WORDS])
# Of the alphabet of 300 letters the objects that are left have a few.
INTEGERS = d2ke.pack(
    [range(-299, 1), [-5, -9, -5, -9, -5, -200, -7, -5, -9], [], [-7, -9, -9], [-5]],
    kind="strings",
)[1:]
SAMPLERS = {
    "series": lambda R, seed: d2ke.samplers.random_series(
        R, 3, length=(2, 9), sigma=0.5, seed=seed
    ),
    "one length": lambda R, seed: d2ke.samplers.random_series(R, 1, length=4, sigma=2, seed=seed),
    "float32": lambda R, seed: d2ke.samplers.random_series(
        R, 3, length=(2, 9), sigma=0.5, seed=seed, dtype=np.float32
    ),
    "strings": lambda R, seed: d2ke.samplers.random_strings(R, "ACGT", length=(2, 9), seed=seed),
    "bytes": lambda R, seed: d2ke.samplers.random_strings(
        R, bytes(range(256)), length=(1, 9), seed=seed
    ),
    "integers": lambda R, seed: d2ke.samplers.random_strings(
        R, range(300), length=(1, 9), seed=seed
    ),
    "one letter": lambda R, seed: d2ke.samplers.random_strings(R, "x", length=(1, 9), seed=seed),
    "sphere": lambda R, seed: d2ke.samplers.random_sets(R, 5, size=(3, 15), seed=seed),
    "box": lambda R, seed: d2ke.samplers.random_sets(
        R, 2, size=(3, 15), seed=seed, region="box", low=[-1, 0], high=3
    ),
    "training objects": lambda R, seed: d2ke.samplers.training_objects(R, POOL, seed=seed)[0],
    "segments": lambda R, seed: d2ke.samplers.segments(
        R, VECTORS, length=(2, 9), scale=0.3, seed=seed
    ),
    "float32 segments": lambda R, seed: d2ke.samplers.segments(
        R, FLOATS, length=(2, 9), scale=0.3, seed=seed
    ),
    "segments of strings": lambda R, seed: d2ke.samplers.segments(
        R, WORDS, length=(1, 9), seed=seed
    ),
    "segments of integers": lambda R, seed: d2ke.samplers.segments(
        R, INTEGERS, length=(1, 9), seed=seed
    ),
    "chain": lambda R, seed: d2ke.samplers.markov_strings(R, WORDS, length=(1, 9), seed=seed),
    "chain of bytes": lambda R, seed: d2ke.samplers.markov_strings(
        R, BYTES, length=(2, 9), order=2, seed=seed
    ),
    "chain of integers": lambda R, seed: d2ke.samplers.markov_strings(
        R, INTEGERS, length=5, order=3, seed=seed
    ),
    "resampled": lambda R, seed: d2ke.samplers.resampled(R, VECTORS, size=(3, 15), seed=seed),
    "float32 resampled": lambda R, seed: d2ke.samplers.resampled(
        R, FLOATS, size=(3, 15), seed=seed
    ),
}


@pytest.fixture(params=SAMPLERS)
def sampler(request):
    return SAMPLERS[request.param]


@given(R=st.integers(1, 100), more=st.integers(0, 100), seed=st.integers(0, 2**70))
def test_nested(sampler, R, more, seed):
    most = min(R + more, 100)
    large, small = sampler(most, seed), sampler(R, seed) if most >= R else None
    assert len(large) == most
    if small is not None:
        assert large[:R] == small
        assert large.dtype == small.dtype


def test_seeds(sampler):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    wanted = sampler(50, 7)
    for seed in (7, np.int64(7), np.random.SeedSequence(7), np.random.default_rng(7)):
        assert sampler(50, seed) == wanted
    spawned = np.random.SeedSequence(7).spawn(3)[1]
    first = sampler(50, spawned)
    assert sampler(50, spawned) == first
    assert sampler(20, spawned) == first[:20]
    assert spawned.n_children_spawned == 0
    rng = np.random.default_rng(7)
    assert sampler(50, rng) != sampler(50, rng)
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_objects_are_packed(sampler):
    X = sampler(30, 0)
    assert X.values.flags.c_contiguous
    assert X.dtype.isnative
    assert d2ke.pack(list(X), kind=X.kind) == X


def uniform_over(lengths, low, high):
    counts = np.bincount(lengths, minlength=high + 1)
    assert counts[:low].sum() == 0
    assert len(counts) == high + 1
    expected = len(lengths) / (high - low + 1)
    # Five standard deviations of a binomial count.
    return np.all(np.abs(counts[low:] - expected) < 5 * np.sqrt(expected))


def test_series():
    X = d2ke.samplers.random_series(20_000, 3, length=(2, 9), sigma=0.5, seed=0)
    assert uniform_over(X.lengths, 2, 9)
    n = len(X.values)
    np.testing.assert_allclose(X.values.mean(axis=0), 0, atol=5 * 0.5 / np.sqrt(n))
    np.testing.assert_allclose(X.values.std(axis=0), 0.5, rtol=5 / np.sqrt(2 * n))
    np.testing.assert_allclose(np.corrcoef(X.values.T), np.eye(3), atol=5 / np.sqrt(n))
    kurtosis = (X.values**4).mean() / (X.values**2).mean() ** 2
    assert abs(kurtosis - 3) < 0.1


def test_channels_and_sigma_of_series():
    series = [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]]
    sigma = np.std(np.arange(6))
    for known in {}, {"n_channels": 2}, {"sigma": sigma}:
        found = d2ke.samplers.random_series(5, X=series, length=(1, 5), seed=3, **known)
        assert found == d2ke.samplers.random_series(5, 2, length=(1, 5), sigma=sigma, seed=3)
    for name, known in ("n_channels", {"sigma": 1.0}), ("sigma", {"n_channels": 2}):
        with pytest.raises(TypeError, match=f"^{name} is needed, or X"):
            d2ke.samplers.random_series(5, length=3, seed=0, **known)


@pytest.mark.parametrize(
    "draw",
    [
        lambda dtype: d2ke.samplers.random_series(
            9, 3, length=(1, 5), sigma=0.3, seed=1, dtype=dtype
        ),
        lambda dtype: d2ke.samplers.random_sets(9, 3, size=(1, 5), seed=1, dtype=dtype),
        lambda dtype: d2ke.samplers.random_sets(
            9, 3, size=(1, 5), seed=1, dtype=dtype, region="box"
        ),
    ],
)
def test_float32_is_the_rounded_float64(draw):
    double, single = draw(np.float64), draw(np.float32)
    assert (double.dtype, single.dtype) == (np.float64, np.float32)
    assert np.array_equal(single.values, double.values.astype(np.float32))
    assert np.array_equal(single.offsets, double.offsets)
    assert draw("float32").dtype == np.float32
    assert draw(">f8").dtype.isnative


def test_strings():
    alphabet = "zA\U0001f600\u00e9"
    X = d2ke.samplers.random_strings(20_000, alphabet, length=(2, 5), seed=0)
    assert uniform_over(X.lengths, 2, 5)
    assert uniform_over(X.values, 0, 3)
    assert {c for s in X[:100] for c in s} == set(alphabet)
    # Neighbouring letters are independent.
    pairs = np.concatenate([X.values[X.offsets[:-1]] * 4 + X.values[X.offsets[:-1] + 1]])
    assert uniform_over(pairs, 0, 15)


def test_types_of_alphabets():
    assert d2ke.samplers.random_strings(3, b"ab", length=3, seed=0).letters == "bytes"
    X = d2ke.samplers.random_strings(9, [5, -7, 2**40], length=30, seed=0)
    assert X.letters == "int"
    assert set(np.concatenate(list(X))) == {5, -7, 2**40}
    assert (
        d2ke.samplers.random_strings(9, np.arange(70_000), length=3, seed=0).values.max() > 65_535
    )


def test_sphere():
    X = d2ke.samplers.random_sets(3000, 3, size=(3, 15), seed=0)
    assert uniform_over(X.lengths, 3, 15)
    np.testing.assert_allclose(np.linalg.norm(X.values, axis=1), 1, rtol=1e-14)
    n = len(X.values)
    np.testing.assert_allclose(X.values.mean(axis=0), 0, atol=5 / np.sqrt(3 * n))
    # On the sphere in three dimensions each coordinate is uniform in [-1, 1].
    counts = np.histogram(X.values, bins=10, range=(-1, 1))[0]
    np.testing.assert_allclose(counts, 3 * n / 10, rtol=0.05)
    assert set(np.abs(d2ke.samplers.random_sets(20, 1, size=3, seed=0).values.ravel())) == {1.0}


def test_box():
    low, high = np.array([-1.0, 5.0]), np.array([1.0, 5.5])
    X = d2ke.samplers.random_sets(3000, 2, size=(1, 9), seed=0, region="box", low=low, high=high)
    assert uniform_over(X.lengths, 1, 9)
    assert (X.values >= low).all()
    assert (X.values <= high).all()
    unit = (X.values - low) / (high - low)
    np.testing.assert_allclose(unit.mean(axis=0), 0.5, atol=5 / np.sqrt(12 * len(unit)))
    np.testing.assert_allclose(unit.std(axis=0), np.sqrt(1 / 12), rtol=0.02)


def test_training_objects():
    X = d2ke.pack([[i] for i in range(40)])
    drawn = [int(v[0, 0]) for v in d2ke.samplers.training_objects(40, X, seed=0)[0]]
    assert sorted(drawn) == list(range(40))
    assert drawn != sorted(drawn)
    firsts = np.array(
        [d2ke.samplers.training_objects(1, X, seed=s)[0].values[0, 0] for s in range(2000)]
    )
    assert uniform_over(firsts.astype(int), 0, 39)
    drawn, places = d2ke.samplers.training_objects(9, ["a", "b", "c"], seed=0)
    assert sorted(drawn) == ["a", "b", "c"]
    assert ["abc"[place] for place in places] == drawn


def call(function, **changes):
    arguments = {
        "series": {"R": 3, "n_channels": 2, "length": (1, 4), "sigma": 1.0, "seed": 0},
        "strings": {"R": 3, "alphabet": "AB", "length": (1, 4), "seed": 0},
        "sets": {"R": 3, "dim": 2, "size": (1, 4), "seed": 0},
        "training": {"X": ["a", "b"], "R": 2, "seed": 0},
        "segments": {"X": [[1.0, 2.0, 0.0, -3.0], [5.0]], "R": 2, "length": (1, 4), "seed": 0},
        "chain": {"X": ["abcd", "", "ba"], "R": 2, "length": (1, 9), "seed": 0},
        "resampled": {"X": [[1.0, 2.0], [5.0]], "R": 2, "size": (1, 4), "seed": 0},
    }[function]
    name = NAMES.get(function, f"random_{function}")
    return getattr(d2ke.samplers, name)(**(arguments | changes))


NAMES = {
    "training": "training_objects",
    "segments": "segments",
    "chain": "markov_strings",
    "resampled": "resampled",
}
SINGLE = d2ke.pack([np.array([3.0, 0.0, -1.0, 0.0], dtype=np.float32)])


def test_the_orthant_is_the_sphere_folded():
    X = d2ke.samplers.random_sets(50, 4, size=(1, 9), seed=3)
    Y = d2ke.samplers.random_sets(50, 4, size=(1, 9), seed=3, region="orthant")
    np.testing.assert_array_equal(Y.values, np.abs(X.values))
    assert (X.values < 0).any()


# Beside the arguments that tests/base/test_every_argument.py refuses by signature.
@pytest.mark.parametrize(
    ("function", "changes", "error", "message"),
    [
        ("sets", {"dtype": np.float16}, TypeError, "dtype must be float64 or float32, got float16"),
        ("series", {"sigma": 1.7e308, "length": 500}, ValueError, "sigma"),
        ("series", {"sigma": 1e39, "dtype": np.float32}, ValueError, "sigma"),
        ("strings", {"alphabet": "ABCA"}, ValueError, "'A' is at positions 0 and 3"),
        ("strings", {"alphabet": b"\x01\x02\x02"}, ValueError, "2 is at positions 1 and 2"),
        ("strings", {"alphabet": [7, 8, 7]}, ValueError, "7 is at positions 0 and 2"),
        ("strings", {"alphabet": ["A", "B"]}, TypeError, "alphabet"),
        ("sets", {"region": "box", "low": 1.0}, ValueError, "low must be less than high"),
        ("sets", {"region": "box", "low": [0, 1]}, ValueError, "low must be less than high"),
        ("sets", {"region": "box", "low": [0, 0, 0]}, ValueError, r"low must be a number or of sh"),
        ("sets", {"region": "box", "low": -1.7e308, "high": 1.7e308}, ValueError, "low|high"),
        ("segments", {"length": (2, 5)}, ValueError,
         "length goes up to 5, but the longest object of X has 4 elements"),
        ("segments", {"X": ["abc", ""], "length": 4}, ValueError, "length goes up to 4, but the"),
        ("segments", {"X": ["", ""], "length": 1}, ValueError, "longest object of X has 0 elem"),
        ("segments", {"X": WORDS[:0], "length": 1}, ValueError, "longest object of X has 0 elem"),
        ("segments", {"X": ["abcd"], "scale": 2.0}, ValueError,
         r"scale is for series, but X holds strings; got scale = 2\.0"),
        ("segments", {"X": SINGLE, "scale": 2e38}, ValueError, "too large for float32: 2e"),
        # Which float32 does not hold: infinite times 0 is no number.
        ("segments", {"X": SINGLE, "scale": 1e39}, ValueError, "too large for float32: 1e"),
        ("segments", {"scale": 1.7e308}, ValueError, r"scale is too large for float64: 1\.7e\+308"),
        ("chain", {"order": 4}, ValueError, "X must hold a string longer than order = 4"),
        ("chain", {"order": 10**12}, ValueError, "X must hold a string longer than order = 1000"),
        *(("chain", {"X": X}, ValueError, "X must hold a string longer than order = 1")
          for X in (["a", "b"], ["", ""], WORDS[:0])),
        ("chain", {"X": [[1.5, 2, 3]]}, TypeError, r"X\[0\] must be a str, bytes or a 1-D seq"),
        ("resampled", {"X": ["abcd"]}, TypeError, r"X\[0\] is str; arrays of numbers"),
        *(("resampled", {"X": X}, ValueError, "X must hold at least one element")
          for X in (np.zeros((2, 0, 3)), VECTORS[:1], VECTORS[:0])),
    ],
)  # fmt: skip
def test_refused(function, changes, error, message):
    with pytest.raises(error, match=message):
        call(function, **changes)
