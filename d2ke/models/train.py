# SPDX-License-Identifier: BSD-3-Clause
"""Training: labelled objects in, one model out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np

from d2ke._base import labels
from d2ke._base.checks import choice, flag, integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.memory import check_fits
from d2ke.distances.registry import find_distance, usual_distance
from d2ke.embedding.scaling import Scaling, moments
from d2ke.learners.linear_model import LinearModel, one_vs_rest_signs, winners
from d2ke.learners.losses import HINGE_FROM
from d2ke.model_selection.leave_one_out import RidgePath
from d2ke.models.blocks import Block, fit_blocks
from d2ke.models.hinge import better_by_hinge
from d2ke.models.model import D2KEModel
from d2ke.models.recipes import default_blocks
from d2ke.objects.container import Objects
from d2ke.objects.packing import as_objects, list_of

_LEAST_DEVIATION = 1e-140  # of the targets of a regression
COSTS = tuple(10.0 ** (np.arange(-2, 13) / 2))


def d2ke_train(
    y: Sequence[Any] | np.ndarray,
    X: Any,
    *,
    blocks: Sequence[Block] | None = None,
    distance: str | Callable[..., float] | Sequence[Any] | None = None,
    R: int | None = None,
    task: str | None = None,
    seed: Any = 0,
    n_threads: int | None = None,
    progress: bool = False,
    **params: Any,
) -> D2KEModel:
    """Train a model that predicts the labels of objects from their distances to random objects.

    Every block of the model is a D2KE kernel: a view of the objects, a distance, random objects
    drawn from the training objects. Features of all blocks side by side, standardised, go to a
    linear model with the squared loss. Nothing needs to be chosen: each kind of objects has one
    recipe of blocks, gamma is 1 over the median distance to each random object, and C is chosen by
    leaving out each training object in turn. With four times as many objects as features, or more,
    the squared hinge loss is tried too, and taken if it is clearly better on every fifth object.

    Parameters
    ----------
    y : sequence of length n
        Class labels of any one type; floats that are not whole numbers are the targets of a
        regression.
    X : Objects or what `pack` takes
        n labelled objects: series, strings, or sets of vectors.
    blocks : sequence of Block, optional
        The blocks; by default those of the recipe for the kind of objects.
    distance : str or callable, or a list of them, optional
        By default ``"levenshtein"`` for strings and ``"dtw"`` for vectors, which are then series.
        ``"mhd"`` and other distances of sets say that they are sets. For a Python function, X may
        be a sequence of anything, and random objects are training objects. Several distances, such
        as ``["dtw", "msm", "twe"]``, share R, side by side in one model.
    R : int, optional
        Number of random objects of all blocks together; by default 4000 for series, 1536 to
        4096 (n / 10) for strings, 4096 for sets, and 512 for a Python function.
    task : {"classification", "regression"}, optional
        What y is, where it can be either.
    seed : int, SeedSequence or Generator, default 0
        Where the randomness comes from. Equal seeds give equal models, up to rounding.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool
        Show progress bars (on a terminal only).
    **params
        Parameters of the distance.

    Returns
    -------
    D2KEModel
        ``print(model)`` says what was done.

    Warns
    -----
    UserWarning
        If the cross-validated accuracy is not above the share of the largest class: nothing was
        learned.

    Raises
    ------
    TypeError, ValueError
        Labels or objects of a wrong kind, of different numbers, one class only, an unknown
        distance or parameter.
    MemoryError
        If the call would take more than there is; see docs/memory.md.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and Embedding", 2018,
    Algorithm 1, for each block.

    Examples
    --------
    >>> import d2ke
    >>> y = ["odd", "even", "odd", "even"] * 5
    >>> X = ["abab", "aabb", "ababab", "aaabbb"] * 5
    >>> model = d2ke.d2ke_train(y, X, R=64)
    >>> labels, accuracy, decisions = d2ke.d2ke_predict(None, ["ababa", "aabbb"], model)
    >>> labels.tolist()
    ['odd', 'even']
    """
    n_threads = None if n_threads is None else integer("n_threads", n_threads, 1)
    flag("progress", progress)
    if blocks is not None:
        if distance is not None or R is not None or params:
            raise ArgumentTypeError("blocks", "have distances, parameters and sizes of their own")
        if not isinstance(blocks, (list, tuple)):
            raise ArgumentTypeError(
                "blocks", f"must be a list of Block, got {type(blocks).__name__}"
            )
        if not blocks:
            raise ArgumentError("blocks", "is empty; at least one is needed")
        for i, block in enumerate(blocks):
            if not isinstance(block, Block):
                raise ArgumentTypeError("blocks", f"must be a Block, got {type(block).__name__}", i)
        distances = [block.distance for block in blocks]
    elif isinstance(distance, (list, tuple)):
        if not distance:
            raise ArgumentError("distance", "is an empty list; at least one is needed")
        for i, one in enumerate(distance):
            if not (isinstance(one, str) or callable(one)):
                raise ArgumentTypeError("distance", f"must be a name or a function, got {one!r}", i)
        distances = list(distance)
    else:
        distances = [distance]
    objects = _packed(X, distances)
    target = Target.of(y, task)
    labels.same_length("y", target.values, "X", len(objects))
    if blocks is None:
        if R is not None:
            integer("R", R, 1)
        blocks = default_blocks(objects, distance, params, R)
    n, total = len(objects), sum(map(attrgetter("R"), blocks))
    check_fits(
        20 * n * total + 56 * min(n, total) ** 2,
        f"training with {n} objects and {total} features",
        "take fewer training objects, or a smaller R",
    )
    started = time.perf_counter()
    fitted, Z = fit_blocks(blocks, objects, seed, n_threads, progress)
    seconds = {"distances": time.perf_counter() - started}
    scaling = Scaling.of_moments(*moments(Z), "standard")
    scaling.scale(Z, Z)
    path = RidgePath.of(Z, target.signs, n_threads)
    C, left_out = _choose(path, target)
    scores = target.score(left_out)
    weights, offsets = path.weights(C)
    linear = LinearModel(weights, offsets, target.classes, 11, f"-s 11 -p 0 -c {C!r} -B 1")
    if target.classes is not None and n >= HINGE_FROM * Z.shape[1]:
        del path
        found = better_by_hinge(Z, target.values, C, n_threads)
        if found is not None:
            linear, C, held, decision = found
            linear = replace(linear, classes=target.classes)
            scores = target.score(decision, held)
    seconds["model"] = time.perf_counter() - started - seconds["distances"]
    packed = isinstance(objects, Objects)
    accuracy, error, confusion = scores
    largest = float("nan")
    if target.classes is not None:
        largest = 100.0 * float(np.bincount(target.values).max()) / n
    model = D2KEModel(
        blocks=fitted,
        scaling=scaling,
        linear=linear,
        kind=objects.kind if packed else "any",
        channels=objects.dim if packed and objects.kind == "vectors" else 0,
        alphabet=objects.alphabet if packed else None,
        letters=objects.letters if packed else None,
        C=C,
        accuracy=accuracy,
        accuracy_error=error,
        largest_class=largest,
        confusion=confusion,
        left_out=(),
        n_train=n,
        seconds=seconds,
    )
    _warn_if_nothing_learned(model)
    return model


def _packed(X: Any, distances: list[Any]) -> Any:
    """Pack objects that the distances can compare; for Python functions anything is an object."""
    if all(map(callable, distances)):
        return X if isinstance(X, Objects) else list_of("X", X)
    objects = as_objects("X", X)
    if not len(objects):
        raise ArgumentError("X", "is empty; at least two labelled objects are needed")
    for distance in distances:
        if distance is not None and not isinstance(distance, str):
            continue
        row = find_distance(usual_distance(objects.kind) if distance is None else distance)
        if row.kind != objects.kind:
            raise ArgumentTypeError(
                "distance", f"{row.name!r} is for {row.kind}, but X holds {objects.kind}"
            )
        short = np.flatnonzero(objects.lengths < row.shortest)
        if short.size:
            raise ArgumentError("X", f"is empty; {row.name!r} needs at least one vector", short[0])
    return objects


@dataclass(frozen=True, eq=False)
class Target:
    """The labels as a linear model with the squared loss sees them.

    Attributes
    ----------
    values : ndarray
        Codes of the classes, or real targets.
    signs : ndarray of float64, shape (n, k)
        What the model fits.
    classes : ndarray or None
        None for a regression.
    """

    values: np.ndarray
    signs: np.ndarray
    classes: np.ndarray | None

    @classmethod
    def of(cls, y: Any, task: str | None) -> Target:
        """Check labels; a regression has real ones, unless `task` says otherwise."""
        if y is None:
            raise ArgumentTypeError("y", "must be the labels of X, got None")
        if task is not None:
            choice("task", task, ("classification", "regression"))
        known = labels.label_array("y", y)
        if task is None:
            real = known.dtype.kind == "f" and (known != np.round(known)).any()
            task = "regression" if real else "classification"
        if task == "regression":
            values = labels.targets("y", known)
            if len(values) < 2 or (values == values[0]).all():
                raise ArgumentError("y", "holds one value only; a regression needs at least two")
            with np.errstate(over="ignore", invalid="ignore"):
                deviation = np.std(values)
            if not _LEAST_DEVIATION < deviation < 1 / _LEAST_DEVIATION:
                raise ArgumentError(
                    "y",
                    f"has values from {values.min()} to {values.max()}; float64 does not hold "
                    "the squares of their differences: multiply y by a number",
                )
            return cls(values, values[:, None], None)
        classes, codes = labels.encode_classes("y", known)
        return cls(codes, one_vs_rest_signs(codes, len(classes)), classes)

    def score(
        self, decision: np.ndarray, rows: Any = slice(None)
    ) -> tuple[float, float, np.ndarray | None]:
        """Return the accuracy in percent, its standard error, and the confusion matrix."""
        values = self.values[rows]
        n = len(values)
        if self.classes is None:
            squares = (decision[:, 0] - values) ** 2
            spread = np.var(values)
            return (
                100.0 * (1 - squares.mean() / spread),
                100.0 * float(squares.std() / spread / np.sqrt(n)),
                None,
            )
        predicted = winners(np.round(decision, 9))
        share = float((predicted == values).mean())
        confusion = np.zeros((len(self.classes),) * 2, np.int64)
        np.add.at(confusion, (values, predicted), 1)
        return 100.0 * share, 100.0 * float(np.sqrt(share * (1 - share) / n)), confusion


def _choose(path: RidgePath, target: Target) -> tuple[float, np.ndarray]:
    """Return the C whose left-out predictions are best, and these."""
    best = None
    for C in COSTS:
        decision = path.left_out(C)
        error = float(((decision - target.signs) ** 2).mean())
        n_correct = 0
        if target.classes is not None:
            # Rounded, so that ties up to rounding go to the first class.
            n_correct = int((winners(np.round(decision, 9)) == target.values).sum())
        if best is None or (n_correct, -error) > best[0]:
            best = (n_correct, -error), C, decision
    return float(best[1]), best[2]


def _warn_if_nothing_learned(model: D2KEModel) -> None:
    regression = model.linear.classes is None
    floor = 0.0 if regression else model.largest_class
    # Two standard errors: the best of many C looks better than it is.
    if model.accuracy > floor + 2 * model.accuracy_error:
        return
    reached = (
        f"R^2 is {model.accuracy / 100:.2f}"
        if regression
        else f"accuracy is {model.accuracy:.1f} %, and the largest class has {floor:.1f} %"
    )
    warnings.warn(
        f"little or nothing was learned: the cross-validated {reached}. Does the distance see "
        "what the labels are about? Try another distance=, blocks= of your own, or a larger R.",
        stacklevel=3,
    )
