# SPDX-License-Identifier: BSD-3-Clause
"""Near-copies among training objects, which are left out together.

Training sets hold records with typos, augmented or replicate data, and pieces of one recording. A
model that has seen a copy predicts the other too easily: leave-one-out errors then choose too large
a C, and the accuracy is too good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from d2ke.models.families import FamilyKernels
from d2ke.models.own_columns import OwnColumns

_MOST = 0.8  # share of joined objects from which most are copies; of ordinary ones fewer are
_FEW = 0.1  # least share of objects in groups
_FEATURES = 64  # features, at least: with fewer, ordinary objects look like copies
_DIGITS = 9  # of squared lengths, whose mean is 2: the rest is rounding


@dataclass(frozen=True, eq=False)
class NearCopies:
    """Groups of near-copies among the training objects, and the accuracy without these groups.

    Attributes
    ----------
    rows : ndarray of int64, shape (m,)
        Rows of the objects that were compared: all training objects, or a sample of 4,096. Objects
        of weight 0 are not counted.
    groups : ndarray of int64, shape (m,)
        Codes of their groups. Most groups may have one object only.
    accuracy, accuracy_error : float
        Leave-one-out accuracy of the model's shares and C in percent, or 100 R^2, and its standard
        error; nan for models with features that are computed from labels.
    """

    rows: np.ndarray
    groups: np.ndarray
    accuracy: float
    accuracy_error: float

    def report(self, model: Any) -> str:
        """Return how many near-copies a model found, and both accuracies if they differ."""
        sizes, n = np.bincount(self.groups), len(self.groups)
        several = sizes[sizes > 1]
        text = (
            f"{several.sum():,} of {'a sample of ' * (n < model.n_train)}{n:,} objects are "
            f"near-copies of another ({len(several):,} groups). Left out together: "
            f"{model.task.result(model.accuracy)}"
        )
        errors = self.accuracy_error, model.accuracy_error
        if not abs(self.accuracy - model.accuracy) > max(errors):  # or if it is nan
            return f"{text}."
        return (
            f"{text}; one by one: {model.task.result(self.accuracy)}. The first holds for objects "
            "unlike those in training, the second for further copies."
        )


def near_copies(
    kernels: FamilyKernels, own_columns: OwnColumns, largest: float
) -> np.ndarray | None:
    """Group near-copies by the features of a model's unsupervised blocks.

    Each family of blocks has the same share of the kernel. The edges of the minimum spanning tree
    of the kernel's distances are joined in rising order, up to the first length that makes a group
    larger than `largest`. One group of ordinary objects grows so large while few are joined; all
    near-copies are joined long before. So if four fifths of the objects or more are joined, these
    are the groups. Else only edges of less than half that length are joined, and there are
    near-copies if a tenth of the objects or more are.

    Parameters
    ----------
    kernels : FamilyKernels
        Of training objects.
    own_columns : OwnColumns
        Of these objects. Raised, objects look far from each other, so they are hidden here.
    largest : float
        Number of objects of a group, at most.

    Returns
    -------
    ndarray of int64, shape (n,), or None
        The code of each object's group; None without near-copies.
    """
    used = kernels.without_labels
    shares = used / max(used.sum(), 1)
    roots = kernels.roots(shares)
    if np.count_nonzero(roots) < _FEATURES or len(kernels.Z) < 2:
        return None
    kernel = kernels.sum(shares)
    if len(own_columns.rows):
        _hide(kernel, kernels, own_columns, roots[own_columns.columns])
    return join(kernel, largest)


def _hide(
    kernel: np.ndarray, kernels: FamilyKernels, own_columns: OwnColumns, roots: np.ndarray
) -> None:
    """Change a kernel to that of hidden features; `roots` are those of the columns' shares."""
    raised = kernels.Z[own_columns.rows, own_columns.columns] - own_columns.hidden
    raised = raised / kernels.scales.balanced[own_columns.columns] * roots
    products = np.zeros_like(kernel)
    np.add.at(products, own_columns.rows, (kernels.centred(own_columns.columns) * roots * raised).T)
    kernel -= products + products.T
    np.add.at(kernel, (own_columns.rows, own_columns.rows), raised**2)


def join(kernel: np.ndarray, largest: float) -> np.ndarray | None:
    """Return the codes of the groups of n objects, or None; the kernel's upper triangle is read."""
    from scipy.cluster.hierarchy import fcluster, linkage

    n, diagonal = len(kernel), kernel.diagonal()
    squares = [diagonal[i] + diagonal[i + 1 :] - 2 * kernel[i, i + 1 :] for i in range(n - 1)]
    distances = np.sqrt(np.maximum(np.round(np.concatenate(squares), _DIGITS), 0))
    tree = linkage(distances, "single")
    lengths, is_leaf = tree[:, 2], tree[:, :2] < n
    too_long = lengths[np.argmax(tree[:, 3] > largest)]
    nearest = np.repeat(lengths, is_leaf.sum(axis=1))  # of each object, to another
    if (nearest < too_long).mean() >= _MOST:
        stop = too_long
    elif (nearest < too_long / 2).mean() >= _FEW:
        stop = too_long / 2
    else:
        return None
    return fcluster(tree, lengths[lengths < stop][-1], "distance").astype(np.int64) - 1
