# SPDX-License-Identifier: BSD-3-Clause
"""The registry of distances: the rows of all files, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted, meant
from d2ke._base.text import listed
from d2ke.distances.distance import Distance
from d2ke.distances.gapped_rows import GAPPED_WORDS
from d2ke.distances.letter_costs import LETTER_COSTS
from d2ke.distances.series_rows import SERIES
from d2ke.distances.set_rows import SETS
from d2ke.distances.string_rows import STRINGS
from d2ke.distances.word_rows import WORDS
from d2ke.objects.kinds import KINDS, Kind, stands_for

DISTANCES = (*SERIES, *STRINGS, *LETTER_COSTS, *WORDS, *GAPPED_WORDS, *SETS)

BY_NAME = {name: row for row in DISTANCES for name in (row.name, *row.aliases)}


@hinted
def distance_names() -> list[str]:
    """Names of the distances that `distance_matrix` accepts.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import d2ke
    >>> "levenshtein" in d2ke.distance_names()
    True
    """
    return [row.name for row in DISTANCES]


def find_distance(distance: Any) -> Distance:
    """Return the registry's row of a name; the error lists the names."""
    if not isinstance(distance, str):
        raise ArgumentTypeError(
            "distance",
            f"must be one of {', '.join(distance_names())}, a callable or a "
            f"scipy.LowLevelCallable; got {distance!r}",
        )
    if distance not in BY_NAME:
        near = meant(distance, BY_NAME, 0.6)
        hint = f" (did you mean {near!r}?)" if near else ""
        raise ArgumentError(
            "distance", f"must be one of {', '.join(distance_names())}; got {distance!r}{hint}"
        )
    return BY_NAME[distance]


def split_parameters(distance: Any, name: str) -> tuple[Any, Mapping[str, Any]]:
    """Return the distance of a column and its parameters: both of ("dtw", {"window": 10})."""
    pair = distance if type(distance) is tuple and len(distance) == 2 else (distance, {})
    if not isinstance(pair[1], Mapping):
        raise ArgumentTypeError(name, f"must be a distance or (distance, dict), got {distance!r}")
    return pair


def usual_distance(kind: str) -> str:
    """Return the default distance of a kind of objects."""
    return KINDS[kind].distance


class CheckedParameters(dict[str, Any]):
    """Parameters of a distance as the user wrote them, which are not checked again."""

    def __init__(self, params: Mapping[str, Any], name: str, checked: dict[str, Any]):
        super().__init__(params)
        self.name, self.checked = name, checked


def check_parameters(row: Distance, params: Mapping[str, Any]) -> dict[str, Any]:
    """Check the parameters of a named distance."""
    if isinstance(params, CheckedParameters) and params.name == row.name:
        return dict(params.checked)
    for name in params:
        if name not in row.parameters:
            takes, near = ", ".join(row.parameters) or "none", meant(name, row.parameters)
            hint = f"did you mean {near}=? " if near else ""
            raise TypeError(
                f"{row.name!r} has no parameter {name!r} ({hint}its parameters: {takes})"
            )
    for name in row.required:
        if name not in params:
            raise TypeError(f"{row.name!r} needs the parameter {name!r}")
    checked = {}
    for name, value in params.items():
        checked[name] = row.parameters[name](name, value)
    return checked if row.check_all is None else row.check_all(**checked)


def check_kind(row: Distance, name: str, kind: str) -> None:
    """Refuse objects of another kind than the distance's, and name distances for them."""
    if stands_for(kind, row.kind):
        return
    names = [other.name for other in DISTANCES if stands_for(kind, other.kind)]
    raise ArgumentTypeError(
        "distance",
        f"{row.name!r} is for {row.kind}, but {name} holds {kind}; distances for {kind} are "
        f"{', '.join(map(repr, names[:4]))} and others",
    )


@hinted
def add_kind(
    name: str, read: Callable[[Any], Any], *, like: str = "strings", distance: str | None = None
) -> None:
    """Add a kind of objects, which `pack`, `d2ke_train` and predictions read from then on.

    Parameters
    ----------
    name : str
        The kind's name, a plural such as "trees". A kind that was added before is replaced.
    read : callable
        Returns for one object what `pack` takes as an object of the kind `like`: a string or a
        list of tokens, or vectors of shape (length, dim).
    like : {"strings", "series", "sets"} or str
        The kind as which the objects are stored, drawn, explained, and compared.
    distance : str, optional
        The distance where the user names none. Default: as for `like`.

    Raises
    ------
    TypeError
        If `read` is not a function, or the distance does not compare such objects.
    ValueError
        If the name is a built-in kind, or no such kind or distance exists.

    Notes
    -----
    Files name the kind of their objects. A program that reads them, and each worker of a cluster,
    adds the kind first: call this in a module that they import.

    An item ``X[i]`` of packed objects is what `read` returned. Where one object is asked for, give
    the object before it was read, or ``X[i : i + 1]``. In records, pack the column first.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.add_kind("paths", lambda path: path.split("/"))
    >>> paths = d2ke.pack(["usr/lib/python", "usr/bin"], kind="paths")
    >>> paths
    <2 paths over 4 letters, lengths 2 to 3>
    >>> d2ke.distance_matrix(paths)
    array([[0., 2.],
           [2., 0.]])
    """
    taken = ("series", "sets", "strings", "records", "any", "numbers", "categories", "missing")
    if not isinstance(name, str) or not name or name in taken:
        raise ArgumentError("name", f"must be a new name, other than {listed(taken)}; got {name!r}")
    if not callable(read):
        raise ArgumentTypeError("read", f"must be a function of one object, got {read!r}")
    row = KINDS[choice("like", like, KINDS)]
    if distance is not None:
        check_kind(find_distance(distance), name, like)
    KINDS[name] = Kind(row.base, distance or row.distance, (like, *row.stands_for), read)
