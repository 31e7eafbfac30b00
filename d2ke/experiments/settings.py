# SPDX-License-Identifier: BSD-3-Clause
"""What is searched for each data set: p(omega), gamma, C, R."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from d2ke.datasets import Dataset
from d2ke.objects import Objects
from d2ke.omega import random_series, random_sets, random_strings
from d2ke.select import COSTS


@dataclass(frozen=True)
class Setting:
    """The search space of one data set.

    Attributes
    ----------
    omega : mapping of str to tuple
        Values of the parameters of p(omega) to try, in all combinations.
    R : int
        Random objects of the final model; representatives, if there are as many objects.
    search_R : int
        Random objects with which p(omega), scaling, gamma and C are chosen.
    gammas : tuple of float
        In units of 1 / (median distance).
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
        The most training objects that a search looks at, and that a method may need all distances
        among; None for all.
    scale_channels : bool
        Series: bring every channel to mean 0 and deviation 1 over the training objects.
    single : bool
        Compute in float32, in half of the time and memory.
    refine : bool
        Choose C anew by the final model's loss, see `d2ke.search`.
    """

    omega: Mapping[str, tuple]
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
    refine: bool = False


_PENTIP = Setting(
    omega={"length": ((1, 10), (20, 80)), "sigma": (1.0, 3.0)},
    R=2048,
    search_R=512,
    gammas=(0.3, 1.0, 3.0),
    costs=(10.0, 1e2, 1e3, 1e4),
    single=True,
)
_REGIONS = ("sphere", "orthant")
_IMAGES = Setting(
    omega={"size": ((3, 15), (8, 30)), "region": _REGIONS},
    R=4096,
    search_R=2048,
    gammas=(0.3, 3.0),
    costs=(0.3, 1.0, 3.0, 10.0, 30.0, 1e2, 3e2),
    single=True,
    refine=True,
)


def _mnist(lengths: tuple[tuple[int, int], ...]) -> Setting:
    """Return a setting for 60000 strings, too many for some methods and for the search."""
    return Setting(
        omega={"length": lengths},
        R=4096,
        search_R=1024,
        gammas=(0.5, 1.0, 2.0),
        costs=(1.0, 10.0, 1e2),
        search_n=5000,
        gram_n=10000,
        single=True,
    )


SETTINGS = {
    "auslan": Setting(
        omega={"length": ((1, 10), (2, 25)), "sigma": (1.0, 2.0, 4.0)},
        R=4096,
        search_R=512,
        gammas=(0.1, 0.3, 1.0),
        costs=(1e2, 1e3, 1e4, 1e5),
        scale_channels=True,
        single=True,
    ),
    "pentip": _PENTIP,
    "pentip-trimmed": _PENTIP,
    "actrecog": Setting(
        omega={"length": ((1, 10), (2, 25)), "sigma": (0.3, 1.0, 3.0)},
        R=2048,
        search_R=512,
        gammas=(0.3, 1.0, 3.0),
        costs=(10.0, 1e2, 1e3, 1e4),
        scale_channels=True,
        single=True,
    ),
    "splice": Setting(
        omega={"length": ((40, 80), (50, 80), (60, 100))},
        R=32768,
        search_R=8192,
        gammas=(2.5, 3.5, 5.0, 7.0),
    ),
    "mnist-str4": _mnist(((40, 120), (80, 198))),
    "mnist-str8": _mnist(((20, 60), (40, 99))),
    "flower": replace(
        _IMAGES, omega={"size": ((3, 15), (20, 40), (40, 100)), "region": _REGIONS}, R=8192
    ),
    "decor": replace(_IMAGES, R=4096),
    "style": replace(_IMAGES, R=4096),
    "letters2": replace(_IMAGES, omega={"size": ((1, 3), (2, 6)), "region": _REGIONS}, R=8192),
    "digits-str8": Setting(
        omega={"length": ((2, 20), (10, 40), (30, 60))},
        R=1024,
        search_R=512,
    ),
    "digits-str4": Setting(
        omega={"length": ((2, 30), (20, 60), (50, 100))},
        R=1024,
        search_R=512,
    ),
    "digits-points": Setting(
        omega={"size": ((1, 3), (3, 15), (10, 30))},
        R=1024,
        search_R=512,
    ),
}

# Methods that draw nothing at random: on a published division they have one result.
DETERMINISTIC = frozenset({"knn", "dsk_rbf", "dsk_nd", "gdk_led"})


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


_QUICK_N, _QUICK_GRAM_N = 1000, 2000


def sample(
    dataset: Dataset, train: Objects, sampler: Mapping[str, Any], R: int, seed: Any
) -> Objects:
    """Draw R random objects of the data set's kind from the p(omega) with these parameters.

    Sets of points of a low dimension come from the box that holds the training
    points, descriptors from the unit sphere (or from a part of it).
    """
    if dataset.domain == "strings":
        return random_strings(R, dataset.alphabet, seed=seed, **sampler)
    if dataset.domain == "series":
        return random_series(R, train.dim, seed=seed, dtype=train.dtype, **sampler)
    if train.dim >= 16:
        return random_sets(R, train.dim, seed=seed, dtype=train.dtype, **sampler)
    low, high = np.min(train.values, axis=0), np.max(train.values, axis=0)
    return random_sets(
        R, train.dim, seed=seed, dtype=train.dtype, region="box", low=low, high=high, **sampler
    )
