# SPDX-License-Identifier: BSD-3-Clause
"""Errors of damaged files, whose bytes differ from what was written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from d2ke._base.errors import ArgumentError


class Damaged(Exception):  # noqa: N818 (never leaves d2ke.io)
    """An error of a file's content, raised where the file's name is not available."""


@contextmanager
def damage() -> Iterator[None]:
    """Raise Damaged for any error of reading: h5py raises nearly every type, numpy and zlib many.

    Only a machine that is too small, a kind of objects that was not added, and a file that cannot
    be opened keep their errors: MemoryError, ImportError and the subclasses of OSError.
    """
    try:
        yield
    except (Damaged, MemoryError, ImportError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and type(error) is not OSError:
            raise
        named = "" if type(error) in (ArgumentError, OSError) else f"{type(error).__name__}: "
        raise Damaged(f"{named}{error}") from error


@contextmanager
def damage_of(file: str | Path, where: str = "") -> Iterator[None]:
    """As `damage`, for users: the ArgumentError "FILE is damaged: WHERE WHAT"."""
    try:
        with damage():
            yield
    except ImportError as error:  # of a kind of objects
        raise ImportError(f"{file} {error}") from None
    except Damaged as error:
        raise ArgumentError(str(file), f"is damaged: {where}{error}") from error
