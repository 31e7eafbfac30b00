# SPDX-License-Identifier: BSD-3-Clause
"""The distances that d2ke knows, and the matrix of distances between two collections."""

from __future__ import annotations

import math
import numbers
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import LowLevelCallable

from d2ke._clouds import cloud, decay, distinct, scaled
from d2ke._distributed import Remote
from d2ke._ext import elastic, features, kernel_sums, sets, strings, transport, user
from d2ke._progress import progress_bar
from d2ke._stream import check_memory, receive_array, stream
from d2ke._threads import team_size
from d2ke._validate import byte_count, choice, element_type, flag, integer, positive_number
from d2ke.io import FeatureFile
from d2ke.objects import Objects, check_compatible, common_alphabet, pack, refuse_weights

if TYPE_CHECKING:
    from dask.array import Array


@dataclass(frozen=True)
class Distance:
    """One row of the registry.

    Attributes
    ----------
    name : str
        What users write.
    aliases : tuple of str
        Other names of the same distance.
    kind : {"vectors", "strings"}
        The kind of objects it compares.
    symmetric, metric : bool
        Whether d(x, y) = d(y, x), and whether it is a metric.
    shortest : int
        The shortest object for which it is defined.
    parameters : mapping of str to callable
        Each parameter's name and its check, ``check(name, value)``, which
        returns what `prepare` takes. The defaults are those of `prepare`.
    required : tuple of str
        The parameters without a default.
    prepare : callable
        ``prepare(x, y, same, **parameters)`` returns the compiled form.
    summary, source : str
        One line of documentation, and where the definition is from.
    weighted : bool
        Whether it uses the weights of vectors; if not, objects with weights are
        refused.
    """

    name: str
    aliases: tuple[str, ...]
    kind: str
    symmetric: bool
    metric: bool
    shortest: int
    prepare: Callable[..., Any]
    summary: str
    source: str
    parameters: Mapping[str, Callable[[str, Any], Any]] = field(default_factory=dict)
    weighted: bool = False
    required: tuple[str, ...] = ()


def _dtw_window(name: str, value: Any) -> int:
    if value is None:
        return elastic.NO_WINDOW
    if isinstance(value, str):
        if value != "rws":
            raise ValueError(f"{name} must be None, an integer >= 0 or 'rws'; got {value!r}")
        return elastic.RWS_WINDOW
    return min(integer(name, value, 0), 2**40)  # no series is longer


def _ground(name: str, value: Any) -> bool:
    return choice(name, value, ["euclidean", "sqeuclidean"]) == "sqeuclidean"


def _prepare_dtw(x, y, same, window=elastic.NO_WINDOW, ground=False):
    x_values, y_values = _same_precision(x, y)
    return elastic.dtw(x_values, x.offsets, y_values, y.offsets, window, ground, same)


def _prepare_levenshtein(x, y, same):
    x_codes, y_codes, n_letters = _letters(x, y, np.uint32)
    return strings.levenshtein(x_codes, x.offsets, y_codes, y.offsets, n_letters, same)


def _prepare_sets(mode):
    def prepare(x, y, same):
        x_values, y_values = _same_precision(x, y)
        return sets.sets(x_values, x.offsets, y_values, y.offsets, mode, same)

    return prepare


def _prepare_emd(x, y, same, ground=False):
    measures_x = _measures(x)
    return transport.emd(measures_x, measures_x if y is x else _measures(y), ground, same)


def _measures(objects):
    values = objects.values.astype(np.float64, copy=False)
    return transport.measures(values, objects.offsets, objects.weights)


def _prepare_kernel(x, y, same, sigma, kernel="gaussian", normalize=False):
    sides = []
    for name, objects in (("X", x),) if y is x else (("X", x), ("Y", y)):
        values = objects.values.astype(np.float64, copy=False)
        weights = np.ones(len(values)) if objects.weights is None else objects.weights
        points, weights, offsets = distinct(values, weights, objects.offsets)
        totals = np.add.reduceat(weights, offsets[:-1])
        if normalize:
            weights = weights / np.repeat(totals, np.diff(offsets))
        elif totals.max() > _MOST_WEIGHT:
            i = int(totals.argmax())
            raise ValueError(f"the weights of {name}[{i}] are too large: their sum is {totals[i]}")
        points, unit_sigma = scaled(points, sigma)
        sides.append((cloud(points), cloud(weights[:, None]), offsets))
    laplace, rate = kernel == "laplace", decay(kernel, unit_sigma)
    return kernel_sums.distance(*sides[0], *sides[-1], laplace, rate, same)


