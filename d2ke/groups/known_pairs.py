# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of rows that a user knows to match or not, checked."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError


def check_known(known: Any, shape: tuple[int, int], same: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of rows of two tables, or of one, and whether they match.

    Pairs that contradict each other are refused, whether at once or by a chain of matches.
    """
    if not isinstance(known, (tuple, list)) or len(known) != 2:
        raise ArgumentTypeError(
            "known", f"must be (pairs, match): pairs of rows, and whether they match; got {known!r}"
        )
    try:
        pairs, match = map(np.asarray, known)
    except ValueError:
        raise ArgumentError("known", "must have two rows in each pair, shape (m, 2)") from None
    if not pairs.size:
        raise ArgumentError("known", "needs pairs that match, and pairs that do not")
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ArgumentError("known", f"must have pairs of rows, shape (m, 2), got {pairs.shape}")
    if pairs.dtype.kind not in "iu":
        raise ArgumentTypeError(
            "known", f"must have the numbers of rows, integers, got {pairs[0].tolist()}", 0
        )
    wanted = f"must say of each of the {len(pairs)} pairs if it matches"
    if match.shape != (len(pairs),):
        raise ArgumentError("known", wanted)
    wrong = np.flatnonzero(~np.isin(match, [0, 1]))
    if wrong.size:
        i = int(wrong[0])
        raise ArgumentError(
            "known", f"{wanted}, True or False; got {match[i].item()!r} for pair {i}"
        )
    outside = np.flatnonzero(((pairs < 0) | (pairs >= shape)).any(axis=1))
    if outside.size:
        where = pairs[outside[0]].tolist()
        rows = " and ".join(map(str, dict.fromkeys(shape)))
        raise ArgumentError("known", f"is {where}, but there are {rows} rows", outside[0])
    pairs, match = pairs.astype(np.int64), match.astype(bool)
    nodes = np.column_stack([pairs[:, 0], pairs[:, 1] + (0 if same else shape[0])])
    _refuse_contradictions(nodes, match, pairs)
    if match.all() or not match.any():
        raise ArgumentError("known", "needs pairs that match, and pairs that do not")
    return pairs, match


def _refuse_contradictions(nodes: np.ndarray, match: np.ndarray, pairs: np.ndarray) -> None:
    """Refuse a pair that does not match, but whose rows a chain of matches joins."""
    links: dict[int, list[tuple[int, int]]] = {}
    for number in np.flatnonzero(match).tolist():
        a, b = nodes[number].tolist()
        links.setdefault(a, []).append((b, number))
        links.setdefault(b, []).append((a, number))
    group: dict[int, int] = {}
    for start in links:
        stack = [] if start in group else [start]
        while stack:
            node = stack.pop()
            group[node] = start
            stack += [other for other, _ in links[node] if other not in group]
    for number in np.flatnonzero(~match).tolist():
        a, b = nodes[number].tolist()
        if a != b and (a not in group or group[a] != group.get(b)):
            continue
        chain = [f"known[{i}]: rows {_text(pairs[i])}" for i in _chain(links, a, b)]
        reason = f"others say that they do ({'; '.join(chain)})" if chain else "they are one row"
        problem = f"says that rows {_text(pairs[number])} do not match, but {reason}"
        raise ArgumentError("known", problem, number)


def _chain(links: dict[int, list[tuple[int, int]]], a: int, b: int) -> list[int]:
    """Return the numbers of the fewest matches that lead from a to b."""
    before: dict[int, tuple[int, int]] = {}
    queue = deque([a])
    while b not in before and queue and a != b:
        node = queue.popleft()
        for other, number in links[node]:
            if other != a and other not in before:
                before[other] = node, number
                queue.append(other)
    chain: list[int] = []
    while b != a:
        b, number = before[b]
        chain.insert(0, number)
    return chain


def _text(pair: np.ndarray) -> str:
    return " and ".join(map(str, pair.tolist()))
