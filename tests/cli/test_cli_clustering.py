# SPDX-License-Identifier: BSD-3-Clause
"""The commands `d2ke cluster` and `d2ke propagate`."""

import os
import re

import h5py
import numpy as np
import pytest
from command_cases import rows
from scipy.spatial.distance import cdist
from test_cli import BAR, hide

import d2ke
from d2ke.cli.clustering import matched
from d2ke.cli.main import main
from d2ke.cli.matrix_files import read_labels
from d2ke.cli.similarities import Similarities
from d2ke.io import save_mat
from d2ke.plots.maps import coordinates

GROUPS = np.repeat([0, 1, 2], 10)


def points():
    return (
        np.random.default_rng(0).normal(size=(30, 2))
        + 8 * np.array([[1, 0, 0], [0, 0, 1]]).T[GROUPS]
    )


@pytest.fixture
def gram():
    return d2ke.discriminative.gaussian_gram(points(), h=2.0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(K, file="K.csv", header=""):
    np.savetxt(file, K, delimiter=",", header=header, comments="", fmt="%.17g")
    return file


def done(capsys, *arguments):
    """Run a command that succeeds, and return its lines."""
    status = main([str(one) for one in arguments])
    out, err = capsys.readouterr()
    assert (status, err) == (0, "")
    assert not BAR.search(out)
    return out.splitlines()


def same_groups(labels, groups=GROUPS):
    return d2ke.discriminative.clustering_accuracy(groups, labels) == 1.0


# ---------------------------------------------------------------- inputs


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".mat", "7.3.mat", ".h5", ".hdf5"])
@pytest.mark.parametrize("form", ["gram", "distances", "features", "points"])
def test_files(capsys, folder, gram, form, suffix):
    X = points()
    matrix = {
        "gram": gram,
        "distances": np.linalg.norm(X[:, None] - X, axis=2),
        "features": np.exp(-np.linalg.norm(X[:, None] - X, axis=2) / 8),
        "points": X,
    }[form]
    file = f"m{suffix}"
    if suffix in (".csv", ".tsv", ".txt"):
        separator = {".csv": ";", ".tsv": "\t", ".txt": " "}[suffix]
        np.savetxt(file, matrix, delimiter=separator)
    elif suffix.endswith(".mat"):
        save_mat(file, {"M": matrix, "note": "text"}, version="7.3" if "7.3" in suffix else "5")
    else:
        with h5py.File(file, "w") as store:
            store["group/M"] = matrix
            store["y"] = GROUPS
    lines = done(capsys, "cluster", file, "--as", form, "--n-clusters", 3, "--out", "c.csv")
    assert file in lines[0]
    assert "sizes: 0: 10, 1: 10, 2: 10" in lines
    assert lines[-1] == "result: c.csv"
    assert same_groups([row["cluster"] for row in rows("c.csv")])


def test_result_is_that_of_cdsk(capsys, folder, gram):
    options = {"lam": 20.0, "variant": "relaxed", "trace_weight": 0.3, "seed": 5}
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    done(capsys, "cluster", write(gram), "--n-clusters", 4, *arguments, "--out", "c.csv")
    done(capsys, "cluster", "K.csv", "--n-clusters", 4, *arguments, "--out", "c.h5")
    found = d2ke.cdsk(gram, 4, **options)
    table = rows("c.csv")
    assert list(table[0]) == ["item", "cluster", "alpha"]
    assert [int(row["item"]) for row in table] == list(range(30))
    assert [int(row["cluster"]) for row in table] == found.labels.tolist()
    assert [float(row["alpha"]) for row in table] == found.alpha.tolist()
    with h5py.File("c.h5") as store:
        assert sorted(store) == ["alpha", "cluster", "item"]
        assert (store["cluster"][()] == found.labels).all()
        assert (store["alpha"][()] == found.alpha).all()
    assert sorted(os.listdir()) == ["K.csv", "c.csv", "c.h5"]


