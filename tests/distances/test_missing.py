# SPDX-License-Identifier: BSD-3-Clause
"""Dynamic time warping of series with missing values, DTW-AROW, against its definition."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import d2ke

pytestmark = pytest.mark.filterwarnings("ignore:every item of .* has shape")

NAN = np.nan
AROW = {"distance": "dtw", "missing": "arow"}
TOLERANCE = {np.float64: 1e-12, np.float32: 1e-5}


def packed(items):
    return d2ke.pack(items, channels_first=False, missing=True)


def distances(X, Y=None, **params):
    return d2ke.distance_matrix(
        packed(X), None if Y is None else packed(Y), **AROW, n_threads=1, **params
    )


def punch(rng, item, share):
    """Return a series with some of its numbers missing, but not all of its vectors."""
    item, kept = item.copy(), rng.integers(len(item))
    whole = item[kept].copy()
    item[rng.random(item.shape) < share] = NAN
    item[kept] = whole
    return item


@given(
    pair=reference.vector_pairs(dims=(1, 2, 3, 5)),
    window=st.one_of(st.none(), st.just("rws"), st.integers(0, 14)),
    ground=st.sampled_from(["euclidean", "sqeuclidean"]),
    share=st.sampled_from([0.0, 0.1, 0.3, 0.9]),
    seed=st.integers(0, 2**32),
)
def test_reference(isa, pair, window, ground, share, seed):
    rng = np.random.default_rng(seed)
    X, Y = ([punch(rng, item, share) for item in side] for side in pair)
    given = {"window": window, "ground": ground}
    wanted = reference.matrix(reference.dtw, X, Y, missing="arow", **given)
    D = distances(X, Y, **given)
    assert D.dtype == X[0].dtype
    np.testing.assert_allclose(D, wanted, rtol=TOLERANCE[D.dtype.type])
    reference.same(distances(Y, X, **given).T.copy(), D)
    reference.same(distances(X, **given), distances(X, X, **given))
    # Where nothing is missing, the bits are those of dynamic time warping.
    whole = [[not np.isnan(item).any() for item in side] for side in (X, Y)]
    if any(whole[0]) and any(whole[1]):
        own = (
            d2ke.pack([items[i] for i in np.flatnonzero(good)], channels_first=False)
            for items, good in zip((X, Y), whole, strict=True)
        )
        reference.same(D[np.ix_(*whole)], d2ke.distance_matrix(*own, "dtw", **given))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("dim", "window"), [(1, None), (2, 3), (4, None)])
def test_every_pair_of_lengths(isa, dim, window, dtype):
    # Strips and tiles end at every possible place.
    rng = np.random.default_rng(dim)
    lengths = list(range(1, 20))
    X, Y = (
        [punch(rng, v, 0.15 / dim) for v in reference.draw_vectors(rng, lengths, dim, dtype)]
        for _ in range(2)
    )
    wanted = reference.matrix(reference.dtw, X, Y, window=window, missing="arow")
    assert np.isfinite(wanted).sum() > 100
    assert np.isinf(wanted).sum() > 10
    np.testing.assert_allclose(distances(X, Y, window=window), wanted, rtol=TOLERANCE[dtype])


@pytest.mark.parametrize(
    ("dtype", "scale"), [(np.float64, 1e200), (np.float64, 1e-200), (np.float32, 1e30)]
)
@pytest.mark.parametrize("dim", [1, 3])
def test_extreme_magnitudes(isa, dtype, scale, dim):
    rng = np.random.default_rng(3)
    series = reference.draw_vectors(rng, [4, 7, 3, 6], dim)
    X = [(punch(rng, v, 0.2 / dim) * scale).astype(dtype) for v in series]
    wanted = reference.matrix(reference.dtw, X, X, missing="arow")
    np.testing.assert_allclose(distances(X), wanted, rtol=TOLERANCE[dtype])


def test_values_of_the_authors_package():
    # Its tests' examples; it takes the root of sums of squares and of the correction.
    x, y = [1.0, 1, 2, 2, 10, 1, 1], [1.0, 1, NAN, NAN, 2, 13, 13, 1, 1, 1]
    D = distances([x], [y], ground="sqeuclidean")
    np.testing.assert_allclose(D, 2 * 3**2 * 17 / 15, rtol=1e-15)
    for dim in (2, 3, 10):
        X, Y = (np.tile(np.array(v)[:, None] / np.sqrt(dim), dim) for v in (x, y))
        Y[2, 1:] = 0.5  # a vector without one of its channels is missing
        D = distances([X], [Y], ground="sqeuclidean")
        np.testing.assert_allclose(D, 2 * 3**2 * 17 / 15, rtol=1e-14)


def test_paths_that_there_are_not():
    x = np.array([0, 0, 1, 1.5, 1.7, 0.8, 0.4, 0.4, 1.1, 0, 0, 0.3, 0.3, 0, 0]) + 0.15
    y = np.array([0, 1, 1.5, 1.5, 1.3, 0, 0, 1.1, 1.1, 1.1, 0])
    x[[0, 1, *range(8, 15)]] = NAN
    y[[0, 1, 2, *range(7, 11)]] = NAN
    assert np.isfinite(distances([x], [y]))  # barely
    y[3] = NAN
    assert distances([x], [y]) == np.inf
    assert distances([[1.0, NAN]], [[1.0, NAN]]) == 0
    assert distances([[1.0, NAN]], [[1.0]]) == np.inf
    assert d2ke.d2ke_embed(packed([[1.0, NAN]]), [[1.0]], gamma=1.0, **AROW) == 0


def some_series(n=30):
    rng = np.random.default_rng(5)
    items = reference.draw_vectors(rng, rng.integers(3, 12, n).tolist(), 2)
    return packed([punch(rng, item, 0.1) for item in items])


@pytest.mark.parametrize("params", [{}, {"window": 2}])
def test_neighbours(params):
    X = some_series(60)
    D = d2ke.distance_matrix(X, **AROW, **params)
    indices, near = d2ke.nearest(X, k=3, **AROW, **params)
    np.fill_diagonal(D, np.inf)
    np.testing.assert_array_equal(near, np.sort(D)[:, :3])
    np.testing.assert_array_equal(np.take_along_axis(D, indices, 1), near)
    radius = np.quantile(D[np.isfinite(D)], 0.3)
    graph = d2ke.within(X, radius=radius, **AROW, **params).toarray()
    np.testing.assert_array_equal(graph[graph > 0], D[graph > 0])
    assert (graph > 0).sum() == (radius >= D).sum()
    # Nothing missing: found by bounds, at the same distances.
    whole = d2ke.pack([np.nan_to_num(item) for item in X], channels_first=False)
    _, near = d2ke.nearest(whole, k=3, **AROW, **params)
    reference.same(near, d2ke.nearest(whole, k=3, distance="dtw", **params)[1])


SOME = [[1.0, 2.0], [NAN, 1.0]]


@pytest.mark.parametrize("distance", [n for n in d2ke.distance_names() if n != "dtw"])
def test_all_other_distances_refuse(distance):
    if distance in reference.STRINGS:
        return
    with pytest.raises(ValueError, match=r"X\[1\] has nan at .*'dtw', missing='arow'"):
        d2ke.distance_matrix(packed(SOME), distance=distance, **reference.given(distance))
