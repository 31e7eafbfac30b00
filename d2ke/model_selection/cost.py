# SPDX-License-Identifier: BSD-3-Clause
"""What a search takes, by the rows of `search` in the table of memory; and which way suits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from d2ke._base.memory import SPARE, bytes_needed, check_limit, needs, require_memory
from d2ke._base.threads import thread_count
from d2ke.learners.libsvm import cache_bytes
from d2ke.learners.losses import hinge_can_pay
from d2ke.learners.newton import block_newton_sizes
from d2ke.model_selection.fold_sums import block_bytes, fewer_operations
from d2ke.model_selection.folds import SearchProblem
from d2ke.model_selection.squared_hinge import folds_together

HAT = '"d2ke", "rsm": blocks of the hat matrix'
PRODUCTS = '"d2ke", "rsm": sums of products'
HINGE = '"d2ke", "rsm": squared hinge loss'

needs(
    "search",
    {
        HAT: "D + 40 n R T + 48 M^2 T + 32 H^2 T + W",
        PRODUCTS: "D + 8 R^2 f + 56 R^2 T + 16 R k f C + 4 B + 2 B T + W",
        HINGE: "D + Z + 112 n K + 24 M P + 24 L M + 320 M K + 8 MiB T + 32 MiB + W",
    },
    "a folder for the distances; a part of the objects, fewer threads, or a smaller R",
)
needs(
    "search",
    {
        '"knn"': "D + 64 n + 64 MiB + W",
        '"dsk_rbf", "dsk_nd"': "D + 16 n^2 + 24 n^2 T + Q T + W",
        '"gdk_led"': "D + 40 n^2 + 64 n R + 32 H^2 + 112 n K + W",
    },
    "give a part of the objects, or fewer threads",
)

# What it takes to verify a store and find its median.
_VERIFY_BYTES = 3 << 24


@dataclass(frozen=True)
class SearchCost:
    """What the time and the memory of a search depend on.

    Attributes
    ----------
    problem : SearchProblem
        The labels and folds.
    sizes : sequence of int
        Values of R.
    n_costs, n_views : int
        Values of C; settings that there may be with the same gamma.
    hinge : bool
        Whether the squared hinge loss is tried.
    force_hinge : bool
        Whether it is tried where it cannot pay, too.
    distances : int
        Bytes of distances that are held in memory; 0 if they are in a file.
    kernels, inputs : int
        Bytes that the distance's kernels make of the objects, and of packed objects.
    limit : int, optional
        Bytes that the search may take, inputs included.
    """

    problem: SearchProblem
    sizes: Sequence[int] = (1,)
    n_costs: int = 0
    n_views: int = 0
    hinge: bool = False
    force_hinge: bool = True
    distances: int = 0
    kernels: int = 0
    inputs: int = 0
    limit: int | None = None

    def symbols(self, R: int) -> dict[str, int]:
        """Return what the symbols of the formulas stand for; see d2ke._base.memory."""
        problem = self.problem
        n, n_folds, n_classes = problem.n, problem.n_folds, problem.n_classes
        smaller, n_threads = min(n, R), thread_count(problem.n_threads)
        n_together = n_classes * folds_together(n, n_classes, n_folds)
        newton = block_newton_sizes((n, smaller), n_together, n_threads)
        held = 16 * n * R if self.distances else 0
        return {
            "n": n,
            "R": R,
            "M": smaller,
            "H": problem.largest_fold,
            "k": n_classes,
            "K": n_together,
            "f": n_folds,
            "C": self.n_costs * self.n_views,
            "T": n_threads,
            "B": block_bytes(R, n_classes, self.n_costs),
            "D": self.distances,
            "L": newton["L"],
            "P": newton["P"],
            "Q": cache_bytes(n),
            "W": self.kernels,
            "Z": held + (8 * n * (2 * n + R) if n < R else 0),
        }

    def needed(self, case: str, R: int = 1, **changes: int) -> int:
        """Return the bytes of one step above the inputs."""
        least = _VERIFY_BYTES if case in (HAT, PRODUCTS, HINGE) else 0
        return max(least, bytes_needed("search", case, **self.symbols(R) | changes))

    def fits(self, case: str, R: int, **changes: int) -> bool:
        """Whether the limit leaves room for a step."""
        if self.limit is None:
            return True
        return self.needed(case, R, **changes) + SPARE + self.inputs <= self.limit

    def by_products(self, R: int) -> bool:
        """Whether to sum products for R features: if that is cheaper, or nothing else fits."""
        problem = self.problem
        n, n_folds, n_classes = problem.n, problem.n_folds, problem.n_classes
        cheaper = fewer_operations(n, R, n_folds, n_classes, self.n_costs)
        ways = (PRODUCTS, HAT) if cheaper else (HAT, PRODUCTS)
        fitting = [way for way in ways if self.fits(way, R, **self._least(way))]
        least = min(ways, key=lambda way: self.needed(way, R, **self._least(way)))
        return (*fitting, least)[0] == PRODUCTS

    def _least(self, way: str) -> dict[str, int]:
        """Return changes of symbols: with a limit settings can be tried one after the other."""
        return {"T": 1} if way == HAT and self.limit is not None else {}

    def hat_threads(self, R: int) -> int:
        """Return how many settings with R features can be tried at the same time."""
        n_threads = thread_count(self.problem.n_threads)
        return next((T for T in range(n_threads, 1, -1) if self.fits(HAT, R, T=T)), 1)

    def holds_features(self, R: int) -> bool:
        """Whether features of distances in a file are held for the squared hinge loss."""
        more = 16 * self.problem.n * R
        return self.limit is not None and self.fits(HINGE, R, Z=self.symbols(R)["Z"] + more)

    def require(self, what: str, case: str = "") -> None:
        """Refuse a search that takes more than the machine or `max_memory` has.

        Without a case, that of a method on distances among the objects, it is about features.
        """
        steps = []
        for R in self.sizes:
            way = case or (PRODUCTS if self.by_products(R) else HAT)
            steps.append((way, R, self._least(way)))
            if self.hinge and not case and (self.force_hinge or hinge_can_pay(self.problem.n, R)):
                steps.append((HINGE, R, {}))
        step, R, changes = max(steps, key=lambda one: self.needed(one[0], one[1], **one[2]))
        require_memory("search", step, **self.symbols(R) | changes)
        check_limit(self.limit, self.needed(step, R, **changes) + SPARE + self.inputs, what)
