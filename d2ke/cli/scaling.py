# SPDX-License-Identifier: BSD-3-Clause
"""The command `d2ke scaling`: its arguments."""

from __future__ import annotations

import argparse
import os
from typing import Any

from d2ke.cli.options import add_data, add_seed, number, positive, session_of


def add_scaling_command(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to the subparsers of `d2ke`."""
    from d2ke.experiments.methods import METHODS
    from d2ke.experiments.settings import SETTINGS

    parser = commands.add_parser(
        "scaling",
        parents=[common],
        help="time, memory and accuracy of all methods against the number and length of objects",
        description="Each method on N = 125, 250, ... training objects, and on shorter and longer "
        "ones, with slopes and crossings; a picture, a page and a JSON file. The same command "
        "resumes a run that was stopped.",
    )
    add = parser.add_argument
    add("dataset", nargs="?", choices=list(SETTINGS), default="splice", metavar="DATA",
        help="default: splice; of " + ", ".join(SETTINGS))  # fmt: skip
    add("--methods", nargs="+", choices=list(METHODS), metavar="NAME",
        help="default: all of " + ", ".join(METHODS))  # fmt: skip
    add("--R", type=positive, default=1024, help="random objects (default 1024)")
    add("--smallest", type=positive, default=125, metavar="N", help="first N (default 125)")
    add("--largest", type=positive, metavar="N", help="last N (default: all)")
    add("--seconds", type=number, default=60.0, metavar="S",
        help="a method stops before a size that is predicted to take more processor time "
        "(default 60)")  # fmt: skip
    add("--out", default="d2ke-scaling", metavar="DIR", help="output folder (default d2ke-scaling)")
    add_data(parser)
    add_seed(parser)
    parser.set_defaults(run=_scaling)


def _scaling(options: argparse.Namespace) -> None:
    from d2ke.experiments.scaling import Scale, scaling
    from d2ke.experiments.scaling_report import crossing_text

    scale = Scale(
        options.methods,
        R=options.R,
        smallest=options.smallest,
        largest=options.largest,
        seconds=options.seconds,
        seed=options.seed,
    )
    try:
        results = scaling(
            options.dataset,
            scale,
            out=options.out,
            command=options.command,
            session=session_of(options),
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"finished points are in {options.out}; to resume: {options.command}"
        ) from None
    for point in results["crossings"]:
        if point["quantity"] == "seconds":
            print(crossing_text(point))
    path = os.path.join(options.out, f"scaling-{options.dataset}")
    print(f"picture: {path}.png; page: {path}.html and .md; {path}.json")