def _kernel(name: str, value: Any) -> str:
    return choice(name, value, ["gaussian", "laplace"])


_MOST_WEIGHT = 2.0**500  # whose square, times some, is still finite

DISTANCES = (
    Distance(
        name="dtw",
        aliases=("dynamic_time_warping",),
        kind="vectors",
        symmetric=True,
        metric=False,
        shortest=1,
        prepare=_prepare_dtw,
        parameters={"window": _dtw_window, "ground": _ground},
        summary="dynamic time warping: the least sum of ground distances along a warping path",
        source="Sakoe & Chiba 1978; windows of Wu et al. 2018 (Random Warping Series)",
    ),
    Distance(
        name="levenshtein",
        aliases=("edit", "lev"),
        kind="strings",
        symmetric=True,
        metric=True,
        shortest=0,
        prepare=_prepare_levenshtein,
        summary="least number of insertions, deletions and substitutions of letters",
        source="Levenshtein 1966; bit-vectors of Myers 1999 and Hyyro 2003",
    ),
    Distance(
        name="mhd",
        aliases=("modified_hausdorff",),
        kind="vectors",
        symmetric=True,
        metric=False,
        shortest=1,
        prepare=_prepare_sets(sets.MHD),
        summary="modified Hausdorff: the larger of the two means of nearest-neighbour distances",
        source="Dubuisson & Jain 1994; Wu et al. 2018, eq. (2)",
    ),
    Distance(
        name="hausdorff",
        aliases=(),
        kind="vectors",
        symmetric=True,
        metric=True,
        shortest=1,
        prepare=_prepare_sets(sets.HAUSDORFF),
        summary="Hausdorff: the largest distance of a vector of either set to the other set",
        source="Hausdorff 1914",
    ),
    Distance(
        name="chamfer",
        aliases=(),
        kind="vectors",
        symmetric=True,
        metric=False,
        shortest=1,
        prepare=_prepare_sets(sets.CHAMFER),
        summary="Chamfer: the sum of the two means of nearest-neighbour distances",
        source="Barrow et al. 1977",
    ),
    Distance(
        name="directed_mhd",
        aliases=(),
        kind="vectors",
        symmetric=False,
        metric=False,
        shortest=1,
        prepare=_prepare_sets(sets.DIRECTED_MHD),
        summary="mean distance of the vectors of x to the set y",
        source="Dubuisson & Jain 1994",
    ),
    Distance(
        name="directed_hausdorff",
        aliases=(),
        kind="vectors",
        symmetric=False,
        metric=False,
        shortest=1,
        prepare=_prepare_sets(sets.DIRECTED_HAUSDORFF),
        summary="largest distance of a vector of x to the set y",
        source="Hausdorff 1914",
    ),
    Distance(
        name="emd",
        aliases=("wasserstein", "wmd"),
        kind="vectors",
        symmetric=True,
        metric=True,
        shortest=1,
        prepare=_prepare_emd,
        parameters={"ground": _ground},
        summary="earth mover's distance: the least cost of moving the weights of x to those of y",
        source="Rubner, Tomasi & Guibas 2000; Kusner et al. 2015 (Word Mover's Distance); "
        "Wu et al. 2018 (Word Mover's Embedding)",
        weighted=True,
    ),
    Distance(
        name="kernel",
        aliases=("kernel_distance",),
        kind="vectors",
        symmetric=True,
        metric=True,
        shortest=1,
        prepare=_prepare_kernel,
        parameters={"sigma": positive_number, "kernel": _kernel, "normalize": flag},
        summary="kernel distance: the norm of the difference of two measures under a kernel",
        source="Joshi, Kommaraju, Phillips & Venkatasubramanian 2011; Gretton et al. 2012 (MMD)",
        weighted=True,
        required=("sigma",),
    ),
)

_BY_NAME = {name: row for row in DISTANCES for name in (row.name, *row.aliases)}


def distance_names() -> list[str]:
    """Names of the distances that `distance_matrix` knows.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import d2ke
    >>> "levenshtein" in d2ke.distance_names()
    True
    """
    return [row.name for row in DISTANCES]


