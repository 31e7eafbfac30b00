# SPDX-License-Identifier: BSD-3-Clause
"""Errors of damaged files, whose bytes differ from what was written."""

from __future__ import annotations

from pathlib import Path

from d2ke._base.errors import ArgumentError


class Damaged(Exception):  # noqa: N818 (never leaves d2ke.io)
    """An error of a file's content, raised where the file's name is not available."""


class damage:  # noqa: N801 (used as a function; one of contextlib's would keep errors, see below)
    """Raise Damaged for any error of reading: h5py raises nearly every type, numpy and zlib many.

    Only a machine that is too small, a kind of objects that was not added, and a file that cannot
    be opened keep their errors: MemoryError, ImportError and the subclasses of OSError.
    """

    # From Python 3.12 on, an error that becomes another one in a generator of contextlib refers to
    # itself, by its frames. What they hold stays until garbage is collected, such as a file in
    # memory, which Windows then neither replaces nor deletes.

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        found = _as_damaged(error)
        if found is not None and found is not error:
            raise found from error


class damage_of(damage):  # noqa: N801
    """As `damage`, for users: the ArgumentError "FILE is damaged: WHERE WHAT"."""

    def __init__(self, file: str | Path, where: str = ""):
        self._file, self._where = file, where

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, ImportError):  # of a kind of objects
            raise ImportError(f"{self._file} {error}") from None
        found = _as_damaged(error)
        if found is not None:
            if found is not error:
                found.__cause__ = error
            raise ArgumentError(str(self._file), f"is damaged: {self._where}{found}") from found


def _as_damaged(error: BaseException | None) -> Damaged | None:
    """Return an error of reading as Damaged, and None for one that stays what it is."""
    if isinstance(error, Damaged):
        return error
    if not isinstance(error, Exception) or isinstance(error, (MemoryError, ImportError)):
        return None
    if isinstance(error, OSError) and type(error) is not OSError:
        return None
    named = "" if type(error) in (ArgumentError, OSError) else f"{type(error).__name__}: "
    return Damaged(f"{named}{error}")
