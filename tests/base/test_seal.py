# SPDX-License-Identifier: BSD-3-Clause
"""Damaged files of models and features: refused by name, whatever byte is meant.

`tools/flips.py` does the same at length, for files of more kinds.
"""

import io
import tempfile
import warnings
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import examples, same

import d2ke
from d2ke.io import load_features, save_features
from d2ke.io.feature_writer import fletcher32
from d2ke.io.mat.api import load_mat, save_mat
from d2ke.models.model import D2KEModel

Z = np.random.default_rng(0).random((90, 7))
HOW = {"distance": "levenshtein", "gamma": 0.3}
WORDS = d2ke.samplers.random_strings(90, "ACGT", length=(3, 9), seed=0)
CHUNK_BYTES = "d2ke.io.features._CHUNK_BYTES"


@cache
def content(kind):
    """Return the bytes of a file."""
    if kind == "model":
        file = io.BytesIO()
        d2ke.save_model(file, d2ke.d2ke_train(["a", "b"] * 9, ["aab", "bba"] * 9, R=16))
        return file.getvalue()
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "features.h5")
        patch.setattr(CHUNK_BYTES, 64)  # so that nodes of HDF5's index stand between the chunks
        if kind == "written":
            d2ke.write_features(path, WORDS, WORDS[:7], labels=["é", "b"] * 45, **HOW)
        else:
            options = {"labels": ["é", "b"] * 45, "omega": WORDS[:7], "parameters": HOW}
            save_features(path, Z, compression=None if kind == "features" else kind, **options)
        return path.read_bytes()


def load(kind, path):
    if kind == "model":
        return d2ke.d2ke_predict(None, ["ab", "bb"], d2ke.load_model(path))[2].tobytes()
    store = load_features(path)
    return store.Z.tobytes(), store.labels.tobytes(), store.omega, repr(store.parameters)


KINDS = ["model", "features", "gzip", "written"]


def refuse(kind, damaged, folder):
    path = folder / "file.h5"
    path.write_bytes(damaged)
    with pytest.raises(d2ke.ArgumentError, match=r"file\.h5 is damaged: "):
        load(kind, path)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(150), deadline=None)
@given(data=st.data())
def test_a_flipped_bit_is_met(kind, data, tmp_path_factory):
    whole = bytearray(content(kind))
    place = data.draw(st.one_of(st.integers(0, 511), st.integers(0, len(whole) - 1)), "place")
    whole[place] ^= 1 << data.draw(st.integers(0, 7), "bit")
    refuse(kind, whole, tmp_path_factory.mktemp("flipped"))


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_another_size_are_refused(kind, tmp_path):
    whole = content(kind)
    n = len(whole)
    for size in (30, 300, 512, 600, n // 2, n - 16, n - 1):
        refuse(kind, whole[:size], tmp_path)
    for more in (b"\0", b"\0" * 16, whole[-16:], whole):
        refuse(kind, whole + more, tmp_path)
    for start in (20, 512, n // 2, n - 9):
        refuse(kind, whole[:start] + bytes(len(whole[start:])), tmp_path)


def test_rows_that_are_whole_are_read(tmp_path):
    """A damaged chunk is met where it is read."""
    path, matrix = tmp_path / "Z.h5", np.random.default_rng(0).random((400, 1024))
    save_features(path, matrix)
    with h5py.File(path) as file:
        assert file["Z"].chunks == (128, 1024)
    place = path.read_bytes().index(matrix[200].tobytes())
    with open(path, "rb+") as stream:
        stream.seek(place)
        stream.write(b"\1")
    with d2ke.io.open_features(path) as features:
        for rows in (slice(0, 128), slice(256, 400)):
            same(features[rows], matrix[rows])
        with pytest.raises(ValueError, match=r"Z\.h5 is damaged: rows 130 to 131 of Z: "):
            features.read(slice(130, 131))
    with pytest.raises(ValueError, match=r"Z\.h5 is damaged"):
        d2ke.train(np.arange(400) % 2, d2ke.io.open_features(path))


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 5000), st.sampled_from(["random", "zeros", "ones"]))
@example(200_000, "ones")
def test_the_checksum_is_that_of_hdf5(n, values):
    made = {
        "random": np.random.default_rng(n).bytes(4 * n), "zeros": bytes(4 * n),
        "ones": b"\xff" * (4 * n),
    }  # fmt: skip
    chunk = np.frombuffer(made[values], np.int32)
    file = h5py.File(io.BytesIO(), "w")
    data = file.create_dataset("Z", data=chunk, chunks=(n,), fletcher32=True)
    file.flush()
    assert data.id.read_direct_chunk((0,))[1] == chunk.tobytes() + fletcher32(chunk)


def test_a_damaged_unfinished_file_is_begun_again(tmp_path, monkeypatch):
    monkeypatch.setattr(CHUNK_BYTES, 64)
    path, part = tmp_path / "Z.h5", tmp_path / "Z.h5.part"
    whole = content("written")
    for place in (3, 700, len(whole) - 3):
        part.write_bytes(whole[:place] + bytes([whole[place] ^ 8]) + whole[place + 1 :])
        with pytest.warns(UserWarning, match=r"Z\.h5\.part is damaged: .* computed again"):
            d2ke.write_features(path, WORDS, WORDS[:7], labels=["é", "b"] * 45, **HOW)
        assert load("written", path)[0] == d2ke.d2ke_embed(WORDS, WORDS[:7], **HOW).tobytes()
        path.unlink()
    part.write_bytes(whole)  # all rows are there
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        d2ke.write_features(path, WORDS, WORDS[:7], labels=["é", "b"] * 45, **HOW)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("suffix", [".h5", ".mat"])
def test_other_hdf5_files(suffix, tmp_path):
    """What h5py refuses is refused by name by all readers."""
    path = tmp_path / f"file{suffix}"
    rng = np.random.default_rng(0)
    if suffix == ".mat":
        save_mat(path, {"X": np.arange(600.0).reshape(20, 30)}, version="7.3")
    else:
        with h5py.File(path, "w") as file:
            file["X"] = np.arange(600.0).reshape(20, 30)
    whole = path.read_bytes()
    for place in rng.integers(0, min(len(whole), 4000), 60).tolist():
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << 4]) + whole[place + 1 :])
        for read in (d2ke.io.read_objects, *([load_mat] if suffix == ".mat" else [])):
            try:
                read(path)
            except ValueError as error:
                assert f"file{suffix}" in str(error)  # noqa: PT017


def test_models_at_the_end_of_a_stream():
    stream = io.BytesIO(b"before" + content("model"))
    stream.seek(6)
    assert isinstance(d2ke.load_model(stream), D2KEModel)
