# SPDX-License-Identifier: BSD-3-Clause
"""Packed, immutable collections of objects: the one place that converts and checks users' data."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from types import EllipsisType
from typing import Any, Literal, NoReturn, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from d2ke._base.checks import choice
from d2ke._base.errors import ArgumentError
from d2ke._ext.frozen import freeze, is_frozen
from d2ke.objects.arrow_export import arrow_array
from d2ke.objects.tokens import letters_of
from d2ke.objects.weighted_vectors import WeightedVectors

OBJECT_KINDS = ("series", "sets", "strings")
LETTER_TYPES = ("str", "bytes", "int", "token")

_Place: TypeAlias = int | np.integer[Any]
_Places: TypeAlias = slice | Sequence[int] | NDArray[np.integer[Any]] | NDArray[np.bool_]


class Objects:
    """An immutable collection of objects of unequal sizes, packed into one buffer.

    Made by `pack`; every function of d2ke that takes objects takes it as it is,
    so that conversion and checks happen once. Made from arrays, it has copies of them.

    Attributes
    ----------
    kind : {"series", "sets", "strings"}
        ``"series"``: each object is a sequence of vectors of one dimension, whose
        order counts. ``"sets"``: their order does not count. ``"strings"``: each
        object is a sequence of letters. Series may be given where sets are needed,
        but not sets in the place of series.
    values : ndarray
        All objects end to end: (total, dim) float32 or float64 for vectors,
        (total,) uint8, uint16 or uint32 indices into `alphabet` for strings.
        C-contiguous, read-only.
    offsets : ndarray of int64, shape (n + 1,)
        Object i is ``values[offsets[i]:offsets[i + 1]]``.
    alphabet : ndarray or None
        The letters of the strings, sorted: code points for `str`, byte values
        for `bytes`, the integers themselves for integer sequences, Python
        literals as ASCII (``b"'the'"``) for tokens. None for vectors.
    letters : {"str", "bytes", "int", "token"} or None
        What the letters are. None for vectors.
    weights : ndarray of float64, shape (total,), or None
        One weight for each vector, read-only; None for vectors of equal weight.
        Slices and `concatenate` keep them. A single object ``X[i]`` has them as
        ``X[i].weights``, and `pack` reads them there; what is computed from it
        has none.
    missing : bool
        Whether there is NaN among the values, which stands for what is missing; see `pack`. Only
        ``distance="dtw"`` with ``missing="arow"`` takes such objects.

    Examples
    --------
    >>> import d2ke
    >>> X = d2ke.pack(["ACGT", "", "GATTACA"])
    >>> len(X), X[2], X[[0, 1]].lengths
    (3, 'GATTACA', array([4, 0]))
    """

    __slots__ = ("alphabet", "kind", "letters", "missing", "offsets", "values", "weights")

    kind: Literal["series", "sets", "strings"]
    values: NDArray[Any]
    offsets: NDArray[np.int64]
    # Never None for strings, which need no check of that where they are known to be strings.
    alphabet: NDArray[Any] | Any
    letters: str | Any
    weights: NDArray[np.float64] | None
    missing: bool

    def __init__(
        self,
        kind: str,
        values: ArrayLike,
        offsets: ArrayLike,
        alphabet: ArrayLike | None = None,
        letters: str | None = None,
        weights: ArrayLike | None = None,
        missing: bool = False,
    ):
        if hasattr(self, "kind"):
            raise AttributeError("Objects are immutable; they cannot be initialised again")
        own = [None if a is None else _own(a) for a in (values, offsets, alphabet, weights)]
        self._set(kind, letters, missing, *own)

    def _set(
        self,
        kind: str,
        letters: str | None,
        missing: bool,
        values: NDArray[Any] | Any,  # None is refused
        offsets: NDArray[Any] | Any,
        alphabet: NDArray[Any] | None,
        weights: NDArray[Any] | None,
    ) -> None:
        """Check arrays that nobody else holds, and keep them where nobody can write to them.

        `missing`: whether there may be NaN, after which it is looked for.
        """
        arrays = {"values": values, "offsets": offsets, "alphabet": alphabet, "weights": weights}
        for name, array in (arrays | {"letters": letters, "kind": kind}).items():
            object.__setattr__(self, name, array)
        self._check()
        missing = bool(missing) and kind != "strings" and bool(np.isnan(values).any())
        object.__setattr__(self, "missing", missing)
        for name, array in arrays.items():
            if array is not None and not is_frozen(array):
                object.__setattr__(self, name, freeze(array))

    def _check(self) -> None:
        """Refuse parts that do not fit each other: the kernels go where the offsets say.

        Whether the values are finite is checked by `pack` and by readers of files.
        """
        if self.kind not in OBJECT_KINDS:
            choice("kind", self.kind, OBJECT_KINDS)
        values, offsets = self.values, self.offsets
        alphabet, weights = self.alphabet, self.weights
        if values is None or offsets is None:
            raise TypeError("values and offsets must be arrays, got None")
        vectors = self.kind != "strings"
        dtypes = (np.float32, np.float64) if vectors else (np.uint8, np.uint16, np.uint32)
        if values.dtype not in dtypes or values.ndim != (2 if vectors else 1):
            raise TypeError(
                f"values of {self.kind} must not be {values.dtype} of shape {values.shape}"
            )
        if vectors and values.shape[1] == 0:
            raise ValueError(f"values must have a dimension of at least 1, got {values.shape}")
        if offsets.dtype != np.int64 or offsets.ndim != 1 or offsets.size == 0:
            raise TypeError(
                f"offsets must be int64 of shape (n + 1,), got {offsets.dtype} of shape "
                f"{offsets.shape}"
            )
        if offsets[0] != 0 or offsets[-1] != len(values) or (offsets[1:] < offsets[:-1]).any():
            raise ValueError(f"offsets must ascend from 0 to {len(values)}, the number of values")
        if weights is not None and (
            self.kind != "sets" or weights.dtype != np.float64 or weights.shape != (len(values),)
        ):
            raise ValueError(f"weights must be float64 of shape ({len(values)},), of sets only")
        if vectors:
            if alphabet is not None or self.letters is not None:
                raise ValueError("alphabet and letters must be None for vectors")
            return
        if self.letters not in LETTER_TYPES:
            choice("letters", self.letters, LETTER_TYPES)
        tokens = self.letters == "token"
        if alphabet is None or alphabet.ndim != 1 or alphabet.dtype.kind not in "iuS":
            raise TypeError("alphabet must be a one-dimensional array of integers or of tokens")
        if tokens != (alphabet.dtype.kind == "S"):
            raise TypeError(f"alphabet of {self.letters} must not hold {alphabet.dtype}")
        if (alphabet[1:] <= alphabet[:-1]).any():
            raise ValueError("alphabet must ascend")
        if self.letters in ("str", "bytes") and alphabet.size:
            limit = 0x10FFFF if self.letters == "str" else 255
            if alphabet[0] < 0 or alphabet[-1] > limit:
                raise ValueError(f"alphabet of {self.letters} must lie between 0 and {limit}")
        if values.size and values.max() >= alphabet.size:
            raise ValueError(f"values must be indices of the {alphabet.size} letters of alphabet")

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"Objects are immutable; cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Objects are immutable; cannot delete {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self.kind, self.values, self.offsets, self.alphabet, self.letters, self.weights
        return Objects, (*parts, self.missing) if self.missing else parts

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of vectors or letters of each object, int64, shape (n,)."""
        return np.diff(self.offsets)

    @property
    def shape(self) -> tuple[int]:
        """The number of objects: for others, a collection is a one-dimensional array."""
        return (len(self),)

    @property
    def dim(self) -> int:
        """Dimension (channels) of the vectors; 1 for strings."""
        return self.values.shape[1] if self.values.ndim == 2 else 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type of `values`."""
        return self.values.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the collection holds."""
        arrays = (self.values, self.offsets, self.alphabet, self.weights)
        return sum(array.nbytes for array in arrays if array is not None)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[Any]:
        return (self._item(i) for i in range(len(self)))

    def _item(self, i: int) -> Any:
        values = self.values[self.offsets[i] : self.offsets[i + 1]]
        if self.kind != "strings":
            if self.weights is None:
                return values
            own = self.weights[self.offsets[i] : self.offsets[i + 1]]
            return WeightedVectors.of(values, own)
        symbols = self.alphabet[values]
        if self.letters == "str":
            return symbols.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        if self.letters == "bytes":
            return symbols.astype(np.uint8).tobytes()
        return symbols if self.letters == "int" else letters_of(symbols, "token")

    @overload
    def __getitem__(self, index: _Place | tuple[_Place, EllipsisType]) -> Any: ...

    @overload
    def __getitem__(
        self,
        index: slice
        | Sequence[int]
        | _Places
        | tuple[slice | Sequence[int] | _Places, EllipsisType],
    ) -> Objects: ...

    def __getitem__(self, index: Any) -> Any:
        """One object for an integer; Objects for a slice, an index array or a boolean mask.

        ``X[index, ...]`` is ``X[index]``, as for a one-dimensional array.
        """
        if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:
            index = index[0]
        if not isinstance(index, slice) and np.ndim(index) == 0:
            try:
                i = operator.index(index)
            except TypeError:
                raise TypeError(
                    "Objects take an integer, a slice, an integer array or a boolean mask as "
                    f"index, got {index!r}"
                ) from None
            if not -len(self) <= i < len(self):
                raise IndexError(f"index {i} is out of range for {len(self)} objects")
            return self._item(i % len(self))
        picked = np.arange(len(self))[index if isinstance(index, slice) else self._places(index)]
        lengths = self.lengths[picked]
        offsets = offsets_of(lengths)
        # Position t of the result comes from offsets[item] + (t - its own start).
        source = np.repeat(self.offsets[picked] - offsets[:-1], lengths)
        source += np.arange(offsets[-1])
        weights = None if self.weights is None else self.weights[source]
        values, own = self.values[source], (self.alphabet, self.letters, weights)
        return from_owned(self.kind, values, offsets, *own, missing=self.missing)

    def _places(self, index: Any) -> np.ndarray:
        """Return a checked array of integers or booleans."""
        picked = np.asarray(index)
        if picked.dtype == bool and picked.shape != (len(self),):
            raise IndexError(f"a boolean mask must have shape ({len(self)},), got {picked.shape}")
        if picked.size == 0:
            picked = picked.astype(np.int64)
        if picked.ndim != 1 or picked.dtype.kind not in "iub":
            raise IndexError(
                "an index array must be 1-D of integers or booleans, got "
                f"{picked.dtype} of shape {picked.shape}"
            )
        return picked

    def span(self, start: int, stop: int) -> Objects:
        """Objects from `start` to before `stop`; unlike a slice, they share the memory."""
        first, last = self.offsets[start], self.offsets[stop]
        return from_owned(
            self.kind,
            self.values[first:last],
            self.offsets[start : stop + 1] - first,
            self.alphabet,
            self.letters,
            None if self.weights is None else self.weights[first:last],
            self.missing,
        )

    def to_arrow(self) -> Any:
        """Return the objects as an Arrow array, which `pack` reads back.

        Vectors, offsets and integers are not copied. Needs pyarrow.

        Returns
        -------
        pyarrow.Array
            Strings as large_string; of `bytes` as large_binary; of integers as large lists of
            int64, which ``pack(..., kind="strings")`` reads; of tokens as large lists of
            large_string or large_binary. Vectors as large lists of numbers (dim 1) or of
            fixed-size lists of them; with weights, of structs of `vector` and `weight`.

        Raises
        ------
        ImportError
            No pyarrow.
        TypeError
            Tokens that are neither all `str` nor all `bytes`.
        ValueError
            A lone surrogate, which UTF-8 cannot hold.

        Examples
        --------
        >>> import d2ke
        >>> d2ke.pack([[1.0, 2.0], [3.0]]).to_arrow().to_pylist()
        [[1.0, 2.0], [3.0]]
        """
        return arrow_array(self)

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """Hand the objects to another library, as `to_arrow` gives them."""
        return arrow_array(self).__arrow_c_array__(requested_schema)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Objects):
            return NotImplemented
        return (
            self.kind == other.kind
            and self.letters == other.letters
            and np.array_equal(self.offsets, other.offsets)
            and self.dim == other.dim
            and self.missing == other.missing
            and np.array_equal(_symbols(self), _symbols(other), equal_nan=self.missing)
            and (self.weights is None) == (other.weights is None)
            and (
                self.weights is None
                or other.weights is None
                or np.array_equal(self.weights, other.weights)
            )
        )

    __hash__ = None  # type: ignore[assignment]  # the way to say that there is none

    def __repr__(self) -> str:
        n = len(self)
        lengths = self.lengths
        span = f", lengths {lengths.min()} to {lengths.max()}" if n else ""
        if self.kind == "strings":
            return f"<{n} strings over {len(self.alphabet)} letters{span}>"
        weighted = "" if self.weights is None else "weighted "
        dtype = f"{self.dtype}, some missing" if self.missing else self.dtype
        return f"<{n} {self.kind} of {weighted}{self.dim}-dimensional vectors, {dtype}{span}>"


