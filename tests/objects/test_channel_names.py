# SPDX-License-Identifier: BSD-3-Clause
"""Names of channels: whatever the container, two collections with names are compared by name."""

import io
import pickle

import numpy as np
import pytest

import d2ke
from d2ke.io import read_objects

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
xr = pytest.importorskip("xarray")

rng = np.random.default_rng(0)
Y = np.arange(24) % 2
# u rises in one class and falls in the other; v is noise of another scale.
ARRAYS = [np.column_stack([np.linspace(-1, 1, 6) * (2 * y - 1), 5 * rng.normal(size=6)]) for y in Y]
NAMES, SWAPPED, OTHER = ["u", "v"], ["v", "u"], ["u", "w"]


def columns(array, names):
    """Return the columns of an object under names: the data of u and v stay with these."""
    held = {"u": array[:, 0], "v": array[:, 1], "w": array[:, 1]}
    return {name: held[name] for name in names}


def long_table(names):
    parts = [
        pd.DataFrame({"id": f"s{i}", "t": np.arange(len(a)), **columns(a, names)})
        for i, a in enumerate(ARRAYS)
    ]
    return pd.concat(parts)


def structs(names):
    """Return lists of structs, as an Arrow array."""
    values = [pd.DataFrame(columns(a, names)).to_dict("records") for a in ARRAYS]
    return pa.array(values, pa.list_(pa.struct([(name, pa.float64()) for name in names])))


def data_array(names):
    values = np.stack([np.column_stack(list(columns(a, names).values())) for a in ARRAYS])
    return xr.DataArray(values, dims=("object", "time", "channel"), coords={"channel": names})


def file(make):
    """Return the objects of a file that a function writes."""

    def read(names, folder):
        path = make(long_table(names), folder)
        return read_objects(path, ids="id", time="t").objects

    return read


def written(method, name):
    def make(table, folder):
        getattr(table, method)(folder / name)
        return folder / name

    return make


def parquet_lists(names, folder):
    """Return the objects of a Parquet file of lists, as `to_arrow` names their channels."""
    table = pa.table({"x": d2ke.pack([pd.DataFrame(columns(a, names)) for a in ARRAYS]).to_arrow()})
    pq.write_table(table, folder / "lists.parquet", row_group_size=7)
    return d2ke.io.ParquetObjects(folder / "lists.parquet").span(0, len(ARRAYS))


CONTAINERS = {
    "pandas": lambda names, _: [pd.DataFrame(columns(a, names)) for a in ARRAYS],
    "polars": lambda names, _: [pl.DataFrame(columns(a, names)) for a in ARRAYS],
    "pyarrow": lambda names, _: [pa.table(columns(a, names)) for a in ARRAYS],
    "batches": lambda names, _: [pa.RecordBatch.from_pydict(columns(a, names)) for a in ARRAYS],
    "structured": lambda names, _: [
        pd.DataFrame(columns(a, names)).to_records(index=False).view(np.ndarray) for a in ARRAYS
    ],
    "xarray": lambda names, _: data_array(names),
    "xarrays": lambda names, _: [x.drop_vars("object", errors="ignore") for x in data_array(names)],
    "transposed": lambda names, _: [x.transpose("channel", "time") for x in data_array(names)],
    "structs": lambda names, _: structs(names),
    "polars structs": lambda names, _: pl.Series(structs(names)),
    "long table": lambda names, _: d2ke.pack(long_table(names), ids="id", time="t"),
    "long polars": lambda names, _: d2ke.pack(
        pl.from_pandas(long_table(names)), ids="id", time="t"
    ),
    "csv": file(written("to_csv", "long.csv")),
    "parquet": file(written("to_parquet", "long.parquet")),
    "parquet lists": parquet_lists,
}


def same(distances):
    return np.allclose(np.diagonal(distances), 0) and np.count_nonzero(distances > 1e-9) > 0


def points(X):
    """Return all vectors of a collection as one frame."""
    X = X if isinstance(X, d2ke.Objects) else d2ke.pack(X)
    return pd.DataFrame(X.values, columns=X.channel_names)


MODEL = {}


def model_of(X):
    if "model" not in MODEL:
        MODEL["model"] = d2ke.d2ke_train(Y, CONTAINERS["pandas"](NAMES, None), R=32, groups="none")
    return MODEL["model"]


def predicts(predict):
    """Return whether a function of objects and a model gives the same for X and for Y."""

    def door(X, Y):
        model = model_of(X)
        stream = io.BytesIO()
        d2ke.save_model(stream, model)
        loaded = d2ke.load_model(io.BytesIO(stream.getvalue()))
        return np.allclose(predict(X, model), predict(Y, loaded))

    return door


