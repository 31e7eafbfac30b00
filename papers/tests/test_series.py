# SPDX-License-Identifier: BSD-3-Clause
"""The data sets of series beside Auslan."""

import csv
import io
import itertools
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import examples
from scipy.io import loadmat, savemat

from d2ke import distance_matrix
from papers.datasets import REGISTRY, load
from papers.datasets.actrecog import load_actrecog
from papers.datasets.files import find_files
from papers.datasets.pentip import load_pentip

# ---------------------------------------------------------------- alternatives of files


def test_alternative_files(tmp_path):
    def found(*wanted):
        others = {"a/x": ("a/y", "b/z")}
        source = replace(REGISTRY["gun-point"], files=wanted, alternatives=others)
        paths = find_files(source, tmp_path)
        return [path.relative_to(tmp_path).as_posix() for path in paths]

    with pytest.raises(FileNotFoundError, match=r"gun-point: x not found in .* take x out of it"):
        found("a/x")
    # Each is preferred to all that were made before it.
    for place in ("z", "b/z", "y", "a/y", "x", "a/x"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).touch()
        assert found("a/x") == [place]
        assert found("a/x", "a/x") == [place] * 2


# ---------------------------------------------------------------- pentip


def cell(items):
    """Return items as scipy writes a MATLAB cell of one row."""
    row = np.empty((1, len(items)), dtype=object)
    for i, item in enumerate(items):
        row[0, i] = item
    return row


LETTERS = (
    np.array([[0, 0, 0, 1, 0, 2, 0], [0, 0, 5, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0.0]]),
    np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
    np.array([[0, 0, 0], [0, 0, 0], [0, 0, 7]], dtype=np.int16),
)


def pentip_file(path, series=LETTERS, classes=(2, 1, 2), key=("a", "b"), original=True, **options):
    if original:
        constants = {"desc": "x", "key": cell(key), "charlabels": np.array([classes])}
        content = {"mixout": cell(series), "consts": constants}
    else:
        content = {"X": cell(series), "Y": np.array([classes]), "key": cell(key)}
    savemat(path, content, **options)
    return path


def test_pentip_content(data_dir):
    pentip, trimmed = (load(name, data_dir) for name in ("pentip", "pentip-trimmed"))
    assert (pentip.domain, pentip.distance, pentip.objects.dtype) == ("series", "dtw", np.float64)
    assert "".join(pentip.classes) == "abcdeghlmnopqrsuvwyz"
    content = loadmat(data_dir / "pentip" / "pentip_all_v5.mat")
    for i in (0, 1, 1429, 2857):
        series = content["X"][0, i]
        np.testing.assert_array_equal(pentip.objects[i], series.T)
        assert pentip.labels[i] == content["key"][0, content["Y"][0, i] - 1].item()
    assert np.array_equal(pentip.labels, trimmed.labels)
    for full, part in zip(pentip.objects, trimmed.objects, strict=True):
        moves = (full != 0).any(axis=1).tolist()
        start, stop = moves.index(True), len(moves) - moves[::-1].index(True)
        np.testing.assert_array_equal(part, full[start:stop])
        # What is said in the documentation: zeros in front and behind, none in between.
        assert start >= 3
        assert stop < len(full)
        assert all(moves[start:stop])


@pytest.mark.parametrize("original", [True, False])
@pytest.mark.parametrize("compressed", [True, False])
def test_pentip_small_file(tmp_path, original, compressed):
    path = pentip_file(tmp_path / "pentip_all_v5.mat", original=original, do_compression=compressed)
    objects, labels = load_pentip(path)
    assert labels.tolist() == ["b", "a", "b"]
    assert [series.tolist() for series in objects] == [series.T.tolist() for series in LETTERS]
    objects, labels = load_pentip(path, trim=True)
    assert labels.tolist() == ["b", "a", "b"]
    assert objects[0].tolist() == [[0, 5, 0], [1, 0, 0], [0, 0, 0], [2, 0, 0]]
    assert objects[1].tolist() == [[1, 3, 5], [2, 4, 6]]
    assert objects[2].tolist() == [[0, 0, 7]]
    with pytest.raises(ValueError, match=r"n_objects is 3 instead of 2858; n_classes is 2 instead"):
        load("pentip", tmp_path)


def test_pentip_other_files(tmp_path):
    path = tmp_path / "p.mat"
    savemat(path, {"xtrain": cell(LETTERS), "key": cell("ab")})
    with pytest.raises(ValueError, match=r"p.mat has neither .*, only: key, xtrain$"):
        load_pentip(path)
    content = pentip_file(path).read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"p\.mat"):
        load_pentip(path)


# ---------------------------------------------------------------- actrecog


def series_by_the_book(rows):
    """Cut one person's rows (strings) as the loader's documentation says, step by step."""
    result = []
    for label, run in itertools.groupby(rows, key=lambda row: row[4]):
        if float(label) == 0:
            continue
        steps = [[float(v) for v in row[1:4]] for i, row in enumerate(run) if i % 5 == 0]
        first = 0
        while True:
            result.append((int(label), steps[first : first + 151]))
            first += 150
            if first >= len(steps) - 1:
                break
    return result


