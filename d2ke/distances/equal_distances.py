# SPDX-License-Identifier: BSD-3-Clause
"""Warnings of distances that do not separate any objects, often for a parameter in other units."""

from __future__ import annotations

import numpy as np

from d2ke._base.errors import warn
from d2ke.distances.distance import Distance
from d2ke.distances.problem import PairwiseProblem
from d2ke.distances.registry import BY_NAME, check_parameters
from d2ke.objects.copies import find_copies

FEW = 3  # pairs of different objects; fewer may well be equally far from each other


def warn_of_equal_distances(pairs: PairwiseProblem, D: np.ndarray) -> None:
    """Warn if all distances between different objects, at least `FEW` pairs, are equal.

    Functions of users are not checked.
    """
    row = _named(pairs)
    if row is None:
        return
    same, value = pairs.y is pairs.x, D.flat[1]
    differs = np.not_equal(D, value)
    if same:
        np.fill_diagonal(differs, False)
    if differs.any():
        return
    n, m = len(find_copies(pairs.x).firsts), len(find_copies(pairs.y).firsts)
    n_different = n * (n - 1) // 2 if same else n * m
    # Four words of one letter are all at distance 1.
    if n_different < (FEW if value == 0 else 10):
        return
    if not row.is_symmetric(check_parameters(row, pairs.params)):
        return  # one may be contained in another
    warn(
        f"all distances between different objects are {value:g}: {row.name!r} tells no objects "
        f"apart{scale_hint(row)}"
    )


def warn_of_first_neighbors(
    pairs: PairwiseProblem, indices: np.ndarray, distances: np.ndarray
) -> None:
    """Warn if all objects have the same neighbours, the first ones, at one distance."""
    row, (n, k) = _named(pairs), indices.shape
    if row is None or n < FEW or len(pairs.y) < 2 * k + FEW:
        return
    # Ties are sorted by index, and an object is not its own neighbour.
    if distances[0, 0] != distances[0, -1] or indices.max() > k:
        return
    if (distances == distances[0, 0]).all() and len(find_copies(pairs.y).firsts) > 1:
        warn(
            "the neighbours of all objects are the first ones, all at distance "
            f"{distances[0, 0]:g}: {row.name!r} tells no objects apart{scale_hint(row)}"
        )


def scale_hint(row: Distance) -> str:
    """Return the end of a warning about a parameter whose units may differ from the objects'."""
    return f". Is {row.scale} in the units of the values?" if row.scale else ""


def _named(pairs: PairwiseProblem) -> Distance | None:
    return BY_NAME[pairs.distance] if isinstance(pairs.distance, str) else None
