# SPDX-License-Identifier: BSD-3-Clause
"""Files from strangers: nothing in them is run, believed before it is checked, or leaves its place.

What a file claims of its sizes is tried in a process with little memory.
"""

import ast
import io
import json
import os
import shutil
import stat
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
from sealed import seal

import d2ke
from d2ke.datasets import actrecog, auslan, images
from d2ke.io.store.hdf5 import HEADER_BYTES, place_dataset, put_objects
from d2ke.model_selection.result import _FORMAT, _SEAL

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*(ROOT / "d2ke").rglob("*.py"), *(ROOT / "matlab_compat").rglob("*.py")])
HUGE = 2**60
UNKNOWN_FILTER = 32123
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_METHODS = {"extract", "extractall", "unpack_archive"}
FORBIDDEN_MODULES = {
    "pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "yaml", "code",
    "runpy",
}  # fmt: skip


def offences(tree):
    """Yield what could run a file's content, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or ""
            names = {alias.name for alias in node.names} | {module}
            for name in names & FORBIDDEN_MODULES:
                yield node.lineno, f"import {name}"
        if not isinstance(node, ast.Call):
            continue
        keywords = {word.arg: word.value for word in node.keywords}
        if isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_CALLS:
            yield node.lineno, node.func.id
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in FORBIDDEN_METHODS:
                yield node.lineno, node.func.attr
            of = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            if (of, node.func.attr) in {("os", "system"), ("os", "popen")}:
                yield node.lineno, f"os.{node.func.attr}"
            if (of, node.func.attr) == ("np", "load"):
                allowed = keywords.get("allow_pickle")
                if not (isinstance(allowed, ast.Constant) and allowed.value is False):
                    yield node.lineno, "np.load without allow_pickle=False"
        for name, wrong in (("allow_pickle", True), ("shell", True)):
            value = keywords.get(name)
            if value is not None and not (
                isinstance(value, ast.Constant) and value.value is not wrong
            ):
                yield node.lineno, f"{name}={ast.unparse(value)}"


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from pickle import load",
        "eval(text)",
        "np.load(file)",
        "np.load(file, allow_pickle=True)",
        "np.load(file, allow_pickle=flag)",
        "archive.extractall(folder)",
        "os.system(text)",
        "subprocess.run(text, shell=True)",
    ],
)
def test_offences_are_seen(text):
    assert len(list(offences(ast.parse(text)))) > 0


def test_no_source_can_run_what_a_file_says():
    assert len(SOURCES) > 60
    # It reads no file: what goes to dask's workers and back, dask itself pickles as well.
    messages = ["cluster.py:import pickle", "cluster.py:import cloudpickle"]
    found = [
        f"{path.relative_to(ROOT)}:{line}: {what}"
        for path in SOURCES
        for line, what in offences(ast.parse(path.read_text()))
        if f"{path.name}:{what}" not in messages
    ]
    assert found == []


# Sizes that are claimed.

LOAD = """
import json, resource, sys
import numpy as np
import d2ke

used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, used + 2**28))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
outcome = "loaded"
try:
    {call}
