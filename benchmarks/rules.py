# SPDX-License-Identifier: BSD-3-Clause
"""The printed accuracy of `d2ke_train` beside the tested one, with near-copies and without.

    python -m benchmarks.rules [TABLE ...] [--cases TEXT ...] [--divisions 20] [--quick]

`honesty`: ten ordinary sets, and names that repeat by nature. `copies`: each training object is
replaced by noisy copies. `groups`: the test objects are of other persons, without `groups=` and
with it. "one by one" trains with `groups="none"`, "together" finds near-copies and leaves them out
together.

Columns: test accuracy in percent, printed minus tested accuracy with the standard error over
divisions, and the mean absolute difference. Division i of a data set is drawn with the seed i,
which the model has too. Needs D2KE_DATA.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

import d2ke
from benchmarks import measure
from benchmarks.rule_cases import COPIES, GROUPS, ORDINARY, Case

TABLES: Mapping[str, Mapping[str, Case]] = {
    "honesty": ORDINARY,
    "copies": COPIES,
    "groups": GROUPS,
}
RULES = ("one by one", "together")
MISSING = (FileNotFoundError, ImportError, StopIteration)


def main() -> None:
    """Print the tables: a row for each case, each kind of cases, and all."""
    parser = measure.parser(__doc__)
    parser.add_argument("tables", nargs="*", default=["honesty"], metavar="TABLE")
    parser.add_argument("--cases", nargs="+", default=[""], metavar="TEXT", help="start of a name")
    parser.add_argument("--divisions", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="the first case of each kind")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # nothing learned, letters that are not known
    for table in options.tables:
        names = [name for name in TABLES[table] if name.startswith(tuple(options.cases))]
        if options.quick:
            first = {TABLES[table][name].kind: name for name in reversed(names)}
            names = [name for name in names if name in first.values()]
        columns = (
            f"{rule}: {what}" for rule in RULES for what in ("test", "printed - test", "size")
        )
        measure.header(table, "train", *columns)
        kinds: dict[str, list[np.ndarray]] = {}
        for name in names:
            case = TABLES[table][name]
            try:
                found = np.array([division(case, seed) for seed in range(options.divisions)])
            except MISSING as error:
                measure.progress(f"{name} is left out: {error}")
                continue
            show(name, case.split(0).y.shape[0], found)
            kinds.setdefault(case.kind, []).append(found)
        for kind, rows in kinds.items():
            show(f"**{kind}**, {len(rows)}", "", np.array(rows).mean(axis=1))
        every = [rows.mean(axis=0) for some in kinds.values() for rows in some]
        if every:
            show(f"**all**, {len(every)}", "", np.array(every))


def division(case: Case, seed: int) -> list[list[float]]:
    """Return tested accuracy, printed minus tested, and its size, by each rule."""
    split = case.split(seed)
    result = []
    for rule in RULES:
        given = case.options(len(split.y))
        if rule == "one by one":
            given["groups"] = "none"
        elif case.grouped:
            given["groups"] = split.groups
        model = d2ke.d2ke_train(split.y, split.X, seed=seed, n_threads=1, **given)
        labels = d2ke.d2ke_predict(None, split.new, model, n_threads=1)[0]
        share = np.mean(labels == split.true)
        gap = model.accuracy - 100 * share
        result.append([100 * share, gap, abs(gap)])
    return result


def show(title: str, size: object, found: np.ndarray) -> None:
    """Print means over the first axis; the differences have their standard error."""
    cells = []
    for test, gap, most in found.transpose(1, 2, 0):
        error = f" ± {gap.std(ddof=1) / np.sqrt(len(gap)):.2f}" if len(gap) > 1 else ""
        cells += [f"{test.mean():.1f}", f"{gap.mean():+.2f}{error}", f"{most.mean():.1f}"]
    measure.row(title, size, *cells)


if __name__ == "__main__":
    main()
