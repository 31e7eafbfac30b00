# SPDX-License-Identifier: BSD-3-Clause
"""Packed, immutable collections of objects: the one place that converts and checks users' data."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from d2ke._validate import choice, flag

KINDS = ("vectors", "strings")
LETTERS = ("str", "bytes", "int")

_LARGEST_EXACT_INTEGER = 2**53
_SMALL_TABLE = 2**16


class Objects:
    """An immutable collection of objects of unequal sizes, packed into one buffer.

    Made by `pack`; every function of d2ke that takes objects takes it as it is,
    so that conversion and checks happen once.

    Attributes
    ----------
    kind : {"vectors", "strings"}
        ``"vectors"``: each object is a sequence of vectors of one dimension, a
        time series (order matters to the distance) or a set (it does not).
        ``"strings"``: each object is a sequence of letters.
    values : ndarray
        All objects end to end: (total, dim) float32 or float64 for vectors,
        (total,) uint8, uint16 or uint32 indices into `alphabet` for strings.
        C-contiguous, read-only.
    offsets : ndarray of int64, shape (n + 1,)
        Object i is ``values[offsets[i]:offsets[i + 1]]``.
    alphabet : ndarray or None
        The letters of the strings, sorted: code points for `str`, byte values
        for `bytes`, the integers themselves for integer sequences. None for
        vectors.
    letters : {"str", "bytes", "int"} or None
        What the letters are. None for vectors.
    weights : ndarray of float64, shape (total,), or None
        One weight for each vector, read-only; None for vectors of equal weight.
        Slices and `concatenate` keep them. A single object ``X[i]`` is its
        vectors alone; its weights are ``X.weights[X.offsets[i]:X.offsets[i + 1]]``.

    Examples
    --------
    >>> import d2ke
    >>> X = d2ke.pack(["ACGT", "", "GATTACA"])
    >>> len(X), X[2], X[[0, 1]].lengths
    (3, 'GATTACA', array([4, 0]))
    """

    __slots__ = ("alphabet", "kind", "letters", "offsets", "values", "weights")

    kind: str
    values: np.ndarray
    offsets: np.ndarray
    alphabet: np.ndarray | None
    letters: str | None
    weights: np.ndarray | None

    def __init__(self, kind, values, offsets, alphabet=None, letters=None, weights=None):
        arrays = {"values": values, "offsets": offsets, "alphabet": alphabet, "weights": weights}
        for name, array in arrays.items():
            if array is not None:
                array = np.ascontiguousarray(array)
                if array.base is not None and array.flags.writeable:
                    array = array.copy()
                # The view of a read-only array cannot be made writeable again.
                array.flags.writeable = False
                array = array.view()
            object.__setattr__(self, name, array)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "letters", letters)
        self._check()

    def _check(self) -> None:
        """Refuse parts that do not fit each other: the kernels go where the offsets say.

        Whether the values are finite is `pack`'s to check, and that of whoever reads a file.
        """
        choice("kind", self.kind, KINDS)
        values, offsets, alphabet, weights = (
            self.values, self.offsets, self.alphabet, self.weights
        )  # fmt: skip
        if values is None or offsets is None:
            raise TypeError("values and offsets must be arrays, got None")
        vectors = self.kind == "vectors"
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
            not vectors or weights.dtype != np.float64 or weights.shape != (len(values),)
        ):
            raise ValueError(f"weights must be float64 of shape ({len(values)},), of vectors only")
        if vectors:
            if alphabet is not None or self.letters is not None:
                raise ValueError("alphabet and letters must be None for vectors")
            return
        choice("letters", self.letters, LETTERS)
        if alphabet is None or alphabet.ndim != 1 or alphabet.dtype.kind not in "iu":
            raise TypeError("alphabet must be a one-dimensional array of integers")
        if (alphabet[1:] <= alphabet[:-1]).any():
            raise ValueError("alphabet must ascend")
        if self.letters != "int" and alphabet.size:
            most = 0x10FFFF if self.letters == "str" else 255
            if alphabet[0] < 0 or alphabet[-1] > most:
                raise ValueError(f"alphabet of {self.letters} must lie between 0 and {most}")
        if values.size and values.max() >= alphabet.size:
            raise ValueError(f"values must be indices of the {alphabet.size} letters of alphabet")

    def __setattr__(self, name, value):
        raise AttributeError(f"Objects are immutable; cannot set {name!r}")

    def __delattr__(self, name):
        raise AttributeError(f"Objects are immutable; cannot delete {name!r}")

    def __reduce__(self):
        return Objects, (
            self.kind,
            self.values,
            self.offsets,
            self.alphabet,
            self.letters,
            self.weights,
        )

    @property
    def lengths(self) -> np.ndarray:
        """Number of vectors or letters of each object, int64, shape (n,)."""
        return np.diff(self.offsets)

    @property
    def dim(self) -> int:
        """Dimension (channels) of the vectors; 1 for strings."""
        return self.values.shape[1] if self.values.ndim == 2 else 1

    @property
    def dtype(self) -> np.dtype:
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
        if self.kind == "vectors":
            return values
        symbols = self.alphabet[values]
        if self.letters == "str":
            return symbols.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        if self.letters == "bytes":
            return symbols.astype(np.uint8).tobytes()
        return symbols

    def __getitem__(self, index: Any) -> Any:
        """One object for an integer; Objects for a slice, an index array or a boolean mask."""
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
        if isinstance(index, slice):
            picked = np.arange(len(self))[index]
        else:
            picked = np.asarray(index)
            if picked.dtype == bool and picked.shape != (len(self),):
                raise IndexError(
                    f"a boolean mask must have shape ({len(self)},), got {picked.shape}"
                )
            if picked.size == 0:
                picked = picked.astype(np.int64)
            if picked.ndim != 1 or picked.dtype.kind not in "iub":
                raise IndexError(
                    "an index array must be 1-D of integers or booleans, got "
                    f"{picked.dtype} of shape {picked.shape}"
                )
            picked = np.arange(len(self))[picked]
        lengths = self.lengths[picked]
        offsets = offsets_of(lengths)
        # Position t of the result comes from offsets[item] + (t - its own start).
        source = np.repeat(self.offsets[picked] - offsets[:-1], lengths)
        source += np.arange(offsets[-1])
        weights = None if self.weights is None else self.weights[source]
        return Objects(
            self.kind, self.values[source], offsets, self.alphabet, self.letters, weights
        )

    def span(self, start: int, stop: int) -> Objects:
        """Objects from `start` to before `stop`; unlike a slice, they share the memory."""
        first, last = self.offsets[start], self.offsets[stop]
        return Objects(
            self.kind,
            self.values[first:last],
            self.offsets[start : stop + 1] - first,
            self.alphabet,
            self.letters,
            None if self.weights is None else self.weights[first:last],
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Objects):
            return NotImplemented
        return (
            self.kind == other.kind
            and self.letters == other.letters
            and np.array_equal(self.offsets, other.offsets)
            and self.dim == other.dim
            and np.array_equal(_symbols(self), _symbols(other))
            and (self.weights is None) == (other.weights is None)
            and (self.weights is None or np.array_equal(self.weights, other.weights))
        )

    __hash__ = None

    def __repr__(self) -> str:
        n = len(self)
        lengths = self.lengths
        span = f", lengths {lengths.min()} to {lengths.max()}" if n else ""
        if self.kind == "strings":
            return f"<{n} strings over {len(self.alphabet)} letters{span}>"
        weighted = "" if self.weights is None else "weighted "
        return f"<{n} sequences of {weighted}{self.dim}-dimensional vectors, {self.dtype}{span}>"


def pack(
    items: Any,
    *,
    kind: str | None = None,
    lengths: Any = None,
    channels_first: bool = False,
    weights: Any = None,
    name: str = "items",
) -> Objects:
    """Pack objects of unequal sizes into one contiguous, immutable collection.

    Parameters
    ----------
    items : Objects, sequence or ndarray
        - `Objects`: returned as they are, or with `weights`;
        - a sequence of (length, dim) arrays, or of 1-D arrays (dim = 1):
          series or sets of vectors;
        - a sequence of `str`, or of `bytes`, or (with ``kind="strings"``) of
          1-D integer arrays: strings;
        - an object array such as `scipy.io.loadmat` gives for a cell: as the
          sequence of its elements (a row or a column);
        - a numeric (n, length) or (n, length, dim) array: n series of equal
          length, or of the given `lengths`.
    kind : {"vectors", "strings"}, optional
        Needed only for integer sequences, which are series of one channel
        unless ``kind="strings"``.
    lengths : array_like of int, shape (n,), optional
        For a padded (n, length[, dim]) array: how much of each row counts.
    channels_first : bool
        True: 2-D items are (dim, length), as in the authors' MATLAB cells.
    weights : sequence of array_like, optional
        For sets of vectors: one 1-D array for each object, or a cell of rows or
        columns, with a weight for each vector; finite, >= 0, and of a sum > 0.
        Of a numeric array that goes with padded items and `lengths`, as much of
        each row counts. Only some distances use weights, the others refuse
        them.
    name : str
        What errors call the argument.

    Returns
    -------
    Objects
        float32 items stay float32, float16 become float32, other numbers and
        booleans float64; where both occur, all are float64. Nothing is rounded.
        Letters become indices into an alphabet. Weights are kept as float64.

    Raises
    ------
    TypeError
        Items of types that are not understood or do not mix (`bytes` among
        `str`, complex numbers, a `str` instead of a sequence of them).
    ValueError
        No items; NaN or infinity (naming the item and the position); different
        numbers of channels; integers that float64 cannot hold; wrong shapes or
        lengths; weights that do not fit the objects.

    Examples
    --------
    >>> import numpy as np
    >>> import d2ke
    >>> d2ke.pack([np.zeros((5, 3)), np.ones((8, 3))])
    <2 sequences of 3-dimensional vectors, float64, lengths 5 to 8>
    >>> d2ke.pack(["AC", "GATTACA"])
    <2 strings over 4 letters, lengths 2 to 7>
    >>> d2ke.pack(np.zeros((2, 6, 3)), lengths=[6, 4]).lengths
    array([6, 4])
    >>> d2ke.pack([np.zeros((2, 3)), np.ones((1, 3))], weights=[[0.25, 0.75], [1]]).weights
    array([0.25, 0.75, 1.  ])
    """
    if kind is not None:
        choice("kind", kind, KINDS)
    channels_first = flag("channels_first", channels_first)
    if weights is not None:
        if lengths is not None and _is_padded(weights):
            weights = _trim(np.asarray(weights), lengths, False, "weights")
        objects = pack(items, kind=kind, lengths=lengths, channels_first=channels_first, name=name)
        return _weighted(objects, weights, name)
    if isinstance(items, Objects):
        if lengths is not None or channels_first:
            raise TypeError(f"{name} is packed already: lengths and channels_first do not apply")
        if kind is not None and items.kind != kind:
            raise TypeError(f"{name} holds {items.kind}, but {kind} are needed")
        return items
    items = _as_list(items, lengths, channels_first, name)
    if not items:
        raise ValueError(f"{name} is empty: at least one object is needed")
    if kind is None:
        kind = "strings" if isinstance(items[0], (str, bytes)) else "vectors"
    if kind == "strings":
        if channels_first:
            raise TypeError(f"channels_first does not apply to strings, which {name} holds")
        return _pack_strings(items, name)
    return _pack_vectors(items, channels_first, name)


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
    if first.kind == "vectors":
        weights = None
        if any(part.weights is not None for part in parts):
            weights = np.concatenate([_weights_or_equal(part) for part in parts])
        values = np.concatenate([part.values for part in parts])
        return Objects("vectors", values, offsets, weights=weights)
    alphabet, recoded = common_alphabet(parts)
    values = np.concatenate(recoded).astype(_code_dtype(len(alphabet)))
    return Objects("strings", values, offsets, alphabet, first.letters)


def common_alphabet(collections: Sequence[Objects]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the merged alphabet of strings, and each collection's letters as indices into it."""
    alphabets = [part.alphabet for part in collections]
    if all(np.array_equal(alphabets[0], other) for other in alphabets[1:]):
        return alphabets[0], [part.values for part in collections]
    alphabet = np.unique(np.concatenate(alphabets))
    recoded = [np.searchsorted(alphabet, part.alphabet)[part.values] for part in collections]
    return alphabet, recoded


