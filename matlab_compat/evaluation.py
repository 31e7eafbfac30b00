# SPDX-License-Identifier: BSD-3-Clause
"""Folds and measures: `crossvalind`, `cvpartition`, `confusionmat`, `perfcurve`, `zscore`."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from matlab_compat._cells import column, numbers, positive, scalar, vector, whole
from matlab_compat._outputs import Outputs
from matlab_compat.random import randperm


@hinted
def zscore(X: Any, flag: int = 0, dim: int | None = None) -> np.ndarray:
    """Standardise to mean 0 and deviation 1.

    Parameters
    ----------
    X : array_like
        Numbers.
    flag : {0, 1}
        1 divides by n instead of n - 1.
    dim : int, optional
        From 1; by default the first dimension of more than one entry.

    Returns
    -------
    ndarray
        Of X's shape; entries that are all equal give 0.

    Raises
    ------
    TypeError, ValueError
        A wrong flag or dimension.

    Examples
    --------
    >>> zscore([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    array([[-1.,  0.], [ 0.,  0.], [ 1.,  0.]])
    """
    X = numbers("X", X)
    if dim is None:
        axis = next((i for i, length in enumerate(X.shape) if length != 1), 0)
    else:
        axis = whole("dim", dim, 1, X.ndim) - 1
    ddof = 1 - whole("flag", flag, 0, 1) if X.shape[axis] > 1 else 0
    sd = X.std(axis=axis, ddof=ddof, keepdims=True)
    return (X - X.mean(axis=axis, keepdims=True)) / np.where(sd == 0, 1, sd)


@hinted
def confusionmat(group: Any, grouphat: Any, *, Order: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Count the pairs of true and predicted classes.

    Parameters
    ----------
    group, grouphat : array_like, n x 1
        True and predicted labels. Pairs with NaN are left out.
    Order : array_like, optional
        The classes in the order of rows and columns; by default numbers rise, and texts come as
        they first appear.

    Returns
    -------
    C : ndarray of int, classes x classes
        C[i, j] objects of class i were predicted as class j.
    order : ndarray, classes x 1
        The classes.

    Raises
    ------
    ValueError
        Different lengths; an order without some of the classes.

    Examples
    --------
    >>> C, order = confusionmat([1, 1, 2, 2], [1, 2, 2, 2])
    >>> C, order.ravel()
    (array([[1, 1], [0, 2]]), array([1, 2]))
    """
    true, predicted = vector("group", group), vector("grouphat", grouphat)
    if len(true) != len(predicted):
        raise ArgumentError("grouphat", f"has {len(predicted)} labels, but group has {len(true)}")
    of_numbers = {values.dtype.kind in "biuf" for values in (true, predicted)}
    if len(of_numbers) > 1:
        raise ArgumentTypeError("grouphat", "must hold numbers or texts, whichever group holds")
    both = np.concatenate([true, predicted])
    labelled = both == both  # not NaN
    if Order is None:
        order, first = np.unique(both[labelled], return_index=True)
        if both.dtype.kind not in "biuf":  # texts as they first appear
            order = both[labelled][np.sort(first)]
    else:
        order = vector("Order", Order)
    code = {label: i for i, label in enumerate(order.tolist())}
    lacking = set(both[labelled].tolist()) - set(code)
    if lacking:
        raise ArgumentError("Order", f"lacks the class {min(lacking)!r}")
    C = np.zeros((len(order), len(order)), int)
    for a, b in zip(true.tolist(), predicted.tolist(), strict=True):
        if a in code and b in code:
            C[code[a], code[b]] += 1
    return Outputs("confusionmat", C=C, order=column(order))


def _labels(name: str, N: Any) -> np.ndarray:
    """Return the labels of a stratified division, or N equal ones."""
    N = scalar(N)
    return np.zeros(whole(name, N, 1), int) if np.ndim(N) == 0 else vector(name, N)


def _folds(labels: np.ndarray, k: int) -> np.ndarray:
    """Draw the folds 1 to k, equal but for one object, in which each class has its share."""
    order = randperm(len(labels)).ravel() - 1
    order = order[np.argsort(labels[order], kind="stable")]
    folds = np.empty(len(labels), int)
    folds[order] = randperm(k).ravel()[np.arange(len(labels)) % k]
    return folds


def _held_out(name: str, labels: np.ndarray, p: Any) -> np.ndarray:
    """Draw a share p of each class, or p objects."""
    p, n = positive(name, p), len(labels)
    held = np.zeros(n, bool)
    if p >= 1:
        held[randperm(n).ravel()[: whole(name, p, 1, n - 1)] - 1] = True
        return held
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        held[members[randperm(len(members)).ravel()[: round(p * len(members))] - 1]] = True
    return held


@hinted
def crossvalind(method: str, N: Any, K: float | None = None) -> Any:
    """Draw folds, or a part to hold out, from the generator that `rng` seeds.

    Parameters
    ----------
    method : {"KFold", "HoldOut", "LeaveMOut"}
        In capitals or not.
    N : int or array_like, n x 1
        Number of objects; or their labels, of which each part then has its share.
    K : float, optional
        Number of folds (5), the share to hold out (0.5), or the number to leave out (1).

    Returns
    -------
    ndarray of int, n x 1
        Of "KFold": the folds, 1 to K.
    train, test : ndarray of bool, n x 1
        Of the others.

    Raises
    ------
    TypeError, ValueError
        Another method; a number out of range.

    Examples
    --------
    >>> from matlab_compat import rng
    >>> _ = rng("default")
    >>> np.bincount(crossvalind("KFold", 10, 3).ravel())
    array([0, 4, 3, 3])
    """
    kind = choice("method", str(method).lower(), ("kfold", "holdout", "leavemout"))
    labels = _labels("N", N)
    if kind == "kfold":
        return column(_folds(labels, whole("K", 5 if K is None else K, 1)))
    if kind == "leavemout":
        test = _held_out("K", np.zeros(len(labels), int), whole("K", 1 if K is None else K, 1))
    else:
        test = _held_out("K", labels, 0.5 if K is None else K)
    return Outputs("crossvalind", train=column(~test), test=column(test))


class cvpartition:  # noqa: N801 (MATLAB's name)
    """Divisions into training and test objects, drawn from the generator that `rng` seeds.

    Parameters
    ----------
    N : int or array_like, n x 1
        Number of objects; or their labels, of which each part then has its share.
    method : {"KFold", "HoldOut", "LeaveOut", "Resubstitution"}
        In capitals or not.
    value : float, optional
        Number of folds (10); of "HoldOut" the share (0.1), or the number of test objects.

    Attributes
    ----------
    NumObservations, NumTestSets : int
    TrainSize, TestSize : ndarray of int, 1 x NumTestSets

    Examples
    --------
    >>> c = cvpartition(["a", "a", "a", "a", "b", "b"], "KFold", 2)
    >>> c.NumTestSets, c.TestSize
    (2, array([[3, 3]]))
    >>> c.test(1).shape, int(c.training(1).sum())
    ((6, 1), 3)
    """

    def __init__(self, N: Any, method: str, value: float | None = None):
        kinds = ("kfold", "holdout", "leaveout", "resubstitution")
        kind = choice("method", str(method).lower(), kinds)
        labels = _labels("N", N)
        n = self.NumObservations = len(labels)
        if kind == "kfold":
            k = whole("value", 10 if value is None else value, 2, n)
            folds = _folds(labels, k)
            self._test = folds[None] == np.arange(1, k + 1)[:, None]
        elif kind == "holdout":
            self._test = _held_out("value", labels, 0.1 if value is None else value)[None]
        else:
            self._test = np.eye(n, dtype=bool) if kind == "leaveout" else np.ones((1, n), bool)
        self._training = self._test if kind == "resubstitution" else ~self._test
        self.NumTestSets = len(self._test)
        self.TestSize = self._test.sum(axis=1)[None]
        self.TrainSize = self._training.sum(axis=1)[None]

    def training(self, i: int = 1) -> np.ndarray:
        """Return which objects train in division i, from 1: n x 1."""
        return column(self._training[whole("i", i, 1, self.NumTestSets) - 1])

    def test(self, i: int = 1) -> np.ndarray:
        """Return which objects test in division i, from 1: n x 1."""
        return column(self._test[whole("i", i, 1, self.NumTestSets) - 1])


@hinted
def perfcurve(
    labels: Any, scores: Any, posclass: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Compute the ROC curve.

    Parameters
    ----------
    labels : array_like, n x 1
        True classes.
    scores : array_like, n x 1
        High ones are evidence for `posclass`.
    posclass : int, float or str
        The positive class; all others are negative.

    Returns
    -------
    X, Y : ndarray, m x 1
        The false and the true positive rate, of no objects and then down to each distinct score.
    T : ndarray, m x 1
        The scores; the highest is there twice.
    AUC : float
        The area under the curve.

    Raises
    ------
    ValueError
        Different lengths; only one class; a score that is NaN.

    Examples
    --------
    >>> X, Y, T, AUC = perfcurve([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.9], 1)
    >>> X.ravel(), Y.ravel(), AUC
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]), 0.75)
    """
    in_class = vector("labels", labels) == posclass
    values = numbers("scores", vector("scores", scores))
    if len(values) != len(in_class):
        raise ArgumentError("scores", f"has {len(values)} entries, labels {len(in_class)}")
    if np.isnan(values).any():
        raise ArgumentError("scores", "must not be NaN")
    if in_class.all() or not in_class.any():
        raise ArgumentError("posclass", "must be the class of some labels, but not of all")
    thresholds, code = np.unique(-values, return_inverse=True)
    rates = [
        np.append(0, np.bincount(code[side], minlength=len(thresholds)).cumsum()) / side.sum()
        for side in (~in_class, in_class)
    ]
    X, Y = rates
    T = -np.append(thresholds[0], thresholds)
    AUC = float((np.diff(X) * (Y[1:] + Y[:-1]) / 2).sum())
    return Outputs("perfcurve", X=column(X), Y=column(Y), T=column(T), AUC=AUC)
