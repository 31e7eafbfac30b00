# SPDX-License-Identifier: BSD-3-Clause
"""Shares of the letters of a string, or the vectors of a set, in a decision."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke.models.model import D2KEModel
from d2ke.objects.container import Objects
from d2ke.objects.tokens import encode


def part_shares(model: D2KEModel, x: Objects, index: int, sign: float) -> np.ndarray:
    """Return the loss of decision value `index` without each letter or vector of x, shape (n,).

    A letter is replaced by a letter of no training string, so that no letter moves.
    """
    n = int(x.lengths[0])
    if not n:
        return np.empty(0)
    # At most 500 changed objects: with more letters or vectors, runs of them change.
    width = max(1, -(-n // 500))
    starts = np.arange(0, n, width)
    sizes = np.minimum(starts + width, n) - starts
    if len(starts) == 1 and x.base == "sets":  # without it, the set is empty
        return np.full(n, sign * float(_decisions(model, x, index)[0]) / n)
    if x.base == "sets":
        changed = _without_vectors(x, starts, width)
    else:
        changed = _without_letters(model, x, starts, width)
    before = _decisions(model, x, index)
    after = _decisions(model, model.check_objects(changed, None), index)
    return np.repeat(sign * (before - after) / sizes, sizes)


def _decisions(model: D2KEModel, objects: Any, index: int) -> np.ndarray:
    """Return a decision value of objects, without the offset."""
    weights = model.linear.weights[index]
    (values,) = model.map_features(objects, [lambda Z: Z.astype(np.float64) @ weights], None)
    return values


def _without_letters(model: D2KEModel, x: Objects, starts: np.ndarray, width: int) -> Objects:
    """Return x with each run of letters replaced."""
    alphabet = np.union1d(x.alphabet, np.asarray(model.alphabet))
    if x.letters == "token":
        other: Any = encode("\uffff", "x")
    else:
        free = np.setdiff1d(np.arange(256 if x.letters == "bytes" else len(alphabet) + 1), alphabet)
        other = free[0] if len(free) else x.alphabet[0]
    alphabet = np.union1d(x.alphabet, np.array([other]))
    codes = np.searchsorted(alphabet, x.alphabet[x.values])
    rows = np.repeat(codes[None], len(starts), axis=0)
    columns = np.arange(len(codes))
    rows[columns // width, columns] = np.searchsorted(alphabet, other)
    kind = np.uint32 if len(alphabet) > 65536 else np.uint16 if len(alphabet) > 256 else np.uint8
    offsets = np.arange(len(rows) + 1) * len(codes)
    return Objects(x.kind, rows.ravel().astype(kind), offsets, alphabet, x.letters)


def _without_vectors(x: Objects, starts: np.ndarray, width: int) -> Objects:
    """Return x without each run of vectors."""
    n = len(x.values)
    rows = [np.r_[0:start, start + width : n] for start in starts]
    indices, offsets = np.concatenate(rows), np.cumsum([0, *map(len, rows)])
    weights = None if x.weights is None else x.weights[indices]
    return Objects(x.kind, x.values[indices], offsets, None, None, weights)
