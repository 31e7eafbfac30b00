# SPDX-License-Identifier: BSD-3-Clause
"""Base classes of the indexes of a search: columns prepared for any rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from d2ke.distances.columns import Columns
from d2ke.distances.problem import PairwiseProblem
from d2ke.neighbors.bounded import Bounded, EarlierSearches, search_bounded
from d2ke.neighbors.info import NeighborsInfo
from d2ke.neighbors.lists import NearestLists, WithinLists
from d2ke.neighbors.problem import NeighborSearch
from d2ke.objects.container import Objects


class SearchIndex(ABC):
    """The objects Y of a search, prepared once for any rows X."""

    @classmethod
    @abstractmethod
    def applies(cls, search: NeighborSearch, reused: bool) -> bool:
        """Return whether this index suits a search; `reused`: it serves later searches, too."""

    @classmethod
    @abstractmethod
    def build(cls, search: NeighborSearch, reused: bool) -> SearchIndex:
        """Prepare the objects Y of a search."""

    @abstractmethod
    def query(
        self, search: NeighborSearch, lists: NearestLists | WithinLists, info: NeighborsInfo
    ) -> None:
        """Fill the lists of a search of Y, and count the computed distances."""

    def bounds(self, pairs: PairwiseProblem, n_threads: int) -> Bounded | None:
        """Return lower bounds of all pairs of any X and Y, if it has any."""
        return None

    def extended(
        self, pairs: PairwiseProblem, base: np.ndarray, n_threads: int
    ) -> SearchIndex | None:
        """Return the index of the columns of `pairs`, or None to build it anew.

        The first columns are the objects at the positions `base` of this index.
        """
        return None

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what `from_arrays` takes; an index without arrays is built again."""
        return {}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], pairs: PairwiseProblem) -> SearchIndex:
        """Return the index with these arrays; `pairs` has its objects Y and their distance."""
        raise NotImplementedError


class BoundedIndex(SearchIndex):
    """An index that searches by lower bounds.

    A reused index compiles its objects once, and records the costs of searches of few rows.
    """

    _earlier: EarlierSearches | None = None
    _compiled: Columns | None = None

    def prepare(self, pairs: PairwiseProblem) -> None:
        """Prepare for many searches."""
        self._earlier = EarlierSearches()
        if isinstance(pairs.distance, str) and isinstance(pairs.y, Objects):
            self._compiled = Columns(pairs.y, pairs.distance, pairs.params)

    def query(
        self, search: NeighborSearch, lists: NearestLists | WithinLists, info: NeighborsInfo
    ) -> None:
        """Search by the bounds where that is faster, else by all distances."""
        if self._compiled is not None:
            search = replace(search, pairs=self._compiled.prepared(search.pairs))
        bounds = self.bounds(search.pairs, search.n_threads)
        search_bounded(search, bounds, lists, info, self._earlier)
