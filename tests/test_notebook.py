# SPDX-License-Identifier: BSD-3-Clause
"""What a notebook shows: models as HTML, pictures as pictures, and no bar of work that is done.

Without what runs a notebook (pip install nbclient ipykernel ipywidgets pandas) it is skipped.
"""

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")
pytest.importorskip("ipykernel")
pytest.importorskip("ipywidgets")
nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

CELLS = {
    "import d2ke\nwords = d2ke.pack(['ant', 'aunt', 'and', 'bee', 'beet', 'bees'] * 3)\nwords": (
        ["text/plain"]
    ),
    "near = d2ke.nearest(words, k=2, distance='levenshtein')\n"
    "d2ke.plots.plot_neighbors(words, *near)": ["image/png", "text/plain"],
    "d2ke.distance_matrix(words, progress=True).shape": ["text/plain"],
    "model = d2ke.d2ke_train(['a', 'a', 'a', 'b', 'b', 'b'] * 3, words, R=64)\nmodel": (
        ["text/html", "text/plain"]
    ),
    "d2ke.frame(d2ke.d2ke_predict(None, words, model), model=model)": ["text/html", "text/plain"],
    "d2ke.d2ke_explain(words[0], model).plot();": ["image/png", "text/plain"],
}


def test_what_is_shown(tmp_path):
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, kernel_name="python3", resources=resources).execute()
    for cell, shown in zip(notebook.cells, CELLS.values(), strict=True):
        assert {output.output_type for output in cell.outputs} <= {"execute_result", "display_data"}
        # The place of a bar is left, and empty.
        texts = [output.data for output in cell.outputs if output.data != {"text/plain": ""}]
        assert [sorted(data) for data in texts] == [shown], cell.source
