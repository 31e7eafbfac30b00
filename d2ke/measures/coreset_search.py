# SPDX-License-Identifier: BSD-3-Clause
"""The smallest coreset with a measured distance within eps."""

from __future__ import annotations

import math

import numpy as np

from d2ke.measures.coreset_methods import CORESET_METHODS, Atoms, choose_method
from d2ke.measures.kernels import Accuracy
from d2ke.measures.random_fourier import centred, frequencies, transforms

EXACT = 30_000  # points up to which distances are exact, from all pairs
FREQUENCIES = 4096  # random ones, that estimate distances of more points

_Chosen = tuple[np.ndarray, float | None, str]  # atoms, a bound of their distance, the method


class Verifier:
    """Distances of a measure to its coresets; sums over the measure are computed once."""

    def __init__(self, atoms: Atoms, accuracy: Accuracy) -> None:
        self.atoms = atoms
        self.exact = len(atoms) <= EXACT
        if self.exact:
            everything = np.arange(len(atoms))
            self.field = atoms.field(everything, everything, atoms.masses)
            self.kappa = float(self.field @ atoms.masses)
        else:
            self.points = centred(atoms.points)
            dim = self.points.shape[1]
            self.omega = frequencies(accuracy.rng, dim, FREQUENCIES, atoms.kernel)
            self.sums = self._sums(np.arange(len(atoms)), atoms.masses)

    def squared(self, subset: np.ndarray) -> float:
        """Return D_K^2 of equal masses at selected atoms, or an upper limit of an estimate."""
        masses = np.full(len(subset), 1 / len(subset))
        if self.exact:
            norm = float(self.atoms.field(subset, subset, masses) @ masses)
            return self.kappa - 2 * float(self.field[subset] @ masses) + norm
        values = np.square(self.sums - self._sums(subset, masses)).sum(axis=(0, 1))
        # An estimate must be below eps by three standard errors.
        return float(values.mean() + 3.0 * values.std(ddof=1) / math.sqrt(FREQUENCIES))

    def _sums(self, which: np.ndarray, masses: np.ndarray) -> np.ndarray:
        vectors = self.atoms.units[which] * masses[:, None]
        ends = np.array([0, len(which)])
        threads = self.atoms.n_threads
        return transforms(self.points[which], vectors, ends, self.omega, threads)[0]


def smallest(atoms: Atoms, accuracy: Accuracy, method: str, minimum: int = 1) -> _Chosen:
    """Return the atoms of a coreset within eps, a bound of its distance, and its method.

    The size is doubled until the distance is within eps, and then bisected; no size below
    `minimum` is tried. If no subset is within eps, all atoms are returned.
    """
    n, dim = atoms.points.shape
    verifier = Verifier(atoms, accuracy)
    limit = accuracy.eps**2 - 1e-13  # of rounding, in units of the squared total measure

    def attempt(m: int) -> _Chosen | None:
        name = choose_method(n, m, dim) if method == "auto" else method
        subset, bound = CORESET_METHODS[name](atoms, m, accuracy)
        return (subset, bound, name) if verifier.squared(subset) <= limit else None

    best: _Chosen = np.arange(n), 0.0, method
    low, m = minimum - 1, minimum
    while m < n and (result := attempt(m)) is None:
        low, m = m, 2 * m
    if m < n and result is not None:
        best = result
    m = min(m, n)
    while m - low > 1:
        middle = (low + m) // 2
        result = attempt(middle)
        if result is None:
            low = middle
        else:
            best, m = result, middle
    return best
