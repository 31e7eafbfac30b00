# SPDX-License-Identifier: BSD-3-Clause
"""The profile of long series against all pairs of their windows."""

import warnings

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from test_nearest_windows import STYLES, draw_series

import d2ke
from d2ke._base.errors import ArgumentError
from d2ke.neighbors.window_bounds import standardized


def windows_of(X, length, normalize):
    """Series, place and values of each window."""
    found = []
    for i, x in enumerate(X):
        for p in range(len(x) - length + 1):
            w = x[p : p + length].T
            found.append((i, p, standardized(w) if normalize else w))
    return found


def table(X, Y, length, normalize):
    """The windows of X, those of Y, and their distances."""
    ours, theirs = windows_of(X, length, normalize), windows_of(Y, length, normalize)
    D = np.empty((len(ours), len(theirs)))
    for a, (_, _, w) in enumerate(ours):
        for b, (_, _, v) in enumerate(theirs):
            largest = max(np.abs(w - v).max(), 1e-300)
            D[a, b] = largest * np.sqrt((((w - v) / largest) ** 2).sum())
    return ours, theirs, np.where(np.isnan(D), np.inf, D)


def near(one, other, zone):
    return one[0] == other[0] and abs(one[1] - other[1]) <= zone


@settings(max_examples=reference.examples(60), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    dim=st.integers(1, 2),
    style=st.sampled_from(STYLES),
    length=st.integers(2, 16),
    k=st.integers(1, 2),
    exclusion=st.sampled_from([0, 0.5, 1.25]),
    normalize=st.booleans(),
    join=st.booleans(),
    holes=st.booleans(),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_definition(seed, dim, style, length, k, exclusion, normalize, join, holes, dtype):
    rng = np.random.default_rng(seed)
    if dtype == "float32" and style in ("tiny", "spikes", "runs"):
        style = "walk"
    X = draw_series(rng, dim, style, [*rng.integers(length, 60, 2), length - 1, 90])
    X = [x.astype(dtype) for x in X]
    if holes:
        X[0][rng.integers(len(X[0]))] = X[3][40] = np.nan
    Y = X[:2] if join else X
    zone = int(exclusion * length)
    wide = [[x.astype(float) for x in part] for part in (X, Y)]
    ours, theirs, D = table(*wide, length, normalize)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # short series, missing values
        packed = [d2ke.pack(part, channels_first=False, missing=True) for part in (X, Y)]
        arguments = {"k": k, "normalize": normalize, "exclusion": exclusion}
        if join:
            arguments["Y"] = packed[1]
        try:
            profile = d2ke.window_profile(packed[0], length, **arguments)
        except ArgumentError:
            profile = None  # no window has k others
    largest = max(np.nanmax(np.abs(x), initial=0) for x in wide[0])
    close = 1e-6 if normalize else 1e-12 * largest
    for i, x in enumerate(X):
        assert profile is None or len(profile.distances[i]) == max(0, len(x) - length + 1)
    for a, (i, p, _) in enumerate(ours):
        row = D[a].copy()
        if not join:
            row[[near((i, p), other, zone) for other in theirs]] = np.inf
        for _ in range(k - 1):
            best = theirs[row.argmin()]
            if row.min() < np.inf:
                row[[near(best, other, zone) for other in theirs]] = np.inf
        if profile is None:
            assert row.min() == np.inf
            continue
        found = profile.distances[i][p], profile.series[i][p], profile.starts[i][p]
        if row.min() == np.inf:
            assert np.isnan(found[0])
            assert found[1:] == (-1, -1)
            continue
        own = next(b for b, other in enumerate(theirs) if other[:2] == found[1:])
        assert found[0] == pytest.approx(
            D[a, own], rel=1e-9, abs=1e-9 * (1 if normalize else close)
        )
        if k == 1:  # of near ties another one may be the first, with other ones behind it
            assert found[0] == pytest.approx(row.min(), rel=1e-9, abs=close)


def test_one_series_in_many_forms():
    pd = pytest.importorskip("pandas")
    x = np.random.default_rng(0).normal(size=200)
    wanted = d2ke.window_profile([x], 20)
    for form in (x, x.tolist(), pd.Series(x, index=np.arange(200) + 7), d2ke.pack([x])):
        found = d2ke.window_profile(form, 20)
        reference.same(found.distances, wanted.distances)
        reference.same(found.starts, wanted.starts)
    frame = pd.DataFrame({"a": x, "b": x[::-1]})
    two = d2ke.window_profile(frame, 20, Y=[frame[["b", "a"]][:100]], normalize=False)
    assert not two.distances[:81].any()
    reference.same(two.starts[:81], np.arange(81))


def test_windows_are_those_of_nearest_windows():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(n, 2)).cumsum(axis=0) + 1e8 for n in (300, 200)]
    for normalize in (True, False):
        profile = d2ke.window_profile(X, 25, normalize=normalize)
        for i in (0, 1):
            for p in range(0, 170, 13):
                query = X[i][p : p + 25]
                found = d2ke.nearest_windows(X, query, 2, normalize=normalize)
                place = profile.series[i][p], profile.starts[i][p]
                assert place == (found[0][1], found[1][1])
                np.testing.assert_allclose(profile.distances[i][p], found[2][1], rtol=1e-10)


def test_threads_do_not_count():
    rng = np.random.default_rng(2)
    X = [rng.normal(size=n).round(1) for n in (6000, 40, 3000)]
    with pytest.warns(UserWarning, match="1 of 3 series of X have fewer than 80 steps"):
        one, three = (d2ke.window_profile(X, 80, k=2, n_threads=n) for n in (1, 3))
    for name in ("distances", "series", "starts"):
        for a, b in zip(getattr(one, name), getattr(three, name), strict=True):
            reference.same(a, b)


def test_one_warning_counts_windows_with_missing_values():
    x, y = np.random.default_rng(0).normal(size=(2, 100))
    x[[30, 31, 90]] = y[5] = np.nan
    wanted = "^27 of 182 windows of X hold a missing value and have no distance$"
    with pytest.warns(UserWarning, match=wanted) as caught:
        profile = d2ke.window_profile([x, y], 10)
    assert len(caught) == 1
    assert [int(np.isnan(d).sum()) for d in profile.distances] == [21, 6]


def test_progress_goes_to_the_end(capsys):
    x = np.random.default_rng(0).normal(size=20_000)
    d2ke.window_profile(x, 50, k=2, progress=True, n_threads=1)
    assert "windows" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("X", "arguments", "words"),
    [
        (np.ones(9), {"length": 10}, "length is 10, but the longest series of X has 9 steps"),
        (np.ones(9), {"length": 6}, "length is 6: no window of X has another one, more than 3"),
        (np.ones(99), {"length": 6, "k": 40}, "has 40 others, more than 3 steps apart"),
        (np.ones(99), {"length": 6, "Y": np.ones(5)}, "longest series of Y has 5 steps"),
        ([1e301, 0, 1], {"length": 1}, "X has values above 1e\\+300"),
        (np.ones((1, 9, 2)), {"length": 2, "Y": np.ones(9)}, "2 dimensions .* but Y has 1"),
    ],
)
def test_refused(X, arguments, words):
    with pytest.raises(ValueError, match=words):
        d2ke.window_profile(X, **arguments)
