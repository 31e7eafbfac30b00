# SPDX-License-Identifier: BSD-3-Clause
"""Throw random inputs at d2ke and see that it computes or refuses: ``python tools/fuzz.py all``.

    python tools/fuzz.py distances --count 1000000       # inputs: pairs of objects
    python tools/fuzz.py options --seconds 60 --jobs 2    # or for a while
    python tools/fuzz.py options --seed 4711 --here       # one batch again, in this process
    python tools/fuzz.py compiled --seconds 60           # all that compiled code computes

A batch has a seed and is the same whenever it is made. Batches run in child processes, which a
crash or a hang ends; whatever is wrong is kept in the folder of findings, one JSON file for each
seed. Files are for ``tools/fuzzers.py``.
"""

from __future__ import annotations

import argparse
import faulthandler
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(Path.cwd()), str(ROOT), str(ROOT / "tools")]

from fuzz_kernels import (  # noqa: E402
    expect,
    fuzz_coresets,
    fuzz_distances,
    fuzz_kernel_distance,
)

import d2ke  # noqa: E402
import matlab_compat  # noqa: E402
from d2ke._base.threads import team_size  # noqa: E402

HANG_SECONDS = 120  # for one batch


# ---- options

FLAGS = "sctdgrnpemhwbvqBRCMPLz"
NUMBERS = [
    "0", "1", "2", "3", "4", "5", "6", "7", "11", "12", "13", "21", "-1", "0.5", "10", "100",
    "1e-3", "1e300", "1e-300", "-1e300", "1e-30", "1e999", "nan", "inf", "-inf", "99999999999",
    "0x10", "1_0", "x", "--", "2147483647", "-2147483648", "\u0661", "\0", "", "4 4",
]  # fmt: skip


def option_string(rng, must):
    """Return options, half of them likely to be legal."""
    words = [must] if rng.random() < 0.8 else []
    for _ in range(rng.choice([0, 1, 1, 2, 3, 5])):
        flag = "-" + rng.choice(FLAGS)
        if flag == "-w":
            flag += rng.choice(["0", "1", "2", "-1", "+1", "9", "x", "", "1.5", "9" * 30])
        words += [flag, rng.choice(NUMBERS)] if rng.random() < 0.9 else [flag]
    return rng.choice([" ", "  ", "\t"]).join(words)


def fuzz_options(seed):
    """Option strings of LIBLINEAR and LIBSVM, on a few objects."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    n, d = rng.choice([(6, 2), (9, 3), (12, 1), (4, 4)])
    Z = numbers.standard_normal((n, d))
    if rng.random() < 0.2:
        Z *= 10.0 ** rng.choice([-200, -20, 20, 150])
    y = (numbers.permutation(n) % rng.choice([2, 2, 3])).astype(float)
    inputs = [Z, sparse.csr_array(Z), Z.astype(np.float32), np.asfortranarray(Z)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for _ in range(10):
            X = rng.choice(inputs)
            K = Z @ Z.T
            linear = option_string(rng, f"-s {rng.choice([0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13])}")
            kernel = option_string(rng, f"-t {rng.choice([0, 1, 2, 3])}")
            for call in (
                lambda: d2ke.predict(None, X, d2ke.train(y, X, linear)),  # noqa: B023
                lambda: d2ke.svmpredict(None, X, d2ke.svmtrain(y, X, kernel)),  # noqa: B023
                lambda: d2ke.svmtrain(y, K, option_string(rng, "-t 4")),  # noqa: B023
                lambda: matlab_compat.train(y, X, linear),  # noqa: B023
                lambda: matlab_compat.svmtrain(y, X, kernel),  # noqa: B023
            ):
                try:
                    call()
                except (TypeError, ValueError) as error:
                    expect(str(error), "an error without a message")
    return 50


# ---- running


def fuzz_crash(seed):
    """Crash, for a test that crashes are seen."""
    if seed % 2:
        os.abort()
    return 1


# Each command's function, and its share of the time of "all" and of "compiled".
BATCHES = {
    "distances": (fuzz_distances, 8),
    "kernels": (fuzz_kernel_distance, 4),
    "coresets": (fuzz_coresets, 4),
    "options": (fuzz_options, 2),
    "crash": (fuzz_crash, 0),
}
COMMANDS = {name: function for name, (function, _) in BATCHES.items()}
COMPILED = ["distances", "kernels", "coresets"]


def worker(command, seed, step):
    """Do batch after batch until the parent ends this process; one line of JSON for each."""
    while True:
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        try:
            with redirect_stdout(io.StringIO()):  # LIBLINEAR's options -v and -C print
                tried, problem = COMMANDS[command](seed), None
        except Exception:
            tried, problem = 1, traceback.format_exc()
        print(json.dumps([tried, problem]), flush=True)
        seed += step


def found(command, seed, problem, folder):
    """Keep a finding."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"command": command, "seed": seed, "problem": problem}
    content["replay"] = f"python tools/fuzz.py {command} --seed {seed} --here"
    (folder / f"{command}-{seed}.json").write_text(json.dumps(content, indent=1), "utf-8")
    print(f"{command} {seed}: {problem}", flush=True)


