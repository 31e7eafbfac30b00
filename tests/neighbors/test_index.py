# SPDX-License-Identifier: BSD-3-Clause
"""Histories of an index: whatever came and went, its answers are those of the plain list."""

import copy
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbor_cases import means
from reference import examples, same
from scipy.sparse.csgraph import connected_components
from test_every_distance import CASES, objects
from test_near_strings import WAYS

import d2ke
from d2ke.neighbors import collection, string_costs, strings
from d2ke.neighbors import index as index_module

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
    patch.setattr(collection, "_MIN_INDEXED", data.draw(st.sampled_from([1, 4])))
    patch.setattr(collection, "_MAX_TAIL", data.draw(st.sampled_from([1, 5])))
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

    def groups(self):
        """Compare the groups at a radius with the parts of the graph of all."""
        if self.index._collection.segments[0].pairs.same:
            radius = self.data.draw(st.sampled_from([0.0, 1.0]))
            near = d2ke.within(self.plain(), radius=radius, **self.options)
            assert (self.index.groups(radius) == connected_components(near, False)[1]).all()

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
    *(History.within, History.nearest_of_itself, History.within_of_itself),
    *(History.groups, History.look),
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
        history.groups()
        history.look()


@pytest.mark.parametrize(
    ("name", "params"),
    [c.values[1:] for c in CASES if c.values[0] == "tiles"],
    ids=[c.id for c in CASES if c.values[0] == "tiles"],
)
def test_every_distance(name, params, monkeypatch):
    """Build, remove, add and search by every distance of the registry."""
    monkeypatch.setattr(collection, "_MIN_INDEXED", 4)
    monkeypatch.setattr(collection, "_MAX_TAIL", 4)
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


def words(n, seed=0):
    """Draw words, of which many are near others."""
    drawn = np.random.default_rng(seed).integers(0, 3, (n, 6))
    return ["".join("abc"[i] for i in row[: 3 + row[0]]) for row in drawn]


def test_what_is_given_and_returned_is_the_users_own():
    """A change of it later is none of the index."""
    items, more = [1.0, 2.0, 5.0] * 3, [7.0]
    ids, new = np.arange(9), np.array([20])
    index = d2ke.Index(items, distance=lambda x, y: abs(x - y), ids=ids)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collection, "_MAX_TAIL", 1)
        numbers = index.add(more, ids=new)
    for mine in (items, more, ids, new, numbers, index.indices, index.objects([0, 9])):
        mine[0] = 100
    assert not index.ids.flags.writeable
    assert index.indices.tolist() == [*range(10)]
    assert index.ids.tolist() == [*range(9), 20]
    assert index.objects([0, 9]) == [1.0, 7.0]
    assert index.nearest([7.0], k=1)[0].tolist() == [[9]]


@pytest.fixture
def index():
    return d2ke.Index(["kitten", "mitten", "sitting"], distance="levenshtein", ids=["a", "b", "c"])


@pytest.fixture
def numbered():
    return d2ke.Index(["kitten", "mitten", "sitting"], distance="levenshtein")


@pytest.mark.parametrize("wrong", [[1.5], [1, 1.5], [True], "a", ["a"], [[0, 1]], None, [None]])
def test_indices_that_are_none(numbered, wrong):
    with pytest.raises(TypeError, match="indices must be integers, got"):
        numbered.objects(wrong)
    with pytest.raises(TypeError, match="indices "):
        numbered.remove(wrong)
    assert len(numbered) == 3


def test_objects_that_are_not_there(numbered):
    with pytest.raises(ValueError, match="indices is empty: at least one is needed"):
        numbered.objects([])
    numbered.remove(1)
    for wrong in (1, 3, -1, 10**6):
        message = f"indices has {wrong}, but no object of the index has it"
        for call in (numbered.objects, numbered.remove):
            with pytest.raises(ValueError, match=message):
                call([0, wrong])
    assert numbered.indices.tolist() == [0, 2]
    numbered.remove([])
    numbered.remove([2, 2])
    assert len(numbered) == 1
    with pytest.raises(ValueError, match="indices are those of all objects: at least one must"):
        numbered.remove([0])
    assert list(numbered.objects(0)) == ["kitten"]


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (None, TypeError, "ids are needed: the objects of the index have them"),
        ([1, 2], TypeError, "ids are numbers, but those of the index are text"),
        (["d"], ValueError, "ids has 1 names, but objects has 2 rows"),
        (["d", "d"], ValueError, "ids has 'd' twice; names must differ"),
        (["d", "b"], ValueError, r"ids\[1\] is 'b', which an object of the index has"),
        (["d", None], ValueError, r"ids\[1\] is missing"),
        ("de", TypeError, "ids must be a sequence of names, got 'de'"),
    ],
)
def test_ids_that_cannot_come(index, ids, error, message):
    with pytest.raises(error, match=message):
        index.add(["x", "y"], ids=ids)
    assert len(index) == 3
    assert index.add(["x"], ids=["d"]).tolist() == [3]


