# SPDX-License-Identifier: BSD-3-Clause
"""Data sets of every kind of objects, with divisions by seed, for `benchmarks.rules`.

A case has labels, objects in a list, and what `d2ke_train` is called with. Words are those of
D2KE_WORDS, by default /usr/share/dict.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import d2ke
from benchmarks.strings_accuracy import read_words
from papers.datasets import load

_NEW = 1000  # test objects, at most
Options = Callable[[int], dict[str, Any]]


class Data(NamedTuple):
    """Labels and objects.

    With groups, such as persons, a third of the groups is for the test.
    """

    y: np.ndarray
    X: Any
    groups: np.ndarray | None = None


class Split(NamedTuple):
    """Labels, objects and groups for training, and labels and objects for the test."""

    y: np.ndarray
    X: Any
    true: np.ndarray
    new: Any
    groups: np.ndarray | None = None


@dataclass(frozen=True)
class Case:
    """A data set, the number of its training objects, and the options of training.

    With `copies`, each training object is replaced by so many copies of it with this noise.
    `grouped` models are told the groups.
    """

    kind: str
    load: Callable[[], Data]
    n: int = 0
    options: Options = lambda n: {}
    copies: int = 0
    noise: float = 0.0
    grouped: bool = False

    def split(self, seed: int) -> Split:
        """Return a random division."""
        y, X, groups = self.load()
        if groups is not None:
            names = np.unique(groups)
            held_out = np.random.default_rng(seed).choice(names, len(names) // 3, False)
            order = np.argsort(np.isin(groups, held_out), kind="stable")
            n = int((~np.isin(groups, held_out)).sum())
        else:
            order = np.random.default_rng(seed).permutation(len(y))
            n = min(self.n, len(y) * 7 // 10)
        train, test = order[:n], order[n : n + _NEW]
        known = None if groups is None else groups[train]
        result = Split(y[train], [X[i] for i in train], y[test], [X[i] for i in test], known)
        return self._copied(result, seed) if self.copies else result

    def _copied(self, split: Split, seed: int) -> Split:
        rng = np.random.default_rng((seed, self.copies))
        rows = np.repeat(np.arange(len(split.y)), self.copies)
        if isinstance(split.X[0], str):
            letters = sorted(set("".join(split.X)))
            X: list[Any] = [misspelt(split.X[i], letters, self.noise, rng) for i in rows]
        else:
            level = self.noise * np.std(np.concatenate([np.ravel(x) for x in split.X]))
            X = [split.X[i] + level * rng.normal(size=split.X[i].shape) for i in rows]
        return split._replace(y=split.y[rows], X=X)


def misspelt(text: str, letters: list[str], share: float, rng: np.random.Generator) -> str:
    """Replace, double or lose this share of the letters."""
    changed = [
        letter if rng.random() >= share else ("", 2 * letter, rng.choice(letters))[rng.integers(3)]
        for letter in text
    ]
    return "".join(changed) or text


def folder() -> Path:
    """Return the folder of the data sets."""
    return Path(os.environ.get("D2KE_DATA", "."))


@cache
def published(name: str) -> Data:
    """Return series of the UCR archive."""
    start = folder() / "ucr" / name
    parts = [d2ke.io.read_objects(f"{start}_{part}.ts")[:2] for part in ("TRAIN", "TEST")]
    y = np.concatenate([np.asarray(labels) for _, labels in parts])
    return Data(y, [x for objects, _ in parts for x in objects])


@cache
def installed(name: str) -> Data:
    """Return a data set of `papers.datasets`."""
    data = load(name)
    return Data(data.labels, list(data.objects))


@cache
def words() -> Data:
    """Return 1500 words and their languages."""
    lists = read_words(Path(os.environ.get("D2KE_WORDS", "/usr/share/dict")), 4, True)
    rng, n = np.random.default_rng(0), 1500 // len(lists)
    X = [rng.choice(some, n, False).tolist() for some in lists.values()]
    return Data(np.repeat(list(lists), n), [word for some in X for word in some])


@cache
def drawn_names(n: int = 12_000, classes: int = 18, lexicon: int = 6000) -> Data:
    """Return names of nations, drawn by their frequency, so that some 12 % of 8,000 repeat another.

    Each nation has its own shares of letters after another. Where such rows are left out together,
    tested accuracy falls by 6 points and the printed one by 13.
    """
    rng = np.random.default_rng(0)
    letters, usual = list("abcdefghijklmnopqrstuvwxyz"), 1.2 * rng.normal(size=(27, 26))
    names: list[str] = []
    for _ in range(classes):
        follows = np.exp(usual + rng.normal(size=(27, 26)))
        follows /= follows.sum(axis=1, keepdims=True)
        for length in rng.integers(4, 10, lexicon):
            name = [26]
            while len(name) <= length:
                name.append(rng.choice(26, p=follows[name[-1]]))
            names.append("".join(letters[i] for i in name[1:]))
    shares = np.outer(rng.dirichlet(np.full(classes, 2)) + 0.02, np.arange(1, lexicon + 1) ** -0.6)
    rows = rng.choice(len(names), n, p=shares.ravel() / shares.sum())
    return Data(np.array([f"nation {i // lexicon}" for i in rows]), [names[i] for i in rows])


@cache
def fasta(name: str) -> Data:
    """Return the strings of D2KE_DATA/fastsk, of training and test."""
    lines: list[str] = []
    for part in ("train", "test"):
        text = (folder() / f"fastsk/{name}.{part}.fasta").read_text("utf-8")
        lines += text.lower().strip().split("\n")
    return Data(np.array([line.split(">")[1].strip() for line in lines[::2]]), lines[1::2])


@cache
def graphs(name: str) -> Data:
    """Return the sorted Weisfeiler-Leman codes of the nodes of graphs."""
    found, y, _ = d2ke.io.read_graphs(folder() / f"graphs/{name}.zip")
    return Data(y, [[str(code) for code in sorted(bag)] for bag in d2ke.graph_codes(found)])


@cache
def ionosphere() -> Data:
    """Return the standardised rows of a table of D2KE_DATA/clustering."""
    from scipy.io import arff

    rows, about = arff.loadarff(folder() / "clustering/ionosphere.arff")
    *names, last = about.names()
    X, y = np.array([rows[name].astype(float) for name in names]).T, rows[last].astype(str)
    return Data(y, list((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)))


@cache
def activities() -> Data:
    """Return pieces of 15 s of an accelerometer on the chest, and their 15 persons.

    Of each person and activity there are at most 12, at equal distances.
    """
    X: list[np.ndarray] = []
    y: list[int] = []
    persons: list[int] = []
    with zipfile.ZipFile(folder() / "actrecog/chest_accelerometer.zip") as archive:
        files = {Path(name).stem: name for name in archive.namelist() if name.endswith(".csv")}
        for person in range(1, 16):
            with archive.open(files[str(person)]) as file:
                table = np.loadtxt(file, delimiter=",")
            for label in range(1, 8):
                values = table[table[:, 4] == label, 1:4]
                pieces = [values[i : i + 780 : 10] for i in range(0, len(values) - 779, 780)]
                kept = pieces[:: max(1, -(-len(pieces) // 12))]
                X += kept
                y += [label] * len(kept)
                persons += [person] * len(kept)
    return Data(np.array(y), X, np.array(persons))


def euclidean(a: np.ndarray, b: np.ndarray) -> float:
    """Return the distance of two vectors, as a user's function."""
    c = a - b
    return float(np.sqrt(c @ c))


