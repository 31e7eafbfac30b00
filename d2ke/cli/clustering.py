# SPDX-License-Identifier: BSD-3-Clause
"""Clustering and label propagation of a data set or a file: `d2ke cluster`, `d2ke propagate`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.checks import generator, integer
from d2ke.cli.cluster_report import cluster_colours, write_cluster_report
from d2ke.cli.map_picture import draw, matched, write_figure
from d2ke.cli.matrix_files import InputError, read_labels
from d2ke.cli.options import add_seed, number, positive, session_of
from d2ke.cli.result_files import TABLES, check_results, input_errors, write_columns
from d2ke.cli.session import Session
from d2ke.cli.similarities import FORMS, KERNELS, R, Similarities, read_similarities
from d2ke.discriminative.cdsk import TRACE_WEIGHT, VARIANTS, cdsk
from d2ke.discriminative.lpdsk import lpdsk
from d2ke.discriminative.metrics import clustering_accuracy, normalized_mutual_information
from d2ke.explain.pictures import Panel, coordinates
from d2ke.groups.tree_picture import MAX_LEAVES, draw_tree, sample_leaves

_LABELED = 3
_SHOWN = 12  # sizes in one line


_INPUT = """\
INPUT is a data set of d2ke.datasets (splice, japanese-vowels, digits, ...), or a file:

  .mat, .h5, .hdf5        a matrix, --variable NAME where there are several
  .csv, .tsv, .txt        a table of numbers; a first line without any number is a header
  .h5                     of --save-features or d2ke.io.save_features

For a data set, D2KE features are computed from its distance: random strings from a Markov
chain of order 3, of 3/4 to 5/4 of the median length, random segments of series (standardised)
of length 2 to 25, or random sets of 3 to 15 elements; all drawn from the data without labels.
A file holds a Gram matrix, or what --as says.
"""
_EXAMPLES = {
    "cluster": """\
examples:
  d2ke cluster digits --picture digits.png
  d2ke cluster gram.csv --n-clusters 3 --out clusters.csv
  d2ke cluster gram.csv --n-clusters 3 --names names.txt --report clusters.html
  d2ke cluster COIL20.mat --variable X --as points --labels Y --out clusters.h5
""",
    "propagate": """\
examples:
  d2ke propagate digits --labeled 5 --picture digits.png
  d2ke propagate distances.csv --as distances --labels some-labels.txt --out labels.csv
""",
}


def add_clustering_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add both commands to the subparsers of `d2ke`."""
    parser = _command(
        commands,
        common,
        "cluster",
        "clusters of a data set, a Gram matrix, distances or features",
        "Clusters by discriminative similarity, d2ke.cdsk.",
    )
    parser.add_argument(
        "--n-clusters", type=positive, metavar="N", help="default: the number of classes"
    )
    parser.add_argument(
        "--tree",
        metavar="FILE",
        help="draw the tree of average linkage and the distances in its order here, .png, .pdf or "
        f".svg; of more than {MAX_LEAVES} objects, of a sample",
    )
    parser.add_argument(
        "--names",
        metavar="WHAT",
        help="names of the objects, for --tree and --report: as --labels (default: numbers)",
    )
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="write a page with the sizes and medoids of the clusters, and the tree, .html",
    )
    parser.set_defaults(run=cluster)
    parser = _command(
        commands,
        common,
        "propagate",
        "propagate labels from some objects to all",
        "Label propagation by discriminative similarity, d2ke.lpdsk.",
    )
    parser.add_argument(
        "--labeled",
        type=positive,
        metavar="K",
        help="use K labels of each class, drawn by --seed, and measure the accuracy on the other "
        "objects (default: all known labels, or 3 if all are known)",
    )
    parser.set_defaults(run=propagate)


