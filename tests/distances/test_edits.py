# SPDX-License-Identifier: BSD-3-Clause
"""Edit distances beside Levenshtein's, Hamming's and Jaccard's: definitions, costs and tokens."""

import math
import pickle

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import examples, texts

import d2ke

pytestmark = pytest.mark.usefixtures("isa")

PLAIN = ("osa", "damerau_levenshtein", "indel", "jaccard", "weighted_levenshtein")
NAMES = ("jaro", "jaro_winkler", "token_sort", "token_set")
MANY = "".join(map(chr, [*range(97, 123), *range(0x400, 0x420), 0x6F22, 0x1F600]))  # of all sizes
PEERS = {
    "levenshtein": "Levenshtein", "osa": "OSA", "damerau_levenshtein": "DamerauLevenshtein",
    "indel": "Indel", "hamming": "Hamming", "weighted_levenshtein": "Levenshtein",
}  # fmt: skip

each_isa = settings(max_examples=examples(40))


def matrix(name, X, Y=None, **options):
    return d2ke.distance_matrix(X, Y, name, **options)


def definition(name, X, Y, **params):
    return reference.matrix(reference.DISTANCES[name], X, Y, **params)


def edited(rng, string, n_edits, n_letters):
    """The string after some random edits, transpositions among them."""
    string = list(string)
    for kind in rng.integers(0, 4, n_edits):
        at = int(rng.integers(0, len(string) + 1))
        if kind == 3:
            string[at : at + 2] = string[at : at + 2][::-1]
        else:
            string[at : at + (kind > 0)] = [int(rng.integers(0, n_letters))] * int(kind < 2)
    return string


@st.composite
def lists_of_strings(draw, longest):
    """Two lists of strings over 2 to 60 letters or with words, some of them equal or nearly so."""
    letters = draw(st.sampled_from(["ab", "abcd", "ab \t\n\u2003", MANY[-9:], MANY]))
    string = st.text(st.sampled_from(letters), max_size=longest)
    X, Y = (draw(st.lists(string, min_size=1, max_size=most)) for most in (6, 20))
    return X, [*Y, X[0], X[-1][1:], X[0][::-1]]


@pytest.mark.parametrize(
    ("name", "params"),
    [
        *((name, {}) for name in (*PLAIN, "levenshtein", *NAMES)),
        *((name, {"normalize": True}) for name in ("levenshtein", *PLAIN[:3])),
        *(("levenshtein", {"mode": mode}) for mode in ("prefix", "infix")),
    ],
)
@each_isa
@given(data=st.data())
def test_definition(name, params, data):
    slow = name == "damerau_levenshtein"
    X, Y = data.draw(lists_of_strings(data.draw(st.sampled_from([8] if slow else [8, 16, 20, 36]))))
    form = "str" if name in NAMES else data.draw(st.sampled_from(["str", "bytes", "integers"]))
    if form == "bytes":
        X, Y = ([one.encode() for one in Z] for Z in (X, Y))
    elif form == "integers":
        X, Y = ([[2**33 - ord(letter) for letter in one] for one in Z] for Z in (X, Y))
    x, y = (d2ke.pack(Z, kind="strings") for Z in (X, Y))
    wanted = definition(name, X, Y, **params)
    np.testing.assert_allclose(matrix(name, x, y, **params), wanted, rtol=1e-15)
    among = matrix(name, x, **params)
    np.testing.assert_allclose(among, definition(name, X, X, **params), rtol=1e-15)
    np.testing.assert_array_equal(among, matrix(name, x, x, **params))


@each_isa
@given(data=st.data())
def test_hamming(data):
    n = data.draw(st.sampled_from([0, 1, 5, 15, 16, 17, 31, 63, 64, 65, 130, 300]))
    seed, size = data.draw(st.integers(0, 2**32)), data.draw(st.sampled_from([2, 256, 257, 70000]))
    rng = np.random.default_rng(seed)
    X, Y = (d2ke.pack(rng.integers(0, size, (k, n)), kind="strings") for k in (4, 300))
    wanted = (np.array(list(X))[:, None] != np.array(list(Y))[None]).sum(axis=2)
    np.testing.assert_array_equal(matrix("hamming", X, Y), wanted)


