# SPDX-License-Identifier: BSD-3-Clause
"""The random objects of a model that separate the classes best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from d2ke._base.checks import integer
from d2ke._base.keywords import hinted
from d2ke._base.text import object_text
from d2ke.models.blocks import FittedFeatures
from d2ke.models.kmers import FittedKmers, KmerScores
from d2ke.models.model import D2KEModel, check_model
from d2ke.models.shapelets import Shapelet, Shapelets


@dataclass(frozen=True, eq=False)
class DiscriminativeObject:
    """A random object that a model listens to.

    Attributes
    ----------
    label : object
        The class that it supports; None for a regression.
    adds : float
        What an object adds to the decision value for the class, if its feature is one standard
        deviation above the mean: if it is nearer to the random object than most are. It
        may be negative for a regression.
    block : str
        Name of the block.
    index : int
        Its place in the random objects of the block.
    object : object
        Itself: a string, a set, a series or a `Shapelet`. For numbers and categories of
        records, a description of the feature.
    training_object : int or None
        The training object that it is, or was cut from, if there is one.
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
    """Return a random object in a few characters."""
    return str(item) if isinstance(item, Shapelet) else object_text(item)


def omega_text(item: Any, block: str, index: int, source: int | None) -> str:
    """Return the line that names a random object, and the training object that it is from."""
    text = repr(item_text(item)) if isinstance(item, str) else item_text(item)
    origin = "" if source is None else f", training object {source}"
    return f"{text}, {block}[{index}]{origin}"


@hinted
def discriminative_objects(model: D2KEModel, *, limit: int = 10) -> list[DiscriminativeObject]:
    """Return the random objects of the whole model that support each class most.

    A random object has a weight for each class and a feature, which is high for objects near to it.
    The first ones of a class have the largest weight times standard deviation of the
    feature: most of what the decisions differ in comes from them. `d2ke_explain` does the same for
    the prediction of one object.

    Parameters
    ----------
    model : D2KEModel
        What `d2ke_train` or `load_model` returned.
    limit : int, default 10
        How many are named for each class.

    Returns
    -------
    list of DiscriminativeObject
        Class by class in the order of ``model.classes``, the largest first; fewer if fewer
        support a class. For a regression, those of the largest size, of either sign.

    Raises
    ------
    TypeError
        If `model` is not what `d2ke_train` returns.

    Notes
    -----
    A model has thousands of random objects, and similar ones share a weight. So one alone adds
    little, and the list shows what they are about.

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
    labels, adds = model.task.support(_of_omegas(model))
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


def _of_omegas(model: D2KEModel) -> np.ndarray:
    """Return weights times deviations of random objects and single pieces, 0 for landmarks."""
    weighted, first = [], 0
    for block in model.blocks:
        of_block = slice(first, first + block.R)
        weights = model.linear.weights[:, of_block]
        if isinstance(block, KmerScores):
            weights = weights / model.scaling.divisor[of_block] @ block.weights.T
            weighted.append(weights * block.deviation)
        elif isinstance(block, FittedKmers):
            # A landmark stands for its pieces, which other landmarks have too, not for itself.
            weighted.append(np.zeros((len(weights), len(block.omega))))
        else:
            weighted.append(weights * model.deviation[of_block])
        first += block.R
    return np.hstack(weighted)


def source_of(block: FittedFeatures, index: int) -> int | None:
    """Return the training object that a random object is or was cut from, where it is known."""
    if block.sources is None:
        return None
    source = int(block.sources[index])
    if source < 0 and isinstance(block.omega, Shapelets):
        # Some kinds may be compared with the window's series; the others have the source.
        same = block.sources.reshape(len(block.omega.kinds), -1)[:, index % len(block.omega.places)]
        source = int(same.max())
    return source if source >= 0 else None