def check_compatible(x: Objects, y: Objects, x_name: str, y_name: str) -> None:
    """Raise unless objects of x and of y can be compared with each other."""
    if x.kind != y.kind:
        raise TypeError(f"{x_name} holds {x.kind} but {y_name} holds {y.kind}")
    if x.letters != y.letters and len(x.values) and len(y.values):
        raise TypeError(
            f"{x_name} holds strings of {x.letters} but {y_name} holds strings of {y.letters}"
        )
    if x.kind == "vectors" and x.dim != y.dim:
        raise ValueError(
            f"{x_name} has vectors of {x.dim} dimensions (channels) but {y_name} has {y.dim}"
        )


def refuse_weights(objects: Objects, name: str, user: str) -> None:
    """Raise if the objects have weights, which `user` would not look at."""
    if objects.weights is not None:
        raise TypeError(
            f"{user} does not use weights, but {name} has them; pack the vectors without weights"
        )


def _weights_or_equal(objects: Objects) -> np.ndarray:
    if objects.weights is not None:
        return objects.weights
    lengths = objects.lengths
    return np.repeat(1.0 / np.maximum(lengths, 1), lengths)


def offsets_of(lengths: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return where items of these lengths begin and end in one buffer, int64."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _symbols(objects: Objects) -> np.ndarray:
    return objects.values if objects.kind == "vectors" else objects.alphabet[objects.values]


def _as_list(items: Any, lengths: Any, channels_first: bool, name: str) -> list[Any]:
    """Any accepted collection as a list of items."""
    if isinstance(items, (str, bytes)):
        raise TypeError(f"{name} must be a sequence of objects, got one {type(items).__name__}")
    if isinstance(items, Mapping) or hasattr(items, "columns"):
        raise TypeError(
            f"{name} is one {type(items).__name__}; a sequence of objects is needed, such as a "
            "list of its values"
        )
    padded = _is_padded(items)
    if lengths is not None and not padded:
        raise TypeError(f"lengths goes with a padded array of numbers, but {name} is a sequence")
    if padded:
        if items.ndim not in (2, 3):
            raise ValueError(
                f"{name} must be a sequence of objects or an (n, length[, dim]) array, got an "
                f"array of shape {items.shape}"
            )
        if lengths is not None:
            return _trim(items, lengths, channels_first and items.ndim == 3, name)
    elif isinstance(items, np.ndarray):
        if items.size > max(items.shape, default=1):
            raise ValueError(
                f"{name} must be a row or a column of objects, got shape {items.shape}"
            )
        items = [_uncell(item) for item in items.ravel()]
    try:
        return list(items)
    except TypeError:
        raise TypeError(
            f"{name} must be a sequence of objects, got {type(items).__name__}"
        ) from None


def _is_padded(items: Any) -> bool:
    return isinstance(items, np.ndarray) and items.dtype.kind not in "OUST"


def _uncell(item: Any) -> Any:
    """Turn a character array, which loadmat gives for a string in a cell, into str."""
    if isinstance(item, np.ndarray) and item.dtype.kind == "U":
        if item.size > 1:
            raise ValueError(f"a cell holds {item.size} rows of characters; one was expected")
        return str(item.item()) if item.size else ""
    return item


def _trim(array: np.ndarray, lengths: Any, channels_first: bool, name: str) -> list[np.ndarray]:
    lengths = np.asarray(lengths)
    if lengths.shape != (len(array),) or lengths.dtype.kind not in "iu":
        raise ValueError(
            f"lengths must be {len(array)} integers, one for each row of {name}; got "
            f"{lengths.dtype} of shape {lengths.shape}"
        )
    if array.ndim < 2:
        raise ValueError(f"{name} must be padded, one row for each object; got {array.shape}")
    longest = array.shape[2] if channels_first else array.shape[1]
    wrong = np.flatnonzero((lengths < 0) | (lengths > longest))
    if wrong.size:
        i = wrong[0]
        raise ValueError(f"lengths[{i}] must be between 0 and {longest}, got {lengths[i]}")
    return [
        row[..., :n] if channels_first else row[:n] for row, n in zip(array, lengths, strict=True)
    ]


def _pack_vectors(items: list[Any], channels_first: bool, name: str) -> Objects:
    arrays = [_vectors(item, i, channels_first, name) for i, item in enumerate(items)]
    dim = arrays[0].shape[1]
    for i, array in enumerate(arrays):
        if array.shape[1] != dim:
            hint = ""
            if len({len(other) for other in arrays}) == 1:
                hint = " (items of shape (dim, length) are packed with channels_first=True)"
            raise ValueError(
                f"{name}[{i}] has {array.shape[1]} channels, {name}[0] has {dim}; all must have "
                f"the same{hint}"
            )
    values = np.concatenate(arrays)
    offsets = offsets_of(np.array([len(array) for array in arrays]))
    finite = np.isfinite(values)
    if not finite.all():
        at, channel = np.argwhere(~finite)[0]
        i = np.searchsorted(offsets, at, side="right") - 1
        raise ValueError(
            f"{name}[{i}] has {values[at, channel]} at position ({at - offsets[i]}, {channel}); "
            "every value must be finite"
        )
    return Objects("vectors", values, offsets)


def _vectors(item: Any, i: int, channels_first: bool, name: str) -> np.ndarray:
    """One item as a (length, dim) array of float32 or float64."""
    if isinstance(item, (str, bytes)):
        raise TypeError(f"{name}[{i}] is {type(item).__name__}; arrays of numbers are needed")
    try:
        array = np.asarray(item)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}[{i}] is not an array of numbers: {error}") from None
    if isinstance(item, np.ma.MaskedArray) and np.ma.is_masked(item):
        raise TypeError(f"{name}[{i}] has masked elements; every value must be there")
    if array.dtype.kind in "iuf" and not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind in "iu":
        if array.size and not (
            int(array.min()) >= -_LARGEST_EXACT_INTEGER
            and int(array.max()) <= _LARGEST_EXACT_INTEGER
        ):
            raise ValueError(f"{name}[{i}] has integers beyond 2**53, which float64 cannot hold")
    elif array.dtype.kind != "b" and array.dtype not in (np.float16, np.float32, np.float64):
        raise TypeError(
            f"{name}[{i}] has element type {array.dtype}; float64, float32 or integers are needed"
        )
    if array.ndim == 1:
        array = array[:, None]
    elif array.ndim != 2:
        raise ValueError(
            f"{name}[{i}] has shape {array.shape}; (length, dim) or (length,) is needed"
        )
    elif channels_first:
        array = array.T
    if array.shape[1] == 0:
        raise ValueError(f"{name}[{i}] has shape {array.shape}: its vectors have no elements")
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float32 if array.dtype == np.float16 else np.float64)
    return array


