# SPDX-License-Identifier: BSD-3-Clause
"""Groups and links of records, from the log-odds of pairs of rows to match."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from operator import add
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import logit

from d2ke._base.checks import choice, positive_number
from d2ke._base.errors import ArgumentError, warn
from d2ke.groups.pair_weights import Multiplicities
from d2ke.neighbors.lists import check_graph
from d2ke.objects.container import offsets_of
from d2ke.objects.copies import Copies

LINKAGES = ("average", "complete", "single")
_MAX_ODDS = 5.0  # log-odds at which a pair's effect in a group is capped: 0.7 %


class Linkage(NamedTuple):
    """The rule by which two groups merge: their log-odds are at least `cut`.

    The log-odds of two groups are the mean ("average"), minimum ("complete") or maximum ("single")
    over their pairs.
    """

    name: str
    cut: float

    @classmethod
    def of(cls, name: Any, threshold: Any) -> Linkage:
        """Check what `dedupe` was given."""
        return cls(choice("linkage", name, LINKAGES), log_odds_of(threshold))

    @property
    def floor(self) -> float:
        """The log-odds of a pair that was not compared: below any threshold."""
        return min(-_MAX_ODDS, self.cut - 1)

    def capped(self, odds: np.ndarray) -> np.ndarray:
        """Return log-odds of pairs, clipped so that one pair cannot decide on a group."""
        largest = np.inf if self.name == "single" else max(_MAX_ODDS, self.cut)
        return np.clip(odds, self.floor, largest)

    def between(
        self, groups: np.ndarray, odds: np.ndarray, counts: np.ndarray, totals: np.ndarray
    ) -> np.ndarray:
        """Return the log-odds of pairs of groups, from the log-odds of pairs of distinct rows.

        Pair k of distinct rows stands for `counts[k]` pairs of rows, in the pair of groups
        `groups[k]`, which has `totals[groups[k]]` pairs of rows. All other pairs count as `floor`.
        """
        n = len(totals)
        if self.name == "average":
            return np.bincount(groups, (odds - self.floor) * counts, n) / totals + self.floor
        single = self.name == "single"
        values = np.full(n, self.floor if single else np.inf)
        (np.maximum if single else np.minimum).at(values, groups, odds)
        if not single:
            values[np.bincount(groups, counts, n) < totals] = self.floor
        return values


def log_odds_of(threshold: Any) -> float:
    """Return the log-odds of a match at a threshold, a probability of no match."""
    value = positive_number("threshold", threshold)
    if value >= 1:
        raise ArgumentError(
            "threshold", f"is {value:g}; it is the probability of no match, below 1"
        )
    return float(logit(1 - value))


def group_rows(
    counts: np.ndarray, pairs: np.ndarray, odds: np.ndarray, linkage: Linkage
) -> np.ndarray:
    """Return groups numbered by their first rows, from the log-odds of pairs to match.

    A distinct row stands for `counts` rows, which are one group from the start.
    """
    apart = pairs[:, 0] != pairs[:, 1]
    pairs, odds = pairs[apart], linkage.capped(odds[apart])
    if linkage.name == "single":
        merges = pairs[odds >= linkage.cut]
    else:
        near = odds > linkage.floor
        merges, _ = _merge(pairs[near], odds[near], counts, linkage)
    return _components(len(counts), merges)


def extend_groups(
    before: np.ndarray,
    old: np.ndarray,
    counts: np.ndarray,
    pairs: np.ndarray,
    odds: np.ndarray,
    linkage: Linkage,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the groups of all rows, and the pairs of old groups that new rows would join.

    The old distinct rows come first. They are in the groups `before`, which are never merged with
    one another, and stood for `old` rows before the new ones came. Linkage continues from these
    groups. New groups are numbered after the old ones.
    """
    n_groups, n_old = int(before.max(initial=-1)) + 1, len(before)
    n = n_groups + len(counts) - n_old
    nodes = np.append(before, np.arange(n_groups, n))
    sizes = np.bincount(nodes, counts, n).astype(np.int64)
    old_sizes = np.bincount(before, old, n).astype(np.int64)
    a, b = np.sort(nodes[pairs], axis=1).T
    # New rows can only join old groups that are near a new row or got copies of their own rows.
    near, changed = np.zeros(n, bool), sizes != old_sizes
    near[a[b >= n_groups]] = True
    joins = (near[a] & near[b] | changed[a] | changed[b]) & (a != b)
    (i, j), keys, odds = pairs[joins].T, a[joins] * n + b[joins], linkage.capped(odds[joins])

    def between(shown: Any, counts: np.ndarray, sizes: np.ndarray) -> tuple[Any, Any]:
        """Return pairs of groups and their log-odds, from some of the pairs of rows."""
        key, groups = np.unique(keys[shown], return_inverse=True)
        ends = np.column_stack(np.divmod(key, n))
        numbers = counts[i[shown]] * counts[j[shown]]
        return ends, linkage.between(groups, odds[shown], numbers, sizes[ends].prod(axis=1))

    merges, refused = _merge(*between(slice(None), counts, sizes), sizes, linkage, n_groups)
    ends, values = between((i < n_old) & (j < n_old), old, old_sizes)
    bridges = sorted(refused - set(map(tuple, ends[values >= linkage.cut].tolist())))
    components = _components(n, merges)
    labels = np.full(components.max() + 1, -1)
    labels[components[:n_groups]] = np.arange(n_groups)
    labels[labels < 0] = np.arange(n_groups, len(labels))
    return labels[components[nodes]], np.array(bridges, np.int64).reshape(-1, 2)


