# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of the files of TU Dortmund: a folder, or a zip of it."""

from __future__ import annotations

import io
import os
import struct
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.checks import file_path, flag
from d2ke._base.damage import Damaged, damage_of
from d2ke._base.keywords import hinted
from d2ke.io.columns import LabelledObjects
from d2ke.objects.column_names import NOTHING, ColumnNames
from d2ke.objects.container import Objects
from d2ke.objects.graphs import graph_codes
from d2ke.objects.packing import pack
from d2ke.objects.record_packing import pack_records

GRAPHS = "graphs, as"
_EDGES = "_A.txt"


@hinted
def read_graphs(
    path: str | os.PathLike[str], *, edge_labels: bool = False
) -> tuple[list[tuple[Any, ...]], np.ndarray | None, Objects | None]:
    r"""Read the graphs of a data set in the format of TU Dortmund.

    Parameters
    ----------
    path : path
        A folder with files ``NAME_A.txt``, ``NAME_graph_indicator.txt`` and others, or a zip of it.
    edge_labels : bool, default False
        Whether graphs have the labels of edges, if there are any, which `graph_codes` then uses.

    Returns
    -------
    graphs : list of (edges, labels) or (edges, n_nodes)
        For `graph_codes` and `graph_structure`; nodes are counted from 0. With labels of edges,
        these come third. Nodes with several labels have one of text.
    labels : ndarray of int64 or float64, shape (n,) or (n, k), or None
        The class or the target of each graph; a column for each, if there are several.
    attributes : Objects or None
        The vectors of the nodes of each graph, as sets.

    Raises
    ------
    FileNotFoundError
        If the folder or file does not exist.
    ValueError
        Files that are missing, damaged, or do not fit each other, with the line.

    Examples
    --------
    >>> import os, tempfile
    >>> import d2ke
    >>> folder = tempfile.mkdtemp()
    >>> texts = {"A": "1, 2\n2, 1\n", "graph_indicator": "1\n1\n2\n", "graph_labels": "1\n-1\n"}
    >>> for name, text in texts.items():
    ...     with open(os.path.join(folder, f"TWO_{name}.txt"), "w", encoding="utf-8") as stream:
    ...         _ = stream.write(text)
    >>> graphs, labels, attributes = d2ke.io.read_graphs(folder)
    >>> [(edges.tolist(), n) for edges, n in graphs], labels.tolist()
    ([([[0, 1], [1, 0]], 2), ([], 1)], [1, -1])
    """
    path = file_path("path", path)
    tables = _Tables(path)
    owners, ends = tables.need("graph_indicator")[:, 0] - 1, tables.need("A") - 1
    edge_table = tables.table("edge_labels") if flag("edge_labels", edge_labels) else None
    classes = tables.table("graph_labels")
    targets = tables.table("graph_attributes", float) if classes is None else classes
    vectors, node_labels = tables.table("node_attributes", float), tables.table("node_labels")
    n = int(owners.max(initial=-1)) + 1 if targets is None else len(targets)
    n = min(n, len(owners))  # each has a node
    if not n:
        raise ValueError(f"{tables.name('graph_indicator')} or the file of labels is empty")
    if targets is not None and len(targets) > n:
        raise ValueError(f"{path} has labels of {len(targets)} graphs, but {len(owners)} nodes")
    tables.check("graph_indicator", (owners < 0) | (owners >= n), f"is not a graph of 1 to {n}")
    tables.check("graph_indicator", np.diff(owners, prepend=0) < 0, "comes after a later graph")
    outside = ((ends < 0) | (ends >= len(owners))).any(axis=1)
    tables.check("A", outside, f"is not an edge of nodes 1 to {len(owners)}")
    tables.check("A", owners[ends[:, 0]] != owners[ends[:, 1]], "joins nodes of different graphs")
    for name, table, count in (
        ("node_labels", node_labels, len(owners)),
        ("node_attributes", vectors, len(owners)),
        ("edge_labels", edge_table, len(ends)),
    ):
        if table is not None and len(table) != count:
            raise ValueError(f"{tables.name(name)} has {len(table)} lines; {count} are needed")
    firsts = np.searchsorted(owners, np.arange(n + 1))
    by_graph = np.argsort(owners[ends[:, 0]], kind="stable")
    cuts = np.searchsorted(owners[ends[by_graph, 0]], np.arange(1, n))
    edges = np.split(ends[by_graph] - firsts[owners[ends[by_graph, 0]], None], cuts)
    columns: list[Any] = [edges, np.diff(firsts).tolist()]
    if node_labels is not None:
        columns[1] = np.split(_single(node_labels), firsts[1:-1])
    if edge_table is not None:
        columns.append(np.split(_single(edge_table)[by_graph], cuts))
    attributes = None
    if vectors is not None:
        sets = np.split(vectors, firsts[1:-1])
        attributes = pack(sets, kind="sets", channels_first=False, name=str(path))
    labels = targets[:, 0] if targets is not None and targets.shape[1] == 1 else targets
    return list(zip(*columns, strict=True)), labels, attributes