def _weighted(objects: Objects, weights: Any, name: str) -> Objects:
    """Return the objects with these weights."""
    if objects.kind != "vectors":
        raise TypeError(f"weights go with vectors, but {name} holds {objects.kind}")
    if objects.weights is not None:
        raise TypeError(f"{name} has weights already")
    if not isinstance(weights, (Sequence, np.ndarray)) or isinstance(weights, (str, bytes)):
        raise TypeError(
            f"weights must be a sequence of arrays, one for each object of {name}; got "
            f"{type(weights).__name__}"
        )
    if isinstance(weights, np.ndarray) and weights.dtype.kind == "O":
        if weights.size > max(weights.shape, default=1):
            raise ValueError(
                f"weights must be a row or a column of arrays, got shape {weights.shape}"
            )
        weights = weights.ravel()
    if len(weights) != len(objects):
        raise ValueError(
            f"weights has {len(weights)} arrays, but {name} has {len(objects)} objects"
        )
    arrays = [
        _object_weights(one, i, n, name)
        for i, (one, n) in enumerate(zip(weights, objects.lengths.tolist(), strict=True))
    ]
    return Objects("vectors", objects.values, objects.offsets, weights=np.concatenate(arrays))


def _object_weights(one: Any, i: int, length: int, name: str) -> np.ndarray:
    try:
        array = np.asarray(one)
    except (TypeError, ValueError) as error:
        raise TypeError(f"weights[{i}] is not an array of numbers: {error}") from None
    if isinstance(one, np.ma.MaskedArray) and np.ma.is_masked(one):
        raise TypeError(f"weights[{i}] has masked elements; every value must be there")
    if array.ndim == 2 and 1 in array.shape:
        array = array.ravel()  # a row or a column of MATLAB's
    if array.size and (array.dtype.kind not in "iuf" or array.dtype.itemsize > 8):
        raise TypeError(f"weights[{i}] has element type {array.dtype}; float64 or integers needed")
    if array.shape != (length,) and not array.size == length == 0:
        raise ValueError(
            f"weights[{i}] has shape {array.shape}, but {name}[{i}] has {length} vectors"
        )
    array = array.ravel()
    wide = array.astype(np.float64)
    if array.dtype.kind in "iu" and not (wide.astype(array.dtype) == array).all():
        raise ValueError(f"weights[{i}] has integers that float64 cannot hold")
    wrong = np.flatnonzero(~(np.isfinite(wide) & (wide >= 0)))
    if wrong.size:
        at = wrong[0]
        raise ValueError(f"weights[{i}] has {wide[at]} at {at}; weights must be finite and >= 0")
    with np.errstate(over="ignore"):
        total = wide.sum()
    # Half of what float64 holds: rounding in another order of summing cannot overflow.
    if length and not 0 < total < 2.0**1023:
        raise ValueError(f"the sum of weights[{i}] must be > 0 and < 2**1023, got {total}")
    return wide


