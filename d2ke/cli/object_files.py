# SPDX-License-Identifier: BSD-3-Clause
"""The objects of a command: of a file, or of a data set that comes with d2ke."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from d2ke._base.text import listed
from d2ke.cli.costs_file import read_costs
from d2ke.cli.result_files import InputError, in_options
from d2ke.cli.session import Session
from d2ke.datasets import REGISTRY, load
from d2ke.distances.registry import check_parameters, find_distance, usual_distance
from d2ke.io.columns import LabelledObjects
from d2ke.io.graphs import GRAPHS
from d2ke.io.labelled import check_categories, open_columns, read_file
from d2ke.models.model import D2KEModel
from d2ke.objects.column_names import NOTHING, ColumnNames
from d2ke.objects.tables import Table

OBJECT_OPTIONS = ("objects", "ids", "time", "channels_first", "kind", "series", "na_values")
DISTANCE_OPTIONS = ("distance", "parameter", "costs")
_WITH_COSTS = "weighted_levenshtein"
_DATA_SETS = (*REGISTRY, "digits")


def is_data_set(name: str) -> bool:
    """Return whether a name is a data set's and not a file's."""
    return name in _DATA_SETS


def read(
    options: argparse.Namespace, session: Session, earlier: ColumnNames = NOTHING, **how: Any
) -> LabelledObjects:
    """Read the objects that the options name, and report their kind.

    Without names of columns in the options, the `earlier` ones are used as far as the file has
    them. ``how`` are further arguments of `read_file`.
    """
    file = options.file
    if is_data_set(file):
        refuse(options, (*OBJECT_OPTIONS, "labels"), f"is for files; {file} is a data set")
        stored = load(file)
        return _reported(file, LabelledObjects(stored.objects, stored.labels), session)
    if not Path(file).suffix and not Path(file).exists():
        raise FileNotFoundError(
            f"there is no file {file!r}, and no data set of that name; the data sets are "
            f"{', '.join(_DATA_SETS)}"
        )
    columns = named_columns(options)
    with reported_warnings(session):
        data = read_file(file, columns, how_of(options), earlier, kind=options.kind, **how)
    if data.note.startswith(GRAPHS) and "codes" in (data.columns.objects or ()):
        distance = getattr(options, "distance", None)
        if data.objects.kind == "records":
            options.distance = "codes=bag" if distance is None else f"codes=bag,{distance}"
        else:
            options.distance = distance or "bag"
    return _reported(file, data, session)


def named_columns(options: argparse.Namespace) -> ColumnNames:
    """Return the names of columns in the options."""
    objects = None if options.objects is None else tuple(options.objects)
    return ColumnNames(objects, options.labels, options.ids, options.time)


def how_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options on how to read the bytes of a file."""
    return {
        name: getattr(options, name, None) for name in ("channels_first", "series", "na_values")
    }


def kinds_of(options: argparse.Namespace) -> dict[str, str] | None:
    """Return the kinds of columns of categories; with any, the rows are records."""
    if options.categories is None:
        return None
    refuse(options, ("time", "channels_first", "series"), "does not go with --categories")
    check_categories(options.objects or (), options.categories)
    return dict.fromkeys(options.categories, "categories")


def read_for(model: D2KEModel, options: argparse.Namespace, session: Session) -> LabelledObjects:
    """Read objects as the model's training objects were read."""
    columns = ColumnNames.from_dict(model.columns)
    if not model.inputs:
        if model.kind == "sets":  # vectors in a file are series
            options.kind = options.kind or "sets"
        try:
            data = read(options, session, columns, missing=model.missing.get("rule"))
        except ValueError as error:
            raise InputError(_lost(options, columns) or in_options(error)) from error
        if data.objects.kind == "records":
            names = listed(data.objects.columns)
            raise InputError(
                f"{options.file} holds records of several columns, {names}, but the model is of "
                f"{model.kind}; name one column (--objects)"
            )
        return data
    not_of_records = ("objects", "time", "channels_first", "series")
    refuse(options, not_of_records, "does not go with a model of records")
    kinds = {name: column.kind for name, column in model.inputs.items()}
    named = ColumnNames(tuple(kinds), options.labels, rows=options.ids)
    how = how_of(options)
    return read_records(
        options.file, named, kinds, session, columns, how, model.missing.get("rule")
    )


