# SPDX-License-Identifier: BSD-3-Clause
"""The ``.ts`` text format of the UEA and UCR archives of time series."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.checks import file_path
from d2ke._base.keywords import hinted
from d2ke._base.text import listed
from d2ke.io.text import lines_of
from d2ke.objects.container import Objects
from d2ke.objects.fields import finite_numbers, is_gap
from d2ke.objects.packing import pack


@hinted
def read_ts(
    path: Any, *, missing: bool = False
) -> tuple[Objects, np.ndarray | None, dict[str, Any]]:
    """Read a ``.ts`` file: a header, then one series on each line.

    Lines that begin with ``#`` or ``%`` are comments. The header's lines begin with ``@``, its last
    one is ``@data``. On a line of data the dimensions (channels) are divided by ``:``, the values
    of a dimension by ``,``, and the class comes last, after another ``:``. The series may differ in
    length; the dimensions of one series may not.

    Parameters
    ----------
    path : path-like
        The file, UTF-8.
    missing : bool
        Whether ``?`` and NaN stand for missing values, which are NaN then; else they are refused.

    Returns
    -------
    objects : Objects
        The series, float64, each of shape (length, dimensions), in the order of the file.
    labels : ndarray of str or float64, shape (n,), or None
        The classes as they are written; with ``@targetLabel true`` the targets of a regression,
        float64; None without either.
    header : dict
        The header's entries, with names in lower case: bool for ``timestamps``,
        ``missing``, ``univariate`` and ``equallength``, int for ``dimensions`` and
        ``serieslength``, the tuple of the classes for ``classlabel`` (empty if there are none),
        the text for any other name. Entries that the header lacks are not in the dict.

    Raises
    ------
    TypeError
        If `path` is not a path.
    ValueError
        If the file is not of this form, holds no series, or contradicts its header; if a value is
        missing (``?``) or not finite; if it has time stamps, which are not read. The message names
        the file and the line.

    References
    ----------
    .. [1] A. Bagnall, H. A. Dau, J. Lines, M. Flynn, J. Large, A. Bostrom, P. Southam and
       E. Keogh, "The UEA multivariate time series classification archive, 2018",
       arXiv:1811.00075.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from d2ke.io import read_ts
    >>> text = '''# two series of two dimensions
    ... @problemName Gestures
    ... @dimensions 2
    ... @equalLength false
    ... @classLabel true up down
    ... @data
    ... 1.0,2.0,3.0:0.1,0.2,0.3:up
    ... 4.0,5.0:0.4,0.5:down
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "Gestures_TRAIN.ts"
    ...     _ = path.write_text(text, "utf-8")
    ...     objects, labels, header = read_ts(path)
    >>> objects
    <2 series of 2-dimensional vectors, float64, lengths 2 to 3>
    >>> labels
    array(['up', 'down'], dtype='<U4')
    >>> objects[1]
    array([[4. , 0.4],
           [5. , 0.5]])
    >>> header["problemname"], header["classlabel"]
    ('Gestures', ('up', 'down'))
    """
    path = file_path("path", path)
    lines = ((where, line) for where, line in lines_of(path) if line and line[0] not in "#%")
    header = _header(path, lines)
    classes = header.get("classlabel")
    n_dimensions = 1 if header.get("univariate") else header.get("dimensions")
    length = header.get("serieslength") if header.get("equallength") else None
    series: list[np.ndarray] = []
    labels: list[Any] = []
    for where, line in lines:
        dimensions = line.split(":")
        if header.get("targetlabel"):
            labels += finite_numbers(f"{where}, the target", [dimensions.pop()])
        if classes:
            labels.append(dimensions.pop().strip())
            if labels[-1] not in classes:
                raise ValueError(
                    f"{where}: the class is {labels[-1][:40]!r}, not one of those that "
                    f"@classLabel names: {listed(classes, str)}"
                )
        n_dimensions = n_dimensions or len(dimensions)
        if len(dimensions) != n_dimensions:
            raise ValueError(f"{where}: {len(dimensions)} dimensions instead of {n_dimensions}")
        series.append(_series(where, dimensions, missing))
        if header.get("equallength"):
            length = length or len(series[0])
            if len(series[-1]) != length:
                raise ValueError(
                    f"{where}: the series has {len(series[-1])} time steps, but the file's series "
                    f"are said to have equal length, {length}"
                )
    if not series:
        raise ValueError(f"{path} holds no series")
    written = np.array(labels, dtype=str if classes else np.float64) if labels else None
    return pack(series, channels_first=False, missing=missing), written, header


def _header(path: Path, lines: Any) -> dict[str, Any]:
    """Read the lines up to ``@data``."""
    header: dict[str, Any] = {}
    for where, line in lines:
        if not line.startswith("@"):
            raise ValueError(
                f"{where}: {line[:40]!r} is neither a comment (#) nor a line of the header (@), "
                "which ends with @data"
            )
        tag, *words = line[1:].split()
        # Both forms occur in the archives.
        name = {"dimension": "dimensions"}.get(tag.lower(), tag.lower())
        if name == "data" and words:
            raise ValueError(f"{where}: {line[:40]!r} has more than @data, which ends a header")
        if name == "data" and not header.get("targetlabel") and "classlabel" not in header:
            raise ValueError(
                f"{where}: the header has no @classLabel; it must say true and name the classes, "
                "or false"
            )
        if name == "data":
            return header
        before = header.get(name)
        header[name] = _entry(where, tag, name, words)
        if before is not None and before != header[name] and not isinstance(before, str):
            raise ValueError(f"{where}: the header has another @{tag} before, {before}")
    raise ValueError(f"{path} has no line @data")


def _entry(where: str, tag: str, name: str, words: list[str]) -> Any:
    text = " ".join(words)
    if name in ("dimensions", "serieslength"):
        if not text.isdecimal() or not int(text):
            raise ValueError(f"{where}: @{tag} must have a positive integer, got {text!r}")
        return int(text)
    flags = ("missing", "univariate", "equallength", "classlabel", "targetlabel", "timestamps")
    if name not in flags:
        return text
    first, rest = (words or [""])[0].lower(), tuple(words[1:])
    if first == "true" and name == "timestamps":
        raise ValueError(f"{where}: series with time stamps (@{tag} true) are not read")
    classes = name == "classlabel"
    if first not in ("true", "false") or bool(rest) != (classes and first == "true"):
        expected = "true and name the classes," if classes else "true"
        raise ValueError(f"{where}: @{tag} must be {expected} or false, got {text!r}")
    return rest if classes else first == "true"


def _series(where: str, dimensions: list[str], missing: bool) -> np.ndarray:
    """Return the dimensions of one line as an array of shape (length, dimensions)."""
    columns: list[np.ndarray] = []
    for number, values in enumerate(dimensions):
        location = f"{where}, dimension {number}"
        fields = values.split(",")
        gaps = [missing and is_gap(field.strip()) for field in fields]
        there = ["0" if gap else field for field, gap in zip(fields, gaps, strict=True)]
        columns.append(np.where(gaps, np.nan, finite_numbers(location, there)))
        if len(columns[-1]) != len(columns[0]):
            raise ValueError(
                f"{location}: {len(columns[-1])} values, but dimension 0 has {len(columns[0])}; "
                "all dimensions of a series must have as many"
            )
    return np.array(columns).T
