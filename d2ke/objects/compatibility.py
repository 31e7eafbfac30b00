# SPDX-License-Identifier: BSD-3-Clause
"""Whether collections of objects go together: kinds, letters, weights and missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.errors import warn
from d2ke.objects.container import Objects
from d2ke.objects.tokens import letters_of
from d2ke.objects.values import refuse_value


def check_compatible(x: Objects, y: Objects, x_name: str, y_name: str) -> None:
    """Raise unless objects of x and of y can be compared with each other."""
    if (x.kind == "strings") != (y.kind == "strings"):
        raise TypeError(f"{x_name} holds {x.kind} but {y_name} holds {y.kind}")
    if x.letters != y.letters and len(x.values) and len(y.values):
        raise TypeError(
            f"{x_name} holds strings of {x.letters} but {y_name} holds strings of {y.letters}"
        )
    if x.kind != "strings" and x.dim != y.dim:
        raise ValueError(
            f"{x_name} has vectors of {x.dim} dimensions (channels) but {y_name} has {y.dim}"
        )


def refuse_weights(objects: Objects, name: str, user: str) -> None:
    """Raise if the objects have weights, which `user` would not look at."""
    if objects.weights is not None:
        raise TypeError(
            f"{user} does not use weights, but {name} has them; pack the vectors without weights"
        )


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
