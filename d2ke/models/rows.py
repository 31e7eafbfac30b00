# SPDX-License-Identifier: BSD-3-Clause
"""Features of many objects, by blocks of rows: as they come, or to a feature store."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.checks import byte_count, flag, integer
from d2ke._base.errors import ArgumentError
from d2ke._base.labels import label_array, same_length
from d2ke._base.memory import check_limit
from d2ke._base.progress import progress_bar, stages
from d2ke.distances.fingerprint import digest, sequence_digest
from d2ke.distances.function_digest import function_digest
from d2ke.distances.pipeline import wait_for_ending
from d2ke.io.store.layout import tile_shape
from d2ke.io.store.reader import FeatureFile, open_features
from d2ke.io.store.writer import Content, PartialStore
from d2ke.models.model import D2KEModel
from d2ke.objects.container import Objects, span_of

BLOCK = 1 << 26  # bytes of a block of rows, where max_memory does not say less
_PER_FEATURE = 24  # bytes of distances, features and scaled features together
_LEAST_ROWS = 16


@dataclass(frozen=True)
class Rows:
    """How rows are computed: the options of public functions, checked when it is made."""

    n_threads: int | None
    max_memory: Any
    progress: bool
    client: Any

    def __post_init__(self) -> None:
        flag("progress", self.progress)
        if self.n_threads is not None:
            integer("n_threads", self.n_threads, 1)
        if self.max_memory is not None:
            object.__setattr__(self, "max_memory", byte_count("max_memory", self.max_memory))

    def blocks(
        self, objects: Any, model: D2KEModel, extra: int
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Give blocks of rows and their features; the result takes `extra` bytes."""
        step = self.step(objects, model, extra, _LEAST_ROWS)
        for first in stages(range(0, len(objects), step), "objects", self.progress):
            rows = slice(first, min(first + step, len(objects)))
            yield rows, self.features(objects, model, rows)

    def step(self, objects: Any, model: D2KEModel, extra: int, least: int) -> int:
        """Return how many rows fit into a block; refuse a limit that has no room for `least`."""
        per_row = _PER_FEATURE * model.R + 64
        if isinstance(objects, Objects) and len(objects):
            longest = int(objects.lengths.max()) * max(1, objects.dim)
            per_row += 32 + 24 * longest * len(model.blocks)
        budget = BLOCK
        if self.max_memory is not None:
            check_limit(self.max_memory, extra + per_row * least, f"{len(objects)} objects",
                        "give X in parts")  # fmt: skip
            budget = min(budget, self.max_memory - extra)
        return max(least, budget // per_row)

    def features(self, objects: Any, model: D2KEModel, rows: slice) -> np.ndarray:
        """Return the features of some rows."""
        part = span_of(objects, rows.start, rows.stop)
        return model.features(part, self.n_threads, self.client)


def write_features(
    objects: Any,
    model: D2KEModel,
    run: Rows,
    path: Path,
    *,
    labels: np.ndarray | None = None,
    resume: bool = False,
) -> FeatureFile:
    """Write the features of checked objects, with labels, to a feature store, and open it."""
    shape = len(objects), model.R
    if not shape[0]:
        raise ArgumentError("X", "is empty; a feature store has at least one row")
    if labels is not None:
        labels = label_array("labels", labels)
        same_length("labels", labels, "X", shape[0])
    height = tile_shape(shape)[0]
    most = run.step(objects, model, 0, min(height, shape[0])) // height
    names = tuple(block.name for block in model.blocks)
    parameters = {"blocks": names, "sizes": tuple(block.R for block in model.blocks)}
    inputs = {"X": digest("X", objects), **_described(model)}
    if labels is not None:
        inputs["labels"] = sequence_digest("labels", [labels])
    wait_for_ending()  # it may be the same file that they write to
    store = PartialStore(
        path,
        shape,
        np.dtype(np.float32),
        Content(parameters, inputs, labels=labels),
        resume=resume,
    )
    try:
        if not store.finished:
            _complete(objects, model, run, store, max(1, most))
            store.finish()
    finally:
        store.close()
    return open_features(path)


def _complete(objects: Any, model: D2KEModel, run: Rows, store: PartialStore, most: int) -> None:
    """Compute and write what is missing, at most so many blocks of the store at a time."""
    never, first = threading.Event(), 0
    with progress_bar(run.progress, "features") as report:
        while blocks := store.missing(first, most):
            rows = store.blocks.rows(blocks.start, blocks.stop)
            store.sync(*store.write(rows, run.features(objects, model, rows), never))
            first = blocks.stop
            if report is not None:
                report(rows.stop * model.R, len(objects) * model.R)


def _described(model: D2KEModel) -> dict[str, Any]:
    """Return digests of what decides the features of a model."""
    parts: list[Any] = [model.scaling.mean, model.scaling.sd]
    functions = {}
    for i, block in enumerate(model.blocks):
        parts += [block.R, digest(f"omega of block {i}", block.omega), block.gamma]
        parts += [block.from_omega, sorted(block.parameters.items())]
        if callable(block.distance):
            functions[f"content of distance of block {i}"] = block.distance
        else:
            parts.append(block.distance)
        for k, view in enumerate(block.views):
            functions[f"content of view {k} of block {i}"] = view
    functions = {name: function_digest(name, one) for name, one in functions.items()}
    return {"model": sequence_digest("model", parts), **functions}
