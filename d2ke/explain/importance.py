# SPDX-License-Identifier: BSD-3-Clause
"""Permutation importance of the parts of a model, by the parts of its decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.checks import choice, generator, integer
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.labels import check_order
from d2ke.learners.ridge import decompose
from d2ke.models.blocks import FittedFeatures
from d2ke.models.model import D2KEModel, check_model
from d2ke.models.tasks import Task

_ATTRIBUTES = {"family": "family", "block": "name", "column": "column"}
_REPEATS = 5


class Importance(NamedTuple):
    """The importance of a group of random objects.

    Attributes
    ----------
    name : str
        Name of the family, block or column.
    drop : float
        Loss of accuracy in percent, or of R^2, when the features of the group are permuted.
    error : float
        Standard error of `drop`, over objects.
    """

    name: str
    drop: float
    error: float


@hinted
def d2ke_importance(
    y: Sequence[Any] | np.ndarray,
    X: Any,
    model: D2KEModel,
    *,
    by: str = "family",
    repeats: int = _REPEATS,
    seed: Any = 0,
    n_threads: int | None = None,
) -> list[Importance]:
    """Measure how much worse predictions become without the features of each family of blocks.

    The features of one group at a time are permuted among the objects; all other features stay.

    Parameters
    ----------
    y : sequence of length n
        Labels of the objects, at best not the training objects, which the model has
        fitted already.
    X : Objects or what `pack` takes
        n objects of the kind that the model was trained on, at least 2.
    model : D2KEModel
        What `d2ke_train` or `load_model` returned.
    by : {"family", "block", "column"}, default "family"
        Groups that are permuted together: blocks of one family, each block alone, or, for records,
        all blocks of a column. Blocks of one name are one.
    repeats : int, default 5
        Number of permutations of each group.
    seed : int, SeedSequence or Generator, default 0
        Seed of the permutations.
    n_threads : int, optional
        Threads to use; None for all that this process may use.

    Returns
    -------
    list of Importance
        Name, drop and standard error of each group; the largest drop first. If several groups have
        the same information, each has a small drop.

    Raises
    ------
    TypeError, ValueError
        As `d2ke_predict`.

    Notes
    -----
    Features are computed once. A decision is a sum of one part for each group, and these parts are
    permuted.

    References
    ----------
    Breiman, "Random forests", Machine Learning 45, 2001; Fisher, Rudin, Dominici, "All models are
    wrong, but many are useful", Journal of Machine Learning Research 20, 2019.

    Examples
    --------
    >>> from functools import partial
    >>> import d2ke
    >>> from d2ke.samplers import segments
    >>> start = partial(d2ke.views.part, start=0.0, stop=0.5)
    >>> end = partial(d2ke.views.part, start=0.5, stop=1.0)
    >>> blocks = [
    ...     d2ke.Block("start", "levenshtein", segments, 32, (start,)),
    ...     d2ke.Block("end", "levenshtein", segments, 32, (end,)),
    ... ]
    >>> y, X = ["a", "a", "b", "b"] * 9, ["aaacdc", "aaadcd", "bbbdcd", "bbbcdc"] * 9
    >>> model = d2ke.d2ke_train(y, X, blocks=blocks)
    >>> table = d2ke.d2ke_importance(y, X, model, by="block")
    >>> [(one.name, one.drop > 10) for one in table]
    [('start', True), ('end', False)]
    """
    check_model(model, "d2ke_importance")
    choice("by", by, tuple(_ATTRIBUTES))
    integer("repeats", repeats, 1)
    if n_threads is not None:
        integer("n_threads", n_threads, 1)
    check_order(X, y=y)
    objects = model.check_objects(X)
    true, offset = model.task.truth(y, len(objects)), model.linear.bias
    assert offset is not None
    if len(objects) < 2:
        raise ArgumentError("X", "has less than two objects: there is nothing to permute")
    groups = columns_of(model.blocks, by)
    terms = {name: np.empty((len(objects), len(model.linear.weights))) for name in groups}
    for rows, Z in model.feature_map.by_blocks(objects, n_threads):
        for name, columns in groups.items():
            terms[name][rows] = Z[:, columns] @ model.linear.weights[:, columns].T
    return importance(terms, offset, true, model.task, repeats, seed)


def columns_of(blocks: Sequence[FittedFeatures], by: str) -> dict[str, np.ndarray]:
    """Return the columns of the features of each group of blocks."""
    names = [getattr(block, _ATTRIBUTES[by]) or block.name for block in blocks]
    groups = np.repeat(names, [block.R for block in blocks])
    return {name: np.flatnonzero(groups == name) for name in dict.fromkeys(names)}


def importance(
    terms: dict[str, np.ndarray],
    offset: np.ndarray,
    true: np.ndarray,
    task: Task,
    repeats: int,
    seed: Any,
) -> list[Importance]:
    """Return the importance of each group of features, the largest first.

    `terms` are the groups' terms of the decision values, without `offset`.
    """
    decisions = sum(terms.values()) + offset
    rng, before, results = generator(seed), task.losses(decisions, true), []
    for name, term in terms.items():
        permuted = (term[rng.permutation(len(term))] for _ in range(repeats))
        after = [task.losses(decisions - term + other, true) for other in permuted]
        drops = np.mean(after, axis=0) - before
        error = drops.std() / np.sqrt(len(drops))
        results.append(Importance(name, float(drops.mean()), float(error)))
    return sorted(results, key=lambda entry: -entry.drop)


def importance_by_halves(
    Z: np.ndarray, labels: np.ndarray, model: D2KEModel, by: str, n_threads: int | None
) -> list[Importance]:
    """Return the importance for training objects, given by their scaled features.

    A model of each half, with the same C, is tested on the opposite half.
    """
    task, true = model.task, model.task.truth(labels, len(labels))
    T = task.to_decisions(task.dense_targets(task.encode(labels, len(labels))))
    by_name: dict[str, list[Importance]] = {}
    halves = np.array_split(np.random.default_rng(0).permutation(len(Z)), 2)
    for train, rest in (halves, halves[::-1]):
        ridge, _ = decompose(Z[train], T[train], np.ones(model.R), n_threads)
        weights, offset = ridge.weights(model.C)
        new = Z[rest] - ridge.mean
        groups = columns_of(model.blocks, by)
        terms = {name: new[:, cols] @ weights[:, cols].T for name, cols in groups.items()}
        for entry in importance(terms, offset, true[rest], task, _REPEATS, 0):
            by_name.setdefault(entry.name, []).append(entry)
    both = [
        Importance(name, (a.drop + b.drop) / 2, float(np.hypot(a.error, b.error)) / 2)
        for name, (a, b) in by_name.items()
    ]
    return sorted(both, key=lambda entry: -entry.drop)
