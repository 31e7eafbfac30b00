# SPDX-License-Identifier: BSD-3-Clause
"""Packed, immutable collections of objects, and the check of their arrays."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import Any, NoReturn, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from d2ke._base.checks import choice
from d2ke._ext.frozen import freeze, is_frozen
from d2ke.objects.arrow_columns import arrow_array
from d2ke.objects.kinds import KINDS, stands_for
from d2ke.objects.tokens import letters_of

LETTER_TYPES = ("str", "bytes", "int", "token")
_ARRAYS = ("values", "offsets", "alphabet", "weights", "ids")
_FIELDS = (
    "kind", "values", "offsets", "alphabet", "letters", "weights", "missing", "ids",
    "channel_names",
)  # fmt: skip
_fields_of = operator.attrgetter(*_FIELDS)

_Index: TypeAlias = int | np.integer[Any]
_Indices: TypeAlias = slice | Sequence[int] | NDArray[np.integer[Any]] | NDArray[np.bool_]


class WeightedVectors(np.ndarray[Any, np.dtype[Any]]):
    """The (length, dim) array of one object of a weighted collection, with its weights.

    Arrays that are computed from it, or cut out of it, have no weights.

    Attributes
    ----------
    weights : ndarray of float64, shape (length,), or None
    """

    weights: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, vectors: NDArray[Any], weights: NDArray[np.float64]) -> WeightedVectors:
        """Return the vectors, in the same memory, with weights."""
        item = vectors.view(cls)
        item.weights = weights
        return item

    def __reduce__(self) -> tuple[Any, ...]:
        if self.weights is None:
            return np.asarray, (self.view(np.ndarray),)
        return WeightedVectors.of, (self.view(np.ndarray), self.weights)


class Objects:
    """An immutable collection of objects of unequal sizes, packed into one buffer.

    Made by `pack`; every function of d2ke that takes objects takes it as it is,
    so that conversion and checks happen once. Arrays are copied.

    Attributes
    ----------
    kind : {"series", "sets", "strings"} or str
        ``"series"``: each object is a sequence of vectors of one dimension, whose
        order counts. ``"sets"``: their order does not count. ``"strings"``: each
        object is a sequence of letters. Series may be given where sets are needed,
        but not sets where series are needed. Or a kind of `add_kind`, stored as one of these.
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
        The type of the letters. None for vectors.
    weights : ndarray of float64, shape (total,), or None
        One weight for each vector, read-only; None for vectors of equal weight.
        Slices and `concatenate` keep them. A single object ``X[i]`` has them as
        ``X[i].weights``, and `pack` reads them there; arrays computed from it
        have none.
    missing : bool
        Whether there is NaN among the values, for missing values; see `pack`. Only
        ``distance="dtw"`` with ``missing="arow"`` takes such objects.
    ids : ndarray of int64 or str, shape (n,), or None
        The names of the objects, read-only; see `pack`. Slices, index arrays, masks and
        `concatenate` keep them. They need not differ, no distance sees them, and ``==`` ignores
        them.
    channel_names : tuple of str, or None
        The names of the channels of vectors, all different: of the columns that the vectors
        were read from. None if the container had none; the default names of pandas, which count
        the columns, are none. Slices, index arrays, masks, `concatenate` and views keep them, and
        ``==`` compares them. Two collections with names, or a model and its input, are
        compared by name, in whatever order their channels are; if one has none, by position.

    Examples
    --------
    >>> import d2ke
    >>> X = d2ke.pack(["ACGT", "", "GATTACA"])
    >>> len(X), X[2], X[[0, 1]].lengths
    (3, 'GATTACA', array([4, 0]))
    >>> d2ke.pack(["ACGT", "", "GATTACA"], ids=["p1", "p2", "p3"])[1:].ids.tolist()
    ['p2', 'p3']
    """

    __slots__ = _FIELDS

    kind: str
    values: NDArray[Any]
    offsets: NDArray[np.int64]
    # Never None for strings, so that code for strings need not check it.
    alphabet: NDArray[Any] | Any
    letters: str | Any
    weights: NDArray[np.float64] | None
    missing: bool
    ids: NDArray[Any] | None
    channel_names: tuple[str, ...] | None

    def __init__(
        self,
        kind: str,
        values: ArrayLike,
        offsets: ArrayLike,
        alphabet: ArrayLike | None = None,
        letters: str | None = None,
        weights: ArrayLike | None = None,
        missing: bool = False,
        ids: ArrayLike | None = None,
        channel_names: Sequence[str] | None = None,
    ):
        if hasattr(self, "kind"):
            raise AttributeError("Objects are immutable; they cannot be initialised again")
        names = None if channel_names is None else tuple(channel_names)
        fields = (
            kind, _copy(values), _copy(offsets), _copy(alphabet), letters, _copy(weights), missing,
            _copy(ids), names,
        )  # fmt: skip
        self._keep(fields, check=True)

    def _keep(self, fields: Sequence[Any], check: bool = False) -> None:
        """Set the fields, and make the arrays among them read-only."""
        keep = object.__setattr__
        for name, field in zip(_FIELDS, fields, strict=True):
            keep(self, name, field)
        if check:
            check_arrays(self)
        may_miss = bool(self.missing) and not self.has_letters
        keep(self, "missing", may_miss and bool(np.isnan(self.values).any()))
        for name in _ARRAYS:
            array = getattr(self, name)
            if array is not None and not is_frozen(array):
                keep(self, name, freeze(np.ascontiguousarray(array)))

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"Objects are immutable; cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Objects are immutable; cannot delete {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Objects, _fields_of(self)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of vectors or letters of each object, int64, shape (n,)."""
        return self.offsets[1:] - self.offsets[:-1]  # np.diff takes longer for few objects

    @property
    def shape(self) -> tuple[int]:
        """The number of objects: for others, a collection is a one-dimensional array."""
        return (len(self),)

    @property
    def base(self) -> str:
        """How objects of this kind are stored: as "series", "sets" or "strings"."""
        return KINDS[self.kind].base

    @property
    def has_letters(self) -> bool:
        """Whether the objects are sequences of letters or tokens, not of vectors."""
        return self.letters is not None

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
        """Size of the collection in bytes."""
        arrays = [getattr(self, name) for name in _ARRAYS]
        return sum(array.nbytes for array in arrays if array is not None)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[Any]:
        return (self._item(i) for i in range(len(self)))

    def _item(self, i: int) -> Any:
        values = self.values[self.offsets[i] : self.offsets[i + 1]]
        if not self.has_letters:
            if self.weights is None:
                return values
            return WeightedVectors.of(values, self.weights[self.offsets[i] : self.offsets[i + 1]])
        symbols = self.alphabet[values]
        if self.letters == "str":
            return symbols.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        if self.letters == "bytes":
            return symbols.astype(np.uint8).tobytes()
        return symbols if self.letters == "int" else letters_of(symbols, "token")

    @overload
    def __getitem__(self, index: _Index | tuple[_Index, EllipsisType]) -> Any: ...

    @overload
    def __getitem__(
        self,
        index: slice
        | Sequence[int]
        | _Indices
        | tuple[slice | Sequence[int] | _Indices, EllipsisType],
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
        if not isinstance(index, slice):
            index = np.asarray(index)
            if index.dtype == bool and index.shape != (len(self),):
                raise IndexError(
                    f"a boolean mask must have shape ({len(self)},), got {index.shape}"
                )
            if index.size == 0:
                index = index.astype(np.int64)
            if index.ndim != 1 or index.dtype.kind not in "iub":
                raise IndexError(
                    "an index array must be 1-D of integers or booleans, got "
                    f"{index.dtype} of shape {index.shape}"
                )
        indices = np.arange(len(self))[index]
        lengths = self.lengths[indices]
        offsets = offsets_of(lengths)
        # Position t of the result comes from offsets[item] + (t - the start of the item there).
        source = np.repeat(self.offsets[indices] - offsets[:-1], lengths)
        source += np.arange(offsets[-1])
        weights = None if self.weights is None else self.weights[source]
        ids = None if self.ids is None else self.ids[indices]
        values = self.values[source]
        return with_fields(self, values=values, offsets=offsets, weights=weights, ids=ids)

    def span(self, start: int, stop: int) -> Objects:
        """Objects from `start` to before `stop`; unlike a slice, they share the memory."""
        first, last = self.offsets[start], self.offsets[stop]
        weights = None if self.weights is None else self.weights[first:last]
        ids = None if self.ids is None else self.ids[start:stop]
        offsets = self.offsets[start : stop + 1] - first
        values = self.values[first:last]
        return with_fields(self, values=values, offsets=offsets, weights=weights, ids=ids)

    def to_arrow(self) -> Any:
        """Return the objects as an Arrow array, which `pack` reads back.

        Vectors, offsets and integers are not copied. Needs pyarrow.

        Returns
        -------
        pyarrow.Array
            Strings as large_string; of `bytes` as large_binary; of integers as large lists of
            int64, which ``pack(..., kind="strings")`` reads; of tokens as large lists of
            large_string or large_binary. Vectors as large lists of numbers (dim 1) or of
            fixed-size lists of numbers; with weights, of structs of `vector` and `weight`. Names of
            channels are metadata of the type of the vectors, which Parquet files of pyarrow keep.

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
        weights: Any = self.weights, other.weights
        return (
            self.kind == other.kind
            and self.letters == other.letters
            and np.array_equal(self.offsets, other.offsets)
            and self.dim == other.dim
            and self.channel_names == other.channel_names
            and self.missing == other.missing
            and np.array_equal(_symbols(self), _symbols(other), equal_nan=self.missing)
            and np.array_equal(*weights)
        )

    __hash__ = None  # type: ignore[assignment]  # the way to say that there is none

    def __repr__(self) -> str:
        n = len(self)
        lengths = self.lengths
        span = f", lengths {lengths.min()} to {lengths.max()}" if n else ""
        if self.has_letters:
            return f"<{n} {self.kind} over {len(self.alphabet)} letters{span}>"
        weighted = "" if self.weights is None else "weighted "
        dtype = f"{self.dtype}, some missing" if self.missing else self.dtype
        return f"<{n} {self.kind} of {weighted}{self.dim}-dimensional vectors, {dtype}{span}>"


def from_owned(
    kind: str,
    values: NDArray[Any],
    offsets: NDArray[np.int64],
    alphabet: NDArray[Any] | None = None,
    letters: str | None = None,
    weights: NDArray[np.float64] | None = None,
    missing: bool = False,
    ids: NDArray[Any] | None = None,
    channel_names: tuple[str, ...] | None = None,
) -> Objects:
    """Return Objects of consistent, unshared arrays, without copy or check."""
    objects = object.__new__(Objects)
    objects._keep((kind, values, offsets, alphabet, letters, weights, missing, ids, channel_names))
    return objects


def with_fields(objects: Objects, **fields: Any) -> Objects:
    """Return Objects with some fields replaced by consistent values."""
    return from_owned(**dict(zip(_FIELDS, _fields_of(objects), strict=True)) | fields)


def _copy(array: Any) -> Any:
    """Return a copy of an array, or an array of Objects as it is; None for None."""
    if array is None:
        return None
    array = np.ascontiguousarray(array)
    return array if is_frozen(array) else array.copy()


def check_arrays(objects: Objects) -> Objects:
    """Refuse inconsistent arrays: the kernels trust the offsets.

    `pack` and the readers of files check that the values are finite.
    """
    kind, values, offsets, weights = objects.kind, objects.values, objects.offsets, objects.weights
    alphabet, letters, ids = objects.alphabet, objects.letters, objects.ids
    choice("kind", kind, KINDS)
    if values is None or offsets is None:
        raise TypeError("values and offsets must be arrays, got None")
    vectors = KINDS[kind].base != "strings"
    types = ("f4", "f8") if vectors else ("u1", "u2", "u4")
    native = values.dtype.isnative and values.dtype.str[1:] in types
    if not native or values.ndim != 1 + vectors:
        raise TypeError(f"values of {kind} must not be {values.dtype} of shape {values.shape}")
    if vectors and values.shape[1] == 0:
        raise ValueError(f"values must have a dimension of at least 1, got {values.shape}")
    if offsets.dtype != np.int64 or offsets.ndim != 1 or offsets.size == 0:
        raise TypeError(
            f"offsets must be int64 of shape (n + 1,), got {offsets.dtype} of shape {offsets.shape}"
        )
    if offsets[0] != 0 or offsets[-1] != len(values) or (offsets[1:] < offsets[:-1]).any():
        raise ValueError(f"offsets must ascend from 0 to {len(values)}, the number of values")
    if weights is not None and (
        KINDS[kind].base != "sets" or weights.dtype != np.float64 or weights.shape != (len(values),)
    ):
        raise ValueError(f"weights must be float64 of shape ({len(values)},), of sets only")
    if ids is not None:
        check_ids(ids, len(offsets) - 1)
    if objects.channel_names is not None:
        check_channel_names(objects.channel_names, objects.dim if vectors else 0)
    if vectors:
        if alphabet is not None or letters is not None:
            raise ValueError("alphabet and letters must be None for vectors")
        return objects
    choice("letters", letters, LETTER_TYPES)
    if alphabet is None or alphabet.ndim != 1 or alphabet.dtype.kind not in "iuS":
        raise TypeError("alphabet must be a one-dimensional array of integers or of tokens")
    if (letters == "token") != (alphabet.dtype.kind == "S"):
        raise TypeError(f"alphabet of {letters} must not hold {alphabet.dtype}")
    if (alphabet[1:] <= alphabet[:-1]).any():
        raise ValueError("alphabet must ascend")
    if letters in ("str", "bytes") and alphabet.size:
        limit = 0x10FFFF if letters == "str" else 255
        if alphabet[0] < 0 or alphabet[-1] > limit:
            raise ValueError(f"alphabet of {letters} must lie between 0 and {limit}")
    if values.size and values.max() >= alphabet.size:
        raise ValueError(f"values must be indices of the {alphabet.size} letters of alphabet")
    return objects


def check_ids(ids: Any, n: int) -> None:
    """Refuse an array that does not hold the names of n objects."""
    if ids.dtype != np.int64 and ids.dtype.kind != "U":
        raise TypeError(f"ids must be int64 or text, got {ids.dtype}")
    if ids.shape != (n,):
        raise ValueError(f"ids must have shape ({n},), got {ids.shape}")


def check_channel_names(names: tuple[str, ...], dim: int) -> None:
    """Refuse names that do not fit `dim` channels of vectors."""
    if len(set(names)) != dim or len(names) != dim or {*map(type, names)} - {str}:
        raise ValueError(f"channel_names must be {dim} different strings, got {names}")


def as_kind(objects: Objects, kind: str) -> Objects | None:
    """Return the objects as objects of `kind`, without a copy; None if they cannot replace it."""
    if objects.kind == kind:
        return objects
    return with_fields(objects, kind=kind) if stands_for(objects.kind, kind) else None


def span_of(items: Any, start: int, stop: int) -> Any:
    """Return consecutive objects of a collection, packed or a list, in the same memory."""
    return items.span(start, stop) if hasattr(items, "span") else items[start:stop]


def take(items: Any, indices: NDArray[np.integer[Any]]) -> Any:
    """Return the objects of a collection, packed or a list, at these indices."""
    return [items[i] for i in indices.tolist()] if isinstance(items, list) else items[indices]


def _symbols(objects: Objects) -> NDArray[Any]:
    return objects.alphabet[objects.values] if objects.has_letters else objects.values


def offsets_of(lengths: Sequence[int] | NDArray[Any]) -> NDArray[np.int64]:
    """Return the int64 offsets of items with these lengths in one buffer."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    if len(lengths):
        np.add.accumulate(lengths, dtype=np.int64, out=offsets[1:])
    return offsets


def code_dtype(n_letters: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest unsigned type for indices into an alphabet of `n_letters`."""
    return np.uint8 if n_letters <= 2**8 else np.uint16 if n_letters <= 2**16 else np.uint32


class StoredObjects:
    """Base class of objects that may be larger than memory, such as `d2ke.io.ParquetObjects`.

    They have the attributes kind, dim, letters, alphabet, lengths, ids and channel_names of
    `Objects`, and a length; ``span(start, stop)`` returns consecutive objects, packed, and
    ``[rows]`` the objects of ascending rows.
    """

    ids: NDArray[Any] | None = None
    channel_names: tuple[str, ...] | None = None
    letters: str | None = None

    @property
    def has_letters(self) -> bool:
        """Whether the objects are strings."""
        return self.letters is not None
