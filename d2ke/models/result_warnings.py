# SPDX-License-Identifier: BSD-3-Clause
"""Warnings of trained models that learned nothing, or that took numbers for classes."""

from __future__ import annotations

import warnings

import numpy as np

from d2ke._base.errors import warn
from d2ke.distances.registry import BY_NAME
from d2ke.models.model import D2KEModel

_MANY = 20  # classes, and errors in which an order can be seen


def warn_of_result(model: D2KEModel) -> None:
    """Warn of a model that learned nothing, and of classes that seem to be numbers to predict."""
    if model.multilabel:
        _warn_of_labels(model)
        return
    regression = model.linear.classes is None
    floor = 0.0 if regression else model.largest_class
    if model.accuracy > floor + 2 * model.accuracy_error:
        if _numbers_as_classes(model) and _errors_are_near(model.confusion):
            warn(
                f"y has {len(model.linear.weights)} different whole numbers, taken as classes, "
                "and wrong predictions are near the true numbers. If they are numbers to predict, "
                "say task='regression'"
            )
        return
    reached = (
        f"R^2 is {model.accuracy / 100:.2f}"
        if regression
        else f"accuracy is {model.accuracy:.1f} %, and the largest class has {floor:.1f} %"
    )
    advice = "Try another distance=, blocks= of your own, or a larger R."
    names = {block.distance for block in model.blocks if isinstance(block.distance, str)}
    rows = [BY_NAME[name] for name in sorted(names & BY_NAME.keys())]
    if scales := [f"{row.scale} of {row.name!r}" for row in rows if row.scale]:
        advice += f" Is {', '.join(scales)} in the units of the values?"
    if _numbers_as_classes(model):
        advice += " If the labels are numbers to predict, say task='regression'."
    warnings.warn(
        f"little or nothing was learned: the cross-validated {reached}. Does the distance see "
        f"what the labels are about? {advice}",
        stacklevel=3,
    )


def _warn_of_labels(model: D2KEModel) -> None:
    """Warn if as many labels would be right with the more frequent value of each everywhere."""
    assert model.confusion is not None
    n = model.confusion.sum()
    share = np.trace(model.confusion, axis1=1, axis2=2).sum() / n
    floor = model.confusion.sum(axis=2).max(axis=1).sum() / n
    if share <= floor + 2 * np.sqrt(share * (1 - share) / n):
        warnings.warn(
            f"little or nothing was learned: of the cross-validated labels {100 * share:.1f} % are "
            f"right, with the more frequent value of each {100 * floor:.1f} %. Does the distance "
            "see what the labels are about? Try another distance=, blocks= of your own, or a "
            "larger R.",
            stacklevel=4,
        )


def _numbers_as_classes(model: D2KEModel) -> bool:
    """Return whether the classes are many numbers."""
    classes = model.classes
    return classes is not None and classes.dtype.kind in "iuf" and len(classes) > _MANY


def _errors_are_near(confusion: np.ndarray | None) -> bool:
    """Return whether classes are taken for others of nearby rank, as numbers are, not names."""
    if confusion is None:
        return False
    wrong = confusion - np.diag(np.diag(confusion))
    n = wrong.sum()
    if n < _MANY:
        return False
    rank = np.arange(len(wrong))
    gaps = np.abs(rank[:, None] - rank)
    by_chance = wrong.sum(axis=1) @ gaps @ wrong.sum(axis=0) / n**2
    return bool((wrong * gaps).sum() / n < by_chance / 2)
