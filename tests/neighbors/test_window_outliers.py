# SPDX-License-Identifier: BSD-3-Clause
"""The most unusual windows of long series."""

import warnings

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import d2ke
from d2ke._base.errors import ArgumentError
from d2ke.neighbors.window_outliers import _moving_means

PERIOD, SIZE, AT = 60, 2400, 1500


def series_with(kind, rng):
    """A periodic series with something unusual for one period."""
    t = np.arange(SIZE)
    x = np.sin(2 * np.pi * t / PERIOD) + 0.4 * np.sin(4 * np.pi * t / PERIOD + 1)
    part = slice(AT, AT + PERIOD)
    if kind == "spike":
        x[AT + 20] += 3
    elif kind == "level":
        x[part] += 1.5
    elif kind == "phase":
        x[part] = np.roll(x[part], PERIOD // 2)
    elif kind == "missing beat":
        x[part] = 0
    elif kind == "amplitude":
        x[part] *= 2
    else:
        x[part] = x[AT : AT + 2 * PERIOD : 2]
    return x + 0.05 * rng.normal(size=SIZE)


KINDS = ("spike", "level", "phase", "missing beat", "amplitude", "frequency")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [PERIOD // 2, PERIOD])
def test_the_first_window_is_over_what_is_unusual(kind, length):
    x = series_with(kind, np.random.default_rng(0))
    found = d2ke.window_outliers(x, length)
    assert AT - length < found.starts[0] < AT + PERIOD
    assert AT - length < np.nanargmax(found.step_scores) < AT + PERIOD + length


@settings(max_examples=reference.examples(60))
@given(
    sizes=st.lists(st.integers(2, 120), min_size=1, max_size=3),
    length=st.integers(3, 20),
    n=st.integers(1, 8),
    smooth=st.sampled_from([0, 0.25, 1, 3]),
    normalize=st.booleans(),
    holes=st.booleans(),
    seed=st.integers(0, 99),
)
def test_definition(sizes, length, n, smooth, normalize, holes, seed):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=size) for size in [*sizes, 130]]
    if holes:
        X[-1][50] = np.nan
    packed = d2ke.pack(X, missing=True)
    how = {"normalize": normalize}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # missing values, short series
        distances = d2ke.window_profile(packed, length, **how).distances
        found = d2ke.window_outliers(packed, length, n=n, smooth=smooth, **how)
    width = max(1, round(smooth * length))
    scores = []
    for one in distances:
        padded = np.pad(one, ((width - 1) // 2, width // 2), constant_values=np.nan)
        near = np.lib.stride_tricks.sliding_window_view(padded, width) if len(one) else ()
        means = [np.nanmean(some) if np.isfinite(some).any() else np.nan for some in near]
        scores.append(np.where(np.isnan(one), np.nan, means))
    left = [one.copy() for one in scores]
    for i, p, score in zip(found.series, found.starts, found.scores, strict=True):
        assert score == pytest.approx(max(np.nanmax(one, initial=-1) for one in left))
        assert score == pytest.approx(left[i][p])
        left[i][max(0, p - length + 1) : p + length] = np.nan
    assert len(found.starts) == n or all(np.isnan(one).all() for one in left)
    for x, one, steps in zip(X, scores, found.step_scores, strict=True):
        for t in range(len(x)):
            over = one[max(0, t - length + 1) : t + 1]
            wanted = np.nanmean(over) if np.isfinite(over).any() else np.nan
            assert steps[t] == pytest.approx(wanted, nan_ok=True)


def test_both_is_the_larger_standardised_score():
    x = series_with("level", np.random.default_rng(1))
    both = d2ke.window_outliers(x, 40, n=3, smooth=0)
    one, other = (d2ke.window_profile(x, 40, normalize=way).distances for way in (True, False))
    scores = [(d - np.median(d)) / np.subtract(*np.quantile(d, [0.75, 0.25])) for d in (one, other)]
    np.testing.assert_allclose(both.scores, np.max(scores, axis=0)[both.starts])


def test_units_of_channels_do_not_count():
    rng = np.random.default_rng(2)
    x = np.stack([series_with("spike", rng), series_with("none", rng)], axis=1)
    found = [d2ke.window_outliers([x * units], 40) for units in ([1, 1], [1e-3, 1e6])]
    np.testing.assert_array_equal(found[0].starts, found[1].starts)
    assert abs(found[0].starts[0] - AT) < 60


def test_the_length_is_proposed_and_said():
    x = series_with("spike", np.random.default_rng(3))
    x[700:705] = np.nan
    with (
        pytest.warns(UserWarning, match="length=60 was chosen"),
        pytest.warns(UserWarning, match="64 of 2341 windows of X"),
    ):
        found = d2ke.window_outliers(x, None)
    assert found.length == 60
    with pytest.raises(ArgumentError, match="length is None, but the autocorrelation of X has no"):
        d2ke.window_outliers(np.ones(50), None)


def test_a_large_value_leaves_no_error_in_means():
    x = np.r_[np.ones(30), 1e17, np.ones(60)]
    means = _moving_means(x, 7, 0)
    assert (means[:24] == 1).all()
    assert (means[31:] == 1).all()  # at the end, of fewer values


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"normalize": "neither"}, "normalize must be True or False"),
        ({"smooth": -1}, "smooth must be"),
        ({"n": 0}, "n must be at least 1"),
        ({"length": 2000}, "length is 2000, but the longest"),
    ],
)
def test_refused(arguments, words):
    with pytest.raises((TypeError, ValueError), match=words):
        d2ke.window_outliers(np.ones(99), **{"length": 9, **arguments})
