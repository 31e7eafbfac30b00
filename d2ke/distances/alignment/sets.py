# SPDX-License-Identifier: BSD-3-Clause
"""The flow of the earth mover's distance, and the matching of sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke._base.memory import check_fits
from d2ke._ext import alignment, emd, sets
from d2ke.distances.distance import same_precision
from d2ke.distances.problem import PairwiseProblem
from d2ke.distances.set_rows import measures_of
from d2ke.objects.container import Objects


def align_emd(problem: PairwiseProblem, ground: bool = False) -> dict[str, Any]:
    """Return the optimal flow: pairs of vectors, and the mass that moves between them."""
    n, m = len(problem.x.values), len(problem.y.values)
    check_fits(8 * n * m, f"the flow between {n} and {m} vectors", "take fewer vectors")
    measures = [measures_of(objects) for objects in (problem.x, problem.y)]
    value, *arcs, apart = emd.flow(measures[0], measures[1], ground)
    ends, masses = arcs[:2], arcs[2]
    for side, (objects, measure) in enumerate(zip((problem.x, problem.y), measures, strict=True)):
        arc, member, masses = _split_arcs(ends[side], masses, *_members(objects, measure))
        ends = [vectors[arc] for vectors in ends]
        ends[side], apart = member, apart[arc]
    order = np.lexsort(ends[::-1])
    pairs = np.stack(ends, axis=1)[order]
    return {
        "value": problem.rounded(value),
        "pairs": pairs,
        "costs": apart[order],
        "masses": masses[order] / emd.TOTAL,
    }


def _members(objects: Objects, measure: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors in the order of the measure's distinct vectors, and the ends of masses.

    The masses of the vectors are laid end to end. Equal vectors share the mass of their distinct
    vector in proportion to their weights.
    """
    values, masses = measure[0], measure[2]
    members = objects.values.astype(np.float64, copy=False)
    stacked = np.concatenate([values, members]) + 0.0  # no -0.0
    _, group = np.unique(stacked, axis=0, return_inverse=True)
    group = group.ravel()
    distinct = np.full(group.max() + 1, -1)
    distinct[group[: len(values)]] = np.arange(len(values))
    owner = distinct[group[len(values) :]]
    weights = np.ones(len(members)) if objects.weights is None else objects.weights
    used = np.flatnonzero((owner >= 0) & (weights > 0))
    order = used[np.argsort(owner[used], kind="stable")]
    owner, weights = owner[order], weights[order]
    firsts = np.searchsorted(owner, np.arange(len(masses)))
    lasts = np.append(firsts[1:], len(order)) - 1
    mass = masses[owner]
    ends = np.empty(len(order), np.int64)
    starts = np.concatenate([[0], np.cumsum(masses)[:-1]])
    for first, last in zip(firsts, lasts, strict=True):
        run = slice(first, last + 1)
        scaled = weights[run] / weights[run].max()
        shares = np.cumsum(scaled) / scaled.sum() * mass[first]
        ends[run] = np.minimum(np.rint(shares).astype(np.int64), mass[first])
    ends[lasts] = masses
    return order, ends + starts[owner]


def _split_arcs(
    owners: np.ndarray, masses: np.ndarray, members: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Divide arcs among equal vectors: number of the arc, vector and mass of each part."""
    order = np.argsort(owners, kind="stable")
    arc_ends = np.cumsum(masses[order])
    cuts = np.union1d(arc_ends, ends[ends > 0])
    arc = order[np.searchsorted(arc_ends, cuts)]
    return arc, members[np.searchsorted(ends, cuts)], np.diff(cuts, prepend=0)


def align_sets(problem: PairwiseProblem, directed: bool = False) -> dict[str, Any]:
    """Return the nearest vector of y for each one of x and, unless directed, the reverse."""
    x, y = same_precision(problem.x, problem.y)
    result = np.empty((1, 1), problem.dtype)
    problem.compiled().kernel.run(result, 1, False)
    wide = [side.astype(np.float64, copy=False) for side in (x, y)]
    nearest_in_y, nearest_in_x = alignment.GroundRows(wide[0], wide[1], False).nearest()
    pairs = np.stack([np.arange(len(x)), nearest_in_y], axis=1)
    costs = _distances_to_set(x, y)
    if not directed:
        pairs = np.concatenate([pairs, np.stack([nearest_in_x, np.arange(len(y))], axis=1)])
        costs = np.concatenate([costs, _distances_to_set(y, x)])
    with np.errstate(over="ignore"):  # inf, as in a matrix
        costs = costs.astype(problem.dtype)
    return {
        "value": float(result[0, 0]),
        "pairs": pairs,
        "costs": costs,
        "maximum": int(costs.argmax()),
    }


def _distances_to_set(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the distance of each vector of x to the set y, with the bits of set distances."""
    out = np.empty((len(x), 1))
    ends = np.array([0, len(y)])
    single = np.arange(len(x) + 1)
    sets.sets(x, single, y, ends, sets.DIRECTED_HAUSDORFF, False).run(out, 1, False)
    return out[:, 0]
