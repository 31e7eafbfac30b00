# SPDX-License-Identifier: BSD-3-Clause
"""The `d2ke` command. The module that runs a command is imported when the command runs."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module

from d2ke._base.errors import READER_LEFT
from d2ke._version import __version__
from d2ke.cli.commands import COMMANDS, STATUSES, TITLE, Command
from d2ke.cli.options import add_options
from d2ke.cli.shell import shell_words


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    return run_command(_parser(), arguments)


def run_command(parser: argparse.ArgumentParser, arguments: list[str] | None) -> int:
    """Parse the arguments and call the command's function; return the exit status."""
    name = parser.prog.split()[-1]
    try:
        words = sys.argv[1:] if arguments is None else arguments
        options = parser.parse_args(words)
        options.command = f"{parser.prog} {shell_words(*words)}".rstrip()
        options.run(options)
    except KeyboardInterrupt as stop:
        print(f"{name}: interrupted" + "".join(f"; {text}" for text in stop.args), file=sys.stderr)
        return 130
    except (ImportError, OSError, ValueError) as error:
        if _unprinted() == 141:
            return 141
        text: object = error
        if isinstance(error, OSError) and error.filename is not None:
            text = f"{error.strerror}: {error.filename}"  # without the number of the error
        print(f"{name}: {text}", file=sys.stderr)
        # An InputError has status 2, as a wrong command line.
        return getattr(error, "status", 1)
    return _unprinted(name)


def _unprinted(name: str = "") -> int:
    """Return 0 if all text has been printed, 141 if its reader, such as `head`, has gone, or 1."""
    try:
        print(end="", flush=True)
    except OSError as error:
        # Avoid Python's error message at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno in READER_LEFT:
            return 141
        if name:
            print(f"{name}: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    statuses = "".join(f"  {status:3}  {text}\n" for status, text in STATUSES.items())
    parser = argparse.ArgumentParser(
        prog="d2ke",
        description=TITLE,
        epilog=f"exit status:\n{statuses}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"d2ke {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        added = commands.add_parser(
            command.name,
            help=command.help,
            description=command.description,
            epilog=f"examples:\n{command.examples}" if command.examples else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add_options(added, *command.options, "--threads")
        added.set_defaults(run=partial(_run, command))
    config = commands.add_parser("config", help="version, OpenMP, instruction set, threads")
    config.set_defaults(run=lambda _: import_module("d2ke._base.config").show_config())
    completion = commands.add_parser("completion", help="a script for a shell: Tab completes words")
    completion.add_argument("shell", choices=["bash", "zsh", "tcsh"])
    completion.set_defaults(run=lambda options: _complete(parser, options.shell))
    return parser


def _complete(parser: argparse.ArgumentParser, shell: str) -> None:
    """Print the script by which a shell completes commands, options and names of files."""
    try:
        import shtab
    except ImportError:
        raise ImportError('completion needs shtab: pip install "d2ke[completion]"') from None
    (commands,) = (x for x in parser._actions if isinstance(x, argparse._SubParsersAction))
    for command in commands.choices.values():
        for action in command._actions:
            if action.metavar in ("FILE", "MODEL", "INPUT", "FOLDER"):
                action.complete = shtab.FILE
    print(shtab.complete(parser, shell))


def _run(command: Command, options: argparse.Namespace) -> None:
    """Check the files of results, then call the function of a command."""
    from d2ke.cli.result_files import check_results, input_errors
    from d2ke.cli.session import session_of

    function = getattr(import_module(f"d2ke.cli.{command.module}"), command.name.replace("-", "_"))
    with input_errors():
        named = {what: getattr(options, option) for option, what in command.inputs}
        inputs = {what: file for what, file in named.items() if file is not None}
        check_results(options, command.out, inputs)
        function(options, session_of(options))


def console(command: Callable[[], int] = main) -> None:
    """Run a command as its own process."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # The encoding of a pipe may lack characters of a label or of a file's name. With
        # PYTHONUNBUFFERED, text that a pipe refused would be forgotten.
        sys.stdout.reconfigure(errors="backslashreplace")
        if sys.stdout.write_through:
            buffer = io.BufferedWriter(io.FileIO(sys.stdout.fileno(), "w", closefd=False))
            sys.stdout = io.TextIOWrapper(buffer, sys.stdout.encoding, "backslashreplace")
    status = command()
    if status == 130:
        # Threads may still be inside a long library call; do not wait for it.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