def from_owned(
    kind: str,
    values: np.ndarray,
    offsets: np.ndarray,
    alphabet: np.ndarray | None = None,
    letters: str | None = None,
    weights: np.ndarray | None = None,
    missing: bool = False,
) -> Objects:
    """Return Objects over arrays that nobody else holds, or those of Objects, without a copy.

    `missing`: whether there may be NaN, for what is missing.
    """
    objects = object.__new__(Objects)
    values, offsets = np.ascontiguousarray(values), np.ascontiguousarray(offsets)
    objects._set(kind, letters, missing, values, offsets, alphabet, weights)
    return objects


def _own(array: Any) -> np.ndarray:
    """Return a copy of an array, or an array of Objects as it is."""
    array = np.ascontiguousarray(array)
    return array if is_frozen(array) else array.copy()


def concatenate(collections: Iterable[Objects]) -> Objects:
    """Join collections of one kind into one.

    Parameters
    ----------
    collections : iterable of Objects
        At least one; all vectors of one dimension, or all strings of one type
        of letters.

    Returns
    -------
    Objects
        The objects in order. float32 only if all are; the alphabets are merged.
        If some have weights, the vectors of an object without have 1 / its length.

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
    parts = list(collections)
    if not parts:
        raise ValueError("collections is empty: at least one is needed")
    for i, part in enumerate(parts):
        if not isinstance(part, Objects):
            raise TypeError(f"collections[{i}] is {type(part).__name__}; pack it first")
        check_compatible(parts[0], part, "collections[0]", f"collections[{i}]")
    offsets = offsets_of(np.concatenate([part.lengths for part in parts]))
    first = parts[0]
    if first.kind != "strings":
        weights = None
        if any(part.weights is not None for part in parts):
            weights = np.concatenate([_weights_or_equal(part) for part in parts])
        values = np.concatenate([part.values for part in parts])
        missing = any(part.missing for part in parts)
        kind = "sets" if any(part.kind == "sets" for part in parts) else "series"
        return from_owned(kind, values, offsets, weights=weights, missing=missing)
    alphabet, recoded = common_alphabet(parts)
    values = np.concatenate(recoded).astype(code_dtype(len(alphabet)))
    return from_owned("strings", values, offsets, alphabet, first.letters)


def common_alphabet(collections: Sequence[Objects]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the merged alphabet of strings, and each collection's letters as indices into it."""
    alphabets, codes = [], []
    for part in collections:
        alphabets.append(part.alphabet)
        codes.append(part.values)
    merged = np.concatenate(alphabets)
    merged.sort()
    merged = merged[np.concatenate(([True], merged[1:] != merged[:-1]))[: len(merged)]]
    for k, alphabet in enumerate(alphabets):
        if len(alphabet) < len(merged):
            codes[k] = merged.searchsorted(alphabet)[codes[k]]
    return merged, codes


