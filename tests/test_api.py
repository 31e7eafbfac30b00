# SPDX-License-Identifier: BSD-3-Clause
"""The public surface: every function is documented as it is called, every file has its licence."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import d2ke
import d2ke.io
import matlab_compat

ROOT = Path(__file__).parent.parent
FUNCTIONS = [
    getattr(module, name)
    for module in (d2ke, d2ke.datasets, d2ke.io, matlab_compat)
    for name in module.__all__
    if inspect.isfunction(getattr(module, name))
]


def section(docstring, title):
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", docstring, re.M | re.S)
    return found[1] if found else None


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_docstring_matches_signature(function):
    doc = inspect.getdoc(function)
    documented = []
    for line in (section(doc, "Parameters") or "").splitlines():
        if re.match(r"\S", line):
            documented += [name.strip(" *") for name in line.split(" : ")[0].split(",")]
    assert documented == list(inspect.signature(function).parameters)
    if documented:
        assert section(doc, "Raises"), "no section Raises"
    assert ">>> " in section(doc, "Examples"), "no example"
    if inspect.signature(function).return_annotation not in (None, "None"):
        assert section(doc, "Returns"), "no section Returns"


def test_all_is_sorted_and_complete():
    assert list(d2ke.__all__) == sorted(d2ke.__all__)
    for name in d2ke.__all__:
        assert getattr(d2ke, name) is not None


def test_every_source_file_names_its_licence():
    kinds = {".py", ".pyx", ".pxd", ".h", ".c", ".m"}
    generated = {path.with_suffix(".c") for path in (ROOT / "d2ke/_ext").glob("*.pyx")}
    generated.add(ROOT / "d2ke/_ext/_shared.c")
    files = [
        path
        for folder in ("d2ke", "matlab_compat", "tests", "benchmarks", "examples", "tools")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in kinds and path not in generated
    ]
    assert len(files) > 50
    missing = [
        str(path)
        for path in files
        if "SPDX-License-Identifier: BSD-3-Clause" not in path.read_text("utf-8").split("\n", 1)[0]
    ]
    assert missing == []


@pytest.mark.slow  # imports all of d2ke
def test_a_star_import_needs_no_extra():
    code = """if True:
        import sys
        sys.modules |= dict.fromkeys(("dask", "sklearn", "pandas", "pyarrow", "matplotlib"))
        from d2ke import *
        assert pack(["ab"]).kind == "strings"
        import d2ke
        assert "dask" in dir(d2ke)
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_module_is_loaded_when_a_name_of_it_is_used():
    code = """if True:
        import sys
        import d2ke
        assert "numpy" not in sys.modules
        d2ke.pack(["ab"])
        assert not {"d2ke.models.train", "matplotlib", "sklearn", "pandas"} & set(sys.modules)
    """
    subprocess.run([sys.executable, "-c", code], check=True)
