# SPDX-License-Identifier: BSD-3-Clause
"""Digests of Python distances: what changes a result changes them, in every process alike."""

import functools
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy import LowLevelCallable
from scipy.spatial.distance import cityblock, euclidean

import d2ke
from d2ke._base.resume import UNKNOWN
from d2ke.distances.function_digest import function_digest

SOURCE = """
import abc, dataclasses, functools
import numpy as np

SCALE = 2.0
NAMES = {"a": [1, 2], "b": {3.5, 4.5}}

def helper(value):
    return value * SCALE

def plain(a, b, power=1, *, offset=0):
    return abs(len(a) - len(b)) ** power + offset

def with_global(a, b):
    return helper(len(a) - len(b))

def with_table(a, b):
    return NAMES["a"][0] + max(NAMES["b"])

def closure(weight):
    def distance(a, b):
        return weight * abs(len(a) - len(b))
    return distance

def inner(a, b):
    return (lambda: SCALE)()

@dataclasses.dataclass
class Base(abc.ABC):
    scale: float = 1.0

    def __call__(self, a, b):
        return self.compare(a, b) * self.scale

class Distance(Base):
    def compare(self, a, b):
        return abs(len(a) - len(b))

class Slots:
    __slots__ = ("weights",)
    def __init__(self, weights):
        self.weights = np.array(weights)
    def method(self, a, b):
        return self.weights.sum()

def recursive(a, b):
    return 0 if not a else recursive(a[1:], b)

@functools.lru_cache
def cached(a, b):
    return helper(1)

DISTANCES = {
    "plain": plain,
    "default": plain,
    "global": with_global,
    "table": with_table,
    "closure": closure(2),
    "inner": inner,
    "object": Distance(),
    "method": Slots([1.0, 2.0]).method,
    "partial": functools.partial(plain, power=2),
    "recursive": recursive,
    "cached": cached,
}
"""
CHANGES = {
    "plain": ("** power + offset", "** power - offset"),
    "default": ("power=1", "power=2"),
    "global": ("SCALE = 2.0", "SCALE = 3.0"),
    "table": ('"b": {3.5, 4.5}', '"b": {3.5, 5.5}'),
    "closure": ("closure(2)", "closure(3)"),
    "inner": ("SCALE = 2.0", "SCALE = 3.0"),
    "object": ("Distance()", "Distance(scale=2.0)"),
    "method": ("Slots([1.0, 2.0])", "Slots([1.0, 3.0])"),
    "partial": ("plain, power=2", "plain, power=3"),
    "recursive": ("return 0 if", "return 1 if"),
    "cached": ("value * SCALE", "value / SCALE"),
}


def distances(source=SOURCE):
    module = {"__name__": "users"}
    exec(source, module)
    return module["DISTANCES"]


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_a_result_changes_the_digest(name):
    before, after = CHANGES[name]
    assert before in SOURCE
    known = function_digest("distance", distances()[name])
    assert not known.startswith(UNKNOWN)
    assert function_digest("distance", distances()[name]) == known
    changed = distances(SOURCE.replace(before, after))
    assert function_digest("distance", changed[name]) != known


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return abs(len(a) - len(b))\n\nclass Slots", "return 1\n\nclass Slots"),
        ("self.compare(a, b) * self.scale", "self.compare(a, b) + self.scale"),
    ],
)
def test_methods_of_a_class_and_of_its_base_count(before, after):
    assert before in SOURCE
    changed = distances(SOURCE.replace(before, after))
    digests = {function_digest("distance", one["object"]) for one in (distances(), changed)}
    assert len(digests) == 2


def test_other_processes_have_the_same_digests(tmp_path):
    """Sets have another order there, and all ids differ."""
    (tmp_path / "users.py").write_text(SOURCE)
    program = (
        "import users; from d2ke.distances.function_digest import function_digest as of;"
        "print([of('distance', one) for one in users.DISTANCES.values()])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_functions_of_packages_count_by_name():
    one, other = (function_digest("distance", function) for function in (euclidean, cityblock))
    assert one != other
    weighted = [functools.partial(euclidean, w=np.array([1.0, w])) for w in (1.0, 1.0, 2.0)]
    a, b, c = (function_digest("distance", function) for function in weighted)
    assert a == b != c


class Locked:
    def __init__(self, version=None):
        self.lock = threading.Lock()
        if version is not None:
            self.version = version

    def __call__(self, a, b):
        return float(len(a) != len(b))


def test_what_is_not_known_is_named():
    assert function_digest("distance", Locked()).startswith(
        f"{UNKNOWN}distance['lock'] is of type lock: "
    )
    of = function_digest
    assert of("distance", Locked("1")) == of("distance", Locked("1")) != of("distance", Locked("2"))


WORDS = ["ab", "a", "abc", "", "abcd"]


def test_a_file_is_kept_only_with_the_same_function(tmp_path):
    scale = 1.0

    def distance(a, b):
        return scale * abs(len(a) - len(b))

    out = tmp_path / "distances.h5"
    d2ke.distance_matrix(WORDS, WORDS[::-1], distance, out=out).close()
    d2ke.distance_matrix(WORDS, WORDS[::-1], distance, out=out, resume=True).close()
    scale = 2.0
    with pytest.raises(ValueError, match=r"content of distance was .* and is "):
        d2ke.distance_matrix(WORDS, WORDS[::-1], distance, out=out, resume=True)


def test_a_file_of_an_unknown_function_is_not_resumed(tmp_path):
    out = tmp_path / "distances.h5"
    d2ke.distance_matrix(WORDS, WORDS[::-1], Locked(), out=out).close()
    with pytest.raises(ValueError, match=r"cannot be resumed, since the content of distance is n"):
        d2ke.distance_matrix(WORDS, WORDS[::-1], Locked(), out=out, resume=True)
    out.unlink()
    d2ke.distance_matrix(WORDS, WORDS[::-1], Locked("1"), out=out).close()
    d2ke.distance_matrix(WORDS, WORDS[::-1], Locked("1"), out=out, resume=True).close()
    with pytest.raises(ValueError, match="content of distance was \"version '1'\" and is"):
        d2ke.distance_matrix(WORDS, WORDS[::-1], Locked("2"), out=out, resume=True)


def test_compiled_callables_have_a_version_by_their_class():
    numba = pytest.importorskip("numba")

    @numba.cfunc("float64(float64)")
    def function(value):
        return value

    class Versioned(LowLevelCallable):
        version = "1"

    assert function_digest("distance", LowLevelCallable(function.ctypes)).startswith(UNKNOWN)
    assert function_digest("distance", Versioned(function.ctypes)) == "version '1'"
