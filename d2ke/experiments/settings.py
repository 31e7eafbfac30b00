# SPDX-License-Identifier: BSD-3-Clause
"""What is searched for each data set: p(omega), gamma, C, R."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from d2ke.datasets import Dataset
from d2ke.objects import Objects
from d2ke.omega import random_series, random_sets, random_strings


@dataclass(frozen=True)
class Setting:
    """The search space of one data set.

    Attributes
    ----------
    samplers : tuple of mapping
        Parameters of p(omega) to try.
    R : int
        Random objects of the final model; representatives, if there are as many objects.
    search_R : int
        Random objects with which p(omega), gamma and C are chosen.
    gammas : tuple of float
        In units of 1 / (median distance).
    costs : tuple of float
        Values of C.
    distance_parameters : mapping
        Of the distance.
    scale_channels : bool
        Series: bring every channel to mean 0 and deviation 1 over the training objects.
    single : bool
        Vectors: compute in float32, in half of the time.
    """

    samplers: tuple[Mapping[str, Any], ...]
    R: int
    search_R: int
    gammas: tuple[float, ...] = (0.3, 1.0, 3.0)
    costs: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0, 10.0, 1e2, 1e3, 1e4)
    distance_parameters: Mapping[str, Any] = field(default_factory=dict)
    scale_channels: bool = False
    single: bool = False


SETTINGS = {
    "auslan": Setting(
        samplers=tuple(
            {"length": length, "sigma": sigma}
            for length in ((2, 25), (2, 50))
            for sigma in (1.0, 2.0, 4.0)
        ),
        R=1024,
        search_R=256,
        scale_channels=True,
        single=True,
    ),
    "splice": Setting(
        samplers=tuple({"length": length} for length in ((2, 50), (60, 100))),
        R=16384,
        search_R=4096,
        gammas=(1.5, 3.0, 6.0, 9.0),
    ),
    "digits-str8": Setting(
        samplers=tuple({"length": length} for length in ((2, 20), (10, 40), (30, 60))),
        R=1024,
        search_R=512,
    ),
    "digits-str4": Setting(
        samplers=tuple({"length": length} for length in ((2, 30), (20, 60), (50, 100))),
        R=1024,
        search_R=512,
    ),
    "digits-points": Setting(
        samplers=tuple({"size": size} for size in ((1, 3), (3, 15), (10, 30))),
        R=1024,
        search_R=512,
    ),
}

NEIGHBORS = (1, 2, 3, 4, 5, 7, 9, 11, 15, 20)
# Of kernels of distances: gammas (and C for the negative squared distance) in units of
# 1 / (median distance)^2.
GRAM_GAMMAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
GRAM_COSTS = (0.1, 1.0, 10.0, 1e2, 1e3)
# Dimensions of the pseudo-Euclidean embedding.
DIMENSIONS = (4, 8, 16, 32, 64, 128, 256, 512)


def sample(
    dataset: Dataset, train: Objects, sampler: Mapping[str, Any], R: int, seed: Any
) -> Objects:
    """Draw R random objects of the data set's kind from the p(omega) with these parameters.

    Sets of points of a low dimension come from the box that holds the training
    points, descriptors from the unit sphere.
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
