# SPDX-License-Identifier: BSD-3-Clause
"""Objects, random objects, data sets, and the signatures of everything public."""

from __future__ import annotations

import contextlib
import inspect
import os
import runpy
import sys
from io import StringIO
from pathlib import Path
from unittest import mock

import numpy as np

from snapshot_cases import (
    MODULES,
    blobs,
    clouds,
    d2ke,
    exact,
    matlab_compat,
    rounded,
    weights_of,
    words,
)


@exact("signatures")
def signatures():
    made = {}
    for name, module in MODULES.items():
        made[f"{name}.__all__"] = list(module.__all__)
        for one in module.__all__:
            value = getattr(module, one)
            if inspect.ismodule(value) or not callable(value):
                continue
            made[f"{name}.{one}"] = _signature(value)
            if inspect.isclass(value):
                for part, method in inspect.getmembers(value):
                    if not part.startswith("_") and callable(method):
                        made[f"{name}.{one}.{part}"] = _signature(method)
                public = [part for part in dir(value) if not part.startswith("_")]
                made[f"{name}.{one}: attributes"] = public
    return made


def _signature(value):
    try:
        return str(inspect.signature(value))
    except ValueError:
        return "none"


@exact("show_config")
def show_config():
    with contextlib.redirect_stdout(StringIO()) as text:
        d2ke.show_config()
    return [line[:18] for line in text.getvalue().splitlines()]


def _command(*arguments):
    """Run the `d2ke` command; return what it prints."""
    with (
        mock.patch.object(sys, "argv", ["d2ke", *map(str, arguments)]),
        mock.patch.dict(os.environ, {"COLUMNS": "100"}),
        contextlib.redirect_stdout(StringIO()) as text,
        contextlib.redirect_stderr(text),
        contextlib.suppress(SystemExit),
    ):
        runpy.run_module("d2ke", run_name="__main__")
    return text.getvalue()


@exact("command/help")
def command_help():
    commands = ("demo", "cluster", "propagate", "config")
    return [_command("--help")] + [_command(one, "--help") for one in commands]


# The weights are found to a tolerance, as in the cases of `cdsk`.
@rounded("command/cluster and propagate", 1e-3)
def command_runs(folder: Path):
    X, y = blobs(45)
    np.savetxt(folder / "points.csv", X, delimiter=",", fmt="%.17g")
    (folder / "labels.txt").write_text("\n".join(f"c{one}" for one in y) + "\n")
    given = [folder / "points.csv", "--as", "points", "--labels", folder / "labels.txt"]
    made = [
        _command("cluster", *given, "--n-clusters", 3, "--out", folder / "clusters.csv"),
        _command("propagate", *given, "--labeled", 2, "--out", folder / "spread.csv"),
    ]
    return [
        [one.replace(str(folder), "") for one in made],
        _table(folder / "clusters.csv"),
        _table(folder / "spread.csv"),
    ]


def _table(file):
    """Read columns of text and of floats."""
    rows = [line.split(",") for line in file.read_text().splitlines()]
    columns = {name: list(cells) for name, *cells in zip(*rows, strict=True)}
    return {
        name: np.array(cells, dtype=float if name in ("alpha", "score") else str)
        for name, cells in columns.items()
    }


@exact("pack")
def pack():
    series = clouds(1, 6, 2)
    padded = np.random.default_rng(2).standard_normal((4, 7, 3))
    cell = np.empty((1, 3), dtype=object)
    cell[0, :] = [one.T for one in series[:3]]
    return {
        "series": d2ke.pack(series),
        "float32": d2ke.pack([one.astype(np.float32) for one in series]),
        "float16": d2ke.pack([one.astype(np.float16) for one in series]),
        "mixed": d2ke.pack([series[0].astype(np.float32), series[1]]),
        "numbers": d2ke.pack([[1, 2, 3], [4]]),
        "booleans": d2ke.pack([np.array([True, False])]),
        "padded": d2ke.pack(padded),
        "lengths": d2ke.pack(padded, lengths=[7, 1, 3, 4]),
        "channels first": d2ke.pack(padded, channels_first=True, lengths=[3, 2, 1, 3]),
        "cell": d2ke.pack(cell, channels_first=True),
        "weights": d2ke.pack(series, weights=weights_of(3, series)),
        "str": d2ke.pack(["AC", "", "GÄT", "\U0001f600A"]),
        "bytes": d2ke.pack([b"\x00\xff", b"a"]),
        "integers": d2ke.pack([[5, -7], [2**40]], kind="strings"),
        "many letters": d2ke.pack([np.arange(70000) % 66000], kind="strings"),
    }


@exact("Objects")
def objects():
    series = clouds(4, 6, 2)
    X = d2ke.pack(series, weights=weights_of(5, series))
    strings = d2ke.pack(words(6, 6))
    return {
        "properties": [(x.lengths, x.dim, x.dtype, x.nbytes, len(x)) for x in (X, strings)],
        "items": [X[0], X[-1], strings[2], list(strings)],
        "parts": [x[part] for x in (X, strings) for part in (slice(1, 5, 2), [3, 0, 3])],
        "mask": strings[np.array([True, False] * 3)],
        "span": [X.span(1, 4), strings.span(0, 2)],
        "text": [repr(X), repr(strings)],
        "equal": [X[:] == X, strings == strings[1:], X[1:] == X[:-1]],
    }


