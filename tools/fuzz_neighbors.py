# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours of random objects, by bounds and indexes of all kinds, against the whole matrix."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

import numpy as np
from fuzz_kernels import DIMS, EXTREME, STYLES, expect, lengths_for, strings, vectors

import d2ke
from d2ke._ext import near_strings, refine
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames
from d2ke.neighbors import block_search, bounded, series
from d2ke.neighbors import strings as near

# Small inputs are searched in full, and bounds are tried on a sample, unless these say otherwise.
ALWAYS = [
    *((bounded, "FEWEST_PAIRS", 0), (bounded, "_ROWS", 7), (bounded, "_pays", lambda *_: True)),
    *((near, "_FEWEST_PAIRS", 0), (near, "_TRY", 1e9), (block_search, "_FIRST_ROWS", 5)),
]


def gap(x, y):
    """Return a metric of vectors that every number has a part in."""
    return float(np.abs(x.sum(axis=0) - y.sum(axis=0)).max())


def fuzz_neighbors(seed):
    """Nearest objects and those within a radius: the same bits as in the matrix."""
    rng = np.random.default_rng(seed)
    name = str(
        rng.choice(["levenshtein", "osa", "jaccard", "dtw", "emd", "hausdorff", "mhd", "gap"])
    )
    options = {"distance": gap if name == "gap" else name}
    if name in ("levenshtein", "osa", "jaccard"):
        X = d2ke.pack(strings(rng, rng.integers(0, 40, rng.integers(3, 40))), kind="strings")
        cut_off(rng)
    else:
        dim = int(rng.choice(DIMS[:12]))
        style = str(rng.choice([style for style in STYLES if style not in EXTREME]))
        dtype = np.float64 if name == "gap" else rng.choice([np.float32, np.float64])
        X = d2ke.pack(vectors(rng, [*lengths_for(rng, dim), 2, 1, 3], dim, dtype, style),
                      channels_first=False)  # fmt: skip
    if name == "dtw":
        options["window"] = [None, 0, 2, 7, "rws"][rng.integers(5)]
        bounds_of_series(X, options)
    Y = None if rng.random() < 0.5 else X[: int(rng.integers(1, len(X)))]
    D = d2ke.distance_matrix(X, Y, **options)
    if name == "gap":
        options["metric"] = True
    options["n_threads"] = int(rng.integers(1, 4))
    k = int(rng.integers(1, D.shape[1] - (Y is None) + 1))
    with ExitStack() as stack:
        for holder, what, value in ALWAYS:
            stack.enter_context(mock.patch.object(holder, what, value))
        indices, distances = d2ke.nearest(X, Y, k=k, **options)
        radius = float(rng.choice(D.ravel()))
        graph = d2ke.within(X, Y, radius=radius, include_self=Y is None, **options)
        with tempfile.TemporaryDirectory() as folder:
            file = d2ke.nearest(X, Y, k=k, out=Path(folder, "near.h5"), **options)
            by_blocks = d2ke.load_neighbors(file)
    left = D.astype(np.float64)
    if Y is None:
        np.fill_diagonal(left, np.inf)
    order = np.argsort(left, axis=1, kind="stable")[:, :k]
    expect((indices == order).all(), f"{name}: other neighbours")
    expect((distances == np.take_along_axis(D, order, 1)).all(), f"{name}: other distances")
    expect((by_blocks.indices == indices.ravel()).all(), f"{name}: other neighbours in a file")
    expect((by_blocks.data == distances.ravel()).all(), f"{name}: other distances in a file")
    rows, columns = np.nonzero(radius >= D)
    expect((graph.indices == columns).all(), f"{name}: others within the radius")
    expect((graph.data == D[rows, columns]).all(), f"{name}: other distances within the radius")
    return 2 * D.size


def cut_off(rng):
    """See that the cut-off distance of two strings is exact, and its bound not above it."""
    x, y = (rng.integers(0, 4, rng.integers(1, 150)).astype(np.uint32) for _ in range(2))
    wanted = int(d2ke.distance_matrix([x[:-1].tolist()], [y[:-1].tolist()], "levenshtein")[0, 0])
    cut = int(rng.integers(0, 150))
    bound, distance = near_strings.bounded(x, y, 4, cut)
    expect(bound <= wanted, "levenshtein: bound above the distance")
    expect(distance == min(wanted, cut + 1), "levenshtein: other cut-off distance")


def bounds_of_series(X, options):
    """See that no bound is above its distance."""
    D = d2ke.distance_matrix(X, **options)
    parameters = {"window": options["window"]}
    found = series._bounded(check_pairs(X, None, "dtw", parameters, ArgumentNames()))
    if found is not None:
        for bound in refine.bounds_of(found.bounds, *D.shape):
            expect((bound <= D).all(), "dtw: bound above the distance")
