# SPDX-License-Identifier: BSD-3-Clause
"""No source runs what a file says."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*(ROOT / "d2ke").rglob("*.py"), *(ROOT / "matlab_compat").rglob("*.py")])
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_METHODS = {"extract", "extractall", "unpack_archive"}
FORBIDDEN_MODULES = {
    "pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "yaml", "code",
    "runpy",
}  # fmt: skip

# What is looked for has one of these words in its text; most files have none, and are not parsed.
SUSPICIOUS = re.compile(
    r"pickle|dill|joblib|marshal|shelve|yaml|runpy|(import|from) code\b"
    r"|(?<![.\w])(eval|exec|compile|__import__)\(|\.extract|unpack_archive|os\.(system|popen)|np\.load|shell="
)


def offences(text):
    """Yield what could run a file's content, with its line."""
    yield from _offences(ast.parse(text)) if SUSPICIOUS.search(text) else ()


def _offences(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or ""
            names = {alias.name for alias in node.names} | {module}
            for name in names & FORBIDDEN_MODULES:
                yield node.lineno, f"import {name}"
        if not isinstance(node, ast.Call):
            continue
        keywords = {word.arg: word.value for word in node.keywords}
        if isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_CALLS:
            yield node.lineno, node.func.id
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in FORBIDDEN_METHODS:
                yield node.lineno, node.func.attr
            of = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
            if (of, node.func.attr) in {("os", "system"), ("os", "popen")}:
                yield node.lineno, f"os.{node.func.attr}"
            if (of, node.func.attr) == ("np", "load"):
                allowed = keywords.get("allow_pickle")
                if not (isinstance(allowed, ast.Constant) and allowed.value is False):
                    yield node.lineno, "np.load without allow_pickle=False"
        for name, wrong in (("allow_pickle", True), ("shell", True)):
            value = keywords.get(name)
            if value is not None and not (
                isinstance(value, ast.Constant) and value.value is not wrong
            ):
                yield node.lineno, f"{name}={ast.unparse(value)}"


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "import code",
        "from pickle import load",
        "eval(text)",
        "np.load(file)",
        "np.load(file, allow_pickle=True)",
        "np.load(file, allow_pickle=flag)",
        "archive.extractall(folder)",
        "shutil.unpack_archive(file)",
        "os.system(text)",
        "subprocess.run(text, shell=True)",
    ],
)
def test_offences_are_seen(text):
    assert len(list(offences(text))) > 0


def test_no_source_can_run_what_a_file_says():
    assert len(SOURCES) > 60
    found = [
        f"{path.relative_to(ROOT)}:{line}: {what}"
        for path in SOURCES
        for line, what in offences(path.read_text("utf-8"))
    ]
    assert found == []
