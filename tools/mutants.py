# SPDX-License-Identifier: BSD-3-Clause
"""Change the Python code at random places, and list the changes that no test notices.

    python tools/mutants.py --n 60 --seed 1              # 60 mutants of all packages
    python tools/mutants.py --n 20 --package io,learners
    python tools/mutants.py --only-survivors survivors.json --budget 300

Each mutant is one small change: a comparison, an integer, a statement that only calls, and/or,
``not``, the default of a flag, + and -, or a keyword that is left out. It is written into a copy of
the tree, where the tests run that call the changed function, those of the mirror folder first and
the quick ones before the slow ones, until one fails or the budget of seconds is spent. Which tests
call which functions is traced once and kept in a file; test files that have changed since are
traced again. A hang counts as noticed.
"""

import argparse
import ast
import copy
import hashlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOT_TRACED = {"test_gallery.py", "test_site.py", "test_octave.py", "test_import_interrupts.py"}
NAMES = "tests/test_public_names.py"  # signatures, which no test calls
PYTEST = ["-q", "-p", "no:cacheprovider", "--tb=no"]
# Each run is forked from a process that has imported these once.
LIBRARIES = ["h5py", "matplotlib.pyplot", "pandas", "scipy.io", "scipy.stats"]
CONTEXT = multiprocessing.get_context("forkserver")
OPPOSITE = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add,
}  # fmt: skip


