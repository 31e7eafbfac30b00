# SPDX-License-Identifier: BSD-3-Clause
"""Coresets of a measure under the kernel distance."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from d2ke._base.checks import choice, flag, integer
from d2ke._base.keywords import hinted
from d2ke._base.results import result
from d2ke._base.threads import team_size
from d2ke.measures import pair_sums
from d2ke.measures.coreset_methods import CORESET_METHODS, Atoms, choose_method
from d2ke.measures.coreset_search import EXACT, FREQUENCIES, smallest
from d2ke.measures.kernels import SCALED_KERNELS, Accuracy, Kernel
from d2ke.measures.measure import Measure, as_measure, lengths, merged
from d2ke.measures.random_fourier import centred, frequencies, transforms


@result
class KernelCoreset:
    """A few weighted points of a measure that approximate it.

    Attributes
    ----------
    indices : ndarray of int64, shape (m,)
        Indices of the points; distinct if all points have the same weight.
    weights : ndarray of float64, shape (m,)
        Their weights: W/m each, with the sign that the point had; of curves and
        surfaces, the lengths of their vectors.
    measure : Measure
        The coreset itself, as `kernel_distance` takes it.
    distance : float or None
        D_K(P, S), computed after the choice; None for evaluate=False.
    distance_method : str or None
        "exact", or "rff" for an estimate from 4096 random frequencies.
    standard_error : float or None
        Standard error of an estimated `distance`.
    bound : float or None
        Proven upper bound on D_K; for random methods it holds with probability 1 - delta. None for
        herding.
    delta : float
        See `bound`.
    total : float
        W, the sum of the absolute weights. Compare D_K with it.
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


@hinted
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
        Size of the coreset, 1 to n. P itself is returned if at most m of its points have
        a weight other than 0. Give either m or eps.
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
        the other, each the best given those before. "thinning": halving, then exchanges
        of points that make the distance smaller. "auto": "sorted" for d = 1, else
        "thinning" up to m min(n, 16 m) = 1e9 (m = 8000), and "halving" beyond.
    eps : float, optional
        Instead of m: the smallest size with a measured D_K <= eps W is searched by doubling and
        bisection. "random", and any method with evaluate=False, use a proven size instead. This is
        the number of points that random ones need with probability 1 - delta, (1 +
        sqrt(ln(1/delta)))^2 / eps^2 in any dimension, or with weights of both signs and for shapes
        (1 + sqrt(2 ln(1/delta)))^2 / eps^2; for "sorted", the number that its own bound needs, if
        it is smaller.
    delta : float, optional
        Probability with which `eps` and `bound` may be missed; 0.01 by default.
    seed : int or numpy.random.Generator
        Seed of all random choices.
    n_threads : int, optional
        Threads; None for all that this process may use. The result does not
        depend on it.
    evaluate : bool
        False: do not compute the distance. For many points it takes longer than the choice. With
        `eps`, the proven size is used.

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
    Each pair takes the better sign, always; kernel thinning draws it with a probability
    (a self-balancing walk). The distances were 1.5 to 4 times smaller. "herding" and
    "thinning" choose among 16 m candidates (or 1024); for large n they estimate P by a part
    of it that was halved less often.

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
    >>> small = d2ke.kernel_coreset(P, sigma=0.3, eps=0.05)
    >>> len(small) < 20, small.distance <= 0.05 * 1000
    (True, True)
    >>> random = d2ke.kernel_coreset(P, 50, sigma=0.3, method="random")
    >>> S.distance < random.distance / 10
    True
    """
    p = as_measure("P", P, "weights_p", weights_p)
    dim = p.points.shape[1]
    choice("method", method, ("auto", *CORESET_METHODS))
    flag("evaluate", evaluate)
    accuracy = Accuracy.checked(eps, delta, seed)
    if (m is None) == (eps is None):
        raise TypeError("give m or eps, one of the two" + ("" if m is None else ", not both"))
    if m is not None:
        m = integer("m", m, 1, len(p))
    if method == "sorted" and dim > 1:
        raise ValueError(f'method="sorted" is for points on a line; these have {dim} dimensions')
    total = p.total
    if not (total > 0 and math.isfinite(total * total)):
        raise ValueError(f"the total weight of P must be positive and not too large, got {total}")
    checked = Kernel.checked(kernel, sigma, [p], SCALED_KERNELS)
    atoms = Atoms.of(p, checked, team_size(n_threads))
    searched = accuracy.eps is not None and evaluate and method != "random"
    minimum = 1
    while True:
        if searched:
            subset, bound, used_method = smallest(atoms, accuracy, method, minimum)
        else:
            subset, bound, used_method = _proven_coreset(atoms, m, method, accuracy)
        indices = atoms.index[subset]
        complete = len(subset) >= len(atoms)
        vectors = p.vectors[indices] if complete else atoms.units[subset] * (total / len(subset))
        coreset = replace(p, points=p.points[indices], vectors=vectors)
        distance = distance_method = error = None
        if evaluate:
            distance, distance_method, error = _evaluated(p, coreset, checked, accuracy, n_threads)
        if not searched or complete or (distance is not None and distance <= accuracy.eps * total):
            break
        # New random frequencies estimate more than eps: search among larger sizes.
        minimum = math.ceil(1.1 * len(subset))
    return KernelCoreset(
        indices=indices,
        weights=vectors[:, 0].copy() if p.kind == "points" else lengths(vectors),
        measure=coreset,
        distance=distance,
        distance_method=distance_method,
        standard_error=error,
        bound=None if bound is None else bound * total,
        delta=accuracy.risk,
        total=total,
        method=used_method,
        kernel=checked.name,
        sigma=checked.sigma,
    )


def _proven_coreset(
    atoms: Atoms, m: int | None, method: str, accuracy: Accuracy
) -> tuple[np.ndarray, float | None, str]:
    """Return m atoms, by default a number proven to suffice for eps; a bound and the method."""
    if m is None:
        m = atoms.size(accuracy)
    if method == "auto":
        method = choose_method(len(atoms), m, atoms.points.shape[1])
    if method == "sorted" and accuracy.eps is not None:
        m = min(m, atoms.line_size(accuracy.eps))
    if m >= len(atoms):
        return np.arange(len(atoms)), 0.0, method
    return *CORESET_METHODS[method](atoms, m, accuracy), method


def _evaluated(
    p: Measure, coreset: Measure, kernel: Kernel, accuracy: Accuracy, n_threads: int | None
) -> tuple[float, str, float | None]:
    """Return D_K(P, S), the method that computed it, and its standard error."""
    points, vectors = merged(
        np.concatenate([p.points, coreset.points]), np.concatenate([p.vectors, -coreset.vectors])
    )
    if len(points) == 0:
        return 0.0, "exact", None
    if len(points) <= EXACT:
        squared = pair_sums.norm(points, vectors, kernel, n_threads)
        return math.sqrt(max(squared, 0.0)), "exact", None
    points, kernel = kernel.scaled(points)
    points = centred(points)
    omega = frequencies(accuracy.rng, points.shape[1], FREQUENCIES, kernel)
    values = np.square(transforms(points, vectors, np.array([0, len(points)]), omega, n_threads)[0])
    values = values.sum(axis=(0, 1))
    distance = math.sqrt(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(FREQUENCIES) / (2 * distance)
    return distance, "rff", error
