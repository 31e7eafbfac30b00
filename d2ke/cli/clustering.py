# SPDX-License-Identifier: BSD-3-Clause
"""Clustering and label propagation of a data set or a file: `d2ke cluster`, `d2ke propagate`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.checks import generator, integer
from d2ke._base.files import check_writable
from d2ke._base.interruptible import interruptible
from d2ke.cli.assignments import check_result_file, write_assignments
from d2ke.cli.map_picture import Panel, check_picture_file, coordinates, draw, matched
from d2ke.cli.matrix_files import InputError
from d2ke.cli.similarities import Similarities, read_similarities
from d2ke.discriminative import (
    Clustering,
    Propagation,
    cdsk,
    clustering_accuracy,
    lpdsk,
    normalized_mutual_information,
)

_LABELED = 3
_SHOWN = 12  # sizes in one line


@dataclass(frozen=True)
class Job:
    """What both commands take.

    Attributes
    ----------
    source : str
        A data set of `d2ke.datasets`, or a .mat, .h5, .hdf5, .csv, .tsv or .txt file.
    form : {"gram", "distances", "features", "points"}, optional
        What a file's matrix is. Distances d become similarities exp(-gamma d); points get the
        Gaussian kernel with the width `d2ke.bandwidth`, and for labels a third of it; of
        features, `kernel` decides. Default:
        "features" for files of `d2ke.io.save_features`, else "gram".
    variable : str, optional
        The matrix in a MAT-file or an HDF5 file of several.
    labels : str, optional
        Known labels: a variable of the same file, or a text file with one in each line.
    unknown : str, optional
        What marks an unknown label; default -1 or nan among integers, "" among strings.
    gamma : float, optional
        Of distances, > 0; default 2 / (their median) for clusters and 10 / (their median) for
        labels, zeros left out. For the features of a data set, 5 / (median distance to the
        random objects).
    R : int, optional
        Random objects, of data sets; default 1024.
    kernel : {"gaussian", "linear"}, optional
        Of features, see `d2ke.cli.similarities.of_features`; by default Gaussian up to
        5000 objects.
    seed : int
        Of the random objects, of k-means and of the labelled objects.
    lam, variant, trace_weight, similarity
        As for `d2ke.cdsk` and `d2ke.lpdsk`; None for their defaults.
    data_dir : path, optional
        Folder of the data files; by default the environment variable D2KE_DATA.
    out : path, optional
        Where to write the result, .csv, .h5 or .hdf5.
    picture : path, optional
        Where to draw a map of the objects, .png, .pdf or .svg.
    save_features : path, optional
        Where to write the features of a data set, as soon as they are there.
    n_threads : int, optional
        Threads for the distances; None for all that this process may use.
    progress : bool
        Show progress bars (on a terminal only).
    report : callable
        Takes each line of text.
    """

    source: str
    form: str | None = None
    variable: str | None = None
    labels: str | None = None
    unknown: str | None = None
    gamma: float | None = None
    R: int | None = None
    kernel: str | None = None
    seed: int = 0
    lam: float | None = None
    variant: str | None = None
    trace_weight: float | None = None
    similarity: str | None = None
    data_dir: str | os.PathLike | None = None
    out: str | os.PathLike | None = None
    picture: str | os.PathLike | None = None
    save_features: str | os.PathLike | None = None
    n_threads: int | None = None
    progress: bool = False
    report: Callable[[str], None] = lambda line: None

    def read(self, purpose: str) -> Similarities:
        """Check where results go, before the work, and get the similarities for a purpose."""
        if self.picture is not None:
            check_picture_file(Path(self.picture))
        if self.out is not None:
            check_result_file(Path(self.out))
        keep = None if self.save_features is None else Path(self.save_features)
        for file in (self.picture, self.out, keep):
            if file is not None:
                check_writable(Path(file))
        return read_similarities(
            self.source,
            purpose,
            form=self.form,
            variable=self.variable,
            labels=self.labels,
            gamma=self.gamma,
            R=self.R,
            kernel=self.kernel,
            seed=self.seed,
            data_dir=self.data_dir,
            keep=keep,
            n_threads=self.n_threads,
            progress=self.progress,
            report=self.report,
        )

    def options(self, found: Similarities) -> dict[str, Any]:
        """Return the arguments that `cdsk` and `lpdsk` share."""
        names = ("lam", "variant", "trace_weight", "similarity")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return {"K": found.K, "features": found.features, **given}

    def long(self, description: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function that takes long; what it refuses is wrong input."""
        return interruptible(function, *arguments, description=description, progress=self.progress)

    def finish(
        self,
        columns: dict[str, np.ndarray],
        panels: Callable[[], list[Panel]],
        found: Similarities,
    ) -> None:
        """Write the result at once, then draw."""
        if self.out is not None:
            write_assignments(Path(self.out), columns)
            self.report(f"result: {os.fspath(self.out)}")
        if self.picture is not None:
            places = self.long("map", coordinates, found.K, found.features)
            draw(Path(self.picture), found.title, places, panels())
            self.report(f"picture: {os.fspath(self.picture)}")


