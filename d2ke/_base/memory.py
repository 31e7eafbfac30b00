# SPDX-License-Identifier: BSD-3-Clause
"""What each public function takes at most: the formulas, and the check before it starts.

The table below is the only place of the formulas. Functions check themselves by it,
`max_memory` is compared with it, docs/memory.md shows it, and tests measure it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from d2ke._base import system_memory
from d2ke._base.checks import byte_count

# Beside every formula: blocks of rows, compiled kernels' scratch, what an allocator keeps.
SPARE = 1 << 25
# What takes less is not compared with what there is: asking the system costs 0.1 ms.
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
    "n": "objects (X, training objects), rows of the first matrix, faces of a mesh",
    "m": "objects of Y (omega, new objects), or rows of a second matrix; columns of a Gram matrix",
    "R": "features: columns of Z, random objects, dimensions",
    "d": "coordinates of a point",
    "k": "classes or clusters; of `svmpredict` pairs of classes",
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
    "letter; for vectors 12 for each one, or for `emd` and `kernel` 24 for each number and 40 for "
    "each vector, and for float32 8 more for each number",
    "G": "for each set of X, its points divided by 64, rounded up; the sum of these",
    "T": "threads",
    "f": "folds of the cross-validation",
    "H": "rows of a fold",
    "B": "bytes of a block of rows, at most 64 MiB; `search`: with the scores of its rows",
    "L": "the smaller of 4096 and the number of rows (`kernel_standard_error`, `kernel_error`: of "
    "1024 and R)",
    "P": "R if it is at most 2500, else 0",
    "Q": "LIBSVM's cache: the smaller of option `-m` (100 MiB) and 4 n^2",
    "E": "entries that are stored of a sparse matrix",
    "M": "`search`: the smaller of n and R; `markov_strings`: letters of X (N: those drawn)",
    "q": "negative eigenvalues",
    "r": "oriented=False: d (d + 1) / 2, else 0",
    "s": "support vectors; bytes of a label",
    "S": "samples of a curve or a surface",
    "F": "bytes of the file, or of the values that it holds if these are more",
    "MiB": "2^20",
}

_STORE = "give a path as out, with max_memory, and blocks of rows go to that file"
_SINGLE = "float32 objects (or dtype=float32) halve it"
_OUT = f"{_STORE}; {_SINGLE}"
_GRAM = "work with the features themselves, not with their Gram matrix, or with fewer objects"
_FEWER = "take fewer objects"
_FEATURES = f"give features in the place of K or points, or {_FEWER}"
_SEARCH = "a folder for the distances; a part of the objects, fewer threads, or a smaller R"
_BLOCK = 'solver="block" makes no copy; fewer features'

NEEDS = (
    Need(("distance_matrix", "d2ke_embed", "rsm_embed"), "", "b n m + W", _OUT),
    Need(("distance_matrix", "d2ke_embed", "rsm_embed"), "out is an array", "W",
         "X can be given in parts, each with its rows of out"),
    Need(("distance_matrix", "d2ke_embed", "rsm_embed"), "out is a path",
         "3 B + W + 16 MiB + 1 MiB T", "max_memory makes the blocks smaller"),
    Need(("d2ke_features",), "", "b n R", "out=D works in place"),
    Need(("d2ke_features",), "rows of D that are not contiguous", "2 b n R",
         "give a C-contiguous D, whose out=D works in place"),
    Need(("d2ke_gram",), "Y is None", "b n^2 + b n R + W", _GRAM),
    Need(("d2ke_gram",), "with Y", "b n m + b n R + b m R + W", _GRAM),
    Need(("dsk_gram",), "", "b n m", _FEWER),
    Need(("dsk_gram",), "repair by name", "b n^2 + 32 n^2 + c n^2", _FEWER),
    Need(("dsk_gram",), "repair is a SpectrumRepair", "b n m + 16 n m + 16 n q + c n m",
         "give the rows in parts"),
    Need(("SpectrumRepair.fit",), "", "32 n^2 + c n^2", _FEWER),
    Need(("SpectrumRepair.apply",), "", "16 n m + 16 n q + c n m", "give the rows in parts"),
    Need(("gdk_led",), "", "40 n^2", f"{_FEWER}, or R of at most n / 10"),
    Need(("gdk_led",), "R <= n / 10, n > 1000", "8 n^2 + c n^2 + 48 n R + 160 n", _FEWER),
    Need(("PseudoEuclidean.project",), "", "8 n m + 8 n R", "give the rows in parts"),
    Need(("gaussian_gram",), "", "8 n m + 16 n d + 16 m d", _FEWER),
    Need(("gaussian_gram",), "h is None", "8 n m + 16 n d + 16 m d + 8192 n", _FEWER),
    Need(("bandwidth",), "", "8 n d + 8192 n", "take fewer points"),
    Need(("psd_split",), "", "32 n^2 + c n^2", _FEWER),
    Need(("kernel_error",), "", "24 MiB T + c n L T", "use fewer threads"),
    Need(("kernel_standard_error",), "", "24 n m + 8 n L + 8 m L", "take fewer rows"),
    Need(("select_features",), "", "9 n k", "take fewer rows"),
    Need(("simplex_qp",), "", "c n^2", "give H as float64"),
    Need(("simplex_qp",), "H is not C-contiguous", "8 n^2 + c n^2", "give H in C order"),
    Need(("cdsk", "lpdsk"), "K", "40 n^2 + c n^2 + 2560 n + 160 n k", _FEATURES),
    Need(("cdsk", "lpdsk"), 'K, similarity="general"', "48 n^2 + c n^2 + 2560 n + 160 n k",
         _FEWER),
    Need(("cdsk", "lpdsk"), "points", "48 n^2 + 32 n d + 10752 n + 160 n k", _FEATURES),
    Need(("cdsk", "lpdsk"), 'points, risk="ise"', "56 n^2 + 32 n d + 10752 n + 160 n k",
         _FEATURES),
    Need(("cdsk",), "features", "40 n R + 40 R^2 + 2560 n + 160 n k",
         "take fewer features or objects"),
    Need(("lpdsk",), "features", "64 n R + 128 R^2 + 160 n k", "take fewer features or objects"),
    Need(("kernel_classifier_fit",), "K", "9 n^2 + c n^2 + 16 n k", "train on features"),
    Need(("kernel_classifier_fit",), 'K, similarity="general"', "32 n^2 + c n^2 + 16 n k", _FEWER),
    Need(("kernel_classifier_fit",), "features", "24 n R + 40 R^2 + 16 n k",
         "take fewer features or objects"),
    Need(("kernel_classifier_predict",), "", "8 n k + c n m", "give the rows in parts"),
    Need(("similarity_machine_fit",), "", "32 n^2 + c n^2 + Q + 32 n k", _FEWER),
    Need(("similarity_machine_predict",), "", "16 n k + c n m", "give the rows in parts"),
    Need(("kernel_risk_bound", "kernel_similarity_bound"), "", "c n^2 + 32 n k", _FEWER),
    Need(("similarity_risk_bound",), "", "32 n^2 + c n^2 + 32 n k", _FEWER),
    Need(("density_error_bound",), "", "16 n^2 + 32 n d", "take fewer points"),
    Need(("clustering_accuracy", "normalized_mutual_information"), "", "32 n + 3 n s"),
    Need(("train",), 'solver="liblinear"', "16 n R + 64 n + 96 n T", _BLOCK),
    Need(("train",), 'solver="liblinear", a feature store', "16 n R + 64 n + 96 n T + 64 MiB",
         _BLOCK),
    Need(("train",), 'solver="liblinear", sparse', "44 E + 64 n + 96 n T",
         "take fewer features"),
    Need(("train", "train_classifier"), 'solver="block"',
         "112 n k + c n R + 24 R P + 8 L R + 320 R k + 8 MiB T", "take fewer rows or features"),
    Need(("train", "train_classifier"), 'solver="block", a feature store',
         "112 n k + 24 R P + 24 L R + 320 R k + 8 MiB T + 32 MiB", "take fewer rows or features"),
    Need(("train_least_squares", "train_classifier"), "R < n", "16 R^2 + 16 L R + 16 n k + 32 R k",
         "take fewer features"),
    Need(("train_least_squares", "train_classifier"), "R >= n", "17 n^2 + 8 n L + 32 n k + 16 R k",
         "take fewer rows"),
    Need(("train_least_squares", "train_classifier"), "R >= n, a feature store",
         "17 n^2 + 8 n L + 32 n k + 16 R k + b n R", "take fewer rows"),
    Need(("predict",), "", "8 n k + 32 n", "give the rows in parts"),
    Need(("predict",), "probability=True", "32 n k + 32 n", "give the rows in parts"),
    Need(("svmtrain",), "-t 4", "16 n^2 + Q + 64 n + 16 n k", "train a linear model on features"),
    Need(("svmtrain",), "-t 0, 1, 2, 3", "16 n R + b n R + Q + 64 n + 16 n k",
         "train a linear model on features"),
    Need(("svmtrain",), "-t 0, 1, 2, 3, sparse", "56 E + Q + 64 n + 16 n k",
         "train a linear model on features"),
    Need(("svmpredict",), "-t 4", "b n s + c n s + 24 n k", "give the rows in parts"),
    Need(("svmpredict",), "-t 0, 1, 2, 3", "32 n s + c n R + 24 n k", "give the rows in parts"),
    Need(("knn_predict",), "", "16 m + 48 n"),
    Need(("search",), '"d2ke", "rsm": blocks of the hat matrix',
         "D + 40 n R T + 48 M^2 T + 32 H^2 T + W", _SEARCH),
    Need(("search",), '"d2ke", "rsm": sums of products',
         "D + 8 R^2 f + 56 R^2 T + 16 R k f C + 4 B + 2 B T + W", _SEARCH),
    Need(("search",), '"d2ke", "rsm": squared hinge loss',
         "D + Z + 112 n K + 24 M P + 24 L M + 320 M K + 8 MiB T + 32 MiB + W", _SEARCH),
    Need(("search",), '"knn"', "D + 64 n + 64 MiB + W", "give a part of the objects"),
    Need(("search",), '"dsk_rbf", "dsk_nd"', "D + 16 n^2 + 24 n^2 T + Q T + W",
         "give a part of the objects, or fewer threads"),
    Need(("search",), '"gdk_led"', "D + 40 n^2 + 64 n R + 32 H^2 + 112 n K + W",
         "give a part of the objects"),
    Need(("kernel_distance_matrix", "kernel_neighbors"), 'method="exact"',
         "24 n m + 16 G m + 48 N + 64 V + 1024 n + 1024 m", _FEWER),
    Need(("kernel_distance_matrix", "kernel_neighbors"), 'method="rff", "ifgt", "auto"',
         "24 n m + 16 n R + 16 m R + 64 N + 96 V + 1024 n + 1024 m", _FEWER),
    Need(("kernel_distance_matrix", "kernel_neighbors"), 'kernel="linear", "trivial"',
         "8 n m + 80 N + 160 V + 1024 n + 1024 m", _FEWER),
    Need(("kernel_features", "KernelFeatureMap"), "",
         "16 n R + 12 d R + 64 N + 96 V + 1024 n + 32 MiB", "a larger eps, or fewer n_features"),
    Need(("kernel_feature_map",), "", "12 d R + 48 N + 64 V + 1024 n",
         "a larger eps, or fewer n_features"),
    Need(("kernel_norm",), "", "24 N + 64 V + 32 MiB"),
    Need(("kernel_distance",), "", "48 N + 96 V + 32 MiB"),
    Need(("kernel_coreset",), "", "48 N + 112 V + 16 MiB"),
    Need(("kernel_align",), "", "64 N + 160 V + 512 MiB"),
    Need(("curve",), "", "48 d S + 24 r S + 32 S", "a larger gap, or fewer n_samples"),
    Need(("mesh",), "", "288 S + 40 r S", "a larger gap"),
    Need(("mesh",), "n_samples", "320 n + 128 S + 40 r S", "fewer n_samples"),
    Need(("random_series",), "", "13 N + 16 n", "fewer or shorter objects"),
    Need(("random_sets",), "", "18 N + 16 n", "fewer or smaller sets"),
    Need(("random_strings",), "", "12 N + 16 n", "fewer or shorter objects"),
    Need(("random_segments",), "", "18 N + 64 n", "fewer or shorter objects"),
    Need(("markov_strings",), "", "18 N + 96 M + 64 n", "fewer or shorter objects"),
    Need(("resampled_sets",), "", "17 N + 16 n", "fewer or smaller sets"),
    Need(("representatives",), "", "16 N + b N + 64 n", "fewer objects"),
    Need(("concatenate",), "vectors", "b N + 16 n"),
    Need(("concatenate",), "strings", "18 N + 16 n"),
    Need(("pack",), "vectors", "N + b N + c N + 256 n"),
    Need(("pack",), "str, bytes", "12 N + 64 n"),
    Need(("pack",), "sequences of integers", "72 N + 256 n"),
    Need(("Scaling.fit",), "", "16 L R"),
    Need(("Scaling.apply",), "", "b n R + 16 L R", "a feature store is read by blocks"),
    Need(("load_features",), "", "b n R + 64 n", "read a part, or use open_features"),
    Need(("save_features",), "", "64 n"),
    Need(("load_mat", "load_objects", "save_mat"), "", "3 F"),
    Need(("load_model",), "", "F"),
    Need(("load_search",), "", "12 F"),
    Need(("distance_names", "effective_dimension", "features_needed", "show_config",
          "open_features", "save_model"), "", "MiB"),
)  # fmt: skip


def formula_of(function: str, case: str = "") -> Need:
    """Return the row of a function, in one of its cases."""
    return _rows()[function, case]


@cache
def _rows() -> dict[tuple[str, str], Need]:
    return {(name, need.case): need for need in NEEDS for name in need.functions}


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


def kernels_bytes(
    distance: Any, kind: str, n_values: int, n_vectors: int, n_objects: int, single: bool
) -> int:
    """Return W: what a distance's kernels make of so many letters, or numbers and vectors."""
    if kind == "strings":
        each = 12 * n_values
    elif distance in ("emd", "kernel"):
        each = (32 if single else 24) * n_values + 40 * n_vectors
    else:
        each = (8 if single else 0) * n_values + 12 * n_vectors
    return each + 32 * n_objects


