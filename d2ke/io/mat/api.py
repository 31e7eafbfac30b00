# SPDX-License-Identifier: BSD-3-Clause
"""Read and write MATLAB's `.mat` files of every version, by one rule for types and shapes.

================================  ============================================================
MATLAB                            Python (``squeeze=False``)
================================  ============================================================
double, single, int8 ... uint64   ndarray of that dtype, of MATLAB's shape: at least 2-D
complex double, single            ndarray of complex128, complex64 (complex integers:
                                  complex128)
logical                           ndarray of bool
char, 1 x n or 0 x 0              str
char, of any other shape          ndarray of str, one for each row: m x n is of shape (m,)
cell                              ndarray of object, of MATLAB's shape; also 1 x 1 and empty
struct, 1 x 1                     dict
struct, of any other shape        structured ndarray of MATLAB's shape: ``s["field"]`` is
                                  the array of the field's values, ``s[0, 1]["field"]`` one
sparse                            scipy.sparse.csc_array of float64, complex128 or bool
string, datetime, table, ...       see `docs/mat_io.md`
function handle, other objects    `Unreadable`, with name, class and reason
================================  ============================================================

The type depends on MATLAB's class, and for char and struct on being 1 x something; never on
how many elements there are otherwise. What is read is written back as it was.

The tests compare with `scipy.io`, which reads most files of the versions 4 to 7 correctly. It is
not used here, because it changes some values silently, and because a check of a damaged file must
decode it anyway. h5py does the work for version 7.3. `docs/mat_io.md` has the measurements, also of
pymatreader, mat73 and hdf5storage, of which none is used.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

import numpy as np

from d2ke._base.checks import choice, file_path, flag
from d2ke._base.damage import Damaged, damage
from d2ke._base.files import atomic_write, open_file
from d2ke._base.keywords import hinted
from d2ke.io.mat import v4, v5, v73
from d2ke.io.mat.errors import MatFileError, Unreadable
from d2ke.io.mat.mcos import Subsystem
from d2ke.io.mat.values import to_python, variable_nodes
from d2ke.objects.container import Objects
from d2ke.objects.kinds import KINDS
from d2ke.objects.layouts import Layout
from d2ke.objects.packing import pack, pack_items


@hinted
def load_mat(
    file: str | os.PathLike[str], names: str | Sequence[str] | None = None, *, squeeze: bool = False
) -> dict[str, Any]:
    """Read variables of a MAT-file of any version.

    Parameters
    ----------
    file : str or path
        The file, of version 4, 5, 6, 7 or 7.3.
    names : str or sequence of str, optional
        The variables to read; all by default. The values of others are not read.
    squeeze : bool
        False: MATLAB's shapes, by the rule below, whatever the size. True:
        axes of length 1 are dropped, so that a 1 x 1 matrix is a numpy scalar
        and a column is 1-D; cells and struct arrays stay arrays of at least one
        axis, even those of one item.

    Returns
    -------
    dict
        Values by name:

        - numbers and logicals: ndarrays of MATLAB's class and shape, at least 2-D;
        - char of 1 x n or 0 x 0: str; of other shapes: ndarrays of str, one
          for each row;
        - cells: ndarrays of object, of MATLAB's shape, also those of one item;
        - structs of 1 x 1: dicts; struct arrays: structured ndarrays, of
          MATLAB's shape, with fields of object;
        - sparse: `scipy.sparse.csc_array`;
        - string, datetime, duration, categorical, table, timetable and enumerations: str, arrays
          and dicts, see `docs/mat_io.md`;
        - objects that only MATLAB can read, and damaged variables beside whole ones: `Unreadable`.

    Raises
    ------
    MatFileError
        The file is truncated, damaged or not a MAT-file, so that its variables are not known or
        none of those that are read is whole.
    ValueError
        `names` has a variable that the file does not.
    TypeError
        `names` is neither a str nor a sequence of them.
    FileNotFoundError
        If the file does not exist.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from d2ke.io import load_mat, save_mat
    >>> file = os.path.join(tempfile.mkdtemp(), "info.mat")
    >>> save_mat(file, {"info": {"sigma": 4.46, "name": "Gun_Point"}, "y": np.arange(3)})
    >>> info = load_mat(file)["info"]
    >>> info["name"], info["sigma"]
    ('Gun_Point', array([[4.46]]))
    >>> load_mat(file, "y", squeeze=True)
    {'y': array([0, 1, 2])}
    """
    path = file_path("file", file)
    return values_and_nodes(path, _checked_names(names), flag("squeeze", squeeze))[0]


def values_and_nodes(
    path: Path, names: list[str] | None = None, squeeze: bool = False
) -> tuple[dict[str, Any], dict[str, tuple[Any, ...]]]:
    """Return what `load_mat` does, and the nodes, of which `objects_of` makes objects."""
    with _named(path):
        present, nodes, system = _nodes(path, names)
    _check_present(path, names, present)
    with _named(path):
        return _values(nodes, present if names is None else names, squeeze, system), nodes


@hinted
def whos_mat(file: str | os.PathLike[str]) -> list[tuple[str, tuple[int, ...], str]]:
    """List the variables of a MAT-file of any version, without reading their values.

    Parameters
    ----------
    file : str or path
        The file, of version 4, 5, 6, 7 or 7.3.

    Returns
    -------
    list of (name, shape, class)
        In the order of the file: MATLAB's shape and class, such as ``"double"``, ``"logical"``,
        ``"cell"`` or ``"datetime"``; ``"sparse"`` for sparse matrices of numbers. The
        shape is () if the beginning of a variable does not have it, as of enumerations; a
        string array is one object of 1 x 1.

    Raises
    ------
    MatFileError
        The file is truncated, damaged or not a MAT-file.
    FileNotFoundError
        If the file does not exist.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from d2ke.io import save_mat, whos_mat
    >>> file = os.path.join(tempfile.mkdtemp(), "a.mat")
    >>> save_mat(file, {"x": np.zeros((3, 4)), "s": "text"})
    >>> whos_mat(file)
    [('x', (3, 4), 'double'), ('s', (1, 4), 'char')]
    """
    path = file_path("file", file)
    with _named(path), BufferedReader(open_file(path)) as opened:
        form = _format(path, opened.read(128))
        if form == "7.3":
            return v73.described(path)
        codec, listed = v4 if form == "4" else v5, []
        for name, entry in codec.variables(opened, path.stat().st_size):
            here = opened.tell()
            listed.append((name, *codec.described(opened, entry)))
            opened.seek(here)
        return listed


@hinted
def load_objects(
    file: str | os.PathLike[str],
    name: str,
    *,
    channels_first: bool | None = None,
    kind: str | None = None,
) -> Objects:
    """Read one variable of a MAT-file as packed objects.

    Parameters
    ----------
    file : str or path
        The file, of version 4, 5, 6, 7 or 7.3.
    name : str
        The variable: a row or a column cell of matrices (series or sets) or of
        char rows (strings), or an n x L matrix of n series of one channel and
        equal length.
    channels_first : bool, optional
        True: the matrices are d x L, channels in rows and time (or the elements of a
        set) in columns, as in the authors' cells. False: L x d. None, the default: as
        True, with a warning where every matrix has the same shape of more rows than
        columns, which is what L x d matrices of equal length look like.
    kind : {"series", "sets", "strings"}, optional
        ``"strings"`` is needed only for items that are rows or columns of
        integers, of any class, which stand for letters.

    Returns
    -------
    Objects
        The objects, packed as `d2ke.pack` does.

    Raises
    ------
    MatFileError
        The file is truncated, damaged or not a MAT-file.
    ValueError
        The file has no such variable; it or an item is of another form, or has NaN.
    TypeError
        Items that do not mix, or are not what `kind` says.
    FileNotFoundError
        If the file does not exist.

    Warns
    -----
    UserWarning
        Matrices that may be L x d, see `channels_first`.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from d2ke.io import load_objects, save_mat
    >>> file = os.path.join(tempfile.mkdtemp(), "auslan.mat")
    >>> save_mat(file, {"train_X": [np.zeros((22, 45)), np.ones((22, 136))], "s": ["AC", "G"]})
    >>> load_objects(file, "train_X")
    <2 series of 22-dimensional vectors, float64, lengths 45 to 136>
    >>> load_objects(file, "s")
    <2 strings over 3 letters, lengths 1 to 2>
    """
    path = file_path("file", file)
    if not isinstance(name, str):
        raise TypeError(f"name must be the name of one variable, got {name!r}")
    if kind is not None:
        choice("kind", kind, KINDS)
    layout = cell_layout(channels_first)
    with _named(path):
        present, nodes, _ = _nodes(path, [name])
    _check_present(path, [name], present)
    return objects_of(path, name, nodes[name], layout, kind)


def cell_layout(channels_first: bool | None) -> Layout:
    """Return the layout of a cell's matrices by the argument of `load_objects`."""
    explicit = channels_first is not None
    return Layout(not explicit or flag("channels_first", channels_first), explicit)