def is_text(node):
    """Return whether a node is a string, or a formatted one."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def changes(node):
    """Yield changed copies of one node, without those of its children."""
    new = copy.deepcopy(node)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        new.ops = [OPPOSITE[type(node.ops[0])]()]
        yield new
    elif isinstance(node, ast.BoolOp):
        new.op = OPPOSITE[type(node.op)]()
        yield new
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        if not (is_text(node.left) or is_text(node.right)):
            new.op = OPPOSITE[type(node.op)]()
            yield new
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
        new.value = node.value + 1 if type(node.value) is int else not node.value
        yield new
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()
    elif isinstance(node, ast.Call):
        for i, keyword in enumerate(node.keywords):
            if keyword.arg:
                new = copy.deepcopy(node)
                del new.keywords[i]
                yield new


def sites(tree):
    """Yield (node, change, names of the enclosing definitions, name assigned at the top)."""

    def visit(node, scope, top):
        if is_text(node) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
            return
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if node.name in ("__repr__", "__str__"):
                return
            scope = [*scope, node.name]
        if isinstance(node, ast.Assign | ast.AnnAssign) and not scope:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            top = ast.unparse(target)
            if top == "__all__":
                return
        for change in changes(node):
            yield node, change, scope, top
        for name, field in ast.iter_fields(node):
            if name == "args" and isinstance(node, ast.FunctionDef):
                top = "a signature"
            elif isinstance(node, ast.FunctionDef):
                top = None
            if name not in ("annotation", "returns", "ops", "op", "ctx", "decorator_list"):
                for child in field if isinstance(field, list) else [field]:
                    if isinstance(child, ast.AST):
                        yield from visit(child, scope, top)

    yield from visit(tree, [], None)


def mutants(path):
    """Yield every mutant of a file as a dictionary."""
    source = (ROOT / path).read_text("utf-8")
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    for node, change, scope, top in sites(tree):
        low = starts[node.lineno - 1] + node.col_offset
        high = starts[node.end_lineno - 1] + node.end_col_offset
        after = ast.unparse(ast.fix_missing_locations(change))
        after = f"({after})" if isinstance(node, ast.expr) else after
        yield {
            "file": path, "line": node.lineno, "scope": ".".join(scope), "top": top, "low": low,
            "high": high, "before": source.encode()[low:high].decode(), "after": after,
        }  # fmt: skip


class Tracer:
    """A plugin of pytest that writes which functions of d2ke each passed test calls."""

    def __init__(self, target):
        self.target, self.called, self.shared, self.tests = target, {}, {}, {}

    def trace(self, frame, event, _):
        """Note a call; lines are not traced."""
        self.called[id(frame.f_code)] = frame.f_code  # kept, so that no other gets its id

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        """Keep the calls of a shared fixture for all tests that use it."""
        before, self.called = self.called, {}
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self.shared[fixturedef.argname] = self.called
            self.called = before | self.called

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Trace one test."""
        self.called, self.passed, started = {}, True, time.perf_counter()
        threading.settrace(self.trace)
        sys.settrace(self.trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            for name in getattr(item, "fixturenames", ()):
                self.called |= self.shared.get(name, {})
            codes = [code for code in self.called.values() if "/d2ke/" in code.co_filename]
            names = {(code.co_filename.rpartition("/d2ke/")[2], plain(code)) for code in codes}
            if self.passed:
                seconds = round(time.perf_counter() - started, 3)
                self.tests[item.nodeid] = [seconds, sorted(":".join(name) for name in names)]

    def pytest_runtest_logreport(self, report):
        """Leave out tests that fail or are skipped."""
        self.passed = self.passed and report.passed

    def pytest_sessionfinish(self):
        """Write the calls of all tests."""
        Path(self.target).write_text(json.dumps(self.tests), "utf-8")


def plain(code):
    """Return the name of the definition that some code stands in, without <locals>, <lambda>."""
    return ".".join(part for part in code.co_qualname.split(".") if "<" not in part)


def tree_copy(folder):
    """Copy what mutants change and what tests write beside; link the rest."""
    folder.mkdir()
    for entry in ROOT.iterdir():
        if entry.name in ("d2ke", "tests"):
            ignored = shutil.ignore_patterns("*.c", "__pycache__", "*.pyx")
            shutil.copytree(entry, folder / entry.name, symlinks=True, ignore=ignored)
        elif entry.name != ".git":
            (folder / entry.name).symlink_to(entry)
    return folder


def run_pytest(folder, arguments, tracer=None):
    """Run the tests of a copy of the tree in this process, and end it."""
    os.setsid()
    os.chdir(folder)
    os.environ.update({"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"})
    sys.path.insert(0, str(folder))
    for stream, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        os.dup2(os.open(os.devnull, mode), stream)
    plugins = [Tracer(tracer)] if tracer else []
    os._exit(int(pytest.main([*PYTEST, *([] if tracer else ["-x"]), *arguments], plugins)))


def run(folder, arguments, limit=None, tracer=None):
    """Run tests in a new process; return its status, None if it took too long."""
    child = CONTEXT.Process(target=run_pytest, args=(folder, arguments, tracer))
    child.start()
    child.join(limit)
    if child.exitcode is None:
        os.killpg(child.pid, signal.SIGKILL)
        return child.join()
    return child.exitcode


def traced(path, folder):
    """Return {test: (seconds, functions)}; trace what changed since the last time."""
    done = json.loads(path.read_text("utf-8")) if path.exists() else {}
    files = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "d2ke").rglob("*.py")]
    prints = {}
    for file in files:
        text = file.read_bytes()
        if file.name not in NOT_TRACED and (file.name[:5] == "test_" or b">>> " in text):
            prints[str(file.relative_to(ROOT))] = hashlib.md5(text).hexdigest()
    rooms = defaultdict(list)
    for name, value in prints.items():
        if done.get(name, [""])[0] != value:
            rooms[os.path.dirname(name)].append(name)
    for room, names in sorted(rooms.items()):
        print("tracing", room, len(names), flush=True)
        target = folder / "traced.json"
        target.unlink(missing_ok=True)
        run(folder, names, tracer=str(target))
        tests = json.loads(target.read_text("utf-8"))
        for name in names:
            inside = {test: seen for test, seen in tests.items() if test.split("::")[0] == name}
            done[name] = [prints[name], inside]
        path.write_text(json.dumps(done), "utf-8")
    return {test: seen for name in prints for test, seen in done[name][1].items()}