except Exception as error:
    outcome = f"{{type(error).__name__}}: {{error}}"
    outcome = [name.__name__ for name in type(error).__mro__[:-3]][-1] + ": " + outcome
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps([outcome, peak / 1024]))
"""


def refused(call, path, error="ValueError", **variables):
    """Run the call on the file, which must raise the error in little memory; return the message."""
    done = subprocess.run(
        [sys.executable, "-c", LOAD.format(call=call), str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", **variables},
    )
    assert done.returncode == 0, done.stderr
    outcome, megabytes = json.loads(done.stdout)
    assert outcome.startswith(error), outcome
    assert "MemoryError" not in outcome
    assert megabytes < 100
    return outcome


def npy(shape, dtype="<f8"):
    out = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, header)
    return out.getvalue() + bytes(64)


def model_file(path, changes, compression=zipfile.ZIP_STORED):
    model = d2ke.train([0, 1], np.eye(2))
    d2ke.save_model(path, model)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in (parts | changes).items():
            archive.writestr(name, content)


MODELS = {
    "weights": {"weights.npy": npy((HUGE,))},
    "a product beyond 64 bits": {"weights.npy": npy((2**40, 2**40))},
    "header": {"header.npy": npy((), f"<U{2**28}")},
    "objects": {"weights.npy": npy((1,), "|O")},
    "negative": {"weights.npy": npy((-1, 4))},
    "another part": {"more.npy": npy((2**33,))},
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", MODELS)
def test_models_claim_no_memory(name, tmp_path):
    model_file(tmp_path / "m", MODELS[name])
    assert "not a model" in refused("d2ke.load_model(sys.argv[1])", tmp_path / "m")


def test_models_are_no_bombs(tmp_path):
    zeros = npy((2**26,)) + bytes(2**29)
    model_file(tmp_path / "m", {"weights.npy": zeros}, zipfile.ZIP_DEFLATED)
    assert (tmp_path / "m").stat().st_size < 2**20
    assert "larger than the file" in refused("d2ke.load_model(sys.argv[1])", tmp_path / "m")


def test_models_with_pickles_are_refused(tmp_path):
    class Evil:
        def __reduce__(self):
            return open, (str(tmp_path / "owned"), "w")

    entries = io.BytesIO()
    np.savez(entries, header=np.array([Evil()], dtype=object))
    (tmp_path / "m").write_bytes(entries.getvalue())
    refused("d2ke.load_model(sys.argv[1])", tmp_path / "m")
    assert not (tmp_path / "owned").exists()


def store_file(path, change):
    """Write a feature store whose seal is right, whatever was changed in it.

    other.h5, beside it, is as it was before.
    """
    omega = d2ke.random_strings(3, "ab", length=4, seed=0)
    Z = np.ones((2, 3))
    d2ke.io.save_features(path, Z, labels=["a", "b"], omega=omega, parameters={"gamma": 1.0})
    shutil.copy(path, path.with_name("other.h5"))
    lines = path.read_bytes()[:HEADER_BYTES].decode().splitlines()[:1]
    with h5py.File(path, "r+") as store:
        change(store)
    size = path.stat().st_size
    spared = (HEADER_BYTES, HEADER_BYTES)
    seal(path, (*lines, f"{size} {spared[0]} {spared[1]}"), spared)


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


def filtered(store):
    """Have Z need a filter that libhdf5 has not."""
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_chunk((2, 3))
    made.set_filter(UNKNOWN_FILTER, h5py.h5z.FLAG_OPTIONAL, ())
    del store["Z"]
    space = h5py.h5s.create_simple((2, 3))
    data = h5py.h5d.create(store.id, b"Z", h5py.h5t.IEEE_F64LE, space, made)
    data.write_direct_chunk((0, 0), np.ones((2, 3)).tobytes(), 0)


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


def every_fifth_quick(names):
    """Mark the others as slow, since each is read by a process of its own."""
    return [
        pytest.param(name, marks=[pytest.mark.slow] if i % 5 else [])
        for i, name in enumerate(names)
    ]


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


@pytest.mark.parametrize("name", every_fifth_quick(ELSEWHERE))
def test_stores_are_one_file(name, tmp_path):
    store_file(tmp_path / "s.h5", ELSEWHERE[name])
    message = refused("d2ke.io.load_features(sys.argv[1])", tmp_path / "s.h5")
    assert "is a link to elsewhere" in message or "is in another file" in message


@pytest.mark.parametrize("name", every_fifth_quick(STORES))
def test_stores_claim_no_memory(name, tmp_path):
    store_file(tmp_path / "s.h5", STORES[name])
    message = refused("d2ke.io.load_features(sys.argv[1])", tmp_path / "s.h5")
    assert "is damaged" in message
    assert "changed after" not in message  # it is not the seal that tells


@pytest.fixture
def plugin(tmp_path):
    """The folder of a plugin for libhdf5, as a variable; the file that it makes when loaded."""
    if not shutil.which("gcc"):
        pytest.skip("needs a C compiler")
    folder, loaded = tmp_path / "plugins", tmp_path / "loaded"
    folder.mkdir()
    source = f"""
        #include <fcntl.h>
        __attribute__((constructor)) static void run(void) {{ creat("{loaded}", 0600); }}
    """
    command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(folder / "libplugin.so")]
    subprocess.run(command, input=source, text=True, check=True)
    return {"HDF5_PLUGIN_PATH": str(folder)}, loaded


def test_stores_load_no_plugins(tmp_path, plugin):
    store_file(tmp_path / "s.h5", filtered)
    variable, loaded = plugin
    message = refused("d2ke.io.load_features(sys.argv[1])", tmp_path / "s.h5", **variable)
    assert "unknown filter" in message
    assert not loaded.exists()


def test_mat_files_load_no_plugins(tmp_path, plugin):
    path = tmp_path / "x.mat"
    level_73((2, 3), (2, 3))(path)
    with h5py.File(path, "r+") as file:
        file["Z"] = 0
        filtered(file)
        file["Z"].attrs["MATLAB_class"] = np.bytes_("double")
    variable, loaded = plugin
    assert "MatFileError" in refused("d2ke.io.load_mat(sys.argv[1], 'Z')", path, **variable)
    assert not loaded.exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="libhdf5 may have no plugins")
def test_the_plugin_would_be_loaded(tmp_path, plugin):
    store_file(tmp_path / "s.h5", filtered)
    variable, loaded = plugin
    call = "__import__('h5py').File(sys.argv[1])['Z'][()]"
    refused(call, tmp_path / "s.h5", "OSError", **variable)
    assert loaded.exists()


def test_unchanged_stores_load(tmp_path):
    store_file(tmp_path / "s.h5", lambda store: None)
    assert d2ke.io.load_features(tmp_path / "s.h5").labels.tolist() == ["a", "b"]


def test_searches_claim_no_memory(tmp_path):
    path = tmp_path / "s.h5"
    d2ke.Search.best_of([({"k": 1}, 70.0)]).save(path)
    with h5py.File(path, "r+") as file:
        del file["tried/accuracy"]
        file["tried"].create_dataset("accuracy", (2**55,), "f8", chunks=(4,))
    assert "does not hold" in refused("d2ke.load_search(sys.argv[1])", path)


def test_searches_are_one_file(tmp_path):
    path = tmp_path / "s.h5"
    d2ke.Search.best_of([({"k": 1}, 70.0)]).save(path)
    shutil.copy(path, tmp_path / "other.h5")
    with h5py.File(path, "r+") as file:
        del file["tried"]
        file["tried"] = h5py.ExternalLink("other.h5", "/tried")
    seal(path, _SEAL)
    assert "is a link to elsewhere" in refused("d2ke.load_search(sys.argv[1])", path)


@pytest.mark.sample(3)
@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_nested_searches_are_refused(deep, tmp_path):
    (tmp_path / "s.json").write_text(deep)
    assert "does not hold" in refused("d2ke.load_search(sys.argv[1])", tmp_path / "s.json")
    record = {"format": _FORMAT, "accuracy": 1.0, "tried": [], "info": {}, "parameters": {"k": 0}}
    (tmp_path / "s.json").write_text(json.dumps(record).replace('{"k": 0}', deep))
    assert "does not hold" in refused("d2ke.load_search(sys.argv[1])", tmp_path / "s.json")


def test_nested_models_are_refused(tmp_path):
    header = np.array("[" * 100_000 + "]" * 100_000)
    content = io.BytesIO()
    np.save(content, header)
    model_file(tmp_path / "m", {"header.npy": content.getvalue()})
    assert "not a model" in refused("d2ke.load_model(sys.argv[1])", tmp_path / "m")


def level_4(path):
    path.write_bytes(struct.pack("<5i", 0, 2**31 - 1, 2**31 - 1, 0, 2) + b"x\0" + bytes(64))


def level_5(content):
    def write(path):
        head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H2s", 0x0100, b"IM")
        path.write_bytes(head + content)

    return write


def matrix(shape, data_bytes, kind=6):
    flags = struct.pack("<IIII", 6, 8, kind, 0)
    sizes = struct.pack(f"<II{len(shape)}i", 5, 4 * len(shape), *shape)
    name = struct.pack("<HH4s", 1, 1, b"x")
    data = struct.pack("<II", 9, data_bytes) + bytes(16)
    body = flags + sizes + name + data
    return struct.pack("<II", 14, len(body)) + body


def squeezed(content, claimed):
    packed = zlib.compress(struct.pack("<II", 14, claimed) + content)
    return struct.pack("<II", 15, len(packed)) + packed


def level_73(shape, chunks, dtype="f8", matlab_class="double", **attributes):
    def write(path):
        with h5py.File(path, "w", userblock_size=512) as file:
            data = file.create_dataset("x", shape, dtype, chunks=chunks)
            data.attrs["MATLAB_class"] = np.bytes_(matlab_class)
            for name, value in attributes.items():
                data.attrs[name] = value

    return write


MAT_FILES = {
    "4": level_4,
    "5, shape": level_5(matrix((2**30, 2**30), 16)),
    "5, bytes": level_5(matrix((1, 2), 2**32 - 8)),
    "5, cell": level_5(matrix((2**15, 2**15), 16, kind=1)),
    "5, struct": level_5(matrix((2**15, 2**15), 16, kind=2)),
    "5, char": level_5(matrix((2**15, 2**15), 16, kind=4)),
    "5, sparse": level_5(matrix((2, 2**31 - 2), 16, kind=5)),
    "5, compressed": level_5(squeezed(bytes(64), 2**32 - 16)),
    "5, a bomb": level_5(squeezed(bytes(2**28), 64)),
    "7.3, shape": level_73((2**30, 2**30), (1, 1)),
    "7.3, contiguous": level_73((2**28, 2**28), None),
    "7.3, chunk": level_73((2**28, 4), (2**26, 4)),
    "7.3, cell": level_73((2**40, 1), (4, 1), h5py.ref_dtype, "cell"),
    "7.3, char": level_73((2**40, 1), (4, 1), "u2", "char"),
}


@pytest.mark.sample(4)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
@pytest.mark.parametrize("name", MAT_FILES)
def test_mat_files_claim_no_memory(name, tmp_path):
    path = tmp_path / "x.mat"
    MAT_FILES[name](path)
    assert "MatFileError" in refused("d2ke.io.load_mat(sys.argv[1])", path)


def mat_external(file):
    file.create_dataset("y", (1, 8), "u1", external=[("/etc/passwd", 0, 8)])
    file["y"].attrs["MATLAB_class"] = np.bytes_("uint8")


def mat_virtual(file):
    layout = h5py.VirtualLayout((1, 8), "f8")
    layout[:] = h5py.VirtualSource("other.h5", "x", (1, 8))
    file.create_virtual_dataset("y", layout).attrs["MATLAB_class"] = np.bytes_("double")


def mat_link(file):
    file["y"] = h5py.ExternalLink("other.h5", "/x")


def mat_soft(file):
    file["far"] = h5py.ExternalLink("other.h5", "/")
    file["y"] = h5py.SoftLink("/far/x")


def mat_field(file):
    group = file.create_group("y")
    group.attrs["MATLAB_class"] = np.bytes_("struct")
    group["field"] = h5py.ExternalLink("other.h5", "/x")


def mat_sparse(file):
    group = file.create_group("y")
    group.attrs["MATLAB_class"] = np.bytes_("double")
    group.attrs["MATLAB_sparse"] = np.uint64(1)
    group["jc"], group["ir"] = np.array([0, 1], np.uint64), np.array([0], np.uint64)
    group["data"] = h5py.ExternalLink("other.h5", "/x")


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "change", [mat_external, mat_virtual, mat_link, mat_soft, mat_field, mat_sparse]
)
def test_mat_files_are_one_file(change, tmp_path):
    path = tmp_path / "x.mat"
    level_73((1,), None)(path)
    shutil.copy(path, tmp_path / "other.h5")
    assert d2ke.io.load_mat(path)
    with h5py.File(path, "r+") as file:
        change(file)
    message = refused("d2ke.io.load_mat(sys.argv[1], 'y')", path)
    assert "is a link to elsewhere" in message or "is in another file" in message


# Messages of the process that reads version 7.3.


def framed(message, arrays=b""):
    text = json.dumps(message).encode()
    return len(text).to_bytes(8, "little") + text + arrays


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x04\x95",  # the beginning of a pickle
        (2**62).to_bytes(8, "little"),
        framed(["node", ["array", {"dtype": "|O", "shape": [1]}]], bytes(8)),
        framed(["node", ["array", {"dtype": "<f8", "shape": [HUGE]}]], bytes(64)),
        framed(["node", ["array", {"dtype": "<f8", "shape": [-1]}]]),
        framed(["node", ["array", {"dtype": "V8", "shape": [1]}]], bytes(8)),
        framed(["node", ["other", 1]]),
        framed(["node", ["cell", [1.5, 1], []]]),
        framed(["node"]),
        framed({}),
        framed(3),
        (4).to_bytes(8, "little") + b"[[[[",
        (9).to_bytes(8, "little") + b"\xff" * 9,
    ],
)
def test_bad_messages_are_refused(content):
    from d2ke.io.mat.errors import Damaged
    from d2ke.io.mat.v73 import _received

    class Process:
        stdout = io.BytesIO(content)

        def wait(self):
            return 1

    with pytest.raises(Damaged):
        list(_received(Process()))


# Objects and measures that are made by hand.

VALUES, OFFSETS = np.ones((4, 2)), np.array([0, 2, 4])
CODES, ALPHABET = np.zeros(4, np.uint8), np.array([65])


@pytest.mark.parametrize(
    "parts",
    [
        ("sets", VALUES, OFFSETS),
        ("vectors", VALUES, np.array([0, 2, 10**9])),
        ("vectors", VALUES, np.array([0, 3, 2, 4])),
        ("vectors", VALUES, np.array([-2, 2, 4])),
        ("vectors", VALUES, OFFSETS.astype(np.int32)),
        ("vectors", VALUES, np.empty(0, np.int64)),
        ("vectors", VALUES, OFFSETS.reshape(1, -1)),
        ("vectors", VALUES[:, 0], OFFSETS),
        ("vectors", VALUES[:, :0], OFFSETS),
        ("vectors", VALUES.astype(np.int64), OFFSETS),
        ("vectors", VALUES.astype(">f8"), OFFSETS),
        ("vectors", None, OFFSETS),
        ("vectors", VALUES, OFFSETS, ALPHABET),
        ("vectors", VALUES, OFFSETS, None, None, np.ones(3)),
        ("vectors", VALUES, OFFSETS, None, None, np.ones(4, np.float32)),
        ("strings", CODES, OFFSETS, None, "str"),
        ("strings", CODES + np.uint8(1), OFFSETS, ALPHABET, "str"),
        ("strings", CODES.astype(np.int64), OFFSETS, ALPHABET, "str"),
        ("strings", CODES, OFFSETS, np.array([65, 65]), "str"),
        ("strings", CODES, OFFSETS, np.array([2**21]), "str"),
        ("strings", CODES, OFFSETS, np.array([300]), "bytes"),
        ("strings", CODES, OFFSETS, np.array([6.5]), "int"),
        ("strings", CODES, OFFSETS, ALPHABET, "words"),
        ("strings", CODES, OFFSETS, ALPHABET, "str", np.ones(4)),
    ],
    ids=str,
)
def test_objects_of_parts_that_do_not_fit_are_refused(parts):
    with pytest.raises((TypeError, ValueError)):
        d2ke.Objects(*parts)


@pytest.mark.parametrize(
    ("points", "vectors"),
    [
        (np.ones((3, 2)), np.ones((2, 1))),
        (np.ones((3, 2)), np.ones(3)),
        (np.ones((0, 2)), np.ones((0, 1))),
        (np.ones((3, 2)), np.ones((3, 0))),
        (np.ones((3, 2), np.float32), np.ones((3, 1))),
        (np.full((3, 2), np.nan), np.ones((3, 1))),
        ([[1.0]], [[1.0]]),
    ],
)
def test_measures_of_parts_that_do_not_fit_are_refused(points, vectors):
    with pytest.raises((TypeError, ValueError)):
        d2ke.Measure(points, vectors)


def test_maps_of_parts_that_do_not_fit_are_refused():
    made = d2ke.kernel_feature_map([np.eye(3)], sigma=1.0, n_features=8)
    parts = {name: getattr(made, name) for name in made.__dataclass_fields__}
    with pytest.raises(ValueError, match="omega"):
        d2ke.KernelFeatureMap(**{**parts, "omega": made.omega[:2]})


def test_a_pickled_collection_is_checked_too(tmp_path):
    import pickle

    made = d2ke.pack(["ab", "b"])
    assert pickle.loads(pickle.dumps(made)) == made
    function, parts = made.__reduce__()
    with pytest.raises(ValueError, match="offsets"):
        function(parts[0], parts[1], parts[2] * 1000, *parts[3:])


# Archives.

NAMES = ["../out.tsd", "/tmp/out.tsd", "tctodd1/../../out-1.tsd", "tctodd1\\..\\out-1.tsd",
         "C:\\out.tsd"]  # fmt: skip


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """A folder within a folder that both must stay as they are."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    monkeypatch.setenv("D2KE_CACHE", str(tmp_path / "cache"))
    yield inner
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert found - {"a", "a/b", "a/b/x.tar.gz", "a/b/x.zip"} == set()


