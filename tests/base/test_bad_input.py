# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments of every public function: the error's type, and what its message names.

A row is the error, what its message must contain (the argument first, then the index or the
value), and the call.
"""

import inspect
import io as streams
import re
from functools import partial

import numpy as np
import pytest
from scipy import sparse

import d2ke
import matlab_compat as matlab
from d2ke import datasets
from d2ke import io as files


class given(dict):  # noqa: N801 (reads like a call's keywords)
    """The keywords of a call."""


NAN, INF = np.nan, np.inf
SERIES = [[0.0, 1.0], [1.0, 2.0, 3.0]]
WORDS = ["ACGT", "AGT", "TTTT", "CA"]
POINTS = np.array([[0.0, 0.0], [0.1, 0.2], [3.0, 3.0], [3.2, 3.1]])
K = np.exp(-((POINTS[:, None] - POINTS) ** 2).sum(axis=2))
BAD_K = K.copy()
BAD_K[1, 2] = NAN
LOPSIDED = K.copy()
LOPSIDED[0, 3] = 0.5
Y = [0, 0, 1, 1]
D = np.abs(np.subtract.outer([0.0, 1.0, 3.0, 4.0], [0.0, 1.0, 3.0, 4.0]))
BAD_D = D.copy()
BAD_D[2, 1] = -1.0
Z = np.arange(8.0).reshape(4, 2)
BAD_Z = Z.copy()
BAD_Z[3, 1] = INF
INK = np.eye(3, dtype=bool)
ALPHA = np.full(4, 0.25)
SETS = [POINTS[:2], POINTS[2:], POINTS]
OMEGA = d2ke.random_strings(4, "ACGT", length=(1, 3), seed=0)
LINEAR = d2ke.train(Y, Z)
MACHINE = d2ke.svmtrain(Y, K)
CLASSIFIER = d2ke.kernel_classifier_fit(K, Y)
SIMILARITY = d2ke.similarity_machine_fit(K, Y)
MAP = d2ke.kernel_feature_map(SETS, sigma=1.0, n_features=8)
WEIGHTED = d2ke.pack([[1.0, 2.0]], weights=[[0.5, 0.5]])
STRUCT = matlab.train(Y, Z, "-s 2 -q")
KERNEL_STRUCT = matlab.svmtrain(Y, Z, "-t 0 -q")
DOCUMENTS = {
    "X": [[[0.6, 1.0], [0.8, 0.0]], [[0.0], [1.0]]],
    "Y": [1, 2],
    "BOW_X": [[3, 1], [2]],
    "words": [["a", "b"], ["c"]],
    "TR": [[1]],
    "TE": [[2]],
}
DOCUMENT_FACTS = matlab.wme_GenFea_preproc(DOCUMENTS)

embed = partial(d2ke.d2ke_embed, WORDS, OMEGA, distance="levenshtein")
dtw = partial(d2ke.distance_matrix, SERIES, distance="dtw")
distance = partial(d2ke.kernel_distance, POINTS, POINTS + 1)
search = partial(d2ke.search, WORDS, Y, "knn", distance="levenshtein", n_folds=2)

CASES = [
    # Objects.
    (TypeError, "items", d2ke.pack, "one string"),
    (TypeError, "items", d2ke.pack, 5),
    (TypeError, "items", d2ke.pack, {"a": [1.0]}),
    (ValueError, "items", d2ke.pack, []),
    (ValueError, ("items[1]", "nan", "(2, 0)"), d2ke.pack, [[1.0], [0.0, 1.0, NAN]]),
    (ValueError, ("items[0]", "inf", "(0, 1)"), d2ke.pack, [[[1.0, INF]]]),
    (ValueError, ("items[1]", "3", "2"), d2ke.pack, [np.ones((2, 2)), np.ones((2, 3))]),
    (ValueError, ("items[1]", "(1, 1, 1)"), d2ke.pack, [[1.0], np.ones((1, 1, 1))]),
    (ValueError, ("items[0]", "2**53"), d2ke.pack, [[2**60]]),
    (TypeError, ("items[1]", "complex"), d2ke.pack, [[1.0], [1j]]),
    (TypeError, ("items[1]", "bytes"), d2ke.pack, ["a", b"a"]),
    (TypeError, ("items[1]", "str"), d2ke.pack, [[1.0], "a"]),
    (ValueError, ("words[0]", "nan"), d2ke.pack, [[NAN]], given(name="words")),
    (ValueError, ("kind", "'text'"), d2ke.pack, ["a"], given(kind="text")),
    (TypeError, ("lengths", "items"), d2ke.pack, [[1.0]], given(lengths=[1])),
    (ValueError, ("lengths[1]", "9"), d2ke.pack, np.ones((2, 3)), given(lengths=[3, 9])),
    (ValueError, ("lengths", "(3,)"), d2ke.pack, np.ones((2, 3)), given(lengths=[1, 2, 3])),
    (TypeError, ("channels_first", "strings"), d2ke.pack, ["a"], given(channels_first=True)),
    (TypeError, ("weights", "strings"), d2ke.pack, ["a"], given(weights=[[1.0]])),
    (ValueError, ("weights", "2"), d2ke.pack, [[1.0]], given(weights=[[1.0], [1.0]])),
    (ValueError, ("weights[0]", "-1"), d2ke.pack, [[1.0, 2.0]], given(weights=[[1.0, -1.0]])),
    (ValueError, ("weights[0]", "0"), d2ke.pack, [[1.0, 2.0]], given(weights=[[0.0, 0.0]])),
    (ValueError, ("weights[0]", "(1,)"), d2ke.pack, [[1.0, 2.0]], given(weights=[[1.0]])),
    (TypeError, ("items[0]", "float"), d2ke.pack, [[0.5]], given(kind="strings")),
    (ValueError, "collections", d2ke.concatenate, []),
    (TypeError, ("collections[0]", "list"), d2ke.concatenate, [[1.0]]),
    (
        TypeError,
        ("collections[1]", "strings"),
        d2ke.concatenate,
        [d2ke.pack([[1.0]]), d2ke.pack(["a"])],
    ),
    (IndexError, "7", d2ke.pack(WORDS).__getitem__, 7),
    (TypeError, "'a'", d2ke.pack(WORDS).__getitem__, "a"),
    # Samplers.
    (ValueError, ("R", "0"), d2ke.random_series, 0, 1, given(length=3, sigma=1.0, seed=0)),
    (TypeError, ("R", "2.0"), d2ke.random_series, 2.0, 1, given(length=3, sigma=1.0, seed=0)),
    (ValueError, ("n_channels", "-1"), d2ke.random_series, 2, -1,
     given(length=3, sigma=1.0, seed=0)),
    (ValueError, ("length", "(4, 3)"), d2ke.random_series, 2, 1,
     given(length=(4, 3), sigma=1.0, seed=0)),
    (ValueError, ("length[0]", "0"), d2ke.random_series, 2, 1,
     given(length=(0, 3), sigma=1.0, seed=0)),
    (ValueError, ("sigma", "0"), d2ke.random_series, 2, 1, given(length=3, sigma=0.0, seed=0)),
    (TypeError, ("sigma", "'1'"), d2ke.random_series, 2, 1, given(length=3, sigma="1", seed=0)),
    (TypeError, ("seed", "None"), d2ke.random_series, 2, 1, given(length=3, sigma=1.0, seed=None)),
    (ValueError, ("seed", "-1"), d2ke.random_series, 2, 1, given(length=3, sigma=1.0, seed=-1)),
    (TypeError, ("dtype", "int"), d2ke.random_series, 2, 1,
     given(length=3, sigma=1.0, seed=0, dtype=int)),
    (ValueError, ("sigma", "float32"), d2ke.random_series, 2, 1,
     given(length=3, sigma=1e300, seed=0, dtype=np.float32)),
    (ValueError, "alphabet", d2ke.random_strings, 2, "", given(length=3, seed=0)),
    (ValueError, ("alphabet", "'A'"), d2ke.random_strings, 2, "ABA", given(length=3, seed=0)),
    (TypeError, ("alphabet", "int"), d2ke.random_strings, 2, 4, given(length=3, seed=0)),
    (TypeError, ("alphabet", "float"), d2ke.random_strings, 2, [0.5], given(length=3, seed=0)),
    (TypeError, ("length", "2.5"), d2ke.random_strings, 2, "AB", given(length=2.5, seed=0)),
    (ValueError, ("size", "(5, 4)"), d2ke.random_sets, 2, 3, given(size=(5, 4), seed=0)),
    (ValueError, ("dim", "0"), d2ke.random_sets, 2, 0, given(size=3, seed=0)),
    (ValueError, ("region", "'ball'"), d2ke.random_sets, 2, 3,
     given(size=3, seed=0, region="ball")),
    (ValueError, ("low", "high"), d2ke.random_sets, 2, 3,
     given(size=3, seed=0, region="box", low=1.0, high=0.0)),
    (ValueError, ("high", "nan"), d2ke.random_sets, 2, 3,
     given(size=3, seed=0, region="box", high=NAN)),
    (ValueError, ("low", "(2,)"), d2ke.random_sets, 2, 3,
     given(size=3, seed=0, region="box", low=[0, 0])),
    (TypeError, "low", d2ke.random_sets, 2, 3, given(size=3, seed=0, region="box", low="a")),
    (ValueError, ("length", "9"), d2ke.random_segments, 2, WORDS, given(length=9, seed=0)),
    (ValueError, ("scale", "2"), d2ke.random_segments, 2, WORDS,
     given(length=1, seed=0, scale=2.0)),
    (ValueError, ("scale", "-1"), d2ke.random_segments, 2, SERIES,
     given(length=1, seed=0, scale=-1.0)),
    (ValueError, ("X[0]", "nan"), d2ke.random_segments, 2, [[NAN]], given(length=1, seed=0)),
    (TypeError, ("X", "vectors"), d2ke.markov_strings, 2, SERIES, given(length=1, seed=0)),
    (ValueError, ("order", "0"), d2ke.markov_strings, 2, WORDS, given(length=1, seed=0, order=0)),
    (ValueError, ("order", "9"), d2ke.markov_strings, 2, WORDS, given(length=1, seed=0, order=9)),
    (ValueError, ("R", "5"), d2ke.representatives, WORDS, 5, given(seed=0)),
    (TypeError, ("seed", "'x'"), d2ke.representatives, WORDS, 2, given(seed="x")),
    (TypeError, ("X", "strings"), d2ke.resampled_sets, 2, WORDS, given(size=2, seed=0)),
    (ValueError, ("size", "0"), d2ke.resampled_sets, 2, SETS, given(size=0, seed=0)),
    # Distances.
    (TypeError, ("distance", "None"), d2ke.distance_matrix, SERIES),
    (ValueError, ("distance", "'dtv'", "dtw"), d2ke.distance_matrix, SERIES, None, "dtv"),
    (TypeError, ("X[0]", "str"), d2ke.distance_matrix, WORDS, None, "dtw"),
    (TypeError, ("X", "strings"), d2ke.distance_matrix, d2ke.pack(WORDS), None, "dtw"),
    (TypeError, ("Y[0]", "str", "list"), d2ke.distance_matrix, WORDS, SERIES, "levenshtein"),
    (ValueError, ("X[1]", "nan", "(0, 0)"), d2ke.distance_matrix, [[1.0], [NAN]], None, "mhd"),
    (ValueError, ("X[1]", "dtw"), d2ke.distance_matrix, [[1.0], []], None, "dtw"),
    (ValueError, ("Y[0]", "nan"), d2ke.distance_matrix, SERIES, [[NAN]], "dtw"),
    (ValueError, ("Y", "2", "1"), d2ke.distance_matrix, SERIES, [POINTS], "dtw"),
    (ValueError, "Y", d2ke.distance_matrix, SERIES, [], "dtw"),
    (ValueError, ("window", "-1"), dtw, given(window=-1)),
    (TypeError, ("window", "2.5"), dtw, given(window=2.5)),
    (ValueError, ("window", "'wide'"), dtw, given(window="wide")),
    (ValueError, ("ground", "'cosine'"), dtw, given(ground="cosine")),
    (TypeError, ("'width'", "window"), dtw, given(width=3)),
    (ValueError, ("n_threads", "0"), dtw, given(n_threads=0)),
    (TypeError, ("n_threads", "1.5"), dtw, given(n_threads=1.5)),
    (TypeError, ("out", "list"), dtw, given(out=[[0.0]])),
    (ValueError, ("out", "(2, 2)", "(3, 2)"), dtw, given(out=np.empty((3, 2)))),
    (ValueError, ("out", "C-contiguous"), dtw, given(out=np.empty((2, 2), order="F"))),
    (TypeError, ("out", "int64"), dtw, given(out=np.empty((2, 2), np.int64))),
    (TypeError, ("X", "weights"), d2ke.distance_matrix, WEIGHTED, None, "dtw"),
    (TypeError, ("distance", "X[0]", "Y[0]", "'no'"), d2ke.distance_matrix, [1], [2],
     lambda a, b: "no"),
    (ValueError, ("distance", "X[0]", "Y[0]", "-1"), d2ke.distance_matrix, [1], [2],
     lambda a, b: -1.0),
    # Embeddings and Gram matrices.
    (TypeError, "gamma", embed),
    (ValueError, ("gamma", "0"), embed, given(gamma=0.0)),
    (ValueError, ("gamma", "nan"), embed, given(gamma=NAN)),
    (ValueError, ("gamma", "less than 1.8e308"), embed, given(gamma=10**400)),
    (TypeError, ("gamma", "'1'"), embed, given(gamma="1")),
    (TypeError, ("gamma", "1.0", "distance"), embed, given(gamma=1.0, link="distance")),
    (ValueError, ("link", "'log'"), embed, given(gamma=1.0, link="log")),
    (TypeError, ("omega", "vectors"), d2ke.d2ke_embed, WORDS, d2ke.pack(SERIES),
     given(distance="levenshtein", gamma=1.0)),
    (ValueError, ("omega[0]", "inf"), d2ke.d2ke_embed, SERIES, [[INF]],
     given(distance="dtw", gamma=1.0)),
    (ValueError, ("out", "(4, 4)"), embed, given(gamma=1.0, out=np.empty((4, 5)))),
    (TypeError, ("client", "str"), embed, given(gamma=1.0, client="tcp://127.0.0.1:8786")),
    (TypeError, ("client", "int"), dtw, given(client=4, out="D.h5")),
    (TypeError, ("client", "object"), d2ke.rsm_embed, WORDS, OMEGA,
     given(distance="levenshtein", gamma=1.0, client=object())),
    (TypeError, ("max_memory", "client"), embed,
     given(gamma=1.0, client=object(), max_memory="1GB")),
    (ValueError, "reps", d2ke.rsm_embed, WORDS, [], given(distance="levenshtein", gamma=1.0)),
    (ValueError, ("gamma", "-1"), d2ke.rsm_embed, WORDS, WORDS,
     given(distance="levenshtein", gamma=-1.0)),
    (TypeError, ("D", "list"), d2ke.d2ke_features, [[1.0]], 1.0),
    (ValueError, ("D[2, 1]", "-1"), d2ke.d2ke_features, BAD_D, 1.0),
    (ValueError, ("D", "(0, 3)"), d2ke.d2ke_features, np.empty((0, 3)), 1.0),
    (ValueError, ("gamma", "inf"), d2ke.d2ke_features, D, INF),
    (TypeError, ("out", "float32"), d2ke.d2ke_features, D, 1.0,
     given(out=np.empty((4, 4), np.float32))),
    (ValueError, ("gamma", "-2"), d2ke.d2ke_gram, WORDS,
     given(omega=OMEGA, distance="levenshtein", gamma=-2.0)),
    (TypeError, ("Y", "vectors"), d2ke.d2ke_gram, WORDS, d2ke.pack(SERIES),
     given(omega=OMEGA, distance="levenshtein", gamma=1.0)),
    (TypeError, "gamma", d2ke.dsk_gram, D),
    (TypeError, ("gamma", "nd"), d2ke.dsk_gram, D, given(kind="nd", gamma=1.0)),
    (ValueError, ("kind", "'exp'"), d2ke.dsk_gram, D, given(kind="exp", gamma=1.0)),
    (ValueError, ("beta", "0"), d2ke.dsk_gram, D, given(gamma=1.0, beta=0.0)),
    (ValueError, ("D[2, 1]", "-1"), d2ke.dsk_gram, BAD_D, given(gamma=1.0)),
    (ValueError, ("repair", "'cut'"), d2ke.dsk_gram, D, given(gamma=1.0, repair="cut")),
    (ValueError, ("K", "(2, 4)"), d2ke.dsk_gram, D[:2], given(gamma=1.0, repair="clip")),
    (ValueError, ("K", "symmetric", "[0, 3]"), d2ke.SpectrumRepair.fit, LOPSIDED, "clip"),
    (ValueError, ("K", "3", "4"), d2ke.SpectrumRepair.fit(K, "clip").apply, K[:, :3]),
    (ValueError, ("R", "9"), d2ke.gdk_led, D, 9),
    (ValueError, ("D", "symmetric"), d2ke.gdk_led, LOPSIDED, 2),
    (ValueError, ("D", "-1"), d2ke.gdk_led, np.minimum(BAD_D, BAD_D.T), 2),
    (TypeError, ("D", "<U1"), d2ke.gdk_led, [["a"]], 1),
    (ValueError, ("D_new", "3", "4"), d2ke.gdk_led(D, 2).project, D[:, :3]),
    # Guarantees.
    (ValueError, ("eps", "2"), d2ke.features_needed, 2.0, 0.1, 3.0, 1.0),
    (ValueError, ("delta", "0"), d2ke.features_needed, 0.1, 0.0, 3.0, 1.0),
    (TypeError, ("p", "None"), d2ke.features_needed, 0.1, 0.1, None, 1.0),
    (ValueError, ("gamma", "nan"), d2ke.features_needed, 0.1, 0.1, 3.0, NAN),
    (ValueError, ("kind", "'sets'"), d2ke.effective_dimension, "sets", given(length=3)),
    (TypeError, "alphabet_size", d2ke.effective_dimension, "strings", given(length=3)),
    (TypeError, ("n_elements", "4"), d2ke.effective_dimension, "strings",
     given(length=3, alphabet_size=4, n_elements=4)),
    (ValueError, ("length", "0"), d2ke.effective_dimension, "strings",
     given(length=0, alphabet_size=4)),
    (TypeError, ("gram", "features"), d2ke.kernel_error, Z),
    (ValueError, ("gram", "(3, 4)"), d2ke.kernel_error, Z, given(gram=K[:3])),
    (ValueError, ("sizes[1]", "9"), d2ke.kernel_error, Z, given(gram=K, sizes=[1, 9])),
    (TypeError, ("sizes", "2"), d2ke.kernel_error, Z, given(gram=K, sizes=2)),
    (ValueError, ("max_blocks", "0"), d2ke.kernel_error, Z, given(gram=K, max_blocks=0)),
    (ValueError, ("Z", "inf", "(3, 1)"), d2ke.kernel_error, BAD_Z, given(gram=K)),
    (ValueError, ("Z", "one column"), d2ke.kernel_standard_error, Z[:, :1]),
    (ValueError, ("Y", "1", "2"), d2ke.kernel_standard_error, Z, Z[:, :1]),
    # Learners.
    (ValueError, ("Z", "inf", "(3, 1)"), d2ke.train, Y, BAD_Z),
    (ValueError, ("y", "3", "4"), d2ke.train, Y[:3], Z),
    (ValueError, ("y", "one class"), d2ke.train, [1, 1, 1, 1], Z),
    (ValueError, ("y[2]", "nan"), d2ke.train, [0.0, 0.0, NAN, 1.0], Z),
    (TypeError, ("y[1]", "1"), d2ke.train, ["a", 1, "b", "b"], Z),
    (TypeError, "y", d2ke.train, 7, Z),
    (TypeError, "y", d2ke.train, None, Z),
    (TypeError, ("Z", "<U1"), d2ke.train, Y, [["a"]] * 4),
    (ValueError, ("Z", "(4,)"), d2ke.train, Y, Z[:, 0]),
    (TypeError, ("Z", "NoneType"), d2ke.train, Y, None),
    (ValueError, ("Z", "length"), d2ke.train, Y, [[1.0], [1.0, 2.0], [1.0], [2.0]]),
    (TypeError, ("y", "'abba'"), d2ke.train, "abba", Z),
    (ValueError, "'-x'", d2ke.train, Y, Z, "-x 1"),
    (ValueError, ("-c", "-1"), d2ke.train, Y, Z, "-s 2 -c -1"),
    (ValueError, ("-c", "'nan'"), d2ke.train, Y, Z, "-s 2 -c nan"),
    (ValueError, ("-c", "''"), d2ke.train, Y, Z, "-s 2 -c"),
    (ValueError, ("-s", "21"), d2ke.train, Y, Z, "-s 21"),
    (ValueError, ("-e", "twice"), d2ke.train, Y, Z, "-e 1 -e 2"),
    (TypeError, ("options", "5"), d2ke.train, Y, Z, 5),
    (ValueError, ("solver", "'fast'"), d2ke.train, Y, Z, given(solver="fast")),
    (ValueError, ("solver", "-s 0"), d2ke.train, Y, Z, "-s 0", given(solver="block")),
    (TypeError, ("Z", "sparse"), d2ke.train, Y, sparse.csr_array(Z), given(solver="block")),
    (ValueError, ("class_weight", "9"), d2ke.train, Y, Z, given(class_weight={9: 1.0})),
    (ValueError, ("class_weight[1]", "0"), d2ke.train, Y, Z, given(class_weight={1: 0.0})),
    (TypeError, ("class_weight", "[1, 2]"), d2ke.train, Y, Z, given(class_weight=[1, 2])),
    (ValueError, ("seed", "-1"), d2ke.train, Y, Z, given(seed=-1)),
    (TypeError, ("n_threads", "'2'"), d2ke.train, Y, Z, given(n_threads="2")),
    (ValueError, ("Z", "3", "2"), d2ke.predict, None, np.ones((2, 3)), LINEAR),
    (TypeError, ("model", "SVMModel"), d2ke.predict, None, Z, MACHINE),
    (ValueError, ("probability", "2"), d2ke.predict, None, Z, LINEAR, given(probability=True)),
    (TypeError, ("y", "strings"), d2ke.predict, ["a"] * 4, Z, LINEAR),
    (ValueError, ("K", "nan", "(1, 2)"), d2ke.svmtrain, Y, BAD_K),
    (ValueError, ("K", "[0, 3]"), d2ke.svmtrain, Y, LOPSIDED),
    (ValueError, ("K", "(3, 4)"), d2ke.svmtrain, Y[:3], K[:3]),
    (TypeError, ("K", "sparse"), d2ke.svmtrain, Y, sparse.csr_array(K)),
    (ValueError, ("options", "-t"), d2ke.svmtrain, Y, K, "-c 1"),
    (ValueError, ("-n", "-s 0"), d2ke.svmtrain, Y, K, "-t 4 -n 0.5"),
    (ValueError, ("-m", "0"), d2ke.svmtrain, Y, K, "-t 4 -m 0"),
    (ValueError, ("-h", "7"), d2ke.svmtrain, Y, K, "-t 4 -h 7"),
    (TypeError, "y", d2ke.svmtrain, 3, K),
    (ValueError, ("class_weight", "-s 3"), d2ke.svmtrain, Y, K, "-s 3 -t 4",
     given(class_weight={1: 2.0})),
    (TypeError, ("model", "LinearModel"), d2ke.svmpredict, None, K, LINEAR),
    (ValueError, ("K", "3", "4"), d2ke.svmpredict, None, K[:, :3], MACHINE),
    (ValueError, ("K", "nan"), d2ke.svmpredict, None, BAD_K, MACHINE),
    (ValueError, ("C", "0"), d2ke.train_least_squares, Y, Z, 0.0),
    (ValueError, ("bias", "-1"), d2ke.train_least_squares, Y, Z, given(bias=-1.0)),
    (ValueError, ("Z", "(0, 2)"), d2ke.train_least_squares, [], Z[:0]),
    (ValueError, ("loss", "'hinge'"), d2ke.train_classifier, Y, Z, given(loss="hinge", C=1.0)),
    (TypeError, ("C", "None"), d2ke.train_classifier, Y, Z, given(loss="squared", C=None)),
    (ValueError, ("y", "3", "4"), d2ke.d2ke_train, Y[:3], ["a", "b", "c", "d"]),
    (TypeError, ("model", "LinearModel"), d2ke.d2ke_predict, None, ["a"], LINEAR),
    (TypeError, ("model", "LinearModel"), d2ke.d2ke_transform, ["a"], LINEAR),
    (TypeError, ("model", "LinearModel"), d2ke.d2ke_explain, "a", LINEAR),
    (TypeError, ("model", "int"), d2ke.save_model, "file", 3),
    (FileNotFoundError, ("nowhere",), d2ke.load_model, "nowhere"),
    (ValueError, ("nothing.txt",), files.read_objects, "nothing.txt"),
    (TypeError, ("file", "5"), files.read_objects, 5),
    (ValueError, ("k", "5"), d2ke.knn_predict, D, Y, 5),
    (TypeError, ("k", "1.0"), d2ke.knn_predict, D, Y, 1.0),
    (ValueError, ("y", "3", "4"), d2ke.knn_predict, D, Y[:3]),
    (ValueError, ("D", "nan", "(1, 2)"), d2ke.knn_predict, BAD_K, Y),
    (ValueError, ("R", "3"), d2ke.select_features, Z, Y, 3),
    (ValueError, ("rho", "-1"), d2ke.select_features, Z, Y, 1, given(rho=-1.0)),
    (ValueError, ("keep", "'all'"), d2ke.select_features, Z, Y, 1, given(keep="all")),
    (TypeError, ("seed", "sample"), d2ke.select_features, Z, Y, 1, given(keep="sample")),
    (TypeError, ("centre", "1"), d2ke.select_features, Z, Y, 1, given(centre=1)),
    (ValueError, ("Z", "3", "2"), d2ke.select_features(Z, Y, 1).apply, np.ones((1, 3))),
    (ValueError, ("scaling", "'unit'"), d2ke.Scaling.fit, Z, "unit"),
    (TypeError, "Z", d2ke.Scaling.fit, [["a"]]),
    (ValueError, ("Z", "inf"), d2ke.Scaling.fit, BAD_Z),
    (ValueError, ("Z", "3", "2"), d2ke.Scaling.fit(Z).apply, np.ones((1, 3))),
    # Search, and what is kept in files.
    (ValueError, ("method", "'svm'"), d2ke.search, WORDS, Y, "svm", given(distance="levenshtein")),
    (ValueError, ("y", "3", "4"), d2ke.search, WORDS, [0, 1, 1], "knn",
     given(distance="levenshtein")),
    (TypeError, "sampler", d2ke.search, WORDS, Y, given(distance="levenshtein", n_folds=2)),
    (ValueError, ("n_folds", "1"), d2ke.search, WORDS, Y, "knn",
     given(distance="levenshtein", n_folds=1)),
    (ValueError, ("grid", "'K'"), search, given(grid={"K": [1]})),
    (TypeError, ("grid['k']", "3"), search, given(grid={"k": 3})),
    (ValueError, ("grid['k'][0]", "0"), search, given(grid={"k": [0]})),
    (ValueError, "grid['k']", search, given(grid={"k": []})),
    (TypeError, ("grid", "[1]"), search, given(grid=[1])),
    (ValueError, ("within", "(3, 4)"), search, given(within=D[:3])),
    (ValueError, ("within[2, 1]", "-1"), search, given(within=BAD_D)),
    (FileNotFoundError, ("within.h5",), search, given(within="within.h5")),
    (ValueError, ("within", "'rsm'"), d2ke.search, WORDS, Y, "rsm",
     given(distance="levenshtein", within=D)),
    (ValueError, ("folder", "'knn'"), search, given(folder="stores")),
    (TypeError, ("folder", "5"), d2ke.search, WORDS, Y, "rsm",
     given(distance="levenshtein", n_folds=2, folder=5)),
    (ValueError, ("max_memory", "'much'"), search, given(max_memory="much")),
    (ValueError, ("max_memory", "0"), search, given(max_memory=0)),
    (TypeError, ("max_memory", "1.5"), search, given(max_memory=1.5)),
    (ValueError, ("max_memory", "1000", "'knn'"), search, given(max_memory=1000)),
    (ValueError, ("max_memory", "1000", "4 features"), d2ke.search, WORDS, Y, "rsm",
     given(distance="levenshtein", n_folds=2, folder="stores", max_memory=1000)),
    (ValueError, ("seed", "-1"), search, given(seed=-1)),
    (ValueError, ("path", "'x.txt'"), d2ke.load_search, "x.txt"),
    (ValueError, ("path", "'x'"), d2ke.Search({}, 1.0, ()).save, "x"),
    (TypeError, ("path", "5"), d2ke.load_search, 5),
    (TypeError, ("model", "dict"), d2ke.save_model, "unused", {}),
    (TypeError, ("file", "5.5"), d2ke.save_model, 5.5, LINEAR),
    (ValueError, "file", d2ke.load_model, streams.BytesIO(b"PK\3\4")),
    (TypeError, ("file", "5.5"), d2ke.load_model, 5.5),
    (TypeError, ("Z", "list"), files.save_features, "unused", [[1.0]]),
    (ValueError, ("Z", "nan", "(1, 2)"), files.save_features, "unused", BAD_K),
    (ValueError, ("labels", "3", "4"), files.save_features, "unused", Z, given(labels=[1, 2, 3])),
    (ValueError, ("omega", "4", "2"), files.save_features, "unused", Z, given(omega=OMEGA)),
    (TypeError, ("parameters['a']", "[1]"), files.save_features, "unused", Z,
     given(parameters={"a": [1]})),
    (ValueError, ("compression", "'lzf'"), files.save_features, "unused", Z,
     given(compression="lzf")),
    (TypeError, ("file", "5"), files.save_features, 5, Z),
    (TypeError, ("file", "None"), files.load_features, None),
    (TypeError, ("file", "None"), files.open_features, None),
    (TypeError, ("data", "list"), files.save_mat, "unused", [1]),
    (ValueError, ("data", "'1a'"), files.save_mat, "unused", {"1a": 1}),
    (TypeError, ("data['a'][1]", "None"), files.save_mat, "unused", {"a": [1, None]}),
    (ValueError, ("version", "'4'"), files.save_mat, "unused", {"a": 1}, given(version="4")),
    (TypeError, ("file", "5"), files.save_mat, 5, {"a": 1}),
    (TypeError, ("names[0]", "3"), files.load_mat, "unused", [3]),
    (TypeError, ("names", "3"), files.load_mat, "unused", 3),
    (TypeError, ("file", "5"), files.load_mat, 5),
    (TypeError, ("file", "5"), files.whos_mat, 5),
    (TypeError, ("name", "3"), files.load_objects, "unused", 3),
    (ValueError, ("kind", "'text'"), files.load_objects, "unused", "X", given(kind="text")),
    (TypeError, ("file", "5"), files.load_objects, 5, "X"),
    # Kernel distance.
    (TypeError, ("sigma", "gaussian"), distance),
    (ValueError, ("sigma", "0"), distance, given(sigma=0)),
    (ValueError, ("sigma", "'mean'"), distance, given(sigma="mean")),
    (TypeError, ("sigma", "linear"), distance, given(sigma=1.0, kernel="linear")),
    (ValueError, ("kernel", "'rbf'"), distance, given(sigma=1.0, kernel="rbf")),
    (ValueError, ("method", "'fast'"), distance, given(sigma=1.0, method="fast")),
    (TypeError, ("eps", "rff"), distance, given(sigma=1.0, method="rff")),
    (ValueError, ("eps", "2"), distance, given(sigma=1.0, method="rff", eps=2.0)),
    (ValueError, ("delta", "0"), distance, given(sigma=1.0, eps=0.1, delta=0.0)),
    (ValueError, ("method", "Laplace"), distance,
     given(sigma=1.0, method="ifgt", eps=0.1, kernel="laplace")),
    (ValueError, ("weights_p", "(3,)", "(4,)"), distance, given(sigma=1.0, weights_p=[1, 1, 1])),
    (ValueError, ("weights_q[2]", "nan"), distance, given(sigma=1.0, weights_q=[1, 1, NAN, 1])),
    (TypeError, ("weights_p", "<U1"), distance, given(sigma=1.0, weights_p=["a"] * 4)),
    (TypeError, ("seed", "'x'"), distance, given(sigma=1.0, seed="x")),
    (ValueError, ("n_threads", "0"), distance, given(sigma=1.0, n_threads=0)),
    (ValueError, ("P", "inf", "(3, 1)"), d2ke.kernel_distance, BAD_Z, Z, given(sigma=1.0)),
    (ValueError, "Q", d2ke.kernel_distance, Z, [], given(sigma=1.0)),
    (ValueError, ("Q", "3", "2"), d2ke.kernel_distance, Z, np.ones((1, 3)), given(sigma=1.0)),
    (TypeError, ("P", "str"), d2ke.kernel_distance, "P", Z, given(sigma=1.0)),
    (TypeError, ("Q", "curve", "points"), d2ke.kernel_distance, Z, d2ke.curve(Z),
     given(sigma=1.0)),
    (ValueError, ("weights_p", "(4,)"), d2ke.kernel_norm, Z, given(sigma=1.0, weights_p=[1])),
    (TypeError, "sigma", d2ke.kernel_norm, Z),
    (ValueError, ("X[1]", "nan"), d2ke.kernel_distance_matrix, [[1.0], [NAN]], given(sigma=1.0)),
    (TypeError, ("n_features", "exact"), d2ke.kernel_distance_matrix, SETS,
     given(sigma=1.0, n_features=4)),
    (TypeError, ("weights_y", "Y"), d2ke.kernel_distance_matrix, SETS,
     given(sigma=1.0, weights_y=[[1.0]])),
    (TypeError, ("weights_x", "1.0"), d2ke.kernel_distance_matrix, SETS,
     given(sigma=1.0, weights_x=1.0)),
    (ValueError, ("weights_x", "3", "1"), d2ke.kernel_distance_matrix, SETS,
     given(sigma=1.0, weights_x=[[1.0]])),
    (ValueError, ("weights_x[1]", "(2,)"), d2ke.kernel_distance_matrix, SETS,
     given(sigma=1.0, weights_x=[[1, 1], [1], [1] * 4])),
    (ValueError, ("Y[0]", "3"), d2ke.kernel_distance_matrix, SETS, [np.ones((1, 3))],
     given(sigma=1.0)),
    (TypeError, ("n_features", "eps"), d2ke.kernel_feature_map, SETS, given(sigma=1.0)),
    (ValueError, ("n_features", "7"), d2ke.kernel_feature_map, SETS,
     given(sigma=1.0, n_features=7)),
    (ValueError, ("method", "'exact'"), d2ke.kernel_feature_map, SETS,
     given(sigma=1.0, method="exact", eps=0.1)),
    (ValueError, ("weights", "3", "2"), d2ke.kernel_feature_map, SETS,
     given(sigma=1.0, n_features=8, weights=[[1.0], [1.0]])),
    (ValueError, ("sets", "3", "2"), MAP, [np.ones((2, 3))]),
    (TypeError, ("sets", "int"), MAP, 4),
    (ValueError, ("eps", "1"), d2ke.kernel_features, SETS, given(sigma=1.0, eps=1.0)),
    (ValueError, "sets", d2ke.kernel_features, [], given(sigma=1.0, eps=0.1)),
    (ValueError, ("motion", "'shear'"), d2ke.kernel_align, SETS[0], SETS[0],
     given(sigma=1.0, motion="shear")),
    (ValueError, ("P", "3"), d2ke.kernel_align, np.ones((2, 3)), SETS[0], given(sigma=1.0)),
    (ValueError, ("m", "0"), d2ke.kernel_coreset, SETS[0], 0, given(sigma=1.0)),
    (ValueError, ("sigma", "-1"), d2ke.kernel_coreset, SETS[0], 2, given(sigma=-1.0)),
    (ValueError, ("k", "4"), d2ke.kernel_neighbors, SETS, SETS, 4, given(sigma=1.0)),
    (ValueError, ("queries[0]", "sets[0]", "3"), d2ke.kernel_neighbors, [np.ones((1, 3))], SETS,
     given(sigma=1.0)),
    (ValueError, ("weights_queries", "3"), d2ke.kernel_neighbors, SETS, SETS,
     given(sigma=1.0, weights_queries=[[1.0]])),
    (ValueError, ("points", "1"), d2ke.curve, [[0.0, 0.0]]),
    (ValueError, ("gap", "0"), d2ke.curve, Z, given(gap=0.0)),
    (ValueError, ("n_samples", "0"), d2ke.curve, Z, given(n_samples=0)),
    (TypeError, ("gap", "n_samples"), d2ke.curve, Z, given(gap=1.0, n_samples=3)),
    (TypeError, ("closed", "'no'"), d2ke.curve, Z, given(closed="no")),
    (ValueError, ("faces[0, 2]", "9"), d2ke.mesh, np.eye(3), [[0, 1, 9]]),
    (TypeError, ("faces", "float64"), d2ke.mesh, np.eye(3), [[0.0, 1.0, 2.0]]),
    (ValueError, ("vertices", "(4, 2)"), d2ke.mesh, Z, [[0, 1, 2]]),
    (ValueError, ("vertices", "nan"), d2ke.mesh, np.eye(3) * NAN, [[0, 1, 2]]),
    # Discriminative similarity.
    (TypeError, "n_clusters", d2ke.cdsk, K),
    (TypeError, ("K", "points", "features"), d2ke.cdsk, given(n_clusters=2)),
    (ValueError, ("n_clusters", "5"), d2ke.cdsk, K, 5),
    (ValueError, ("n_clusters", "1"), d2ke.cdsk, K, 1),
    (ValueError, ("K", "[0, 3]"), d2ke.cdsk, LOPSIDED, 2),
    (ValueError, ("K", "nan", "(1, 2)"), d2ke.cdsk, BAD_K, 2),
    (ValueError, ("features", "inf"), d2ke.cdsk, given(n_clusters=2, features=BAD_Z)),
    (ValueError, ("points", "inf"), d2ke.cdsk, given(n_clusters=2, points=BAD_Z)),
    (ValueError, ("X", "inf"), d2ke.gaussian_gram, BAD_Z),
    (TypeError, ("h", "K"), d2ke.cdsk, K, 2, given(h=1.0)),
    (ValueError, ("lam", "0"), d2ke.cdsk, K, 2, given(lam=0.0)),
    (ValueError, ("variant", "'soft'"), d2ke.cdsk, K, 2, given(variant="soft")),
    (ValueError, ("trace_weight", "-1"), d2ke.cdsk, K, 2, given(trace_weight=-1.0)),
    (ValueError, ("smoothing", "-1"), d2ke.cdsk, K, 2, given(smoothing=-1.0)),
    (TypeError, ("smoothing", "'a'"), d2ke.cdsk, K, 2, given(smoothing="a")),
    (ValueError, ("similarity", "'any'"), d2ke.cdsk, K, 2, given(similarity="any")),
    (TypeError, ("similarity", "K"), d2ke.cdsk,
     given(n_clusters=2, points=Z, similarity="general")),
    (ValueError, ("risk", "'none'"), d2ke.cdsk, K, 2, given(risk="none")),
    (ValueError, ("max_iter", "0"), d2ke.cdsk, K, 2, given(max_iter=0)),
    (TypeError, ("seed", "None"), d2ke.cdsk, K, 2, given(seed=None)),
    (ValueError, ("K[0]", "zero"), d2ke.cdsk, np.diag([0.0, 1.0, 1.0]), 2),
    (ValueError, ("distances[1, 2]", "-1"), d2ke.cdsk,
     given(n_clusters=2, distances=np.minimum(BAD_D, BAD_D.T))),
    (ValueError, ("n_neighbors", "0"), d2ke.neighbor_similarities, Z, given(n_neighbors=0)),
    (ValueError, ("h", "-1"), d2ke.neighbor_similarities, Z, given(h=-1.0)),
    (TypeError, ("points", "distances"), d2ke.neighbor_similarities),
    (ValueError, ("points", "inf"), d2ke.neighbor_similarities, BAD_Z),
    (TypeError, ("result", "dict"), d2ke.discriminative_predict, {}, K),
    (TypeError, "y", d2ke.lpdsk, K),
    (ValueError, ("y", "3", "4"), d2ke.lpdsk, K, [0, 1, -1]),
    (ValueError, ("y", "-1"), d2ke.lpdsk, K, [-1] * 4),
    (TypeError, ("unknown", "''"), d2ke.lpdsk, K, [0, 1, -1, -1], given(unknown="")),
    (TypeError, ("balance", "'no'"), d2ke.lpdsk, K, [0, 1, -1, -1], given(balance="no")),
    (ValueError, ("variant", "'soft'"), d2ke.lpdsk, K, [0, 1, -1, -1], given(variant="soft")),
    (TypeError, "y", d2ke.kernel_classifier_fit, K),
    (ValueError, ("y", "one class"), d2ke.kernel_classifier_fit, K, [1] * 4),
    (TypeError, ("K", "features"), d2ke.kernel_classifier_fit, K, Y, given(features=Z)),
    (ValueError, ("lam", "nan"), d2ke.kernel_classifier_fit, K, Y, given(lam=NAN)),
    (TypeError, ("model", "dict"), d2ke.kernel_classifier_predict, {}, K),
    (TypeError, "K_new", d2ke.kernel_classifier_predict, CLASSIFIER, given(features=Z)),
    (ValueError, ("K_new", "3", "4"), d2ke.kernel_classifier_predict, CLASSIFIER, K[:, :3]),
    (ValueError, ("K_new", "nan"), d2ke.kernel_classifier_predict, CLASSIFIER, BAD_K),
    (ValueError, ("S", "[0, 3]"), d2ke.similarity_machine_fit, LOPSIDED, Y),
    (ValueError, ("C", "0"), d2ke.similarity_machine_fit, K, Y, given(C=0.0)),
    (ValueError, ("lam_plus", "-1"), d2ke.similarity_machine_fit, K, Y, given(lam_plus=-1.0)),
    (ValueError, ("y", "3", "4"), d2ke.similarity_machine_fit, K, [0, 1, 1]),
    (TypeError, ("model", "KernelClassifier"), d2ke.similarity_machine_predict, CLASSIFIER, K),
    (ValueError, ("S_new", "3", "4"), d2ke.similarity_machine_predict, SIMILARITY, K[:, :3]),
    (ValueError, ("K[1, 2]", "-1"), d2ke.kernel_risk_bound, np.minimum(BAD_D, BAD_D.T), Y, ALPHA),
    (ValueError, ("alpha[0]", "-1"), d2ke.kernel_risk_bound, K, Y, [-1.0, 1.0, 1.0, 0.0]),
    (ValueError, ("alpha", "4"), d2ke.kernel_risk_bound, K, Y, np.ones(4)),
    (ValueError, ("alpha", "(3,)"), d2ke.kernel_risk_bound, K, Y, [0.5, 0.25, 0.25]),
    (ValueError, ("alpha[1]", "nan"), d2ke.kernel_risk_bound, K, Y, [0.5, NAN, 0.25, 0.25]),
    (ValueError, ("margin", "0"), d2ke.kernel_risk_bound, K, Y, ALPHA, given(margin=0.0)),
    (ValueError, ("delta", "1"), d2ke.kernel_risk_bound, K, Y, ALPHA, given(delta=1.0)),
    (ValueError, ("margin", "0.5"), d2ke.kernel_similarity_bound, K, Y, ALPHA, given(margin=0.5)),
    (ValueError, ("h", "0"), d2ke.density_error_bound, Z, Y, ALPHA, given(h=0.0)),
    (ValueError, ("y", "3"), d2ke.density_error_bound, Z, [0, 1, 2, 2], ALPHA, given(h=1.0)),
    (ValueError, ("y", "one class"), d2ke.similarity_risk_bound, K, [1] * 4, ALPHA),
    (ValueError, ("n_neighbors", "0"), d2ke.bandwidth, Z, given(n_neighbors=0)),
    (ValueError, ("X", "one point"), d2ke.bandwidth, Z[:1]),
    (ValueError, ("X", "(4,)"), d2ke.bandwidth, Z[:, 0]),
    (ValueError, ("Y", "3", "2"), d2ke.gaussian_gram, Z, np.ones((2, 3))),
    (TypeError, ("h", "'a'"), d2ke.gaussian_gram, Z, given(h="a")),
    (ValueError, ("S", "square"), d2ke.psd_split, Z),
    (ValueError, ("S", "(2,)"), d2ke.psd_split, [1.0, 2.0]),
    (ValueError, ("H", "[0, 3]"), d2ke.simplex_qp, LOPSIDED, ALPHA),
    (ValueError, ("f", "(4,)", "(3,)"), d2ke.simplex_qp, K, [1, 2, 3]),
    (ValueError, ("f[2]", "nan"), d2ke.simplex_qp, K, [1, 2, NAN, 3]),
    (ValueError, ("start", "sum"), d2ke.simplex_qp, K, ALPHA, given(start=[1, 1, 1, 1])),
    (ValueError, ("tol", "0"), d2ke.simplex_qp, K, ALPHA, given(tol=0.0)),
    (ValueError, ("max_steps", "0"), d2ke.simplex_qp, K, ALPHA, given(max_steps=0)),
    (ValueError, ("labels", "3", "4"), d2ke.clustering_accuracy, Y, [0, 1, 1]),
    (ValueError, "y", d2ke.clustering_accuracy, [], []),
    (TypeError, "labels", d2ke.normalized_mutual_information, Y, 3),
    (ValueError, ("y[1]", "nan"), d2ke.normalized_mutual_information, [0.0, NAN], [1, 2]),
    # Data sets.
    (ValueError, ("name", "'iris'"), datasets.load, "iris"),
    (TypeError, ("name", "5"), datasets.load, 5),
    (TypeError, "'rate'", datasets.load, "digits-points", given(rate=3)),
    (ValueError, ("ambiguous", "'maybe'"), datasets.load, "splice", given(ambiguous="maybe")),
    (TypeError, ("data_dir", "5"), datasets.load, "auslan", 5),
    (TypeError, ("path", "5"), datasets.read_ts, 5),
    (TypeError, ("train", "list"), datasets.standardize, [[1.0]]),
    (TypeError, ("others[0]", "strings"), datasets.standardize, d2ke.pack(SERIES),
     d2ke.pack(WORDS)),
    (ValueError, ("fraction", "1.5"), datasets.train_test_split, 4, given(fraction=1.5, seed=0)),
    (ValueError, ("n_or_labels", "1"), datasets.train_test_split, 1, given(seed=0)),
    (TypeError, ("n_or_labels", "2.5"), datasets.train_test_split, 2.5, given(seed=0)),
    (ValueError, ("rounding", "'up'"), datasets.train_test_split, 4, given(seed=0, rounding="up")),
    (ValueError, ("directions", "6"), datasets.chain_code, INK, 6),
    (ValueError, ("image", "(3,)"), datasets.chain_code, INK[0]),
    (TypeError, ("image", "float64"), datasets.chain_code, np.eye(3)),
    (ValueError, ("directions", "6"), datasets.boundary_code, INK, 6),
    (TypeError, ("image", "int64"), datasets.boundary_code, [[0, 1]]),
    # MATLAB's names.
    (ValueError, ("w", "-2"), matlab.dtw_c, [[0.0]], [[1.0]], -2),
    (TypeError, ("w", "0.5"), matlab.dtw_c, [[0.0]], [[1.0]], 0.5),
    (ValueError, ("s", "nan"), matlab.dtw_c, [[NAN]], [[1.0]]),
    (ValueError, ("t", "nan"), matlab.dtw_m, [[0.0]], [[NAN]]),
    (ValueError, ("t", "2", "1"), matlab.dtw_c, [[0.0]], [[1.0, 2.0]]),
    (ValueError, ("newX", "(3,)"), matlab.dtw_similarity_cell, [1.0, 2.0, 3.0], [[[1.0]]]),
    (ValueError, ("baseX[0]", "nan"), matlab.dtw_similarity_cell, [[1.0]], [[[NAN]]]),
    (ValueError, ("newX", "nan"), matlab.dtw_similarity_cell, [[NAN]], [[[1.0]]]),
    (ValueError, ("newX[0]", "nan"), matlab.dtw_similarity_cell_mulvar, [[[NAN]]], [[[1.0]]]),
    (TypeError, ("n_threads", "2.0"), matlab.dtw_similarity_cell_mulvar, [[[1.0]]], [[[1.0]]],
     given(n_threads=2.0)),
    (ValueError, ("y", "3", "4"), matlab.train, [0, 1, 1], Z),
    (TypeError, ("y", "<U1"), matlab.train, ["a"] * 4, Z),
    (ValueError, ("X", "inf"), matlab.train, Y, BAD_Z),
    (TypeError, ("options", "5"), matlab.train, Y, Z, 5),
    (ValueError, "'-x'", matlab.train, Y, Z, "-x"),
    (ValueError, ("options", "9"), matlab.train, Y, Z, "-s 2 -w9 3"),
    (ValueError, ("X", "3", "2"), matlab.predict, Y, np.ones((4, 3)), STRUCT),
    (ValueError, ("model", "'Label'"), matlab.predict, Y, Z, {}),
    (ValueError, ("model", "'Label'"), matlab.predict, Y, Z, 5),
    (ValueError, ("-b", "3"), matlab.predict, Y, Z, STRUCT, "-b 3"),
    (ValueError, ("X[0, 0]", "7"), matlab.svmtrain, [1, 2], [[7, 1, 0], [2, 0, 1]], "-t 4"),
    (ValueError, ("y[0]", "inf"), matlab.svmtrain, [INF, 1], [[1.0], [2.0]], "-t 0"),
    (ValueError, ("X", "inf"), matlab.svmtrain, Y, BAD_Z, "-t 0"),
    (ValueError, ("model", "'Parameters'"), matlab.svmpredict, Y, Z, {}),
    (ValueError, ("X", "3", "2"), matlab.svmpredict, Y, np.ones((4, 3)), KERNEL_STRUCT),
    (ValueError, ("y", "3", "4"), matlab.svmpredict, [1, 1, 1], Z, KERNEL_STRUCT),
    (ValueError, ("seed", "-1"), matlab.RandStream, -1),
    (TypeError, ("seed", "1.5"), matlab.RandStream, 1.5),
    (ValueError, ("seed", "-1"), matlab.rng, -1),
    (ValueError, ("generator", "'v4'"), matlab.rng, 1, "v4"),
    (ValueError, ("size[1]", "-1"), matlab.RandStream().rand, 2, -1),
    (TypeError, ("size[0]", "2.5"), matlab.RandStream().randn, 2.5, 1),
    (ValueError, ("limits", "(1, 2, 3)"), matlab.RandStream().randi, (1, 2, 3)),
    (ValueError, ("limits", "5"), matlab.RandStream().randi, [5, 1]),
    (ValueError, ("n", "-1"), matlab.RandStream().randperm, -1),
    (TypeError, ("size[0]", "'a'"), matlab.rand, "a", 1),
    (TypeError, ("size[0]", "'a'"), matlab.randn, "a", 1),
    (TypeError, ("imax", "'a'"), matlab.randi, "a"),
    (TypeError, ("n", "0.5"), matlab.randperm, 0.5),
    (ValueError, ("gamma", "-2"), matlab.wmd_dist, [[[1.0]]], [[1.0]], [[[1.0]]], [[1.0]], -2),
    (ValueError, ("weight_newX", "1", "2"), matlab.wmd_dist, [[[1.0]]], [[1.0], [1.0]], [[[1.0]]],
     [[1.0]], -1),
    (ValueError, ("newX[0]", "nan"), matlab.wmd_dist, [[[NAN]]], [[1.0]], [[[1.0]]], [[1.0]], -1),
    (TypeError, ("baseX", "int"), matlab.wmd_dist, [[[1.0]]], [[1.0]], 3, [[1.0]], -1),
    (ValueError, "'words'", matlab.wme_GenFea_preproc, {"X": [], "BOW_X": []}),
    (ValueError, ("Data.words", "2", "1"), matlab.wme_GenFea_preproc,
     DOCUMENTS | {"words": [["a", "b"]]}),
    (TypeError, ("Data", "list"), matlab.wme_GenFea_preproc, [1]),
    (ValueError, ("R", "0"), matlab.wme_GenFea, DOCUMENTS, -1, 0, 1, 3, 1, *DOCUMENT_FACTS),
    (ValueError, ("dataSplit", "5"), matlab.wme_GenFea,
     DOCUMENTS | {"TR": [[1], [1]]}, -1, 2, 1, 3, 5, *DOCUMENT_FACTS),
    (ValueError, ("Data.TR", "2"), matlab.wme_GenFea, DOCUMENTS | {"TR": [[9]]}, -1, 2, 1, 3, 1,
     *DOCUMENT_FACTS),
    (ValueError, ("wordweight_scheme", "3"), matlab.wme_GenFea, DOCUMENTS, -1, 2, 1, 3, 1,
     *DOCUMENT_FACTS, 1, 3),
    (ValueError, ("randdoc_scheme", "2"), matlab.wme_GenFea, DOCUMENTS, -1, 2, 1, 3, 1,
     *DOCUMENT_FACTS, 2),
    (TypeError, ("filename", "5"), matlab.libsvmread, 5),
    (ValueError, ("labels", "2", "(1, 1)"), matlab.libsvmwrite, "unused", [1, 2], [[1.0]]),
    (ValueError, ("X", "finite"), matlab.libsvmwrite, "unused", [1], [[NAN]]),
]  # fmt: skip

VARYING = (1.0, 3, 1.0)  # sigma, DMax, lambda_inverse
RWS_CASES = [
    (ValueError, ("sigma", "0"), matlab.rws_GenFea, 0.0, 4, 1, 3),
    (ValueError, ("R", "0"), matlab.rws_GenFea, 1.0, 0, 1, 3),
    (ValueError, ("DMin", "DMax", "(4, 3)"), matlab.rws_GenFea, 1.0, 4, 4, 3),
    (TypeError, ("DMin", "1.5"), matlab.rws_GenFea, 1.0, 4, 1.5, 3),
    (ValueError, ("sigma", "-1"), matlab.rws_GenFea_mulvar, -1.0, 4, 1, 3),
    (TypeError, ("DMax", "'3'"), matlab.rws_GenFea_mulvar, 1.0, 4, 1, "3"),
    (ValueError, ("CV", "1"), matlab.rws_gridsearch_CV, given(CV=1)),
    (ValueError, "sigma_list", matlab.rws_gridsearch_CV, given(CV=2, sigma_list=[])),
    (ValueError, ("sigma_list[0]", "0"), matlab.rws_gridsearch_CV, given(CV=2, sigma_list=[0.0])),
    (ValueError, ("DMax_list[0]", "0"), matlab.rws_gridsearch_CV, given(CV=2, DMax_list=[0])),
    (ValueError, ("lambda_inverse[1]", "-1"), matlab.rws_gridsearch_CV,
     given(CV=2, lambda_inverse=[1.0, -1.0])),
    (ValueError, ("solver", "'fast'"), matlab.rws_gridsearch_CV, given(CV=2, solver="fast")),
    (ValueError, ("R", "0"), matlab.rws_gridsearch_CV_mulvar, given(CV=2, R=0)),
    (ValueError, ("R_list[0]", "0"), matlab.rws_VaryingR_CV, *VARYING, given(R_list=[0])),
    (ValueError, ("lambda_inverse", "0"), matlab.rws_VaryingR_CV, 1.0, 3, 0.0),
    (ValueError, "R_list", matlab.rws_VaryingR_CV_mulvar, *VARYING, given(R_list=[])),
]  # fmt: skip
NEED_NOTHING = {d2ke.distance_names, d2ke.show_config}


def named(function):
    function = getattr(function, "func", function)
    return getattr(function, "__name__", type(function).__name__)


def ids(cases):
    says = ((case[2], case[1] if isinstance(case[1], str) else " ".join(case[1])) for case in cases)
    return [f"{named(function)}: {text}" for function, text in says]


def check(error, says, function, *args):
    *args, keywords = args if args and isinstance(args[-1], given) else (*args, {})
    with pytest.raises(error) as caught:
        function(*args, **keywords)
    assert type(caught.value) is error
    message = str(caught.value)
    first, *others = (says,) if isinstance(says, str) else says
    assert re.search(rf"(?<!\w){re.escape(first)}(?!\w)", message), message
    for text in others:
        assert text in message, message


@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
@pytest.mark.filterwarnings("ignore:every item of .* has shape")
def test_the_error_names_the_argument(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(matlab.random, "_stream", matlab.RandStream(0))
    check(*case)
    assert not list(tmp_path.iterdir())  # nothing is begun before all is checked


@pytest.fixture(scope="module")
def series_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("series")
    (folder / "Two").mkdir()
    for part in ("TRAIN", "TEST"):
        (folder / "Two" / f"Two_{part}").write_text("1 0 1 0\n2 1 0 1\n" * 2)
    cell = [np.ones((2, 3)), np.zeros((2, 4))] * 2
    labels = np.array([[1.0], [2.0], [1.0], [2.0]])
    content = {"train_X": cell, "train_Y": labels, "test_X": cell, "test_Y": labels}
    files.save_mat(folder / "Two" / "Two.mat", content)
    return folder


@pytest.mark.parametrize("case", RWS_CASES, ids=ids(RWS_CASES))
def test_the_error_names_the_setting(case, series_folder):
    error, says, function, *args = case
    check(error, says, partial(function, series_folder, "Two"), *args)


def test_every_function_is_tried():
    tried = {getattr(case[2], "func", case[2]) for case in CASES + RWS_CASES}
    tried = {getattr(function, "__func__", function) for function in tried}
    public = {
        getattr(module, name)
        for module in (d2ke, datasets, files, matlab)
        for name in module.__all__
        if inspect.isfunction(getattr(module, name))
    }
    assert {function.__name__ for function in public - tried - NEED_NOTHING} == set()
    assert len(CASES) + len(RWS_CASES) >= 300
