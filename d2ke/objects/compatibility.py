# SPDX-License-Identifier: BSD-3-Clause
"""Compatibility of kinds, channels, letters, weights and missing values; and `concatenate`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError, ArgumentTypeError, warn
from d2ke._base.keywords import hinted
from d2ke._base.text import listed
from d2ke.objects.container import Objects, code_dtype, from_owned, offsets_of, with_fields
from d2ke.objects.kinds import common_kind
from d2ke.objects.tokens import letters_of
from d2ke.objects.values import channel_names, column_names, refuse_value


def matched(x: Objects, y: Objects, x_name: str, y_name: str) -> Objects:
    """Return y with its channels in the order of x; refuse collections that do not compare."""
    if x.has_letters != y.has_letters:
        raise TypeError(f"{x_name} holds {x.kind} but {y_name} holds {y.kind}")
    if x.letters != y.letters and len(x.values) and len(y.values):
        raise TypeError(
            f"{x_name} holds strings of {x.letters} but {y_name} holds strings of {y.letters}"
        )
    y = in_order(y, x.channel_names, y_name, x_name)
    if not x.has_letters and x.dim != y.dim:
        raise ValueError(
            f"{x_name} has vectors of {x.dim} dimensions (channels) but {y_name} has {y.dim}"
        )
    return y


def in_order(
    objects: Objects, names: tuple[str, ...] | None, name: str, other_name: str
) -> Objects:
    """Return objects with their channels in the order of `names`, which another collection has.

    Where one side has no names, channels are matched by position.
    """
    if names is None or objects.channel_names is None:
        return objects
    order = channel_order(objects.channel_names, names, name, other_name)
    if order is None:
        return objects
    return with_fields(objects, values=objects.values[:, order], channel_names=names)


def channel_order(
    names: Sequence[Any], order: Sequence[Any], name: str, other_name: str, index: int | None = None
) -> list[int] | None:
    """Return the positions in `names` of the channels of `order`; None if they agree."""
    if names is order or list(names) == list(order):
        return None
    positions = {channel: position for position, channel in enumerate(names)}
    apart = sorted(set(order) ^ set(positions), key=str)
    if apart or len(names) != len(order):
        raise ArgumentError(
            name,
            f"has the channels {listed(names)}, but {other_name} has {listed(order)}; only one of "
            f"them has {listed(apart)}. Channels with names are compared by name: rename them, or "
            "give arrays, whose channels are compared by position",
            index,
        )
    return [positions[channel] for channel in order]


def columns_in_order(
    values: Any, names: tuple[str, ...] | None, name: str, other_name: str = "the training data"
) -> Any:
    """Return a frame with its columns in the order of `names`; other values unchanged."""
    channels, order = channel_names(column_names(values), name), None
    if channels is not None and names is not None:
        order = channel_order(channels, names, name, other_name)
    return values if order is None else np.asarray(values)[:, order]


def refuse_weights(objects: Objects, name: str, user: str) -> None:
    """Raise if the objects have weights, which `user` would ignore."""
    if objects.weights is not None:
        raise TypeError(
            f"{user} does not use weights, but {name} has them; pack the vectors without weights"
        )


def weights_of_items(items: Sequence[Any], name: str) -> list[Any] | None:
    """Return the weights of the items, None if they have none."""
    weights = [getattr(item, "weights", None) for item in items]
    for i, masses in enumerate(weights):
        if (masses is None) != (weights[0] is None):
            raise ArgumentTypeError(
                name,
                f"has {'no ' if masses is None else ''}weights, {name}[0] has "
                f"{'none' if masses is not None else 'some'}; give all of them with weights=",
                i,
            )
    return None if weights[0] is None else weights


def with_weights(objects: Objects, weights: Objects, name: str) -> Objects:
    """Return vectors as sets with these weights, given as sets of numbers."""
    if objects.has_letters:
        raise TypeError(f"weights go with sets, but {name} holds {objects.kind}")
    if objects.weights is not None:
        raise ArgumentTypeError(name, "has weights already")
    if objects.missing:
        raise ArgumentTypeError(
            name, "has values that are missing; no distance takes them and weights"
        )
    if len(weights) != len(objects):
        raise ValueError(
            f"weights has {len(weights)} arrays, but {name} has {len(objects)} objects"
        )
    lengths, counts = objects.lengths, weights.lengths
    wrong = np.flatnonzero(counts != lengths)
    if wrong.size:
        i = wrong[0]
        raise ValueError(
            f"weights[{i}] has {counts[i]} weights, but {name}[{i}] has {lengths[i]} vectors"
        )
    masses = weights.values.ravel().astype(np.float64)
    owners = np.repeat(np.arange(len(objects)), lengths)
    totals = np.bincount(owners, masses, len(objects))
    wrong = np.flatnonzero(masses < 0)
    if wrong.size:
        at = wrong[0]
        raise ValueError(f"weights[{owners[at]}] has {masses[at]}; weights must be >= 0")
    # Half of what float64 holds: rounding in another order of summing cannot overflow.
    wrong = np.flatnonzero((lengths > 0) & ~((totals > 0) & (totals < 2.0**1023)))
    if wrong.size:
        i = wrong[0]
        raise ValueError(f"the sum of weights[{i}] must be > 0 and < 2**1023, got {totals[i]}")
    kind = objects.kind if objects.base == "sets" else "sets"
    return with_fields(objects, kind=kind, weights=masses)


def refuse_missing(objects: Objects, name: str) -> None:
    """Raise if values of the objects are missing."""
    if objects.missing:
        refuse_value(objects.values, objects.offsets, np.isnan(objects.values), name)


def warn_of_letters(x: Objects, omega: Objects, x_name: str, name: str) -> None:
    """Warn if no letter of omega is in x, or its letters differ from x's by case only."""
    if x.letters is None or x.letters != omega.letters or not len(x.values) * len(omega.values):
        return
    used = np.unique(omega.values)
    if not np.isin(omega.alphabet[used], x.alphabet).any():
        warn(
            f"no letter of {name} occurs in {x_name}: {name} has {_shown(omega, used)}, {x_name} "
            f"has {_shown(x)}; distances to such objects depend on lengths only"
        )
        return
    if x.letters in ("int", "token"):
        return
    in_x, in_omega = (set(map(chr, objects.alphabet.tolist())) for objects in (x, omega))
    swapped = sorted(
        letter
        for letter in in_omega - in_x
        if letter.swapcase() in in_x - in_omega and letter.lower() != letter.upper()
    )
    if swapped:
        warn(
            f"{name} has {swapped[0]!r} where {x_name} has {swapped[0].swapcase()!r}: letters of "
            "different case are different letters"
        )


