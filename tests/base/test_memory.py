# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that cannot fit are refused before work starts, and the error says what to do instead."""

import ast
import ctypes
import inspect
import os
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import d2ke
from d2ke._base import memory
from d2ke.measures import kernel_features

ROOT = Path(__file__).parents[2]
MANY = 10**6
Y = [0, 1] * 2000


def flat(*shape):
    """Return an array that takes no memory: each row is the same."""
    return np.broadcast_to(np.zeros(1), shape)


def objects(n):
    """Return many objects that are quickly made."""
    return d2ke.Objects("series", np.zeros((n, 1), np.float32), np.arange(n + 1))


def square(folder):
    """Write distances to a file."""
    d2ke.write_distances(folder / "square.h5", objects(1000), distance="dtw")
    return folder / "square.h5"


def words(n):
    return d2ke.samplers.random_strings(n, "ab", length=3, seed=0)


def load(folder):
    d2ke.io.save_features(folder / "z.h5", np.ones((300, 100)))
    return d2ke.io.load_features(folder / "z.h5")


def transform(_):
    model = d2ke.d2ke_train(Y[:40], ["aab", "bba"] * 20, R=32)
    return d2ke.d2ke_transform(words(4000), model)


DISTINCT = d2ke.samplers.random_strings(2500, "ACGT", length=12, seed=0)
EMBEDDING = {"distance": "dtw", "gamma": 1.0}
CASES = {
    "distance_matrix": (lambda _: d2ke.distance_matrix(objects(MANY), None, "dtw"), "write_dist"),
    "d2ke_embed": (
        lambda _: d2ke.d2ke_embed(objects(MANY), objects(MANY), **EMBEDDING), "write_features",
    ),
    "rsm_embed": (
        lambda _: d2ke.rsm_embed(objects(MANY), objects(MANY), **EMBEDDING), "write_features",
    ),
    "d2ke_gram": (
        lambda _: d2ke.d2ke_gram(objects(MANY), omega=objects(2), **EMBEDDING), "d2ke_embed",
    ),
    "d2ke_train": (
        lambda _: d2ke.d2ke_train([0, 1] * 500, words(1000), R=500), "largest R",
    ),
    "d2ke_transform": (transform, "write_features"),
    "d2ke_features": (lambda _: d2ke.d2ke_features(flat(4000, 4000), 1.0), "out=D"),
    "nearest": (lambda _: d2ke.nearest(objects(MANY), k=9999, distance="dtw"), "part of X"),
    "Index": (lambda _: d2ke.Index(words(500)).nearest(words(500), k=250), "part of X"),
    "learn_costs": (
        lambda _: d2ke.learn_costs(*[[chr(i) for i in range(n, n + 300)] for n in (400, 700)]),
        "rarest letters",
    ),
    "search": (
        lambda _: d2ke.search([0, 1] * 4500, words(9000), "rsm", distance="levenshtein"),
        "fewer objects",
    ),
    "search_knn": (
        lambda _: d2ke.search([0, 1] * 4500, words(9000), "knn", distance="levenshtein"), "rsm",
    ),
    "dsk_gram": (lambda _: d2ke.dsk_gram(flat(4000, 4000), gamma=1.0), "some rows of D"),
    "gdk_led": (lambda _: d2ke.gdk_led(flat(4000, 4000), 2000), "n / 10"),
    "psd_split": (lambda _: d2ke.psd_split(flat(4000, 4000)), "fewer objects"),
    "SpectrumRepair": (
        lambda _: d2ke.embedding.SpectrumRepair.fit(flat(4000, 4000), "clip"), "fewer objects",
    ),
    "kernel_distance_matrix": (
        lambda _: d2ke.kernel_distance_matrix(np.zeros((3000, 1, 1)), sigma=1.0),
        "kernel_features",
    ),
    "kernel_features": (
        lambda _: kernel_features(np.zeros((2000, 1, 1)), sigma=1.0, n_features=10**5),
        "smaller n_features",
    ),
    "kernel_two_sample_test": (
        lambda _: d2ke.kernel_two_sample_test(flat(3000, 1), flat(3000, 1), sigma=1.0),
        "features_two_sample_test",
    ),
    "soft_min_distance": (
        lambda _: d2ke.theory.soft_min_distance(np.zeros((9000, 2)), gamma=1.0), "some rows",
    ),
    "gaussian_gram": (
        lambda _: d2ke.discriminative.gaussian_gram(np.zeros((9000, 1)), h=1.0), "some rows"
    ),
    "cdsk": (
        lambda _: d2ke.cdsk(points=np.zeros((9000, 1)), n_clusters=2, h=1.0),
        "neighbor_similarities",
    ),
    "cdsk_distances": (
        lambda _: d2ke.cdsk(distances=flat(4000, 4000), n_clusters=2, h=1.0),
        "neighbor_similarities",
    ),
    "lpdsk": (lambda _: d2ke.lpdsk(flat(4000, 4000), Y), "neighbor_similarities"),
    "kernel_classifier_fit": (
        lambda _: d2ke.discriminative.kernel_classifier_fit(flat(4000, 4000), Y), "give features",
    ),
    "align": (
        lambda _: d2ke.align(np.zeros((9000, 1)), np.zeros((9000, 1)), "emd"), "fewer vectors",
    ),
    "graph_codes": (lambda _: d2ke.graph_codes([([(0, 1)], 10**8)]), "some of the graphs"),
    "load_features": (load, "open_features"),
    "search_within": (
        lambda folder: d2ke.search(Y[:1000], None, "rsm", within=square(folder), n_folds=2),
        "some rows",
    ),
    "within": (lambda _: d2ke.within(objects(3000), radius=1, distance="dtw"), "smaller radius"),
    "nearest_windows": (
        lambda _: d2ke.nearest_windows(np.zeros((1, 1_100_000)), [0.0, 1.0]), "a part of X",
    ),
    "window_profile": (
        lambda _: d2ke.window_profile(np.zeros(100_000), 9, n_threads=1), "a part of X",
    ),
    "kmedoids": (
        lambda _: d2ke.kmedoids(DISTINCT, 2, distance="levenshtein"), "smaller sample_size",
    ),
    "plot_tree": (
        lambda _: d2ke.plot_tree(DISTINCT, distance="levenshtein", max_leaves=2000),
        "smaller max_leaves",
    ),
    "barycenter": (
        lambda _: d2ke.barycenter([np.zeros(1600)] * 2, distance="dtw", n_threads=1),
        "shorter series",
    ),
    "D2KETransformer": (
        lambda _: d2ke.estimators.D2KETransformer(R=2000).fit(words(1000)), "smaller R"
    ),
}  # fmt: skip
BYTES = {  # entries times the bytes of each
    "distance_matrix": 4 * MANY**2, "d2ke_embed": 4 * MANY**2, "rsm_embed": 4 * MANY**2,
    "d2ke_gram": 4 * MANY**2 + 2 * 8 * MANY, "d2ke_transform": 4 * 4000 * 18,
    "d2ke_features": 8 * 4000**2, "nearest": (8 + 40) * 9999 * MANY,
    "Index": (8 + 40) * 500 * 250, "search": 108 * 512 * 2000,
    "search_knn": 8 * 9000**2, "search_within": 4 * 1000**2, "dsk_gram": 8 * 4000**2,
    "gdk_led": 40 * 4000**2, "psd_split": 32 * 4000**2, "SpectrumRepair": 32 * 4000**2,
    "kernel_distance_matrix": 24 * 3000**2, "kernel_features": 16 * 2000 * 10**5,
    "kernel_two_sample_test": 16 * 6000**2,
    "soft_min_distance": 8 * 9000**2, "gaussian_gram": 8 * 9000**2, "cdsk": 48 * 9000**2,
    "lpdsk": 48 * 4000**2, "kernel_classifier_fit": 48 * 4000**2, "align": 8 * 9000**2,
    "load_features": 8 * 300 * 100, "nearest_windows": 5 * (1_100_000 - 1),
    "kmedoids": 8 * 2500 * (2500 + 3 * 2),
    "plot_tree": 24 * 2000**2, "barycenter": 2 * 1600 * 1600, "D2KETransformer": 4 * 1000 * 2000,
}  # fmt: skip
LIMITS = {"load_features": 100_000, "d2ke_transform": 100_000, "search_within": 1_000_000}


