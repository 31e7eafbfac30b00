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
from d2ke._base.checks import positive_number
from d2ke.cli.matrix_files import SUFFIXES, labels_of_text, plain_labels, read_labels, read_matrix
from d2ke.cli.object_files import (
    DISTANCE_OPTIONS,
    OBJECT_OPTIONS,
    is_data_set,
    read_compared,
    refuse,
)
from d2ke.cli.result_files import InputError
from d2ke.cli.session import Session
from d2ke.datasets import standardize
from d2ke.distances.matrix import distance_matrix
from d2ke.distances.registry import check_parameters, find_distance
from d2ke.embedding.features import d2ke_features
from d2ke.io import load_features, save_features
from d2ke.io.feature_file import features_seal
from d2ke.objects.samplers.training import training_objects

_DENSE = 5000  # objects whose matrix fits


@dataclass(frozen=True, eq=False)
class Similarities:
    """The similarities of n objects, or points or distances to compute them from, and labels.

    Attributes
    ----------
    title : str
        The data set's or the file's name.
    K, features : ndarray or None
        The Gram matrix, shape (n, n), or features Z, shape (n, R), for K = Z Z'.
    points, distances : ndarray or None
        Instead, shape (n, d) or (n, n); the widths of the similarities are chosen later.
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
        """Return K and features for a map; of distances, the products of classical scaling."""
        D = self.distances if self.points is None else cdist(self.points, self.points)
        return {"K": self.K if D is None else D**2 / -2, "features": self.features}

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


def read_similarities(options: argparse.Namespace, session: Session) -> Similarities:
    """Read similarities, or compute them.

    Raises
    ------
    InputError
        An option names something missing or unusable.
    """
    file, path, form = options.file, Path(options.file), options.form
    object_options = (*OBJECT_OPTIONS, *DISTANCE_OPTIONS)
    if form is None:
        about_objects = any(getattr(options, name) not in (None, []) for name in object_options)
        if about_objects or is_data_set(file) or path.suffix not in SUFFIXES:
            form = "objects"
    elif form != "objects" and is_data_set(file):
        raise InputError(f"form (--as) is for files; {file} is a data set, of objects")
    if form == "objects":
        refuse(options, ("variable",), f"is for a matrix; {file} holds objects")
        return _from_objects(options, session)
    matrix = f"is for objects (--as objects), not for a matrix (--as {form or 'gram'})"
    refuse(options, (*object_options, "R", "save_features"), matrix)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    if path.suffix not in SUFFIXES:
        raise InputError(f"{file} must end in {', '.join(SUFFIXES)} to be read as {form}")
    labels = None if options.labels is None else read_labels(options.labels, path)
    result = session.long("similarities", _from_file, options, labels, session.report)
    if result.labels is not None and len(result.labels) != result.n:
        raise InputError(
            f"labels has {len(result.labels)} labels, but {path.name} has {result.n} objects"
        )
    return result


def _from_objects(options: argparse.Namespace, session: Session) -> Similarities:
    """Return the distances of objects; or their features, for many objects or if requested."""
    data, distance, parameters = read_compared(options, session)
    X, name = data.objects, Path(options.file).name
    if len(X) < 2:
        raise InputError(f"{name} holds {len(X)} objects; at least 2 are needed")
    labels = None if data.labels is None else plain_labels(f"labels of {name}", data.labels)
    if labels is not None and labels.dtype.kind == "U" and (labels == "").any():
        labels = labels_of_text(labels)
    if X.base == "series":
        (X,) = standardize(X)
    row, asked = find_distance(distance), (options.R, options.save_features) != (None, None)
    if len(X) <= _DENSE and not asked and row.is_symmetric(check_parameters(row, parameters)):
        D = distance_matrix(X, None, distance, **parameters, **session.computing)
        session.report(f"distances: {distance}")
        return replace(_from_distances(name, D, labels, options.gamma), ids=data.ids)
    omega, _ = training_objects(1024 if options.R is None else options.R, X, seed=options.seed)
    D = distance_matrix(X, omega, distance, **parameters, **session.computing)
    gamma, rule = options.gamma, ""
    if gamma is None:
        if not (D > 0).any():
            raise InputError("gamma is needed: all distances are 0")
        scale = 5.0  # in units of 1 / (median distance to random objects)
        gamma = scale / float(np.median(D[D > 0]))
        rule = f" = {scale:g} / (median distance)"
    Z = d2ke_features(D, positive_number("gamma", gamma), n_threads=session.n_threads)
    session.report(
        f"features: {distance} distances to {len(omega)} of the objects; gamma {gamma:.4g}{rule}"
    )
    if options.save_features is not None:
        settings = {"gamma": gamma, "distance": distance, "seed": options.seed, **parameters}
        held_labels = labels
        if labels is not None and labels.dtype.kind == "f":
            held_labels = np.where(np.isnan(labels), -1, labels).astype(np.int64)
        file = Path(options.save_features)
        save_features(file, Z, labels=held_labels, ids=data.ids, omega=omega, parameters=settings)
        session.report(f"features: {file}")
    return replace(_from_features(name, Z, labels), ids=data.ids)


def _from_distances(
    name: str, D: np.ndarray, labels: np.ndarray | None, gamma: float | None
) -> Similarities:
    """Return exp(-gamma d), or without gamma the distances."""
    if gamma is None:
        return Similarities(name, distances=D, labels=labels)
    return Similarities(name, np.exp(-positive_number("gamma", gamma) * D), labels=labels)


def _from_features(name: str, Z: np.ndarray, labels: np.ndarray | None) -> Similarities:
    """Return features Z, shape (n, R), as points of length 1, or unchanged if n is large.

    The distances of these points are the kernel distances of the objects.
    """
    if len(Z) > _DENSE:
        return Similarities(name, features=Z, labels=labels)
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    if not lengths.all():
        raise InputError(f"the features of object {lengths.argmin()} are all 0; try a lower gamma")
    return Similarities(name, points=Z.astype(np.float64) / lengths, labels=labels)


def _from_file(
    options: argparse.Namespace,
    labels: np.ndarray | None,
    report: Callable[[str], None],
) -> Similarities:
    file, gamma = Path(options.file), options.gamma
    store = options.variable is None and features_seal(file) is not None
    if store:
        stored = load_features(file)
        values, name, ids = stored.Z, file.name, stored.ids
        labels = stored.labels if labels is None else labels
    else:
        values, name = read_matrix(file, options.variable)
        ids = None
    form = options.form or ("features" if store else "gram")
    if gamma is not None and form != "distances":
        raise InputError(f"gamma has no meaning for {form}; it is for distances and objects")
    if 0 in values.shape:
        raise InputError(f"{name} is empty: its shape is {values.shape}")
    if form == "features":
        values = arrays.matrix(name, values)
        report(f"{name}: {values.shape[1]} features of {len(values)} objects")
        return replace(_from_features(file.name, values, labels), ids=ids)
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
        how = "" if gamma is None else f", K = exp(-gamma d), gamma {gamma:.4g}"
        report(f"{name}: distances of {len(matrix)} objects{how}")
        return _from_distances(file.name, matrix, labels, gamma)
    if arrays.like_distances(matrix):
        raise InputError(
            f"{name} has zeros on its diagonal, as distances have; form (--as) distances makes "
            "similarities of them"
        )
    report(f"{name}: similarities of {len(matrix)} objects")
    return Similarities(file.name, matrix, labels=labels)