def cluster(job: Job, n_clusters: int | None = None) -> Clustering:
    """Cluster the objects of a data set or a file by `d2ke.cdsk`.

    Parameters
    ----------
    job : Job
        What to cluster, and where the result goes.
    n_clusters : int, optional
        2 to n; default the number of classes, where labels are known.

    Returns
    -------
    Clustering
        As of `d2ke.cdsk`.

    Raises
    ------
    InputError
        What an argument names is not there, or is not what it should be.
    FileNotFoundError, ImportError
        A data set's files, or a package that it or a picture needs, are missing.
    """
    return _usable(lambda: _cluster(job, n_clusters))


def propagate(job: Job, labeled: int | None = None) -> Propagation:
    """Find the labels of all objects of a data set or a file from those of some, by `d2ke.lpdsk`.

    Parameters
    ----------
    job : Job
        What the objects are, and where the result goes.
    labeled : int, optional
        Objects of each class, drawn by the seed, whose labels are used; the others serve to
        measure the accuracy. Default: all labels that are known, or 3 where that is each one.

    Returns
    -------
    Propagation
        As of `d2ke.lpdsk`, with the labels' numbers in the order of `classes`, -1 if unreached.

    Raises
    ------
    InputError
        What an argument names is not there, or is not what it should be.
    FileNotFoundError, ImportError
        A data set's files, or a package that it or a picture needs, are missing.
    """
    return _usable(lambda: _propagate(job, labeled))


def _usable(work: Callable[[], Any]) -> Any:
    """Call it; a value that it refuses is an argument's, or what an argument names."""
    try:
        return work()
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(str(error)) from error


def _cluster(job: Job, n_clusters: int | None) -> Clustering:
    found = job.read("clusters")
    known, classes, codes = _classes(found, job.unknown)
    if n_clusters is None:
        if not known.any():
            raise InputError(
                f"n_clusters is needed (--n-clusters N): no labels are known of {job.source}"
            )
        n_clusters = len(classes)
    integer("n_clusters", n_clusters, 2, found.n)
    result = job.long(
        "clustering",
        lambda: cdsk(n_clusters=n_clusters, seed=job.seed, **job.options(found)),
    )
    labels = result.labels
    rounds = len(result.objectives)
    job.report(
        f"clusters: {labels.max() + 1}, lambda {result.lam:.4g}{_default(job.lam, 'n / 2')}; round "
        f"{result.best + 1} of {rounds} has the least objective"
    )
    job.report("sizes: " + _sizes(np.bincount(labels), [str(i) for i in range(labels.max() + 1)]))
    if known.any():
        job.report(_agreement(codes[known], labels[known], f"{known.sum()} labelled objects"))
    columns = {"item": np.arange(found.n), "cluster": labels, "alpha": result.alpha}
    if found.labels is not None:
        columns["label"] = _named(classes, codes, job.unknown)

    def panels() -> list[Panel]:
        names = [f"cluster {i}" for i in range(labels.max() + 1)]
        colours = matched(labels, codes) if known.all() else np.arange(len(names))
        result = [Panel("clusters", labels, names, colours)]
        if known.any():
            result.append(Panel("classes", codes, [str(one) for one in classes]))
        return result

    job.finish(columns, panels, found)
    return result


