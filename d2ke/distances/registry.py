# SPDX-License-Identifier: BSD-3-Clause
"""The registry of distances: the rows of all files, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted, meant
from d2ke.distances.distance import Distance
from d2ke.distances.gapped_rows import GAPPED_WORDS
from d2ke.distances.letter_costs import LETTER_COSTS
from d2ke.distances.series_rows import SERIES
from d2ke.distances.set_rows import SETS
from d2ke.distances.string_rows import STRINGS
from d2ke.distances.word_rows import WORDS

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


def usual_distance(kind: str) -> str:
    """Return the default distance of a kind of objects."""
    return {"series": "dtw", "sets": "mhd", "strings": "levenshtein"}[kind]


def check_parameters(row: Distance, params: Mapping[str, Any]) -> dict[str, Any]:
    """Check the parameters of a named distance."""
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
    return checked if row.together is None else row.together(**checked)


def check_kind(row: Distance, name: str, kind: str) -> None:
    """Refuse objects of another kind than the distance's, and name distances for them."""
    if kind == row.kind or (kind, row.kind) == ("series", "sets"):
        return
    names = [known.name for known in DISTANCES if known.kind == kind]
    raise ArgumentTypeError(
        "distance",
        f"{row.name!r} is for {row.kind}, but {name} holds {kind}; distances for {kind} are "
        f"{', '.join(map(repr, names[:4]))} and others",
    )
