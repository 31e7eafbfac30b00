# SPDX-License-Identifier: BSD-3-Clause
"""The distances of sets of vectors: the rows of the registry, and what their kernels take."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from d2ke._base.checks import choice, flag, positive_number
from d2ke._ext import emd, pair_distance, sets
from d2ke._ext.pairwise import PairwiseKernel
from d2ke.distances.clouds import cloud, decay, distinct, scaled
from d2ke.distances.distance import Distance, no_rounding, same_precision
from d2ke.objects.container import Objects


def _ground(name: str, value: Any) -> bool:
    return choice(name, value, ["euclidean", "sqeuclidean"]) == "sqeuclidean"


def _prepare_sets(mode: int, x: Objects, y: Objects, same: bool) -> PairwiseKernel:
    x_values, y_values = same_precision(x, y)
    return sets.sets(x_values, x.offsets, y_values, y.offsets, mode, same)


def _prepare_emd(x: Objects, y: Objects, same: bool, ground: bool = False) -> PairwiseKernel:
    measures_x = measures_of(x)
    return emd.emd(measures_x, measures_x if y is x else measures_of(y), ground, same)


def _emd_rounding(x: Objects, y: Objects, **_: Any) -> float:
    """Bound the error of integer costs: 2^-27 times a bound of the largest ground distance.

    |u_i - v_j| <= sum_c (high_c - low_c), where channel c has values from low_c to high_c.
    """
    low = np.minimum(x.values.min(axis=0), y.values.min(axis=0)).astype(np.float64)
    high = np.maximum(x.values.max(axis=0), y.values.max(axis=0)).astype(np.float64)
    with np.errstate(over="ignore"):
        return 2.0**-27 * float(np.abs(high - low).sum())


def measures_of(objects: Objects) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weighted vectors in the form of the kernel of `emd`; see `emd.measures`."""
    values = objects.values.astype(np.float64, copy=False)
    return emd.measures(values, objects.offsets, objects.weights)


def _prepare_kernel(
    x: Objects,
    y: Objects,
    same: bool,
    sigma: float,
    kernel: str = "gaussian",
    normalize: bool = False,
) -> PairwiseKernel:
    sides = []
    for objects in (x,) if y is x else (x, y):
        values = objects.values.astype(np.float64, copy=False)
        weights = np.ones(len(values)) if objects.weights is None else objects.weights
        points, weights, offsets = distinct(values, weights, objects.offsets)
        if normalize:
            totals = np.add.reduceat(weights, offsets[:-1])
            weights = weights / np.repeat(totals, np.diff(offsets))
        points, unit_sigma = scaled(points, sigma)
        sides.append((cloud(points), cloud(weights[:, None]), offsets))
    laplace, rate = kernel == "laplace", decay(kernel, unit_sigma)
    return pair_distance.distance(*sides[0], *sides[-1], laplace, rate, same)


def _check_weights(name: str, objects: Objects, normalize: bool = False, **_: Any) -> None:
    if normalize or objects.weights is None:
        return
    totals = np.add.reduceat(objects.weights, objects.offsets[:-1])
    i = int(totals.argmax())
    if totals[i] > 2.0**500:  # sums of the squares of smaller weights are finite
        raise ValueError(f"the weights of {name}[{i}] are too large: their sum is {totals[i]}")


SETS = (
    Distance(
        name="mhd",
        aliases=("modified_hausdorff",),
        prepare=partial(_prepare_sets, sets.MHD),
        summary="modified Hausdorff: the larger of the two means of nearest-neighbour distances",
        source="Dubuisson & Jain 1994; Wu et al. 2018, eq. (2)",
    ),
    Distance(
        name="hausdorff",
        metric=True,
        prepare=partial(_prepare_sets, sets.HAUSDORFF),
        rounding=no_rounding,
        summary="Hausdorff: the largest distance of a vector of either set to the other set",
        source="Hausdorff 1914",
    ),
    Distance(
        name="chamfer",
        prepare=partial(_prepare_sets, sets.CHAMFER),
        summary="Chamfer: the sum of the two means of nearest-neighbour distances",
        source="Barrow et al. 1977",
    ),
    Distance(
        name="directed_mhd",
        symmetric=False,
        prepare=partial(_prepare_sets, sets.DIRECTED_MHD),
        summary="mean distance of the vectors of x to the set y",
        source="Dubuisson & Jain 1994",
    ),
    Distance(
        name="directed_hausdorff",
        symmetric=False,
        prepare=partial(_prepare_sets, sets.DIRECTED_HAUSDORFF),
        summary="largest distance of a vector of x to the set y",
        source="Hausdorff 1914",
    ),
    Distance(
        name="emd",
        aliases=("wasserstein", "wmd"),
        metric=True,
        prepare=_prepare_emd,
        rounding=_emd_rounding,
        nonmetric=lambda ground=False: ground,
        parameters={"ground": _ground},
        summary="earth mover's distance: the least cost of moving the weights of x to those of y",
        source="Rubner, Tomasi & Guibas 2000; Kusner et al. 2015 (Word Mover's Distance); "
        "Wu et al. 2018 (Word Mover's Embedding)",
        weighted=True,
    ),
    Distance(
        name="kernel",
        aliases=("kernel_distance",),
        metric=True,
        prepare=_prepare_kernel,
        parameters={
            "sigma": positive_number,
            "kernel": partial(choice, choices=("gaussian", "laplace")),
            "normalize": flag,
        },
        summary="kernel distance: the norm of the difference of two measures under a kernel",
        source="Joshi, Kommaraju, Phillips & Venkatasubramanian 2011; Gretton et al. 2012 (MMD)",
        weighted=True,
        required=("sigma",),
        scale="sigma",
        check=_check_weights,
    ),
)
