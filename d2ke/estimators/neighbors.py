# SPDX-License-Identifier: BSD-3-Clause
"""Nearest neighbours by any distance."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError
from d2ke._base.labels import check_order
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames
from d2ke.estimators.base import Classifier, DistanceEstimator, ObjectsEstimator, estimator
from d2ke.estimators.inputs import read_classes, read_objects
from d2ke.learners.neighbors import knn_predict, knn_shares, vote, votes
from d2ke.neighbors.graph import nearest_first, neighbor_graph
from d2ke.neighbors.index import Index
from d2ke.neighbors.runs import SearchOptions
from d2ke.neighbors.search import nearest


@estimator
class DistanceKNeighborsClassifier(Classifier, DistanceEstimator):
    """Majority vote among the nearest training objects: `nearest`, and the vote of `knn_predict`.

    Parameters
    ----------
    n_neighbors : int, default 1
        Number of neighbours, at most the number of training objects.
    distance : str or callable, optional
        As for `distance_matrix`; by default ``"levenshtein"`` for strings and ``"dtw"`` for
        vectors. ``"precomputed"``: X is a matrix of distances to the training objects.
    distance_params : dict, optional
        Parameters of the distance, such as ``{"window": 5}``.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.

    Attributes
    ----------
    classes_ : ndarray
        The distinct labels in sorted order.
    objects_ : Objects, list or None
        The training objects; None for ``"precomputed"``.
    distance_ : str or callable
        The distance.

    Examples
    --------
    >>> from d2ke.estimators import DistanceKNeighborsClassifier
    >>> model = DistanceKNeighborsClassifier().fit(["kitten", "sitting"], ["cat", "seat"])
    >>> model.predict(["mitten"]).tolist()
    ['cat']
    """

    n_neighbors: int = 1

    def fit(self, X: Any, y: Any) -> DistanceKNeighborsClassifier:
        """Keep the training objects and their labels."""
        check_order(X, y=y)
        objects = self._fit_objects(X)
        if objects is None:
            objects = self._square("distances", X)
        y = read_classes(objects, y)
        integer("n_neighbors", self.n_neighbors, 1, len(y))
        self.classes_, self._codes = np.unique(y, return_inverse=True)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels of objects."""
        check_is_fitted(self)
        if self.objects_ is None:
            codes = knn_predict(self._codes, self._new_distances(X), self.n_neighbors)
        else:
            codes = vote(self._near_classes(X), len(self.classes_))
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return each class's share of the votes, shape (n, classes).

        If classes have equal shares, `predict` returns the one with the nearest neighbour.
        """
        check_is_fitted(self)
        if self.objects_ is None:
            return knn_shares(self._new_distances(X), self._codes, self.n_neighbors)
        return votes(self._near_classes(X), len(self.classes_)) / self.n_neighbors

    def _near_classes(self, X: Any) -> np.ndarray:
        """Return the classes of the training objects nearest to each object, the nearest first."""
        objects = read_objects(self, X, self.distance_, reset=False)
        near, _ = nearest(objects, self.objects_, k=self.n_neighbors, **self._options())
        return self._codes[near]


@estimator
class DistanceNearestNeighbors(ObjectsEstimator):
    """The nearest training objects, or those within a radius, exactly.

    Like scikit-learn's ``NearestNeighbors``, on an `Index`.

    Parameters
    ----------
    n_neighbors : int, default 5
        Number of neighbours of `kneighbors`.
    radius : float, default 1.0
        The largest distance of `radius_neighbors`.
    distance : str or callable, optional
        As for `distance_matrix`; by default ``"levenshtein"`` for strings and ``"dtw"`` for
        vectors.
    distance_params : dict, optional
        Parameters of the distance, such as ``{"window": 5}``.
    metric : bool, default False
        Of a Python distance: it is a metric, as for `nearest`, so that fewer are computed.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.

    Attributes
    ----------
    index_ : Index
        The index of the training objects.
    objects_ : Objects or list
        The training objects.
    distance_ : str or callable
        The distance.

    Examples
    --------
    >>> from d2ke.estimators import DistanceNearestNeighbors
    >>> model = DistanceNearestNeighbors(n_neighbors=2).fit(["kitten", "mitten", "sitting"])
    >>> distances, indices = model.kneighbors(["mittens"])
    >>> indices.tolist(), distances.tolist()
    ([[1, 0]], [[1.0, 2.0]])
    """

    n_neighbors: int = 5
    _: KW_ONLY
    radius: float = 1.0
    metric: bool = False

    def fit(self, X: Any, y: Any = None) -> DistanceNearestNeighbors:
        """Keep the training objects; y is not used."""
        self.objects_ = self._read(X)
        params = self.distance_params or {}
        self.index_ = Index(self.objects_, distance=self.distance_, metric=self.metric, **params)
        return self

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Return distances and indices of the nearest training objects, both of shape (n, k).

        Without X, of the training objects, without themselves. Ties are sorted by index.
        """
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        X, limit = self._queries(X), len(self.objects_) - (X is None)
        k = integer("n_neighbors", k, 1, limit)
        indices, distances = self.index_.nearest(X, k=k, **self._computing())
        return (distances, indices) if return_distance else indices

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Return distances and indices of the training objects within a radius, an array for each.

        Without X, of the training objects, without themselves. They are sorted by index, or with
        ``sort_results`` by distance.
        """
        radius = self.radius if radius is None else radius
        graph = self.index_.within(self._queries(X), radius=radius, **self._computing())
        graph = nearest_first(graph) if sort_results else graph
        indices = _rows(graph.indices.astype(np.int64), graph.indptr)
        return (_rows(graph.data, graph.indptr), indices) if return_distance else indices

    def _queries(self, X: Any) -> Any:
        check_is_fitted(self)
        return None if X is None else read_objects(self, X, self.distance_, reset=False)


def _rows(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return an array of arrays, the rows of a sparse matrix."""
    rows = np.empty(len(starts) - 1, object)
    rows[:] = np.split(values, starts[1:-1])
    return rows


