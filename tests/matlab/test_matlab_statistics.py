# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB's functions of distances, clusters and neighbours."""

import math
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import d2ke
import matlab_compat as m

WORDS = ["ant", "aunt", "and", "beetle", "beatle", "beetles", "wasp"]
# The example of MATLAB's guide to hierarchical clustering.
POINTS = np.array([[1, 2], [2.5, 4.5], [2, 2], [4, 1.5], [4, 2.5]])

# The definitions, of rows x and y of X and Y.
FORMULAS = {
    "euclidean": "norm(x - y)",
    "squaredeuclidean": "sum((x - y).^2)",
    "seuclidean": "norm((x - y) ./ std(X))",
    "mahalanobis": "sqrt((x - y) * inv(cov(X)) * (x - y)')",
    "cityblock": "norm(x - y, 1)",
    "chebychev": "norm(x - y, Inf)",
    "minkowski": "norm(x - y, 2)",
    "cosine": "1 - x * y' / norm(x) / norm(y)",
    "correlation": "1 - corr(x', y')",
    "spearman": "1 - spearman(x', y')",
    "hamming": "mean(x ~= y)",
    "jaccard": "sum(x ~= y & (x | y)) / sum(x | y)",
}


@pytest.fixture
def X(rng):
    return np.round(rng.standard_normal((9, 4)) * 2) + np.array([0, 0, 0, 0.5])


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_distances_of_matrices_are_their_definitions(octave, X):
    Y = X[[2, 4, 1]] + np.array([0, 1, 0, 2])
    lines = [f"D_{name}(i, j) = {formula};" for name, formula in FORMULAS.items()]
    loops = "for i = 1:9, for j = 1:3, x = X(i, :); y = Y(j, :);\n"
    expected = octave(loops + "\n".join(lines) + "\nend, end", X=X, Y=Y)
    for name in FORMULAS:
        assert_allclose(m.pdist2(X, Y, name), expected[f"D_{name}"], atol=1e-12, err_msg=name)
        full = m.pdist2(X, X, name)
        assert_array_equal(m.pdist(X, name)[0], full[np.triu_indices(9, 1)])


