# SPDX-License-Identifier: BSD-3-Clause
"""The arguments by which callers describe similarities: a matrix, points or features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from d2ke._base import arrays
from d2ke._base.arrays import symmetric_matrix
from d2ke._base.checks import choice, positive_number
from d2ke._base.memory import require_memory
from d2ke.discriminative.canonical import colours
from d2ke.discriminative.gaussian import gaussian
from d2ke.discriminative.similarity_graph import DenseKernel, FeatureKernel
from d2ke.embedding.spectrum import split

SIMILARITIES = ("psd", "general")
LAM = 0.5  # the default of lambda, in units of n


@dataclass(frozen=True, eq=False)
class KernelInput:
    """The arguments of `cdsk` and `lpdsk` that describe the similarities; see there."""

    K: Any = None
    points: Any = None
    features: Any = None
    h: float | None = None
    similarity: str = "psd"
    risk: str = "margin"

    def names(self) -> list[str]:
        """Return which of K, points and features are not None."""
        return [n for n in ("K", "points", "features") if getattr(self, n) is not None]

    def ranks(self, codes: np.ndarray) -> np.ndarray:
        """Return the `colours` of objects with these labels."""
        name = self.names()[0]
        return colours(getattr(self, name), codes, square=name == "K")

    def taken(self, order: np.ndarray) -> KernelInput:
        """Return the arguments for the objects in another order."""
        name = self.names()[0]
        rows = np.asarray(getattr(self, name))[order]
        return replace(self, **{name: rows[:, order] if name == "K" else rows})

    def read(self, function: str, k: int = 0) -> DenseKernel | FeatureKernel:
        """Check the arguments and return the kernel.

        There must be memory for the whole call of `function` with k classes.
        """
        choice("similarity", self.similarity, SIMILARITIES)
        names = self.names()
        if len(names) != 1:
            listed = " and ".join(names) or "none"
            raise TypeError(f"give one of K (a matrix), points and features; got {listed}")
        name = names[0]
        if self.h is not None and self.points is None:
            raise TypeError(f"h is the width of a kernel of points; {name} has none")
        if self.similarity == "general" and self.K is None:
            raise TypeError('similarity="general" is for a matrix K')
        kernel, spread = getattr(self, f"_of_{name}")(function, k)
        if isinstance(kernel, DenseKernel):
            empty = np.flatnonzero(~kernel.linear.any(axis=1))
        else:
            empty = np.flatnonzero(kernel.squares == 0)
        if empty.size:
            raise ValueError(
                f"{name}[{empty[0]}] has zero similarity to every object, itself included "
                f"({empty.size} such rows); leave such objects out"
            )
        if spread == 0:
            raise ValueError(f"{name} has only equal rows: all objects are alike")
        return kernel

    def _of_features(self, function: str, k: int) -> tuple[FeatureKernel, float]:
        Z = arrays.matrix("features", self.features)
        require_memory(function, "features", n=len(Z), R=Z.shape[1], k=k)
        Z = Z.astype(np.float64, order="C")
        if 0 in Z.shape:
            raise ValueError(f"features must have rows and columns, got shape {Z.shape}")
        return FeatureKernel(Z), np.ptp(Z, axis=0).max()

    def _of_points(self, function: str, k: int) -> tuple[DenseKernel, float]:
        ise = self.risk == "ise"
        case = 'points, risk="ise"' if ise else "points"
        K = gaussian("points", self.points, None, self.h, function, case, k=k)
        # exp(-d^2 / (4 h^2)), the kernel of width sqrt(2) h, up to a factor that lam absorbs.
        return DenseKernel(K, np.sqrt(K) if ise else None), np.ptp(K, axis=0).max()

    def _of_K(self, function: str, k: int) -> tuple[DenseKernel, float]:
        general = self.similarity == "general"
        K = symmetric_matrix(
            "K", self.K, function, 'K, similarity="general"' if general else "K", k=k
        )
        return DenseKernel(K, split("K", K).absolute if general else None), np.ptp(K, axis=0).max()


def read_lam(lam: float | None, n: int) -> float:
    """Return lambda, or its default."""
    return LAM * n if lam is None else positive_number("lam", lam)
