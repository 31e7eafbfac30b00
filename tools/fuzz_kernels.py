# SPDX-License-Identifier: BSD-3-Clause
"""Random objects, and what must hold of all that is computed of them by compiled code."""

from __future__ import annotations

import string
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(Path.cwd()), str(ROOT / "tests"), str(ROOT)]

import reference  # noqa: E402

import d2ke  # noqa: E402
from d2ke._ext import isa  # noqa: E402
from d2ke.distances.registry import BY_NAME  # noqa: E402

DIMS = [1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 127, 128, 129, 255, 300]
STYLES = [*reference.STYLES, "huge", "tiny", "mixed", "zero", "integers"]
EXTREME = {"huge", "tiny", "mixed"}


class Wrong(Exception):  # noqa: N818 (a finding, not an error of ours)
    """A result that is not what it must be."""


def expect(holds, what):
    """Raise unless it holds."""
    if not holds:
        raise Wrong(what)


def instruction_sets():
    """Yield the name of each instruction set while it is selected."""
    before = isa.selected()
    try:
        for variant in isa.supported():
            isa.select(variant)
            yield variant
    finally:
        isa.select(before)


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


def fuzz_distances(seed):
    """Distances of two collections, with the same bits on all instruction sets that fuse."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(d2ke.distance_names()))
    params, style = {}, "strings"
    dim = int(rng.choice(DIMS))
    if name in reference.STRINGS:
        X, Y = pairs_of_strings(rng, name)
        while name.startswith("token_") and X.letters not in ("str", "bytes"):  # no words in others
            X, Y = pairs_of_strings(rng, name)
        if name in ("levenshtein", "weighted_levenshtein"):
            params["mode"] = str(rng.choice(["global", "prefix", "infix"]))
        if "normalize" in BY_NAME[name].parameters and params.get("mode", "global") == "global":
            params["normalize"] = bool(rng.random() < 0.3)
        if name == "weighted_levenshtein":
            params |= costs(rng, X)
    else:
        style = str(rng.choice(sorted(set(STYLES) - EXTREME) if name == "window" else STYLES))
        X, Y = (
            d2ke.pack(vectors(rng, lengths_for(rng, dim), dim, rng.choice([np.float32, np.float64]),
                              style))
            for _ in range(2)
        )  # fmt: skip
        if "window" in BY_NAME[name].parameters:
            params["window"] = [None, 0, 1, 2, 7, 2**40, "rws"][rng.integers(7)]
        params |= elastic_parameters(rng, name, dim)
        if name in ("dtw", "emd") and rng.random() < 0.3 and style not in EXTREME:
            params["ground"] = "sqeuclidean"
        if name == "dtw" and rng.random() < 0.2:
            params["ground"] = "manhattan"
        elif name == "dtw" and rng.random() < 0.4:
            params["missing"] = "arow"
            X, Y = (with_missing(rng, objects) for objects in (X, Y))
        if name == "window":
            params = {"normalize": bool(rng.random() < 0.5), "dilation": int(rng.integers(1, 9))}
        if name == "kernel":
            # A unit in which values overflow is refused.
            params["sigma"] = float(10.0 ** rng.integers(1 if style in EXTREME else -3, 4))
            params["kernel"] = str(rng.choice(["gaussian", "laplace"]))
            params["normalize"] = bool(rng.random() < 0.5)
        if name in ("emd", "kernel") and rng.random() < 0.6:
            most = 300 if name == "emd" or params["normalize"] else 100
            X, Y = (weighted(rng, objects, most) for objects in (X, Y))
    results = {
        variant: checked_distances(rng, X, Y, name, params) for variant in instruction_sets()
    }
    exact = [v for v in results if v != "baseline" or name in reference.STRINGS]
    for variant in exact:
        same = results[variant].tobytes() == results[exact[0]].tobytes()
        expect(same, f"{name}: {variant} and {exact[0]}")
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
    elastic = "window" in BY_NAME[name].parameters and name != "dtw"
    for parameter in BY_NAME[name].parameters if elastic else ():
        if parameter in ("independent", "normalize"):
            drawn[parameter] = bool(rng.random() < 0.5)
        elif parameter != "window":
            drawn[parameter] = float(rng.choice([0.0, 1e-300, 0.01, 0.3, 1.0, 7.7, 1e300]))
    if name == "erp" and rng.random() < 0.3:
        drawn["g"] = rng.standard_normal(dim).tolist()
    return drawn


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
    for _ in instruction_sets():
        D = d2ke.kernel_distance_matrix(
            sets, sigma=sigma, kernel=kernel, weights_x=weights, n_threads=2
        )
        by_variant.append(D)
        expect((D == D.T).all() and (D >= 0).all(), "kernel distances")
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
                seed=0, n_threads=int(rng.integers(1, 4)),
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
        phi = d2ke.measures.kernel_feature_map(sets, **given, **how)
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
    for _ in instruction_sets():
        one, other = (d2ke.kernel_coreset(given, m, **how, seed=seed, n_threads=t) for t in (1, 3))
        checked_coreset(given, n, m, how, one)
        expect(one.indices.tobytes() == other.indices.tobytes(), "coreset: other indices")
        expect(one.distance == other.distance, "coreset: another distance")
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