def distance_matrix(
    X: Any,
    Y: Any = None,
    distance: str | Callable[..., float] | LowLevelCallable | None = None,
    *,
    n_threads: int | None = None,
    out: np.ndarray | str | os.PathLike | None = None,
    dtype: Any = None,
    max_memory: int | str | None = None,
    resume: bool = False,
    progress: bool = False,
    client: Any = None,
    **params: Any,
) -> np.ndarray | FeatureFile | Array:
    """Compute the distances between all objects of X and all objects of Y.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects.
    Y : Objects or what `pack` takes, optional
        m objects; None stands for X itself, and then d(x, y) = d(y, x) is used
        to compute each pair once (not for the directed distances).
    distance : str, callable or scipy.LowLevelCallable
        - ``"dtw"``, ``"levenshtein"``, ``"mhd"``, ``"hausdorff"``, ``"chamfer"``,
          ``"directed_mhd"``, ``"directed_hausdorff"``, ``"emd"``, ``"kernel"``;
          see Notes;
        - a Python callable ``f(x, y, **params) -> float``, called for every
          pair on one thread; X and Y may then be sequences of anything;
        - a compiled function of one of these C signatures, called on all
          threads without the GIL (float64 vectors, or strings as code points)::

              double f(const double *x, intptr_t n_x, const double *y,
                       intptr_t n_y, intptr_t dim, void *user_data)
              double f(const int32_t *x, intptr_t n_x, const int32_t *y,
                       intptr_t n_y, void *user_data)
    n_threads : int, optional
        Threads to use; None for all that this process may use. The result does
        not depend on it. With a client: threads of each block, None for 1; a worker computes as
        many blocks at a time as it has threads.
    out : ndarray of float32 or float64, shape (n, m), or path, optional
        C-contiguous array to fill; or the name of a file, to which blocks of rows are written as
        they are ready, see Notes.
    dtype : {float64, float32}, optional
        Of the result, where `out` is no array; by default as said under Returns.
    max_memory : int or str, optional
        Bytes that the call may take, such as ``"512MiB"`` or ``"1GB"``, packed X and Y included.
        A request that takes more fails before it starts. None: no limit; a file is written by
        blocks of up to 64 MiB.
    resume : bool
        Go on with the file where an earlier, equal call was interrupted. Without it a file that
        exists is refused.
    progress : bool
        Show a progress bar (on a terminal only; there is none for a dask array).
    client : dask.distributed.Client, optional
        Have the workers of a cluster compute blocks of rows, with the same bits; see Notes.
    **params
        Parameters of the distance. For ``"dtw"``: ``window`` (None; an integer
        >= 0, the Sakoe-Chiba radius; or ``"rws"``, max(min(40, ceil(longer /
        10)), difference), the rule of the Random Warping Series code) and
        ``ground`` (``"euclidean"`` or ``"sqeuclidean"``). For ``"emd"``:
        ``ground``. For ``"kernel"``: ``sigma`` (positive, needed), ``kernel``
        (``"gaussian"`` or ``"laplace"``) and ``normalize`` (False; True: the
        weights of each object are first divided by their sum, which compares sets
        of different sizes as distributions).

    Returns
    -------
    ndarray, shape (n, m), FeatureFile or dask.array.Array
        float32 if X and Y both hold float32 vectors, else float64; `out` if
        given. The same bits for any number of threads and for any subset of
        rows and columns. For a path: the file, opened for reading, to be closed. With a client
        and without `out`: a dask array of blocks of rows, of which nothing is computed yet.

    Raises
    ------
    TypeError, ValueError
        Unknown distance or parameter, objects of the wrong kind, NaN, empty
        objects where the distance is undefined, mixed numbers of channels,
        weights that the distance does not use, an `out` that does not fit; too
        small a `max_memory`; with `resume`, a file of other inputs or
        parameters, which are named; a client that is not connected, or has workers with another
        version of d2ke or another instruction set; with a client, what cannot be pickled.
    ImportError
        A client, but no dask.
    OSError
        A file that exists, cannot be written, or takes more than what is free
        on the disk.
    KeyboardInterrupt
        On Ctrl-C, within a second.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Notes
    -----
    ``"dtw"``: least sum of |x_i - y_j| (Euclidean, not squared, no
    normalisation) over warping paths; a window narrower than the difference of
    the lengths is widened to it. ``"levenshtein"``: unit costs. ``"mhd"``:
    max(mean_j min_i |u_i - v_j|, mean_i min_j |u_i - v_j|) [1]_, eq. (2);
    ``"chamfer"`` is the sum of the two means, ``"hausdorff"`` has maxima instead
    of the means. ``"emd"``: the least sum_ij f_ij |u_i - v_j| over flows f >= 0
    whose row sums are the weights of x and whose column sums are those of y,
    both first divided by their sums (objects without weights: equal ones). It
    is a metric of such measures, 0 for x = y whatever the order of the vectors;
    with squared ground distances it is not a metric. Levenshtein distances are
    exact; the others are within 1e-12 (float64) or 1e-5 (float32) of the exact
    value, relatively; ``"emd"`` also within max(1e-14, 2e-18 n) of the largest
    distance of two vectors, n being the vectors of the smaller set. ``"kernel"``:
    `kernel_distance` of the vectors with their weights, 1 each where objects have
    none [2]_; the error of its square is at most (8 + dim) 2.3e-16 times the square
    of the sum of all weights of x and y.

    A path as `out` makes a feature store (`d2ke.io.open_features`,
    `d2ke.io.load_features`) with the bits that the array would have. After a kill at
    any moment, a full disk or Ctrl-C, the same call with ``resume=True`` goes on
    with it. For ``Y=None`` each pair is computed twice then, and so it is with a client.

    With a client, X travels to the workers by blocks of rows, and Y to each worker once. Some
    blocks for each of their threads are under way at a time. Workers may be lost, which costs
    the blocks that they had, and may be added. ``docs/distributed.md`` says more.

    References
    ----------
    .. [1] Wu, Yen, Xu, Ravikumar, Witbrock, "D2KE: From Distance to Kernel and
       Embedding", 2018.
    .. [2] Joshi, Kommaraju, Phillips, Venkatasubramanian, "Comparing Distributions
       and Shapes using the Kernel Distance", SoCG 2011.

    Examples
    --------
    >>> import d2ke
    >>> d2ke.distance_matrix(["kitten", "sitting"], ["mitten", ""], "levenshtein")
    array([[1., 6.],
           [3., 7.]])
    >>> d2ke.distance_matrix([[0.0, 1, 2], [0.0, 2]], distance="dtw")
    array([[0., 1.],
           [1., 0.]])
    >>> d2ke.distance_matrix([3, 5], [4], lambda a, b: abs(a - b))
    array([[1.],
           [1.]])
    """
    pairs = check_pairs(X, Y, distance, params)
    return fill(
        pairs,
        out,
        dtype=dtype,
        max_memory=max_memory,
        resume=resume,
        n_threads=n_threads,
        progress=progress,
        client=client,
        task="distances",
    )


