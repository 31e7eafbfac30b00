# SPDX-License-Identifier: BSD-3-Clause
"""Results streamed to a file: the bits of those in memory, and what the store holds."""

import os

import h5py
import numpy as np
import pytest
import reference
from block_cases import EQUAL, HOW, OMEGA, POSIX, STRINGS, VECTORS, WEIGHTED, embed
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import same

import d2ke
from d2ke.distances import blocks as blocks_module
from d2ke.distances.fingerprint import objects_digest
from d2ke.io import FeatureFile, load_features, open_features, save_features
from d2ke.io.store import layout
from d2ke.io.store.hdf5 import HEADER_BYTES

pytestmark = POSIX


@settings(max_examples=reference.examples(40))
@given(data=st.data())
def test_same_bits_for_every_block_size(tmp_path, data, features):
    """Blocks and runs of any number of rows, with edges that do not fall together."""
    n = data.draw(st.integers(1, 700), "n")
    m = data.draw(st.integers(1, 150), "m")
    rows = data.draw(st.integers(1, 64), "rows of a block")
    blocks = data.draw(st.integers(1, 40), "blocks of a run")
    dtype = data.draw(st.sampled_from(["f4", "f8"]))
    values = data.draw(st.sampled_from([64, 1000, 1 << 15]), "values of a tile")
    wanted = np.empty((n, m), dtype)
    d2ke.distance_matrix(STRINGS[:n], OMEGA[:m], "levenshtein", out=wanted)
    path = tmp_path / "x.h5"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "_BLOCK_ROWS", rows)
        patch.setattr(layout, "_TILE_VALUES", max(values, rows))
        patch.setattr(blocks_module, "_RUN_SECONDS", 1e9)
        patch.setattr(blocks_module, "_MOST_RUN_BYTES", blocks * rows * m * wanted.itemsize)
        with d2ke.distance_matrix(
            STRINGS[:n], OMEGA[:m], "levenshtein", out=path, dtype=dtype
        ) as store:
            store.verify()
            same(store.read(), wanted)
            assert store.omega() == OMEGA[:m]
    same(load_features(path).Z, wanted)
    assert os.listdir(tmp_path) == ["x.h5"]
    path.unlink()


@pytest.mark.parametrize("distance", d2ke.distance_names())
@pytest.mark.parametrize("among", [True, False])
def test_same_bits_for_every_distance(file, small_blocks, distance, among):
    X = STRINGS[:60] if distance in reference.STRINGS else VECTORS
    X = WEIGHTED if distance == "emd" else EQUAL if distance == "hamming" else X
    Y = None if among else X[5:20]
    params = reference.given(distance)
    for n_threads in (1, 2):
        wanted = d2ke.distance_matrix(X, Y, distance, n_threads=n_threads, **params)
        with d2ke.distance_matrix(X, Y, distance, n_threads=n_threads, out=file, **params) as store:
            same(store.read(), wanted)
        file.unlink()


def turned(x, y):
    """Not symmetric, so that it shows which of the two was asked."""
    return abs(x - 2.0 * y)


@pytest.mark.parametrize("Y", [None, [3.0, 4.0]])
def test_same_bits_for_a_python_function(file, small_blocks, Y):
    X = [float(x) for x in range(30)]
    wanted = d2ke.distance_matrix(X, Y, turned)
    with d2ke.distance_matrix(X, Y, turned, out=file) as store:
        same(store.read(), wanted)
        assert store.parameters["distance"] == f"{__name__}.turned"


def test_same_bits_for_a_compiled_function(file, small_blocks):
    numba = pytest.importorskip("numba")
    from numba import types as t
    from scipy import LowLevelCallable

    pointer = t.CPointer(t.double)

    @numba.cfunc(t.double(pointer, t.intp, pointer, t.intp, t.intp, t.voidptr))
    def first(x, n_x, y, n_y, dim, data):
        return abs(x[0] - y[0]) if x[0] < 50 else -1.0

    function = LowLevelCallable(first.ctypes)
    X = d2ke.pack(np.arange(40.0)[:, None])
    wanted = d2ke.distance_matrix(X, X[:7], function)
    with d2ke.distance_matrix(X, X[:7], function, out=file) as store:
        same(store.read(), wanted)
    file.unlink()
    with pytest.raises(ValueError, match=r"distance\(X\[50\], Y\[\d\]\) must be finite"):
        d2ke.distance_matrix(d2ke.pack(np.arange(60.0)[:, None]), X[:7], function, out=file)


def test_rsm_and_plain_distances(file, features):
    with d2ke.rsm_embed(STRINGS, OMEGA, **HOW, out=str(file)) as store:
        same(store.read(), features)
    file.unlink()
    wanted = d2ke.d2ke_embed(STRINGS, OMEGA, distance="levenshtein", link="distance")
    with d2ke.d2ke_embed(STRINGS, OMEGA, distance="levenshtein", link="distance", out=file) as one:
        same(one.read(), wanted)
        assert one.parameters == {"distance": "levenshtein", "link": "distance"}


def test_single_precision(file, features):
    wanted = np.empty(features.shape, np.float32)
    d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, out=wanted)
    same(embed(file, dtype=np.float32), wanted)
    same(d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, dtype="f4"), wanted)


