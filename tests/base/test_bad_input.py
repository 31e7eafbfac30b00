# SPDX-License-Identifier: BSD-3-Clause
"""Rules of single arguments that signatures don't tell: the error's type, and what it names.

`test_every_argument` has the wrong values that follow from names and defaults, and the places of
NaN. A row here is the error, what its message must contain (the argument first, then the index or
the value), and the call.
"""

import inspect
import re
from datetime import date
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import d2ke
import matlab_compat as matlab
from d2ke import datasets
from d2ke import io as files
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.discriminative import (
    density_error_bound,
    kernel_classifier_predict,
    kernel_risk_bound,
    kernel_similarity_bound,
    similarity_machine_bound,
)
from d2ke.measures import kernel_coordinates, kernel_features, kernel_neighbors, kernel_norm
from d2ke.measures.measure import Measure
from d2ke.samplers import random_strings


class given(dict):  # noqa: N801 (reads like a call's keywords)
    """The keywords of a call."""


NAN, INF = np.nan, np.inf
SERIES = [[0.0, 1.0], [1.0, 2.0, 3.0]]
WORDS = ["ACGT", "AGT", "TTTT", "CA"]
PEOPLE = {"name": ["Ada", "Bo"], "age": [36, 41]}
FRAME = pd.DataFrame(PEOPLE)
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
ALPHA = np.full(4, 0.25)
SETS = [POINTS[:2], POINTS[2:], POINTS]
OMEGA = d2ke.samplers.random_strings(4, "ACGT", length=(1, 3), seed=0)
LINEAR = d2ke.train(Y, Z)
MACHINE = d2ke.svmtrain(Y, K)
WORDS_MODEL = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=8)
CLASSIFIER = d2ke.discriminative.kernel_classifier_fit(K, Y)
SIMILARITY = d2ke.similarity_machine_fit(K, Y)
CLUSTERS = d2ke.cdsk(points=POINTS, n_clusters=2)
CURVE = d2ke.curve([[0, 0], [1, 1]])
MAP = d2ke.measures.kernel_feature_map(SETS, sigma=1.0, n_features=8)
STRUCT = matlab.train(Y, Z, "-s 2 -q")
STREAM = matlab.RandStream(0)
DOCUMENTS = {
    "X": [[[0.6, 1.0], [0.8, 0.0]], [[0.0], [1.0]]],
    "Y": [1, 2],
    "BOW_X": [[3, 1], [2]],
    "words": [["a", "b"], ["c"]],
    "TR": [[1]],
    "TE": [[2]],
}
DOCUMENT_FACTS = matlab.wme_GenFea_preproc(DOCUMENTS)

dtw = partial(d2ke.distance_matrix, SERIES, distance="dtw")
distance = partial(d2ke.kernel_distance, POINTS, POINTS + 1)
few_rows = partial(d2ke.dedupe, ["ab", "ac", "bd", "be", "bf"], radius=1)
gapped = partial(d2ke.distance_matrix, distance="gapped", strands="both")
coreset = partial(d2ke.kernel_coreset, POINTS, sigma=1.0)
move = partial(d2ke.kernel_align, sigma=1.0)
search = partial(d2ke.search, Y, WORDS, "knn", distance="levenshtein", n_folds=2)

