# SPDX-License-Identifier: BSD-3-Clause
"""An index in a folder: histories, stored contents, readers, and refused arguments."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples, same
from test_every_distance import CASES, objects
from test_index import KINDS, STEPS, Case, History, arrays, columns_of, small, words

import d2ke
from d2ke.neighbors import collection
from d2ke.neighbors import index as indexes

# Tiny arrays, which are meant as they are.
pytestmark = pytest.mark.filterwarnings("ignore:every item of .* has shape")

histories = settings(max_examples=examples(30), deadline=None)


# ---------------------------------------------------------------- histories


def letters(x, y):
    """No metric: the letters that only one of two strings has, squared."""
    assert type(x) is type(y) is str
    return float(len({*x} ^ {*y})) ** 2


def series_1d(x, y):
    assert x.dtype == y.dtype == np.float32
    assert x.ndim == y.ndim == 1
    return float(np.abs(np.sort(x)[[0, -1]] - np.sort(y)[[0, -1]]).sum())


def two_letters(x, y):
    return float(x[:2] != y[:2])


OWN = {"name": two_letters, "age": "absolute"}


def own_weights(people):
    return {"weights": d2ke.distances.column_weights(columns_of(people), distance=OWN)}


NEW = {
    "function of strings": Case(st.text("ab\u00e9\U0001f600", max_size=4), {"distance": letters}),
    "function of 1-D arrays": Case(
        arrays((2,), (3,)).map(lambda x: x.astype(np.float32)), {"distance": series_1d}
    ),
    "records by a function": Case(
        KINDS["records"].items, {"distance": OWN}, collect=columns_of, learned=own_weights
    ),
}
STORED_KINDS = (
    *("levenshtein", "damerau_levenshtein, normalized", "jaro", "bag"),
    *("dtw, window", "dtw, two channels", "mhd", "hausdorff", "emd"),
    *("records", "function", "metric", *NEW),
)
KINDS.update(NEW)


def needed(options):
    """Return the arguments to open an index again."""
    by = options["distance"]
    is_own = callable(by) or (isinstance(by, dict) and any(map(callable, by.values())))
    return {"distance": by} if is_own else {}


class SavedHistory(History):
    """A history of an index that is saved, opened, and read by others."""

    folder = path = reader = None
    writable = False

    def flip(self):
        return self.data.draw(st.booleans())

    def open(self, writable):
        how = {"writable": writable, "verify": self.flip(), "sync": self.flip()}
        return d2ke.Index.open(self.path, **how, **needed(self.case.options))

    def save(self):
        """Into its own folder, or another one, and perhaps go on there."""
        own = self.path is not None and self.flip()
        path = self.path if own else self.folder / str(len(os.listdir(self.folder)))
        self.index.save(path)
        if own or not self.writable or self.flip():
            self.leave(path, self.flip())

    def close(self):
        self.index.close()
        if self.reader is not None:
            self.reader.close()

    def leave(self, path, writable):
        """Go on with what is in a folder."""
        self.index.close()
        if path != self.path and self.reader is not None:
            self.reader.close()
            self.reader = None
        self.path, self.writable = path, writable
        self.index = self.open(writable)

    def reopen(self):
        if self.writable:
            self.leave(self.path, self.flip())

    def read(self):
        """Look at it beside the writer."""
        if not self.writable:
            return
        self.reader = self.reader or self.open(False)
        if self.flip():  # is lost when there is anything newer
            items, ids = self.new(1, 3)
            if ids is not None:  # the reader may have objects that left meanwhile
                ids = [f"{name}?" if isinstance(name, str) else name + 100 for name in ids]
            self.reader.add(self.case.collect(items), ids=ids)
            if len(self.reader) > 2:
                self.reader.remove(self.reader.indices[:2])
            self.add()
            assert self.reader.refresh()
        self.reader.refresh()
        assert not self.reader.refresh()
        writer, self.index = self.index, self.reader
        try:
            self.look()
            self.nearest()
            self.within()
        finally:
            self.index = writer


FILE_STEPS = (
    *(*STEPS, SavedHistory.save, SavedHistory.save, SavedHistory.reopen, SavedHistory.reopen),
    *(SavedHistory.read, SavedHistory.read),
)


@pytest.mark.parametrize("name", STORED_KINDS)
@histories
@given(data=st.data())
def test_any_history_of_files(name, data, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        small(patch, data, KINDS[name])
        patch.setattr(indexes, "_LOG_RECORDS", data.draw(st.sampled_from([1, 2, 5])))
        patch.setattr(indexes, "_LOG_OBJECTS", data.draw(st.sampled_from([2, 30])))
        history = SavedHistory(data, name, data.draw(st.sampled_from(["none", "numbers", "text"])))
        history.folder = tmp_path_factory.mktemp("history")
        stack.callback(shutil.rmtree, history.folder, ignore_errors=True)
        stack.callback(history.close)
        history.save()
        steps = data.draw(st.lists(st.sampled_from(FILE_STEPS), min_size=1, max_size=8))
        for step in steps:
            step(history)
        history.save()
        history.nearest()
        history.within()
        history.look()


# ---------------------------------------------------------------- what a file keeps


@pytest.fixture
def path(tmp_path):
    return tmp_path / "names.d2ke"


def opened(index, path, **how):
    """Save an index, and return it as it is opened again."""
    index.save(path)
    return d2ke.Index.open(path, **how)


def contents(index, X, k=3):
    """Return the public contents and answers of an index, comparable by ==."""
    nearest = index.nearest(X, k=k)
    graph = index.within(X, radius=float(np.median(nearest[1])))
    ids = None if index.ids is None else index.ids[index.indices].tolist()
    objects = index.objects(index.indices)
    texts = [repr(objects[i]) for i in range(len(objects))]
    arrays = (*nearest, graph.indptr, graph.indices, graph.data)
    return index.indices.tolist(), ids, texts, *((a.dtype.str, a.tobytes()) for a in arrays)


def check_copy(path, index, more, X, **how):
    """Compare an index with its saved copy, opened by a writer, and again later."""
    with opened(index, path, writable=True, **how) as copy:
        for target in (index, copy):
            target.add(more)
        assert contents(copy, X) == contents(index, X)
    copy = d2ke.Index.open(path, **how)
    assert contents(copy, X) == contents(index, X)
    return copy


def test_indices_are_never_used_again(path):
    """Nor those of the last objects, which left before the index was saved."""
    index = d2ke.Index(["kitten", "mitten", "bit"], distance="osa", ids=[7, 5, 6])
    index.remove([1, 2])
    index.save(path)
    for step in range(4):
        with d2ke.Index.open(path, writable=True) as index:
            if step % 2:
                index.save(path)
            assert index.indices.tolist() == [0]
            assert index.add(["x"], ids=[6]).tolist() == [3 + step]
            index.remove(ids=[6])


MORE = {
    "dtw": [{"window": 3}, {"ground": "haversine", "sphere_radius": 2.0}],
    "erp": [{"g": 0.5}, {"g": [0.5]}, {"g": np.array([0.5])}],
    "msm": [{"c": np.float32(0.3)}],
    "wdtw": [{"g": 0.1, "window": 3}],
    "adtw": [{"penalty": 0.3}],
    "edr": [{"epsilon": 0.4, "normalize": False}],
    "window": [{"dilation": 2}],
    "kernel": [{"sigma": 1.5, "kernel": "laplace"}],
    "jaro_winkler": [{"prefix_weight": 0.2}],
    "weighted_levenshtein": [
        {
            "substitution": {("a", "b"): 0.1, "bc": 0.7},
            "mismatch": 1.5,
            "insertion": {"a": 0.5},
            "deletion": 0.25,
        },
        {"substitution": np.array([[0, 0.5], [1, 0]]), "alphabet": "ab", "mismatch": 2},
        {"gap_open": 2, "gap_extend": 0.5},
    ],
}
EVERY = {(c.values[1], repr(c.values[2])): c.values[1:] for c in CASES}
EVERY |= {(name, repr(p)): (name, p) for name, more in MORE.items() for p in more}


@pytest.mark.parametrize(("name", "params"), EVERY.values(), ids=map("".join, EVERY))
def test_every_distance_is_kept(name, params, path, monkeypatch):
    """With its parameters, and what was prepared of the objects."""
    monkeypatch.setattr(collection, "_MIN_INDEXED", 4)
    monkeypatch.setattr(collection, "_MAX_TAIL", 4)
    X, Y = objects(name, params, 10, 0), objects(name, params, 20, 1)
    if params.get("ground") == "haversine":
        rng = np.random.default_rng(0)
        X, Y = (d2ke.pack([rng.random((5, 2)) for _ in range(n)]) for n in (12, 24))
    index = d2ke.Index(Y[:20], distance=name, **params)
    index.nearest(X, k=3)
    copy = opened(index, path, writable=True)
    assert type(copy._collection.distance.params) is dict
    same_values(copy._collection.distance.params, params)
    with copy:
        for target in (index, copy):
            target.add(Y[20:])
            target.remove([3, 21])
        assert contents(copy, X) == contents(index, X)
    assert contents(d2ke.Index.open(path), X) == contents(index, X)


def same_values(a, b):
    """Compare parameters, numbers of numpy as numbers."""
    if isinstance(b, dict):
        assert list(a) == list(b)
        for key in b:
            same_values(a[key], b[key])
    elif isinstance(b, np.ndarray):
        same(a, b)
    else:
        assert a == b
        assert type(a) is type(b.item() if isinstance(b, np.generic) else b)


LETTERS = {
    "tokens": [["the", "cat"], ["the", "dog", "a\u00e9"], [], ["cat"], [("a", 1), None, b"x"]],
    "no tokens": [[], [], ["a", "b"]],
    "bytes": [b"ab", b"", b"\0\xff", b"a", b"b"],
    "numbers": [[1, 2], [], [10**12, -3], [2], [7, 7, 7]],
    "surrogates": ["\ud800", "", "a\udfff", "b", "c"],
}


@pytest.mark.parametrize("name", LETTERS)
def test_letters_of_every_kind(name, path):
    items = d2ke.pack(LETTERS[name], kind="strings")
    copy = check_copy(path, d2ke.Index(items[:-1], distance="levenshtein"), items[-1:], items)
    assert copy.objects(copy.indices) == items


def test_series_with_missing_values(path):
    X = [np.array(x) for x in ([1, np.nan, 3], [1.0, 2, 2], [0, 1, np.nan], [np.nan, 1.0])]
    copy = check_copy(path, d2ke.Index(X[:3], distance="dtw", missing="arow"), X[3:], X)
    assert copy.objects([0]).missing


def test_objects_of_a_kind_that_was_added(path):
    d2ke.add_kind("paths", lambda name: name.split("/"), distance="osa")
    X = d2ke.pack(["a/b", "a/c", "b"], kind="paths")
    check_copy(path, d2ke.Index(X), X[:2], X)


def test_vectors_with_all_that_they_have(path):
    """dtype, names of channels, weights."""
    rng = np.random.default_rng(0)
    values = [rng.random((3, 2), np.float32) for _ in range(6)]
    named = d2ke.pack(values, kind="series", channels_first=False)
    named = d2ke.Objects("series", named.values, named.offsets, channel_names=["x", "y"])
    copy = opened(d2ke.Index(named, distance="dtw"), path)
    objects = copy.objects([2, 0])
    assert objects == named[[2, 0]]
    assert objects.channel_names == ("x", "y")
    assert objects.dtype == np.float32
    with pytest.raises(TypeError, match="objects are float64; those of the index are float32"):
        copy.add([x.astype(np.float64) for x in values])
    weighted = d2ke.pack(values, kind="sets", weights=[[1, 2, 3]] * 6)
    copy = opened(d2ke.Index(weighted, distance="emd"), path)
    assert copy.objects([*range(6)]) == weighted
    assert contents(copy, weighted) == contents(d2ke.Index(weighted, distance="emd"), weighted)


PEOPLE = {
    "name": ["Ada", "Bo", "Cy", "Di"],
    "born": np.array(["2000-01-01", "2000-01-03", "1999-05-05", "1970-01-01"], "M8[D]"),
    "seen": np.array(["2000-01-01T10:00", "2000-01-03T01:00"] * 2, "M8[s]"),
    "town": ["a", "b", "a", "c"],
    "kept": [True, False, True, True],
    "curve": [np.zeros((2, 1)), np.ones((3, 1)), np.ones((1, 1)), np.zeros((1, 1))],
}
BY = {
    "curve": ("dtw", {"window": 2}),
    "name": "levenshtein",
    **{"born": "absolute", "seen": "absolute", "town": "equal", "kept": "absolute"},
}


def rows_of(people, *rows):
    return {name: [column[row] for row in rows] for name, column in people.items()}


def test_columns_of_every_kind(path):
    """With their units, and the weights that were learned when the index was built."""
    index = d2ke.Index(rows_of(PEOPLE, 0, 1, 2), distance=BY)
    copy = check_copy(path, index, rows_of(PEOPLE, 3), PEOPLE)
    people, expected = copy.objects([0, 3]), index.objects([0, 3])
    assert [people[name].use for name in people] == [expected[name].use for name in expected]
    assert people["born"].use == "dates"
    with pytest.raises(TypeError, match="has durations"):
        copy.nearest({**PEOPLE, "born": PEOPLE["born"] - PEOPLE["born"][0]}, k=1)


@pytest.mark.parametrize("writable", [False, True])
@pytest.mark.parametrize(
    ("items", "ids"),
    [
        (d2ke.pack(["x", "y"], ids=["a", "b"]), None),
        (["x", "y"], ["a", "b"]),
        (d2ke.pack(["x", "y"], ids=[1, 2]), ["a", "b"]),
        (d2ke.pack_records({"name": ["x", "y"]}, ids=["a", "b"]), None),
    ],
)
def test_names_are_those_of_the_objects(path, items, ids, writable):
    """Objects that are returned have the names of the index, whatever they had before."""
    of_columns = isinstance(items, d2ke.Records)
    index = d2ke.Index(items, distance={"name": "osa"} if of_columns else "osa", ids=ids)
    with opened(index, path, writable=writable) as copy:
        copy.add({"name": ["z"]} if of_columns else ["z"], ids=["c"])
        assert copy.objects([2, 0]).ids.tolist() == ["c", "a"]


ONES = [
    *([np.ones(3, dtype)] * 2 for dtype in ("?", "i1", "u2", "i8", "f2", "f4", "f8", ">f8")),
    *([np.ones(shape) for shape in shapes] for shapes in ([()] * 2, [(0,), (2,)])),
    *([np.ones(shape, "i2") for shape in shapes] for shapes in ([(2, 3), (1, 3)], [(1, 2, 2)] * 2)),
    ["ab", "", "\u00e9\0\U0001f600", "ab"],
]


@pytest.mark.parametrize("items", ONES)
def test_what_a_function_sees(items, path):
    """The same types, dtypes and shapes before and after a file."""
    seen = set()

    def distance(x, y):
        for item in (x, y):
            seen.add((type(item), getattr(item, "dtype", None), getattr(item, "shape", None)))
        return float(np.sum(x != y)) if isinstance(x, str) else abs(float(x.sum()) - float(y.sum()))

    index = d2ke.Index(items, distance=distance)
    index.nearest(items, k=1)
    before = seen.copy()
    for _ in range(2):
        seen.clear()
        with opened(index, path, distance=distance, writable=True) as copy:
            copy.nearest(items, k=1)
            assert seen == before
            copy.add(items)
            copy.nearest(items, k=1)
        with d2ke.Index.open(path, distance=distance) as copy:
            copy.nearest(items, k=1)
        assert seen == before


def test_parameters_of_a_function(path):
    given = {"scale": np.inf, "pair": (1, [2.5, None]), "table": np.array([[1, 2]]), "by": {1: "a"}}

    def distance(x, y, **params):
        same_values(params, given)
        return float(abs(x - y).sum())

    items = [np.array([1.0]), np.array([3.0])]
    index = d2ke.Index(items, distance=distance, **given)
    copy = opened(index, path, distance=distance)
    assert copy.nearest(items, k=2)[1].tolist() == [[0, 2], [0, 2]]
    given = {"rng": object()}
    index = d2ke.Index(items, distance=lambda x, y, rng: abs(x - y).sum(), **given)
    with pytest.raises(TypeError, match=r"rng is <object .*partial"):
        index.save(path)


def enough_searches(index, n=400):
    """Search few words so often that an index of their pieces is made; return it."""
    for seed in range(n):
        index.within(words(1, seed), radius=1)
        columns = index._collection.segments[0].index(1).columns
        if columns.pieces:
            return columns
    raise AssertionError("no index of pieces was made")


@pytest.mark.parametrize("own", [False, True])
def test_pieces_that_searches_made_are_kept(path, own, monkeypatch):
    monkeypatch.setattr(collection, "_MIN_INDEXED", 1)
    index = d2ke.Index(words(3000), distance="levenshtein")
    if own:
        index = opened(index, path, writable=True)
    pieces = {*enough_searches(index).pieces}
    index.save(path)
    wanted = contents(index, words(5, 1))
    index.close()
    copy = d2ke.Index.open(path)
    columns = copy._collection.segments[0].index(1).columns
    assert pieces <= {*columns.pieces}
    assert contents(copy, words(5, 1)) == wanted
    assert copy._collection.segments[0].index(1).columns is columns


def test_pieces_that_are_made_while_an_index_is_saved(path, monkeypatch):
    """By a search in another thread."""
    monkeypatch.setattr(collection, "_MIN_INDEXED", 1)
    index = d2ke.Index(words(3000), distance="levenshtein")
    columns = enough_searches(index)
    [(count, pieces)] = columns.pieces.items()

    class Racing:
        def arrays(self):
            columns.pieces[99] = pieces
            return pieces.arrays()

    columns.pieces[count] = Racing()
    index.save(path)
    columns.pieces.clear()
    columns.pieces[count] = pieces
    assert contents(d2ke.Index.open(path), words(5, 1)) == contents(index, words(5, 1))


# ---------------------------------------------------------------- readers, and memory


def lengths_apart(x, y):
    return float(abs(len(x) - len(y)))


def lengths_doubled(x, y):
    return 2.0 * abs(len(x) - len(y))


def test_what_is_changed_in_memory_only(path):
    """It stays until there is something newer."""
    with opened(d2ke.Index(words(30), distance="osa"), path) as reader:
        reader.remove([0, 1])
        assert reader.add(["new"]).tolist() == [30]
        assert not reader.refresh()
        assert reader.indices.tolist() == [*range(2, 31)]
        assert d2ke.Index.open(path).indices.tolist() == [*range(30)]


def test_a_folder_that_has_another_index_at_a_refresh(path):
    d2ke.Index(words(9), distance="osa", ids=[*range(9)]).save(path)
    with d2ke.Index.open(path) as named:
        d2ke.Index(["b", "ab", "b"], distance="indel", ids=["x", "y", "z"]).save(path)
        assert named.refresh()
        assert repr(named) == "<Index of 3 strings by 'indel' in names.d2ke>"
        assert named.nearest(["ab"], k=2)[1].tolist() == [[0, 1]]
        d2ke.Index(["b", "ab"], distance=lengths_apart).save(path)
        for _ in range(2):
            with pytest.raises(TypeError, match=r"distance is needed: .* was built with a func"):
                named.refresh()
        assert named.nearest(["ab"], k=2)[1].tolist() == [[0, 1]]
    with d2ke.Index.open(path, distance=lengths_apart) as own:
        d2ke.Index(["b", "abc"], distance=lengths_apart).save(path)
        assert own.refresh()
        assert list(own.objects([0, 1])) == ["b", "abc"]
        d2ke.Index(["b", "abc"], distance=lengths_doubled).save(path)
        for _ in range(2):
            with pytest.raises(ValueError, match=r"of objects 0 and 1 it is 2.0, and was 4.0"):
                own.refresh()
        d2ke.Index(["b", "abc"], distance="indel").save(path)
        assert own.refresh()
        assert own.nearest(["ab"], k=2)[1].tolist() == [[1, 1]]


def test_save_to_its_own_folder(path):
    """Commits what a writer has, by whatever path; of a reader it writes what is in memory."""
    link = path.with_name("link")
    with suppress(OSError):  # Windows does not let everyone make links, and wine makes none
        link.symlink_to(path, target_is_directory=True)
    if not link.is_symlink():
        link = path
    with opened(d2ke.Index(words(20), distance="osa"), path, writable=True) as writer:
        writer.add(["x"])
        writer.save(link)
        assert not writer._store.log
        with d2ke.Index.open(path) as reader, pytest.raises(BlockingIOError, match="being written"):
            reader.save(path)
    with d2ke.Index.open(path) as reader:
        reader.remove([1])
        reader.save(path)
        assert len(d2ke.Index.open(path)) == 20


def test_closed_indexes(path):
    """They can be searched and saved elsewhere, and cannot be written to."""
    with opened(d2ke.Index(words(20), distance="osa"), path, writable=True) as index:
        pass
    for call in (lambda: index.add(["x"]), lambda: index.remove([0]), lambda: index.save(path)):
        with pytest.raises(ValueError, match=r"names\.d2ke is closed"):
            call()
    index.close()
    assert contents(opened(index, path.with_name("copy")), ["a"]) == contents(index, ["a"])


def test_saving_while_another_thread_adds(path, monkeypatch):
    """What is saved was there at some moment."""
    monkeypatch.setattr(collection, "_MIN_INDEXED", 4)
    monkeypatch.setattr(collection, "_MAX_TAIL", 8)
    monkeypatch.setattr(indexes, "_LOG_RECORDS", 7)
    index, n = opened(d2ke.Index(words(5), distance="osa"), path, writable=True), 60

    def add():
        for i in range(n):
            index.add([f"a{i}", f"b{i}"])

    def save(i):
        index.save(path.with_name(str(i % 3)) if i % 2 else path)
        if i % 2:
            with d2ke.Index.open(path.with_name(str(i % 3))) as copy:
                m = len(copy)
                assert m % 2 == 1
                assert copy.indices.tolist() == [*range(m)]
                wanted = [f"{letter}{j}" for j in range((m - 5) // 2) for letter in "ab"]
                assert list(copy.objects([*range(m)])) == [*words(5), *wanted]

    with index, ThreadPoolExecutor(3) as threads:
        adding = threads.submit(add)
        for i in range(12):
            save(i)
            index.nearest(["a1"], k=3)
        adding.result()
    with d2ke.Index.open(path) as copy:
        assert copy.indices.tolist() == [*range(5 + 2 * n)]
        assert copy.nearest([f"b{n - 1}"], k=1)[0].tolist() == [[4 + 2 * n]]


def test_another_working_folder(tmp_path, monkeypatch):
    """An index stays where it was opened."""
    monkeypatch.setattr(indexes, "_LOG_RECORDS", 2)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    d2ke.Index(words(9), distance="osa").save("names.d2ke")
    with d2ke.Index.open("names.d2ke", writable=True) as index:
        monkeypatch.chdir("other")
        for i in range(5):
            index.save("names.d2ke")  # another one
            assert index.add(["x"]).tolist() == [9 + i]
        assert len(d2ke.Index.open(tmp_path / "names.d2ke")) == 14
        assert len(d2ke.Index.open("names.d2ke")) == 13


# ---------------------------------------------------------------- what is refused


def apart(x, y):
    return abs(x - y)


def longer(x, y):
    return float(max(len(x) - len(y), 0))


def a_little_other(x, y):
    return lengths_apart(x, y) * (1 + 2e-6)


COLUMNS_BY = {
    **{"a": apart, "b": "absolute", "c": apart},
    "d": ("jaro_winkler", {"prefix_weight": 0.2}),
}


@pytest.mark.parametrize(
    ("built", "given", "message"),
    [
        (lengths_apart, None, r"distance is needed: .*names\.d2ke was built with a function"),
        (lengths_apart, lengths_doubled, r"is another function than that of .* [26]\.0, "),
        (lengths_apart, a_little_other, "distance is another function"),
        (lengths_apart, "hamming", r"distance must be the function that .*, got 'hamming'"),
        (longer, "hamming", r"distance must be the function that .*, got 'hamming'"),
        ("osa", lengths_apart, r"distance goes with an index of a function; .* has its"),
        ({"d": "osa"}, {"d": lengths_apart}, "distance goes with an index of a function"),
        (COLUMNS_BY, None, "distance is needed"),
        (COLUMNS_BY, apart, r"must be a dict of the columns 'a', 'b', 'c', 'd' of .*, got <func"),
        (COLUMNS_BY, {"a": apart, "b": "absolute"}, "distance must be a dict of the columns"),
        (COLUMNS_BY, COLUMNS_BY | {"e": "osa"}, "distance must be a dict of the columns"),
        (COLUMNS_BY, COLUMNS_BY | {"a": lambda x, y: 2 * apart(x, y)}, "is another function"),
        (
            COLUMNS_BY,
            COLUMNS_BY | {"d": "jaro_winkler"},
            r"distance\['d'\] is .*, but that of .* is",
        ),
        (
            COLUMNS_BY,
            COLUMNS_BY | {"b": apart},
            r"\['b'\] is \(<.*, but that of .* is \('absolute'",
        ),
        (COLUMNS_BY, COLUMNS_BY | {"c": "absolute"}, r"\['c'\] must be the function that .*, got"),
    ],
)
@pytest.mark.parametrize("metric", [False, True])
def test_another_distance(path, built, given, message, metric, monkeypatch):
    """It is refused, nothing has the index open then, and its own distance is taken."""
    monkeypatch.setattr(collection, "_MIN_INDEXED", 1)
    items = ["a", "bb", "cccc"]
    if isinstance(built, dict):
        items = {"a": [0.5, 2, 3], "b": [1, 2, 4], "c": [7.0, 1, 2], "d": items}
        items = {name: items[name] for name in built}
    index = d2ke.Index(
        items, distance=built, metric=metric and callable(built) and built is not longer
    )
    index.save(path)
    for verify in (False, True):
        with pytest.raises((TypeError, ValueError), match=message):
            d2ke.Index.open(path, distance=given, verify=verify, writable=True)
    check_copy(path, index, items, items, **needed({"distance": built}))


def test_columns_in_another_order(path):
    """Their distances are added in that of the index."""
    rng = np.random.default_rng(0)
    people = {name: (3 * rng.random(50)).tolist() for name in "abc"} | {"d": words(50)}
    index = d2ke.Index(people, distance=COLUMNS_BY)
    copy = opened(index, path, distance=dict(reversed(COLUMNS_BY.items())))
    assert contents(copy, people) == contents(index, people)


def test_a_compiled_function(path):
    numba = pytest.importorskip("numba")
    from scipy import LowLevelCallable

    types = numba.types
    double = types.CPointer(types.double)
    signature = types.double(double, types.intp, double, types.intp, types.intp, types.voidptr)
    compiled = [
        numba.cfunc(signature)(lambda x, n, y, m, dim, data: abs(x[0] - y[0])),
        numba.cfunc(signature)(lambda x, n, y, m, dim, data: 2 * abs(x[0] - y[0])),
    ]
    one, other = (LowLevelCallable(function.ctypes) for function in compiled)
    X = list(np.random.default_rng(0).random((20, 2, 1)))
    index = d2ke.Index(X, distance=one)
    check_copy(path, index, X[:3], X[:4], distance=one)
    with pytest.raises(ValueError, match="is another function"):
        d2ke.Index.open(path, distance=other)


@pytest.mark.parametrize(
    ("good", "wrong"),
    [
        ("a", np.zeros(2)),
        *((np.zeros(2), one) for one in (3.0, (1, 2), np.zeros(2, "f4"), np.zeros(2, complex))),
        (np.zeros(2), np.array([{}, {}])),
    ],
)
def test_objects_that_cannot_be_saved(good, wrong, path):
    """At once, or beside the others."""

    def distance(x, y):
        return 0.0 if type(x) is type(y) else 1.0

    message = r"objects\[1\] is .* or arrays of numbers of one dtype"
    with pytest.raises(TypeError, match=message):
        d2ke.Index([good, wrong], distance=distance).save(path)
    assert not path.exists()
    index = d2ke.Index([good] * 2, distance=distance)
    with opened(index, path, distance=distance, writable=True) as index:
        with pytest.raises(TypeError, match=message):
            index.add([good, wrong])
        assert index.add([good]).tolist() == [2]
        index.save(path)
    with d2ke.Index.open(path, distance=distance) as index:
        index.add([wrong])  # in memory
        with pytest.raises(TypeError, match="of one dtype"):
            index.save(path)
    assert len(d2ke.Index.open(path, distance=distance)) == 3