def membership_odds(
    rows: np.ndarray,
    labels: np.ndarray,
    counted: Multiplicities,
    counts: np.ndarray,
    odds: np.ndarray,
    linkage: Linkage,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the log-odds of rows with their own group and the best other group, and its label.

    Linkage would join a row to a group by these log-odds. They are NaN for a row that is alone in
    its group. The label is -1 if no pair joins the row to another group.
    """
    sizes = np.bincount(labels, counts).astype(np.int64)
    n, floor, is_wanted = len(sizes), linkage.floor, np.isin(np.arange(len(labels)), rows)
    i, j = np.concatenate(counted.ends), np.concatenate(counted.ends[::-1])
    numbers = np.concatenate(counted.near)
    shown = is_wanted[i] & (numbers > 0)
    keys, groups = np.unique(i[shown] * n + labels[j[shown]], return_inverse=True)
    row, group = np.divmod(keys, n)
    odds, totals = linkage.capped(np.tile(odds, 2)[shown]), sizes[group] - (labels[row] == group)
    values = linkage.between(groups, odds, numbers[shown], totals)
    near = values > floor
    row, group, values = row[near], group[near], values[near]
    own_odds, best_odds = np.full(len(labels), floor), np.full(len(labels), floor)
    rival, inside = np.full(len(labels), -1), labels[row] == group
    own_odds[row[inside]] = values[inside]
    own_odds[sizes[labels] == 1] = np.nan
    row, group, values = row[~inside], group[~inside], values[~inside]
    order = np.lexsort((-group, values))  # the best last, the first of equal ones
    best_odds[row[order]], rival[row[order]] = values[order], group[order]
    return own_odds[rows], best_odds[rows], rival[rows]


def _components(n: int, pairs: np.ndarray) -> np.ndarray:
    """Return the number of the component of each of n nodes, by their first nodes."""
    links = sparse.coo_array((np.ones(len(pairs), np.int8), tuple(pairs.T)), shape=(n, n))
    return connected_components(links, directed=False)[1].astype(np.int64)


def _merge(
    pairs: np.ndarray, odds: np.ndarray, counts: np.ndarray, linkage: Linkage, n_old: int = 0
) -> tuple[np.ndarray, set[tuple[int, int]]]:
    """Return the merges, as pairs of nodes, and the pairs of old groups that were not merged.

    The groups with the largest log-odds merge first; ties follow the order of nodes. `counts` are
    the sizes of the nodes. The first `n_old` nodes are old groups, which are never merged with one
    another.
    """
    # values[p][q]: the log-odds of p and q above the least; for averages, the sum over pairs.
    values: dict[int, dict[int, float]] = {}
    average, cut, floor = linkage.name == "average", linkage.cut, linkage.floor
    combine: Any = {"average": add, "complete": min, "single": max}[linkage.name]
    sizes = counts.tolist() if average else [1] * len(counts)
    queue: list[tuple[float, int, int]] = []

    def put(p: int, q: int, total: float) -> None:
        values.setdefault(p, {})[q] = values.setdefault(q, {})[p] = total
        mean = total / (sizes[p] * sizes[q]) + floor
        if mean >= cut:
            heappush(queue, (-mean, p, q))

    for (a, b), value in zip(pairs.tolist(), (odds - floor).tolist(), strict=True):
        put(a, b, value * (sizes[a] * sizes[b]))
    old = {group: group for group in range(n_old)}  # the old group that each group contains
    merges, refused = [], set()
    while queue:
        value, p, q = heappop(queue)
        if value != -(values.get(p, {}).get(q, np.inf) / (sizes[p] * sizes[q]) + floor):
            continue  # p or q has changed since
        if p in old and q in old:
            refused.add((min(old[p], old[q]), max(old[p], old[q])))
            continue
        merges.append((p, q))
        if len(values[p]) < len(values[q]):
            p, q = q, p
        if q in old:
            old[p] = old.pop(q)
        if average:
            sizes[p] += sizes[q]
        with_p, with_q = values[p], values.pop(q)
        del with_p[q], with_q[p]
        for r in with_q:
            del values[r][q]
        for r in {**with_p, **with_q}:
            put(p, r, combine(with_p.get(r, 0.0), with_q.get(r, 0.0)))
    return np.array(merges, np.int64).reshape(-1, 2), refused


def group_medoids(
    labels: np.ndarray, counted: Multiplicities, inside: np.ndarray, distances: np.ndarray
) -> np.ndarray:
    """Return the first row of each group with the least sum of distances to the others.

    A pair that is not given has the largest distance.
    """
    n, near = len(labels), distances[inside] - 2.0  # above the probability of any pair
    both = np.concatenate([rows[inside] for rows in counted.ends])
    sums = np.bincount(both, np.concatenate([near * rows[inside] for rows in counted.near]), n)
    order = np.lexsort((np.arange(n), sums, labels))
    return order[np.searchsorted(labels[order], np.arange(labels.max() + 1))]


def linked_pairs(
    pairs: np.ndarray, odds: np.ndarray, x: Copies, y: Copies
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pair of distinct rows of each pair of rows, and the sorted pairs of rows."""
    rows, columns = x.counts[pairs[:, 0]], y.counts[pairs[:, 1]]
    numbers = rows * columns
    check_graph(int(numbers.sum()))
    indices = np.repeat(np.arange(len(pairs)), numbers)
    row, column = np.divmod(
        np.arange(len(indices)) - np.repeat(offsets_of(numbers)[:-1], numbers), columns[indices]
    )
    (x_rows, x_starts), (y_rows, y_starts) = x.members(), y.members()
    i = x_rows[x_starts[pairs[indices, 0]] + row]
    j = y_rows[y_starts[pairs[indices, 1]] + column]
    order = np.lexsort((j, i))
    return indices[order], np.column_stack([i, j])[order]


def linked_one_to_one(
    pairs: np.ndarray, odds: np.ndarray, x: Copies, y: Copies
) -> tuple[np.ndarray, np.ndarray]:
    """Link rows greedily: the likeliest pair of free rows first, ties by the order of rows.

    Equal rows are linked in their order. Returns the pair of distinct rows of each link, and the
    sorted links.
    """
    (x_rows, x_starts), (y_rows, y_starts) = x.members(), y.members()
    y_free, x_free = y_starts[:-1].copy(), x_starts[:-1].copy()  # the first free row of equal ones
    linked = []
    order = np.argsort(-odds, kind="stable")
    for level in np.split(order, np.flatnonzero(np.diff(odds[order])) + 1):
        partners: dict[int, list[tuple[int, int]]] = {}
        for index, (a, b) in zip(level.tolist(), pairs[level].tolist(), strict=True):
            partners.setdefault(a, []).append((b, index))
        queue = [(int(x_rows[x_free[a]]), a) for a in partners if x_free[a] < x_starts[a + 1]]
        heapify(queue)
        while queue:
            i, a = heappop(queue)
            free = [(b, index) for b, index in partners[a] if y_free[b] < y_starts[b + 1]]
            if not free:
                continue
            j, b, index = min((y_rows[y_free[b]], b, index) for b, index in free)
            linked.append((i, int(j), index))
            y_free[b] += 1
            x_free[a] += 1
            if x_free[a] < x_starts[a + 1]:
                heappush(queue, (int(x_rows[x_free[a]]), a))
    links = np.array(sorted(linked), np.int64).reshape(-1, 3)
    # Rows without a link whose possible partner is linked to an equally near row.
    levels, lost = np.unique(odds, return_inverse=True)[1], []
    for name, column, rows, first, end in (
        ("left", 0, x_rows, x_free, x_starts), ("right", 1, y_rows, y_free, y_starts)
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
