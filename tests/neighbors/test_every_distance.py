# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours, groups, outliers and duplicates by every distance of the registry, whichever
strategy searches them, against the whole matrix."""

import numpy as np
import pytest
import reference
from neighbor_cases import check_nearest, check_within
from reference import same
from scipy.cluster.hierarchy import linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

import d2ke
from d2ke._ext.pivots import Pivots
from d2ke.distances import registry
from d2ke.distances.columns import Columns
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames
from d2ke.neighbors import (
    bounded,
    elastic,
    pivots,
    problem,
    strategies,
    string_costs,
    strings,
)
from d2ke.neighbors.lists import WithinLists
from d2ke.neighbors.problem import NeighborSearch

# Tiny arrays, which are meant as they are.
pytestmark = pytest.mark.filterwarnings("ignore:every item of .* has shape")

ROWS = {row.name: row for row in registry.DISTANCES}
# Beside the parameters without a default, and the defaults.
PARAMETERS = {
    "dtw": [{"window": 2}, {"ground": "sqeuclidean"}, {"ground": "manhattan"}],
    "msm": [{"independent": False}],
    "twe": [{"nu": 0.1, "window": 2}],
    "lcss": [{"epsilon": 0.4}],
    "levenshtein": [{"mode": "infix"}, {"normalize": True}],
    "weighted_levenshtein": [{"transposition": 0.3, "mismatch": 1.4}, {"mode": "infix"}],
    "indel": [{"normalize": True}],
    "gapped": [{"strands": "both"}],
    "window": [{"normalize": False}],
}
INDEXES = strategies.INDEXES


def apply(name, params):
    """Which strategies search by a distance, if there are objects enough."""
    row = ROWS[name]
    if name in string_costs.EDITS and "mode" not in params:
        yield "strings"
    if name == "weighted_levenshtein" and "mode" not in params:
        yield "costs"
    if name == "dtw":
        yield "series"
    if row.is_metric(registry.check_parameters(row, params)) or name in (
        "msm",
        "erp",
        *elastic._STEPS,
    ):
        yield "pivots"
    yield "scan"


CASES = [
    pytest.param(
        strategy, name, reference.given(name) | params, id=f"{strategy}-{name}{params or ''}"
    )
    for name in ROWS
    for params in ({}, *PARAMETERS.get(name, ()))
    for strategy in apply(name, reference.given(name) | params)
]


def only(strategy, monkeypatch):
    """Search by one strategy, and by bounds whether they pay or not."""
    found = {name: INDEXES[name] for name in (strategy, "scan")}
    monkeypatch.setattr(strategies, "INDEXES", found)
    monkeypatch.setattr(bounded, "FEWEST_PAIRS", 0)
    monkeypatch.setattr(bounded, "pays", lambda *_: True)
    monkeypatch.setattr(strings, "_FEWEST", 0)
    monkeypatch.setattr(pivots, "_LEAST_PART", 0)
    if strategy == "scan":
        monkeypatch.setattr(problem, "_TILE_BYTES", 8 * 250)


def objects(name, params, n, seed):
    """Draw objects with copies and ties among them."""
    rng = np.random.default_rng(seed)
    if params.get("strands") == "both":
        drawn = reference.random_text(rng, n, alphabet="ACGT")
    else:
        drawn = list(reference.sample_objects(name, rng, n))
    if ROWS[name].kind == "strings":
        drawn[: n // 3] = [one[:3].ljust(39, "a") if name == "hamming" else one[:3]
                           for one in drawn[: n // 3]]  # fmt: skip
    return d2ke.pack([*drawn, *drawn[::5]])


def radius_of(D):
    """A distance that about a tenth of the pairs are within."""
    return float(np.sort(D[D > 0])[D.size // 10])


@pytest.mark.parametrize(("strategy", "name", "params"), CASES)
def test_neighbors(strategy, name, params, monkeypatch):
    only(strategy, monkeypatch)
    options = {"distance": name, **params}
    # Strings are cheap: enough of them for several blocks of columns.
    n, m = (60, 520) if ROWS[name].kind == "strings" else (30, 50)
    X, Y = objects(name, params, n, 0), objects(name, params, m, 1)
    for rows, columns in ((X, Y), (Y, X), (X, None)):
        D = d2ke.distance_matrix(rows, columns, **options)
        radius = radius_of(D)
        check_nearest(D, rows, columns, k=4, **options)
        check_nearest(D, rows, columns, k=4, radius=radius, **options)
        check_within(D, rows, columns, radius=radius, **options)


@pytest.mark.parametrize(("strategy", "name", "params"), CASES)
def test_groups_and_outliers(strategy, name, params, monkeypatch):
    only(strategy, monkeypatch)
    options, row = {"distance": name, **params}, ROWS[name]
    X = objects(name, params, 40, 2)
    D = d2ke.distance_matrix(X, **options)
    others = np.sort(D + np.diag(np.full(len(D), np.inf)))
    np.testing.assert_allclose(d2ke.outlier_scores(X, k=3, **options), others[:, :3].mean(axis=1))
    if not row.is_symmetric(registry.check_parameters(row, params)):
        return
    radius = radius_of(D)
    near = radius >= D
    core = near.sum(axis=1) >= 4
    labels = d2ke.dbscan(X, radius, 4, **options).labels
    joined = connected_components(near & core & core[:, None])[1]
    assert ((labels >= 0) == (near & core).any(axis=1)).all()
    same(labels[core][:, None] == labels[core], joined[core][:, None] == joined[core])
    tree = d2ke.single_linkage(X, **options)
    np.testing.assert_allclose(tree[:, 2], linkage(squareform(D, checks=False), "single")[:, 2])
    if not params:  # of equal rows, the first is compared
        content = [np.asarray(x).tobytes() for x in X]
        first = np.array([content.index(x) == i for i, x in enumerate(content)])
        pairs = d2ke.dedupe({"column": X}, radius=radius, **options).pairs
        same(pairs, np.argwhere(np.triu(near & first & first[:, None], 1)))


@pytest.mark.parametrize(("name", "params"), [c.values[1:] for c in CASES if c.values[0] == "scan"])
def test_kernels_take_columns_in_any_order_or_are_not_asked(name, params):
    n, m = (20, 520) if ROWS[name].kind == "strings" else (20, 50)
    X, Y = objects(name, params, n, 3), objects(name, params, m, 4)
    D = d2ke.distance_matrix(X, Y, distance=name, **params)
    pairs = check_pairs(X, Y, name, params, ArgumentNames())
    rng = np.random.default_rng(5)
    x, y = (rng.random(shape, np.float32) for shape in ((len(X), 1), (1, len(Y))))
    shuffled = bounded.Bounded(Pivots(x, y, 2.0), ("no pair is ruled out",), (0.0,))
    lists = WithinLists(pairs.shape, np.inf)
    search = NeighborSearch(pairs, same=False, skip=False, n_threads=1)
    try:
        bounded.RefinedSearch(search, shuffled, lists).search(np.arange(len(X)))
    except TypeError:  # it says that it computes whole blocks only
        assert "pivots" not in apply(name, params)
    else:
        same(lists.result(pairs.dtype).toarray(), D)
    prepared = np.empty_like(D)
    Columns(Y, name, params).fill(X, prepared, 1)
    same(prepared, D)
