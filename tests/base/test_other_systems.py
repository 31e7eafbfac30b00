# SPDX-License-Identifier: BSD-3-Clause
"""Files where the calls of POSIX are missing, and open files cannot be renamed or removed."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from d2ke._base.files import open_file

ROOT = Path(__file__).parents[2]

SCRIPT = """
import os, sys, filelock
import numpy as np
from pathlib import Path

# Not O_NONBLOCK, which filelock needs here.
for name in ("pwrite", "pread", "posix_fallocate", "statvfs", "O_NOFOLLOW", "O_CLOEXEC",
             "O_DIRECTORY"):
    delattr(os, name)
sys.modules["fcntl"] = None  # any import of it is an ImportError

def refuse_open(place):
    for fd in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            continue
        if target == os.path.realpath(place):
            raise PermissionError(13, "the file is open", str(place))

def closed(function):
    def call(*places, **options):
        for place in places:
            refuse_open(place)
        return function(*places, **options)
    return call

os.replace, os.unlink = closed(os.replace), closed(os.unlink)
Path.unlink = closed(Path.unlink)

import d2ke
from d2ke.io import feature_writer, load_features, load_mat, save_features, save_mat

folder = Path(sys.argv[1])
WORDS = d2ke.samplers.random_strings(80, "ACGT", length=(3, 9), seed=0)
HOW = {"distance": "levenshtein", "gamma": 0.3}
Z = d2ke.d2ke_embed(WORDS, WORDS[:9], **HOW)

model = d2ke.d2ke_train([len(word) > 6 for word in WORDS], WORDS, R=16)
d2ke.save_model(folder / "m.h5", model)
d2ke.save_model(folder / "m.h5", model)
assert d2ke.load_model(folder / "m.h5").R == model.R
save_features(folder / "Z.h5", Z)
assert (load_features(folder / "Z.h5").Z == Z).all()
save_mat(folder / "a.mat", {"Z": Z}, version="7.3")
assert (load_mat(folder / "a.mat")["Z"] == Z).all()

path, fill = folder / "written.h5", feature_writer._fill
(folder / "written.h5.part").write_bytes(bytes(700))  # of a kill at its begin
def failing(*arguments):
    fill(*arguments)
    raise RuntimeError("stopped")
feature_writer._fill = failing
try:
    d2ke.write_features(path, WORDS, WORDS[:9], **HOW)
except RuntimeError:
    pass
assert sorted(os.listdir(folder)) == [
    "Z.h5", "a.mat", "m.h5", "written.h5.lock", "written.h5.part"
]
feature_writer._fill = fill
d2ke.write_features(path, WORDS, WORDS[:9], **HOW)
assert (load_features(path).Z == Z).all()
d2ke.write_distances(folder / "D.h5", WORDS, distance="levenshtein")

for _ in range(2):
    near = d2ke.nearest(WORDS, k=3, distance="levenshtein", checkpoint=folder / "kept")
assert (near[0] == d2ke.nearest(WORDS, k=3, distance="levenshtein")[0]).all()
print("all done")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="open files as Linux lists them")
def test_without_the_calls_of_posix(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True
    )
    assert done.stdout == "all done\n", done.stderr


def test_a_folder_that_cannot_be_opened_is_named(tmp_path, monkeypatch):
    """Windows refuses to open a folder as it refuses files of other users."""

    def refused(path, *_):
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(IsADirectoryError, match="is a folder; a file's name is needed"):
        open_file(tmp_path)
    with pytest.raises(PermissionError):
        open_file(tmp_path / "file")


def test_text_files_are_read_and_written_in_utf8():
    """Ruff sees `open` only; the encoding of Path's functions is the system's if none is given."""
    folders = (
        "d2ke",
        "matlab_compat",
        "papers",
        "tests",
        "tools",
        "benchmarks",
        "examples",
        "docs",
    )
    for file in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        text = file.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "_text(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                given = len(node.args) + any(option.arg == "encoding" for option in node.keywords)
                needed = {"read_text": 1, "write_text": 2}.get(node.func.attr, 0)
                assert given >= needed, f"{file}:{node.lineno} has no encoding"
