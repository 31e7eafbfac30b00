# SPDX-License-Identifier: BSD-3-Clause
"""Features of many objects, written to a feature store by blocks of rows."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.checks import byte_count
from d2ke._base.errors import ArgumentError
from d2ke._base.labels import label_array, same_length
from d2ke._base.progress import progress_bar
from d2ke.distances.fingerprint import digest, function_version, sequence_digest
from d2ke.distances.pipeline import wait_for_ending
from d2ke.io.store.layout import tile_shape
from d2ke.io.store.reader import FeatureFile, open_features
from d2ke.io.store.writer import Content, PartialStore
from d2ke.models.model import D2KEModel
from d2ke.objects.container import span_of


def write_features(
    objects: Any,
    model: D2KEModel,
    path: Path,
    *,
    n_threads: int | None = None,
    max_memory: int | str | None = None,
    progress: bool = False,
    client: Any = None,
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
    if max_memory is not None:
        max_memory = byte_count("max_memory", max_memory)
    n_blocks = model.block_rows(objects, min(height, shape[0]), max_memory) // height
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
            never, first, n_blocks = threading.Event(), 0, max(1, n_blocks)
            with progress_bar(progress, "features") as report:
                while blocks := store.missing(first, n_blocks):
                    rows = store.blocks.rows(blocks.start, blocks.stop)
                    part = span_of(objects, rows.start, rows.stop)
                    Z = model.features(part, n_threads, client)
                    store.sync(*store.write(rows, Z, never))
                    first = blocks.stop
                    if report is not None:
                        report(rows.stop * model.R, shape[0] * model.R)
            store.finish()
    finally:
        store.close()
    return open_features(path)


def _described(model: D2KEModel) -> dict[str, Any]:
    """Return digests of what decides the features of a model."""
    parts: list[Any] = [model.scaling.mean, model.scaling.sd]
    functions = {}
    for i, block in enumerate(model.blocks):
        parts += [block.R, digest(f"omega of block {i}", block.omega), block.gamma]
        parts += [block.from_omega, sorted(block.parameters.items())]
        if callable(block.distance):
            functions[f"version of distance of block {i}"] = block.distance
        else:
            parts.append(block.distance)
        for k, view in enumerate(block.views):
            functions[f"version of view {k} of block {i}"] = view
    functions = {name: function_version(name, one) for name, one in functions.items()}
    return {"model": sequence_digest("model", parts), **functions}
