# SPDX-License-Identifier: BSD-3-Clause
"""Distances and features written to an HDF5 file by blocks of rows; a killed run is resumed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from d2ke._base.checks import element_type
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.progress import check_progress
from d2ke._base.threads import team_size
from d2ke.distances.fingerprint import description, digest, function_version, sequence_digest
from d2ke.distances.problem import UNCHANGED, ArgumentNames, PairwiseProblem, Transform
from d2ke.distances.record_pairs import check_any_pairs
from d2ke.embedding.features import check_embedding, check_link, feature_transform
from d2ke.embedding.scaling import Scaling
from d2ke.io.feature_writer import FeatureContent, write_rows
from d2ke.io.features import check_features_path, check_labels
from d2ke.models.blocks import FittedFeatures
from d2ke.models.model import D2KEModel
from d2ke.objects.container import Objects, span_of
from d2ke.objects.tables import read_ids


@hinted
def write_distances(
    path: str | os.PathLike[str],
    X: Any,
    Y: Any = None,
    *,
    distance: Any = None,
    dtype: Any = None,
    n_threads: int | None = None,
    progress: bool | None = None,
    **params: Any,
) -> None:
    """Write the distances between all objects of X and all of Y to a file, by blocks of rows.

    The file holds what `distance_matrix` returns, bit for bit, and the ids of X if it has some. It
    need not fit into memory. After
    a kill at any moment or Ctrl-C the same call computes the missing blocks.

    Parameters
    ----------
    path : path
        The file. It appears when it is complete; until then its name ends in ``.part``. A complete
        one of the same call is left as it is.
    X : Objects or what `pack` takes; Records or what `pack_records` takes
        n objects or records.
    Y : Objects or what `pack` takes, optional
        m objects or records; None stands for X itself.
    distance : str, callable or dict, optional
        As for `distance_matrix`; by default ``"levenshtein"`` for strings, ``"dtw"`` for series
        and ``"mhd"`` for sets. A Python function needs an attribute ``version``, a str or an
        int that changes whenever its results change.
    dtype : {float64, float32}, optional
        Of the distances; by default as for `distance_matrix`.
    n_threads : int, optional
        Threads to use; None for all that this process may use. The file does not depend on it.
    progress : bool, optional
        Whether to show progress; by default on a terminal or in a notebook, where work takes more
        than two seconds.
    **params
        Parameters of the distance, as for `distance_matrix`.

    Raises
    ------
    TypeError, ValueError
        As `distance_matrix`; a file that was made from something else, with what differs; a
        Python function without a version.
    OSError
        A file that cannot be written or that another call writes now, or too little space: it is
        reserved before the work.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    See Also
    --------
    write_features
    d2ke.io.open_features : Reads the file by rows and columns.

    Examples
    --------
    >>> import os, tempfile
    >>> import d2ke
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "distances.h5")
    ...     d2ke.write_distances(file, ["kitten", "sitting"], distance="levenshtein")
    ...     with d2ke.io.open_features(file) as distances:
    ...         distances.read()
    array([[0., 3.],
           [3., 0.]])
    """
    names = ArgumentNames("write_distances")
    pairs = check_any_pairs(X, Y, distance, params, names)
    _write_pairs(path, pairs, UNCHANGED, (None, None), dtype, n_threads, progress)


@hinted
def write_features(
    path: str | os.PathLike[str],
    X: Any,
    omega_or_model: Any,
    *,
    labels: Any = None,
    ids: Any = None,
    distance: Any = None,
    gamma: float | None = None,
    link: str = "exp",
    dtype: Any = None,
    n_threads: int | None = None,
    progress: bool | None = None,
    **params: Any,
) -> None:
    """Write the features of objects to a file, by blocks of rows.

    The file holds what `d2ke_embed` returns, or `d2ke_transform` for a model, bit for bit, and
    need not fit into memory. After a kill at any moment or Ctrl-C the same call computes the
    missing blocks. `train`, `train_classifier`, `train_least_squares`, `predict`, `Scaling` and
    `search` take the file like an array.

    Parameters
    ----------
    path : path
        As for `write_distances`.
    X : Objects or what `pack` takes
        n objects.
    omega_or_model : Objects, what `pack` takes, or D2KEModel
        R random objects; or a trained model, for its features without labels.
    labels : array_like of int, float or str, shape (n,), optional
        The label of each object, to be kept beside the features.
    ids : sequence of int or str, shape (n,), optional
        The name of each object, to be kept beside the features. Default: X's ids.
    distance : str or callable, optional
        As for `write_distances`, with the same default; of a model None, as all that follow but
        `n_threads` and `progress`.
    gamma, link
        As for `d2ke_embed`.
    dtype : {float64, float32}, optional
        Of the features; by default as for `d2ke_embed`. A model's features are float32.
    n_threads, progress, **params
        As for `write_distances`.

    Raises
    ------
    TypeError, ValueError, OSError, KeyboardInterrupt
        As `d2ke_embed`, `d2ke_transform` and `write_distances`.

    See Also
    --------
    write_distances
    d2ke.io.open_features : Reads the file by rows and columns.

    Examples
    --------
    >>> import os, tempfile
    >>> import d2ke
    >>> omega = d2ke.samplers.random_strings(256, "ACGT", length=(2, 8), seed=0)
    >>> X = ["ACGT", "AGGT", "TTTT", "TTAT"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "features.h5")
    ...     d2ke.write_features(file, X, omega, distance="levenshtein", gamma=0.5)
    ...     model = d2ke.train([0, 0, 1, 1], d2ke.io.open_features(file))
    >>> Z = d2ke.d2ke_embed(["ACCT"], omega, distance="levenshtein", gamma=0.5)
    >>> d2ke.predict(None, Z, model)[0]
    array([0])
    """
    if isinstance(omega_or_model, D2KEModel):
        options = {"distance": distance, "gamma": gamma, "dtype": dtype, **params}
        for name, value in (options | {"link": None if link == "exp" else link}).items():
            if value is not None:
                raise ArgumentTypeError(name, f"is that of the model; got {value!r}")
        objects = omega_or_model.check_objects(X)
        ids = getattr(X, "ids", None) if ids is None else ids
        write_model_features(path, objects, omega_or_model, labels, ids, n_threads, progress)
        return
    gamma = check_link(gamma, link)
    names = ArgumentNames("write_features", "X", "omega_or_model")
    pairs = check_embedding(X, omega_or_model, distance, params, names)
    transform = feature_transform(gamma, pairs.shape[1])
    _write_pairs(path, pairs, transform, (labels, ids), dtype, n_threads, progress)


def write_model_features(
    path: str | os.PathLike[str],
    objects: Any,
    model: D2KEModel,
    labels: Any,
    ids: Any,
    n_threads: int | None,
    progress: bool | None,
) -> None:
    """Write the features of checked objects by the blocks of a model that need no labels."""
    path, n_threads = check_features_path("path", path), team_size(n_threads)
    check_progress(progress)
    features = model.unsupervised_map
    blocks, scaling = features.blocks, features.scaling
    sizes = tuple(block.R for block in blocks)
    parameters = {"blocks": tuple(block.name for block in blocks), "sizes": sizes}
    inputs = {"X": digest("X", objects), **_digests(blocks, scaling)}

    def compute(rows: slice, Z: np.ndarray, report: Any) -> None:
        block = span_of(objects, rows.start, rows.stop)
        Z[:] = features.features(block, n_threads)

    shape = len(objects), sum(sizes)
    content = FeatureContent(shape, np.dtype(np.float32), parameters, inputs)
    content = _with_names(content, labels, ids)
    write_rows(path, content, compute, "features", progress, features.rows_at_once(objects))


def _digests(blocks: Sequence[FittedFeatures], scaling: Scaling) -> dict[str, str]:
    """Return digests of everything on which the features of a model's blocks depend."""
    described: list[Any] = [scaling]
    functions: dict[str, Any] = {}
    for i, block in enumerate(blocks):
        values = {field.name: getattr(block, field.name) for field in fields(block)}
        for k, view in enumerate(values.pop("views", ())):
            functions[f"version of view {k} of block {i}"] = view
        if callable(values.get("distance")):
            functions[f"version of distance of block {i}"] = values.pop("distance")
        described.append(values)
    versions = {name: function_version(name, function) for name, function in functions.items()}
    return {"model": sequence_digest("model", described), **versions}


