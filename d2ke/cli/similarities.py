# SPDX-License-Identifier: BSD-3-Clause
"""Similarities of objects, by their D2KE features, or from a file of a matrix."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist

from d2ke._base import arrays
from d2ke._base.arrays import symmetric_matrix
from d2ke._base.blas import row_products
from d2ke._base.checks import integer, positive_number
from d2ke.cli.matrix_files import SUFFIXES, labels_of_text, plain_labels, read_labels, read_matrix
from d2ke.cli.object_files import OBJECT_OPTIONS, chosen_distance, is_data_set, read, refuse
from d2ke.cli.result_files import InputError
from d2ke.cli.session import Session
from d2ke.datasets import standardize
from d2ke.discriminative.gaussian import bandwidth, gaussian_gram
from d2ke.distances.matrix import distance_matrix
from d2ke.distances.registry import find_distance
from d2ke.embedding.features import d2ke_features
from d2ke.io import load_features, save_features
from d2ke.io.feature_file import features_seal
from d2ke.objects.container import Objects
from d2ke.objects.samplers.strings import markov_strings
from d2ke.objects.samplers.training import resampled, segments

R = 1024
_ABOUT_OBJECTS = (*OBJECT_OPTIONS, "distance", "parameter")  # options
# Chosen by measurement, not by theory. Labels go from neighbour to neighbour and need similarities
# that decrease faster than for clusters; if all are nearly equal, one class takes all objects.
_GAMMA_SCALE_FEATURES = 5.0  # of distances to random objects, in units of 1 / (median distance)
_GAMMA_SCALE_MAP = 2.0  # of distances among the objects, the same
_WIDTH = {"clusters": 1.0, "labels": 1 / 3}  # of features, in units of the bandwidth
_DENSE = 5000  # up to so many objects a matrix fits, and is faster than features
_ORDER = 3  # of the Markov chain of random strings
_SEGMENT = (2, 25)  # lengths of random segments of series
_SET = (3, 15)  # sizes of random sets
_NEIGHBOR = 7  # as for `d2ke.discriminative.bandwidth`


@dataclass(frozen=True, eq=False)
class Similarities:
    """The similarities of n objects, or what they are made of, and their labels.

    Attributes
    ----------
    title : str
        The data set's or the file's name.
    K, features : ndarray or None
        The Gram matrix, shape (n, n), or features Z, shape (n, R), for K = Z Z'.
    points, distances : ndarray or None
        In their place, shape (n, d) or (n, n): the widths of the similarities are to be chosen.
    labels : ndarray of int64, float64 or str, shape (n,), or None
        Their labels, if any are known.
    ids : ndarray of int64 or str, shape (n,), or None
        The names of the objects in their file.
    """

    title: str
    K: np.ndarray | None = None
    features: np.ndarray | None = None
    labels: np.ndarray | None = None
    points: np.ndarray | None = None
    distances: np.ndarray | None = None
    ids: np.ndarray | None = None

    @property
    def argument(self) -> dict[str, np.ndarray]:
        """The argument of `d2ke.cdsk` and `d2ke.lpdsk`, by its name."""
        values = {"K": self.K, "features": self.features}
        values |= {"points": self.points, "distances": self.distances}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def automatic(self) -> bool:
        """Return whether the widths are to be chosen."""
        return self.K is None and self.features is None

    @property
    def n(self) -> int:
        """Number of objects."""
        (values,) = self.argument.values()
        return len(values)

    def for_map(self) -> dict[str, np.ndarray | None]:
        """Return K and features for a map, which needs similarities of far objects, too."""
        K = self.K
        if self.points is not None:
            K = gaussian_gram(self.points, h=bandwidth(self.points))
        elif self.distances is not None:
            gamma, _ = chosen_gamma(self.distances, None, _GAMMA_SCALE_MAP)
            K = np.exp(-gamma * self.distances)
        return {"K": K, "features": self.features}

    def distances_of(self, rows: np.ndarray) -> np.ndarray:
        """Return the distances of some objects; of similarities, those in the kernel's space."""
        if self.distances is not None:
            return self.distances[np.ix_(rows, rows)]
        if self.K is None:
            points = self.points if self.points is not None else self.features
            assert points is not None
            return cdist(points[rows], points[rows])
        K = self.K[np.ix_(rows, rows)]
        squares = np.diag(K)[:, None] + np.diag(K) - 2 * K
        return np.sqrt(np.maximum(squares, 0))


