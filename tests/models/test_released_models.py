# SPDX-License-Identifier: BSD-3-Clause
"""Model files of earlier releases are read, and predict what they did (docs/versions.md)."""

import json
import runpy
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "keep_models.py"))
RELEASED = sorted(path.parent for path in TOOL["FOLDER"].glob("*/decisions.json"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("folder", RELEASED, ids=lambda folder: folder.name)
def test_models_of_releases(folder):
    TOOL["check"](folder)


@pytest.mark.filterwarnings("ignore")
def test_the_tool_writes_what_it_reads(tmp_path):
    TOOL["write"](tmp_path / "0")
    TOOL["check"](tmp_path / "0")
    kept = json.loads((tmp_path / "0" / "decisions.json").read_text("utf-8"))
    assert {path.stem for path in tmp_path.glob("0/*.h5")} == set(kept) == set(TOOL["cases"]())
    kept["strings"][0][0] += 1
    (tmp_path / "0" / "decisions.json").write_text(json.dumps(kept), "utf-8")
    with pytest.raises(AssertionError, match="strings"):
        TOOL["check"](tmp_path / "0")
