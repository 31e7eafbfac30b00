# SPDX-License-Identifier: BSD-3-Clause
"""Near-copies among training objects, which are left out together where most objects have some.

Training sets hold records with typos, augmented or replicate data, and pieces of one recording. A
model that has seen a copy predicts the other too easily: leave-one-out errors then choose too large
a C, and the accuracy is too good. Names and words repeat by nature, and new ones do as well: equal
objects are no evidence, and where few objects have copies they are left out one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from d2ke.models.blocks import Groups
from d2ke.models.family_kernels import FamilyKernels
from d2ke.models.own_columns import OwnColumns

_MOST = 0.8  # least share of joined objects that means most are copies; of ordinary ones fewer are
_HALF = 0.5  # share of objects with a copy from which groups decide
_FEWEST = 3  # groups: without one of two, nothing is left to compare
_FEW = 0.1  # least share of objects in groups
_FEATURES = 64  # features, at least: with fewer, ordinary objects look like copies
_DIGITS = 9  # of squared lengths, whose mean is 2: the rest is rounding


@dataclass(frozen=True, eq=False)
class NearCopies:
    """Groups of near-copies among the training objects, and the accuracy by the rule not used.

    Attributes
    ----------
    rows : ndarray of int64, shape (m,)
        Rows of the objects that were compared: all training objects, or a sample of 4,096. Objects
        of weight 0 are not counted.
    groups : ndarray of int64, shape (m,)
        Codes of their groups. Most groups may have one object only.
    decide : bool
        Whether the groups were left out together: most objects have a near-copy that is not equal.
        Otherwise each object was left out alone.
    accuracy, accuracy_error : float
        Leave-one-out accuracy of the model's shares and C in percent, or R^2, and its standard
        error, by the other rule: one by one where the groups decide, else together; nan for models
        with features that are computed from labels.
    """

    rows: np.ndarray
    groups: np.ndarray
    decide: bool
    accuracy: float
    accuracy_error: float

    def report(self, model: Any) -> str:
        """Return how many near-copies a model found, and both accuracies if they differ."""
        sizes, n = np.bincount(self.groups), len(self.groups)
        several = sizes[sizes > 1]
        rules, meanings = ["together", "one by one"], ["objects unlike those in training"]
        if self.decide:
            meanings.append("further copies")
        else:
            rules.reverse()
            meanings.insert(0, "objects that repeat as these do")
        text = (
            f"{several.sum():,} of {'a sample of ' * (n < model.n_train)}{n:,} objects are "
            f"{'near-copies of' if self.decide else 'equal to or near-copies of'} another "
            f"({len(several):,} groups). Left out {rules[0]}: {model.task.result(model.accuracy)}"
        )
        errors = self.accuracy_error, model.accuracy_error
        if np.isnan(self.accuracy) or (
            self.decide and abs(self.accuracy - model.accuracy) <= max(errors)
        ):
            return f"{text}."
        return (
            f"{text}; {rules[1]}: {model.task.result(self.accuracy)}. The first holds for "
            f"{meanings[0]}, the second for {meanings[1]}."
        )


def near_copies(
    kernels: FamilyKernels, own_columns: OwnColumns, largest: Callable[[int], float]
) -> Groups | None:
    """Group near-copies by the features of a model's unsupervised blocks.

    Each family of blocks has the same share of the kernel. Of equal objects one is looked at. The
    edges of the minimum spanning tree of the kernel's distances are joined in rising order, up to
    the first length that makes a group larger than `largest`. One group of ordinary objects grows
    so large while few are joined; all near-copies are joined long before. So if four fifths of the
    objects or more are joined, these are the groups. Else only edges of less than half that length
    are joined. They decide if half of the objects or more are joined, and are reported if a tenth
    are; equal objects are reported if they are a tenth of all.

    Parameters
    ----------
    kernels : FamilyKernels
        Of training objects.
    own_columns : OwnColumns
        Of these objects. Raised, objects look far from each other, so they are hidden here.
    largest : callable
        ``largest(n)`` of n different objects may be in a group.

    Returns
    -------
    Groups or None
        None without near-copies.
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


def join(kernel: np.ndarray, largest: Callable[[int], float]) -> Groups | None:
    """Return the groups of n objects, or None; the kernel's upper triangle is read."""
    from scipy.cluster.hierarchy import fcluster, linkage

    n, diagonal = len(kernel), kernel.diagonal()
    squares = [diagonal[i] + diagonal[i + 1 :] - 2 * kernel[i, i + 1 :] for i in range(n - 1)]
    distances = np.sqrt(np.maximum(np.round(np.concatenate(squares), _DIGITS), 0))
    tree = linkage(distances, "single")
    lengths, is_leaf = tree[:, 2], tree[:, :2] < n
    if lengths[0] == 0:
        _, firsts, codes = np.unique(fcluster(tree, 0, "distance"), True, True)
        if len(firsts) < _FEWEST:
            return None
        order = np.argsort(firsts)  # the triangle needs it
        groups = join(kernel[np.ix_(firsts[order], firsts[order])], largest)
        codes = np.argsort(order)[codes]
        if groups is not None:
            return groups._replace(codes=groups.codes[codes])
        return Groups(codes, False) if (np.bincount(codes)[codes] > 1).mean() >= _FEW else None
    too_long = lengths[np.argmax(tree[:, 3] > largest(n))]
    nearest = np.repeat(lengths, is_leaf.sum(axis=1))  # of each object, to another
    stop = too_long if (nearest < too_long).mean() >= _MOST else too_long / 2
    joined = float((nearest < stop).mean())
    if joined < _FEW:
        return None
    longest = lengths[lengths < stop][-1]
    return Groups(fcluster(tree, longest, "distance").astype(np.int64) - 1, joined >= _HALF)