def refused(name, monkeypatch, folder):
    """Return the error of a case."""
    monkeypatch.setattr(memory, "memory_limit", lambda: LIMITS.get(name, 5_000_000))
    with pytest.raises(MemoryError, match=r"take about .*B \(\d+ bytes\) of memory, but") as error:
        CASES[name][0](folder)
    return error


@pytest.mark.parametrize("name", CASES)
def test_what_cannot_fit_is_refused(name, monkeypatch, tmp_path):
    error = refused(name, monkeypatch, tmp_path)
    message = str(error.value)
    assert CASES[name][1] in message.partition(" in all; ")[2]
    if name in BYTES:
        assert f"({BYTES[name]} bytes)" in message


@pytest.mark.slow
def test_every_guard_is_reached(monkeypatch, tmp_path):
    reached = set()
    for i, name in enumerate(CASES):
        (tmp_path / str(i)).mkdir()
        place = refused(name, monkeypatch, tmp_path / str(i)).traceback[-2]
        reached.add((Path(place.path).resolve(), place.lineno + 1))
    guards = {
        (path.resolve(), range(node.lineno, node.end_lineno + 1))
        for path in Path(d2ke.__file__).resolve().parent.rglob("*.py")
        if "check_fits(" in path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("check_fits")
    }
    lines = {(path, line) for path, lines in guards for line in lines}
    assert reached <= lines
    assert {
        guard for guard in guards if not any((guard[0], x) in reached for x in guard[1])
    } == set()


