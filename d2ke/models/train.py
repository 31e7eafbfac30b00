# SPDX-License-Identifier: BSD-3-Clause
"""Training: inputs -> recipe -> fit -> weigh -> solve -> score -> D2KEModel."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from d2ke._base import labels as plain
from d2ke._base.checks import flag, integer
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.progress import check_progress
from d2ke.learners.losses import hinge_can_pay
from d2ke.models.blocks import AnyBlock, entropy_of, sample_rows, take
from d2ke.models.data import InMemory, TrainingData
from d2ke.models.features import choose_features, draw
from d2ke.models.hinge import better_by_hinge
from d2ke.models.inputs import ModelRequest, check_size, input_fields, packed
from d2ke.models.labels import read_labels, sample_weights, without_none
from d2ke.models.model import D2KEModel
from d2ke.models.recipes import choose_blocks, feature_limit
from d2ke.models.solution import (
    near_copies_of,
    score,
    score_sample,
    solve,
    solve_sample,
    sum_products,
)
from d2ke.objects.compatibility import check_missing
from d2ke.objects.container import StoredObjects
from d2ke.objects.record_packing import fill_missing


@hinted
def d2ke_train(
    y: Sequence[Any] | np.ndarray,
    X: Any,
    *,
    blocks: Sequence[AnyBlock] | None = None,
    distance: str | Callable[..., float] | Sequence[Any] | None = None,
    R: int | None = None,
    strands: str = "one",
    missing: str | None = None,
    task: str | None = None,
    class_weight: str | Mapping[Any, float] | None = None,
    sample_weight: Sequence[float] | np.ndarray | None = None,
    groups: Sequence[Any] | np.ndarray | str | None = None,
    seed: Any = 0,
    keep_sums: bool = False,
    n_threads: int | None = None,
    progress: bool | None = None,
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
    blocks : sequence of Block or FeatureBlock, optional
        The blocks; by default those of `d2ke.models.recipe` for the kind of objects.
    distance : str or callable, or a list of them, or a dict by column, optional
        By default ``"levenshtein"`` for strings, ``"mhd"`` for sets, and windows and ``"dtw"`` for
        series; ``"dtw"`` alone compares whole series only. Series that only distances of sets
        compare are taken for sets. For a Python function, X may be a sequence of anything, and
        random objects are training objects. Several distances, such as ``["dtw", "msm", "twe"]``,
        share R, side by side in one model; for records a dict, such as ``{"track": "dtw"}``.
    R : int, optional
        Number of random objects of all blocks together; by default 17000 for up to 4000 series,
        4000 for more and for one distance of series, 1536 to 4096 (n / 10) for strings, 4096 for
        sets and as many for centred ones, and 512 for a Python function; for each column of
        records, which share a given R. By default, models of more than 4096 objects have at most
        4096. Besides, strings have features of their pieces: one for each training string, 2048
        for more than 4096, or a score for each class of many strings. If pieces carry most of the
        signal, fewer random objects are drawn, and so are whole series where windows do.
    strands : {"one", "both"}
        For DNA and RNA, strings of ACGTN or U: with ``"both"``, pieces of a string's reverse
        complement count as its own do. ``print(model)`` proposes it if left-out errors are clearly
        lower. It is a parameter of ``distance="gapped"``, too.
    missing : "interpolate", optional
        Fill in NaN in series: linearly in time between the values of a channel, by their places;
        the ends are repeated. The model fills in new objects alike. For times at unequal
        steps, ``pack(frame, ids=, time=, missing="interpolate")`` does it by the times. By default
        NaN is refused.
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
    groups : sequence of length n, or "none", optional
        The group of each object, such as the person of each recording. C, shares, accuracy and
        probabilities are then based on predictions by models without the group of the object, so
        they hold for objects of new groups. By default, training looks for near-copies (see
        docs/certainty.md); if it finds them, they are the groups, and ``model.groups`` has their
        codes. With more than 4096 objects it looks in the sample, which then chooses C and gives
        accuracy and probabilities, too. ``"none"`` leaves every object out alone. With groups of
        either kind the hinge loss is not tried.
    seed : int, SeedSequence or Generator, default 0
        Seed of the random objects. Equal seeds give equal models, up to rounding.
    keep_sums : bool
        Keep the sums of products of features in the model, R^2 numbers, so that `d2ke_update` can
        add objects. The squared hinge loss, which has no such sums, is not tried. Not with weights.
    n_threads : int, optional
        Threads to use; None for all that this process may use.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.
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
    check_progress(progress)
    check_keep_sums(keep_sums, class_weight, sample_weight)
    options = Options(entropy_of(seed), keep_sums, groups is None)
    groups = without_none(groups)
    plain.check_order(X, y=y, sample_weight=sample_weight, groups=groups)
    check_missing(missing)
    filled: dict[str, Any] = {}
    if missing is not None:
        X, filled = fill_missing(X, "X")
    request = ModelRequest.of(blocks, distance, R, params, strands)
    objects = packed(X, request, y)
    if sample_weight is not None:
        y, objects, sample_weight, groups = _with_weight(y, objects, sample_weight, groups)
    labels = read_labels(y, task)
    plain.same_length("y", labels.values, "X", len(objects))
    labels = labels.weighted(class_weight, sample_weight)
    labels = labels if groups is None else labels.grouped(groups)
    data = InMemory(objects, labels, 0, n_threads, progress)
    model = replace(train(data, request, options), missing=filled)
    model.task.warn_of_result(model)
    return model


@dataclass(frozen=True)
class Options:
    """Options of training that steps share.

    `entropy` of all seeds; `keep_sums` in the model; `find_groups`: look for near-copies.
    """

    entropy: Any
    keep_sums: bool
    find_groups: bool


def train(data: TrainingData, request: ModelRequest, options: Options) -> D2KEModel:
    """Fit a ridge regression on standardised kernel features.

    The kernel is K = sum_f s_f K_f over families f of blocks. The weights s_f come from stacking
    leave-one-out predictions of candidate kernels; C then minimises the leave-one-out error.
    """
    n, entropy, task = data.n, options.entropy, data.labels.task
    task.check_rows(n)
    clock, limit = _Clock(), feature_limit(request, n)
    check_size(n, request.size, task.k, options.keep_sums)  # before any work
    rows = sample_rows(n, entropy, request.largest)
    sample = data.sample(rows)

    # Random objects, drawn from the sample; supervised blocks have samples of their own.
    blocks = choose_blocks(sample, request, n)
    R = sum(block.R for block in blocks)
    check_size(n, min(R, limit or R), task.k, options.keep_sums)
    sizes = {block.own_rows for block in blocks} - {0}
    own_samples = {m: data.sample(sample_rows(n, entropy, m)) for m in sorted(sizes)}
    drawn = draw(blocks, sample, own_samples, entropy, options.find_groups)
    sample = drawn.sample  # with its near-copies, if some were found
    copies_decide = sample.copies is not None and sample.copies.decide

    # The weights s_f.
    features, Z, decomposed = choose_features(drawn, limit, n, entropy)
    del drawn  # it has features of all families
    clock.note("sample")
    kept = data.keep(features.blocks, Z, rows)

    # The ridge for every C. The sample scores its predictions where near-copies decide, or where it
    # is all n <= R objects; otherwise a second pass over all objects does.
    scored_by_sample = copies_decide or n == len(Z) <= features.R
    solved_by_sample = scored_by_sample and n == len(Z)
    sums = costs = None
    if scored_by_sample:
        scored_solution = solution = solve_sample(features, Z, sample, entropy, decomposed)
        scores = score_sample(features, solution, sample, entropy)
        costs = solution.costs if copies_decide else None
    if options.keep_sums or not solved_by_sample:
        sums = data.sum(sum_products, features)
        clock.note("sums")
        if not solved_by_sample:
            solution = solve(features, sums, Z, sample, entropy, costs)
    if not scored_by_sample:
        scored_solution, scores = solution, data.sum(score, features, solution, n, entropy)
    near_copies = near_copies_of(features, scored_solution, sample, scores, Z)

    # The model of the best C.
    best = scores.best()
    C = float(solution.costs[best])
    if features.scores is not None:  # of thirds, with weights and C that the other two chose
        scores, best = features.scores, 0
    accuracy, accuracy_error = scores.accuracy(best)
    model = D2KEModel(
        **input_fields(sample.objects, features.blocks),
        blocks=features.blocks,
        scaling=solution.scaling,
        deviation=features.scales.deviation / (features.sd * np.sqrt(features.R)),
        linear=task.linear_model(solution.ridge, C),
        task=task,
        C=C,
        accuracy=accuracy,
        accuracy_error=accuracy_error,
        largest_class=100.0 * data.largest_class / n,
        confusion=None if scores.confusion is None else scores.confusion[best],
        calibration=scores.calibration(best),
        reference=features.reference,
        unused_blocks=features.unused_blocks,
        n_train=n,
        seconds=clock.seconds,
        sums=sums if options.keep_sums else None,
        near_copies=near_copies,
    )
    labels, can_pay = data.labels, task.can_use_hinge() and hinge_can_pay(n, features.R)
    if (
        can_pay and kept is not None and labels.weights is None and labels.groups is None
        and not copies_decide and not options.keep_sums
    ):  # fmt: skip
        Z = model.scaling.scale(kept, kept)
        model = replace(model, **better_by_hinge(Z, labels, C, sample.n_threads))
    clock.note("model")
    return model


class _Clock:
    """Seconds of the stages of training."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def note(self, stage: str) -> None:
        """Add a stage that began when the last one ended."""
        now = time.perf_counter()
        self.seconds[stage], self._last = now - self._last, now


def check_keep_sums(keep_sums: bool, class_weight: Any, sample_weight: Any) -> None:
    """Refuse weights beside kept sums."""
    if flag("keep_sums", keep_sums):
        for name, weights in (("class_weight", class_weight), ("sample_weight", sample_weight)):
            if weights is not None:
                raise ArgumentError(
                    name,
                    "does not go with keep_sums (partial_fit): d2ke_update adds objects without "
                    "weights",
                )


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
    true = y if plain.label_matrix(y) is not None else plain.label_array("y", y)
    plain.same_length("y", true, "X", len(objects))
    if groups is not None:
        groups = plain.label_array("groups", groups)
        plain.same_length("groups", groups, "X", len(objects))
        groups = groups[rows]
    true = true.iloc if hasattr(true, "iloc") else true  # of pandas
    return true[rows], take(objects, rows), weights[rows], groups
