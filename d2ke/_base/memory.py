# SPDX-License-Identifier: BSD-3-Clause
"""What each public function takes at most: the formulas, and the check before it starts.

Each module states the formulas of its functions with `needs`. Functions check themselves by
them, `max_memory` is compared with them, docs/memory.md shows them, and tests measure them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from d2ke._base import limits
from d2ke._base.checks import byte_count

# Beside every formula: blocks of rows, compiled kernels' scratch, what an allocator keeps.
SPARE = 1 << 25
# A smaller need is not compared with the available memory: asking the system takes 0.1 ms.
_SMALL = 1 << 26
_MIB = 1 << 20


@dataclass(frozen=True)
class Need:
    """A row of the table.

    Attributes
    ----------
    functions : tuple of str
        The public functions that it is about.
    case : str
        The arguments for which it holds, where that depends on them.
    formula : str
        Bytes above the inputs, the result included, such as ``"8 n m + 16 n^2"``.
    advice : str
        What to do where that is too much.
    """

    functions: tuple[str, ...]
    case: str
    formula: str
    advice: str = ""


SYMBOLS = {
    "n": "objects (X, training objects), rows of the first matrix, faces of a mesh; `align`: "
    "vectors or letters of x",
    "m": "objects of Y (omega, new objects), or rows of a second matrix; columns of a Gram matrix; "
    "`align`: vectors or letters of y",
    "R": "features: columns of Z, random objects, dimensions",
    "d": "coordinates of a point",
    "k": "classes or clusters; of `svmpredict` pairs of classes; of `nearest` neighbours",
    "b": "bytes of a value of the array that is made: 8 for float64, 4 for float32",
    "C": "values of C times those of R and of scaling",
    "D": "`search`: bytes of the distances that it computes or reads into memory (for features: of "
    "two p(omega), and a copy to find the median); 0 with a folder",
    "K": "`search`: classes times folds that are solved together, as many as take 256 MiB",
    "Z": "`search`: 16 n R where features are held (without a folder, or if max_memory has room), "
    "else 0; if n < R, 16 n^2 + 8 n R more",
    "c": "8 where an array that is not float64 is copied to float64, else 0",
    "N": "numbers or letters in all objects (of points: coordinates, and what they carry besides a "
    "weight)",
    "V": "vectors in all objects; points of all sets",
    "W": "what the kernels make of the objects: 32 for each object, and for strings 12 for each "
    "letter, or for `jaccard` 48 and 16 more for each object; for vectors 12 for each one, or for "
    "`emd` and `kernel` 24 for each number and 40 for each vector, or for the elastic distances "
    "but `dtw` 24 for each number and 40 for each vector of a series that has one vector and one "
    'channel more, or for `dtw` with missing="arow" 9 more for each number and 10 for each vector; '
    "and for float32 8 more for each number",
    "G": "for each set of X, its points divided by 64, rounded up; the sum of these",
    "T": "threads",
    "f": "folds of the cross-validation",
    "H": "rows of a fold",
    "B": "bytes of a block of rows, at most 64 MiB; `search`: with the scores of its rows",
    "J": "an index of strings: 120 (radius + 1) m, or 1320 m for `nearest`, but no more than a "
    "fourth of max_memory, or half of what is available; envelopes of series: 8 (n + m) for each "
    "number of the longest one and 8 N, or 0 where that is more than a fourth; a table of at most "
    "32 pivots: 24 (n + m) for each",
    "L": "the smaller of 4096 and the number of rows (`kernel_standard_error`, `kernel_error`: of "
    "1024 and R)",
    "P": "R if it is at most 2500, else 0",
    "Q": "LIBSVM's cache: the smaller of option `-m` (100 MiB) and 4 n^2",
    "E": "entries that are stored of a sparse matrix",
    "M": "`search`: the smaller of n and R; `markov_strings`: letters of X (N: those drawn)",
    "q": "negative eigenvalues",
    "r": "oriented=False: d (d + 1) / 2, else 0; `mesh`: with d (d - 1) / 2 in place of d, and "
    "oriented=True in more than 3 dimensions: d (d - 1) / 2",
    "s": "support vectors; bytes of a label",
    "S": "samples of a curve or a surface",
    "F": "bytes of the file, or of the values that it holds if these are more",
    "MiB": "2^20",
}

NEEDS: list[Need] = []
_ROWS: dict[tuple[str, str], Need] = {}


def needs(functions: str, cases: str | dict[str, str], advice: str = "") -> None:
    """State what functions take: one formula, or one for each case.

    Called beside the functions, when their module is imported.
    """
    names = tuple(functions.split(", "))
    for case, formula in ({"": cases} if isinstance(cases, str) else cases).items():
        need = Need(names, case, formula, advice)
        NEEDS.append(need)
        _ROWS.update({(name, case): need for name in names})


def formula_of(function: str, case: str = "") -> Need:
    """Return the row of a function, in one of its cases."""
    return _ROWS[function, case]


@cache
def terms(formula: str) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Return the terms of a formula: a number, and the symbols that it is multiplied with."""
    result = []
    for term in formula.split(" + "):
        number, symbols = 1, []
        for factor in term.split():
            symbol, _, power = factor.partition("^")
            if symbol.isdigit():
                number *= int(symbol)
            elif symbol == "MiB":
                number *= _MIB
            else:
                symbols += [symbol] * int(power or 1)
        result.append((number, tuple(symbols)))
    return tuple(result)


