# SPDX-License-Identifier: BSD-3-Clause
"""The `d2ke` command."""

from __future__ import annotations

import argparse
import os
import sys

from d2ke._config import show_config
from d2ke._version import __version__


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    try:
        options = _parser().parse_args(arguments)
        options.run(options)
    except KeyboardInterrupt:
        print("d2ke: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader, `head` say, has seen enough; keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (ImportError, OSError, ValueError) as error:
        print(f"d2ke: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    from d2ke.experiments.methods import METHODS
    from d2ke.experiments.settings import SETTINGS

    parser = argparse.ArgumentParser(prog="d2ke", description="Learning from distances.")
    parser.add_argument("--version", action="version", version=f"d2ke {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--threads", type=_positive, metavar="N", help="threads to use (default: all)"
    )

    demo = commands.add_parser(
        "demo", parents=[common], help="D2KE, RSM and KNN side by side; needs no files"
    )
    demo.add_argument("--figure", default="d2ke-demo.png", metavar="FILE", help="the picture")
    demo.add_argument("--seed", type=_seed, default=0, metavar="S", help="random seed (default 0)")
    demo.set_defaults(run=_demo)

    run = commands.add_parser(
        "run", parents=[common], help="one method on one data set over several divisions"
    )
    run.add_argument("dataset", choices=sorted(SETTINGS), help="the data set")
    run.add_argument("--method", choices=METHODS, default="d2ke", help="default: d2ke")
    run.add_argument("--data", metavar="DIR", help="folder of the data files (default: $D2KE_DATA)")
    run.add_argument(
        "--seeds", type=_positive, default=5, metavar="N", help="divisions (default 5)"
    )
    run.add_argument(
        "--R", type=_positive, metavar="R", help="random objects (default: per data set)"
    )
    run.add_argument("--json", metavar="FILE", help="write the record here")
    run.set_defaults(run=_run)

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


def _positive(text: str) -> int:
    return _whole(text, 1)


def _seed(text: str) -> int:
    return _whole(text, 0)


def _whole(text: str, low: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if value < low:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer of at least {low}")
    return value


def console() -> None:
    """Run the command as a process of its own."""
    status = main()
    if status == 130:
        # Threads may still be inside a long library call; nobody waits for it any more.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    console()
