# SPDX-License-Identifier: BSD-3-Clause
"""Clustering and label propagation of a data set or a file: `d2ke cluster`, `d2ke propagate`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.checks import generator, integer
from d2ke._base.files import check_writable
from d2ke.cli.map_picture import Panel, check_picture_file, coordinates, draw, matched
from d2ke.cli.matrix_files import InputError
from d2ke.cli.result_files import check_apart, check_result_file, input_errors, write_columns
from d2ke.cli.session import SILENT, Session
from d2ke.cli.similarities import Input, Similarities, read_similarities
from d2ke.discriminative.cdsk import Clustering, cdsk
from d2ke.discriminative.lpdsk import Propagation, lpdsk
from d2ke.discriminative.metrics import clustering_accuracy, normalized_mutual_information

_LABELED = 3
_SHOWN = 12  # sizes in one line


@dataclass(frozen=True)
class Job:
    """What both commands take.

    Attributes
    ----------
    input : Input
        The objects.
    options : mapping
        Of `d2ke.cdsk` and `d2ke.lpdsk`: lam, variant, trace_weight and similarity; without
        those for which the defaults hold.
    unknown : str, optional
        The marker of an unknown label; default -1 or nan among integers, "" among strings.
    out : path, optional
        Where to write the result, .csv, .h5 or .hdf5.
    picture : path, optional
        Where to draw a map of the objects, .png, .pdf or .svg.
    session : Session
        How to run.
    """

    input: Input
    options: Mapping[str, Any] = field(default_factory=dict)
    unknown: str | None = None
    out: str | os.PathLike[str] | None = None
    picture: str | os.PathLike[str] | None = None
    session: Session = SILENT

    def read(self, purpose: str) -> Similarities:
        """Check the output files first, then get the similarities for a purpose."""
        if self.picture is not None:
            check_picture_file(Path(self.picture))
        if self.out is not None:
            check_result_file(Path(self.out))
        results = {
            "picture": self.picture, "out": self.out, "save_features": self.input.save_features,
        }  # fmt: skip
        check_apart(results, {"the input": self.input.source})
        for file in results.values():
            if file is not None:
                check_writable(Path(file))
        data = read_similarities(self.input, purpose, self.session)
        if self.options.get("similarity") == "general" and data.K is None:
            (name,) = data.argument
            raise InputError(
                'similarity "general" is for a Gram matrix, or for distances with gamma '
                f"(--gamma); {self.input.source} has {name} alone"
            )
        return data

    def finish(
        self, columns: dict[str, np.ndarray], panels: list[Panel], data: Similarities
    ) -> None:
        """Write the result, then draw."""
        if self.out is not None:
            write_columns(Path(self.out), columns)
            self.session.report(f"result: {os.fspath(self.out)}")
        if self.picture is not None:
            places = self.session.long("map", lambda: coordinates(**data.for_map()))
            draw(Path(self.picture), data.title, places, panels)
            self.session.report(f"picture: {os.fspath(self.picture)}")


@input_errors()
def cluster(job: Job, n_clusters: int | None = None) -> Clustering:
    """Cluster the objects of a data set or a file by `d2ke.cdsk`.

    Parameters
    ----------
    job : Job
        The objects, and where the result goes.
    n_clusters : int, optional
        2 to n; default the number of classes, where labels are known.

    Returns
    -------
    Clustering
        As of `d2ke.cdsk`.

    Raises
    ------
    InputError
        An argument names something that is missing or unusable.
    FileNotFoundError, ImportError
        A data set's files, or a package that it or a picture needs, are missing.
    """
    data = job.read("clusters")
    known, classes, codes = _classes(data, job.unknown)
    if n_clusters is None:
        if not known.any():
            raise InputError(
                f"n_clusters is needed (--n-clusters N): no labels are known of {job.input.source}"
            )
        n_clusters = len(classes)
    integer("n_clusters", n_clusters, 2, data.n)
    result = job.session.long(
        "clustering", cdsk, n_clusters=n_clusters, seed=job.input.seed, **data.argument,
        **job.options,
    )  # fmt: skip
    _report_widths(job, data, result.h)
    labels = result.labels
    rounds = len(result.objectives)
    job.session.report(
        f"clusters: {labels.max() + 1}, lambda {result.lam:.4g}{_default(job)}; round "
        f"{result.best + 1} of {rounds} has the least objective"
    )
    job.session.report("sizes: " + _sizes(np.bincount(labels), range(labels.max() + 1)))
    if known.any():
        accuracy = clustering_accuracy(codes[known], labels[known])
        nmi = normalized_mutual_information(codes[known], labels[known])
        job.session.report(
            f"accuracy {100 * accuracy:.2f} %, NMI {nmi:.3f} on the {known.sum()} labelled objects"
        )
    columns = {"item": np.arange(data.n), "cluster": labels, "alpha": result.alpha}
    if data.labels is not None:
        columns["label"] = _named(classes, codes, job.unknown)

    names = [f"cluster {i}" for i in range(labels.max() + 1)]
    colours = matched(labels, codes) if known.all() else np.arange(len(names))
    panels = [Panel("clusters", labels, names, colours)]
    if known.any():
        panels.append(Panel("classes", codes, [str(name) for name in classes]))
    job.finish(columns, panels, data)
    return result


@input_errors()
def propagate(job: Job, labeled: int | None = None) -> Propagation:
    """Propagate labels from some objects of a data set or a file to all, by `d2ke.lpdsk`.

    Parameters
    ----------
    job : Job
        The objects, and where the result goes.
    labeled : int, optional
        Objects of each class, drawn by the seed, whose labels are used; the others measure the
        accuracy. Default: all known labels, or 3 of each class if all are known.

    Returns
    -------
    Propagation
        As of `d2ke.lpdsk`, with the labels' numbers in the order of `classes`, -1 if unreached.

    Raises
    ------
    InputError
        An argument names something that is missing or unusable.
    FileNotFoundError, ImportError
        A data set's files, or a package that it or a picture needs, are missing.
    """
    data = job.read("labels")
    known, classes, codes = _classes(data, job.unknown)
    if not known.any():
        raise InputError(
            f"labels are needed (--labels): none are known of {job.input.source}"
            if data.labels is None
            else f"labels has no known label: each of the {data.n} is marked as unknown"
        )
    if len(classes) < 2:
        raise InputError(f"labels must have at least two classes, got only {classes[0]}")
    used = known
    if labeled is not None or known.all():
        k = _LABELED if labeled is None else labeled
        used = _drawn(codes, len(classes), k, job.input.seed)
    job.session.report(f"given: labels of {used.sum()} objects of {len(classes)} classes")
    y = np.where(used, codes, -1)
    result = job.session.long("label propagation", lpdsk, y=y, **data.argument, **job.options)
    _report_widths(job, data, result.h)
    labels = result.labels
    job.session.report(f"lambda {result.lam:.4g}{_default(job)}; rounds: {len(result.objectives)}")
    counts = np.bincount(labels[labels >= 0], minlength=len(classes))
    job.session.report("sizes: " + _sizes(counts, classes))
    if not result.reached.all():
        job.session.report(
            f"unreached: {(~result.reached).sum()} objects without a path of similarities to a "
            "labelled one"
        )
    names = [str(name) for name in classes]
    panels = [Panel("labels found; given ones as stars", labels, names, marked=used)]
    rest = known & ~used
    if rest.any():
        panels.append(Panel("known labels", codes, names))
        right = np.mean(labels[rest] == codes[rest])
        nmi = normalized_mutual_information(codes[rest], labels[rest])
        job.session.report(
            f"accuracy {100 * right:.2f} %, NMI {nmi:.3f} on the "
            f"{rest.sum()} other objects with known labels"
        )
    job.finish(
        {
            "item": np.arange(data.n),
            "label": _named(classes, labels, job.unknown),
            "given": used.astype(np.int64),
            "score": np.where(labels >= 0, result.scores[np.arange(data.n), labels], 0.0),
            "alpha": result.alpha,
            "known": _named(classes, codes, job.unknown),
        },
        panels,
        data,
    )
    return result


def _named(classes: np.ndarray, codes: np.ndarray, unknown: str | None) -> np.ndarray:
    """Return labels by their codes, and the marker of unknown ones for -1."""
    marker = unknown or "" if classes.dtype.kind == "U" else int(unknown or -1)
    return np.append(classes, np.array([marker]))[codes]


def _classes(data: Similarities, unknown: str | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which labels are known, the distinct labels, and each object's code or -1."""
    if data.labels is None:
        if unknown is not None:
            raise InputError("unknown has no meaning without labels")
        return np.zeros(data.n, bool), np.empty(0, np.int64), np.full(data.n, -1)
    labels = data.labels
    if labels.dtype.kind == "U":
        known = labels != (unknown or "")
    else:
        missing = np.isnan(labels.astype(np.float64))
        labels = np.where(missing, -1, labels).astype(np.int64)
        try:
            known = ~missing & (labels != (-1 if unknown is None else int(unknown)))
        except ValueError:
            raise InputError(
                f"unknown must be an integer, as the labels are, got {unknown!r}"
            ) from None
    classes, inverse = np.unique(labels[known], return_inverse=True)
    codes = np.full(data.n, -1)
    codes[known] = inverse
    return known, classes, codes


def _drawn(codes: np.ndarray, n_classes: int, k: int, seed: int) -> np.ndarray:
    """Mark k objects of each class, or all but one of a class with no more than k."""
    integer("labeled", k, 1)
    rng = generator(seed)
    drawn = np.zeros(len(codes), bool)
    for code in range(n_classes):
        members = np.flatnonzero(codes == code)
        drawn[rng.permutation(members)[: max(1, min(k, len(members) - 1))]] = True
    return drawn


def _report_widths(job: Job, data: Similarities, h: float | None) -> None:
    """Report the width that was chosen, if so."""
    if data.automatic:
        job.session.report(f"similarities of near neighbours; common width h = {h:.4g}, chosen")


def _default(job: Job) -> str:
    return "" if "lam" in job.options else " = n / 2"


def _sizes(counts: np.ndarray, names: Iterable[Any]) -> str:
    if len(counts) > _SHOWN:
        return (
            f"{len(counts)} of {counts.min()} to {counts.max()} objects, median "
            f"{np.median(counts):g}"
        )
    return ", ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True))
