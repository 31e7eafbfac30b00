# SPDX-License-Identifier: BSD-3-Clause
"""The distances of series: the rows of the registry, and DTW's parameters and kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from d2ke._base.checks import choice, flag, integer, not_negative, positive_number
from d2ke._base.errors import ArgumentError
from d2ke._ext import elastic
from d2ke._ext.pairwise import PairwiseKernel
from d2ke.distances import elastic_rows as rows
from d2ke.distances import window_rows
from d2ke.distances.distance import Distance, no_rounding, same_precision
from d2ke.distances.missing import check_observed, missing_values, observed_of
from d2ke.objects.container import Objects


def _dtw_window(name: str, value: Any) -> int:
    if value is None:
        return elastic.NO_WINDOW
    if isinstance(value, str):
        if value != "rws":
            raise ArgumentError(name, f"must be None, an integer >= 0 or 'rws'; got {value!r}")
        return elastic.RWS_WINDOW
    return min(integer(name, value, 0), 2**40)  # no series is longer


ELASTIC_GROUNDS = ("manhattan", "haversine")  # of the kernels of the other elastic distances


def _prepare_dtw(
    x: Objects,
    y: Objects,
    same: bool,
    window: int = elastic.NO_WINDOW,
    ground: str = "euclidean",
    sphere_radius: float = rows.EARTH_RADIUS,
    missing: bool = False,
) -> PairwiseKernel:
    if ground == "manhattan":
        return rows.prepared("dtw_manhattan", (), window, x, y, same)
    if ground == "haversine":
        radius = (sphere_radius,)
        return rows.prepared("dtw_haversine", radius, window, x, y, same, rows.cosines)
    x_values, y_values = same_precision(x, y)
    squared = ground == "sqeuclidean"
    observed: tuple[np.ndarray, ...] = ()
    if missing and (x.missing or y.missing):
        x_values, *first = observed_of(x_values, x.offsets)
        y_values, *last = (x_values, *first) if y is x else observed_of(y_values, y.offsets)
        observed = (*first, *last)
    return elastic.dtw(x_values, x.offsets, y_values, y.offsets, window, squared, same, *observed)


def _dtw_columns(
    y: Objects, window: int = elastic.NO_WINDOW, **parameters: Any
) -> Callable[[Objects], PairwiseKernel | None] | None:
    """Prepare series y; return a function that compiles DTW's distances of x to them."""
    if parameters or y.missing or not y.values.size:
        return None
    compiled = elastic.dtw(y.values, y.offsets, y.values, y.offsets, window, False, False)

    def with_rows(x: Objects) -> PairwiseKernel | None:
        if x.dtype != y.dtype or x.missing:
            return None
        return elastic.with_rows(compiled, x.values, x.offsets)

    return with_rows


def _check_series(
    name: str, objects: Objects, ground: str = "euclidean", missing: bool = False, **parameters: Any
) -> None:
    if ground == "haversine" or parameters:
        rows.check_sphere(name, objects, ground=ground, **parameters)
    if missing and ground in ELASTIC_GROUNDS:
        raise ValueError(
            f"missing='arow' needs ground='euclidean' or 'sqeuclidean'; got {ground!r}"
        )
    if objects.missing:
        check_observed(name, objects)