def check_pairs(
    X: Any,
    Y: Any,
    distance: Any,
    params: Mapping[str, Any],
    names: tuple[str, str] = ("X", "Y"),
) -> Pairs:
    """Check and pack everything that a distance matrix needs, and compute nothing yet.

    `names` are what the caller's caller knows X and Y as, for the errors.
    """
    if isinstance(distance, LowLevelCallable):
        return _compiled_pairs(X, Y, distance, params, names)
    if callable(distance):
        return _python_pairs(X, Y, distance, params, names)
    row = find_distance(distance)
    checked = check_parameters(row, params)
    x = _checked(X, row.kind, row.shortest, row.name, names[0])
    y = x if Y is None else _checked(Y, row.kind, row.shortest, row.name, names[1])
    check_compatible(x, y, *names)
    if not row.weighted:
        _refuse_weights(x, y, names, f"distance {row.name!r}")
    same = Y is None and row.symmetric
    dtype = np.float64
    if row.kind == "vectors":
        dtype = np.promote_types(x.dtype, y.dtype)

    compiled = partial(_named, row.name, checked)
    return Pairs(x, y, np.dtype(dtype), same, compiled, row.name, dict(params), names)


def find_distance(distance: Any) -> Distance:
    """Return the registry's row of a name; the error lists the names."""
    if not isinstance(distance, str):
        raise TypeError(
            f"distance must be one of {', '.join(distance_names())}, a callable or a "
            f"scipy.LowLevelCallable; got {distance!r}"
        )
    if distance not in _BY_NAME:
        raise ValueError(f"distance must be one of {', '.join(distance_names())}; got {distance!r}")
    return _BY_NAME[distance]


