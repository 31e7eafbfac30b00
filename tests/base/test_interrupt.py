# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C in the middle of a long computation: at once, and the process goes on afterwards."""

import json
import subprocess
import sys
import threading

import pytest
from interrupts import needs_proc, press

# A process that was started in the background may have been told to ignore SIGINT.
CHILD = """
import faulthandler, json, signal, sys, time
faulthandler.enable()  # says where it is, should it not answer
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
import d2ke

for name in set(d2ke.__all__) - {"dask", "estimators"}:
    getattr(d2ke, name)  # its module is imported now, and not when the signal comes

for line in sys.stdin:  # a case
    setup, call, times = json.loads(line)
    names = {"np": np, "d2ke": d2ke, "time": time}
    exec(setup, names)
    d2ke.distance_matrix([[0.0]], distance="dtw")
    for _ in range(times):
        print("ready", flush=True)
        try:
            exec(call, names)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        else:
            print("came to an end", flush=True)
    D = d2ke.distance_matrix([[0.0, 1.0]] * 50, [[0.0, 2.0]] * 50, "dtw")
    print("usable" if (D == 1).all() else "broken", flush=True)
"""

LONG = "long = d2ke.pack([np.random.default_rng(0).random(60_000)])\n"
SLOW = """
import math, numba
from numba import types as t
from scipy import LowLevelCallable
signature = t.double(t.CPointer(t.double), t.intp, t.CPointer(t.double), t.intp, t.intp, t.voidptr)

@numba.cfunc(signature)
def slow(x, n_x, y, n_y, dim, data):
    total = 0.0
    for i in range(200_000):
        total += abs(math.sin(x[0] * i))
    return total

function = LowLevelCallable(slow.ctypes)
items = d2ke.pack(np.random.default_rng(0).random((4096, 1)))
"""
SEARCH = """
rng = np.random.default_rng(0)
X = d2ke.pack([bytes(one) for one in rng.integers(0, 4, (40_000, 8), dtype='u1')])
y = rng.integers(0, 9, 40_000)
how = {'distance': 'levenshtein', 'n_threads': 2}
grid = {'R': [200], 'gamma': np.linspace(0.1, 2, 50), 'loss': ['squared']}
"""
CASES = {
    "many short pairs": (
        "X = d2ke.pack(np.zeros((3000, 400, 2)))",
        'd2ke.distance_matrix(X, X, "dtw")',
    ),
    "neighbours": (
        "X = d2ke.pack(np.random.default_rng(0).random((3000, 400, 2)))",
        'd2ke.nearest(X, k=3, distance="dtw", n_threads=2)',
    ),
    "neighbours of strings": (
        'X = d2ke.samplers.random_strings(100_000, "ab", length=(60, 100), seed=0)',
        'd2ke.within(X, radius=12, distance="levenshtein", n_threads=2)',
    ),
    "learned costs": (
        'X = d2ke.samplers.random_strings(3000, "abc", length=(300, 400), seed=0)\n'
        'Y = d2ke.samplers.random_strings(3000, "abc", length=(300, 400), seed=1)',
        "d2ke.learn_costs(X, Y, n_threads=2)",
    ),
    "an index of strings": (
        'X = d2ke.samplers.random_strings(100_000, "ab", length=(60, 100), seed=0)\n'
        'index = d2ke.Index(X, distance="levenshtein")\n'
        "def check():\n"
        "    indices, distances = index.nearest(X[[7]], k=1)\n"
        "    assert (indices[0, 0], distances[0, 0]) == (7, 0)\n",
        "check(); index.within(X, radius=12, n_threads=2)",
    ),
    "gapped words": (
        'X = d2ke.samplers.random_strings(4000, "ACGT", length=(400, 500), seed=0)',
        'd2ke.distance_matrix(X, distance="gapped", n_threads=1)',
    ),
    "words of one long string": (
        'X = d2ke.samplers.random_strings(2, "ACGT", length=(20_000_000, 20_000_001), seed=0)',
        'd2ke.distance_matrix(X, distance="gapped", n_threads=1)',
    ),
    "tree of strings": (
        'X = d2ke.samplers.random_strings(60_000, "abcd", length=(20, 30), seed=0)',
        'd2ke.spanning_tree(X, distance="levenshtein", n_threads=2)',
    ),
    "one long pair": (LONG, 'd2ke.distance_matrix(long, long, "dtw", n_threads=4)'),
    "windows in long series": (
        "long = np.random.default_rng(0).random(600_000)",
        'd2ke.distance_matrix([long], [long[:300_000]], "window")',
    ),
    "a window and its place": (
        "rng = np.random.default_rng(0)\nx, y = rng.random(10**7), rng.random(10**5)",
        'd2ke.align(x, y, "window")',
    ),
    "nearest windows": (
        "rng = np.random.default_rng(0)\nx, y = rng.random(4 * 10**6), rng.random(1000)",
        'd2ke.nearest_windows([x], y, distance="dtw", window=50)',
    ),
    "window profile": (
        "x = np.random.default_rng(0).normal(size=10**6)",
        "d2ke.window_profile(x, 500, n_threads=2)",
    ),
    "a long path": (LONG, "d2ke.align(long, long)"),
    "long edits": (
        "x = np.random.default_rng(0).integers(0, 4, 2_000_000, np.uint8).tobytes()",
        "d2ke.align(x, x[::-1])",
    ),
    "long transpositions": (
        "x = np.random.default_rng(0).integers(0, 4, 200_000, np.uint8).tobytes()",
        'd2ke.align(x, x[::-1], "osa")',
    ),
    "long weighted edits": (
        "x = np.random.default_rng(0).integers(0, 4, 200_000, np.uint8).tobytes()",
        'd2ke.align(x, x[::-1], "weighted_levenshtein", mode="infix")',
    ),
    "one long pair, elastic": (LONG, 'd2ke.distance_matrix(long, long, "msm", n_threads=2)'),
    "long strings": (
        'text = ["ab" * 1_000_000]',
        'd2ke.distance_matrix(text, [text[0][::-1]], "levenshtein")',
    ),
    "large sets": (
        "X = d2ke.pack([np.random.default_rng(0).random((60_000, 64))])",
        'd2ke.distance_matrix(X, X, "mhd")',
    ),
    "transportation": (
        "X, Y = (d2ke.pack([np.random.default_rng(s).random((5000, 3))]) for s in range(2))",
        'd2ke.distance_matrix(X, Y, "emd")',
    ),
    "coreset, herding": (
        "X = np.random.default_rng(0).random((60_000, 5))",
        'd2ke.kernel_coreset(X, 30_000, sigma=1.0, method="herding", n_threads=1)',
    ),
    "coreset, thinning": (
        "X = np.random.default_rng(0).random((300_000, 5))",
        'd2ke.kernel_coreset(X, 30_000, sigma=1.0, method="thinning")',
    ),
    "search, products": (
        SEARCH,
        "d2ke.search(y, X, 'rsm', **how, grid=grid)",
    ),
    "search of random warping series": (
        "import tempfile, matlab_compat\n"
        "from pathlib import Path\n"
        "kept = tempfile.TemporaryDirectory()\n"
        "Path(kept.name, 'Long').mkdir()\n"
        "X = np.random.default_rng(0).random((60, 200))\n"
        "np.savetxt(Path(kept.name, 'Long', 'Long_TRAIN'), np.c_[np.arange(60) % 2 + 1, X])\n"
        "matlab_compat.rng('default')",
        "matlab_compat.rws_gridsearch_CV(kept.name, 'Long')",
    ),
    "Python callable": ("", "d2ke.distance_matrix(range(10**4), range(10**4), lambda x, y: 1.0)"),
    "compiled function": (
        SLOW,
        "d2ke.distance_matrix(items, items, function, n_threads=1)",
    ),
}
MODEL = """
rng = np.random.default_rng(0)
words = ["".join(one) for one in rng.choice(list("ACGT"), (4000, 60))]
y = np.array([word.count("A") > 15 for word in words])
model = d2ke.d2ke_train(y[:200], words[:200], R=300)
"""
SOLVED = """
rng = np.random.default_rng(0)
Z, y = rng.standard_normal((4000, 300)), rng.integers(0, 2, 4000)
d2ke.train(y[:9] > 0, Z[:9], "-s 0")
d2ke.svmtrain(y[:9] > 0, Z[:9], "-t 0")
"""
CASES |= {
    "quadratic program": (
        "from d2ke.discriminative.simplex_programs import solve_dense\n"
        "A = np.random.default_rng(0).normal(size=(1500, 1500))\n"
        "H, f = A @ A.T, np.random.default_rng(1).normal(size=1500)",
        "solve_dense(H, f, np.full(1500, 1 / 1500), 1e-300, 10**12)",
    ),
    "LIBLINEAR": (
        SOLVED + "many = rng.integers(0, 500, 4000)",
        'd2ke.train(many, Z, "-s 0 -c 100", n_threads=2)',
    ),
    **{
        f"norm, {more}": (
            f"P = np.random.default_rng(0).random(({n}, 3))",
            f"d2ke.measures.kernel_norm(P, sigma={sigma}, method={more}, n_threads=2)",
        )
        for n, sigma, more in [
            (10**6, 0.1, "'exact'"),
            (10**6, 0.1, "'exact', kernel='laplace'"),
            (300_000, 10.0, "'dualtree', eps=1e-9"),
            (100_000, 10.0, "'wspd', eps=1e-6"),
            (10**6, 0.01, "'rff', eps=1e-4"),
        ]
    },
    "alignment": (
        "P, Q = np.random.default_rng(0).random((2, 60_000, 3))",
        "d2ke.kernel_align(P, Q, sigma=0.01, n_threads=1)",
    ),
    "LIBLINEAR, random": (SOLVED, 'd2ke.train(y, Z, "-s 3 -c 1e9 -e 1e-300")'),
    "LIBSVM": (SOLVED, 'd2ke.svmtrain(y, Z, "-t 0 -c 1e9 -e 1e-9")'),
    "features of the kernel distance": (
        "sets = [np.zeros((2, 3))] * 2000",
        "while True: d2ke.measures.kernel_features(sets, sigma=1.0, n_features=40_000)",
    ),
    "training": (MODEL, "while True: d2ke.d2ke_train(y, words, R=300)"),
    "predicting": (MODEL, "while True: d2ke.d2ke_predict(None, words, model)"),
    "clusters of features": (
        "from d2ke.discriminative.similarity_graph import FeatureKernel\n"
        "Z = np.random.default_rng(0).random((12_000, 300))\n"
        "graph = FeatureKernel(Z).graph(np.full(12_000, 1 / 12_000), 6_000)",
        "while True: graph.eigenvectors(40)",
    ),
    "many strings": ("items = ['abc', 'defg'] * 10_000_000", "while True: d2ke.pack(items)"),
    "Gaussian kernel": (
        "X = np.random.default_rng(0).random((8000, 20))",
        "while True: d2ke.discriminative.gaussian_gram(X, h=1.0)",
    ),
}
TIMES = {"training": 3, "an index of strings": 3}
# A kind of computation each; the others are interrupted elsewhere in the same code.
QUICK = (
    *("many short pairs", "one long pair", "long strings", "transportation", "coreset, herding"),
    *("search, products", "search of random warping series", "Python callable"),
    *("LIBLINEAR, random", "norm, 'exact'", "alignment", "training", "predicting"),
)


@pytest.fixture(scope="module")
def start():
    """Return a function that starts a process for the cases, or returns the one that still runs."""
    children = []

    def start():
        if not children or children[-1].poll() is not None:
            pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
            children.append(subprocess.Popen([sys.executable, "-c", CHILD], text=True, **pipes))
        return children[-1]

    yield start
    for child in children:
        child.communicate()  # the end of its input is its end


@pytest.mark.sample(3)
@needs_proc
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=[] if case in QUICK else [pytest.mark.slow]) for case in CASES],
)
def test_interrupt(case, start):
    times, child = TIMES.get(case, 1), start()
    # Whatever happens, the child does not outlive the test.
    watchdog = threading.Timer(60, child.kill)
    watchdog.start()
    print(json.dumps([*CASES[case], times]), file=child.stdin, flush=True)
    try:
        for _ in range(times):
            line = child.stdout.readline().strip()
            assert line == "ready", child.stderr.read()
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(0.4)
            line = press(child)
            assert line == "interrupted", line or child.stderr.read()
        assert child.stdout.readline() == "usable\n"
    except BaseException:
        child.kill()  # the next case gets another
        raise
    finally:
        watchdog.cancel()
