# SPDX-License-Identifier: BSD-3-Clause
"""The methods that choose the points of a coreset."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from d2ke._ext import coresets
from d2ke._ext import pair_sums as compiled_sums
from d2ke.distances.clouds import cloud
from d2ke.measures import pair_sums
from d2ke.measures.kernels import Accuracy, Kernel
from d2ke.measures.measure import Measure, lengths

_BLOCK = 128  # points of a block of the first halving, at least; each next one has twice as many
_LAST_BLOCK = 2048  # points of a block of the last halving, at least
_CANDIDATES = 16  # for each point of the coreset
_FEW = 1024  # candidates, at least
_PAIRS = 1 << 27  # kernel values of the candidates' mean field, at most

_Choice = tuple[np.ndarray, float | None]


@dataclass(frozen=True, eq=False)
class Atoms:
    """A measure of total 1 as points with masses and unit vectors: <phi, phi> = 1 for each."""

    index: np.ndarray
    points: np.ndarray
    units: np.ndarray
    masses: np.ndarray
    equal: bool
    positive: bool
    kernel: Kernel
    n_threads: int

    @classmethod
    def of(cls, p: Measure, kernel: Kernel, n_threads: int) -> Atoms:
        """Return the points of a measure whose vectors are not 0."""
        size = lengths(p.vectors)
        index = np.flatnonzero(size > 0)
        size, units = size[index], p.vectors[index]
        points, kernel = kernel.scaled(np.ascontiguousarray(p.points[index]))
        units = np.sign(units) if units.shape[1] == 1 else units / size[:, None]
        equal = bool((size == size[0]).all())
        positive = units.shape[1] == 1 and bool((units > 0).all())
        return cls(index, points, units, size / size.sum(), equal, positive, kernel, n_threads)

    def __len__(self) -> int:
        return len(self.index)

    def size(self, accuracy: Accuracy) -> int:
        """Return how many random points are enough for a distance of eps."""
        return math.ceil((_spread(self, accuracy.risk) / accuracy.eps) ** 2)

    def line_size(self, eps: float) -> int:
        """Return how many sorted points are enough for a distance of eps."""
        return max(1, math.ceil(self.line_factor() / eps)) if self.positive else len(self)

    def line_factor(self) -> float:
        """Return m times the bound for m sorted points.

        The distribution functions differ by at most 1/(2m), so that D_K^2, the integral
        of both differences against the mixed derivative of K, is at most its
        variation over the points' range, range / sigma times 4 / sqrt(e) or 4, by 1/(4 m^2).
        """
        extent = float(np.ptp(self.points[:, 0] / self.kernel.sigma))
        return math.sqrt(extent * (1.0 if self.kernel.laplace else math.exp(-0.5)))

    def steps(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return |phi(source) - phi(target)|, element by element."""
        away = np.zeros(len(source))
        for k in range(self.points.shape[1]):
            gap = self.points[source, k] - self.points[target, k]
            away += np.square(gap / self.kernel.sigma)
        exponent = np.sqrt(away) if self.kernel.laplace else away / 2
        inner = np.einsum("ij,ij->i", self.units[source], self.units[target])
        # 2 - 2 <u, v> K without cancellation where u = v.
        squares = 2 * (1 - inner) - 2 * inner * np.expm1(-exponent)
        return np.sqrt(np.maximum(squares, 0))

    def field(self, targets: np.ndarray, sources: np.ndarray, masses: np.ndarray) -> np.ndarray:
        """Return the inner products of phi at the targets with the sum over the sources' masses."""
        vectors = self.units[sources] * masses[:, None]
        potentials = pair_sums.potentials(
            self.points[targets], self.points[sources], vectors, self.kernel, self.n_threads
        )
        return np.einsum("ij,ij->i", potentials, self.units[targets])

    def clouds(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return some atoms' points and unit vectors in the layout of the compiled functions."""
        return cloud(self.points[indices]), cloud(self.units[indices])


def choose_method(n: int, m: int, dim: int) -> str:
    """Return the best method that is fast enough for m of n points."""
    if dim == 1:
        return "sorted"
    # Exchanges take this number of pairs a pass: up to 1e9 are fast enough.
    return "thinning" if m * min(n, _CANDIDATES * m) <= 1e9 else "halving"


def _spread(atoms: Atoms, delta: float) -> float:
    """Return sqrt(m) times the distance that m random points exceed with probability delta.

    E D_K^2 <= 1/m, and exchanging one point changes D_K by at most c/m, where c^2 is 2 for
    positive weights, as K >= 0, and 4 in general: McDiarmid's inequality; without
    replacement, the bound of El-Yaniv and Pechyony (2009, Lemma 2).
    """
    return 1 + math.sqrt((1 if atoms.positive else 2) * math.log(1 / delta))


def _random(atoms: Atoms, m: int, accuracy: Accuracy) -> _Choice:
    n = len(atoms)
    options = {"replace": False} if atoms.equal else {"p": atoms.masses}
    subset = accuracy.rng.choice(n, m, **options)
    return subset, _spread(atoms, accuracy.risk) / math.sqrt(m)


def _sorted(atoms: Atoms, m: int, accuracy: Accuracy) -> _Choice:
    order = _by_sign(atoms, np.argsort(atoms.points[:, 0], kind="stable"))
    subset, bound = _shares(atoms, order, m)
    return subset, min(bound, atoms.line_factor() / m) if atoms.positive else bound


def _zorder(atoms: Atoms, m: int, accuracy: Accuracy) -> _Choice:
    return _shares(atoms, _along_curve(atoms, accuracy.rng), m)


def _halving(atoms: Atoms, m: int, accuracy: Accuracy) -> _Choice:
    levels, bound = _halved(atoms, m, accuracy)
    return levels[-1], bound


def _herding(atoms: Atoms, m: int, accuracy: Accuracy) -> _Choice:
    pool = min(len(atoms), max(_FEW, _CANDIDATES * m))
    levels, _ = _halved(atoms, pool, accuracy) if pool < len(atoms) else ([], 0.0)
    candidates, mean = _mean_field(atoms, m, levels)
    subset = coresets.herd(*atoms.clouds(candidates), mean, m, *atoms.kernel.compiled, atoms.equal)
    return candidates[subset], None


def _thinning(atoms: Atoms, m: int, accuracy: Accuracy) -> _Choice:
    levels, bound = _halved(atoms, m, accuracy)
    start = levels[-1]
    candidates, mean = _mean_field(atoms, m, levels)
    subset = np.searchsorted(candidates, start)
    clouds = atoms.clouds(candidates)
    field = np.zeros(clouds[0].shape[1])
    field[: len(mean)] = m * mean - atoms.field(candidates, start, np.ones(m))
    coresets.swap(
        *clouds,
        field,
        len(candidates),
        subset,
        8,  # passes
        1e-12 * m,
        *atoms.kernel.compiled,
        atoms.equal,
    )
    return candidates[subset], bound


# Each function returns the indices of its points, and a bound of the distance, if it has one.
CORESET_METHODS: dict[str, Callable[[Atoms, int, Accuracy], _Choice]] = {
    "random": _random,
    "sorted": _sorted,
    "zorder": _zorder,
    "halving": _halving,
    "herding": _herding,
    "thinning": _thinning,
}


def _mean_field(atoms: Atoms, m: int, levels: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return candidates in ascending order, and the inner products of phi there with P.

    `levels` are P after each halving. The mean is taken over P, or over the largest
    level that the number of pairs allows.
    """
    n = len(atoms)
    pool = max(_FEW, _CANDIDATES * m)
    if n <= pool:
        candidates = np.arange(n)
    else:
        large = [level for level in levels if len(level) >= pool]
        candidates = np.unique(large[-1] if large else levels[0])
    if n <= pool or n * len(candidates) <= _PAIRS:
        return candidates, atoms.field(candidates, np.arange(n), atoms.masses)
    # A level not much larger than the candidates estimates their mean field poorly.
    judges = [level for level in levels if len(level) >= 4 * len(candidates)] or levels[:1]
    affordable = (level for level in judges if len(level) * len(candidates) <= _PAIRS)
    judge = next(affordable, judges[-1])
    return candidates, atoms.field(candidates, judge, np.full(len(judge), 1 / len(judge)))


def _by_sign(atoms: Atoms, order: np.ndarray) -> np.ndarray:
    """Sort by sign, negative weights first, and keep the order within each sign."""
    if atoms.positive or atoms.units.shape[1] > 1:
        return order
    return order[np.argsort(atoms.units[order, 0], kind="stable")]


def _along_curve(atoms: Atoms, rng: np.random.Generator) -> np.ndarray:
    """Return the order of the atoms along a Hilbert curve through a box at random."""
    # Halves, since an extent may overflow.
    half = atoms.points / 2
    half -= half.min(axis=0)
    extent = half.max(axis=0)
    # The widest coordinates, if there are many.
    use = np.sort(np.argsort(-extent, kind="stable")[:16])
    use = use[extent[use] > 0]
    if not use.size:
        return _by_sign(atoms, np.arange(len(atoms)))
    bits = max(10, min(31, 64 // len(use)))
    scaled = half[:, use] / extent.max()
    scaled += rng.random(len(use))
    cells = np.minimum(np.ldexp(scaled, bits - 1), 2**bits - 1).astype(np.uint32)
    keys = coresets.hilbert_keys(np.ascontiguousarray(cells), bits, atoms.n_threads)
    return _by_sign(atoms, np.lexsort(keys[::-1]))


def _shares(atoms: Atoms, order: np.ndarray, m: int) -> tuple[np.ndarray, float]:
    """Return the point in the middle of each of m equal shares of the order, and a bound.

    The bound is the cost of moving the masses of each share to its point.
    """
    n = len(atoms)
    if atoms.equal:
        ranks = np.minimum(((np.arange(m) + 0.5) * (n / m)).astype(np.int64), n - 1)
        ends = np.arange(1, n + 1) / n
    else:
        ends = np.cumsum(atoms.masses[order])
        ends /= ends[-1]
        ranks = np.searchsorted(ends, (np.arange(m) + 0.5) / m, side="right")
        ranks = np.minimum(ranks, n - 1)
    subset = order[ranks]
    if m == n and atoms.equal:
        return subset, 0.0
    cuts = np.sort(np.concatenate([ends, np.arange(1, m) / m]))
    middles = cuts - np.diff(cuts, prepend=0.0) / 2
    source = order[np.minimum(np.searchsorted(ends, middles), n - 1)]
    target = subset[np.minimum((middles * m).astype(np.int64), m - 1)]
    return subset, float(atoms.steps(source, target) @ np.diff(cuts, prepend=0.0))


def _halved(atoms: Atoms, m: int, accuracy: Accuracy) -> tuple[list[np.ndarray], float]:
    """Halve P until m points are left; return the points of every round, and a bound.

    First P becomes m 2^k points of equal mass, shares of the curve. Then one of each two
    neighbours is kept. Keeping p instead of q adds (phi(p) - phi(q)) / size to the error,
    or subtracts it. The better sign is chosen, so that within a block the squared
    error is at most the sum of the differences' squares. Signs of different blocks are
    independent and symmetric: the norm of their sum is below (1 + sqrt(2 ln(1/delta)))
    times the root of the sum of squares with probability 1 - delta.
    """
    n = len(atoms)
    rounds = int(math.log2((n if atoms.equal else 2 * n) / m))
    ids, bound = _shares(atoms, _along_curve(atoms, accuracy.rng), m << rounds)
    levels = [ids]
    block = max(_BLOCK, _LAST_BLOCK >> max(rounds - 1, 0))
    for _ in range(rounds):
        size = len(ids)
        n_blocks = -(-size // block)
        starts = np.arange(n_blocks) * block
        sizes = np.minimum(block, size - starts)
        width = max(min(block, size) + compiled_sums.PADDING, 2 * atoms.units.shape[1])
        points, units = (
            _blocked(array[ids], block, n_blocks, width) for array in (atoms.points, atoms.units)
        )
        coins = (2 * accuracy.rng.integers(0, 2, (n_blocks, width)) - 1).astype(np.int8)
        signs, norms = coresets.balanced_signs(
            points, units, sizes, coins, *atoms.kernel.compiled, atoms.n_threads
        )
        signs = signs[:, : block // 2].ravel()[: size // 2]
        ids = np.where(signs > 0, ids[::2], ids[1::2])
        spread = math.sqrt(max(float(norms.sum()), 0)) / size
        if n_blocks > 1:
            spread *= 1 + math.sqrt(2 * math.log(rounds / accuracy.risk))
        bound += spread
        levels.append(ids)
        block *= 2
    return levels, bound


def _blocked(array: np.ndarray, block: int, n_blocks: int, width: int) -> np.ndarray:
    """Return the rows of an array in blocks, transposed: (n_blocks, columns, width)."""
    result = np.zeros((n_blocks, array.shape[1], width))
    n_full = len(array) // block
    if n_full:
        body = array[: n_full * block].reshape(n_full, block, -1)
        result[:n_full, :, :block] = body.transpose(0, 2, 1)
    if n_full < n_blocks:
        rest = array[n_full * block :]
        result[n_full, :, : len(rest)] = rest.T
    return result
