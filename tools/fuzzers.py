# SPDX-License-Identifier: BSD-3-Clause
"""Fuzz the readers of files with Atheris (``pip install atheris``).

    python tools/fuzzers.py csv -max_total_time=60     # libFuzzer's options
    python tools/fuzzers.py csv crash-0123...          # one input again

Targets are arff, csv, features, index, mat, models and ts. A file is read, or refused by one of the
errors that its reader documents; any other exception is a finding. Of features and models, which
have checksums, a whole file gets one dataset or attribute replaced; an index gets another segment
or log, with the right CRC-32 of its head.
"""

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import atheris

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))  # for seals.py

with atheris.instrument_imports(include=["d2ke.io", "d2ke.models", "d2ke.objects"]):
    from d2ke import d2ke_train, load_model, save_model
    from d2ke.io import load_features, load_mat, read_objects, read_ts, save_features, save_mat
    from d2ke.io.segment_file import SegmentContent
    from d2ke.io.store import Store

import h5py
import numpy as np
import scipy.io
import scipy.sparse
from seals import seal_features_file, seal_model, sealed_segment

FOLDER = Path(tempfile.mkdtemp(prefix="d2ke-fuzz-"))
TYPES = ["u1", "i4", "i8", "u8", "f4", "f8", "S3", "S8", "?"]
SEEDS = {
    "arff": [
        b"% words\n@relation r\n@attribute a numeric\n@attribute b real\n"
        b"@attribute class {x, 'y z'}\n@data\n1,2,x\n-1e3,?,'y z'\n",
        b"@relation r\n@attribute bag relational\n@attribute t0 numeric\n@attribute t1 numeric\n"
        b"@end bag\n@attribute class {0,1}\n@data\n'1,2\\n3,4',0\n\"5,6\\n7,8\",1\n",
        b"@relation r\n@attribute s string\n@attribute class {a,b}\n@data\n'ab, c',a\nxyz,b\n",
    ],
    "csv": [
        b"sequence,label\nACGT,coding\nTTTTA,other\n",
        b'id;t;x;y;class\n1;0;0.5;-1e3;a\n1;1;nan;2;a\n2;0;"1,5";3;b\n',
        b"word|n\n\xef\xbb\xbf\xc3\xa9t\xc3\xa9|1\nb\t|2\n",
    ],
    "ts": [
        b"# words\n@problemName two\n@timestamps false\n@univariate false\n@dimensions 2\n"
        b"@classLabel true a b\n@data\n1,2,3:4,5,6:a\n1.5,-2e3:0,1:b\n",
        b"@missing false\n@univariate true\n@equalLength true\n@seriesLength 3\n"
        b"@classLabel false\n@data\n1,2,3\n4,5,6\n",
    ],
}


def mat_files() -> list[bytes]:
    """Make a MAT-file of every form."""
    path, sparse, seeds = FOLDER / "seed.mat", scipy.sparse.csc_array(np.eye(3)), []
    values = {"x": np.arange(6.0).reshape(2, 3), "c": [np.ones((2, 2)), "text"], "s": sparse}
    for compress in (False, True):
        save_mat(path, values | {"nested": {"a": {"b": 1j}}, "t": True}, compress=compress)
        seeds.append(path.read_bytes())
    scipy.io.savemat(path, {"x": values["x"], "t": "text", "s": sparse}, format="4")
    return [*seeds, path.read_bytes()]


def part_of(whole: Path, seal: Callable[[Path], None]) -> Callable[[Path, bytes], None]:
    """Return a function that writes an HDF5 file with one dataset or attribute replaced."""

    def write(path: Path, data: bytes) -> None:
        given = atheris.FuzzedDataProvider(data)
        shutil.copy(whole, path)
        with h5py.File(path, "r+") as file:
            names: list[str] = []
            file.visit(names.append)
            holder = file[given.PickValueInList(["/", *names])]
            dtype = np.dtype(given.PickValueInList(TYPES))
            attribute, columns = given.ConsumeBool(), given.ConsumeIntInRange(0, 3)
            content = given.ConsumeBytes(given.remaining_bytes())
            values = np.frombuffer(content, dtype, len(content) // dtype.itemsize)
            if columns and values.size:
                values = values[: values.size // columns * columns].reshape(-1, columns)
            if attribute:
                holder.attrs[next(iter(holder.attrs), "format")] = values[:100]
            elif (place := holder.name) != "/":
                del file[place]
                file[place] = values
        seal(path)

    return write


def index_files(path: Path) -> list[bytes]:
    """Make an index; return a segment and a log, behind 0 and 1."""
    arrays = {"x": np.arange(6).reshape(2, 3), "w": np.array(["a", "bc"]), "e": np.zeros((0, 2))}
    Store.create(path, {}, [SegmentContent({"n": 2}, arrays)])
    with Store.open(path, writable=True) as writer:
        for value in ({"n": 3}, None):
            writer.append(SegmentContent(value, arrays))
    return [bytes([i]) + file.read_bytes() for i, file in enumerate(files_of(path))]


def files_of(index: Path) -> list[Path]:
    """Return the segment and the log of an index."""
    return [next(index.glob(f"*.{kind}")) for kind in ("segment", "log")]


def write_index(path: Path, data: bytes) -> None:
    """Replace the segment or the log of an index."""
    files_of(path)[data[0] % 2 if data else 0].write_bytes(sealed_segment(data[1:]))


def read_index(path: Path) -> None:
    """Read all arrays of an index."""
    with Store.open(path, verify=False) as store:
        store.verify()


def main() -> None:
    """Give the reader random files, at first of the seeds."""
    warnings.simplefilter("ignore")
    _, target, *arguments = sys.argv
    whole, write, seeds = FOLDER / "whole.h5", Path.write_bytes, SEEDS.get(target)
    read = {"mat": load_mat, "models": load_model, "features": load_features, "ts": read_ts}
    read["index"] = read_index
    path = FOLDER / f"input.{'h5' if target in ('models', 'features') else target}"
    if target == "mat":
        seeds = mat_files()
    elif target == "models":
        save_model(whole, d2ke_train(["a", "b"] * 9, ["aab", "bba"] * 9, R=16))
        write = part_of(whole, seal_model)
    elif target == "features":
        known = {"labels": ["a", "b", "a"], "omega": ["ACGT", "AG"], "parameters": {"gamma": 0.5}}
        save_features(whole, np.ones((3, 2)), **known)
        write = part_of(whole, seal_features_file)
    elif target == "index":
        seeds, write = index_files(path), write_index

    def test_one_input(data: bytes) -> None:
        write(path, data)
        try:
            read.get(target, read_objects)(path)
        except (MemoryError, OSError, ValueError) as error:
            if not str(error):
                raise AssertionError("an error without a message") from error

    corpus = FOLDER / "corpus"
    corpus.mkdir()
    for i, seed in enumerate(seeds or [bytes(range(i, i + 40)) for i in range(0, 200, 40)]):
        (corpus / str(i)).write_bytes(seed)
    inputs = [] if any(map(os.path.exists, arguments)) else [str(corpus)]
    atheris.Setup([sys.argv[0], *arguments, *inputs], test_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