def objects_of(
    path: Path, name: str, node: tuple[Any, ...], layout: Layout, kind: str | None = None
) -> Objects:
    """Return a variable's node as packed objects; see `load_objects`."""
    where = f"{path}: {name}"
    if node[0] == "damaged":
        raise MatFileError(f"{path} cannot be read: {name}: {node[2]}")
    base = None if kind is None else KINDS[kind].base
    if node[0] != "cell":
        return _matrix_objects(node, where, kind)
    _, shape, nodes = node
    if len(shape) != 2 or 1 not in shape:
        raise ValueError(f"{where} is a cell of shape {shape}; a row or a column is needed")
    items = [_item(node, f"{name}{{{i + 1}}}", path, base) for i, node in enumerate(nodes)]
    if base == "strings" or (kind is None and items and isinstance(items[0], str)):
        return pack(items, kind=kind or "strings", name=where)
    return pack_items(items, layout, where, kind)


@hinted
def save_mat(
    file: str | os.PathLike[str],
    data: Mapping[str, Any],
    *,
    version: str = "5",
    compress: bool = True,
) -> None:
    """Write variables to a MAT-file that MATLAB loads; it is written whole or not at all.

    Parameters
    ----------
    file : str or path
        The file; replaced if it exists. Nothing is appended to the name.
    data : dict
        Values by name. Numbers become 1 x 1, and 1-D arrays rows (1 x n);
        Python's integers int64 (uint64 beyond it), str char rows, lists and
        tuples 1 x n cells, object arrays cells of their shape, dicts structs,
        structured arrays struct arrays of their shape, arrays of str char
        arrays (all rows of one length), scipy.sparse matrices sparse, and
        `Objects` n x 1 cells of d x L matrices or of char rows.
    version : {"5", "7.3"}
        ``"5"``: what ``save -v7`` writes (``-v6`` if not compressed); a variable
        takes less than 2 GB. ``"7.3"``: HDF5, without that limit.
    compress : bool
        Whether arrays are compressed, without loss.

    Raises
    ------
    ValueError
        A name that MATLAB does not accept (a letter, then letters, digits and
        ``_``, at most 63 in all; keywords); strings of different lengths in an
        array; integers beyond 64 bits; a variable of more than 2 GB in version 5.
    TypeError
        A value that no class of MATLAB can hold; the message has the path to it.

    Examples
    --------
    >>> import os, tempfile
    >>> from d2ke.io import load_mat, save_mat
    >>> file = os.path.join(tempfile.mkdtemp(), "a.mat")
    >>> save_mat(file, {"c": ["AC", 1.5]}, version="7.3")
    >>> load_mat(file)["c"]
    array([['AC', array([[1.5]])]], dtype=object)
    >>> save_mat(file, {"a": {"b": [1, None]}})
    Traceback (most recent call last):
    ...
    TypeError: save_mat: data['a']['b'][1] is None; MATLAB can hold numbers, ...
    """
    path = file_path("file", file)
    choice("version", version, ("5", "7.3"))
    compress = flag("compress", compress)
    try:
        nodes = variable_nodes(data)
        with atomic_write(path) as stream:
            (v73 if version == "7.3" else v5).write(stream, nodes, compress)
    except RecursionError:
        raise ValueError("save_mat: data is nested too deep") from None
    except (TypeError, ValueError) as error:
        raise type(error)(f"save_mat: {error}") from None