def test_distances_become_exp(capsys, folder):
    D = np.abs(points()[:, None, 0] - points()[None, :, 0]).round(3)
    lines = done(
        *(capsys, "cluster", write(D), "--as", "distances", "--gamma", 0.25, "--n-clusters", 2),
        *("--out", "c.csv"),
    )
    assert "K = exp(-gamma d), gamma 0.25" in lines[0]
    found = d2ke.cdsk(np.exp(-0.25 * D), 2)
    assert [float(row["alpha"]) for row in rows("c.csv")] == found.alpha.tolist()


@pytest.mark.parametrize("form", ["points", "distances"])
def test_widths_are_chosen(capsys, folder, form):
    X = points()
    values = X if form == "points" else np.linalg.norm(X[:, None] - X, axis=2)
    file = ("K.h5", "--variable", "M", "--as", form)
    with h5py.File("K.h5", "w") as store:
        store["M"] = values
    lines = done(capsys, "cluster", *file, "--n-clusters", 3, "--out", "c.csv")
    found = d2ke.cdsk(n_clusters=3, **{form: values})
    width = "similarities of near neighbours; common width h = {:.4g}, chosen"
    assert lines[1] == width.format(found.h)
    assert [int(row["cluster"]) for row in rows("c.csv")] == found.labels.tolist()
    assert [float(row["alpha"]) for row in rows("c.csv")] == found.alpha.tolist()
    y = np.where(np.arange(30) % 10 < 2, GROUPS, -1)
    (folder / "y.txt").write_text("\n".join(map(str, y)), "utf-8")
    lines = done(capsys, "propagate", *file, "--labels", "y.txt", "--out", "p.csv")
    found = d2ke.lpdsk(y=y, **{form: values})
    assert width.format(found.h) in lines
    assert [int(row["label"]) for row in rows("p.csv")] == found.labels.tolist()


@pytest.mark.parametrize("form", ["points", "distances"])
def test_map_of_chosen_widths(form):
    X = points()
    values = X if form == "points" else np.linalg.norm(X[:, None] - X, axis=2)
    data = Similarities("X", **{form: values})
    places = coordinates(**data.for_map())
    centres = np.array([places[group == GROUPS].mean(axis=0) for group in range(3)])
    own = np.linalg.norm(places[:, None] - centres, axis=2)
    assert (own.argmin(axis=1) == GROUPS).all()


def test_header_is_left_out(capsys, folder, gram):
    names = ",".join(f"item{i}" for i in range(30))
    lines = done(capsys, "cluster", write(gram, header=names), "--n-clusters", 3)
    assert lines[0] == "K.csv: similarities of 30 objects"


def test_labels_in_several_forms_stay_apart(folder):
    (folder / "y.txt").write_text('1\n01\n-0\n"a\n"b"\n', "utf-8")
    assert read_labels("y.txt", None).tolist() == ["1", "01", "-0", '"a', "b"]
    (folder / "y.txt").write_text("1\n\n-20\n0\n", "utf-8")
    assert str(read_labels("y.txt", None).tolist()) == "[1.0, nan, -20.0, 0.0]"


def test_labels_of_a_mat_file(capsys, folder):
    names = np.array(["ant", "bee", "cat"], dtype=object)[GROUPS].reshape(-1, 1)
    save_mat("p.mat", {"X": points(), "y": GROUPS.reshape(-1, 1), "names": names})
    for labels in ("y", "names"):
        arguments = ("p.mat", "--variable", "X", "--as", "points", "--labels", labels)
        lines = done(capsys, "cluster", *arguments, "--out", "c.csv")
        assert "accuracy 100.00 %, NMI 1.000 on the 30 labelled objects" in lines
        expected = names.ravel() if labels == "names" else GROUPS.astype(str)
        assert [row["label"] for row in rows("c.csv")] == expected.tolist()
    lines = done(capsys, "propagate", *arguments, "--labeled", 2)
    assert "given: labels of 6 objects of 3 classes" in lines
    assert "sizes: ant: 10, bee: 10, cat: 10" in lines
    assert "accuracy 100.00 %, NMI 1.000 on the 24 other objects with known labels" in lines


