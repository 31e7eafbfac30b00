# SPDX-License-Identifier: BSD-3-Clause
"""The object itself comes first: what UMAP and scikit-learn take for granted."""

import numpy as np
import pytest

import d2ke
from d2ke.estimators import DistanceNeighborsTransformer

# More copies than neighbours, of a few words and of none other.
WORDS = d2ke.samplers.random_strings(12, "abc", length=(3, 9), seed=0)
COPIES = [*WORDS] * 5 + ["abc"] * 30
D = d2ke.distance_matrix(COPIES, distance="levenshtein")
K = 9


def itself_first(indptr, indices):
    return (indices[indptr[:-1]] == np.arange(len(COPIES))).all()


@pytest.mark.parametrize("how", [{"n_neighbors": K}, {"radius": 2.0}])
def test_graphs_are_those_of_scikit_learn_s_transformers(how):
    neighbors = pytest.importorskip("sklearn.neighbors")
    graph = DistanceNeighborsTransformer(**how, distance="levenshtein").fit_transform(COPIES)
    assert itself_first(graph.indptr, graph.indices)
    assert neighbors.sort_graph_by_row_values(graph, copy=False, warn_when_not_sorted=True) is graph
    kind = "KNeighborsTransformer" if "n_neighbors" in how else "RadiusNeighborsTransformer"
    wanted = getattr(neighbors, kind)(**how, metric="precomputed", mode="distance").fit_transform(D)
    assert (np.diff(graph.indptr) == np.diff(wanted.indptr)).all()
    wanted = neighbors.sort_graph_by_row_values(wanted, warn_when_not_sorted=False)
    assert (graph.data == wanted.data).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of UMAP: one thread, and a matrix has no inverse
def test_umap_takes_the_neighbours():
    umap = pytest.importorskip("umap")
    # Four copies are fewer than K, and no two different pairs of numbers are equally far.
    numbers = np.repeat(np.random.default_rng(0).standard_normal((30, 1, 2)), 4, axis=0)
    items = d2ke.pack(list(numbers), channels_first=False)
    found = d2ke.nearest(items, k=11, distance="dtw", include_self=True)
    assert (found[0][:, 0] == np.arange(120)).all()
    D = d2ke.distance_matrix(items, distance="dtw")
    options = {"n_neighbors": 12, "random_state": 0, "n_epochs": 2, "init": "random"}
    ours = umap.UMAP(precomputed_knn=found, **options).fit(numbers[:, 0])
    wanted = umap.UMAP(metric="precomputed", **options).fit(D)
    assert abs(ours.graph_ - wanted.graph_).max() < 1e-6
    copies = d2ke.nearest(COPIES, k=K - 1, distance="levenshtein", include_self=True)
    assert (copies[0][:, 0] == np.arange(len(COPIES))).all()
    model = umap.UMAP(K, precomputed_knn=copies, random_state=0, n_epochs=2, init="random")
    model.fit(np.zeros((len(COPIES), 1)))
    assert (model.graph_.diagonal() == 0).all()
    assert np.isfinite(model.embedding_).all()