def test_parameters_of_distances(X):
    difference = np.abs(X[0] - X[1])
    cubes = (difference**3).sum() ** (1 / 3)
    assert_allclose(m.pdist(X, "minkowski", 3)[0, 0], cubes)
    assert_allclose(m.knnsearch(X[1:2], X[:1], Distance="minkowski", P=3)[1], [[cubes]])
    assert_allclose(m.pdist(X, "seuclidean", [[2, 2, 2, 2]]), m.pdist(X) / 2)
    assert_allclose(m.pdist(X, "mahalanobis", np.eye(4) * 4), m.pdist(X) / 2)
    handle = m.pdist(X, lambda x, Y: np.abs(x - Y).sum(axis=1, keepdims=True))
    assert_allclose(handle, m.pdist(X, "cityblock"))
    for call, message in [
        (lambda: m.pdist(X, "cubic"), "Distance must be one of euclidean"),
        (lambda: m.pdist(X, "cosine", 2), "DistParameter is not used by 'cosine'"),
        (lambda: m.pdist(X, "cosine", P=2), "P is not a parameter of 'cosine'"),
        (lambda: m.pdist2(X, X[:, :2]), "Y must have the 4 columns of X"),
        (lambda: m.pdist(WORDS, "osa", 2), "DistParameter is for distances of matrices"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            call()


def test_cells_have_the_distances_of_d2ke(rng):
    cell = np.empty((4, 1), dtype=object)
    cell[:, 0] = [rng.standard_normal((2, n)) for n in (5, 6, 7, 5)]
    D = d2ke.distance_matrix(d2ke.pack(cell.ravel().tolist(), channels_first=True), None, "dtw")
    assert_array_equal(m.squareform(m.pdist(cell, "dtw")), D)
    assert_array_equal(m.pdist2(cell, cell.T, "dtw"), D)
    assert_array_equal(m.pdist(WORDS, "osa")[0, :2], [1, 1])
    with pytest.raises(TypeError, match="Distance must be given for objects: dtw"):
        m.pdist(WORDS)
    rows = rng.standard_normal((3, 8))
    assert_array_equal(
        m.pdist2(rows, rows, "dtw", window=1), d2ke.distance_matrix(rows, None, "dtw", window=1)
    )


def test_functions_of_items():
    def difference(x, y):
        return abs(len(x) - len(y))

    lengths = np.array([[len(word)] for word in WORDS])
    assert_array_equal(m.pdist(WORDS, difference), m.pdist(lengths))
    assert_array_equal(m.linkage(WORDS, "average", difference), m.linkage(lengths, "average"))
    assert_array_equal(m.linkage(WORDS, "single", difference)[:, 2], m.linkage(lengths)[:, 2])
    _, C, sumd, D, _ = m.kmedoids(WORDS, 2, difference)
    assert sumd.sum() == D.min(axis=1).sum() == 3
    assert_array_equal(D, m.pdist2(WORDS, C, difference))
    with pytest.raises(ValueError, match="X must be a matrix, n x d"):
        m.pdist([1, 2, 3])


def test_a_search_holds_no_matrix(rng):
    X, Y = rng.standard_normal((2, 3000, 2))
    tracemalloc.start()
    Idx, D = m.knnsearch(X, Y, K=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * X.shape[0] * Y.shape[0]
    full = m.pdist2(Y, X)
    assert_array_equal(np.sort(full, axis=1)[:, :2], D)
    assert_array_equal(full.argmin(axis=1), Idx[:, 0] - 1)


def test_squareform_turns_back(X):
    y = m.pdist(X)
    assert y.shape == (1, 36)
    assert_array_equal(m.squareform(m.squareform(y)), y)
    assert_array_equal(m.squareform([[2.0]]), [[0, 2], [2, 0]])
    assert_array_equal(m.squareform(m.squareform([[2.0]])), [[2]])
    two_equal = m.squareform(m.pdist([[1.0], [1.0]]))
    assert_array_equal(two_equal, np.zeros((2, 2)))
    assert_array_equal(m.squareform(two_equal), [[0]])
    with pytest.raises(ValueError, match="D must be a symmetric matrix"):
        m.squareform([[2.0]], "tovector")
    with pytest.raises(ValueError, match=r"D must be a vector, got shape \(2, 2\)"):
        m.squareform(two_equal, "tomatrix")


DISTANCES = [None, "cityblock", "seuclidean", "mahalanobis", "jaccard", "dtw", np.subtract]


@pytest.mark.parametrize("distance", DISTANCES)
def test_one_row_has_no_distances(distance):
    y = m.pdist([[1.0, 2.0]], distance)
    assert y.shape == (1, 0)
    assert_array_equal(m.squareform(y), [[0]])
    assert m.squareform([[0.0]], "tovector").shape == m.squareform(np.zeros((0, 0))).shape == (1, 0)
    assert m.pdist(["ant"], "levenshtein").shape == (1, 0)


@pytest.mark.parametrize("distance", [None, "seuclidean", "mahalanobis", "jaccard", np.subtract])
def test_empty_matrices(distance):
    none, two = np.zeros((0, 3)), np.ones((2, 3))
    assert m.pdist(none, distance).shape == (1, 0)
    assert m.pdist2(none, two, distance).shape == (0, 2)
    assert m.pdist2(two, none, distance).shape == (2, 0)
    with pytest.raises(ValueError, match="X must have at least one distance"):
        m.linkage(none, "average", distance)


def test_one_row_has_no_deviation():
    near = m.pdist2([[1.0, 2.0]], [[2.0, 3.0], [1.0, 3.0]], "seuclidean")
    assert_array_equal(near, [[np.inf, np.nan]])


@pytest.mark.parametrize("method", ["single", "average"])
@pytest.mark.parametrize("X", [np.zeros((1, 0)), ["ant"]])
def test_a_tree_joins_two_objects(X, method):
    with pytest.raises(ValueError, match="X must have at least one distance"):
        m.linkage(X, method, *["levenshtein"] * isinstance(X, list))
    empty = np.zeros((0, 3))
    assert_array_equal(m.cluster(empty, MaxClust=2), [[1]])
    assert_array_equal(m.cluster(empty, Cutoff=0.5), [[1]])


def test_linkage_is_the_example_of_the_guide():
    y = m.pdist(POINTS)
    expected = [2.9155, 1, 3.0414, 3.0414, 2.5495, 3.3541, 2.5, 2.0616, 2.0616, 1]
    assert_allclose(y[0], expected, atol=5e-5)
    Z = m.linkage(y)
    assert_allclose(Z[:, 2], [1, 1, 2.0616, 2.5], atol=5e-5)
    assert {tuple(row) for row in Z[:2, :2]} == {(1, 3), (4, 5)}
    assert_array_equal(Z[2:, :2], [[6, 7], [2, 8]])
    assert_array_equal(m.linkage(POINTS), Z)
    assert_array_equal(m.linkage(y.ravel()), Z)
    # The inconsistency coefficients are 0, 0, 1.1547, 0.7071.
    assert len(np.unique(m.cluster(Z, Cutoff=1.2))) == 1
    groups = m.cluster(Z, Cutoff=0.8)
    assert groups.shape == (5, 1)
    assert same_groups(groups, [1, 2, 1, 3, 3])
    assert same_groups(m.cluster(Z, MaxClust=2), [1, 2, 1, 1, 1])
    assert same_groups(m.cluster(Z, Cutoff=2.2, Criterion="distance"), [1, 2, 1, 1, 1])


def same_groups(a, b):
    a, b = np.ravel(a), np.ravel(b)
    return ((a[:, None] == a) == (b[:, None] == b)).all()


@pytest.mark.parametrize("method", ["average", "centroid", "complete", "median", "ward"])
def test_cluster_cuts_equal_heights(method):
    Z = m.linkage([[0], [1], [2], [3], [4], [5]], method)
    for k in range(1, 8):
        assert len(np.unique(m.cluster(Z, MaxClust=k))) == min(k, 6)


def test_trees_of_objects():
    Z = m.linkage(WORDS, "single", "levenshtein")
    assert_allclose(Z[:, 2], m.linkage(m.pdist(WORDS, "levenshtein"))[:, 2])
    assert same_groups(m.cluster(Z, MaxClust=3), [1, 1, 1, 2, 2, 2, 3])
    with pytest.raises(ValueError, match="MaxClust or Cutoff"):
        m.cluster(Z)


def test_kmedoids_and_dbscan(X):
    idx, C, sumd, D, midx = m.kmedoids(X, 3)
    assert_array_equal(C, X[midx.ravel() - 1])
    assert_allclose(D, m.pdist2(X, C, "sqeuclidean"))
    assert_array_equal(idx.ravel(), D.argmin(axis=1) + 1)
    assert_allclose(sumd.ravel(), np.bincount(idx.ravel() - 1, D.min(axis=1)))
    idx, C, sumd, D, midx = m.kmedoids(WORDS, 2, "levenshtein")
    assert (C, sumd.sum()) == ([WORDS[i - 1] for i in midx.ravel()], 7)
    assert_array_equal(D, m.pdist2(WORDS, C, "levenshtein"))

    idx, core = m.dbscan(WORDS, 1, 2, "levenshtein")
    assert idx.ravel().tolist() == [1, 1, 1, 2, 2, 2, -1]
    assert core.ravel().tolist() == [True] * 6 + [False]
    D = m.squareform(m.pdist(WORDS, "levenshtein"))
    assert_array_equal(m.dbscan(D, 1, 2, "precomputed")[0], idx)
    expected = d2ke.dbscan(X.tolist(), 3, 3, distance=math.dist)
    idx, core = m.dbscan(X, 3, 3)
    assert_array_equal(core.ravel(), expected.core)
    assert_array_equal(idx.ravel(), np.where(expected.labels < 0, -1, expected.labels + 1))


@pytest.mark.parametrize("objects", [True, False])
def test_neighbors_are_those_of_the_matrix(X, objects):
    base, new, distance = (X, X[:4] + 0.25, "cityblock")
    if objects:
        base, new, distance = WORDS, ["ants", "bee", "was"], "levenshtein"
    D = m.pdist2(base, new, distance).T
    order = np.argsort(D, axis=1, kind="stable")
    Idx, near = m.knnsearch(base, new, K=3, Distance=distance)
    assert_array_equal(Idx, order[:, :3] + 1)
    assert_array_equal(near, np.sort(D, axis=1)[:, :3])


def test_dtw_of_vectors_and_matrices(rng):
    x, y = rng.standard_normal(8), rng.standard_normal(8)
    assert m.dtw(x, y[:, None]) == m.dtw(x[None], y) == m.dtw_c(x[:, None], y[:, None])
    assert m.dtw(x, y, 0) == pytest.approx(np.abs(x - y).sum())
    a, b = rng.standard_normal((2, 5)), rng.standard_normal((2, 5))
    assert m.dtw(a, b, 0) == pytest.approx(np.linalg.norm(a - b, axis=0).sum())
    assert m.dtw(a, b, 0, "absolute") == pytest.approx(np.abs(a - b).sum())
    assert m.dtw(a, b, 0, "squared") == pytest.approx(((a - b) ** 2).sum(), rel=1e-5)
    assert m.dtw(a, b[:, :3]) == m.dtw_c(a.T, b[:, :3].T)
    # The band is at least the difference of the lengths.
    assert m.dtw(a, b[:, :3], 0) == m.dtw(a, b[:, :3], 1) == m.dtw(a, b[:, :3], 2)
    assert m.dtw(a, b[:, :3], 3) == m.dtw_c(a.T, b[:, :3].T, 3)


@pytest.mark.parametrize("version", ["-v6", "-v7", "-v7.3"])
def test_load_returns_what_save_wrote(tmp_path, version):
    X = np.arange(6.0).reshape(2, 3)
    m.save(tmp_path / "a", {"X": X, "s": m.Struct(y=np.ones((2, 1)))}, version)
    S = m.load(tmp_path / "a.mat")
    assert_array_equal(S.X, X)
    assert_array_equal(S.s["y"], np.ones((2, 1)))
    assert list(m.load(tmp_path / "a", "X")) == ["X"]
