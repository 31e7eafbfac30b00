# SPDX-License-Identifier: BSD-3-Clause
"""What users write, with the types that mypy must find in it. It is checked and never run."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import d2ke
import d2ke.io
import matlab_compat
from d2ke.estimators import D2KEClassifier, D2KERegressor, D2KETransformer

Reals = NDArray[np.floating[Any]]


def apart(x: str, y: str) -> float:
    """Return a distance of a user's own."""
    return float(abs(len(x) - len(y)))


def objects(X: d2ke.Objects) -> None:
    """Objects."""
    assert_type(d2ke.pack(["ACGT", "AGGT", "TTTA"]), d2ke.Objects)
    assert_type(len(X), int)
    assert_type(X[:2], d2ke.Objects)
    assert_type(X[[0, 2]], d2ke.Objects)
    assert_type(X[np.array([True, False, True])], d2ke.Objects)
    assert_type(X.lengths, NDArray[np.int64])
    assert_type(X.weights, NDArray[np.float64] | None)
    assert_type(X.ids, NDArray[Any] | None)
    assert_type(d2ke.pack(["ACGT"], ids=["a"]), d2ke.Objects)
    assert_type(d2ke.concatenate([X, X]), d2ke.Objects)
    series = d2ke.samplers.random_series(16, 2, length=(3, 9), sigma=1.0, seed=0)
    assert_type(series, d2ke.Objects)
    rng = np.random.default_rng(0)
    assert_type(d2ke.samplers.random_strings(64, "ACGT", length=(2, 8), seed=rng), d2ke.Objects)


def distances(X: d2ke.Objects, omega: d2ke.Objects, room: NDArray[np.float64]) -> None:
    """Distances."""
    assert_type(d2ke.distance_matrix(X, omega, "levenshtein", n_threads=2, mode="prefix"), Reals)
    assert_type(d2ke.distance_matrix(X, omega, "levenshtein", out=room), Reals)
    d2ke.write_distances("d.h5", X, omega, distance="levenshtein")
    with d2ke.io.open_features("d.h5") as file:
        assert_type(file, d2ke.io.FeatureFile)
        assert_type(file.shape, tuple[int, int])

    assert_type(d2ke.distance_matrix(["a", "ab"], distance=apart), Reals)
    alignment = d2ke.align("kitten", "sitting", "levenshtein")
    assert_type(alignment, d2ke.distances.Alignment)
    assert_type(alignment.value, float)


def features(X: d2ke.Objects, omega: d2ke.Objects, D: Reals, Z: Reals) -> None:
    """Features."""
    assert_type(d2ke.d2ke_embed(X, omega, distance="levenshtein", gamma=0.5), Reals)
    d2ke.write_features(Path("z.h5"), X, omega, distance=apart, gamma=1)
    assert_type(d2ke.d2ke_features(D, gamma=0.5), Reals)
    scaling = d2ke.embedding.Scaling.fit(Z)
    assert_type(scaling, d2ke.embedding.Scaling)


def neighbors(X: d2ke.Objects) -> None:
    """Neighbours."""
    indices, near = d2ke.nearest(X, k=2, distance="levenshtein")
    assert_type(indices, NDArray[np.int64])
    assert_type(near, Reals)
    graph = d2ke.within(X, radius=1.5, distance="levenshtein")
    assert_type(graph, sparse.csr_array)
    index = d2ke.Index(X, distance="levenshtein", ids=["a", "b", "c"])
    assert_type(index, d2ke.Index)
    assert_type(index.nearest(["a"], k=2), tuple[NDArray[np.int64], Reals])
    assert_type(index.within(None, radius=1.5), sparse.csr_array)
    assert_type(index.add(X, ids=[1, 2, 3]), NDArray[np.int64])
    assert_type(index.indices, NDArray[np.int64])
    index.remove([1])
    index.remove(ids=["c"])


def models(X: d2ke.Objects, Z: Reals) -> None:
    """Models."""
    model = d2ke.d2ke_train([0, 1, 1], X, R=32, seed=1)
    assert_type(model, d2ke.D2KEModel)
    model = d2ke.d2ke_update([0, 1, 1], X, model)
    _, accuracy, decisions = d2ke.d2ke_predict(None, X, model)
    assert_type(accuracy, float)
    assert_type(decisions, NDArray[np.float64])
    assert_type(d2ke.d2ke_transform(X, model), NDArray[np.float32])
    assert_type(d2ke.d2ke_explain("ACGT", model), d2ke.explain.Explanation)
    assert_type(d2ke.novelty(X, model, progress=None), NDArray[np.float64])
    d2ke.save_model("model.d2ke", model)
    linear = d2ke.train(np.array([0, 1, 1]), Z, "-s 2 -c 1 -q", class_weight={0: 2.0})
    assert_type(linear, d2ke.learners.LinearModel)
    found = d2ke.search([0, 1, 1], X, distance="levenshtein", grid={"gamma": [0.1, 1.0]})
    assert_type(found, d2ke.model_selection.Search)


def clustering(room: NDArray[np.float64]) -> None:
    """Clustering and distances of measures."""
    words = ["ACGT", "AGGT", "TTTA"]
    assert_type(d2ke.kmedoids(words, 2), d2ke.groups.MedoidClusters)
    assert_type(d2ke.window_profile([0.0, 1.0, 0.0], 1), d2ke.WindowProfile)
    assert_type(d2ke.window_outliers([0.0, 1.0, 0.0], 1), d2ke.WindowOutliers)
    assert_type(d2ke.dedupe(words, radius=1), d2ke.groups.Duplicates)
    assert_type(d2ke.dedupe(words, radius=1).assign(words), d2ke.groups.Assigned)
    clustering = d2ke.cdsk(n_clusters=2, distances=room[:, :3])
    assert_type(clustering, d2ke.discriminative.Clustering)
    P, Q = np.zeros((4, 2)), np.ones((5, 2))
    assert_type(d2ke.kernel_distance(P, Q, sigma="median"), d2ke.measures.KernelDistanceInfo)
    assert_type(d2ke.kernel_coreset(P, 2, sigma=1.0), d2ke.measures.KernelCoreset)


def others(X: d2ke.Objects) -> None:
    """Files, scikit-learn, MATLAB."""
    assert_type(d2ke.io.load_mat("data.mat"), dict[str, Any])
    assert_type(d2ke.io.read_objects("strings.csv", objects="text")[0], d2ke.Objects)
    classifier = D2KEClassifier(64, distance="dtw", distance_params={"window": 3}, random_state=0)
    assert_type(classifier.fit(X, [0, 1, 1]), D2KEClassifier)
    assert_type(D2KERegressor().fit(X, [0.5, 1, 2]), D2KERegressor)
    assert_type(D2KETransformer(R=8).fit(X), D2KETransformer)
    assert_type(matlab_compat.dtw_c([0.0, 1.0], [0.0, 2.0]), float)


def mistakes(X: d2ke.Objects, D: Reals, Z: Reals) -> None:
    """Mistakes that mypy finds: each of these comments is needed, or mypy says so."""
    d2ke.d2ke_features(D, gama=0.5)  # type: ignore[call-arg]  # misspelled
    d2ke.nearest(X, distance="levenshtein")  # type: ignore[call-arg]  # no k
    d2ke.d2ke_predict(None, X, Z)  # type: ignore[arg-type]  # another kind of model