@pytest.mark.parametrize("kind", ["integers", "strings"])
@pytest.mark.parametrize("out", ["p.csv", "p.h5"])
def test_some_labels(capsys, folder, gram, kind, out):
    labels = [""] * 30
    names = ["7", "8", "9"] if kind == "integers" else ["ant", "bee", "cat"]
    for item in (0, 10, 20):
        labels[item] = names[GROUPS[item]]
    (folder / "y.txt").write_text("\n".join(labels) + "\n", "utf-8")
    lines = done(capsys, "propagate", write(gram), "--labels", "y.txt", "--out", out)
    assert not any("accuracy" in line for line in lines)
    if out == "p.csv":
        table = rows(out)
        assert list(table[0]) == ["item", "label", "given", "score", "alpha", "known"]
        found = [row["label"] for row in table]
        given = [int(row["given"]) for row in table]
        assert all(0 < float(row["score"]) <= 1 for row in table)
    else:
        with h5py.File(out) as store:
            assert sorted(store) == ["alpha", "given", "item", "known", "label", "score"]
            raw = store["label"][()]
            given = store["given"][()].tolist()
        found = [one.decode() if kind == "strings" else str(one) for one in raw.tolist()]
    assert found == [names[group] for group in GROUPS]
    assert np.flatnonzero(given).tolist() == [0, 10, 20]


def test_unreached_objects(capsys, folder):
    K = np.kron(np.eye(3), np.ones((10, 10))) + np.eye(30)
    (folder / "y.csv").write_text("\n".join(["1"] + [""] * 9 + ["2"] + [""] * 19) + "\n", "utf-8")
    lines = done(capsys, "propagate", write(K), "--labels", "y.csv", "--out", "p.csv")
    assert any(line.startswith("unreached: 10 objects") for line in lines)
    table = rows("p.csv")
    assert [row["label"] for row in table] == ["1"] * 10 + ["2"] * 10 + ["-1"] * 10
    assert [float(row["score"]) for row in table[20:]] == [0.0] * 10


# ---------------------------------------------------------------- data sets


DATA_SETS = {
    "digits": (
        "digits: 1797 strings over 8 letters, lengths 45 to 135; labels of 10 different values",
        "levenshtein",
    ),
    "japanese-vowels": (
        "japanese-vowels: 640 series of 12-dimensional vectors, float64, lengths 7 to 29; labels "
        "of 9 different values",
        "dtw",
    ),
}


@pytest.mark.parametrize("command", ["cluster", "propagate"])
@pytest.mark.parametrize(
    ("name", "low"),
    [("japanese-vowels", 60), pytest.param("digits", 45, marks=pytest.mark.slow)],
)  # chance is 18 and 10 %
def test_data_set_and_its_features(capsys, folder, command, name, low):
    pytest.importorskip("sklearn")
    made = [name, "--R", 64, "--threads", 2, "--save-features", "Z.h5"]
    more = ["--labeled", 10] if command == "propagate" else []
    lines = done(capsys, command, *made, *more, "--out", "a.csv")
    head, distance = DATA_SETS[name]
    assert lines[0] == head
    assert re.search(f"features: {distance} .* 64 of the objects; gamma .* = 5 / .median", lines[1])
    accuracy = next(line for line in lines if line.startswith("accuracy"))
    assert low < float(accuracy.split()[1]) < 95
    lines = done(capsys, command, "Z.h5", *more, "--out", "b.csv")
    n = 640 if name == "japanese-vowels" else 1797
    assert lines[0] == f"Z.h5: 64 features of {n} objects"
    assert rows("a.csv") == rows("b.csv")
    assert len(rows("a.csv")) == n


# ---------------------------------------------------------------- pictures


