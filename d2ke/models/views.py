# SPDX-License-Identifier: BSD-3-Clause
"""Views: functions Objects -> Objects, through which a block of a model sees the objects.

They compose: a block applies its views one after another. A model records each by its name and
keyword arguments, so that it can be saved; write ``partial(part, start=0.0, stop=0.5)`` to give
these.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke._base.rounding import constant, plain_deviations
from d2ke.embedding.scaling import moments
from d2ke.objects.container import Objects, code_dtype, from_owned, offsets_of, with_fields
from d2ke.objects.packing import as_objects
from d2ke.objects.tokens import encode

View = Callable[[Objects], Objects]
F = TypeVar("F", bound=Callable[..., Objects])

VIEWS: dict[str, Callable[..., Objects]] = {}  # the public views by name
# For each public view: its function of Objects, and the kinds that it takes.
_INNER: dict[View, tuple[Callable[..., Objects], tuple[str, ...]]] = {}


def _view(*kinds: str) -> Callable[[F], F]:
    """Return a decorator that makes a function of Objects a public view, which packs its argument.

    `apply_views` calls the undecorated function.
    """

    def public(function: F) -> Any:
        inner = hinted(function)

        @wraps(function)
        def view(X: Any, *args: Any, **arguments: Any) -> Objects:
            return inner(_checked(view, as_objects("X", X)), *args, **arguments)

        VIEWS[function.__name__] = view
        _INNER[view] = inner, kinds
        return view

    return public


def _checked(view: View, objects: Objects) -> Objects:
    """Return the objects; refuse a kind that the view does not take."""
    function, kinds = _INNER[view]
    if objects.base not in kinds:
        raise ArgumentTypeError(function.__name__, f"is for {' and '.join(kinds)}, got {objects!r}")
    return objects


@_view("series", "sets")
def difference(X: Any) -> Objects:
    """Return the first difference of series, x[t + 1] - x[t]: changes at any level.

    Parameters
    ----------
    X : Objects or what `pack` takes
        Series.

    Returns
    -------
    Objects
        Series that are one step shorter; a series of one step becomes one step of zeros.

    Raises
    ------
    TypeError
        If X does not hold vectors.

    Examples
    --------
    >>> from d2ke.models.views import difference
    >>> difference([[1.0, 4.0, 2.0]])[0].ravel()
    array([ 3., -2.])
    """
    lengths = np.maximum(X.lengths - 1, np.minimum(X.lengths, 1))
    offsets = offsets_of(lengths)
    source = np.repeat(X.offsets[:-1] - offsets[:-1], lengths) + np.arange(offsets[-1])
    after = np.minimum(source + 1, np.repeat(X.offsets[1:] - 1, lengths))
    values = X.values[after] - X.values[source]
    return from_owned(X.kind, values, offsets, channel_names=X.channel_names)


@_view("series", "sets")
def standardize(X: Any, mean: Any = None, sd: Any = None, rounding: Any = None) -> Objects:
    """Subtract a mean from every channel and divide by a deviation.

    In a block, `mean`, `sd` and `rounding` default to the values of the training objects.

    Parameters
    ----------
    X : Objects or what `pack` takes
        Series or sets.
    mean, sd : array_like of float, shape (dim,), optional
        By default the moments of all vectors of X; a channel that is constant to rounding is only
        centred.
    rounding : array_like of float, shape (dim,), optional
        Differences from the mean of at most this much are rounding, and become 0; by default the
        largest difference of a channel that is constant to rounding, and 0 for other channels.

    Returns
    -------
    Objects
        Vectors of float32: seven digits are enough for a distance of standardised channels, and
        take half the time.

    Raises
    ------
    TypeError
        If X does not hold vectors.
    ValueError
        If X has other than dim channels, a channel beyond the range of float32, or no vectors.

    Examples
    --------
    >>> from d2ke.models.views import standardize
    >>> standardize([[1.0, 3.0]])[0].ravel()
    array([-1.,  1.], dtype=float32)
    """
    if mean is None or sd is None:
        usual = _moments(X)
        mean = usual["mean"] if mean is None else mean
        sd = usual["sd"] if sd is None else sd
        rounding = usual["rounding"] if rounding is None else rounding
    mean, sd = np.asarray(mean, np.float64), np.asarray(sd, np.float64)
    rounding = np.asarray(0.0 if rounding is None else rounding, np.float64)
    if mean.shape != (X.dim,) or sd.shape != mean.shape:
        raise ArgumentError(
            "X",
            f"has vectors of {X.dim} dimensions (channels), but mean and sd have "
            f"{mean.size} and {sd.size}",
        )
    with np.errstate(over="ignore", invalid="ignore"):
        away = X.values - mean
        away[np.abs(away) <= rounding] = 0
        values = (away / sd).astype(np.float32)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        item = int(np.searchsorted(X.offsets, row, side="right")) - 1
        raise ArgumentError("X", "is beyond the range of float32 once it is standardised", item)
    return with_fields(X, values=values)


def _moments(objects: Objects) -> dict[str, Any]:
    if not len(objects.values):
        raise ArgumentError("X", "has no vectors; at least one is needed to standardise channels")
    with np.errstate(over="ignore", invalid="ignore"):
        mean, sd, largest = moments(objects.values)
    for channel in np.flatnonzero((largest > 0) & ~((sd > 1e-140) & (sd < 1e140))):
        # Squares are beyond float64; squares of values between -1 and 1 are not.
        values = objects.values[:, channel, None].astype(np.float64) / largest[channel]
        (scaled_mean,), (scaled_sd,), _ = moments(values)
        mean[channel] = largest[channel] * scaled_mean
        sd[channel] = scaled_sd and max(largest[channel] * scaled_sd, 5e-324)
    low, high = objects.values.min(axis=0), objects.values.max(axis=0)
    rounding = np.where(
        constant(sd, largest, objects.dtype), np.maximum(high - mean, mean - low), 0.0
    )
    sd = plain_deviations(sd, largest, objects.dtype)
    return {"mean": mean, "sd": sd, "rounding": rounding}


@_view("series", "sets")
def square_root(X: Any) -> Objects:
    """Return the square roots of the values, with their signs.

    For descriptors that are histograms, such as SIFT, distances between square roots are
    Hellinger distances.

    Parameters
    ----------
    X : Objects or what `pack` takes
        Series or sets.

    Returns
    -------
    Objects
        Of the same element type.

    Raises
    ------
    TypeError
        If X does not hold vectors.

    References
    ----------
    Arandjelovic, Zisserman, "Three things everyone should know to improve object retrieval",
    CVPR 2012.

    Examples
    --------
    >>> from d2ke.models.views import square_root
    >>> square_root([[4.0, -9.0]])[0].ravel()
    array([ 2., -3.])
    """
    return with_fields(X, values=np.copysign(np.sqrt(np.abs(X.values)), X.values))


@_view("series", "sets")
def centre(X: Any) -> Objects:
    """Subtract from each object the mean of its vectors, which leaves its shape.

    Parameters
    ----------
    X : Objects or what `pack` takes
        Sets or series; of weighted vectors the weighted mean.

    Returns
    -------
    Objects
        Of the same element type.

    Raises
    ------
    TypeError
        If X does not hold vectors.

    Examples
    --------
    >>> from d2ke.models.views import centre
    >>> centre([[[0.0, 1.0], [2.0, 5.0]]])[0]
    array([[-1., -2.],
           [ 1.,  2.]])
    """
    owner = np.repeat(np.arange(len(X)), X.lengths)
    weights = np.ones(len(owner)) if X.weights is None else X.weights
    total = np.bincount(owner, weights, len(X))
    shares = weights / np.where(total > 0, total, 1)[owner]
    values = np.empty_like(X.values)
    for channel, column in enumerate(X.values.T):
        values[:, channel] = column - np.bincount(owner, shares * column, len(X))[owner]
    return with_fields(X, values=values)


@_view("series", "sets", "strings")
def part(X: Any, start: float = 0.0, stop: float = 1.0) -> Objects:
    """Return a part of each object, by its relative position.

    Parameters
    ----------
    X : Objects or what `pack` takes
        Series or strings of lengths n.
    start, stop : float
        From element floor(start n) to before element ceil(stop n); 0 <= start < stop <= 1.

    Returns
    -------
    Objects
        The parts; of an object that is not empty, at least one element.

    Raises
    ------
    ValueError
        Unless 0 <= start < stop <= 1.

    Examples
    --------
    >>> from d2ke.models.views import part
    >>> list(part(["abcdef", "abc"], 0.0, 0.5))
    ['abc', 'ab']
    """
    if not 0 <= start < stop <= 1:
        raise ArgumentError(
            "start", f"and stop must be 0 <= start < stop <= 1, got {start} and {stop}"
        )
    n = X.lengths
    first = np.floor(start * n).astype(np.int64)
    lengths = np.ceil(stop * n).astype(np.int64) - first
    offsets = offsets_of(lengths)
    source = np.repeat(X.offsets[:-1] + first - offsets[:-1], lengths)
    source += np.arange(offsets[-1])
    weights = None if X.weights is None else X.weights[source]
    return with_fields(X, values=X.values[source], offsets=offsets, weights=weights, ids=None)


@_view("strings")
def mark_ends(X: Any, begin: Any = None, end: Any = None) -> Objects:
    """Put a mark before and after each string, so that a pattern can match at an end only.

    Parameters
    ----------
    X : Objects or what `pack` takes
        Strings.
    begin, end : int or token, optional
        The marks, as entries of the alphabet, or tokens; by default letters that X does not have.

    Returns
    -------
    Objects
        Strings that are two letters longer.

    Raises
    ------
    TypeError
        If X does not hold strings.
    ValueError
        If X has the marks as letters, or bytes leave no two values for them.

    Examples
    --------
    >>> from d2ke.models.views import mark_ends
    >>> list(mark_ends(["abc"], ord("^"), ord("$")))
    ['^abc$']
    """
    if begin is None or end is None:
        free = _marks(X)
        begin, end = free["begin"], free["end"]
    letters: Any = X.alphabet
    marks = [begin, end]
    if X.letters == "token":
        marks = [encode(begin, "begin"), encode(end, "end")]
    else:
        letters = letters.astype(np.int64)
    taken = np.isin(marks, letters)
    if taken.any():
        raise ArgumentError("X", f"has the letter {[begin, end][taken.argmax()]}, which is a mark")
    alphabet = np.sort(np.append(letters, marks))
    codes = np.searchsorted(alphabet, X.alphabet).astype(code_dtype(len(alphabet)))
    offsets = offsets_of(X.lengths + 2)
    values, is_letter = np.empty(offsets[-1], codes.dtype), np.ones(offsets[-1], bool)
    for positions, mark in zip((offsets[:-1], offsets[1:] - 1), marks, strict=True):
        values[positions], is_letter[positions] = alphabet.searchsorted(mark), False
    values[is_letter] = codes[X.values]
    return from_owned("strings", values, offsets, alphabet, X.letters)


def _marks(objects: Objects) -> dict[str, Any]:
    """Return the two largest letters that the strings do not have, or two tokens."""
    if objects.letters == "token":
        begin, end = "<begin>", "<end>"
        while np.isin([encode(begin, "begin"), encode(end, "end")], objects.alphabet).any():
            begin, end = f"<{begin}>", f"<{end}>"
        return {"begin": begin, "end": end}
    largest = {"str": 0x10FFFF, "bytes": 0xFF, "int": 2**62}[objects.letters]
    letters = set(objects.alphabet.tolist())
    free = list(islice((code for code in range(largest, -1, -1) if code not in letters), 2))
    if len(free) < 2:
        raise ArgumentError(
            "X", "has all values of a byte as letters: there are none left for marks"
        )
    return {"begin": free[1], "end": free[0]}


def fit_view(view: View, X: Any) -> View:
    """Return a view with the arguments that it takes from training objects.

    Parameters
    ----------
    view : callable
        `standardize` or `mark_ends`; any other is returned as it is.
    X : Objects or what `pack` takes
        Training objects.

    Returns
    -------
    callable

    Examples
    --------
    >>> from d2ke.models.views import fit_view, mark_ends
    >>> fit_view(mark_ends, ["abc"]).keywords
    {'begin': 1114110, 'end': 1114111}
    """
    find: Any = {standardize: _moments, mark_ends: _marks}.get(view)
    return view if find is None else partial(view, **find(_checked(view, as_objects("X", X))))


def apply_views(views: tuple[View, ...], objects: Any) -> Any:
    """Return objects after the views, applied in order."""
    for view in views:
        function, arguments = view, {}
        if isinstance(view, partial) and not view.args:
            function, arguments = view.func, view.keywords
        if function in _INNER and isinstance(objects, Objects):
            objects = _INNER[function][0](_checked(function, objects), **arguments)
            continue
        changed = view(objects)  # the user's own view
        if isinstance(objects, Objects) and (
            not isinstance(changed, Objects) or len(changed) != len(objects)
        ):
            raise TypeError(
                f"the view {getattr(view, '__name__', view)!r} must return as many Objects as it "
                f"takes, {len(objects)}; it returned "
                f"{changed if isinstance(changed, Objects) else type(changed).__name__}"
            )
        objects = changed
    return objects


def view_name(view: View) -> tuple[str, dict[str, Any]]:
    """Return a view's name in `VIEWS` and its keyword arguments.

    Raises
    ------
    TypeError
        If it is a user's own function, which a file cannot hold.
    """
    function, arguments = (view.func, view.keywords) if isinstance(view, partial) else (view, {})
    name = getattr(function, "__name__", repr(function))
    if VIEWS.get(name) is not function or (isinstance(view, partial) and view.args):
        raise TypeError(f"the view {name} is not one of {', '.join(VIEWS)}: no file can hold it")
    return name, dict(arguments)