def own(distance: Any, **parameters: Any) -> Options:
    """Return the options of one block, whose random objects are all training objects."""

    def options(n: int) -> dict[str, Any]:
        sampler = d2ke.samplers.training_objects
        return {"blocks": [d2ke.Block("own", distance, sampler, n, (), parameters)]}

    return options


def sets(n: int) -> dict[str, Any]:
    """Return the options for sets."""
    return {"distance": "mhd"}


_CASES: dict[str, Case] = {
    **{
        name: Case("series", partial(published, name))
        for name in ("SwedishLeaf", "ProximalPhalanxOutlineAgeGroup", "Ham", "CricketZ", "CBF")
    },
    "splice": Case("strings", partial(installed, "splice")),
    "words": Case("strings", words),
    "chain codes": Case("strings", partial(installed, "digits-str8")),
    "EP300": Case("strings", partial(fasta, "EP300")),
    "letters2": Case("sets", partial(installed, "letters2"), options=sets),
    "digits": Case("sets", partial(installed, "digits-points"), options=sets),
    "ENZYMES": Case("graphs", partial(graphs, "ENZYMES"), options=own("indel", normalize=True)),
    "ionosphere": Case("vectors", ionosphere, options=own(euclidean)),
}
# Ten ordinary sets, and names that repeat by nature, with the objects that train.
ORDINARY = {
    name: replace(_CASES[name], n=n)
    for name, n in {
        "splice": 600, "words": 600, "chain codes": 600, "EP300": 600, "letters2": 500,
        "digits": 500, "SwedishLeaf": 300, "ProximalPhalanxOutlineAgeGroup": 300, "Ham": 150,
        "ENZYMES": 420,
    }.items()
}  # fmt: skip
ORDINARY["drawn names"] = Case("strings", drawn_names, 8000)
# Originals that train, and what a copy's letters or values are changed by.
_TYPOS, _NOISES = (0.02, 0.05, 0.15), (0.02, 0.1, 0.3)
_ORIGINALS = {
    "splice": (100, _TYPOS), "words": (120, _TYPOS), "chain codes": (100, _TYPOS),
    "EP300": (100, _TYPOS), "digits": (100, _NOISES), "letters2": (120, _NOISES),
    "SwedishLeaf": (100, _NOISES), "CricketZ": (100, _NOISES), "CBF": (60, _NOISES),
    "ionosphere": (100, _NOISES),
}  # fmt: skip
COPIES: Mapping[str, Case] = {
    f"{name}, {copies} copies, {noise:g}": replace(
        _CASES[name], n=n, copies=copies, noise=noise, kind=f"{copies} copies, {level} noise"
    )
    for copies in (2, 5)
    for name, (n, noises) in _ORIGINALS.items()
    for level, noise in zip(("little", "some", "much"), noises, strict=True)
}
GROUPS = {
    "activities": Case("persons", activities),
    "activities, groups=": Case("persons", activities, grouped=True),
}
