# SPDX-License-Identifier: BSD-3-Clause
"""All pairs of two collections, their distance, and the transform of each distance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from d2ke.objects.container import span_of


class ArgumentNames(NamedTuple):
    """The public function that was called, and its names of the two collections, for errors."""

    function: str = "distance_matrix"
    x: str = "X"
    y: str = "Y"


DEFAULT_NAMES = ArgumentNames()

Report: TypeAlias = Callable[[int, int], None] | None  # ``report(done, total)`` follows the work


@dataclass(frozen=True)
class Transform:
    """A function of each distance d: scale * d, or scale * exp(-gamma * d).

    Attributes
    ----------
    name : str
        The title of a progress bar.
    gamma : float or None
        None for scale * d.
    scale : float
        The factor.
    parameters : mapping
        Parameters of a features file, beside the distance and its own.
    """

    name: str = "distances"
    gamma: float | None = None
    scale: float = 1.0
    parameters: Mapping[str, Any] = field(default_factory=dict)


UNCHANGED = Transform()


class PairBlock(NamedTuple):
    """Items to compare: some rows and columns of a problem, or all.

    `same`: y is x, and half of the pairs is enough. `first` and `first_column` are the serial
    numbers of x[0] and y[0].
    """

    x: Any
    y: Any
    same: bool = False
    first: int = 0
    first_column: int = 0


@dataclass(eq=False)
class CompiledPairs:
    """A compiled distance with its items, ready to fill a matrix."""

    kernel: Any
    block: PairBlock

    def pair_kernel(self) -> Any:
        """Return the kernel that computes single pairs, for searches."""
        return self.kernel

    def run(
        self,
        out: np.ndarray,
        n_threads: int,
        report: Report = None,
        transform: Transform = UNCHANGED,
    ) -> None:
        """Fill an array in memory with transformed distances.

        Parameters
        ----------
        out : ndarray of float32 or float64, a row for each item of x and a column for each of y
            C-contiguous array to fill.
        n_threads : int
            The result of `team_size`.
        report : callable, optional
            ``report(done, total)``, called as the work proceeds.
        transform : Transform
            What to write instead of the distances.
        """
        self.kernel.run(out, n_threads, self.block.same, report, transform.gamma, transform.scale)


@dataclass(frozen=True)
class PairwiseProblem:
    """All pairs of a checked X and a checked Y, of which nothing is computed yet.

    Attributes
    ----------
    x, y : Objects or list
        The compared collections; the same object if Y is X.
    dtype : numpy.dtype
        Of the result.
    same : bool
        Whether only half of the pairs need be computed.
    compile : callable
        ``compile(block)`` returns the `CompiledPairs` of a `PairBlock`. It can be pickled if the
        user's function can.
    distance : str or callable
        The registry's name, or the user's function.
    params : dict
        The distance's parameters as the user wrote them.
    names : ArgumentNames
        The caller's names, for errors.
    first : int
        The serial number of x[0], where x is some of the user's objects.
    """

    x: Any
    y: Any
    dtype: np.dtype
    same: bool
    compile: Callable[[PairBlock], CompiledPairs]
    distance: Any
    params: dict[str, Any]
    names: ArgumentNames
    first: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        return len(self.x), len(self.y)

    def rounded(self, value: float) -> float:
        """Round a value to the dtype of the result."""
        if self.dtype == np.float64:
            return float(value)
        with np.errstate(over="ignore"):
            return float(self.dtype.type(value))

    def distances(
        self, block: PairBlock, n_threads: int, dtype: type[np.floating[Any]] | None = None
    ) -> np.ndarray:
        """Return the distances of a block, by default in the dtype of the result."""
        out = np.empty((len(block.x), len(block.y)), dtype or self.dtype)
        if out.size:  # kernels take objects on both sides
            self.compile(block).run(out, n_threads)
        return out

    def compiled(self) -> CompiledPairs:
        """Compile all pairs."""
        return self.compile(PairBlock(self.x, self.y, self.same, self.first))

    def rows(self, rows: slice) -> CompiledPairs:
        """Compile some rows; they have the bits that they have among all."""
        x = span_of(self.x, rows.start, rows.stop)
        return self.compile(PairBlock(x, self.y, first=self.first + rows.start))
