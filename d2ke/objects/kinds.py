# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of objects, a row for each; `add_kind` of the distances' registry adds one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class Kind(NamedTuple):
    """A row of `KINDS`.

    Attributes
    ----------
    base : {"series", "sets", "strings"}
        How the objects are stored and drawn, and which of their parts an explanation leaves out.
    distance : str
        Compares them where the user names no distance.
    stands_for : tuple of str
        Other kinds that they may replace; the nearest first.
    read : callable or None
        Returns for one object what `pack` takes as an object of the kind `base`.
    """

    base: str
    distance: str
    stands_for: tuple[str, ...] = ()
    read: Callable[[Any], Any] | None = None


KINDS = {
    "series": Kind("series", "dtw", ("sets",)),
    "sets": Kind("sets", "mhd"),
    "strings": Kind("strings", "levenshtein"),
}


def find_kind(name: str) -> Kind:
    """Return the row of a kind named in a file."""
    if name not in KINDS:
        raise ImportError(
            f"holds {name}, a kind that is not known here: import the module that calls "
            f"d2ke.add_kind({name!r}, ...) first"
        )
    return KINDS[name]


def stands_for(kind: str, other: str) -> bool:
    """Return whether objects of `kind` may replace objects of `other`."""
    return kind == other or other in KINDS[kind].stands_for


def common_kind(kinds: Iterable[str]) -> str:
    """Return the nearest kind that all these kinds, with one storage, may replace."""
    first, *more = dict.fromkeys(kinds)
    return next(
        kind
        for kind in (first, *KINDS[first].stands_for)
        if all(stands_for(other, kind) for other in more)
    )
