# SPDX-License-Identifier: BSD-3-Clause
"""Training on dask collections: a sample, sums of products, one decomposition, scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from dask.base import compute, persist

from d2ke._base import labels
from d2ke._base.checks import choice, flag, integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.dask.partitions import is_frame, is_lazy, partitions_of
from d2ke.dask.prediction import label_parts
from d2ke.dask.workers import check_workers, later, shared, tree
from d2ke.learners.ridge import RidgeSums
from d2ke.models import train, training_inputs
from d2ke.models.blocks import AnyBlock, Block, entropy_of, sample_rows, take
from d2ke.models.calibration import rows_to_keep
from d2ke.models.labels import Labels, has_fractions, read_labels
from d2ke.models.model import D2KEModel
from d2ke.models.piece_scores import ROWS, fit_scores
from d2ke.models.plan import Solved, TrainingPlan, scores
from d2ke.models.recipes import beside_scores, default_blocks, feature_limit, scores_pieces
from d2ke.models.scores import LeftOutScores
from d2ke.models.tasks import Classes, Task
from d2ke.objects.container import Objects
from d2ke.objects.joining import concatenate
from d2ke.objects.tables import is_table


def d2ke_train(
    y: Any,
    X: Any,
    *,
    blocks: Sequence[Block] | None = None,
    distance: str | Callable[..., float] | Sequence[Any] | None = None,
    R: int | None = None,
    task: str | None = None,
    seed: Any = 0,
    keep_sums: bool = False,
    chunks: Any = None,
    n_threads: int = 1,
    **params: Any,
) -> D2KEModel:
    """Train a model on the workers; this process sees nothing but the model.

    The random objects and gammas have the bits of `d2ke.d2ke_train`: they come from a sample of
    rows that the seed and the number of objects determine. Sums of products are added over
    partitions, one worker decomposes them, and a second pass scores every C on left-out rows. The
    squared hinge loss, which needs all features in memory, is not tried; weights and groups are not
    supported. X is read four times; ``X.persist()`` keeps it in the workers' memory if it fits.

    Parameters
    ----------
    y : array_like, dask Series, dask array or list of Delayed
        The labels; a dask collection has the partitions of X. One label an object.
    X, chunks, n_threads
        As for `d2ke.dask.distance_matrix`. Every partition gives R^2 numbers, so that few large
        ones are better than many small ones.
    blocks, distance, R, task, seed, keep_sums, **params
        As for `d2ke.d2ke_train`.

    Returns
    -------
    D2KEModel
        It is computed when it is returned, unlike other results of `d2ke.dask`.

    Warns
    -----
    UserWarning
        If nothing was learned.

    Raises
    ------
    TypeError, ValueError, MemoryError, RuntimeError
        As `d2ke.d2ke_train` and `d2ke.dask.distance_matrix`.

    Examples
    --------
    >>> import dask, d2ke.dask
    >>> y = ["odd", "even", "odd", "even"] * 5
    >>> X = ["abab", "aabb", "ababab", "aaabbb"] * 5
    >>> with dask.config.set(scheduler="threads"):
    ...     model = d2ke.dask.d2ke_train(y, X, R=64, chunks=5)
    >>> d2ke.d2ke_predict(None, ["ababa", "aabbb"], model)[0].tolist()
    ['odd', 'even']
    """
    n_threads = integer("n_threads", n_threads, 1)
    if is_frame(X) or (is_table(X) and not is_lazy(X)):
        raise ArgumentTypeError(
            "X",
            "holds records, which d2ke.d2ke_train takes, in memory; d2ke.dask.d2ke_predict takes "
            "them too. Of objects give one column",
        )
    for name in ("class_weight", "sample_weight", "groups"):
        if name in params:
            raise ArgumentTypeError(name, "is for d2ke.d2ke_train; there it is all in memory")
    flag("keep_sums", keep_sums)
    distances = training_inputs.check_choices(blocks, distance, R, params)
    if y is None:
        raise ArgumentTypeError("y", "must be the labels of X, got None")
    if getattr(y, "ndim", 1) == 2:
        raise ArgumentError(
            "y", "is a matrix: several labels an object are for d2ke.d2ke_train, in memory"
        )
    if task is not None:
        choice("task", task, ("classification", "regression"))
    entropy = entropy_of(seed)
    x = partitions_of("X", X, chunks, anything=all(map(callable, distances)))
    if x.whole is not None:
        training_inputs.packed_objects(x.whole, distances)
    check_workers()
    started = time.perf_counter()
    truth = label_parts(y, x)
    # Every pass ends before the next one begins, so that no part is kept from one to the next.
    kinds = tree([later(_label_kinds, task, y_i) for y_i in truth], partial(_merge_kinds, task))
    starts, kinds = compute(x.starts(), kinds)
    what = read_labels(kinds, task).task
    what.check_rows(int(starts[-1]))
    first = shared(what)
    tasks = [
        (x.where(i), int(starts[i]), x_i, later(_target, first, y_i, x_i, where=x.where(i)))
        for i, (y_i, x_i) in enumerate(zip(truth, x.parts, strict=True))
    ]
    n = int(starts[-1])
    size = R or sum(map(attrgetter("R"), blocks or ()))
    later(training_inputs.check_size, n, size, what.k).compute()
    rows = sample_rows(n, entropy, R if blocks is None else blocks)
    scored = sample_rows(n, entropy, ROWS) if blocks is None else rows[:0]
    sample, strings = (
        tree(
            [
                later(take_some, drawn[(drawn >= at) & (drawn < at + size)] - at, x_i, target)
                for (_, at, x_i, target), size in zip(tasks, np.diff(starts), strict=True)
            ],
            _merge_samples,
        )
        for drawn, take_some in ((rows, _take), (scored, _take_strings))
    )
    made: Any = later(
        partial(_plan, blocks, distances, distance, params, R, rows, scored, n, entropy),
        sample,
        strings,
    )
    plan, Z, sample = _finished(made[0], made[1], sample)
    sums = tree(
        [
            later(partial(_sums, at, n_threads), plan, x_i, target, where=where)
            for where, at, x_i, target in tasks
        ],
        _merge_sums,
    )
    (solved,) = _finished(later(partial(_solve, entropy), plan, Z, sample, sums))
    left_out = tree(
        [
            later(
                partial(_scores, at, n, entropy, n_threads), plan, solved, x_i, target, where=where
            )
            for where, at, x_i, target in tasks
        ],
        _merge_scores,
    )
    model = later(partial(_model, keep_sums), plan, solved, sample, left_out, sums).compute()
    model = replace(model, seconds={"training": time.perf_counter() - started})
    what.warn_of_result(model)
    return model


def _finished(*tasks: Any) -> tuple[Any, ...]:
    """Compute tasks, and leave their results where they are."""
    kept = persist(*tasks)
    later(_nothing, *kept).compute()
    return kept


class _Sample(NamedTuple):
    """Some training objects, in the order of their rows, and their labels."""

    objects: Any
    target: Labels


# ---------------------------------------------------------------- on workers: labels and sample


def _label_kinds(task: str | None, y: Any) -> np.ndarray:
    """Return labels that stand for all: the classes, or the range of the targets of a regression.

    One of them is not a whole number if one of all is not.
    """
    values = labels.label_array("y", y)
    broken = values[values != np.round(values)] if values.dtype.kind == "f" else values[:0]
    real = task == "regression" or (task is None and has_fractions(values))
    if real and len(values) and values.dtype.kind in "iuf":
        values = np.concatenate([[values.min(), values.max()], broken[:1]])
    return np.unique(values)


def _merge_kinds(task: str | None, *kinds: np.ndarray) -> np.ndarray:
    filled = [values for values in kinds if len(values)] or kinds[:1]
    families = sorted({labels.label_family(values) for values in filled})
    if len(families) > 1:
        names = " and ".join("numbers" if name == "number" else "strings" for name in families)
        raise ArgumentTypeError("y", f"holds {names} in different partitions")
    return _label_kinds(task, np.concatenate(filled))


def _target(task: Task, y: Any, x: Any) -> Labels:
    """Return the encoded labels of a part."""
    return Labels(task, task.encode(y, len(x)))


def _take(rows: np.ndarray, x: Any, target: Labels) -> _Sample:
    """Return some objects of a part, with the letters of all."""
    return _Sample(take(x, rows), target[rows])


def _take_strings(rows: np.ndarray, x: Any, target: Labels) -> _Sample:
    """Return strings of a part for scores of pieces; none of other objects."""
    strings = isinstance(x, Objects) and x.kind == "strings"
    return _take(rows if strings else rows[:0], x, target)


def _merge_samples(*samples: _Sample) -> _Sample:
    objects = [each.objects for each in samples if not isinstance(each.objects, list)]
    values = np.concatenate([each.target.values for each in samples])
    target = replace(samples[0].target, values=values)
    if objects:
        return _Sample(concatenate(objects), target)
    return _Sample([item for each in samples for item in each.objects], target)


# ---------------------------------------------------------------- on workers: the passes


def _plan(
    blocks: Sequence[Block] | None,
    distances: Sequence[Any],
    distance: Any,
    params: Any,
    R: int | None,
    rows: np.ndarray,
    scored: np.ndarray,
    n: int,
    entropy: Any,
    sample: _Sample,
    strings: _Sample,
) -> tuple[TrainingPlan, np.ndarray]:
    """Draw the random objects from the sample; return its features too."""
    objects, target = training_inputs.packed_objects(sample.objects, distances), sample.target
    limit = feature_limit(blocks, R, n)
    recipe = blocks or default_blocks(objects, distance, params, R, n)
    has_scores = blocks is None and scores_pieces(recipe, n, target.task.k)
    recipe = beside_scores(recipe, R) if has_scores else recipe
    size = sum(map(attrgetter("R"), recipe)) + has_scores * target.task.k
    training_inputs.check_size(n, min(size, limit or size), target.task.k)
    chosen: Sequence[AnyBlock] = recipe
    if has_scores:
        piece_scores = fit_scores(strings.objects, strings.target, scored, entropy)
        chosen = (*recipe, *([] if piece_scores is None else [piece_scores]))
    return TrainingPlan.of(chosen, objects, target, rows, n, entropy, None, limit=limit)


def _sums(first_row: int, n_threads: int, plan: TrainingPlan, x: Any, target: Labels) -> RidgeSums:
    return plan.sums(plan.features(x, n_threads, first_row), target, n_threads)


def _merge_sums(*several: RidgeSums) -> RidgeSums:
    sums = several[0].copy()  # the part may be needed again
    for other in several[1:]:
        sums.merge(other)
    return sums


def _solve(
    entropy: Any, plan: TrainingPlan, Z: np.ndarray, sample: _Sample, sums: RidgeSums
) -> Solved:
    return plan.solve(sums, Z, sample.target, int(sums.n), entropy, None)


def _scores(
    first_row: int,
    n: int,
    entropy: Any,
    n_threads: int,
    plan: TrainingPlan,
    solved: Solved,
    x: Any,
    target: Labels,
) -> LeftOutScores | None:
    """Score the left-out predictions of a part; None if it is empty."""
    if not len(x):
        return None
    chunks = plan.features(x, n_threads, first_row)
    keep = rows_to_keep(n, len(solved.costs) * target.task.k, entropy) - first_row
    return scores(solved.ridge, chunks, target, solved.costs, n_threads, keep)


def _merge_scores(*several: LeftOutScores | None) -> LeftOutScores | None:
    filled = [each for each in several if each is not None]
    return reduce(LeftOutScores.merged, filled) if filled else None


def _model(
    keep_sums: bool,
    plan: TrainingPlan,
    solved: Solved,
    sample: _Sample,
    left_out: LeftOutScores,
    sums: RidgeSums,
) -> D2KEModel:
    target, n_largest = sample.target, float("nan")
    if isinstance(target.task, Classes):
        counts = (
            sums.targets if target.task.k > 1 else np.append(sums.targets, sums.n - sums.targets)
        )
        n_largest = float(counts.max())
    model = train.trained_model(plan, solved, left_out, sample.objects, target, n_largest)
    return replace(model, sums=sums if keep_sums else None)


def _nothing(*_: Any) -> None:
    """Wait for the arguments."""
