# SPDX-License-Identifier: BSD-3-Clause
"""Whether collections of objects go together: kinds, channels, letters, weights, missing values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.errors import ArgumentError, ArgumentTypeError, warn
from d2ke._base.text import listed
from d2ke.objects.container import Objects, with_fields
from d2ke.objects.tokens import letters_of
from d2ke.objects.values import channel_names, column_names, refuse_value


def matched(x: Objects, y: Objects, x_name: str, y_name: str) -> Objects:
    """Return y with its channels in the order of those of x; refuse what cannot be compared."""
    if (x.kind == "strings") != (y.kind == "strings"):
        raise TypeError(f"{x_name} holds {x.kind} but {y_name} holds {y.kind}")
    if x.letters != y.letters and len(x.values) and len(y.values):
        raise TypeError(
            f"{x_name} holds strings of {x.letters} but {y_name} holds strings of {y.letters}"
        )
    y = in_order(y, x.channel_names, y_name, x_name)
    if x.kind != "strings" and x.dim != y.dim:
        raise ValueError(
            f"{x_name} has vectors of {x.dim} dimensions (channels) but {y_name} has {y.dim}"
        )
    return y


def in_order(
    objects: Objects, names: tuple[str, ...] | None, name: str, other_name: str
) -> Objects:
    """Return objects with their channels in the order of `names`, those of another collection.

    Where one side has no names, channels are matched by position.
    """
    if names is None or objects.channel_names is None:
        return objects
    order = channel_order(objects.channel_names, names, name, other_name)
    if order is None:
        return objects
    return with_fields(objects, values=objects.values[:, order], channel_names=names)


def channel_order(
    held: Sequence[Any], needed: Sequence[Any], name: str, other_name: str, index: int | None = None
) -> list[int] | None:
    """Return where the needed names stand among those held; None if both are in one order."""
    if held is needed or list(held) == list(needed):
        return None
    places = {channel: place for place, channel in enumerate(held)}
    apart = sorted(set(needed) ^ set(places), key=str)
    if apart or len(held) != len(needed):
        raise ArgumentError(
            name,
            f"has the channels {listed(held)}, but {other_name} has {listed(needed)}; only one of "
            f"them has {listed(apart)}. Channels with names are compared by name: rename them, or "
            "give arrays, whose channels are compared by position",
            index,
        )
    return [places[channel] for channel in needed]


def columns_in_order(
    values: Any, names: tuple[str, ...] | None, name: str, other_name: str = "the training data"
) -> Any:
    """Return a frame with its columns in the order of other names, else `values` as they are."""
    held, order = channel_names(column_names(values), name), None
    if held is not None and names is not None:
        order = channel_order(held, names, name, other_name)
    return values if order is None else np.asarray(values)[:, order]


def refuse_weights(objects: Objects, name: str, user: str) -> None:
    """Raise if the objects have weights, which `user` would not look at."""
    if objects.weights is not None:
        raise TypeError(
            f"{user} does not use weights, but {name} has them; pack the vectors without weights"
        )


def weights_of_items(items: Sequence[Any], name: str) -> list[Any] | None:
    """Return the weights that all items bring with them, None if they have none."""
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
    """Return vectors as sets with these weights, which are sets of numbers."""
    if objects.kind == "strings":
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
    return with_fields(objects, kind="sets", weights=masses)


def refuse_missing(objects: Objects, name: str) -> None:
    """Raise if values of the objects are missing."""
    if objects.missing:
        refuse_value(objects.values, objects.offsets, np.isnan(objects.values), name)


def warn_of_letters(x: Objects, omega: Objects, x_name: str, name: str) -> None:
    """Warn if no letter of omega is in x, or letters differ from those of x by case only."""
    if x.letters != omega.letters or not (len(x.values) and len(omega.values)):
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
    of_x, of_omega = (set(map(chr, objects.alphabet.tolist())) for objects in (x, omega))
    swapped = sorted(
        letter
        for letter in of_omega - of_x
        if letter.swapcase() in of_x - of_omega and letter.lower() != letter.upper()
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
