# SPDX-License-Identifier: BSD-3-Clause
"""The search space of each data set: p(omega), gamma, C, R."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from d2ke import Objects, samplers
from d2ke.learners.losses import LOSSES
from d2ke.model_selection.grids import COSTS
from papers.datasets import REGISTRY, Dataset


@dataclass(frozen=True)
class Setting:
    """The search space of one data set.

    Attributes
    ----------
    omega : mapping of str to tuple
        Values of the parameters of p(omega) to try, in all combinations.
    R : int
        Random objects (or at most so many representatives) of the final model.
    search_R : int
        Random objects for the choice of p(omega), scaling, gamma and C.
    gammas : tuple of float
        In units of 1 / (median distance), unless `absolute`.
    scalings : tuple of str
        Kinds of scaling of the features.
    costs : tuple of float
        Values of C.
    gram_gammas : tuple of float
        gamma of DSK_RBF, in units of 1 / (median distance)^2.
    gram_costs : tuple of float
        C of DSK_RBF; and of DSK_ND, in units of 1 / (median distance)^2.
    distance_parameters : mapping
        Of the distance.
    search_n, gram_n : int, optional
        The most training objects of a search, and of all distances among training objects;
        None for all.
    scale_channels : bool
        Series: bring every channel to mean 0 and deviation 1 over the training objects.
    single : bool
        Compute in float32, in half of the time and memory.
    losses : tuple of str
        Losses of linear classifiers to choose from.
    absolute : bool
        Whether `gammas` are the values themselves.
    rsm_R : int, optional
        The most representatives of RSM; by default R.
    transductive : bool
        GDK_LED embeds training and test objects together.
    """

    omega: Mapping[str, tuple[Any, ...]]
    R: int
    search_R: int
    gammas: tuple[float, ...] = (0.3, 1.0, 3.0)
    scalings: tuple[str, ...] = ("standard",)
    costs: tuple[float, ...] = COSTS
    gram_gammas: tuple[float, ...] = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
    gram_costs: tuple[float, ...] = (1.0, 10.0, 1e2, 1e3)
    distance_parameters: Mapping[str, Any] = field(default_factory=dict)
    search_n: int | None = None
    gram_n: int | None = None
    scale_channels: bool = False
    single: bool = False
    losses: tuple[str, ...] = LOSSES
    absolute: bool = False
    rsm_R: int | None = None
    transductive: bool = False


_SOURCES = ("noise", "segments")
_PENTIP = Setting(
    omega={"source": _SOURCES, "length": ((1, 10), (20, 80)), "sigma": (1.0, 3.0)},
    R=4096,
    search_R=1024,
    costs=(10.0, 1e2, 1e3, 1e4),
    single=True,
)
# Descriptors fill a small part of the sphere: random vectors of the whole sphere are far from all.
_IMAGES = Setting(
    omega={"region": ("data",), "size": ((8, 30), (40, 100))},
    R=4096,
    search_R=2048,
    gammas=(0.3, 3.0),
    costs=(0.3, 1.0, 3.0, 10.0, 30.0, 1e2, 3e2),
    single=True,
)


def _mnist(order: int, *lengths: tuple[int, int]) -> Setting:
    """Return a setting for 60000 strings, too many for some methods and for the search."""
    return Setting(
        omega={"order": (0, order), "length": lengths},
        R=4096,
        search_R=1024,
        gammas=(1.0, 2.0, 4.0),
        costs=(1.0, 10.0, 1e2),
        losses=("squared_hinge",),
        search_n=5000,
        gram_n=10000,
        single=True,
    )


SETTINGS = {
    "auslan": Setting(
        omega={"source": _SOURCES, "length": ((1, 10), (2, 25)), "sigma": (1.0, 2.0, 4.0, 8.0)},
        R=4096,
        search_R=512,
        gammas=(0.1, 0.3, 1.0),
        costs=(1e2, 1e3, 1e4, 1e5),
        # With 95 classes of 19 objects each the squared hinge loss is far behind, and slow.
        losses=("squared",),
        scale_channels=True,
        single=True,
    ),
    "pentip": _PENTIP,
    "pentip-trimmed": _PENTIP,
    "actrecog": Setting(
        omega={"source": _SOURCES, "length": ((1, 10), (2, 25)), "sigma": (0.3, 1.0, 3.0)},
        R=2048,
        search_R=512,
        costs=(10.0, 1e2, 1e3, 1e4),
        scale_channels=True,
        single=True,
    ),
    "splice": Setting(
        omega={"order": (0, 3), "length": ((40, 80), (50, 80))},
        R=32768,
        search_R=8192,
        gammas=(2.5, 3.5, 5.0, 7.0),
        gram_gammas=(0.3, 1.0, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0),
        gram_costs=(0.3, 1.0, 3.0, 10.0, 1e2),
    ),
    "mnist-str4": _mnist(6, (80, 198), (120, 260)),
    "mnist-str8": _mnist(3, (40, 99), (60, 130)),
    "flower": _IMAGES,
    "decor": _IMAGES,
    "style": _IMAGES,
    "letters2": replace(_IMAGES, omega={"region": ("data",), "size": ((1, 3), (2, 6))}, R=8192),
    "digits-str8": Setting(omega={"length": ((2, 20), (10, 40), (30, 60))}, R=1024, search_R=512),
    "digits-str4": Setting(omega={"length": ((2, 30), (20, 60), (50, 100))}, R=1024, search_R=512),
    "digits-points": Setting(omega={"size": ((1, 3), (3, 15), (10, 30))}, R=1024, search_R=512),
}

# Methods without randomness: they have one result on a published division.
DETERMINISTIC = frozenset({"knn", "dsk_rbf", "dsk_nd", "gdk_led"})


_QUICK_N, _QUICK_GRAM_N = 1000, 2000


def quick(setting: Setting) -> Setting:
    """Return a setting with a cheaper search and fewer random objects."""
    return replace(
        setting,
        R=min(setting.R, 512),
        search_R=min(setting.search_R, 256),
        search_n=min(setting.search_n or _QUICK_N, _QUICK_N),
        gram_n=min(setting.gram_n or _QUICK_GRAM_N, _QUICK_GRAM_N),
        gram_gammas=setting.gram_gammas[1::2],
        gram_costs=setting.gram_costs[::2],
    )


# The paper's p(omega) and gamma by domain: section 5.1 and appendix B. The gammas of series are
# not printed; these are those of strings.
_DECADES = tuple(10.0**k for k in range(-5, 1))
_PUBLISHED = {
    "series": {
        "omega": {
            "length": tuple((2, longest) for longest in (5, 10, 25, 50)),
            "sigma": tuple(10.0**k for k in range(-3, 4)),
        },
        "gammas": _DECADES,
        "distance_parameters": {"window": "rws"},
    },
    "strings": {
        "omega": {"length": tuple((2, longest) for longest in (5, 10, 20, 35, 50))},
        "gammas": tuple(sorted((*_DECADES, *(3 * gamma for gamma in _DECADES[:-1])))),
    },
    "sets": {
        "omega": {"size": tuple((3, largest) for largest in (5, 10, 15))},
        "gammas": tuple(10.0**k for k in range(-3, 2)),
    },
}


def published(name: str) -> Setting:
    """Return the paper's own protocol for a data set.

    p(omega) ignores the data, the objects and the features are not scaled, the loss is LIBLINEAR's
    squared hinge loss; D2KE has 4096 random objects, RSM at most 512 representatives, and GDK_LED
    sees the test objects. What a data set is too large for, and the baselines' grids, are ours.
    """
    ours = SETTINGS[name]
    return Setting(
        **_PUBLISHED[REGISTRY[name].domain],
        R=4096,
        search_R=512,
        scalings=("none",),
        costs=tuple(10.0**k for k in range(-5, 6)),
        gram_gammas=ours.gram_gammas,
        gram_costs=ours.gram_costs,
        search_n=ours.search_n,
        gram_n=ours.gram_n,
        single=True,
        losses=("squared_hinge",),
        absolute=True,
        rsm_R=512,
        transductive=True,
    )


def sample(
    dataset: Dataset, train: Objects, parameters: Mapping[str, Any], R: int, seed: Any
) -> Objects:
    """Draw R random objects of the data set's kind from the p(omega) with these parameters.

    Each kind has samplers that ignore the data and one that uses the training objects: series from
    the source "segments", strings with an order above 0, descriptors from the region "data". Sets
    of points of a low dimension come from the bounding box of the training points.
    """
    options = dict(parameters)
    if dataset.domain == "strings":
        if options.get("order", 0):
            return samplers.markov_strings(R, train, seed=seed, **options)
        options.pop("order", None)
        return samplers.random_strings(R, dataset.alphabet, seed=seed, **options)
    if dataset.domain == "series":
        if options.pop("source", "noise") == "segments":
            scale = options.pop("sigma")
            return samplers.segments(R, train, scale=scale, seed=seed, **options)
        return samplers.random_series(R, train.dim, seed=seed, dtype=train.dtype, **options)
    if options.get("region") == "data":
        return samplers.resampled(R, train, size=options["size"], seed=seed)
    if train.dim < 16:
        low, high = np.min(train.values, axis=0), np.max(train.values, axis=0)
        options |= {"region": "box", "low": low, "high": high}
    return samplers.random_sets(R, train.dim, seed=seed, dtype=train.dtype, **options)
