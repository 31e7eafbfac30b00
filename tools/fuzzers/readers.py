# SPDX-License-Identifier: BSD-3-Clause
"""Fuzz a reader with Atheris: what every target of this folder does.

    pip install atheris
    python tools/fuzzers/fuzz_csv.py -max_total_time=60     # libFuzzer's options
    python tools/fuzzers/fuzz_csv.py crash-0123...          # one input again

A target is a program of its own, ``fuzz_*.py``, as OSS-Fuzz takes them (`build.sh`). A file is
read, or refused by one of the errors that its reader documents; any other exception is a finding.
"""

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import atheris
import h5py
import numpy as np

sys.path.append(str(Path(__file__).parents[2] / "tests"))  # for seals.py

TYPES = ["u1", "i4", "i8", "u8", "f4", "f8", "S3", "S8", "?"]
SEEDS = [bytes(range(i, i + 40)) for i in range(0, 200, 40)]  # for `part_of`


def fuzz(
    read: Callable[[Path], object], suffix: str, seeds: Iterable[bytes], write=Path.write_bytes
) -> None:
    """Give `read` files that `write` makes of random bytes, at first of the seeds."""
    warnings.simplefilter("ignore")
    folder = Path(tempfile.mkdtemp(prefix="d2ke-fuzz-"))
    path = folder / f"input{suffix}"

    def test_one_input(data: bytes) -> None:
        write(path, data)
        try:
            read(path)
        except (MemoryError, OSError, ValueError) as error:
            if not str(error):
                raise AssertionError("an error without a message") from error

    corpus = folder / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(seeds):
        (corpus / str(number)).write_bytes(seed)
    inputs = [] if any(os.path.exists(word) for word in sys.argv[1:]) else [str(corpus)]
    atheris.Setup([*sys.argv, *inputs], test_one_input)
    atheris.Fuzz()


def part_of(whole: Path, seal: Callable[[Path], None]) -> Callable[[Path, bytes], None]:
    """Return a function that writes an HDF5 file with one dataset or attribute replaced.

    Container and seal are right; what is tried is what d2ke makes of its contents.
    """

    def write(path: Path, data: bytes) -> None:
        given = atheris.FuzzedDataProvider(data)
        shutil.copy(whole, path)
        with h5py.File(path, "r+") as file:
            names: list[str] = []
            file.visit(names.append)
            holder = file[given.PickValueInList(["/", *names])]
            dtype = np.dtype(given.PickValueInList(TYPES))
            attribute = given.ConsumeBool()
            columns = given.ConsumeIntInRange(0, 3)
            content = given.ConsumeBytes(given.remaining_bytes())
            values = np.frombuffer(
                content[: len(content) // dtype.itemsize * dtype.itemsize], dtype
            )
            if columns and values.size:
                values = values[: values.size // columns * columns].reshape(-1, columns)
            if attribute:
                name = next(iter(holder.attrs), "format")
                holder.attrs[name] = values[:100]
            elif holder.name != "/":
                place = holder.name
                del file[place]
                file[place] = values
        seal(path)

    return write
