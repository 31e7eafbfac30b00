# SPDX-License-Identifier: BSD-3-Clause
"""Models of the objects in files: `d2ke train`, `update`, `predict` and `embed`."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from d2ke._base.labels import confusion
from d2ke.cli.certainty import certainty
from d2ke.cli.object_files import (
    chosen_distance,
    given_parameters,
    kinds_of,
    lonely_classes,
    read,
    read_for,
    reported_warnings,
)
from d2ke.cli.options import between_commas
from d2ke.cli.result_files import InputError, write_columns
from d2ke.cli.session import Session
from d2ke.explain.conformal import check_alpha
from d2ke.files import write_model_features
from d2ke.io.columns import LabelledObjects
from d2ke.models.model import D2KEModel, check_model
from d2ke.models.persistence import load_model, save_model
from d2ke.models.predict import checked, d2ke_update, predict_objects
from d2ke.models.train import d2ke_train
from d2ke.objects.column_names import ColumnNames
from d2ke.objects.fields import labels_of_text
from d2ke.objects.tables import with_ids


def train(options: argparse.Namespace, session: Session) -> None:
    """Train a model on the labelled objects of a file, and write it."""
    out, report = options.out, options.report
    missing = options.missing
    data = read(
        options, session, streamed=missing is None, kinds=kinds_of(options), missing=missing
    )
    objects, labels = data.objects, _need_labels(data, options)
    parameters, distance = given_parameters(options), options.distance
    if objects.kind == "records":
        distance = _distances_of_columns(distance)
    elif distance is not None and "," in distance:
        distance = distance.split(",")
    if parameters:  # before they meet the other arguments
        if isinstance(distance, list) or objects.kind == "records":
            raise InputError("--parameter and --costs are for one distance, not for several")
        chosen_distance(options, objects)
    if labels.dtype.kind != "f" and options.task != "regression":
        lonely = lonely_classes(Counter(labels.tolist()))
        if lonely:
            session.report(f"warning: {lonely}")
    with reported_warnings(session):
        model = d2ke_train(
            labels, objects, distance=distance, R=options.R, task=options.task,
            seed=options.seed, keep_sums=options.keep_sums, missing=missing,
            **{"strands": options.strands, **parameters}, **session.computing,
        )  # fmt: skip
    model = replace(model, columns=data.columns.to_dict(), missing=dict(data.filled))
    save_model(out, model)
    session.report(str(model))
    session.report(f"model: {out}")
    if report is not None:
        from d2ke.cli.model_report import write_report

        labels = model.task.truth(labels, len(objects))
        write_report(Path(report), Path(options.file).name, model, (objects, labels), session)
        session.report(f"report: {report}")


def update(options: argparse.Namespace, session: Session) -> None:
    """Add the labelled objects of a file to a model, and write the new model."""
    out = options.out
    model = _load(options.model, session)
    if model.sums is None:
        raise InputError(
            f"{options.model} has no sums of products, which d2ke train --keep-sums keeps"
        )
    data = read_for(model, options, session)
    _need_labels(data, options)
    with reported_warnings(session):
        model = d2ke_update(
            _as_classes(data, model), data.objects, model, unseen_letters=options.unseen_letters,
            **session.computing,
        )  # fmt: skip
    save_model(out, model)
    session.report(str(model))
    session.report(f"model: {out}")


def predict(options: argparse.Namespace, session: Session) -> None:
    """Predict the labels of the objects of a file; with known labels, measure the accuracy.

    The result has the columns item, id if the file has ids, predicted, true if labels are known,
    probability and set of classes, or low and high ends of intervals, novelty, and the decision
    values.
    """
    out, report = options.out, options.report
    check_alpha(options.alpha)
    model = _load(options.model, session)
    check_model(model, "d2ke predict")
    data = read_for(model, options, session)
    objects, labels = data.objects, data.labels
    if report is not None and (labels is None or not len(objects)):
        raise InputError(f"a report needs labelled objects (--labels): {options.file} has none")
    true = None if labels is None else model.task.truth(_as_classes(data, model), len(objects))
    with reported_warnings(session):
        objects = checked(objects, model, options.unseen_letters, **session.computing)
        predicted, accuracy, decisions, p_values = predict_objects(
            true, objects, model, **session.computing, p_values=True
        )
        assert p_values is not None
    columns = {"item": np.arange(len(predicted))}
    if data.ids is not None:
        columns["id"] = data.ids
    columns["predicted"] = predicted
    if true is not None:
        columns["true"] = true
    how_sure, sentences = certainty(model, decisions, p_values, options.alpha, true)
    columns.update(how_sure)
    names = ["decision"]
    if decisions.shape[1] > 1:
        names = [f"decision {label}" for label in model.task.classes.tolist()]
    columns.update(zip(names, decisions.T, strict=True))
    write_columns(Path(out), columns)
    if true is not None:
        errors = ""
        if true.dtype.kind == "f" and not model.task.n_probabilities:  # a regression
            gaps = np.abs(true - predicted)
            errors = f", RMSE {np.sqrt(np.mean(gaps**2)):.4g}, MAE {gaps.mean():.4g}"
        session.report(f"{model.task.result(accuracy)}{errors} on {len(true)} objects")
    for sentence in sentences:
        session.report(sentence)
    if true is not None and model.task.n_probabilities:
        _print_confusion(true, predicted, session)
    session.report(f"labels: {out}")
    if report is not None and true is not None:
        from d2ke.cli.prediction_report import write_prediction_report

        outcome = true, predicted, accuracy, decisions, p_values
        shown = with_ids(objects, data.ids)
        write_prediction_report(Path(report), Path(options.file).name, model, shown, outcome)
        session.report(f"report: {report}")


def embed(options: argparse.Namespace, session: Session) -> None:
    """Compute the features of the objects of a file, and write them with their labels and ids.

    They are written by blocks of rows, which limits memory. The same command resumes an
    interrupted run; a file with other contents is refused.
    """
    out = Path(options.out)
    model = _load(options.model, session)
    data = read_for(model, options, session)
    with reported_warnings(session):
        objects = model.check_objects(data.objects, options.unseen_letters)
    write_model_features(out, objects, model, data.labels, data.ids, **session.computing)
    session.report(f"features: {len(objects)} x {model.n_unsupervised}, {options.out}")


def _distances_of_columns(text: str | None) -> dict[str, str] | None:
    """Parse COLUMN=DISTANCE,..."""
    if text is None:
        return None
    pairs = [item.partition("=") for item in between_commas(text)]
    if not all(name and sign and distance for name, sign, distance in pairs):
        raise InputError(f"of records, --distance is COLUMN=DISTANCE,...; got {text!r}")
    return {name: distance for name, _, distance in pairs}


def _load(file: str | os.PathLike[str], session: Session) -> D2KEModel:
    """Return a model of objects; report which columns it was trained on."""
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
    if model.columns:
        session.report(f"{Path(file).name}: {ColumnNames.from_dict(model.columns)}")
    return model


def _need_labels(data: LabelledObjects, options: argparse.Namespace) -> np.ndarray:
    if data.labels is None:
        raise InputError(
            "labels are needed: --labels says which column or variable of "
            f"{options.file} holds them"
        )
    return data.labels


def _as_classes(data: LabelledObjects, model: D2KEModel) -> np.ndarray:
    """Convert labels to the type of the model's classes; text stays as it is written."""
    labels = np.asarray(data.labels)
    if model.classes is None:
        return labels  # real targets, which may be written as text
    kind = model.classes.dtype.kind
    if kind == "U":
        return (labels if data.written is None else np.asarray(data.written)).astype(str)
    if labels.dtype.kind == "U":  # classes that a header declares are text
        labels = labels_of_text(labels.tolist(), "labels[{}]".format)
    if labels.dtype.kind not in "biuf" and kind in "biuf":
        raise InputError(
            f"labels are text, such as {str(labels[0])!r}, but the model has classes that are "
            "numbers"
        )
    return labels


def _print_confusion(true: np.ndarray, predicted: np.ndarray, session: Session) -> None:
    """Report the confusion matrix or, if it is wide, the pairs that are confused most."""
    names, counts = confusion(true, predicted)
    words = [str(name) for name in names]
    width = max(len("true"), *map(len, words))
    cell = max(*map(len, words), len(str(counts.max())))
    if width + (cell + 2) * len(words) > 100:
        wrong = counts * (1 - np.eye(len(names), dtype=np.int64))
        for index in np.argsort(-wrong, axis=None, kind="stable")[:20]:
            i, j = np.unravel_index(index, wrong.shape)
            if wrong[i, j]:
                session.report(f"  {names[i]} taken for {names[j]}: {wrong[i, j]}")
        return
    session.report("confusion (rows true, columns predicted):")
    session.report(" " * width + "".join(f"  {word:>{cell}}" for word in words))
    for word, row in zip(words, counts, strict=True):
        session.report(f"{word:>{width}}" + "".join(f"  {count:>{cell}}" for count in row))
