# SPDX-License-Identifier: BSD-3-Clause
"""DNA and RNA: their letters and reverse complements."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.objects.container import Objects

DNA = "ACGNT"
N_DNA = len(DNA)
COMPLEMENTS = dict(zip("ACGNTU", "TGCNAA", strict=True))
_CODES_OF_COMPLEMENTS = np.array([DNA.index(COMPLEMENTS[x]) for x in DNA], np.uint32)
_CODES = np.full(128, N_DNA, np.uint32)
_CODES[[ord(letter) for letter in DNA]] = np.arange(N_DNA)
_CODES[ord("U")] = DNA.index("T")  # the letter of RNA that pairs with A


def check_dna(name: str, objects: Objects) -> None:
    """Refuse strings of other letters than ACGTN and U, whose complements are unknown."""
    if objects.letters not in ("str", "bytes"):
        raise ArgumentTypeError(
            name,
            f"holds {objects.kind if objects.letters is None else objects.letters + ' letters'}; "
            "strands='both' is for DNA and RNA, str or bytes of the letters ACGTN and U",
        )
    is_other = _codes_of(objects.alphabet) == N_DNA
    wrong = np.flatnonzero(is_other[objects.values])
    if wrong.size:
        item = int(np.searchsorted(objects.offsets, wrong[0], side="right")) - 1
        letter = chr(objects.alphabet[objects.values[wrong[0]]])
        hint = "; str.upper makes large letters of small ones" if letter in "acgtun" else ""
        raise ArgumentError(
            name,
            f"has the letter {letter!r}; strands='both' knows complements of A, C, G, T, U and N "
            f"only{hint}",
            item,
        )


def is_dna(objects: Objects) -> bool:
    """Return whether all letters of strings are ACGTN or U, and A, C and G are among them."""
    if objects.letters not in ("str", "bytes"):
        return False
    codes = np.unique(_codes_of(objects.alphabet))
    return bool(np.isin([DNA.index(letter) for letter in "ACG"], codes).all()) and (
        N_DNA not in codes
    )


def dna_codes(objects: Objects) -> NDArray[np.uint32]:
    """Return the letters of checked strings as indices into ACGNT; U is T."""
    return _codes_of(objects.alphabet)[objects.values]


def _codes_of(alphabet: NDArray[np.integer]) -> NDArray[np.uint32]:
    return np.where(alphabet < len(_CODES), _CODES[alphabet % len(_CODES)], N_DNA)


def with_complements(
    codes: NDArray[np.uint32], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return each string followed by its reverse complement, and the lengths of all."""
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    position, repeated = np.arange(len(codes)), np.repeat(lengths, lengths)
    both = np.empty(2 * len(codes), np.uint32)
    both[starts + position] = codes
    both[3 * starts + 2 * repeated - 1 - position] = _CODES_OF_COMPLEMENTS[codes]
    return both, np.repeat(lengths, 2)
