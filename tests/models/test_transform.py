# SPDX-License-Identifier: BSD-3-Clause
"""Features of a model in arrays that are given, and by the command."""

import os
import warnings

import numpy as np
import pytest

import d2ke
from d2ke.cli.main import main

N = 700


@pytest.fixture(scope="module")
def words():
    drawn = np.random.default_rng(0).choice(list("ACGT"), (N, 30))
    return d2ke.pack(["".join(one) for one in drawn])


@pytest.fixture(scope="module")
def model(words):
    y = [str(word).count("A") > 7 for word in words[:90]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return d2ke.d2ke_train(y, words[:90], R=64, n_threads=1)


@pytest.fixture(scope="module")
def Z(words, model):
    return d2ke.d2ke_transform(words, model)


def test_arrays_are_filled(words, model, Z):
    out = np.empty(Z.shape, np.float32)
    assert d2ke.d2ke_transform(words, model, out=out) is out
    assert (out == Z).all()


def test_the_command(words, model, tmp_path, capsys):
    """The same command keeps a complete file, and another one refuses it."""
    d2ke.save_model(tmp_path / "m.h5", model)
    lines = [f"{word},{'ab'[i % 2]}" for i, word in enumerate(words)]
    (tmp_path / "x.csv").write_text("\n".join(["sequence,label", *lines]) + "\n", "utf-8")
    out = tmp_path / "z.h5"
    command = ["embed", str(tmp_path / "m.h5"), str(tmp_path / "x.csv"), "--out", str(out)]
    out.write_bytes(b"what was here before")
    assert main(command) == 1
    assert "z.h5 exists already" in capsys.readouterr().err
    out.unlink()
    assert main(command) == 0
    store = d2ke.io.load_features(out)
    assert (d2ke.d2ke_transform(words, model) == store.Z).all()
    assert store.labels.tolist() == ["a", "b"] * (N // 2)
    before = out.stat().st_mtime_ns
    assert main(command) == 0
    assert out.stat().st_mtime_ns == before
    (tmp_path / "x.csv").write_text("\n".join(["sequence,label", *lines[1:]]) + "\n", "utf-8")
    capsys.readouterr()
    assert main(command) == 2
    assert "was made from something else" in capsys.readouterr().err
    # Windows removes the lock's file.
    assert set(os.listdir(tmp_path)) - {"z.h5.lock"} == {"m.h5", "x.csv", "z.h5"}