def classifier(X, Y_):
    from d2ke.estimators import DistanceKNeighborsClassifier

    fitted = DistanceKNeighborsClassifier(distance="dtw").fit(X, Y)
    return (fitted.predict(Y_) == Y).all()


def transformer(X, Y_):
    from d2ke.estimators import D2KETransformer

    fitted = D2KETransformer(R=32, random_state=0).fit(X)
    return np.allclose(fitted.transform(X), fitted.transform(Y_))


def records(X, Y_):
    X, Y_ = ({"s": x if isinstance(x, d2ke.Objects) else d2ke.pack(x)} for x in (X, Y_))
    return all(
        same(d2ke.distance_matrix(X, Y_, distance={"s": distance}))
        for distance in ("dtw", lambda x, y: np.abs(x - y)[:, 0].max())
    )


def linear(train):
    """Return whether a linear model gives the same for the vectors of X and of Y."""

    def door(X, Y_):
        model = train(np.repeat(Y, 6), points(X))
        stream = io.BytesIO()
        d2ke.save_model(stream, model)
        loaded = d2ke.load_model(io.BytesIO(stream.getvalue()))
        first, second = (d2ke.predict(None, points(Z), m)[2] for Z, m in ((X, model), (Y_, loaded)))
        return np.allclose(first, second)

    return door


def discriminative(fit):
    """Return whether labels of new points are the same for X and for Y."""

    def door(X, Y_):
        result = fit(points(X))
        first, second = (d2ke.discriminative_predict(result, points=points(Z)) for Z in (X, Y_))
        return np.array_equal(first, second)

    return door


DOORS = {
    "cdsk": discriminative(lambda P: d2ke.cdsk(points=P, n_clusters=2, h=1.0)),
    "lpdsk": discriminative(
        lambda P: d2ke.lpdsk(points=P, y=np.where(np.arange(144) % 3, -1, np.repeat(Y, 6)), h=1.0)
    ),
    "gaussian_gram": lambda X, Y: np.allclose(
        d2ke.discriminative.gaussian_gram(points(X), points(Y), h=1.0),
        d2ke.discriminative.gaussian_gram(points(X), points(X), h=1.0),
    ),
    "train": linear(d2ke.train),
    "least squares": linear(d2ke.train_least_squares),
    "distance_matrix": lambda X, Y: same(d2ke.distance_matrix(X, Y, distance="dtw")),
    "sets": lambda X, Y: same(d2ke.distance_matrix(X, Y, distance="mhd")),
    "nearest": lambda X, Y: (d2ke.nearest(Y, X, k=1, distance="dtw")[1] < 1e-6).all(),
    "within": lambda X, Y: (
        d2ke.within(X, Y, radius=0.01, distance="dtw").nnz >= len(ARRAYS)
    ),
    "nearest_windows": lambda X, Y: (
        d2ke.nearest_windows(X, _objects(Y)[3:4], normalize=False)[2][0] < 1e-9
    ),
    "window_profile": lambda X, Y: (
        d2ke.window_profile(_objects(X), 2, Y=_objects(Y), normalize=False).distances[0][0] < 1e-9
    ),
    "embed": lambda X, Y: np.allclose(
        d2ke.d2ke_embed(Y, X, distance="dtw", gamma=0.1),
        d2ke.d2ke_embed(X, X, distance="dtw", gamma=0.1),
    ),
    "kernel_distance": lambda X, Y: d2ke.kernel_distance(points(X), points(Y), sigma=1.0) < 1e-6,
    "kernel_distance_matrix": lambda X, Y: same(d2ke.kernel_distance_matrix(X, Y, sigma=1.0)),
    "kernel_align": lambda X, Y: (
        d2ke.kernel_align(
            points(X)[:6], points(Y)[:6], sigma=1.0, motion="translation"
        ).distance_before < 1e-6
    ),
    "two_sample": lambda X, Y: (
        d2ke.kernel_two_sample_test(points(X), points(Y), n_permutations=20, sigma=1.0).p_value
        > 0.5
    ),
    "predict": predicts(lambda X, model: d2ke.d2ke_predict(None, X, model)[2]),
    "transform": predicts(lambda X, model: d2ke.d2ke_transform(X, model)),
    "novelty": predicts(lambda X, model: d2ke.novelty(X, model)),
    "kneighbors": classifier,
    "transformer": transformer,
    "function": lambda X, Y: same(
        d2ke.distance_matrix(X, Y, distance=lambda x, y: np.abs(x - y)[:, 0].max())
    ),
    "barycenter": lambda X, Y: np.allclose(
        d2ke.barycenter(X, initial=_objects(Y)[[2]], max_iter=0).distances,
        d2ke.barycenter(X, initial=_objects(X)[[2]], max_iter=0).distances,
    ),
    "records": records,
}  # fmt: skip


