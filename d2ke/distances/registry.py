# SPDX-License-Identifier: BSD-3-Clause
"""The distances of d2ke: one row each.

The elastic distances beside DTW are prepared in elastic_rows.py.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from d2ke._base.checks import choice, flag, integer, not_negative, positive_number
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._ext import elastic, emd, pair_distance, sets
from d2ke._ext.pairwise import PairwiseKernel
from d2ke.distances import elastic_rows as rows
from d2ke.distances import letter_costs, string_rows, window_rows
from d2ke.distances.clouds import cloud, decay, distinct, scaled
from d2ke.distances.missing import check_observed, missing_values, observed_of
from d2ke.objects.container import Objects


@dataclass(frozen=True)
class Distance:
    """One row of the registry.

    Attributes
    ----------
    name : str
        What users write.
    prepare : callable
        ``prepare(x, y, same, **parameters)`` returns the compiled form.
    summary, source : str
        One line of documentation, and where the definition is from.
    aliases : tuple of str
        Other names of the same distance.
    kind : {"series", "sets", "strings"}
        The kind of objects it compares.
    symmetric, metric : bool
        Whether d(x, y) = d(y, x), and whether it is a metric, with the default parameters.
    directed : callable, optional
        For a symmetric distance: ``directed(**parameters)`` returns whether it is not symmetric
        with these checked parameters.
    scale : str
        The parameter, in the units of the vectors, that sets which vectors differ, if any.
    shortest : int
        The shortest object for which it is defined.
    parameters : mapping of str to callable
        Each parameter's name and its check, ``check(name, value)``, which
        returns what `prepare` takes. The defaults are those of `prepare`.
    required : tuple of str
        The parameters without a default.
    weighted : bool
        Whether it uses the weights of vectors; if not, objects with weights are
        refused.
    rounding : callable, optional
        For a metric: ``rounding(x, y, **parameters)`` bounds the error of computed distances
        beside their relative error. Without it no pivots are used.
    nonmetric : callable, optional
        For a metric: ``nonmetric(**parameters)`` returns whether it is not a metric with these
        checked parameters.
    check : callable, optional
        ``check(name, objects, **parameters)`` refuses objects that the kernel cannot compare.
    check_pair : callable, optional
        ``check_pair(x_name, x, y_name, y)`` refuses objects that it cannot compare with each other.
    together : callable, optional
        ``together(**parameters)`` checks parameters that depend on each other, and returns what
        all the functions above take.
    missing : callable, optional
        ``missing(**parameters)``: whether vectors may be missing (NaN) with these checked
        parameters; without it they are refused.
    """

    name: str
    prepare: Callable[..., Any]
    summary: str
    source: str
    aliases: tuple[str, ...] = ()
    kind: str = "sets"
    symmetric: bool = True
    metric: bool = False
    scale: str = ""
    shortest: int = 1
    parameters: Mapping[str, Callable[[str, Any], Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    weighted: bool = False
    check: Callable[..., None] | None = None
    directed: Callable[..., bool] | None = None
    rounding: Callable[..., float] | None = None
    nonmetric: Callable[..., bool] | None = None
    check_pair: Callable[..., None] | None = None
    together: Callable[..., dict[str, Any]] | None = None
    missing: Callable[..., bool] | None = None

    def is_metric(self, parameters: Mapping[str, Any]) -> bool:
        """Return whether the distance is a metric with these checked parameters."""
        if not self.metric or self.rounding is None:
            return False
        return not (self.nonmetric and self.nonmetric(**parameters))

    def is_symmetric(self, parameters: Mapping[str, Any]) -> bool:
        """Return whether d(x, y) = d(y, x) with these checked parameters."""
        return self.symmetric and not (self.directed and self.directed(**parameters))

    def takes_missing(self, parameters: Mapping[str, Any]) -> bool:
        """Return whether vectors may be missing with these checked parameters."""
        return self.missing is not None and self.missing(**parameters)

    def check_kind(self, name: str, kind: str) -> None:
        """Refuse objects of another kind, and name distances for them."""
        if kind == self.kind or (kind, self.kind) == ("series", "sets"):
            return
        others = [row.name for row in DISTANCES if row.kind == kind]
        raise ArgumentTypeError(
            "distance",
            f"{self.name!r} is for {self.kind}, but {name} holds {kind}; distances for {kind} are "
            f"{', '.join(map(repr, others[:4]))} and others",
        )

    def check_lengths(self, name: str, objects: Objects) -> None:
        """Refuse objects that are shorter than `shortest`."""
        short = np.flatnonzero(objects.lengths < self.shortest)
        if short.size:
            raise ArgumentError(
                name,
                f"is empty: {self.name} is defined for objects of at least "
                f"{self.shortest} vector{'s' if self.shortest > 1 else ''}",
                short[0],
            )


def _dtw_window(name: str, value: Any) -> int:
    if value is None:
        return elastic.NO_WINDOW
    if isinstance(value, str):
        if value != "rws":
            raise ArgumentError(name, f"must be None, an integer >= 0 or 'rws'; got {value!r}")
        return elastic.RWS_WINDOW
    return min(integer(name, value, 0), 2**40)  # no series is longer


def _ground(name: str, value: Any) -> bool:
    return choice(name, value, ["euclidean", "sqeuclidean"]) == "sqeuclidean"


ELASTIC_GROUNDS = ("manhattan", "haversine")  # of the kernels of the other elastic distances
_DTW_GROUNDS = ("euclidean", "sqeuclidean", *ELASTIC_GROUNDS)


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
        return rows.dtw_manhattan(x, y, same, window)
    if ground == "haversine":
        return rows.dtw_haversine(x, y, same, window, sphere_radius)
    x_values, y_values = same_precision(x, y)
    squared = ground == "sqeuclidean"
    observed: tuple[np.ndarray, ...] = ()
    if missing and (x.missing or y.missing):
        x_values, *first = observed_of(x_values, x.offsets)
        y_values, *last = (x_values, *first) if y is x else observed_of(y_values, y.offsets)
        observed = (*first, *last)
    return elastic.dtw(x_values, x.offsets, y_values, y.offsets, window, squared, same, *observed)


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


def _prepare_sets(mode: int, x: Objects, y: Objects, same: bool) -> PairwiseKernel:
    x_values, y_values = same_precision(x, y)
    return sets.sets(x_values, x.offsets, y_values, y.offsets, mode, same)


def _prepare_emd(x: Objects, y: Objects, same: bool, ground: bool = False) -> PairwiseKernel:
    measures_x = measures_of(x)
    return emd.emd(measures_x, measures_x if y is x else measures_of(y), ground, same)


def _no_rounding(x: Objects, y: Objects, **_: Any) -> float:
    """Return 0: errors are only relative."""
    return 0.0


def _emd_rounding(x: Objects, y: Objects, **_: Any) -> float:
    """Bound the error of integer costs, a share of the largest ground distance."""
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
    if totals[i] > _MAX_WEIGHT:
        raise ValueError(f"the weights of {name}[{i}] are too large: their sum is {totals[i]}")


_MAX_WEIGHT = 2.0**500  # of an object; sums of squares of these are finite

DISTANCES = (
    Distance(
        name="dtw",
        kind="series",
        aliases=("dynamic_time_warping",),
        prepare=_prepare_dtw,
        parameters={
            "window": _dtw_window,
            "ground": partial(choice, choices=_DTW_GROUNDS),
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
        parameters={"c": not_negative, "independent": flag, "window": _dtw_window},
        rounding=_no_rounding,
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
        parameters={"g": rows.gap, "window": _dtw_window},
        check=rows.check_gap,
        rounding=_no_rounding,
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
        parameters={"nu": not_negative, "lmbda": not_negative, "window": _dtw_window},
        rounding=_no_rounding,
        nonmetric=rows.windowed,
        summary="time warp edit distance: leaving out costs lmbda, and stretching nu per step",
        source="Marteau 2009",
    ),
    Distance(
        name="edr",
        kind="series",
        prepare=rows.edr,
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
        parameters={"penalty": not_negative, "window": _dtw_window},
        summary="amerced dynamic time warping: squared ground distances, and a penalty for each "
        "step of warping",
        source="Herrmann & Webb 2023",
    ),
    Distance(
        name="wdtw",
        kind="series",
        prepare=rows.wdtw,
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
        parameters={"window": _dtw_window},
        rounding=_no_rounding,
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
    Distance(
        name="levenshtein",
        aliases=("edit", "lev"),
        kind="strings",
        metric=True,
        shortest=0,
        prepare=string_rows.prepare_levenshtein,
        parameters={"mode": string_rows.mode, "normalize": flag},
        together=string_rows.whole_if_normalized,
        nonmetric=string_rows.normalized,
        directed=string_rows.not_whole,
        summary="least number of insertions, deletions and substitutions of letters, "
        "between whole strings or from y to a prefix or a substring of x",
        source="Levenshtein 1966; bit-vectors of Myers 1999 and Hyyro 2003",
    ),
    Distance(
        name="osa",
        aliases=("optimal_string_alignment",),
        kind="strings",
        shortest=0,
        prepare=string_rows.prepare_osa,
        parameters={"normalize": flag},
        summary="Levenshtein's edits and transpositions of neighbouring letters, none edited twice",
        source="Boytsov 2011; bit-vectors of Hyyro 2003",
    ),
    Distance(
        name="damerau_levenshtein",
        aliases=("damerau",),
        kind="strings",
        metric=True,
        shortest=0,
        prepare=string_rows.prepare_damerau,
        parameters={"normalize": flag},
        nonmetric=string_rows.normalized,
        summary="Levenshtein's edits and transpositions, with edits between the letters too",
        source="Damerau 1964; Lowrance & Wagner 1975; Zhao & Sahni 2019",
    ),
    Distance(
        name="hamming",
        kind="strings",
        metric=True,
        shortest=0,
        prepare=string_rows.prepare_hamming,
        parameters={"normalize": flag},
        check_pair=string_rows.check_one_length,
        summary="number of places with different letters, of strings of one length",
        source="Hamming 1950",
    ),
    Distance(
        name="indel",
        aliases=("lcs",),
        kind="strings",
        metric=True,
        shortest=0,
        prepare=string_rows.prepare_indel,
        parameters={"normalize": flag},
        nonmetric=string_rows.normalized,
        summary="least number of insertions and deletions: the lengths less twice that of the "
        "longest common subsequence",
        source="Needleman & Wunsch 1970; bit-vectors of Hyyro 2004",
    ),
    Distance(
        name="jaccard",
        kind="strings",
        metric=True,
        shortest=0,
        prepare=string_rows.prepare_jaccard,
        summary="the part of the letters of x and y that only one of them has, as sets",
        source="Jaccard 1901; Levandowsky & Winter 1971",
    ),
    Distance(
        name="weighted_levenshtein",
        aliases=("weighted_edit",),
        kind="strings",
        shortest=0,
        prepare=letter_costs.prepare_weighted,
        parameters={
            "substitution": letter_costs.pair_costs,
            "alphabet": letter_costs.letters_in_order,
            "mismatch": letter_costs.no_cost_or_cost,
            "insertion": letter_costs.letter_costs,
            "deletion": letter_costs.letter_costs,
            "gap_open": letter_costs.no_cost_or_cost,
            "gap_extend": letter_costs.no_cost_or_cost,
            "mode": string_rows.mode_or_local,
        },
        together=letter_costs.together,
        check=letter_costs.check_letters,
        directed=letter_costs.not_symmetric,
        summary="least cost of substitutions, insertions, deletions and gaps with costs of letters",
        source="Needleman & Wunsch 1970; Gotoh 1982; Smith & Waterman 1981 (local)",
    ),
    Distance(
        name="jaro",
        kind="strings",
        shortest=0,
        prepare=string_rows.prepare_jaro,
        summary="1 less the mean of three parts: of the letters of x and of y that are in common "
        "and near each other, and of these those in the same order",
        source="Jaro 1989",
    ),
    Distance(
        name="jaro_winkler",
        kind="strings",
        shortest=0,
        prepare=string_rows.prepare_jaro_winkler,
        parameters={"prefix_weight": string_rows.prefix_weight},
        summary="Jaro's distance, less for strings that begin with the same letters",
        source="Winkler 1990",
    ),
    Distance(
        name="token_sort",
        kind="strings",
        shortest=0,
        prepare=string_rows.prepare_token_sort,
        check=string_rows.check_text,
        summary="normalized indel distance of the strings with their words sorted",
        source="rapidfuzz.fuzz.token_sort_ratio",
    ),
    Distance(
        name="token_set",
        kind="strings",
        shortest=0,
        prepare=string_rows.prepare_token_set,
        check=string_rows.check_text,
        summary="the same of sets of words: 0 if one has all the words of the other",
        source="rapidfuzz.fuzz.token_set_ratio",
    ),
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
        rounding=_no_rounding,
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

BY_NAME = {name: row for row in DISTANCES for name in (row.name, *row.aliases)}


def distance_names() -> list[str]:
    """Names of the distances that `distance_matrix` accepts.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import d2ke
    >>> "levenshtein" in d2ke.distance_names()
    True
    """
    return [row.name for row in DISTANCES]


def find_distance(distance: Any) -> Distance:
    """Return the registry's row of a name; the error lists the names."""
    if not isinstance(distance, str):
        raise ArgumentTypeError(
            "distance",
            f"must be one of {', '.join(distance_names())}, a callable or a "
            f"scipy.LowLevelCallable; got {distance!r}",
        )
    if distance not in BY_NAME:
        near = difflib.get_close_matches(distance.lower(), BY_NAME, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ArgumentError(
            "distance", f"must be one of {', '.join(distance_names())}; got {distance!r}{hint}"
        )
    return BY_NAME[distance]


def usual_distance(kind: str) -> str:
    """Return the distance of a kind of objects where the user names none."""
    return {"series": "dtw", "sets": "mhd", "strings": "levenshtein"}[kind]


def check_parameters(row: Distance, params: Mapping[str, Any]) -> dict[str, Any]:
    """Check the parameters of a named distance."""
    for name in params:
        if name not in row.parameters:
            takes = ", ".join(row.parameters) or "none"
            raise TypeError(f"{row.name!r} has no parameter {name!r} (its parameters: {takes})")
    for name in row.required:
        if name not in params:
            raise TypeError(f"{row.name!r} needs the parameter {name!r}")
    checked = {}
    for name, value in params.items():
        checked[name] = row.parameters[name](name, value)
    return checked if row.together is None else row.together(**checked)


def same_precision(x: Objects, y: Objects) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of both in the more precise type of the two."""
    dtype = np.promote_types(x.dtype, y.dtype)
    return x.values.astype(dtype, copy=False), y.values.astype(dtype, copy=False)
