# SPDX-License-Identifier: BSD-3-Clause
"""Agreement of a clustering with known classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2ke._base import labels as class_labels
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted


@hinted
def clustering_accuracy(y: Sequence[Any] | np.ndarray, labels: Sequence[Any] | np.ndarray) -> float:
    """Compute the accuracy for the best matching of clusters to classes.

    Each cluster is matched with at most one class, and each class with at most one cluster. The
    Hungarian method finds the matching with the most matching objects.

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
    >>> d2ke.discriminative.clustering_accuracy(["a", "a", "b", "b"], [1, 1, 1, 0])
    0.75
    """
    from scipy.optimize import linear_sum_assignment  # slow to import

    counts = _contingency(y, labels)
    matched = linear_sum_assignment(counts, maximize=True)
    return float(counts[matched].sum() / counts.sum())


@hinted
def normalized_mutual_information(
    y: Sequence[Any] | np.ndarray, labels: Sequence[Any] | np.ndarray
) -> float:
    """Compute the mutual information of two labellings over the mean of their entropies.

    I(y; labels) / ((H(y) + H(labels)) / 2). It is 1 for two labellings with one label each.

    Parameters
    ----------
    y : sequence of length n
        Known classes, of any one type.
    labels : sequence of length n
        Clusters, of any one type.

    Returns
    -------
    float
        Between 0 and 1; 1 for equal partitions.

    Raises
    ------
    TypeError, ValueError
        Not one-dimensional sequences of labels of equal length, at least one.

    References
    ----------
    Strehl, Ghosh, "Cluster ensembles: a knowledge reuse framework for combining multiple
    partitions", JMLR 3, 2002; with the arithmetic mean instead of the geometric one.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.discriminative.normalized_mutual_information([0, 0, 1, 1], ["x", "x", "y", "y"])
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


def _contingency(y: Sequence[Any] | np.ndarray, labels: Sequence[Any] | np.ndarray) -> np.ndarray:
    classes, codes = class_labels.encode_labels("y", y)
    clusters, cluster_codes = class_labels.encode_labels("labels", labels)
    if len(codes) != len(cluster_codes):
        raise ArgumentError("y", f"has {len(codes)} labels, but labels has {len(cluster_codes)}")
    counts = np.zeros((len(classes), len(clusters)), np.int64)
    np.add.at(counts, (codes, cluster_codes), 1)
    return counts