def check_parameters(row: Distance, params: Mapping[str, Any]) -> dict[str, Any]:
    """Check the parameters of a named distance."""
    for name in params:
        if name not in row.parameters:
            takes = ", ".join(row.parameters) or "none"
            raise TypeError(f"{row.name!r} has no parameter {name!r} (its parameters: {takes})")
    for name in row.required:
        if name not in params:
            raise TypeError(f"{row.name!r} needs the parameter {name!r}")
    return {name: row.parameters[name](name, value) for name, value in params.items()}


class Prepared:
    """A compiled distance with its arguments, ready to fill a matrix."""

    def __init__(self, cross, same):
        self._cross = cross
        self._same = same

    def run(self, out, n_threads, report, gamma=None, scale=1.0):
        """Fill `out` with scale * d, or with scale * exp(-gamma * d) where gamma is given."""
        self._cross.run(out, n_threads, self._same, report, gamma, scale)


def _named(name, parameters, x, y, same, first=0):
    """Prepare a distance of the registry; rows count from `first`."""
    try:
        return Prepared(_BY_NAME[name].prepare(x, y, same, **parameters), same)
    except ValueError as error:
        raise _counted(error, first) from None


def _counted(error, first):
    """Return the error with the number that its row has when rows count from `first`."""
    text = re.sub(r"X\[(\d+)\]", lambda row: f"X[{int(row[1]) + first}]", str(error), count=1)
    return ValueError(text)


class _PythonCross(Prepared):
    """The slow path: a Python callable on any objects.

    Rows count from `first`. Where Y is X, `among`, f(x_i, x_j) is computed for i <= j only.
    """

    def __init__(self, function, params, names, among, x, y, same, first=0):
        super().__init__(None, same)
        self._x, self._y, self._names = x, y, names
        self._function, self._params = function, params
        self._first, self._half = first, among and not same

    def run(self, out, n_threads, report, gamma=None, scale=1.0):
        row = np.empty(out.shape[1])
        for i, x in enumerate(self._x, self._first):
            start = i if self._same else 0
            for j in range(start, len(self._y)):
                turned = self._half and j < i
                row[j] = self._value(*((self._y[j], x, j, i) if turned else (x, self._y[j], i, j)))
            values = row[start:].astype(out.dtype).astype(np.float64)
            if gamma is None:
                values *= scale
            else:
                features.exp_features(values[None], values[None], gamma, scale, 1)
            out[i - self._first, start:] = values
            if self._same:
                out[start:, i] = out[i, start:]
            if report is not None:
                report((i - self._first + 1) * len(self._y), out.size)

    def _value(self, x, y, i, j):
        value = self._function(x, y, **self._params)
        where = f"distance({self._names[0]}[{i}], {self._names[1]}[{j}])"
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if not isinstance(value, numbers.Real):
            raise TypeError(f"{where} must be a number, got {value!r}")
        try:
            value = float(value)
        except OverflowError:
            value = math.inf
        if not 0 <= value < math.inf:
            raise ValueError(f"{where} must be finite and >= 0, got {value}")
        return value


def _python_pairs(X, Y, function, params, names):
    x = _sequence(X, names[0])
    y = x if Y is None else _sequence(Y, names[1])
    _refuse_weights(X, Y, names, "a Python distance")
    among = Y is None
    compiled = partial(_PythonCross, function, dict(params), names, among)
    return Pairs(x, y, np.dtype(np.float64), among, compiled, function, dict(params), names)


_WORDS = {
    "double": "double",
    "int": "int32",
    "int32_t": "int32",
    "long": "intptr",
    "longlong": "intptr",
    "int64_t": "intptr",
    "intptr_t": "intptr",
    "ssize_t": "intptr",
    "Py_ssize_t": "intptr",
    "npy_intp": "intptr",
    "void": "void",
}
_SIGNATURES = {
    "double(double*,intptr,double*,intptr,intptr,void*)": "vectors",
    "double(int32*,intptr,int32*,intptr,void*)": "strings",
}


