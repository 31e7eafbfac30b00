# SPDX-License-Identifier: BSD-3-Clause
"""Folds of a cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base.checks import generator, integer


def stratified_folds(codes: np.ndarray, n_folds: int, *, seed: Any) -> np.ndarray:
    """Deal the members of each class out to the folds, in random order.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Classes 0, 1, ...
    n_folds : int
        From 2 to n.
    seed : int, SeedSequence or Generator
        Where the randomness comes from.

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


def with_bias(F: np.ndarray) -> np.ndarray:
    """Append the column of ones that LIBLINEAR's ``-B 1`` stands for."""
    return np.hstack([F, np.ones((len(F), 1))])