def test_short_writes_put_each_byte_in_its_place(file, features, monkeypatch):
    """As the system may write less than it was given."""
    pwrite, preadv = os.pwrite, os.preadv
    monkeypatch.setattr(
        os, "pwrite", lambda fd, content, place: pwrite(fd, memoryview(content)[:4097], place)
    )
    monkeypatch.setattr(
        os, "preadv", lambda fd, buffers, place: preadv(fd, [buffers[0][:4099]], place)
    )
    same(embed(file), features)


def test_blocks_wider_than_usual(file):
    omega = d2ke.random_strings(9000, "ACGT", length=(2, 8), seed=0)
    wanted = d2ke.d2ke_embed(STRINGS, omega, **HOW)
    with d2ke.d2ke_embed(STRINGS, omega, **HOW, out=file) as store:
        same(store.read(), wanted)
        store.verify()


def test_wide_matrices_have_low_blocks():
    assert layout.tile_shape((10**6, 1024)) == (256, 128)
    assert layout.tile_shape((10**6, 8192)) == (256, 128)
    height, width = layout.tile_shape((10**6, 10**6))
    assert height * 10**6 * 8 <= 1 << 24
    assert height * width <= 1 << 15


# ---------------------------------------------------------------- the store


def test_the_file_is_that_of_save_features(file, tmp_path, features):
    """The same datasets, table and header; one reader for both."""
    embed(file)
    save_features(tmp_path / "y.h5", features, omega=OMEGA, parameters={**HOW, "link": "exp"})
    with h5py.File(file) as one, h5py.File(tmp_path / "y.h5") as other:
        assert set(one) - set(other) == {"inputs"}
        for name in ("chunks", "fletcher32", "dtype", "shape"):
            assert getattr(one["Z"], name) == getattr(other["Z"], name)
        datasets = "omega/values", "omega/offsets", "omega/alphabet", "parameters/gamma", "Z"
        for name in (*datasets, "blocks"):
            same(one[name][()], other[name][()])
    lines = file.read_bytes()[:HEADER_BYTES].split(b"\n")
    size, start, stop = map(int, lines[1].split())
    assert size == file.stat().st_size
    assert 0.9 * size < stop - start == features.nbytes
    part = load_features(file, rows=slice(3, 9), columns=slice(50))
    same(part.Z, features[3:9, :50])
    assert part.parameters == {"distance": "levenshtein", "gamma": 0.3, "link": "exp"}
    # As far as libraries of HDF5 1.8 go.
    assert file.read_bytes()[HEADER_BYTES + 8] in (0, 2)


def test_reading_by_parts(file, features):
    with d2ke.d2ke_embed(STRINGS, OMEGA, **HOW, out=file) as store:
        assert isinstance(store, FeatureFile)
        assert (store.shape, store.dtype, len(store)) == (features.shape, features.dtype, 700)
        assert store.path == file
        assert store.labels() is None
        for n_rows in (None, 1, 99, 699, 700, 9999):
            parts = list(store.blocks(n_rows))
            assert [rows.start for rows, _ in parts] == list(range(0, 700, n_rows or 700))
            same(np.vstack([Z for _, Z in parts]), features)
        with pytest.raises(ValueError, match="the stop of rows must be between -700 and 700"):
            store.read(slice(701))
        with pytest.raises(ValueError, match="n_rows must be at least 1, got 0"):
            list(store.blocks(0))
        assert repr(store) == "<features.h5: 700 x 150, float64>"
    assert repr(store) == "<features.h5: 700 x 150, float64, closed>"
    with pytest.raises(ValueError, match=r"features\.h5 is closed"):
        store.read()
    store.close()


def test_damage_is_named_by_its_rows(file, small_blocks, features):
    embed(file)
    content = bytearray(file.read_bytes())
    with h5py.File(file) as store:
        blocks = layout.get_blocks(store)
    height, width = blocks.tile
    i, j = 4 * height, 128 // width * width
    content[blocks.start + (i * 150 + j) * 8 + 5] ^= 1
    file.write_bytes(content)
    with open_features(file) as store:
        where = rf"rows {i} to {i + height - 1}, columns {j} to {min(j + width, 150) - 1}\)"
        with pytest.raises(ValueError, match=where):
            store.verify()
        with pytest.raises(ValueError, match=where):
            store.read()
        same(store.read(slice(i)), features[:i])
        same(store.read(slice(i + height, 700)), features[i + height :])


def test_digests_see_what_objects_are():
    X = d2ke.pack(["AC", "", "GT"])
    assert objects_digest(X) == objects_digest(d2ke.pack(["AC", "", "GT", "XYZ"])[:3])
    others = [["AC", "", "GA"], ["ACG", "", "T"], [b"AC", b"", b"GT"]]
    digests = {objects_digest(d2ke.pack(items)) for items in others}
    for dtype in ("f4", "f8"):
        one = d2ke.pack([np.ones((2, 3), dtype)])
        digests |= {objects_digest(one), objects_digest(d2ke.pack([np.ones((3, 2), dtype)]))}
        digests |= {objects_digest(d2ke.pack(one, weights=[w])) for w in ([1, 2], [2, 1])}
    assert len(digests | {objects_digest(X)}) == 12
