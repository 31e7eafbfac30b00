# SPDX-License-Identifier: BSD-3-Clause
"""How far a clustering agrees with known classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from d2ke._base import labels as class_labels


def clustering_accuracy(y: Sequence | np.ndarray, labels: Sequence | np.ndarray) -> float:
    """Compute the share of objects in their class, clusters being matched to classes at best.

    Each cluster is matched to at most one class and each class to at most one cluster, such that
    the most objects agree (the Hungarian method).

    Parameters
    ----------
    y : sequence of length n
        Known classes, of any one type.
    labels : sequence of length n
        Clusters, of any one type.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    TypeError, ValueError
        Not one-dimensional sequences of labels of equal length, at least one.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.clustering_accuracy(["a", "a", "b", "b"], [1, 1, 1, 0])
    0.75
    """
    counts = _contingency(y, labels)
    matched = linear_sum_assignment(counts, maximize=True)
    return float(counts[matched].sum() / counts.sum())


def normalized_mutual_information(y: Sequence | np.ndarray, labels: Sequence | np.ndarray) -> float:
    """Compute the mutual information of two labellings over the mean of their entropies.

    I(y; labels) / ((H(y) + H(labels)) / 2). Two labellings with one label each count as equal: 1.

    Parameters
    ----------
    y : sequence of length n
        Known classes, of any one type.
    labels : sequence of length n
        Clusters, of any one type.

    Returns
    -------
    float
        Between 0 and 1, the latter for equal partitions.

    Raises
    ------
    TypeError, ValueError
        Not one-dimensional sequences of labels of equal length, at least one.

    References
    ----------
    Strehl, Ghosh, "Cluster ensembles: a knowledge reuse framework for combining multiple
    partitions", JMLR 3, 2002; with the arithmetic mean in place of the geometric one.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.normalized_mutual_information([0, 0, 1, 1], ["x", "x", "y", "y"])
    1.0
    """
    joint = _contingency(y, labels).astype(np.float64)
    joint /= joint.sum()
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    entropies = -(rows @ np.log(rows) + columns @ np.log(columns))
    if len(rows) == len(columns) == 1:
        return 1.0
    filled = joint > 0
    information = joint[filled] @ np.log((joint / np.outer(rows, columns))[filled])
    return float(np.clip(2 * information / entropies, 0.0, 1.0))


def _contingency(y: Sequence | np.ndarray, labels: Sequence | np.ndarray) -> np.ndarray:
    classes, codes = class_labels.encode_labels("y", y)
    clusters, found = class_labels.encode_labels("labels", labels)
    if len(codes) != len(found):
        raise ValueError(f"y has {len(codes)} labels, but labels has {len(found)}")
    counts = np.zeros((len(classes), len(clusters)), np.int64)
    np.add.at(counts, (codes, found), 1)
    return counts
