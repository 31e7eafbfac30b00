# SPDX-License-Identifier: BSD-3-Clause
"""Feature stores whose seal is right, whatever was changed in them."""

import h5py
import numpy as np
import pytest
from hostile_files import HUGE, store_file

import d2ke
from d2ke.io.store.hdf5 import get_objects, place_dataset, put_objects


def replaced(name, **options):
    def change(store):
        del store[name]
        store.create_dataset(name, **options)

    return change


def relinked(name, link):
    def change(store):
        del store[name]
        store[name] = link

    return change


def moved(name):
    """Leave a soft link where something was."""

    def change(store):
        store.move(name, "place")
        store[name] = h5py.SoftLink("/place")

    return change


def nested(store):
    text = np.bytes_("[" * 100_000 + "]" * 100_000)
    store["parameters"].create_dataset("deep", data=text).attrs["json"] = 1


def rewritten(name, values):
    return replaced(name, data=values)


def widened(store):
    store["classes"].attrs["dtype"] = f"<U{2**28}"


def outside(store):
    del store["Z"]
    store.create_dataset("Z", (2, 3), "f8", external=[("/etc/passwd", 0, 48)])


def tiled(shape):
    """Say that tiles have another shape."""

    def change(store):
        store["blocks"].attrs["shape"] = shape

    return change


def beyond(store):
    """Have Z claim more than its table of blocks is for, in place."""
    del store["Z"]
    place_dataset(store, "Z", (2**20, 3), np.dtype("f8"))


def virtual(store):
    del store["Z"]
    layout = h5py.VirtualLayout((2, 3), "f8")
    layout[:] = h5py.VirtualSource("/etc/passwd", "x", (2, 3))
    store.create_virtual_dataset("Z", layout)


def removed(name):
    return lambda store: store.__delitem__(name)


INCOMPLETE = {
    "/omega has one number as its values": rewritten("omega/values", np.uint8(1)),
    "/omega has one number as its offsets": rewritten("omega/offsets", 1),
    "/omega has no values": removed("omega/values"),
    "/ has no blocks": removed("blocks"),
    "/ has no parameters": removed("parameters"),
    "/ has no versions": removed("versions"),
    r"Z is float64 of shape \(\)": rewritten("Z", 1.0),
    r"labels have the shape \(\) for 2 rows": rewritten("labels", 1),
    "omega of / is no group": rewritten("omega", 1),
}


@pytest.mark.parametrize("message", INCOMPLETE)
def test_sealed_stores_of_other_parts_are_refused(tmp_path, message):
    path = tmp_path / "store.h5"
    store_file(path, INCOMPLETE[message])
    with pytest.raises(ValueError, match=rf"store\.h5 is damaged: {message}"):
        d2ke.io.load_features(path)


ELSEWHERE = {
    "Z, a link": relinked("Z", h5py.ExternalLink("other.h5", "/Z")),
    "Z, a soft link": moved("Z"),
    "Z, external": outside,
    "Z, virtual": virtual,
    "labels": relinked("labels", h5py.ExternalLink("other.h5", "/labels")),
    "parameters": relinked("parameters", h5py.ExternalLink("other.h5", "/parameters")),
    "versions": moved("versions"),
    "omega": relinked("omega", h5py.ExternalLink("other.h5", "/omega")),
    "blocks": relinked("blocks", h5py.ExternalLink("other.h5", "/blocks")),
    "blocks, a soft link": moved("blocks"),
    "offsets": relinked("omega/offsets", h5py.ExternalLink("other.h5", "/omega/offsets")),
}
STORES = {
    "Z": replaced("Z", shape=(2**30, 2**30), dtype="f8", chunks=(1, 1)),
    "Z, a great chunk": replaced("Z", shape=(2**30, 4), dtype="f8", chunks=(2**26, 4)),
    "Z, contiguous": replaced("Z", shape=(2**20, 2**20), dtype="f8"),
    "Z, of objects": replaced("Z", shape=(2, 3), dtype=h5py.vlen_dtype("f8")),
    "Z, larger": beyond,
    "Z, with other bytes": lambda store: store["Z"].write_direct(np.zeros((2, 3))),
    "blocks": replaced("blocks", shape=(2**40, 2**10), dtype="u8", chunks=(1, 1)),
    "blocks, of one size": tiled([2]),
    "blocks, of nothing": tiled([2, 0]),
    "blocks, negative": tiled([-2, 3]),
    "blocks, of floats": tiled([2.0, 3.0]),
    "blocks, of text": tiled("23"),
    "blocks, other ones": tiled([1, 1]),
    "blocks, of another type": rewritten("blocks", np.ones((1, 1))),
    "blocks, missing": lambda store: store.__delitem__("blocks"),
    "labels": replaced("labels", shape=(2**40,), dtype="i8", chunks=(4,)),
    "labels, no indices": rewritten("labels", np.array([0, 7])),
    "labels, wide": widened,
    "classes": replaced("classes", shape=(2**50,), dtype="S8", chunks=(4,)),
    "parameters": replaced("parameters/gamma", shape=(HUGE,), dtype="f8", chunks=(4,)),
    "parameters, nested": nested,
    "values": replaced("omega/values", shape=(2**50,), dtype="u1", chunks=(4,)),
    "offsets": rewritten("omega/offsets", np.array([0, 2**60, 2**61, 2**62])),
    "offsets, falling": rewritten("omega/offsets", np.array([0, 8, 4, 12])),
    "offsets, negative": rewritten("omega/offsets", np.array([-4, 0, 4, 8])),
    "offsets, of floats": rewritten("omega/offsets", np.array([0.0, 4.0, 8.0, 12.0])),
    "values, no letters": rewritten("omega/values", np.full(12, 9, np.uint8)),
    "alphabet": replaced("omega/alphabet", shape=(HUGE // 8,), dtype="i8", chunks=(4,)),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_stores_are_one_file(name, tmp_path, refused):
    store_file(tmp_path / "s.h5", ELSEWHERE[name])
    message = refused("d2ke.io.load_features(sys.argv[1])", tmp_path / "s.h5")
    assert "is a link to elsewhere" in message or "is in another file" in message


@pytest.mark.parametrize("name", STORES)
def test_stores_claim_no_memory(name, tmp_path, refused):
    store_file(tmp_path / "s.h5", STORES[name])
    message = refused("d2ke.io.load_features(sys.argv[1])", tmp_path / "s.h5")
    assert "is damaged" in message
    assert "changed after" not in message  # it is not the seal that tells


def test_unchanged_stores_load(tmp_path):
    store_file(tmp_path / "s.h5", lambda store: None)
    assert d2ke.io.load_features(tmp_path / "s.h5").labels.tolist() == ["a", "b"]


def test_a_damaged_store_of_objects_is_refused(tmp_path):

    made = d2ke.pack([[1.0, 2.0], [3.0]], weights=[[0.5, 0.5], [1.0]])
    for name, values in {
        "values": np.array([[1.0], [np.nan], [3.0]]),
        "weights": np.array([0.5, -0.5, 1.0]),
    }.items():
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            group = file.create_group("objects")
            put_objects(group, made)
            assert get_objects(group) == made
            del group[name]
            group[name] = values
            with pytest.raises(ValueError, match=name):
                get_objects(group)
