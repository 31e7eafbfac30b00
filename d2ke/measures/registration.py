# SPDX-License-Identifier: BSD-3-Clause
"""Rigid registration of measures by their kernel distance."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Any

import numpy as np

from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.results import result
from d2ke._base.threads import thread_count
from d2ke.measures import motion_search, pair_sums
from d2ke.measures.distance import KernelDistanceInfo, norm_of
from d2ke.measures.kernels import Accuracy, Kernel
from d2ke.measures.measure import Measure, as_measure, coordinate_names, matched
from d2ke.measures.rotations import Action, apply
from d2ke.objects.compatibility import channel_order


@result
class KernelAlignment:
    """A motion that brings Q near to P, and their kernel distance before and after it.

    Attributes
    ----------
    rotation : ndarray of shape (d, d)
        R, a proper rotation; the identity for motion="translation".
    translation : ndarray of shape (d,)
        T, zeros for motion="rotation". The moved points are ``Q @ R.T + T``.
    distance_before, distance : float
        D_K(P, Q), and D_K(P, R Q + T), which is never more.
    kappa : float
        kappa(P, R Q + T), which the motion maximises.
    bound : float
        Bound on the error of the squares of both distances: rounding, or `eps`
        if the sets are too large for all pairs.
    method : str
        "auto" or "fptas".
    motion : str
        "translation", "rotation" or "rigid".
    sigma : float
        The kernel's scale.
    eps : float or None
        Of method="fptas": the square of `distance` is at most eps W^2 above the least,
        with W the mean of the total measures. None for "auto", which proves nothing.
    counts : dict of str to int
        Motions that were tried ("candidates"), pairs of points that the search evaluated
        ("pairs").
    channel_names : tuple of str, or None
        The names of the coordinates, where P or Q was a data frame.
    """

    rotation: np.ndarray
    translation: np.ndarray
    distance_before: float
    distance: float
    kappa: float
    bound: float
    method: str
    motion: str
    sigma: float
    eps: float | None
    counts: dict[str, int] = field(default_factory=dict)
    channel_names: tuple[str, ...] | None = None

    def __call__(self, points: Any) -> np.ndarray:
        """Move points, float64 of shape (n, d)."""
        coordinates, names = np.asarray(points, np.float64), coordinate_names("points", points)
        if names is not None and self.channel_names is not None:
            order = channel_order(names, self.channel_names, "points", "P")
            coordinates = coordinates if order is None else coordinates[:, order]
        return coordinates @ self.rotation.T + self.translation


@hinted
def kernel_align(
    P: Any,
    Q: Any,
    *,
    sigma: float | str,
    motion: str = "rigid",
    weights_p: Any = None,
    weights_q: Any = None,
    method: str = "auto",
    eps: float | None = None,
    seed: Any = 0,
    n_threads: int | None = None,
) -> KernelAlignment:
    """Move Q by a translation, a rotation or both, so that its kernel distance to P is least.

    The norms of P and Q do not change under motions, so that kappa(P, R Q + T) is
    maximised (Gaussian kernel).

    Parameters
    ----------
    P, Q : array_like of shape (n, d), or Measure
        Points, or what `curve` and `mesh` return: their tangents and normals turn with
        the points.
    sigma : float or "median"
        The kernel's scale; "median" as for `kernel_distance`, which is wide: the
        smaller sigma, the less points without a partner disturb the match.
    motion : {"rigid", "translation", "rotation"}
        "rotation" is about the origin and never translates; it and "rigid" need
        d >= 2. Reflections are excluded.
    weights_p, weights_q : array_like of shape (n,), optional
        Weights, 1 each by default; of any sign with method="auto".
    method : {"auto", "fptas"}
        "auto": a search of grids of translations and nets of rotations, then ascents
        from the best, from coarse scales down to sigma. Excellent in 2 and 3
        dimensions, usable for translations in any; without a guarantee. "fptas": a grid
        that covers the best motion, for points with weights >= 0 in few dimensions
        (rotations: 2 and 3); for small sets.
    eps : float, optional
        For "fptas": the D_K^2 reached is at most eps W^2 above the least, where W is the
        mean of the total measures. For "auto": accuracy of the distances reported,
        which are exact by default unless there are more than 4e9 pairs of points (then
        0.001).
    seed : int or numpy.random.Generator
        Of the samples of large sets.
    n_threads : int, optional
        Threads; None for all that this process may use. The result does not depend on
        it.

    Returns
    -------
    KernelAlignment
        The motion, the distances before and after.

    Raises
    ------
    TypeError, ValueError
        Empty sets, values that are not finite, different dimensions or kinds, arguments
        out of range, sets that extend over more than 1e12 sigma; for "fptas" negative
        weights, curves and surfaces, or more candidates than can be tried.

    Notes
    -----
    For "fptas": if no weight is negative, then at the best motion some pair of points is
    near, K(p, q') >= max w max v / (W_P W_Q); so the translations around every p - q,
    within sigma sqrt(2 log(W_P W_Q / (max w max v))), hold it. The paper's step is for
    a Lipschitz bound. Since kappa is stationary at its maximum, its second derivative
    counts instead, and steps of sqrt(eps) are enough instead of the paper's eps.

    References
    ----------
    Joshi, Kommaraju, Phillips, Venkatasubramanian, "Comparing Distributions and
    Shapes using the Kernel Distance", SoCG 2011, section 6. Alexa, "Super-Fibonacci
    spirals", CVPR 2022 (the rotations of space that are tried).

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> P = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 1.0], [2.0, 3.0]])
    >>> Q = P @ [[0, 1], [-1, 0]] + [70, 30]
    >>> found = d2ke.kernel_align(P, Q, sigma=0.5)
    >>> found.rotation.round(6) + 0.0
    array([[ 0.,  1.],
           [-1.,  0.]])
    >>> bool(found.distance < 1e-6 < found.distance_before)
    True
    >>> bool(np.abs(found(Q) - P).max() < 1e-6)
    True
    """
    p = as_measure("P", P, "weights_p", weights_p)
    q = as_measure("Q", Q, "weights_q", weights_q)
    q = matched(p, q, "P", "Q")
    choice("motion", motion, ("translation", "rotation", "rigid"))
    choice("method", method, ("auto", "fptas"))
    checked = Kernel.checked("gaussian", sigma, [p, q])
    accuracy = Accuracy.checked(eps, None, seed)
    thread_count(n_threads)
    dim = p.points.shape[1]
    if motion != "translation" and dim == 1:
        raise ValueError(f'motion="{motion}" needs at least 2 dimensions; P and Q have 1')
    action = Action(p.kind, dim)
    for name, measure in (("P", p), ("Q", q)):
        if measure.vectors.shape[1] != action.channels:
            raise ArgumentError(
                name,
                f"is a {measure.kind} in {dim} dimensions whose points carry "
                f"{measure.vectors.shape[1]} numbers, not {action.channels}: how they turn is "
                "not known",
            )
    total = p.total + q.total
    if not math.isfinite(total * total):
        raise ValueError(f"the weights are too large: their total is {total}")
    eps, proving = accuracy.eps, method == "fptas"
    if proving and eps is None:
        raise TypeError('method="fptas" needs eps, such as eps=0.1')
    search = motion_search.MotionSearch((p, q), checked, motion, action, accuracy.rng, n_threads)
    R, T = search.best_of_lattice(eps * (total / 2) ** 2) if proving else search.best()
    moved = Measure(q.points @ R.T + T, apply(action.matrices(R), q.vectors), q.kind)
    exact = len(p) * len(q) <= motion_search.MAX_PAIRS and (eps is None or proving)

    def norm(*measures: Measure) -> KernelDistanceInfo:
        if exact:
            return norm_of([*measures], checked, Accuracy(None), "exact", n_threads)
        return norm_of([*measures], checked, Accuracy(eps or 1e-3), "auto", n_threads)

    before, after = norm(p, q), norm(p, moved)
    if not after.squared < before.squared:
        R, T, after, moved = np.eye(dim), np.zeros(dim), before, q
    if exact:
        high, low = pair_sums.kappas([p], [moved], checked, n_threads)
        kappa = float(high[0, 0] + low[0, 0])
    else:
        kappa = (norm(p).squared + norm(q).squared - after.squared) / 2
    return KernelAlignment(
        rotation=R,
        translation=T,
        distance_before=before,
        distance=after,
        kappa=kappa,
        bound=max(before.bound, after.bound),
        method=method,
        motion=motion,
        sigma=checked.sigma,
        eps=eps if proving else None,
        counts={"candidates": search.candidates, "pairs": search.ascent.pairs},
        channel_names=p.channel_names or q.channel_names,
    )