def _write_pairs(
    path: str | os.PathLike[str],
    pairs: PairwiseProblem,
    transform: Transform,
    names: tuple[Any, Any],
    dtype: Any,
    n_threads: int | None,
    progress: bool | None,
) -> None:
    """Write a transform of all distances; `names` are labels and ids of the rows."""
    path, n_threads = check_features_path("path", path), team_size(n_threads)
    check_progress(progress)
    if dtype is not None:
        pairs = replace(pairs, dtype=element_type("dtype", dtype))

    def compute(rows: slice, Z: np.ndarray, report: Any) -> None:
        pairs.rows(rows).run(Z, n_threads, report, transform)

    parameters, inputs = description(pairs)
    omega = pairs.y if pairs.y is not pairs.x and isinstance(pairs.y, Objects) else None
    parameters |= transform.parameters
    content = FeatureContent(pairs.shape, pairs.dtype, parameters, inputs, omega)
    labels, ids = names
    if ids is None:
        ids = getattr(pairs.x, "ids", None)
    content = _with_names(content, labels, ids)
    write_rows(path, content, compute, transform.name, progress, pairs.shape[0])


def _with_names(content: FeatureContent, labels: Any, ids: Any) -> FeatureContent:
    """Check the labels and the ids of rows, and that there are rows."""
    n, inputs = content.shape[0], dict(content.inputs)
    if not n:
        raise ArgumentError("X", "is empty; a file has at least one row")
    if labels is not None:
        labels = check_labels(labels, n, "X")
        inputs["labels"] = sequence_digest("labels", [labels])
    if ids is not None:
        ids = read_ids(ids, n, of="X")
        inputs["ids"] = sequence_digest("ids", [ids])
    return replace(content, inputs=inputs, labels=labels, ids=ids)
