# SPDX-License-Identifier: BSD-3-Clause
"""The kernel distance of points and shapes by every method, and all that is made of it."""

from __future__ import annotations

import numpy as np

from snapshot_cases import clouds, d2ke, exact, rounded, weights_of

# By arithmetic of our own; the other methods, kernels and shapes have products of matrices.
METHODS = {
    "exact": {},
    "dualtree": {"eps": 0.01},
    "wspd": {"eps": 0.1},
    "rff": {"eps": 0.1, "delta": 0.1},
    "fourier": {"eps": 1e-6},
    "ifgt": {"eps": 1e-4},
    "auto": {"eps": 0.01},
}
GAUSSIAN_ONLY = ("wspd", "fourier", "ifgt")


def points(dim, n=80):
    """Draw two sets with weights, the second ones of both signs."""
    P, Q = clouds(70 + dim, 2, dim, lengths=(n, n))
    return P, Q + 0.3, weights_of(71, [P])[0], np.random.default_rng(72).standard_normal(n)


def distances(method):
    """Compute distances and norms by a method, with all it says about them."""
    made = {}
    for dim in (1, 2, 3):
        P, Q, w, v = points(dim)
        for kernel in ("gaussian", "laplace"):
            if kernel == "laplace" and method in GAUSSIAN_ONLY:
                continue
            given = {"kernel": kernel, "method": method, **METHODS[method]}
            for sigma in (0.5, 2.0, "median"):
                made[f"{dim} {kernel} {sigma}"] = [
                    d2ke.kernel_distance(P, Q, sigma=sigma, n_threads=n, info=True, **given)
                    for n in (1, 2)
                ] + [
                    d2ke.kernel_distance(
                        P, Q, sigma=sigma, weights_p=w, weights_q=v, seed=3, **given
                    ),
                    d2ke.kernel_norm(Q, sigma=sigma, weights_p=v, info=True, **given),
                    d2ke.kernel_norm(P, sigma=sigma, **given),
                ]
    return made


for _method in METHODS:
    rounded(f"kernel_distance/{_method}", 1e-8, _method)(distances)


@exact("kernel_distance/values of all pairs")
def all_pairs():
    made = []
    for dim in (1, 2, 3, 7):
        P, Q, w, v = points(dim)
        for kernel in ("gaussian", "laplace"):
            made += [
                d2ke.kernel_distance(P, Q, sigma=sigma, weights_p=w, weights_q=v, kernel=kernel)
                for sigma in (0.1, 1.0, 10.0)
            ]
    return made


@rounded("kernel_distance/other kernels", 1e-10)
def other_kernels():
    P, Q, w, v = points(2)
    P, Q = P.round(0), Q.round(0)
    return [
        d2ke.kernel_distance(P, Q, kernel=kernel, weights_p=w, weights_q=v, info=True)
        for kernel in ("linear", "trivial")
    ] + [d2ke.kernel_norm(P, kernel=kernel) for kernel in ("linear", "trivial")]


def line(shift=0.0, n=12):
    """Return the vertices of a curve in the plane."""
    t = np.linspace(0, 2, n)
    return np.c_[t, np.sin(3 * t) + shift]


