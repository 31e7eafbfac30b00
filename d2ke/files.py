# SPDX-License-Identifier: BSD-3-Clause
"""Distances and features written to an HDF5 file by blocks of rows; a killed run is resumed.

While rows are missing the file is called ``NAME.part``. It has its whole structure and size from
the beginning. Rows are written to their places, and are on the disk before ``/done`` says so.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from d2ke._base.checkpoint import (
    MADE_WITH,
    as_json,
    made_with,
    open_locked,
    refuse_differences,
    refuse_unknown,
)
from d2ke._base.checks import element_type, flag
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.files import check_place, reserve, sync_folder
from d2ke._base.progress import progress_bar
from d2ke._base.signals import deferred_interrupts
from d2ke._base.threads import team_size
from d2ke.distances.fingerprint import description, digest, function_version, sequence_digest
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import DISTANCES, ArgumentNames, PairwiseProblem, Transform
from d2ke.embedding.features import check_embedding, check_link, feature_transform
from d2ke.io.feature_file import FeatureFile
from d2ke.io.features import check_features_path, check_labels, put_parts
from d2ke.io.hdf5 import SIGNATURE, get_text, hdf5_on, put_text
from d2ke.models.model import D2KEModel
from d2ke.objects.container import Objects, span_of

_BLOCK_BYTES = 1 << 20  # of rows that are done together
_RUN_BYTES = 1 << 26  # of blocks computed together: what a kill may lose, unless they take longer
_RUN_SECONDS = 1.0


def write_distances(
    path: str | os.PathLike[str],
    X: Any,
    Y: Any = None,
    *,
    distance: Any,
    dtype: Any = None,
    n_threads: int | None = None,
    progress: bool = False,
    **params: Any,
) -> None:
    """Write the distances between all objects of X and all of Y to a file, by blocks of rows.

    The file holds what `distance_matrix` returns, bit for bit, and need not fit into memory. After
    a kill at any moment or Ctrl-C the same call computes what is missing.

    Parameters
    ----------
    path : path
        The file. It appears when it is complete; until then its name ends in ``.part``. A complete
        one of the same call is left as it is.
    X : Objects or what `pack` takes
        n objects.
    Y : Objects or what `pack` takes, optional
        m objects; None stands for X itself.
    distance : str or callable
        As for `distance_matrix`. A Python function needs an attribute ``version``, a str or an
        int that changes whenever its results change.
    dtype : {float64, float32}, optional
        Of the distances; by default as for `distance_matrix`.
    n_threads : int, optional
        Threads to use; None for all that this process may use. The file does not depend on it.
    progress : bool
        Show a progress bar (on a terminal only).
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
    pairs = check_pairs(X, Y, distance, params, names)
    _write_pairs(path, pairs, DISTANCES, None, dtype, n_threads, progress)


def write_features(
    path: str | os.PathLike[str],
    X: Any,
    omega_or_model: Any,
    *,
    labels: Any = None,
    distance: Any = None,
    gamma: float | None = None,
    link: str = "exp",
    dtype: Any = None,
    n_threads: int | None = None,
    progress: bool = False,
    **params: Any,
) -> None:
    """Write the features of objects to a file, by blocks of rows.

    The file holds what `d2ke_embed` returns, or `d2ke_transform` for a model, bit for bit, and
    need not fit into memory. After a kill at any moment or Ctrl-C the same call computes what is
    missing. `train`, `train_classifier`, `train_least_squares`, `predict`, `Scaling` and `search`
    take the file in place of an array.

    Parameters
    ----------
    path : path
        As for `write_distances`.
    X : Objects or what `pack` takes
        n objects.
    omega_or_model : Objects, what `pack` takes, or D2KEModel
        R random objects; or a trained model, for its features.
    labels : array_like of int, float or str, shape (n,), optional
        The label of each object, to be kept beside the features.
    distance : str or callable
        As for `write_distances`; of a model None, as all that follow but `n_threads` and
        `progress`.
    gamma, link
        As for `d2ke_embed`.
    dtype : {float64, float32}, optional
        Of the features; by default as for `d2ke_embed`. Those of a model are float32.
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
    >>> omega = d2ke.random_strings(256, "ACGT", length=(2, 8), seed=0)
    >>> X = ["ACGT", "AGGT", "TTTT", "TTAT"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "features.h5")
    ...     d2ke.write_features(file, X, omega, distance="levenshtein", gamma=0.5)
    ...     model = d2ke.train([0, 0, 1, 1], file)
    >>> Z = d2ke.d2ke_embed(["ACCT"], omega, distance="levenshtein", gamma=0.5)
    >>> d2ke.predict(None, Z, model)[0]
    array([0])
    """
    if isinstance(omega_or_model, D2KEModel):
        given = {"distance": distance, "gamma": gamma, "dtype": dtype, **params}
        for name, value in (given | {"link": None if link == "exp" else link}).items():
            if value is not None:
                raise ArgumentTypeError(name, f"is that of the model; got {value!r}")
        objects = omega_or_model.check_objects(X)
        write_model_features(path, objects, omega_or_model, labels, n_threads, progress)
        return
    gamma = check_link(gamma, link)
    names = ArgumentNames("write_features", "X", "omega_or_model")
    pairs = check_embedding(X, omega_or_model, distance, params, names)
    transform = feature_transform(gamma, pairs.shape[1])
    _write_pairs(path, pairs, transform, labels, dtype, n_threads, progress)


