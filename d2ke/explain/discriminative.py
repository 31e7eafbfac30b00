# SPDX-License-Identifier: BSD-3-Clause
"""The random objects of a model that separate the classes best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from d2ke._base.checks import integer
from d2ke._base.keywords import hinted
from d2ke._base.text import object_text
from d2ke.models.blocks import FittedFeatures, column_slices
from d2ke.models.kmers import FittedKmers, KmerScores
from d2ke.models.model import D2KEModel, check_model
from d2ke.models.shapelets import Shapelet, Shapelets


@dataclass(frozen=True, eq=False)
class DiscriminativeObject:
    """A random object with a large weight in a model.

    Attributes
    ----------
    label : object
        The class that it supports; None for a regression.
    adds : float
        Increase of the decision value for the class if the feature is one standard deviation above
        the mean, for an object nearer to the random object than most. It may be negative for a
        regression.
    block : str
        Name of the block.
    index : int
        Index among the random objects of the block.
    object : object
        The random object: a string, a set, a series or a `Shapelet`. For numbers and categories of
        records, a description of the feature.
    training_object : int or None
        The training object that it is or was cut from, if any.
    """

    label: Any
    adds: float
    block: str
    index: int
    object: Any
    training_object: int | None

    def __str__(self) -> str:
        label = "" if self.label is None else f"{self.label}: "
        text = omega_text(self.object, self.block, self.index, self.training_object)
        return f"{label}{self.adds:+.4f} {text}"


def item_text(item: Any) -> str:
    """Return a short text of a random object."""
    return str(item) if isinstance(item, Shapelet) else object_text(item)


def omega_text(item: Any, block: str, index: int, source: int | None) -> str:
    """Return a line that names a random object and its training object."""
    text = repr(item_text(item)) if isinstance(item, str) else item_text(item)
    origin = "" if source is None else f", training object {source}"
    return f"{text}, {block}[{index}]{origin}"


@hinted
def discriminative_objects(model: D2KEModel, *, limit: int = 10) -> list[DiscriminativeObject]:
    """Return the random objects of the whole model that support each class most.

    A random object has a weight for each class and a feature, which is high for objects near to it.
    Random objects are sorted by weight times standard deviation of the feature: the first ones
    contribute most to the differences between decisions. `d2ke_explain` does the same for the
    prediction of one object.

    Parameters
    ----------
    model : D2KEModel
        What `d2ke_train` or `load_model` returned.
    limit : int, default 10
        Largest number of random objects for each class.

    Returns
    -------
    list of DiscriminativeObject
        Class by class in the order of ``model.classes``, the largest first; fewer if fewer
        support a class. For a regression, the largest in absolute value.

    Raises
    ------
    TypeError
        If `model` is not what `d2ke_train` returns.

    Notes
    -----
    A model has thousands of random objects, and similar ones share a weight. So each of them adds
    little, and the list is a sample of what the model uses.

    Examples
    --------
    >>> import d2ke
    >>> model = d2ke.d2ke_train(["x", "y"] * 9, ["aab", "bba"] * 9, R=32)
    >>> found = d2ke.explain.discriminative_objects(model, limit=2)
    >>> [one.label for one in found]
    ['x', 'x', 'y', 'y']
    >>> all(one.adds > 0 for one in found)
    True
    """
    check_model(model)
    integer("limit", limit, 1)
    labels, adds = model.task.support(_weighted_deviations(model))
    edges, result = np.cumsum([0, *(len(block.omega) for block in model.blocks)]), []
    for label, row in zip(labels, adds, strict=True):
        for j in np.argsort(-np.abs(row), kind="stable")[:limit].tolist():
            if not row[j]:
                break
            number = int(np.searchsorted(edges, j, side="right")) - 1
            block, index = model.blocks[number], j - int(edges[number])
            item, source = block.omega[index], source_of(block, index)
            result.append(
                DiscriminativeObject(label, float(row[j]), block.name, index, item, source)
            )
    return result


def _weighted_deviations(model: D2KEModel) -> np.ndarray:
    """Return weights times deviations of random objects and single pieces, 0 for landmarks."""
    weighted = []
    for block, columns in column_slices(model.blocks):
        weights = model.linear.weights[:, columns]
        if isinstance(block, KmerScores):
            weights = weights / model.scaling.divisor[columns] @ block.weights.T
            weighted.append(weights * block.deviation)
        elif isinstance(block, FittedKmers):
            # The weight of a landmark is for its pieces, which are in other landmarks too.
            weighted.append(np.zeros((len(weights), len(block.omega))))
        else:
            weighted.append(weights * model.deviation[columns])
    return np.hstack(weighted)


def source_of(block: FittedFeatures, index: int) -> int | None:
    """Return the training object that a random object is or was cut from, or None."""
    if block.sources is None:
        return None
    source = int(block.sources[index])
    if source < 0 and isinstance(block.omega, Shapelets):
        # The source is stored for some kinds of distances of a window only.
        same = block.sources.reshape(len(block.omega.kinds), -1)[:, index % len(block.omega.places)]
        source = int(same.max())
    return source if source >= 0 else None
