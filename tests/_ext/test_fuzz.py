# SPDX-License-Identifier: BSD-3-Clause
"""tools/fuzz.py finds what it is for, and its first batches find nothing."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "fuzz.py"


def fuzz(*arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
    )


# What is called without data, or by compiled code, which holds it itself.
NO_KERNELS = {
    *("isa.select", "isa.selected", "isa.supported", "isa.vector_bytes", "pairwise.by_length"),
    "elastic.inputs",
    *("omp.max_threads", "omp.version", "frozen.freeze", "frozen.is_frozen"),
}
# What other tests try with random inputs: alignments, neighbours, programs, functions
# of users, columns that are prepared once.
ELSEWHERE = {
    *(
        "alignment",
        "near_strings",
        "neighbor_lists",
        "refine",
        "simplex_qp",
        "transducer",
        "trust_region",
        "user",
        "windows",
        "window_profile",
    ),
    *("edits.transpositions", "emd.flow", "envelopes.planar", "pair_distance.small_square"),
    *("elastic.elastic_with_rows", "elastic.with_rows", "strings.with_rows"),
}
CALLED = f"""
import importlib, json, sys
from pathlib import Path
import d2ke._ext

called = {{}}
for path in Path(d2ke._ext.__file__).parent.glob("*.pyx"):
    module = importlib.import_module("d2ke._ext." + path.stem)
    for name, function in list(vars(module).items()):
        if not name.startswith("_") and "cython_function" in type(function).__name__:
            def counted(*given, key=path.stem + "." + name, function=function, **more):
                called[key] = True
                return function(*given, **more)
            called[path.stem + "." + name] = False
            setattr(module, name, counted)
# Afterwards, as tables of d2ke hold the functions that they find when they are imported.
sys.path.insert(0, {str(ROOT / "tools")!r})
import fuzz
for command in fuzz.COMPILED:
    for seed in range(1, 120 if command == "distances" else 25):
        fuzz.COMMANDS[command](seed)
print(json.dumps([name for name, done in called.items() if not done]))
"""


@pytest.fixture
def tool(monkeypatch):
    """The script as a module of this process."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    return importlib.import_module("fuzz")


COMMANDS = ["distances", "kernels", "coresets", "options"]


def test_commands_are_known(tool):
    assert set(tool.COMMANDS) == {"crash", *COMMANDS}


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("command", COMMANDS)
def test_the_first_batches_find_nothing(command, tool, capsys):
    assert tool.COMMANDS[command](1) > 0


def test_a_batch_is_tried_here(tool, monkeypatch, capsys):
    monkeypatch.setitem(tool.COMMANDS, "options", lambda seed: 10 + seed)
    monkeypatch.setattr(sys, "argv", ["fuzz.py", "options", "--seed", "4", "--here"])
    assert tool.main() == 0
    assert capsys.readouterr().out == "14 inputs, nothing found\n"


@pytest.mark.slow
def test_all_compiled_functions_get_random_inputs():
    done = subprocess.run(
        [sys.executable, "-c", CALLED],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    missed = set(json.loads(done.stdout)) - NO_KERNELS - ELSEWHERE
    assert {name for name in missed if name.split(".")[0] not in ELSEWHERE} == set()


@pytest.mark.slow
def test_crashes_are_kept(tmp_path):
    done = fuzz("crash", "--count", 2, "--seed", 7, "--jobs", 1, "--findings", tmp_path)
    assert done.returncode == 1
    found = json.loads((tmp_path / "crash-7.json").read_text("utf-8"))
    assert found["seed"] == 7
    assert "Fatal Python error: Aborted" in found["problem"]
    assert not (tmp_path / "crash-8.json").exists()
