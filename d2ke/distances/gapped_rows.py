# SPDX-License-Identifier: BSD-3-Clause
"""The distance of strings by the gapped words that they share, for the registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.checks import choice
from d2ke._ext import pairwise
from d2ke.distances.distance import Distance
from d2ke.distances.piece_kernels import Pieces, Sums
from d2ke.distances.problem import Report
from d2ke.distances.strands import check_dna
from d2ke.objects.container import Objects, span_of

_TILE, _LETTERS = 1 << 11, 1 << 22  # strings and letters of each side of a tile, about


def strands(name: str, value: Any) -> str:
    """Check whether reverse complements count too."""
    return choice(name, value, ["one", "both"])


def check_strands(name: str, objects: Objects, strands: str = "one") -> None:
    """Refuse letters without a complement where both strands count."""
    if strands == "both":
        check_dna(name, objects)


class GappedPairs:
    """The distances of all pairs, computed tile by tile: a tile's words are sorted together."""

    def __init__(self, x: Objects, y: Objects, pieces: Pieces):
        self._x, self._y, self._pieces = x, y, pieces

    def run(
        self,
        out: NDArray[Any],
        n_threads: int,
        symmetric: bool,
        report: Report = None,
        gamma: float | None = None,
        scale: float = 1.0,
    ) -> None:
        """Fill `out` as `PairwiseKernel.run` does."""
        n, m = out.shape
        done, total = 0, n * (n + 1) // 2 if symmetric else n * m
        for top, bottom in _tiles(self._x):
            for left, right in _tiles(self._y):
                if symmetric and left < top:
                    continue
                on_diagonal, height = symmetric and left == top, bottom - top
                sums = Sums(
                    span_of(self._x, top, bottom),
                    None if on_diagonal else span_of(self._y, left, right),
                    self._pieces,
                    n_threads,
                )
                size = height * (height + 1) // 2 if on_diagonal else height * (right - left)
                report_tile = None if report is None else _shifted(report, done, size, total)
                tile = out[top:bottom, left:right]
                tile[:] = self._distances(sums, tile.shape, report_tile)
                if gamma is not None:
                    pairwise.exp_features(tile, tile, gamma, scale, n_threads)
                elif scale != 1:
                    tile[:] = scale * tile.astype(np.float64)
                if symmetric and not on_diagonal:
                    out[left:right, top:bottom] = tile.T
                done += size

    def _distances(self, sums: Sums, shape: tuple[int, int], report: Report) -> NDArray[np.float64]:
        # d(x, y)^2 = sum_k (k(x, x) + k(y, y) - 2 k(x, y)) / n_kernels
        products, squares = np.zeros(shape), np.zeros(sums.n_strings)
        for entry in range(len(self._pieces.masks)):
            squares += sums.add(entry, 1.0, products)
            if report is not None:
                report(entry + 1, len(self._pieces.masks))
        products *= 2
        x, y = squares[: shape[0]], squares[-shape[1] :]
        np.subtract(np.add.outer(x, y), products, out=products)
        products /= len(self._pieces.masks)
        return np.sqrt(np.maximum(products, 0, out=products), out=products)


def _shifted(report: Callable[[int, int], None], before: int, size: int, total: int) -> Report:
    """Return the report of the next `size` pairs after `before`."""
    return lambda done, of: report(before + size * done // of, total)


def _tiles(objects: Objects) -> list[tuple[int, int]]:
    """Return the spans of strings that are compared together."""
    rows = min(_TILE, max(1, _LETTERS * len(objects) // max(1, int(objects.offsets[-1]))))
    starts = range(0, len(objects), rows)
    return [(start, min(start + rows, len(objects))) for start in starts]


def prepare_gapped(x: Objects, y: Objects, same: bool, strands: str = "one") -> GappedPairs:
    """Compile the distance by the words that strings share."""
    return GappedPairs(x, y, Pieces(strands=strands))


GAPPED_WORDS = (
    Distance(
        name="gapped",
        kind="strings",
        metric=True,
        shortest=0,
        prepare=prepare_gapped,
        parameters={"strands": strands},
        check=check_strands,
        summary="distance of the normalized vectors of roots of counts of gapped words of 1 to 8 "
        "letters, also of the reverse complements of DNA",
        source="Leslie, Eskin & Noble 2002; Blakely et al. 2020",
    ),
)
