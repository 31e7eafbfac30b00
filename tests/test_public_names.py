# SPDX-License-Identifier: BSD-3-Clause
"""The public names and their parameters, as users have learned them.

A change here is a change for every user: it needs a line in CHANGELOG.md.
"""

import ast
import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

import d2ke


def default(value):
    if value is inspect.Parameter.empty:
        return ""
    return f"={value.__name__}" if isinstance(value, type) else f"={value!r}"


def spelled(name, value):
    """Write a function or a class with its parameters and their defaults."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return name
    words, keyword_only = [], False
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and not keyword_only:
            words.append("*")
        keyword_only = keyword_only or one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        words.append(f"{stars}{one.name}{default(one.default)}")
    return f"{name}({', '.join(words)})"


def public(module):
    for name in sorted(module.__all__):
        value = getattr(module, name)
        plain = not (inspect.isfunction(value) or inspect.isclass(value))
        error = inspect.isclass(value) and issubclass(value, BaseException)
        yield name if plain or error else spelled(name, value)


# A folded line goes on with blanks.
TEXT = re.sub(r"\n +", " ", (Path(__file__).parent / "public_names.txt").read_text("utf-8"))
NAMES = dict(re.findall(r"^\[([^]]+)\]\n(.+?)(?=\n\n|\s*\Z)", TEXT, re.M | re.S))


@pytest.mark.parametrize("name", NAMES)
def test_public_names_and_parameters(name):
    if name == "d2ke.dask":
        pytest.importorskip("dask.array")
    module = importlib.import_module(name)
    assert list(public(module)) == NAMES[name].splitlines()


def test_no_function_has_the_name_of_a_package():
    for name in d2ke.__all__:
        value = getattr(d2ke, name)
        if inspect.isfunction(value):
            assert f"d2ke.{name}" not in sys.modules


# Defaults that a reader expects to be the same wherever the name occurs.
DEFAULTS = {
    "progress": {None, False}, "n_threads": {None, 1}, "seed": {0, None}, "random_state": {None},
    "metric": {False}, "include_self": {False}, "unseen_letters": {"allow"}, "keep_sums": {False},
    "probability": {False}, "link": {"exp"}, "dtype": {None}, "Y": {None},
    "n_permutations": {999}, "margin": {1.0}, "oriented": {True}, "balance": {True},
    "missing": {False, None}, "squeeze": {False}, "C": {1.0}, "independent": {True},
    "supervised": {True},
    "n_samples": {None, 5}, "sample_size": {5000}, "min_cluster_size": {5}, "fraction": {0.7},
    "cluster_selection_epsilon": {0.0}, "threshold": {0.5}, "directions": {8}, "dilation": {1},
    "row_weights": {None}, "rows": {None}, "streamed": {False}, "records": {False},
}  # fmt: skip


def test_defaults_are_the_same_everywhere():
    root = Path(d2ke.__file__).parent
    other = []
    header = re.compile(r"^ *(def \w+\(.*?:)(?: \.\.\.)?(?:  #[^\n]*)?$", re.M | re.S)
    for path in root.rglob("*.py"):
        for text in header.findall(path.read_text("utf-8")):
            [function] = ast.parse(f"{text} 0").body
            arguments = function.args
            names = [*arguments.posonlyargs, *arguments.args]
            pairs = [
                *zip(names[::-1], arguments.defaults[::-1], strict=False),
                *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
            ]
            for argument, value in pairs:
                allowed = DEFAULTS.get(argument.arg)
                if (
                    allowed
                    and isinstance(value, ast.Constant)
                    and value.value not in {*allowed, ...}
                ):
                    other.append((path.relative_to(root).as_posix(), function.name, argument.arg))
    assert other == []
