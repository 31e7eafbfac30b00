# SPDX-License-Identifier: BSD-3-Clause
"""Fuzz a reader with Atheris: what every target of this folder does.

    pip install atheris
    python tools/fuzzers/fuzz_csv.py -max_total_time=60     # libFuzzer's options
    python tools/fuzzers/fuzz_csv.py crash-0123...          # one input again

A target is a program of its own, ``fuzz_*.py``, as OSS-Fuzz takes them (`build.sh`). A file is
read, or refused by one of the errors that its reader documents; any other exception is a finding.
"""

import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import atheris


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
