# SPDX-License-Identifier: BSD-3-Clause
"""Files of objects, as the commands on them read them."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from d2ke.cli.matrix_files import InputError
from d2ke.cli.result_files import in_options
from d2ke.cli.session import Session
from d2ke.io.columns import LabelledObjects
from d2ke.io.labelled import check_categories, read_file
from d2ke.models.model import D2KEModel
from d2ke.objects.column_names import NOTHING, Columns


def read(
    options: argparse.Namespace,
    session: Session,
    earlier: Columns = NOTHING,
    *,
    streamed: bool = False,
) -> LabelledObjects:
    """Read the objects that the options name, and report what they are.

    Without names of columns in the options, the `earlier` ones are used as far as the file has
    them. With `streamed`, objects of a Parquet file stay there.
    """
    objects = None if options.objects is None else tuple(options.objects)
    columns = Columns(objects, options.labels, options.ids, options.time)
    with reported_warnings(session):
        held = read_file(
            options.file,
            columns,
            options.channels_first,
            earlier,
            kind=options.kind,
            streamed=streamed,
        )
    session.report(f"{Path(options.file).name}: {str(held)[1:-1]}")
    return held


def read_columns(options: argparse.Namespace, session: Session) -> LabelledObjects:
    """Read the records of the columns that --columns names."""
    _refuse_others(options)
    names = options.columns.split(",")
    of_categories = options.categories.split(",") if options.categories else []
    check_categories(names, of_categories)
    return _read_records(options, session, names, dict.fromkeys(of_categories, "categories"))


def read_for(model: D2KEModel, options: argparse.Namespace, session: Session) -> LabelledObjects:
    """Read objects as the model's training objects were read."""
    columns = Columns.of_dict(model.columns)
    if not model.inputs:
        return read(options, session, columns)
    _refuse_others(options)
    kinds = {name: given.kind for name, given in model.inputs.items()}
    return _read_records(options, session, list(kinds), kinds, columns)


def _read_records(
    options: argparse.Namespace,
    session: Session,
    names: Sequence[str],
    kinds: Mapping[str, str],
    earlier: Columns = NOTHING,
) -> LabelledObjects:
    wanted = Columns(tuple(names), options.labels)
    with reported_warnings(session):
        held = read_file(options.file, wanted, earlier=earlier, kinds=kinds)
    session.report(f"{Path(options.file).name}: {str(held)[1:-1]}")
    return held


def _refuse_others(options: argparse.Namespace) -> None:
    for name in ("objects", "ids", "time", "channels_first"):
        if getattr(options, name) is not None:
            raise InputError(f"--{name.replace('_', '-')} does not go with records of columns")


@contextmanager
def reported_warnings(session: Session) -> Iterator[None]:
    """Report warnings as lines of the command."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(in_options(one.message) for one in caught):
        session.report(f"warning: {text}")
