# SPDX-License-Identifier: BSD-3-Clause
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples
from scipy.cluster.hierarchy import fcluster, is_valid_linkage, linkage
from scipy.spatial.distance import squareform
from tree_cases import drawn, kruskal, large_search, walks

import d2ke
from d2ke.groups import growth


@pytest.mark.parametrize("name", ["levenshtein", "dtw", "dtw ties", "metric"])
def test_tree_of_more_objects(name):
    X, given_, D = drawn(name, 0, 250)
    with large_search():
        tree = d2ke.spanning_tree(X, **given_)
    assert np.array_equal(tree.edges, kruskal(D)[0])


def test_many_strings_are_searched_by_radius_and_lists(monkeypatch):
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abc"), rng.integers(6, 12))) for _ in range(1300)]
    X += [*X[:50], "a" * 40, "b" * 50, "c" * 33]
    monkeypatch.setattr(growth, "grow_by_rows", lambda search, forest, cores: None)
    tree = d2ke.spanning_tree(X, distance="levenshtein")
    edges, _ = kruskal(d2ke.distance_matrix(X, distance="levenshtein"))
    assert np.array_equal(tree.edges, edges)


@pytest.mark.parametrize("name", ["levenshtein", "dtw", "hausdorff ties"])
@settings(max_examples=examples(40), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 40))
def test_single_linkage_is_scipy_s(name, seed, n):
    X, given_, D = drawn(name, seed, n)
    Z = d2ke.single_linkage(X, **given_)
    wanted = linkage(squareform(D), "single")
    assert is_valid_linkage(Z)
    assert np.array_equal(Z[:, 2], wanted[:, 2])
    for height in np.unique(wanted[:, 2]):
        ours, theirs = (fcluster(each, height, "distance") for each in (Z, wanted))
        pairs = np.unique(np.column_stack([ours, theirs]), axis=0)
        assert len(pairs) == ours.max() == theirs.max()


def test_a_function_is_called_once_for_each_pair():
    calls = []

    def apart(a, b):
        calls.append((a, b))
        return abs(a - b)

    d2ke.spanning_tree(list(range(50)), distance=apart)
    assert len(calls) == len(set(calls)) == 50 * 49 // 2
    assert all(a < b for a, b in calls)


@pytest.mark.slow
def test_memory_grows_with_n():
    X = d2ke.pack(walks(np.random.default_rng(0), 3000))
    tracemalloc.start()
    d2ke.spanning_tree(X, distance="mhd")
    assert tracemalloc.get_traced_memory()[1] < 3000**2 * 8 / 2


def test_errors_of_functions_name_the_objects():
    def broken(a, b):
        return np.nan if {a, b} == {17, 30} else abs(a - b)

    with pytest.raises(ValueError, match=r"distance\(X\[17\], X\[30\]\)"):
        d2ke.spanning_tree(list(range(40)), distance=broken)


def test_errors_of_compiled_functions_name_the_objects():
    numba = pytest.importorskip("numba")
    from numba import types as t
    from scipy import LowLevelCallable

    vector = t.CPointer(t.double)

    @numba.cfunc(t.double(vector, t.intp, vector, t.intp, t.intp, t.voidptr))
    def broken(x, n_x, y, n_y, dim, data):
        return -1.0 if x[0] + y[0] == 47 and abs(x[0] - y[0]) == 13 else abs(x[0] - y[0])

    X = [[float(i)] for i in range(40)]
    with pytest.raises(ValueError, match=r"X\[(17|30)\], .\[(17|30)\]"):
        d2ke.spanning_tree(X, distance=LowLevelCallable(broken.ctypes))
