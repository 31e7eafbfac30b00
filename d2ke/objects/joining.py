# SPDX-License-Identifier: BSD-3-Clause
"""Collections joined into one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.keywords import hinted
from d2ke.objects.compatibility import matched
from d2ke.objects.container import Objects, from_owned
from d2ke.objects.packed import code_dtype, offsets_of


@hinted
def concatenate(collections: Iterable[Objects]) -> Objects:
    """Join collections of one kind into one.

    Parameters
    ----------
    collections : iterable of Objects
        At least one; all vectors of the same channels, or all strings of one type
        of letters. Channels with names are matched by name, in the order of the first collection.

    Returns
    -------
    Objects
        The objects in order. float32 only if all are; the alphabets are merged.
        If some have weights, the vectors of an object without have 1 / its length. Ids are kept
        if all have some; they are text if some are.

    Raises
    ------
    TypeError, ValueError
        Nothing to join, or collections that do not mix.

    Examples
    --------
    >>> import d2ke
    >>> list(d2ke.concatenate([d2ke.pack(["AC"]), d2ke.pack(["GT", "A"])]))
    ['AC', 'GT', 'A']
    """
    joined = list(collections)
    if not joined:
        raise ValueError("collections is empty: at least one is needed")
    for i, objects in enumerate(joined):
        if not isinstance(objects, Objects):
            raise TypeError(f"collections[{i}] is {type(objects).__name__}; pack it first")
        joined[i] = matched(joined[0], objects, "collections[0]", f"collections[{i}]")
    offsets = offsets_of(np.concatenate([objects.lengths for objects in joined]))
    first, ids = joined[0], _joined_ids(joined)
    if first.kind != "strings":
        weights = None
        if any(objects.weights is not None for objects in joined):
            weights = np.concatenate([_weights_or_equal(objects) for objects in joined])
        values = np.concatenate([objects.values for objects in joined])
        missing = any(objects.missing for objects in joined)
        kind = "sets" if any(objects.kind == "sets" for objects in joined) else "series"
        names = next((x.channel_names for x in joined if x.channel_names is not None), None)
        return from_owned(
            kind, values, offsets, weights=weights, missing=missing, ids=ids, channel_names=names
        )
    alphabet, recoded = common_alphabet(joined)
    values = np.concatenate(recoded).astype(code_dtype(len(alphabet)))
    return from_owned("strings", values, offsets, alphabet, first.letters, ids=ids)


def common_alphabet(collections: Sequence[Objects]) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Return the merged alphabet of strings, and each collection's letters as indices into it."""
    alphabets, codes = [], []
    for objects in collections:
        alphabets.append(objects.alphabet)
        codes.append(objects.values)
    merged = np.concatenate(alphabets)
    merged.sort()
    merged = merged[np.concatenate(([True], merged[1:] != merged[:-1]))[: len(merged)]]
    for k, alphabet in enumerate(alphabets):
        if len(alphabet) < len(merged):
            codes[k] = merged.searchsorted(alphabet)[codes[k]]
    return merged, codes


def _joined_ids(collections: Sequence[Objects]) -> NDArray[Any] | None:
    ids = [objects.ids for objects in collections if objects.ids is not None]
    if len(ids) < len(collections):
        return None
    text = any(names.dtype.kind == "U" for names in ids)
    return np.concatenate([names.astype(str) if text else names for names in ids])


def _weights_or_equal(objects: Objects) -> NDArray[np.float64]:
    if objects.weights is not None:
        return objects.weights
    lengths = objects.lengths
    return np.repeat(1.0 / np.maximum(lengths, 1), lengths)