def write_model_features(
    path: str | os.PathLike[str],
    objects: Any,
    model: D2KEModel,
    labels: Any,
    n_threads: int | None,
    progress: bool,
) -> None:
    """Write the features that a model has of checked objects."""
    n_threads = team_size(n_threads)
    names = tuple(block.name for block in model.blocks)
    parameters = {"blocks": names, "sizes": tuple(block.R for block in model.blocks)}
    inputs = {"X": digest("X", objects), **_digests(model)}

    def compute(rows: slice, Z: np.ndarray, report: Any) -> None:
        Z[:] = model.features(span_of(objects, rows.start, rows.stop), n_threads)

    shape = len(objects), model.R
    content = _Content(shape, np.dtype(np.float32), parameters, inputs)
    _write(path, content, labels, compute, "features", progress, model.block_rows(objects))


def _digests(model: D2KEModel) -> dict[str, str]:
    """Return digests of what decides the features of a model."""
    parts: list[Any] = [model.scaling.mean, model.scaling.sd]
    functions: dict[str, Any] = {}
    for i, block in enumerate(model.blocks):
        parts += [block.R, digest(f"omega of block {i}", block.omega), block.gamma]
        parts += [block.from_omega, sorted(block.parameters.items())]
        if callable(block.distance):
            functions[f"version of distance of block {i}"] = block.distance
        else:
            parts.append(block.distance)
        for k, view in enumerate(block.views):
            functions[f"version of view {k} of block {i}"] = view
    versions = {name: function_version(name, function) for name, function in functions.items()}
    return {"model": sequence_digest("model", parts), **versions}


def _write_pairs(
    path: str | os.PathLike[str],
    pairs: PairwiseProblem,
    transform: Transform,
    labels: Any,
    dtype: Any,
    n_threads: int | None,
    progress: bool,
) -> None:
    """Write a transform of all distances."""
    n_threads = team_size(n_threads)
    if dtype is not None:
        pairs = replace(pairs, dtype=element_type("dtype", dtype))

    def compute(rows: slice, Z: np.ndarray, report: Any) -> None:
        pairs.rows(rows).run(Z, n_threads, report, transform)

    parameters, inputs = description(pairs)
    omega = pairs.y if pairs.y is not pairs.x and isinstance(pairs.y, Objects) else None
    parameters |= transform.parameters
    content = _Content(pairs.shape, pairs.dtype, parameters, inputs, omega)
    _write(path, content, labels, compute, transform.name, progress, pairs.shape[0])


@dataclass(frozen=True)
class _Content:
    """A features file but its rows; `inputs` are digests of what it is made from."""

    shape: tuple[int, int]
    dtype: np.dtype
    parameters: Mapping[str, Any]
    inputs: Mapping[str, Any]
    omega: Objects | None = None
    labels: np.ndarray | None = None

    @property
    def record(self) -> dict[str, Any]:
        """All that must be the same for a file to be resumed, as JSON has it."""
        sizes = {"n": self.shape[0], "R": self.shape[1], "dtype": self.dtype.name}
        return as_json({**sizes, **self.inputs, **self.parameters, **made_with()})


def _write(
    path: str | os.PathLike[str],
    content: _Content,
    labels: Any,
    compute: Callable[[slice, np.ndarray, Any], None],
    title: str,
    progress: bool,
    run_rows: int,
) -> None:
    """Write a file, or complete it; ``compute(rows, Z, report)`` makes at most `run_rows` rows."""
    flag("progress", progress)
    path = check_features_path("path", path)
    if not content.shape[0]:
        raise ArgumentError("X", "is empty; a file has at least one row")
    if labels is not None:
        labels = check_labels(labels, content.shape[0], "X")
        inputs = {**content.inputs, "labels": sequence_digest("labels", [labels])}
        content = replace(content, inputs=inputs, labels=labels)
    record = content.record
    refuse_unknown(path, record)
    check_place(path)
    if _complete(path, record):
        return
    part = path.with_name(f"{path.name}.part")
    fd = open_locked(part, path)
    try:
        if _complete(path, record):  # by another call, in the meantime
            if os.fstat(fd).st_size == 0:
                part.unlink()
            return
        before = _begun(fd, part)
        if before is None:
            _begin(fd, path, part, content, record)
        else:
            refuse_differences(part, before, record)
        with hdf5_on(fd, "r+") as file, progress_bar(progress, title) as report:
            _fill(fd, file, compute, report, run_rows)
        os.fsync(fd)
        os.replace(part, path)
        sync_folder(path)
    finally:
        os.close(fd)