def _values(
    nodes: dict[str, tuple[Any, ...]], names: list[str], squeeze: bool, system: Subsystem
) -> dict[str, Any]:
    """Return the values; damaged ones are Unreadable, unless all are damaged."""
    values: dict[str, Any] = {}
    damaged = []
    for name in names:
        try:
            if nodes[name][0] == "damaged":
                raise Damaged(nodes[name][2])
            with damage():
                values[name] = to_python(nodes[name], name, squeeze, system)
        except Damaged as error:
            reason, kind = str(error), nodes[name][0]
            matlab_class = nodes[name][1] if kind == "damaged" else kind
            values[name] = Unreadable(name, matlab_class, f"damaged: {reason}")
            damaged.append(reason if reason.startswith(name) else f"{name}: {reason}")
    if damaged and len(damaged) == len(names):
        raise Damaged(damaged[0])
    return values


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Raise a MatFileError that names the file where its content is damaged."""
    try:
        with damage():
            yield
    except Damaged as error:
        raise MatFileError(f"{path} cannot be read: {error}") from None


def _checked_names(names: Any) -> list[str] | None:
    if names is None:
        return None
    if not isinstance(names, Iterable):
        raise TypeError(f"names must be a str or a sequence of str, got {names!r}")
    names = [names] if isinstance(names, str) else list(names)
    for i, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(f"names[{i}] must be a str, got {name!r}")
    return list(dict.fromkeys(names))


def _check_present(path: Path, selected: list[str] | None, present: list[str]) -> None:
    for name in selected or []:
        if name not in present:
            names = ", ".join(sorted(present)) or "no variable"
            raise ValueError(f"{path} has no variable {name!r}; it has {names}")


def _format(path: Path, head: bytes) -> str:
    if v73.is_hdf5(path):
        return "7.3"
    if len(head) < 20:
        raise Damaged(f"it has {len(head)} bytes, too few for a MAT-file")
    if 0 in head[:4]:  # text begins a file of version 5, a number below 5000 one of version 4
        return "4"
    if len(head) < 128 or head[126:128] not in (b"IM", b"MI"):
        raise Damaged("it does not begin like a MAT-file")
    major = head[125] if head[126:128] == b"IM" else head[124]
    if major == 1:
        return "5"
    if major == 2:
        raise Damaged("it is of version 7.3 but has no HDF5 in it")
    raise Damaged(f"it is of the unknown version {major}")


def _nodes(
    path: Path, selected: list[str] | None
) -> tuple[list[str], dict[str, tuple[Any, ...]], Subsystem]:
    """Return the names of all variables (as far as read), the chosen nodes, and the objects."""
    with BufferedReader(open_file(path)) as file:
        form = _format(path, file.read(128))
        if form != "7.3":
            codec = v4 if form == "4" else v5
            read = _old_nodes(file, path.stat().st_size, codec, selected)
            order = v5.byte_order(file) if form == "5" else "<"
            return *read, Subsystem(partial(_old_objects, path, form), order, to_python)
    present, nodes, objects = v73.read(path, selected)
    return present, nodes, Subsystem(lambda: objects, "<", to_python)


def _old_objects(path: Path, form: str) -> list[tuple[Any, ...]] | None:
    """Return the items of the cell that holds MATLAB's objects; version 4 has none."""
    if form == "4":
        return None
    with BufferedReader(open_file(path)) as file:
        return v5.subsystem(file, path.stat().st_size)


