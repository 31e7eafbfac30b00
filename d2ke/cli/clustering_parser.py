# SPDX-License-Identifier: BSD-3-Clause
"""The commands `d2ke cluster` and `d2ke propagate`: their arguments."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import Any

from d2ke.cli.options import add_seed, number, positive, session_of

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
    cluster = _command(
        commands,
        common,
        "cluster",
        "clusters of a data set, a Gram matrix, distances or features",
        "Clusters by discriminative similarity, d2ke.cdsk.",
    )
    cluster.add_argument(
        "--n-clusters", type=positive, metavar="N", help="default: the number of classes"
    )
    cluster.set_defaults(run=_cluster)
    propagate = _command(
        commands,
        common,
        "propagate",
        "propagate labels from some objects to all",
        "Label propagation by discriminative similarity, d2ke.lpdsk.",
    )
    propagate.add_argument(
        "--labeled",
        type=positive,
        metavar="K",
        help="use K labels of each class, drawn by --seed, and measure the accuracy on the other "
        "objects (default: all known labels, or 3 if all are known)",
    )
    propagate.set_defaults(run=_propagate)


def _command(
    commands: Any, common: argparse.ArgumentParser, name: str, short: str, long: str
) -> argparse.ArgumentParser:
    from d2ke.cli.similarities import FORMS, KERNELS, R
    from d2ke.discriminative.cdsk import TRACE_WEIGHT, VARIANTS

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


def _cluster(options: argparse.Namespace) -> None:
    from d2ke.cli.clustering import cluster

    cluster(_job(options), options.n_clusters)


def _propagate(options: argparse.Namespace) -> None:
    from d2ke.cli.clustering import propagate

    propagate(_job(options), options.labeled)


def _job(options: argparse.Namespace) -> Any:
    from d2ke.cli.clustering import Job
    from d2ke.cli.similarities import Input

    values = vars(options)
    names = ("lam", "variant", "trace_weight", "similarity")
    return Job(
        Input(**{field.name: values[field.name] for field in fields(Input)}),
        {name: values[name] for name in names if values[name] is not None},
        options.unknown,
        options.out,
        options.picture,
        session_of(options),
    )
