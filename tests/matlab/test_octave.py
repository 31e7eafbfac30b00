# SPDX-License-Identifier: BSD-3-Clause
"""d2ke against plain loops that GNU Octave runs: the functions of matlab_compat/octave."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import draw_vectors, random_text

import d2ke
import matlab_compat

# All pairs of two column cells by the function of this name.
ALL_PAIRS = """
D = zeros(numel(X), numel(Y));
for i = 1:numel(X)
    for j = 1:numel(Y)
        D(i, j) = FUNCTION;
    end
end
"""


def all_pairs(octave, call, **inputs):
    """Return D(i, j) of a call that has X{i} and Y{j} for its objects."""
    return octave(ALL_PAIRS.replace("FUNCTION", call), **inputs)["D"]


def distances(rng, n=14):
    """Draw a symmetric matrix of distances that no Euclidean points have."""
    D = np.abs(rng.standard_normal((n, n))) + 0.5
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    return D


def sources():
    return sorted(Path(matlab_compat.__file__).parent.glob("octave/*.m"))


@pytest.mark.sample(3)
@pytest.mark.parametrize("ground", ["euclidean", "sqeuclidean"])
@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("window", [None, 0, 3, "rws"])
def test_dtw(octave, window, dim, ground):
    rng = np.random.default_rng([dim, len(str(window)), len(ground)])
    X = draw_vectors(rng, rng.integers(1, 45, 5).tolist(), dim)
    Y = draw_vectors(rng, rng.integers(1, 25, 4).tolist(), dim)
    matlab_window = {None: -1.0, "rws": "rws"}.get(window, window)
    call = "d2ke_dtw(X{i}, Y{j}, window, ground)"
    expected = all_pairs(octave, call, X=X, Y=Y, window=matlab_window, ground=ground)
    D = d2ke.distance_matrix(X, Y, "dtw", window=window, ground=ground)
    assert_allclose(D, expected, rtol=1e-12, atol=0)


def test_levenshtein_of_char(octave):
    rng = np.random.default_rng(3)
    X = ["", "kitten", "x", *random_text(rng, 6, alphabet="acgt")]
    expected = all_pairs(octave, "d2ke_levenshtein(X{i}, Y{j})", X=X, Y=X)
    assert (d2ke.distance_matrix(X, distance="levenshtein") == expected).all()


@pytest.mark.parametrize("name", ["mhd", "hausdorff", "chamfer"])
def test_distances_of_sets(octave, name):
    rng = np.random.default_rng(4)
    for dim in (1, 5):
        X = draw_vectors(rng, rng.integers(1, 30, 6).tolist(), dim)
        Y = draw_vectors(rng, rng.integers(1, 9, 4).tolist(), dim)
        expected = all_pairs(octave, f"d2ke_{name}(X{{i}}, Y{{j}})", X=X, Y=Y)
        assert_allclose(d2ke.distance_matrix(X, Y, name), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("gamma", [1e-5, 0.3, 40.0])
def test_features(octave, gamma):
    D = np.abs(np.random.default_rng(5).standard_normal((30, 7)))
    Z = octave("Z = d2ke_features(D, gamma);", D=D, gamma=gamma)["Z"]
    assert_allclose(d2ke.d2ke_features(D, gamma), Z, rtol=1e-12, atol=0)


def test_features_of_raw_distances(octave):
    D = np.abs(np.random.default_rng(6).standard_normal((30, 7)))
    Z = octave("Z = d2ke_features(D);", D=D)["Z"]
    assert_allclose(d2ke.d2ke_features(D, link="distance"), Z, rtol=1e-15, atol=0)


def test_embedding_of_strings_from_end_to_end(octave):
    X = random_text(np.random.default_rng(7), 6, alphabet="acgt")
    omega = d2ke.samplers.random_strings(10, "acgt", length=(2, 8), seed=0)
    texts = ["".join(map(chr, omega.alphabet[text])) for text in map(codes_of(omega), range(10))]
    script = ALL_PAIRS.replace("FUNCTION", "d2ke_levenshtein(X{i}, Y{j})")
    Z = octave(script + "Z = d2ke_features(D, 0.2);", X=X, Y=texts)["Z"]
    found = d2ke.d2ke_embed(X, omega, distance="levenshtein", gamma=0.2)
    assert_allclose(found, Z, rtol=1e-12, atol=0)


def codes_of(objects):
    return lambda i: objects.values[objects.offsets[i] : objects.offsets[i + 1]]


@pytest.mark.parametrize("R", [1, 4, 14])
def test_gdk_led(octave, R):
    D = distances(np.random.default_rng(8))
    out = octave("[values, signature, X] = d2ke_gdk_led(D, R);", D=D, R=float(R))
    found = d2ke.gdk_led(D, R)
    assert found.signature == tuple(out["signature"][0])
    assert found.eigenvalues.shape == (len(out["values"]),)
    scale = np.abs(found.eigenvalues).max()
    assert_allclose(found.eigenvalues, out["values"][:, 0], rtol=1e-12, atol=1e-14 * scale)
    assert_allclose(found.Z @ found.Z.T, out["X"] @ out["X"].T, rtol=0, atol=1e-12 * scale)
    assert_allclose(found.Z[:, 0], out["X"][:, 0], rtol=0, atol=1e-12 * scale)


@pytest.mark.sample(3)
@pytest.mark.parametrize("repair", [None, "clip", "flip", "shift"])
@pytest.mark.parametrize(("kind", "gamma"), [("rbf", 0.4), ("nd", None)])
@pytest.mark.parametrize("beta", [2.0, 0.7])
def test_dsk(octave, kind, gamma, beta, repair):
    rng = np.random.default_rng(10)
    D, D_new = distances(rng), np.abs(rng.standard_normal((5, 14)))
    out = octave(
        "[K, K_new] = d2ke_dsk(D, kind, gamma, beta, repair, D_new); least = min(eig(K));",
        D=D,
        kind=kind,
        gamma=np.zeros((0, 0)) if gamma is None else gamma,
        beta=beta,
        repair=repair or "none",
        D_new=D_new,
    )
    options = {"kind": kind, "gamma": gamma, "beta": beta}
    K = d2ke.dsk_gram(D, **options, repair=repair)
    fitted = (
        d2ke.embedding.SpectrumRepair.fit(d2ke.dsk_gram(D, **options), repair) if repair else None
    )
    K_new = d2ke.dsk_gram(D_new, **options, repair=fitted)
    tolerance = {"rtol": 1e-12, "atol": 0 if repair is None else 1e-13 * np.abs(K).max()}
    assert_allclose(K, out["K"], **tolerance)
    assert_allclose(K_new, out["K_new"], **tolerance)
    if beta == 2.0:  # else it may be definite to begin with
        assert (out["least"] > -1e-10) == (repair is not None)


def test_random_words_of_matlab(octave):
    """Octave's uniforms from the state of MATLAB's generator are MATLAB's."""
    words = np.random.MT19937()
    words._legacy_seeding(5489)
    key = words.state["state"]["key"].astype(np.float64)
    script = "rand('state', state); x = rand(1, 5000);"  # beyond the first renewal of the state
    x = octave(script, state=np.append(key, 1.0)[:, None])["x"][0]
    raw = words.random_raw(10_000).astype(np.uint64)
    assert (x == ((raw[0::2] >> 5) * 2.0**26 + (raw[1::2] >> 6)) / 2.0**53).all()
    assert np.round(x[:5], 4).tolist() == [0.8147, 0.9058, 0.1270, 0.9134, 0.6324]


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.stem)
def test_matlab_can_read_the_functions(path):
    """MATLAB's language only: none of what GNU Octave alone understands."""
    text = path.read_text(encoding="ascii")
    assert re.search(r"^function .*\b" + path.stem + r"\(", text, re.M)
    code = re.sub(r"^\s*%.*|'(?:[^'\n]|'')*'(?=[\s,;)])", "", text, flags=re.M)
    only_octave = r"[-+*/^]=|!|#|\"|\+\+|--|\*\*|\bend_?[a-z]+\b|\b(?:printf|puts|until|unwind)"
    assert re.findall(only_octave, code) == []
    opened = re.findall(r"^\s*(?:function|if|for|while|switch|try)\b", code, re.M)
    assert len(opened) == len(re.findall(r"^\s*end\b", code, re.M))
