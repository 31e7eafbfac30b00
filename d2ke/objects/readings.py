# SPDX-License-Identifier: BSD-3-Clause
"""Ways of reading arrays, and warnings where two are possible: the wrong one computes as well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from d2ke._base.errors import warn
from d2ke.objects.container import Objects
from d2ke.objects.tokens import letters_of


@dataclass(frozen=True)
class Layout:
    """The axes of arrays: which holds the channels.

    Attributes
    ----------
    channels_first : bool
        Whether 2-D items are (dim, length).
    explicit : bool
        Whether the user chose that; if not, items that may be meant otherwise bring a warning.
    advice : str
        The code that chooses it, for the warning; ``{}`` stands for True or False.
    missing : bool
        Whether NaN stands for values that are missing; if not, it is refused.
    """

    channels_first: bool = False
    explicit: bool = False
    advice: str = "channels_first={}"
    missing: bool = False

    def hint(self) -> str:
        """Return the end of an error about items whose numbers of channels differ."""
        shape = "(length, dim)" if self.channels_first else "(dim, length)"
        return f" (for items of shape {shape}: {self.advice.format(not self.channels_first)})"

    def warn(self, name: str, steps: int, channels: int) -> None:
        """Warn of items that all have more channels than steps, unless a reading was chosen."""
        if self.explicit or not 0 < steps < channels:
            return
        shape = (channels, steps) if self.channels_first else (steps, channels)
        warn(
            f"every item of {name} has shape {shape} and is read as "
            f"{_counted(steps, 'vector')} of {_counted(channels, 'channel')}; for "
            f"{_counted(channels, 'vector')} of {_counted(steps, 'channel')}: "
            f"{self.advice.format(not self.channels_first)}; to keep this reading without a "
            f"warning: {self.advice.format(self.channels_first)}"
        )


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n > 1 else ''}"


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
    known, own = (set(map(chr, one.alphabet.tolist())) for one in (x, omega))
    turned = sorted(
        c for c in own - known if c.swapcase() in known - own and c.lower() != c.upper()
    )
    if turned:
        warn(
            f"{name} has {turned[0]!r} where {x_name} has {turned[0].swapcase()!r}: letters of "
            "different case are different letters"
        )


def _shown(objects: Objects, used: np.ndarray | None = None) -> str:
    """Return some letters as text."""
    letters = objects.alphabet if used is None else objects.alphabet[used]
    text = ", ".join(map(repr, letters_of(letters[:8], objects.letters)))
    return text + (", ..." if len(letters) > 8 else "")
