# SPDX-License-Identifier: BSD-3-Clause
"""Record what every public function returns, and compare: ``python tools/snapshot.py record FILE``.

    python tools/snapshot.py record before.npz       # before code is moved
    python tools/snapshot.py compare before.npz      # after: each case that differs, and how
    python tools/snapshot.py compare before.npz --only kernel_distance/
    python tools/snapshot.py list                    # the cases, and the public names each uses

A case is a function on fixed inputs, in the modules of ``tools/snapshot_cases``. Without BLAS its
values are kept as digests and must be equal bit for bit; with BLAS its floats are kept and may
differ by the case's tolerance, relative to the largest of the array, while integers, labels and
text must be equal. A public name that no case uses is an error. Only public names are used, so
that modules may move. The package of the current folder is measured, see the line printed first.

Warnings are recorded with the value. Of errors the type, the argument and the index are compared;
a text that differs is printed as a note.

Without D2KE_DATA the cases on files are left out, with a message. On the same machine a recording
has the same bits again, which is said where it is not so; other machines, other versions of NumPy
and other instruction sets round otherwise, and exact cases may differ too.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

TOOLS = Path(__file__).resolve().parent
sys.path[:0] = [str(Path.cwd()), str(TOOLS)]
sys.path.append(str(TOOLS.parent))

from snapshot_cases import CASES, MODULES, Case, Watched  # noqa: E402
from snapshot_cases._leaves import (  # noqa: E402
    Leaf,
    changed_texts,
    compare_leaves,
    count_changed,
    leaves,
)

PARTS = (
    "objects", "distances", "kernels", "learning", "discriminative", "files", "matlab", "models",
    "errors",
)  # fmt: skip
for part in PARTS:
    importlib.import_module(f"snapshot_cases.{part}")

# Public names that need no case.
EXEMPT = {
    "d2ke.ArgumentError", "d2ke.ArgumentTypeError", "d2ke.__version__",
    "d2ke.similarity_machine_bound",
}  # fmt: skip


def main() -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("command", choices=["record", "compare", "list"])
    parser.add_argument("file", nargs="?", type=Path, help="the recording (.npz)")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with it in their names")
    parser.add_argument("--times", action="store_true", help="print the seconds of each case")
    options = parser.parse_args()
    if (options.file is None) != (options.command == "list"):
        parser.error("record and compare need a file, list takes none")
    print(f"d2ke: {Path(inspect.getfile(MODULES['d2ke'])).parent}")
    warnings.simplefilter("ignore")
    chosen = {name: one for name, one in CASES.items() if options.only in name}
    if not chosen:
        parser.error(f"no case has {options.only!r} in its name")
    if options.command == "compare":
        recorded = Recording.load(options.file)
        return compare(recorded, chosen, options)
    made, failed = run(chosen, options.times)
    if options.command == "list":
        for name, record in made.cases.items():
            print(f"{name}: {', '.join(sorted(record['uses']))}")
    elif not failed:
        made.save(options.file)
        size = options.file.stat().st_size / 1e6
        print(f"{options.file}: {len(made.cases)} cases, {size:.1f} MB")
    return report(failed + unused(made, chosen), "done")


class Recording:
    """The leaves of each case's value, and the public names that it used."""

    def __init__(self) -> None:
        self.environment = environment()
        self.cases: dict[str, dict[str, Any]] = {}

    def save(self, file: Path) -> None:
        """Write to one .npz file: arrays, and a text with all else."""
        arrays: dict[str, np.ndarray] = {}
        cases = {}
        for name, record in self.cases.items():
            rows = []
            for leaf in record["leaves"]:
                key = None
                if leaf.values is not None:
                    key = f"values{len(arrays)}"
                    arrays[key] = leaf.values
                rows.append([leaf.path, leaf.type, leaf.text, key])
            cases[name] = {"uses": sorted(record["uses"]), "leaves": rows}
        index = json.dumps({"environment": self.environment, "cases": cases})
        with open(file, "wb") as stream:
            np.savez_compressed(stream, index=np.array(index), **arrays)

    @classmethod
    def load(cls, file: Path) -> Recording:
        """Read what `save` wrote."""
        with np.load(file, allow_pickle=False) as arrays:
            index = json.loads(str(arrays["index"]))
            made = cls()
            made.environment = index["environment"]
            for name, record in index["cases"].items():
                rows = [
                    Leaf(path, kind, text, None if key is None else arrays[key])
                    for path, kind, text, key in record["leaves"]
                ]
                made.cases[name] = {"uses": record["uses"], "leaves": rows}
        return made