def _compiled_pairs(X, Y, function, params, names):
    if params:
        raise TypeError(
            f"a compiled distance takes its parameters through user_data; got {', '.join(params)}"
        )
    plain = re.sub(r"\bconst\b|\s", "", function.signature.replace("long long", "longlong"))
    plain = re.sub(r"\w+", lambda word: _WORDS.get(word[0], word[0]), plain)
    kind = _SIGNATURES.get(plain)
    if kind is None:
        raise ValueError(
            f"distance has the C signature {function.signature!r}; it must be 'double (const "
            "double *, intptr_t, const double *, intptr_t, intptr_t, void *)' for vectors or "
            "'double (const int32_t *, intptr_t, const int32_t *, intptr_t, void *)' for strings"
        )
    x = _checked(X, kind, 0, "distance", names[0])
    y = x if Y is None else _checked(Y, kind, 0, "distance", names[1])
    check_compatible(x, y, *names)
    _refuse_weights(x, y, names, "a compiled distance")
    if kind == "vectors":
        for name, objects in zip(names, (x, y), strict=True):
            if objects.dtype != np.float64:
                raise TypeError(f"a compiled distance takes float64 vectors; {name} is float32")
    compiled = partial(_UserCross, function, kind)
    return Pairs(x, y, np.dtype(np.float64), Y is None, compiled, function, {}, names)


class _UserCross(Prepared):
    """A compiled function of the user's; rows count from `first`."""

    def __init__(self, function, kind, x, y, same, first=0):
        address, data = user.addresses(function)
        if kind == "vectors":
            x_values, y_values, compile_ = x.values, y.values, user.vectors
        else:
            (x_values, y_values), compile_ = map(_code_points, (x, y)), user.strings
        cross = compile_(address, data, x_values, x.offsets, y_values, y.offsets, same, function)
        super().__init__(cross, same)
        self._first = first

    def run(self, out, n_threads, report, gamma=None, scale=1.0):
        try:
            super().run(out, n_threads, report, gamma, scale)
        except ValueError as error:
            raise _counted(error, self._first) from None


def _checked(items, kind, shortest, distance, name):
    objects = pack(items, kind=kind, name=name)
    if len(objects) == 0:
        raise ValueError(f"{name} is empty: at least one object is needed")
    short = np.flatnonzero(objects.lengths < shortest)
    if short.size:
        raise ValueError(
            f"{name}[{short[0]}] is empty: {distance} is defined for objects of at least "
            f"{shortest} vector{'s' if shortest > 1 else ''}"
        )
    return objects


def _refuse_weights(x, y, names, user):
    for name, objects in zip(names, (x, y), strict=True):
        if isinstance(objects, Objects):
            refuse_weights(objects, name, user)


def _sequence(items, name):
    if isinstance(items, (str, bytes)):
        raise TypeError(f"{name} must be a sequence of objects, got one {type(items).__name__}")
    try:
        result = list(items)
    except TypeError:
        raise TypeError(
            f"{name} must be a sequence of objects, got {type(items).__name__}"
        ) from None
    if not result:
        raise ValueError(f"{name} is empty: at least one object is needed")
    return result


def _same_precision(x: Objects, y: Objects) -> tuple[np.ndarray, np.ndarray]:
    dtype = np.promote_types(x.dtype, y.dtype)
    return x.values.astype(dtype, copy=False), y.values.astype(dtype, copy=False)


def _letters(x: Objects, y: Objects, dtype: type) -> tuple[np.ndarray, np.ndarray, int]:
    """Letters of x and y as indices into their common alphabet."""
    if x is y:
        codes = _not_empty(x.values.astype(dtype))
        return codes, codes, len(x.alphabet)
    alphabet, (x_codes, y_codes) = common_alphabet([x, y])
    return (
        _not_empty(x_codes.astype(dtype)),
        _not_empty(y_codes.astype(dtype)),
        len(alphabet),
    )


def _code_points(objects: Objects) -> np.ndarray:
    symbols = objects.alphabet
    if symbols.size and (symbols.min() < -(2**31) or symbols.max() >= 2**31):
        raise ValueError("a compiled distance takes letters of 32 bits; there are larger ones")
    return _not_empty(symbols.astype(np.int32)[objects.values])


def _not_empty(codes: np.ndarray) -> np.ndarray:
    # Strings may all be empty; the kernels still want an address.
    return codes if codes.size else np.zeros(1, dtype=codes.dtype)


