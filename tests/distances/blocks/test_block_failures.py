# SPDX-License-Identifier: BSD-3-Clause
"""Results streamed to a file while processes are killed, share it, or lack room."""

import errno
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import kills
import numpy as np
import pytest
from block_cases import HOW, OMEGA, POSIX, STRINGS, StopError, embed
from interrupts import needs_proc, press
from reference import same

import d2ke
from d2ke.io.store.writer import PartialStore

pytestmark = POSIX


STEPS = """
import os, sys
import d2ke
from d2ke.distances import blocks as _stream
from d2ke.io.store import layout

sys.path.append(sys.argv[2])
from kills import CALLS, kill_before_every_call

layout._BLOCK_ROWS = 64
_stream._RUN_SECONDS = 0.0
X = d2ke.pack(["ACGT"[: i % 5] * (i % 7) for i in range(200)])
omega = d2ke.random_strings(20, "ACGT", length=(2, 8), seed=0)
how = {"distance": "levenshtein", "gamma": 0.3, "n_threads": 1}
wanted = d2ke.d2ke_embed(X, omega, **how)
path = sys.argv[1]
os.fsync = lambda fd: None

def check():
    with d2ke.io.open_features(path) as store:
        store.verify()
        assert store.read().tobytes() == wanted.tobytes()

write = lambda: d2ke.d2ke_embed(X, omega, **how, out=path, resume=True).close()
print(kill_before_every_call(path, write, check, [*CALLS, "fsync"]))
"""


@pytest.mark.slow
def test_a_kill_before_any_call_of_the_system(file):
    script = [sys.executable, "-c", STEPS, str(file), str(kills.FOLDER)]
    done = subprocess.run(script, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


@pytest.mark.slow
def test_kills_at_random_moments(tmp_path):
    memory = Path("/dev/shm")  # where fsync takes no time
    folder = memory if os.access(memory, os.W_OK) else tmp_path
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.kill_stream", "--trials=5", f"--folder={folder}"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "results that are the same bit for bit: 5" in done.stdout


@pytest.mark.slow
@needs_proc
def test_interrupt_within_a_second(tmp_path, file):
    """Also while the writer waits for the disk; the file can be resumed at once."""
    script = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import os, numpy as np, d2ke\n"
        "fsync = os.fsync\n"
        "def slow(fd):\n"
        "    fsync(fd); time.sleep(0.3)\n"
        "os.fsync = slow\n"
        "X = d2ke.pack(np.zeros((3000, 400, 2)))\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    d2ke.distance_matrix(X, X, 'dtw', out=sys.argv[1], n_threads=1)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(file)], stdout=subprocess.PIPE, text=True
    )
    watchdog = threading.Timer(60, child.kill)
    watchdog.start()
    try:
        assert child.stdout.readline().strip() == "ready"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(1.5)
        assert press(child) == "interrupted"
        assert child.wait() == 0
    finally:
        watchdog.cancel()
        child.kill()
        child.wait()
        child.stdout.close()
    assert Path(f"{file}.part").exists()


def test_errors_of_the_distance_leave_what_can_be_resumed(file, small_blocks):
    broken = [True]

    def distance(x, y):
        if x == 25.0 and broken[0]:
            raise StopError
        return abs(x - y)

    distance.version = "1"  # whether it is broken does not count
    X = [float(x) for x in range(30)]
    with pytest.raises(StopError):
        d2ke.distance_matrix(X, [1.0], distance, out=file)
    broken[0] = False
    with d2ke.distance_matrix(X, [1.0], distance, out=file, resume=True) as store:
        same(store.read(), d2ke.distance_matrix(X, [1.0], distance))
    file.unlink()
    with pytest.raises(ValueError, match=r"distance\(X\[25\], Y\[0\]\) must be finite and >= 0"):
        d2ke.distance_matrix(X, [1.0], lambda x, y: 24.0 - x + abs(x - 24) / 2, out=file)


# ---------------------------------------------------------------- one at a time


