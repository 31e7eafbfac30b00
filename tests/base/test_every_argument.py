# SPDX-License-Identifier: BSD-3-Clause
"""Every parameter of every public function refuses wrong values, by signature.

The table holds one valid call per function. What is wrong follows from a parameter's name and
default; `test_bad_input` holds the values that only one function refuses.
"""

import importlib
import inspect
import re

import numpy as np
import pytest

import d2ke
from d2ke import discriminative, samplers
from d2ke._base.keywords import SYNONYMS
from d2ke.distances.registry import DISTANCES

PACKAGES = (
    "datasets", "discriminative", "distances", "embedding", "explain", "io", "learners", "measures",
    "model_selection", "plots", "groups", "samplers", "theory",
)  # fmt: skip
WORDS = ["ACGT", "AGT", "TTTT", "CA"]
SERIES = [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0, 4.0]]
POINTS = np.array([[0.0, 0.0], [0.1, 0.2], [3.0, 3.0], [3.2, 3.1]])
SETS = [POINTS[:2], POINTS[2:], POINTS]
K = np.exp(-((POINTS[:, None] - POINTS) ** 2).sum(axis=2))
D = np.abs(np.subtract.outer([0.0, 1.0, 3.0, 4.0], [0.0, 1.0, 3.0, 4.0]))
Y = [0, 0, 1, 1]
ALPHA = np.full(4, 0.25)
OMEGA = samplers.random_strings(4, "ACGT", length=(1, 3), seed=0)
LINEAR = d2ke.train(Y, POINTS)
MODEL = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=8, keep_sums=True)
CLASSIFIER = discriminative.kernel_classifier_fit(K, Y)
CLUSTERS = d2ke.cdsk(K, 2)
MACHINE = d2ke.similarity_machine_fit(K, Y)
WORD = {"X": WORDS, "distance": "levenshtein"}
NEW = {"X": ["aab", "abb"], "model": MODEL}
BOUND = {"K": K, "y": Y, "alpha": ALPHA}
VALID = {
    # Objects.
    "pack": {"items": SERIES},
    "pack_records": {"columns": {"a": [1, 2]}},
    "frame": {"result": (np.array([[1], [0]]), np.ones((2, 1)))},
    "categories": {"values": ["a", "b"]},
    "concatenate": {"collections": [OMEGA, OMEGA]},
    "graph_codes": {"graphs": [([(0, 1)], 2)]},
    "graph_structure": {"graphs": [([(0, 1)], 2)]},
    "random_series": {"R": 2, "n_channels": 1, "length": 3, "sigma": 1.0, "seed": 0},
    "random_sets": {"R": 2, "dim": 3, "size": 3, "seed": 0, "region": "box"},
    "random_strings": {"R": 2, "alphabet": "AB", "length": 3, "seed": 0},
    "markov_strings": {"R": 2, "X": WORDS, "length": 2, "seed": 0},
    "segments": {"R": 2, "X": WORDS, "length": 2, "seed": 0},
    "resampled": {"R": 2, "X": SETS, "size": 2, "seed": 0},
    "training_objects": {"X": OMEGA, "R": 2, "seed": 0},
    # Distances, neighbours, groups.
    "distance_matrix": WORD,
    "add_kind": {"name": "codes", "read": list},
    "align": {"x": "ACGT", "y": "AGT"},
    "learn_costs": {"wrong": ["beleive"] * 20, "right": ["believe"] * 20},
    "column_weights": {"X": {"a": WORDS, "b": [1, 2, 3, 4]}, "distance": {"a": "levenshtein"}},
    "nearest": WORD | {"k": 1},
    "within": WORD | {"radius": 2},
    "nearest_windows": {"X": SERIES, "query": [1.0, 2.0]},
    "window_profile": {"X": SERIES, "length": 2, "exclusion": 0},
    "window_outliers": {"X": SERIES, "length": 2, "exclusion": 0},
    "outlier_scores": WORD | {"k": 1},
    "spanning_tree": WORD,
    "single_linkage": WORD,
    "dbscan": WORD | {"eps": 1},
    "hdbscan": WORD | {"min_cluster_size": 2},
    "kmedoids": WORD | {"k": 2},
    "barycenter": WORD,
    "dedupe": WORD | {"radius": 1},
    "link": {"left": WORDS, "right": WORDS, "radius": 1},
    "plot_tree": WORD | {"max_leaves": 2},
    # Features.
    "d2ke_embed": WORD | {"omega": OMEGA, "gamma": 1.0},
    "rsm_embed": WORD | {"reps": OMEGA, "gamma": 1.0},
    "d2ke_gram": WORD | {"omega": OMEGA, "gamma": 1.0},
    "d2ke_features": {"D": D, "gamma": 1.0},
    "dsk_gram": {"D": D, "gamma": 1.0},
    "gdk_led": {"D": D, "R": 2},
    "psd_split": {"S": K},
    "select_features": {"Z": POINTS, "y": Y, "R": 1},
    # Models.
    "d2ke_train": {"y": [0, 1] * 9, "X": ["aab", "bba"] * 9, "R": 8},
    "d2ke_predict": NEW | {"y": [0, 1]},
    "d2ke_update": NEW | {"y": [0, 1]},
    "d2ke_transform": NEW,
    "predict_set": NEW,
    "novelty": NEW,
    "d2ke_explain": {"x": "aab", "model": MODEL},
    "d2ke_importance": NEW | {"y": [0, 1]},
    "discriminative_objects": {"model": MODEL},
    # Learners and search.
    "train": {"y": Y, "Z": POINTS},
    "predict": {"y": Y, "Z": POINTS, "model": LINEAR},
    "svmtrain": {"y": Y, "K": K},
    "svmpredict": {"y": Y, "K": K, "model": d2ke.svmtrain(Y, K)},
    "train_least_squares": {"y": Y, "Z": POINTS},
    "train_classifier": {"y": Y, "Z": POINTS, "loss": "squared", "C": 1.0},
    "knn_predict": {"y": Y, "D": D},
    "search": WORD
    | {
        "y": Y,
        "sampler": lambda R, seed: OMEGA[:R],
        "grid": {"gamma": [1.0], "R": [2]},
        "n_folds": 2,
    },
    # Few labels.
    "bandwidth": {"X": POINTS},
    "cdsk": {"K": K, "n_clusters": 2},
    "lpdsk": {"K": K, "y": [0, 1, -1, -1]},
    "discriminative_predict": {"result": CLUSTERS, "K_new": K},
    "clustering_accuracy": {"y": Y, "labels": Y},
    "normalized_mutual_information": {"y": Y, "labels": Y},
    "density_error_bound": {"X": POINTS, "y": Y, "alpha": ALPHA, "h": 1.0},
    "gaussian_gram": {"X": POINTS},
    "kernel_classifier_fit": {"K": K, "y": Y},
    "kernel_classifier_predict": {"model": CLASSIFIER, "K_new": K},
    "kernel_risk_bound": BOUND,
    "kernel_similarity_bound": BOUND,
    "similarity_risk_bound": {"S": K, "y": Y, "alpha": ALPHA},
    "similarity_machine_fit": {"S": K, "y": Y},
    "similarity_machine_predict": {"model": MACHINE, "S_new": K},
    "similarity_machine_bound": {"model": MACHINE, "S": K, "y": Y},
    "neighbor_similarities": {"points": POINTS, "n_neighbors": 2},
    # Measures.
    "curve": {"points": POINTS, "n_samples": 3},
    "mesh": {"vertices": np.eye(3), "faces": [[0, 1, 2]], "n_samples": 3},
    "kernel_align": {"P": POINTS, "Q": POINTS, "sigma": 1.0},
    "kernel_coreset": {"P": POINTS, "m": 2, "sigma": 1.0},
    "kernel_coordinates": {"P": POINTS, "covariance": np.eye(2)},
    "kernel_distance": {"P": POINTS, "Q": POINTS, "sigma": 1.0},
    "kernel_distance_matrix": {"X": SETS, "sigma": 1.0, "method": "rff", "eps": 0.5},
    "kernel_feature_map": {"sets": SETS, "sigma": 1.0, "n_features": 8},
    "kernel_features": {"sets": SETS, "sigma": 1.0, "n_features": 8},
    "kernel_neighbors": {"queries": SETS, "sets": SETS, "sigma": 1.0, "method": "rff", "eps": 0.5},
    "kernel_norm": {"P": POINTS, "sigma": 1.0},
    "kernel_two_sample_test": {"P": POINTS, "Q": POINTS},
    "features_two_sample_test": {"Z": POINTS, "n": 2},
    "gram_two_sample_test": {"K": K, "n": 2},
    # Guarantees.
    "bootstrap_kernel_error": {"Z": POINTS},
    "effective_dimension": {"kind": "strings", "length": 3, "alphabet_size": 4},
    "features_needed": {"eps": 0.1, "delta": 0.1, "p": 3.0, "gamma": 1.0},
    "features_needed_for_risk": {"eps": 0.1, "delta": 0.1, "p": 3.0, "gamma": 1.0},
    "lipschitz_constant": {"w": [1.0], "gamma": 1.0},
    "soft_min_distance": {"D": D, "gamma": 1.0},
}
# They write or read files, draw images, or are called by models alone.
OTHERS = {
    "distance_names", "show_config", "load_model", "save_model", "load_search", "load_duplicates",
    "write_distances", "write_features", "load_features", "save_features", "open_features",
    "load_mat", "save_mat", "whos_mat", "load_objects", "read_graphs", "read_objects", "read_ts",
    "load", "standardize", "noise", "shapelets",
    "plot_graph", "plot_neighbors", "plot_clusters",
}  # fmt: skip
ONLY = {  # what the rules below do not tell
    ("concatenate", "collections"): [[[1.0]], []],
    ("random_sets", "low"): ["a", np.nan],
    ("random_sets", "high"): ["a", np.nan, 0.0],
    ("lpdsk", "unknown"): [""],
    ("kernel_two_sample_test", "sigma"): ["unknown", 0.0],
    ("segments", "longest"): [],
    ("segments", "lengths"): [],  # goes without length
    ("pack", "ids"): [object(), ["a"], ["a", None]],
    ("pack_records", "ids"): [object(), ["a"], ["a", None], "b"],
    ("frame", "ids"): [object(), ["a"], ["a", None], "b"],
    ("frame", "other_ids"): [object(), ["a"], ["a", None], "b"],
    ("pack", "name"): [],  # any text
    ("pack_records", "name"): [],
    ("graph_codes", "graphs"): [5, [], [5]],
    ("graph_structure", "graphs"): [5, [], [5]],
    ("graph_codes", "node_label"): ["a"],  # the graph is not one of networkx
    ("graph_codes", "edge_label"): ["a"],
    ("kernel_classifier_predict", "features"): [],  # instead of K_new
}
# Missing values are allowed, or the place is another's.
WITHOUT_PLACES = {
    ("categories", "values"), ("dedupe", "X"), ("link", "left"), ("link", "right"),
    ("graph_codes", "graphs"), ("graph_structure", "graphs"),
    ("lpdsk", "y"),  # an object without a label gets one
    ("nearest_windows", "query"), ("window_profile", "X"), ("window_outliers", "X"),
    ("mesh", "faces"), ("lipschitz_constant", "w"),
}  # fmt: skip
BY_NAME = {
    "seed": [-1, 1.5, "a", True],
    "n_threads": [0, -1, 1.5, True, "2"],
    "out": [[[0.0]], "file", np.empty((1, 1, 1))],
    "dtype": ["int32", 5],
    "class_weight": [5, {"unknown": 1.0}],
}


