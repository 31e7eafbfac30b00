# SPDX-License-Identifier: BSD-3-Clause
"""Training on dask collections: the steps of `d2ke.models.train`, on partitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from d2ke._base.checks import choice, integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.labels import check_order
from d2ke.dask.partition_labels import PartitionLabels
from d2ke.dask.partitions import is_frame, partitions_of, row_tasks
from d2ke.dask.workers import later, on_cluster, shared, tree
from d2ke.models.blocks import AnyBlock, Sample, entropy_of, take
from d2ke.models.data import Chunk
from d2ke.models.inputs import ModelRequest, column_requests, packed_objects
from d2ke.models.labels import Labels, without_none
from d2ke.models.model import D2KEModel
from d2ke.models.train import Options, check_keep_sums, train
from d2ke.objects.container import offsets_of
from d2ke.objects.records import Records, join
from d2ke.objects.tables import is_table

T = TypeVar("T")


@hinted
def d2ke_train(
    y: Any,
    X: Any,
    *,
    blocks: Sequence[AnyBlock] | None = None,
    distance: str | Callable[..., float] | Sequence[Any] | Mapping[str, Any] | None = None,
    R: int | None = None,
    strands: str = "one",
    task: str | None = None,
    class_weight: str | Mapping[Any, float] | None = None,
    sample_weight: Any = None,
    groups: str | None = None,
    seed: Any = 0,
    keep_sums: bool = False,
    chunks: Any = None,
    n_threads: int = 1,
    **params: Any,
) -> D2KEModel:
    """Train a model on the workers; this process sees nothing but the model.

    The steps are as in `d2ke.d2ke_train`. The random objects and gammas have the same bits: they
    come from a sample of rows that the seed and the number of objects determine. All of training is
    one task on a worker, which sends out two passes over the partitions: sums of products of
    features, and scores of every C on left-out rows. X is read four times, strings once more;
    ``X.persist()`` keeps it in the workers' memory if it fits.

    Parameters
    ----------
    y : array_like, dask Series, DataFrame or array, or list of Delayed
        The labels; a dask collection has the partitions of X.
    X, chunks, n_threads
        As for `d2ke.dask.distance_matrix`, or records: a dask DataFrame, a list of delayed parts,
        each of which gives what `pack_records` takes, or one such in memory. Every partition
        gives R^2 numbers, so that few large ones are better than many small ones.
    blocks, distance, R, strands, task, class_weight, seed, keep_sums, **params
        As for `d2ke.d2ke_train`.
    sample_weight : array_like, dask Series or array, or list of Delayed, optional
        As for `d2ke.d2ke_train`; a dask collection has the partitions of X.
    groups : "none", optional
        By default, near-copies are groups, as for `d2ke.d2ke_train`; ``"none"`` leaves every
        object out alone. Groups of your own need all features in memory: use `d2ke.d2ke_train`. The
        squared hinge loss, which needs them too, is not tried.

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
    if without_none(groups) is not None:
        raise ArgumentError(
            "groups", "needs all features in memory: train with d2ke.d2ke_train, on one machine"
        )
    if y is None:
        raise ArgumentTypeError("y", "must be the labels of X, got None")
    if task is not None:
        choice("task", task, ("classification", "regression"))
    check_keep_sums(keep_sums, class_weight, sample_weight)
    if params.get("missing") == "interpolate":
        raise ArgumentError("missing", "is 'interpolate', which fills series in memory only; fill "
                            "them in before, or train with d2ke.d2ke_train")  # fmt: skip
    check_order(X, y=y, sample_weight=sample_weight)
    options = Options(entropy_of(seed), keep_sums, groups is None)
    request = ModelRequest.of(blocks, distance, R, params, strands)
    anything = all(map(callable, request.distances)) and not is_frame(X) and not is_table(X)
    x = partitions_of("X", X, chunks, kind="any", anything=anything)
    if isinstance(x.local, Records):
        column_requests(x.local, request)
    elif x.local is not None:
        packed_objects(x.local, request.distances)
    labelled = PartitionLabels(x, row_tasks("y", y, x), task)
    if sample_weight is not None or class_weight is not None:
        weights = None if sample_weight is None else row_tasks("sample_weight", sample_weight, x)
        labelled.weigh(weights, class_weight)
    weighted = sample_weight is not None or class_weight is not None
    data = PartitionedData(labelled, n_threads, weighted)
    model: D2KEModel = later(_train, shared(data), shared(request), shared(options)).compute()
    model.task.warn_of_result(model)
    return model


class PartitionedData:
    """The training objects of a collection: `TrainingData` of `d2ke.models.data`."""

    def __init__(self, labelled: PartitionLabels, n_threads: int, weighted: bool):
        self._bounds = offsets_of(labelled.sizes())
        self.n, self._labelled, self._n_threads = int(self._bounds[-1]), labelled, n_threads
        self.labels = Labels(labelled.task, np.empty(0), np.empty(0) if weighted else None)
        self.largest_class = max(labelled.counts().values(), default=float("nan"))

    def _chunks(self) -> list[tuple[str, Any]]:
        """Return tasks that read the `Chunk` of each partition."""
        labelled, x, tasks = self._labelled, self._labelled.x, []
        for number, (i, labels) in enumerate(zip(labelled.filled, labelled.labels, strict=True)):
            rows = None if labelled.rows is None else labelled.rows[number]
            first = int(self._bounds[number])
            where = x.where(i)
            read = later(_read, x.partitions[i], labels, rows, first, self._n_threads, where=where)
            tasks.append((where, read))
        return tasks

    def sample(self, rows: np.ndarray) -> Sample:
        """Return the objects of some rows."""
        cuts = np.split(rows, np.searchsorted(rows, self._bounds[1:-1]))
        samples = [
            later(Chunk.sample, chunk, indices, where=where)
            for (where, chunk), indices in zip(self._chunks(), cuts, strict=True)
        ]
        return tree(samples, _join_samples).compute()

    def sum(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return the merged results of a function of each partition."""
        values = list(map(shared, arguments))
        results = [later(function, chunk, *values, where=where) for where, chunk in self._chunks()]
        merged: T = tree(results, _merged).compute()
        return merged

    def keep(self, features: Any, F: np.ndarray, rows: np.ndarray) -> None:
        """Keep nothing: features are computed in every pass."""


# ---------------------------------------------------------------- on workers


def _train(data: PartitionedData, request: ModelRequest, options: Options) -> D2KEModel:
    """Train on one worker, which sends tasks to all workers."""
    if not on_cluster():
        return train(data, request, options)
    from distributed import worker_client

    with worker_client():
        return train(data, request, options)


def _read(objects: Any, labels: Labels, rows: Any, first_row: int, n_threads: int) -> Chunk:
    if rows is not None and len(rows) < len(objects):
        objects = take(objects, rows)
    return Chunk(objects, labels, first_row, n_threads)


def _join_samples(*samples: Sample) -> Sample:
    labels = [sample.labels for sample in samples]
    weights = None
    if labels[0].weights is not None:
        weights = np.concatenate([chunk.row_weights for chunk in labels])
    values = np.concatenate([chunk.values for chunk in labels])
    objects = [sample.objects for sample in samples]
    packed = [chunk for chunk in objects if not isinstance(chunk, list)]  # a list may be empty
    return Sample(
        join(packed or objects),
        np.concatenate([sample.rows for sample in samples]),
        Labels(labels[0].task, values, weights),
    )


def _merged(first: Any, *more: Any) -> Any:
    return first.merged(*more)
