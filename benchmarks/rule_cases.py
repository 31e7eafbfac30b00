# SPDX-License-Identifier: BSD-3-Clause
"""Data sets of every kind of objects, with divisions by seed, for `benchmarks.rules`.

A case has labels, objects in a list (or a dict of lists, for records), and what `d2ke_train` is
called with. Series of D2KE_DATA/ucr and uea keep their published division; other sets are divided
at random. Words are those of D2KE_WORDS, by default /usr/share/dict.
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
    """Labels and objects; in a published division the first objects train.

    With groups, such as persons, a third of the groups is for the test.
    """

    y: np.ndarray
    X: Any
    n_published: int = 0
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
    """A data set, its training objects (0: the published ones), and the options of training.

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
        """Return a division; of a published one, the same for every seed."""
        y, X, n, groups = self.load()
        order = np.arange(len(y))
        if groups is not None:
            names = np.unique(groups)
            held_out = np.random.default_rng(seed).choice(names, len(names) // 3, False)
            order = np.argsort(np.isin(groups, held_out), kind="stable")
            n = int((~np.isin(groups, held_out)).sum())
        elif self.n:
            order = np.random.default_rng(seed).permutation(order)
            n = min(self.n, len(y) * 7 // 10)
        train, test = order[:n], order[n : n + _NEW]
        known = None if groups is None else groups[train]
        result = Split(y[train], taken(X, train), y[test], taken(X, test), known)
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


def taken(X: Any, rows: np.ndarray) -> Any:
    """Return some of the objects, or of the rows of each column."""
    if isinstance(X, dict):
        return {name: taken(column, rows) for name, column in X.items()}
    return [X[i] for i in rows]


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
    """Return series of the UCR or UEA archive, those for training first."""
    start = folder() / "ucr" / name
    if not start.with_name(f"{name}_TRAIN.ts").exists():
        start = folder() / "uea" / name / name
    parts = [d2ke.io.read_objects(f"{start}_{part}.ts")[:2] for part in ("TRAIN", "TEST")]
    y = np.concatenate([np.asarray(labels) for _, labels in parts])
    return Data(y, [x for objects, _ in parts for x in objects], len(parts[0][1]))


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
def vectors(name: str) -> Data:
    """Return standardised rows of a table of D2KE_DATA/clustering."""
    from scipy.io import arff, loadmat

    file = next((folder() / "clustering").glob(f"{name}.*"))
    if file.suffix == ".mat":
        content = loadmat(file)
        X, y = content["X"].astype(float), content["Y"].ravel()
    else:
        rows, about = arff.loadarff(file)
        *names, last = about.names()
        X, y = np.array([rows[name].astype(float) for name in names]).T, rows[last].astype(str)
    return Data(y, list((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)))


@cache
def diabetes() -> Data:
    """Return the patients of scikit-learn's regression, standardised, and their disease."""
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    return Data(y, list(X / X.std(axis=0)))


@cache
def ink() -> Data:
    """Return outlines of digits as strings, and the mean grey level of their pixels."""
    from sklearn.datasets import load_digits

    return Data(load_digits().data.mean(axis=1), installed("digits-str8").X)


@cache
def digits_in_columns() -> Data:
    """Return digits as records: the outline, a string, and the points, a set."""
    y, outlines, *_ = installed("digits-str8")
    return Data(y, {"outline": outlines, "points": installed("digits-points").X})


@cache
def splice_in_columns() -> Data:
    """Return splice junctions as records: two halves, and how often C or G stands in them."""
    y, X, *_ = installed("splice")
    share = [sum(map(x.count, "CG")) / len(x) for x in X]
    return Data(y, {"before": [x[:30] for x in X], "after": [x[30:] for x in X], "share": share})


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
    return Data(np.array(y), X, 0, np.array(persons))


def euclidean(a: np.ndarray, b: np.ndarray) -> float:
    """Return the distance of two vectors, as a user's function."""
    c = a - b
    return float(np.sqrt(c @ c))


def own(distance: Any, share: float = 1.0, views: Any = (), **parameters: Any) -> Options:
    """Return the options of one block, whose random objects are this share of the training's."""

    def options(n: int) -> dict[str, Any]:
        R, sampler = max(1, round(share * n)), d2ke.samplers.training_objects
        return {"blocks": [d2ke.Block("own", distance, sampler, R, views, parameters)]}

    return options


def courses(n: int) -> dict[str, Any]:
    """Return the options of whole series: two blocks, of their levels and of their slopes."""
    level = (d2ke.views.standardize,)
    slope = (*level, d2ke.views.difference, *level)
    blocks = (own("dtw", 1, views)(n)["blocks"][0] for views in (level, slope))
    return {"blocks": list(blocks)}


def patients(n: int) -> dict[str, Any]:
    """Return the options for the regression of vectors."""
    return {**own(euclidean)(n), "task": "regression"}


def sets(n: int) -> dict[str, Any]:
    """Return the options for sets."""
    return {"distance": "mhd"}


def columns(n: int) -> dict[str, Any]:
    """Return the options for records with a column of sets."""
    return {"distance": {"points": "mhd"}}


_UCR = """ArrowHead Beef BeetleFly CBF Car Chinatown CricketZ DistalPhalanxOutlineAgeGroup
    GunPointAgeSpan Ham InsectEPGRegularTrain MiddlePhalanxTW MoteStrain OliveOil
    PhalangesOutlinesCorrect PigAirwayPressure ProximalPhalanxOutlineAgeGroup
    ProximalPhalanxOutlineCorrect SwedishLeaf ToeSegmentation2 Wine WordSynonyms WormsTwoClass"""
_VECTORS = {"heart.statlog": 189, "ionosphere": 245, "Yale": 115, "lung_small": 51, "COIL20": 500}
_GRAPHS = {"ENZYMES": 420, "MUTAG": 131, "PTC_MR": 240}

CASES: dict[str, Case] = {
    **{name: Case("series", partial(published, name)) for name in _UCR.split()},
    "JapaneseVowels": Case("series, channels", partial(published, "JapaneseVowels")),
    "BasicMotions": Case("series, channels", partial(published, "BasicMotions")),
    "splice": Case("strings", partial(installed, "splice"), 600),
    "words": Case("strings", words, 600),
    "chain codes": Case("strings", partial(installed, "digits-str8"), 600),
    **{name: Case("strings", partial(fasta, name), 600) for name in ("EP300", "AImed")},
    "letters2": Case("sets", partial(installed, "letters2"), 500, sets),
    "digits": Case("sets", partial(installed, "digits-points"), 500, sets),
    "flower": Case("sets", partial(installed, "flower"), 147, sets),
    "decor": Case("sets", partial(installed, "decor"), 339, sets),
    "digits in columns": Case("records", digits_in_columns, 500, columns),
    "splice in columns": Case("records", splice_in_columns, 600),
    "diabetes": Case("regression", diabetes, 300, patients),
    "ink": Case("regression", ink, 600),
    "auslan, R = n": Case("own columns", partial(installed, "auslan"), 400, courses),
    "splice, R = n": Case("own columns", partial(installed, "splice"), 512, own("levenshtein")),
    **{
        f"{name}, R = {share:g} n": Case(
            f"graphs, R = {share:g} n",
            partial(graphs, name),
            n,
            own("indel", share, normalize=True),
        )
        for share in (1, 0.3)
        for name, n in _GRAPHS.items()
    },
    **{
        f"{name}, R = {share:g} n": Case(
            f"vectors, R = {share:g} n", partial(vectors, name), n, own(euclidean, share)
        )
        for share in (1, 0.3)
        for name, n in _VECTORS.items()
    },
}  # fmt: skip


# Ten ordinary sets, and names that repeat by nature.
ORDINARY = {
    name: replace(CASES[name], n=n)  # divided at random
    for name, n in {
        "splice": 600, "words": 600, "chain codes": 600, "EP300": 600, "letters2": 500,
        "digits": 500, "SwedishLeaf": 300, "ProximalPhalanxOutlineAgeGroup": 300, "Ham": 150,
        "ENZYMES, R = 1 n": 420,
    }.items()
}  # fmt: skip
ORDINARY["drawn names"] = Case("strings", drawn_names, 8000)
# Originals that train, and what a copy's letters or values are changed by.
_TYPOS, _NOISES = (0.02, 0.05, 0.15), (0.02, 0.1, 0.3)
_ORIGINALS = {
    "splice": (100, _TYPOS), "words": (120, _TYPOS), "chain codes": (100, _TYPOS),
    "EP300": (100, _TYPOS), "digits": (100, _NOISES), "letters2": (120, _NOISES),
    "SwedishLeaf": (100, _NOISES), "CricketZ": (100, _NOISES), "CBF": (60, _NOISES),
    "ionosphere, R = 1 n": (100, _NOISES),
}  # fmt: skip
COPIES: Mapping[str, Case] = {
    f"{name}, {copies} copies, {noise:g}": replace(
        CASES[name], n=n, copies=copies, noise=noise, kind=f"{copies} copies, {level} noise"
    )
    for copies in (2, 5)
    for name, (n, noises) in _ORIGINALS.items()
    for level, noise in zip(("little", "some", "much"), noises, strict=True)
}
GROUPS = {
    "activities": Case("persons", activities),
    "activities, groups=": Case("persons", activities, grouped=True),
}
