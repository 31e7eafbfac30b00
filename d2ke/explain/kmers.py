# SPDX-License-Identifier: BSD-3-Clause
"""Shares of pieces of a string in the decision of a model of pieces."""

from __future__ import annotations

from typing import Any

import numpy as np

from d2ke.distances.masks import Mask
from d2ke.distances.piece_kernels import Strings, packed_strings
from d2ke.distances.strands import DNA
from d2ke.models.kmers import FittedKmers
from d2ke.objects.container import Objects


def piece_shares(
    block: FittedKmers, x: Objects, weights: np.ndarray, limit: int
) -> tuple[dict[str, Any], ...]:
    """Return the pieces of x that add most to a decision, the largest first.

    The decision is a sum over landmarks of weight times kernel, and the kernel a sum over pieces of
    products of roots of counts: so each piece of x has a share. The shares sum to the decision.
    """
    words = block.words
    strings = packed_strings((x, block.omega), words)
    shares, first_starts, masks = [], [], []
    for masks_l, scale in zip(words.masks, block.letter_weights.tolist(), strict=True):
        values, squares = [], np.zeros(1 + len(block.omega))
        for mask in masks_l:
            starts = _starts(strings, mask)
            sequences = np.searchsorted(strings.offsets, starts, side="right") - 1
            rows = sequences // strings.strands
            squares += np.bincount(rows, minlength=len(squares))
            values.append(_common_words(strings, mask, starts, rows))
        norms = np.sqrt(squares)
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where(norms[1:] > 0, weights / norms[1:], 0.0) * scale / norms[0]
        for mask, (firsts, counts, owners, word, times) in zip(masks_l, values, strict=True):
            sums = np.bincount(word, np.sqrt(times) * factors[owners - 1], len(firsts))
            shares.append(np.sqrt(counts) * sums)
            first_starts.append(firsts)
            masks += [mask] * len(firsts)
    all_shares, firsts = np.concatenate(shares), np.concatenate(first_starts)
    texts, entries = _letter_texts(x, strings, words.ends), []
    for k in np.argsort(-all_shares, kind="stable")[:limit].tolist():
        mask, start = masks[k], int(firsts[k])
        letters = ["."] * (mask[-1] + 1)
        for i in mask:
            letters[i] = texts[int(strings.codes[start + i])]
        string, begins = _occurrences(strings, mask, start)
        # A word of the reverse complement begins where its complement ends.
        begins = np.where(string == 1, x.lengths[0] - 1 - mask[-1] - begins, begins)
        text = ("" if x.letters in ("str", "bytes") else " ").join(letters)
        begins = np.unique(np.maximum(begins - words.ends, 0))
        entries.append({"piece": text, "share": float(all_shares[k]), "places": begins})
    return tuple(entries)


def _starts(strings: Strings, mask: Mask) -> np.ndarray:
    """Return the starts of words of a mask among the letters of all strings."""
    ends = np.repeat(strings.offsets[1:], np.diff(strings.offsets)) - mask[-1]
    return np.flatnonzero(np.arange(len(ends)) < ends)


def _common_words(
    strings: Strings, mask: Mask, starts: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the first start and the count of each word of the first row.

    Then return row, word and count of each word that a later row has too.
    """
    in_x = rows == 0
    n_x, ranks = np.count_nonzero(in_x), np.zeros(len(starts), np.int64)
    starts, rows = np.r_[starts[in_x], starts[~in_x]], np.r_[rows[in_x], rows[~in_x]]
    distinct = firsts = np.zeros(0, np.int64)
    for i in mask:
        # Prefixes are replaced by their ranks among the prefixes of x, so that no code overflows.
        codes = ranks * strings.n_letters + strings.codes[starts + i]
        distinct, firsts = np.unique(codes[:n_x], return_index=True)
        ranks = np.minimum(np.searchsorted(distinct, codes), max(len(distinct) - 1, 0))
        is_common = distinct[ranks] == codes if len(distinct) else np.zeros(len(codes), bool)
        starts, rows, ranks = starts[is_common], rows[is_common], ranks[is_common]
    counts = np.bincount(ranks[:n_x], minlength=len(distinct))
    cells, times = np.unique(rows[n_x:] * max(len(distinct), 1) + ranks[n_x:], return_counts=True)
    return (
        starts[firsts], counts, cells // max(len(distinct), 1), cells % max(len(distinct), 1), times
    )  # fmt: skip


def _occurrences(strings: Strings, mask: Mask, start: int) -> tuple[np.ndarray, np.ndarray]:
    """Return string and position of each occurrence, in the first row, of the word at `start`."""
    starts = _starts(strings._replace(offsets=strings.offsets[: strings.strands + 1]), mask)
    words = strings.codes[starts[:, None] + np.array(mask)]
    starts = starts[(words == strings.codes[start + np.array(mask)]).all(axis=1)]
    string = np.searchsorted(strings.offsets, starts, side="right") - 1
    return string, starts - strings.offsets[string]


def _letter_texts(x: Objects, strings: Strings, ends: bool) -> dict[int, str]:
    """Return the letters of x, and the marks of its ends, by their codes."""
    if strings.strands == 2:
        return dict(enumerate(DNA))
    codes = strings.codes[ends : x.lengths[0] + ends].tolist()
    item = x[0].decode("latin-1") if x.letters == "bytes" else x[0]
    marks = dict(zip(range(strings.n_letters - 2, strings.n_letters), "^$", strict=True))
    return (marks if ends else {}) | dict(zip(codes, map(str, item), strict=True))
