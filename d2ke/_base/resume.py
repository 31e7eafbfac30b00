# SPDX-License-Identifier: BSD-3-Clause
"""Locks and records of feature stores.

A store is locked while it is written. It keeps a record of its inputs as JSON, which is compared
with the record of the call that resumes it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from d2ke._base.checkpoint import UNKNOWN, changed
from d2ke._ext import isa
from d2ke._version import __version__

# The last bits of results may depend on these besides the inputs. A complete result may differ in
# them, as nothing is added to it.
MADE_WITH = ("d2ke", "instructions")


def made_with() -> dict[str, str]:
    """Return the values of `MADE_WITH` in this process."""
    return dict(zip(MADE_WITH, (__version__, isa.selected()), strict=True))


def refuse_unknown(path: Path, record: Mapping[str, Any]) -> None:
    """Refuse a record with an input that a later call could not compare."""
    for name, value in record.items():
        if isinstance(value, str) and value.startswith(UNKNOWN):
            raise ValueError(
                f"{path} cannot be resumed, since the {name} is {value}. Give the function an "
                "attribute `version`, a str or an int that you change whenever its results change "
                '(f.version = "1"), before the file is begun'
            )


def refuse_differences(path: Path, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Refuse to resume a run with another record; the error names the differences.

    Differences in `MADE_WITH` are ignored where `after` lacks the name.
    """
    refuse_unknown(path, after)
    differences = []
    for name in changed(before, after):
        if name not in MADE_WITH or name in after:
            was, now = (repr(one[name]) if name in one else "not given" for one in (before, after))
            differences.append(f"{name} was {was} and is {now}")
    if differences:
        raise ValueError(
            f"{path} was made from something else: {'; '.join(differences)}; resume it with what "
            "it was begun with, or remove it"
        )


def check_finished(
    path: Path,
    record: Mapping[str, Any],
    read_record: Callable[[], Mapping[str, Any]],
    *,
    resume: bool,
) -> bool:
    """Return whether the file exists; refuse one with another record."""
    if resume:
        refuse_unknown(path, record)
    if not path.exists():
        return False
    if not resume:
        raise FileExistsError(
            f"{path} exists already: with resume=True it is kept if it holds the same, or "
            "remove it first"
        )
    after = {name: value for name, value in record.items() if name not in MADE_WITH}
    refuse_differences(path, read_record(), after)
    return True


def open_locked(path: Path, target: Path) -> int:
    """Open or create a file, and lock it until it is closed or the process ends.

    Raises
    ------
    BlockingIOError
        If another call writes `target` now.
    """
    import fcntl  # here, as not every system has it

    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise FileExistsError(f"{path} is not a regular file")
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.stat(path), os.fstat(fd)):
                return fd
        except BlockingIOError:
            os.close(fd)
            raise BlockingIOError(
                f"{target} is being written by another call; only one at a time can do that"
            ) from None
        except FileNotFoundError:
            pass  # the previous owner renamed or removed it
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
