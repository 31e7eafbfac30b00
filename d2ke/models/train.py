# SPDX-License-Identifier: BSD-3-Clause
"""Training: inputs -> recipe -> fit blocks -> kernel weights -> ridge -> scores -> D2KEModel."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from d2ke._base import labels as plain
from d2ke._base.checks import flag, integer
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.progress import check_progress
from d2ke.embedding.scaling import Scaling
from d2ke.learners.linear_model import predict
from d2ke.learners.losses import hinge_can_pay, train_classifier
from d2ke.learners.ridge import Decomposed, Ridge, RidgeSums, product_type, ridge_of_rows
from d2ke.models.blocks import LARGEST, AnyBlock, Sample, entropy_of, sample_rows, take
from d2ke.models.calibration import Calibration, calibration_rows
from d2ke.models.data import Chunk, InMemory, TrainingData
from d2ke.models.features import Features, choose_features, draw
from d2ke.models.inputs import ModelRequest, check_size, input_fields, packed
from d2ke.models.labels import Labels, read_labels, sample_weights, without_none
from d2ke.models.loo import ALL_CS, LooScores, NearCopies
from d2ke.models.model import D2KEModel
from d2ke.models.recipes import choose_blocks, feature_limit
from d2ke.models.tasks import Classes
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
    and the kernel weights of families of blocks are chosen by the squared error of leave-one-out
    predictions. If n is at least four times the number of features, the squared hinge loss is tried
    too. It is used if it is clearly better on a held-out fifth.

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
        The blocks; by default, `d2ke.models.recipe` for the kind of objects.
    distance : str or callable, or a list of them, or a dict by column, optional
        By default ``"levenshtein"`` for strings, ``"mhd"`` for sets, and windows and ``"dtw"`` for
        series; ``"dtw"`` alone compares whole series only. Series that only distances of sets
        compare are taken for sets. For a Python function, X may be a sequence of anything, and
        random objects are training objects. Several distances, such as ``["dtw", "msm", "twe"]``,
        share R, side by side in one model; for records a dict, such as ``{"track": "dtw"}`` or
        ``{"track": ("dtw", {"window": 10})}``.
    R : int, optional
        Number of random objects of all blocks together; by default 17000 for series, 4000 for
        one distance of series, 1536 to 4096 (n / 10) for strings, 4096 for sets and 4096 for
        centred sets, and 512 for a Python function; for each column of records, which share a given
        R. The default is at most max(4096, 3e7 / n) for n objects, and 2048 with `keep_sums`.
        Besides, strings have features of their pieces: one for each of up to 2048 training strings,
        or one or two scores for each class of many strings. If pieces carry most of the signal,
        fewer random objects are drawn, and so are whole series where windows do.
    strands : {"one", "both"}
        For DNA and RNA, strings of ACGTN or U: with ``"both"``, pieces of a string's reverse
        complement count as its own do. ``print(model)`` proposes it if left-out errors are clearly
        lower. It is a parameter of ``distance="gapped"``, too.
    missing : "interpolate", optional
        Fill in NaN in series: linearly between the values of a channel, by their time steps; the
        ends are repeated. The model fills in new objects alike. For times at unequal
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
        The group of each object, such as the person of each recording. C, kernel weights, accuracy
        and probabilities are then based on predictions by models without the group of the object,
        so they hold for objects of new groups. By default, training looks for near-copies (see
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
        Parameters of the distance; for series, of ``"dtw"``, which then is the only distance.

    Returns
    -------
    D2KEModel
        ``print(model)`` describes the training.

    Warns
    -----
    UserWarning
        If the left-out accuracy is not above the share of the largest class: nothing was
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

    A class weight can give a rare class the same total weight as a frequent one.

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
    """Entropy of all seeds; whether to keep sums in the model, and to search for near-copies."""

    entropy: Any
    keep_sums: bool
    find_copies: bool


def train(data: TrainingData, request: ModelRequest, options: Options) -> D2KEModel:
    """Fit a ridge regression on standardised kernel features.

    The kernel is K = sum_f s_f K_f over families f of blocks. The weights s_f come from stacking
    leave-one-out predictions of candidate kernels; C then minimises the leave-one-out error.
    """
    n, entropy, task = data.n, options.entropy, data.labels.task
    task.check_rows(n)
    begin, seconds, limit = time.perf_counter(), {}, feature_limit(request, n, options.keep_sums)
    check_size(n, request.size, task.k, options.keep_sums)  # before any work
    rows = sample_rows(n, entropy, request.largest)
    sample = data.sample(rows)

    # Random objects, drawn from the sample; some supervised blocks have their own sample.
    blocks = choose_blocks(sample, request, n)
    R = sum(block.R for block in blocks)
    check_size(n, min(R, limit or R), task.k, options.keep_sums)
    sizes = {block.sample_size for block in blocks if block.sample_size}
    block_samples = {size: data.sample(sample_rows(n, entropy, size)) for size in sizes}
    fitted_blocks = draw(blocks, sample, block_samples, entropy, options.find_copies)
    sample = fitted_blocks.sample  # with its near-copies, if any were found
    copies_decide = sample.near_copies is not None and sample.near_copies.decide

    # The weights s_f.
    features, F, decomposed = choose_features(fitted_blocks, limit, n, entropy)
    del fitted_blocks  # its F has features of all families
    if not options.keep_sums:
        features = features.within_span(F, entropy, sample.n_threads)
    seconds["sample"] = time.perf_counter() - begin
    F_all = data.keep(features, F, rows)

    # The ridge for every C. Predictions are scored on the sample if near-copies decide, or if it is
    # all n <= R objects; otherwise in a second pass.
    scored_by_sample = copies_decide or n == len(F) <= min(features.R, LARGEST)
    solved_by_sample = scored_by_sample and n == len(F)
    sums = Cs = None
    if scored_by_sample:
        scored_solution = solution = solve_sample(features, F, sample, entropy, decomposed)
        scores = score_sample(features, solution, sample, entropy)
        Cs = solution.scored_Cs if copies_decide else None
    if options.keep_sums or not solved_by_sample:
        sums = data.sum(sum_products, features)
        seconds["sums"] = time.perf_counter() - begin - seconds["sample"]
        if not solved_by_sample:
            inputs = features.projected(F, sample.n_threads)
            solution = solve(features, sums, inputs, sample, entropy, Cs)
    if not scored_by_sample:
        scored_solution, scores = solution, data.sum(score_chunk, features, solution, n, entropy)
    near_copies = near_copies_of(features, scored_solution, sample, scores, F)

    # The model of the best C.
    best = scores.best()
    C = float(solution.scored_Cs[best])
    # Leave-one-out scores of each third, with kernel weights and C chosen by the other two thirds.
    if features.fold_scores is not None:
        scores, best = features.fold_scores, 0
    accuracy, accuracy_error = scores.accuracy(best)
    model = D2KEModel(
        **input_fields(sample.objects, features.blocks),
        blocks=features.blocks,
        scaling=solution.scaling,
        deviation=features.scales.deviation / features.divisor,
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
        seconds=seconds,
        sums=sums if options.keep_sums else None,
        near_copies=near_copies,
    )
    labels, can_pay = data.labels, isinstance(task, Classes) and hinge_can_pay(n, features.R)
    if (
        can_pay and F_all is not None and labels.weights is None and labels.groups is None
        and not copies_decide and not options.keep_sums
    ):  # fmt: skip
        Z = model.scaling.scale(F_all, F_all)
        model = replace(model, **better_by_hinge(Z, labels, C, sample.n_threads))
    seconds["model"] = time.perf_counter() - begin - sum(seconds.values())
    return model


# With n rows z_i of standardised features Z, targets t_i and row weights v_i, the weights W and
# offsets b minimise
#
#     |W|^2 / 2 + C sum_i v_i |t_i - W z_i - b|^2.
#
# One eigendecomposition serves all C: of ZZ', n x n, if the sample is all n <= R objects; else of
# Z'Z, R x R, also where n is less than R.


class Solution(NamedTuple):
    """The models of every penalty, and the values of C to score.

    `projected_ridge` is the ridge of projected features. P are the coordinates of the sample, if
    the sample scores the models.
    """

    ridge: Ridge
    scaling: Scaling
    scored_Cs: Sequence[float]
    projected_ridge: Ridge | None = None
    P: np.ndarray | None = None

    def coordinates(self, F: np.ndarray, n_threads: int | None) -> np.ndarray:
        """Return the coordinates of rows from their inputs of the ridge."""
        return (self.projected_ridge or self.ridge).coordinates(F, n_threads)


def sum_products(chunk: Chunk, features: Features) -> RidgeSums:
    """Return the sums of products of the features and labels of a chunk."""
    mean, deviation = features.scales.mean, features.scales.floored_deviation
    if features.directions is not None:
        mean, deviation = np.zeros(len(features.directions)), np.ones(len(features.directions))
    sums = RidgeSums.empty(mean, deviation, features.target_centre, features.dtype)
    for rows, F in chunk.features(features, "sums"):
        labels = chunk.labels[rows]
        sums.add(F, labels.targets(features.dtype), chunk.n_threads, labels.weights)
    return sums


def solve(
    features: Features,
    sums: RidgeSums,
    F: np.ndarray,
    sample: Sample,
    entropy: Any,
    Cs: Sequence[float] | None = None,
) -> Solution:
    """Return the models of every penalty from the sums. F are the sample's inputs of the ridge.

    Without `Cs`, all C are to be scored; for many classes, when that would take longer than the
    products of features, only the sample's best C.
    """
    labels, directions, projected_ridge = sample.labels, features.directions, None
    if directions is None:
        scaling = features.scaling(*sums.moments())
        ridge = Ridge.of(sums, scaling.divisor)
    else:
        projected_ridge = Ridge.of(sums)
        mean = features.scales.mean + features.divisor * (projected_ridge.mean @ directions)
        scaling = Scaling(mean, features.divisor)
        ridge = replace(projected_ridge, mean=mean, divisor=scaling.divisor, rows=directions)
    if Cs is None:
        Cs = ALL_CS
        if len(ALL_CS) * labels.task.k > ridge.basis.shape[0] and labels.groups is None:
            rows = np.arange(len(F))
            if len(F) > 2048:
                rng = np.random.default_rng(entropy)
                rows = rng.choice(len(F), 2048, replace=False)
            P = (projected_ridge or ridge).coordinates(F[rows], sample.n_threads)
            columns = features.own_columns.within(sample.rows[rows])
            scores = LooScores.of(ridge, P, labels[rows], ALL_CS, own_columns=columns)
            Cs = [ALL_CS[scores.best()]]
    return Solution(ridge, scaling, Cs, projected_ridge)


def solve_sample(
    features: Features, F: np.ndarray, sample: Sample, entropy: Any, decomposed: Decomposed | None
) -> Solution:
    """Return the models of every penalty from the sample alone, or from its `decomposed` rows."""
    labels = sample.labels
    if len(F) > min(features.R, LARGEST):
        if features.directions is None:
            features = replace(features, dtype=product_type(*F.shape))
        F = features.projected(F, sample.n_threads)
        chunk = Chunk(sample.objects, labels, 0, sample.n_threads, F=F)
        solution = solve(features, sum_products(chunk, features), F, sample, entropy)
        return solution._replace(P=solution.coordinates(F, sample.n_threads))
    ridge, P = ridge_of_rows(
        F, labels.targets(), features.divisor, sample.n_threads, labels.weights, decomposed
    )
    n_Cs = len(ALL_CS) if len(F) > labels.task.fewest else np.searchsorted(ALL_CS, len(F))
    return Solution(ridge, Scaling(ridge.mean, features.divisor), ALL_CS[:n_Cs], P=P)


def score_sample(features: Features, solution: Solution, sample: Sample, entropy: Any) -> LooScores:
    """Score the left-out predictions of the sample by its own models."""
    P, Cs, labels = solution.P, solution.scored_Cs, sample.labels
    assert P is not None
    for_calibration = calibration_rows(len(P), len(Cs) * labels.task.k, entropy)
    columns = features.own_columns.within(sample.rows)
    return LooScores.of(solution.ridge, P, labels, Cs, for_calibration, columns)


def score_chunk(
    chunk: Chunk, features: Features, solution: Solution, n: int, entropy: Any
) -> LooScores:
    """Score the left-out predictions of a chunk of the n training objects."""
    labels, ridge, Cs = chunk.labels, solution.ridge, solution.scored_Cs
    for_calibration = calibration_rows(n, len(Cs) * labels.task.k, entropy) - chunk.first_row
    slices = chunk.features(features, "scores")
    if not len(labels):
        slices = iter([(slice(0, 0), np.empty((0, len((solution.projected_ridge or ridge).mean))))])
    if labels.groups is not None and chunk.F is not None:
        # The objects of a group may stand in any slices.
        slices = iter([(slice(0, len(labels)), chunk.F)])
    scores = [
        LooScores.of(
            ridge,
            solution.coordinates(F, chunk.n_threads),
            labels[rows],
            Cs,
            for_calibration[slice(*np.searchsorted(for_calibration, (rows.start, rows.stop)))]
            - rows.start,
            features.own_columns.within(np.arange(rows.start, rows.stop) + chunk.first_row),
        )
        for rows, F in slices
    ]
    return scores[0].merged(*scores[1:])


def near_copies_of(
    features: Features, solution: Solution, sample: Sample, scores: LooScores, F: np.ndarray
) -> NearCopies | None:
    """Return the near-copies of a sample with features F, and the accuracy by the rule not used.

    This accuracy is nan for models with features that are computed from labels, since these
    depend on the rule.
    """
    if sample.near_copies is None:
        return None
    codes, decide = sample.near_copies
    if any(block.supervised for block in features.blocks):
        return NearCopies(sample.rows, codes, decide, np.nan, np.nan)
    ridge, Cs = solution.ridge, [solution.scored_Cs[scores.best()]]
    columns = features.own_columns.within(sample.rows)
    labels = replace(sample.labels, groups=None if decide else codes)
    P = solution.P
    if P is None:
        P = solution.coordinates(features.projected(F, sample.n_threads), sample.n_threads)
    accuracy = LooScores.of(ridge, P, labels, Cs, own_columns=columns).accuracy(0)
    return NearCopies(sample.rows, codes, decide, *accuracy)


_ROWS = 4096  # to move at a time


def better_by_hinge(
    Z: np.ndarray, target: Labels, C: float, n_threads: int | None
) -> dict[str, Any]:
    """Return the fields of a model that the squared hinge loss changes, if it is clearly better.

    Every fifth object is held out. The gain must be above the standard error of the difference.

    Parameters
    ----------
    Z : ndarray, shape (n, R)
        Scaled features; to save memory, their rows are reordered in place.
    target : Labels
        Labels of a classification.
    C : float
        Of the squared loss.
    n_threads : int or None
        Threads.

    Returns
    -------
    dict
        Attributes of the D2KEModel; accuracy, confusion and calibration come from the held-out
        objects, by the model without them. Empty if the hinge loss is not better.
    """
    y, classes = target.values, target.task.classes
    is_test = np.arange(len(y)) % 5 == 0
    if len(np.unique(y[~is_test])) < len(np.unique(y)):
        return {}
    y = np.concatenate([y[~is_test], y[is_test]])
    Z_test, train_rows = Z[is_test], np.flatnonzero(~is_test)
    n = len(train_rows)
    for low in range(0, n, _ROWS):
        rows = train_rows[low : low + _ROWS]
        Z[low : low + len(rows)] = Z[rows]
    Z[n:] = Z_test
    Z_train, Z_test, true = Z[:n], Z[n:], y[n:]
    options = {"n_threads": n_threads}

    def attempt(loss: str, value: float) -> tuple[np.ndarray, np.ndarray]:
        model = train_classifier(y[:n], Z_train, loss=loss, C=value, **options)
        labels, _, decisions = predict(None, Z_test, model)
        return labels, decisions

    plain = attempt("squared", C)[0] == true
    best: Any = None
    # The squared loss also penalises points far on the correct side, so its C is larger.
    for factor in (0.003, 0.03):
        labels, decisions = attempt("squared_hinge", factor * C)
        if best is None or (labels == true).sum() > (best[1] == true).sum():
            best = factor * C, labels, decisions
    value, labels, decisions = best
    correct = labels == true
    if correct.sum() - plain.sum() <= np.sqrt((correct != plain).sum()):
        return {}
    model = train_classifier(y, Z, loss="squared_hinge", C=value, **options)
    confusion = np.zeros((len(classes),) * 2, np.int64)
    np.add.at(confusion, (true, labels), 1)
    accuracy = float(correct.mean())
    error = float(np.sqrt(accuracy * (1 - accuracy) / len(true)))
    model = replace(model, classes=classes)
    rows = calibration_rows(len(true), decisions.shape[1], 0)
    calibration = Calibration.fit(decisions[rows], true[rows], len(classes))
    return {
        "linear": model, "C": value, "accuracy": 100.0 * accuracy, "accuracy_error": 100.0 * error,
        "confusion": confusion, "calibration": calibration,
    }  # fmt: skip


def check_keep_sums(keep_sums: bool, class_weight: Any, sample_weight: Any) -> None:
    """Refuse weights with `keep_sums`."""
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
    """Return labels, objects, weights and groups of the objects with a weight above 0."""
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