def run(command, job, options):
    """Keep one child going, and start another after each that ended by itself.

    Returns inputs, batches and findings.
    """
    seed, tried, batches, findings = options.seed + job, 0, 0, 0
    most = np.inf if options.count is None else options.count / options.jobs
    deadline = time.monotonic() + (options.seconds or np.inf)
    while tried < most and time.monotonic() < deadline:
        program = [sys.executable, "-X", "faulthandler", __file__, command, "--worker"]
        program += ["--seed", str(seed), "--step", str(options.jobs)]
        with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
            child = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=errors, text=True)
            for line in child.stdout:
                inputs, problem = json.loads(line)
                tried, batches = tried + inputs, batches + 1
                if problem:
                    findings += 1
                    found(command, seed, problem, options.findings)
                seed += options.jobs
                if tried >= most or time.monotonic() > deadline:
                    child.kill()
                    child.wait()
                    return tried, batches, findings
            errors.seek(0)
            problem = f"ended with {child.wait()}: {errors.read()[-4000:]}"
        findings += 1
        found(command, seed, problem, options.findings)
        seed += options.jobs
    return tried, batches, findings


def fuzz(command, options):
    """Run one command in child processes; return whether nothing was found."""
    started = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        done = pool.map(partial(run, command, options=options), range(options.jobs))
        tried, batches, findings = map(sum, zip(*done, strict=True))
    print(
        f"{command}: {tried} inputs in {batches} batches from seed {options.seed}, "
        f"{time.monotonic() - started:.0f} s, {findings} findings",
        flush=True,
    )
    return not findings


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=[*COMMANDS, "all", "compiled"])
    parser.add_argument("--seed", type=int, default=0, help="of the first batch")
    parser.add_argument("--count", type=int, help="inputs to try (of each command)")
    parser.add_argument("--seconds", type=float, help="time to take, altogether")
    parser.add_argument("--jobs", type=int, default=team_size(None))
    parser.add_argument("--findings", type=Path, default="build/fuzz", help="folder of findings")
    parser.add_argument("--here", action="store_true", help="one batch, in this process")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--step", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.command, options.seed, options.step)
    if options.here:
        print(COMMANDS[options.command](options.seed), "inputs, nothing found")
        return 0
    if options.count is None and options.seconds is None:
        parser.error("give --count or --seconds")
    if options.command in COMMANDS:
        return 0 if fuzz(options.command, options) else 1
    everything = [name for name, (_, share) in BATCHES.items() if share]
    names = COMPILED if options.command == "compiled" else everything
    total, whole = options.seconds, sum(BATCHES[name][1] for name in names)
    clean = True
    for name in names:
        options.seconds = total and total * BATCHES[name][1] / whole
        clean &= fuzz(name, options)
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
