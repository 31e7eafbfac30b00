# SPDX-License-Identifier: BSD-3-Clause
"""The `d2ke` command."""

from __future__ import annotations

import argparse
import os
import shlex
import sys

from d2ke._base.config import show_config
from d2ke._version import __version__
from d2ke.cli.argument_types import positive, seed
from d2ke.cli.clustering_parser import add_clustering_commands


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    try:
        given = sys.argv[1:] if arguments is None else arguments
        options = _parser().parse_args(given)
        options.command = shlex.join(["d2ke", *given])
        options.run(options)
    except KeyboardInterrupt as stop:
        print("d2ke: interrupted" + "".join(f"; {text}" for text in stop.args), file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader, `head` say, has seen enough; keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (ImportError, OSError, ValueError) as error:
        print(f"d2ke: {error}", file=sys.stderr)
        # Of 2, as where the command line itself is wrong: an argument is to be changed.
        return getattr(error, "status", 1)
    return 0


def _parser() -> argparse.ArgumentParser:
    from d2ke.experiments.methods import METHODS
    from d2ke.experiments.settings import SETTINGS

    parser = argparse.ArgumentParser(prog="d2ke", description="Learning from distances.")
    parser.add_argument("--version", action="version", version=f"d2ke {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--threads", type=positive, metavar="N", help="threads to use (default: all)"
    )

    demo = commands.add_parser(
        "demo", parents=[common], help="D2KE, RSM and KNN side by side; needs no files"
    )
    demo.add_argument("--figure", default="d2ke-demo.png", metavar="FILE", help="the picture")
    demo.add_argument("--seed", type=seed, default=0, metavar="S", help="random seed (default 0)")
    demo.set_defaults(run=_demo)

    run = commands.add_parser(
        "run", parents=[common], help="one method on one data set over several divisions"
    )
    run.add_argument("dataset", choices=sorted(SETTINGS), help="the data set")
    run.add_argument("--method", choices=METHODS, default="d2ke", help="default: d2ke")
    run.add_argument("--data", metavar="DIR", help="folder of the data files (default: $D2KE_DATA)")
    run.add_argument("--seeds", type=positive, default=5, metavar="N", help="divisions (default 5)")
    run.add_argument(
        "--R", type=positive, metavar="R", help="random objects (default: per data set)"
    )
    run.add_argument("--json", metavar="FILE", help="write the record here")
    run.set_defaults(run=_run)

    tables = commands.add_parser(
        "tables",
        parents=[common],
        help="the paper's tables: all methods on all data sets; goes on where it was stopped",
        description="The paper's experiments, with a report. What is finished is kept in the "
        "output folder: the same command goes on where it was stopped.",
    )
    tables.add_argument(
        "--domain", choices=["series", "strings", "images"], help="only data sets of this kind"
    )
    tables.add_argument(
        "--datasets",
        nargs="+",
        choices=list(SETTINGS),
        metavar="NAME",
        help="default: the paper's; of " + ", ".join(SETTINGS),
    )
    tables.add_argument(
        "--methods",
        nargs="+",
        choices=list(METHODS),
        metavar="NAME",
        help="default: all of " + ", ".join(METHODS),
    )
    tables.add_argument(
        "--seeds", type=positive, metavar="N", help="divisions (default 5, with --quick 1)"
    )
    tables.add_argument(
        "--quick", action="store_true", help="search less, take fewer random objects"
    )
    tables.add_argument(
        "--out", default="d2ke-tables", metavar="DIR", help="output folder (default d2ke-tables)"
    )
    tables.add_argument(
        "--data", metavar="DIR", help="folder of the data files (default: $D2KE_DATA)"
    )
    tables.set_defaults(run=_tables)

    add_clustering_commands(commands, common)

    config = commands.add_parser("config", help="version, OpenMP, instruction set, threads")
    config.set_defaults(run=lambda options: show_config())
    return parser


def _demo(options: argparse.Namespace) -> None:
    from d2ke.experiments.demo import demo

    demo(options.figure, seed=options.seed, n_threads=options.threads, progress=True)


def _run(options: argparse.Namespace) -> None:
    from d2ke.experiments.run import run, summary

    record = run(
        options.dataset,
        method=options.method,
        data_dir=options.data,
        seeds=options.seeds,
        R=options.R,
        n_threads=options.threads,
        json_file=options.json,
        progress=True,
        report=lambda line: print(line, flush=True),
    )
    print(summary(record))


def _tables(options: argparse.Namespace) -> None:
    from d2ke.experiments.tables import tables

    try:
        tables(
            options.datasets,
            domain=options.domain,
            methods=options.methods,
            seeds=options.seeds,
            quick=options.quick,
            out=options.out,
            data_dir=options.data,
            n_threads=options.threads,
            command=options.command,
            progress=True,
            report=lambda line: print(line, flush=True),
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"what is finished is kept in {options.out}; to go on: {options.command}"
        ) from None
    print(f"report: {os.path.join(options.out, 'report.html')} and report.md, results.json")


def console() -> None:
    """Run the command as a process of its own."""
    status = main()
    if status == 130:
        # Threads may still be inside a long library call; nobody waits for it any more.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