def _old_nodes(
    file: BinaryIO, size: int, codec: ModuleType, selected: list[str] | None
) -> tuple[list[str], dict[str, tuple[Any, ...]]]:
    """Read versions 4 to 7; the search ends with the last chosen variable."""
    entries: dict[str, tuple[Any, ...]] = {}
    for name, entry in codec.variables(file, size):
        if name in entries:
            raise Damaged(f"it has two variables {name}")
        entries[name] = entry
        position = file.tell()
        if selected is not None and entries.keys() >= {*selected}:
            break
        file.seek(position)
    nodes = {}
    for name in entries if selected is None else selected:
        if name in entries:
            try:
                with damage():
                    nodes[name] = codec.read(file, entries[name])
            except Damaged as error:
                nodes[name] = "damaged", codec.described(file, entries[name])[1], str(error)
    return list(entries), nodes


def _item(node: tuple[Any, ...], where: str, path: Path, kind: str | None) -> Any:
    """Return one object of a cell: a matrix, a str or, for strings, a vector of integers."""
    if node[0] == "char" and (node[1].shape[0] == 1 or node[1].size == 0):
        return to_python(("char", node[1].reshape(1, -1)), where, False)
    if node[0] == "array" and node[1].ndim == 2:
        return _letters(node[1], where, path) if kind == "strings" else node[1]
    value = to_python(node, where, False)
    if isinstance(value, Unreadable):
        what = value.reason
    else:
        what = node[0] + (f" of shape {node[1].shape}" if node[0] in ("array", "char") else "")
    raise ValueError(f"{path}: {where} is {what}; a matrix or one row of char is needed")


def _letters(values: np.ndarray, where: str, path: Path) -> np.ndarray:
    """Return a row or a column of integers, which MATLAB's users keep as double."""
    if values.size > max(values.shape):
        raise ValueError(f"{path}: {where} has shape {values.shape}; strings are rows or columns")
    values = values.ravel()
    if values.dtype.kind == "f":
        if not ((np.abs(values) <= 2**53).all() and (values % 1 == 0).all()):
            raise ValueError(f"{path}: {where} has numbers that are not integers")
        values = values.astype(np.int64)
    return values


def _matrix_objects(node: tuple[Any, ...], where: str, kind: str | None) -> Objects:
    is_text = kind is not None and KINDS[kind].base == "strings"
    if node[0] == "array" and node[1].ndim == 2 and not is_text:
        return pack(node[1], kind=kind, name=where)
    raise ValueError(
        f"{where} is {node[0]}, not a cell of matrices or of char rows, nor a matrix of series"
    )
