# SPDX-License-Identifier: BSD-3-Clause
"""Folds of a cross-validation, and the labels of the training objects with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from d2ke._base.checks import generator, integer


@dataclass(frozen=True)
class SearchProblem:
    """The labels of the training objects and their folds, the same for every setting of a search.

    Attributes
    ----------
    codes : ndarray of int, shape (n,)
        Classes 0, 1, ... of the training objects.
    n_folds : int
        Number of stratified folds, 2 to n.
    seed : int, SeedSequence or Generator
        Seed of the folds.
    n_threads : int or None
        Threads; None for all that this process may use.
    force_hinge : bool
        Whether the squared hinge loss is tried with few objects for each feature, too.
    """

    codes: np.ndarray
    n_folds: int = 10
    seed: Any = 0
    n_threads: int | None = None
    force_hinge: bool = False

    @property
    def n(self) -> int:
        """Number of training objects."""
        return len(self.codes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.codes.max()) + 1

    @property
    def largest_fold(self) -> int:
        """Number of objects in the largest fold."""
        return -(-self.n // self.n_folds)

    @cached_property
    def folds(self) -> np.ndarray:
        """The fold of each object."""
        return stratified_folds(self.codes, self.n_folds, seed=self.seed)


def stratified_folds(codes: np.ndarray, n_folds: int, *, seed: Any) -> np.ndarray:
    """Deal the members of each class out to the folds, in random order.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Classes 0, 1, ...
    n_folds : int
        From 2 to n.
    seed : int, SeedSequence or Generator
        Seed of the random order.

    Returns
    -------
    ndarray of int, shape (n,)
        The fold of each row; sizes differ by at most one, within each class too.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.model_selection.folds import stratified_folds
    >>> np.bincount(stratified_folds(np.array([0, 1] * 10), 5, seed=0)).tolist()
    [4, 4, 4, 4, 4]
    """
    integer("n_folds", n_folds, 2, len(codes))
    shuffled = generator(seed).permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    folds = np.empty(len(codes), dtype=np.int64)
    folds[by_class] = np.arange(len(codes)) % n_folds
    return folds
