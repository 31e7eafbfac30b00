# SPDX-License-Identifier: BSD-3-Clause
"""Costs of edits, learned from pairs of strings: `learn_costs`."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from d2ke._base.arrays import item_weights
from d2ke._base.checks import flag
from d2ke._base.errors import ArgumentError
from d2ke._base.keywords import hinted
from d2ke._base.memory import check_fits
from d2ke._base.threads import team_size
from d2ke._ext import transducer
from d2ke.objects.compatibility import common_alphabet, matched
from d2ke.objects.packing import as_objects
from d2ke.objects.tokens import letters_of

_ROUNDS = 8
# Kinds of edits, and their shares at the start; swaps have the remaining share.
_KEPT, _SUBSTITUTED, _DELETED, _INSERTED, _NOTHING = range(5)
_START = (0.9, 0.03, 0.03, 0.03, 0.0)
_PSEUDO = 0.05  # counts of each edit, beside the average of its kind, which is at most 1
# What keeping letters costs is part of all alignments: a share of it counts by the right letters.
# At 1/2 no side is preferred; 1 is the probability of the wrong string, given the right one.
_RIGHT = 0.6
_LOWEST = 0.05  # of costs
_FEWEST = 20  # pairs that differ
_SHOWN = 10  # edits in print


class Pairs(NamedTuple):
    """Letters and offsets of pairs of strings, the size of their alphabet, weights of pairs."""

    x: np.ndarray
    x_offsets: np.ndarray
    y: np.ndarray
    y_offsets: np.ndarray
    n_letters: int
    weights: np.ndarray

    def letter_shares(self) -> np.ndarray:
        """Return the share of each letter, and 1 for the empty letter."""
        lengths = np.append(np.diff(self.x_offsets), np.diff(self.y_offsets))
        each = np.repeat(np.tile(self.weights, 2), lengths)
        counts = np.bincount(np.append(self.x, self.y), each, self.n_letters)
        return np.append(counts / counts.sum(), 1)

    def both_ways(self) -> Pairs:
        """Return each pair in both directions, with half its weight."""
        x_offsets = np.append(self.x_offsets, self.x_offsets[-1] + self.y_offsets[1:])
        y_offsets = np.append(self.y_offsets, self.y_offsets[-1] + self.x_offsets[1:])
        x, y = np.append(self.x, self.y), np.append(self.y, self.x)
        return Pairs(x, x_offsets, y, y_offsets, self.n_letters, np.tile(self.weights / 2, 2))


class LearnedCosts(Mapping[str, Any]):
    """The parameters of ``"weighted_levenshtein"`` that `learn_costs` learned.

    A mapping that is only read: ``nearest(X, Y, distance="weighted_levenshtein", **costs)``.

    Parameters
    ----------
    parameters : mapping of str to object
        ``substitution``, ``mismatch``, ``insertion``, ``deletion`` and, if letters may be
        swapped, ``transposition``. The key None of insertions and deletions stands for all unseen
        letters.
    n_pairs : int
        The number of training pairs.
    """

    def __init__(self, parameters: Mapping[str, Any], n_pairs: int) -> None:
        self._parameters, self.n_pairs = dict(parameters), n_pairs

    def __getitem__(self, name: str) -> Any:
        return self._parameters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def __repr__(self) -> str:
        lines = [f"<costs of edits, learned from {self.n_pairs} pairs; the cheapest are"]
        for edit, wrong, right, cost in self.edits()[:_SHOWN]:
            shown = [repr(letter) for letter in (wrong, right) if letter is not None]
            lines.append(f"    {cost:.2f}  {edit} {' -> '.join(shown)}".rstrip())
        return "\n".join(lines) + ">"

    def edits(self) -> list[tuple[str, Any, Any, float]]:
        """Return (edit, wrong letter, right letter, cost) of all edits, the cheapest first.

        A letter that an edit does not have is None. Costs of all other letters are left out.
        """
        pairs = self["substitution"].items()
        edits = [("substitution", a, b, cost) for (a, b), cost in pairs]
        edits += [("insertion", None, b, cost) for b, cost in self["insertion"].items()]
        edits += [("deletion", a, None, cost) for a, cost in self["deletion"].items()]
        edits = [edit for edit in edits if edit[1:3] != (None, None)]
        if "transposition" in self:
            edits.append(("transposition", None, None, self["transposition"]))
        return sorted(edits, key=lambda edit: edit[3])

    def to_frame(self) -> Any:
        """Return a data frame of pandas with the columns edit, wrong, right and cost.

        Its rows are the `edits`.
        """
        try:
            pandas = importlib.import_module("pandas")
        except ImportError:
            raise ImportError('to_frame needs pandas: pip install "d2ke[frames]"') from None
        return pandas.DataFrame(self.edits(), columns=["edit", "wrong", "right", "cost"])


@hinted
def learn_costs(
    wrong: Any,
    right: Any,
    *,
    symmetric: bool = False,
    transposition: bool = True,
    weights: Any = None,
    n_threads: int | None = None,
) -> LearnedCosts:
    """Learn the costs of edits from pairs of strings, such as misspellings and what was meant.

    An edit costs less the more often it is needed to make the right string of the wrong one.

    Parameters
    ----------
    wrong, right : Objects or what `pack` takes
        Strings or lists of tokens; ``right[i]`` is what ``wrong[i]`` should have been. At least 20
        pairs must differ.
    symmetric : bool
        Learn from each pair in both directions, so that d(x, y) = d(y, x), as clusterings need.
    transposition : bool
        Whether two neighbouring letters may be swapped, as in the distance ``"osa"``.
    weights : array-like of shape (n_pairs,), optional
        How often each pair counts.
    n_threads : int, optional
        The costs don't depend on the number of threads.

    Returns
    -------
    LearnedCosts
        The parameters of the distance ``"weighted_levenshtein"``, of which the wrong strings are
        the first side: ``nearest(X, Y, distance="weighted_levenshtein", **costs)`` looks wrong
        strings X up among right ones Y.

    Raises
    ------
    TypeError, ValueError
        No strings, or strings of different letters; unequal numbers; an empty string; fewer than
        20 pairs that differ; weights that are negative.
    MemoryError
        Too many letters, or strings that are too long.

    See Also
    --------
    nearest, Index, align

    Notes
    -----
    The pairs are taken to come from a transducer without memory [1]_, whose edits have
    probabilities p(a, b), p(a, -) and p(-, b), with one more edit: neighbouring letters a, b
    are swapped, p(t) q(a) q(b), where q are the shares of letters. The probabilities are learned
    by eight rounds of expectation maximization over all alignments of each pair, with
    pseudo-counts at the end: the average count of the kind of edit, at most 1, and 0.05. The costs
    are relative to keeping letters, which costs nothing:
    c(a, b) = -log p(a, b) + 0.4 log p(a, a) + 0.6 log p(b, b),
    c(a, -) = -log p(a, -) + 0.4 log p(a, a), c(-, b) = -log p(-, b) + 0.6 log p(b, b),
    c(t) = -log p(t), and at least 0.05. With `symmetric` both factors are 0.5.

    References
    ----------
    .. [1] E. S. Ristad and P. N. Yianilos, "Learning string-edit distance," IEEE Transactions on
       Pattern Analysis and Machine Intelligence 20(5), 1998.

    Examples
    --------
    >>> import d2ke
    >>> right = ["believe", "receive", "necessary", "separate", "definite"] * 5
    >>> wrong = ["beleive", "recieve", "neccesary", "seperate", "definate"] * 5
    >>> costs = d2ke.learn_costs(wrong, right)
    >>> sorted(costs)
    ['deletion', 'insertion', 'mismatch', 'substitution', 'transposition']
    >>> costs["substitution"]["e", "a"] < costs["substitution"]["e", "s"]
    True
    """
    symmetric, transposition = flag("symmetric", symmetric), flag("transposition", transposition)
    n_threads = team_size(n_threads)
    x, y = as_objects("wrong", wrong, "strings"), as_objects("right", right, "strings")
    y = matched(x, y, "wrong", "right")
    if len(x) != len(y):
        raise ArgumentError("right", f"has {len(y)} strings, but wrong has {len(x)}")
    for name, objects in (("wrong", x), ("right", y)):
        empty = np.flatnonzero(objects.lengths == 0)
        if empty.size:
            raise ArgumentError(name, "is empty; leave out pairs with an empty string", empty[0])
    counted = item_weights(weights, len(x))
    used = counted > 0
    x, y = x[used], y[used]
    alphabet, codes = common_alphabet([x, y])
    present, values = np.unique(np.concatenate(codes), return_inverse=True)
    codes = np.split(values.astype(np.uint32), [len(x.values)])
    pairs = Pairs(codes[0], x.offsets, codes[1], y.offsets, len(present), counted[used])
    _check_pairs(pairs)
    letters = letters_of(alphabet[present], x.letters)
    if None in letters or len(set(letters)) < len(letters):
        problem = "and right must not have the token None, nor 1 and True: they are keys of a dict"
        raise ArgumentError("wrong", problem)
    parameters = _parameters(pairs, letters, symmetric, transposition, n_threads)
    return LearnedCosts(parameters, len(x))


def _check_pairs(pairs: Pairs) -> None:
    """Refuse too few pairs that differ, and counts that do not fit into memory."""
    x = np.split(pairs.x, pairs.x_offsets[1:-1])
    y = np.split(pairs.y, pairs.y_offsets[1:-1])
    n = sum(not np.array_equal(a, b) for a, b in zip(x, y, strict=True))
    if n < _FEWEST:
        number = f"{n} pair{'s' * (n != 1)} of different strings" if n else "equal strings only"
        raise ArgumentError(
            "wrong", f"and right have {number}; at least {_FEWEST} pairs must differ"
        )
    cells = (max(map(len, x)) + 4) * (max(map(len, y)) + 1)
    check_fits(
        8 * transducer.BLOCKS * ((pairs.n_letters + 1) ** 2 + cells),
        f"counts of edits of {pairs.n_letters} letters, and tables of the longest strings,",
        "leave out the longest strings or the rarest letters",
    )


def _kinds(K: int) -> np.ndarray:
    """Return the kind of each edit of K letters and, last, the empty letter."""
    kind = np.full((K + 1, K + 1), _SUBSTITUTED)
    np.fill_diagonal(kind, _KEPT)
    kind[:K, K], kind[K, :K], kind[K, K] = _DELETED, _INSERTED, _NOTHING
    return kind


def maximize(
    pairs: Pairs, transposition: bool, n_threads: int = 1
) -> Iterator[tuple[float, np.ndarray, float]]:
    """Yield the result of each round of expectation maximization.

    It is the log likelihood of the pairs, the expected numbers of edits, with the empty letter in
    the last row and column, and the expected number of swaps.
    """
    q, kind = pairs.letter_shares(), _kinds(pairs.n_letters)
    p = np.where(kind == _KEPT, q, q[:, None] * q)
    sums = np.bincount(kind.ravel(), p.ravel())
    p *= (_START / np.where(sums, sums, 1))[kind]
    swap = 1 - sum(_START) if transposition else 0.0
    for _ in range(_ROUNDS):
        with np.errstate(divide="ignore"):  # what is impossible
            log_p, log_swap = np.log(p), np.log(q[:-1]) + np.log(swap) / 2
        counts, swaps, logs = transducer.expectations(
            *pairs[:4], pairs.weights, log_p, log_swap, n_threads
        )
        yield float(pairs.weights @ logs), counts, swaps
        total = counts.sum() + swaps
        p, swap = counts / total, swaps / total


def _parameters(
    pairs: Pairs, letters: Sequence[Any], symmetric: bool, transposition: bool, n_threads: int
) -> dict[str, Any]:
    """Learn the costs of edits of the letters of an alphabet."""
    pairs = pairs.both_ways() if symmetric else pairs
    *_, (_, counts, swaps) = maximize(pairs, transposition, n_threads)
    q, kind = pairs.letter_shares(), _kinds(pairs.n_letters)
    # Pseudo-counts: the average of the kind of edit, in proportion to sqrt(q(a) q(b)). So an unseen
    # edit costs the same for all letters, seen or not.
    root = np.where(kind == _KEPT, 1, np.sqrt(q[:, None] * q))
    sizes, sums, observed = (
        np.bincount(kind.ravel(), weights) for weights in (None, root.ravel(), counts.ravel())
    )
    scale = (np.minimum(observed / np.maximum(sizes, 1), 1) + _PSEUDO) * sizes
    scale /= np.where(sums, sums, 1)
    counts = counts + root * scale[kind]
    if symmetric:  # but for rounding, it is
        counts = (counts + counts.T) / 2
        scale[[_DELETED, _INSERTED]] = scale[_DELETED]
    swaps += _PSEUDO
    total = counts.sum() - counts[-1, -1] + swaps
    # c(a, b) = -log p(a, b) + (1 - s) log p(a, a) + s log p(b, b), where log p(-, -) = 0
    s = 0.5 if symmetric else _RIGHT
    keeping = np.diag(counts)[:-1] / total
    log_keeping = np.append(np.log(keeping), 0)
    with np.errstate(divide="ignore"):  # one letter has no substitution
        kind_costs = np.array([1, 1, 1 - s, s, 0]) * np.log(keeping.sum()) - np.log(scale / total)
    cost = (1 - s) * log_keeping[:, None] + s * log_keeping - np.log(counts / total)
    cost, kind_costs = np.maximum(cost, _LOWEST), np.maximum(kind_costs, _LOWEST).tolist()
    rows = dict(zip([*letters, None], cost.tolist(), strict=True))
    insertion = dict(zip(letters, rows.pop(None), strict=False))
    costs = {
        "substitution": {
            (a, b): c
            for a, row in rows.items()
            for b, c in zip(letters, row, strict=False)
            if a != b
        },
        "mismatch": min(kind_costs[_SUBSTITUTED], kind_costs[_DELETED] + kind_costs[_INSERTED]),
        "insertion": insertion | {None: kind_costs[_INSERTED]},
        "deletion": {a: row[-1] for a, row in rows.items()} | {None: kind_costs[_DELETED]},
    }
    if transposition:
        costs["transposition"] = max(-math.log(swaps / total), _LOWEST)
    return costs