def _propagate(job: Job, labeled: int | None) -> Propagation:
    found = job.read("labels")
    known, classes, codes = _classes(found, job.unknown)
    if not known.any():
        raise InputError(
            f"labels are needed (--labels): none are known of {job.source}"
            if found.labels is None
            else f"labels has no known label: each of the {found.n} is marked as unknown"
        )
    if len(classes) < 2:
        raise InputError(f"labels must have at least two classes, got only {classes[0]}")
    given = known
    if labeled is not None or known.all():
        given = _drawn(codes, len(classes), _LABELED if labeled is None else labeled, job.seed)
    job.report(f"given: labels of {given.sum()} objects of {len(classes)} classes")
    y = np.where(given, codes, -1)
    result = job.long("label propagation", lambda: lpdsk(y=y, **job.options(found)))
    labels = result.labels
    job.report(
        f"lambda {result.lam:.4g}{_default(job.lam, 'n / 2')}; rounds: {len(result.objectives)}"
    )
    counts = np.bincount(labels[labels >= 0], minlength=len(classes))
    job.report("sizes: " + _sizes(counts, [str(one) for one in classes]))
    if not result.reached.all():
        job.report(
            f"unreached: {(~result.reached).sum()} objects, to which no path of similarities "
            "leads from a labelled one"
        )
    rest = known & ~given
    if rest.any():
        what = f"{rest.sum()} other objects"
        right = np.mean(labels[rest] == codes[rest])
        nmi = normalized_mutual_information(codes[rest], labels[rest])
        job.report(f"accuracy {100 * right:.2f} %, NMI {nmi:.3f} on the {what} with known labels")
    job.finish(
        {
            "item": np.arange(found.n),
            "label": _named(classes, labels, job.unknown),
            "given": given.astype(np.int64),
            "score": np.where(labels >= 0, result.scores[np.arange(found.n), labels], 0.0),
            "alpha": result.alpha,
            "known": _named(classes, codes, job.unknown),
        },
        lambda: _propagation_panels(classes, codes, known, given, labels),
        found,
    )
    return result


def _named(classes: np.ndarray, codes: np.ndarray, unknown: str | None) -> np.ndarray:
    """Return labels by their codes, and what marks unknown ones for -1."""
    marker = unknown or "" if classes.dtype.kind == "U" else int(unknown or -1)
    return np.append(classes, np.array([marker]))[codes]


def _propagation_panels(
    classes: np.ndarray,
    codes: np.ndarray,
    known: np.ndarray,
    given: np.ndarray,
    labels: np.ndarray,
) -> list[Panel]:
    names = [str(one) for one in classes]
    panels = [Panel("labels found; given ones as stars", labels, names, marked=given)]
    if (known & ~given).any():
        panels.append(Panel("known labels", codes, names))
    return panels


def _classes(found: Similarities, unknown: str | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which labels are known, the distinct ones, and for each object its code or -1."""
    if found.labels is None:
        if unknown is not None:
            raise InputError("unknown has no meaning without labels")
        return np.zeros(found.n, bool), np.empty(0, np.int64), np.full(found.n, -1)
    labels = found.labels
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
    codes = np.full(found.n, -1)
    codes[known] = inverse
    return known, classes, codes


def _drawn(codes: np.ndarray, n_classes: int, k: int, seed: int) -> np.ndarray:
    """Mark k objects of each class, or all but one of a class with no more than k."""
    integer("labeled", k, 1)
    rng = generator(seed)
    given = np.zeros(len(codes), bool)
    for code in range(n_classes):
        members = np.flatnonzero(codes == code)
        given[rng.permutation(members)[: max(1, min(k, len(members) - 1))]] = True
    return given


def _default(given: Any, rule: str) -> str:
    return f" = {rule}" if given is None else ""


def _sizes(counts: np.ndarray, names: list[str]) -> str:
    if len(counts) > _SHOWN:
        return (
            f"{len(counts)} of {counts.min()} to {counts.max()} objects, median "
            f"{np.median(counts):g}"
        )
    return ", ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True))


def _agreement(codes: np.ndarray, labels: np.ndarray, what: str) -> str:
    accuracy = clustering_accuracy(codes, labels)
    nmi = normalized_mutual_information(codes, labels)
    return f"accuracy {100 * accuracy:.2f} %, NMI {nmi:.3f} on the {what}"
