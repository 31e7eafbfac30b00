# SPDX-License-Identifier: BSD-3-Clause
"""The `d2ke` command."""

from __future__ import annotations

import argparse
import os
import shlex
import sys

from d2ke._base.config import show_config
from d2ke._version import __version__
from d2ke.cli.clustering_parser import add_clustering_commands
from d2ke.cli.models_parser import add_model_commands
from d2ke.cli.neighbors_parser import add_neighbors_command
from d2ke.cli.options import add_data, add_seed, positive, session_of, threads_parser
from d2ke.cli.scaling import add_scaling_command


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    try:
        words = sys.argv[1:] if arguments is None else arguments
        options = _parser().parse_args(words)
        options.command = shlex.join(["d2ke", *words])
        options.run(options)
    except KeyboardInterrupt as stop:
        print("d2ke: interrupted" + "".join(f"; {text}" for text in stop.args), file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader, such as `head`, has closed the pipe; keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (ImportError, OSError, ValueError) as error:
        print(f"d2ke: {error}", file=sys.stderr)
        # An InputError has status 2, as a wrong command line.
        return getattr(error, "status", 1)
    return 0


def _parser() -> argparse.ArgumentParser:
    from d2ke.experiments.methods import METHODS
    from d2ke.experiments.settings import SETTINGS

    parser = argparse.ArgumentParser(prog="d2ke", description="Learning from distances.")
    parser.add_argument("--version", action="version", version=f"d2ke {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = threads_parser()

    demo = commands.add_parser(
        "demo", parents=[common], help="D2KE, RSM and KNN side by side; needs no files"
    )
    demo.add_argument("--figure", default="d2ke-demo.png", metavar="FILE", help="the picture")
    add_seed(demo)
    demo.set_defaults(run=_demo)

    run = commands.add_parser(
        "run", parents=[common], help="one method on one data set over several divisions"
    )
    run.add_argument("dataset", choices=sorted(SETTINGS), help="the data set")
    run.add_argument("--method", choices=METHODS, default="d2ke", help="default: d2ke")
    add_data(run)
    run.add_argument("--seeds", type=positive, default=5, metavar="N", help="divisions (default 5)")
    run.add_argument(
        "--R", type=positive, metavar="R", help="random objects (default: per data set)"
    )
    run.add_argument("--json", metavar="FILE", help="write the record here")
    run.set_defaults(run=_run)

    tables = commands.add_parser(
        "tables",
        parents=[common],
        help="the paper's tables: all methods on all data sets; resumes a stopped run",
        description="The paper's experiments, with a report. Finished cells are stored in the "
        "output folder: the same command resumes a run that was stopped.",
    )
    add = tables.add_argument
    add("--domain", choices=["series", "strings", "images"], help="only data sets of this kind")
    add(
        "--datasets",
        nargs="+",
        choices=list(SETTINGS),
        metavar="NAME",
        help="default: the paper's; of " + ", ".join(SETTINGS),
    )
    add(
        "--methods",
        nargs="+",
        choices=list(METHODS),
        metavar="NAME",
        help="default: all of " + ", ".join(METHODS),
    )
    add("--seeds", type=positive, metavar="N", help="divisions (default 5, with --quick 1)")
    kind = tables.add_mutually_exclusive_group().add_argument
    kind("--quick", action="store_true", help="search less and take fewer random objects")
    kind(
        "--paper",
        action="store_true",
        help="the paper's own protocol, its printed numbers beside what it gives here",
    )
    add("--out", default="d2ke-tables", metavar="DIR", help="output folder (default d2ke-tables)")
    add_data(tables)
    tables.set_defaults(run=_tables)

    add_scaling_command(commands, common)
    add_model_commands(commands, common)
    add_neighbors_command(commands, common)
    add_clustering_commands(commands, common)

    config = commands.add_parser("config", help="version, OpenMP, instruction set, threads")
    config.set_defaults(run=lambda options: show_config())
    return parser


def _demo(options: argparse.Namespace) -> None:
    from d2ke.experiments.demo import demo

    demo(options.figure, seed=options.seed, session=session_of(options))


def _run(options: argparse.Namespace) -> None:
    from d2ke.experiments.run import run, summary

    record = run(
        options.dataset,
        method=options.method,
        seeds=options.seeds,
        R=options.R,
        json_file=options.json,
        session=session_of(options),
    )
    print(summary(record))


def _tables(options: argparse.Namespace) -> None:
    from d2ke.experiments.plan import Selection
    from d2ke.experiments.tables import tables

    selection = Selection(
        options.datasets,
        options.domain,
        options.methods,
        options.seeds,
        options.quick,
        options.paper,
    )
    try:
        tables(selection, out=options.out, command=options.command, session=session_of(options))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"finished cells are in {options.out}; to resume: {options.command}"
        ) from None
    print(f"report: {os.path.join(options.out, 'report.html')} and report.md, results.json")


def console() -> None:
    """Run the command as its own process."""
    status = main()
    if status == 130:
        # Threads may still be inside a long library call; do not wait for it.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