def copied_bytes(dtype: Any) -> int:
    """Return c: bytes of a value of the copy in float64, if one is made."""
    return 0 if dtype == "float64" else 8


def require_memory(function: str, case: str = "", **sizes: int) -> int:
    """Raise a MemoryError if a call takes more than there is; return what it takes."""
    needed = bytes_needed(function, case, **sizes)
    if needed > _SMALL:
        available = system_memory.available_memory()
        if available is not None and needed + SPARE > available:
            raise MemoryError(_refusal(formula_of(function, case), function, sizes, needed,
                                       available))  # fmt: skip
    return needed


def _refusal(need: Need, function: str, sizes: dict, needed: int, available: int) -> str:
    named = dict.fromkeys(symbol for _, symbols in terms(need.formula) for symbol in symbols)
    given = ", ".join(f"{symbol} = {sizes[symbol]}" for symbol in named)
    case = f" ({need.case})" if need.case else ""
    advice = f"; {need.advice}" if need.advice else ""
    return (
        f"{function}{case} takes up to {needed + SPARE} bytes ({readable(needed + SPARE)}) above "
        f"its inputs, {need.formula} + 32 MiB with {given}, but {readable(available)} are "
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
    """Return the table as docs/memory.md shows it."""
    rows = ["| function | bytes above the inputs |", "|---|---|"]
    for need in NEEDS:
        names = ", ".join(f"`{name}`" for name in need.functions)
        case = f" ({need.case})" if need.case else ""
        rows.append(f"| {names}{case} | {need.formula} |")
    rows += ["", "| symbol | stands for |", "|---|---|"]
    rows += [f"| {symbol} | {meaning} |" for symbol, meaning in SYMBOLS.items()]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(markdown(), end="")
