# SPDX-License-Identifier: BSD-3-Clause
"""A search among several distances: each is searched by itself, and the best one is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from d2ke._base.text import shown
from d2ke.distances.registry import check_parameters, find_distance
from d2ke.model_selection.folder import file_stem
from d2ke.model_selection.result import Search

# The distance, its parameters and its folder.
SearchOfOne = Callable[[Any, Mapping[str, Any], Path | None], Search]


def named_distances(
    distances: Sequence[Any], common: Mapping[str, Any], within: Any
) -> dict[str, tuple[Any, Mapping[str, Any]]]:
    """Check a list of distances; return each with its parameters, by a name of its own.

    Examples
    --------
    >>> from d2ke.model_selection.distances import named_distances
    >>> list(named_distances(["msm", ("dtw", {"window": 10})], {}, None))
    ['msm', 'dtw (window 10)']
    """
    if within is not None:
        raise ValueError("within holds one distance, but distance is a list of several")
    if common:
        raise TypeError(
            f"several distances have no common parameters ({', '.join(common)}); give each its "
            f"own: distance=[('dtw', {{'window': 10}}), ...]"
        )
    if not distances:
        raise ValueError("distance must name one distance or more, got an empty list")
    named: dict[str, tuple[Any, Mapping[str, Any]]] = {}
    for i, one in enumerate(distances):
        distance, own = one if isinstance(one, tuple) and len(one) == 2 else (one, {})
        if not isinstance(own, Mapping):
            raise TypeError(
                f"distance[{i}] must be a distance, or one and a dict of its parameters, "
                f"got {one!r}"
            )
        if isinstance(distance, str):
            check_parameters(find_distance(distance), own)
        name = distance if isinstance(distance, str) else repr(distance)
        if own:
            name += f" ({', '.join(f'{key} {shown(value)}' for key, value in own.items())})"
        if name in named:
            raise ValueError(f"distance[{i}] is {name} once more; give each distance once")
        named[name] = distance, own
    return named


def among(
    named: Mapping[str, tuple[Any, Mapping[str, Any]]], folder: Path | None, search: SearchOfOne
) -> Search:
    """Search with each distance, and choose the best setting of all; among equals the earliest."""
    results = {}
    for i, (name, (distance, own)) in enumerate(named.items()):
        place = None if folder is None else folder / f"{i}_{file_stem(name).strip('-')}"
        results[name] = search(distance, own, place)
    best = Search.best_of(
        [
            ({"distance": name, **values}, accuracy)
            for name, result in results.items()
            for values, accuracy in result.tried
        ]
    )
    info = results[best.parameters["distance"]].info | {
        "distances": tuple(named),
        "seconds": sum(result.info["seconds"] for result in results.values()),
    }
    return replace(best, info=info if folder is None else info | {"folder": str(folder)})
