# SPDX-License-Identifier: BSD-3-Clause
"""Every writer on a disk that is full: a named error, nothing left, nothing lost."""

import errno
import os
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import d2ke
from d2ke.cli.index import GraphResult
from d2ke.cli.neighbors import write_graph
from d2ke.cli.result_files import write_columns
from d2ke.io import save_features, save_mat
from d2ke.learners.least_squares import train_least_squares
from d2ke.model_selection.result import Search
from d2ke.models.persistence import save_model
from matlab_compat import libsvmwrite

DISK = 2 * 2**20
RNG = np.random.default_rng(0)
X = RNG.random((600, 600))  # 2.9 MB, hardly to be compressed
SEARCH = Search.best_of([({"gamma": float(x)}, float(x)) for x in X.ravel()[:40_000]])
COLUMNS = {"label": np.array(["ä", "b"] * 180_000), "score": X.ravel()}
MODEL = train_least_squares(np.arange(200) % 100, X[:200].repeat(8, axis=1))


def mat(version, compress):
    return lambda path: save_mat(
        path, {"a": [X, "text"], "b": X}, version=version, compress=compress
    )


def long_series(R, X, seed):
    return d2ke.samplers.random_series(R, 1, length=5000, sigma=1.0, seed=seed)


OF_OBJECTS = d2ke.d2ke_train(
    [0, 1] * 9, [[0.0, 0.1], [9.0, 8.0]] * 9, blocks=[d2ke.Block("long", "dtw", long_series, 64)]
)
WRITERS = {
    "features.h5": lambda path: save_features(path, X),
    "compressed.h5": lambda path: save_features(path, X, compression="gzip"),
    "search.json": SEARCH.save,
    "model.h5": lambda path: save_model(path, MODEL),
    "objects.h5": lambda path: save_model(path, OF_OBJECTS),
    "v7.mat": mat("5", True),
    "v6.mat": mat("5", False),
    "v73.mat": mat("7.3", True),
    "v73_plain.mat": mat("7.3", False),
    "rows.libsvm": lambda path: libsvmwrite(path, np.ones(600), X),
    "assignments.csv": lambda path: write_columns(path, COLUMNS),
    "graph.npz": lambda path: write_graph(
        path, GraphResult(sparse.csr_array(X), None, None, None, None)
    ),
    "assignments.h5": lambda path: write_columns(path, COLUMNS),
}


@pytest.mark.sample(7)
@pytest.mark.parametrize("free", [0, 5_000, 100_000, 1_500_000])
@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("reserves", [True, False])
def test_every_writer(small_disk, monkeypatch, name, free, reserves):
    if not reserves:  # as file systems do that reserve nothing
        monkeypatch.setattr(os, "posix_fallocate", lambda *arguments: None)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=2**60))
    path = small_disk / name
    path.write_bytes(b"earlier")
    filler = small_disk / "other"
    filler.write_bytes(bytes(DISK - 4096 - free // 4096 * 4096))
    with pytest.raises(OSError, match=name) as got:
        WRITERS[name](path)
    assert got.value.errno == errno.ENOSPC
    assert sorted(os.listdir(small_disk)) == sorted([name, "other"])
    assert path.read_bytes() == b"earlier"
