# SPDX-License-Identifier: BSD-3-Clause
"""Few points that stand for many: coresets of a measure under the kernel distance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.checks import choice, generator, integer
from d2ke._base.threads import team_size
from d2ke._ext import coresets
from d2ke._ext import pair_sums as compiled_sums
from d2ke.measures import pair_sums
from d2ke.measures.kernels import checked_accuracy, checked_kernel
from d2ke.measures.measure import Measure, as_measure, lengths, merged
from d2ke.measures.random_fourier import centred, frequencies, transforms

METHODS = ("auto", "random", "sorted", "zorder", "halving", "herding", "thinning")

_BLOCK = 128  # points of a block of the first halving; twice as many of each next one
_LAST_BLOCK = 2048  # ... and of the last halving at least so many
_CANDIDATES = 16  # for each point of the coreset
_FEW = 1024  # candidates at least
_PAIRS = 1 << 27  # kernel values that the candidates' mean field may cost
_JUDGES = 4  # points of P at least, for each candidate, that make the mean field
_PASSES = 8
_SWAPPED = 1e9  # pairs of a pass, up to which "auto" makes them
_EXACT = 30_000  # points of which all pairs are evaluated to tell the distance
_FREQUENCIES = 4096  # ... and of more points so many random ones
_CURVE_DIMS = 16


@dataclass(frozen=True, eq=False)
class KernelCoreset:
    """Points of a measure that stand for all of it.

    Attributes
    ----------
    indices : ndarray of int64, shape (m,)
        Which points; distinct if all points have the same weight.
    weights : ndarray of float64, shape (m,)
        Their weights: W/m each, with the sign that the point had; of curves and
        surfaces, the lengths of their vectors.
    measure : Measure
        The coreset itself, as `kernel_distance` and its kin take it.
    distance : float or None
        D_K(P, S), computed after the choice; None if that was not wanted.
    distance_method : str or None
        "exact", or "rff" for an estimate from 4096 random frequencies.
    standard_error : float or None
        Of an estimated `distance`.
    bound : float or None
        D_K is at most this, as was known without evaluating it; with probability
        1 - delta where the method draws at random. None for herding.
    delta : float
        See `bound`.
    total : float
        W, the sum of the absolute weights, in units of which D_K is to be seen.
    method : str
        How the points were chosen.
    kernel : str
        The kernel.
    sigma : float
        Its scale.
    """

    indices: np.ndarray
    weights: np.ndarray
    measure: Measure
    distance: float | None
    distance_method: str | None
    standard_error: float | None
    bound: float | None
    delta: float
    total: float
    method: str
    kernel: str
    sigma: float

    def __len__(self) -> int:
        return len(self.indices)


def kernel_coreset(
    P: Any,
    m: int | None = None,
    *,
    sigma: float | str | None = None,
    weights_p: Any = None,
    kernel: str = "gaussian",
    method: str = "auto",
    eps: float | None = None,
    delta: float | None = None,
    seed: Any = 0,
    n_threads: int | None = None,
    evaluate: bool = True,
) -> KernelCoreset:
    """Choose m points S of a measure P so that the kernel distance D_K(P, S) is small.

    The points get equal weights, W/m each, where W is the total measure of P.

    Parameters
    ----------
    P : array_like of shape (n, d), or Measure
        Points, (n,) for d = 1; or what `curve` and `mesh` return.
    m : int, optional
        Size of the coreset, 1 to n. P itself is returned where it has no more points
        of weight other than 0. Give either m or eps.
    sigma : float or "median"
        The kernel's scale; "median" is the median distance between the distinct
        points (of a sample of 1000).
    weights_p : array_like of shape (n,), optional
        Weights, of any sign; 1 each by default.
    kernel : {"gaussian", "laplace"}
        As for `kernel_distance`.
    method : {"auto", "random", "sorted", "zorder", "halving", "herding", "thinning"}
        "random": points at random, by their weights; without replacement if these are
        equal. "sorted": the middles of m equal shares of the line (d = 1 only).
        "zorder": one point from each of m equal shares of a space-filling curve,
        Hilbert's. "halving": of two neighbours on that curve one is kept, so that
        the errors of all pairs balance, until m are left. "herding": one point after
        the other, each the best in its turn. "thinning": halving, after which
        points are exchanged as long as that pays. "auto": "sorted" for d = 1, else
        "thinning" up to m min(n, 16 m) = 1e9 (m = 8000), and "halving" beyond.
    eps : float, optional
        Instead of m: as many points as "random" needs for D_K <= eps W with
        probability 1 - delta, (1 + sqrt(ln(1/delta)))^2 / eps^2 in any dimension,
        or with weights of both signs and for shapes (1 + sqrt(2 ln(1/delta)))^2 /
        eps^2; for "sorted", as many as its own bound needs if they are fewer.
    delta : float, optional
        Probability with which `eps` and `bound` may be missed; 0.01 by default.
    seed : int or numpy.random.Generator
        Of all random choices.
    n_threads : int, optional
        Threads; None for all that this process may use. The result does not
        depend on it.
    evaluate : bool
        False: do not compute the distance, which for many points takes longer than
        the choice.

    Returns
    -------
    KernelCoreset
        Indices, weights, the distance, the bound.

    Raises
    ------
    TypeError, ValueError
        Empty sets, values that are not finite, weights that are all 0, arguments out
        of range, "sorted" for d > 1.

    Notes
    -----
    On uniform data Hilbert's curve did better than the Z-order in every dimension.
    The sign of a pair is the better one, always, where kernel thinning takes it with a
    probability (a self-balancing walk): the distances were 1.5 to 4 times smaller.
    "herding" and "thinning" choose among 16 m candidates (or 1024), and where n is large
    they know P by a part of it that was halved less often.

    References
    ----------
    Joshi, Kommaraju, Phillips, Venkatasubramanian, "Comparing Distributions and
    Shapes using the Kernel Distance", SoCG 2011, section 5. Chen, Welling, Smola,
    "Super-samples from kernel herding", UAI 2010. Dwivedi and Mackey, "Kernel
    thinning", COLT 2021. Shetty, Dwivedi, Mackey, "Distribution compression in
    near-linear time", ICLR 2022. Skilling, "Programming the Hilbert curve", 2004.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> P = np.random.default_rng(0).random((1000, 2))
    >>> S = d2ke.kernel_coreset(P, 50, sigma=0.3)
    >>> len(S), float(S.weights[0]), S.method
    (50, 20.0, 'thinning')
    >>> random = d2ke.kernel_coreset(P, 50, sigma=0.3, method="random")
    >>> S.distance < random.distance / 10
    True
    """
    p = as_measure("P", P, "weights_p", weights_p)
    choice("kernel", kernel, ("gaussian", "laplace"))
    choice("method", method, METHODS)
    eps, delta = checked_accuracy(eps, delta)
    if (m is None) == (eps is None):
        raise TypeError("give m or eps, one of the two" + ("" if m is None else ", not both"))
    if m is not None:
        m = integer("m", m, 1, len(p))
    dim = p.points.shape[1]
    if method == "sorted" and dim > 1:
        raise ValueError(f'method="sorted" is for points on a line; these have {dim} dimensions')
    total = p.total
    if not (total > 0 and math.isfinite(total * total)):
        raise ValueError(f"the total weight of P must be positive and not too large, got {total}")
    sigma = checked_kernel(kernel, sigma, [p.points])
    rng = generator(seed)
    threads = team_size(n_threads)
    atoms = _atoms(p, kernel, sigma, threads)
    if method == "auto":
        method = _choose(len(atoms), atoms.size(eps, delta) if m is None else m, dim)
    if m is None:
        m = atoms.size(eps, delta)
        if method == "sorted":
            m = min(m, atoms.line_size(eps))
    if m >= len(atoms):
        chosen, bound = np.arange(len(atoms)), 0.0
        vectors = p.vectors[atoms.index]
    else:
        chosen, bound = _PICK[method](atoms, m, rng, delta)
        vectors = atoms.units[chosen] * (total / m)
    indices = atoms.index[chosen]
    coreset = replace(p, points=p.points[indices], vectors=vectors)
    distance = how = error = None
    if evaluate:
        distance, how, error = _evaluated(p, coreset, kernel, sigma, rng, n_threads)
    return KernelCoreset(
        indices=indices,
        weights=vectors[:, 0].copy() if p.kind == "points" else lengths(vectors),
        measure=coreset,
        distance=distance,
        distance_method=how,
        standard_error=error,
        bound=None if bound is None else bound * total,
        delta=delta,
        total=total,
        method=method,
        kernel=kernel,
        sigma=sigma,
    )


class _Atoms(NamedTuple):
    """A measure of total 1 as points with masses and unit vectors: <phi, phi> = 1 for each."""

    index: np.ndarray
    points: np.ndarray
    units: np.ndarray
    masses: np.ndarray
    equal: bool
    positive: bool
    kernel: str
    sigma: float
    n_threads: int

    def __len__(self) -> int:
        return len(self.index)

    def size(self, eps: float, delta: float) -> int:
        """Return how many random points are enough for a distance of eps."""
        return math.ceil((_spread(self, delta) / eps) ** 2)

    def line_size(self, eps: float) -> int:
        """Return how many sorted points are enough for a distance of eps."""
        return max(1, math.ceil(self.line_factor() / eps)) if self.positive else len(self)

    def line_factor(self) -> float:
        """Return m times the bound for m sorted points.

        The distribution functions differ by at most 1/(2m), so that D_K^2, the integral
        of both differences against the mixed derivative of K, is at most its
        variation over the points' range, range / sigma times 4 / sqrt(e) or 4, by 1/(4 m^2).
        """
        extent = float(np.ptp(self.points[:, 0] / self.sigma))
        return math.sqrt(extent * (1.0 if self.kernel == "laplace" else math.exp(-0.5)))

    def steps(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Return |phi(one) - phi(other)|, element by element."""
        away = np.zeros(len(one))
        for k in range(self.points.shape[1]):
            away += np.square((self.points[one, k] - self.points[other, k]) / self.sigma)
        exponent = np.sqrt(away) if self.kernel == "laplace" else away / 2
        inner = np.einsum("ij,ij->i", self.units[one], self.units[other])
        # 2 - 2 <u, v> K without cancellation where u = v.
        squares = 2 * (1 - inner) - 2 * inner * np.expm1(-exponent)
        return np.sqrt(np.maximum(squares, 0))

    def field(self, places: np.ndarray, sources: np.ndarray, masses: np.ndarray) -> np.ndarray:
        """Return the inner products of phi at some atoms with the sum of others' masses."""
        vectors = self.units[sources] * masses[:, None]
        potentials = pair_sums.potentials(
            self.points[places], self.points[sources], vectors, self.kernel, self.sigma,
            self.n_threads,
        )  # fmt: skip
        return np.einsum("ij,ij->i", potentials, self.units[places])

    def clouds(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return some atoms' points and unit vectors as the compiled functions want them."""
        return pair_sums.cloud(self.points[which]), pair_sums.cloud(self.units[which])

    @property
    def given(self) -> tuple[bool, float]:
        """The kernel as the compiled functions want it."""
        return self.kernel == "laplace", pair_sums.decay(self.kernel, self.sigma)


def _atoms(p: Measure, kernel: str, sigma: float, n_threads: int) -> _Atoms:
    size = lengths(p.vectors)
    index = np.flatnonzero(size > 0)
    size, units = size[index], p.vectors[index]
    points, sigma = pair_sums.scaled(np.ascontiguousarray(p.points[index]), sigma)
    units = np.sign(units) if units.shape[1] == 1 else units / size[:, None]
    return _Atoms(
        index=index,
        points=points,
        units=units,
        masses=size / size.sum(),
        equal=bool((size == size[0]).all()),
        positive=units.shape[1] == 1 and bool((units > 0).all()),
        kernel=kernel,
        sigma=sigma,
        n_threads=n_threads,
    )


def _choose(n: int, m: int, dim: int) -> str:
    if dim == 1:
        return "sorted"
    return "thinning" if m * min(n, _CANDIDATES * m) <= _SWAPPED else "halving"


def _spread(atoms: _Atoms, delta: float) -> float:
    """Sqrt(m) times the distance that m random points exceed with probability delta only.

    E D_K^2 <= 1/m, and exchanging one point changes D_K by at most c/m, where c^2 is 2 for
    positive weights, as K >= 0, and 4 in general: McDiarmid's inequality; without
    replacement, that of El-Yaniv and Pechyony (2009, Lemma 2).
    """
    return 1 + math.sqrt((1 if atoms.positive else 2) * math.log(1 / delta))


def _random(atoms: _Atoms, m: int, rng: np.random.Generator, delta: float):
    n = len(atoms)
    given = {"replace": False} if atoms.equal else {"p": atoms.masses}
    chosen = rng.choice(n, m, **given)
    return chosen, _spread(atoms, delta) / math.sqrt(m)


def _sorted(atoms: _Atoms, m: int, rng: np.random.Generator, delta: float):
    order = _by_sign(atoms, np.argsort(atoms.points[:, 0], kind="stable"))
    chosen, bound = _shares(atoms, order, m)
    return chosen, min(bound, atoms.line_factor() / m) if atoms.positive else bound


def _zorder(atoms: _Atoms, m: int, rng: np.random.Generator, delta: float):
    return _shares(atoms, _along_curve(atoms, rng), m)


def _halving(atoms: _Atoms, m: int, rng: np.random.Generator, delta: float):
    levels, bound = _halved(atoms, m, rng, delta)
    return levels[-1], bound


def _herding(atoms: _Atoms, m: int, rng: np.random.Generator, delta: float):
    pool = min(len(atoms), max(_FEW, _CANDIDATES * m))
    levels, _ = _halved(atoms, pool, rng, delta) if pool < len(atoms) else ([], 0.0)
    candidates, mean = _mean_field(atoms, m, levels)
    chosen = coresets.herd(*atoms.clouds(candidates), mean, m, *atoms.given, atoms.equal)
    return candidates[chosen], None


def _thinning(atoms: _Atoms, m: int, rng: np.random.Generator, delta: float):
    levels, bound = _halved(atoms, m, rng, delta)
    start = levels[-1]
    candidates, mean = _mean_field(atoms, m, levels)
    chosen = np.searchsorted(candidates, start)
    clouds = atoms.clouds(candidates)
    field = np.zeros(clouds[0].shape[1])
    field[: len(mean)] = m * mean - atoms.field(candidates, start, np.ones(m))
    coresets.swap(
        *clouds, field, len(candidates), chosen, _PASSES, 1e-12 * m, *atoms.given, atoms.equal
    )
    return candidates[chosen], bound


_PICK = {
    "random": _random,
    "sorted": _sorted,
    "zorder": _zorder,
    "halving": _halving,
    "herding": _herding,
    "thinning": _thinning,
}


def _mean_field(atoms: _Atoms, m: int, levels: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return candidates in ascending order, and the inner products of phi there with P.

    `levels` are P, halved more and more often. The mean is that of P, or of as large a
    level as the number of pairs allows.
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
    # A part of P that is not much larger than the candidates is a poor judge of them.
    judges = [level for level in levels if len(level) >= _JUDGES * len(candidates)] or levels[:1]
    affordable = (level for level in judges if len(level) * len(candidates) <= _PAIRS)
    judge = next(affordable, judges[-1])
    return candidates, atoms.field(candidates, judge, np.full(len(judge), 1 / len(judge)))


def _by_sign(atoms: _Atoms, order: np.ndarray) -> np.ndarray:
    """Keep the order among points with weights of one sign, the negative ones first."""
    if atoms.positive or atoms.units.shape[1] > 1:
        return order
    return order[np.argsort(atoms.units[order, 0], kind="stable")]


def _along_curve(atoms: _Atoms, rng: np.random.Generator) -> np.ndarray:
    """Return the order of the atoms along a Hilbert curve through a box at random."""
    # Halves, since an extent may overflow.
    half = atoms.points / 2
    half -= half.min(axis=0)
    extent = half.max(axis=0)
    # Of many coordinates, the widest.
    use = np.sort(np.argsort(-extent, kind="stable")[:_CURVE_DIMS])
    use = use[extent[use] > 0]
    if not use.size:
        return _by_sign(atoms, np.arange(len(atoms)))
    bits = max(10, min(31, 64 // len(use)))
    place = half[:, use] / extent.max()
    place += rng.random(len(use))
    cells = np.minimum(np.ldexp(place, bits - 1), 2**bits - 1).astype(np.uint32)
    keys = coresets.hilbert_keys(np.ascontiguousarray(cells), bits, atoms.n_threads)
    return _by_sign(atoms, np.lexsort(keys[::-1]))


def _shares(atoms: _Atoms, order: np.ndarray, m: int) -> tuple[np.ndarray, float]:
    """Return the point in the middle of each of m equal shares of the order, and a bound.

    The bound is what moving every share's masses to its point costs at most.
    """
    n = len(atoms)
    if atoms.equal:
        place = np.minimum(((np.arange(m) + 0.5) * (n / m)).astype(np.int64), n - 1)
        ends = np.arange(1, n + 1) / n
    else:
        ends = np.cumsum(atoms.masses[order])
        ends /= ends[-1]
        place = np.searchsorted(ends, (np.arange(m) + 0.5) / m, side="right")
        place = np.minimum(place, n - 1)
    chosen = order[place]
    if m == n and atoms.equal:
        return chosen, 0.0
    cuts = np.sort(np.concatenate([ends, np.arange(1, m) / m]))
    middles = cuts - np.diff(cuts, prepend=0.0) / 2
    source = order[np.minimum(np.searchsorted(ends, middles), n - 1)]
    target = chosen[np.minimum((middles * m).astype(np.int64), m - 1)]
    return chosen, float(atoms.steps(source, target) @ np.diff(cuts, prepend=0.0))


def _halved(
    atoms: _Atoms, m: int, rng: np.random.Generator, delta: float
) -> tuple[list[np.ndarray], float]:
    """Halve P until m points are left: the points after every round, and a bound.

    First P becomes m 2^k points of equal mass, shares of the curve. Then one of each two
    neighbours is kept. Keeping p instead of q adds (phi(p) - phi(q)) / size to the error,
    or subtracts it; the better sign is taken, so that within a block the squared
    error is at most the sum of the differences' squares. Signs of different blocks are
    independent and symmetric: the norm of their sum is below (1 + sqrt(2 ln(1/delta)))
    times the root of the sum of squares with probability 1 - delta.
    """
    n = len(atoms)
    rounds = int(math.log2((n if atoms.equal else 2 * n) / m))
    ids, bound = _shares(atoms, _along_curve(atoms, rng), m << rounds)
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
        coins = (2 * rng.integers(0, 2, (n_blocks, width)) - 1).astype(np.int8)
        signs, norms = coresets.balanced_signs(
            points, units, sizes, coins, *atoms.given, atoms.n_threads
        )
        taken = signs[:, : block // 2].ravel()[: size // 2]
        ids = np.where(taken > 0, ids[::2], ids[1::2])
        spread = math.sqrt(max(float(norms.sum()), 0)) / size
        if n_blocks > 1:
            spread *= 1 + math.sqrt(2 * math.log(rounds / delta))
        bound += spread
        levels.append(ids)
        block *= 2
    return levels, bound


def _blocked(array: np.ndarray, block: int, n_blocks: int, width: int) -> np.ndarray:
    """Return the rows of an array in blocks, transposed: (n_blocks, columns, width)."""
    result = np.zeros((n_blocks, array.shape[1], width))
    whole = len(array) // block
    if whole:
        body = array[: whole * block].reshape(whole, block, -1)
        result[:whole, :, :block] = body.transpose(0, 2, 1)
    if whole < n_blocks:
        rest = array[whole * block :]
        result[whole, :, : len(rest)] = rest.T
    return result


def _evaluated(
    p: Measure,
    coreset: Measure,
    kernel: str,
    sigma: float,
    rng: np.random.Generator,
    n_threads: int | None,
) -> tuple[float, str, float | None]:
    """Return D_K(P, S), how it was computed, and its standard error."""
    points, vectors = merged(
        np.concatenate([p.points, coreset.points]), np.concatenate([p.vectors, -coreset.vectors])
    )
    if len(points) == 0:
        return 0.0, "exact", None
    if len(points) <= _EXACT:
        squared = pair_sums.norm(points, vectors, kernel, sigma, n_threads)
        return math.sqrt(max(squared, 0.0)), "exact", None
    points, sigma = pair_sums.scaled(points, sigma)
    points = centred(points)
    omega = frequencies(rng, points.shape[1], _FREQUENCIES, kernel, sigma)
    values = np.square(transforms(points, vectors, np.array([0, len(points)]), omega, n_threads)[0])
    values = values.sum(axis=(0, 1))
    distance = math.sqrt(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(_FREQUENCIES) / (2 * distance)
    return distance, "rff", error
