# SPDX-License-Identifier: BSD-3-Clause
"""Run tests on kernels built with GCC's sanitizers: ``python tools/sanitize.py [pytest's args]``.

    python tools/sanitize.py                       # AddressSanitizer and UBSan, kernel tests
    python tools/sanitize.py tests/distances/test_dtw.py -x
    python tools/sanitize.py --sanitizer thread    # ThreadSanitizer, see docs/hardening.md
    python tools/sanitize.py --command tools/fuzz.py distances --count 20000

The sources are copied to build/sanitize-<sanitizer> and built there; the working tree's own
build is left alone. Whatever a sanitizer reports, in child processes also, goes to files in
that folder, and makes the run fail.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Files of tests/, by patterns.
TESTS = {
    "address": (
        *("_ext/test_[!f]*.py", "distances/test_[!co]*.py", "measures/test_*.py"),
        *("neighbors/test_near_*.py", "embedding/test_embed.py", "learners/test_newton.py"),
        *("matlab/test_matlab_rws.py", "base/test_concurrency.py", "base/test_interrupt.py"),
    ),
    "thread": (
        *("distances/test_dtw.py", "distances/test_e*.py", "distances/test_levenshtein.py"),
        *("distances/test_sets.py", "embedding/test_embed.py"),
    ),
}
LIBRARIES = {"address": ["libasan.so", "libubsan.so"], "thread": ["libtsan.so"]}
# What must be reported, or nothing would be: reading beyond an array, threads writing to one.
PLANTED = {
    "address": """
import numpy as np
from d2ke._ext import elastic

values, whole, beyond = np.zeros((2000, 1)), np.array([0, 2000]), np.array([0, 9000])
cross = elastic.dtw(values, beyond, values, whole, elastic.NO_WINDOW, False, False)
cross.run(np.empty((1, 1)), 1, False)
""",
    "thread": "import ctypes; ctypes.CDLL('./threads.so').plant_race()",
}
THREADS = "threads.so"
# ThreadSanitizer's map of memory has no room for all places where Linux may load programs.
FIXED_ADDRESSES = ["setarch", "--addr-no-randomize"] if shutil.which("setarch") else []
OPTIONS = {
    # CPython and NumPy keep memory until the process ends, which is no leak of ours.
    "address": {
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:"
        "detect_stack_use_after_return=1:log_path={log}",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:abort_on_error=1:log_path={log}",
        # Python's allocator would hide from ASan where one object ends.
        "PYTHONMALLOC": "malloc",
    },
    "thread": {"TSAN_OPTIONS": "log_path={log}"},
}


def copy_sources(folder: Path) -> None:
    """Copy what git tracks, and new files that it would; unchanged files keep their times."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_file() and not (
            target.is_file() and source.read_bytes() == target.read_bytes()
        ):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def build(folder: Path, sanitizer: str, jobs: int) -> None:
    """Compile the kernels in the folder."""
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace", f"-j{jobs}"]
    environment = {**os.environ, "CC": "gcc", "D2KE_SANITIZE": sanitizer}
    subprocess.run(command, cwd=folder, env=environment, check=True)
    if sanitizer == "thread":
        command = ["gcc", "-O1", "-g1", "-fsanitize=thread", "-fPIC", "-shared", "-pthread"]
        command += [str(folder / "tools" / "threads.c"), "-o", str(folder / THREADS)]
        subprocess.run(command, check=True)


def runtime(name: str) -> str:
    """Return the path of a library of GCC's."""
    found = subprocess.run(
        ["gcc", f"-print-file-name={name}"], check=True, capture_output=True, text=True
    )
    return str(Path(found.stdout.strip()).resolve(strict=True))


def emptied(folder: Path) -> None:
    """Make a folder without files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()


def variables(folder: Path, sanitizer: str, log: Path) -> dict[str, str]:
    """Return the variables with which sanitized modules load and report."""
    options = {key: value.format(log=log) for key, value in OPTIONS[sanitizer].items()}
    libraries = [runtime(name) for name in LIBRARIES[sanitizer]]
    if sanitizer == "thread":
        libraries.append(str(folder / THREADS))
    return {
        **os.environ,
        **options,
        # An instrumented module in an interpreter that is not: the runtime must come first.
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONPATH": str(folder),
        "PYTHONFAULTHANDLER": "1",
    }


def main() -> int:
    """Build, run, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sanitizer", choices=[*LIBRARIES], default="address")
    parser.add_argument("--jobs", type=int, default=2, help="compilers at once")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--command", action="store_true", help="run a script instead of pytest")
    options, arguments = parser.parse_known_args()
    folder = ROOT / "build" / f"sanitize-{options.sanitizer}"
    folder.mkdir(parents=True, exist_ok=True)
    copy_sources(folder)
    build(folder, options.sanitizer, options.jobs)
    if options.build_only:
        return 0
    reports = folder / "reports"
    environment = variables(folder, options.sanitizer, reports / "report")
    program = [*FIXED_ADDRESSES, sys.executable]
    emptied(reports)
    subprocess.run(
        [*program, "-c", PLANTED[options.sanitizer]],
        cwd=folder,
        env=environment,
        stderr=subprocess.DEVNULL,
    )
    if not any(reports.iterdir()):
        print(f"{options.sanitizer}: a planted error was not seen; nothing else would be")
        return 1
    emptied(reports)
    if not options.command:
        if not any(not argument.startswith("-") for argument in arguments):
            tests = (
                path for one in TESTS[options.sanitizer] for path in folder.glob(f"tests/{one}")
            )
            arguments += map(str, tests)
        # No source of the tests' own may be taken from elsewhere, and no plugin be slow.
        everything = ["-m", "slow or not slow"]
        arguments = ["-m", "pytest", "-p", "no:cacheprovider", "-q", *everything, *arguments]
    done = subprocess.run([*program, *arguments], cwd=folder, env=environment)
    found = sorted(reports.iterdir())
    for report in found:
        print(f"== {report}\n{report.read_text('utf-8', 'replace')[:4000]}")
    print(f"{options.sanitizer}: {len(found)} reports, exit code {done.returncode}")
    return 1 if found else done.returncode


if __name__ == "__main__":
    sys.exit(main())
