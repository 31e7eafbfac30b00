# SPDX-License-Identifier: BSD-3-Clause
"""A call of `search` with its arguments checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.threads import team_size
from d2ke.distances.matrix import fill_array
from d2ke.distances.pairs import check_pairs
from d2ke.distances.problem import ArgumentNames, PairwiseProblem
from d2ke.model_selection.folds import SearchProblem


@dataclass(frozen=True)
class SearchCall:
    """The arguments of `search`.

    `grid` holds all values, `force_hinge` says whether the losses are the user's, `limit` is
    max_memory in bytes, of the blocks of the folder's files.
    """

    method: str
    X: Any
    problem: SearchProblem
    grid: Mapping[str, tuple[Any, ...]]
    force_hinge: bool
    distance: Any
    params: Mapping[str, Any]
    sampler: Callable[..., Any] | None = None
    within: Any = None
    folder: Path | None = None
    limit: int | None = None
    progress: bool = False

    def distances(self, Y: Any = None, *, progress: bool = False) -> np.ndarray:
        """Compute the distances of the training objects to Y, or among themselves."""
        pairs = check_pairs(self.X, Y, self.distance, self.params)
        return fill_array(pairs, None, None, team_size(self.problem.n_threads), progress)

    def pairs(self, omega: Any) -> PairwiseProblem:
        """Check the training objects and random objects for `fill`."""
        names = ArgumentNames("d2ke_embed", "X", "omega")
        return check_pairs(self.X, omega, self.distance, self.params, names)
