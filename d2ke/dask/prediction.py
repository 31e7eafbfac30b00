# SPDX-License-Identifier: BSD-3-Clause
"""Objects of dask collections through a trained model."""

from __future__ import annotations

from functools import partial
from typing import Any

import dask.array as da
import numpy as np

from d2ke._base.checks import choice, flag, integer
from d2ke._base.keywords import hinted
from d2ke._base.labels import check_order
from d2ke.dask.partitions import Partitions, is_frame, is_lazy, partitions_of, row_array, row_tasks
from d2ke.dask.workers import later, shared, tree
from d2ke.explain.novelty import novelty as novelty_in_memory
from d2ke.models import predict
from d2ke.models.inputs import check_columns
from d2ke.models.model import D2KEModel, check_model
from d2ke.models.tasks import Task


@hinted
def d2ke_predict(
    y: Any,
    X: Any,
    model: D2KEModel,
    *,
    probability: bool = False,
    unseen_letters: str = "allow",
    chunks: Any = None,
    n_threads: int = 1,
) -> tuple[da.Array, da.Array, da.Array]:
    """Predict the labels of objects, lazily.

    Parameters
    ----------
    y : array_like, dask Series, dask array or list of Delayed, or None
        The true labels, for the accuracy only; a dask collection has the partitions of X.
    X, chunks, n_threads
        As for `d2ke.dask.distance_matrix`. For a model of records, X is a dask DataFrame, a list
        of delayed parts, each of which gives what `pack_records` takes, or one such in memory.
    model : D2KEModel
        It is sent to each worker once.
    probability
        As for `d2ke.d2ke_predict`.
    unseen_letters : {"allow", "refuse"}
        As for `d2ke.d2ke_predict`; a warning is about one partition.

    Returns
    -------
    labels : dask.array.Array, shape (n,)
        Predicted labels in the type of ``model.classes``; predicted values of a regression; for
        multilabel models, 0 and 1 of shape (n, k).
    accuracy : dask.array.Array, shape ()
        As for `d2ke.d2ke_predict`, up to rounding.
    decisions : dask.array.Array of float64, shape (n, k)
        As for `d2ke.d2ke_predict`, whose last bits may depend on the number of rows of a partition.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `d2ke.d2ke_predict` and `d2ke.dask.distance_matrix`.

    Examples
    --------
    >>> import d2ke.dask
    >>> model = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=32)
    >>> labels, accuracy, decisions = d2ke.dask.d2ke_predict([0, 1], ["aaab", "bbba"], model)
    >>> labels.compute(scheduler="threads").tolist()
    [0, 1]
    >>> float(accuracy.compute(scheduler="threads"))
    100.0
    """
    check_order(X, y=y)
    x = _open(X, model, unseen_letters, chunks)
    task = model.task
    task.check_probability(flag("probability", probability))
    no_decisions = np.empty((0, len(model.linear.weights)))
    no_labels = task.predict(no_decisions)
    if probability:
        no_decisions = np.empty((0, task.n_probabilities))
    apply = partial(
        predict.d2ke_predict, None, probability=probability, unseen_letters=unseen_letters,
        n_threads=integer("n_threads", n_threads, 1),
    )  # fmt: skip
    results: list[Any] = x.map(apply, shared(model), empty=(no_labels, np.nan, no_decisions))
    labels = row_array([result[0] for result in results], x.lengths, no_labels)
    decisions = row_array([result[2] for result in results], x.lengths, no_decisions)
    accuracy = da.full((), np.nan)
    if y is not None:
        if not is_lazy(y):
            y = task.truth(y, int(sum(x.lengths)) if x.has_lengths else len(y))
        triples = zip(row_tasks("y", y, x), x.partitions, results, strict=True)
        once = shared(task)
        tallies = [later(_tally, once, y_i, x_i, result[0]) for y_i, x_i, result in triples]
        accuracy = da.from_delayed(later(_score, once, tree(tallies, _sum)), (), np.float64)
    return labels, accuracy, decisions


