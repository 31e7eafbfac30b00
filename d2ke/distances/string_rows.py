# SPDX-License-Identifier: BSD-3-Clause
"""Distances of strings for the registry: checks of parameters, common letters, compiled kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from d2ke._base.checks import choice, flag, not_negative
from d2ke._base.errors import ArgumentError
from d2ke._ext import edits, pairwise, strings
from d2ke.distances.distance import Distance, no_rounding
from d2ke.objects.compatibility import common_alphabet
from d2ke.objects.container import Objects

StringSides: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]
_MODES = {"global": strings.GLOBAL, "prefix": strings.PREFIX, "infix": strings.INFIX}


def mode(name: str, value: Any) -> int:
    """Check with which part of x the whole y is compared."""
    return _MODES[choice(name, value, list(_MODES))]


def mode_or_local(name: str, value: Any) -> int:
    """Check as `mode`; with costs of letters, parts of x and of y can be compared too."""
    return (_MODES | {"local": strings.LOCAL})[choice(name, value, [*_MODES, "local"])]


def not_whole(mode: int = strings.GLOBAL, **_: Any) -> bool:
    """Return whether y is compared with a part of x."""
    return mode != strings.GLOBAL


def normalized(normalize: bool = False, **_: Any) -> bool:
    """Return whether distances are divided by lengths; they are then not metrics."""
    return normalize


def whole_if_normalized(**parameters: Any) -> dict[str, Any]:
    """Refuse normalize=True where y is compared with a part of x."""
    if parameters.get("normalize") and not_whole(**parameters):
        raise ValueError("normalize=True needs mode='global'")
    return parameters


def common_letters(x: Objects, y: Objects) -> StringSides:
    """Return the letters of x and y as indices into their common alphabet, and its size.

    They are what kernels take: letters and offsets of x, letters and offsets of y, size.
    """
    if x is y:
        codes = not_empty(x.values.astype(np.uint32))
        return codes, x.offsets, codes, x.offsets, len(x.alphabet)
    alphabet, (x_codes, y_codes) = common_alphabet([x, y])
    x_codes, y_codes = not_empty(x_codes.astype(np.uint32)), not_empty(y_codes.astype(np.uint32))
    return x_codes, x.offsets, y_codes, y.offsets, len(alphabet)


def not_empty(codes: np.ndarray) -> np.ndarray:
    """Return the codes, or a single 0 instead of none: kernels want an address."""
    return codes if codes.size else np.zeros(1, dtype=codes.dtype)


def prepare_levenshtein(
    x: Objects, y: Objects, same: bool, mode: int = strings.GLOBAL, normalize: bool = False
) -> Any:
    """Compile Levenshtein's distance."""
    pairs = strings.levenshtein(*common_letters(x, y), same, mode)
    return pairwise.divide_by_lengths(pairs, False) if normalize else pairs


def levenshtein_columns(
    y: Objects, mode: int = strings.GLOBAL, normalize: bool = False
) -> Callable[[Objects], Any] | None:
    """Prepare strings y; return a function that compiles Levenshtein's distances of x to them."""
    if normalize:
        return None
    side, n = (not_empty(y.values.astype(np.uint32)), y.offsets), len(y.alphabet)
    # Code n stands for the letters of x that y does not have.
    compiled = strings.levenshtein(*side, *side, n + 1, False, mode)

    def with_rows(x: Objects) -> Any:
        codes = codes_of(x.alphabet, y.alphabet).astype(np.uint32)
        return strings.with_rows(compiled, codes[x.values], x.offsets)

    return with_rows


def codes_of(letters: np.ndarray, alphabet: np.ndarray) -> np.ndarray:
    """Return the indices of letters in an alphabet; its length for unknown letters."""
    n = len(alphabet)
    if not n:
        return np.zeros(len(letters), np.int64)
    nearest = np.minimum(alphabet.searchsorted(letters), n - 1)
    return np.where(alphabet[nearest] == letters, nearest, n)


def prepare_edits(
    compile_: Callable[..., Any],
    both: bool,
    x: Objects,
    y: Objects,
    same: bool,
    normalize: bool = False,
) -> Any:
    """Compile an edit distance; `both`: normalization is by the sum of the lengths."""
    pairs = compile_(*common_letters(x, y), same)
    return pairwise.divide_by_lengths(pairs, both) if normalize else pairs


def prefix_weight(name: str, value: Any) -> float:
    """Check the weight of a letter of the common prefix, of which four letters count."""
    value = not_negative(name, value)
    if value > 0.25:
        raise ArgumentError(name, f"must be between 0 and 0.25, got {value}")
    return value


