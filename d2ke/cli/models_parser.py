# SPDX-License-Identifier: BSD-3-Clause
"""The commands `d2ke train`, `d2ke predict` and `d2ke embed`: their arguments."""

from __future__ import annotations

import argparse
from typing import Any

from d2ke._base.checks import byte_count
from d2ke.cli.options import add_seed, positive, session_of

_FILE = """\
FILE holds objects and, for most uses, their labels:

  .ts               series and classes, as in the UEA and UCR archives
  .csv, .tsv        a header, then a string on each row; or a vector of a series on each row, with
                    a column that says which series it is of (id, or --ids NAME)
  .mat              a cell of strings or matrices, and labels
  .fasta, .fa       sequences; the label is the last field of the header between |, or the group
                    of a regular expression, --labels 'family=(\\w+)'
  .npz, .h5, .hdf5  arrays values and offsets, or series of equal length, or strings; and labels
"""
_EXAMPLES = {
    "train": """\
examples:
  d2ke train genes.fasta --out model.h5 --report report.html
  d2ke train words.csv --objects word --labels language --out model.h5
""",
    "predict": """\
example:
  d2ke predict model.h5 new.fasta --out labels.csv --report report.html
""",
    "embed": """\
example:
  d2ke embed model.h5 genes.fasta --out features.h5
""",
}


def add_model_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add the three commands to the subparsers of `d2ke`."""
    train = _command(
        commands, common, "train", "train a model on the labelled objects of a file", "model.h5"
    )
    add = train.add_argument
    add(
        "--distance",
        metavar="NAME",
        help="default: levenshtein for strings, dtw for vectors; mhd and the other distances of "
        "sets say that the objects are sets",
    )
    add("--R", type=positive, metavar="R", help="random objects (default: by kind of objects)")
    add("--report", metavar="FILE", help="write a page with pictures here, .html")
    add_seed(train)
    train.set_defaults(run=_train)
    predict = _command(
        commands, common, "predict", "predict the labels of a file by a model", "labels.csv"
    )
    predict.add_argument(
        "--report",
        metavar="FILE",
        help="of labelled objects: write a page with pictures here, .html",
    )
    predict.set_defaults(run=_predict)
    embed = _command(
        commands, common, "embed", "features of the objects of a file by a model", "features.h5"
    )
    embed.add_argument(
        "--resume", action="store_true", help="keep what is interrupted, and resume it"
    )
    embed.set_defaults(run=_embed)


def _command(
    commands: Any, common: argparse.ArgumentParser, name: str, short: str, out: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        parents=[common],
        help=short,
        description=f"{short[0].upper()}{short[1:]}.\n\n{_FILE}",
        epilog=_EXAMPLES[name],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    if name != "train":
        add("model", metavar="MODEL", help="what d2ke train wrote")
    add("file", metavar="FILE", help="the objects")
    endings = "; .csv, .h5 or .hdf5" if name == "predict" else ""
    add("--out", required=True, metavar="FILE", help=f"where to write, such as {out}{endings}")
    add(
        "--objects",
        action="append",
        metavar="NAME",
        help="the variable or column of the objects; several times for the channels of series",
    )
    add("--labels", metavar="NAME", help="the variable or column of the labels (default: by name)")
    add("--ids", metavar="NAME", help="the column that says which series a row is of")
    add("--time", metavar="NAME", help="the column by which the rows of a series are ordered")
    add(
        "--channels-first",
        action=argparse.BooleanOptionalAction,
        help="matrices have channels in rows (default: as far as that can be seen)",
    )
    add("--max-memory", type=_bytes, metavar="BYTES", help="such as 2GB; refuse to take more")
    return parser


def _bytes(text: str) -> int:
    """Return a number of bytes."""
    try:
        return byte_count("it", int(text) if text.isdecimal() else text)
    except (TypeError, ValueError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _job(options: argparse.Namespace) -> Any:
    from d2ke.cli.models import Job

    names = options.objects
    columns = {
        "objects": names[0] if names and len(names) == 1 else names,
        "labels": options.labels,
        "ids": options.ids,
        "time": options.time,
        "channels_first": options.channels_first,
    }
    return Job(options.file, options.out, columns, options.max_memory, session_of(options))


def _train(options: argparse.Namespace) -> None:
    from d2ke.cli.models import train

    settings = {"distance": options.distance, "R": options.R, "seed": options.seed}
    train(_job(options), settings, options.report)


def _predict(options: argparse.Namespace) -> None:
    from d2ke.cli.models import predict

    predict(_job(options), options.model, options.report)


def _embed(options: argparse.Namespace) -> None:
    from d2ke.cli.models import embed

    embed(_job(options), options.model, options.resume)
