# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours from a whole matrix of distances, and the objects that tests compare them for."""

import numpy as np
import pytest
from hypothesis import strategies as st
from reference import counted, same

import d2ke
from d2ke.neighbors import bounded


def means(x, y):
    """The distance of the means: 0 for many different objects too."""
    return float(np.abs(np.mean(x, axis=0) - np.mean(y, axis=0)).max())


@st.composite
def radii(draw, D):
    """A distance, or a number that is one step of its type or of float64 below or above."""
    value = draw(st.sampled_from(list(D.ravel())))
    way = draw(st.sampled_from([-np.inf, np.inf]))
    steps = value, np.nextafter(value, value.dtype.type(way)), np.nextafter(float(value), way)
    return max(0.0, float(draw(st.sampled_from(steps))))


def by_sorting(D, k, same, skip):
    """The k nearest columns of each row by a stable sort.

    `same`: rows and columns are the same objects, each before others at the same distance, or not
    counted with `skip`.
    """
    D = D.copy()
    if skip:
        np.fill_diagonal(D, np.inf)
    others = ~np.eye(*D.shape, dtype=bool) if same else np.ones(D.shape, bool)
    indices = np.lexsort((others, D))[:, :k]
    return indices, np.take_along_axis(D, indices, axis=1)


def check_nearest(D, X, Y=None, *, k, **options):
    """Compare `nearest` with the whole matrix, bit for bit."""
    skip = Y is None and not options.get("include_self", False)
    wanted = by_sorting(D, k + (Y is None and not skip), Y is None, skip)
    if "radius" in options:
        far = wanted[1] > D.dtype.type(options["radius"])
        wanted[0][far], wanted[1][far] = -1, np.inf
    (indices, distances), info = counted(d2ke.nearest, X, Y, k=k, **options)
    same(indices, wanted[0])
    same(distances, wanted[1])
    check_info(info, D, skip)
    return info


def check_within(D, X, Y=None, *, radius, **options):
    """Compare `within` with the whole matrix, bit for bit."""
    skip = Y is None and not options.get("include_self", False)
    near = D.dtype.type(radius) >= D
    if skip:
        np.fill_diagonal(near, False)
    graph, info = counted(d2ke.within, X, Y, radius=radius, **options)
    assert graph.shape == D.shape
    assert graph.has_sorted_indices
    rows, columns = np.nonzero(near)
    same(np.repeat(np.arange(len(D)), np.diff(graph.indptr)), rows)
    assert (graph.indices == columns).all()
    same(graph.data, D[rows, columns])
    check_info(info, D, skip)
    return info


def check_info(info, D, skip):
    assert info.pairs == D.size - (len(D) if skip else 0)
    assert info.computed + sum(info.ruled_out.values()) == info.pairs
    assert info.computed >= 0
    assert all(count > 0 for count in info.ruled_out.values())


def check_searches(data, X, chosen):
    """Compare both searches with whole matrices, among X and against a part of X."""
    chosen = chosen | {"n_threads": data.draw(st.integers(1, 3))}
    given = {key: value for key, value in chosen.items() if key != "metric"}
    include_self = data.draw(st.booleans())
    D = d2ke.distance_matrix(X, **given)
    radius = data.draw(radii(D))
    k = data.draw(st.integers(1, len(X) - 1))
    check_nearest(D, X, k=k, include_self=include_self, **chosen)
    check_nearest(D, X, k=k, radius=radius, **chosen)
    check_within(D, X, radius=radius, include_self=include_self, **chosen)
    Y = X[: data.draw(st.integers(1, len(X)))]
    D = d2ke.distance_matrix(X, Y, **given)
    check_nearest(D, X, Y, k=min(k, len(Y)), **chosen)
    check_within(D, X, Y, radius=radius, **chosen)


def check_bounded(data, X, chosen):
    """Compare searches by bounds with whole matrices, whether they pay or not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded, "FEWEST_PAIRS", 0)
        patch.setattr(bounded, "_ROWS", 7)
        patch.setattr(bounded, "_LEAST", data.draw(st.sampled_from([2, 64])))
        patch.setattr(bounded, "_TABLE_BYTES", data.draw(st.sampled_from([0, 1 << 20])))
        patch.setattr(bounded, "pays", lambda *_: True)
        check_searches(data, X, chosen)