def functions():
    rooms = [d2ke, *(importlib.import_module(f"d2ke.{name}") for name in PACKAGES)]
    names = ((name, getattr(room, name)) for room in rooms for name in room.__all__)
    return {name: value for name, value in names if inspect.isfunction(value)}


PUBLIC = functions()


def wrong_values(function, parameter):
    """Return what a parameter must refuse: by its name, else by its default."""
    if (function, parameter.name) in ONLY:
        return ONLY[function, parameter.name]
    if parameter.name in BY_NAME:
        return BY_NAME[parameter.name]
    default = parameter.default
    if isinstance(default, bool):
        return ["yes", 1, None, object()]
    if isinstance(default, int):
        return ["3", -1, 1.5, True, object()]
    if isinstance(default, float):
        return ["1", -1.0, np.nan, np.inf, True, object()]
    if isinstance(default, str):
        return ["unknown", 3, object()]
    return [object()]


def test_every_function_has_a_call():
    assert set(PUBLIC) == set(VALID) | OTHERS


@pytest.mark.parametrize("name", VALID)
def test_wrong_values_are_refused_by_name(name):
    function, given = PUBLIC[name], VALID[name]
    problems = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            with pytest.raises(TypeError, match="'no_option'"):
                function(**given, no_option=1)
            continue
        for value in wrong_values(name, parameter):
            try:
                function(**(given | {parameter.name: value}))
            except (TypeError, ValueError) as error:
                if not re.search(rf"\b{parameter.name}\b", str(error)):
                    problems.append((parameter.name, value, str(error)))
            except Exception as error:
                problems.append((parameter.name, value, repr(error)))
            else:
                problems.append((parameter.name, value, "accepted"))
    assert problems == []


