# SPDX-License-Identifier: BSD-3-Clause
"""Random objects, and what must hold of all that is computed of them by compiled code."""

from __future__ import annotations

import ctypes
import string
import sys
from pathlib import Path

import numpy as np
from scipy import LowLevelCallable

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(Path.cwd()), str(ROOT / "tests"), str(ROOT)]

import reference  # noqa: E402

import d2ke  # noqa: E402
from d2ke._ext import isa, trust_region  # noqa: E402
from d2ke.distances.registry import BY_NAME  # noqa: E402
from d2ke.measures.cell_columns import Columns  # noqa: E402

DIMS = [1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 127, 128, 129, 255, 300]
STYLES = [*reference.STYLES, "huge", "tiny", "mixed", "zero", "integers"]
EXTREME = {"huge", "tiny", "mixed"}


class Wrong(Exception):  # noqa: N818 (a finding, not an error of ours)
    """A result that is not what it must be."""


def expect(holds, what):
    """Raise unless it holds."""
    if not holds:
        raise Wrong(what)


# ---- distances


def lengths_for(rng, dim):
    """Draw the sizes of some objects, odd ones and equal ones among them."""
    most = int(rng.choice([1, 2, 3, 9, 17, 40, 70]))
    most = max(1, min(most, 2000 // dim))
    lengths = rng.integers(1, most + 1, rng.integers(1, 40))
    if rng.random() < 0.2:
        lengths[:] = lengths[0]
    return lengths.tolist()


def vectors(rng, lengths, dim, dtype, style):
    """Draw vectors, extreme ones by styles that the tests' reference has not."""
    if style in reference.STYLES:
        return reference.draw_vectors(rng, lengths, dim, dtype, style)
    info = np.finfo(dtype)
    total = sum(lengths)
    values = rng.standard_normal((total, dim))
    if style == "huge":
        values = np.clip(values, -1, 1) * info.max
    elif style == "tiny":
        values = rng.integers(-3, 4, (total, dim)) * info.smallest_subnormal
    elif style == "mixed":
        values *= 10.0 ** rng.integers(info.minexp // 4, info.maxexp // 4, (total, dim))
    elif style == "zero":
        values = np.where(rng.random((total, dim)) < 0.5, 0.0, -0.0)
    else:
        values = rng.integers(-100, 100, (total, dim)).astype(np.float64)
    parts = np.split(values.astype(dtype), np.cumsum(lengths)[:-1])
    return [part if rng.random() < 0.9 else np.asfortranarray(part) for part in parts]


def strings(rng, lengths):
    """Draw strings over alphabets of one letter to all there are, some of them empty."""
    kind = rng.integers(4)
    size = int(rng.choice([1, 2, 4, 20, 255, 256, 257, 70000]))
    lengths = [0 if rng.random() < 0.1 else int(n) for n in lengths]
    if kind == 0:
        letters = (string.ascii_letters + string.digits)[:size]
        return ["".join(rng.choice(list(letters), n)) for n in lengths]
    if kind == 1:
        return [rng.integers(0, min(size, 256), n).astype(np.uint8).tobytes() for n in lengths]
    if kind == 2:
        low = int(rng.choice([0, 0x1F600, 0x10FFFF - size]))
        return ["".join(map(chr, rng.integers(low, low + size, n))) for n in lengths]
    if rng.random() < 0.3:
        words = [f"w{i}" for i in range(size)]
        lengths[:1] = [max(1, n) for n in lengths[:1]]  # without a token: something else
        return [[words[i] for i in rng.integers(0, size, n)] for n in lengths]
    low = int(rng.choice([0, -5, 2**62, -(2**63)]))
    return [rng.integers(0, size, n).astype(np.int64) + low for n in lengths]


def pairs_of_strings(rng, name):
    """Draw two collections of strings of one type of letters; for Hamming's of one length."""
    longest = int(rng.choice([3, 10, 63, 64, 65, 130, 300]))
    sizes = [rng.integers(0, longest + 1, rng.integers(1, 40)) for _ in range(2)]
    X, Y = (d2ke.pack(strings(rng, own), kind="strings") for own in sizes)
    if X.letters != Y.letters:
        Y = X
    if name == "hamming":
        X, Y = (Z[Z.lengths >= np.median(Z.lengths)] for Z in (X, Y))
        length = int(min(X.lengths.min(), Y.lengths.min()))
        X, Y = (d2ke.pack([one[:length] for one in Z], kind="strings") for Z in (X, Y))
    return X, Y


def costs(rng, X):
    """Draw costs of letters and of gaps; letters that X has not are among those of others."""
    params = {"mismatch": float(rng.choice([0, 0.5, 1, 2.25]))}
    letters = list(dict.fromkeys(letter for one in X[:3] for letter in one))[:20]
    if letters and rng.random() < 0.7:
        params["alphabet"] = [int(a) if isinstance(a, np.integer) else a for a in letters]
        params["substitution"] = rng.random((len(letters), len(letters)))
    if rng.random() < 0.4:
        extend = float(rng.random())
        params |= {"gap_open": extend + float(rng.random()), "gap_extend": extend}
    elif rng.random() < 0.5:
        params |= {"insertion": float(rng.random()), "deletion": float(rng.random())}
    return params


def as_functions(params):
    """Return the costs as the reference takes them."""
    letters = {letter: i for i, letter in enumerate(params.get("alphabet", ()))}

    def substitute(a, b):
        if a in letters and b in letters:
            return params["substitution"][letters[a], letters[b]]
        return params["mismatch"] if a != b else 0.0

    gap = (params["gap_open"], params["gap_extend"]) if "gap_open" in params else None
    return {
        "substitute": substitute,
        "delete": lambda _: params.get("deletion", 1.0),
        "insert": lambda _: params.get("insertion", 1.0),
        "gap": gap,
        "mode": params["mode"],
    }


def fuzz_distances(seed):
    """Distances of two collections, on every instruction set; some against the definition."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(d2ke.distance_names()))
    params, style = {}, "strings"
    dim = int(rng.choice(DIMS))
    if name in reference.STRINGS:
        X, Y = pairs_of_strings(rng, name)
        if name in ("levenshtein", "weighted_levenshtein"):
            params["mode"] = str(rng.choice(["global", "prefix", "infix"]))
        if "normalize" in BY_NAME[name].parameters and params.get("mode", "global") == "global":
            params["normalize"] = bool(rng.random() < 0.3)
        if name == "weighted_levenshtein":
            params |= costs(rng, X)
    else:
        style = str(rng.choice(STYLES))
        X, Y = (
            d2ke.pack(vectors(rng, lengths_for(rng, dim), dim, rng.choice([np.float32, np.float64]),
                              style))
            for _ in range(2)
        )  # fmt: skip
        if BY_NAME[name].ordered:
            params["window"] = [None, 0, 1, 2, 7, 2**40, "rws"][rng.integers(7)]
        params |= elastic_parameters(rng, name, dim)
        if name in ("dtw", "emd") and rng.random() < 0.3 and style not in EXTREME:
            params["ground"] = "sqeuclidean"
        if name == "dtw" and rng.random() < 0.2:
            params["ground"] = "manhattan"
        elif name == "dtw" and rng.random() < 0.4:
            params["missing"] = "arow"
            X, Y = (with_missing(rng, objects) for objects in (X, Y))
        if name == "kernel":
            # A unit in which values overflow is refused.
            params["sigma"] = float(10.0 ** rng.integers(1 if style in EXTREME else -3, 4))
            params["kernel"] = str(rng.choice(["gaussian", "laplace"]))
            params["normalize"] = bool(rng.random() < 0.5)
        if name in ("emd", "kernel") and rng.random() < 0.6:
            most = 300 if name == "emd" or params["normalize"] else 100
            X, Y = (weighted(rng, objects, most) for objects in (X, Y))
    results = {}
    before = isa.selected()
    try:
        for variant in isa.supported():
            isa.select(variant)
            results[variant] = checked_distances(rng, X, Y, name, params)
    finally:
        isa.select(before)
    first = results["baseline"]
    close = 1e-5 if first.dtype == np.float32 else 1e-11
    for variant, D in results.items():
        if name in reference.STRINGS:
            expect((first == D).all(), f"{name}: {variant} differs from baseline")
        elif name == "kernel":
            bound = kernel_bound(X, Y, params)
            with np.errstate(over="ignore", invalid="ignore"):  # float32 holds no 1e100
                near = (first == D) | (np.abs(D**2.0 - first**2.0) <= bound)
            expect(near.all(), f"{name}: {variant} and baseline")
        elif style not in EXTREME:
            np.testing.assert_allclose(D, first, rtol=close, atol=close * magnitude(X, Y))
    if style not in EXTREME and seed % 8 == 0:
        against_definition(rng, X, Y, name, params, first, close)
    return len(X) * len(Y) * (len(results) + 1)


def with_missing(rng, objects):
    """Return the series with NaN in single channels and in runs, and without in one vector each."""
    share = rng.choice([0.0, 0.1, 0.5, 1.0])
    items = []
    for item in objects:
        item, kept = item.copy(), rng.integers(len(item))
        whole = item[kept].copy()
        item[rng.random(len(item)) < share, rng.integers(item.shape[1])] = np.nan
        start = rng.integers(len(item))
        if rng.random() < share:
            item[start : start + rng.integers(1, 9)] = np.nan
        item[kept] = whole
        items.append(item)
    return d2ke.pack(items, channels_first=False, missing=True)


def elastic_parameters(rng, name, dim):
    """Draw parameters of an elastic distance, extreme ones among them."""
    drawn = {}
    for parameter in BY_NAME[name].parameters if BY_NAME[name].ordered and name != "dtw" else ():
        if parameter in ("independent", "normalize"):
            drawn[parameter] = bool(rng.random() < 0.5)
        elif parameter != "window":
            drawn[parameter] = float(rng.choice([0.0, 1e-300, 0.01, 0.3, 1.0, 7.7, 1e300]))
    if name == "erp" and rng.random() < 0.3:
        drawn["g"] = rng.standard_normal(dim).tolist()
    return drawn


def kernel_bound(X, Y, params):
    """Return twice the error that squared kernel distances may have, and some for rounding D."""
    totals = []
    for one in (X, Y):
        weights = np.ones(len(one.values)) if one.weights is None else one.weights
        sums = np.add.reduceat(weights, one.offsets[:-1])
        totals.append(np.ones(len(one)) if params["normalize"] else sums)
    whole = totals[0][:, None] + totals[1]
    step = 2.0**-23 if X.values.dtype == Y.values.dtype == np.float32 else 2.0**-51
    return (3 * (8 + X.dim) * 2.0**-52 + step) * whole**2


def magnitude(X, Y):
    """Return the largest value, which bounds what rounding does to a distance near 0."""
    if X.kind == "strings":
        return 1.0
    largest = max(np.nanmax(np.abs(one.values.astype(np.float64)), initial=0) for one in (X, Y))
    return 10 * np.sqrt(X.dim) * max(largest, largest**2)


def weighted(rng, objects, most):
    """Return the vectors with weights, zeros and extreme ones (powers of 10) among them."""
    draws = [
        lambda n: rng.random(n),
        lambda n: rng.integers(0, 3, n).astype(float),
        lambda n: 10.0 ** rng.integers(-300, most, n),
        lambda n: np.full(n, 5e-324),
        lambda n: np.ones(n, dtype=int),
    ]
    weights = []
    for n in objects.lengths.tolist():
        one = draws[rng.integers(len(draws))](n)
        if n and not one.sum() > 0:
            one[0] = 1
        weights.append(one)
    return d2ke.pack(objects, weights=weights)


def checked_distances(rng, X, Y, name, params):
    """Compute all, and see that threads, halves and parts have the same bits."""
    D = d2ke.distance_matrix(X, Y, name, n_threads=1, **params)
    expect(not np.isnan(D).any() and (D >= 0).all(), f"{name}: nan or negative")
    again = d2ke.distance_matrix(X, Y, name, n_threads=3, **params)
    expect(again.tobytes() == D.tobytes(), f"{name}: other bits on three threads")
    rows, columns = (
        rng.choice(len(one), rng.integers(1, len(one) + 1), replace=False) for one in (X, Y)
    )
    part = d2ke.distance_matrix(X[rows], Y[columns], name, n_threads=1, **params)
    expect(
        part.dtype != D.dtype or part.tobytes() == D[np.ix_(rows, columns)].tobytes(),
        f"{name}: other bits in a part",
    )
    half = d2ke.distance_matrix(X, None, name, n_threads=2, **params)
    whole = d2ke.distance_matrix(X, X, name, n_threads=2, **params)
    if name not in ("emd",):  # either direction of a flow is as good
        expect(half.tobytes() == whole.tobytes(), f"{name}: other bits in the half")
    if rng.random() < 0.3:
        gamma = float(10.0 ** rng.integers(-5, 5))
        Z = d2ke.d2ke_embed(X, Y, distance=name, gamma=gamma, n_threads=2, **params)
        expect(Z.tobytes() == d2ke.d2ke_features(D, gamma).tobytes(), f"{name}: embed")
    return D


def against_definition(rng, X, Y, name, params, D, close):
    """Compare some distances with the slow and obvious form."""
    function = reference.DISTANCES[name]
    for _ in range(3):
        i, j = int(rng.integers(len(X))), int(rng.integers(len(Y)))
        x, y = X[i], Y[j]
        if len(x) * len(y) > 2000:
            continue
        more = dict(params)
        if name == "kernel":
            if X.weights is None and Y.weights is None and not params["normalize"]:
                known = reference.kernel_distance_squared(x, y, params["sigma"], params["kernel"])
                bound = kernel_bound(X, Y, params)[i, j]
                expect(abs(D[i, j] ** 2 - known) <= bound, f"{name}: {D[i, j] ** 2} for {known}")
            continue
        if name == "damerau_levenshtein" and len(x) * len(y) > 300:
            continue  # the definition takes the square of that
        if name == "weighted_levenshtein":
            more = as_functions(params)
        if name == "emd":
            more["x_weights"], more["y_weights"] = (
                None if one.weights is None else one.weights[one.offsets[k] : one.offsets[k + 1]]
                for one, k in ((X, i), (Y, j))
            )
            given = [w for w in (more["x_weights"], more["y_weights"]) if w is not None]
            if any(w.max() > 1e9 * w[w > 0].min() or w.max() < 1e-9 for w in given):
                continue  # beyond the linear program's tolerance
        with np.errstate(over="ignore"):
            known = D.dtype.type(function(x, y, **more))
        bound = max(close, 1e-7 if name == "emd" else 0.0)
        np.testing.assert_allclose(D[i, j], known, rtol=bound, atol=bound * magnitude(X, Y))


def measures(rng, style):
    """Draw a few weighted sets, curves or surfaces: as given, and as Measures."""
    kind = str(rng.choice(["sets", "weighted", "curves", "surfaces"]))
    dim = 3 if kind == "surfaces" else int(rng.choice([1, 2, 3, 4, 5, 8, 17, 64, 300]))
    sizes = rng.integers(2, int(rng.choice([3, 5, 40, 200])), rng.integers(1, 8)).tolist()
    sets = vectors(rng, sizes, dim, np.float64, style)
    if style == "huge":
        sets = [one / 1e200 for one in sets]
    weights = None
    oriented = bool(rng.random() < 0.5) if dim < 17 else True
    if kind == "weighted":
        weights = [rng.standard_normal(len(one)) for one in sets]
    elif kind == "curves":
        sets = [d2ke.curve(one, closed=bool(rng.random() < 0.5), oriented=oriented)
                for one in sets]  # fmt: skip
    elif kind == "surfaces":
        sets = [d2ke.mesh(one, rng.integers(0, len(one), (len(one), 3)), oriented=oriented)
                for one in sets]  # fmt: skip
    given = sets if weights is None else zip(sets, weights, strict=True)
    if kind in ("curves", "surfaces"):
        return sets, None, sets
    if kind == "sets":
        given = [(one, np.ones(len(one))) for one in sets]
    return sets, weights, [d2ke.Measure(np.ascontiguousarray(p), w[:, None]) for p, w in given]


def definition(P, Q, sigma, kernel):
    """Squared kernel distance of two Measures, from all pairs."""
    points = np.concatenate([P.points, Q.points])
    carried = np.concatenate([P.vectors, -Q.vectors])
    K = reference.kernel_values(points, points, sigma, kernel)
    return float((K * (carried @ carried.T)).sum())


def fuzz_kernel_distance(seed):
    """Kernel distances by several methods, on every instruction set, against all pairs."""
    rng = np.random.default_rng(seed)
    style = str(rng.choice([*reference.STYLES, "huge", "mixed", "zero", "integers"]))
    kernel = str(rng.choice(["gaussian", "laplace"]))
    sigma = float(10.0 ** rng.integers(-3, 4))
    try:
        sets, weights, made = measures(rng, style)
    except ValueError as error:
        expect("too large" in str(error) and style in EXTREME, error)  # areas that overflow
        return 1
    totals = np.array([one.total for one in made])
    if not np.isfinite(4 * totals.max() ** 2):
        return 1
    slack = 1e-9 * totals.sum() ** 2
    by_variant = []
    before = isa.selected()
    try:
        for variant in isa.supported():
            isa.select(variant)
            D = d2ke.kernel_distance_matrix(
                sets, sigma=sigma, kernel=kernel, weights_x=weights, n_threads=2
            )
            by_variant.append(D)
            expect((D == D.T).all() and (D >= 0).all(), "kernel distances")
    finally:
        isa.select(before)
    np.testing.assert_allclose(by_variant[-1] ** 2, by_variant[0] ** 2, rtol=1e-9, atol=slack)
    known = None
    if style not in ("huge", "mixed"):
        known = definition(made[0], made[-1], sigma, kernel)
    for method in [
        "exact",
        "dualtree",
        "rff",
        "auto",
        *(["wspd", "fourier", "ifgt"] * (kernel == "gaussian")),
    ]:
        eps = None if method in ("exact", "auto") else float(rng.choice([0.3, 0.05, 0.01]))
        try:
            found = d2ke.kernel_distance(
                made[0], made[-1], sigma=sigma, kernel=kernel, method=method, eps=eps,
                seed=0, n_threads=int(rng.integers(1, 4)), info=True,
            )  # fmt: skip
        except ValueError as error:
            expect(method in ("fourier", "ifgt") and "features" in str(error), f"{method}: {error}")
            continue
        if known is not None and method != "rff":  # which may miss
            allowed = found.bound + slack
            expect(abs(found.squared - known) <= allowed, f"{method}: {found.squared} for {known}")
    feature_maps(rng, sets, weights, by_variant[-1], totals, sigma, kernel)
    return sum(map(len, made)) ** 2 * len(by_variant)


def feature_maps(rng, sets, weights, D, totals, sigma, kernel):
    """Features of sets: the same bits on any number of threads, and near to the distances."""
    given = {"sigma": sigma, "kernel": kernel, "weights": weights, "seed": 1}
    per_point = 1 if not isinstance(sets[0], d2ke.Measure) else sets[0].vectors.shape[1]
    how = {"method": "rff", "n_features": 2 * per_point * int(rng.integers(1, 20))}
    if kernel == "gaussian" and rng.random() < 0.5:
        how = {"method": "ifgt", "eps": float(rng.choice([0.3, 0.01]))}
    try:
        phi = d2ke.kernel_feature_map(sets, **given, **how)
    except ValueError as error:
        expect("features" in str(error), error)
        return
    Z = phi(sets, weights=weights, n_threads=1)
    expect(Z.tobytes() == phi(sets, weights=weights, n_threads=3).tobytes(), "features: other bits")
    expect(np.isfinite(Z).all(), "features that are not finite")
    if how["method"] == "rff":
        expect((np.linalg.norm(Z, axis=1) <= 1.000001 * totals).all(), "features that are too long")
        return
    squares = np.square(Z[:, None] - Z).sum(axis=2)
    allowed = (how["eps"] + 1e-9) * ((totals[:, None] + totals) / 2) ** 2
    expect((np.abs(squares - D**2) <= allowed).all(), "Taylor features")


# ---- coresets

CORESETS = ["auto", "random", "zorder", "halving", "herding", "thinning"]


def fuzz_coresets(seed):
    """Coresets of points, curves and surfaces by all methods, on every instruction set."""
    rng = np.random.default_rng(seed)
    style = str(rng.choice([*reference.STYLES, "mixed", "huge", "tiny", "zero", "integers"]))
    n = int(rng.choice([1, 2, 3, 5, 17, 64, 130, 300, 1000, 3000]))
    dim = int(rng.choice([1, 2, 3, 5, 16, 17, 65, 100] if n < 300 else [1, 2, 3, 17]))
    points = vectors(rng, [n], dim, np.float64, style)[0]
    given, weights = points, None
    kind = rng.integers(4)
    if kind == 0 and n > 2 and style not in EXTREME:
        given = d2ke.curve(points, oriented=bool(rng.random() < 0.5) or dim > 5)
        n = len(given)
    elif kind == 1:
        draws = [rng.standard_normal(n), rng.random(n), rng.integers(0, 3, n).astype(float),
                 10.0 ** rng.integers(-150, 100, n), -np.ones(n)]  # fmt: skip
        weights = draws[rng.integers(len(draws))]
        if not weights.any():
            weights[0] = 1
    m = int(rng.integers(1, n + 1)) if rng.random() < 0.8 else int(rng.choice([1, n]))
    how = {
        "sigma": float(10.0 ** rng.integers(1 if style == "huge" else -3, 4)),
        "kernel": str(rng.choice(["gaussian", "laplace"])),
        "method": str(rng.choice([*CORESETS, *(["sorted"] * (dim == 1))])),
        "weights_p": weights,
        "delta": 1e-9,
    }
    if isinstance(given, d2ke.Measure) and not given.total > 0:
        return 1
    before = isa.selected()
    try:
        for variant in isa.supported():
            isa.select(variant)
            one, other = (
                d2ke.kernel_coreset(given, m, **how, seed=seed, n_threads=t) for t in (1, 3)
            )
            checked_coreset(given, n, m, how, one)
            expect(one.indices.tobytes() == other.indices.tobytes(), "coreset: other indices")
            expect(one.distance == other.distance, "coreset: another distance")
    finally:
        isa.select(before)
    return n


def checked_coreset(given, n, m, how, found):
    """See that a coreset is one, and within its bound."""
    weights = how["weights_p"]
    if weights is None:
        weights = np.ones(n)
        if isinstance(given, d2ke.Measure):
            weights = np.linalg.norm(given.vectors, axis=1)
    usable = np.flatnonzero(weights)
    expect(len(found) == min(m, len(usable)), f"{len(found)} points")
    expect(np.isin(found.indices, usable).all(), "indices")
    expect(np.isfinite(found.distance) and found.distance >= 0, f"distance {found.distance}")
    if len(set(np.abs(weights[usable]).tolist())) == 1:
        expect(len(set(found.indices.tolist())) == len(found), "a point twice")
    total = np.abs(found.weights).sum()
    expect(abs(total - found.total) <= 1e-9 * found.total, f"total {total} of {found.total}")
    if found.bound is not None:
        allowed = found.bound + (1e-7 + 3 * (found.standard_error or 0)) * found.total
        expect(found.distance <= allowed, f"distance {found.distance} > {found.bound}")


# ---- alignment


def fuzz_align(seed):
    """Compare sums over columns of points with all pairs; see what alignment promises."""
    rng = np.random.default_rng(seed)
    tried = 0
    for _ in range(5):
        dim, n, m = int(rng.integers(1, 6)), int(rng.integers(1, 1000)), int(rng.integers(1, 200))
        style = str(rng.choice([*reference.STYLES, "zero", "integers"]))
        points, places = vectors(rng, [n], dim, np.float64, style)[0], 1.5 * rng.random((m, dim))
        if rng.random() < 0.5:
            places = points[rng.integers(0, n, m)]  # on the edges of columns also
        carried = rng.standard_normal((n, int(rng.integers(1, 5))))
        scale = 10.0 ** rng.integers(-100, 100)
        sigma = float(rng.choice([0.001, 0.03, 0.3, 5.0]))
        columns = Columns(points * scale, carried, sigma * scale)
        found = columns.potentials(places * scale, 1)
        again = columns.potentials(places * scale, 3)
        expect(found.tobytes() == again.tobytes(), "columns: other bits on three threads")
        K = reference.kernel_values(places, points, sigma)
        error = np.abs(found - K @ carried).max()
        expect(error <= 2e-8 * np.abs(carried).sum() + 1e-9 * n, f"columns: error {error}")
        tried += n * m
    return tried + aligned(rng)


def aligned(rng):
    """Align two small sets; return the number of pairs of points."""
    dim, n, m = int(rng.choice([1, 2, 2, 3])), int(rng.integers(1, 30)), int(rng.integers(1, 30))
    style = str(rng.choice([*reference.STYLES, "mixed", "zero", "integers"]))
    P, Q = vectors(rng, [n, m], dim, np.float64, style)
    if style == "mixed":
        P, Q = P / 1e40, Q / 1e40
    motions = ["translation"] if dim == 1 else ["translation", "rotation", "rigid"]
    how = {
        "sigma": float(rng.choice([0.1, 1.0, 10.0])),
        "motion": str(rng.choice(motions)),
        "n_threads": 2,
    }
    if rng.random() < 0.3:
        how["weights_p"] = rng.integers(0, 4, n).astype(float)
    if rng.random() < 0.3 and n * m <= 12 and dim < 3:  # it takes minutes for more
        how |= {"method": "fptas", "eps": 0.5}
    try:
        found = d2ke.kernel_align(P, Q, **how)
    except ValueError as error:
        refused = "would try up to" if "method" in how else "alignment allows up to"
        expect(refused in str(error) or "alignment allows up to" in str(error), error)
        return n * m
    R = found.rotation
    expect(np.allclose(R @ R.T, np.eye(dim), atol=1e-9) and np.linalg.det(R) > 0, "no rotation")
    expect(found.distance <= found.distance_before, "farther than before")
    moved = d2ke.kernel_distance(
        P, found(Q), sigma=how["sigma"], weights_p=how.get("weights_p"), method="exact"
    )
    if style != "mixed":
        slack = 1e-6 * (n + m) * (1 + 4 * n)
        expect(abs(moved**2 - found.distance**2) <= slack, "not the distance of what it moves")
    return n * m


# ---- programs on the simplex, features, users' distances


def fuzz_simplex(seed):
    """Quadratic programs on the simplex: a point of it, and no worse than the start."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        n = int(rng.choice([1, 2, 3, 7, 20, 60]))
        A = rng.standard_normal((n, max(1, n // int(rng.integers(1, 4)))))
        H = [A @ A.T, A[:, :1] - A[:, :1].T, rng.integers(-2, 3, (n, n)).astype(float),
             np.zeros((n, n)), np.ones((n, n))][rng.integers(5)]  # fmt: skip
        H = (H + H.T) / 2 * 10.0 ** rng.choice([-200, -5, 0, 0, 0, 5, 140])
        f = rng.standard_normal(n) * 10.0 ** rng.choice([-200, 0, 0, 140])
        start = rng.dirichlet(np.ones(n)) if rng.random() < 0.5 else None
        tol, steps = float(10.0 ** rng.integers(-12, 0)), int(rng.choice([1, 31, 33, 1000]))
        found = d2ke.simplex_qp(H, f, start=start, tol=tol, max_steps=steps)
        alpha = found.alpha
        expect((alpha >= 0).all() and abs(alpha.sum() - 1) < 1e-9, "not on the simplex")
        first = np.full(n, 1 / n) if start is None else start
        values = [float(a @ H @ a / 2 + f @ a) for a in (first, alpha)]
        slack = 1e-9 * (np.abs(H).max() + np.abs(f).max())
        expect(values[1] <= values[0] + slack, f"worse than the start: {values}")
        expect(abs(found.objective - values[1]) <= slack, "another objective")
        expect(found.gap >= -slack and found.n_steps <= 3 * steps, "gap or steps")
    return 20


def fuzz_trust_region(seed):
    """Squared hinge loss of features of any scale: an end, and no worse than the start."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        n, R = int(rng.integers(2, 40)), int(rng.choice([1, 2, 5, 6, 31]))
        F = rng.standard_normal((n, R)) * 10.0 ** rng.choice([-320, -5, 0, 0, 0, 2, 150])
        F[rng.random(F.shape) < 0.1] = 0
        signs = rng.permutation(np.where(np.arange(n) % 2, 1.0, -1.0))
        C, tolerance = 10.0 ** rng.integers(-5, 3), 10.0 ** rng.integers(-6, 0)
        w = trust_region.fit(F, signs, C, tolerance)
        expect(w.shape == (R,), "another shape")
        expect((trust_region.fit(F, signs, C, tolerance) == w).all(), "other bits")
        with np.errstate(over="ignore", invalid="ignore"):
            loss = C * np.square(np.maximum(1 - signs * (F @ w), 0)).sum()
            value = w @ w / 2 + loss
        expect(value <= C * n * (1 + 1e-9), f"worse than the start: {value}, {C * n}")
    return 20


def fuzz_features(seed):
    """exp(-gamma d) of matrices of any size and layout: values, bits on threads, in place."""
    rng = np.random.default_rng(seed)
    tried = 0
    before = isa.selected()
    for _ in range(4):
        rows, columns = (
            int(rng.integers(1, 20)),
            int(rng.choice([1, 7, 64, 2047, 2048, 2049, 5000])),
        )
        dtype = rng.choice([np.float32, np.float64])
        D = rng.exponential(1.0, (rows, 2 * columns)) * 10.0 ** rng.integers(-30, 30)
        D[rng.random(D.shape) < 0.05] = rng.choice([0.0, np.inf, 5e-324, 1e38])
        with np.errstate(over="ignore", under="ignore"):
            D = D.astype(dtype)
        D = [D[:, :columns], D[:, ::2], np.asfortranarray(D[:, :columns]), D[::-1, columns:]][
            rng.integers(4)
        ]
        gamma = float(10.0 ** rng.integers(-30, 30))
        with np.errstate(all="ignore"):
            known = np.exp(-gamma * D.astype(np.float64)) / np.sqrt(columns)
        try:
            for variant in isa.supported():
                isa.select(variant)
                Z = d2ke.d2ke_features(D, gamma, n_threads=1)
                again = d2ke.d2ke_features(D, gamma, n_threads=3)
                expect(Z.tobytes() == again.tobytes(), "features: other bits on three threads")
                expect(Z.dtype == dtype, "features: another type")
                least = 1e-37 if dtype == np.float32 else 1e-300  # below are denormal numbers
                tolerance = 1e-6 if dtype == np.float32 else 1e-13
                np.testing.assert_allclose(Z, known, rtol=tolerance * 800, atol=least)
        finally:
            isa.select(before)
        copied = np.ascontiguousarray(D)
        inside = d2ke.d2ke_features(copied, gamma, out=copied)
        expect(inside is copied and inside.tobytes() == Z.tobytes(), "features: in place")
        tried += D.size
    return tried


DOUBLES, INTS = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int32)
OF_VECTORS = ctypes.CFUNCTYPE(
    ctypes.c_double, DOUBLES, ctypes.c_ssize_t, DOUBLES, ctypes.c_ssize_t, ctypes.c_ssize_t,
    ctypes.c_void_p,
)  # fmt: skip
OF_LETTERS = ctypes.CFUNCTYPE(
    ctypes.c_double, INTS, ctypes.c_ssize_t, INTS, ctypes.c_ssize_t, ctypes.c_void_p
)


def total(pointer, n):
    """Read n numbers."""
    return float(np.ctypeslib.as_array(pointer, (n,)).sum()) if n else 0.0


@OF_VECTORS
def apart(x, n_x, y, n_y, dim, _):
    """Return a distance for which every number is read."""
    return abs(total(x, n_x * dim) - total(y, n_y * dim)) + abs(n_x - n_y)


@OF_LETTERS
def letters_apart(x, n_x, y, n_y, _):
    """Return the same of letters, and a distance that is refused now and then."""
    return abs(total(x, n_x) - total(y, n_y)) + n_x * n_y


def fuzz_user(seed):
    """Users' own functions, from several threads, against Python; what they must not return."""
    rng = np.random.default_rng(seed)
    if rng.random() < 0.5:
        dim = int(rng.choice(DIMS))
        X, Y = (
            d2ke.pack(vectors(rng, lengths_for(rng, dim)[:12], dim, np.float64, "integers"))
            for _ in range(2)
        )
        function = LowLevelCallable(apart)
    else:
        X, Y = (d2ke.pack(["".join(map(chr, rng.integers(33, 0xD000, n)))
                           for n in rng.integers(0, 50, rng.integers(1, 12))])
                for _ in range(2))  # fmt: skip
        function = LowLevelCallable(letters_apart)

    def number(one):
        values = [ord(c) for c in one] if isinstance(one, str) else np.asarray(one)
        return float(np.sum(values)) if len(one) else 0.0

    def known(x, y):
        size = abs(len(x) - len(y)) if X.kind == "vectors" else len(x) * len(y)
        return abs(number(x) - number(y)) + size

    D = d2ke.distance_matrix(X, Y, function, n_threads=3)
    expected = np.array([[known(x, y) for y in Y] for x in X])
    expect((expected == D).all(), "user: other values")
    half = d2ke.distance_matrix(X, None, function, n_threads=3)
    expect((half == half.T).all(), "user: not symmetric")
    return 2 * len(X) * len(Y)