@pytest.mark.parametrize("name", ["osa", "indel"])
def test_texts_longer_than_a_tile(name):
    rapidfuzz = pytest.importorskip("rapidfuzz")
    rng = np.random.default_rng(5)
    X = [rng.integers(0, 3, n).tolist() for n in (1023, 1024, 1025, 2500)]
    Y = [edited(rng, x, 40, 3) for x in X] + [x[1000:1060] for x in X]
    scorer = getattr(rapidfuzz.distance, PEERS[name]).distance
    wanted = rapidfuzz.process.cdist(X, Y, scorer=scorer)
    got = matrix(name, *(d2ke.pack(Z, kind="strings") for Z in (X, Y)))
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("n_letters", [2, 70_000])
def test_damerau_of_long_strings(n_letters):
    """Scores and letters that take more than 16 bits."""
    rapidfuzz = pytest.importorskip("rapidfuzz")
    rng = np.random.default_rng(3)
    x = rng.integers(0, n_letters, 8_100 if n_letters == 2 else 300).tolist()
    Y = [edited(rng, x[:150], 9, n_letters), x[::-1][:90], []]
    wanted = rapidfuzz.process.cdist([x], Y, scorer=rapidfuzz.distance.DamerauLevenshtein.distance)
    got = matrix("damerau_levenshtein", *(d2ke.pack(Z, kind="strings") for Z in ([x], Y)))
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("n_letters", [3, 64, 65, 900, 50_000])
def test_jaccard_of_any_alphabet(n_letters):
    rng = np.random.default_rng(n_letters)
    X, Y = ([rng.integers(0, n_letters, n).tolist() for n in rng.integers(0, 60, k)]
            for k in (20, 300))  # fmt: skip
    Y += X[:5]
    got = matrix("jaccard", *(d2ke.pack(Z, kind="strings") for Z in (X, Y)))
    np.testing.assert_allclose(got, definition("jaccard", X, Y), rtol=1e-15)


# Costs


@st.composite
def costs(draw):
    """Draw costs as d2ke takes them, and as functions of letters."""
    number = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.7, 3.0])
    letters = "abc"
    array = np.array(draw(st.lists(number, min_size=9, max_size=9))).reshape(3, 3)
    if draw(st.booleans()):
        np.fill_diagonal(array, 0)
    given_ = {"substitution": array, "alphabet": letters}
    known = {"substitute": lambda a, b: array[letters.index(a), letters.index(b)]}
    if draw(st.booleans()):
        given_ = {"substitution": {(a, b): array[i, j] for i, a in enumerate(letters)
                                   for j, b in enumerate(letters)}}  # fmt: skip
    kind = draw(st.sampled_from(["units", "letters", "gaps"]))
    if kind == "letters":
        insertion, deletion = draw(number), dict(zip(letters, draw(
            st.lists(number, min_size=3, max_size=3)), strict=True))  # fmt: skip
        known |= {"insert": lambda _: insertion, "delete": dict(deletion).get}
        if draw(st.booleans()):
            deletion[None] = deletion.pop("b")  # that of all letters without a name
        given_ |= {"insertion": insertion, "deletion": deletion}
    elif kind == "gaps":
        extend, more = draw(number), draw(number)
        given_ |= {"gap_open": extend + more, "gap_extend": extend}
        known["gap"] = (extend + more, extend)
    if kind != "gaps" and draw(st.booleans()):
        given_["transposition"] = known["transposition"] = draw(number)
    else:
        modes = st.sampled_from(["global", "prefix", "infix", "local"])
        given_["mode"] = known["mode"] = draw(modes)
    return given_, known


@each_isa
@given(X=texts("abc", 7, 4), Y=texts("abc", 9, 20), costs=costs())
def test_weighted(X, Y, costs):
    params, known = costs
    got = matrix("weighted_levenshtein", X, Y, **params)
    wanted = definition("weighted_levenshtein", X, Y, **known)
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)
    among = matrix("weighted_levenshtein", X, **params)
    np.testing.assert_array_equal(among, matrix("weighted_levenshtein", X, X, **params))


@each_isa
@given(x=st.text("ab", max_size=4), y=st.text("abc", max_size=4))
def test_every_alignment(x, y):
    """All ways to write two strings above each other, and their costs."""

    def alignments(a, b):
        if not a and not b:
            yield ""
        for steps, kind in (((1, 1), "m"), ((1, 0), "d"), ((0, 1), "i")):
            if len(a) >= steps[0] and len(b) >= steps[1]:
                for rest in alignments(a[steps[0] :], b[steps[1] :]):
                    yield kind + rest

    def price(kinds):
        total, i, j, before = 0.0, 0, 0, ""
        for kind in kinds:
            if kind == "m":
                total += 1.5 * (x[i] != y[j])
            else:
                total += 0.5 if kind == before else 2.0
            i, j, before = i + (kind != "i"), j + (kind != "d"), kind
        return total

    wanted = min(map(price, alignments(x, y)))
    params = {"mismatch": np.float32(1.5), "gap_open": 2.0, "gap_extend": np.float16(0.5)}
    assert matrix("weighted_levenshtein", [x], [y], **params)[0, 0] == wanted


def test_pairs_stand_for_both_orders():
    params = {"substitution": {("o", "0"): 0.2, ("l", "1"): 0.1, ("1", "l"): 0.3}, "mismatch": 1}
    D = matrix("weighted_levenshtein", ["l0l", "xyz"], ["1o1", "101", "xyy"], **params)
    np.testing.assert_allclose(D, [[0.4, 0.2, 3], [3, 3, 1]])
    params = {"substitution": {"bx": 0.5}, "mismatch": 1}
    assert matrix("weighted_levenshtein", ["ab"], ["ax"], **params)[0, 0] == 0.5