def habits(parameters, taken=()):
    """Yield each keyword of other packages with its counterpart among the parameters."""
    for ours, theirs in SYNONYMS.items():
        if ours in parameters:
            yield from ((name, ours) for name in theirs if name not in {*parameters, *taken})


@pytest.mark.parametrize("name", VALID)
def test_keywords_of_other_packages_get_a_hint(name):
    """Those that are parameters of a distance are left out: they mean what they say."""
    function, parameters = PUBLIC[name], inspect.signature(PUBLIC[name]).parameters
    own = {word for row in DISTANCES for word in row.parameters} if "params" in parameters else ()
    for word, _ in habits(parameters, own):
        with pytest.raises(TypeError) as caught:
            function(**VALID[name], **{word: 1})
        meant = [ours for theirs, ours in habits(parameters) if theirs == word]
        assert str(caught.value).endswith(f"unknown keyword {word!r} (did you mean {meant[0]}=?)")


def spoilt(value):
    """Yield copies with a wrong item at the first, a middle and the last place, and the place."""
    places = [0, len(value) // 2, len(value) - 1]
    for i in places:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            new, place = value.copy(), (i,) if value.ndim == 1 else (i, i % value.shape[1])
            new[place] = np.nan
            yield new, place
        else:
            new = list(value)
            if isinstance(new[i], str):
                new[i] = None
            elif isinstance(new[i], int):
                new = [float(number) for number in new]
                new[i] = np.nan
            else:
                new[i] = np.full_like(np.asarray(new[i]), np.nan)
            yield new, (i,)


@pytest.mark.parametrize("name", VALID)
def test_errors_name_the_place(name):
    problems = []
    for argument, value in VALID[name].items():
        if not isinstance(value, list | np.ndarray) or (name, argument) in WITHOUT_PLACES:
            continue
        for new, place in spoilt(value):
            indices = ", ".join(map(str, place))
            try:
                PUBLIC[name](**(VALID[name] | {argument: new}))
            except (TypeError, ValueError) as error:
                if not re.search(rf"\b{argument}\b.*[\[(]{indices}[\])]", str(error)):
                    problems.append((argument, place, str(error)))
            else:
                problems.append((argument, place, "accepted"))
    assert problems == []