def environment() -> dict[str, str]:
    """Return what results may depend on beside the code."""
    from contextlib import redirect_stdout
    from io import StringIO

    with redirect_stdout(StringIO()) as text:
        MODULES["d2ke"].show_config()
    rows = dict(line.split(None, 1) for line in text.getvalue().splitlines() if " " in line)
    rows = {name: value.strip() for name, value in rows.items()}
    return rows | {"OPENBLAS_CORETYPE": os.environ.get("OPENBLAS_CORETYPE", "")}


def run(chosen: dict[str, Case], times: bool) -> tuple[Recording, list[str]]:
    """Run cases; return their values, and a message for each that raised an error."""
    made, failed, skipped = Recording(), [], []
    started = time.perf_counter()
    for name, one in chosen.items():
        if one.needs_data and not os.environ.get("D2KE_DATA"):
            skipped.append(name)
            continue
        Watched.used = set()
        begun = time.perf_counter()
        try:
            with (
                tempfile.TemporaryDirectory() as folder,
                warnings.catch_warnings(record=True) as told,
            ):
                warnings.simplefilter("always")
                values = list(leaves(one.compute(Path(folder)), one.rtol is not None))
            values += warning_leaves(told, folder)
        except Exception:
            failed.append(f"{name}: {traceback.format_exc().rstrip()}")
            continue
        made.cases[name] = {"uses": Watched.used, "leaves": values}
        if times:
            print(f"{time.perf_counter() - begun:7.2f} s  {name}", flush=True)
    if skipped:
        print(f"D2KE_DATA is not set; left out: {', '.join(skipped)}")
    print(f"{len(made.cases)} cases in {time.perf_counter() - started:.1f} s")
    return made, failed


def warning_leaves(told: list[warnings.WarningMessage], folder: str) -> list[Leaf]:
    """Return the different warnings of a case, in the order of their texts."""
    texts = sorted({(one.category.__name__, str(one.message)) for one in told})
    return [
        Leaf(f"warnings[{i}]", kind, text.replace(folder, "FOLDER"))
        for i, (kind, text) in enumerate(texts)
    ]


def unused(made: Recording, chosen: dict[str, Case]) -> list[str]:
    """Return a message if there are public names that no case has used."""
    if len(chosen) < len(CASES):
        return []
    used = EXEMPT.union(*(record["uses"] for record in made.cases.values()))
    public = {
        f"{name}.{one}" for name, module in MODULES.items() for one in module.__all__
    }  # fmt: skip
    missing = sorted(public - used)
    return [f"public names without a case: {', '.join(missing)}"] if missing else []


def compare(recorded: Recording, chosen: dict[str, Case], options: argparse.Namespace) -> int:
    """Compare with a recording; print each case that differs, and how."""
    made, problems = run(chosen, options.times)
    for name, value in made.environment.items():
        if recorded.environment.get(name) != value:
            print(f"note: {name} was {recorded.environment.get(name)!r} and is {value!r}")
    problems += unused(made, chosen)
    failed = {text.partition(": ")[0] for text in problems}
    for name in recorded.cases:
        if name not in made.cases and name not in failed and options.only in name:
            if name not in CASES:
                problems.append(f"{name}: the recording has it, but there is no such case")
            else:
                print(f"not compared: {name}")
    changed = {}
    for name, record in made.cases.items():
        if name not in recorded.cases:
            problems.append(f"{name}: not in the recording")
            continue
        before = recorded.cases[name]["leaves"]
        problems += [
            f"{name}: {text}" for text in compare_leaves(before, record["leaves"], CASES[name].rtol)
        ]
        for path, old, new in changed_texts(before, record["leaves"]):
            print(f"text of {name} {path}:\n  - {old}\n  + {new}")
        count = count_changed(before, record["leaves"])
        if count:
            changed[name] = count
    total, exact = sum(changed.values()), sum(CASES[name].rtol is None for name in made.cases)
    print(f"{exact} cases are compared bit for bit, {len(made.cases) - exact} within rounding")
    if total:
        print(f"{total} arrays differ in rounding or more, in {len(changed)} cases")
    return report(problems, "equal")


def report(problems: list[str], good: str) -> int:
    """Print problems; return the exit status."""
    for text in problems:
        print(text)
    cases = {text.partition(": ")[0] for text in problems}
    print(f"{len(problems)} differences or errors, in {len(cases)} cases" if problems else good)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