def test_ids_that_an_index_cannot_have():
    for ids, message in (
        (["d", "d"], "ids has 'd' twice; names must differ"),
        (["d"], "ids has 1 names, but objects has 2 rows"),
        ([1, "d"], r"ids\[1\] is 'd' in a column of numbers"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            d2ke.Index(["x", "y"], distance="osa", ids=ids)


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (["a", "d"], ValueError, "ids has 'd', but no object of the index has it"),
        ([1], TypeError, "ids are numbers, but those of the index are text"),
        (["a", "b", "c"], ValueError, "ids are those of all objects: at least one must stay"),
        (["a", None], ValueError, r"ids\[1\] is missing"),
        ("a", TypeError, "ids must be a sequence of names, got 'a'"),
    ],
)
def test_ids_that_cannot_leave(index, ids, error, message):
    with pytest.raises(error, match=message):
        index.remove(ids=ids)
    index.remove(ids=[])
    assert len(index) == 3


def test_ids_of_objects_that_left_may_come_again(index):
    index.remove(ids=["b", "b"])
    with pytest.raises(ValueError, match="ids has 'b', but no object"):
        index.remove(ids=["b"])
    assert index.add(d2ke.pack(["bitten"], ids=["b"])).tolist() == [3]
    index.remove(ids=["b"])
    assert index.indices.tolist() == [0, 2]
    numbers = d2ke.Index(["x", "y"], distance="osa", ids=[1, 2])
    with pytest.raises(TypeError, match="ids are text, but those of the index are numbers"):
        numbers.remove(ids=["1"])


def test_ids_are_those_of_the_objects_if_they_differ(numbered):
    assert d2ke.Index(d2ke.pack(["x", "y"], ids=[5, 7]), distance="osa").ids.tolist() == [5, 7]
    assert d2ke.Index(d2ke.pack(["x", "y"], ids=[5, 5]), distance="osa").ids is None
    with pytest.raises(TypeError, match="ids are given, but the objects of the index have none"):
        numbered.add(["x"], ids=["d"])
    with pytest.raises(TypeError, match="ids are given, but the objects have none"):
        numbered.remove(ids=["d"])
    numbered.add(d2ke.pack(["x"], ids=["d"]))
    assert numbered.ids is None
    for both in ({}, {"indices": [0], "ids": ["a"]}):
        with pytest.raises(TypeError, match="indices or ids must be given, and not both"):
            numbered.remove(**both)


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"k": 4}, ValueError, "k is 4, but the index has 3 objects"),
        ({"k": 0}, ValueError, "k must be at least 1, got 0"),
        ({"k": 1, "radius": -1}, ValueError, "radius must be a finite number >= 0, got -1"),
        ({"radius": -1}, ValueError, "radius must be a finite number >= 0, got -1"),
        ({"radius": np.nan}, ValueError, "radius must be a finite number >= 0, got nan"),
        ({"k": 1, "n_threads": 0}, ValueError, "n_threads must be at least 1, got 0"),
        ({"k": 1, "include_self": True}, TypeError, "include_self goes with X=None"),
        ({"radius": 1, "include_self": True}, TypeError, "include_self goes with X=None"),
        ({"k": 1, "include_self": 1}, TypeError, "include_self must be True or False, got 1"),
    ],
)
def test_searches_that_cannot_be(numbered, how, error, message):
    numbered.add(["bitten"])
    numbered.remove(0)
    with pytest.raises(error, match=message):
        (numbered.nearest if "k" in how else numbered.within)(["bit"], **how)


def test_k_of_the_objects_themselves(numbered):
    with pytest.raises(ValueError, match="k is 3, but X has 3 objects: each has at most 2 others"):
        numbered.nearest(None, k=3)


