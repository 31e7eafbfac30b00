# SPDX-License-Identifier: BSD-3-Clause
"""Distances of every kind with all their parameters, features, Gram matrices, files of features."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
from scipy import LowLevelCallable

from snapshot_cases import blobs, clouds, d2ke, exact, rounded, some_digits, weights_of, words

GROUNDS = [{}, {"ground": "sqeuclidean"}]
PARAMETERS = {
    "dtw": [
        {"window": window, **ground} for window in (None, 0, 3, 1000, "rws") for ground in GROUNDS
    ],
    "msm": [
        {"c": c, "independent": independent, "window": window}
        for c in (0.1, 2.0)
        for independent in (False, True)
        for window in (None, 3)
    ],
    "erp": [{"g": 0.5}, {"window": 3}],
    "twe": [{"nu": 0.1, "lmbda": 0.3}, {"window": 3}],
    "edr": [{"epsilon": 0.5}, {"normalize": True, "window": 3}],
    "lcss": [{"epsilon": 0.5}, {"window": 3}],
    "adtw": [{"penalty": 0.1}, {"window": 3}],
    "wdtw": [{"g": 0.2}, {"window": 3}],
    "ddtw": [{}, {"window": 3}],
    "frechet": [{}, {"window": 3}],
    "mhd": [{}],
    "hausdorff": [{}],
    "chamfer": [{}],
    "directed_mhd": [{}],
    "directed_hausdorff": [{}],
    "emd": GROUNDS,
    "kernel": [
        {"sigma": sigma, "kernel": kernel, "normalize": normalize}
        for sigma in (0.4, 3.0)
        for kernel in ("gaussian", "laplace")
        for normalize in (False, True)
    ],
}
WEIGHTED = ("emd", "kernel")
EDITS = {
    "osa": {},
    "damerau_levenshtein": {},
    "hamming": {},
    "indel": {},
    "jaccard": {},
    "weighted_levenshtein": {
        "substitution": {("A", "C"): 0.25, ("C", "A"): 0.5}, "mismatch": 0.75, "gap_open": 2.0,
        "gap_extend": 0.5,
    },
}  # fmt: skip


def matrices(X, Y, distance, **parameters):
    """Compute the matrix of X, of X and Y, by one thread and by two, and into an array."""
    m = len(X if Y is None else Y)
    out = np.empty((len(X), m), dtype=np.float32)
    d2ke.distance_matrix(X, Y, distance, out=out, **parameters)
    return [
        *(d2ke.distance_matrix(X, Y, distance, n_threads=n, **parameters) for n in (1, 2)),
        d2ke.distance_matrix(X, Y, distance, dtype=np.float32, **parameters),
        d2ke.distance_matrix(X, Y, distance, **parameters),
        out,
    ]


def vector_distances(name, dtype):
    """Compute a distance of vectors with all parameters, in several dimensions."""
    made = {}
    for dim in (1, 2, 3, 9):
        longest = 20 if name == "kernel" else 70
        x = clouds(20 + dim, 9, dim, dtype, (1, longest))
        y = clouds(30 + dim, 5, dim, dtype, (1, 12))
        sides = {"": (d2ke.pack(x), d2ke.pack(y))}
        if name in WEIGHTED:
            pairs = [d2ke.pack(one, weights=weights_of(dim, one)) for one in (x, y)]
            sides["weights"] = tuple(pairs)
        for what, (X, Y) in sides.items():
            for parameters in PARAMETERS[name]:
                key = f"dim {dim} {what} {parameters}"
                made[key] = [matrices(X, None, name, **parameters)]
                made[key] += [matrices(X, Y, name, **parameters)]
                made[key] += [d2ke.distance_matrix(Y, X, name, **parameters)]
    return made


for _name in PARAMETERS:
    for _dtype in (np.float32, np.float64):
        exact(f"distances/{_name}/{np.dtype(_dtype).name}", _name, _dtype)(vector_distances)


@exact("distances/edits")
def edits():
    made = {}
    for name, parameters in EDITS.items():
        lengths = (70, 70) if name == "hamming" else (0, 150)
        X, Y = words(54, 9, lengths=lengths), words(55, 5, lengths=lengths)
        tokens = [[letter + "." for letter in one] for one in X]
        made[name] = [matrices(X, None, name, **parameters), matrices(X, Y, name, **parameters)]
        if name != "weighted_levenshtein":
            made[name] += [d2ke.distance_matrix(tokens, None, name)]
    return made


@exact("distances/mixed precision and special values")
def mixed_precision():
    X, Y = clouds(40, 6, 3), clouds(41, 4, 3, np.float32)
    large = [np.full((3, 2), 1e300), np.full((2, 2), -1e300), np.zeros((1, 2))]
    equal = [np.ones((2, 2)), np.ones((4, 2)), np.zeros((3, 2))]
    wide = clouds(42, 5, 128, np.float32, (2, 40))
    made = {}
    for name, (parameters, *_) in PARAMETERS.items():
        made[name] = [d2ke.distance_matrix(X, Y, name, **parameters)]
        made[name] += [d2ke.distance_matrix(one, None, name, **parameters) for one in (equal, wide)]
        made[name] += [_outcome(large, name, parameters)]
    return made


def _outcome(X, name, parameters):
    try:
        return d2ke.distance_matrix(X, None, name, **parameters)
    except ValueError as error:
        return error


@exact("distances/alignments")
def alignments():
    X, Y = clouds(44, 4, 2, np.float64, (5, 30)), clouds(45, 4, 2, np.float64, (5, 30))
    names = set(PARAMETERS) - {"kernel"}
    extra = {"msm": {"independent": False}}
    made = {name: [_told(d2ke.align(x, y, name, **extra.get(name, {})))
                   for x, y in zip(X, Y, strict=True)]
            for name in sorted(names)}  # fmt: skip
    for mode in ("global", "prefix", "infix"):
        found = d2ke.align("sitting in kitchens", "kitten", mode=mode)
        made[mode] = [_told(found), isinstance(found.operations, d2ke.Operations)]
    return made


def _told(found):
    if not isinstance(found, d2ke.Alignment):
        raise TypeError(found)
    return [found.value, found.pairs, found.costs, found.masses, str(found)]


@exact("distances/names")
def distance_names():
    names = d2ke.distance_names()
    missing = set(names) - {*PARAMETERS, *EDITS, "levenshtein"}
    if missing:
        raise ValueError(f"distances without a case: {missing}")
    others = {"dynamic_time_warping": {}, "wasserstein": {}, "wmd": {}, "modified_hausdorff": {},
              "kernel_distance": {"sigma": 1.0}}  # fmt: skip
    X = clouds(43, 4, 2)
    return [
        names,
        {one: d2ke.distance_matrix(X, None, one, **parameters)
         for one, parameters in others.items()},
        [d2ke.distance_matrix(["AC", "CCC"], None, one) for one in ("edit", "lev")],
    ]  # fmt: skip


@exact("distances/levenshtein")
def levenshtein():
    rng = np.random.default_rng(44)
    letters = "".join(chr(0x4E00 + i) for i in range(900))
    collections = {
        "short": (words(45, 12), words(46, 5, lengths=(0, 9))),
        "long": (words(47, 8, lengths=(50, 400)), words(48, 6, lengths=(0, 700))),
        "two letters": (words(49, 9, "ab", (0, 130)), words(50, 4, "ba", (0, 130))),
        "many letters": (words(51, 9, letters, (0, 130)), words(52, 4, letters, (0, 70))),
        "bytes": ([one.encode() for one in words(53, 9)], [b"", b"\xff\x00", b"ACGT"]),
        "integers": tuple(
            d2ke.pack([rng.integers(-50, 10**6, size=k) // 9 for k in sizes], kind="strings")
            for sizes in ((0, 3, 70, 140, 20), (5, 0, 64, 65))
        ),
    }
    return {
        what: [matrices(X, None, "levenshtein"), matrices(X, Y, "levenshtein")]
        for what, (X, Y) in collections.items()
    }


def _gap(x, y, scale=1.0):
    return scale * abs(float(x[0, 0]) - float(y[-1, -1])) + abs(len(x) - len(y))


@exact("distances/Python callable")
def python_callable():
    X, Y = clouds(54, 7, 2), clouds(55, 4, 2)
    sets = [{1, 2}, set(), {3}]
    strings = words(56, 5)
    return [
        matrices(X, None, _gap),
        matrices(X, Y, _gap, scale=2.5),
        d2ke.distance_matrix(sets, [{1, 3}, {2}], lambda a, b: len(a ^ b)),
        d2ke.distance_matrix(strings, None, lambda a, b: abs(len(a) - len(b))),
        d2ke.d2ke_embed(X, Y, distance=_gap, gamma=0.3, scale=0.5),
    ]


DOUBLES, INTS = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_int32)
SIZE, DATA = ctypes.c_ssize_t, ctypes.c_void_p


@ctypes.CFUNCTYPE(ctypes.c_double, DOUBLES, SIZE, DOUBLES, SIZE, SIZE, DATA)
def _vector_gap(x, n_x, y, n_y, dim, data):
    scale = ctypes.cast(data, DOUBLES)[0] if data else 1.0
    return scale * abs(n_x - n_y) + abs(x[n_x * dim - 1] - y[n_y * dim - 1])


@ctypes.CFUNCTYPE(ctypes.c_double, INTS, SIZE, INTS, SIZE, DATA)
def _letter_gap(x, n_x, y, n_y, data):
    return float(abs(sum(x[i] for i in range(n_x)) - sum(y[i] for i in range(n_y))))


@exact("distances/LowLevelCallable")
def low_level_callable():
    scale = ctypes.c_double(10.0)
    data = ctypes.cast(ctypes.pointer(scale), ctypes.c_void_p)
    X, Y = clouds(57, 7, 2), clouds(58, 4, 2)
    return [
        matrices(X, None, LowLevelCallable(_vector_gap)),
        matrices(X, Y, LowLevelCallable(_vector_gap, data)),
        matrices(words(59, 6), words(60, 4), LowLevelCallable(_letter_gap)),
        d2ke.d2ke_embed(X, Y, distance=LowLevelCallable(_vector_gap), gamma=0.3),
    ]


def inputs(kind, dtype=np.float64):
    """Objects, random objects, and a distance with its parameters."""
    if kind == "strings":
        omega = d2ke.random_strings(24, "ACGT", length=(2, 9), seed=1)
        return {"X": words(61, 20), "omega": omega, "distance": "levenshtein"}
    X = clouds(62, 20, 3, dtype)
    if kind == "series":
        omega = d2ke.random_series(24, 3, length=(1, 9), sigma=1.5, seed=2, dtype=dtype)
        return {"X": X, "omega": omega, "distance": "dtw", "window": "rws"}
    omega = d2ke.random_sets(24, 3, size=(2, 9), seed=3, dtype=dtype)
    return {"X": d2ke.pack(X, weights=weights_of(63, X)), "omega": omega, "distance": "emd"}


KINDS = {
    "strings": ("strings",),
    "series": ("series",),
    "series float32": ("series", np.float32),
    "sets": ("sets",),
    "sets float32": ("sets", np.float32),
}


def embed(*kind):
    """Embed by both functions and both links, and by `d2ke_features` from distances."""
    given = inputs(*kind)
    omega = given.pop("omega")
    made = {}
    for what, link in {"exp": {"gamma": 0.2}, "distance": {"link": "distance"}}.items():
        Z = [d2ke.d2ke_embed(omega=omega, n_threads=n, **given, **link) for n in (1, 2)]
        out = np.empty(Z[0].shape, dtype=Z[0].dtype)
        d2ke.d2ke_embed(omega=omega, out=out, **given, **link)
        other = d2ke.d2ke_embed(omega=omega, dtype=np.float32, **given, **link)
        made[what] = [*Z, out, other, d2ke.rsm_embed(reps=omega, **given, **link)]
        parameters = {key: one for key, one in given.items() if key not in ("X", "distance")}
        D = d2ke.distance_matrix(given["X"], omega, given["distance"], **parameters)
        made[what] += [d2ke.d2ke_features(D, n_threads=n, **link) for n in (1, 2)]
        made[what] += [d2ke.d2ke_features(D[:, :7], **link), d2ke.d2ke_features(D, out=D, **link)]
    return made


for _name, _kind in KINDS.items():
    exact(f"embed/{_name}", *_kind)(embed)


def stored(folder, *kind):
    """Write features to a file, twice, and read it back in parts."""
    given = inputs(*kind)
    X, omega = given.pop("X"), given.pop("omega")
    made = {}
    for what, link in {"exp": {"gamma": 0.2}, "distance": {"link": "distance"}}.items():
        file = folder / f"{what}.h5"
        for again in (False, True):
            d2ke.write_features(file, X, omega, **given, **link)
            with d2ke.io.open_features(file) as Z:
                made[what, again] = _contents(Z)
        made[what, "loaded"] = _features(d2ke.io.load_features(file))
        part = d2ke.io.load_features(file, rows=slice(2, 9), columns=slice(4))
        made[what, "part"] = _features(part)
    names = sorted(path.name for path in folder.iterdir())
    return {**{str(key): one for key, one in made.items()}, "files": names}


for _name, _kind in KINDS.items():
    exact(f"stores/{_name}", *_kind)(lambda *kind, folder: stored(folder, *kind))


def _contents(store):
    blocks = [[rows, Z] for rows, Z in store.blocks(7)]
    return [type(store).__name__, repr(store), len(store), store.read(), blocks, store.dtype,
            store.read(slice(3, 5), slice(1, 4)), store[2:6], store.labels(),
            store.omega(), store.omega(slice(3)), store.parameters]  # fmt: skip


def _features(store):
    assert isinstance(store, d2ke.io.FeatureStore)
    versions = sorted(store.versions)
    return [store.Z, store.labels, store.omega, store.parameters, versions, repr(store)]


@exact("stores/distances")
def stored_distances(folder: Path):
    X = clouds(64, 30, 2)
    d2ke.write_distances(folder / "a.h5", X, distance="dtw", window=3)
    d2ke.write_distances(folder / "b.h5", X, X[:4], distance="mhd", dtype="f4")
    made = []
    for name in ("a.h5", "b.h5"):
        with d2ke.io.open_features(folder / name) as D:
            made += [isinstance(D, d2ke.io.FeatureFile), _contents(D)]
    return made


_CALLS = {"left": 0}


def _interrupted(x, y):
    _CALLS["left"] -= 1
    if _CALLS["left"] == 0:
        raise KeyError("stop")
    return abs(len(x) - len(y)) / 3.0


_interrupted.version = "1"  # how often it was called does not count


@exact("stores/resumed")
def resumed(folder: Path):
    file, X = folder / "part.h5", words(65, 40)
    _CALLS["left"] = 700
    made = []
    try:
        d2ke.write_distances(file, X, distance=_interrupted)
    except KeyError:
        made += [sorted(path.name for path in folder.iterdir())]
    d2ke.write_distances(file, X, distance=_interrupted)
    with d2ke.io.open_features(file) as D:
        made += [D.read()]
    messages = []
    for given in ({"X": X[::-1]}, {"distance": "levenshtein"}):
        given = {"X": X, "distance": _interrupted, "path": file, **given}
        try:
            d2ke.write_distances(**given)
        except ValueError as error:
            messages.append(str(error).replace(str(folder), ""))
    return [made, messages]


@exact("stores/save_features")
def save_features(folder: Path):
    rng = np.random.default_rng(66)
    Z = rng.standard_normal((12, 5)).astype(np.float32)
    omega = d2ke.random_strings(5, "ACGT", length=(2, 9), seed=1)
    parameters = {"gamma": 0.5, "length": (2, 8), "some": {"a": None, "b": True}, "name": "Ä"}
    series = d2ke.random_series(5, 2, length=(1, 3), sigma=1.0, seed=0)
    made = []
    for given in (
        {"labels": list("aabbccaabbcc"), "omega": omega, "parameters": parameters},
        {"labels": range(12), "omega": series, "compression": "gzip"},
        {},
    ):
        d2ke.io.save_features(folder / "Z.h5", Z, **given)
        with d2ke.io.open_features(folder / "Z.h5") as store:
            made.append([_contents(store), store.labels(slice(2, 5))])
        made.append(_features(d2ke.io.load_features(folder / "Z.h5")))
    return made


def gram(*kind):
    """Compute the Gram matrix of one collection, and of two."""
    given = inputs(*kind)
    Y = given["X"][3:9]
    return [d2ke.d2ke_gram(gamma=0.2, n_threads=n, **given) for n in (1, 2)] + [
        d2ke.d2ke_gram(Y=Y, gamma=1.5, **given)
    ]


for _name, _kind in KINDS.items():
    rounded(f"gram/{_name}", 2e-6 if "float32" in _name else 1e-12, *_kind)(gram)


def asymmetric():
    """Distances whose Gaussian has negative eigenvalues, none of them near 0."""
    X, _ = blobs(40)
    D = np.abs(X[:, None] - X).sum(axis=2) ** 1.5
    return D, D[:, :30][30:]


@exact("dsk_gram")
def dsk_gram():
    D, _ = asymmetric()
    return [
        d2ke.dsk_gram(one, kind=kind, beta=beta, **({"gamma": 0.05} if kind == "rbf" else {}))
        for one in (D, D.astype(np.float32), D[:5])
        for kind in ("rbf", "nd")
        for beta in (0.5, 1.0, 2.0)
    ]


@rounded("dsk_gram/repairs", 1e-10)
def repairs():
    D, D_new = asymmetric()
    made = {}
    for kind in ("clip", "flip", "shift"):
        for name, given in {"rbf": {"gamma": 0.01}, "nd": {"kind": "nd", "beta": 1.0}}.items():
            K = d2ke.dsk_gram(D[:30, :30], **given)
            repair = d2ke.SpectrumRepair.fit(K, kind)
            made[f"{kind} {name}"] = [
                d2ke.dsk_gram(D[:30, :30], repair=kind, **given),
                d2ke.dsk_gram(D_new, repair=repair, **given),
                repair.apply(K[:4]), repair.kind, repair.gram, repair.least, repair.negative.shape,
            ]  # fmt: skip
    return made


@rounded("gdk_led", 1e-8)
def gdk_led():
    D, D_new = asymmetric()
    D = D[:30, :30]
    made = []
    for R in (2, 5):
        led = d2ke.gdk_led(D, R)
        assert isinstance(led, d2ke.PseudoEuclideanEmbedding)
        made += [led.eigenvalues, led.signature, led.Z, led.project(D_new), led.project(D)]
    everything = d2ke.gdk_led(D, 30)
    return [made, everything.eigenvalues, everything.signature]


@exact("digits")
def digits():
    made = []
    for name, distance in (("digits-str8", "levenshtein"), ("digits-points", "mhd")):
        X, y = some_digits(120, name)
        reps = d2ke.representatives(X, 40, seed=5)
        D = d2ke.distance_matrix(X, reps, distance)
        made += [y, D, d2ke.rsm_embed(X, reps, distance=distance, gamma=0.1)]
        made += [d2ke.knn_predict(d2ke.distance_matrix(X, X[:60], distance), y[:60], k=k)
                 for k in (1, 4)]  # fmt: skip
    return made


@exact("splice", needs_data=True)
def splice():
    data = d2ke.datasets.load("splice")
    X, y = data.objects[::40], data.labels[::40]
    omega = d2ke.markov_strings(48, X, length=(5, 30), order=2, seed=6)
    Z = d2ke.d2ke_embed(X, omega, distance="levenshtein", gamma=0.05)
    D = d2ke.distance_matrix(X, None, "levenshtein")
    return [y, D, Z, d2ke.knn_predict(D[40:, :40], y[:40], k=3)]
