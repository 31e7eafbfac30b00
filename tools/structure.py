# SPDX-License-Identifier: BSD-3-Clause
"""Packages of d2ke, the floors that they stand on, and imports against the order.

    python tools/structure.py

A room is a package or a single file of d2ke. A room stands one floor above the highest room
that it imports. Rooms may import only from rooms that stand before them in ORDER (groups of
equal rank do not import each other); `tests/test_api.py` holds that.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "d2ke"
ORDER = (
    ("_version",),
    ("_ext",),
    ("_base",),
    ("objects",),
    ("io.store",),
    ("io.mat",),
    ("io", "measures"),
    ("distances", "learners", "datasets"),
    ("embedding",),
    ("model_selection", "discriminative", "neighbors"),
    ("models",),
    ("estimators",),
    ("cli",),
    ("__init__", "__main__"),
)
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}
COMPAT = PACKAGE.parent / "matlab_compat"
# Private modules that matlab_compat may import: checks and files as in d2ke, with its messages.
COMPAT_MAY = ("_base.checks", "_base.files", "_base.progress", "_base.threads")
_HOUSES = ("io",)  # packages whose packages are rooms of their own


def room_of(parts: tuple[str, ...], package: Path = PACKAGE) -> str:
    """Return the room of a module, such as ("io", "mat", "api")."""
    if not parts:
        return "__init__"
    if parts[0] in _HOUSES and package.joinpath(*parts[:2]).is_dir():
        return ".".join(parts[:2])
    return parts[0]


def imports(path: Path, package: Path = PACKAGE) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the line and the path within d2ke of each module that a file imports, at any depth."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            # A name may be a module of the package, or what the package defines.
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            first, *parts = name.split(".")
            if first != package.name:
                continue
            while parts and not _is_module(package.joinpath(*parts)):
                parts.pop()
            yield node.lineno, tuple(parts)


def _is_module(path: Path) -> bool:
    suffixes = (".py", ".pyx")
    return path.is_dir() or any(path.with_name(path.name + end).exists() for end in suffixes)


def arrows(package: Path = PACKAGE) -> dict[tuple[str, str], list[str]]:
    """Return the imports between rooms: (from, to) and the places of each."""
    result: dict[tuple[str, str], list[str]] = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        own = parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts
        room = room_of(own, package)
        for line, module in sorted(set(imports(path, package))):
            other = room_of(module, package)
            if other != room:
                place = f"{path.relative_to(package.parent)}:{line}"
                result.setdefault((room, other), []).append(place)
    return result


def rooms(package: Path = PACKAGE) -> list[str]:
    """Return the names of all rooms."""
    files = (path.relative_to(package).with_suffix("") for path in package.rglob("*.py"))
    return sorted({room_of(file.parts, package) for file in files}, key=lambda r: RANK.get(r, -1))


def upward(found: dict[tuple[str, str], list[str]]) -> list[str]:
    """Return the imports that run against the order, and rooms that it does not name."""
    wrong = []
    for (room, other), places in found.items():
        if not {room, other} <= set(RANK):
            wrong += [f"{place}: {room} -> {other}, not in the order" for place in places]
        elif RANK[other] >= RANK[room]:
            wrong += [f"{place}: {room} -> {other}" for place in places]
    return wrong


def private(folder: Path = COMPAT, package: Path = PACKAGE) -> list[str]:
    """Return the imports of the package's private modules, in a folder beside it, not allowed."""
    found = {
        (f"{path.name}:{line}", ".".join(module))
        for path in sorted(folder.glob("*.py"))
        for line, module in imports(path, package)
        if any(part.startswith("_") for part in module)
    }
    return [f"{place}: {module}" for place, module in sorted(found) if module not in COMPAT_MAY]


def circles(found: dict[tuple[str, str], list[str]]) -> list[str]:
    """Return the rooms that import themselves by way of others."""
    reach: dict[str, set[str]] = {}
    for room, other in found:
        reach.setdefault(room, set()).add(other)
    grown = True
    while grown:
        grown = False
        for others in reach.values():
            further = set().union(*(reach.get(other, set()) for other in others)) - others
            grown = grown or bool(further)
            others |= further
    return sorted(room for room, others in reach.items() if room in others)


def floors(found: dict[tuple[str, str], list[str]], every: list[str]) -> dict[str, int]:
    """Return the floor of each room, the ground floor being 1; without circles only."""
    below = {room: [other for one, other in found if one == room] for room in every}
    result: dict[str, int] = {}

    def floor(room: str) -> int:
        if room not in result:
            result[room] = 1 + max((floor(other) for other in below.get(room, ())), default=0)
        return result[room]

    for room in every:
        floor(room)
    return result


def crowded(package: Path = PACKAGE, most: int = 7) -> list[str]:
    """Return the functions below the public surface with more parameters than `most`.

    Public is what an ``__all__`` of the package names, and a class's ``__init__`` made for it; and
    every ``__init__`` of the estimators, whose parameters scikit-learn reads there.
    """
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(package.rglob("*.py"))}
    public = {
        name.value
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for name in ast.walk(node.value)
        if isinstance(name, ast.Constant)
    }
    result = []
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name not in public:
                arguments = node.args
                names = [
                    one.arg
                    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
                ]
                names += [one.arg for one in (arguments.vararg, arguments.kwarg) if one]
                estimator = node.name == "__init__" and path.parent.name == "estimators"
                count = (
                    0 if estimator else len([name for name in names if name not in ("self", "cls")])
                )
                if count > most:
                    result.append(
                        f"{path.relative_to(package.parent)}:{node.lineno}: {node.name} has {count}"
                    )
    return result


def code_lines(package: Path = PACKAGE) -> tuple[int, int]:
    """Return the lines of Python, and those without docstrings, comments and blank lines."""
    every, code = 0, 0
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        every += len(lines)
        counted = {i for i, line in enumerate(lines, 1) if line.strip() and line.strip()[0] != "#"}
        for node in ast.walk(ast.parse(text)):
            kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
            if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
                counted -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
        code += len(counted)
    return every, code


def main() -> int:
    """Print the house; return 1 if something is against the order."""
    found, every = arrows(), rooms()
    wrong, round_about = upward(found) + private(), circles(found)
    if not round_about:
        levels = floors(found, every)
        for level in range(max(levels.values()), 0, -1):
            print(f"{level:2}  " + ", ".join(room for room in every if levels[room] == level))
        print(f"{len(every)} rooms on {max(levels.values())} floors")
    print(f"circles: {', '.join(round_about) or 'none'}")
    print("imports against the order:", *(wrong or ["none"]), sep="\n  " if wrong else " ")
    print("functions with more than seven parameters:", *(crowded() or ["none"]), sep="\n  ")
    every, code = code_lines()
    print(f"{every} lines of Python, {code} without docstrings, comments and blank lines")
    return 1 if wrong or round_about else 0


if __name__ == "__main__":
    sys.exit(main())
