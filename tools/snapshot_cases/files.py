# SPDX-License-Identifier: BSD-3-Clause
"""MAT-files: what is written comes back, and those of MATLAB's of every age."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy import sparse

from snapshot_cases import clouds, d2ke, exact, words

CONTENTS = {
    "number": 4.46,
    "integer": 7,
    "text": "Gun_Point",
    "unicode": "Grüße",
    "empty": "",
    "flag": True,
    "row": np.arange(5),
    "matrix": np.arange(6.0).reshape(2, 3),
    "single": np.arange(4, dtype=np.float32),
    "bytes": np.arange(4, dtype=np.uint8).reshape(2, 2),
    "cube": np.arange(24.0).reshape(2, 3, 4),
    "logical": np.array([[True, False]]),
    "complex": np.array([1 + 2j, -1j]),
    "nothing": np.zeros((0, 3)),
    "cell": ["AC", 1.5, np.eye(2), ["nested", 2]],
    "series": [one.T for one in clouds(100, 4, 3)],
    "words": words(101, 5, lengths=(1, 9)),
    "struct": {"sigma": 4.46, "name": "a", "inner": {"values": np.arange(3), "cell": ["x"]}},
    "sparse": sparse.csc_array(np.array([[0, 1.5, 0], [2, 0, 0]])),
}


def _outcome(function, *arguments, **given):
    try:
        return function(*arguments, **given)
    except (TypeError, ValueError, OSError) as error:
        text = str(error)
        for one in arguments:
            if isinstance(one, Path):
                text = text.replace(str(one), one.name)
        return [next(t for t in type(error).__mro__ if t.__module__ == "builtins").__name__, text]


def round_trip(version, compress, folder):
    """Write all values to a file, but those that are refused, and read them back."""
    made, good = {}, {}
    file = folder / "one.mat"
    for name, value in CONTENTS.items():
        # Files of version 7.3 are read by a process of their own, which takes a while.
        made[name] = _outcome(d2ke.io.save_mat, file, {name: value}, version=version)
        if made[name] is None:
            good[name] = value
    file = folder / "all.mat"
    d2ke.io.save_mat(file, good, version=version, compress=compress)
    objects = {
        one: [_outcome(d2ke.io.load_objects, file, one, channels_first=first)
              for first in (True, False)]
        for one in ("series", "words", "struct")
    }  # fmt: skip
    some = d2ke.io.load_mat(file, ["row", "text"])
    return [made, d2ke.io.load_mat(file), d2ke.io.load_mat(file, squeeze=True), some, objects]


for _version, _compress in (("5", True), ("5", False), ("7.3", True)):
    exact(f"save_mat/{_version} {'compressed' if _compress else 'plain'}", _version, _compress)(
        lambda version, compress, folder: round_trip(version, compress, folder)
    )


@exact("load_mat/errors")
def errors(folder: Path):
    file = folder / "bad.mat"
    file.write_bytes(b"not a MAT-file" * 20)
    made = [_outcome(d2ke.io.load_mat, file), _outcome(d2ke.io.load_mat, folder / "none.mat")]
    try:
        d2ke.io.load_mat(file)
    except d2ke.io.MatFileError as error:
        made += [type(error).__name__, [one.__name__ for one in type(error).__mro__]]
    return [made, d2ke.io.Unreadable("info.f", "function_handle", "a function handle")]


@exact("load_mat/fixtures", needs_data=True)
def fixtures():
    folder = Path(os.environ["D2KE_DATA"]) / "mat_fixtures"
    paths = sorted(folder.rglob("*.mat"))
    if not paths:
        raise FileNotFoundError(f"no MAT-files in {folder}")
    return {
        str(path.relative_to(folder)): [
            _outcome(d2ke.io.load_mat, path), _outcome(d2ke.io.load_mat, path, squeeze=True)
        ]
        for path in paths
    }  # fmt: skip
