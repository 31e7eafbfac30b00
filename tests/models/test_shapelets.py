# SPDX-License-Identifier: BSD-3-Clause
"""Windows as random objects of a model of series."""

import io
from dataclasses import replace

import numpy as np
import pytest
import reference
from reference import reloaded

import d2ke
from d2ke.models.shapelets import KINDS, Shapelets, shapelets


def series(n, rng, dim=2, low=5, high=60):
    return [rng.normal(size=(rng.integers(low, high), dim)) for _ in range(n)]


def taken(x, window):
    """Return the values of a series that a window is compared with, at each place."""
    length = len(window.values)
    span = (length - 1) * window.dilation + 1
    x = x[:, window.channels].astype(np.float32).astype(float)
    if len(x) < span:
        at = np.linspace(0, len(x) - 1, length)
        return [np.stack([np.interp(at, np.arange(len(x)), channel) for channel in x.T], axis=1)]
    return [x[p : p + span : window.dilation] for p in range(len(x) - span + 1)]


def profile_of(x, window, limits):
    """Return the mean squared distances of a window to all places of a series."""
    profile = []
    for piece in taken(x, window):
        if window.normalize:
            piece = piece - piece.mean(axis=0)
            deviation = piece.std(axis=0)
            constant = deviation <= limits[list(window.channels)]
            piece = np.where(constant, 0, piece / np.where(constant, 1, deviation))
        profile.append(((piece - window.values) ** 2).mean(axis=0).sum())
    return np.array(profile)


def distance(x, window, limits):
    """Return the distance of a series to a window by its definition."""
    profile = profile_of(x, window, limits)
    last = len(profile) - 1
    if window.kind == "rare":
        return (profile > window.threshold).mean()
    if window.kind == "longest":
        return 1 - np.sqrt(reference.longest_run(profile <= window.threshold) / len(profile))
    if window.kind == "nearby":
        away = np.abs(np.arange(last + 1) - window.place * last)
        profile = profile[(away <= 0.1 * len(x)) | (away == away.min())]
    return np.sqrt(profile.min())


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("dim", [1, 3])
def test_distances_are_those_of_the_definition(normalize, dim):
    rng = np.random.default_rng(dim)
    X = d2ke.pack(series(20, rng, dim))
    omega, sources = shapelets(43, X, normalize=normalize, kinds=KINDS, seed=1)
    assert len(omega) == len(sources) == 40
    new = series(5, rng, dim, 3)
    D = omega.distances(d2ke.pack(new), 2)
    expected = [[distance(x, omega[j], omega.limits) for j in range(40)] for x in new]
    np.testing.assert_allclose(D, expected, rtol=2e-5, atol=2e-5)
    for kinds, columns in [(("longest", "nearest"), D[:, np.r_[30:40, :10]]),
                           (("rare", "nearby"), D[:, np.r_[20:30, 10:20]])]:  # fmt: skip
        fewer = replace(omega, kinds=kinds).distances(d2ke.pack(new), 1)
        np.testing.assert_array_equal(fewer, columns)


@pytest.mark.parametrize("normalize", [True, False])
def test_windows_are_pieces_of_training_series(normalize):
    X = d2ke.pack(series(12, np.random.default_rng(3), 1, 30))
    omega, sources = shapelets(80, X, normalize=normalize, kinds=KINDS, seed=4)
    D = omega.distances(X, 1)
    own = D[sources[:20], np.arange(20)]
    np.testing.assert_allclose(own, 0, atol=1e-5)
    np.testing.assert_allclose(D[sources[20:40], np.arange(20, 40)], 0, atol=1e-5)
    assert (sources[40:] == -1).all()
    # Of places, all but 5 to 10 % are far in the series that gave the threshold.
    assert 0.3 < D[:, 40:60].mean() < 1
    assert (D[:, 60:] >= 1 - np.sqrt(1 - D[:, 40:60]) - 1e-6).all()


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("low", [4, 25])
def test_places_and_thresholds(normalize, low):
    """Windows are at their places; thresholds lie between distances to places of the other."""
    x = series(2, np.random.default_rng(low), 3, low, low + 10)
    omega, sources = shapelets(200, d2ke.pack(x), normalize=normalize, seed=2)
    for j, source in enumerate(sources[:100]):
        window, pieces = omega[j], taken(x[source], omega[j])
        piece = pieces[round(window.place * (len(pieces) - 1))]
        if normalize:
            piece = (piece - piece.mean(axis=0)) / piece.std(axis=0)
        np.testing.assert_allclose(window.values, piece, rtol=1e-4, atol=1e-5)
        profile = np.sort(profile_of(x[1 - source], window, omega.limits))
        if len(profile) > 1:
            between = profile[:-1] + 0.381966 * np.diff(profile)
            rank = np.abs(between - window.threshold).argmin()
            np.testing.assert_allclose(between[rank], window.threshold, rtol=1e-4)
            assert rank <= 0.2 * len(profile)  # of a random sample, the first tenth
        else:
            np.testing.assert_allclose(profile[0], window.threshold, rtol=1e-4)


