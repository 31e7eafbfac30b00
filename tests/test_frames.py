# SPDX-License-Identifier: BSD-3-Clause
"""Data frames of all results, with the names of the objects."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import d2ke
from d2ke.model_selection.result import Search

rng = np.random.default_rng(0)
N = 24
Y = [i % 2 for i in range(N)]
LETTERS = [[0.8, 0.2], [0.2, 0.8]]
WORDS = d2ke.pack(
    ["".join(rng.choice([*"ab"], 8, p=LETTERS[y])) for y in Y], ids=[f"w{i}" for i in range(N)]
)
LEVENSHTEIN = {"distance": "levenshtein"}
D = d2ke.distance_matrix(WORDS, **LEVENSHTEIN)
MODEL = d2ke.d2ke_train(Y, WORDS, R=16)
VALUES = d2ke.d2ke_train(D[0] + 0.5, WORDS, R=16, task="regression")
THREE = d2ke.d2ke_train(["x", "y", "z"] * 6, ["aab", "bba", "abab"] * 6, R=16)
LABELS = np.array([[y, 1 - y] for y in Y])
SEVERAL = d2ke.d2ke_train(LABELS, WORDS, R=16)
PEOPLE = d2ke.pack_records({"name": ["Anna", "Ana", "Jon"]}, ids=[7, 3, 5])
LONG = [rng.normal(size=n) for n in (60, 80)]
BLOCKS = [f"feature {j}" for j in range(MODEL.n_unsupervised)]
X = WORDS

# The result; the columns after item and id; further arguments; the number of rows, if it is not
# that of the objects.
OTHERS = {"other_ids": X}
RESULTS = {
    "predictions": (d2ke.d2ke_predict(Y, X, MODEL), "predicted, decision"),
    "probabilities": (d2ke.d2ke_predict(None, X, MODEL, probability=True),
                      "predicted, probability 0, probability 1", {"model": MODEL}),
    "three classes": (d2ke.d2ke_predict(None, X, THREE),
                      "predicted, decision x, decision y, decision z", {"model": THREE}),
    "without the model": (d2ke.d2ke_predict(None, X, THREE),
                          "predicted, decision 0, decision 1, decision 2"),
    "values": (d2ke.d2ke_predict(None, X, VALUES), "predicted, decision", {"model": VALUES}),
    "several labels": (d2ke.d2ke_predict(None, X, SEVERAL),
                       "predicted 0, predicted 1, decision 0, decision 1"),
    "linear": (d2ke.predict(None, D, d2ke.train(Y, D)), "predicted, decision"),
    "sets": (d2ke.predict_set(X, MODEL), "set, in 0, in 1", {"model": MODEL}),
    "sets of three": (d2ke.predict_set(X, THREE), "set, in x, in y, in z", {"model": THREE}),
    "intervals": (d2ke.predict_set(X, VALUES), "low, high", {"model": VALUES}),
    "novelty": (d2ke.novelty(X, MODEL), "score"),
    "outliers": (d2ke.outlier_scores(X, **LEVENSHTEIN), "score"),
    "votes": (d2ke.knn_predict(Y, D), "label"),
    "features": (d2ke.d2ke_transform(X, MODEL), ", ".join(BLOCKS)),
    "nearest": (d2ke.nearest(X, k=2, **LEVENSHTEIN), "neighbor, neighbor_id, distance", OTHERS,
                2 * N),
    "near": (d2ke.nearest(X, k=2, radius=0, **LEVENSHTEIN), "neighbor, neighbor_id, distance",
             OTHERS, None),
    "within": (d2ke.within(X, radius=2, **LEVENSHTEIN), "neighbor, neighbor_id, distance", OTHERS,
               None),
    "windows": (d2ke.nearest_windows(LONG, LONG[1][:9], 3), "place, distance",
                {"ids": ["s", "t"]}, 3),
    "profile": (d2ke.window_profile(LONG, 5),
                "place, neighbor, neighbor_id, neighbor_place, distance",

                {"ids": ["s", "t"], "other_ids": d2ke.pack(LONG, ids=["s", "t"])},
                sum(len(x) - 4 for x in LONG)),
    "unusual windows": (d2ke.window_outliers(LONG, 5, n=2), "place, score", {"ids": ["s", "t"]}, 2),
    "kmedoids": (d2ke.kmedoids(X, 2, **LEVENSHTEIN), "cluster, medoid, medoid_id, distance"),
    "dbscan": (d2ke.dbscan(X, 1, **LEVENSHTEIN), "cluster, core"),
    "hdbscan": (d2ke.hdbscan(X, **LEVENSHTEIN), "cluster, probability"),
    "cdsk": (d2ke.cdsk(distances=D, n_clusters=2), "cluster, alpha"),
    "lpdsk": (d2ke.lpdsk(distances=D, y=[0, 1] + [-1] * (N - 2)),
              "label, alpha, score 0, score 1"),
    "tree": (d2ke.spanning_tree(X, **LEVENSHTEIN), "end, end_id, distance", {}, N - 1),
    "barycenter": (d2ke.barycenter(X, **LEVENSHTEIN), "distance"),
    "dedupe": (d2ke.dedupe(PEOPLE, radius=2), "group, example, example_id", {"ids": PEOPLE}, 3),
    "assign": (d2ke.dedupe(["anna", "bo"], radius=1).assign(PEOPLE["name"].values),
               "group, probability, rival", {"ids": PEOPLE}, 3),
    "link": (d2ke.link(PEOPLE, PEOPLE, radius=2), "match, match_id, distance",
             {"ids": PEOPLE, "other_ids": PEOPLE}, 3),
    "importance": (d2ke.d2ke_importance(Y, X, MODEL, by="block"), "name, drop, error",
                   {"ids": None}, len(MODEL.blocks)),
    "explanation": (d2ke.d2ke_explain(X[:1], MODEL),
                    "part, name, share, distance, training_object, training_object_id",
                    {"ids": None, "other_ids": X}, None),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_columns(name):
    result, text, *rest = RESULTS[name]
    more, *n = rest or [{}]
    columns = text.split(", ")
    if more.get("ids", X) is not None:
        columns = ["item", "id", *columns]
    frame = d2ke.frame(result, **{"ids": X, **more})
    assert list(frame) == columns
    if n != [None]:
        assert len(frame) == (n[0] if n else N)
    if "id" in frame:
        names = more.get("ids", X)
        names = getattr(names, "ids", names)
        assert frame["id"].tolist() == [names[i] for i in frame["item"]]
    for column in {"neighbor", "example", "medoid", "end", "match"} & set(frame):
        if f"{column}_id" in frame:
            of = more.get("other_ids", more.get("ids", X)).ids
            assert frame[f"{column}_id"].tolist() == [of[i] for i in frame[column]]
    polars = d2ke.frame(result, **{"ids": X, **more}, as_="polars")
    arrow = d2ke.frame(result, **{"ids": X, **more}, as_="pyarrow")
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(arrow, pa.Table)
    assert repr(polars.to_dict(as_series=False)) == repr(arrow.to_pydict())  # NaN too
    assert polars.columns == columns
    pd.testing.assert_frame_equal(frame, arrow.to_pandas(), check_dtype=False)


def test_values():
    indices, distances = d2ke.nearest(X, k=2, **LEVENSHTEIN)
    frame = d2ke.frame((indices, distances))
    assert frame["neighbor"].tolist() == indices.ravel().tolist()
    assert frame["distance"].tolist() == distances.ravel().tolist()
    graph = d2ke.within(X, radius=2, **LEVENSHTEIN)
    frame = d2ke.frame(graph)
    again = np.zeros_like(D)
    again[frame["item"], frame["neighbor"]] = frame["distance"]
    assert np.array_equal(again, graph.toarray())
    sets = d2ke.frame(np.array([[True, True, False], [False, False, True]]), model=THREE)
    assert sets["set"].tolist() == ["x|y", "z"]
    explained = d2ke.frame(d2ke.d2ke_explain(X[:1], MODEL))
    parts = explained[explained["part"].isin(["offset", "block"])]
    assert parts["share"].sum() == pytest.approx(d2ke.d2ke_explain(X[:1], MODEL).decision)


def test_results_join_back():
    table = pd.DataFrame({"name": X.ids, "text": list(X)}).sample(frac=1, random_state=0)
    packed = d2ke.pack(table.set_index("name")["text"])
    predicted = d2ke.frame(d2ke.d2ke_predict(None, packed, MODEL), packed)
    joined = table.merge(predicted, left_on="name", right_on="id")
    alone = [d2ke.d2ke_predict(None, [text], MODEL)[0][0] for text in joined["text"]]
    assert joined["predicted"].tolist() == alone
    by_index = table.set_index("name").join(predicted.set_index("id"))
    assert by_index["predicted"].notna().all()


def test_a_missing_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="as_='polars' needs polars: pip install polars"):
        d2ke.frame(np.ones(2), as_="polars")


def test_the_docs_have_the_columns():
    text = (Path(__file__).parent.parent / "docs" / "ids.md").read_text("utf-8")
    for _, columns, *_ in RESULTS.values():
        for name in columns.split(", "):
            assert re.search(rf"`{name.partition(' ')[0]}\b", text), name


def test_the_settings_of_a_search():
    tried = [({"k": 1, "length": (1, 3)}, 50.0), ({"k": 3, "loss": "x"}, 75.0)]
    frame = d2ke.frame(Search.best_of(tried))
    assert frame.to_dict("list") == {
        "k": [1, 3], "length": ["(1, 3)", ""], "loss": ["", "x"], "accuracy": [50.0, 75.0],
    }  # fmt: skip


def test_lazy_results():
    dask = pytest.importorskip("dask.array")
    for result in (dask.ones(3), (dask.ones(3), dask.ones(()), dask.ones((3, 1)))):
        with pytest.raises(TypeError, match=r"result is lazy; dask.compute\(result\) computes it"):
            d2ke.frame(result)
