# SPDX-License-Identifier: BSD-3-Clause
"""The objects of an index: they come and go, and are kept in segments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke.distances.problem import ArgumentNames, PairwiseProblem
from d2ke.distances.record_pairs import RecordDistance, check_any_pairs
from d2ke.neighbors import segments as kept_in
from d2ke.neighbors.index_ids import named, refuse_missing
from d2ke.neighbors.segments import Segment
from d2ke.objects.container import take
from d2ke.objects.records import join

_TAIL = 4096  # objects that are joined to those that come, at most
_OWN = ArgumentNames("Index", "objects", "objects")


@dataclass(frozen=True)
class Distance:
    """The distance of an index, with all that it was given or learned when the index was built.

    Attributes
    ----------
    distance : str, callable, or dict of str to (distance, parameters)
        As for `nearest`; a dict for records.
    params : dict
        Its parameters; of records, the weights of columns.
    metric : bool
        Whether it is a metric, according to the user.
    """

    distance: Any
    params: Mapping[str, Any]
    metric: bool

    @classmethod
    def of(cls, pairs: PairwiseProblem, metric: bool) -> Distance:
        """Return the distance of checked pairs."""
        by = pairs.distance
        if isinstance(by, RecordDistance):
            by = {name: (column.distance, column.params) for name, column in by.columns.items()}
        return cls(by, pairs.params, metric)

    def __repr__(self) -> str:
        if isinstance(self.distance, dict):
            return repr({name: distance for name, (distance, _) in self.distance.items()})
        return repr(self.distance)

    def pairs(self, X: Any, Y: Any = None, names: ArgumentNames = _OWN) -> PairwiseProblem:
        """Check X and Y, and return their pairs."""
        return check_any_pairs(X, Y, self.distance, self.params, names)

    def functions(self) -> Iterator[Callable[..., float]]:
        """Yield the user's functions."""
        by = self.distance
        each = [by] if not isinstance(by, dict) else [distance for distance, _ in by.values()]
        yield from (distance for distance in each if not isinstance(distance, str))


class Collection:
    """Objects with numbers, which ascend and are never used again.

    Changes put a new tuple of segments in the place of the old one, so that searches which began
    before go on with what was there.

    Attributes
    ----------
    distance : Distance
        How objects are compared.
    segments : tuple of Segment
        In the order of their numbers; none is empty.
    next : int
        The number of the next object.
    """

    def __init__(self, distance: Distance, segments: Sequence[Segment], next_: int):
        self.distance, self.segments, self.next = distance, tuple(segments), next_
        self._ids: tuple[tuple[Segment, ...], NDArray[Any]] | None = None

    def __len__(self) -> int:
        return sum(len(segment) - segment.n_hidden for segment in self.segments)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers of the objects that are there."""
        return np.concatenate([s.numbers[~s.hidden] for s in self.segments])

    @property
    def ids(self) -> NDArray[Any] | None:
        """The ids by number, those of objects that left -1, "" or as they were; read-only."""
        segments, known = self.segments, self._ids
        if known is not None and known[0] is segments:
            return known[1]
        held = [segment.ids for segment in segments if segment.ids is not None]
        if not held:
            return None
        dtype = np.result_type(*held)
        ids = np.full(self.next, -1 if dtype.kind == "i" else "", dtype)
        for segment, own in zip(segments, held, strict=True):
            ids[segment.numbers] = own
        ids.flags.writeable = False
        self._ids = segments, ids
        return ids

    def take(self, numbers: NDArray[np.int64]) -> Any:
        """Return the objects with these numbers, and with the names that they have here."""
        order = np.argsort(numbers, kind="stable")
        parts, names = [], []
        for segment, places in zip(self.segments, self.places(numbers[order]), strict=True):
            if len(places):
                parts.append(take(segment.pairs.y, places))
                names += [] if segment.ids is None else [segment.ids[places]]
        # Segments ascend, so their parts end to end are in the order of the numbers.
        back = np.argsort(order, kind="stable")
        return named(take(join(parts), back), np.concatenate(names)[back] if names else None)

    def places(self, wanted: NDArray[Any], by_ids: bool = False) -> list[NDArray[np.int64]]:
        """Return the places in each segment of objects by their numbers or ids; refuse others."""
        name, found = "ids" if by_ids else "indices", []
        for segment in self.segments:
            places = segment.places(wanted, by_ids)
            found.append(places[places >= 0])
        if sum(map(len, found)) < len(wanted):
            there, ids = self.numbers, self.ids
            refuse_missing(name, wanted, ids[there] if by_ids and ids is not None else there)
        return found

    def add(self, objects: Any, ids: NDArray[Any] | None) -> NDArray[np.int64]:
        """Add a segment of new objects; the last segments of like size become one.

        So there are O(log n) of them, and each object is merged O(log n) times.
        """
        numbers = np.arange(self.next, self.next + len(objects))
        # First: a search in another thread has a column for each object that it finds.
        self.next += len(objects)
        segments = [*self.segments, self._segment(objects, numbers, ids)]
        first, size = len(segments) - 1, len(numbers)
        while first and len(segments[first - 1]) <= max(2 * size, _TAIL - size):
            first -= 1
            size += len(segments[first])
        if first < len(segments) - 1:
            segments[first:] = [self._merged(segments[first:])]
        self.segments = tuple(segments)
        return numbers.copy()

    def hide(self, places: Sequence[NDArray[np.int64]]) -> None:
        """Hide objects of each segment.

        They are left out where they are half of it, or where that loses nothing: few objects, and
        a function of the user, which is not called for them any more.
        """
        segments, functions = [], any(self.distance.functions())
        for segment, own in zip(self.segments, places, strict=True):
            if len(own):
                segment = segment.without(own)
            n, hidden = len(segment), segment.n_hidden
            if hidden < n:
                lost = n >= kept_in.FEWEST and not (functions and segment.is_scanned)
                keep = not hidden or (lost and 2 * hidden <= n)
                segments.append(segment if keep else self._merged([segment]))
        self.segments = tuple(segments)

    def whole(self) -> Segment:
        """Return one segment of all objects that are there, and keep it."""
        if len(self.segments) > 1 or self.segments[0].n_hidden:
            self.segments = (self._merged(self.segments),)
        return self.segments[0]

    def shown(self) -> list[Segment]:
        """Return the segments without what is hidden."""
        return [self._merged([s]) if s.n_hidden else s for s in self.segments]

    def _merged(self, segments: Sequence[Segment]) -> Segment:
        """Return one segment of the objects of several that are there."""
        kept = [segment.kept() for segment in segments]
        ids = [own for _, _, own in kept if own is not None]
        merged = self._segment(
            join([part for part, _, _ in kept]),
            np.concatenate([numbers for _, numbers, _ in kept]),
            np.concatenate(ids) if ids else None,
        )
        merged.prepared.before = segments[0].index_before()
        return merged

    def _segment(
        self, objects: Any, numbers: NDArray[np.int64], ids: NDArray[Any] | None
    ) -> Segment:
        hidden = np.zeros(len(numbers), bool)
        return Segment(self.distance.pairs(objects), numbers, hidden, ids, self.distance.metric)
