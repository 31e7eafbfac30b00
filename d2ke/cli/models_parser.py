# SPDX-License-Identifier: BSD-3-Clause
"""The commands `d2ke train`, `d2ke predict` and `d2ke embed`: their arguments."""

from __future__ import annotations

import argparse
from typing import Any

from d2ke.cli.options import (
    FILES,
    add_distance,
    add_max_memory,
    add_objects,
    add_seed,
    job_of,
    positive,
)

_EXAMPLES = {
    "train": """\
examples:
  d2ke train genes.fasta --out model.h5 --report report.html
  d2ke train words.csv --objects word --labels language --out model.h5
  d2ke train gestures.ts --distance dtw --parameter window=10 --out model.h5
  d2ke train gestures.ts --distance dtw,msm --out model.h5      both, side by side
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
    add_distance(train)
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
    _add_letters(predict)
    predict.set_defaults(run=_predict)
    embed = _command(
        commands, common, "embed", "features of the objects of a file by a model", "features.h5"
    )
    embed.add_argument(
        "--resume", action="store_true", help="keep what is interrupted, and resume it"
    )
    add_max_memory(embed)
    _add_letters(embed)
    embed.set_defaults(run=_embed)


def _add_letters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--unseen-letters",
        choices=["refuse", "allow"],
        default="refuse",
        help="what to do with letters that no training string has: stop, or let them differ from "
        "all of the model (default: refuse)",
    )


def _command(
    commands: Any, common: argparse.ArgumentParser, name: str, short: str, out: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        parents=[common],
        help=short,
        description=f"{short[0].upper()}{short[1:]}.\n\n{FILES}",
        epilog=_EXAMPLES[name],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    if name != "train":
        add("model", metavar="MODEL", help="what d2ke train wrote")
    add("file", metavar="FILE", help="the objects")
    endings = "; .csv, .h5 or .hdf5" if name == "predict" else ""
    add("--out", required=True, metavar="FILE", help=f"where to write, such as {out}{endings}")
    add_objects(parser)
    return parser


def _train(options: argparse.Namespace) -> None:
    from d2ke.cli.models import train

    distance = options.distance
    if distance is not None and "," in distance:
        distance = distance.split(",")
    settings = {"distance": distance, "R": options.R, "seed": options.seed}
    train(job_of(options), settings, options.report, dict(options.parameter))


def _predict(options: argparse.Namespace) -> None:
    from d2ke.cli.models import predict

    predict(job_of(options), options.model, options.report, options.unseen_letters)


def _embed(options: argparse.Namespace) -> None:
    from d2ke.cli.models import embed

    embed(job_of(options), options.model, options.resume, options.unseen_letters)
