# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours that go to a file by blocks of rows: kills, damage, other calls, and all ways."""

import os
import signal
import subprocess
import sys

import kills
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbor_cases import check_file, means, same_graph
from reference import examples, same

import d2ke
from d2ke._base import resume as resume_module
from d2ke.neighbors import block_search, bounded, strings

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files are locked as POSIX has it")
STRINGS = d2ke.random_strings(300, "ACGT", length=(1, 9), seed=0)
HOW = {"distance": "levenshtein", "k": 4, "n_threads": 1}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "near.h5"


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few rows, and a disk that is not waited for."""
    monkeypatch.setattr(block_search, "_FIRST_ROWS", 7)
    monkeypatch.setattr(block_search, "_MOST_ROWS", 16)
    monkeypatch.setattr(os, "fsync", lambda fd: None)


DISTANCES = ["levenshtein", "dtw", "emd", "hausdorff", "mhd", "directed_mhd", means]


@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_any_distance(data, tmp_path_factory):
    distance = data.draw(st.sampled_from(DISTANCES))
    n, rng = data.draw(st.integers(2, 40)), np.random.default_rng(data.draw(st.integers(0, 999)))
    options = {"distance": distance, "n_threads": data.draw(st.integers(1, 3))}
    if distance == "levenshtein":
        X = d2ke.pack(["".join(rng.choice(list("ab"), rng.integers(0, 6))) for _ in range(n)])
    else:
        dtype = data.draw(st.sampled_from([np.float32, np.float64]))
        items = [rng.integers(-3, 4, (rng.integers(1, 5), 2)).astype(dtype) for _ in range(n)]
        X = d2ke.pack(items, channels_first=False)
    if distance is means:
        options["metric"] = data.draw(st.booleans())
    Y = None if data.draw(st.booleans()) else X[: data.draw(st.integers(1, n))]
    D = d2ke.distance_matrix(X, Y, distance=distance)
    if Y is None:
        options["include_self"] = data.draw(st.booleans())
    k = data.draw(st.integers(1, D.shape[1] - (Y is None)) if D.shape[1] > 1 else st.just(1))
    radius = float(data.draw(st.sampled_from(list(D.ravel()))))
    path = tmp_path_factory.mktemp("near") / "near.h5"
    with pytest.MonkeyPatch.context() as patch:
        if data.draw(st.booleans()):  # by bounds and indexes, however few objects there are
            patch.setattr(bounded, "FEWEST_PAIRS", 0)
            patch.setattr(bounded, "_pays", lambda *_: True)
            patch.setattr(strings, "_FEWEST_PAIRS", 0)
            patch.setattr(strings, "_TRY", 1e9)
        check_file(D, path, X, Y, k=k, radius=radius, **options)


def test_what_was_computed_is_counted(path):
    _, info = d2ke.nearest(STRINGS, out=path, info=True, **HOW)
    assert info.pairs == len(STRINGS) ** 2
    assert info.computed + sum(info.ruled_out.values()) == info.pairs
    _, info = d2ke.nearest(STRINGS, out=path, info=True, resume=True, **HOW)
    assert info.pairs == 0


def test_some_rows(path):
    d2ke.within(STRINGS, radius=2, distance="levenshtein", out=path)
    wanted = d2ke.within(STRINGS, radius=2, distance="levenshtein")
    same_graph(d2ke.load_neighbors(path, slice(100, -20)), wanted[100:280])
    with pytest.raises(ValueError, match="rows selects nothing of 300"):
        d2ke.load_neighbors(path, slice(5, 5))


def interrupted(path, at, **options):
    """Begin a file and stop before the block of rows `at`."""
    put = block_search.BlockSearch.rows

    def search(self, rows, *arguments, **keywords):
        if rows.start >= at:
            raise KeyboardInterrupt
        return put(self, rows, *arguments, **keywords)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_search.BlockSearch, "rows", search)
        with pytest.raises(KeyboardInterrupt):
            d2ke.nearest(STRINGS, out=path, **{**HOW, **options})


def test_an_interrupted_call_is_resumed_to_the_same_bytes(path):
    d2ke.nearest(STRINGS, out=path, **HOW)
    whole = path.read_bytes()
    path.unlink()
    interrupted(path, 150)
    assert not path.exists()
    with pytest.raises(FileExistsError, match="resume=True"):
        d2ke.nearest(STRINGS, out=path, **HOW)
    _, info = d2ke.nearest(STRINGS, out=path, resume=True, info=True, **HOW)
    assert info.pairs < 170 * len(STRINGS)
    assert path.read_bytes() == whole
    assert os.listdir(path.parent) == [path.name]
    with pytest.raises(FileExistsError, match="exists already"):
        d2ke.nearest(STRINGS, out=path, **HOW)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"k": 5}, "k was 4 and is 5"),
        ({"include_self": True, "k": 3}, "without_self was True and is False"),
        ({"distance": "levenshtein", "mode": "prefix"}, "mode was not given and is 'prefix'"),
    ],
)
def test_another_problem_is_refused(path, changed, named):
    interrupted(path, 150)
    with pytest.raises(ValueError, match=named):
        d2ke.nearest(STRINGS, out=path, resume=True, **{**HOW, **changed})
    with pytest.raises(ValueError, match="X was"):
        d2ke.nearest(STRINGS[:299], out=path, resume=True, **HOW)
    with pytest.raises(ValueError, match="function was 'nearest' and is 'within'"):
        d2ke.within(STRINGS, radius=1, distance="levenshtein", out=path, resume=True)
    d2ke.nearest(STRINGS, out=path, resume=True, **HOW)
    with pytest.raises(ValueError, match=named):
        d2ke.nearest(STRINGS, out=path, resume=True, **{**HOW, **changed})


def test_another_version_is_refused_while_rows_are_missing(path, monkeypatch):
    interrupted(path, 150)
    with monkeypatch.context() as patch:
        patch.setattr(resume_module, "__version__", "9.9")
        with pytest.raises(ValueError, match=r"d2ke was .* and is '9\.9'"):
            d2ke.nearest(STRINGS, out=path, resume=True, **HOW)
    d2ke.nearest(STRINGS, out=path, resume=True, **HOW)
    monkeypatch.setattr(resume_module, "__version__", "9.9")
    d2ke.nearest(STRINGS, out=path, resume=True, **HOW)


@pytest.mark.parametrize("cut", [False, True])
def test_damaged_rows_are_computed_anew(path, cut):
    d2ke.nearest(STRINGS, out=path, **HOW)
    whole = path.read_bytes()
    path.unlink()
    interrupted(path, 150)
    rows = path.with_name("near.h5.rows.part")
    content = bytearray(rows.read_bytes())
    if cut:
        del content[-3:]
    else:
        content[len(content) // 2] ^= 4
    rows.write_bytes(content)
    with pytest.warns(RuntimeWarning, match=r"rows\.part is damaged in rows \d+ to \d+"):
        d2ke.nearest(STRINGS, out=path, resume=True, **HOW)
    assert path.read_bytes() == whole


def test_rows_that_were_damaged_are_mended_once(path):
    interrupted(path, 150)
    rows = path.with_name("near.h5.rows.part")
    rows.write_bytes(b"?" + rows.read_bytes()[1:])
    with pytest.warns(RuntimeWarning, match="damaged in rows 0 to 6"):
        interrupted(path, 200, resume=True)
    d2ke.nearest(STRINGS, out=path, resume=True, **HOW)  # warns no more
    indices, distances = d2ke.nearest(STRINGS, **HOW)
    graph = d2ke.load_neighbors(path)
    same(graph.indices.astype(np.int64).reshape(-1, 4), indices)
    same(graph.data.reshape(-1, 4), distances)


@pytest.mark.parametrize("place", [0, 300, 600, -1])
def test_a_damaged_file_is_refused(path, place):
    d2ke.nearest(STRINGS, out=path, **HOW)
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"damaged|not a file of neighbours"):
        d2ke.load_neighbors(path)


def test_other_files_are_refused(path):
    d2ke.io.save_features(path, np.eye(3))
    with pytest.raises(ValueError, match="not a file of neighbours"):
        d2ke.load_neighbors(path)
    with pytest.raises(ValueError, match="not a file of neighbours"):
        d2ke.nearest(STRINGS, out=path, resume=True, **HOW)
    path.unlink()
    path.with_name("near.h5.part").write_text("mine")
    with pytest.raises(FileExistsError, match="is not a journal of d2ke"):
        d2ke.nearest(STRINGS, out=path, resume=True, **HOW)


def test_one_call_at_a_time_writes_a_file(path):
    inside = []

    def distance(x, y):
        if not inside:
            inside.append(1)
            with pytest.raises(BlockingIOError, match="being written by another call"):
                d2ke.nearest([1.0, 2.0], k=1, distance=distance, out=path)
        return abs(x - y)

    distance.version = "1"
    d2ke.nearest([1.0, 2.0, 4.0], k=1, distance=distance, out=path)
    assert d2ke.load_neighbors(path).indices.tolist() == [1, 0, 1]


def test_max_memory_is_not_for_the_graph(path):
    X = d2ke.random_strings(150, "ACGT", length=9, seed=0)
    options = {"radius": 9, "distance": "levenshtein", "max_memory": "200kB"}
    with pytest.raises(ValueError, match="within radius that are known so far"):
        d2ke.within(X, **options)
    d2ke.within(X, out=path, **options)
    same_graph(d2ke.load_neighbors(path), d2ke.within(X, radius=9, distance="levenshtein"))
    with pytest.raises(ValueError, match=r"max_memory is 10000 bytes, but \d+ are needed"):
        d2ke.within(X, out=path, **{**options, "max_memory": 10000})


STEPS = """
import os, sys
import d2ke
from d2ke.neighbors import block_search

