# SPDX-License-Identifier: BSD-3-Clause
"""Models of the objects in files: `d2ke train`, `d2ke predict`, `d2ke embed`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from d2ke._base.files import check_writable
from d2ke._base.labels import confusion
from d2ke.cli.matrix_files import HDF5, InputError
from d2ke.cli.object_files import Job, reported_warnings
from d2ke.cli.result_files import check_apart, check_result_file, input_errors, write_columns
from d2ke.cli.session import Session
from d2ke.distances.registry import check_parameters, find_distance, usual_distance
from d2ke.io.columns import Columns
from d2ke.models.model import D2KEModel
from d2ke.models.persistence import load_model, save_model
from d2ke.models.predict import d2ke_predict
from d2ke.models.rows import write_features
from d2ke.models.train import d2ke_train

_MOST_PRINTED = 20  # classes of a confusion matrix


@input_errors()
def train(
    job: Job,
    settings: Mapping[str, Any],
    report: str | os.PathLike[str] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> D2KEModel:
    """Train a model on the labelled objects of a file, and write it.

    Parameters
    ----------
    job : Job
        The objects, and the file of the model, .h5 or .hdf5.
    settings : mapping
        Arguments of `d2ke_train`: distance, R, seed.
    report : path, optional
        Where to write a page with pictures, .html.
    parameters : mapping, optional
        Of the distance.

    Returns
    -------
    D2KEModel
        The model.

    Raises
    ------
    InputError
        A file or an argument is unusable.
    ImportError
        Without matplotlib, if a report is wanted.
    """
    _check_hdf5(job.out)
    check_apart({"out": job.out, "report": report}, {"the file of objects": job.file})
    _check_places(job.out, report)
    held = job.read()
    objects, labels = held.objects, held.labels
    if labels is None:
        raise InputError(
            f"labels are needed: --labels says which column or variable of {job.file} holds them"
        )
    parameters = parameters or {}
    if parameters:  # before they meet the other arguments
        distance = settings.get("distance") or usual_distance(objects.kind)
        if isinstance(distance, list):
            raise InputError("--parameter is for one distance, not for several")
        row = find_distance(distance)
        check_parameters(row, parameters)
    with reported_warnings(job.session):
        model = d2ke_train(labels, objects, **settings, **parameters, **job.session.computing)
    model = replace(model, columns=held.columns.to_dict())
    save_model(job.out, model)
    job.session.report(str(model))
    job.session.report(f"model: {os.fspath(job.out)}")
    if report is not None:
        from d2ke.cli.model_report import write_report

        write_report(Path(report), Path(job.file).name, model, (objects, labels), job.session)
        job.session.report(f"report: {os.fspath(report)}")
    return model


@input_errors()
def predict(
    job: Job,
    model_file: str | os.PathLike[str],
    report: str | os.PathLike[str] | None = None,
    unseen_letters: str = "refuse",
) -> np.ndarray:
    """Predict the labels of the objects of a file; with known labels, measure the accuracy.

    Parameters
    ----------
    job : Job
        The objects, and the file of the result: columns item, id if the file has ids,
        predicted, true if labels are known, and the decision values.
    model_file : path
        What `train` wrote.
    report : path, optional
        Where to write a page about predictions for labelled objects, .html.
    unseen_letters : {"refuse", "allow"}
        As for `d2ke_predict`.

    Returns
    -------
    ndarray of shape (n,)
        The predicted labels.

    Raises
    ------
    InputError
        A file or an argument is unusable; a report of objects without labels.
    ImportError
        Without matplotlib, if a report is wanted.
    """
    check_result_file(Path(job.out))
    inputs = {"the file of objects": job.file, "the model": model_file}
    check_apart({"out": job.out, "report": report}, inputs)
    _check_places(job.out, report)
    model = _load(model_file)
    held = job.read(Columns.of_dict(model.columns))
    objects, labels = held.objects, held.labels
    if report is not None and (labels is None or not len(objects)):
        raise InputError(f"a report needs labelled objects (--labels): {job.file} has none")
    true = None if labels is None else _as_classes(labels, model)
    predicted, accuracy, decisions = d2ke_predict(
        true, objects, model, unseen_letters=unseen_letters, **job.session.computing
    )
    columns = {"item": np.arange(len(predicted))}
    if held.ids is not None:
        columns["id"] = np.array(held.ids)
    columns["predicted"] = predicted
    if true is not None:
        columns["true"] = true
    names = ["decision"]
    if decisions.shape[1] > 1:
        names = [f"decision {label}" for label in model.classes.tolist()]
    columns.update(zip(names, decisions.T, strict=True))
    write_columns(Path(job.out), columns)
    if true is not None and model.classes is None:
        job.session.report(f"R^2 {accuracy / 100:.3f} on {len(true)} objects")
    elif true is not None:
        job.session.report(f"accuracy {accuracy:.2f} % on {len(true)} objects")
        _print_confusion(true, predicted, job.session)
    job.session.report(f"labels: {os.fspath(job.out)}")
    if report is not None:
        from d2ke.cli.prediction_report import write_prediction_report

        outcome = true, predicted, accuracy, decisions
        write_prediction_report(Path(report), Path(job.file).name, model, objects, outcome)
        job.session.report(f"report: {os.fspath(report)}")
    return predicted


@input_errors()
def embed(
    job: Job,
    model_file: str | os.PathLike[str],
    resume: bool = False,
    unseen_letters: str = "refuse",
) -> tuple[int, int]:
    """Compute the features of the objects of a file, and write them with their labels.

    They go to the file by blocks of rows, so that not all of them are held.

    Parameters
    ----------
    job : Job
        The objects, and the file of the features, .h5 or .hdf5.
    model_file : path
        What `train` wrote.
    resume : bool
        Whether an equal call that was interrupted is resumed; what is interrupted is kept then.
        Without it, a file that exists is replaced when the new one is complete.
    unseen_letters : {"refuse", "allow"}
        As for `d2ke_transform`.

    Returns
    -------
    tuple of int
        Number of objects and of features.

    Raises
    ------
    InputError
        A file or an argument is unusable.
    """
    _check_hdf5(job.out)
    check_apart({"out": job.out}, {"the file of objects": job.file, "the model": model_file})
    check_writable(Path(job.out))
    model = _load(model_file)
    held = job.read(Columns.of_dict(model.columns))
    objects, labels = held.objects, held.labels
    objects = model.check_objects(objects, unseen_letters)
    out = Path(job.out)
    options = job.session.computing | {"max_memory": job.max_memory}
    if resume:
        write_features(objects, model, out, labels=labels, resume=True, **options).close()
    else:
        with TemporaryDirectory(prefix=".d2ke-", dir=out.parent) as folder:
            file = Path(folder) / out.name
            write_features(objects, model, file, labels=labels, **options).close()
            file.replace(out)
    shape = len(objects), model.R
    job.session.report(f"features: {shape[0]} x {shape[1]}, {os.fspath(out)}")
    return shape


def _check_places(out: str | os.PathLike[str], report: str | os.PathLike[str] | None) -> None:
    """Refuse, before the work, files that cannot be written."""
    if report is not None:
        from d2ke.cli.report import check_report_file

        check_report_file(Path(report))
    for file in (out, report):
        if file is not None:
            check_writable(Path(file))


def _check_hdf5(out: str | os.PathLike[str]) -> None:
    """Refuse a name that is not that of an HDF5 file."""
    if Path(out).suffix not in HDF5:
        raise InputError(f"out must end in {', '.join(HDF5)}, got {os.fspath(out)!r}")


def _load(file: str | os.PathLike[str]) -> D2KEModel:
    """Return a model of objects."""
    if not Path(file).is_file():
        raise InputError(f"model: there is no file {os.fspath(file)}")
    try:
        model = load_model(file)
    except ValueError as error:
        raise InputError(f"{error}; the model's file comes first, then that of objects") from error
    if not isinstance(model, D2KEModel):
        raise InputError(
            f"{os.fspath(file)} is a {type(model).__name__} of features; a model that d2ke train "
            "wrote is needed"
        )
    return model


def _as_classes(labels: np.ndarray, model: D2KEModel) -> np.ndarray:
    """Return labels of the type of the model's: numbers as text where the classes are text."""
    numbers = labels.dtype.kind in "biuf"
    if model.classes is not None and model.classes.dtype.kind == "U" and numbers:
        return labels.astype(str)
    if not numbers and (model.classes is None or model.classes.dtype.kind in "biuf"):
        kind = "a regression" if model.classes is None else "classes that are numbers"
        raise InputError(f"labels are text, such as {str(labels[0])!r}, but the model has {kind}")
    return labels


def _print_confusion(true: np.ndarray, predicted: np.ndarray, session: Session) -> None:
    """Report the confusion matrix; of many classes, the pairs that are confused most."""
    names, counts = confusion(true, predicted)
    if len(names) > _MOST_PRINTED:
        wrong = counts * (1 - np.eye(len(names), dtype=np.int64))
        for place in np.argsort(-wrong, axis=None, kind="stable")[:_MOST_PRINTED]:
            i, j = np.unravel_index(place, wrong.shape)
            if wrong[i, j]:
                session.report(f"  {names[i]} taken for {names[j]}: {wrong[i, j]}")
        return
    words = [str(name) for name in names]
    width = max(len("true"), *map(len, words))
    cell = max(*map(len, words), len(str(counts.max())))
    session.report("confusion (rows true, columns predicted):")
    session.report(" " * width + "".join(f"  {word:>{cell}}" for word in words))
    for word, row in zip(words, counts, strict=True):
        session.report(f"{word:>{width}}" + "".join(f"  {count:>{cell}}" for count in row))