def is_folder_of_graphs(path: Path) -> bool:
    """Return whether a folder has a file of edges."""
    return path.is_dir() and any(path.glob(f"*{_EDGES}"))


def read_codes(
    path: Path, columns: ColumnNames, earlier: ColumnNames = NOTHING, records: bool = False
) -> LabelledObjects:
    """Read the codes of graphs, the attributes of their nodes if there are any, and the labels.

    Both are columns, which may be named; two of them, or those of a model of records, make records.
    """
    graphs, labels, attributes = read_graphs(path)
    available = {"codes": graph_codes(graphs)}
    if attributes is not None:
        available["attributes"] = attributes
    columns = columns.or_earlier(available, earlier)
    columns.check(path, available, "column")
    names = tuple(columns.objects or available)
    columns = ColumnNames(names, unused=tuple(name for name in available if name not in names))
    objects: Any = available[names[0]]
    if records or len(names) > 1:
        objects = pack_records({name: available[name] for name in names})
    note = f"{GRAPHS} {' and '.join(names)} of their nodes"
    return LabelledObjects(objects, labels, columns, note=note)


class _Tables:
    """The files of a data set as arrays of their lines."""

    def __init__(self, path: Path):
        if not path.exists():
            raise FileNotFoundError(f"there is no file or folder {path}")
        if path.is_dir():
            self._texts = {file.name: file.read_bytes() for file in path.glob("*.txt")}
        else:
            with damage_of(path), zipfile.ZipFile(path) as archive, path.open("rb") as stream:
                names = [name for name in archive.namelist() if not name.startswith("__MACOSX")]
                self._texts = {name: archive.read(name) for name in names}
                stream.seek(-12 - len(archive.comment), os.SEEK_END)
                (n,) = struct.unpack("<H", stream.read(2))  # of the files, at the end of the zip
                if n not in (len(archive.namelist()), 0xFFFF):
                    raise Damaged(f"it lists {len(archive.namelist())} of {n} files")
        roots = [name for name in self._texts if name.endswith(_EDGES)]
        if len(roots) != 1:
            how = "; the name of a zipped table ends in .csv.zip" * path.is_file()
            raise ValueError(f"{path} must have one file NAME{_EDGES}, got {len(roots)}{how}")
        self._path, self._prefix = path, roots[0].removesuffix(_EDGES)

    def name(self, name: str) -> str:
        """Return the file's name for errors."""
        return f"{self._path}: {self._prefix}_{name}.txt"

    def table(self, name: str, dtype: type = int) -> np.ndarray | None:
        """Return the numbers of a file, shape (lines, columns), or None without that file."""
        text = self._texts.get(f"{self._prefix}_{name}.txt")
        if text is None:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a file without lines
            try:
                return np.loadtxt(io.BytesIO(text), dtype, delimiter=",", ndmin=2, comments=None)
            except ValueError as error:
                raise ValueError(f"{self.name(name)}: {error}") from None

    def need(self, name: str) -> Any:
        """Return the numbers of a file that must be there."""
        table = self.table(name)
        if table is None:
            raise ValueError(f"{self.name(name)} is missing")
        width = 2 if name == "A" else 1
        if table.size and table.shape[1] != width:
            raise ValueError(f"{self.name(name)} has {table.shape[1]} columns, not {width}")
        return table.reshape(-1, width)

    def check(self, name: str, wrong: np.ndarray, problem: str) -> None:
        """Refuse the first line that is wrong."""
        lines = np.flatnonzero(wrong)
        if lines.size:
            line = self.need(name)[lines[0]].tolist()
            raise ValueError(f"{self.name(name)}, line {lines[0] + 1}: {line} {problem}")


def _single(table: np.ndarray) -> np.ndarray:
    """Return one label for each row: a number, or text for several numbers."""
    if table.shape[1] == 1:
        return table[:, 0]
    return np.array([",".join(map(str, row)) for row in table.tolist()])
