# SPDX-License-Identifier: BSD-3-Clause
"""Training with and without three of its rules, for `benchmarks.rules`.

What each rule replaced is kept here, and takes the place of the rule in a context.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from operator import itemgetter
from typing import Any
from unittest.mock import patch

import numpy as np

from d2ke._base.blas import ROWS, square
from d2ke.learners.ridge import ridge_of_gram
from d2ke.models import distance_blocks, plan
from d2ke.models.blocks import per_feature
from d2ke.models.families import FamilyKernels, FamilyScales
from d2ke.models.labels import Labels
from d2ke.models.left_out import COSTS
from d2ke.models.own_columns import OwnColumns
from d2ke.models.shares import Shares

_SHARES = (0.2, 0.5, 0.8, 0.95, 0.98)
_PRIOR = 10  # pseudo-observations toward the first family
_ROWS, _FAMILIES = 1024, 4  # training objects that choose; with more families, fewer choose
_CLASSES = 256  # columns of targets whose errors are summed


def hidden_values(
    features: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Give objects, at the random objects they are, the feature of the nearest other object.

    Nothing is raised above it, so that left-out predictions keep all columns.
    """
    if len(features) > 1:
        features[rows, columns] = -np.inf
        features[rows, columns] = features[:, columns].max(axis=0)
    return features[rows, columns], features[rows, columns]


def greedy_shares(
    family_kernels: FamilyKernels,
    labels: Labels,
    own_columns: OwnColumns,
    entropy: Any,
    most: int = _ROWS,
) -> Shares:
    """Choose shares family by family, by the least left-out squared error of any C.

    The printed accuracy is that of left-out predictions with these shares.
    """
    Z, blocks, n_threads = family_kernels.Z, family_kernels.blocks, family_kernels.n_threads
    # All windows, of as many features each, were one family.
    family = {b.family: "windows" if "anywhere" in b.members else b.family for b in blocks}
    families = np.array([family[name] for name in per_feature(blocks, "family").tolist()])
    names = list(dict.fromkeys(families.tolist()))
    if len(names) == 1:
        return Shares(dict.fromkeys(family, 1 / len(family)))
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(_ROWS,)))
    size = int(most * min(1.0, (_FAMILIES - 1) / (len(names) - 1)) ** (1 / 3))
    if len(Z) > size:
        rows = np.sort(rng.choice(len(Z), size, replace=False, shuffle=False))
        Z, labels = Z[rows], labels[rows]
    if labels.groups is not None and (labels.groups == labels.groups[0]).all():
        labels = replace(labels, groups=None)
    T = labels.dense_columns()
    if T.shape[1] > _CLASSES:
        T = T[:, rng.choice(T.shape[1], _CLASSES, replace=False)]
    scales, counts = FamilyScales.of(Z, blocks), Counter(family.values())
    kernels = []
    for name in names:
        of_family = families == name
        values = (Z[:, of_family] - scales.mean[of_family]) / scales.balanced[of_family]
        values /= np.sqrt(counts[name])
        if labels.weights is not None:
            values -= labels.weights @ values / labels.weights.sum()
        # By mistake it saw the first columns of large families only.
        seen = values if Z.shape[1] < len(Z) else values[:, :ROWS]
        kernels.append(square(seen.T.__getitem__, seen.shape[1], n_threads))
    stack = np.stack(kernels)

    def error(shares: np.ndarray) -> float:
        ridge, P = ridge_of_gram(np.tensordot(shares, stack, 1), T, labels.weights)
        errors = np.empty((len(T), len(COSTS)))
        for rows in labels.left_out_chunks():
            decision = labels[rows].left_out(ridge, P[rows], T[rows], COSTS)
            errors[rows] = ((decision - T[rows, None]) ** 2).sum(axis=2)
        means = np.average(errors, axis=0, weights=labels.weights)
        return max(float(means.min()), np.finfo(float).tiny)

    shares = np.eye(len(names))[0]
    best = np.log(error(shares)), shares
    for place in range(1, len(names)):
        candidates = [best]
        for share in _SHARES:
            candidate = best[1] * (1 - share)
            candidate[place] = share
            penalty = _PRIOR / len(Z) * (1 - candidate[0])
            candidates.append((np.log(error(candidate)) + penalty, candidate))
        best = min(candidates, key=itemgetter(0))
    of_names = dict(zip(names, best[1].tolist(), strict=True))
    return Shares({new: of_names[old] / counts[old] for new, old in family.items()})


# What takes the place of each rule.
OLD: Mapping[str, Callable[[], AbstractContextManager[Any]]] = {
    "own": lambda: patch.object(distance_blocks, "own_values", hidden_values),
    "shares": lambda: patch.object(plan, "choose_shares", greedy_shares),
    "copies": nullcontext,  # `groups="none"` is an argument of training
}
RULES = {"old": (), **{rule: (rule,) for rule in OLD}, "all": tuple(OLD)}


@contextmanager
def rules(name: str) -> Iterator[dict[str, Any]]:
    """Train with the rules of a key of `RULES`, and with the old ones in place of the others.

    Yields arguments for `d2ke_train`.
    """
    with ExitStack() as stack:
        for rule, old in OLD.items():
            if rule not in RULES[name]:
                stack.enter_context(old())
        yield {} if "copies" in RULES[name] else {"groups": "none"}