def test_letters_of_every_type():
    array = [[0, 0.25], [0.25, 0]]
    for X, alphabet in (
        (["ab", "bb"], "ab"),
        ([b"ab", b"bb"], b"ab"),
        (d2ke.pack([[7, -2], [-2, -2]], kind="strings"), [7, -2]),
        ([["the", "cat"], ["cat", "cat"]], ["the", "cat"]),
    ):
        params = {"substitution": array, "alphabet": alphabet}
        assert matrix("weighted_levenshtein", X, **params)[0, 1] == 0.25


@pytest.mark.parametrize(
    ("error", "message", "params"),
    [
        (ValueError, r"letters of Y: 'c' \(the first in Y\[1\] at 2\)",
         {"substitution": {"ab": 1}}),
        (ValueError, r"no cost of the pair \('a', 'c'\)", {"substitution": {"ab": 1, "bc": 2}}),
        (ValueError, r"substitution\['ab'\] must be a cost .*, got -1",
         {"substitution": {"ab": -1}}),
        (ValueError, r"substitution\[0, 1\] must be .*, got nan",
         {"substitution": [[0, math.nan], [0, 0]], "alphabet": "ab"}),
        (ValueError, r"square array, got shape \(1, 2\)", {"substitution": [[0, 1]]}),
        (TypeError, "array of 2 letters, which alphabet must name",
         {"substitution": np.eye(2), "alphabet": "abc"}),
        (TypeError, "alphabet goes with substitution", {"alphabet": "abc"}),
        (ValueError, "alphabet has the letter 'a' twice",
         {"substitution": np.eye(2), "alphabet": "aa"}),
        (TypeError, r"the key 'abc'; a pair of letters", {"substitution": {"abc": 1}}),
        (ValueError, "insertion must be a cost .*, got inf", {"insertion": math.inf}),
        (ValueError, r"deletion\['a'\] must be a cost .*, got -2", {"deletion": {"a": -2}}),
        (TypeError, "mismatch must be a number >= 0, got 'x'", {"mismatch": "x"}),
        (TypeError, "gap_open and gap_extend go together", {"gap_open": 1}),
        (ValueError, "gap_open is 1.0 and gap_extend is 2.0", {"gap_open": 1, "gap_extend": 2}),
        (TypeError, "insertion and deletion do not go with",
         {"gap_open": 1, "gap_extend": 1, "insertion": 1}),
        (ValueError, "mode must be", {"mode": "part"}),
        (ValueError, "transposition must be a cost .*, got -1", {"transposition": -1}),
        (TypeError, "transposition goes with mode='global'", {"transposition": 1, "mode": "infix"}),
        (TypeError, "transposition goes with .* without gap_open",
         {"transposition": 1, "gap_open": 1, "gap_extend": 1}),
    ],
)  # fmt: skip
def test_bad_costs(error, message, params):
    with pytest.raises(error, match=message):
        matrix("weighted_levenshtein", ["ab"], ["b", "abc"], **params)


@pytest.mark.filterwarnings("ignore:little or nothing was learned")
def test_costs_in_stores_models_and_pickles(tmp_path):
    X = d2ke.samplers.random_strings(40, "ACG", length=(1, 9), seed=0)
    params = {"substitution": {("A", "C"): 0.5, ("A", "G"): 2.0, ("C", "G"): 1.0}}
    other = {"substitution": {("A", "C"): 0.25, ("A", "G"): 2.0, ("C", "G"): 1.0}}
    path = tmp_path / "d.h5"
    wanted = matrix("weighted_levenshtein", X, **params)
    for given_ in (params, {"substitution": dict(reversed(params["substitution"].items()))}):
        d2ke.write_distances(path, X, distance="weighted_levenshtein", **given_)
        with d2ke.io.open_features(path) as store:
            np.testing.assert_array_equal(store.read(), wanted)
    with pytest.raises(ValueError, match="substitution"):
        d2ke.write_distances(path, X, distance="weighted_levenshtein", **other)
    array = {"substitution": 1.0 - np.eye(3), "alphabet": "ACG"}
    y = X.values[X.offsets[:-1]]
    for given_ in (params, array):
        model = d2ke.d2ke_train(y, X, distance="weighted_levenshtein", R=16, seed=0, **given_)
        d2ke.save_model(tmp_path / "m", model)
        loaded = d2ke.load_model(tmp_path / "m")
        again = pickle.loads(pickle.dumps(model))
        for one in (loaded, again):
            np.testing.assert_array_equal(d2ke.d2ke_predict(None, X, one)[0],
                                          d2ke.d2ke_predict(None, X, model)[0])  # fmt: skip


# Tokens