@pytest.mark.parametrize("lengths", [(1, 2), (2, 4), (1, 40)])
def test_short_series(lengths):
    rng = np.random.default_rng(8)
    y = np.arange(30) % 2
    X = [x + 3 * label for x, label in zip(series(30, rng, 1, *lengths), y, strict=True)]
    model = d2ke.d2ke_train(y, X, R=200)
    assert d2ke.d2ke_predict(y, X, model)[1] > 80


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(9)
    y = np.arange(60) % 2
    X = series(60, rng, 2, 30)
    for label, x in zip(y, X, strict=True):
        at = rng.integers(0, len(x) - 12)
        x[at : at + 12, 0] += 5 * np.sin(np.arange(12)) * (1 if label else -1)
    return d2ke.d2ke_train(y, X, R=200), y, X


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("channels", 7), ("channels", -1), ("lengths", 0), ("lengths", 1 << 40),
        ("dilations", 0), ("first", 3), ("places", 2.0), ("thresholds", np.nan),
        ("channel_offsets", 1 << 40), ("first", -1), ("limits", -1.0),
    ],
)  # fmt: skip
def test_windows_of_a_damaged_file_are_refused(model, name, value):
    blocks = model[0].blocks
    i = next(i for i, block in enumerate(blocks) if isinstance(block.omega, Shapelets))
    array = getattr(blocks[i].omega, name).copy()
    array[0] = value
    block = replace(blocks[i], omega=replace(blocks[i].omega, **{name: array}))
    file = io.BytesIO()
    d2ke.save_model(file, replace(model[0], blocks=(*blocks[:i], block, *blocks[i + 1 :])))
    with pytest.raises(d2ke.ArgumentError, match="damaged"):
        d2ke.load_model(io.BytesIO(file.getvalue()))


def shapes(style, n, dim):
    """Return labelled series whose distances have ties, or not."""
    rng = np.random.default_rng(10)
    y, X = np.arange(n) % 2, []
    for label in y:
        x = rng.normal(size=(rng.integers(40, 60), dim))
        if style == "whole numbers":
            x = np.round(x)
        elif style == "walk":
            x = x.cumsum(axis=0)
        elif style == "runs":
            x[10:30] = 0.3
        x[5:12] += 2 * label * np.sin(np.arange(7))[:, None]
        X.append(x)
    return y, X


@pytest.mark.sample(2)
@pytest.mark.parametrize("unit", [1e-5, 1.0, 1e5])
@pytest.mark.parametrize("style", ["normal", "whole numbers", "walk", "runs"])
def test_element_types_of_series_do_not_matter(style, unit):
    """No threshold is a distance of training, which rounding would take across."""
    y, X = shapes(style, 30, 2)
    X = [unit * x for x in X]
    narrow = [x.astype(np.float32) for x in X]
    model, other = (d2ke.d2ke_train(y, one, R=150) for one in (X, narrow))
    saved = reloaded(model)
    decisions = d2ke.d2ke_predict(None, X, model)[2]
    for one in (model, saved, other):
        found = d2ke.d2ke_predict(None, narrow, one)[2]
        np.testing.assert_allclose(found, decisions, atol=5e-5 * decisions.std())
