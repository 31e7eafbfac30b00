# SPDX-License-Identifier: BSD-3-Clause
"""The costs of substitutions, insertions, deletions and gaps of an edit distance, by letters."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._ext import edits, strings
from d2ke.distances.distance import Distance
from d2ke.distances.string_rows import codes_of, common_letters, mode_or_local, not_empty
from d2ke.objects.container import Objects
from d2ke.objects.tokens import letters_of, symbols_of

_LARGEST = 1e200  # of a cost: sums of them are finite


@dataclass(frozen=True, eq=False)
class Costs:
    """Costs by classes of letters: a class for each named letter, and a last one for all others.

    Attributes
    ----------
    letters : tuple
        The named letters.
    substitution : ndarray, shape (classes, classes)
        The costs of a letter of x by another letter of y.
    single : ndarray, shape (5, classes)
        The costs of keeping a letter; of deleting it first and later in a run; of inserting it
        first and later in a run.
    has_others : bool
        Whether letters without a name have costs.
    affine : bool
        Whether the first letter of a run has a cost of its own.
    transposition : float
        The cost of exchanging two neighbouring letters; infinite without the operation.
    """

    letters: tuple[Any, ...]
    substitution: np.ndarray
    single: np.ndarray
    has_others: bool
    affine: bool
    transposition: float = math.inf

    @property
    def symmetric(self) -> bool:
        """True if exchanging x and y does not change the distance."""
        mirrored = np.array_equal(self.substitution, self.substitution.T)
        return mirrored and np.array_equal(self.single[1:3], self.single[3:5])

    def classes(self, alphabet: np.ndarray, letters: Any) -> np.ndarray:
        """Return the class of each letter of an alphabet of objects with such letters."""
        last = len(self.letters)
        classes = np.full(max(1, len(alphabet)), last, dtype=np.uint32)
        symbols, numbers_ = symbols_of(self.letters, letters)
        if len(symbols) and len(alphabet):
            order = np.argsort(symbols, kind="stable")
            ranks = np.searchsorted(symbols, alphabet, sorter=order)
            nearest = order[np.minimum(ranks, len(symbols) - 1)]
            has_cost = symbols[nearest] == alphabet
            classes[: len(has_cost)][has_cost] = numbers_[nearest][has_cost]
        return classes


class CostedLetters:
    """The letters of strings y, and all with costs of their own, as codes; a last code for others.

    Attributes
    ----------
    classes : ndarray of uint32
        The class of costs of each code.
    """

    def __init__(self, y: Objects, costs: Costs):
        symbols, _ = symbols_of(costs.letters, y.letters)
        self._alphabet = np.union1d(y.alphabet, symbols) if len(symbols) else y.alphabet
        classes = costs.classes(self._alphabet, y.letters)[: len(self._alphabet)]
        self.classes = np.append(classes, np.uint32(len(costs.letters)))

    def codes(self, objects: Objects) -> np.ndarray:
        """Return the codes of the letters of y, or of other strings."""
        codes = codes_of(objects.alphabet, self._alphabet).astype(np.uint32)
        return not_empty(codes[objects.values])


def cost(name: str, value: Any) -> float:
    """Check one cost."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise ArgumentTypeError(name, f"must be a number >= 0, got {value!r}")
    try:
        result = float(value)
    except OverflowError:  # an integer or a fraction
        result = math.inf
    if not 0 <= result <= _LARGEST:
        raise ArgumentError(name, f"must be a cost between 0 and {_LARGEST}, got {value}")
    return result


def no_cost_or_cost(name: str, value: Any) -> float | None:
    """Check one cost, or None."""
    return None if value is None else cost(name, value)


def letter_costs(name: str, value: Any) -> float | dict[Any, float]:
    """Check the cost of every letter, or a mapping of letters to costs; None: all others."""
    if not isinstance(value, Mapping):
        return cost(name, value)
    return {letter: cost(f"{name}[{letter!r}]", number) for letter, number in value.items()}


