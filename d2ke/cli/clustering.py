# SPDX-License-Identifier: BSD-3-Clause
"""Clustering and label propagation of a data set or a file: `d2ke cluster`, `d2ke propagate`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.checks import generator, integer
from d2ke._base.files import write_file
from d2ke.cli.matrix_files import read_labels
from d2ke.cli.report import saved
from d2ke.cli.result_files import InputError, write_columns
from d2ke.cli.session import Session
from d2ke.cli.similarities import Similarities, read_similarities
from d2ke.discriminative.cdsk import cdsk
from d2ke.discriminative.lpdsk import lpdsk
from d2ke.discriminative.metrics import clustering_accuracy, normalized_mutual_information
from d2ke.frames import columns_of
from d2ke.objects.fields import is_gap
from d2ke.plots.maps import Colouring, coordinates, draw_maps
from d2ke.plots.style import palette
from d2ke.plots.tree import MAX_LEAVES, draw_tree, sample_leaves


def _read(options: argparse.Namespace, session: Session) -> Similarities:
    """Read the similarities, and check that the options fit them."""
    data = read_similarities(options, session)
    if options.similarity == "general" and data.K is None:
        (name,) = data.argument
        raise InputError(
            'similarity "general" is for a Gram matrix, or for distances with gamma '
            f"(--gamma); {options.file} has {name} alone"
        )
    return data


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `d2ke.cdsk` and `d2ke.lpdsk` that are given."""
    names = ("lam", "variant", "trace_weight", "similarity")
    values = {name: getattr(options, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _write(
    options: argparse.Namespace,
    columns: dict[str, np.ndarray],
    colourings: list[Colouring],
    data: Similarities,
    session: Session,
) -> None:
    """Write the result, then draw."""
    if options.out is not None:
        write_columns(Path(options.out), columns)
        session.report(f"result: {options.out}")
    if options.picture is not None:
        points = session.long("map", lambda: coordinates(**data.for_map()))
        _write_figure(options.picture, draw_maps(data.title, points, colourings))
        session.report(f"picture: {options.picture}")


def _write_figure(name: str, figure: Any) -> None:
    """Write a picture atomically."""
    file = Path(name)
    write_file(file, saved(figure, file.suffix[1:]))


def matched(labels: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Match clusters to classes for the best agreement; other clusters get further numbers."""
    from scipy.optimize import linear_sum_assignment  # slow to import

    n_clusters, n_classes = labels.max() + 1, codes.max() + 1
    counts = np.zeros((n_clusters, n_classes), np.int64)
    np.add.at(counts, (labels, codes), 1)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    colours = np.full(n_clusters, -1)
    colours[rows] = columns
    unmatched = colours < 0
    colours[unmatched] = n_classes + np.arange(unmatched.sum())
    return colours


def cluster(options: argparse.Namespace, session: Session) -> None:
    """Cluster the objects of a data set or a file by `d2ke.cdsk`."""
    n_clusters = options.n_clusters
    data = _read(options, session)
    if options.names is not None:
        ids = read_labels(options.names, Path(options.file), "names")
        if len(ids) != data.n:
            raise InputError(f"names has {len(ids)} names, but there are {data.n} objects")
        data = replace(data, ids=ids if ids.dtype == np.int64 else ids.astype(str))
    labelled, classes, codes = _classes(data, options.unknown)
    objects = _object_names(options, data, classes, codes)
    if n_clusters is None:
        if not labelled.any():
            raise InputError(
                f"n_clusters is needed (--n-clusters N): no labels are known of {options.file}"
            )
        n_clusters = len(classes)
    integer("n_clusters", n_clusters, 2, data.n)
    result = session.long(
        "clustering", cdsk, n_clusters=n_clusters, seed=options.seed, **data.argument,
        **_settings(options),
    )  # fmt: skip
    _report_widths(session, data, result.h)
    labels = result.labels
    rounds = len(result.objectives)
    session.report(
        f"clusters: {labels.max() + 1}, lambda {result.lam:.4g}{_default(options)}; round "
        f"{result.best + 1} of {rounds} has the least objective"
    )
    session.report("sizes: " + _sizes(np.bincount(labels), range(labels.max() + 1)))
    if labelled.any():
        accuracy = clustering_accuracy(codes[labelled], labels[labelled])
        _report_accuracy(session, accuracy, codes[labelled], labels[labelled], "labelled objects")
    columns = columns_of(result, data.ids)
    if data.labels is not None:
        columns["label"] = _named(classes, codes, options.unknown)

    names = [f"cluster {i}" for i in range(labels.max() + 1)]
    numbers = matched(labels, codes) if labelled.all() else np.arange(len(names))
    colours = palette(max(numbers.max() + 1, len(classes)))
    by_cluster = [colours[number] for number in numbers]
    colourings = [Colouring("clusters", labels, names, by_cluster, numbers=numbers)]
    if labelled.any():
        class_names = [str(name) for name in classes]
        colourings.append(Colouring("classes", codes, class_names, colours[: len(classes)]))
    _write(options, columns, colourings, data, session)
    if options.tree is not None:
        leaves = sample_leaves(data.n, MAX_LEAVES, options.seed)
        leaf_colours = [by_cluster[label] for label in labels[leaves]]
        D = data.distances_of(leaves)
        figure = draw_tree(D, [objects[i] for i in leaves], data.n, colours=leaf_colours)
        _write_figure(options.tree, figure)
        session.report(f"tree: {options.tree}")


def _object_names(
    options: argparse.Namespace, data: Similarities, classes: np.ndarray, codes: np.ndarray
) -> list[str]:
    """Return the names of objects, by default their ids or indices, with known labels."""
    ids: Iterable[Any] = range(data.n) if data.ids is None else data.ids
    if options.names is not None:
        return list(map(str, ids))
    named = zip(ids, codes, strict=True)
    return [f"{name}" if code < 0 else f"{name}: {classes[code]}" for name, code in named]


def propagate(options: argparse.Namespace, session: Session) -> None:
    """Propagate labels from some objects of a data set or a file to all, by `d2ke.lpdsk`."""
    labeled = options.labeled
    data = _read(options, session)
    labelled, classes, codes = _classes(data, options.unknown)
    if not labelled.any():
        raise InputError(
            f"labels are needed (--labels): none are known of {options.file}"
            if data.labels is None
            else f"labels has no known label: each of the {data.n} is marked as unknown"
        )
    for text in filter(is_gap, classes.tolist() if classes.dtype.kind == "U" else ()):
        session.report(
            f"warning: {text!r} is a class; if such labels are missing: --unknown {text}"
        )
    if len(classes) < 2:
        raise InputError(f"labels must have at least two classes, got only {classes[0]}")
    used = labelled
    if labeled is not None or labelled.all():
        k = 3 if labeled is None else labeled
        used = _sample_per_class(codes, len(classes), k, options.seed)
    session.report(f"given: labels of {used.sum()} objects of {len(classes)} classes")
    y = np.where(used, codes, -1)
    result = session.long("label propagation", lpdsk, y=y, **data.argument, **_settings(options))
    _report_widths(session, data, result.h)
    labels = result.labels
    session.report(f"lambda {result.lam:.4g}{_default(options)}; rounds: {len(result.objectives)}")
    counts = np.bincount(labels[labels >= 0], minlength=len(classes))
    session.report("sizes: " + _sizes(counts, classes))
    if not result.reached.all():
        session.report(
            f"unreached: {(~result.reached).sum()} objects without a path of similarities to a "
            "labelled one"
        )
    names = [str(name) for name in classes]
    colours, heading = palette(len(names)), "labels found; given ones as stars"
    colourings = [Colouring(heading, labels, names, colours, used)]
    rest = labelled & ~used
    if rest.any():
        colourings.append(Colouring("known labels", codes, names, colours))
        accuracy, name = np.mean(labels[rest] == codes[rest]), "other objects with known labels"
        _report_accuracy(session, accuracy, codes[rest], labels[rest], name)
    ids = {} if data.ids is None else {"id": data.ids}
    columns = {
        "item": np.arange(data.n),
        **ids,
        "label": _named(classes, labels, options.unknown),
        "given": used.astype(np.int64),
        "score": np.where(labels >= 0, result.scores[np.arange(data.n), labels], 0.0),
        "alpha": result.alpha,
        "known": _named(classes, codes, options.unknown),
    }
    _write(options, columns, colourings, data, session)


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
        labelled = labels != (unknown or "")
    else:
        missing = np.isnan(labels.astype(np.float64))
        labels = np.where(missing, -1, labels).astype(np.int64)
        try:
            labelled = ~missing & (labels != (-1 if unknown is None else int(unknown)))
        except ValueError:
            raise InputError(
                f"unknown must be an integer, as the labels are, got {unknown!r}"
            ) from None
        if unknown is None and not missing.any() and set(labels.tolist()) == {-1, 1}:
            labelled[:] = True  # the two classes of many files
    classes, inverse = np.unique(labels[labelled], return_inverse=True)
    codes = np.full(data.n, -1)
    codes[labelled] = inverse
    return labelled, classes, codes


def _sample_per_class(codes: np.ndarray, n_classes: int, k: int, seed: int) -> np.ndarray:
    """Mark k objects of each class, or all but one if a class has at most k."""
    integer("labeled", k, 1)
    rng = generator(seed)
    sample = np.zeros(len(codes), bool)
    for code in range(n_classes):
        members = np.flatnonzero(codes == code)
        sample[rng.permutation(members)[: max(1, min(k, len(members) - 1))]] = True
    return sample


def _report_accuracy(
    session: Session, accuracy: float, codes: np.ndarray, labels: np.ndarray, of: str
) -> None:
    nmi = normalized_mutual_information(codes, labels)
    session.report(f"accuracy {100 * accuracy:.2f} %, NMI {nmi:.3f} on the {len(codes)} {of}")


def _report_widths(session: Session, data: Similarities, h: float | None) -> None:
    """Report the width if it was chosen automatically."""
    if data.automatic:
        session.report(f"similarities of near neighbours; common width h = {h:.4g}, chosen")


def _default(options: argparse.Namespace) -> str:
    return " = n / 2" if options.lam is None else ""


def _sizes(counts: np.ndarray, names: Iterable[Any]) -> str:
    if len(counts) > 12:
        return (
            f"{len(counts)} of {counts.min()} to {counts.max()} objects, median "
            f"{np.median(counts):g}"
        )
    return ", ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True))
