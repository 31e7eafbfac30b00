# SPDX-License-Identifier: BSD-3-Clause
"""Groups and links of records, from the log-odds of pairs of rows to match."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import logit

from d2ke._base.checks import positive_number
from d2ke._base.errors import ArgumentError, warn
from d2ke.groups.pair_weights import Multiplicities
from d2ke.neighbors.lists import check_graph
from d2ke.objects.container import offsets_of
from d2ke.objects.copies import Copies

LINKAGES = ("average", "complete", "single")


def log_odds_of(threshold: Any) -> float:
    """Return the log-odds of a match at a threshold, a probability of no match."""
    value = positive_number("threshold", threshold)
    if value >= 1:
        raise ArgumentError(
            "threshold", f"is {value:g}; it is the probability of no match, below 1"
        )
    return float(logit(1 - value))


def grouped(
    counts: np.ndarray, i: np.ndarray, j: np.ndarray, odds: np.ndarray, cut: float, linkage: str
) -> np.ndarray:
    """Return groups numbered by their first rows, from the log-odds of pairs to match.

    A distinct row stands for `counts` rows, which are one group from the start.
    """
    apart = i != j
    i, j, odds, n = i[apart], j[apart], odds[apart], len(counts)
    if linkage == "single":
        i, j = i[odds >= cut], j[odds >= cut]
    else:
        strong, far = _strength(odds, cut, linkage)
        kept = strong > far
        steps, _ = _steps(i[kept], j[kept], strong[kept], cut, far, linkage, counts)
        i, j = steps.T
    return _components(n, i, j)


def grown(
    held: np.ndarray,
    old: np.ndarray,
    counts: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
    odds: np.ndarray,
    cut: float,
    linkage: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the groups of all rows, and the pairs of old groups that new rows would join.

    The first rows have the groups `held`, which stay apart, and counts `old` without the new rows.
    Linkage goes on from these groups with the other rows one by one. New groups are numbered after
    the old ones.
    """
    n_held, n_old = int(held.max(initial=-1)) + 1, len(held)
    n = n_held + len(counts) - n_old
    nodes = np.concatenate([held, np.arange(n_held, n)])
    sizes, before = (np.bincount(nodes[: len(c)], c, n).astype(np.int64) for c in (counts, old))
    a, b = np.sort([nodes[i], nodes[j]], axis=0)
    # New rows join two old groups only if both are near some, or have copies of their own rows.
    near, changed = np.zeros(n, bool), sizes != before
    near[a[b >= n_held]] = True
    kept = (near[a] & near[b] | changed[a] | changed[b]) & (a != b)
    i, j, keys = i[kept], j[kept], a[kept] * n + b[kept]
    strong, far = _strength(odds[kept], cut, linkage)

    def between(pairs: np.ndarray, counts: np.ndarray, sizes: np.ndarray) -> tuple[Any, Any]:
        numbers = counts[i[pairs]] * counts[j[pairs]]
        key, places = np.unique(keys[pairs], return_inverse=True)
        totals = sizes[key // n] * sizes[key % n]
        return key, _between(places, strong[pairs], far, numbers, totals, linkage)

    key, values = between(np.arange(len(keys)), counts, sizes)
    one, other = np.divmod(key, n)
    steps, refused = _steps(one, other, values, cut, far, linkage, sizes, n_held)
    key, values = between(np.flatnonzero((i < n_old) & (j < n_old)), old, before)
    bridges = sorted(refused - set(zip(*np.divmod(key[values >= cut], n), strict=True)))
    parts = _components(n, *steps.T)
    labels = np.full(parts.max() + 1, -1)
    labels[parts[:n_held]] = np.arange(n_held)
    labels[labels < 0] = np.arange(n_held, len(labels))
    return labels[parts[nodes]], np.array(bridges, np.int64).reshape(-1, 2)


def memberships(
    rows: np.ndarray,
    labels: np.ndarray,
    counted: Multiplicities,
    counts: np.ndarray,
    odds: np.ndarray,
    cut: float,
    linkage: str,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how well some rows go with the others of their group, and with which group else.

    The log-odds are those by which linkage would join a row to a group; NaN for a row that is alone
    in its group. The other group is the one that goes best, -1 if no pair says anything.
    """
    sizes = np.bincount(labels, counts).astype(np.int64)
    n, asked = len(sizes), np.isin(np.arange(len(labels)), rows)
    one, other = np.concatenate(counted.ends), np.concatenate(counted.ends[::-1])
    numbers = np.concatenate(counted.near)
    kept = asked[one] & (numbers > 0)
    strong, far = _strength(np.tile(odds, 2)[kept], cut, linkage)
    keys, places = np.unique(one[kept] * n + labels[other[kept]], return_inverse=True)
    row, group = np.divmod(keys, n)
    totals = sizes[group] - (labels[row] == group)
    values = _between(places, strong, far, numbers[kept], totals, linkage)
    said = values > far
    row, group, values = row[said], group[said], values[said]
    own, best = np.full(len(labels), far), np.full(len(labels), far)
    rival, inside = np.full(len(labels), -1), labels[row] == group
    own[row[inside]] = values[inside]
    own[sizes[labels] == 1] = np.nan
    row, group, values = row[~inside], group[~inside], values[~inside]
    order = np.lexsort((-group, values))  # the best last, the first of equal ones
    best[row[order]], rival[row[order]] = values[order], group[order]
    return own[rows], best[rows], rival[rows]


def _strength(odds: np.ndarray, cut: float, linkage: str) -> tuple[np.ndarray, float]:
    """Return the log-odds as they count in a group, and those of pairs that were not compared."""
    max_odds = 5.0  # log-odds at which a pair's effect in a group is capped: 0.7 %
    far = min(-max_odds, cut - 1)  # below any threshold
    return np.clip(odds, far, np.inf if linkage == "single" else max(max_odds, cut)), far


def _between(
    places: np.ndarray,
    odds: np.ndarray,
    far: float,
    numbers: np.ndarray,
    totals: np.ndarray,
    linkage: str,
) -> np.ndarray:
    """Return the log-odds by which linkage joins two groups, from those of their pairs.

    `places` has the two groups that each pair is of, which have `totals` pairs of rows. A pair
    stands for `numbers` of them, and the rest is `far`.
    """
    n = len(totals)
    if linkage == "average":
        return np.bincount(places, (odds - far) * numbers, n) / totals + far
    choose, start = (np.maximum, far) if linkage == "single" else (np.minimum, np.inf)
    values = np.full(n, start)
    choose.at(values, places, odds)
    if linkage == "complete":
        values[np.bincount(places, numbers, n) < totals] = far
    return values


def _components(n: int, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return the number of the component of each of n nodes, by their first nodes."""
    links = sparse.coo_array((np.ones(len(i), np.int8), (i, j)), shape=(n, n))
    return connected_components(links, directed=False)[1].astype(np.int64)


def _steps(
    i: np.ndarray,
    j: np.ndarray,
    odds: np.ndarray,
    cut: float,
    far: float,
    linkage: str,
    counts: np.ndarray,
    n_held: int = 0,
) -> tuple[np.ndarray, set[tuple[int, int]]]:
    """Return the pairs of rows at which linkage merges two groups, and the groups it must not.

    The groups with the largest mean, least or largest log-odds merge first, as long as these are at
    least `cut`; ties follow the order of rows. A pair that is not given counts as `far`. `counts`
    are the sizes of the groups at the start, whose pairs have one value. The first `n_held` groups
    stay apart.
    """
    # Values of two groups above `far`: the sum over their pairs, the least, or the largest.
    values: dict[int, dict[int, float]] = {}
    queue = []
    average = linkage == "average"
    sizes = counts.tolist() if average else [1] * len(counts)
    holds = {group: group for group in range(n_held)}  # the old group in each that has one
    refused = set()
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
        if p in holds and q in holds:
            refused.add((min(holds[p], holds[q]), max(holds[p], holds[q])))
            continue
        steps.append((p, q))
        if len(values[p]) < len(values[q]):
            p, q = q, p
        if q in holds:
            holds[p] = holds.pop(q)
        kept, lost = values[p], values.pop(q)
        del kept[q], lost[p]
        for r in lost:
            del values[r][q]
        if average:
            sizes[p] += sizes[q]
            merged = {r: kept.get(r, 0.0) + total for r, total in lost.items()}
        elif linkage == "single":
            merged = {r: max(kept.get(r, 0.0), total) for r, total in lost.items()}
        else:
            merged = {r: min(kept.get(r, 0.0), lost.get(r, 0.0)) for r in {**kept, **lost}}
        for r, total in merged.items():
            kept[r] = values[r][p] = total
        for r, total in kept.items():
            mean = total / (sizes[p] * sizes[r]) + far
            if mean >= cut:
                heappush(queue, (-mean, p, r))
    return np.array(steps, np.int64).reshape(-1, 2), refused


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
