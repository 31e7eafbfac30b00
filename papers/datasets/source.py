# SPDX-License-Identifier: BSD-3-Clause
"""The published facts about a data set, and the check that its files agree with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import d2ke.datasets
from d2ke.datasets import Dataset
from d2ke.datasets._dataset import SERIES, SETS, STRINGS

__all__ = ["SERIES", "SETS", "STRINGS", "Source", "check_counts", "published", "summary"]


@dataclass(frozen=True)
class Source(d2ke.datasets.Source):
    """A row of the registry: a `d2ke.datasets.Source` of files that must be downloaded.

    Attributes
    ----------
    files : tuple of str
        The distribution's files, relative to the data folder; empty if none are needed. The
        loader takes their paths in this order.
    alternatives : mapping
        For some of `files`, other files with the same content, used if it is missing.
    counts : mapping
        The published entries of `summary`.
    package : str, optional
        A module that the loader needs, outside d2ke's dependencies.
    remark : str
        Another explanation of counts that differ from the published ones.
    """

    files: tuple[str, ...] = ()
    alternatives: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    counts: Mapping[str, Any] = field(default_factory=dict)
    package: str | None = None
    remark: str = ""


def summary(dataset: Dataset) -> dict[str, Any]:
    """Count the objects of a data set and its classes.

    ``n_objects``, ``n_classes``, ``class_sizes`` (in the order of the classes), ``lengths`` (the
    shortest and the longest), ``n_channels`` (not for strings), ``n_train`` and ``n_test``.
    """
    n = len(dataset.objects)
    sizes = np.unique(dataset.labels, return_counts=True)[1]
    lengths = dataset.objects.lengths
    n_train = dataset.n_train
    result = {
        "n_objects": n,
        "n_classes": len(sizes),
        "class_sizes": tuple(sizes.tolist()),
        "lengths": (int(lengths.min()), int(lengths.max())),
        "n_train": n_train,
        "n_test": n - n_train,
    }
    if dataset.domain != "strings":
        result["n_channels"] = dataset.objects.dim
    return result


def published(
    class_sizes: tuple[int, ...], n_train: int | None = None, **others: Any
) -> dict[str, Any]:
    """Return a source's counts: the entries of `summary` that are known of it."""
    n = sum(class_sizes)
    counts = {"n_objects": n, "n_classes": len(class_sizes), "class_sizes": class_sizes, **others}
    return counts if n_train is None else counts | {"n_train": n_train, "n_test": n - n_train}


def check_counts(dataset: Dataset, source: Source) -> None:
    """Refuse a data set whose counts are not the published ones; name all that differ."""
    counts, published = summary(dataset), source.counts
    differences = []
    if counts["n_classes"] == published["n_classes"]:
        sizes = counts["class_sizes"], published["class_sizes"]
        differences = [
            f"class {label!r} has {size} objects instead of {expected}"
            for label, size, expected in zip(dataset.classes.tolist(), *sizes, strict=True)
            if size != expected
        ]
    differences += [
        f"{key} is {counts[key]} instead of {value}"
        for key, value in published.items()
        if key != "class_sizes" and counts[key] != value
    ]
    if differences:
        raise ValueError(
            f"{dataset.name}: the files are not the original distribution, their counts differ "
            f"from the published ones: {'; '.join([*differences, *filter(None, [source.remark])])}"
        )