def _command(
    commands: Any, common: argparse.ArgumentParser, name: str, short: str, long: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        parents=[common],
        help=short,
        description=f"{long}\n\n{_INPUT}",
        epilog=_EXAMPLES[name],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("source", metavar="INPUT", help="a data set or a file")
    add(
        "--as",
        dest="form",
        choices=FORMS,
        help="the file's matrix: a Gram matrix (default), distances, features as from "
        "d2ke.d2ke_embed, or points; for distances and points the widths are chosen",
    )
    add("--variable", metavar="NAME", help="the matrix in a .mat or HDF5 file")
    add(
        "--labels",
        metavar="WHAT",
        help="known labels: a text file with one in each line, or a variable of the input file",
    )
    add(
        "--unknown",
        metavar="MARK",
        help="the marker of an unknown label (default: an empty line, nan, -1)",
    )
    add(
        "--gamma",
        type=number,
        metavar="G",
        help="for distances d: K = exp(-gamma d) in place of widths that are chosen; for a data "
        "set's distances to random objects (default 5 / their median)",
    )
    add("--R", type=positive, metavar="R", help=f"random objects of a data set (default {R})")
    add(
        "--kernel",
        choices=KERNELS,
        help="for features: Gaussian, of those scaled to length 1 (default up to 5000 objects), "
        "or their products",
    )
    add("--lam", type=number, metavar="L", help="weight of the quadratic term (default n / 2)")
    variant = "hard" if name == "cluster" else "relaxed"
    add("--variant", choices=VARIANTS, help=f"weights for labels or for scores (default {variant})")
    add("--trace-weight", type=number, metavar="S", help=f"of the cut (default {TRACE_WEIGHT})")
    add(
        "--similarity",
        choices=("psd", "general"),
        help="general: the Gram matrix may be indefinite (default psd)",
    )
    add_seed(parser)
    add("--out", metavar="FILE", help="write a row for each object here, .csv, .h5 or .hdf5")
    add("--picture", metavar="FILE", help="draw a map of the objects here, .png, .pdf or .svg")
    add(
        "--save-features",
        metavar="FILE",
        help="write the features of a data set here (.h5), an INPUT for other runs",
    )
    return parser


def _read(options: argparse.Namespace, purpose: str, session: Session) -> Similarities:
    """Check the output files first, then get the similarities for a purpose."""
    check_results(options, TABLES, {"the input": options.source})
    data = read_similarities(options, purpose, session)
    if options.similarity == "general" and data.K is None:
        (name,) = data.argument
        raise InputError(
            'similarity "general" is for a Gram matrix, or for distances with gamma '
            f"(--gamma); {options.source} has {name} alone"
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
    panels: list[Panel],
    data: Similarities,
    session: Session,
) -> None:
    """Write the result, then draw."""
    if options.out is not None:
        write_columns(Path(options.out), columns)
        session.report(f"result: {options.out}")
    if options.picture is not None:
        places = session.long("map", lambda: coordinates(**data.for_map()))
        draw(Path(options.picture), data.title, places, panels)
        session.report(f"picture: {options.picture}")


@input_errors()
def cluster(options: argparse.Namespace) -> None:
    """Cluster the objects of a data set or a file by `d2ke.cdsk`.

    Raises
    ------
    InputError
        An option names something that is missing or unusable.
    ImportError
        A package that a data set or a picture needs is missing.
    """
    session, n_clusters = session_of(options), options.n_clusters
    data = _read(options, "clusters", session)
    known, classes, codes = _classes(data, options.unknown)
    objects = _object_names(options, data, classes, codes)
    if n_clusters is None:
        if not known.any():
            raise InputError(
                f"n_clusters is needed (--n-clusters N): no labels are known of {options.source}"
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
    if known.any():
        accuracy = clustering_accuracy(codes[known], labels[known])
        nmi = normalized_mutual_information(codes[known], labels[known])
        session.report(
            f"accuracy {100 * accuracy:.2f} %, NMI {nmi:.3f} on the {known.sum()} labelled objects"
        )
    columns = {"item": np.arange(data.n), "cluster": labels, "alpha": result.alpha}
    if data.labels is not None:
        columns["label"] = _named(classes, codes, options.unknown)

    names = [f"cluster {i}" for i in range(labels.max() + 1)]
    colours = matched(labels, codes) if known.all() else np.arange(len(names))
    panels = [Panel("clusters", labels, names, colours)]
    if known.any():
        panels.append(Panel("classes", codes, [str(name) for name in classes]))
    _write(options, columns, panels, data, session)
    by_cluster = cluster_colours(colours)
    if options.tree is not None:
        some = sample_leaves(data.n, MAX_LEAVES, options.seed)
        of_leaves = [by_cluster[label] for label in labels[some]]
        D = data.distances_of(some)
        drawn = draw_tree(D, [objects[i] for i in some], data.n, colours=of_leaves)
        write_figure(Path(options.tree), drawn)
        session.report(f"tree: {options.tree}")
    if options.report is not None:
        arguments = labels, objects, by_cluster, (classes, codes), options.seed
        session.long("report", write_cluster_report, Path(options.report), data, *arguments)
        session.report(f"report: {options.report}")


def _object_names(
    options: argparse.Namespace, data: Similarities, classes: np.ndarray, codes: np.ndarray
) -> list[str]:
    """Return the given names of objects, or their numbers with their known labels."""
    if options.names is None:
        return [f"{i}" if code < 0 else f"{i}: {classes[code]}" for i, code in enumerate(codes)]
    names = read_labels(options.names, Path(options.source), "names")
    if len(names) != data.n:
        raise InputError(f"names has {len(names)} names, but there are {data.n} objects")
    return [str(name) for name in names]


@input_errors()
def propagate(options: argparse.Namespace) -> None:
    """Propagate labels from some objects of a data set or a file to all, by `d2ke.lpdsk`.

    Raises
    ------
    InputError
        An option names something that is missing or unusable.
    ImportError
        A package that a data set or a picture needs is missing.
    """
    session, labeled = session_of(options), options.labeled
    data = _read(options, "labels", session)
    known, classes, codes = _classes(data, options.unknown)
    if not known.any():
        raise InputError(
            f"labels are needed (--labels): none are known of {options.source}"
            if data.labels is None
            else f"labels has no known label: each of the {data.n} is marked as unknown"
        )
    if len(classes) < 2:
        raise InputError(f"labels must have at least two classes, got only {classes[0]}")
    used = known
    if labeled is not None or known.all():
        k = _LABELED if labeled is None else labeled
        used = _drawn(codes, len(classes), k, options.seed)
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
    panels = [Panel("labels found; given ones as stars", labels, names, marked=used)]
    rest = known & ~used
    if rest.any():
        panels.append(Panel("known labels", codes, names))
        right = np.mean(labels[rest] == codes[rest])
        nmi = normalized_mutual_information(codes[rest], labels[rest])
        session.report(
            f"accuracy {100 * right:.2f} %, NMI {nmi:.3f} on the "
            f"{rest.sum()} other objects with known labels"
        )
    columns = {
        "item": np.arange(data.n),
        "label": _named(classes, labels, options.unknown),
        "given": used.astype(np.int64),
        "score": np.where(labels >= 0, result.scores[np.arange(data.n), labels], 0.0),
        "alpha": result.alpha,
        "known": _named(classes, codes, options.unknown),
    }
    _write(options, columns, panels, data, session)


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


def _report_widths(session: Session, data: Similarities, h: float | None) -> None:
    """Report the width that was chosen, if so."""
    if data.automatic:
        session.report(f"similarities of near neighbours; common width h = {h:.4g}, chosen")


def _default(options: argparse.Namespace) -> str:
    return " = n / 2" if options.lam is None else ""


def _sizes(counts: np.ndarray, names: Iterable[Any]) -> str:
    if len(counts) > _SHOWN:
        return (
            f"{len(counts)} of {counts.min()} to {counts.max()} objects, median "
            f"{np.median(counts):g}"
        )
    return ", ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True))
