# SPDX-License-Identifier: BSD-3-Clause
"""The `d2ke` command."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable

from d2ke._base.config import show_config
from d2ke._version import __version__
from d2ke.cli.clustering import add_clustering_commands
from d2ke.cli.dedupe import add_dedupe_command
from d2ke.cli.models import add_model_commands
from d2ke.cli.neighbors import add_neighbors_command
from d2ke.cli.options import add_seed, session_of, threads_parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    return run_command(_parser(), arguments)


def run_command(parser: argparse.ArgumentParser, arguments: list[str] | None) -> int:
    """Parse the arguments and call the function that they name; return the exit status."""
    name = parser.prog.split()[-1]
    try:
        words = sys.argv[1:] if arguments is None else arguments
        options = parser.parse_args(words)
        options.command = f"{parser.prog} {shlex.join(words)}".rstrip()
        options.run(options)
    except KeyboardInterrupt as stop:
        print(f"{name}: interrupted" + "".join(f"; {text}" for text in stop.args), file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader, such as `head`, has closed the pipe; keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (ImportError, OSError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        # An InputError has status 2, as a wrong command line.
        return getattr(error, "status", 1)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="d2ke", description="Learning from distances.")
    parser.add_argument("--version", action="version", version=f"d2ke {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = threads_parser()

    demo = commands.add_parser(
        "demo", parents=[common], help="D2KE and four baselines side by side; needs no files"
    )
    demo.add_argument("--figure", default="d2ke-demo.png", metavar="FILE", help="the picture")
    add_seed(demo)
    demo.set_defaults(run=_demo)

    add_model_commands(commands, common)
    add_neighbors_command(commands, common)
    add_dedupe_command(commands, common)
    add_clustering_commands(commands, common)

    config = commands.add_parser("config", help="version, OpenMP, instruction set, threads")
    config.set_defaults(run=lambda options: show_config())
    return parser


def _demo(options: argparse.Namespace) -> None:
    from d2ke.cli.demo import demo

    demo(options.figure, seed=options.seed, session=session_of(options))


def console(command: Callable[[], int] = main) -> None:
    """Run a command as its own process."""
    status = command()
    if status == 130:
        # Threads may still be inside a long library call; do not wait for it.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
