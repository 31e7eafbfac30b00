# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB's random stream: published values, and a slow reference that follows the method's text."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples

import d2ke
from matlab_compat import rand_stream, random
from matlab_compat.rand_stream import RandStream
from matlab_compat.random import rng

SEEDS = st.integers(0, 2**32 - 1)
TAIL = 3.65415288536101


def levels():
    with localcontext() as context:
        context.prec = 50
        edge, area = Decimal("3.6541528853610088"), Decimal("0.0049286732339746568")

        def f(x):
            return (-x * x / 2).exp()

        x = {0: Decimal(0), 255: edge, 256: area / f(edge)}
        for i in range(254, 0, -1):
            x[i] = (-2 * (area / x[i + 1] + f(x[i + 1])).ln()).sqrt()
        return (
            [float(f"{x[i]:.14e}") for i in range(257)],
            [float(f"{f(x[i]):.14e}") for i in range(257)],
        )


X, Y = levels()


class Slow:
    """One draw at a time, word by word."""

    def __init__(self, seed):
        twister = np.random.RandomState(5489 if seed == 0 else seed)
        self.words = iter(twister.randint(0, 2**32, size=200_000, dtype=np.uint64).tolist())

    def rand(self):
        while True:
            a, b = next(self.words) >> 5, next(self.words) >> 6
            u = (a * 2.0**26 + b) / 2.0**53
            if u != 0:
                return u

    def randn(self):
        while True:
            a, b = next(self.words), next(self.words)
            k = b >> 24
            z = (2 * (((a >> 3) * 2**24 + (b & 0xFFFFFF)) * 2.0**-53) - 1) * X[k + 1]
            if abs(z) < X[k]:
                return z
            if k < 255:
                if Y[k + 1] + self.rand() * (Y[k] - Y[k + 1]) < math.exp(-z * z / 2):
                    return z
                continue
            while True:
                x = -math.log(self.rand()) / TAIL
                y = -math.log(self.rand())
                if 2 * y > x * x:
                    return math.copysign(TAIL + x, z)


def test_published_normal_values():
    expected = [0.5377, 1.8339, -2.2588, 0.8622, 0.3188, -1.3077, -0.4336, 0.3426, 3.5784, 2.7694,
                -1.3499, 3.0349, 0.7254, -0.0631, 0.7147]  # fmt: skip
    rng("default")
    assert random.randn(15, 1)[:, 0].round(4).tolist() == expected


def test_published_uniform_integer_and_order_values():
    rng("default")
    assert random.rand(1, 5).round(4).tolist() == [[0.8147, 0.9058, 0.127, 0.9134, 0.6324]]
    rng("default")
    assert random.randi([10, 50], 1, 5).tolist() == [[43, 47, 15, 47, 35]]
    rng("default")
    assert random.randperm(6).tolist() == [[6, 3, 5, 1, 2, 4]]


def test_published_moments():
    rng("default")
    a = 5 * random.randn(1000, 1) + 500
    assert round(a.mean(), 4) == 499.8368
    assert round(a.std(ddof=1), 4) == 4.9948


@settings(max_examples=examples(20), deadline=None)
@given(SEEDS)
def test_normals_equal_the_slow_reference(seed):
    slow = Slow(seed)
    expected = [slow.randn() for _ in range(20_000)]
    np.testing.assert_allclose(RandStream(seed).randn(20_000, 1)[:, 0], expected, rtol=1e-14)


@settings(max_examples=examples(50), deadline=None)
@given(
    SEEDS, st.lists(st.tuples(st.sampled_from(["randn", "rand"]), st.integers(0, 70)), min_size=1)
)
def test_one_stream_in_any_pieces(seed, pieces):
    slow, stream = Slow(seed), RandStream(seed)
    for name, n in pieces:
        expected = [getattr(slow, name)() for _ in range(n)]
        np.testing.assert_allclose(getattr(stream, name)(1, n)[0], expected, rtol=1e-14)


def test_pieces_across_the_vectorised_chunks():
    n = 3 * rand_stream._CHUNK + 17
    whole, stream = RandStream(7).randn(n, 1)[:, 0], RandStream(7)
    sizes = [rand_stream._CHUNK - 1, 2, rand_stream._CHUNK + 1, n - 2 * rand_stream._CHUNK - 2]
    np.testing.assert_array_equal(np.concatenate([stream.randn(k, 1)[:, 0] for k in sizes]), whole)


class Words(RandStream):
    """A stream with given first words."""

    def __init__(self, pairs):
        super().__init__(0)
        self.given = list(pairs)

    def _pairs(self, n):
        first = [self.given.pop(0) for _ in range(min(n, len(self.given)))]
        rest = super()._pairs(n - len(first))
        return tuple(
            np.concatenate([np.array([pair[i] for pair in first], dtype=np.int64), rest[i]])
            for i in (0, 1)
        )