@estimator
class DistanceNeighborsTransformer(TransformerMixin, ObjectsEstimator):
    """Sparse graph of the nearest training objects or all within a radius, exactly.

    Like scikit-learn's ``KNeighborsTransformer`` and ``RadiusNeighborsTransformer``: the graph goes
    to estimators with ``metric="precomputed"``. It uses `nearest` and `within`.

    Parameters
    ----------
    n_neighbors : int, optional
        Number of neighbours beside the object itself; 5 where no radius is set either.
    radius : float, optional
        The largest distance of a neighbour, instead of `n_neighbors`.
    distance : str or callable, optional
        As for `distance_matrix`; by default ``"levenshtein"`` for strings and ``"dtw"`` for
        vectors.
    distance_params : dict, optional
        Parameters of the distance, such as ``{"window": 5}``.
    metric : bool, default False
        Of a Python distance: it is a metric, as for `nearest`, so that fewer are computed.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.

    Attributes
    ----------
    objects_ : Objects or list
        The training objects.
    distance_ : str or callable
        The distance.

    Examples
    --------
    >>> from d2ke.estimators import DistanceNeighborsTransformer
    >>> words = ["kitten", "mitten", "sitting", "fitting"]
    >>> graph = DistanceNeighborsTransformer(n_neighbors=1).fit_transform(words)
    >>> graph.toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 0., 0.],
           [0., 0., 0., 1.],
           [0., 0., 1., 0.]])
    """

    n_neighbors: int | None = None
    _: KW_ONLY
    radius: float | None = None
    metric: bool = False

    def __sklearn_tags__(self) -> Tags:
        """Say that distances are not of X's type."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> DistanceNeighborsTransformer:
        """Keep the training objects; y is not used."""
        if self.n_neighbors is not None and self.radius is not None:
            raise ArgumentError(
                "n_neighbors",
                f"or radius may be set, not both: got {self.n_neighbors!r} and {self.radius!r}",
            )
        self.objects_ = self._read(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> csr_matrix:
        """Return the graph among the training objects, each with itself; y is not used."""
        return self.fit(X)._graph(self.objects_, None)

    def transform(self, X: Any) -> csr_matrix:
        """Return the training objects near each object of X, by distance."""
        check_is_fitted(self)
        objects = read_objects(self, X, self.distance_, reset=False)
        return self._graph(objects, self.objects_)

    def _graph(self, X: Any, Y: Any) -> csr_matrix:
        names = ArgumentNames("nearest" if self.radius is None else "within")
        pairs = check_pairs(X, Y, self.distance_, self.distance_params or {}, names)
        same = Y is None
        options = SearchOptions(same, self.metric, self.n_threads, self.progress)
        if self.radius is not None:
            return csr_matrix(neighbor_graph(pairs, same, options, radius=self.radius)[0])
        n = pairs.shape[1]
        k = 5 if self.n_neighbors is None else integer("n_neighbors", self.n_neighbors, 1)
        if k >= n:
            raise ArgumentError(
                "n_neighbors", f"must be less than the {n} training objects, got {k}"
            )
        return csr_matrix(neighbor_graph(pairs, same, options, k=k + (not same))[0])