@pytest.mark.parametrize("command", ["cluster", "propagate"])
@pytest.mark.parametrize("n_classes", [3, 15])
def test_picture(capsys, folder, gram, command, n_classes):
    image = pytest.importorskip("matplotlib.image")
    y = GROUPS if n_classes == 3 else np.arange(30) // 2
    (folder / "y.txt").write_text("\n".join(map(str, y)), "utf-8")
    arguments = [command, write(gram), "--labels", "y.txt", "--picture", "map.png"]
    lines = done(capsys, *arguments, *(["--labeled", 1] if command == "propagate" else []))
    assert lines[-1] == "picture: map.png"
    pixels = image.imread("map.png")
    assert pixels.shape[0] == 630
    assert pixels.shape[1] > 1200  # two panels
    assert pixels[..., :3].std() > 0.05  # something is drawn


@pytest.mark.parametrize("form", ["gram", "points"])
def test_tree(capsys, folder, gram, form):
    image = pytest.importorskip("matplotlib.image")
    points = np.random.default_rng(0).standard_normal((30, 3)) + 5 * GROUPS[:, None]
    source = write(gram if form == "gram" else points)
    lines = done(capsys, "cluster", source, "--as", form, "--n-clusters", 3, "--tree", "tree.png")
    assert lines[-1] == "tree: tree.png"
    assert image.imread("tree.png")[..., :3].std() > 0.05


def test_distances_of_similarities():
    Z = np.random.default_rng(0).standard_normal((9, 3))
    some = np.array([0, 4, 5])
    wanted = cdist(Z[some], Z[some])
    for held in ({"K": Z @ Z.T}, {"features": Z}, {"points": Z}, {"distances": cdist(Z, Z)}):
        assert Similarities("", **held).distances_of(some) == pytest.approx(wanted, abs=1e-7)


def test_picture_needs_matplotlib(capsys, monkeypatch, folder, gram):
    hide(monkeypatch, "matplotlib")
    arguments = ["cluster", write(gram), "--n-clusters", "3"]
    assert main([*arguments, "--picture", "map.png"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert 'pip install "d2ke[demo]"' in err
    done(capsys, *arguments)  # without a picture there is no need for it


def test_result_is_written_before_the_picture(capsys, monkeypatch, folder, gram):
    def fail(*arguments):
        raise KeyboardInterrupt

    pytest.importorskip("matplotlib")
    monkeypatch.setattr("d2ke.cli.clustering.draw_maps", fail)
    arguments = ["--n-clusters", "3", "--out", "c.csv", "--picture", "map.png"]
    assert main(["cluster", write(gram), *arguments]) == 130
    assert len(rows("c.csv")) == 30
    assert sorted(os.listdir()) == ["K.csv", "c.csv"]


def test_map_is_kernel_pca(gram):
    scale = 1 / np.sqrt(gram.diagonal())
    centre = np.eye(30) - 1 / 30
    values, vectors = np.linalg.eigh(centre @ (scale[:, None] * gram * scale) @ centre)
    expected = vectors[:, :-3:-1] * np.sqrt(values[:-3:-1])
    found = coordinates(gram, None)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-8)
    Z = np.random.default_rng(2).random((30, 4))
    np.testing.assert_allclose(coordinates(None, Z), coordinates(Z @ Z.T, None), atol=1e-7)
    assert coordinates(np.eye(2), None).shape == (2, 2)


def test_clusters_have_the_colours_of_their_classes():
    labels, codes = np.array([0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, 0])
    assert matched(labels, codes).tolist() == [1, 0, 2]


def test_minus_one_and_one_are_two_classes(tmp_path, capsys):
    words = ["aaab", "aaba", "abaa", "aaaa", "bbbc", "bbcb", "bcbb", "bbbb"]
    rows = [f"{word},{-1 if 'a' in word else 1}" for word in words]
    (tmp_path / "words.csv").write_text("\n".join(["text,label", *rows, ""]), "utf-8")
    assert main(["cluster", str(tmp_path / "words.csv"), "--as", "objects"]) == 0
    text = capsys.readouterr().out
    assert "on the 8 labelled objects" in text
    assert "clusters: 2" in text


# ---------------------------------------------------------------- what is refused


# ---------------------------------------------------------------- Ctrl-C
