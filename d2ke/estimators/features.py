# SPDX-License-Identifier: BSD-3-Clause
"""Objects as vectors: features of distances to random objects, or to representatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from d2ke._base.checks import integer, positive_number
from d2ke._base.progress import check_progress
from d2ke.distances.matrix import distance_matrix
from d2ke.embedding.features import d2ke_features, rsm_embed
from d2ke.embedding.scaling import Scaling
from d2ke.estimators.base import ObjectsEstimator, estimator, inverse_scale
from d2ke.estimators.inputs import read_objects, seed_of
from d2ke.estimators.supervised import distance_of_blocks
from d2ke.models.blocks import (
    AnyBlock,
    Sample,
    feature_names,
    fit_blocks,
    per_feature,
    sample_rows,
    take,
)
from d2ke.models.feature_map import FeatureMap
from d2ke.models.inputs import InputKind, ModelRequest
from d2ke.models.kernel_weights import FamilyScales
from d2ke.models.labels import no_labels
from d2ke.models.recipes import blocks_of_objects
from d2ke.objects.container import Objects
from d2ke.samplers import training_objects


@estimator
class D2KETransformer(TransformerMixin, ObjectsEstimator):
    """Features of the model of `d2ke_train`, without labels (D2KE of views).

    A training object that is itself a random object has distance 0 to it, as no new object has.
    `d2ke_train` corrects this, ``fit_transform`` does not. So `D2KEClassifier` is better than a
    classifier behind this transformer.

    Parameters
    ----------
    R : int, optional
        Number of random objects; by default from the recipe for the kind of objects.
    distance, distance_params, blocks, strands
        As for `D2KEClassifier`.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.
    random_state : int, RandomState or None
        Where the randomness comes from; an integer gives the features of `d2ke_train` with that
        seed.

    Attributes
    ----------
    blocks_ : tuple of FittedBlock
        Views, distances, random objects and gammas.
    scaling_ : Scaling
        Of the features.

    Examples
    --------
    >>> from d2ke.estimators import D2KETransformer
    >>> features = D2KETransformer(R=64, random_state=0).fit(["abab", "aabb", "abba"])
    >>> features.transform(["abab", "aaab"]).shape == (2, len(features.get_feature_names_out()))
    True
    """

    R: int | None = None
    _: KW_ONLY
    blocks: Sequence[AnyBlock] | None = None
    strands: str = "one"
    random_state: Any = None

    def __sklearn_tags__(self) -> Tags:
        """Say that features are float32, whatever the objects are."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> D2KETransformer:
        """Draw random objects; y is not used."""
        objects = read_objects(self, X, distance_of_blocks(self), reset=True)
        seed = seed_of(self.random_state)
        options = {} if self.blocks is not None else self.distance_params or {}
        distance, R = (None, None) if self.blocks is not None else (self.distance, self.R)
        request = ModelRequest.of(self.blocks, distance, R, options, self.strands)
        rows = sample_rows(len(objects), seed, request.largest)
        progress = check_progress(self.progress)
        labels = no_labels(len(rows))
        sample = Sample(take(objects, rows), rows, labels, self.n_threads, progress)
        blocks = request.blocks or blocks_of_objects(sample.objects, request, len(objects))
        self.blocks_, Z = fit_blocks(blocks, sample, seed)
        self._kind = InputKind.of(sample.objects, self.blocks_)
        scales, family = FamilyScales.of(Z, self.blocks_), per_feature(self.blocks_, "family")
        _, inverse, sizes = np.unique(family, return_inverse=True, return_counts=True)
        roots = np.sqrt(sizes[inverse])
        self.scaling_ = Scaling(scales.mean, scales.divisor / roots * np.sqrt(len(roots)))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of objects, float32 of shape (n, R)."""
        check_is_fitted(self)
        objects = read_objects(self, X, distance_of_blocks(self), reset=False)
        if isinstance(objects, Objects):
            objects = self._kind.check("X", objects, X, self.blocks_, None)
        return FeatureMap(self.blocks_, self.scaling_).features(objects, self.n_threads)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features: the block's and a number."""
        check_is_fitted(self)
        return np.array(feature_names(self.blocks_), dtype=object)


@estimator
class RSMTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ObjectsEstimator):
    """Features of distances to training objects: `training_objects` and `rsm_embed`.

    Parameters
    ----------
    R : int, default 256
        Number of representatives; fewer if there are fewer training objects.
    distance : str or callable, optional
        As for `distance_matrix`; by default ``"levenshtein"`` for strings and ``"dtw"`` for
        vectors.
    gamma : float, optional
        Inverse scale of the distance, > 0; by default 1 over the median distance of the training
        objects to the representatives.
    distance_params : dict, optional
        Parameters of the distance.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.
    random_state : int, RandomState or None
        Which objects are drawn; an integer is the `seed` of `training_objects`.

    Attributes
    ----------
    representatives_ : Objects or list
        The training objects that were drawn.
    gamma_ : float
        Inverse scale of the distance.
    distance_ : str or callable
        The distance.

    Examples
    --------
    >>> from d2ke.estimators import RSMTransformer
    >>> RSMTransformer(R=2, random_state=0).fit_transform(["ACGT", "AGGT", "TTTT"]).shape
    (3, 2)
    """

    R: int = 256
    _: KW_ONLY
    gamma: float | None = None
    random_state: Any = None

    def fit(self, X: Any, y: Any = None) -> RSMTransformer:
        """Draw representatives; y is not used."""
        self._fit_distances(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Draw representatives and return the features of the training objects."""
        D = self._fit_distances(X)
        return d2ke_features(D, self.gamma_, out=D, n_threads=self.n_threads)

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of objects."""
        check_is_fitted(self)
        objects = read_objects(self, X, self.distance_, reset=False)
        return rsm_embed(objects, self.representatives_, gamma=self.gamma_, **self._options())

    def _fit_distances(self, X: Any) -> np.ndarray:
        """Draw representatives and return the distances of the training objects to them."""
        integer("R", self.R, 1)
        if self.gamma is not None:
            positive_number("gamma", self.gamma)
        objects = self._read(X)
        seed = seed_of(self.random_state)
        self.representatives_, _ = training_objects(self.R, objects, seed=seed)
        D = distance_matrix(objects, self.representatives_, **self._options())
        self.gamma_ = inverse_scale(self.gamma, D)
        return D

    @property
    def _n_features_out(self) -> int:
        return len(self.representatives_)