def _objects(X):
    return X if isinstance(X, d2ke.Objects) else d2ke.pack(X)


FIRST = CONTAINERS["pandas"](NAMES, None)


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_has_names(container, tmp_path):
    packed = _objects(CONTAINERS[container](SWAPPED, tmp_path))
    assert packed.channel_names == ("v", "u")
    assert [x.tolist() for x in packed] == [a[:, ::-1].tolist() for a in ARRAYS]


@pytest.mark.parametrize("container", CONTAINERS)
def test_containers_meet_by_name(container, tmp_path):
    X = CONTAINERS[container](SWAPPED, tmp_path)
    assert same(d2ke.distance_matrix(FIRST, X, distance="dtw"))
    model = model_of(FIRST)
    wanted = d2ke.d2ke_predict(None, FIRST, model)[2]
    np.testing.assert_allclose(d2ke.d2ke_predict(None, X, model)[2], wanted, atol=1e-9)
    with pytest.raises(ValueError, match=r"has the channels 'u', 'w', but .* has 'u', 'v'"):
        d2ke.d2ke_predict(None, CONTAINERS[container](OTHER, tmp_path), model)


@pytest.mark.filterwarnings("ignore:24 of 24 objects are more than")
@pytest.mark.parametrize("door", DOORS)
def test_doors(door):
    def make(names):
        return _objects(CONTAINERS["pandas"](names, None))

    compare = DOORS[door]
    assert compare(make(NAMES), make(SWAPPED))
    with pytest.raises(ValueError, match=r"has the channels 'u', '[vw]', but .* has 'u', '[vw]'"):
        compare(make(NAMES), make(OTHER))
    # One side without names goes by position: u and v are then other numbers.
    without = d2ke.pack(ARRAYS)
    assert compare(make(NAMES), without)
    swapped = d2ke.pack([array[:, ::-1] for array in ARRAYS])
    assert not compare(make(NAMES), swapped)


def test_items_of_one_list_are_matched_by_name():
    frames = CONTAINERS["pandas"](NAMES, None)
    frames[1], frames[4] = frames[1][SWAPPED], pl.DataFrame(frames[4][SWAPPED])
    assert d2ke.pack(frames) == d2ke.pack(FIRST)
    assert d2ke.pack([ARRAYS[0], *frames[1:]]).channel_names == ("v", "u")
    assert d2ke.pack([x.T for x in frames[:2]], channels_first=True) == d2ke.pack(FIRST[:2])
    with pytest.raises(ValueError, match=r"items\[2\] has the channels 'u', 'w', but items\[0\]"):
        d2ke.pack([*frames[:2], frames[2].rename(columns={"v": "w"})])
    by_number = [pd.DataFrame(ARRAYS[0]), pd.DataFrame(ARRAYS[1])[[1, 0]]]
    assert d2ke.pack(by_number) == d2ke.pack(ARRAYS[:2])  # the default names are none
    with pytest.raises(ValueError, match=r"items\[0\] has two channels called 'u'"):
        d2ke.pack([pd.DataFrame(ARRAYS[0], columns=["u", "u"])])


ROUND_TRIPS = {
    "pickle": lambda X: pickle.loads(pickle.dumps(X)),
    "slice": lambda X: d2ke.concatenate([X[:5], X[[5]], X[np.arange(24) > 5]]),
    "span": lambda X: d2ke.concatenate([X.span(0, 5), X.span(5, 24)]),
    "pack": lambda X: d2ke.pack(X, ids=range(24)),
    "join": lambda X: d2ke.concatenate([X[:3], d2ke.pack(CONTAINERS["pandas"](SWAPPED, 0))[3:]]),
    "join without": lambda X: d2ke.concatenate([d2ke.pack(ARRAYS[:3]), X[3:]]),
    "arrow": lambda X: d2ke.pack(X.to_arrow()),
    "constructor": lambda X: d2ke.Objects(
        X.kind, X.values, X.offsets, channel_names=X.channel_names
    ),
    "sets": lambda X: d2ke.pack(d2ke.pack(X, kind="sets").to_arrow()),
    "views": lambda X: d2ke.models.views.part(X),
}