@hinted
def d2ke_transform(
    X: Any,
    model: D2KEModel,
    *,
    unseen_letters: str = "allow",
    chunks: Any = None,
    n_threads: int = 1,
) -> da.Array:
    """Return vectors of objects, for any other method: the features without labels, lazily.

    Parameters
    ----------
    X, model, unseen_letters, chunks, n_threads
        As for `d2ke.dask.d2ke_predict`.

    Returns
    -------
    dask.array.Array of float32, shape (n, model.n_unsupervised)
        With the bits of `d2ke.d2ke_transform`.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `d2ke.dask.d2ke_predict`.

    Examples
    --------
    >>> import d2ke.dask
    >>> model = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=32)
    >>> Z = d2ke.dask.d2ke_transform(["aaab", "bbba"], model)
    >>> Z.shape == (2, model.n_unsupervised)
    True
    """
    x = _open(X, model, unseen_letters, chunks)
    empty = np.empty((0, model.n_unsupervised), np.float32)
    return _rows(predict.d2ke_transform, x, model, unseen_letters, n_threads, empty)


@hinted
def novelty(
    X: Any,
    model: D2KEModel,
    *,
    unseen_letters: str = "allow",
    chunks: Any = None,
    n_threads: int = 1,
) -> da.Array:
    """Return p-values that objects are like the training objects of a model, lazily.

    Parameters
    ----------
    X, model, unseen_letters, chunks, n_threads
        As for `d2ke.dask.d2ke_predict`.

    Returns
    -------
    dask.array.Array of float64, shape (n,)
        As for `d2ke.novelty`.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        As `d2ke.dask.d2ke_predict`.

    Examples
    --------
    >>> import d2ke.dask
    >>> X = [a * i + b * (9 - i) for i in range(10) for a, b in ("ab", "ac", "bc")]
    >>> model = d2ke.d2ke_train(["a" in x for x in X], X, R=64)
    >>> p = d2ke.dask.novelty(["aaabbbbb", "cacacacacacacaca"], model)
    >>> (p.compute(scheduler="threads") < 0.05).tolist()
    [False, True]
    """
    x = _open(X, model, unseen_letters, chunks)
    return _rows(novelty_in_memory, x, model, unseen_letters, n_threads, np.empty(0))


def _rows(
    function: Any, x: Partitions, model: D2KEModel, unseen_letters: str, n_threads: int, empty: Any
) -> da.Array:
    """Return the stacked results of a function for each partition."""
    threads = integer("n_threads", n_threads, 1)
    apply = partial(function, unseen_letters=unseen_letters, n_threads=threads)
    return row_array(x.map(apply, shared(model), empty=empty), x.lengths, empty)


def _open(X: Any, model: Any, unseen_letters: str, chunks: Any) -> Partitions:
    """Check the local arguments, and cut X."""
    check_model(model)
    choice("unseen_letters", unseen_letters, ("allow", "refuse"))
    x = partitions_of(
        "X", X, chunks, kind="records" if model.inputs else None, anything=model.kind == "any",
        row_bytes=8 * model.R,
    )  # fmt: skip
    if model.inputs and is_frame(X):
        check_columns(list(X.columns), model.inputs)
    if x.local is not None:
        # Each worker warns of its partition.
        model.check_objects(x.local, "refuse" if unseen_letters == "refuse" else None)
    return x


# ---------------------------------------------------------------- on workers


def _tally(task: Task, y: Any, x: Any, predicted: np.ndarray) -> np.ndarray:
    return task.tally(task.truth(y, len(x)), predicted)


def _sum(*tallies: np.ndarray) -> np.ndarray:
    return np.sum(tallies, axis=0)


def _score(task: Task, tally: np.ndarray) -> float:
    return task.score_of(tally)
