# SPDX-License-Identifier: BSD-3-Clause
"""Files of objects, as the commands on them read them."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from d2ke.cli.result_files import in_options
from d2ke.cli.session import Session
from d2ke.io.columns import NOTHING, Columns, LabelledObjects
from d2ke.io.labelled import read_file


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


@contextmanager
def reported_warnings(session: Session) -> Iterator[None]:
    """Report warnings as lines of the command."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(in_options(one.message) for one in caught):
        session.report(f"warning: {text}")