def test_two_processes_do_not_write_one_file(file, small_blocks, features):
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from d2ke._base.checkpoint import open_locked\n"
            "fd = open_locked(Path(sys.argv[1] + '.part'), Path(sys.argv[1]))\n"
            "print('locked', flush=True); sys.stdin.read()",
            str(file),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout.readline().strip() == "locked"
        for resume in (True, False):
            with pytest.raises(BlockingIOError, match=r"features\.h5 is being written by another"):
                embed(file, resume=resume)
    finally:
        holder.kill()
        holder.communicate()
    same(embed(file, resume=True), features)  # the lock went with the process


def test_two_calls_of_one_process_do_not(file, small_blocks):
    def zero(x, y):
        return 0.0

    def distance(x, y):
        with pytest.raises(BlockingIOError, match="is being written by another call"):
            d2ke.distance_matrix([1.0], None, zero, out=file, resume=True)
        return 0.0

    zero.version = "1"

    d2ke.distance_matrix([1.0], None, distance, out=file).close()


# ---------------------------------------------------------------- limits


def test_memory_that_cannot_suffice_is_refused_first(file):
    with pytest.raises(ValueError, match=r"max_memory is 1000 bytes, but (\d+) are needed") as got:
        embed(file, max_memory=1000)
    assert "objects of omega" in str(got.value)
    assert os.listdir(file.parent) == []
    needed = int(re.search(r"but (\d+) are", str(got.value))[1])
    with pytest.raises(ValueError, match="max_memory is"):
        embed(file, max_memory=needed - 1)
    embed(file, max_memory=needed)


@pytest.mark.parametrize(
    ("given", "meant"),
    [("512MiB", 2**29), ("1GB", 10**9), ("1.5 kb", 1500), ("2tib", 2**41), ("7B", 7), (8, 8)],
)
def test_sizes(given, meant):
    from d2ke._base.checks import byte_count

    assert byte_count("max_memory", given) == meant


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"max_memory": "1XB"}, ValueError, "max_memory must be a number of bytes or text such as"),
        ({"max_memory": 0}, ValueError, "max_memory must be at least 1, got 0"),
        ({"max_memory": 1.5}, TypeError, "max_memory must be an integer, got 1.5"),
        ({"max_memory": "0B"}, ValueError, "max_memory must be at least 1"),
        ({"resume": 1}, TypeError, "resume must be True or False, got 1"),
        ({"dtype": "i4"}, TypeError, "dtype must be float64 or float32, got int32"),
        ({"out": b"x"}, TypeError, "out must be an ndarray of float32 or float64, got bytes"),
        ({"out": 3}, TypeError, "out must be an ndarray of float32 or float64, got int"),
        ({"out": None, "resume": True}, TypeError, "resume goes with a file, a path as out"),
        (
            {"out": np.empty((700, 150)), "dtype": "f4"},
            TypeError,
            "out holds float64, but dtype is float32",
        ),
    ],
)
def test_arguments_that_cannot_be(file, more, error, message):
    with pytest.raises(error, match=message):
        d2ke.d2ke_embed(STRINGS, OMEGA, **{**HOW, "out": file, **more})
    assert os.listdir(file.parent) == []