CASES = [
    # Records.
    (ValueError, ("columns['b']", "1 rows", "2"), d2ke.pack_records, {"a": [1, 2], "b": ["x"]}),
    (ValueError, ("columns['a'][1]", "inf"), d2ke.pack_records, {"a": [None, INF]}),
    (TypeError, ("ids[1]", "[1]"), d2ke.pack, ["a", "b"], given(ids=["a", [1]])),
    (ValueError, ("ids", "DataFrame", "columns"), d2ke.pack, ["a"], given(ids=FRAME)),
    # Objects.
    (TypeError, "items", d2ke.pack, {"a": [1.0]}),
    (ValueError, ("items[1]", "(1, 1, 1)"), d2ke.pack, [[1.0], np.ones((1, 1, 1))]),
    (TypeError, ("items[0]", "datetime64"), d2ke.pack, [np.array(["2020"], "M8[Y]")]),
    (TypeError, ("items", "missing", "weights"), d2ke.pack, [[NAN]],
     given(missing=True, weights=[[1.0]])),
    (TypeError, ("lengths", "'tslearn'"), d2ke.pack, np.ones((1, 2, 1)),
     given(layout="tslearn", lengths=[2])),
    (ValueError, ("lengths[1]", "9"), d2ke.pack, np.ones((2, 3)), given(lengths=[3, 9])),
    (ValueError, ("lengths", "float64"), d2ke.pack, np.ones((2, 3)), given(lengths=[1.0, 2.0])),
    (TypeError, ("weights", "strings"), d2ke.pack, ["a"], given(weights=[[1.0]])),
    (ValueError, ("weights", "2"), d2ke.pack, [[1.0]], given(weights=[[1.0], [1.0]])),
    (ValueError, ("weights[0]", "-1"), d2ke.pack, [[1.0, 2.0]], given(weights=[[1.0, -1.0]])),
    (ValueError, ("weights[0]", "0"), d2ke.pack, [[1.0, 2.0]], given(weights=[[0.0, 0.0]])),
    (ValueError, ("weights[0]", "1 weights"), d2ke.pack, [[1.0, 2.0]], given(weights=[[1.0]])),
    (TypeError, ("collections[1]", "strings"), d2ke.concatenate,
     [d2ke.pack([[1.0]]), d2ke.pack(["a"])]),
    (TypeError, "1.0", d2ke.pack(WORDS).__getitem__, 1.0),
    # Samplers.
    (ValueError, "alphabet", d2ke.samplers.random_strings, 2, "", given(length=3, seed=0)),
    (TypeError, ("alphabet", "float"), random_strings, 2, [0.5], given(length=3, seed=0)),
    # Distances.
    (ValueError, ("every vector of Y[0]", "missing"), d2ke.distance_matrix, SERIES, [[NAN]], "dtw",
     given(missing="arow")),
    (ValueError, ("missing", "'arrow'", "arow"), d2ke.distance_matrix, SERIES, None, "dtw",
     given(missing="arrow")),
    (ValueError, ("ground", "'haversine'"), d2ke.distance_matrix, [np.zeros((3, 2))], None, "dtw",
     given(missing="arow", ground="haversine")),
    (ValueError, ("window", "'wide'"), dtw, given(window="wide")),
    (ValueError, ("normalize", "mode='global'"), d2ke.distance_matrix, ["ab"], None, "levenshtein",
     given(normalize=True, mode="prefix")),
    (ValueError, ("normalize=False", "levenshtein"), d2ke.align, "ab", "b", given(normalize=True)),
    (TypeError, ("items[1][0]", "dict"), d2ke.pack, [["a"], [{}]], given(kind="strings")),
    (TypeError, ("items[0][1]", "nan"), d2ke.pack, [["a", NAN]]),
    (TypeError, ("items[1]", "nan", "missing"), d2ke.pack, ["a", NAN]),
    (TypeError, ("items[1]", "nan", "missing"), d2ke.pack, [[1.0], NAN]),
    (TypeError, "strings", d2ke.Objects, "strings", np.array([1.0, NAN]), np.array([0, 2])),
    (ValueError, ("X[1]", "3 letters", "X[0]", "2"), d2ke.distance_matrix, ["ab", "abc"], None,
     "hamming"),
    (ValueError, ("omega[0]", "1 letters"), d2ke.d2ke_embed, ["ab", "cd"], ["a"],
     given(distance="hamming", gamma=1.0)),
    (ValueError, ("X[1]", "'g'", "str.upper"), gapped, ["ACGTUN", "ACg"]),
    (TypeError, ("X", "int letters", "DNA"), gapped, d2ke.pack([[1, 2]], kind="strings")),
    (TypeError, ("X", "token letters", "DNA"), gapped, d2ke.pack([["A", "C"]], kind="strings")),
    (ValueError, ("prefix_weight", "0.25", "0.5"), d2ke.distance_matrix, ["a"], None,
     "jaro_winkler", given(prefix_weight=0.5)),
    *((TypeError, ("words", "str and bytes"), d2ke.distance_matrix,
       d2ke.pack(tokens, kind="strings"), None, "token_set")
      for tokens in ([["the", "cat"]], [[1, 2]])),
    (TypeError, ("out", "d2ke.write_distances"), d2ke.distance_matrix, WORDS,
     given(distance="levenshtein", out="D.h5")),
    (TypeError, ("out", "d2ke.write_features"), d2ke.d2ke_embed, WORDS, WORDS,
     given(distance="levenshtein", gamma=1.0, out="Z.h5")),
    # Alignments.
    (ValueError, ("mode", "'global', 'prefix' or 'infix'"), d2ke.align, "ab", "b",
     "weighted_levenshtein", given(mode="local")),
    (ValueError, ("missing='error'", "'arow'"), d2ke.align, [0.0], [1.0], given(missing="arow")),
    (ValueError, ("window", "-1"), d2ke.align, [1.0], [2.0], given(window=-1)),
    (ValueError, ("mode", "'local'"), d2ke.align, "A", "B", given(mode="local")),
    (TypeError, ("'gamma'", "window"), d2ke.align, [1.0], [2.0], given(gamma=1)),
    (ValueError, ("g", "2", "1"), d2ke.align, [1.0], [2.0], "erp", given(g=[1, 2])),
    (ValueError, ("nu", "-1"), d2ke.align, [1.0], [2.0], "twe", given(nu=-1)),
    # Neighbours.
    (ValueError, ("k", "3", "Y", "2"), d2ke.nearest, WORDS, WORDS[:2],
     given(k=3, distance="levenshtein")),
    (TypeError, ("include_self", "Y"), d2ke.nearest, WORDS, WORDS,
     given(k=1, distance="levenshtein", include_self=True)),
    (ValueError, ("query", "empty"), d2ke.nearest_windows, SERIES, []),
    (ValueError, ("query", "4 values", "any series of X"), d2ke.nearest_windows, SERIES, [1.0] * 4),
    (TypeError, ("window", "distance='dtw'"), d2ke.nearest_windows, SERIES, [1.0],
     given(window=3)),
    (ValueError, ("X", "values above"), d2ke.nearest_windows, [[1e301]], [1.0]),
    (ValueError, ("query", "nan"), d2ke.nearest_windows, SERIES, [NAN]),
    (TypeError, ("X", "str", "numbers"), d2ke.window_profile, WORDS, 2),
    (ValueError, ("X", "one series", "window_outliers"), d2ke.outlier_scores, SERIES[:1]),
    # Groups.
    (ValueError, ("distance", "directed_mhd", "symmetric"), d2ke.spanning_tree, SERIES,
     given(distance="directed_mhd")),
    (ValueError, ("distance", "'hausdorff'", "levenshtein"), d2ke.barycenter, SERIES,
     given(distance="hausdorff")),
    (ValueError, ("distance", "symmetric"), d2ke.barycenter, WORDS,
     given(distance="levenshtein", mode="infix")),
    (ValueError, ("ground", "haversine"), d2ke.barycenter, [[[1.0, 2.0]]],
     given(distance="dtw", ground="haversine")),
    (ValueError, ("weights", "(2,)", "(4,)"), d2ke.barycenter, WORDS, given(weights=[1, 2])),
    (ValueError, ("weights[3]", "-1", ">= 0"), d2ke.barycenter, WORDS,
     given(weights=[1, 2, 3, -1])),
    (ValueError, ("weights", "0"), d2ke.barycenter, WORDS, given(weights=[0] * 4)),
    (ValueError, ("missing", "'error'"), d2ke.barycenter, [[NAN, 1.0]],
     given(distance="dtw", missing="arow")),
    (ValueError, ("distance", "X[0]", "X[1]", "-1"), d2ke.dbscan, [1, 2], 1,
     given(distance=lambda x, y: -1.0 if x < y else 0.0)),
    (TypeError, ("labels", "float64"), d2ke.plots.plot_clusters, WORDS, given(labels=[[0.5]])),
    (ValueError, ("labels", "2 labels", "4"), d2ke.plots.plot_clusters, WORDS,
     given(labels=[0, 1])),
    (ValueError, ("medoids[1]", "4"), d2ke.plots.plot_clusters, WORDS,
     given(labels=[0, 0, 1, 1], medoids=[0, 4])),
    (ValueError, ("medoids", "one cluster"), d2ke.plots.plot_clusters, WORDS,
     given(labels=[0, 0, 1, 1], medoids=[0, 1])),
    (TypeError, ("indices", "float64"), d2ke.plots.plot_neighbors, WORDS,
     given(indices=[[0.5]], distances=[[1.0]])),
    (ValueError, ("indices", "(1, 2)", "(1, 1)"), d2ke.plots.plot_neighbors, WORDS,
     given(indices=[[1, 2]], distances=[[1.0]])),
    (ValueError, ("indices", "9", "[0, 0]", "4 objects"), d2ke.plots.plot_neighbors, WORDS,
     given(indices=[[9]], distances=[[1.0]])),
    (ValueError, ("indices", "(5, 1)", "4 objects"), d2ke.plots.plot_neighbors, WORDS,
     given(indices=[[1]] * 5, distances=[[1.0]] * 5)),
    (ValueError, ("Y", "series", "strings"), d2ke.plots.plot_neighbors, WORDS,
     given(indices=[[0]], distances=[[1.0]], Y=SERIES)),
    (ValueError, ("names", "4", "1"), d2ke.plots.plot_neighbors, WORDS,
     given(indices=[[1]], distances=[[1.0]], names=["a"])),
    (ValueError, ("initial", "2 of them"), d2ke.barycenter, SERIES,
     given(initial=d2ke.pack([[1.0], [2.0]]))),
    (ValueError, ("X", "2", "1"), d2ke.plot_tree, ["a"], given(distance="levenshtein")),
    (ValueError, ("names", "4", "1"), d2ke.plot_tree, WORDS,
     given(distance="levenshtein", names=["a"])),
    (ValueError, ("distance", "symmetric"), d2ke.plot_tree, SERIES, given(distance="directed_mhd")),
    (ValueError, ("radius", "'town'", "'name'"), d2ke.dedupe, PEOPLE, given(radius={"town": 1})),
    (ValueError, ("radius", "'town'"), d2ke.dedupe, PEOPLE,
     given(radius={"name": 1}, distance={"town": "levenshtein"})),
    (ValueError, ("radius", "{}"), d2ke.dedupe, PEOPLE, given(radius={})),
    (ValueError, ("clean", "'vowels'", "accents"), d2ke.dedupe, WORDS,
     given(radius=1, clean=["vowels"])),
    (TypeError, ("clean", "bytes"), d2ke.dedupe, [b"a", b"b"], given(radius=1, clean=["case"])),
    (ValueError, ("threshold", "2"), d2ke.dedupe, WORDS, given(radius=1, threshold=2)),
    (ValueError, ("distance", "directed_mhd", "symmetric"), d2ke.dedupe, SERIES,
     given(radius=1, distance="directed_mhd")),
    (ValueError, ("known", "needs pairs that match, and pairs that do not"), few_rows,
     given(known=([[0, 1]], [1]))),
    (ValueError, ("known", "say of each of the 2 pairs"), few_rows,
     given(known=([[0, 1], [1, 2]], [1]))),
    (ValueError, ("known[0]", "[0, 9]", "5 rows"), few_rows,
     given(known=([[0, 9], [1, 2]], [1, 0]))),
    (ValueError, ("known", "pairs of rows"), few_rows, given(known=([0, 1], [1, 0]))),
    (ValueError, ("known", "two rows in each pair"), few_rows,
     given(known=([[0, 1], [2]], [1, 0]))),
    (ValueError, ("known", "needs pairs that match"), few_rows, given(known=([], []))),
    (ValueError, ("known", "True or False; got 0.5 for pair 1"), few_rows,
     given(known=([[0, 1], [1, 2]], [1, 0.5]))),
    (ValueError, ("known[1]", "rows 0 and 1 do not", "known[0]"), few_rows,
     given(known=([[0, 1], [0, 1]], [1, 0]))),
    (ValueError, ("known[0]", "rows 3 and 3", "one row"), few_rows,
     given(known=([[3, 3], [0, 1]], [0, 1]))),
    (TypeError, ("known[0]", "numbers of rows"), few_rows, given(known=([[0.0, 1.0]], [1]))),
    (TypeError, ("known", "(pairs, match)"), few_rows, given(known=[[0, 1]])),
    (TypeError, ("radius", "X is a list"), d2ke.dedupe, ["ab"], given(radius={"a": 1})),
    (TypeError, ("X['a']", "missing entries only after"), d2ke.dedupe, {"a": ["?", "!"]},
     given(radius=1, clean=["punctuation"])),
    (TypeError, ("distance", "(distance, dict)"), d2ke.dedupe, ["ab"],
     given(radius=1, distance=("osa", 3))),
    (TypeError, ("X['a']", "numbers"), d2ke.dedupe, {"a": [date(2024, 1, 5)]}, given(radius=1)),
    (ValueError, ("X", "empty"), d2ke.dedupe, [], given(radius=1)),
    (TypeError, ("left", "table with columns", "right"), d2ke.link, ["ab"], {"a": ["ab"]},
     given(radius=1)),
    # Embeddings and Gram matrices.
    (TypeError, ("dtype", "int32"), d2ke.write_distances, "unused", WORDS,
     given(distance="levenshtein", dtype="int32")),
    (TypeError, "distance", d2ke.write_distances, "unused", WORDS, given(distance=5)),
    (TypeError, ("omega_or_model", "series"), d2ke.write_features, "unused", WORDS,
     d2ke.pack(SERIES), given(distance="levenshtein", gamma=1.0)),
    (ValueError, ("labels", "2", "4"), d2ke.write_features, "unused", WORDS, OMEGA,
     given(distance="levenshtein", gamma=1.0, labels=[1, 2])),
    (ValueError, ("D", "(0, 3)"), d2ke.d2ke_features, np.empty((0, 3)), 1.0),
    (TypeError, ("out", "float32"), d2ke.d2ke_features, D, 1.0,
     given(out=np.empty((4, 4), np.float32))),
    (TypeError, "gamma", d2ke.dsk_gram, D),
    (TypeError, ("gamma", "nd"), d2ke.dsk_gram, D, given(kind="nd", gamma=1.0)),
    (ValueError, ("K", "symmetric", "[0, 3]"), d2ke.dsk_gram, np.triu(D),
     given(kind="nd", repair="flip")),
    (ValueError, ("D", "(3, 4)"), d2ke.gdk_led, D[:3], 1),
    (ValueError, ("D_new", "3", "4"), d2ke.gdk_led(D, 2).project, D[:, :3]),
    # Guarantees.
    (ValueError, ("eps", "2"), d2ke.theory.features_needed, 2.0, 0.1, 3.0, 1.0),
    (ValueError, ("E", "2", "3"), d2ke.theory.soft_min_distance, D[:, :3], Z, given(gamma=1.0)),
    (ValueError, ("Z", "(4, 1)"), d2ke.theory.bootstrap_kernel_error, Z[:, :1]),
    (ValueError, ("error", "'mean'"), d2ke.theory.bootstrap_kernel_error(np.eye(3)).features_needed,
     0.1, "mean"),
    (TypeError, "alphabet_size", d2ke.theory.effective_dimension, "strings", given(length=3)),
    # Learners.
    (ValueError, ("y", "one class"), d2ke.train, [1, 1, 1, 1], Z),
    (TypeError, ("Z", "<U1"), d2ke.train, Y, [["a"]] * 4),
    (TypeError, ("y", "set"), d2ke.train, {0, 1, 2, 3}, Z),
    (ValueError, ("-e", "twice"), d2ke.train, Y, Z, "-e 1 -e 2"),
    (ValueError, ("-w<label>", "class_weight"), d2ke.train, ["a", "a", "b", "b"], Z, "-s 2 -w1 3"),
    (ValueError, ("solver", "-s 0"), d2ke.train, Y, Z, "-s 0", given(solver="block")),
    (TypeError, ("Z", "sparse"), d2ke.train, Y, sparse.csr_array(Z), given(solver="block")),
    (ValueError, ("Z", "3", "2"), d2ke.predict, None, np.ones((2, 3)), LINEAR),
    (ValueError, ("probability", "2"), d2ke.predict, None, Z, LINEAR, given(probability=True)),
    (TypeError, ("y", "strings"), d2ke.predict, ["a"] * 4, Z, LINEAR),
    (TypeError, ("K", "sparse"), d2ke.svmtrain, Y, sparse.csr_array(K)),
    (ValueError, ("options", "-t"), d2ke.svmtrain, Y, K, "-c 1"),
    (ValueError, ("-n", "-s 0"), d2ke.svmtrain, Y, K, "-t 4 -n 0.5"),
    (ValueError, ("-m", "0"), d2ke.svmtrain, Y, K, "-t 4 -m 0"),
    (ValueError, ("class_weight", "-s 3"), d2ke.svmtrain, Y, K, "-s 3 -t 4",
     given(class_weight={1: 2.0})),
    (ValueError, ("K", "3", "4"), d2ke.svmpredict, None, K[:, :3], MACHINE),
    (TypeError, "y", d2ke.d2ke_train, None, WORDS),
    (ValueError, ("alpha", "1.5"), partial(d2ke.predict_set, alpha=1.5), ["a"], WORDS_MODEL),
    (TypeError, ("out", "float64"), d2ke.d2ke_transform, ["a"], WORDS_MODEL,
     given(out=np.empty((1, WORDS_MODEL.R)))),
    (ValueError, ("X", "two"), d2ke.d2ke_importance, [0], ["a"], WORDS_MODEL),
    (TypeError, ("model", "int"), d2ke.save_model, "file", 3),
    (ValueError, ("nothing.doc",), files.read_objects, "nothing.doc"),
    (TypeError, ("path", "5"), files.read_ts, 5),
    (FileNotFoundError, ("nothing.zip",), files.read_graphs, "nothing.zip"),
    (ValueError, ("y", "3", "4"), d2ke.knn_predict, Y[:3], D),
    (ValueError, ("Z", "3", "2"), d2ke.embedding.select_features(Z, Y, 1).apply, np.ones((1, 3))),
    (ValueError, ("scaling", "'unit'"), d2ke.embedding.Scaling.fit, Z, "unit"),
    (TypeError, "Z", d2ke.embedding.Scaling.fit, [["a"]]),
    (ValueError, ("Z", "3", "2"), d2ke.embedding.Scaling.fit(Z).apply, np.ones((1, 3))),
    # Search, and what is kept in files.
    (ValueError, ("y", "3", "4"), d2ke.search, [0, 1, 1], WORDS, "knn",
     given(distance="levenshtein")),
    (TypeError, "sampler", d2ke.search, Y, WORDS, given(distance="levenshtein", n_folds=2)),
    (ValueError, ("grid", "'K'"), search, given(grid={"K": [1]})),
    (TypeError, ("grid['k']", "3"), search, given(grid={"k": 3})),
    (ValueError, "grid['k']", search, given(grid={"k": []})),
    (ValueError, ("within", "(3, 4)"), search, given(within=D[:3])),
    (ValueError, ("path", r"'a\x00b'"), d2ke.load_search, "a\0b"),
    (TypeError, ("Z", "list"), files.save_features, "unused", [[1.0]]),
    (ValueError, ("Z", "nan", "(1, 2)"), files.save_features, "unused", BAD_K),
    (ValueError, ("omega", "4", "2"), files.save_features, "unused", Z, given(omega=OMEGA)),
    (ValueError, ("compression", "'lzf'"), files.save_features, "unused", Z,
     given(compression="lzf")),
    (TypeError, ("file", "None"), files.load_features, None),
    (TypeError, ("file", "None"), files.open_features, None),
    (TypeError, ("data", "list"), files.save_mat, "unused", [1]),
    (ValueError, ("version", "'4'"), files.save_mat, "unused", {"a": 1}, given(version="4")),
    (TypeError, ("names[0]", "3"), files.load_mat, "unused", [3]),
    (TypeError, ("names", "3"), files.load_mat, "unused", 3),
    (TypeError, ("file", "5"), files.whos_mat, 5),
    (TypeError, ("name", "3"), files.load_objects, "unused", 3),
    # Kernel distance.
    (TypeError, ("sigma", "linear"), distance, given(sigma=1.0, kernel="linear")),
    (TypeError, ("eps", "rff"), distance, given(sigma=1.0, method="rff")),
    (ValueError, ("method", "Laplace"), distance,
     given(sigma=1.0, method="ifgt", eps=0.1, kernel="laplace")),
    (ValueError, ("weights_q[2]", "nan"), distance, given(sigma=1.0, weights_q=[1, 1, NAN, 1])),
    (ValueError, "Q", d2ke.kernel_distance, Z, [], given(sigma=1.0)),
    (ValueError, ("Q", "3", "2"), d2ke.kernel_distance, Z, np.ones((1, 3)), given(sigma=1.0)),
    (TypeError, ("P", "str"), d2ke.kernel_distance, "P", Z, given(sigma=1.0)),
    (ValueError, ("weights_x", "3", "1"), d2ke.kernel_distance_matrix, SETS,
     given(sigma=1.0, weights_x=[[1.0]])),
    (ValueError, ("weights_x[1]", "(2,)"), d2ke.kernel_distance_matrix, SETS,
     given(sigma=1.0, weights_x=[[1, 1], [1], [1] * 4])),
    (ValueError, ("Y[0]", "3"), d2ke.kernel_distance_matrix, SETS, [np.ones((1, 3))],
     given(sigma=1.0)),
    (ValueError, ("n_features", "7"), d2ke.measures.kernel_feature_map, SETS,
     given(sigma=1.0, n_features=7)),
    (ValueError, ("sets", "3", "2"), MAP, [np.ones((2, 3))]),
    (ValueError, ("queries[0]", "sets[0]", "3"), kernel_neighbors, [np.ones((1, 3))], SETS,
     given(sigma=1.0)),
    (ValueError, ("points", "1"), d2ke.curve, [[0.0, 0.0]]),
    (TypeError, ("faces", "float64"), d2ke.mesh, np.eye(3), [[0.0, 1.0, 2.0]]),
    (ValueError, ("vertices", "(4, 1)"), d2ke.mesh, Z[:, :1], [[0, 1, 2]]),
    (ValueError, ("covariance", "(2, 2)"), d2ke.measures.kernel_coordinates, POINTS, np.eye(3)),
    (ValueError, ("covariance", "symmetric"), kernel_coordinates, POINTS, [[1, 0], [1, 1]]),
    (ValueError, ("covariance", "positive"), kernel_coordinates, POINTS, [[1, 2], [2, 1]]),
    (ValueError, ("kernel", "(2, 1)"), kernel_norm, [0.0, 1.0], given(kernel=lambda X, Y: X)),
    (ValueError, ("kernel", "nan"), d2ke.measures.kernel_norm, [0.0, 1.0],
     given(kernel=lambda X, Y: X @ Y.T * NAN)),
    (TypeError, ("sigma", "1.0"), d2ke.measures.kernel_norm, [0.0, 1.0],
     given(kernel=lambda X, Y: X @ Y.T, sigma=1.0)),
    (ValueError, ("P", "empty"), d2ke.kernel_two_sample_test, [], Z, given(kernel=max)),
    (ValueError, ("P", "shape"), d2ke.kernel_distance, np.zeros((3, 0)), [1.0], given(sigma=1.0)),
    (TypeError, ("weights_q", "real numbers"), d2ke.kernel_distance, [0.0], [1.0],
     given(sigma=1.0, weights_q=["a"])),
    (ValueError, ("weights", "too large"), d2ke.kernel_distance, [0.0], [1.0],
     given(sigma=1.0, weights_q=[1e200])),
    (ValueError, ("features", 'method="ifgt" would need', 'use method="dualtree"'),
     d2ke.kernel_distance, np.eye(12), np.eye(12) * 9, given(sigma=1.0, method="ifgt", eps=1e-3)),
    (ValueError, ("method", "computed exactly", '"rff"'), d2ke.kernel_distance, POINTS, POINTS,
     given(kernel=lambda X, Y: X @ Y.T, method="rff", eps=0.1)),
    (TypeError, ("eps", "no meaning"), d2ke.kernel_distance_matrix, [[1.0]],
     given(sigma=1, eps=0.1)),
    (TypeError, ("X", "one Measure"), d2ke.kernel_distance_matrix, CURVE, given(sigma=1)),
    (ValueError, ("features", "would need"), kernel_features, np.ones((2, 3, 40)),
     given(sigma=1, eps=1e-6, method="rff")),
    (ValueError, "eps", kernel_features, [[1.0]], given(sigma=1, n_features=4, method="ifgt")),
    (TypeError, ("P", "Measure"), d2ke.kernel_two_sample_test, CURVE, [[0.0, 0.0]]),
    (ValueError, ("faces[0, 2]", "-1"), d2ke.mesh, np.eye(3), [[0, 1, -1]]),
    (ValueError, ("faces", "shape"), d2ke.mesh, np.eye(3), [[0, 1]]),
    (ValueError, ("gap", "would need"), d2ke.curve, [[0, 0], [1, 1]], given(gap=1e-12)),
    (TypeError, ("m", "eps"), coreset),
    (TypeError, ("m", "not both"), coreset, given(m=3, eps=0.1)),
    (ValueError, ("points", "on a line", "2 dimensions"), coreset, given(m=3, method="sorted")),
    (TypeError, "sigma", coreset, given(m=3, sigma=None)),
    (ValueError, ("P", "total weight", "positive"), coreset, given(m=3, weights_p=np.zeros(4))),
    (ValueError, ("motion", "at least 2 dimensions"), move, [0.0, 1.0], [0.0, 1.0]),
    (TypeError, "eps", move, POINTS, POINTS, given(method="fptas")),
    (ValueError, ("weights", "too large"), move, POINTS[:1], POINTS[:1], given(weights_q=[1e200])),
    (TypeError, ("Q", "kind 'curve'", "kind 'points'"), move, CURVE, POINTS),
    *((ValueError, ("turn", "not known"), move, odd, odd)
      for odd in (d2ke.mesh(np.eye(4), [[0, 1, 2], [1, 2, 3]]),
                  Measure(np.eye(3), np.ones((3, 2)), "curve"))),
    (ValueError, ("points", "is for points, not"), move, CURVE, CURVE,
     given(method="fptas", eps=0.1)),
    *((ValueError, says, d2ke.kernel_align, *np.random.default_rng(0).normal(size=(2, 3, d)),
       given({"sigma": 0.1, "method": "fptas", "eps": 0.1} | how)) for d, how, says in (
        (3, {"eps": 1e-9}, ("motions", "would try up to", "fewer points")),
        (3, {"weights_q": [1.0, -1.0, 1.0]}, ("weights_q", "weights >= 0")),
        (4, {}, ("dimensions", "in 2 or 3", "not in 4")))),
    # Discriminative similarity.
    (ValueError, ("K", "square"), d2ke.cdsk, sparse.csr_array(np.eye(3)[:2]), 2),
    (ValueError, ("K[0, 1]", "1.0", "K[1, 0]"), d2ke.cdsk,
     sparse.csr_array(np.triu(np.ones((4, 4)))), 2),
    (ValueError, ("distances", "square"), d2ke.cdsk,
     given(distances=np.ones((3, 2)), n_clusters=2)),
    (TypeError, ("points", "got none"), d2ke.discriminative_predict, CLUSTERS),
    (TypeError, ("points", "got K_new"), d2ke.discriminative_predict, CLUSTERS, K),
    (ValueError, ("points", "3 columns"), d2ke.discriminative_predict, CLUSTERS,
     given(points=np.ones((2, 3)))),
    (ValueError, ("points", "nan"), d2ke.discriminative_predict, CLUSTERS,
     given(points=np.full((2, 2), NAN))),
    (ValueError, ("object", "only one"), d2ke.discriminative.neighbor_similarities, POINTS[:1]),
    (ValueError, ("y[3]", "inf"), d2ke.lpdsk, K, [0, 1, -1, INF]),
    *((TypeError, ("unknown", "y's type"), d2ke.lpdsk, K, [0, 1, -1, -1], given(unknown=unknown))
      for unknown in (None, [1, 2])),
    (TypeError, "n_clusters", d2ke.cdsk, K),
    (TypeError, "y", d2ke.lpdsk, K),
    (ValueError, ("y", "3", "4"), d2ke.lpdsk, K, [0, 1, -1]),
    (ValueError, ("y", "-1"), d2ke.lpdsk, K, [-1] * 4),
    (TypeError, "y", d2ke.discriminative.kernel_classifier_fit, K),
    (TypeError, "K_new", kernel_classifier_predict, CLASSIFIER, given(features=Z)),
    (ValueError, ("K_new", "3", "4"), kernel_classifier_predict, CLASSIFIER, K[:, :3]),
    (ValueError, ("y", "3", "4"), d2ke.similarity_machine_fit, K, [0, 1, 1]),
    (ValueError, ("S_new", "3", "4"), d2ke.similarity_machine_predict, SIMILARITY, K[:, :3]),
    (ValueError, ("K[1, 2]", "-1"), kernel_risk_bound, np.minimum(BAD_D, BAD_D.T), Y, ALPHA),
    (ValueError, ("margin", "0.5"), kernel_similarity_bound, K, Y, ALPHA, given(margin=0.5)),
    (ValueError, ("y", "3"), density_error_bound, Z, [0, 1, 2, 2], ALPHA, given(h=1.0)),
    (ValueError, ("S", "3", "4"), similarity_machine_bound, SIMILARITY, K[:3, :3], Y[1:]),
    (ValueError, ("y", "2"), similarity_machine_bound, SIMILARITY, K, [0, 1, 2, 2]),
    (ValueError, ("X", "one point"), d2ke.discriminative.bandwidth, Z[:1]),
    (ValueError, ("Y", "3", "2"), d2ke.discriminative.gaussian_gram, Z, np.ones((2, 3))),
    (ValueError, ("labels", "3", "4"), d2ke.discriminative.clustering_accuracy, Y, [0, 1, 1]),
    (ValueError, "y", d2ke.discriminative.clustering_accuracy, [], []),
    # Data sets.
    (ValueError, ("name", "'iris'"), datasets.load, "iris"),
    (TypeError, ("train", "list"), datasets.standardize, [[1.0]]),
    (TypeError, ("others[0]", "strings"), datasets.standardize, d2ke.pack(SERIES),
     d2ke.pack(WORDS)),
    # MATLAB's names.
    (ValueError, ("w", "-2"), matlab.dtw_c, [[0.0]], [[1.0]], -2),
    (ValueError, ("t", "nan"), matlab.dtw_m, [[0.0]], [[NAN]]),
    (ValueError, ("t", "2", "1"), matlab.dtw_c, [[0.0]], [[1.0, 2.0]]),
    (ValueError, ("baseX[0]", "nan"), matlab.dtw_similarity_cell, [[1.0]], [[[NAN]]]),
    (ValueError, ("newX[0]", "nan"), matlab.dtw_similarity_cell_mulvar, [[[NAN]]], [[[1.0]]]),
    (ValueError, ("y", "2", "1"), matlab.dtw, [1.0], [[1.0, 2.0], [3.0, 4.0]]),
    (ValueError, ("metric", "'cubic'"), matlab.dtw, [1.0], [1.0], None, "cubic"),
    (TypeError, ("Distance", "3"), matlab.pdist, Z, 3),
    (ValueError, ("Distance", "4", "1"), matlab.pdist, Z, lambda x, Y: 1),
    (TypeError, ("X[1]", "None"), matlab.pdist, ["a", None], "levenshtein"),
    (ValueError, ("DistParameter", "2", "-1"), matlab.pdist, Z, "seuclidean", [1, -1]),
    (ValueError, ("DistParameter", "2 x 2", "(3, 3)"), matlab.pdist, Z, "mahalanobis", np.eye(3)),
    (ValueError, ("DistParameter", "positive definite"), matlab.pdist, Z, "mahalanobis",
     -np.eye(2)),
    (TypeError, ("Y", "numbers"), matlab.pdist2, Z, "euclidean"),
    (TypeError, ("Y", "lengths"), matlab.pdist2, Z, [[1.0, 2.0], [1.0]]),
    (ValueError, ("D", "2"), matlab.squareform, [1.0, 2.0]),
    (ValueError, ("method", "'fast'"), matlab.linkage, Z, "fast"),
    (TypeError, ("Cutoff", "'a'"), matlab.cluster, [[1, 2, 1.0]], given(Cutoff="a")),
    (ValueError, ("Z", "(1, 2)"), matlab.cluster, [[1, 2]], given(MaxClust=2)),
    (ValueError, ("Z", "tree"), matlab.cluster, [[1, 1, 1.0]], given(MaxClust=2)),
    (ValueError, ("k", "9"), matlab.kmedoids, Z, 9),
    (ValueError, ("X", "symmetric"), matlab.dbscan, [[0.0, 1.0], [2.0, 0.0]], 1, 2, "precomputed"),
    (ValueError, ("K", "9"), matlab.knnsearch, Z, Z, given(K=9)),
    (TypeError, ("filename", "3"), matlab.load, 3),
    (ValueError, ("version", "'-v4'"), matlab.save, "a", {}, "-v4"),
    (TypeError, ("y", "<U1"), matlab.train, ["a"] * 4, Z),
    (TypeError, ("options", "5"), matlab.train, Y, Z, 5),
    (ValueError, ("options", "9"), matlab.train, Y, Z, "-s 2 -w9 3"),
    (ValueError, ("model", "'Label'"), matlab.predict, Y, Z, {}),
    (ValueError, ("-b", "3"), matlab.predict, Y, Z, STRUCT, "-b 3"),
    (ValueError, ("X[0, 0]", "7"), matlab.svmtrain, [1, 2], [[7, 1, 0], [2, 0, 1]], "-t 4"),
    (ValueError, ("y[0]", "inf"), matlab.svmtrain, [INF, 1], [[1.0], [2.0]], "-t 0"),
    (ValueError, ("model", "'Parameters'"), matlab.svmpredict, Y, Z, {}),
    (ValueError, ("y", "vector"), matlab.train, np.c_[Y, Y], Z),
    (ValueError, ("y", "one class only, 3"), matlab.train, [3] * 4, Z),
    (ValueError, ("-C", "solvers -s 0, 2 and 11"), matlab.train, Y, Z, "-s 1 -C -q"),
    (ValueError, ("-p", "greater than 0"), matlab.train, Y, Z, "-s 11 -C -p 0 -q"),
    (ValueError, ("-v", "at least 2"), matlab.train, Y, Z, "-s 2 -v 1"),
    (ValueError, ("option", "'-x'"), matlab.predict, Y, Z, STRUCT, "-x"),
    (ValueError, ("svmtrain", "must be one of"), matlab.svmpredict, Y, Z, STRUCT),
    (ValueError, ("X", "the kernel of 1 training objects"), matlab.svmpredict, Y, np.c_[Y, Y],
     matlab.svmtrain(Y, np.c_[[1, 2, 3, 4], K], "-t 4 -q")),
    (ValueError, ("-b", "train it with -b 1 too"), matlab.svmpredict, Y, Z,
     matlab.svmtrain(Y, Z, "-q"), "-b 1"),
    (ValueError, "double", STREAM.rand, 2, "single"),
    (ValueError, "two numbers or more", STREAM.rand, []),
    (ValueError, ("in order", "1 and 0"), STREAM.randi, 0),
    (ValueError, "625 numbers", setattr, STREAM, "State", np.zeros(3)),
    (ValueError, "-1 to -1", setattr, STREAM, "State", np.full(625, -1)),
    (ValueError, ("seed", "default, shuffle"), matlab.rng, "defualt"),
    (ValueError, "it has no", matlab.rng, {"Seed": 1}),
    (ValueError, ("seed", "-1"), matlab.rng, -1),
    (ValueError, ("generator", "'v4'"), matlab.rng, 1, "v4"),
    (ValueError, ("limits", "(1, 2, 3)"), matlab.RandStream().randi, (1, 2, 3)),
    (TypeError, ("size[0]", "'a'"), matlab.rand, "a", 1),
    (TypeError, ("size[0]", "'a'"), matlab.randn, "a", 1),
    (TypeError, ("imax", "'a'"), matlab.randi, "a"),
    (TypeError, ("n", "0.5"), matlab.randperm, 0.5),
    (ValueError, ("weight_newX", "1", "2"), matlab.wmd_dist, [[[1.0]]], [[1.0], [1.0]], [[[1.0]]],
     [[1.0]], -1),
    (TypeError, ("baseX", "int"), matlab.wmd_dist, [[[1.0]]], [[1.0]], 3, [[1.0]], -1),
    (ValueError, "'words'", matlab.wme_GenFea_preproc, {"X": [], "BOW_X": []}),
    (ValueError, ("Data.words", "2", "1"), matlab.wme_GenFea_preproc,
     DOCUMENTS | {"words": [["a", "b"]]}),
    (TypeError, ("Data", "list"), matlab.wme_GenFea_preproc, [1]),
    (ValueError, ("R", "0"), matlab.wme_GenFea, DOCUMENTS, -1, 0, 1, 3, 1, *DOCUMENT_FACTS),
    (ValueError, ("Data.TR", "2"), matlab.wme_GenFea, DOCUMENTS | {"TR": [[9]]}, -1, 2, 1, 3, 1,
     *DOCUMENT_FACTS),
    (ValueError, ("wordweight_scheme", "3"), matlab.wme_GenFea, DOCUMENTS, -1, 2, 1, 3, 1,
     *DOCUMENT_FACTS, 1, 3),
    (ValueError, ("randdoc_scheme", "2"), matlab.wme_GenFea, DOCUMENTS, -1, 2, 1, 3, 1,
     *DOCUMENT_FACTS, 2),
    (ValueError, ("gamma", "-1", "'a'"), matlab.wmd_dist, [[[1.0]]], [[1.0]], [[[1.0]]], [[1.0]],
     "a"),
    (ValueError, ("Data.Y", "3 labels", "2 documents"), matlab.wme_GenFea,
     DOCUMENTS | {"Y": [1, 2, 3]}, -1, 2, 1, 3, 1, *DOCUMENT_FACTS),
    (TypeError, ("filename", "5"), matlab.libsvmread, 5),
    (ValueError, ("labels", "2", "(1, 1)"), matlab.libsvmwrite, "unused", [1, 2], [[1.0]]),
    (ValueError, ("X", "finite"), matlab.libsvmwrite, "unused", [1], [[NAN]]),
]  # fmt: skip