@pytest.mark.parametrize(
    "name", sorted({re.sub("_(knn|within|distances)$", "", name) for name in CASES})
)
def test_docstrings_name_the_error(name):
    rooms = (d2ke, *(getattr(d2ke, part) for part in dir(d2ke)))
    thing = next(getattr(room, name) for room in rooms if hasattr(room, name))
    if inspect.isfunction(thing):
        assert "MemoryError" in inspect.getdoc(thing).split("Raises\n------\n")[1]


def test_check_fits(monkeypatch):
    check = partial(memory.check_fits, what="the matrix", instead="give a path as out")
    monkeypatch.setattr(memory, "memory_limit", lambda: 1000)
    check(1000)
    with pytest.raises(MemoryError) as refused:
        check(8 * 10**12)
    assert str(refused.value) == (
        "the matrix would take about 8 TB (8000000000000 bytes) of memory, but there are 1 kB in "
        "all; give a path as out"
    )


def test_page_tells_what_happens(capsys):
    page = (ROOT / "docs" / "memory.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    exec(code, {})
    shown = " ".join(code.split("\n# ", 1)[1].replace("\n# ", " ").split())
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith(shown.split(", but")[0])


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (8 * 10**12, "8 TB"), (1234567, "1.23 MB")],
)
def test_readable(count, text):
    assert memory.readable(count) == text


@pytest.mark.parametrize(
    ("line", "name"), [("0::/outer/inner", "memory.max"),
                       ("4:cpu,memory:/outer/inner", "memory/memory.limit_in_bytes")],
)  # fmt: skip
@pytest.mark.parametrize("place", ["outer/inner", "outer", ""])
def test_limits_of_containers(line, name, place, tmp_path, monkeypatch):
    top = tmp_path / name
    file = top.parent / place / top.name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("12345\n", encoding="utf-8")
    if place:
        top.write_text("max\n", encoding="utf-8")
    real = Path.read_text
    monkeypatch.setattr(
        Path, "read_text",
        lambda self, encoding: f"{line}\n" if self.name == "cgroup" else real(self, encoding),
    )  # fmt: skip
    assert list(memory._container_limits(str(tmp_path))) == [12345]


def test_limit_of_this_machine():
    assert memory.memory_limit() > 2**28


def test_memory_as_windows_counts_it(monkeypatch):
    def status(words):
        assert (words[0], ctypes.sizeof(words)) == (64, 64)  # its size, and a load of 0
        words[:4] = 64 + (42 << 32), 8 * 2**30, 3 * 2**30, 9 * 2**30  # all, free, with swap
        return 1

    monkeypatch.delattr(os, "sysconf", raising=False)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace(GlobalMemoryStatusEx=status))
    assert memory._physical_memory() == 8 * 2**30
