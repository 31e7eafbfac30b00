# SPDX-License-Identifier: BSD-3-Clause
"""Vectors whose distance is the kernel distance of measures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.checks import choice, integer
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._base.results import result
from d2ke.measures import fast_gauss, random_fourier
from d2ke.measures.kernels import SCALED_KERNELS, Accuracy, Kernel
from d2ke.measures.measure import Measure, as_measures
from d2ke.objects.compatibility import channel_order
from d2ke.objects.container import offsets_of


@result
class KernelFeatureMap:
    """A map of sets to vectors whose Euclidean distances are nearly their kernel distances.

    Called with sets (and their weights) it returns an array of shape
    (n_sets, n_features). Made by `kernel_feature_map`.

    Attributes
    ----------
    method : {"rff", "ifgt"}
        Random Fourier features or Taylor features.
    kernel : str
        The kernel.
    sigma : float
        Its scale.
    centre : ndarray of shape (d,)
        Origin of the features.
    kind : str
        The kind of measures that it maps.
    channels : int
        Number of values at each point.
    omega : ndarray of shape (d, n_features / 2 / channels), or None
        Frequencies of random features.
    degree : int
        Degree of Taylor features; 0 for random features.
    radius : float or None
        Maximum distance from the centre of points that can be mapped; None for no limit.
    eps : float or None
        The accuracy it was made for.
    channel_names : tuple of str, or None
        The names of the coordinates, where the sets had some.
    """

    method: str
    kernel: str
    sigma: float
    centre: np.ndarray
    kind: str
    channels: int
    omega: np.ndarray | None
    degree: int
    radius: float | None
    eps: float | None
    channel_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Check the fields that the compiled functions trust; the map may be a user's."""
        choice("method", self.method, ("rff", "ifgt"))
        shape = () if self.omega is None else np.shape(self.omega)
        if self.method == "rff" and shape[:1] != np.shape(self.centre):
            raise ValueError(
                f"omega must have a row for each of {len(self.centre)} coordinates, got shape "
                f"{shape}"
            )
        if self.method == "ifgt":
            integer("degree", self.degree, 1)

    @property
    def n_features(self) -> int:
        """Length of the vectors."""
        if self.omega is not None:
            return 2 * self.channels * self.omega.shape[1]
        return self.channels * fast_gauss.terms_of(len(self.centre), self.degree)

    def __call__(
        self, sets: Any, *, weights: Any = None, n_threads: int | None = None
    ) -> np.ndarray:
        """Map sets to vectors, float64 of shape (n_sets, n_features)."""
        measures = as_measures("sets", sets, "weights", weights)
        first = measures[0]
        if first.kind != self.kind or first.points.shape[1] != len(self.centre):
            raise ValueError(
                f"the map is for measures of kind {self.kind!r} in {len(self.centre)} dimensions; "
                f"sets holds {first.kind!r} in {first.points.shape[1]}"
            )
        if len(measures) * self.n_features > 2**31:
            raise ValueError(
                f"{len(measures)} sets with {self.n_features} features each are too many"
            )
        check_fits(
            16 * len(measures) * self.n_features,
            f"{self.n_features} features of {len(measures)} sets",
            "map some sets at a time, or take a smaller n_features",
        )
        points = np.concatenate([m.points for m in measures])
        if self.channel_names is not None and first.channel_names is not None:
            order = channel_order(first.channel_names, self.channel_names, "sets", "the map")
            points = points if order is None else np.ascontiguousarray(points[:, order])
        points -= self.centre
        vectors = np.concatenate([m.vectors for m in measures])
        offsets = offsets_of([len(m) for m in measures])
        if self.radius is not None:
            reach = np.sqrt(np.square(points).sum(axis=1))
            worst = int(reach.argmax())
            if reach[worst] > self.radius * (1 + 1e-9):
                which = int(np.searchsorted(offsets, worst, side="right")) - 1
                raise ValueError(
                    f"sets[{which}] has a point at distance {reach[worst]} from the centre, but "
                    f"the map holds within {self.radius}; make it from sets that reach as far"
                )
        if self.omega is not None:
            sums = random_fourier.transforms(points, vectors, offsets, self.omega, n_threads)
            Z = np.empty(sums.shape)
            for row, transform in zip(Z, sums, strict=True):  # Ctrl-C is checked between rows
                np.divide(transform, math.sqrt(self.omega.shape[1]), out=row)
        else:
            unit = math.sqrt(2) * self.sigma
            Z = fast_gauss.features(points / unit, vectors, offsets, self.degree, n_threads)
        return Z.reshape(len(measures), -1)


