# SPDX-License-Identifier: BSD-3-Clause
"""Attack every writer: full disks, and names that are taken by what is not ours.

    python tools/attack.py disk --sizes 40    # mounts small file systems, so it needs root
    python tools/attack.py names

Each case runs in a process of its own, which a crash or a hang ends. A case is lost if that
happens, if something is left behind or was changed that should not have been, or if a call returns
without having written all. The command prints a table and fails if any case is lost.
"""

from __future__ import annotations

import argparse
import errno
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "io")]

from test_full_disk import WRITERS  # noqa: E402

import d2ke  # noqa: E402
from papers.cells import Cells  # noqa: E402

SECONDS = 60.0  # after which a case counts as one that hangs
DISK = 2 * 2**20
FOREIGN = b"a file of somebody else"
WORDS = ["a", "ab", "abc"] * 20


def stream(path: Path) -> None:
    """Write distances block by block to a store."""
    d2ke.distance_matrix(WORDS, WORDS[:20], "levenshtein", out=path, resume=True).close()


def search(path: Path) -> None:
    """Search with a folder, whose journal is `path`."""
    d2ke.search(
        *(WORDS, [len(word) % 2 for word in WORDS]),
        distance="levenshtein",
        sampler=lambda R, seed, **values: d2ke.random_strings(R, "abc", seed=seed, **values),
        grid={"length": [(1, 3)], "gamma": [0.5], "R": [4]},
        seed=0,
        folder=path.parent,
    )


def cells(path: Path) -> None:
    """Open the journal of the tables."""
    kept = Cells(path)
    kept.open()
    kept.close()


JOURNALED = {"x.h5": stream, "x.h5.part": None, "search.journal": search, "cells.journal": cells}


def outcome(function: Callable[[], str]) -> str:
    """Run a case in a child process."""
    context = get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def run() -> None:
        os.close(2)
        send.send(function())

    child = context.Process(target=run)
    child.start()
    child.join(SECONDS)
    if child.is_alive():
        child.kill()
        child.join()
        return "LOST: hangs"
    if child.exitcode:
        return f"LOST: ends with {child.exitcode}"
    return receive.recv() if receive.poll() else "LOST: says nothing"


def full_disk(name: str, write: Callable[[Path], None], free: int, reserves: bool) -> str:
    """Write a file where there is no room for it."""
    if not reserves:  # as file systems do that reserve nothing
        os.posix_fallocate = lambda *arguments: None
        del os.statvfs
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", folder]
        subprocess.run(mount, check=True)
        try:
            path, filler = Path(folder, name), Path(folder, "filler")
            path.write_bytes(FOREIGN)
            filler.write_bytes(bytes(DISK - 4096 - free // 4096 * 4096))
            try:
                write(path)
            except OSError as error:
                result = "refused" if error.errno == errno.ENOSPC else f"LOST: {error!r}"
            except Exception as error:
                result = f"LOST: {error!r}"
            else:
                result = "LOST: returned"  # no file here fits
            if sorted(os.listdir(folder)) != sorted([name, "filler"]):
                result = f"LOST: left {os.listdir(folder)}"
            if path.read_bytes() != FOREIGN:
                result = "LOST: the earlier file"
            return result
        finally:
            subprocess.run(["umount", folder], check=True)


def taken_name(kind: str, name: str, write: Callable[[Path], None]) -> str:
    """Write a file whose name is taken."""
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder, "place")
        folder.mkdir()
        path, other = folder / name, Path(name_of_folder, "other")
        if kind != "dangling link":
            other.write_bytes(FOREIGN)
        if kind in ("link", "dangling link"):
            path.symlink_to(other)
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "device":
            path.symlink_to("/dev/zero")
        elif kind == "folder":
            path.mkdir()
        else:
            path.write_bytes(FOREIGN)
        target = path.with_suffix("") if path.suffix == ".part" else path
        try:
            write(target)
        except (OSError, ValueError) as error:
            result = "refused" if str(folder) in str(error) else f"LOST: {error!r} names nothing"
        except Exception as error:
            result = f"LOST: {error!r}"
        else:
            result = "written"
        if path.is_symlink() != (kind in ("link", "dangling link", "device")):
            return "LOST: the link"
        if result == "refused":
            changed = other.exists() and other.read_bytes() != FOREIGN
            changed |= kind == "dangling link" and other.exists()
            changed |= kind == "file" and path.read_bytes() != FOREIGN
            return "LOST: a file of somebody else" if changed else result
        # A file that the caller named is replaced, also one that a link names; no journal is.
        return result if write in WRITERS.values() and kind != "device" else f"LOST: {result}"


def main() -> None:
    """Run an attack and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("attack", choices=["disk", "names"])
    parser.add_argument("--sizes", type=int, default=10, help="amounts of free space, for disk")
    arguments = parser.parse_args()
    results: dict[str, Counter[str]] = {}
    if arguments.attack == "disk":
        for name, write in WRITERS.items():
            results[name] = Counter(
                outcome(lambda: full_disk(name, write, free, reserves))  # noqa: B023
                for free in range(0, DISK - 2**16, (DISK - 2**16) // arguments.sizes)
                for reserves in (True, False)
            )
    else:
        for name, write in (WRITERS | JOURNALED).items():
            results[name] = Counter(
                f"{kind}: {outcome(lambda: taken_name(kind, name, write or stream))}"  # noqa: B023
                for kind in ("link", "dangling link", "pipe", "device", "folder", "file")
            )
    lost = 0
    for name, counts in results.items():
        lost += sum(count for text, count in counts.items() if "LOST" in text)
        print(f"{name:16} {', '.join(f'{text} {count}' for text, count in counts.items())}")
    n_cases = sum(counts.total() for counts in results.values())
    print(f"{n_cases} cases, {lost} lost")
    sys.exit(lost > 0)


if __name__ == "__main__":
    main()