def _pack_strings(items: list[Any], name: str) -> Objects:
    kinds = {kind: _letters(kind) for kind in set(map(type, items))}
    letters = kinds[type(items[0])]
    if set(kinds.values()) != {letters}:
        i = next(i for i, item in enumerate(items) if kinds[type(item)] != letters)
        raise TypeError(
            f"{name}[{i}] is {type(items[i]).__name__}, {name}[0] is {type(items[0]).__name__}; "
            "all must be of one type"
        )
    size = np.size if letters == "int" else len
    offsets = offsets_of(np.fromiter(map(size, items), dtype=np.int64, count=len(items)))
    if letters == "str":
        joined = "".join(items).encode("utf-32-le", "surrogatepass")
        symbols = np.frombuffer(joined, dtype="<u4")
    elif letters == "bytes":
        symbols = np.frombuffer(b"".join(items), dtype=np.uint8)
    else:
        sequences = [_integers(item, i, name) for i, item in enumerate(items)]
        symbols = np.concatenate([np.empty(0, dtype=np.int64), *sequences])
    alphabet, codes = _indexed(symbols)
    return Objects("strings", codes, offsets, alphabet, letters)


def _letters(kind: type) -> str:
    return "str" if issubclass(kind, str) else "bytes" if issubclass(kind, bytes) else "int"


