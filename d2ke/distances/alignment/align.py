# SPDX-License-Identifier: BSD-3-Clause
"""Alignments of two objects."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke.distances.alignment.edits import (
    align_bag,
    align_hamming,
    align_indel,
    align_jaccard,
    align_transpositions,
    align_weighted,
)
from d2ke.distances.alignment.record import Alignment
from d2ke.distances.alignment.series import align_dtw, align_elastic, align_slopes
from d2ke.distances.alignment.sets import align_emd, align_sets
from d2ke.distances.alignment.strings import align_levenshtein
from d2ke.distances.alignment.windows import align_window
from d2ke.distances.alignment.words import align_gapped
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames
from d2ke.distances.registry import check_parameters, find_distance, usual_distance
from d2ke.objects.container import Objects
from d2ke.objects.layouts import Layout
from d2ke.objects.packing import pack_items

ELASTIC = ("msm", "erp", "twe", "edr", "lcss", "adtw", "wdtw", "frechet")

# By distance: ``aligner(problem, **parameters)`` takes checked objects and parameters, and
# returns the fields of `Alignment` from `value` on.
ALIGNERS: dict[str, Callable[..., dict[str, Any]]] = {
    "dtw": align_dtw,
    **dict.fromkeys(ELASTIC, align_elastic),
    "ddtw": align_slopes,
    "window": align_window,
    "levenshtein": align_levenshtein,
    "osa": partial(align_transpositions, osa=True),
    "damerau_levenshtein": partial(align_transpositions, osa=False),
    "hamming": align_hamming,
    "indel": align_indel,
    "weighted_levenshtein": align_weighted,
    "jaccard": align_jaccard,
    "bag": align_bag,
    "gapped": align_gapped,
    "emd": align_emd,
    "mhd": align_sets,
    "hausdorff": align_sets,
    "chamfer": align_sets,
    "directed_mhd": partial(align_sets, directed=True),
    "directed_hausdorff": partial(align_sets, directed=True),
}


@hinted
def align(
    x: Any,
    y: Any,
    distance: str | None = None,
    **params: Any,
) -> Alignment:
    """Find how two objects are aligned by a distance: the path, edits, flow or matching.

    Parameters
    ----------
    x, y : array_like, str or bytes, or Objects of length 1
        The two objects: series or sets of vectors, (length,) or (length, dim); strings.
    distance : str, optional
        - ``"dtw"``, the default for vectors, and the other elastic distances of series: the
          optimal path, and for ``"erp"``, ``"edr"``, ``"lcss"`` which vectors are left out;
        - ``"window"``: the vectors of the window of x that is nearest to y;
        - ``"levenshtein"``, the default for strings, ``"osa"``, ``"damerau_levenshtein"``,
          ``"indel"``, ``"hamming"``, ``"weighted_levenshtein"``: the edit operations;
        - ``"jaccard"``: the first position of each letter in x and in y; letters missing from
          x come last;
        - ``"bag"``: how much the shares of each letter differ, common letters first;
        - ``"gapped"``: the words that both strings have, and where they are first;
        - ``"emd"``: the optimal flow of weights;
        - ``"hausdorff"``, ``"mhd"``, ``"chamfer"``, ``"directed_hausdorff"``,
          ``"directed_mhd"``: the nearest vector in the other set.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Returns
    -------
    Alignment
        The distance, exactly as in `distance_matrix`, and the matched positions with their costs.

    Raises
    ------
    TypeError, ValueError
        A distance without an alignment; what `distance_matrix` refuses; more than one object;
        ``"msm"`` of several independent channels, ``missing="arow"``, and
        ``normalize=True`` of strings.
    KeyboardInterrupt
        On Ctrl-C, within a second.
    MemoryError
        If the flow of ``"emd"`` would take more than there is; see docs/memory.md.

    Notes
    -----
    Where several alignments cost the same, always the same one is returned. The costs of ``"dtw"``
    and ``"weighted_levenshtein"``, added in order in their own precision, are the value
    to the last bit; sums of other costs may differ by rounding. With ``mode="prefix"`` or
    ``"infix"`` the operations turn the nearest part of x into y, and of several the first to
    end. ``"ddtw"`` pairs the vectors in the middle of the slopes.

    Along ``"window"`` the costs are each pair's part of the mean squared difference: they add up to
    the square of the value, but for its rounding to float32. Where y with its dilation is longer
    than x, it is stretched over x, and the pairs have the nearest positions.

    ``"emd"`` merges equal vectors; their flow is divided among them by their weights. Shares
    of less than 2**-63 of the total are left out.

    Memory grows with the sum of the lengths, not with their product (except for ``"emd"``): we keep
    states of the table at some rows, and compute the rows between two states again [1]_. The table
    of ``"levenshtein"`` has one bit-vector for each letter [2]_.

    References
    ----------
    .. [1] Hirschberg, "A linear space algorithm for computing maximal common subsequences", 1975.
    .. [2] Hyyro, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances",
       2003.

    Examples
    --------
    >>> import d2ke
    >>> path = d2ke.align([0.0, 1, 2], [0.0, 2])
    >>> path.value, path.pairs.tolist()
    (1.0, [[0, 0], [1, 0], [2, 1]])
    >>> print(d2ke.align("GATTACA", "ATTTAC", "levenshtein").operations)
    delete  x[0]
    equal   x[1] to y[0]
    insert  y[1] before x[2]
    equal   x[2:6] to y[2:6]
    delete  x[6]
    >>> flow = d2ke.align([[0.0, 0], [4, 0]], [[0.0, 3]], "emd")
    >>> flow.value, flow.pairs.tolist(), flow.masses.tolist()
    (4.0, [[0, 0], [1, 0]], [0.5, 0.5])
    >>> print(d2ke.align([[0.0, 0], [4, 0]], [[0.0, 3]], "directed_hausdorff"))
    directed_hausdorff 5.0
    x[0] y[0]  cost 3
    x[1] y[0]  cost 5  maximum
    """
    kind = None
    if distance is not None:
        row = None if callable(distance) else find_distance(distance)
        if row is None or row.name not in ALIGNERS:
            name = "a function" if row is None else repr(row.name)
            raise ValueError(
                f"distance {name} has no alignment; these have one: {', '.join(ALIGNERS)}"
            )
        kind = row.kind
    try:
        packed_x, packed_y = one_object("x", x, kind), one_object("y", y, kind)
        distance = distance or usual_distance(packed_x.kind)
        names = ArgumentNames("align", "x", "y")
        problem = check_pairs(packed_x, packed_y, distance, params, names)
    except (TypeError, ValueError) as error:
        # The user gave one object, not a list: errors have no index.
        if isinstance(error, (ArgumentError, ArgumentTypeError)):
            text = error.problem.replace("x[0]", "x").replace("y[0]", "y")
            raise type(error)(error.argument, text) from None
        message = str(error).replace("x[0]", "x").replace("y[0]", "y")
        raise type(error)(message) from None
    row = find_distance(problem.distance)
    if row.name not in ALIGNERS:  # the usual distance of a kind of `add_kind`
        raise ValueError(f"distance {row.name!r} has no alignment; name one: {', '.join(ALIGNERS)}")
    parameters = check_parameters(row, params)
    if row.kind == "strings" and parameters.pop("normalize", False):
        raise ValueError(f"align needs normalize=False for {row.name}; costs are whole edits")
    fields = ALIGNERS[row.name](problem, **parameters)
    return Alignment(row.name, params, problem.x[0], problem.y[0], **fields)


def one_object(name: str, item: Any, kind: str | None) -> Objects:
    """Pack a single object."""
    if not isinstance(item, Objects):
        return pack_items([item], Layout(False, True), name, kind)
    if len(item) != 1:
        raise ArgumentError(name, f"must be one object, got {len(item)} of them")
    return pack_items(item, Layout(False, True), name, kind)
