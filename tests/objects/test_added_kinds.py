# SPDX-License-Identifier: BSD-3-Clause
"""A kind that a user adds is packed, compared, trained with, saved and explained by its name."""

import io

import numpy as np
import pytest

import d2ke
from d2ke.objects.kinds import KINDS, common_kind

random = np.random.default_rng(0)
PATHS = [f"{'ab'[i % 2]}/{i % 5}/{'xyz'[i % 3]}" for i in range(24)]
INTERVALS = [
    [(start, start + 1 + i % 2) for start in random.normal(size=3 + i % 4)] for i in range(24)
]
ROWS = {
    "paths": ("strings", lambda path: path.split("/"), PATHS, "levenshtein"),
    "intervals": ("sets", np.array, INTERVALS, "hausdorff"),
    "walks": ("series", lambda steps: np.cumsum(np.array(steps), 0), INTERVALS, "msm"),
}
Y = np.arange(24) % 2


@pytest.fixture(params=ROWS)
def row(request):
    like, read, items, distance = ROWS[request.param]
    d2ke.add_kind(request.param, read, like=like, distance=distance)
    return request.param, like, [read(item) for item in items], items


def test_packed_as_the_other_kind_and_named(row):
    name, like, plain, items = row
    packed, as_read = d2ke.pack(items, kind=name), d2ke.pack(plain, kind=like)
    assert (packed.kind, packed.base) == (name, like)
    assert name in repr(packed)
    assert d2ke.pack(packed, kind=like) == as_read
    with pytest.raises(TypeError, match=f"holds {like}, but {name} are needed"):
        d2ke.pack(as_read, kind=name)
    assert d2ke.concatenate([packed[:3], packed[3:]]) == packed
    assert d2ke.concatenate([packed, as_read]).kind == like
    distance = KINDS[name].distance
    D = d2ke.distance_matrix(packed)
    assert (d2ke.distance_matrix(as_read, distance=distance) == D).all()


def test_trained_saved_predicted_and_explained(row):
    name, like, plain, items = row
    model = d2ke.d2ke_train(Y, d2ke.pack(items, kind=name), R=16, seed=0)
    same = d2ke.d2ke_train(Y, d2ke.pack(plain, kind=like), distance=KINDS[name].distance, R=16)
    decisions = d2ke.d2ke_predict(None, items, model)[2]
    np.testing.assert_allclose(decisions, d2ke.d2ke_predict(None, plain, same)[2], atol=1e-6)
    file = io.BytesIO()
    d2ke.save_model(file, model)
    loaded = d2ke.load_model(io.BytesIO(file.getvalue()))
    assert (d2ke.d2ke_predict(None, items, loaded)[2] == decisions).all()
    assert name in str(model) or like != "strings"
    explanation = d2ke.d2ke_explain(items[0], model)
    assert abs(explanation.decision) == pytest.approx(abs(decisions[0, 0]), abs=1e-5)
    with pytest.raises(TypeError, match=f"holds {like}, but {name} are needed"):
        d2ke.d2ke_predict(None, d2ke.pack(plain, kind=like), model)
    del KINDS[name]
    with pytest.raises(ImportError, match=f"file holds {name}, a kind .* not known here"):
        d2ke.load_model(io.BytesIO(file.getvalue()))


def test_the_item_that_cannot_be_read_is_named(row):
    with pytest.raises((AttributeError, TypeError, ValueError)) as caught:
        d2ke.pack([*row[3][:2], object()], kind=row[0], name="x")
    assert "x[2]" in "".join([str(caught.value), *getattr(caught.value, "__notes__", ())])


def test_wrong_kinds_are_refused():
    with pytest.raises(ValueError, match="must be a new name"):
        d2ke.add_kind("series", list)
    with pytest.raises(TypeError, match="must be a function of one object"):
        d2ke.add_kind("trees", "levenshtein")
    with pytest.raises(TypeError, match="'dtw' is for series"):
        d2ke.add_kind("trees", list, distance="dtw")


def test_common_kind():
    assert common_kind(["series", "sets"]) == common_kind(["sets", "series"]) == "sets"
    assert common_kind(["strings", "strings"]) == "strings"


@pytest.mark.filterwarnings("ignore:little or nothing was learned")
def test_series_with_gaps_are_read_before_they_are_filled():
    d2ke.add_kind("falls", lambda steps: -np.array(steps), like="series")
    gaps = [np.where(random.random(9) < 0.1, np.nan, random.normal(size=9)) for _ in Y]
    packed = d2ke.pack(gaps, kind="falls", missing=True)
    model = d2ke.d2ke_train(Y, packed, R=8, distance="dtw", missing="interpolate")
    assert model.kind == "falls"
    assert (model.predict(gaps) == model.predict(packed)).all()


def test_weights_keep_the_kind():
    d2ke.add_kind("intervals", np.array, like="sets")
    d2ke.add_kind("walks", np.array, like="series")
    vectors, masses = [np.ones((3, 2)), np.ones((1, 2))], [np.ones(3), np.ones(1)]
    assert d2ke.pack(d2ke.pack(vectors, kind="intervals"), weights=masses).kind == "intervals"
    with pytest.raises(TypeError, match="which go with sets"):
        d2ke.pack(d2ke.pack(vectors, kind="walks"), kind="walks", weights=masses)


def test_files_estimators_and_cleaning(tmp_path):
    d2ke.add_kind("paths", ROWS["paths"][1])
    packed = d2ke.pack(PATHS, kind="paths")
    d2ke.io.save_mat(tmp_path / "x.mat", {"X": PATHS, "packed": packed})
    assert d2ke.io.load_objects(tmp_path / "x.mat", "X", kind="paths") == packed
    (tmp_path / "x.txt").write_text("\n".join(PATHS), "utf-8")
    assert d2ke.io.read_objects(tmp_path / "x.txt", kind="paths")[0] == packed
    estimators = pytest.importorskip("d2ke.estimators")
    classifier = estimators.D2KEClassifier(R=16).fit(packed, Y)
    assert (classifier.predict(PATHS) == classifier.predict(packed)).all()
    names = {"name": ["Anna", "anna", "Bert"]}
    d2ke.add_kind("names", str)
    for column in (names["name"], d2ke.pack(names["name"], kind="names")):
        found = d2ke.dedupe({"name": column}, radius={"name": 0}, clean=("case",))
        assert len(set(found.labels.tolist())) == 2


def test_kinds_like_added_ones_and_distances_without_alignment():
    d2ke.add_kind("paths", ROWS["paths"][1])
    d2ke.add_kind("addresses", lambda address: address.split("://")[1], like="paths")
    assert d2ke.pack(["http://a/b"], kind="addresses")[0] == ["a", "b"]
    d2ke.add_kind("names", str, distance="jaro_winkler")
    pair = d2ke.pack(["Anna", "Hanna"], kind="names")
    with pytest.raises(ValueError, match="'jaro_winkler' has no alignment"):
        d2ke.align(pair[:1], pair[1:])
