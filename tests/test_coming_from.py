# SPDX-License-Identifier: BSD-3-Clause
"""The lines of docs/coming_from.md run, and both sides of a row give the same numbers."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "coming_from.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
OTHERS = {"aeon and sktime": "aeon", "scikit-learn": "sklearn", "rapidfuzz": "rapidfuzz",
          "tslearn": "tslearn"}  # fmt: skip


def names_and_rows(title):
    """Return the names of a section's lines, and the cells of its rows: theirs, ours, the mark."""
    [code] = re.findall(r"^```python\n(.*?)^```", SECTIONS[title], re.M | re.S)
    names = {}
    exec(code, names)
    rows = [line.strip("|").split("|") for line in SECTIONS[title].splitlines() if line[:1] == "|"]
    return names, [[cell.strip().strip("`") for cell in row[1:]] for row in rows[2:]]


def import_all(package, text, names):
    """Import the modules of a package whose names are in a line."""
    for path in re.findall(rf"\b{package}((?:\.[a-z_]\w*)+)", text):
        parts = path[1:].split(".")
        for k in range(1, len(parts) + 1):
            try:
                importlib.import_module(".".join([package, *parts[:k]]))
            except ImportError:
                break
    names[package] = importlib.import_module(package)


@pytest.mark.parametrize("title", SECTIONS)
def test_our_lines_run(title):
    if title == "scikit-learn":
        pytest.importorskip("sklearn")
    names, rows = names_and_rows(title)
    assert len(rows) >= 7
    for _, ours, *_ in rows:
        assert eval(ours, names) is not None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("title", OTHERS)
def test_their_lines_give_the_same(title):
    package = OTHERS[title]
    pytest.importorskip(package)
    names, rows = names_and_rows(title)
    n_same = 0
    for theirs, ours, mark in rows:
        if not theirs:
            continue
        import_all(package, theirs, names)
        result = eval(theirs, names)
        if mark == "=":
            n_same += 1
            wanted, found = np.asarray(result), np.asarray(eval(ours, names))
            if wanted.dtype.kind in "US":
                assert wanted.tolist() == found.tolist(), ours
            else:
                np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6, err_msg=ours)
    assert n_same >= 5
