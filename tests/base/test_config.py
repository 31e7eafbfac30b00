# SPDX-License-Identifier: BSD-3-Clause
"""show_config, the choice of the instruction set, and how many threads a call may use."""

import os
import subprocess
import sys

import pytest

import d2ke
from d2ke._base import threads
from d2ke._ext import isa as instruction_sets
from d2ke._ext import omp


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", instruction_sets.supported())
def test_environment_variable_selects(name):
    done = run("from d2ke._ext import isa; print(isa.selected())", D2KE_ISA=name)
    assert done.stdout.strip() == name, done.stderr


def test_unknown_instruction_set():
    done = run("import d2ke; d2ke.distance_matrix(['a'], distance='osa')", D2KE_ISA="sse9")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ValueError: D2KE_ISA must be one of baseline")
    assert last.endswith("got 'sse9'")


def test_select(isa):
    assert instruction_sets.selected() == isa
    sizes = {"baseline": 16, "avx2": 32, "avx512": 64}
    assert instruction_sets.vector_bytes() == sizes[isa]
    with pytest.raises(ValueError, match="D2KE_ISA must be one of baseline"):
        instruction_sets.select("AVX2")
    assert instruction_sets.selected() == isa


def test_show_config(capsys):
    d2ke.show_config()
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["d2ke"] == d2ke.__version__
    assert {"OpenMP", "Python", "numpy", "scipy", "threads"} <= set(lines)
    assert instruction_sets.selected() in lines["instruction"]


def test_thread_count():
    available = threads.thread_count(None)
    assert 1 <= available <= os.cpu_count()
    assert threads.thread_count(7) == 7


def test_container_quota_bounds_threads(monkeypatch):
    monkeypatch.setattr(threads, "_cpu_quota", lambda: 1)
    assert threads.thread_count(None) == 1
    monkeypatch.setattr(threads, "_cpu_quota", lambda: 10**6)
    assert threads.thread_count(None) <= os.cpu_count()


@pytest.mark.skipif(not omp.version(), reason="built without OpenMP")
def test_omp_num_threads_and_an_empty_instruction_set():
    code = "print(t.thread_count(None), isa.selected())"
    code = f"from d2ke._base import threads as t; from d2ke._ext import isa; {code}"
    done = run(code, OMP_NUM_THREADS="1", D2KE_ISA="")
    assert done.stdout.split() == ["1", instruction_sets.supported()[-1]], done.stderr


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs processor affinity")
def test_affinity_bounds_threads():
    code = (
        "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
        "from d2ke._base import threads as t; print(t.thread_count(None))"
    )
    assert run(code).stdout.strip() == "1"
