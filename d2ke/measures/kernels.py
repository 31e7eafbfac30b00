# SPDX-License-Identifier: BSD-3-Clause
"""The records that all methods of the kernel distance take and return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.checks import below_one, choice, generator
from d2ke.measures.clouds import decay, scaled
from d2ke.measures.measure import Measure, lengths
from d2ke.measures.median_scale import bandwidth

KERNELS = ("gaussian", "laplace", "linear", "trivial")
SCALED_KERNELS = ("gaussian", "laplace")

DELTA = 0.01


@dataclass(frozen=True)
class Kernel:
    """A kernel by its name, and its scale: None for the linear, the trivial and users' kernels."""

    name: str
    sigma: float | Any  # None only where nobody reads it
    function: Callable[[Any, Any], Any] | None = None

    @classmethod
    def checked(
        cls, name: Any, sigma: Any, measures: list[Measure], choices: Sequence[str] = KERNELS
    ) -> Kernel:
        """Check both arguments; "median" is that of the measures' points."""
        choice("kernel", name, choices)
        if name in SCALED_KERNELS:
            if sigma is None:
                raise TypeError(f'the {name} kernel needs sigma, a positive number or "median"')
            return cls(name, bandwidth(sigma, [m.points for m in measures]))
        if sigma is not None:
            raise TypeError(f"the {name} kernel has no scale; got sigma={sigma!r}")
        return cls(name, None)

    @classmethod
    def of_function(cls, function: Callable[[Any, Any], Any], sigma: Any) -> Kernel:
        """Return a user's kernel, which has no scale."""
        if sigma is not None:
            raise TypeError(f"a function as kernel has its own scale; got sigma={sigma!r}")
        return cls(getattr(function, "__name__", type(function).__name__), None, function)

    @property
    def laplace(self) -> bool:
        """Whether this is the Laplace kernel."""
        return self.name == "laplace"

    @property
    def compiled(self) -> tuple[bool, float]:
        """The two arguments for which the compiled functions ask."""
        return self.laplace, decay(self.name, self.sigma)

    def scaled(self, points: np.ndarray) -> tuple[np.ndarray, Kernel]:
        """Return points and kernel in a unit, a power of 2, in which sigma is between 1 and 2."""
        points, sigma = scaled(points, self.sigma)
        return points, Kernel(self.name, sigma)


@dataclass(frozen=True)
class Accuracy:
    """The error that is allowed, and the generator of random methods.

    Attributes
    ----------
    eps : float or None
        Error in units of the squared total measure; None: only rounding.
    delta : float or None
        Probability with which a random method may miss eps; None: that of `risk`.
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
        return DELTA if self.delta is None else self.delta


@dataclass(frozen=True)
class NormProblem:
    """Distinct points and their vectors, whose kappa with themselves a method computes."""

    points: np.ndarray
    vectors: np.ndarray
    kernel: Kernel
    accuracy: Accuracy
    n_threads: int | None = None

    def scaled(self) -> NormProblem:
        """Return the problem in a unit in which sigma is between 1 and 2."""
        points, kernel = self.kernel.scaled(self.points)
        return replace(self, points=points, kernel=kernel)

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