@dataclass(frozen=True)
class Pairs:
    """All pairs of a checked X and a checked Y, of which nothing is computed yet.

    Attributes
    ----------
    x, y : Objects or list
        What is compared; the same object where no Y was given.
    dtype : numpy.dtype
        Of the result.
    same : bool
        Whether only half of the pairs need be computed.
    compiled : callable
        ``compiled(x, y, same, first=0)`` prepares the distance; `first` is the serial number of
        x's first item, for errors. It can be pickled if the user's function can.
    distance : str or callable
        The registry's name, or the user's function.
    params : dict
        The distance's parameters as they were given.
    names : tuple of str
        What the caller's caller knows X and Y as.
    """

    x: Any
    y: Any
    dtype: np.dtype
    same: bool
    compiled: Callable[..., Prepared]
    distance: Any
    params: dict[str, Any]
    names: tuple[str, str]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the result."""
        return len(self.x), len(self.y)

    def prepared(self) -> Prepared:
        """Prepare all of them."""
        return self.compiled(self.x, self.y, self.same)

    def part(self, rows: slice) -> Any:
        """Return some items of x."""
        x = self.x
        return x.span(rows.start, rows.stop) if isinstance(x, Objects) else x[rows]

    def rows(self, rows: slice) -> Prepared:
        """Prepare some rows, with the same bits."""
        return self.compiled(self.part(rows), self.y, False, first=rows.start)


def fill(
    pairs: Pairs,
    out: Any,
    *,
    dtype: Any,
    max_memory: Any,
    resume: Any,
    n_threads: int | None,
    progress: bool,
    task: str,
    client: Any = None,
    gamma: float | None = None,
    scale: float = 1.0,
    parameters: Mapping[str, Any] | None = None,
) -> np.ndarray | FeatureFile | Array:
    """Compute all pairs into an array or, where `out` is a path, into a feature store.

    `parameters` is what the store records beside the distance and its parameters. With a client and
    no `out` the result is a dask array.
    """
    if dtype is not None:
        dtype = element_type("dtype", dtype)
        if isinstance(out, np.ndarray) and out.dtype != dtype:
            raise TypeError(f"out holds {out.dtype}, but dtype is {dtype}")
    else:
        dtype = pairs.dtype
    limit = None if max_memory is None else byte_count("max_memory", max_memory)
    to_file = isinstance(out, (str, os.PathLike))
    if resume and not to_file:
        raise TypeError(f"resume goes with a file, a path as out; out is {type(out).__name__}")
    lazy = client is not None and out is None
    if lazy and limit is not None:
        raise TypeError(
            "max_memory goes with out, a path or an array; the blocks of a dask array stay with "
            "the workers of client, which have limits of their own"
        )
    if not (to_file or lazy):
        check_memory(pairs, dtype, limit, out is not None)
        out = output_array(out, pairs.shape, dtype)
        dtype = out.dtype
    remote = None
    if client is not None:
        remote = Remote(client, pairs, dtype, n_threads=n_threads, gamma=gamma, scale=scale)
        if lazy:
            return remote.array()
    if to_file:
        return stream(
            pairs,
            Path(out),
            dtype=dtype,
            limit=limit,
            resume=resume,
            n_threads=team_size(n_threads),
            progress=progress,
            task=task,
            gamma=gamma,
            scale=scale,
            parameters=parameters or {},
            remote=remote,
        )
    with progress_bar(progress, task) as report:
        if remote is None:
            pairs.prepared().run(out, team_size(n_threads), report, gamma, scale)
        else:
            receive_array(remote, out, limit, report)
    return out


def output_array(out: Any, shape: tuple[int, int], dtype: np.dtype) -> np.ndarray:
    """Return `out` if results of this shape can be written into it, or a new array for None."""
    if out is None:
        return np.empty(shape, dtype=dtype)
    if not isinstance(out, np.ndarray) or out.dtype not in (np.float32, np.float64):
        got = out.dtype if isinstance(out, np.ndarray) else type(out).__name__
        raise TypeError(f"out must be an ndarray of float32 or float64, got {got}")
    if out.shape != shape:
        raise ValueError(f"out must have shape {shape}, got {out.shape}")
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError("out must be C-contiguous and writeable")
    return out