def test_a_search_while_objects_come_and_go(numbered, monkeypatch):
    """It is one of the objects at some moment, and its columns suffice for them."""
    queries = index_module._queries

    def changed(*given):
        numbered.add(["smitten"])
        numbered.remove([0])
        found = queries(*given)
        numbered.remove([1])
        return found

    monkeypatch.setattr(index_module, "_queries", changed)
    graph = numbered.within(["mitten"], radius=1)
    assert graph.shape[1] >= 4
    assert graph.indices.tolist() == [1, 3]
    numbered.add(["kitten", "mitten"])
    later = lambda *given: (queries(*given), numbered.remove([2, 3, 4]))[0]  # noqa: E731
    monkeypatch.setattr(index_module, "_queries", later)
    assert numbered.nearest(["mitten"], k=4)[0].tolist() == [[5, 3, 4, 2]]


@pytest.mark.parametrize("records", [False, True])
def test_a_function_is_not_called_for_objects_that_left(records):
    def distance(x, y):
        if 9 in (x, y):
            raise ZeroDivisionError("called for 9")
        return abs(x - y)

    def column(values):
        return {"age": [float(value) for value in values]} if records else values

    by = {"age": distance} if records else distance
    given = {"weights": {"age": 2.0}} if records else {}
    index = d2ke.Index(column([3, 9, 1, 5, 4]), distance=by, **given)
    with pytest.raises(ZeroDivisionError, match="called for 9"):
        index.nearest(column([4]), k=1)
    index.remove(1)
    wanted = d2ke.nearest(column([4, 2]), column([3, 1, 5, 4]), k=4, distance=by, **given)
    indices, distances = index.nearest(column([4, 2]), k=4)
    same(indices, np.array([0, 2, 3, 4])[wanted[0]])
    same(distances, wanted[1])
    indices, _ = index.nearest(column([4]), k=4, radius=2.5)
    assert indices.tolist() == ([[4, 0, 3, -1]])
    graph = index.within(column([4, 2]), radius=2.5)
    assert graph.indices.tolist() == ([0, 3, 4, 0, 2, 4] if not records else [0, 3, 4, 0, 2])
    index.nearest(None, k=1)