@pytest.mark.slow
def test_actrecog_content(data_dir):
    dataset = load("actrecog", data_dir)
    assert (dataset.domain, dataset.distance, dataset.labels.dtype) == ("series", "dtw", np.int64)
    assert dataset.classes.tolist() == [1, 2, 3, 4, 5, 6, 7]
    # Person 1 comes first, 15 last.
    with zipfile.ZipFile(data_dir / "actrecog" / "chest_accelerometer.zip") as archive:
        people = [
            series_by_the_book(csv.reader(io.StringIO(archive.read(f"{i}.csv").decode())))
            for i in (1, 15)
        ]
    for first, expected in ((0, people[0]), (2624 - len(people[1]), people[1])):
        for i, (label, steps) in enumerate(expected, first):
            assert dataset.labels[i] == label
            assert dataset.objects[i].tolist() == steps


def table(*runs):
    """Return a table with runs of (label, rows); x is the row's number, y its label."""
    labels = [label for label, rows in runs for _ in range(rows)]
    return "".join(f"{i},{i},{label},-1.5,{label}\n" for i, label in enumerate(labels))


def actrecog_file(tmp_path, changed=None, *more, folder=""):
    """Write the tables of 15 persons, each with 7 rows of label 3 unless `changed`."""
    texts = dict.fromkeys(range(1, 16), table((3, 7))) | (changed or {})
    path = tmp_path / "chest_accelerometer.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in texts.items():
            if text is not None:
                archive.writestr(f"{folder}{name}.csv", text)
        for name, text in more:
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize(
    ("changed", "more", "problem"),
    [
        ({4: None}, [], "does not hold each of 1.csv to 15.csv once"),
        ({}, [("16.csv", "")], "does not hold each of 1.csv to 15.csv once"),
        ({}, [("x/2.csv", "")], "does not hold each of 1.csv to 15.csv once"),
        ({7: "0,1,2,3,1\n1,x,2,3,1\n"}, [], ": 7.csv: could not convert string 'x'"),
        ({7: "0,1,2,3,1\n1,1,2,3\n"}, [], ": 7.csv: the number of columns changed"),
        ({7: "0,1,nan,3,1\n"}, [], ": 7.csv is not a table of 5 columns of finite numbers"),
    ],
)
def test_actrecog_refused_archive(tmp_path, changed, more, problem):
    with pytest.raises(ValueError, match=rf"accelerometer\.zip.*{problem}"):
        load_actrecog(actrecog_file(tmp_path, changed, *more))


RUNS = st.lists(st.tuples(st.integers(0, 7), st.integers(1, 1600)), max_size=4)


@given(RUNS, RUNS)
@settings(max_examples=examples(60))
@example([(4, 751)], [(4, 756), (0, 1), (4, 1506)])
def test_actrecog_cuts(tmp_path_factory, first, last):
    texts = {1: table(*first, (2, 1)), 15: table(*last, (2, 1))}
    path = actrecog_file(
        tmp_path_factory.mktemp("tables"), texts, ("__MACOSX/Activity/._1.csv", "\0"), folder="a/"
    )
    objects, labels = load_actrecog(path)
    rows = [line.split(",") for line in texts[1].splitlines()]
    expected = series_by_the_book(rows)
    expected += [(3, [[0.0, 3.0, -1.5], [5.0, 3.0, -1.5]])] * 13
    expected += series_by_the_book([line.split(",") for line in texts[15].splitlines()])
    assert labels.tolist() == [label for label, _ in expected]
    assert [one.tolist() for one in objects] == [steps for _, steps in expected]


# ---------------------------------------------------------------- archives of UCR and UEA


def test_ucr_later_editions_have_other_names(data_dir, tmp_path):
    for part in ("TRAIN", "TEST"):
        text = (data_dir / "gunpoint" / f"Gun_Point_{part}").read_text("utf-8").replace(",", "\t")
        (tmp_path / f"GunPoint_{part}.tsv").write_text(text, "utf-8")
    assert load("gun-point", tmp_path).objects == load("gun-point", data_dir).objects


@pytest.mark.parametrize(
    ("name", "n_train", "published"),
    # 1-NN with the squared Euclidean DTW on the published division: error 0.093 of DTW without
    # window in the UCR archive's table, accuracies 0.949 and 0.975 of DTW_D in the UEA archive's.
    [
        ("gun-point", 50, 0.907),
        ("japanese-vowels", 270, 0.949),
        ("basic-motions", 40, 0.975),
    ],
)
def test_published_accuracy(data_dir, name, n_train, published):
    dataset = load(name, data_dir)
    assert REGISTRY[name].n_train == n_train
    train, test = dataset.split(seed=0)
    assert sorted(train) == list(range(n_train))
    X, y = dataset.objects[:n_train], dataset.labels[:n_train]
    D = distance_matrix(dataset.objects[n_train:], X, distance="dtw", ground="sqeuclidean")
    accuracy = np.mean(y[D.argmin(axis=1)] == dataset.labels[n_train:])
    assert accuracy == pytest.approx(published, abs=0.0006)
    assert sorted(test) == list(range(n_train, len(dataset.objects)))