def pair_costs(name: str, value: Any) -> np.ndarray | dict[tuple[Any, ...], float] | None:
    """Check costs of pairs of letters: a mapping, or a square array."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        for pair in value:
            if not isinstance(pair, (tuple, str)) or len(pair) != 2:
                raise ArgumentTypeError(name, f"has the key {pair!r}; a pair of letters is needed")
        return {tuple(pair): cost(f"{name}[{pair!r}]", number) for pair, number in value.items()}
    array = np.asarray(value)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ArgumentError(name, f"must be a mapping or a square array, got shape {array.shape}")
    if array.dtype.kind not in "iuf":
        raise ArgumentTypeError(name, f"must hold numbers, got {array.dtype}")
    array = array.astype(np.float64)
    wrong = np.argwhere(~((array >= 0) & (array <= _LARGEST)))
    if len(wrong):
        i, j = wrong[0].tolist()
        raise ValueError(
            f"{name}[{i}, {j}] must be a cost between 0 and {_LARGEST}, got {array[i, j]}"
        )
    return array


def letters_in_order(name: str, value: Any) -> tuple[Any, ...] | None:
    """Check the letters of the rows of an array of costs."""
    if value is None:
        return None
    if not isinstance(value, (str, bytes, Sequence, np.ndarray)):
        raise ArgumentTypeError(name, f"must be a string or a sequence of letters, got {value!r}")
    letters = tuple(value.tolist() if isinstance(value, np.ndarray) else value)
    twice = [letter for i, letter in enumerate(letters) if letter in letters[:i]]
    if twice:
        raise ArgumentError(name, f"has the letter {twice[0]!r} twice")
    return letters


def checked_costs(**parameters: Any) -> dict[str, Any]:
    """Combine the checked parameters into one record of all costs."""
    insertion, deletion = parameters.get("insertion"), parameters.get("deletion")
    gaps = parameters.get("gap_open"), parameters.get("gap_extend")
    mode, transposition = parameters.get("mode", strings.GLOBAL), parameters.get("transposition")
    _check_gaps(gaps, insertion is not None or deletion is not None)
    if transposition is not None and (gaps[0] is not None or mode != strings.GLOBAL):
        raise TypeError("transposition goes with mode='global' and without gap_open")
    pairs, mismatch = _pairs(*map(parameters.get, ("substitution", "alphabet", "mismatch")))
    named = [letter for pair in pairs for letter in pair]
    for costs in (insertion, deletion):
        named += costs if isinstance(costs, dict) else ()
    letters = tuple(letter for letter in dict.fromkeys(named) if letter is not None)
    single = np.ones((5, len(letters) + 1))
    single[0] = [*(pairs.get((a, a), 0.0) for a in letters), 0.0]
    for row, costs in ((1, deletion), (3, insertion)):
        if isinstance(costs, dict):
            single[row] = [costs.get(letter, costs.get(None, 1.0)) for letter in (*letters, None)]
        elif costs is not None:
            single[row] = costs
        single[row + 1] = single[row]
    affine = gaps[0] is not None
    if affine:
        single[1::2], single[2::2] = gaps
    matrix = _matrix(pairs, letters, mismatch)
    swap = math.inf if transposition is None else transposition
    return {
        "costs": Costs(letters, matrix, single, mismatch is not None, affine, swap), "mode": mode
    }  # fmt: skip


def _check_gaps(gaps: tuple[float | None, float | None], has_single_costs: bool) -> None:
    opened, extended = gaps
    if opened is None and extended is None:
        return
    if opened is None or extended is None:
        raise TypeError("gap_open and gap_extend go together; one of them is missing")
    if has_single_costs:
        raise TypeError("insertion and deletion do not go with gap_open and gap_extend")
    if opened < extended:
        raise ValueError(
            f"gap_open is {opened} and gap_extend is {extended}; beginning a gap must not cost "
            "less than extending it"
        )


def _pairs(
    substitution: Any, alphabet: tuple[Any, ...] | None, mismatch: float | None
) -> tuple[dict[tuple[Any, ...], float], float | None]:
    """Return the costs of pairs of letters, and the cost of all other pairs."""
    if not isinstance(substitution, np.ndarray):
        if alphabet is not None:
            raise TypeError("alphabet goes with substitution as an array")
        if substitution is None:
            return {}, 1.0 if mismatch is None else mismatch
        return substitution, mismatch
    if alphabet is None or len(alphabet) != len(substitution):
        count = "none" if alphabet is None else len(alphabet)
        raise TypeError(
            f"substitution is an array of {len(substitution)} letters, which alphabet must name in "
            f"order; it has {count}"
        )
    rows = zip(alphabet, substitution.tolist(), strict=True)
    return {(a, b): w for a, row in rows for b, w in zip(alphabet, row, strict=True)}, mismatch


def _matrix(
    pairs: Mapping[tuple[Any, ...], float], letters: tuple[Any, ...], mismatch: float | None
) -> np.ndarray:
    """Return the costs of all pairs of classes; a pair stands for both orders."""
    K = len(letters)
    matrix = np.full((K + 1, K + 1), 0.0 if mismatch is None else mismatch)
    for i, a in enumerate(letters):
        for j, b in enumerate(letters):
            value = pairs.get((a, b), pairs.get((b, a), mismatch))
            if value is None and a != b:
                raise ValueError(
                    f"substitution has no cost of the pair ({a!r}, {b!r}); name it, or give "
                    "mismatch, the cost of all other pairs"
                )
            matrix[i, j] = value or 0.0
    return matrix


def check_letters(name: str, objects: Objects, costs: Costs | None = None, **_: Any) -> None:
    """Refuse objects with letters that have no costs."""
    if costs is None or costs.has_others:
        return
    classes = costs.classes(objects.alphabet, objects.letters)
    wrong = np.flatnonzero(classes[objects.values] == len(costs.letters))
    if not wrong.size:
        return
    at = wrong[0]
    i = int(np.searchsorted(objects.offsets, at, side="right")) - 1
    missing = np.unique(objects.values[wrong])
    shown = ", ".join(map(repr, letters_of(objects.alphabet[missing[:8]], objects.letters)))
    more = ", ..." if len(missing) > 8 else ""
    raise ValueError(
        f"substitution has no costs of letters of {name}: {shown}{more} (the first in {name}[{i}] "
        f"at {at - objects.offsets[i]}); name them, or give mismatch, the cost of all other pairs"
    )


def prepare_weighted(
    x: Objects, y: Objects, same: bool, costs: Costs | None = None, mode: int = strings.GLOBAL
) -> Any:
    """Compile an edit distance with these costs."""
    if costs is None:
        costs = checked_costs()["costs"]
    x_codes, _, y_codes, _, n_letters = common_letters(x, y)
    both = np.zeros(max(1, n_letters), np.uint32)
    for objects, codes in ((x, x_codes), (y, y_codes)):
        if len(objects.values):
            # Letters that never occur have no code and need no class.
            both[codes] = costs.classes(objects.alphabet, objects.letters)[objects.values]
    return edits.weighted(
        x_codes, x.offsets, y_codes, y.offsets, same, mode, both, costs.substitution, costs.single,
        costs.affine, costs.transposition,
    )  # fmt: skip


def weighted_columns(
    y: Objects, costs: Costs | None = None, mode: int = strings.GLOBAL
) -> Callable[[Objects], Any]:
    """Prepare strings y; return a function that compiles the distances of x to them."""
    costs = costs or checked_costs()["costs"]
    letters = CostedLetters(y, costs)
    side = letters.codes(y), y.offsets
    compiled = edits.weighted(
        *side, *side, False, mode, letters.classes, costs.substitution, costs.single, costs.affine,
        costs.transposition,
    )  # fmt: skip
    return lambda x: strings.with_rows(compiled, letters.codes(x), x.offsets)


def not_symmetric(costs: Costs | None = None, mode: int = strings.GLOBAL) -> bool:
    """Return whether exchanging x and y may change the distance."""
    one_sided = mode in (strings.PREFIX, strings.INFIX)
    return one_sided or not (costs is None or costs.symmetric)


LETTER_COSTS = (
    Distance(
        name="weighted_levenshtein",
        aliases=("weighted_edit",),
        kind="strings",
        shortest=0,
        prepare=prepare_weighted,
        columns=weighted_columns,
        parameters={
            "substitution": pair_costs,
            "alphabet": letters_in_order,
            "mismatch": no_cost_or_cost,
            "insertion": letter_costs,
            "deletion": letter_costs,
            "gap_open": no_cost_or_cost,
            "gap_extend": no_cost_or_cost,
            "transposition": no_cost_or_cost,
            "mode": mode_or_local,
        },
        check_all=checked_costs,
        check=check_letters,
        directed=not_symmetric,
        summary="least cost of edits, gaps and transpositions with costs of letters",
        source="Wagner & Fischer 1974; Wagner 1975; Gotoh 1982; Smith & Waterman 1981 (local)",
    ),
)
