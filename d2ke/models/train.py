# SPDX-License-Identifier: BSD-3-Clause
"""Training: labelled objects in, one model out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from d2ke._base import labels
from d2ke._base.checks import flag, integer
from d2ke._base.errors import ArgumentError
from d2ke.learners.losses import hinge_can_pay
from d2ke.models.blocks import Block, entropy_of, sample_rows, take
from d2ke.models.calibration import rows_to_keep
from d2ke.models.hinge import better_by_hinge
from d2ke.models.inputs import InputKind, columns_of_records, input_kinds
from d2ke.models.label_matrices import label_matrix
from d2ke.models.labels import Labels, read_labels, sample_weights
from d2ke.models.model import D2KEModel
from d2ke.models.piece_scores import ROWS, fit_scores
from d2ke.models.plan import Solved, TrainingPlan, scores
from d2ke.models.recipes import beside_scores, default_blocks, feature_limit, scores_pieces
from d2ke.models.record_blocks import record_blocks
from d2ke.models.scores import LeftOutScores
from d2ke.models.training_inputs import (
    check_choices,
    check_size,
    packed_objects,
    packed_records,
)
from d2ke.objects.stored import StoredObjects
from d2ke.objects.tables import is_table

_KEPT = 1 << 30  # bytes of features that are kept for the second pass: more take longer
_WHOLE = 1 << 30  # bytes of features that groups and the hinge loss, which need all at once, take


def d2ke_train(
    y: Sequence[Any] | np.ndarray,
    X: Any,
    *,
    blocks: Sequence[Block] | None = None,
    distance: str | Callable[..., float] | Sequence[Any] | None = None,
    R: int | None = None,
    task: str | None = None,
    class_weight: str | Mapping[Any, float] | None = None,
    sample_weight: Sequence[float] | np.ndarray | None = None,
    groups: Sequence[Any] | np.ndarray | None = None,
    seed: Any = 0,
    keep_sums: bool = False,
    n_threads: int | None = None,
    progress: bool = False,
    **params: Any,
) -> D2KEModel:
    """Train a model that predicts the labels of objects from their distances to random objects.

    A model consists of blocks. Each block is a D2KE kernel: a view of the objects, a distance, and
    random objects drawn from the training objects. The features of all blocks are standardised and
    concatenated, and a linear model with the squared loss is trained on them. No parameter needs to
    be chosen. Each kind of objects has a default set of blocks: for series, windows (see
    docs/windows.md) and whole series. Gamma is set by the median distance to each random object. C
    and the shares of families of blocks are chosen by the squared error of leave-one-out
    predictions. If there are at least four times as many objects as features, the squared hinge
    loss is tried too. It is used if it is clearly better on every fifth object.

    Parameters
    ----------
    y : sequence of length n, or ndarray or data frame of shape (n, k)
        Class labels of any one type; floats that are not whole numbers are the targets of a
        regression. A matrix of 0 and 1 (or booleans) with k >= 2 columns marks which of k labels
        each object has: it may have several or none. ``model.classes`` are the names of the columns
        of a data frame, or 0 to k - 1.
    X : Objects, what `pack` takes, ParquetObjects, or Records
        n labelled objects: series, strings, or sets of vectors; of a Parquet file, which may be
        larger than memory. For several columns, Records or what `pack_records` takes: a dict or a
        data frame, see docs/columns.md.
    blocks : sequence of Block, optional
        The blocks; by default those of the recipe for the kind of objects.
    distance : str or callable, or a list of them, or a dict by column, optional
        By default ``"levenshtein"`` for strings, ``"mhd"`` for sets, and windows and ``"dtw"`` for
        series; ``"dtw"`` alone compares whole series only. Series that only distances of sets
        compare are taken for sets. For a Python function, X may be a sequence of anything, and
        random objects are training objects. Several distances, such as ``["dtw", "msm", "twe"]``,
        share R, side by side in one model; for records a dict, such as ``{"track": "dtw"}``.
    R : int, optional
        Number of random objects of all blocks together; by default 13000 for up to 4000 series,
        4000 for more and for one distance of series, 1536 to 4096 (n / 10) for strings, 4096 for
        sets and as many for centred ones, and 512 for a Python function; for each column of
        records, which share a given R. By default, models of more than 4096 objects have at most
        4096. Besides, strings have a score of their pieces for each class, or, fewer than 512, 4096
        pieces. If scores carry most of the signal, fewer random objects are drawn.
    task : {"classification", "regression"}, optional
        What to do if y can be either. A regression also accepts numbers as text.
    class_weight : "balanced" or dict, optional
        Weights of the classes; 1 for classes that are not named. With "balanced" all classes have
        the same total weight. Probabilities, and the accuracy and the largest class of
        ``print(model)``, then assume equally frequent classes. Not for several labels an object.
    sample_weight : sequence of n numbers >= 0, optional
        Weights of the objects in the squared errors, scores and probabilities. The weights of the
        classes multiply them, and only ratios matter. Objects of weight 0 are left out. With
        weights the hinge loss is not tried.
    groups : sequence of length n, optional
        The group of each object, such as the person of each recording. C, shares, accuracy and
        probabilities are then based on predictions by models without the group of the object, so
        they hold for objects of new groups. The hinge loss is not tried.
    seed : int, SeedSequence or Generator, default 0
        Seed of the random objects. Equal seeds give equal models, up to rounding.
    keep_sums : bool
        Keep the sums of products of features in the model, R^2 numbers, so that `d2ke_update` can
        add objects. The squared hinge loss, which has no such sums, is not tried. Not with weights.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool
        Show progress bars (on a terminal only).
    **params
        Parameters of the distance; of series, those of ``"dtw"``, which then is alone.

    Returns
    -------
    D2KEModel
        ``print(model)`` describes the training.

    Warns
    -----
    UserWarning
        If the cross-validated accuracy is not above the share of the largest class: nothing was
        learned. If `y` is text that is all numbers, written in several forms (1 and 1.0), and no
        `task` is given. If classes are many whole numbers, and wrong predictions are near
        the true ones.

    Raises
    ------
    TypeError, ValueError
        Labels or objects of a wrong kind, of different numbers, one class only, an unknown
        distance or parameter.
    MemoryError
        If the model would take more memory than there is; the error names the largest R.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and Embedding", 2018,
    Algorithm 1, for each block.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> y = ["odd", "even", "odd", "even"] * 5
    >>> X = ["abab", "aabb", "ababab", "aaabbb"] * 5
    >>> model = d2ke.d2ke_train(y, X, R=64)
    >>> labels, accuracy, decisions = d2ke.d2ke_predict(None, ["ababa", "aabbb"], model)
    >>> labels.tolist()
    ['odd', 'even']

    A class weight can make all rare objects together matter as much as all others.

    >>> rare = d2ke.d2ke_train(y[:18], X[:18], R=64, class_weight={"odd": 3})
    >>> round(rare.largest_class)
    75

    An object may have several labels.

    >>> labels = np.array([[0, 1], [0, 0], [1, 1], [1, 0]] * 5)
    >>> several = d2ke.d2ke_train(labels, X, R=64)
    >>> d2ke.d2ke_predict(None, ["abab", "aaabbb"], several)[0].tolist()
    [[0, 1], [1, 0]]
    """
    n_threads = None if n_threads is None else integer("n_threads", n_threads, 1)
    flag("progress", progress)
    if flag("keep_sums", keep_sums):
        for name, weights in (("class_weight", class_weight), ("sample_weight", sample_weight)):
            if weights is not None:
                raise ArgumentError(
                    name,
                    "does not go with keep_sums (partial_fit): d2ke_update adds objects without "
                    "weights",
                )
    by_column: Mapping[str, list[Any]] = {}
    if is_table(X):
        objects, by_column = packed_records(X, blocks, distance, R, params)
    else:
        distances = check_choices(blocks, distance, R, params)
        labels.refuse_swapped(y, X)
        objects = packed_objects(X, distances)
    if sample_weight is not None:
        y, objects, sample_weight, groups = _with_weight(y, objects, sample_weight, groups)
    target = read_labels(y, task)
    labels.same_length("y", target.values, "X", len(objects))
    target = target.weighted(class_weight, sample_weight)
    target = target if groups is None else target.grouped(groups)
    target.task.check_rows(len(objects))
    n, entropy = len(objects), entropy_of(seed)
    check = partial(check_size, n, k=target.task.k, keep_sums=keep_sums)
    check(R or sum(map(attrgetter("R"), blocks or ())))  # before any work
    rows = sample_rows(n, entropy, R if blocks is None else blocks)
    whole = len(rows) == n and not isinstance(objects, StoredObjects)
    sample, truth = (objects, target) if whole else (take(objects, rows), target[rows])
    limit = feature_limit(blocks, R, n)
    if by_column:
        chosen = record_blocks(sample, by_column, blocks, R, n)
    else:
        chosen = blocks or default_blocks(sample, distance, params, R, n)
    has_scores = not by_column and blocks is None and scores_pieces(chosen, n, target.task.k)
    chosen = beside_scores(chosen, R) if has_scores else chosen
    size = sum(map(attrgetter("R"), chosen)) + has_scores * target.task.k
    check(min(size, limit or size))
    started = time.perf_counter()
    if has_scores:
        scored = sample_rows(n, entropy, ROWS)
        piece_scores = fit_scores(take(objects, scored), target[scored], scored, entropy)
        chosen = (*chosen, *([] if piece_scores is None else [piece_scores]))
    plan, Z = TrainingPlan.of(chosen, sample, truth, rows, n, entropy, n_threads, progress, limit)
    seconds = {"sample": time.perf_counter() - started}
    tries_hinge = (
        target.task.can_use_hinge() and target.weights is None and groups is None and not keep_sums
        and hinge_can_pay(n, plan.R) and 4 * n * plan.R <= _WHOLE
    )  # fmt: skip
    kept = Z if len(Z) == n else None
    if groups is not None and kept is None and 4 * n * plan.R > _WHOLE:
        raise ArgumentError(
            "groups",
            f"needs all features in memory, at most {_WHOLE} bytes: {n} objects have "
            f"R = {plan.R} features, take fewer of either",
        )
    if kept is None and (4 * n * plan.R <= _KEPT or groups is not None or tries_hinge):
        kept = np.empty((n, plan.R), np.float32)
        for span, Z_of_span in plan.features(objects, n_threads, 0, None, "features", progress):
            kept[span] = Z_of_span
    sums = None
    if keep_sums or n > min(plan.R, len(Z)):
        chunks = plan.features(objects, n_threads, 0, kept, "sums", progress)
        sums = plan.sums(chunks, target, n_threads)
        seconds["sums"] = time.perf_counter() - started - seconds["sample"]
    solved = plan.solve(sums, Z, truth, n, entropy, n_threads)
    keep = rows_to_keep(n, len(solved.costs) * target.task.k, entropy)
    if solved.P is not None:
        left_out = LeftOutScores.of(solved.ridge, solved.P, target, solved.costs, keep)
    else:
        chunks = plan.features(objects, n_threads, 0, kept, "scores", progress)
        # Groups may be anywhere, so they are scored together.
        chunks = chunks if kept is None or groups is None else iter([(slice(0, n), kept)])
        left_out = scores(solved.ridge, chunks, target, solved.costs, n_threads, keep)
    n_largest = max(target.task.counts(target.values, target.weights).values(), default=np.nan)
    model = trained_model(plan, solved, left_out, objects, target, n_largest)
    if tries_hinge and kept is not None:
        Z = solved.scaling.scale(kept, kept)
        model = replace(model, **better_by_hinge(Z, target, model.C, n_threads))
    seconds["model"] = time.perf_counter() - started - sum(seconds.values())
    model = replace(model, seconds=seconds, sums=sums if keep_sums else None)
    target.task.warn_of_result(model)
    return model


def _with_weight(
    y: Any, objects: Any, sample_weight: Any, groups: Any
) -> tuple[Any, Any, np.ndarray, Any]:
    """Return labels, objects, weights and groups of the objects that have a weight above 0."""
    weights = sample_weights(sample_weight, len(objects))
    rows = np.flatnonzero(weights)
    if len(rows) == len(weights):
        return y, objects, weights, groups
    if isinstance(objects, StoredObjects):
        i = int(np.argmin(weights))
        raise ArgumentError("sample_weight", "must be above 0 for objects of a Parquet file", i)
    true = y if label_matrix(y) is not None else labels.label_array("y", y)
    labels.same_length("y", true, "X", len(objects))
    if groups is not None:
        groups = labels.label_array("groups", groups)
        labels.same_length("groups", groups, "X", len(objects))
        groups = groups[rows]
    true = true.iloc if hasattr(true, "iloc") else true  # of pandas
    return true[rows], take(objects, rows), weights[rows], groups


def trained_model(
    plan: TrainingPlan,
    solved: Solved,
    left_out: LeftOutScores,
    objects: Any,
    target: Labels,
    n_largest: float,
) -> D2KEModel:
    """Return the model of the best C, of objects and targets like these.

    `n_largest` is the number of objects in the largest class, or the sum of their weights.
    """
    best = left_out.best()
    C = float(solved.costs[best])
    accuracy, error = left_out.accuracy(best)
    return D2KEModel(
        **vars(InputKind.of(objects, plan.blocks)),
        blocks=plan.blocks,
        scaling=solved.scaling,
        deviation=plan.deviation / (plan.unit * plan.stretch * np.sqrt(plan.R)),
        linear=target.task.linear_model(solved.ridge, C),
        task=target.task,
        C=C,
        accuracy=accuracy,
        accuracy_error=error,
        largest_class=100.0 * n_largest / left_out.n,
        confusion=None if left_out.confusion is None else left_out.confusion[best],
        calibration=left_out.calibration(best),
        reference=plan.known,
        left_out=plan.left_out,
        n_train=left_out.n,
        seconds={},
        inputs=input_kinds(objects, plan.blocks),
        columns=columns_of_records(objects),
    )