def tar_member(name, content=b"0 " * 22, kind=tarfile.REGTYPE, target=""):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    member.size = len(content) if kind == tarfile.REGTYPE else 0
    return member, io.BytesIO(content)


@pytest.mark.parametrize("name", NAMES)
def test_a_tar_archive_cannot_escape(name, watched):
    with tarfile.open("x.tar.gz", "w:gz") as archive:
        archive.addfile(*tar_member("tctodd1/alive-1.tsd"))
        archive.addfile(*tar_member(name))
    with pytest.raises(ValueError, match="is not named"):
        auslan.load_auslan(watched / "x.tar.gz")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE,
                                  tarfile.CHRTYPE, tarfile.DIRTYPE])  # fmt: skip
def test_a_tar_archive_links_to_nothing(kind, watched):
    with tarfile.open("x.tar.gz", "w:gz") as archive:
        archive.addfile(*tar_member("tctodd1/alive-1.tsd", kind=kind, target="/etc/passwd"))
    with pytest.raises(ValueError, match="is not a regular file"):
        auslan.load_auslan(watched / "x.tar.gz")


def test_a_tar_archive_claims_no_memory(watched):
    member, _ = tar_member("tctodd1/alive-1.tsd")
    member.size = HUGE
    with open("x.tar", "wb") as plain:
        plain.write(member.tobuf(tarfile.GNU_FORMAT) + bytes(1024))
    import gzip

    Path("x.tar.gz").write_bytes(gzip.compress(Path("x.tar").read_bytes()))
    Path("x.tar").unlink()
    with pytest.raises(ValueError, match="more than any recording"):
        auslan.load_auslan(watched / "x.tar.gz")