def _indexed(symbols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different symbols in order, and each symbol's index among them."""
    least = int(symbols.min(initial=0))
    span = int(symbols.max(initial=0)) - least + 1
    if span > max(_SMALL_TABLE, len(symbols)):
        alphabet, codes = np.unique(symbols, return_inverse=True)
        return alphabet.astype(np.int64), codes.astype(_code_dtype(len(alphabet)))
    places = symbols - least if least else symbols
    seen = np.zeros(span, dtype=bool)
    seen[places] = True
    alphabet = np.flatnonzero(seen) + least
    index = np.zeros(span, dtype=_code_dtype(len(alphabet)))
    index[alphabet - least] = np.arange(len(alphabet))
    return alphabet, index[places]


def _integers(item: Any, i: int, name: str) -> np.ndarray:
    array = np.asarray(item)
    if array.size == 0 and array.ndim == 1:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(
            f"{name}[{i}] must be a str, bytes or a 1-D sequence of integers; got "
            f"{type(item).__name__} ({array.dtype}, shape {array.shape})"
        )
    if array.dtype == np.uint64 and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name}[{i}] has integers beyond int64")
    return array.astype(np.int64)


def _code_dtype(n_letters: int) -> type:
    return np.uint8 if n_letters <= 2**8 else np.uint16 if n_letters <= 2**16 else np.uint32
