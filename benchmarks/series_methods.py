# SPDX-License-Identifier: BSD-3-Clause
"""Classifiers of series: `d2ke_train` of several sizes and without ingredients, those of aeon."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import d2ke
from benchmarks.archive import Labelled
from d2ke import views
from d2ke.models.windows import KINDS

Method = Callable[[Labelled, d2ke.Objects, int], np.ndarray]
Ingredient = Callable[[d2ke.Block, str | None], bool]  # of a block and a kind of windows, or None

OURS = "`d2ke_train`"
SIZES = (1000, 2000, 4000, 8000)  # features; the default is shown beside them
PEERS = ("MiniROCKET", "QUANT", "RDST")

INGREDIENTS: Mapping[str, Ingredient] = {
    "windows": lambda block, kind: kind is not None,
    **{kind: lambda block, kind, dropped=kind: kind == dropped for kind in KINDS},
    "shapes": lambda block, kind: kind is not None and block.sampler.keywords["normalize"],
    "values": lambda block, kind: kind is not None and not block.sampler.keywords["normalize"],
    "slopes": lambda block, kind: views.difference in block.views,
    "the course": lambda block, kind: kind is None,
}


def default(train: Labelled, new: d2ke.Objects, seed: int, **options: Any) -> np.ndarray:
    """Train with the defaults, or with options of `d2ke_train`, and predict."""
    model = d2ke.d2ke_train(train.labels, train.objects, seed=seed, n_threads=1, **options)
    return d2ke.d2ke_predict(None, new, model, n_threads=1)[0]


def of_sizes() -> dict[str, Method]:
    """Return `d2ke_train` with other numbers of features."""
    return {f"{OURS}, R = {R}": partial(default, R=R) for R in SIZES}


def without_ingredients() -> dict[str, Method]:
    """Return `d2ke_train` with the blocks of the recipe, and without each ingredient."""
    return {OURS: partial(without, lambda block, kind: False)} | {
        f"without {name}": partial(without, ingredient) for name, ingredient in INGREDIENTS.items()
    }


def without(ingredient: Ingredient, train: Labelled, new: d2ke.Objects, seed: int) -> np.ndarray:
    """Train with the blocks that are left; without any, predict the largest class."""
    blocks = blocks_without(ingredient, train.objects)
    if not blocks:  # the recipe of very long series has windows alone
        classes, counts = np.unique(train.labels, return_counts=True)
        return np.full(len(new), classes[counts.argmax()])
    return default(train, new, seed, blocks=blocks)


def blocks_without(ingredient: Ingredient, X: d2ke.Objects) -> list[d2ke.Block]:
    """Return the recipe without an ingredient; nothing takes its place."""
    blocks = []
    for block in d2ke.models.recipe(X):
        kinds = getattr(block.sampler, "keywords", {}).get("kinds", (None,))
        left = tuple(kind for kind in kinds if not ingredient(block, kind))
        if left == kinds:
            blocks.append(block)
        elif left:  # as many windows as before
            R = block.R // len(kinds) * len(left)
            blocks.append(replace(block, R=R, sampler=partial(block.sampler, kinds=left)))
    return blocks


def peers(names: Sequence[str]) -> dict[str, Method]:
    """Return classifiers of aeon, which is needed for them only."""
    if not names:
        return {}
    from aeon.classification.convolution_based import MiniRocketClassifier
    from aeon.classification.interval_based import QUANTClassifier
    from aeon.classification.shapelet_based import RDSTClassifier

    classifiers = {
        "MiniROCKET": partial(MiniRocketClassifier, n_jobs=1),
        "QUANT": QUANTClassifier,
        "RDST": partial(RDSTClassifier, n_jobs=1),
    }
    return {name: partial(_peer, classifiers[name]) for name in names}


def _peer(
    classifier: Callable[..., Any], train: Labelled, new: d2ke.Objects, seed: int
) -> np.ndarray:
    length = max(9, int(train.objects.lengths.max()))  # MiniROCKET's kernels have 9 values
    model = classifier(random_state=seed).fit(_resized(train.objects, length), train.labels)
    return model.predict(_resized(new, length))


def _resized(X: d2ke.Objects, length: int) -> np.ndarray:
    """Return (n, channels, length), interpolated."""
    cube = np.empty((len(X), X.values.shape[1], length))
    for i, item in enumerate(X):
        places = np.linspace(0, len(item) - 1, length)
        for channel, values in enumerate(item.T):
            cube[i, channel] = np.interp(places, np.arange(len(item)), values)
    return cube
