# SPDX-License-Identifier: BSD-3-Clause
"""Three rules of `d2ke_train`, each alone and together, beside what they replaced.

    python -m benchmarks.rules accuracy [--cases TEXT ...] [--rules NAME ...] [--divisions 3]
    python -m benchmarks.rules honesty --divisions 20
    python -m benchmarks.rules copies groups
    python -m benchmarks.rules time --rules old all

The rules: "own", the own column of a training object that is a random object; "shares", stacked
shares of families; "copies", near-copies that are left out together. "old" has none of them, and
"all" has all.

`accuracy`: test accuracy in percent, of a regression 100 R^2. The first rules are shown as they
are, the others as differences from them, with the standard error over divisions; the mean of a
kind has that over its data sets. `honesty` and `copies`: printed minus tested accuracy, in ten
ordinary sets, and where each training object has been replaced by noisy copies. `groups`: the same
where test objects are of other persons, without and with `groups=`. `time`: processor
seconds of training, one thread, the least of the divisions.

Division i of a data set is drawn with the seed i, which the model has too. Series of the archives
have the published division, so that only the seed of the model differs. `--save` keeps all numbers
in a file, and does not compute again what is there. Needs D2KE_DATA, OpenCV and scikit-learn.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import d2ke
from benchmarks import measure
from benchmarks.old_rules import RULES, rules
from benchmarks.rule_cases import CASES, COPIES, GROUPS, ORDINARY, TIMES, Case

_TABLES: Mapping[str, Mapping[str, Case]] = {
    "accuracy": CASES,
    "honesty": ORDINARY,
    "copies": COPIES,
    "groups": GROUPS,
    "time": TIMES,
}
_MISSING = (FileNotFoundError, ImportError, StopIteration)
Row = dict[str, float]
Rows = dict[str, list[Row]]  # by rules, for each division


def main() -> None:
    """Print the tables."""
    parser = measure.parser(__doc__, quick="the first case of each kind")
    parser.add_argument("tables", nargs="*", default=["accuracy"], metavar="TABLE")
    parser.add_argument("--cases", nargs="+", default=[""], metavar="TEXT", help="start of a name")
    parser.add_argument("--rules", nargs="+", default=list(RULES), choices=RULES)
    parser.add_argument("--divisions", type=int, default=3)
    parser.add_argument("--save", type=Path, help="a JSON file for all numbers")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # nothing learned, letters that are not known
    kept = Kept(arguments.save)
    for table in arguments.tables:
        cases = {
            name: case
            for name, case in _TABLES[table].items()
            if name.startswith(tuple(arguments.cases))
        }
        if arguments.quick:
            first = {case.kind: name for name, case in reversed(cases.items())}
            cases = {name: case for name, case in cases.items() if name in first.values()}
        found: dict[str, dict[str, Rows]] = {}
        _print_header(table, arguments.rules)
        for name, case in cases.items():
            rows: Rows = {name: [] for name in arguments.rules}
            try:
                for seed in range(arguments.divisions):
                    for rule in arguments.rules:
                        rows[rule].append(kept.row(table, name, case, rule, seed))
            except _MISSING as error:
                measure.progress(f"{name} is left out: {error}")
                continue
            found.setdefault(case.kind, {})[name] = rows
            _SHOWN[table](name, [rows])
        if table not in ("groups", "time"):
            for kind, of_kind in found.items():
                _SHOWN[table](f"**{kind}**, {len(of_kind)}", list(of_kind.values()))
            everything = [rows for of_kind in found.values() for rows in of_kind.values()]
            _SHOWN[table](f"**all**, {len(everything)}", everything)
        print()


class Kept:
    """The numbers that were computed, in a file if there is one."""

    def __init__(self, file: Path | None):
        self.file = file
        self.rows: dict[str, Row] = {}
        if file is not None and file.exists():
            self.rows = json.loads(file.read_text("utf-8"))

    def row(self, table: str, name: str, case: Case, rule: str, seed: int) -> Row:
        """Return the numbers of one training."""
        key = f"{table} | {name} | {rule} | {seed}"
        if key not in self.rows:
            self.rows[key] = trained(case, rule, seed)
            if self.file is not None:
                self.file.write_text(json.dumps(self.rows, indent=0), "utf-8")
        return self.rows[key]


def trained(case: Case, rule: str, seed: int) -> Row:
    """Train a model and test it."""
    split = case.split(seed)
    with rules(rule) as arguments:
        begin = time.process_time()
        options = {**case.options(len(split.y)), **arguments}
        if case.grouped:
            options["groups"] = split.groups
        model = d2ke.d2ke_train(split.y, split.X, seed=seed, n_threads=1, **options)
        seconds = time.process_time() - begin
    predicted = d2ke.d2ke_predict(None, split.new, model, n_threads=1)[0]
    return {
        "train": len(split.y),
        "test": 100 * accuracy(predicted, split.true, model.classes is None),
        "printed": model.accuracy,
        "error": model.accuracy_error,
        "seconds": seconds,
    }


def accuracy(predicted: np.ndarray, true: np.ndarray, is_regression: bool) -> float:
    """Return the share of right labels, or R^2."""
    if is_regression:
        return float(1 - np.mean((predicted - true) ** 2) / np.var(true))
    return float(np.mean(predicted == true))


def _print_header(table: str, names: list[str]) -> None:
    with_gaps = [text for name in names for text in (f"{name}, test", "printed - test")]
    columns = {
        "accuracy": [names[0], *(f"{name} - {names[0]}" for name in names[1:])],
        "honesty": [text for name in names for text in (name, "largest")],
        "copies": with_gaps,
        "groups": with_gaps,
        "time": [names[0], *(f"{name} / {names[0]}" for name in names[1:])],
    }[table]
    measure.header("data", "train", *columns)


def _column(rows: list[Row], name: str) -> np.ndarray:
    return np.array([row[name] for row in rows])


def _gaps(rows: list[Row]) -> np.ndarray:
    """Return printed minus tested accuracy of each division."""
    return _column(rows, "printed") - _column(rows, "test")


def _with_error(values: np.ndarray) -> str:
    """Show a mean and its standard error."""
    if len(values) < 2:
        return f"{values.mean():+.2f}"
    return f"{values.mean():+.2f} ± {values.std(ddof=1) / np.sqrt(len(values)):.2f}"


def _size(cases: list[Rows]) -> Any:
    return int(next(iter(cases[0].values()))[0]["train"]) if len(cases) == 1 else ""


def _show_accuracy(title: str, cases: list[Rows]) -> None:
    """Print accuracies: over the divisions of one case, or over the means of several."""
    first, *others = cases[0]
    tests = {
        rule: np.array([_column(rows[rule], "test") for rows in cases]) for rule in (first, *others)
    }
    differences = [tests[rule] - tests[first] for rule in others]
    cells = [_with_error(d[0] if len(d) == 1 else d.mean(axis=1)) for d in differences]
    measure.row(title, _size(cases), f"{tests[first].mean():.2f}", *cells)


def _show_honesty(title: str, cases: list[Rows]) -> None:
    """Print printed minus tested accuracy, and the largest mean of a case in absolute value."""
    cells = []
    for rule in cases[0]:
        gaps = np.array([_gaps(rows[rule]) for rows in cases])
        cells.append(_with_error(gaps[0] if len(gaps) == 1 else gaps.mean(axis=1)))
        cells.append(f"{np.abs(gaps.mean(axis=1)).max():.2f}")
    measure.row(title, _size(cases), *cells)


def _show_copies(title: str, cases: list[Rows]) -> None:
    """Print accuracies and the mean absolute difference of printed and tested ones."""
    cells = []
    for rule in cases[0]:
        tests = np.mean([_column(rows[rule], "test") for rows in cases])
        gaps = np.mean([np.abs(_gaps(rows[rule])) for rows in cases])
        cells += [f"{tests:.1f}", f"{gaps:.1f}"]
    measure.row(title, _size(cases), *cells)


def _show_time(title: str, cases: list[Rows]) -> None:
    """Print the least seconds of the first rules, and the others' over them."""
    first, *others = [_column(rows, "seconds").min() for rows in cases[0].values()]
    measure.row(title, _size(cases), f"{first:.2f}", *(f"{one / first:.2f}" for one in others))


_SHOWN: Mapping[str, Any] = {
    "accuracy": _show_accuracy,
    "honesty": _show_honesty,
    "copies": _show_copies,
    "groups": _show_copies,
    "time": _show_time,
}


if __name__ == "__main__":
    main()
