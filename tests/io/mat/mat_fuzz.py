# SPDX-License-Identifier: BSD-3-Clause
"""Damage MAT-files in thousands of ways and read them: `python tests/io/mat/mat_fuzz.py 0 5000`.

Arguments: the first case, the number of cases and, optionally, the folder of fixtures
(else small files made here). Each case is one file with changed bits, bytes or
addresses, or cut off; it must be read or refused by MatFileError. Prints one line of
JSON for each case that is neither, and one with counts at the end. The limits are 5 seconds
of processor time for each case and, on Linux, 1 GB of memory.
"""

import json
import os
import random
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

import mcos_files
import numpy as np
import scipy.io
import scipy.sparse

from d2ke.io import MatFileError, load_mat, save_mat

if sys.platform == "linux":
    import resource

MOST_BYTES = 2**30
MOST_SECONDS = 5
FIXTURES = 50


def made_files(folder):
    """Make files of every version with values of every class."""
    pairs = np.zeros((1, 2), dtype=[("one", object), ("two", object)])
    pairs["one"][:] = [[1.0, "x"]]
    pairs["two"][:] = [[np.zeros((0, 3)), ["nested", {"f": True}]]]
    sparse = scipy.sparse.csc_array(np.diag(np.arange(1.0, 8)) + np.eye(7, k=2))
    contents = [
        {"x": np.arange(60.0).reshape(3, 4, 5), "i": np.arange(9, dtype=np.int64)},
        {"c": [np.ones((3, 8)), "text", [1, 2.5, 1j], np.array(["ab", "cd"])], "b": True},
        {"s": {"a": {"b": {"c": [1, "two"]}}, "e": np.zeros((0, 0))}, "pairs": pairs},
        {"sparse": sparse, "logical": sparse > 0.5, "z": sparse * 1j},
        {"large": np.zeros((200, 100)), "single": np.ones((70, 90), np.float32)},
    ]
    files = []
    for i, content in enumerate(contents):
        for label, options in {
            "v6": {"compress": False},
            "v7": {},
        }.items():
            files.append(folder / f"made{i}_{label}.mat")
            save_mat(files[-1], content, **options)
    files.append(folder / "objects_v5.mat")
    mcos_files.WRITERS["5"](files[-1], *mcos_files.sample())
    files.append(folder / "made_v4.mat")
    content = {"x": np.arange(12.0).reshape(3, 4), "z": np.array([[1j]]), "t": "text", "s": sparse}
    scipy.io.savemat(files[-1], content, format="4")
    return files


def fixtures(folder, made):
    """Return 50 files: made ones, and real ones of every age."""
    real = sorted(Path(folder).rglob("*.mat"), key=lambda path: path.name)
    real = [path for path in real if path.stat().st_size < 2**17]
    others = [path for path in real if b"\x89HDF" not in path.read_bytes()[:1024]]
    step = len(others) / (FIXTURES - len(made))
    return made + [others[int(i * step)] for i in range(FIXTURES - len(made))]


def damaged(content, rng):
    """Return the bytes of a file after one kind of damage."""
    content = bytearray(content)
    size = len(content)
    kind = rng.randrange(6)
    if kind == 0:
        return bytes(content[: rng.randrange(size)])
    for _ in range(rng.choice([1, 1, 2, 4, 16, 64])):
        at = rng.randrange(size)
        if kind <= 2:
            content[at] ^= 1 << rng.randrange(8)
        elif kind == 3:
            content[at] = rng.choice([0, 1, 127, 128, 255])
        elif kind == 4:  # a number or an address somewhere else in the file
            at &= ~7
            content[at : at + 8] = (rng.randrange(size) & ~7).to_bytes(8, "little")
        else:
            source, length = rng.randrange(size), rng.choice([4, 8, 16, 64, 512])
            content[at : at + length] = content[source : source + length]
    return bytes(content)


def main(first, count, folder=None):
    outcomes, slowest = Counter(), 0.0
    with tempfile.TemporaryDirectory() as work:
        made = made_files(Path(work))
        files = fixtures(folder, made) if folder else made
        contents = [path.read_bytes() for path in files]
        if sys.platform == "linux":
            pages = int(Path("/proc/self/statm").read_text("utf-8").split()[0])
            used = pages * resource.getpagesize()
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES, hard))
        for case in range(first, first + count):
            rng = random.Random(case)
            i = rng.randrange(len(files))
            path = Path(work, "damaged.mat")
            path.write_bytes(damaged(contents[i], rng))
            Path(work, "case").write_text(f"{case} {files[i].name}", "utf-8")
            before = sum(os.times()[:4])
            try:
                load_mat(path)
                outcome = "read"
            except MatFileError:
                outcome = "refused"
            except Exception as error:
                outcome = f"{type(error).__name__}: {error}"
            seconds = sum(os.times()[:4]) - before
            slowest = max(slowest, seconds)
            if seconds > MOST_SECONDS:
                outcome = f"{seconds:.1f} s, {outcome}"
            known = outcome.startswith(("read", "refused"))
            outcomes[outcome if known else "failed"] += 1
            if not known:
                print(json.dumps({"case": case, "file": files[i].name, "outcome": outcome}))
                sys.stdout.flush()
    summary = {"cases": count, "files": len(files), "outcomes": outcomes}
    summary["most_seconds"] = round(slowest, 2)
    if sys.platform == "linux":
        # Its own peak not by getrusage: that begins with what the process that started it had.
        status = Path("/proc/self/status").read_text("utf-8")
        own = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])
        most = max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
        summary["most_mb"] = most // 2**10
    print(json.dumps(summary))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
