# SPDX-License-Identifier: BSD-3-Clause
"""Arguments and results of the methods of the kernel distance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

from d2ke._base.checks import below_one, choice, generator, positive_number
from d2ke.distances.clouds import decay, scaled
from d2ke.measures.measure import Measure, lengths

KERNELS = ("gaussian", "laplace", "linear", "trivial")
SCALED_KERNELS = ("gaussian", "laplace")


@dataclass(frozen=True)
class Kernel:
    """A kernel by its name, and its scale: None for the linear, the trivial and users' kernels."""

    name: str
    sigma: float | Any  # None for kernels without a scale
    function: Callable[[Any, Any], Any] | None = None

    @classmethod
    def checked(
        cls, name: Any, sigma: Any, measures: list[Measure], choices: Sequence[str] = KERNELS
    ) -> Kernel:
        """Check both arguments; "median" is taken over the measures' points.

        With the default choices a function is a kernel too, one without a scale.
        """
        if callable(name) and choices is KERNELS:
            if sigma is not None:
                raise TypeError(f"a function as kernel has its own scale; got sigma={sigma!r}")
            return cls(getattr(name, "__name__", type(name).__name__), None, name)
        choice("kernel", name, choices)
        if name in SCALED_KERNELS:
            if sigma is None:
                raise TypeError(f'the {name} kernel needs sigma, a positive number or "median"')
            return cls(name, bandwidth(sigma, measures))
        if sigma is not None:
            raise TypeError(f"the {name} kernel has no scale; got sigma={sigma!r}")
        return cls(name, None)

    @property
    def laplace(self) -> bool:
        """True for the Laplace kernel."""
        return self.name == "laplace"

    @property
    def compiled(self) -> tuple[bool, float]:
        """The two arguments of the compiled functions."""
        return self.laplace, decay(self.name, self.sigma)

    def scaled(self, points: np.ndarray) -> tuple[np.ndarray, Kernel]:
        """Return points and kernel in a unit, a power of 2, in which sigma is between 1 and 2."""
        points, sigma = scaled(points, self.sigma)
        return points, Kernel(self.name, sigma)


@dataclass(frozen=True)
class Accuracy:
    """The allowed error, and the generator for random methods.

    Attributes
    ----------
    eps : float or None
        Error in units of the squared total measure; None: only rounding.
    delta : float or None
        Probability with which a random method may miss eps; None: the default of `risk`.
    rng : numpy.random.Generator
        The generator.
    """

    eps: float | Any  # a method that needs it is not called with None
    delta: float | None = None
    rng: np.random.Generator = field(default_factory=lambda: generator(0))

    @classmethod
    def checked(cls, eps: Any, delta: Any, seed: Any) -> Accuracy:
        """Check the three arguments."""
        eps = None if eps is None else below_one("eps", eps)
        delta = None if delta is None else below_one("delta", delta)
        return cls(eps, delta, generator(seed))

    @property
    def risk(self) -> float:
        """Probability with which a random method may miss eps: delta, 0.01 by default."""
        return 0.01 if self.delta is None else self.delta


@dataclass(frozen=True)
class NormProblem:
    """Distinct points and their vectors, for the kappa of a measure with itself.

    They are in a unit in which sigma is between 1 and 2.
    """

    points: np.ndarray
    vectors: np.ndarray
    kernel: Kernel
    accuracy: Accuracy
    n_threads: int | None = None

    @property
    def total(self) -> float:
        """The sum of the vectors' lengths."""
        return float(lengths(self.vectors).sum())


class NormEstimate(NamedTuple):
    """kappa of a measure with itself, as a method found it.

    Attributes
    ----------
    value : float
        kappa.
    bound : float
        Bound on its error besides rounding.
    counts : dict of str to int
        Pairs of points or boxes, features, centres.
    standard_error : float or None
        The estimated one of a random method.
    """

    value: float
    bound: float
    counts: dict[str, int]
    standard_error: float | None = None


def bandwidth(sigma: Any, measures: Sequence[Measure]) -> float:
    """Return sigma, or for "median" the median distance between the measures' distinct points.

    At most 1000 distinct points are used, evenly spaced in lexicographic order. If all
    points coincide, every sigma gives the same distances, and it is 1.
    """
    if not isinstance(sigma, str):
        return positive_number("sigma", sigma)
    if sigma != "median":
        raise ValueError(f'sigma must be a positive number or "median", got {sigma!r}')
    points = np.unique(np.concatenate([measure.points for measure in measures]) + 0.0, axis=0)
    if len(points) < 2:
        return 1.0
    n_sample = 1000
    if len(points) > n_sample:
        points = points[np.linspace(0, len(points) - 1, n_sample).astype(np.int64)]
    # Squares of the differences must neither overflow nor vanish.
    exponent = int(np.frexp(np.abs(points).max())[1])
    points = np.ldexp(points, -exponent)
    points = points - points.min(axis=0)
    inner = int(np.frexp(points.max())[1])
    distances = pdist(np.ldexp(points, -inner))
    distances = distances[distances > 0]
    if not distances.size:
        return 1.0
    with np.errstate(over="ignore", under="ignore"):
        median = float(np.ldexp(np.median(distances), exponent + inner))
    return min(max(median, np.finfo(np.float64).tiny), np.finfo(np.float64).max)
