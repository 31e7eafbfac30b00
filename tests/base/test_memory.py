# SPDX-License-Identifier: BSD-3-Clause
"""What functions take at most: the formulas against the system's peaks, and refusals before work.

The peaks are those of tests/base/memory_cases.py, which runs in processes of its own.
"""

import inspect
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import memory_cases
import numpy as np
import pytest

import d2ke
from d2ke._base import limits, memory

ROOT = Path(__file__).parents[2]
LOOSEST = 0.4  # of the formula
NAMES = [name for name, *_ in memory_cases.CASES]
GROUPS = 4  # of cases, each in a process of its own
QUICK = [
    "distance_matrix-12000-1000",
    "of_large_strings-300000-levenshtein",
    "d2ke_features-12000-1000",
    "d2ke_gram-3000-50-3000",
    "dsk_gram-1500-None",
]
linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="peaks are read from Linux' /proc"
)


def run(*arguments, **environment):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def measured(folder, names):
    """Return, by name, the function, the case, bytes by the formula and bytes at the peak."""
    # Every large array is a mapping of its own, so that none hides in what another left.
    plain = {"MALLOC_MMAP_THRESHOLD_": "262144", "MALLOC_TRIM_THRESHOLD_": "131072"}
    one = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "2"}
    lines = run("tests/base/memory_cases.py", folder, *names, **plain, **one).splitlines()
    return {name: rest for name, *rest in map(json.loads, lines)}


@pytest.fixture(scope="module")
def peaks(tmp_path_factory):
    """Measure all cases, two at a time."""
    folders = [tmp_path_factory.mktemp("memory") for _ in range(GROUPS)]
    with ThreadPoolExecutor(2) as pool:
        groups = pool.map(measured, folders, [NAMES[i::GROUPS] for i in range(GROUPS)])
        return {name: rest for one in groups for name, rest in one.items()}


def check_peak(function, case, needed, peak):
    assert peak <= needed + memory.SPARE, (function, case)
    if needed > memory.SPARE:
        assert peak >= LOOSEST * needed, (function, case)


@linux
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_formula_is_a_bound_and_not_far_off(name, peaks):
    check_peak(*peaks[name])


@linux
def test_formulas_of_a_few(tmp_path):
    peaks = measured(tmp_path, QUICK)
    assert sorted(peaks) == sorted(QUICK)
    for result in peaks.values():
        check_peak(*result)


@linux
@pytest.mark.slow
def test_every_row_is_measured(peaks):
    measured = {memory.formula_of(*peaks[name][:2]) for name in NAMES}
    cheap = {need for need in memory.NEEDS if need.formula == "MiB"}
    assert [need for need in memory.NEEDS if need not in measured | cheap] == []


def public_functions():
    return [
        name
        for module in (d2ke, d2ke.io)
        for name in module.__all__
        if inspect.isfunction(getattr(module, name))
    ]


def test_every_public_function_has_a_row():
    named = {name for need in memory.NEEDS for name in need.functions}
    assert sorted(set(public_functions()) - named) == []
    for name in named:
        holder, _, method = name.partition(".")
        thing = getattr(d2ke, holder, None) or getattr(d2ke.io, holder)
        assert not method or hasattr(thing, method), name


def test_no_case_is_there_twice():
    keys = [(name, need.case) for need in memory.NEEDS for name in need.functions]
    assert len(keys) == len(set(keys))


def test_page_shows_the_table():
    page = (ROOT / "docs" / "memory.md").read_text()
    shown = page.split("<!-- table -->\n")[1]
    assert shown == memory.markdown(), "docs/memory.md says which command prints the table"


def test_page_tells_what_happens(capsys):
    page = (ROOT / "docs" / "memory.md").read_text()
    [code] = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    exec(code, {})
    shown = " ".join(code.split("\n# ", 1)[1].replace("\n# ", " ").split())
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith(shown.split(", but")[0])


def test_symbols_are_explained():
    used = {s for need in memory.NEEDS for _, symbols in memory.terms(need.formula)
            for s in symbols}  # fmt: skip
    assert used <= set(memory.SYMBOLS)


@pytest.mark.parametrize(
    ("formula", "sizes", "wanted"),
    [
        ("8 n m + 3 MiB", {"n": 5, "m": 7}, 280 + 3 * 2**20),
        ("n^2 + 24 n^2 m", {"n": np.int32(100_000), "m": 10**6}, 10**10 + 24 * 10**16),
        ("MiB", {}, 2**20),
    ],
)
def test_formulas_are_read(formula, sizes, wanted, monkeypatch):
    monkeypatch.setitem(memory._ROWS, ("f", ""), memory.Need(("f",), "", formula))
    assert memory.bytes_needed("f", **sizes) == wanted


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (8 * 10**12, "8 TB"), (1234567, "1.23 MB")],
)
def test_readable(count, text):
    assert memory.readable(count) == text


# ---------------------------------------------------------------- refusals

# Arrays of a million rows that take no memory: each row is the same.
MANY = 10**6


def flat(*shape, dtype=np.float64):
    return np.broadcast_to(np.zeros(1, dtype), shape)