@pytest.mark.parametrize("way", ROUND_TRIPS)
def test_names_travel(way):
    X = d2ke.pack(FIRST)
    assert ROUND_TRIPS[way](X) == X
    assert d2ke.pack(ARRAYS) != X


def test_views_and_samplers_keep_names():
    from d2ke.models import views

    X = d2ke.pack(FIRST)
    for made in (
        views.difference(X), views.standardize(X), views.square_root(X), views.centre(X),
        d2ke.samplers.segments(3, X, length=2, seed=0), d2ke.samplers.noise(3, X, seed=0),
        d2ke.samplers.resampled(3, X, seed=0), d2ke.samplers.training_objects(3, X, seed=0)[0],
        d2ke.samplers.random_series(3, length=4, X=X, seed=0),
    ):  # fmt: skip
        assert made.channel_names == ("u", "v")


def test_a_damaged_name_is_refused():
    X = d2ke.pack(FIRST)
    for names in (("u",), ("u", "u"), ("u", 1), ()):
        with pytest.raises(ValueError, match="channel_names must"):
            d2ke.Objects(X.kind, X.values, X.offsets, channel_names=names)


def test_random_objects_of_a_file(tmp_path):
    X, swapped = d2ke.pack(FIRST), d2ke.pack(CONTAINERS["pandas"](SWAPPED, 0))
    d2ke.write_features(tmp_path / "z.h5", X, X[:4], distance="dtw", gamma=0.1)
    with d2ke.io.open_features(tmp_path / "z.h5") as store:
        Z, omega = store.read(), store.omega()
    np.testing.assert_allclose(d2ke.d2ke_embed(swapped, omega, distance="dtw", gamma=0.1), Z)


def test_columns_of_records():
    def table(names):
        tracks = CONTAINERS["pandas"](names, None)
        return {"track": tracks, "word": ["ab" * (i % 3 + 1) for i in range(len(tracks))]}

    model = d2ke.d2ke_train(Y, table(NAMES), R=32, groups="none")
    wanted = d2ke.d2ke_predict(None, table(NAMES), model)[2]
    np.testing.assert_allclose(d2ke.d2ke_predict(None, table(SWAPPED), model)[2], wanted, atol=1e-9)
    with pytest.raises(ValueError, match=r"X\['track'\] has the channels 'u', 'w', but"):
        d2ke.d2ke_predict(None, table(OTHER), model)
    chosen = {"track": "dtw"}
    assert same(d2ke.distance_matrix(table(NAMES), table(SWAPPED), distance=chosen))
    for distance in ("dtw", lambda x, y: np.abs(x - y)[:, 0].max()):
        chosen = {"track": distance}
        found = d2ke.link(table(NAMES), table(SWAPPED), distance=chosen, radius=0.01)
        assert len(found.pairs) >= len(ARRAYS)


def test_partitions_of_dask():
    pytest.importorskip("dask")
    import dask

    import d2ke.dask

    def parts(second):
        halves = FIRST[:12], CONTAINERS["pandas"](second, None)[12:]
        return [dask.delayed(half) for half in halves]

    with dask.config.set(scheduler="synchronous"):
        wanted = d2ke.dask.d2ke_train(Y, parts(NAMES), R=16, groups="none")
        model = d2ke.dask.d2ke_train(Y, parts(SWAPPED), R=16, groups="none")
        with pytest.raises(ValueError, match="has the channels 'u', 'w', but another partition"):
            d2ke.dask.d2ke_train(Y, parts(OTHER), R=16, groups="none")
    decisions = [d2ke.d2ke_predict(None, FIRST, m)[2] for m in (wanted, model)]
    np.testing.assert_allclose(*decisions)


def by_polars(table):
    return pl.DataFrame({name: table[name].tolist() for name in table})


@pytest.mark.parametrize("left", ["__index_level_0__", "Unnamed: 0", "unnamed: 0.1", ""])
@pytest.mark.parametrize("read", [pd.DataFrame, by_polars, pa.Table.from_pandas])
def test_an_index_that_was_written_is_no_channel(left, read):
    table = long_table(NAMES).reset_index(drop=True)
    table.insert(0, left, np.arange(len(table)))
    assert d2ke.pack(read(table), ids="id", time="t") == d2ke.pack(FIRST)


def test_a_named_index_of_a_frame_is_no_channel():
    table = long_table(NAMES).reset_index(drop=True).rename_axis("row")[::-1]
    packed = d2ke.pack(pa.Table.from_pandas(table), ids="id", time="t")
    assert packed[::-1] == d2ke.pack(FIRST)


