# SPDX-License-Identifier: BSD-3-Clause
"""Histories of an index: whatever came and went, its answers are those of the plain list."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbor_cases import means
from reference import examples, same
from test_every_distance import CASES, objects
from test_near_strings import WAYS

import d2ke
from d2ke.neighbors import collection, segments, string_costs, strings

# Tiny arrays, which are meant as they are.
pytestmark = pytest.mark.filterwarnings("ignore:every item of .* has shape")

histories = settings(max_examples=examples(60), deadline=None)


@dataclass
class Case:
    """Objects of a kind, and how they are compared.

    `collect` makes a collection of a list of items, `queries` one of items to search for; by
    default they are the list itself.
    """

    items: Any
    options: dict[str, Any]
    collect: Any = list
    queries: Any = None
    # What the plain list is given beside the options, from the objects that an index is built of.
    learned: Any = lambda _: {}


def arrays(*shapes):
    """Series or sets of whole numbers, of which many are equally far."""
    return st.sampled_from(shapes).flatmap(
        lambda shape: st.lists(
            st.integers(0, 3), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))
        ).map(lambda values: np.array(values, np.float64).reshape(shape))
    )


# Queries have letters that no object has, and may be longer than all of them.
WORDS = st.one_of(st.text("ab", max_size=3), st.text("abcde", max_size=9))
STRANGE = st.one_of(WORDS, st.text("ab\u00e9\u4e2d\U0001f600", max_size=30))
PEOPLE = st.fixed_dictionaries(
    {"name": st.text("abc", min_size=1, max_size=4), "age": st.integers(0, 5).map(float)}
)
COLUMNS = {"name": "levenshtein", "age": "absolute"}


def columns_of(people):
    return {key: [one[key] for one in people] for key in COLUMNS}


def more_columns(people):
    """Columns in another order, and one that is not compared."""
    return {"born": [1] * len(people)} | dict(reversed(columns_of(people).items()))


def weights_of(people):
    return {"weights": d2ke.distances.column_weights(columns_of(people), distance=COLUMNS)}


def named_channels(*names):
    """Series whose channels a and b stand in this order."""
    order = [("a", "b").index(name) for name in names]

    def collect(items):
        packed = d2ke.pack([x[:, order] for x in items], kind="series", channels_first=False)
        return d2ke.Objects("series", packed.values, packed.offsets, channel_names=names)

    return collect


def lengths(x, y):
    """A metric of strings: the difference of their lengths, and whether they are different."""
    return abs(len(x) - len(y)) + float(x != y)


EDITED = {
    f"{name}{', normalized' * normalize}": Case(
        WORDS, {"distance": name, "normalize": normalize}, queries=STRANGE
    )
    for name in ("levenshtein", "osa", "indel", "damerau_levenshtein")
    for normalize in (False, True)
}
KINDS = EDITED | {
    "jaro": Case(WORDS, {"distance": "jaro"}, queries=STRANGE),
    "bag": Case(WORDS, {"distance": "bag"}, queries=STRANGE),
    "infix": Case(WORDS, {"distance": "levenshtein", "mode": "infix"}, queries=STRANGE),
    "dtw": Case(arrays((1,), (4,), (6,)), {"distance": "dtw"}),
    "dtw, window": Case(arrays((5,)), {"distance": "dtw", "window": 1}),
    "dtw, two channels": Case(
        arrays((2, 2), (5, 2)), {"distance": "dtw"}, collect=named_channels("a", "b")
    ),
    "mhd": Case(arrays((1, 2), (3, 2)), {"distance": "mhd"}),
    "hausdorff": Case(arrays((1, 2), (3, 2)), {"distance": "hausdorff"}),
    "emd": Case(arrays((1, 2), (3, 2)), {"distance": "emd"}),
    "records": Case(PEOPLE, {"distance": COLUMNS}, collect=columns_of, learned=weights_of),
    "function": Case(arrays((2, 1), (3, 1)), {"distance": means}),
    "metric": Case(WORDS, {"distance": lengths, "metric": True}, queries=STRANGE),
}
OTHER_QUERIES = {"dtw, two channels": named_channels("b", "a"), "records": more_columns}
IDS = {
    "none": None,
    "numbers": st.integers(0, 40),
    "text": st.text("xy\u00e9", min_size=1, max_size=3),
}


def small(patch, data, case):
    """Let few objects make segments, and strings be searched in any way."""
    patch.setattr(segments, "FEWEST", data.draw(st.sampled_from([1, 4])))
    patch.setattr(collection, "_TAIL", data.draw(st.sampled_from([1, 5])))
    if case in EDITED.values():
        find_strings(patch, data.draw(st.sampled_from(["few", *WAYS])))


def find_strings(patch, way):
    """Search few strings by an index of pieces from the second search on, or many in some way."""
    patch.setattr(strings, "_FEWEST", 10**9 if way in ("few", "cut-offs alone") else 0)
    patch.setattr(strings, "_TRY", 1e9)
    if way == "few":
        patch.setattr(strings, "_MOST_PIECES", 100)
        patch.setattr(strings, "_TRIED", 10**9)
    times = replace(string_costs.Times(), piece=0) if way == "few" else WAYS[way]
    patch.setattr(string_costs, "TIMES", times)


@dataclass
class History:
    """An index, and the plain list of what must be in it."""

    data: Any
    name: str
    named: str
    there: dict[int, Any] = field(default_factory=dict)
    ids: dict[int, Any] = field(default_factory=dict)
    given: int = 0

    def __post_init__(self):
        self.case = KINDS[self.name]
        items, ids = self.new(1, 12)
        self.index = d2ke.Index(self.case.collect(items), ids=ids, **self.case.options)
        self.options = self.case.options | self.case.learned(items)
        self.keep(items, ids)

    def new(self, fewest, most):
        """Draw objects that come, and their ids, which only objects that left have had."""
        items = self.data.draw(st.lists(self.case.items, min_size=fewest, max_size=most))
        if self.named == "none":
            return items, None
        one = IDS[self.named].filter(lambda name: name not in self.ids.values())
        count = {"min_size": len(items), "max_size": len(items), "unique": True}
        return items, self.data.draw(st.lists(one, **count))

    def keep(self, items, ids):
        numbers = range(self.given, self.given + len(items))
        self.there |= dict(zip(numbers, items, strict=True))
        self.ids |= dict(zip(numbers, ids or [], strict=False))
        self.given += len(items)
        return list(numbers)

    def draw_some(self, fewest=1, spared=0):
        most = len(self.there) - spared
        one = st.sampled_from(list(self.there))
        return self.data.draw(st.lists(one, min_size=fewest, max_size=most, unique=True))

    def draw_queries(self):
        items = self.case.items if self.case.queries is None else self.case.queries
        X = self.data.draw(st.lists(items, min_size=1, max_size=4))
        collect = self.case.collect
        if self.name in OTHER_QUERIES and self.data.draw(st.booleans()):
            collect = OTHER_QUERIES[self.name]
        return collect(X)

    def draw_radius(self):
        return self.data.draw(st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, 3.5, 100.0]))

    def plain(self):
        return self.case.collect(list(self.there.values()))

    def add(self):
        items, ids = self.new(1, 8)
        numbers = self.index.add(self.case.collect(items), ids=ids)
        assert numbers.dtype == np.int64
        assert numbers.tolist() == self.keep(items, ids)

    def remove(self):
        gone = self.draw_some(fewest=0, spared=1)
        if self.named != "none" and gone and self.data.draw(st.booleans()):
            self.index.remove(ids=[self.ids[i] for i in gone])
        else:
            self.index.remove(gone)
        for i in gone:
            del self.there[i]
            self.ids.pop(i, None)

    def nearest(self):
        X, radius = self.draw_queries(), None
        if self.data.draw(st.booleans()):
            radius = self.draw_radius()
        k = self.data.draw(st.integers(1, len(self.there)))
        how = {"k": k, "radius": radius, "n_threads": self.data.draw(st.integers(1, 2))}
        found = self.index.nearest(X, **how)
        self.check_nearest(found, d2ke.nearest(X, self.plain(), **how, **self.options))

    def nearest_of_itself(self):
        if len(self.there) == 1:
            return
        k = self.data.draw(st.integers(1, len(self.there) - 1))
        radius = self.data.draw(st.sampled_from([None, 1.0]))
        how = {"k": k, "radius": radius, "include_self": self.data.draw(st.booleans())}
        found = self.index.nearest(None, **how)
        self.check_nearest(found, d2ke.nearest(self.plain(), **how, **self.options))

    def check_nearest(self, found, wanted):
        numbers = np.array(list(self.there))
        same(found[0], np.where(wanted[0] < 0, -1, numbers[wanted[0]]))
        same(found[1], wanted[1])

    def within(self):
        X, radius = self.draw_queries(), self.draw_radius()
        graph = self.index.within(X, radius=radius)
        self.check_within(graph, d2ke.within(X, self.plain(), radius=radius, **self.options))

    def within_of_itself(self):
        how = {"radius": self.draw_radius(), "include_self": self.data.draw(st.booleans())}
        graph = self.index.within(None, **how)
        self.check_within(graph, d2ke.within(self.plain(), **how, **self.options))

    def check_within(self, graph, wanted):
        assert graph.shape == (wanted.shape[0], self.given)
        assert graph.has_sorted_indices
        same(graph.indptr, wanted.indptr)
        assert (graph.indices == np.array(list(self.there))[wanted.indices]).all()
        assert graph.indices.dtype == wanted.indices.dtype
        same(graph.data, wanted.data)

    def look(self):
        """Compare what can be seen of the index."""
        assert len(self.index) == len(self.there)
        same(self.index.indices, np.array(list(self.there)))
        some = self.draw_some()
        some += some[:1]
        got, wanted = self.index.objects(some), self.case.collect([self.there[i] for i in some])
        if isinstance(wanted, dict):
            got, wanted = ({key: list(of[key].values) for key in wanted}
                           for of in (got, d2ke.pack_records(wanted)))  # fmt: skip
            assert got == wanted
        else:
            assert len(got) == len(wanted)
            assert all(np.array_equal(a, b) for a, b in zip(got, plainly(wanted, got), strict=True))
        if self.named == "none":
            assert self.index.ids is None
        else:
            names = self.index.ids
            assert len(names) == self.given
            assert names.dtype.kind == ("i" if self.named == "numbers" else "U")
            assert all(names[i] == name for i, name in self.ids.items())


def plainly(wanted, got):
    """Return a list of items as the collection that was got has them."""
    return d2ke.pack(wanted) if isinstance(got, d2ke.Objects) else wanted


STEPS = (
    *(History.add, History.add, History.remove, History.nearest, History.nearest),
    *(History.within, History.nearest_of_itself, History.within_of_itself, History.look),
)


@pytest.mark.parametrize("name", KINDS)
@histories
@given(data=st.data())
def test_any_history(name, data):
    with pytest.MonkeyPatch.context() as patch:
        small(patch, data, KINDS[name])
        history = History(data, name, data.draw(st.sampled_from([*IDS])))
        for step in data.draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=10)):
            step(history)
        history.nearest()
        history.within()
        history.look()


@pytest.mark.parametrize(
    ("name", "params"),
    [c.values[1:] for c in CASES if c.values[0] == "tiles"],
    ids=[c.id for c in CASES if c.values[0] == "tiles"],
)
def test_every_distance(name, params, monkeypatch):
    """Build, remove, add and search by every distance of the registry."""
    monkeypatch.setattr(segments, "FEWEST", 4)
    monkeypatch.setattr(collection, "_TAIL", 4)
    find_strings(monkeypatch, "few")
    options = {"distance": name, **params}
    X, Y = objects(name, params, 10, 0), objects(name, params, 40, 1)
    D = d2ke.distance_matrix(X, Y, **options)
    radius = float(np.quantile(D, 0.2))
    there = np.arange(20)
    index = d2ke.Index(Y[:20], **options)
    check_searches(index, X, Y, there, radius, options)
    for last, gone in ((23, [3, 21]), (len(Y) - 1, [0, 1, 40]), (len(Y), [2])):
        new = index.add(Y[there.max() + 1 : last])
        there = np.append(there, new)
        index.remove(there[gone])
        there = np.delete(there, gone)
        check_searches(index, X, Y, there, radius, options)
    index.remove(there[::2])
    check_searches(index, X, Y, there[1::2], radius, options)


def check_searches(index, X, Y, there, radius, options):
    """Compare all searches of an index with those of the plain list, twice."""
    for _ in range(2):
        for how in ({"k": 4}, {"k": len(there), "radius": radius}):
            indices, distances = d2ke.nearest(X, Y[there], **how, **options)
            found, apart = index.nearest(X, **how)
            same(found, np.where(indices < 0, -1, there[indices]))
            same(apart, distances)
        wanted, graph = (d2ke.within(X, Y[there], radius=radius, **options),
                         index.within(X, radius=radius))  # fmt: skip
        same(graph.data, wanted.data)
        same(graph.indptr, wanted.indptr)
        assert (graph.indices == there[wanted.indices]).all()