def test_images_of_digits_are_no_bombs(tmp_path):
    import gzip

    front = struct.pack(">4I", 0x00000803, 1, 2, 3)
    (tmp_path / "x.gz").write_bytes(gzip.compress(front + bytes(2**29)))
    call = "d2ke.datasets.mnist.read_idx(__import__('pathlib').Path(sys.argv[1]), 3)"
    assert "values instead of 6 (1 x 2 x 3)" in refused(call, tmp_path / "x.gz")
    front = struct.pack(">4I", 0x00000803, 2**31, 2**31, 2**31)
    (tmp_path / "x.gz").write_bytes(gzip.compress(front + bytes(100)))
    assert "values instead of" in refused(call, tmp_path / "x.gz")


def test_tables_in_an_archive_are_no_bombs(watched):
    with zipfile.ZipFile("x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("1.csv", bytes(2**29))
    call = "d2ke.datasets.actrecog.load_actrecog(__import__('pathlib').Path(sys.argv[1]))"
    assert "more than any table" in refused(call, watched / "x.zip")


def zip_link(name, target):
    member = zipfile.ZipInfo(name)
    member.create_system = 3
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member, target


@pytest.mark.parametrize("name", ["../1.csv", "/tmp/1.csv", "a/../../1.csv", "..\\1.csv"])
def test_a_zip_archive_cannot_escape(name, watched):
    with zipfile.ZipFile("x.zip", "w") as archive:
        archive.writestr(name, "1,2,3,4,5\n")
    with pytest.raises(ValueError, match=r"x\.zip"):
        actrecog.load_actrecog(watched / "x.zip")


def test_links_in_a_zip_archive_are_text(watched):
    with zipfile.ZipFile("x.zip", "w") as archive:
        for person in range(1, 16):
            archive.writestr(*zip_link(f"{person}.csv", "/etc/passwd"))
    with pytest.raises(ValueError, match=r"1\.csv"):
        actrecog.load_actrecog(watched / "x.zip")


@pytest.mark.parametrize("name", ["../../out.png", "/tmp/out.png"])
def test_an_archive_of_images_cannot_escape(name, watched):
    pytest.importorskip("cv2")
    with zipfile.ZipFile("x.zip", "w") as archive:
        archive.writestr(name, b"no image")
        archive.writestr("../labels.csv", "file,label\nout.png,0\n")
    with pytest.raises(ValueError, match=r"x\.zip"):
        images.load_images(watched / "x.zip", name="flower", label="label")


def test_a_damaged_store_of_objects_is_refused(tmp_path):
    from d2ke.io.store.hdf5 import get_objects

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
