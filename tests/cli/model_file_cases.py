# SPDX-License-Identifier: BSD-3-Clause
"""Labelled objects, and the files that hold them."""

from functools import cache

import h5py
import numpy as np

from d2ke.datasets import load
from d2ke.io import save_mat

N = 180


@cache
def splice(part):
    data = load("splice")
    order = np.random.default_rng(0).permutation(len(data.objects))
    some = order[:N] if part == "train" else order[N : N + 90]
    return [data.objects[i] for i in some], data.labels[some].tolist()


@cache
def vowels(part):
    data = load("japanese-vowels")
    some = np.arange(0, 270, 2) if part == "train" else np.arange(270, 640, 4)
    return [data.objects[i] for i in some], data.labels[some].tolist()


def put(file, lines):
    file.write_text("\n".join(lines) + "\n", "utf-8")


def cell(items):
    column = np.empty((len(items), 1), dtype=object)
    column[:, 0] = items
    return column


def strings_csv(file, X, y):
    put(file, ["sequence,label", *(f"{x},{label}" for x, label in zip(X, y, strict=True))])


def strings_fasta(file, X, y):
    lines = [f">s{i}|{y[i]}\n{x[:30]}\n{x[30:]}" for i, x in enumerate(X)]
    put(file, lines)


def strings_mat(file, X, y):
    save_mat(file, {"X": cell(X), "y": cell(y)})


def series_ts(file, X, y):
    head = ["@univariate false", f"@classLabel true {' '.join(sorted(set(y)))}", "@data"]
    rows = [":".join(",".join(map(repr, row)) for row in x.T.tolist()) for x in X]
    put(file, [*head, *(f"{row}:{label}" for row, label in zip(rows, y, strict=True))])


def series_csv(file, X, y):
    lines = [
        f"{i},{t}," + ",".join(map(repr, values)) + f",{y[i]}"
        for i, x in enumerate(X)
        for t, values in enumerate(x.tolist())
    ]
    put(file, ["id,time," + ",".join(f"c{j}" for j in range(12)) + ",label", *lines])


def series_mat(file, X, y):
    save_mat(file, {"X": cell([x.T for x in X]), "y": np.array(y, float)[:, None]})


def series_npz(file, X, y):
    offsets = np.cumsum([0, *map(len, X)])
    np.savez(file, values=np.concatenate(X), offsets=offsets, y=np.array(y))


def series_h5(file, X, y):
    with h5py.File(file, "w") as store:
        store["values"], store["offsets"] = np.concatenate(X), np.cumsum([0, *map(len, X)])
        store["labels"] = np.array(y, np.int64)
