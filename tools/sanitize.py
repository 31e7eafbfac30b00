# SPDX-License-Identifier: BSD-3-Clause
"""Run tests on kernels built with GCC's sanitizers: ``python tools/sanitize.py [pytest's args]``.

    python tools/sanitize.py                       # AddressSanitizer and UBSan, kernel tests
    python tools/sanitize.py tests/test_dtw.py -x
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
KERNEL_TESTS = (
    "test_block",
    "test_dtw",
    "test_emd",
    "test_kernel_distance",
    "test_levenshtein",
    "test_sets",
    "test_simplex_qp",
    "test_user_distances",
    "test_weights",
    "test_distance_matrix",
    "test_embed",
    "test_interrupt",
    "test_concurrency",
)
LIBRARIES = {"address": ["libasan.so", "libubsan.so"], "thread": ["libtsan.so"]}
OPTIONS = {
    # CPython and NumPy keep memory until the process ends, which is no leak of ours.
    "address": {
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:"
        "detect_stack_use_after_return=1:log_path={log}",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:abort_on_error=1:log_path={log}",
        # Python's allocator would hide from ASan where one object ends.
        "PYTHONMALLOC": "malloc",
    },
    "thread": {"TSAN_OPTIONS": "halt_on_error=0:suppressions={suppressions}:log_path={log}"},
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


def runtime(name: str) -> str:
    """Return the path of a library of GCC's."""
    found = subprocess.run(
        ["gcc", f"-print-file-name={name}"], check=True, capture_output=True, text=True
    )
    return str(Path(found.stdout.strip()).resolve(strict=True))


def environment(folder: Path, sanitizer: str, log: Path) -> dict[str, str]:
    """Return the variables with which sanitized modules load and report."""
    names = {"log": log, "suppressions": ROOT / "tools" / "thread.supp"}
    options = {key: value.format(**names) for key, value in OPTIONS[sanitizer].items()}
    return {
        **os.environ,
        **options,
        # An instrumented module in an interpreter that is not: the runtime must come first.
        "LD_PRELOAD": " ".join(runtime(name) for name in LIBRARIES[sanitizer]),
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
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    if not options.command:
        if not any(not argument.startswith("-") for argument in arguments):
            tests = (f"tests/{name}.py" for name in KERNEL_TESTS)
            arguments += [test for test in tests if (folder / test).exists()]
        # No source of the tests' own may be taken from elsewhere, and no plugin be slow.
        arguments = ["-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments]
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment(folder, options.sanitizer, reports / "report"),
    )
    found = sorted(reports.iterdir())
    for report in found:
        print(f"== {report}\n{report.read_text(errors='replace')[:4000]}")
    print(f"{options.sanitizer}: {len(found)} reports, exit code {done.returncode}")
    return 1 if found else done.returncode


if __name__ == "__main__":
    sys.exit(main())