sys.path.append(sys.argv[2])
from kills import kill_before_every_call

block_search._FIRST_ROWS = block_search._MOST_ROWS = 40
X = d2ke.pack(["ACGT"[: i % 5] * (i % 7) for i in range(100)])
how = {"k": 3, "distance": "levenshtein", "n_threads": 1}
path = sys.argv[1]
os.fsync = lambda fd: None
d2ke.nearest(X, out=path, **how)
wanted = open(path, "rb").read()
os.unlink(path)

def check():
    assert open(path, "rb").read() == wanted

write = lambda: d2ke.nearest(X, out=path, resume=True, **how)
print(kill_before_every_call(path, write, check))
"""


def test_killed_at_every_step(tmp_path):
    script = [sys.executable, "-c", STEPS, str(tmp_path / "near.h5"), str(kills.FOLDER)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(script, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


def test_a_signal_between_blocks(path):
    script = (
        "import os, signal, sys\n"
        "import d2ke\n"
        "from d2ke.neighbors import block_search, store\n"
        "block_search._MOST_ROWS = 100\n"
        "put = store.GraphFile.put\n"
        "def killed(self, rows, found):\n"
        "    put(self, rows, found)\n"
        "    if rows.start:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "store.GraphFile.put = killed\n"
        "X = d2ke.random_strings(300, 'ACGT', length=(1, 9), seed=0)\n"
        "d2ke.nearest(X, k=4, distance='levenshtein', n_threads=1, out=sys.argv[1])\n"
    )
    assert subprocess.call([sys.executable, "-c", script, str(path)]) == -signal.SIGKILL
    _, info = d2ke.nearest(STRINGS, out=path, resume=True, info=True, **HOW)
    assert 0 < info.pairs < len(STRINGS) ** 2
    indices, _ = d2ke.nearest(STRINGS, **HOW)
    assert (d2ke.load_neighbors(path).indices.reshape(-1, 4) == indices).all()