def tetrahedron(shift=0.0):
    """Return corners and faces."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]) + shift
    return corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def curves(shift, **given):
    """Make a measure of each kind of shape."""
    return [
        d2ke.curve(line(shift), **given),
        d2ke.curve(line(shift), closed=True, oriented=False, **given),
        d2ke.mesh(*tetrahedron(shift), **given),
        d2ke.mesh(*tetrahedron(shift), oriented=False, **given),
    ]


@exact("curve and mesh")
def shapes():
    return [curves(0.0, **given) for given in ({}, {"gap": 0.1}, {"n_samples": 40, "seed": 7})]


@rounded("kernel_distance/shapes", 1e-9)
def shape_distances():
    made = []
    for given in ({"gap": 0.1}, {"n_samples": 60, "seed": 7}):
        for p, q in zip(curves(0.0, **given), curves(0.2, **given), strict=True):
            assert isinstance(p, d2ke.Measure)
            made += [p.total, len(p), p.discretisation("gaussian", 0.5, 0.01)]
            made += [d2ke.kernel_distance(p, q, sigma=0.5, kernel=kernel, info=True)
                     for kernel in ("gaussian", "laplace")]  # fmt: skip
            made += [d2ke.kernel_norm(p, sigma=0.5)]
    return made


SETS = clouds(80, 9, 2)
OTHERS = clouds(81, 5, 2)


def many(method):
    """Compute matrices and neighbours by a method."""
    given = {"exact": {}, "auto": {"eps": 0.05}, "rff": {"n_features": 512}, "ifgt": {"eps": 0.01}}
    made = []
    weights = {"weights_x": weights_of(82, SETS), "weights_y": weights_of(83, OTHERS)}
    of_neighbors = {"weights": weights["weights_x"], "weights_queries": weights["weights_y"]}
    for kernel in ("gaussian",) if method == "ifgt" else ("gaussian", "laplace"):
        common = {"sigma": 1.5, "kernel": kernel, "method": method, **given[method]}
        made += [
            d2ke.kernel_distance_matrix(SETS, **common),
            d2ke.kernel_distance_matrix(SETS, OTHERS, n_threads=2, **common),
            d2ke.kernel_distance_matrix(SETS, OTHERS, **weights, **common),
            d2ke.kernel_neighbors(OTHERS, SETS, 3, **common),
            d2ke.kernel_neighbors(OTHERS, SETS, 2, **of_neighbors, **common),
        ]
    return made


for _method in ("exact", "auto", "rff", "ifgt"):
    rounded(f"kernel_distance_matrix/{_method}", 1e-8, _method)(many)


@rounded("kernel_distance_matrix/other kernels and shapes", 1e-9)
def other_matrices():
    rough = [one.round(0) for one in SETS]
    shapes = [d2ke.curve(line(shift)) for shift in (0.0, 0.1, 0.5)]
    return [
        d2ke.kernel_distance_matrix(rough, kernel="linear"),
        d2ke.kernel_distance_matrix(rough, rough[:3], kernel="trivial"),
        d2ke.kernel_distance_matrix(shapes, sigma=0.4),
        d2ke.kernel_distance_matrix(SETS, sigma="median"),
    ]


FEATURES = {
    "rff": {"method": "rff", "n_features": 64},
    "rff laplace": {"method": "rff", "n_features": 64, "kernel": "laplace"},
    "rff eps": {"method": "rff", "eps": 0.5, "delta": 0.1},
    "ifgt": {"method": "ifgt", "eps": 0.01},
    "auto": {"eps": 0.01},
}


def feature_map(given):
    """Make a map and features."""
    weights = weights_of(84, SETS)
    phi = d2ke.kernel_feature_map(SETS, sigma=2.0, weights=weights, seed=5, **given)
    shifted = [one * 0.9 for one in OTHERS]
    return [
        phi, phi.n_features, phi(SETS), phi(SETS, weights=weights, n_threads=2),
        phi([one[:1] for one in SETS[:3]]) if given.get("eps") else phi(shifted),
        d2ke.kernel_features(SETS, sigma="median", seed=6, **given),
    ]  # fmt: skip


for _name, _given in FEATURES.items():
    rounded(f"kernel_features/{_name}", 1e-9, _given)(feature_map)


@rounded("kernel_features/uniform", 1e-9)
def uniform_map():
    phi = d2ke.kernel_feature_map(
        SETS[:3], sigma=4.0, method="rff", eps=0.9, delta=0.5, uniform=True
    )
    return [phi.n_features, phi(SETS[:3]).sum(axis=1)]


def turn(angle):
    """Return a rotation of the plane."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def align(motion):
    """Align noisy copies of sets in the plane and in space; and by the other method."""
    rng = np.random.default_rng(85)
    P = rng.standard_normal((25, 2)) * [3.0, 1.0] + [0.5, 2.0]
    Q = (P if motion == "translation" else P @ turn(0.4)) + 0.05 * rng.standard_normal(P.shape)
    if motion != "rotation":
        Q += [1.0, -2.0]
    w = rng.integers(1, 4, size=25) / 2.0
    space = rng.standard_normal((15, 3)) * [3.0, 2.0, 1.0]
    moved = space[:, [1, 2, 0]] if motion != "translation" else space + np.array([0.3, 0, 1])
    found = [
        d2ke.kernel_align(P, Q, sigma=0.7, motion=motion),
        d2ke.kernel_align(P, Q, sigma=0.7, motion=motion, weights_p=w, weights_q=w, n_threads=2),
        d2ke.kernel_align(space, moved + 0.03 * rng.standard_normal(space.shape), sigma=1.0,
                          motion=motion, seed=2),
        d2ke.kernel_align(P[:4], Q[:4], sigma=4.0, motion=motion, method="fptas", eps=0.5),
    ]  # fmt: skip
    values = [[f.distance_before, f.distance, f.kappa, f.rotation, f.translation] for f in found]
    text = [[f.method, f.motion, f.sigma, f.eps] for f in found]
    return [values, text, found[0](Q), isinstance(found[0], d2ke.KernelAlignment)]


# Of the motion at a maximum rounding leaves the root of the precision.
for _motion in ("translation", "rotation", "rigid"):
    rounded(f"kernel_align/{_motion}", 1e-6, _motion)(align)


@rounded("kernel_align/shapes", 1e-6)
def align_shapes():
    P, Q = d2ke.curve(line(n=30)), d2ke.curve(line(0.0, 25) @ turn(0.2) + [0.4, 0.1])
    found = d2ke.kernel_align(P, Q, sigma=0.5)
    return [found.distance, found.kappa, found.rotation, found.translation]


def coreset(method):
    """Choose coresets of points by a method."""
    made = []
    for dim in (1,) if method == "sorted" else (1, 2, 3):
        P, _, w, _ = points(dim, 300)
        for kernel in ("gaussian", "laplace"):
            given = {"sigma": 0.6, "kernel": kernel, "method": method, "seed": 4}
            made += [
                d2ke.kernel_coreset(P, 20, **given),
                d2ke.kernel_coreset(P, 20, weights_p=w, n_threads=2, **given),
                d2ke.kernel_coreset(P, 33, evaluate=False, **given),
                d2ke.kernel_coreset(P, eps=0.3, delta=0.1, **given),
            ]
    assert isinstance(made[0], d2ke.KernelCoreset)
    return [made, [len(one) for one in made]]


for _method in ("auto", "random", "sorted", "zorder", "halving", "herding", "thinning"):
    rounded(f"kernel_coreset/{_method}", 1e-9, _method)(coreset)


@rounded("kernel_coreset/shapes", 1e-9)
def shape_coresets():
    return [d2ke.kernel_coreset(one, 8, sigma=0.4) for one in curves(0.0, gap=0.1)]