def of_kind(objects: Objects, kind: str) -> Objects | None:
    """Return the objects as those of a kind, without a copy; None if they are of another."""
    if (objects.kind, kind) == ("series", "sets"):
        return from_owned(kind, objects.values, objects.offsets, missing=objects.missing)
    return objects if objects.kind == kind else None


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


def refuse_value(values: np.ndarray, offsets: np.ndarray, wrong: np.ndarray, name: str) -> None:
    """Raise if a value is wrong, with its object and position."""
    if not wrong.any():
        return
    at, channel = np.argwhere(wrong)[0]
    i = np.searchsorted(offsets, at, side="right") - 1
    value, hint = values[at, channel], ""
    if np.isnan(value):
        hint = (
            "; distance_matrix, d2ke_embed and nearest take missing values with distance='dtw', "
            "missing='arow'; models and files do not"
        )
    raise ArgumentError(
        name,
        f"has {value} at position ({at - offsets[i]}, {channel}); every value must be finite{hint}",
        i,
    )


def _weights_or_equal(objects: Objects) -> np.ndarray:
    if objects.weights is not None:
        return objects.weights
    lengths = objects.lengths
    return np.repeat(1.0 / np.maximum(lengths, 1), lengths)


def span_of(items: Any, start: int, stop: int) -> Any:
    """Return some of the objects of a collection, packed or a list, in the same memory."""
    return items.span(start, stop) if hasattr(items, "span") else items[start:stop]


def take(items: Any, which: np.ndarray) -> Any:
    """Return the objects of a collection, packed or a list, at these places."""
    return [items[i] for i in which.tolist()] if isinstance(items, list) else items[which]


def offsets_of(lengths: Sequence[int] | np.ndarray) -> NDArray[np.int64]:
    """Return where items of these lengths begin and end in one buffer, int64."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _symbols(objects: Objects) -> np.ndarray:
    return objects.values if objects.kind != "strings" else objects.alphabet[objects.values]


def code_dtype(n_letters: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest type of indices of so many letters."""
    return np.uint8 if n_letters <= 2**8 else np.uint16 if n_letters <= 2**16 else np.uint32
