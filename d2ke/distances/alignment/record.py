# SPDX-License-Identifier: BSD-3-Clause
"""The record that `align` returns, and its text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.results import first_lines, result
from d2ke._ext import alignment

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# In the order of the compiled codes.
OPERATIONS = ("equal", "replace", "delete", "insert", "transpose")
_MAX_PRINTED = 20  # lines


@result
class Operations:
    """The k edit operations that turn x, or a part of it, into y, in order.

    Attributes
    ----------
    op : ndarray of str, shape (k,)
        "equal", "replace", "delete", "insert" or "transpose". A transposition is two operations,
        one for each letter; edits between the two letters are listed between them.
    i, j : ndarray of int64, shape (k,)
        Positions of the letters in x and in y. For an insertion, y[j] is inserted before x[i]. For
        a deletion, j is the position in y where x[i] would be.
    """

    op: np.ndarray
    i: np.ndarray
    j: np.ndarray

    def __post_init__(self) -> None:
        _freeze(self.op, self.i, self.j)

    def __len__(self) -> int:
        return len(self.op)

    def __str__(self) -> str:
        """Write a line for each run of the same operation."""
        crossed = self.op == "transpose"
        edges = np.flatnonzero((self.op[1:] != self.op[:-1]) | crossed[1:]) + 1
        lines = []
        later = self.i[crossed][1::2].tolist()  # of two letters that change places
        for first, end in pairwise([0, *edges, len(self)] if len(self) else []):
            op, i, j = self.op[first], self.i[first], self.j[first]
            x, y = (
                f"{name}[{at}]" if end == first + 1 else f"{name}[{at}:{at + end - first}]"
                for name, at in (("x", i), ("y", j))
            )
            if op == "transpose":
                if i != later[0]:
                    lines.append(f"transpose x[{i}] and x[{later[0]}]")
                else:
                    later.pop(0)
            elif op == "delete":
                lines.append(f"delete  {x}")
            elif op == "insert":
                lines.append(f"insert  {y} before x[{i}]")
            else:
                lines.append(f"{op:7} {x} {'by' if op == 'replace' else 'to'} {y}")
        return "\n".join(first_lines(lines, _MAX_PRINTED))


@result
class Words:
    """The k gapped words that x and y share; words of the most letters come first.

    Attributes
    ----------
    word : list of str
        The words, with a dot for each wildcard; tokens have spaces between them.
    mask : list of tuple of int
        The positions of each word's letters in its windows, from 0.
    counts : ndarray of int64, shape (k, 2)
        How many windows of x and of y have the word.
    is_reversed : ndarray of bool, shape (k, 2)
        Whether the first window with the word is in the reverse complement, where the word is
        read backwards from the position in `Alignment.pairs`.
    """

    word: list[str]
    mask: list[tuple[int, ...]]
    counts: np.ndarray
    is_reversed: np.ndarray

    def __post_init__(self) -> None:
        _freeze(self.counts, self.is_reversed)

    def __len__(self) -> int:
        return len(self.word)


@dataclass(frozen=True, eq=False, repr=False)
class Alignment:
    """An alignment of an object x with an object y, and its cost.

    Attributes
    ----------
    distance : str
        The distance's name.
    params : dict
        Its parameters, as they were passed.
    x, y : ndarray, str or bytes
        The two objects.
    value : float
        The distance, exactly as in `distance_matrix`.
    pairs : ndarray of int64, shape (k, 2)
        Matched positions in x and in y. Series: the cells of the path, in order; of ``"window"``
        the vectors of the nearest window of x. Operations: the letters (or vectors) of each, or
        -1; transposed letters with the letters that they become. ``"jaccard"`` and ``"bag"``: the
        first positions of each letter. ``"gapped"``: the first letters of the first windows that
        have a word. ``"emd"``: the vectors between which weight moves. Sets: each
        vector of x and the nearest one of y, then, if the distance is not directed, the nearest
        vector of x to each one of y.
    costs : ndarray, shape (k,)
        The ground distance of each pair (squared with ``ground="sqeuclidean"``), or what each step
        or operation adds; ``"lcss"``: -1 for a pair; ``"gapped"``: what a shared word adds to the
        square of the distance, less than 0. float32 for ``"dtw"`` of such series.
    masses : ndarray of float64, shape (k,), or None
        ``"emd"``: the mass that moves along each pair, 1 in all.
    operations : Operations or None
        Edit distances of strings, and ``"erp"``, ``"edr"``, ``"lcss"``: the edit operations.
    maximum : int or None
        Sets and ``"frechet"``: the row of `pairs` of the largest cost, which is the distance for
        Hausdorff and Frechet.
    words : Words or None
        ``"gapped"``: the shared words, one for each pair.

    Examples
    --------
    >>> import d2ke
    >>> print(d2ke.align("kitten", "sitting"))
    levenshtein 3.0
    kitten-
     ||| |
    sitting
    """

    distance: str
    params: dict[str, Any]
    x: Any
    y: Any
    value: float
    pairs: np.ndarray
    costs: np.ndarray
    masses: np.ndarray | None = None
    operations: Operations | None = None
    maximum: int | None = None
    words: Words | None = None

    def __post_init__(self) -> None:
        _freeze(self.pairs, self.costs, self.masses)

    def __repr__(self) -> str:
        return f"<Alignment: {self.distance} {self.value}, {len(self.pairs)} pairs>"

    def __str__(self) -> str:
        """Write strings line by line, or the first pairs with their costs."""
        head = f"{self.distance} {self.value}"
        vectors = isinstance(self.x, np.ndarray) and self.x.ndim == 2
        letters = self.operations and not vectors
        lines = list(self._letters() if letters else self._rows())
        return "\n".join([head, *first_lines(lines, _MAX_PRINTED)])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the alignment with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            Vectors of two coordinates are drawn as points with a line for each pair, as wide as
            what goes along it. Series of one channel are drawn in two rows, with a line for
            each pair of the path and a circle where a vector is left out. Other pairs are drawn
            as positions in y against positions in x.

        Raises
        ------
        ImportError
            Without matplotlib, saying how to install it.

        Examples
        --------
        >>> import d2ke
        >>> axes = d2ke.align([0.0, 1, 2], [0.0, 2]).plot()  # doctest: +SKIP
        >>> axes.figure.savefig("path.png")  # doctest: +SKIP
        """
        from d2ke.plots.alignment import draw_alignment

        return draw_alignment(self, ax)

    def _letters(self) -> Iterator[str]:
        tokens = [_tokens(self.x), _tokens(self.y)]
        across = isinstance(self.x, (str, bytes)) and isinstance(self.y, (str, bytes))
        gap = "" if across else " "
        signs = dict(zip(OPERATIONS, "|   x", strict=True))
        line = 0
        rows: list[list[str]] = [[], [], []]
        operations = self.operations
        assert operations is not None
        steps = zip(
            *(side.tolist() for side in (operations.op, operations.i, operations.j)), strict=True
        )
        for op, i, j in steps:
            upper = "-" if op == "insert" else tokens[0](i)
            lower = "-" if op == "delete" else tokens[1](j)
            width = max(len(upper), len(lower))
            if line + width + len(gap) > 60:
                yield from self._flush(rows, gap)
                yield ""
                rows, line = [[], [], []], 0
            line += width + len(gap)
            for row, text in zip(rows, (upper, signs[op], lower), strict=True):
                row.append(text.ljust(width))
        yield from self._flush(rows, gap)

    @staticmethod
    def _flush(rows: list[list[str]], gap: str) -> Iterator[str]:
        return (gap.join(row).rstrip() for row in rows)

    def _rows(self) -> Iterator[str]:
        for k, (i, j) in enumerate(self.pairs.tolist()):
            mass = "" if self.masses is None else f"  mass {self.masses[k]:.6g}"
            mark = "  maximum" if k == self.maximum else ""
            items = " ".join(f"{name}[{at}]" for name, at in (("x", i), ("y", j)) if at >= 0)
            word = "" if self.words is None else f"  {self.words.word[k]}"
            yield f"{items}{word}{mass}  cost {self.costs[k]:.6g}{mark}"


def operations_of(codes: np.ndarray, start: int = 0) -> tuple[np.ndarray, Operations]:
    """Return the pairs and the `Operations` of compiled codes, from x[start] on."""
    in_x, in_y = codes != alignment.INSERT, codes != alignment.DELETE
    i = start + np.cumsum(in_x) - in_x
    j = np.cumsum(in_y) - in_y
    pairs = np.stack([np.where(in_x, i, -1), np.where(in_y, j, -1)], axis=1)
    crossed = np.flatnonzero(codes == alignment.TRANSPOSE).reshape(-1, 2)
    pairs[crossed, 1] = pairs[crossed[:, ::-1], 1]
    return pairs, Operations(np.array(OPERATIONS)[codes], i, j)


def _tokens(item: Any) -> Callable[[int], str]:
    """Return a function that maps a position to the printed text of its letter."""
    if isinstance(item, bytes):
        item = item.decode("latin-1")
    if isinstance(item, str):
        return lambda i: item[i] if item[i].isprintable() else "\N{REPLACEMENT CHARACTER}"
    return lambda i: str(item[i])


def _freeze(*arrays: np.ndarray | None) -> None:
    for array in arrays:
        if array is not None:
            array.setflags(write=False)
