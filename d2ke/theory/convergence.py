# SPDX-License-Identifier: BSD-3-Clause
"""The propositions of the D2KE paper: number of features, smoothness, limit of the kernel.

Numbers refer to Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
Embedding", 2018.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base import arrays
from d2ke._base.checks import below_one, choice, integer, positive_number
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits


@hinted
def features_needed(eps: float, delta: float, p: float, gamma: float) -> int:
    """Compute how many random features guarantee an accuracy of the kernel.

    The smallest R for which the bound of the paper's Proposition 2,

        P{max |k~ - k| > 2t} <= 2 max(1, 12 gamma / t)^(2p) exp(-R t^2 / 2),

    is at most delta with 2t = eps: eps is the error of the kernel itself, over
    all pairs of objects at once.

    Parameters
    ----------
    eps : float
        Error allowed, max |k~(x, y) - k(x, y)|; between 0 and 1, as kernel values are.
    delta : float
        Probability allowed for a larger one, between 0 and 1.
    p : float
        Effective dimension of the objects, > 0; see `effective_dimension`.
    gamma : float
        Inverse scale of the distance, > 0.

    Returns
    -------
    int
        R, exact however large.

    Raises
    ------
    TypeError, ValueError
        An argument that is not a number in its range.

    Notes
    -----
    The proposition is for a metric d. Its factor (12 gamma / t)^(2p) counts the
    pairs of a net that covers the objects; there is always one, hence the 1
    where 12 gamma < t. The bound is a worst case over all objects there can be:
    `bootstrap_kernel_error` estimates from features how many the objects at hand need for
    the same eps and delta, often a hundredth.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, Proposition 2.

    Examples
    --------
    >>> import d2ke
    >>> p = d2ke.theory.effective_dimension("strings", length=60, alphabet_size=4)
    >>> d2ke.theory.features_needed(0.1, 0.05, p, gamma=0.1)
    425901
    """
    eps, delta = below_one("eps", eps), below_one("delta", delta)
    p, gamma = positive_number("p", p), positive_number("gamma", gamma)
    # Digits for the integer part of R, of the size p / eps^2, and some 40 after the point.
    digits = 60 - 2 * math.floor(math.log10(eps)) + abs(math.floor(math.log10(p)))
    with localcontext(Context(prec=digits, traps=[])):
        t = Decimal(eps) / 2
        net = max(Decimal(1), 12 * Decimal(gamma) / t)
        exponent = (2 / Decimal(delta)).ln() + 2 * Decimal(p) * net.ln()
        return int((2 * exponent / (t * t)).to_integral_value(ROUND_CEILING))


@hinted
def features_needed_for_risk(
    eps: float,
    delta: float,
    p: float,
    gamma: float,
    *,
    lipschitz: float = 1.0,
    coefficients: float = 1.0,
) -> int:
    """Compute how many random features guarantee the empirical risk: Corollary 1.

    A function f = sum_i a_i k(x_i, .) / n changes by at most A max |k~ - k| when the features'
    kernel k~ replaces k, and its mean loss by at most M times that. So R is
    `features_needed` for the error eps / (M A) of the kernel.

    Parameters
    ----------
    eps : float
        Difference of the mean losses allowed, > 0.
    delta : float
        Probability allowed for a larger one, between 0 and 1.
    p : float
        Effective dimension of the objects, > 0; see `effective_dimension`.
    gamma : float
        Inverse scale of the distance, > 0.
    lipschitz : float
        M, the Lipschitz constant of the loss, > 0: 1 for the hinge and the logistic loss.
    coefficients : float
        A, a bound of sum_i |a_i| / n, > 0. For a loss with regularisation mu |f|^2 / 2 it
        is M / mu.

    Returns
    -------
    int
        R, exact however large; 1 where eps >= M A, since kernel values are between 0 and 1.

    Raises
    ------
    TypeError, ValueError
        An argument that is not a number in its range.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, Corollary 1.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.theory.features_needed_for_risk(0.1, 0.05, 80.0, gamma=0.1)
    409742
    >>> d2ke.theory.features_needed_for_risk(0.1, 0.05, 80.0, gamma=0.1, coefficients=0.2)
    8150
    """
    eps, delta = positive_number("eps", eps), below_one("delta", delta)
    p, gamma = positive_number("p", p), positive_number("gamma", gamma)
    lipschitz = positive_number("lipschitz", lipschitz)
    error = eps / lipschitz / positive_number("coefficients", coefficients)
    return 1 if error >= 1 else features_needed(error, delta, p, gamma)


@hinted
def effective_dimension(
    kind: str,
    *,
    length: int | None = None,
    alphabet_size: int | None = None,
    n_elements: int | None = None,
    n_dimensions: int | None = None,
) -> float:
    """Compute the effective dimension of a space of objects, for `features_needed`.

    It is the least p for which (2 / eps)^p balls of radius eps cover the space. The paper's
    examples: L log|Sigma| for strings of at most L letters of the alphabet Sigma, L log N for
    multisets of at most L out of N elements, L d for sets of at most L vectors in the unit
    ball of R^d under the (modified) Hausdorff distance: a net of the ball for each vector.

    Parameters
    ----------
    kind : {"strings", "multisets", "unit-ball sets"}
        What the objects are.
    length : int
        The largest number L of letters, elements or vectors of an object, >= 1.
    alphabet_size : int
        Strings: the number of letters, >= 2.
    n_elements : int
        Multisets: the number N of elements to choose from, >= 2.
    n_dimensions : int
        Sets of vectors in the unit ball: d, >= 1; one vector has length=1.

    Returns
    -------
    float
        p; logarithms are natural.

    Raises
    ------
    TypeError
        A number that the kind needs is missing, or there is one that it does not use.
    ValueError
        An unknown kind, a number out of range.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, section 4.

    Examples
    --------
    >>> import d2ke
    >>> round(d2ke.theory.effective_dimension("strings", length=60, alphabet_size=4), 2)
    83.18
    >>> round(d2ke.theory.effective_dimension("multisets", length=10, n_elements=1000), 2)
    69.08
    >>> d2ke.theory.effective_dimension("unit-ball sets", length=15, n_dimensions=128)
    1920.0
    """
    # What each kind of objects needs beside `length`, and the least value.
    size_of_kind = {
        "strings": ("alphabet_size", 2),
        "multisets": ("n_elements", 2),
        "unit-ball sets": ("n_dimensions", 1),
    }
    needed, minimum = size_of_kind[choice("kind", kind, size_of_kind)]
    numbers = {
        "length": length,
        "alphabet_size": alphabet_size,
        "n_elements": n_elements,
        "n_dimensions": n_dimensions,
    }
    for name, value in numbers.items():
        if name in ("length", needed):
            if value is None:
                raise TypeError(f'kind="{kind}" needs length and {needed}; {name} is missing')
        elif value is not None:
            raise ArgumentTypeError(
                name,
                f'has no meaning for kind="{kind}", which needs length and {needed}; got {value!r}',
            )
    length, size = integer("length", length, 1), integer(needed, numbers[needed], minimum)
    return float(length * size) if kind == "unit-ball sets" else length * math.log(size)


@hinted
def lipschitz_constant(w: Any, gamma: float) -> float | np.ndarray:
    """Bound how fast a linear model's scores change with the distance: Proposition 1.

    With features phi_j(x) / sqrt(R), phi_j(x) = exp(-gamma d(x, omega_j)), of a metric d, the
    score f(x) = sum_j w_j phi_j(x) / sqrt(R) satisfies |f(x) - f(y)| <= L d(x, y) for all
    objects, with

        L = gamma sum_j |w_j| / sqrt(R).

    Parameters
    ----------
    w : array_like, shape (R,) or (k, R)
        Weights of the features of `d2ke_embed` or `d2ke_features`, without a bias; of k scores,
        one row for each. If features were scaled, divide the weights by the scales first.
    gamma : float
        Inverse scale of the distance, > 0.

    Returns
    -------
    float or ndarray of float64, shape (k,)
        L, never above gamma |w|, of each score.

    Raises
    ------
    TypeError, ValueError
        Weights that are not finite real numbers, or gamma not a number > 0.

    Notes
    -----
    The proposition has L = gamma C for f(x) = E[a(omega) phi_omega(x)] with E|a(omega)| <= C;
    here p(omega) gives 1/R to each random object, and a(omega_j) = sqrt(R) w_j. It needs the
    triangle inequality: DTW and the modified Hausdorff distance are not metrics. With the weights'
    difference of two classes, an object whose scores differ by s keeps its prediction among
    the two within the distance s / L.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, Proposition 1.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.theory.lipschitz_constant([3.0, -1.0, 0.0, 0.0], gamma=0.5)
    1.0
    """
    values = np.asarray(w)
    rows = arrays.matrix("w", values[None] if values.ndim == 1 else values)
    if rows.shape[1] == 0:
        raise ArgumentError("w", f"is empty: its shape is {values.shape}")
    gamma = positive_number("gamma", gamma)
    sums = np.abs(rows, dtype=np.float64).sum(axis=1)
    constants = gamma * sums / math.sqrt(rows.shape[1])
    return float(constants[0]) if values.ndim == 1 else constants


@hinted
def soft_min_distance(D: Any, E: Any = None, *, gamma: float) -> NDArray[np.float64]:
    """Compute -log k / gamma of the D2KE kernel k: the soft minimum of eq. (5) to (7).

    k(x, y) = exp(-gamma s(x, y)) with the soft minimum over the random objects

        s(x, y) = -log(mean_j exp(-gamma (d(x, omega_j) + d(omega_j, y)))) / gamma,

    so that s is the distance that the kernel sees: m <= s <= m + log(R) / gamma, where m is
    the least d(x, omega_j) + d(omega_j, y).

    Parameters
    ----------
    D : array_like, shape (n, R)
        Distances of n objects to the random objects, as from `distance_matrix`.
    E : array_like, shape (m, R), optional
        Those of m others to the same random objects; None for D.
    gamma : float
        Inverse scale of the distance, > 0.

    Returns
    -------
    ndarray of float64, shape (n, m)
        s, without underflow however large gamma is. s(x, x) is above 0.

    Raises
    ------
    TypeError, ValueError
        Not matrices of finite real numbers with equally many columns, at least one, or gamma
        not a number > 0.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Notes
    -----
    For a metric d and random objects with x among them, m = d(x, y): as gamma grows,
    -log k / gamma tends to d(x, y), with a gap of at most log(R) / gamma. The paper's sentence
    that k itself tends to exp(-gamma d) is wrong: their ratio is exp(-gamma (s - d)), which lies
    between 1/R and 1 and tends to the share of the random objects that are on a shortest way
    from x to y, 1/R where that is one.

    References
    ----------
    Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
    Embedding", 2018, eq. (5) to (7).

    Examples
    --------
    >>> import d2ke
    >>> X = ["ACGT", "AGGT", "TTTT"]
    >>> D = d2ke.distance_matrix(X, X, "levenshtein")  # the objects themselves as omegas
    >>> d2ke.theory.soft_min_distance(D, gamma=1.0).round(2).tolist()
    [[0.97, 1.4, 3.24], [1.4, 0.97, 3.24], [3.24, 3.24, 1.09]]
    >>> d2ke.theory.soft_min_distance(D, gamma=1000.0).round(2).tolist()
    [[0.0, 1.0, 3.0], [1.0, 0.0, 3.0], [3.0, 3.0, 0.0]]
    """
    D = arrays.filled_matrix("D", D)
    E = D if E is None else arrays.filled_matrix("E", E)
    if E.shape[1] != D.shape[1]:
        raise ArgumentError("E", f"has {E.shape[1]} columns, but D has {D.shape[1]}")
    gamma = positive_number("gamma", gamma)
    check_fits(
        8 * len(D) * len(E), f"{len(D)} x {len(E)} distances", "give some rows of D at a time"
    )
    result = np.empty((len(D), len(E)))
    for row, distances in zip(result, D, strict=True):
        sums = np.add(E, distances, dtype=np.float64)
        smallest = sums.min(axis=1)
        sums -= smallest[:, None]
        sums *= -gamma
        np.expm1(sums, out=sums)
        row[:] = smallest - np.log1p(sums.mean(axis=1)) / gamma
    return result