@pytest.mark.parametrize("name", ["label", "Class", "TARGET", "y", "yield"])
def test_labels_and_targets_are_a_question(name, tmp_path):
    table = long_table(NAMES)
    number = table["id"].str[1:].astype(int)
    table[name] = (number % 2 if name != "yield" else 1.5 * number).astype(float)
    option = rf"'{name}' may hold labels or targets.* channels=\['u', 'v'\] leaves it out"
    with pytest.raises(ValueError, match=option):
        d2ke.pack(table, ids="id", time="t")
    assert d2ke.pack(table, ids="id", time="t", channels=NAMES) == d2ke.pack(FIRST)
    assert d2ke.pack(table, ids="id", time="t", channels=[*NAMES, name]).dim == 3
    table["species"] = "ab"
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ValueError, match=rf"objects must name .*'{name}' may hold"):
        read_objects(tmp_path / "t.csv", ids="id", time="t", labels="species")
    held = read_objects(tmp_path / "t.csv", ids="id", time="t", labels="species", objects=NAMES)
    assert held.objects == d2ke.pack(FIRST)


def test_what_is_no_question():
    table = long_table(NAMES)
    xy = table.rename(columns={"u": "x", "v": "y"})
    assert d2ke.pack(xy, ids="id", time="t").channel_names == ("x", "y")
    alone = d2ke.pack(table[["id", "t", "u"]].rename(columns={"u": "y"}), ids="id", time="t")
    assert alone.channel_names == ("y",)
    assert d2ke.pack(table.assign(zero=0.0), ids="id", time="t").dim == 3
    with pytest.raises(ValueError, match="channels must name one of the columns"):
        d2ke.pack(table, ids="id", time="t", channels=["x"])
    with pytest.raises(TypeError, match="channels must be names of columns"):
        d2ke.pack(table, ids="id", time="t", channels="u")


WORDS = pd.Series(["aab", "bba"] * 12, index=[f"w{i}" for i in range(24)])
CODES = np.arange(24) % 2
SHUFFLED = np.random.default_rng(1).permutation(24)
ALIGNED = pd.Series(CODES, index=WORDS.index)
D = pd.DataFrame(np.ones((3, 24)), columns=WORDS.index)
POINTS = pd.DataFrame({"a": CODES * 3.0 + np.arange(24) / 24}, index=WORDS.index)
SUPERVISED = {
    "train": lambda y: d2ke.d2ke_train(y, WORDS, R=16),
    "weights": lambda y: d2ke.d2ke_train(CODES, WORDS, R=16, sample_weight=y + 1.0),
    "groups": lambda y: d2ke.d2ke_train(CODES, WORDS, R=16, groups=y),
    "ids": lambda y: d2ke.d2ke_train(y, d2ke.pack(WORDS), R=16),
    "classifier": lambda y: d2ke.estimators.D2KEClassifier(R=16).fit(WORDS, y),
    "neighbors": lambda y: d2ke.estimators.DistanceKNeighborsClassifier().fit(WORDS, y),
    "knn_predict": lambda y: d2ke.knn_predict(y, D),
    "lpdsk": lambda y: d2ke.lpdsk(points=POINTS, h=1.0, y=y, unknown=-1),
    "train of features": lambda y: d2ke.train(y, POINTS),
    "least squares": lambda y: d2ke.train_least_squares(y, POINTS),
    "predict": lambda y: d2ke.d2ke_predict(y, WORDS, d2ke.d2ke_train(CODES, WORDS, R=16)),
}


@pytest.mark.filterwarnings("ignore:little or nothing was learned")
@pytest.mark.parametrize("door", SUPERVISED)
def test_labels_in_another_order_are_refused(door):
    import d2ke.estimators  # noqa: F401

    run = SUPERVISED[door]
    array = ALIGNED.to_numpy()
    for y in (
        ALIGNED,
        ALIGNED.array,
        array,
        ALIGNED.reset_index(drop=True),
        ALIGNED.add_prefix("x"),
    ):
        run(y)
    with pytest.raises(ValueError, match=r"in another order: \w+\.loc\[\w+\.(index|ids|columns)\]"):
        run(ALIGNED.iloc[SHUFFLED])


def test_a_default_index_names_nothing():
    shuffled = WORDS.reset_index(drop=True).iloc[SHUFFLED]
    d2ke.d2ke_train(pd.Series(CODES[SHUFFLED]), shuffled, R=16)
    with pytest.raises(ValueError, match=r"y\.loc\[X\.index\]"):
        d2ke.d2ke_train(pd.Series(CODES)[SHUFFLED[::-1]], shuffled, R=16)