def read_similarities(options: argparse.Namespace, purpose: str, session: Session) -> Similarities:
    """Read or compute the similarities for one purpose, "clusters" or "labels".

    Raises
    ------
    InputError
        An option names something missing or unusable.
    """
    file, path, form = options.file, Path(options.file), options.form
    if form is None:
        about_objects = any(getattr(options, name) not in (None, []) for name in _ABOUT_OBJECTS)
        if about_objects or is_data_set(file) or path.suffix not in SUFFIXES:
            form = "objects"
    elif form != "objects" and is_data_set(file):
        raise InputError(f"form (--as) is for files; {file} is a data set, of objects")
    if form == "objects":
        refuse(options, ("variable",), f"is for a matrix; {file} holds objects")
        return _of_objects(options, purpose, session)
    matrix = f"is for objects (--as objects), not for a matrix (--as {form or 'gram'})"
    refuse(options, (*_ABOUT_OBJECTS, "R", "save_features"), matrix)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    if path.suffix not in SUFFIXES:
        raise InputError(f"{file} must end in {', '.join(SUFFIXES)} to be read as {form}")
    labels = None if options.labels is None else read_labels(options.labels, path)
    result = session.long("similarities", _of_file, options, labels, purpose, session.report)
    if result.labels is not None and len(result.labels) != result.n:
        raise InputError(
            f"labels has {len(result.labels)} labels, but {path.name} has {result.n} objects"
        )
    return result


def _of_objects(options: argparse.Namespace, purpose: str, session: Session) -> Similarities:
    """Return the similarities of objects by their features, distances to random objects."""
    if options.distance is not None:
        find_distance(options.distance)
    held = read(options, session, unlabelled=True)
    X, name = held.objects, Path(options.file).name
    distance, parameters = chosen_distance(options, X)
    if len(X) < 2:
        raise InputError(f"{name} holds {len(X)} objects; at least 2 are needed")
    labels = None if held.labels is None else plain_labels(f"labels of {name}", held.labels)
    if labels is not None and labels.dtype.kind == "U" and (labels == "").any():
        labels = labels_of_text(labels)
    if X.kind == "series":
        (X,) = standardize(X)
    omega, description = draw(X.kind, X, R if options.R is None else options.R, options.seed)
    D = distance_matrix(X, omega, distance, **parameters, **session.computing)
    gamma, rule = chosen_gamma(D, options.gamma, _GAMMA_SCALE_FEATURES)
    Z = d2ke_features(D, gamma, n_threads=session.n_threads)
    session.report(
        f"features: {distance} distances to {len(omega)} {description}; gamma {gamma:.4g}{rule}"
    )
    if options.save_features is not None:
        settings = {"gamma": gamma, "distance": distance, "seed": options.seed, **parameters}
        held_labels = labels
        if labels is not None and labels.dtype.kind == "f":
            held_labels = np.where(np.isnan(labels), -1, labels).astype(np.int64)
        file = Path(options.save_features)
        save_features(file, Z, labels=held_labels, ids=held.ids, omega=omega, parameters=settings)
        session.report(f"features: {file}")
    arguments = name, Z, options.kernel, purpose, labels, session.report
    result = session.long("similarities", of_features, *arguments)
    return replace(result, ids=held.ids)


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
    between features of length 1, which are kernel distances of single objects; h is
    `d2ke.discriminative.bandwidth` for clusters, and a third of it for labels.
    """
    kernel = kernel or ("gaussian" if len(Z) <= _DENSE else "linear")
    if kernel == "linear":
        report("kernel: products of the features")
        if len(Z) > _DENSE:
            return Similarities(title, features=Z, labels=labels)
        Z = Z.astype(np.float64)
        return Similarities(title, row_products(Z, Z, 1), labels=labels)
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
    return Similarities(title, np.exp(squares / (-2 * h**2)), labels=labels)


def _width(squares: np.ndarray) -> float:
    """Return the width as `discriminative.bandwidth`, from squared distances, not points."""
    n = len(squares)
    at = min(_NEIGHBOR, n - 1)
    near = float(np.mean(np.sqrt(np.partition(squares, at, axis=1)[:, at])))
    half = float(np.sqrt(np.median(squares[np.triu_indices(n, 1)]))) / 2 if n > 1 else 0.0
    widths = [width for width in (near, half) if width > 0]
    if not widths:
        raise InputError("all features are equal: all objects are alike")
    return min(widths)


def draw(domain: str, X: Objects, R: int, seed: int) -> tuple[Objects, str]:
    """Draw random objects that resemble X, without its labels, and describe them in words.

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
        longest = int(lengths.max())
        span = min(_SEGMENT[0], longest), min(_SEGMENT[1], longest)
        omega = segments(R, X, length=span, seed=seed)
        return omega, f"random segments of length {span[0]} to {span[1]}"
    omega = resampled(R, X, size=_SET, seed=seed)
    return omega, f"random sets of {_SET[0]} to {_SET[1]} elements"