def _shown(objects: Objects, used: NDArray[Any] | None = None) -> str:
    """Return some letters as text."""
    letters = objects.alphabet if used is None else objects.alphabet[used]
    text = ", ".join(map(repr, letters_of(letters[:8], objects.letters)))
    return text + (", ..." if len(letters) > 8 else "")


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
    first, ids = joined[0], join_ids(joined)
    kind = common_kind(objects.kind for objects in joined)
    if not first.has_letters:
        weights = None
        if any(objects.weights is not None for objects in joined):
            weights = np.concatenate(
                [
                    np.repeat(1.0 / np.maximum(objects.lengths, 1), objects.lengths)
                    if objects.weights is None
                    else objects.weights
                    for objects in joined
                ]
            )
        values = np.concatenate([objects.values for objects in joined])
        missing = any(objects.missing for objects in joined)
        names = next((x.channel_names for x in joined if x.channel_names is not None), None)
        return from_owned(
            kind, values, offsets, weights=weights, missing=missing, ids=ids, channel_names=names
        )
    alphabet, recoded = common_alphabet(joined)
    values = np.concatenate(recoded).astype(code_dtype(len(alphabet)))
    return from_owned(kind, values, offsets, alphabet, first.letters, ids=ids)


def join_ids(collections: Sequence[Any]) -> NDArray[Any] | None:
    """Return the ids of collections end to end; None if some have none."""
    ids = [objects.ids for objects in collections]
    return None if any(names is None for names in ids) else np.concatenate(ids)


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


def check_missing(missing: Any) -> None:
    """Check a rule for missing values: None or "interpolate"."""
    if missing is not None:
        choice("missing", missing, ["interpolate"])


def fill_gaps(
    objects: Objects, name: str, times: Sequence[np.ndarray] | None = None
) -> tuple[Objects, dict[str, Any]]:
    """Fill in NaN of each channel, linearly between its neighbours in time; ends are repeated.

    `times` holds the times of each series; by default steps count. The dict, which models keep, has
    the rule, the number of filled values and the number of series with such values.
    """
    values = objects.values.copy()
    gaps = np.isnan(values)
    rows = np.flatnonzero(gaps.any(axis=1))
    numbers = np.unique(np.searchsorted(objects.offsets, rows, side="right") - 1)
    for i in numbers.tolist():
        steps = slice(objects.offsets[i], objects.offsets[i + 1])
        since = np.arange(len(values[steps])) if times is None else times[i]
        for channel, gap in enumerate(gaps[steps].T):
            if gap.all():
                called = "" if objects.ids is None else f"({objects.ids[i].item()!r}) "
                problem = f"{called}has no value in channel {channel}, so none can be filled in"
                raise ArgumentError(name, problem, i)
            series = values[steps, channel]
            series[gap] = np.interp(since[gap], since[~gap], series[~gap])
    counts = {"rule": "interpolate", "values": int(gaps.sum()), "series": len(numbers)}
    return with_fields(objects, values=values, missing=False), counts
