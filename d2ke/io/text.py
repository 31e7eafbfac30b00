# SPDX-License-Identifier: BSD-3-Clause
"""Text files, also compressed ones, and their lines."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

from d2ke._base.files import open_file


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a text file, a .gz file, or the only file of a .zip."""
    form = {".zip": "zip", ".gz": "gzip"}.get(path.suffix.lower())
    with open_file(path) as stream:
        try:
            if form == "zip":
                archive = zipfile.ZipFile(stream)
                names = [name for name in archive.namelist() if not name.startswith("__MACOSX")]
                if len(names) != 1:
                    raise ValueError(f"{path} has {len(names)} files, {names[:5]}; not one")
                yield archive.open(names[0])
            else:
                yield BufferedReader(stream) if form is None else gzip.GzipFile(fileobj=stream)
        except (zipfile.BadZipFile, gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is not a {form} file: {error}") from None


def lines_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the location (for errors) and the stripped text of each line of a UTF-8 file."""
    number = 0
    with opened(path) as lines:
        for raw in lines:
            for line in raw.removesuffix(b"\n").removesuffix(b"\r").split(b"\r"):
                number += 1
                where = f"{path}, line {number}"
                try:
                    yield where, line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                except UnicodeDecodeError as error:
                    raise ValueError(f"{where} is not UTF-8 text: {error}") from None