def chosen_gamma(D: np.ndarray, gamma: float | None, scale: float) -> tuple[float, str]:
    """Return gamma, or scale / (median of the distances above 0), and the rule in words."""
    if gamma is not None:
        return positive_number("gamma", gamma), ""
    if not (D > 0).any():
        raise InputError("gamma is needed: all distances are 0")
    return scale / float(np.median(D[D > 0])), f" = {scale:g} / (median distance)"


def _of_file(
    options: argparse.Namespace,
    labels: np.ndarray | None,
    purpose: str,
    report: Callable[[str], None],
) -> Similarities:
    file, gamma, kernel = Path(options.file), options.gamma, options.kernel
    store = options.variable is None and features_seal(file) is not None
    if store:
        held = load_features(file)
        values, name, ids = held.Z, file.name, held.ids
        labels = held.labels if labels is None else labels
    else:
        values, name = read_matrix(file, options.variable)
        ids = None
    form = options.form or ("features" if store else "gram")
    if gamma is not None and form != "distances":
        raise InputError(f"gamma has no meaning for {form}; it is for distances and objects")
    if kernel is not None and form != "features":
        raise InputError(f"kernel has no meaning for {form}; it is for features and objects")
    if 0 in values.shape:
        raise InputError(f"{name} is empty: its shape is {values.shape}")
    if form == "features":
        values = arrays.matrix(name, values)
        report(f"{name}: {values.shape[1]} features of {len(values)} objects")
        result = of_features(file.name, values, kernel, purpose, labels, report)
        return replace(result, ids=ids)
    if form == "points":
        values = arrays.matrix(name, values)
        report(f"{name}: {len(values)} points")
        return Similarities(file.name, points=values, labels=labels)
    if values.shape[0] != values.shape[1]:
        raise InputError(
            f"{name} must be square as a matrix of {form}, got shape {values.shape}; for rows of "
            "features or points use form (--as) features or points"
        )
    matrix = symmetric_matrix(name, values)
    if form == "distances":
        arrays.check_distances(name, matrix)
        arrays.check_diagonal(name, matrix)
        if gamma is None:
            report(f"{name}: distances of {len(matrix)} objects")
            return Similarities(file.name, distances=matrix, labels=labels)
        gamma = positive_number("gamma", gamma)
        report(f"{name}: distances of {len(matrix)} objects, K = exp(-gamma d), gamma {gamma:.4g}")
        return Similarities(file.name, np.exp(-gamma * matrix), labels=labels)
    if arrays.like_distances(matrix):
        raise InputError(
            f"{name} has zeros on its diagonal, as distances have; form (--as) distances makes "
            "similarities of them"
        )
    report(f"{name}: similarities of {len(matrix)} objects")
    return Similarities(file.name, matrix, labels=labels)
