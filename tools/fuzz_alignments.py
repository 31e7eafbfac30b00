# SPDX-License-Identifier: BSD-3-Clause
"""Random pairs of objects, aligned: what that says holds, and costs what the matrix says."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from unittest.mock import patch

import numpy as np
from fuzz_kernels import DIMS, EXTREME, STYLES, expect, strings, vectors, weighted

import d2ke
from d2ke._ext import isa
from d2ke.distances import align_edits, align_series, align_strings
from d2ke.distances.alignment import ALIGNERS
from d2ke.distances.registry import find_distance


def fuzz_alignments(seed):
    """Alignments of five pairs, on every instruction set, with little memory and with enough."""
    rng = np.random.default_rng(seed)
    before = isa.selected()
    try:
        for _ in range(5):
            isa.select(str(rng.choice(isa.supported())))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                one_pair(rng)
    finally:
        isa.select(before)
    return 5


def one_pair(rng):
    """Align two objects and look at the result."""
    name = str(rng.choice(list(ALIGNERS)))
    params, style = {}, "strings"
    strings_ = find_distance(name).kind == "strings"
    ordered = find_distance(name).ordered
    if strings_:
        longest = int(rng.choice([0, 3, 64, 65, 130, 2000 if name == "levenshtein" else 400]))
        X, Y = (d2ke.pack(strings(rng, [n]), kind="strings")
                for n in rng.integers(0, longest + 1, 2))  # fmt: skip
        if X.letters != Y.letters:
            Y = X
        if name == "hamming":
            Y = X[:1]
        if name in ("levenshtein", "weighted_levenshtein"):
            params["mode"] = str(rng.choice(["global", "prefix", "infix"]))
        if name == "weighted_levenshtein" and rng.random() < 0.5:
            params |= {"gap_open": 2.5, "gap_extend": 0.3, "mismatch": float(rng.random())}
    else:
        style, dim = str(rng.choice(STYLES)), int(rng.choice(DIMS))
        most = int(rng.choice([1, 2, 9, 70, 300]))
        X, Y = (d2ke.pack(vectors(rng, [int(rng.integers(1, max(2, most // dim)))], dim,
                                  rng.choice([np.float32, np.float64]), style))
                for _ in range(2))  # fmt: skip
        if name == "msm":
            params["independent"] = dim == 1 and bool(rng.random() < 0.5)
        if ordered:
            params["window"] = [None, 0, 1, 7, 2**40, "rws"][rng.integers(6)]
        if name in ("dtw", "emd") and rng.random() < 0.3 and style not in EXTREME:
            params["ground"] = "sqeuclidean"
        if name == "emd" and rng.random() < 0.6:
            X, Y = (weighted(rng, one, 300) for one in (X, Y))
    with np.errstate(all="ignore"):
        found = d2ke.align(X, Y, name, **params)
        value = d2ke.distance_matrix(X, Y, name, n_threads=1, **params)[0, 0]
    expect(found.value == value, f"{name}: {found.value} for {value}")
    expect((found.pairs >= -1).all(), f"{name}: places")
    expect((found.pairs < [len(found.x), len(found.y)]).all(), f"{name}: places")
    str(found)
    if name == "dtw":
        steps = np.diff(found.pairs, axis=0)
        expect((steps >= 0).all() and (steps.max(axis=1, initial=1) == 1).all(), "a path's steps")
        with np.errstate(over="ignore"):
            total = np.add.accumulate(found.costs)[-1]
        expect(total == found.value, f"dtw: a path of {total} for {found.value}")
    elif strings_ and name != "jaccard":
        check_operations(found, params.get("mode", "global"))
    elif name == "emd":
        expect(abs(found.masses.sum() - 1) < 1e-12 and (found.masses > 0).all(), "masses")
    if (ordered or found.operations is not None) and rng.random() < 0.5:
        limit = int(rng.integers(1, 200_000))
        with ExitStack() as patches:
            for module in (align_edits, align_series, align_strings):
                patches.enter_context(patch.object(module, "TABLE_BYTES", limit))
            again = d2ke.align(X, Y, name, **params)
        expect((again.pairs == found.pairs).all(), f"{name}: another path with less memory")


def check_operations(found, mode):
    """See that the operations make y of a part of x."""
    op, i, j = found.operations.op, found.operations.i, found.operations.j
    expect(len(i[op != "insert"]) == len(np.unique(i[op != "insert"])), "a letter used twice")
    expect((j[op != "delete"] == np.arange(len(found.y))).all(), "not all of y")
    expect(mode == "infix" or not len(i) or i[0] == 0, "not from the begin of x")
    for k in range(len(op)):
        if op[k] in ("equal", "replace"):
            expect((found.x[i[k]] == found.y[j[k]]) == (op[k] == "equal"), f"operation {k}")