def test_folders(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; a file's name is needed"):
        embed(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"missing/features\.h5"):
        embed(tmp_path / "missing" / "features.h5")


def test_a_folder_that_cannot_be_written_to(file):
    """By a user of no rights where this one is the superuser, whom no folder refuses."""
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o555)
    script = (
        "import os, sys, d2ke\n"
        "def call(path):\n"
        "    d2ke.distance_matrix(['A'], ['B'], 'levenshtein', out=path).close()\n"
        "call(sys.argv[2])\n"  # imports all that it needs
        "if os.getuid() == 0: os.setuid(65534)\n"
        "call(sys.argv[1] + '/features.h5')\n"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", script, folder, str(file)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert re.search(rf"PermissionError: .*{folder}/features\.h5", done.stderr), done.stderr
    finally:
        os.rmdir(folder)


def full(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_seen_before_the_start(file, monkeypatch):
    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(OSError, match=r"features\.h5 takes (\d+) bytes: No space") as got:
        embed(file)
    assert got.value.errno == errno.ENOSPC
    assert int(re.search(r"takes (\d+)", str(got.value))[1]) > 700 * 150 * 8
    assert os.listdir(file.parent) == []


def test_free_space_is_looked_at_before_the_start(file, monkeypatch):
    real = os.statvfs(file.parent)

    class Little:
        f_bavail, f_frsize = 10, real.f_frsize

    monkeypatch.setattr(os, "statvfs", lambda folder: Little)
    with pytest.raises(
        OSError, match=r"features\.h5 takes \d+ bytes: only \d+ bytes are free in /"
    ):
        embed(file)
    assert os.listdir(file.parent) == []


@pytest.mark.parametrize(("stage", "name"), [("write", "pwrite"), ("sync", "fsync")])
def test_a_disk_that_gets_full(file, small_blocks, monkeypatch, features, stage, name):
    """On file systems that reserve no space; what was written is kept."""
    work = getattr(PartialStore, stage)

    def fail(self, rows, *rest):
        if rows.start == 240:
            with monkeypatch.context() as patch:
                patch.setattr(os, name, full)
                return work(self, rows, *rest)
        return work(self, rows, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(PartialStore, stage, fail)
        message = r"features\.h5\.part: No space .* at rows 2\d\d to \d+; the file takes \d+ bytes"
        with pytest.raises(OSError, match=message) as got:
            embed(file)
    assert got.value.errno == errno.ENOSPC
    same(embed(file, resume=True), features)


def test_a_limit_of_file_sizes(file):
    script = (
        "import resource, sys, d2ke\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))\n"
        "X = ['ACGT'] * 700\n"
        "d2ke.distance_matrix(X, X[:150], 'levenshtein', out=sys.argv[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)], capture_output=True, text=True, timeout=60
    )
    assert re.search(r"OSError: .*features\.h5 takes \d+ bytes: File too large", done.stderr)
    assert os.listdir(file.parent) == []


def test_a_small_disk(small_disk, small_blocks, monkeypatch, features):
    file = small_disk / "features.h5"
    (small_disk / "other").write_bytes(bytes(1_500_000))
    with pytest.raises(OSError, match=r"features\.h5 takes \d+ bytes: only \d+ bytes are free"):
        embed(file)
    assert os.listdir(small_disk) == ["other"]
    (small_disk / "other").unlink()
    # As on file systems that reserve no space, the disk gets full on the way.
    monkeypatch.setattr(os, "posix_fallocate", lambda *arguments: None)
    write = PartialStore.write

    def fill_up(self, rows, Z, stop):
        if rows.start == 80:
            with open(small_disk / "other", "wb", buffering=0) as filler:
                while filler.write(bytes(4096)) == 4096:
                    pass
        return write(self, rows, Z, stop)

    with monkeypatch.context() as patch:
        patch.setattr(PartialStore, "write", fill_up)
        with pytest.raises(OSError, match="No space left on device"):
            embed(file)
    with pytest.raises(OSError, match=r"\.part: No space left on device at rows \d+ to \d+; the"):
        embed(file, resume=True)
    (small_disk / "other").unlink()
    same(embed(file, resume=True), features)


def test_memory_stays_within_the_limit(file):
    """As the system counts it, in a process of its own, for a file five times the limit."""
    script = (
        "import sys, numpy as np, d2ke\n"
        "from benchmarks.measure import resident_peak\n"
        "rng = np.random.default_rng(0)\n"
        "X = d2ke.pack([bytes(rng.integers(0, 4, 8, dtype='u1')) for _ in range(1000)])\n"
        "X = X[np.arange(60000) % 1000]\n"
        "omega = X[:500]\n"
        "how = {'distance': 'levenshtein', 'gamma': 0.1, 'n_threads': 1}\n"
        "d2ke.d2ke_embed(X[:9], omega[:3], **how, out=sys.argv[1] + '0').close()\n"
        "def call():\n"
        "    d2ke.d2ke_embed(X, omega, **how, out=sys.argv[1], max_memory='48MB').close()\n"
        "    return np.zeros(1)\n"
        "print(resident_peak(call)['peak'], X.nbytes + omega.nbytes)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    peak, held = map(float, done.stdout.split())
    assert peak * 2**20 + held < 48e6
    assert file.stat().st_size > 240e6
