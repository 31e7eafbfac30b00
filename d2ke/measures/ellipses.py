# SPDX-License-Identifier: BSD-3-Clause
"""Kernels whose level sets are ellipses: coordinates in which these are balls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from d2ke._base import arrays
from d2ke._base.keywords import hinted
from d2ke.measures.measure import Measure, as_measure


@hinted
def kernel_coordinates(P: Any, covariance: Any) -> Measure:
    """Transform points so that an anisotropic kernel becomes isotropic.

    The kernel exp(-(p - q)' C^-1 (p - q) / 2) of a covariance matrix C is the Gaussian kernel with
    sigma = 1 of L^-1 p and L^-1 q, where C = L L'. So all functions of the kernel distance support
    ellipses, with all methods and guarantees. The Laplace kernel becomes
    exp(-sqrt((p - q)' C^-1 (p - q))).

    Parameters
    ----------
    P : array_like of shape (n, d), or Measure
        Points, or what `curve` and `mesh` return: their tangents and normals stay as they are.
    covariance : array_like, shape (d, d)
        C, symmetric and positive definite; sigma^2 times the identity for a ball.

    Returns
    -------
    Measure
        For the functions of the kernel distance, with sigma=1.

    Raises
    ------
    TypeError, ValueError
        Points that are not finite, or a matrix of another size or not positive definite.

    Notes
    -----
    `kernel_align` is not for these coordinates: its motions would be rigid there, not here.

    References
    ----------
    Joshi, Kommaraju, Phillips, Venkatasubramanian, "Comparing Distributions and
    Shapes using the Kernel Distance", SoCG 2011, section 5.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> C = [[4.0, 0.0], [0.0, 0.25]]  # wide along x, narrow along y
    >>> P, x, y = (d2ke.measures.kernel_coordinates([p], C) for p in ([0, 0], [1, 0], [0, 1]))
    >>> [round(d2ke.kernel_distance(P, Q, sigma=1.0), 3) for Q in (x, y)]
    [0.485, 1.315]
    """
    measure = as_measure("P", P)
    d = measure.points.shape[1]
    C = arrays.matrix("covariance", covariance).astype(np.float64)
    if C.shape != (d, d):
        raise ValueError(f"covariance must have shape ({d}, {d}) for these points; got {C.shape}")
    arrays.check_symmetric("covariance", C, 1e-12 * float(np.abs(C).max()))
    try:
        factor = np.linalg.cholesky(C)
    except np.linalg.LinAlgError:
        raise ValueError("covariance is not positive definite") from None
    points = solve_triangular(factor, measure.points.T, lower=True).T
    if not np.isfinite(points).all():
        raise ValueError("covariance is too small for these points: coordinates overflow")
    stretch = 1 / np.linalg.svd(factor, compute_uv=False)[-1]
    gap = measure.gap * float(stretch)
    return replace(measure, points=np.ascontiguousarray(points), gap=gap)
