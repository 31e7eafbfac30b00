# SPDX-License-Identifier: BSD-3-Clause
"""Costs of edits, learned from a table of pairs: `d2ke learn-costs`."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from d2ke.cli.costs_file import write_costs
from d2ke.cli.object_files import read_records
from d2ke.cli.result_files import InputError
from d2ke.cli.session import Session
from d2ke.distances import learned_costs
from d2ke.objects.column_names import ColumnNames


def learn_costs(options: argparse.Namespace, session: Session) -> None:
    """Learn costs from two columns of a table, and write them."""
    if len(options.columns) != 2:
        raise InputError(f"columns (--columns) must be two, WRONG,RIGHT, got {options.columns}")
    kinds = dict.fromkeys(options.columns, "strings")
    records = read_records(options.file, ColumnNames(tuple(kinds)), kinds, session).objects
    for name in options.columns:
        gaps = np.flatnonzero(records[name].missing)
        if gaps.size:
            raise InputError(
                f"columns (--columns): {name!r} is missing in row {gaps[0]} of {options.file} and "
                f"in {len(gaps)} in all; remove rows without a pair"
            )
    wrong, right = (records[name].values for name in options.columns)
    costs = learned_costs.learn_costs(
        wrong, right, symmetric=options.symmetric, transposition=options.transposition,
        n_threads=session.n_threads,
    )  # fmt: skip
    session.report(str(costs)[1:-1])
    write_costs(Path(options.out), costs)
    session.report(f"costs: {options.out}")
