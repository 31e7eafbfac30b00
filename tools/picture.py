# SPDX-License-Identifier: BSD-3-Clause
"""Draw the packages of d2ke, and which import which, from the imports: ``docs/packages.svg``.

``python tools/picture.py`` writes the picture, ``python tools/picture.py --check`` fails if the
committed one differs. An arrow that follows from others is left out; a dashed one is an import in
the body of a function only.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

import tomllib

ROOT = Path(__file__).resolve().parents[1]
PACKAGE, PICTURE = ROOT / "d2ke", ROOT / "docs" / "packages.svg"
LEFT_OUT = ("_version", "__init__", "__main__")
TOP_OF_CORE, TOP_OF_WINGS = "models", "measures"
COLOURS = {"core": "#cfe3f5", "wing": "#e3f0d8", "door": "#f7e6c4"}
WIDTH, HEIGHT, GAP, ROW = 108, 30, 18, 92  # of a box, and between boxes and rows
Edges = dict[str, set[str]]


def layers() -> dict[str, list[list[str]]]:
    """Return the layers of the import contract, the lowest first, of the core, wings and doors."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    [rows] = [one["layers"] for one in contracts["contracts"] if one.get("containers") == ["d2ke"]]
    bands: dict[str, list[list[str]]] = {"core": [], "wing": [], "door": []}
    band = "core"
    for row in reversed(rows):
        names = [name for name in row.split(" | ") if name not in LEFT_OUT]
        band = "door" if band == "over" else band
        bands[band].append(names)
        band = {TOP_OF_CORE: "wing", TOP_OF_WINGS: "over"}.get(names[0], band)
    return bands


def imports() -> tuple[Edges, Edges]:
    """Return what each package imports: in the body of a module, and in functions only."""
    usual: Edges = {}
    called: Edges = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if name in LEFT_OUT:
            continue
        tree = ast.parse(file.read_text("utf-8"))
        for node in ast.walk(tree):
            edges = usual if node in tree.body else called
            edges.setdefault(name, set()).update(set(_imported(node)) - {name, *LEFT_OUT})
    return usual, {name: others - usual[name] for name, others in called.items()}


def _imported(node: ast.AST) -> Iterator[str]:
    names = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module is not None:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    for name in names:
        root, _, rest = name.partition(".")
        first = rest.partition(".")[0]
        if root == "d2ke" and ((PACKAGE / first).is_dir() or (PACKAGE / f"{first}.py").is_file()):
            yield first


def reduced(edges: Edges) -> Edges:
    """Leave out the arrows that follow from others."""

    def reached(name: str) -> set[str]:
        return set().union(*({other} | reached(other) for other in edges.get(name, ())))

    return {
        name: others - set().union(*(reached(other) for other in others))
        for name, others in edges.items()
    }


def places(bands: dict[str, list[list[str]]], edges: Edges) -> dict[str, tuple[float, int]]:
    """Return column and row of each package: the core in one row, others over what they import."""
    core = [name for row in bands["core"] for name in row]
    result: dict[str, tuple[float, int]] = {name: (float(i), 0) for i, name in enumerate(core)}
    # The wings that import other wings are a row above them.
    wings = [name for row in bands["wing"] for name in row]
    high = [name for name in wings if edges[name] & set(wings)]
    rows = [[name for name in wings if name not in high], high, *bands["door"]]
    for number, row in enumerate(rows, 1):
        below = {name: [result[one][0] for one in edges[name] if one in result] for name in row}
        wanted = {name: sum(columns) / max(len(columns), 1) for name, columns in below.items()}
        order = sorted(row, key=lambda name: (wanted[name], name))
        last = -1.0
        for name in order:
            last = max(wanted[name], last + 1)
            result[name] = (last, number)
        # Too far to the right: all move to the left by the half of what the last ones were pushed.
        push = sum(result[name][0] - wanted[name] for name in order) / max(len(order), 1)
        for name in order:
            result[name] = (round(result[name][0] - push, 2), number)
    left = min(column for column, _ in result.values())
    return {name: (column - left, row) for name, (column, row) in result.items()}


def draw() -> str:
    """Return the picture."""
    bands = layers()
    usual, called = imports()
    edges = reduced(usual)
    place = places(bands, edges)
    kinds = {name: band for band, rows in bands.items() for row in rows for name in row}
    assert set(place) == set(kinds), sorted(set(place) ^ set(kinds))
    top = max(row for _, row in place.values())
    across = max(column for column, _ in place.values()) + 1
    width, height = round(across * (WIDTH + GAP)) + GAP, top * ROW + 90

    def corner(name: str) -> tuple[int, int]:
        column, row = place[name]
        return GAP + round(column * (WIDTH + GAP)), 14 + (top - row) * ROW

    lines = []
    arrows = [(name, other, "") for name in edges for other in edges[name]]
    arrows += [(name, other, ' stroke-dasharray="5 4"') for name in called for other in called[name]
               if place[other][1] > place[name][1]]  # fmt: skip
    for name, other, dashes in sorted(arrows):
        (x, y), (u, v) = corner(name), corner(other)
        middle = WIDTH // 2
        if place[name][1] == place[other][1] == 0:
            if abs(x - u) <= WIDTH + GAP + 1:  # neighbours in the row of the core
                path = f"M{x} {y + 15} L{u + WIDTH + 3} {v + 15}"
            else:
                path = f"M{x + middle} {y + HEIGHT} C{x + middle} {y + 62} {u + middle} {v + 62} "
                path += f"{u + middle} {v + HEIGHT + 3}"
        elif v > y:  # downwards
            path = f"M{x + middle} {y + HEIGHT} C{x + middle} {y + 62} {u + middle} {v - 34} "
            path += f"{u + middle} {v - 3}"
        else:
            path = f"M{x + middle + 16} {y} C{x + middle + 16} {y - 30} {u + middle + 16} {v + 60} "
            path += f"{u + middle + 16} {v + HEIGHT + 3}"
        lines.append(f'<path d="{path}" fill="none" marker-end="url(#head)"{dashes}/>')
    boxes = []
    for name in sorted(place, key=lambda name: (-place[name][1], place[name][0])):
        x, y = corner(name)
        boxes.append(
            f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" '
            f'fill="{COLOURS[kinds[name]]}"/>\n'
            f'<text x="{x + WIDTH // 2}" y="{y + 20}">{escape(name)}</text>'
        )
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13" '
        'text-anchor="middle">',
        "<title>The packages of d2ke: doors above, wings between, the core below</title>",
        '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto">'
        '<path d="M0 0 L7 3 L0 6 z" fill="#555" stroke="none"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        '<g stroke="#555" stroke-width="1.1">',
        *lines,
        "</g>",
        *boxes,
        "</svg>",
        "",
    ])  # fmt: skip


def main() -> int:
    """Write the picture, or compare the committed one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if it differs")
    picture = draw()
    if not parser.parse_args().check:
        PICTURE.write_text(picture, "utf-8")
        return 0
    if PICTURE.exists() and PICTURE.read_text("utf-8") == picture:
        return 0
    print(
        f"{PICTURE.name} is not what the imports are: run python tools/picture.py", file=sys.stderr
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