def _complete(path: Path, record: Mapping[str, Any]) -> bool:
    """Return whether the file is there; refuse one that was made from something else."""
    if not path.exists():
        return False
    try:
        with FeatureFile(path) as file:
            before = file.record
    except ValueError as error:
        raise FileExistsError(f"{path} exists already, and {error}; remove it first") from error
    if not before:
        raise FileExistsError(
            f"{path} exists already, and does not say what it was made from; remove it first"
        )
    # Nothing is added to it, so that another version of d2ke may have made it.
    after = {name: value for name, value in record.items() if name not in MADE_WITH}
    refuse_differences(path, before, after)
    return True


def _begun(fd: int, part: Path) -> dict[str, Any] | None:
    """Return what an unfinished file is made from; None if its structure is not complete."""
    front = os.pread(fd, len(SIGNATURE), 0)
    if front.strip(b"\0") and front != SIGNATURE:
        raise FileExistsError(f"{part} exists, and is not an unfinished features file; remove it")
    # A kill while the structure was written leaves what h5py cannot read.
    with suppress(OSError, KeyError), hdf5_on(fd, "r") as file:
        return json.loads(get_text(file["record"]).item())
    return None


def _begin(fd: int, path: Path, part: Path, content: _Content, record: Mapping[str, Any]) -> None:
    """Write all of a file but its rows, and reserve its space."""
    n, m = content.shape
    step = max(1, min(n, _BLOCK_BYTES // (m * content.dtype.itemsize)))
    try:
        os.ftruncate(fd, 0)
        with hdf5_on(fd, "w") as file:
            put_parts(file, content.parameters, content.omega, content.labels)
            _allocated(file, "done", (-(-n // step),), np.dtype(np.uint8))
            file["done"][:] = 0
            file["done"].attrs["rows"] = step
            _allocated(file, "Z", content.shape, content.dtype)
        reserve(fd, os.fstat(fd).st_size, path)
        os.fsync(fd)
        with hdf5_on(fd, "r+") as file:  # the last of the structure
            put_text(file, "record", np.array(json.dumps(record)))
        os.fsync(fd)
        sync_folder(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _allocated(file: h5py.File, name: str, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Create a dataset that has its place in the file at once, and is not filled."""
    options = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    options.set_layout(h5py.h5d.CONTIGUOUS)
    options.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    options.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    space, kind = h5py.h5s.create_simple(shape), h5py.h5t.py_create(dtype)
    h5py.h5d.create(file.id, name.encode(), kind, space, options)


def _fill(
    fd: int,
    file: h5py.File,
    compute: Callable[[slice, np.ndarray, Any], None],
    report: Any,
    run_rows: int,
) -> None:
    """Compute and write the blocks that are not done, in runs of about a second."""
    Z, done = file["Z"], file["done"]
    (n, m), step = Z.shape, int(done.attrs["rows"])
    run_rows = min(run_rows, _RUN_BYTES // (m * Z.dtype.itemsize))
    longest = max(1, run_rows // step)
    buffer = np.empty((min(n, longest * step), m), Z.dtype)
    missing, count = np.flatnonzero(done[()] == 0), 1
    while missing.size:
        together = int((missing[:count] == missing[0] + np.arange(len(missing[:count]))).sum())
        first, last = int(missing[0]), int(missing[0]) + together
        rows = slice(first * step, min(last * step, n))
        part = buffer[: rows.stop - rows.start]

        def visit(here: int, _: int, before: int = rows.start * m) -> None:
            report(before + here, n * m)

        started = time.perf_counter()
        compute(rows, part, report and visit)
        seconds = time.perf_counter() - started
        with deferred_interrupts():
            Z.write_direct(part, dest_sel=np.s_[rows])
            file.flush()
            os.fsync(fd)
            done[first:last] = 1
        if report is not None:
            report(rows.stop * m, n * m)
        missing = missing[together:]
        count = max(1, min(longest, int(_RUN_SECONDS * together / max(seconds, 1e-9))))
