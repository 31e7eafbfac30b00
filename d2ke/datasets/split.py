# SPDX-License-Identifier: BSD-3-Clause
"""Random division into training and test objects, and scaling fitted on the training part."""

from __future__ import annotations

import numbers
from fractions import Fraction
from typing import Any

import numpy as np

from d2ke._base.checks import choice, generator, integer, positive_number
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.rounding import plain_deviations
from d2ke.embedding.scaling import moments
from d2ke.objects.compatibility import refuse_missing
from d2ke.objects.container import Objects, fields_of, objects_of


def train_size(n: int, *, fraction: float = 0.7, rounding: str = "floor") -> int:
    """Return how many of `n` objects the training part has.

    Parameters
    ----------
    n : int
        Number of objects, at least 2.
    fraction : float, default 0.7
        The share of the training part, between 0 and 1, as the decimal number that is written: 0.7
        of 10 is exactly 7.
    rounding : {"floor", "round"}, default "floor"
        ``"floor"`` rounds fraction * n down, ``"round"`` rounds to the nearest integer, halves
        upwards.

    Returns
    -------
    int
        The size of the training part; the test part has the other objects.

    Raises
    ------
    ValueError
        If an argument is out of range, or one of the two parts would be empty.

    Examples
    --------
    >>> train_size(2565), train_size(484, rounding="round")
    (1795, 339)
    """
    n = integer("n", n, 2)
    fraction = positive_number("fraction", fraction)
    if fraction >= 1:
        raise ValueError(f"fraction must be between 0 and 1, got {fraction}")
    choice("rounding", rounding, ("floor", "round"))
    # 0.7 is slightly less than 7/10 in binary; its shortest decimal form is exact.
    share = Fraction(repr(fraction)) * n
    size = int(share if rounding == "floor" else share + Fraction(1, 2))
    if not 0 < size < n:
        subset = "training" if size == 0 else "test"
        raise ValueError(f"fraction {fraction} of {n} objects leaves the {subset} part empty")
    return size


@hinted
def train_test_split(
    n_or_labels: Any, *, fraction: float = 0.7, rounding: str = "floor", seed: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Divide objects at random into a training and a test part.

    The paper's rule: a random permutation that ignores the classes, 70 % of the objects for
    training, rounded down for series and strings and to the nearest integer for images.

    Parameters
    ----------
    n_or_labels : int or sized
        Number of objects, or anything with that length, such as the labels.
    fraction : float, default 0.7
        The share of the training part, between 0 and 1.
    rounding : {"floor", "round"}, default "floor"
        How fraction * n becomes an integer, see `train_size`.
    seed : int, SeedSequence or Generator
        Random seed. The same integer gives the same division.

    Returns
    -------
    train, test : ndarray of int64
        The indices of the two parts, in random order: the first m of either are a random sample
        of it. Together they hold each of 0 to n-1 once.

    Raises
    ------
    TypeError
        If `n_or_labels` is neither an integer nor sized.
    ValueError
        If there are fewer than 2 objects, or an argument is out of range.

    References
    ----------
    .. [1] L. Wu, I. E. H. Yen, F. Xu, P. Ravikumar and M. Witbrock, "D2KE: From Distance to
       Kernel and Embedding", 2018, section 5.

    Examples
    --------
    >>> train, test = train_test_split(10, seed=0)
    >>> len(train), len(test)
    (7, 3)
    """
    if isinstance(n_or_labels, numbers.Number) or not hasattr(n_or_labels, "__len__"):
        n = integer("n_or_labels", n_or_labels, 2)
    else:
        n = integer("the length of n_or_labels", len(n_or_labels), 2)
    size = train_size(n, fraction=fraction, rounding=rounding)
    order = generator(seed).permutation(n)
    return order[:size], order[size:]


@hinted
def standardize(train: Objects, *others: Objects) -> tuple[Objects, ...]:
    """Give every channel mean 0 and standard deviation 1 over the training objects.

    Mean and standard deviation are those of all elements (time steps, set members) of all
    training objects together, whatever their weights, in float64; the other objects are scaled by
    the same numbers. A channel that is constant over the training objects, to rounding, is only
    centred.

    Parameters
    ----------
    train : Objects
        Series or sets, with at least one element altogether.
    *others : Objects
        Further objects of the same kind, such as the test part.

    Returns
    -------
    tuple of Objects
        `train` and each of `others`, scaled, with their dtypes, weights and ids.

    Raises
    ------
    TypeError
        If an argument is not an `Objects` of series or sets.
    ValueError
        If `train` has no elements, or the numbers of channels differ.

    Examples
    --------
    >>> import numpy as np
    >>> from d2ke.objects.packing import pack
    >>> train, test = standardize(pack([np.array([[1.0], [3.0]])]), pack([np.array([[5.0]])]))
    >>> train[0].ravel(), test[0].ravel()
    (array([-1.,  1.]), array([3.]))
    """
    for position, objects in enumerate((train, *others)):
        name = "train" if position == 0 else f"others[{position - 1}]"
        if not isinstance(objects, Objects):
            raise ArgumentTypeError(
                name, f"must be Objects, got {type(objects).__name__}; pack it first"
            )
        if objects.kind == "strings":
            raise ArgumentTypeError(
                name, f"holds {objects.kind}; only series and sets can be scaled"
            )
        refuse_missing(objects, name)
        if objects.dim != train.dim:
            raise ArgumentError(name, f"has {objects.dim} channels, but train has {train.dim}")
    if len(train.values) == 0:
        raise ValueError("train has no elements; at least one is needed")
    mean, deviation, largest = moments(train.values)
    deviation = plain_deviations(deviation, largest, train.dtype)
    return tuple(
        objects_of(
            fields_of(objects)._replace(
                values=((objects.values - mean) / deviation).astype(objects.dtype)
            )
        )
        for objects in (train, *others)
    )