def objects(n):
    """Many objects that are quickly made."""
    offsets = np.arange(n + 1, dtype=np.int64)
    return d2ke.Objects("vectors", np.zeros((n, 1), np.float32), offsets)


POINTS = np.zeros((300_000, 1))
TOO_LARGE = {
    "distance_matrix": lambda: d2ke.distance_matrix(objects(MANY), None, "dtw"),
    "d2ke_embed": lambda: d2ke.d2ke_embed(objects(MANY), objects(MANY), distance="dtw", gamma=1.0),
    "rsm_embed": lambda: d2ke.rsm_embed(objects(MANY), objects(MANY), distance="dtw", gamma=1.0),
    "d2ke_gram": lambda: d2ke.d2ke_gram(objects(MANY), omega=objects(2), distance="dtw", gamma=1.0),
    "gaussian_gram": lambda: d2ke.gaussian_gram(POINTS, h=1.0),
    "density_error_bound": lambda: d2ke.density_error_bound(
        POINTS, [0, 1] * 150_000, flat(len(POINTS)), h=1.0
    ),
    "cdsk": lambda: d2ke.cdsk(points=POINTS, n_clusters=2, h=1.0),
    "lpdsk": lambda: d2ke.lpdsk(points=POINTS, y=[0, 1] * 150_000, h=1.0),
    "kernel_standard_error": lambda: d2ke.kernel_standard_error(np.zeros((MANY, 2))),
    "random_series": lambda: d2ke.random_series(10**9, 10**3, length=10, sigma=1.0, seed=0),
    "random_sets": lambda: d2ke.random_sets(10**9, 10**3, size=10, seed=0),
    "random_strings": lambda: d2ke.random_strings(10**6, "ab", length=10**7, seed=0),
    "random_segments": lambda: d2ke.random_segments(10**12, ["abc"], length=2, seed=0),
    "markov_strings": lambda: d2ke.markov_strings(10**6, ["abc"], length=10**7, seed=0),
    "resampled_sets": lambda: d2ke.resampled_sets(10**6, [[[1.0]]], size=10**7, seed=0),
    "search": lambda: d2ke.search(objects(MANY), [0, 1] * (MANY // 2), "knn", distance="dtw"),
    "nearest": lambda: d2ke.nearest(objects(MANY), k=9999, distance="dtw"),
    "kernel_features": lambda: d2ke.kernel_features(
        np.zeros((2000, 1, 1)), sigma=1.0, n_features=10**6
    ),
    "curve": lambda: d2ke.curve([[0.0, 0.0], [1.0, 0.0]], n_samples=2**31),
    "mesh": lambda: d2ke.mesh(np.eye(3), [[0, 1, 2]], n_samples=2**31),
}
# For these it is the system that has little, as what they take is not much more than their inputs.
SMALL = {
    "dsk_gram": lambda: d2ke.dsk_gram(flat(4000, 4000), gamma=1.0),
    "d2ke_features": lambda: d2ke.d2ke_features(flat(4000, 4000), 1.0),
    "gdk_led": lambda: d2ke.gdk_led(flat(4000, 4000), 2),
    "psd_split": lambda: d2ke.psd_split(flat(4000, 4000)),
    "simplex_qp": lambda: d2ke.simplex_qp(flat(4000, 4000, dtype="f4"), np.zeros(4000)),
    "svmtrain": lambda: d2ke.svmtrain([0, 1] * 2000, flat(4000, 4000)),
    "train": lambda: d2ke.train([0, 1] * 2000, flat(4000, 4000)),
    "train_least_squares": lambda: d2ke.train_least_squares([0, 1] * 2000, flat(4000, 4000)),
    "train_classifier": lambda: d2ke.train_classifier(
        [0, 1] * 2000, flat(4000, 4000), loss="squared_hinge", C=1.0
    ),
    "kernel_classifier_fit": lambda: d2ke.kernel_classifier_fit(flat(4000, 4000), [0, 1] * 2000),
    "similarity_machine_fit": lambda: d2ke.similarity_machine_fit(flat(4000, 4000), [0, 1] * 2000),
    "kernel_risk_bound": lambda: d2ke.kernel_risk_bound(
        flat(4000, 4000, dtype="f4"), [0, 1] * 2000, np.full(4000, 1 / 4000)
    ),
    "kernel_distance_matrix": lambda: d2ke.kernel_distance_matrix(
        np.zeros((3000, 1, 1)), sigma=1.0
    ),
    "within": lambda: d2ke.within(objects(9000), radius=1, distance="dtw"),
    "bandwidth": lambda: d2ke.bandwidth(POINTS),
    "kernel_feature_map": lambda: d2ke.kernel_feature_map(
        np.zeros((1, 1, 1)), sigma=1.0, n_features=10**7
    ),
    "Scaling.apply": lambda: d2ke.Scaling(np.zeros(4000), np.ones(4000)).apply(flat(4000, 4000)),
}


@pytest.mark.parametrize("name", [*TOO_LARGE, *SMALL])
def test_docstrings_name_the_error(name):
    if "." not in name:
        raises = inspect.getdoc(getattr(d2ke, name)).split("Raises\n------\n")[1]
        assert "MemoryError" in raises.split("\n\n")[0]


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_cannot_fit_fails_at_once(name, monkeypatch):
    # However much there is on this machine.
    monkeypatch.setattr(limits, "available_memory", lambda: 20 * 10**9)
    started = time.perf_counter()
    with pytest.raises(MemoryError) as refused:
        TOO_LARGE[name]()
    assert time.perf_counter() - started < 5
    text = str(refused.value)
    assert re.match(rf"{name}( \(.*\))? takes up to \d+ bytes \([\d.]+ [GTP]B\) above", text), text
    assert re.search(r"with .* = \d+, but [\d.]+ \w+ are available; \w+", text), text


@pytest.mark.parametrize("name", SMALL)
def test_what_does_not_fit_here_is_refused(name, monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 50_000_000)
    called = {"train_classifier": "train"}.get(name, name)
    with pytest.raises(MemoryError, match=rf"^{called}\b.* takes up to .* but 50 MB are available"):
        SMALL[name]()


def test_the_message_has_the_sizes():
    with pytest.raises(MemoryError) as refused:
        d2ke.distance_matrix(objects(MANY), objects(10**6 - 1), "dtw", dtype="f8")
    assert "(8 TB)" in str(refused.value)
    assert "b n m + W + 32 MiB with b = 8, n = 1000000, m = 999999, W = " in str(refused.value)
    assert "give a path as out, with max_memory" in str(refused.value)


def test_small_needs_ask_nobody(monkeypatch):
    def refuse():
        raise AssertionError("the system was asked")

    monkeypatch.setattr(limits, "available_memory", refuse)
    assert d2ke.distance_matrix(["ab", "b"], None, "levenshtein").shape == (2, 2)
    assert memory.require_memory("dsk_gram", n=2000, m=2000, b=8) == 32_000_000


def test_unknown_memory_refuses_nothing(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: None)
    assert memory.require_memory("gdk_led", n=10**6) == 40 * 10**12


def test_checks_are_quick():
    started = time.perf_counter()
    for _ in range(1000):
        memory.require_memory("gdk_led", n=100)
    assert time.perf_counter() - started < 0.2  # a thousand of them


# ---------------------------------------------------------------- what is available


@linux
def test_available_is_what_the_system_says():
    [free] = re.findall(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text())
    assert 0 < limits.available_memory() <= 1024 * int(free) * 1.1


@linux
def test_limit_of_the_process():
    script = (
        "import resource, d2ke\n"
        "from d2ke._base import limits\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 10**9, used + 10**9))\n"
        "print(limits.available_memory())\n"
        "try:\n"
        "    d2ke.random_strings(10**6, 'ab', length=200, seed=0)\n"
        "except MemoryError as error:\n"
        "    print(error)\n"
    )
    available, error = run("-c", script).splitlines()
    assert 0.8e9 < int(available) <= 1e9
    assert error.startswith("random_strings takes up to 2449554432 bytes (2.45 GB) above")


def groups(tmp_path, monkeypatch, version, path, sizes):
    """Make a tree of control groups, the first of which is the innermost."""
    _, limit, usage, prefix = limits._GROUPS[version]
    monkeypatch.setitem(limits._GROUPS, version, (str(tmp_path), limit, usage, prefix))
    folder = tmp_path / path
    for most, used, cached in sizes:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / limit).write_text(f"{most}\n")
        (folder / usage).write_text(f"{used}\n")
        stat = f"{prefix}inactive_file {cached}\n{prefix}active_file 1\nanon 5\n"
        (folder / "memory.stat").write_text(stat)
        folder = folder.parent
    line = f"0::/{path}\n" if version == 2 else f"4:cpu,memory:/{path}\n"
    real = Path.read_text

    def read(self, *args, **kwargs):
        return line if str(self) == "/proc/self/cgroup" else real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "read_text", read)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [
        ([(1000, 600, 99), (5000, 600, 0)], [500, 4401]),
        ([("max", 600, 99), (700, 699, 0)], [2]),
        ([(1000, 2000, 0), (5000, 600, 0)], [0, 4401]),
    ],
)
def test_limits_of_control_groups(tmp_path, monkeypatch, version, sizes, wanted):
    if version == 1 and sizes[0][0] == "max":
        sizes = [(2**63 - 4096, 600, 99), *sizes[1:]]
        wanted = [2**63 - 4096 - 500, *wanted]
    groups(tmp_path, monkeypatch, version, "outer/inner", sizes)
    assert list(limits._of_groups()) == wanted
    assert limits.available_memory() <= min(wanted)


def test_container_that_shows_the_path_of_its_host(tmp_path, monkeypatch):
    groups(tmp_path, monkeypatch, 2, "", [(1000, 100, 0)])
    line = "0::/host/deep\n"
    real = Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda self: line if str(self) == "/proc/self/cgroup" else real(self)
    )
    assert list(limits._of_groups()) == [901]