@exact("concatenate")
def concatenate():
    series = clouds(7, 4, 3)
    weighted = d2ke.pack(series[:2], weights=weights_of(8, series[:2]))
    return {
        "series": d2ke.concatenate([d2ke.pack(series[:2]), d2ke.pack(series[2:])]),
        "weights": d2ke.concatenate([weighted, d2ke.pack(series[2:])]),
        "strings": d2ke.concatenate([d2ke.pack(["CA", ""]), d2ke.pack(["GT"])]),
    }


SAMPLERS = {
    "random_series": lambda seed, R: [
        d2ke.random_series(R, 3, length=(1, 9), sigma=0.7, seed=seed),
        d2ke.random_series(R, 1, length=5, sigma=2.0, seed=seed, dtype=np.float32),
    ],
    "random_strings": lambda seed, R: [
        d2ke.random_strings(R, "ACGT", length=(2, 20), seed=seed),
        d2ke.random_strings(R, b"abc", length=4, seed=seed),
        d2ke.random_strings(R, [3, 500, -2], length=(1, 4), seed=seed),
    ],
    "random_sets": lambda seed, R: [
        d2ke.random_sets(R, 8, size=(3, 15), seed=seed),
        d2ke.random_sets(R, 5, size=(1, 4), seed=seed, region="orthant", dtype=np.float32),
        d2ke.random_sets(R, 2, size=3, seed=seed, region="box", low=[-1.0, 0.0], high=2.0),
    ],
    "random_segments": lambda seed, R: [
        d2ke.random_segments(R, clouds(9, 8, 2), length=(2, 12), scale=0.5, seed=seed),
        d2ke.random_segments(R, words(10, 9), length=(1, 6), seed=seed),
    ],
    "markov_strings": lambda seed, R: [
        d2ke.markov_strings(R, words(11, 9), length=(1, 25), order=order, seed=seed)
        for order in (1, 2, 3)
    ],
    "resampled_sets": lambda seed, R: d2ke.resampled_sets(
        R, clouds(12, 7, 3, np.float32), size=(2, 9), seed=seed
    ),
    "representatives": lambda seed, R: [
        d2ke.representatives(clouds(13, 20, 2), R, seed=seed),
        d2ke.representatives(words(14, 20), R, seed=seed),
    ],
}


def sample(name):
    """Draw with each kind of seed, and for two R."""
    seeds = [0, 12345, np.random.SeedSequence(3), np.random.default_rng(4)]
    return [SAMPLERS[name](seed, R) for seed in seeds for R in (1, 16)]


for _name in SAMPLERS:
    exact(f"samplers/{_name}", _name)(sample)


@exact("samplers/RandStream")
def from_a_stream():
    stream = matlab_compat.RandStream(0)
    return [
        d2ke.random_series(9, 2, length=(1, 9), sigma=0.7, seed=stream),
        d2ke.random_sets(9, 4, size=(1, 5), seed=stream),
        d2ke.random_sets(9, 4, size=(1, 5), seed=stream, region="box", low=-1.0),
        stream.State,
    ]


def load(name):
    """Load a data set: its objects, labels and divisions."""
    from papers.datasets import load as load_any

    data = load_any(name)
    assert isinstance(data, d2ke.datasets.Dataset)
    summary = {key: str(value) for key, value in data.summary.items()}
    return [data.name, data.objects, data.labels, data.split(0), data.split(7), summary,
            data.domain, data.distance, str(data.alphabet), data.classes, repr(data)]  # fmt: skip


for _name in ("digits", "digits-str8", "digits-str4", "digits-points"):
    exact(f"datasets/{_name}", _name)(load)
for _name in ("splice", "gun-point", "basic-motions", "japanese-vowels", "pentip", "auslan"):
    exact(f"datasets/{_name}", _name, needs_data=True)(load)


@exact("datasets/splice without doubtful letters", needs_data=True)
def load_splice():
    data = d2ke.datasets.load("splice", ambiguous="drop")
    return [data.objects, data.labels]


@exact("datasets/functions")
def dataset_functions(folder: Path):
    rng = np.random.default_rng(15)
    rows, columns = np.mgrid[:12, :12]
    image = (rows - 5.5) ** 2 + 2 * (columns - 5.0) ** 2 < 20
    X, Y = d2ke.pack(clouds(16, 5, 2)), d2ke.pack(clouds(17, 3, 2))
    y = rng.integers(3, size=40)
    sources = d2ke.datasets.REGISTRY.values()
    file = folder / "Some.ts"
    file.write_text(
        "@problemName Some\n@timeStamps false\n@univariate false\n@classLabel true a b\n@data\n"
        "1,2,3:4,5,6:a\n-1,0.5:2,7:b\n"
    )
    return {
        "codes": [
            function(image, directions)
            for function in (d2ke.datasets.boundary_code, d2ke.datasets.chain_code)
            for directions in (4, 8)
        ],
        "standardize": d2ke.datasets.standardize(X, Y),
        "split": [
            d2ke.datasets.train_test_split(what, fraction=0.6, rounding=rounding, seed=3)
            for what in (17, y)
            for rounding in ("floor", "round")
        ],
        "read_ts": d2ke.datasets.read_ts(file),
        "names": sorted(d2ke.datasets.REGISTRY),
        "types": [isinstance(one, d2ke.datasets.Source) for one in sources],
        "sources": [
            [one.name, one.domain, one.distance, one.rounding, one.title, one.page, one.alphabet,
             one.n_train]
            for one in sources
        ],
    }  # fmt: skip
