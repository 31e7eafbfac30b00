# SPDX-License-Identifier: BSD-3-Clause
"""Cost and accuracy of all methods against the number of objects.

    python -m papers.scaling [DATA] [--methods NAME ...] [--smallest 125] [--largest N]

Each method is measured whole, choice of parameters, training and test, on training parts that
double. Settings are those of `papers.tables --quick`, with all objects in the search.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from papers.datasets import load
from papers.methods import METHODS, Division, evaluate
from papers.paper import METHOD_NAMES
from papers.settings import SETTINGS, quick
from papers.tables import line, table

_SEARCH_R = 256
_N_TEST = 1000  # the same test objects at every size
_GROWTH = 4.0  # of the cost of a method that compares all pairs, from one size to the next

Row = tuple[str, int, float, float, float]


def scaling(
    whole: Division, methods: Sequence[str], smallest: int, largest: int, seconds: float
) -> Iterator[Row]:
    """Yield name, N, percent, processor seconds, and those without the search, of each point.

    A method stops before the size that may take more than so many processor seconds.
    """
    rng = np.random.default_rng(1)
    rows, others = (rng.permutation(len(part)) for part in (whole.train, whole.test))
    test = others[:_N_TEST]
    for method in methods:
        n, spent = smallest, 0.0
        while n <= min(largest, len(rows)) and spent * _GROWTH <= seconds:
            train = rows[:n]
            division = replace(
                whole, train=whole.train[train], y_train=whole.y_train[train],
                test=whole.test[test], y_test=whole.y_test[test],
            )  # fmt: skip
            if n == smallest:
                evaluate(method, replace(division))  # the first call imports modules
            found = evaluate(method, division)
            spent = sum(found.processor.values())
            without_search = spent - found.processor.get("search", 0.0)
            yield METHOD_NAMES[method], n, found.accuracy, spent, without_search
            n *= 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("dataset", nargs="?", choices=SETTINGS, default="splice", metavar="DATA")
    add("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="NAME")
    add("--threads", type=int)
    add("--R", type=int, default=1024, help="random objects (default 1024)")
    add("--smallest", type=int, default=125, metavar="N", help="first N (default 125)")
    add("--largest", type=int, default=10**9, metavar="N", help="last N (default: all)")
    add("--seconds", type=float, default=60.0, help="processor seconds of a point, at most")
    options = parser.parse_args(arguments)
    setting = quick(SETTINGS[options.dataset])
    setting = replace(
        setting, R=options.R, search_R=min(_SEARCH_R, options.R), search_n=None, gram_n=None
    )
    whole = Division.of(load(options.dataset), setting, 0, n_threads=options.threads)
    print("\n".join(table(["method", "N", "accuracy, %", "processor s", "without search"])))
    sizes = options.smallest, options.largest, options.seconds
    for name, n, accuracy, spent, without_search in scaling(whole, options.methods, *sizes):
        print(line([name, n, f"{accuracy:.1f}", f"{spent:.2f}", f"{without_search:.2f}"]))


if __name__ == "__main__":
    main()