VARYING = (1.0, 3, 1.0)  # sigma, DMax, lambda_inverse
RWS_CASES = [
    (ValueError, ("DMin", "DMax", "(4, 3)"), matlab.rws_GenFea, 1.0, 4, 4, 3),
    (ValueError, ("sigma", "-1"), matlab.rws_GenFea_mulvar, -1.0, 4, 1, 3),
    (ValueError, ("CV", "1"), matlab.rws_gridsearch_CV, given(CV=1)),
    (ValueError, ("solver", "'fast'"), matlab.rws_gridsearch_CV, given(CV=2, solver="fast")),
    (ValueError, ("R", "0"), matlab.rws_gridsearch_CV_mulvar, given(CV=2, R=0)),
    (ValueError, ("lambda_inverse", "0"), matlab.rws_VaryingR_CV, 1.0, 3, 0.0),
    (ValueError, "R_list", matlab.rws_VaryingR_CV_mulvar, *VARYING, given(R_list=[])),
]  # fmt: skip


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
    if type(caught.value) in (ArgumentError, ArgumentTypeError):
        assert caught.value.argument
    else:
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
        (folder / "Two" / f"Two_{part}").write_text("1 0 1 0\n2 1 0 1\n" * 2, "utf-8")
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
        for module in (datasets, files, matlab)
        for name in module.__all__
        if inspect.isfunction(getattr(module, name))
    }
    assert {function.__name__ for function in public - tried} == set()
