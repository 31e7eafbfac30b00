# SPDX-License-Identifier: BSD-3-Clause
"""The examples of the gallery run without a warning, and draw what can be read."""

import ast
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

GALLERY = Path(__file__).parent.parent / "docs" / "gallery"
EXAMPLES = sorted(GALLERY.glob("plot_*.py"))
QUICK = "plot_18_trajectories.py"


@pytest.fixture
def pyplot(monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    before = matplotlib.get_backend()
    matplotlib.use("agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")
    monkeypatch.setattr(plt, "show", lambda: None)
    yield plt
    plt.close("all")
    matplotlib.use(before)


def test_at_least_fifteen():
    assert len(EXAMPLES) >= 15
    assert (GALLERY / "GALLERY_HEADER.rst").is_file()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_text_is_a_title_and_a_paragraph(path):
    source = path.read_text("utf-8")
    lines = ast.get_docstring(ast.parse(source)).split("\n")
    assert lines[1] == "=" * len(lines[0])
    assert lines[2] == ""
    assert lines[3:]
    assert "" not in lines[3:]
    assert not re.search(r"D2KE_DATA|http", source)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(p, id=p.stem, marks=[] if p.name == QUICK else pytest.mark.slow)
        for p in EXAMPLES
    ],
)
def test_runs_and_draws(pyplot, capsys, path):
    pytest.importorskip("sklearn")
    if "numba" in path.read_text("utf-8"):
        pytest.importorskip("numba")
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
    assert pyplot.get_fignums()
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        assert any(ax.get_xlabel() or ax.get_title() for ax in figure.axes)
        assert figure.get_facecolor() == (1, 1, 1, 1)  # legible on a dark page
        figure.canvas.draw()
        for ax in figure.axes:
            assert ax.has_data(), "an empty panel"
        assert np.ptp(np.asarray(figure.canvas.buffer_rgba())[..., :3]) > 0