def prepare_jaro(x: Objects, y: Objects, same: bool, prefix_weight: float = 0.0) -> Any:
    """Compile Jaro's distance, or Winkler's with a weight of the common beginning."""
    return strings.jaro(*common_letters(x, y), same, prefix_weight)


def prepare_hamming(x: Objects, y: Objects, same: bool, normalize: bool = False) -> Any:
    """Compile Hamming's distance, in letters of 8 bits where they suffice."""
    alphabet, codes = common_alphabet([x, y])
    dtype = np.uint8 if len(alphabet) <= 2**8 else np.uint32
    # The kernel may read 64 bytes after the last letter.
    rest = np.zeros(64 // dtype().itemsize, dtype)
    x_codes = np.concatenate([codes[0].astype(dtype, copy=False), rest])
    y_codes = x_codes
    if x is not y:
        y_codes = np.concatenate([codes[1].astype(dtype, copy=False), rest])
    pairs = edits.hamming(x_codes, x.offsets, y_codes, y.offsets)
    return pairwise.divide_by_lengths(pairs, False) if normalize else pairs


def check_one_length(x_name: str, x: Objects, y_name: str, y: Objects) -> None:
    """Refuse strings of different lengths."""
    length = x.lengths[0]
    for name, objects in ((x_name, x), (y_name, y)):
        wrong = np.flatnonzero(objects.lengths != length)
        if wrong.size:
            i = wrong[0]
            raise ArgumentError(
                name,
                f"has {objects.lengths[i]} letters, {x_name}[0] has {length}; "
                "'hamming' compares strings of one length, 'levenshtein' and 'indel' of any",
                i,
            )


def prepare_jaccard(x: Objects, y: Objects, same: bool) -> Any:
    """Compile 1 - |A & B| / |A | B| of the sets of letters: as bits if these take less memory."""
    alphabet, codes = common_alphabet([x, y])
    pairs = ((x, codes[0]),) if x is y else ((x, codes[0]), (y, codes[1]))
    n_letters = max(1, len(alphabet))
    sets = [letter_counts(objects, letters, n_letters)[::2] for objects, letters in pairs]
    sizes = np.concatenate([np.diff(offsets) for _, offsets in sets])
    # Bit sets have one bit for each letter of the alphabet, lists 32 bits for each of an object.
    if n_letters <= max(64, 32 * sizes.mean()):
        sides = [(*_bit_sets(*side, n_letters), np.diff(side[1])) for side in sets]
    else:
        sides = [
            (not_empty(members.astype(np.uint32)), offsets, np.diff(offsets))
            for members, offsets in sets
        ]
    return edits.jaccard(*sides[0], *sides[-1])


def prepare_bag(x: Objects, y: Objects, same: bool) -> Any:
    """Compile sum_l |c_l(x) / |x| - c_l(y) / |y||, where c_l counts the letter l."""
    alphabet, codes = common_alphabet([x, y])
    n_letters = max(1, len(alphabet))
    side = _bag_side(x, *letter_counts(x, codes[0], n_letters))
    return edits.bags(
        side, side if x is y else _bag_side(y, *letter_counts(y, codes[1], n_letters))
    )


def bag_columns(y: Objects) -> Callable[[Objects], Any]:
    """Prepare the bags of strings y; return a function that compiles the distances of x to them.

    The compiled function turns round its columns, which takes longer than distances to few rows.
    So its columns are x and its rows are y: the distance is symmetric to the last bit.
    """
    n = len(y.alphabet)
    members, counts, offsets = letter_counts(y, y.values, n + 1)

    def with_rows(x: Objects) -> Any:
        codes = codes_of(x.alphabet[x.values], y.alphabet)
        in_x = np.zeros(n + 1, bool)
        in_x[codes] = True
        common = np.flatnonzero(in_x[members])
        side = _bag_side(y, members[common], counts[common], common.searchsorted(offsets))
        return _Transposed(edits.bags(side, _bag_side(x, *letter_counts(x, codes, n + 1))))

    return with_rows


def _bag_side(
    objects: Objects, members: np.ndarray, counts: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the letters and counts of strings in the types that the compiled function takes."""
    members, counts = (not_empty(array.astype(np.uint32)) for array in (members, counts))
    return members, counts, offsets, objects.lengths


class _Transposed:
    """The transpose of compiled distances of y to x."""

    def __init__(self, pairs: Any):
        self.pairs = pairs

    def run(self, out: np.ndarray, n_threads: int, symmetric: bool, report: Any = None) -> None:
        D = np.empty(out.shape[::-1], out.dtype)
        self.pairs.run(D, n_threads, symmetric, report)
        out[...] = D.T


def letter_counts(
    objects: Objects, codes: np.ndarray, n_letters: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each object's different letters in order, their counts, and where they begin."""
    n = len(objects)
    owners = np.repeat(np.arange(n), objects.lengths)
    keys, counts = np.unique(owners * n_letters + codes, return_counts=True)
    return keys % n_letters, counts, np.searchsorted(keys, np.arange(n + 1) * n_letters)


def _bit_sets(members: np.ndarray, offsets: np.ndarray, n_letters: int) -> tuple[np.ndarray, ...]:
    """Return one bit for each letter of the alphabet and each set, and where its words begin."""
    n, words = len(offsets) - 1, -(-n_letters // 64)
    owners = np.repeat(np.arange(n), np.diff(offsets))
    bits = np.zeros(n * words, np.uint64)
    bit = np.left_shift(np.uint64(1), (members % 64).astype(np.uint64))
    np.bitwise_or.at(bits, owners * words + members // 64, bit)
    return bits, np.arange(n + 1) * words


STRINGS = (
    Distance(
        name="levenshtein",
        aliases=("edit", "lev"),
        kind="strings",
        metric=True,
        shortest=0,
        prepare=prepare_levenshtein,
        columns=levenshtein_columns,
        parameters={"mode": mode, "normalize": flag},
        check_all=whole_if_normalized,
        nonmetric=normalized,
        directed=not_whole,
        summary="least number of insertions, deletions and substitutions of letters, "
        "between whole strings or from y to a prefix or a substring of x",
        source="Levenshtein 1966; bit-vectors of Myers 1999 and Hyyro 2003",
    ),
    Distance(
        name="osa",
        aliases=("optimal_string_alignment",),
        kind="strings",
        shortest=0,
        prepare=partial(prepare_edits, strings.osa, False),
        parameters={"normalize": flag},
        summary="Levenshtein's edits and transpositions of neighbouring letters, none edited twice",
        source="Boytsov 2011; bit-vectors of Hyyro 2003",
    ),
    Distance(
        name="damerau_levenshtein",
        aliases=("damerau",),
        kind="strings",
        metric=True,
        shortest=0,
        prepare=partial(prepare_edits, edits.damerau, False),
        parameters={"normalize": flag},
        nonmetric=normalized,
        summary="Levenshtein's edits and transpositions, with edits between the letters too",
        source="Damerau 1964; Lowrance & Wagner 1975; Zhao & Sahni 2019",
    ),
    Distance(
        name="hamming",
        kind="strings",
        metric=True,
        shortest=0,
        prepare=prepare_hamming,
        parameters={"normalize": flag},
        check_pair=check_one_length,
        summary="number of places with different letters, of strings of one length",
        source="Hamming 1950",
    ),
    Distance(
        name="indel",
        aliases=("lcs",),
        kind="strings",
        metric=True,
        shortest=0,
        prepare=partial(prepare_edits, strings.indel, True),
        parameters={"normalize": flag},
        nonmetric=normalized,
        summary="least number of insertions and deletions: the lengths less twice that of the "
        "longest common subsequence",
        source="Needleman & Wunsch 1970; bit-vectors of Hyyro 2004",
    ),
    Distance(
        name="jaccard",
        kind="strings",
        metric=True,
        shortest=0,
        prepare=prepare_jaccard,
        summary="the part of the letters of x and y that only one of them has, as sets",
        source="Jaccard 1901; Levandowsky & Winter 1971",
    ),
    Distance(
        name="bag",
        kind="strings",
        metric=True,
        rounding=no_rounding,
        shortest=0,
        prepare=prepare_bag,
        columns=bag_columns,
        summary="sum of the differences of the shares of each letter, whatever their order: 0 to 2",
        source="the L1 distance of histograms; of codes of graphs: Togninalli et al. 2019",
    ),
    Distance(
        name="jaro",
        kind="strings",
        shortest=0,
        prepare=prepare_jaro,
        summary="1 less the mean of three parts: of the letters of x and of y that are in common "
        "and near each other, and of these those in the same order",
        source="Jaro 1989",
    ),
    Distance(
        name="jaro_winkler",
        kind="strings",
        shortest=0,
        prepare=partial(prepare_jaro, prefix_weight=0.1),
        parameters={"prefix_weight": prefix_weight},
        summary="Jaro's distance, less for strings that begin with the same letters",
        source="Winkler 1990",
    ),
)