FLAT = np.zeros((4, 2))
PAIRS = {"two": ["ab", "cd"], "age": [1.0, 2.0]}
OTHERS = {
    "kind": (
        (["kitten"], {"distance": "levenshtein"}),
        [FLAT],
        {"add": r"objects\[0\] must be a str", "nearest": "'levenshtein' is for strings, but X"},
    ),
    "none": (
        (["kitten"], {"distance": "levenshtein"}),
        [],
        {"add": "objects is empty: at least one", "nearest": "X is empty: at least one object"},
    ),
    "dtype": (
        ([FLAT], {"distance": "dtw"}),
        [FLAT.astype(np.float32)],
        {"add": "objects are float32; those of the index are float64"},
    ),
    "number of channels": (
        ([FLAT], {"distance": "dtw"}),
        [np.zeros((4, 3))],
        {"add": "objects has 3", "nearest": "X has vectors of 3 .* but the index has 2"},
    ),
    "names of channels": (
        (named_channels("a", "b")([FLAT]), {"distance": "dtw"}),
        d2ke.Objects("series", FLAT, [0, 4], channel_names=["a", "c"]),
        {"add": "objects.*'c'", "nearest": "X.*'c'"},
    ),
    "column": (
        (PAIRS, {"distance": {"two": "osa", "age": "absolute"}}),
        {"two": ["ab"], "years": [1.0]},
        {"add": "'age', but objects has 'two', 'years'", "nearest": "'age', but X has 'two', 'ye"},
    ),
    "column of another kind": (
        (PAIRS, {"distance": {"two": "osa", "age": "absolute"}}),
        {"two": ["ab"], "age": ["x"]},
        {"add": r"objects\['age'\] holds strings", "nearest": r"X\['age'\] holds strings"},
    ),
    "no table": (
        (PAIRS, {"distance": {"two": "osa", "age": "absolute"}}),
        ["ab"],
        {"add": "objects must be a dict of columns", "nearest": "X must be a dict of columns"},
    ),
    "dtype in a column": (
        ({"curve": [FLAT]}, {"distance": {"curve": "dtw"}}),
        {"curve": [FLAT.astype(np.float32)]},
        {"add": "objects are float32 in column 'curve'; those of the index are float64"},
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_objects_that_are_not_like_those_of_the_index(name):
    (items, options), other, messages = OTHERS[name]
    index = d2ke.Index(items, **options)
    n = len(index)
    for call, message in messages.items():
        with pytest.raises((TypeError, ValueError), match=message):
            index.add(other) if call == "add" else index.nearest(other, k=1)
    assert len(index) == n
    assert index.add(items).tolist() == list(range(n, 2 * n))


@pytest.mark.parametrize(
    ("items", "options", "message"),
    [
        (np.eye(3), {"distance": "precomputed"}, "distance is 'precomputed'; an index computes"),
        (["a"], {"distance": "levenshtein", "metric": True}, "metric goes with a Python distance"),
        (["a"], {"distance": lengths, "metric": 1}, "metric must be True or False, got 1"),
        (
            ["a"],
            {"distance": "levenshtein", "letter": 1},
            "'levenshtein' has no parameter 'letter'",
        ),
        (["a"], {"distance": "unknown"}, "distance must be one of"),
        ([], {"distance": "levenshtein"}, "objects is empty: at least one object is needed"),
        (["a"], {"metric_name": "osa"}, "'levenshtein' has no parameter 'metric_name'"),
        (["a"], {"dist": "osa"}, r"Index: unknown keyword 'dist' \(did you mean distance=\?\)"),
    ],
)
def test_indexes_that_cannot_be(items, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        d2ke.Index(items, **options)


@pytest.mark.parametrize(
    ("items", "options"),
    [
        (words(200), {"distance": "levenshtein"}),
        (words(200), {"distance": "damerau_levenshtein", "normalize": True}),
        (words(100), {"distance": lengths}),
        ({"name": words(100), "age": [*range(100)]}, {"distance": COLUMNS}),
    ],
    ids=["levenshtein", "damerau", "function", "records"],
)
def test_searches_of_several_threads(items, options, monkeypatch):
    """Each is as it would be alone, whatever the others prepare in the meantime."""
    monkeypatch.setattr(collection, "_MIN_INDEXED", 1)
    if isinstance(items, list):
        queries = [words(1 + seed % 3, seed) for seed in range(1, 65)]
        find_strings(monkeypatch, "few")
    else:
        queries = [{"name": words(2, seed), "age": [seed, 2]} for seed in range(1, 17)]

    def search(index, X):
        graph = index.within(X, radius=2, n_threads=1)
        return *index.nearest(X, k=5, n_threads=1), graph.data, graph.indices, graph.indptr

    alone = d2ke.Index(items, **options)
    wanted = [search(alone, X) for X in queries]
    index = d2ke.Index(items, **options)
    with ThreadPoolExecutor(8) as threads:
        for found, one in zip(
            threads.map(lambda X: search(index, X), queries), wanted, strict=True
        ):
            for a, b in zip(found, one, strict=True):
                same(a, b)


@pytest.mark.parametrize("name", EDITED)
def test_searches_for_strings_of_other_lengths(name, monkeypatch):
    """Memory that is kept between searches has nothing of the longer ones before."""
    monkeypatch.setattr(collection, "_MIN_INDEXED", 1)
    find_strings(monkeypatch, "few")
    items, options = ["", "acaba", "abcabcab"], KINDS[name].options
    index = d2ke.Index(items, **options)
    for n in (30, 9, 6, 4, 12, 4):
        X = ["aaac", ("abacad" * 5)[:n], "b" * n]
        found, wanted = (index.nearest(X, k=3, n_threads=1),
                         d2ke.nearest(X, items, k=3, **options))  # fmt: skip
        for a, b in zip(found, wanted, strict=True):
            same(a, b)


def test_searches_while_another_thread_adds_and_removes():
    """What was there all the time is found, in each of them."""
    index, stays = d2ke.Index(words(50), distance="levenshtein"), words(50)
    wanted = d2ke.within(["abc"], stays, radius=1, distance="levenshtein").indices.tolist()

    def search(_):
        found = index.within(["abc"], radius=1)
        assert [i for i in found.indices if i < 50] == wanted
        assert index.nearest(["abc"], k=50)[0].min() >= 0

    def change(i):
        index.remove(index.add(words(5, i)))

    with ThreadPoolExecutor(8) as threads:
        done = [threads.submit(change if i % 4 == 0 else search, i) for i in range(200)]
        for one in done:
            one.result()
    assert index.indices.tolist() == [*range(50)]
    assert index.add(["abc"]).tolist() == [50 + 5 * 50]


def test_how_it_is_written():
    index = d2ke.Index(words(5), distance="levenshtein")
    assert repr(index) == "<Index of 5 strings by 'levenshtein'>"
    index.remove(0)
    assert repr(index) == "<Index of 4 strings by 'levenshtein'>"
    people = {"name": ["Ada", "Bo"], "age": [36, 56]}
    by = "{'name': 'levenshtein', 'age': 'absolute'}"
    assert repr(d2ke.Index(people, distance=COLUMNS)) == f"<Index of 2 records by {by}>"
    assert (
        repr(d2ke.Index([1, 2], distance=max)) == "<Index of 2 objects by <built-in function max>>"
    )


def test_copies_and_pickles_have_the_objects():
    index = d2ke.Index(["aa", "ab", "bb"], distance="levenshtein", ids=["x", "y", "z"])
    index.remove([0])
    index.groups(1)
    for copied in (copy.deepcopy(index), pickle.loads(pickle.dumps(index))):
        copied.add(["a"], ids=["x"])
        assert copied.indices.tolist() == [1, 2, 3]
        assert copied.nearest(["a"], k=2)[0].tolist() == [[3, 1]]
        assert copied.groups(1).tolist() == [0, 0, 0]
    assert index.indices.tolist() == [1, 2]


def test_errors_of_a_function_name_the_index_of_an_object(monkeypatch):
    monkeypatch.setattr(collection, "_MIN_INDEXED", 4)

    def distance(x, y):
        return -1.0 if (x, y) == (99.0, 7.0) else abs(x - y)

    index = d2ke.Index([float(i) for i in range(10)], distance=distance)
    index.remove([0, 1, 2])
    index.add([20.0])
    for search in (partial(index.nearest, k=1), partial(index.within, radius=1.0)):
        with pytest.raises(ValueError, match=r"distance\(X\[1\], the index\[7\]\) must be finite"):
            search([3.0, 99.0])


def test_dates_that_plain_numbers_come_to():
    days = np.array(["2020-01-01", "2020-01-05"], "datetime64[D]")
    index = d2ke.Index({"day": days}, distance={"day": "absolute"})
    index.add({"day": [18262.0] * 5000})  # a segment of its own
    assert index.add({"day": days}).tolist() == [5002, 5003]
    assert index.nearest({"day": days[1:]}, k=2)[0].tolist() == [[1, 5003]]


def test_objects_that_come_cost_distances_to_the_pivots_only(monkeypatch):
    monkeypatch.setattr(collection, "_MIN_INDEXED", 100)
    points = np.random.default_rng(0).standard_normal((500, 2)).tolist()
    calls = []

    def euclidean(x, y):
        calls.append(1)
        return math.dist(x, y)

    index = d2ke.Index(points[:300], distance=euclidean, metric=True)
    index.nearest(points[:1], k=1)
    index.add(points[300:450])
    index.remove([301, 2])  # neither is a pivot
    index.add(points[450:])
    calls.clear()
    indices, distances = index.nearest(points[:1], k=3)
    assert 6 * 198 <= len(calls) <= 6 * 200 + 600
    assert index._collection.segments[0].prepared.base is None  # its memory is free
    D = np.array([math.dist(points[0], point) for point in points])
    D[[301, 2]] = np.inf
    same(indices[0], np.argsort(D, kind="stable")[:3])
    same(distances[0], np.sort(D)[:3])


def test_a_metric_that_new_objects_violate(monkeypatch):
    monkeypatch.setattr(collection, "_MIN_INDEXED", 100)
    far = d2ke.Index(
        [float(i) for i in range(200)],
        distance=lambda x, y: abs(x - y) if max(x, y) < 500 else (x - y) ** 2,
        metric=True,
    )
    far.nearest([1.0], k=1)
    far.add([1000.0])
    with pytest.raises(ValueError, match=r"no metric: distance\(objects\[\d+\], objects\[200\]\)"):
        far.nearest([1.0], k=1)