def bytes_needed(function: str, case: str = "", **sizes: int) -> int:
    """Return what a call takes at most above its inputs, by the sizes that its formula names."""
    total = 0
    for number, symbols in terms(formula_of(function, case).formula):
        for symbol in symbols:
            number *= int(sizes[symbol])
        total += number
    return total


def copied_bytes(dtype: Any) -> int:
    """Return c: bytes of a value of the copy in float64, if one is made."""
    return 0 if dtype == "float64" else 8


def require_memory(function: str, case: str = "", **sizes: int) -> int:
    """Raise a MemoryError if a call takes more than is available; return the bytes it takes."""
    needed = bytes_needed(function, case, **sizes)
    if needed > _SMALL:
        available = limits.available_memory()
        if available is not None and needed + SPARE > available:
            raise MemoryError(_refusal(formula_of(function, case), function, sizes, needed,
                                       available))  # fmt: skip
    return needed


def _refusal(need: Need, function: str, sizes: dict[str, Any], needed: int, available: int) -> str:
    named = dict.fromkeys(symbol for _, symbols in terms(need.formula) for symbol in symbols)
    values = ", ".join(f"{symbol} = {sizes[symbol]}" for symbol in named)
    case = f" ({need.case})" if need.case else ""
    advice = f"; {need.advice}" if need.advice else ""
    return (
        f"{function}{case} takes up to {needed + SPARE} bytes ({readable(needed + SPARE)}) above "
        f"its inputs, {need.formula} + 32 MiB with {values}, but {readable(available)} are "
        f"available{advice}"
    )


def check_limit(max_memory: Any, needed: int, what: str, advice: str = "") -> None:
    """Refuse what takes more bytes than `max_memory` allows."""
    if max_memory is not None:
        limit = byte_count("max_memory", max_memory)
        if needed > limit:
            advice = f"; {advice}" if advice else ""
            raise ValueError(f"max_memory is {limit} bytes, but {what} take about {needed}{advice}")


def readable(count: int) -> str:
    """Return a number of bytes in the unit that suits it."""
    value, unit = float(count), "bytes"
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if abs(value) < 1000 or unit == "PB":
            break
        value /= 1000
    return f"{value:.3g} {unit}"


def markdown() -> str:
    """Return the table of all modules that are imported, as docs/memory.md shows it."""
    rows = ["| function | bytes above the inputs |", "|---|---|"]
    for need in sorted(NEEDS, key=lambda need: (need.functions[0].lower(), need.case)):
        names = ", ".join(f"`{name}`" for name in need.functions)
        case = f" ({need.case})" if need.case else ""
        rows.append(f"| {names}{case} | {need.formula} |")
    rows += ["", "| symbol | stands for |", "|---|---|"]
    rows += [f"| {symbol} | {meaning} |" for symbol, meaning in SYMBOLS.items()]
    return "\n".join(rows) + "\n"
