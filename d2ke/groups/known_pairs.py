# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the pairs of rows that the user labels as matches or not."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components

from d2ke._base.errors import ArgumentError, ArgumentTypeError


def check_known(known: Any, shape: tuple[int, int], same: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the known pairs of rows, checked, and whether they match.

    Pairs that contradict each other, directly or through a chain of matches, are refused.
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
    rule = f"must say of each of the {len(pairs)} pairs if it matches"
    if match.shape != (len(pairs),):
        raise ArgumentError("known", rule)
    wrong = np.flatnonzero(~np.isin(match, [0, 1]))
    if wrong.size:
        i = int(wrong[0])
        raise ArgumentError("known", f"{rule}, True or False; got {match[i].item()!r} for pair {i}")
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
    n = int(nodes.max()) + 1
    links = sparse.csr_array((np.ones(match.sum()), tuple(nodes[match].T)), shape=(n, n))
    groups = connected_components(links, directed=False)[1]
    wrong = np.flatnonzero(~match & (groups[nodes[:, 0]] == groups[nodes[:, 1]]))
    if not wrong.size:
        return
    number = int(wrong[0])
    a, b = nodes[number].tolist()
    before = breadth_first_order(links, a, directed=False)[1]  # on the shortest way from a
    chain: list[str] = []
    while b != a:
        steps = (nodes == (before[b], b)).all(axis=1) | (nodes == (b, before[b])).all(axis=1)
        i = int(np.flatnonzero(match & steps)[0])
        chain.insert(0, f"known[{i}]: rows {_text(pairs[i])}")
        b = int(before[b])
    reason = f"others say that they do ({'; '.join(chain)})" if chain else "they are one row"
    problem = f"says that rows {_text(pairs[number])} do not match, but {reason}"
    raise ArgumentError("known", problem, number)


def _text(pair: np.ndarray) -> str:
    return " and ".join(map(str, pair.tolist()))
