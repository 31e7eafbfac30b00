# SPDX-License-Identifier: BSD-3-Clause
"""Similarities of what a user names: a data set, through D2KE features, or a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from d2ke._base import arrays
from d2ke._base.arrays import symmetric_matrix
from d2ke._base.blas import row_products
from d2ke._base.checks import integer, positive_number
from d2ke._base.interruptible import interruptible
from d2ke.cli.matrix_files import SUFFIXES, InputError, is_store, read_labels, read_matrix
from d2ke.datasets import REGISTRY, Dataset, load, standardize
from d2ke.discriminative.gaussian import bandwidth, gaussian_gram
from d2ke.distances.matrix import distance_matrix
from d2ke.embedding.features import d2ke_features
from d2ke.io import load_features, save_features
from d2ke.objects.container import Objects
from d2ke.objects.fitted_objects import markov_strings, random_segments, resampled_sets

FORMS = ("gram", "distances", "features", "points")
R = 1024
KERNELS = ("gaussian", "linear")
# Found by measuring, not by theory. Labels go from neighbour to neighbour, and want similarities
# that fall off faster than clusters do; where all are nearly alike, one class takes all objects.
PURPOSES = ("clusters", "labels")
_GAMMA_SCALE = {"clusters": 2.0, "labels": 10.0}  # in units of 1 / (median distance)
_GAMMA_SCALE_FEATURES = 5.0  # the same, of distances to random objects
_WIDTH = {"clusters": 1.0, "labels": 1 / 3}  # of features, in units of the bandwidth
_DENSE = 5000  # objects up to which a matrix is formed: it is faster than features, and fits
_ORDER = 3  # of the Markov chain of random strings
_SEGMENT = (2, 25)  # lengths of random segments of series
_SET = (3, 15)  # sizes of random sets
_NEIGHBOR = 7  # as for `d2ke.bandwidth`


@dataclass(frozen=True, eq=False)
class Similarities:
    """The similarities of n objects, and what is known about the objects.

    Attributes
    ----------
    title : str
        The data set's or the file's name.
    K, features : ndarray or None
        The Gram matrix, shape (n, n), or else features Z, shape (n, R), for K = Z Z'.
    labels : ndarray of int64, float64 or str, shape (n,), or None
        Their labels, if any are known.
    """

    title: str
    K: np.ndarray | None
    features: np.ndarray | None
    labels: np.ndarray | None

    @property
    def n(self) -> int:
        """Number of objects."""
        return len(self.features if self.K is None else self.K)


def read_similarities(
    source: str,
    purpose: str,
    *,
    form: str | None,
    variable: str | None,
    labels: str | None,
    gamma: float | None,
    R: int | None,
    kernel: str | None,
    seed: int,
    data_dir: str | os.PathLike | None,
    keep: Path | None,
    n_threads: int | None,
    progress: bool,
    report: Callable[[str], None],
) -> Similarities:
    """Read or compute the similarities of a data set or of a file; see `cluster` for arguments.

    Raises
    ------
    InputError
        What an argument names is not there or not usable.
    FileNotFoundError, ImportError
        A data set's files, or a package that it needs, are missing.
    """
    if source in REGISTRY or source == "digits":
        for name, value in (("form (--as)", form), ("variable", variable), ("labels", labels)):
            if value is not None:
                raise InputError(f"{name} is for files; {source} is a data set of its own")
        options = {"gamma": gamma, "R": R, "kernel": kernel, "seed": seed, "keep": keep}
        options["purpose"] = purpose
        options |= {"n_threads": n_threads, "progress": progress, "report": report}
        return _of_dataset(load(source, data_dir), **options)
    path = Path(source)
    if not path.is_file():
        raise InputError(
            f"input: there is no file {source!r}, and no data set of that name; the data sets "
            f"are {', '.join(REGISTRY)}"
        )
    if path.suffix not in SUFFIXES:
        raise InputError(f"input: {source} must end in {', '.join(SUFFIXES)}")
    for name, value in (("R", R), ("save_features", keep)):
        if value is not None:
            raise InputError(f"{name} is for data sets, whose random objects are drawn here")
    given = None if labels is None else read_labels(labels, path)
    arguments = path, purpose, form, variable, gamma, kernel, given, report
    found = interruptible(_of_file, *arguments, description="similarities", progress=progress)
    if found.labels is not None and len(found.labels) != found.n:
        raise InputError(
            f"labels has {len(found.labels)} labels, but {path.name} has {found.n} objects"
        )
    return found


def _of_dataset(
    dataset: Dataset,
    *,
    purpose: str,
    gamma: float | None,
    R: int | None,
    kernel: str | None,
    seed: int,
    keep: Path | None,
    n_threads: int | None,
    progress: bool,
    report: Callable[[str], None],
) -> Similarities:
    X = dataset.objects
    report(
        f"{dataset.name}: {len(X)} {dataset.domain}, {len(dataset.classes)} classes, distance "
        f"{dataset.distance}"
    )
    if dataset.domain == "series":
        (X,) = standardize(X)
    omega, what = draw(dataset.domain, X, globals()["R"] if R is None else R, seed)
    D = distance_matrix(X, omega, dataset.distance, n_threads=n_threads, progress=progress)
    gamma, how = chosen_gamma(D, gamma, _GAMMA_SCALE_FEATURES)
    Z = d2ke_features(D, gamma, n_threads=n_threads)
    report(f"features: distances to {len(omega)} {what}; gamma {gamma:.4g}{how}")
    if keep is not None:
        parameters = {"gamma": gamma, "distance": dataset.distance, "seed": seed}
        save_features(keep, Z, labels=dataset.labels, omega=omega, parameters=parameters)
        report(f"features: {keep}")
    arguments = dataset.name, Z, kernel, purpose, dataset.labels, report
    return interruptible(of_features, *arguments, description="similarities", progress=progress)


def of_features(
    title: str,
    Z: np.ndarray,
    kernel: str | None,
    purpose: str,
    labels: np.ndarray | None,
    report: Callable[[str], None],
) -> Similarities:
    """Return the similarities of features Z, shape (n, R).

    "linear": Z Z', whose entries are nearly equal where all objects are far from all random
    ones. "gaussian", the default up to 5000 objects: exp(-d^2 / (2 h^2)) for the distances d
    between the features, scaled to length 1, which are the kernel distances of single objects;
    h is that of `d2ke.bandwidth` for clusters, and a third of it for labels.
    """
    kernel = kernel or ("gaussian" if len(Z) <= _DENSE else "linear")
    if kernel == "linear":
        report("kernel: products of the features")
        if len(Z) > _DENSE:
            return Similarities(title, None, Z, labels)
        Z = Z.astype(np.float64)
        return Similarities(title, row_products(Z, Z, 1), None, labels)
    unit = Z.astype(np.float64)
    lengths = np.linalg.norm(unit, axis=1, keepdims=True)
    if not lengths.all():
        raise InputError(f"the features of object {lengths.argmin()} are all 0; try a lower gamma")
    unit /= lengths
    squares = np.maximum(2 - 2 * row_products(unit, unit, 1), 0.0)
    squares = (squares + squares.T) / 2
    np.fill_diagonal(squares, 0.0)
    h = _width(squares) * _WIDTH[purpose]
    report(f"kernel: Gaussian of the features scaled to length 1, width h = {h:.4g}")
    return Similarities(title, np.exp(squares / (-2 * h**2)), None, labels)


def _width(squares: np.ndarray) -> float:
    """Return what `d2ke.bandwidth` does, of squared distances in place of points."""
    n = len(squares)
    at = min(_NEIGHBOR, n - 1)
    near = float(np.mean(np.sqrt(np.partition(squares, at, axis=1)[:, at])))
    half = float(np.sqrt(np.median(squares[np.triu_indices(n, 1)]))) / 2 if n > 1 else 0.0
    widths = [width for width in (near, half) if width > 0]
    if not widths:
        raise InputError("the features are equal throughout: nothing tells the objects apart")
    return min(widths)


def draw(domain: str, X: Objects, R: int, seed: int) -> tuple[Objects, str]:
    """Draw random objects that resemble X, without labels, and say in words what they are.

    Strings: a Markov chain of order 3 fitted to X, 3/4 to 5/4 of its median length. Series:
    segments of X of length 2 to 25. Sets: 3 to 15 elements of X's sets.
    """
    integer("R", R, 1)
    lengths = X.lengths
    if domain == "strings":
        median = int(np.median(lengths))
        span = max(1, 3 * median // 4), max(1, 5 * median // 4)
        order = min(_ORDER, int(lengths.max()) - 1)
        omega = markov_strings(R, X, order=order, length=span, seed=seed)
        return omega, f"random strings of length {span[0]} to {span[1]}"
    if domain == "series":
        span = tuple(min(one, int(lengths.max())) for one in _SEGMENT)
        omega = random_segments(R, X, length=span, seed=seed)
        return omega, f"random segments of length {span[0]} to {span[1]}"
    omega = resampled_sets(R, X, size=_SET, seed=seed)
    return omega, f"random sets of {_SET[0]} to {_SET[1]} elements"


def chosen_gamma(D: np.ndarray, gamma: float | None, scale: float) -> tuple[float, str]:
    """Return gamma, or scale / (median of the distances above 0), and how it was found."""
    if gamma is not None:
        return positive_number("gamma", gamma), ""
    if not (D > 0).any():
        raise InputError("gamma must be given: all distances are 0")
    return scale / float(np.median(D[D > 0])), f" = {scale:g} / (median distance)"


def _of_file(
    file: Path,
    purpose: str,
    form: str | None,
    variable: str | None,
    gamma: float | None,
    kernel: str | None,
    labels: np.ndarray | None,
    report: Callable[[str], None],
) -> Similarities:
    store = variable is None and is_store(file)
    if store:
        held = load_features(file)
        values, name = held.Z, file.name
        labels = held.labels if labels is None else labels
    else:
        values, name = read_matrix(file, variable)
    form = form or ("features" if store else "gram")
    if gamma is not None and form != "distances":
        raise InputError(f"gamma has no meaning for {form}; it is for distances and data sets")
    if kernel is not None and form != "features":
        raise InputError(f"kernel has no meaning for {form}; it is for features and data sets")
    if 0 in values.shape:
        raise InputError(f"{name} is empty: its shape is {values.shape}")
    if form == "features":
        values = arrays.matrix(name, values)
        report(f"{name}: {values.shape[1]} features of {len(values)} objects")
        return of_features(file.name, values, kernel, purpose, labels, report)
    if form == "points":
        values = arrays.matrix(name, values)
        h = bandwidth(values) * _WIDTH[purpose]
        report(f"{name}: {len(values)} points, Gaussian kernel of width h = {h:.4g}")
        return Similarities(file.name, gaussian_gram(values, h=h), None, labels)
    if values.shape[0] != values.shape[1]:
        raise InputError(
            f"{name} must be square as a matrix of {form}, got shape {values.shape}; rows of "
            "features or points: form (--as) features or points"
        )
    matrix = symmetric_matrix(name, values)
    if form == "distances":
        return _of_distances(file.name, name, purpose, matrix, gamma, labels, report)
    if not matrix.diagonal().any() and (matrix >= 0).all() and matrix.any():
        raise InputError(
            f"{name} has zeros on its diagonal, as distances have; form (--as) distances makes "
            "similarities of them"
        )
    report(f"{name}: similarities of {len(matrix)} objects")
    return Similarities(file.name, matrix, None, labels)


def _of_distances(
    title: str,
    name: str,
    purpose: str,
    D: np.ndarray,
    gamma: float | None,
    labels: np.ndarray | None,
    report: Callable[[str], None],
) -> Similarities:
    """Turn distances into similarities exp(-gamma d)."""
    arrays.check_distances(name, D)
    gamma, how = chosen_gamma(D, gamma, _GAMMA_SCALE[purpose])
    report(f"{name}: distances of {len(D)} objects, K = exp(-gamma d), gamma {gamma:.4g}{how}")
    return Similarities(title, np.exp(-gamma * D), None, labels)