@dataclass(frozen=True)
class MapOptions:
    """The arguments of `kernel_feature_map` beside the sets, as the user gave them."""

    sigma: float | str | None
    kernel: str
    method: str
    n_features: int | None
    eps: float | None
    delta: float | None
    seed: Any

    def make(self, measures: list[Measure]) -> KernelFeatureMap:
        """Check the arguments, and return the map."""
        n_features = self.n_features
        checked = Kernel.checked(self.kernel, self.sigma, measures, SCALED_KERNELS)
        method = choice("method", self.method, ("auto", "rff", "ifgt"))
        accuracy = Accuracy.checked(self.eps, self.delta, self.seed)
        eps = accuracy.eps
        if (n_features is None) == (eps is None):
            raise TypeError("give the accuracy as eps or the size as n_features, one of the two")
        taylor = checked.name == "gaussian" and eps is not None
        if method == "ifgt" and not taylor:
            raise ValueError('method="ifgt" is for the Gaussian kernel, and needs eps')
        points = np.concatenate([m.points for m in measures])
        centre, radius = fast_gauss.ball(points)
        dim, channels = points.shape[1], measures[0].vectors.shape[1]
        if eps is None:
            count = _frequencies_of(n_features, channels)
        else:
            # The error of a pair is eps times the square of half its total.
            each = eps / 4
            n_pairs = max(1, len(measures) * (len(measures) - 1) // 2)
            count = random_fourier.needed(each, accuracy.risk / n_pairs)
        new_map = partial(
            KernelFeatureMap, kernel=checked.name, sigma=checked.sigma, centre=centre,
            kind=measures[0].kind, channels=channels, eps=eps,
            channel_names=measures[0].channel_names,
        )  # fmt: skip
        if taylor and method != "rff":
            try:
                reach = radius / (math.sqrt(2) * checked.sigma)
                degree, terms = fast_gauss.check_terms(dim, reach, each)
            except ValueError:
                if method == "ifgt":
                    raise
            else:
                if method == "ifgt" or terms <= 2 * count:
                    return new_map("ifgt", omega=None, degree=degree, radius=radius)
        if dim * count > 2**28:
            raise ValueError(
                f"eps={eps} for {len(measures)} sets would need {2 * channels * count} random "
                'features; use a larger eps, n_features, or method="exact"'
            )
        omega = random_fourier.frequencies(accuracy.rng, dim, count, checked)
        return new_map("rff", omega=omega, degree=0, radius=None)


@hinted
def kernel_feature_map(
    sets: Any,
    *,
    sigma: float | str,
    weights: Any = None,
    kernel: str = "gaussian",
    method: str = "auto",
    n_features: int | None = None,
    eps: float | None = None,
    delta: float | None = None,
    seed: Any = 0,
) -> KernelFeatureMap:
    """Make a map under which the kernel distance becomes the Euclidean one.

    Parameters
    ----------
    sets : sequence of arrays of shape (n_i, d), or of Measure
        The sets to be mapped. Their positions and their number determine the map. It can map other
        sets of the same kind later.
    sigma : float or "median"
        The kernel's scale, as for `kernel_distance`.
    weights : sequence of arrays of shape (n_i,), optional
        Weights of the points of each set; 1 each by default.
    kernel : {"gaussian", "laplace"}
        The kernel.
    method : {"auto", "rff", "ifgt"}
        Random Fourier features, or Taylor features (Gaussian kernel, few dimensions).
        "auto": with `eps` the one of fewer features, else "rff".
    n_features : int, optional
        Number of random features, even; for Measures with r numbers per point a
        multiple of 2 r. Give this or `eps`.
    eps : float, optional
        The error of every D_K^2 between two of the sets is at most eps W^2, where W is
        the mean of their total measures; by Taylor features also between other sets in the ball
        around these.
    delta : float, optional
        Probability with which random features may miss this for some pair; 0.01 by
        default.
    seed : int or numpy.random.Generator
        Seed of random features. More features from the same seed begin with the same frequencies.

    Returns
    -------
    KernelFeatureMap
        To be called with sets.

    Raises
    ------
    TypeError, ValueError
        Not exactly one of `n_features` and `eps`, arguments out of range, more features
        than there can be.

    References
    ----------
    Joshi, Kommaraju, Phillips, Venkatasubramanian, "Comparing Distributions and
    Shapes using the Kernel Distance", SoCG 2011, section 4.

    Examples
    --------
    >>> import d2ke
    >>> sets = [[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.5]], [[1.0, 1.0], [0.5, 0.0]]]
    >>> phi = d2ke.measures.kernel_feature_map(sets, sigma=1.0, eps=1e-6)
    >>> phi.method, phi.n_features, phi(sets).shape
    ('ifgt', 36, (3, 36))
    """
    measures = as_measures("sets", sets, "weights", weights)
    options = MapOptions(sigma, kernel, method, n_features, eps, delta, seed)
    return options.make(measures)


@hinted
def kernel_features(
    sets: Any,
    *,
    sigma: float | str,
    weights: Any = None,
    kernel: str = "gaussian",
    method: str = "auto",
    n_features: int | None = None,
    eps: float | None = None,
    delta: float | None = None,
    seed: Any = 0,
    n_threads: int | None = None,
) -> NDArray[np.float64]:
    """Map sets to vectors whose Euclidean distances are nearly their kernel distances.

    Parameters
    ----------
    sets : sequence of arrays of shape (n_i, d), or of Measure
        The sets.
    sigma, weights, kernel, method, n_features, eps, delta, seed
        As for `kernel_feature_map`; use that to map other sets later.
    n_threads : int, optional
        Threads; None for all that this process may use. The result does not
        depend on it.

    Returns
    -------
    ndarray of float64, shape (n_sets, n_features)
        One vector for each set: its mean feature vector times its number of points.

    Raises
    ------
    TypeError, ValueError
        As `kernel_feature_map`.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    References
    ----------
    Joshi, Kommaraju, Phillips, Venkatasubramanian, "Comparing Distributions and
    Shapes using the Kernel Distance", SoCG 2011, Lemmas 4.1 and 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> sets = [[[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.5]]]
    >>> Z = d2ke.measures.kernel_features(sets, sigma=1.0, n_features=20000)
    >>> bool(abs(np.linalg.norm(Z[0] - Z[1]) - d2ke.kernel_distance(*sets, sigma=1.0)) < 0.01)
    True
    """
    measures = as_measures("sets", sets, "weights", weights)
    options = MapOptions(sigma, kernel, method, n_features, eps, delta, seed)
    return options.make(measures)(measures, n_threads=n_threads)


def _frequencies_of(n_features: Any, channels: int) -> int:
    count = integer("n_features", n_features, 2 * channels)
    if count % (2 * channels):
        raise ValueError(
            f"n_features must be a multiple of {2 * channels}, the features of one frequency; "
            f"got {count}"
        )
    return count // (2 * channels)
