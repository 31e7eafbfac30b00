# SPDX-License-Identifier: BSD-3-Clause
"""Records of runs that can be resumed, and locks of the files that they write.

A record lists the inputs of a run; a run with another record is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from d2ke._ext import isa
from d2ke._version import __version__

# The last bits of results may depend on these besides the inputs.
MADE_WITH = ("d2ke", "instructions")
# The beginning of the value of an input without content to compare; the reason follows.
UNKNOWN = "not known: "


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
    differences = []
    for name in {**after, **before}:
        was, now = (repr(run[name]) if name in run else "not given" for run in (before, after))
        if was != now and (name not in MADE_WITH or name in after):
            differences.append(f"{name} was {was} and is {now}")
    if differences:
        raise ValueError(
            f"{path} was made from something else: {'; '.join(differences)}; resume it with what "
            "it was begun with, or remove it"
        )


@contextmanager
def locked(path: Path, target: Path) -> Iterator[None]:
    """Lock a file that exists for this alone; it is removed on Windows only.

    Raises
    ------
    BlockingIOError
        If another call writes `target` now.
    """
    from filelock import FileLock, Timeout  # here, as the import takes a while

    lock = FileLock(path, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise BlockingIOError(
            f"{target} is being written by another call, which has locked {path}; only one at a "
            "time can do that"
        ) from None
    try:
        yield
    finally:
        lock.release()
