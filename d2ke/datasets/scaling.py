# SPDX-License-Identifier: BSD-3-Clause
"""Scaling of channels, fitted on the training objects."""

from __future__ import annotations

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.rounding import plain_deviations
from d2ke.embedding.scaling import moments
from d2ke.objects.compatibility import refuse_missing
from d2ke.objects.container import Objects, with_fields


@hinted
def standardize(train: Objects, *others: Objects) -> tuple[Objects, ...]:
    """Give every channel mean 0 and standard deviation 1 over the training objects.

    Mean and standard deviation are taken over all elements (time steps, set members) of all
    training objects, whatever their weights, in float64; `others` are scaled by the same
    numbers. A channel that is constant over the training objects, to rounding, is only
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
        if objects.has_letters:
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
        with_fields(objects, values=((objects.values - mean) / deviation).astype(objects.dtype))
        for objects in (train, *others)
    )