class Chooser:
    """Chooses the tests of a mutant."""

    def __init__(self, tests):
        self.seconds = {test: seconds for test, (seconds, _) in tests.items()}
        self.callers = defaultdict(set)
        for test, (_, functions) in tests.items():
            for function in functions:
                self.callers[function].add(test)
        self.mentions = defaultdict(set)
        for path in (ROOT / "d2ke").rglob("*.py"):
            for outer in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(outer, ast.FunctionDef):
                    for node in ast.walk(outer):
                        name = getattr(node, "id", getattr(node, "attr", None))
                        self.mentions[name].add((str(path.relative_to(ROOT / "d2ke")), outer.name))

    def __call__(self, mutant, budget):
        """Return the tests of a mutant, the ones to run first, and how many call it in all."""
        file, scope = mutant["file"].removeprefix("d2ke/"), mutant["scope"]
        found = self.callers.get(f"{file}:{scope}", set())
        if not found:  # a constant, or the body of a class
            users = self.mentions[scope.rpartition(".")[2] or mutant["top"]]
            for key, tests in self.callers.items():
                place, _, name = key.partition(":")
                inside = scope and key.startswith(f"{file}:{scope}.")
                if inside or (place, name.rpartition(".")[2]) in users:
                    found = found | tests
        mirror = f"tests/{file.split('/')[0].removeprefix('_')}/"
        if not (ROOT / mirror).is_dir():  # of a package whose tests are one file
            mirror = "tests/test_dask.py" if file.startswith("dask/") else "tests/test_api.py"
        chosen, total = [], 0.0
        for test in sorted(found, key=lambda t: (not t.startswith(mirror), self.seconds[t], t)):
            total += self.seconds[test]
            if total > budget and chosen:
                break
            chosen.append(test)
        names = [NAMES] if mutant["top"] == "a signature" else []
        return [*names, *(chosen or [mirror])], len(found)


def noticed(mutant, folder, tests, seconds):
    """Return whether a test fails with the mutant."""
    path = folder / mutant["file"]
    source = path.read_bytes()
    limit = 120 + 10 * sum(seconds.get(test, 10.0) for test in tests)
    quick = [test for i, test in enumerate(tests) if i < 40 and seconds.get(test, 0.0) < 0.5]
    try:
        path.write_bytes(
            source[: mutant["low"]] + mutant["after"].encode() + source[mutant["high"] :]
        )
        for chosen in (quick, [test for test in tests if test not in quick]):
            (folder / "chosen").write_text("\n".join(chosen), "utf-8")
            status = run(folder, ["@chosen"], limit) if chosen else 0
            if status == 4:  # a test's name has changed: all of its file
                status = run(folder, list({test.split("::")[0] for test in chosen}), limit)
            if status not in (0, 5):
                return True
        return False
    finally:
        path.write_bytes(source)


def main():
    """Draw mutants, try each, and print what no test notices."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--package", default="", help="names after d2ke/, with commas")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--budget", type=float, default=40.0, help="seconds of tests per mutant")
    parser.add_argument("--only-survivors", type=Path, help="the list of an earlier run")
    parser.add_argument("--out", type=Path, default=Path("survivors.json"))
    parser.add_argument("--map", type=Path, default=Path(tempfile.gettempdir(), "callers.json"))
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    CONTEXT.set_forkserver_preload(LIBRARIES)
    if options.only_survivors:
        drawn = json.loads(options.only_survivors.read_text("utf-8"))
    else:
        names = [f"{name}/" for name in options.package.split(",") if name] or [""]
        paths = sorted({path for name in names for path in ROOT.glob(f"d2ke/{name}**/*.py")})
        every = [m for path in paths for m in mutants(str(path.relative_to(ROOT)))]
        drawn = random.Random(options.seed).sample(every, options.n)
    with tempfile.TemporaryDirectory() as name:
        folders = Queue()
        for i in range(options.jobs):
            folders.put(tree_copy(Path(name, str(i))))
        chooser = Chooser(traced(options.map, Path(name, "0")))
        survivors, tried = [], []
        control = drawn[0] | {"after": drawn[0]["before"]}
        if noticed(control, Path(name, "0"), chooser(control, 5.0)[0], chooser.seconds):
            sys.exit("the tests fail without a change")

        def try_one(mutant):
            folder = folders.get()
            tests, total = chooser(mutant, options.budget)
            if not noticed(mutant, folder, tests, chooser.seconds):
                survivors.append(mutant)
                print(f"{mutant['file']}:{mutant['line']}: {len(tests)} of {total} tests")
                print(f"  - {mutant['before']}\n  + {mutant['after']}", flush=True)
                options.out.write_text(json.dumps(survivors, indent=1), "utf-8")
            folders.put(folder)
            tried.append(mutant)
            print(f"{len(tried)} of {len(drawn)}", end="\r", file=sys.stderr, flush=True)

        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(try_one, drawn))
    rate = 1 - len(survivors) / len(drawn)
    error = (rate * (1 - rate) / len(drawn)) ** 0.5
    print(f"{100 * rate:.1f} +- {100 * error:.1f} % of {len(drawn)} mutants were noticed")


if __name__ == "__main__":
    main()