def _lost(options: argparse.Namespace, columns: ColumnNames) -> str:
    """Return an error about a column of the model that the table lacks, or nothing."""
    table = None if options.objects or not columns.objects else _table(options)
    if table is None:
        return ""
    for argument, name in columns.explicit:
        if argument != "labels" and getattr(options, argument) is None and name not in table.names:
            return (
                f"{options.file} has no column {name!r}, which the model reads as {argument}; "
                f"--{argument} names another one"
            )
    return ""


def _table(options: argparse.Namespace) -> Table | None:
    try:
        return open_columns(options.file, named_columns(options))
    except (OSError, ValueError):
        return None


def read_records(
    file: str,
    columns: ColumnNames,
    kinds: Mapping[str, str],
    session: Session,
    earlier: ColumnNames = NOTHING,
    how: Mapping[str, Any] = MappingProxyType({}),
    missing: str | None = None,
) -> LabelledObjects:
    """Read the records of the named columns, and report their kind."""
    with reported_warnings(session):
        data = read_file(file, columns, how, earlier, kinds=kinds, missing=missing)
    return _reported(file, data, session)


def given_parameters(options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of the distance; a file of costs sets the distance."""
    if options.costs is None:
        return dict(options.parameter)
    row = find_distance(options.distance or _WITH_COSTS)
    if row.name != _WITH_COSTS:
        raise InputError(f"costs (--costs) are those of {_WITH_COSTS}, not of {options.distance}")
    options.distance, costs = row.name, read_costs(options.costs)
    try:
        check_parameters(row, costs)
    except (TypeError, ValueError) as error:
        raise InputError(f"costs (--costs): {options.costs} is wrong: {error}") from None
    return costs | dict(options.parameter)


def read_compared(
    options: argparse.Namespace, session: Session
) -> tuple[LabelledObjects, str, dict[str, Any]]:
    """Read objects, and return them with their distance and its checked parameters."""
    if options.distance is not None:
        find_distance(options.distance)  # is refused before the file is read
    given_parameters(options)
    data = read(options, session, unlabelled=True)
    return data, *chosen_distance(options, data.objects)


def chosen_distance(options: argparse.Namespace, X: Any) -> tuple[str, dict[str, Any]]:
    """Return the distance, or the usual one of a kind of objects, and its checked parameters."""
    if X.kind == "records":
        raise InputError(
            f"{options.file} holds records of several columns, {listed(X.columns)}; name one of "
            "strings, series or sets (--objects)"
        )
    parameters = given_parameters(options)
    row = find_distance(options.distance or usual_distance(X.kind))
    check_parameters(row, parameters)
    return row.name, parameters


def refuse(options: argparse.Namespace, names: Iterable[str], reason: str) -> None:
    """Refuse options that do not fit the input."""
    for name in names:
        if getattr(options, name) not in (None, []):
            option = "--as" if name == "form" else f"--{name.replace('_', '-')}"
            raise InputError(f"{name} ({option}) {reason}")


def _reported(file: str, data: LabelledObjects, session: Session) -> LabelledObjects:
    session.report(f"{Path(file).name}: {str(data)[1:-1]}")
    return data


@contextmanager
def reported_warnings(session: Session) -> Iterator[None]:
    """Report warnings as lines of the command."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(in_options(warning.message) for warning in caught):
        session.report(f"warning: {text}")


def lonely_classes(counts: Mapping[Any, int]) -> str:
    """Return a note if most classes have one object each, which no model can learn."""
    n = sum(count == 1 for count in counts.values())
    if 2 * n <= len(counts) or len(counts) < 20:
        return ""
    return (
        f"{n} classes have one object each, which no model can learn: to find the nearest of "
        "known objects instead, see d2ke index --help"
    )