SERIES = (
    Distance(
        name="dtw",
        kind="series",
        aliases=("dynamic_time_warping",),
        prepare=_prepare_dtw,
        columns=_dtw_columns,
        parameters={
            "window": _dtw_window,
            "ground": partial(choice, choices=("euclidean", "sqeuclidean", *ELASTIC_GROUNDS)),
            "sphere_radius": positive_number,
            "missing": missing_values,
        },
        check=_check_series,
        missing=lambda missing=False, **_: missing,
        summary="dynamic time warping: the least sum of ground distances along a warping path",
        source="Sakoe & Chiba 1978; windows of Wu et al. 2018 (Random Warping Series)",
    ),
    Distance(
        name="msm",
        kind="series",
        metric=True,
        prepare=rows.msm,
        columns=rows.columns_of(rows.msm),
        parameters={"c": not_negative, "independent": flag, "window": _dtw_window},
        rounding=no_rounding,
        nonmetric=rows.windowed_or_dependent,
        summary="move-split-merge: the least cost of moving values, and of splitting and merging "
        "them at a cost c each; added up over channels, or of whole vectors",
        source="Stefan, Athitsos & Das 2013; Shifaz et al. 2023 (several channels)",
    ),
    Distance(
        name="erp",
        kind="series",
        metric=True,
        prepare=rows.erp,
        columns=rows.columns_of(rows.erp),
        parameters={"g": rows.gap, "window": _dtw_window},
        check=rows.check_gap,
        rounding=no_rounding,
        nonmetric=rows.windowed,
        summary="edit distance with real penalty: vectors that are left out cost their distance "
        "to g",
        source="Chen & Ng 2004",
    ),
    Distance(
        name="twe",
        kind="series",
        metric=True,
        prepare=rows.twe,
        columns=rows.columns_of(rows.twe),
        parameters={"nu": not_negative, "lmbda": not_negative, "window": _dtw_window},
        rounding=no_rounding,
        nonmetric=rows.windowed,
        summary="time warp edit distance: leaving out costs lmbda, and stretching nu per step",
        source="Marteau 2009",
    ),
    Distance(
        name="edr",
        kind="series",
        prepare=rows.edr,
        columns=rows.columns_of(rows.edr),
        parameters={"epsilon": not_negative, "normalize": flag, "window": _dtw_window},
        scale="epsilon",
        summary="edit distance on real sequences: the number of edits, vectors within epsilon "
        "being equal",
        source="Chen, Ozsu & Oria 2005",
    ),
    Distance(
        name="lcss",
        kind="series",
        prepare=rows.lcss,
        columns=rows.columns_of(rows.lcss),
        parameters={"epsilon": not_negative, "window": _dtw_window},
        scale="epsilon",
        summary="the part of the shorter series that is not in the longest common subsequence, "
        "vectors within epsilon being equal",
        source="Vlachos, Kollios & Gunopulos 2002",
    ),
    Distance(
        name="adtw",
        kind="series",
        prepare=rows.adtw,
        columns=rows.columns_of(rows.adtw),
        parameters={"penalty": not_negative, "window": _dtw_window},
        summary="amerced dynamic time warping: squared ground distances, and a penalty for each "
        "step of warping",
        source="Herrmann & Webb 2023",
    ),
    Distance(
        name="wdtw",
        kind="series",
        prepare=rows.wdtw,
        columns=rows.columns_of(rows.wdtw),
        parameters={"g": not_negative, "window": _dtw_window},
        summary="weighted dynamic time warping: squared ground distances, weighted by how far "
        "they are from the diagonal",
        source="Jeong, Jeong & Omitaomu 2011",
    ),
    Distance(
        name="ddtw",
        kind="series",
        prepare=rows.ddtw,
        parameters={"window": _dtw_window},
        summary="derivative dynamic time warping: squared differences of slopes",
        source="Keogh & Pazzani 2001",
    ),
    Distance(
        name="frechet",
        kind="series",
        metric=True,
        prepare=rows.frechet,
        columns=rows.columns_of(rows.frechet),
        parameters={"window": _dtw_window},
        rounding=no_rounding,
        nonmetric=rows.windowed,
        summary="discrete Frechet: the least of the largest ground distances along a warping path",
        source="Eiter & Mannila 1994",
    ),
    Distance(
        name="window",
        kind="series",
        symmetric=False,
        prepare=window_rows.prepare_window,
        parameters={"normalize": flag, "dilation": window_rows.dilation},
        check=window_rows.check_range,
        summary="the distance of the short series y to the nearest place of x: the root of the "
        "mean squared difference, each of mean 0 and deviation 1 by default",
        source="Ye & Keogh 2009 (shapelets); Guillaume, Vrain & Elloumi 2022 (dilated)",
    ),
)
