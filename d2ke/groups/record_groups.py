# SPDX-License-Identifier: BSD-3-Clause
"""Groups and links of records, from the log-odds of pairs of rows to match."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from d2ke._base.errors import warn
from d2ke.groups.pair_weights import Multiplicities
from d2ke.neighbors.lists import check_graph
from d2ke.objects.container import offsets_of
from d2ke.objects.copies import Copies


def grouped(
    counts: np.ndarray, i: np.ndarray, j: np.ndarray, odds: np.ndarray, cut: float, linkage: str
) -> np.ndarray:
    """Return groups numbered by their first rows, from the log-odds of pairs to match.

    A distinct row stands for `counts` rows, which are one group from the start.
    """
    apart = i != j
    i, j, odds, n = i[apart], j[apart], odds[apart], len(counts)
    max_odds = 5.0  # log-odds at which a pair's effect in a group is capped: 0.7 %
    far = min(-max_odds, cut - 1)  # of pairs that were not compared: below any threshold
    if linkage == "single":
        i, j = i[odds >= cut], j[odds >= cut]
    else:
        strong = np.clip(odds, far, max(max_odds, cut))
        kept = strong > far
        sizes = counts if linkage == "average" else np.ones_like(counts)
        i, j = _steps(i[kept], j[kept], strong[kept], cut, far, linkage == "average", sizes).T
    links = sparse.coo_array((np.ones(len(i), np.int8), (i, j)), shape=(n, n))
    return connected_components(links, directed=False)[1].astype(np.int64)


def _steps(
    i: np.ndarray,
    j: np.ndarray,
    odds: np.ndarray,
    cut: float,
    far: float,
    average: bool,
    counts: np.ndarray,
) -> np.ndarray:
    """Return the pairs of rows at which average or complete linkage merges two groups.

    The groups with the largest mean, or least, log-odds merge first, as long as these are at least
    `cut`; ties follow the order of rows. A pair that is not given counts as `far`. `counts` are the
    sizes of the groups at the start, whose pairs have one value; complete linkage leaves sizes at
    1.
    """
    # Values of two groups above `far`: the sum over their pairs, or the least.
    values: dict[int, dict[int, float]] = {}
    queue = []
    sizes = counts.tolist()
    for a, b, value in zip(i.tolist(), j.tolist(), (odds - far).tolist(), strict=True):
        total = value * (sizes[a] * sizes[b])
        values.setdefault(a, {})[b] = values.setdefault(b, {})[a] = total
        mean = total / (sizes[a] * sizes[b]) + far
        if mean >= cut:
            queue.append((-mean, a, b))
    heapify(queue)
    steps = []
    while queue:
        value, p, q = heappop(queue)
        if value != -(values.get(p, {}).get(q, np.inf) / (sizes[p] * sizes[q]) + far):
            continue  # one of both has merged with another since
        steps.append((p, q))
        if len(values[p]) < len(values[q]):
            p, q = q, p
        kept, lost = values[p], values.pop(q)
        del kept[q], lost[p]
        for r in lost:
            del values[r][q]
        if average:
            sizes[p] += sizes[q]
            merged = {r: kept.get(r, 0.0) + total for r, total in lost.items()}
        else:
            merged = {r: min(kept.get(r, 0.0), lost.get(r, 0.0)) for r in {**kept, **lost}}
        for r, total in merged.items():
            kept[r] = values[r][p] = total
        for r, total in kept.items():
            mean = total / (sizes[p] * sizes[r]) + far
            if mean >= cut:
                heappush(queue, (-mean, p, r))
    return np.array(steps, np.int64).reshape(-1, 2)


def group_medoids(
    labels: np.ndarray, counted: Multiplicities, inside: np.ndarray, distances: np.ndarray
) -> np.ndarray:
    """Return the first row of each group with the least sum of distances to the others.

    A pair that is not given counts as far.
    """
    n, near = len(labels), distances[inside] - 2.0  # above the probability of any pair
    both = np.concatenate([rows[inside] for rows in counted.ends])
    sums = np.bincount(both, np.concatenate([near * rows[inside] for rows in counted.near]), n)
    order = np.lexsort((np.arange(n), sums, labels))
    return order[np.searchsorted(labels[order], np.arange(labels.max() + 1))]


def linked_pairs(
    pairs: np.ndarray, odds: np.ndarray, x: Copies, y: Copies
) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of rows, sorted, and the pair of distinct rows of each."""
    rows, columns = x.counts[pairs[:, 0]], y.counts[pairs[:, 1]]
    numbers = rows * columns
    check_graph(int(numbers.sum()))
    places = np.repeat(np.arange(len(pairs)), numbers)
    row, column = np.divmod(
        np.arange(len(places)) - np.repeat(offsets_of(numbers)[:-1], numbers), columns[places]
    )
    (members, starts), (others, firsts) = x.members(), y.members()
    i = members[starts[pairs[places, 0]] + row]
    j = others[firsts[pairs[places, 1]] + column]
    order = np.lexsort((j, i))
    return places[order], np.column_stack([i, j])[order]


def linked_one_to_one(
    pairs: np.ndarray, odds: np.ndarray, x: Copies, y: Copies
) -> tuple[np.ndarray, np.ndarray]:
    """Link rows that are free, the likeliest pairs first and then the first rows.

    Equal rows are linked in their order. Returns sorted pairs of rows, and whose each is.
    """
    (members, starts), (others, firsts) = x.members(), y.members()
    free, left = firsts[:-1].copy(), starts[:-1].copy()  # the first free row of equal ones
    chosen = []
    order = np.argsort(-odds, kind="stable")
    for level in np.split(order, np.flatnonzero(np.diff(odds[order])) + 1):
        partners: dict[int, list[tuple[int, int]]] = {}
        for place, (a, b) in zip(level.tolist(), pairs[level].tolist(), strict=True):
            partners.setdefault(a, []).append((b, place))
        queue = [(int(members[left[a]]), a) for a in partners if left[a] < starts[a + 1]]
        heapify(queue)
        while queue:
            i, a = heappop(queue)
            open_ = [(others[free[b]], b, p) for b, p in partners[a] if free[b] < firsts[b + 1]]
            if not open_:
                continue
            j, b, place = min(open_)
            chosen.append((i, int(j), place))
            free[b] += 1
            left[a] += 1
            if left[a] < starts[a + 1]:
                heappush(queue, (int(members[left[a]]), a))
    links = np.array(sorted(chosen), np.int64).reshape(-1, 3)
    # Rows without a link, though a row that is as near to one of theirs has it.
    levels, lost = np.unique(odds, return_inverse=True)[1], []
    for name, column, rows, first, end in (
        ("left", 0, members, left, starts), ("right", 1, others, free, firsts)
    ):  # fmt: skip
        mates = pairs[:, 1 - column] * len(pairs) + levels
        near = np.unique(pairs[np.isin(mates, mates[links[:, 2]]), column])
        unlinked = sorted(i for a in near for i in rows[first[a] : end[a + 1]])
        lost += [f"{name}[{i}]" for i in unlinked]
    if lost:
        warn(
            f"one_to_one=True leaves {lost[0]} without a link, as an equally near row has its "
            f"partner; such rows: {len(lost)}. one_to_one=False links them"
        )
    return links[:, 2], links[:, :2]
