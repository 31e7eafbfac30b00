# SPDX-License-Identifier: BSD-3-Clause
"""The cut-off of the elastic distances' tables: the remaining cost of a path.

A cell (i, j) can be on a path within a limit only if its value and a lower bound of the rest of
the path do not exceed it. The rest has r steps of x and s of y, and the bound is |p - q| of two
potentials, p of r and q of s:

- "msm", "twe", "adtw" and "edr": at least |r - s| steps are not along the diagonal, and each
  costs c, nu + lmbda, the penalty, or 1. The potential is this cost times the steps.
- "erp": g is subtracted from all vectors, and u is a direction. A match costs
  |x - y| >= |u.x - u.y|, and a gap |x| >= |u.x|. With the triangle inequality the rest costs at
  least |sum u.x - sum u.y| (Chen and Ng 2004 for whole series). u has equal channels.
- "lcss": the rest matches at most min(r, s) vectors: max(-r, -s), added to minus the matches.
- "wdtw" and "frechet": 0.

The table is in float32. It is a lower bound up to the rounding errors, which `errors` bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from d2ke._ext import elastic
from d2ke._ext.refine import Bounds
from d2ke.distances.problem import PairBlock, PairwiseProblem
from d2ke.distances.registry import BY_NAME, check_parameters
from d2ke.objects.container import Objects

_LARGEST, _LEAST = 2.0**40, 2.0**-20  # numbers whose squares float32 has

# The cost of a step off the diagonal, from the parameters of elastic_cells.h.
_STEPS: dict[str, Callable[[np.ndarray], float]] = {
    "msm": lambda parameters: parameters[0],
    "twe": lambda parameters: parameters[1],
    "adtw": lambda parameters: parameters[0],
    "edr": lambda _: 1.0,
    "lcss": lambda _: -1.0,
    "wdtw": lambda _: 0.0,
    "frechet": lambda _: 0.0,
}
_COUNTED = ("edr", "lcss")  # distances that are numbers of edits and matches


def has_cut(pairs: PairwiseProblem) -> bool:
    """Return whether the distance has a cut-off."""
    if pairs.distance == "msm":
        return bool(pairs.params.get("independent", True))
    return isinstance(pairs.distance, str) and (pairs.distance == "erp" or pairs.distance in _STEPS)


def cut_bytes(pairs: PairwiseProblem) -> int:
    """Return the bytes of the series in float32, and in their own dtype."""
    if not has_cut(pairs):
        return 0
    rows = sum(len(side.values) + len(side) for side in (pairs.x, pairs.y))
    return 12 * rows * (pairs.x.dim + 2)


def costs(pairs: PairwiseProblem) -> tuple[float, float]:
    """Return the times of a pair and of each of its cells, relative to a distance; measured."""
    n, m = float(pairs.x.lengths.mean()), float(pairs.y.lengths.mean())
    cells = n * band(pairs) * (pairs.x.dim if pairs.distance == "msm" else 1)
    return 6.0 * m * pairs.x.dim / cells, 0.7 / cells


def band(pairs: PairwiseProblem) -> float:
    """Return how many cells a row of the table of a pair has."""
    window = check_parameters(BY_NAME[pairs.distance], pairs.params).get("window")
    n, m = float(pairs.x.lengths.mean()), float(pairs.y.lengths.mean())
    if window == elastic.RWS_WINDOW:
        window = min(40, max(n, m) / 10)
    return m if window in (None, elastic.NO_WINDOW) else min(m, 2.0 * window + 1)


class Side(NamedTuple):
    """Series as the cut-off reads them: rows with their potentials in float32, and offsets.

    `longest` counts rows; `largest` and `reach` are the largest number and potential;
    `parameters` belong to the distance.
    """

    rows: np.ndarray
    offsets: np.ndarray
    longest: int
    largest: float
    reach: float
    parameters: np.ndarray


def cut_side(pairs: PairwiseProblem, objects: Objects) -> Side:
    """Prepare the series of X or of Y."""
    kernel = pairs.compile(PairBlock(objects, objects)).kernel
    ((rows, offsets), _), parameters = elastic.inputs(kernel)
    params = check_parameters(BY_NAME[pairs.distance], pairs.params)
    gap = np.array(params.get("g", (0.0,))) if pairs.distance == "erp" else None
    longest = int(np.diff(offsets).max())
    padded = np.zeros((len(rows) + longest + 64, rows.shape[1] + 1), np.float32)  # room behind them
    with np.errstate(over="ignore", invalid="ignore"):  # `cut_off` looks at the largest
        potential = _potential(pairs.distance, rows, offsets, objects.dim, parameters, gap)
        padded[: len(rows), :-1], padded[: len(rows), -1] = rows, potential
    largest, reach = float(np.abs(rows).max()), float(np.abs(potential).max())
    return Side(padded, offsets, longest, largest, reach, parameters)


def cut_off(pairs: PairwiseProblem, first: Bounds, y: Side | None = None) -> elastic.Cut | None:
    """Return the bounds `first` and then the cut-off, or None for numbers beyond float32.

    `y` is the side of Y, if it is prepared.
    """
    name = pairs.distance
    params = check_parameters(BY_NAME[name], pairs.params)
    y = y or cut_side(pairs, pairs.y)
    x = y if pairs.x is pairs.y else cut_side(pairs, pairs.x)
    parameters = max(x.parameters, y.parameters, key=len)  # "wdtw": weights up to the longest
    dim, squared = pairs.x.dim, name in ("adtw", "wdtw")
    largest, steps = max(x.largest, y.largest), x.longest + y.longest + dim + 16
    root_error = 2.0**-10  # relative: roots are rough
    error = 2.0**-21 * steps + (root_error if dim > 1 or squared else 0.0)
    if not _LEAST <= largest <= _LARGEST or error > 2.0**-5 or parameters.max() > _LARGEST:
        return None
    if not (x.reach <= _LARGEST and y.reach <= _LARGEST):
        return None
    delta = 2.0**-20 * dim * largest + 2.0**-40
    if squared:
        # |2 a e + e e| <= r a a + (1 + 1 / r) e e, for a difference a with the error e, and r the
        # error of a root.
        delta = 2.0**-32 * dim * largest**2
    if name in _COUNTED:
        parameters = parameters.copy()
        parameters[0] += 2 * delta + root_error * parameters[0]
        errors = 1.0 + error, 2.0**-16, math.inf
    else:
        errors = 1.0 + error, steps * delta + 2.0**-20 * max(x.reach, y.reach), (1 + error) ** 3
    window = params.get("window", elastic.NO_WINDOW)
    tie = _tie(pairs, name, params)
    sides = x.rows, x.offsets, y.rows, y.offsets
    return elastic.Cut(name, first, *sides, dim, parameters, window, errors, tie)


def _tie(pairs: PairwiseProblem, name: str, params: Mapping[str, Any]) -> float:
    """Return a number by which two different distances differ at least, or 0."""
    if name not in _COUNTED:
        return 0.0
    if name == "edr" and not params.get("normalize", False):
        return 0.75
    lengths = np.union1d(pairs.x.lengths, pairs.y.lengths)
    longest = float(lengths[-1])
    tie = 0.75 / (longest if len(lengths) == 1 else longest**2)
    return tie if tie > _LEAST else 0.0  # less may be lost by rounding


def _potential(
    name: str,
    rows: np.ndarray,
    offsets: np.ndarray,
    dim: int,
    parameters: np.ndarray,
    gap: np.ndarray | None,
) -> np.ndarray:
    """Return the potential of the rows of its series after each row."""
    last = np.repeat(offsets[1:] - 1, np.diff(offsets))
    if gap is None:
        return _STEPS[name](parameters) * (last - np.arange(len(rows)))
    directed = (rows[:, :dim] - gap).sum(axis=1) / math.sqrt(dim)
    directed[offsets[:-1]] = 0.0
    sums = directed.cumsum()
    return sums[last] - sums
