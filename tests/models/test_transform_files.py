# SPDX-License-Identifier: BSD-3-Clause
"""Features of a model in feature stores: those in memory, resumed, refused."""

import os
import warnings

import numpy as np
import pytest

import d2ke
from d2ke.cli.main import main
from d2ke.io.store.writer import PartialStore
from d2ke.models.model import D2KEModel

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


def test_the_file_has_the_features(words, model, Z, tmp_path):
    for i, limit in enumerate((None, "3MB")):
        file = tmp_path / f"{i}.h5"
        with d2ke.d2ke_transform(words, model, out=file, max_memory=limit) as store:
            assert (store.read() == Z).all()
            assert store.dtype == np.float32
            assert sum(store.parameters["sizes"]) == model.R
            assert store.parameters["blocks"] == tuple(block.name for block in model.blocks)
            assert store.labels() is None
    assert sorted(os.listdir(tmp_path)) == ["0.h5", "1.h5"]


def test_arrays_are_filled(words, model, Z):
    out = np.empty(Z.shape, np.float32)
    assert d2ke.d2ke_transform(words, model, out=out) is out
    assert (out == Z).all()
    with pytest.raises(ValueError, match="out must have shape"):
        d2ke.d2ke_transform(words[:5], model, out=out)


class StoppedError(Exception):
    pass


def test_an_interrupted_file_is_resumed(words, model, Z, tmp_path, monkeypatch):
    file, computed = tmp_path / "z.h5", []
    monkeypatch.setattr("d2ke.models.model._BLOCK", 1)  # a block of the store at a time
    sync = PartialStore.sync

    def stops(store, some, entries):
        if some.start:
            raise StoppedError
        sync(store, some, entries)

    monkeypatch.setattr(PartialStore, "sync", stops)
    with pytest.raises(StoppedError):
        d2ke.d2ke_transform(words, model, out=file)
    assert os.listdir(tmp_path) == ["z.h5.part"]
    monkeypatch.setattr(PartialStore, "sync", sync)
    with pytest.raises(FileExistsError, match="resume=True"):
        d2ke.d2ke_transform(words, model, out=file)
    features = D2KEModel.features

    def counted(own, objects, *options):
        computed.append(objects[0])
        return features(own, objects, *options)

    monkeypatch.setattr(D2KEModel, "features", counted)
    # A model that was saved and loaded is the same model.
    d2ke.save_model(tmp_path / "m.h5", model)
    loaded = d2ke.load_model(tmp_path / "m.h5")
    with d2ke.d2ke_transform(words, loaded, out=file, resume=True) as store:
        assert (store.read() == Z).all()
    assert len(computed) == 2
    assert words[0] not in computed
    d2ke.d2ke_transform(words, model, out=file, resume=True).close()
    assert len(computed) == 2


def test_what_cannot_be_resumed(words, model, tmp_path):
    file = tmp_path / "z.h5"
    d2ke.d2ke_transform(words, model, out=file).close()
    with pytest.raises(FileExistsError, match="exists already"):
        d2ke.d2ke_transform(words, model, out=file)
    with pytest.raises(ValueError, match="made from something else: X was"):
        d2ke.d2ke_transform(words[::-1], model, out=file, resume=True)
    y = [str(word).count("C") > 7 for word in words[:90]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = d2ke.d2ke_train(y, words[:90], R=64, seed=1)
    with pytest.raises(ValueError, match="made from something else: model was"):
        d2ke.d2ke_transform(words, other, out=file, resume=True)
    with pytest.raises(ValueError, match="X is empty"):
        d2ke.d2ke_transform([], model, out=tmp_path / "none.h5")
    with pytest.raises(ValueError, match="max_memory"):
        d2ke.d2ke_transform(words, model, out=tmp_path / "none.h5", max_memory=10_000)
    assert os.listdir(tmp_path) == ["z.h5"]


def measured(a, b):
    return abs(len(a) - len(b))


measured.version = "1"


def test_python_functions_as_distances_and_views(tmp_path):
    X = ["a" * i for i in range(20)]
    y = np.arange(20) > 9
    model = d2ke.d2ke_train(y, X, distance=measured)
    with d2ke.d2ke_transform(X, model, out=tmp_path / "z.h5") as store:
        assert (store.read() == d2ke.d2ke_transform(X, model)).all()
    d2ke.d2ke_transform(X, model, out=tmp_path / "z.h5", resume=True).close()


def test_the_command(words, model, tmp_path, capsys):
    """An existing file is replaced; with --resume a complete one is kept."""
    d2ke.save_model(tmp_path / "m.h5", model)
    lines = [f"{word},{'ab'[i % 2]}" for i, word in enumerate(words)]
    (tmp_path / "x.csv").write_text("\n".join(["sequence,label", *lines]) + "\n")
    out = tmp_path / "z.h5"
    command = ["embed", str(tmp_path / "m.h5"), str(tmp_path / "x.csv"), "--out", str(out)]
    out.write_bytes(b"what was here before")
    assert main(command) == 0
    store = d2ke.io.load_features(out)
    assert (d2ke.d2ke_transform(words, model) == store.Z).all()
    assert store.labels.tolist() == ["a", "b"] * (N // 2)
    before = out.stat().st_mtime_ns
    assert main([*command, "--resume"]) == 0
    assert out.stat().st_mtime_ns == before
    assert main(command) == 0
    assert out.stat().st_mtime_ns != before
    (tmp_path / "x.csv").write_text("\n".join(["sequence,label", *lines[1:]]) + "\n")
    capsys.readouterr()
    assert main([*command, "--resume"]) == 2
    assert "was made from something else" in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["m.h5", "x.csv", "z.h5"]