def test_a_uniform_zero_is_drawn_again():
    assert Words([(0, 0), (2**31, 0)]).rand() == 0.5
    following = RandStream(0).rand(1, 2)[0].tolist()
    drawn = Words([(2**31, 0), (0, 0), (2**30, 0)]).rand(1, 4)[0].tolist()
    assert drawn == [0.5, 0.25, *following]


@pytest.mark.parametrize("level", [0, 3, 255])
def test_a_uniform_zero_in_a_normal_draw_is_drawn_again(level):
    doubtful = (2**32 - 1, level << 24 | 0xFFFFFF)  # z just below X[level + 1]
    half = (2**31, 0)

    def slow(pairs):
        reference = Slow(0)
        words = [word for pair in pairs for word in pair]
        reference.words = iter(words + list(reference.words))
        return [reference.randn() for _ in range(5)]

    pairs = [doubtful, (0, 0), half, (0, 0), half, half]
    np.testing.assert_allclose(Words(pairs).randn(5, 1)[:, 0], slow(pairs), rtol=1e-14)


def test_sizes_are_matlabs_and_filled_by_columns():
    flat = RandStream(2).rand(24, 1)[:, 0]
    for size in [(4, 6), ([4, 6],), (2, 3, 4), (2, 3, 4, 1, 1)]:
        drawn = RandStream(2).rand(*size)
        np.testing.assert_array_equal(drawn.ravel(order="F"), flat)
    assert RandStream(2).rand(2, 3, 4, 1, 1).shape == (2, 3, 4)
    assert RandStream(2).rand(3).shape == (3, 3)
    assert RandStream(2).rand(0, 5).shape == (0, 5)
    assert isinstance(RandStream(2).rand(), float)
    assert isinstance(RandStream(2).randi(3), int)


@given(SEEDS, st.integers(-50, 50), st.integers(0, 100))
def test_integers_are_within_limits_and_from_the_uniforms(seed, low, span):
    drawn = RandStream(seed).randi([low, low + span], 1, 50)
    u = RandStream(seed).rand(1, 50)
    np.testing.assert_array_equal(drawn, low + np.floor(u * (span + 1)))
    assert drawn.min() >= low
    assert drawn.max() <= low + span


@given(SEEDS, st.integers(0, 60))
def test_orders_are_those_of_sorted_uniforms(seed, n):
    order = RandStream(seed).randperm(n)
    assert order.shape == (1, n)
    u = RandStream(seed).rand(1, n)[0]
    assert np.all(np.diff(u[order[0].astype(int) - 1]) > 0)


def test_state_and_rng_go_back():
    rng(5)
    random.randn(3)
    before = rng()
    first = random.randn(100, 1)
    state = rng(before)
    assert state["Type"] == "twister"
    assert state["Seed"] == 5
    np.testing.assert_array_equal(random.randn(100, 1), first)
    stream = RandStream(9)
    stream.State = before["State"]
    np.testing.assert_array_equal(stream.randn(100, 1), first)
    rng("shuffle")
    assert not np.array_equal(random.randn(100, 1), first)


def test_there_is_no_stream_before_rng(monkeypatch):
    monkeypatch.setattr(random, "_stream", None)
    for draw in (random.rand, random.randn, lambda: random.randi(3), lambda: random.randperm(3)):
        with pytest.raises(RuntimeError, match="call rng"):
            draw()
    assert rng() is None
    assert rng("default") is None


@given(SEEDS, st.integers(1, 4), st.integers(1, 5), st.integers(0, 20))
def test_random_series_are_those_of_a_matlab_loop(seed, channels, shortest, more):
    drawn = d2ke.samplers.random_series(
        6, channels, length=(shortest, shortest + more), sigma=2.0, seed=RandStream(seed)
    )
    stream = RandStream(seed)
    for series in drawn:
        length = stream.randi([shortest, shortest + more])
        np.testing.assert_array_equal(series, 2.0 * stream.randn(channels, length).T)


def test_other_samplers_take_a_stream_too():
    strings = list(d2ke.samplers.random_strings(20, "ACGT", length=(2, 9), seed=RandStream(3)))
    stream = RandStream(3)
    for string in strings:
        length = stream.randi([2, 9])
        codes = stream.randi([0, 3], length, 1)[:, 0].astype(int)
        assert string == "".join("ACGT"[code] for code in codes)
    for region, draw in (("box", "rand"), ("sphere", "randn")):
        sets = d2ke.samplers.random_sets(5, 3, size=(1, 4), region=region, low=-1.0, high=3.0,
                                seed=RandStream(3))  # fmt: skip
        stream = RandStream(3)
        for vectors in sets:
            drawn = getattr(stream, draw)(3, stream.randi([1, 4])).T
            if region == "box":
                expected = -1 + 4 * drawn
            else:
                expected = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
            np.testing.assert_allclose(vectors, expected, rtol=1e-15)


def test_samplers_that_take_no_stream_say_so():
    with pytest.raises(TypeError, match=r"seed must be an integer, got RandStream\(0\)"):
        d2ke.samplers.training_objects(1, ["a", "b"], seed=RandStream(0))
