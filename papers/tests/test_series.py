# SPDX-License-Identifier: BSD-3-Clause
"""The data sets of series beside Auslan."""

import csv
import io
import itertools
import re
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from d2ke import distance_matrix
from papers.datasets import REGISTRY, load
from papers.datasets.actrecog import load_actrecog
from papers.datasets.files import find_files
from papers.datasets.pentip import load_pentip
from papers.datasets.ucr import load_ts, load_ucr

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


def test_pentip_padding_gives_the_letter_away(data_dir):
    """82 % and 31 % of the letters are told by the length, as the loader's documentation says."""
    for name, expected in (("pentip", 0.82), ("pentip-trimmed", 0.31)):
        dataset = load(name, data_dir)
        lengths = dataset.objects.lengths
        likeliest = 0
        for length in np.unique(lengths):
            _, counts = np.unique(dataset.labels[lengths == length], return_counts=True)
            likeliest += counts.max()
        assert likeliest / len(lengths) == pytest.approx(expected, abs=0.005)


def test_pentip_original_form_is_the_same_and_preferred(data_dir, tmp_path):
    content = loadmat(data_dir / "pentip" / "pentip_all_v5.mat")
    constants = {"charlabels": content["Y"].astype(float), "key": content["key"]}
    (tmp_path / "pentip").mkdir()
    original = tmp_path / "pentip" / "mixoutALL_shifted.mat"
    savemat(original, {"mixout": content["X"], "consts": constants})
    (tmp_path / "pentip" / "pentip_all_v5.mat").write_bytes(b"not to be read")
    expected = load("pentip", data_dir)
    dataset = load("pentip", tmp_path)
    assert dataset.objects == expected.objects
    assert np.array_equal(dataset.labels, expected.labels)


@pytest.mark.parametrize("original", [True, False])
@pytest.mark.parametrize("compressed", [True, False])
def test_pentip_small_file(tmp_path, original, compressed):
    path = pentip_file(tmp_path / "p.mat", original=original, do_compression=compressed)
    objects, labels = load_pentip(path)
    assert labels.tolist() == ["b", "a", "b"]
    assert [series.tolist() for series in objects] == [series.T.tolist() for series in LETTERS]
    objects, labels = load_pentip(path, trim=True)
    assert labels.tolist() == ["b", "a", "b"]
    assert objects[0].tolist() == [[0, 5, 0], [1, 0, 0], [0, 0, 0], [2, 0, 0]]
    assert objects[1].tolist() == [[1, 3, 5], [2, 4, 6]]
    assert objects[2].tolist() == [[0, 0, 7]]


def test_pentip_wrong_counts(tmp_path):
    pentip_file(tmp_path / "pentip_all_v5.mat")
    problem = "pentip-trimmed: .*n_objects is 3 instead of 2858; n_classes is 2 instead of 20; "
    with pytest.raises(ValueError, match=problem + r".*lengths is \(1, 4\) instead of \(60, 182\)"):
        load("pentip-trimmed", tmp_path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"series": (*LETTERS[:2], np.ones((2, 3)))}, r"[2] has the shape (2, 3) instead of (3, l"),
        ({"series": (*LETTERS[:2], np.ones((3, 0)))}, r"[2] has the shape (3, 0) instead of (3, l"),
        ({"series": (np.ones((3, 2), dtype=complex), *LETTERS[:2])}, "[0] holds no real numbers"),
        ({"series": ("abc", *LETTERS[:2])}, "[0] holds no real numbers"),
        (
            {"series": (*LETTERS[:2], np.where(np.arange(12.0).reshape(3, 4) == 6, np.nan, 1))},
            "[2] has nan at position (1, 2)",
        ),
        ({"classes": (2, 3, 1)}, "the class of series 1 is 3; the key has the classes 1 to 2"),
        ({"classes": (0, 2, 1)}, "the class of series 0 is 0"),
        ({"classes": (2, 1, 1.5)}, "the class of series 2 is 1.5"),
        ({"classes": (2, np.nan, 1)}, "the class of series 1 is nan"),
        ({"classes": (2, 1)}, "must be 3 integers, one for each series; got int64 of shape (1, 2)"),
        ({"key": ("a", 3.0)}, "key[1] is not a letter"),
        ({"key": ()}, "key is not a cell of one row"),
        ({"series": ()}, "is not a cell of one row"),
    ],
)
@pytest.mark.parametrize("original", [True, False])
def test_pentip_malformed_content(tmp_path, change, problem, original):
    path = pentip_file(tmp_path / "p.mat", **change, original=original)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))}: .*{re.escape(problem)}"):
        load_pentip(path)


def test_pentip_series_of_zeros(tmp_path):
    path = pentip_file(tmp_path / "p.mat", (LETTERS[0], np.zeros((3, 4)), LETTERS[1]))
    assert load_pentip(path)[0].lengths.tolist() == [7, 4, 2]
    with pytest.raises(ValueError, match=r"p.mat: mixout\[1\] has only zeros"):
        load_pentip(path, trim=True)


def test_pentip_other_variables(tmp_path):
    path = tmp_path / "p.mat"
    savemat(path, {"xtrain": cell(LETTERS), "key": cell("ab")})
    with pytest.raises(ValueError, match=r"p.mat has neither .*, only: key, xtrain$"):
        load_pentip(path)
    savemat(path, {"mixout": cell(LETTERS), "consts": {"key": cell("ab")}})
    with pytest.raises(ValueError, match="consts is not a structure with the field charlabels"):
        load_pentip(path)
    savemat(path, {"mixout": cell(LETTERS), "consts": 3.0})
    with pytest.raises(ValueError, match="consts is not a structure with the field charlabels"):
        load_pentip(path)
    savemat(path, {"mixout": np.ones((3, 4)), "consts": {"key": cell("a"), "charlabels": 1.0}})
    with pytest.raises(ValueError, match="mixout is not a cell of one row"):
        load_pentip(path)


@pytest.mark.parametrize("compressed", [True, False])
def test_pentip_truncated_anywhere(tmp_path, compressed):
    content = pentip_file(tmp_path / "p.mat", do_compression=compressed).read_bytes()
    path = tmp_path / "cut.mat"
    for length in range(0, len(content) - 1, 3):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"cut.mat"):
            load_pentip(path)


def test_pentip_unreadable_variable(tmp_path, monkeypatch):
    def read_in_part(file):
        warnings.warn('Unreadable variable "mixout"', Warning, stacklevel=1)
        return {"__version__": "1.0", "mixout": "Read error: x", "consts": np.zeros(1)}

    monkeypatch.setattr("papers.datasets.pentip.loadmat", read_in_part)
    path = pentip_file(tmp_path / "p.mat")
    problem = r"p.mat is not a complete MATLAB file: mixout: Read error: x$"
    with pytest.raises(ValueError, match=problem):
        load_pentip(path)


def test_pentip_version_73(tmp_path):
    header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    path = tmp_path / "p.mat"
    path.write_bytes(header.ljust(512, b"\0") + b"\x89HDF\r\n\x1a\n")
    with pytest.raises(ValueError, match=r"p.mat is a MATLAB file of version 7.3"):
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


def actrecog_file(tmp_path, changed=None, *more, folder="", compression=zipfile.ZIP_DEFLATED):
    """Write the tables of 15 persons, each with 7 rows of label 3 unless `changed`."""
    texts = dict.fromkeys(range(1, 16), table((3, 7))) | (changed or {})
    path = tmp_path / "chest_accelerometer.zip"
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, text in texts.items():
            if text is not None:
                archive.writestr(f"{folder}{name}.csv", text)
        for name, text in more:
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize(
    ("rows", "lengths"),
    [
        (1, [1]),
        (5, [1]),
        (6, [2]),
        (746, [150]),
        (750, [150]),
        (751, [151]),
        (755, [151]),
        (756, [151, 2]),
        (1501, [151, 151]),
        (1506, [151, 151, 2]),
        (2000, [151, 151, 100]),
    ],
)
def test_actrecog_cuts(tmp_path, rows, lengths):
    text = table((0, 3), (4, rows), (0, 2))
    objects, labels = load_actrecog(actrecog_file(tmp_path, {10: text}))
    assert objects.lengths.tolist() == [2] * 9 + lengths + [2] * 5
    assert labels.tolist() == [3] * 9 + [4] * len(lengths) + [3] * 5
    x = np.concatenate([objects[i][:, 0] for i in range(9, 9 + len(lengths))])
    # Where it is cut, a step is in both pieces.
    expected = [3 + 5 * i for i in range(-(-rows // 5))]
    assert sorted(set(x.tolist())) == expected
    assert len(x) == len(expected) + len(lengths) - 1


def test_actrecog_runs_and_folders(tmp_path):
    path = actrecog_file(
        tmp_path,
        # The same label again after a pause is another run; and so is that of the next person.
        {1: table((7, 11), (0, 4), (7, 6), (2, 1), (0, 1)), 2: table((2, 6))},
        ("Activity/README", "1,2"),
        ("__MACOSX/Activity/._1.csv", "\0"),
        folder="Activity/",
    )
    objects, labels = load_actrecog(path)
    assert labels.tolist() == [7, 7, 2, 2, *[3] * 13]
    assert [o[:, 0].tolist() for o in objects][:4] == [[0, 5, 10], [15, 20], [21], [0, 5]]
    assert objects[0].tolist() == [[0, 7, -1.5], [5, 7, -1.5], [10, 7, -1.5]]
    with pytest.raises(ValueError, match=r"actrecog: .*n_objects is 17 instead of 2624"):
        load("actrecog", tmp_path)


def test_actrecog_number_formats(tmp_path):
    # Row numbers are rounded in the original; lines may end in CR LF, the last one in nothing.
    text = "9.9999e+04,1,2,3,1\r\n1e+05,4,5,6,1\r\n1e+05,7,8,9,2"
    objects, labels = load_actrecog(actrecog_file(tmp_path, {1: text}))
    assert labels[:2].tolist() == [1, 2]
    assert [o.tolist() for o in objects][:2] == [[[1, 2, 3]], [[7, 8, 9]]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0,1,2,3,1\n1,1,2,3\n", ", line 2: 4 fields instead of 5 (row number, x, y, z, label)"),
        ("0,1,2,3,1,\n1,1,2,3,1\n", ", line 1: 6 fields instead of 5"),
        ("0,1,2,3,1,1\n" * 3, ", line 1: 6 fields instead of 5"),
        ("0,1,2,3,1\n\n1,1,2,3,1\n", ", line 2: 1 fields instead of 5"),
        ("0,1,2,3,1\n1,1,2,3,1\n\n", ", line 3: 1 fields instead of 5"),
        ("0,1,2,3,1\n1,x,2,3,1\n", ", line 2: the value at position 1 is 'x', not a number"),
        ("0,1,2,3,1\n1,,2,3,1\n", ", line 2: the value at position 1 is '', not a number"),
        ("0,1,2,3,1\n1,1_0,2,3,1\n", ", line 2: the value at position 1 is '1_0', not a number"),
        ("0,1,2,3,1\n1,1,NaN,3,1\n", ", line 2: the value at position 2 is 'NaN'; every value"),
        ("0,1,2,3,1\n1,1,2,inf,1\n", ", line 2: the value at position 3 is 'inf'; every value"),
        ("0,1,2,3,1\n1,1,2,3,8\n", ", line 2: the label is 8, not one of 0 to 7"),
        ("0,1,2,3,-1\n", ", line 1: the label is -1, not one of 0 to 7"),
        ("0,1,2,3,1\n1,1,2,3,1.5\n", ", line 2: the label is 1.5, not one of 0 to 7"),
        ("0,1,2,3,1\n7,1,2,3,1\n6,1,2,3,1", ", line 3: the row number 6 follows 7"),
        ("0,1,2,3,1\n1,\xa02\xe9,2,3,1\n", ", line 2: the value at position 1 is"),
        ("#0,1,2,3,1\n", ", line 1: the value at position 0 is '#0', not a number"),
        ("", " is empty"),
        ("\n\n", " is empty"),
    ],
)
def test_actrecog_malformed_table(tmp_path, text, problem):
    path = actrecog_file(tmp_path, {7: text.encode("latin-1")}, folder="d/")
    with pytest.raises(ValueError, match=re.escape(f"{path}: d/7.csv{problem}")):
        load_actrecog(path)


@pytest.mark.parametrize(
    ("changed", "more", "problem"),
    [
        ({4: None, 15: None}, [], "does not hold 4.csv, 15.csv"),
        ({}, [("16.csv", "")], "the member '16.csv' is not named 1.csv to 15.csv"),
        ({}, [("x\\1.csv", "")], "the member 'x\\\\1.csv' is not named 1.csv to 15.csv"),
        ({}, [("x/01.csv", "")], "the member 'x/01.csv' is not named 1.csv to 15.csv"),
        ({}, [("x/2.csv", "")], "the member 'x/2.csv' is a second table of person 2, after '2.csv"),
        ({2: " " * (2**24 + 1)}, [], "the member '2.csv' has 16777217 bytes"),
        (dict.fromkeys(range(1, 16), "0,1,2,3,0\n"), [], "holds no labelled rows"),
    ],
)
def test_actrecog_refused_archive(tmp_path, changed, more, problem):
    path = actrecog_file(tmp_path, changed, *more)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))}:? {re.escape(problem)}"):
        load_actrecog(path)


def test_actrecog_damaged_archive(tmp_path):
    path = actrecog_file(tmp_path)
    content = path.read_bytes()
    for length in range(0, len(content), 50):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"accelerometer.zip is not a complete .zip archive"):
            load_actrecog(path)
    # The packed bytes of the first table follow its header of 30 bytes and its name.
    packed = content[:40] + b"\xff\xff" + content[42:]
    # The directory is said to begin later, so that the first table begins before the file.
    moved = int.from_bytes(content[-6:-2], "little") + 5
    directory = content[:-6] + moved.to_bytes(4, "little") + content[-2:]
    # The first table is said to be encrypted.
    first = content.index(b"PK\x01\x02")
    encrypted = content[: first + 8] + b"\x01" + content[first + 9 :]
    # The first table is said to begin before the file.
    start = content[: first + 42] + b"\xff\xff\xff\x7f" + content[first + 46 :]
    for damaged in (packed, directory, encrypted, start, b"1,2,3"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"accelerometer.zip is not a complete .zip archive"):
            load_actrecog(path)


# ---------------------------------------------------------------- UCR text


def text_files(tmp_path, train, test="1,2\n"):
    paths = tmp_path / "X_TRAIN", tmp_path / "X_TEST"
    for path, text in zip(paths, (train, test), strict=True):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return paths


def test_ucr_small_files(tmp_path):
    train = "1,0.5,-2,3e1\n\n-1,4,5,6\n"
    for text in (train, train.replace(",", "\t"), train.replace(",", "  "), train + " \r\n"):
        objects, labels = load_ucr(*text_files(tmp_path, text, "  2.0000e+00   7 8 9\r\n"))
        assert labels.dtype == np.int64
        assert labels.tolist() == [1, -1, 2]
        assert [o.ravel().tolist() for o in objects] == [[0.5, -2, 30], [4, 5, 6], [7, 8, 9]]
        assert objects.dim == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1,2,3\n1,2\n", "X_TRAIN, line 2: 1 values after the class instead of 2; shorter"),
        ("1,2,3\n\n1,2,3,4\n", "X_TRAIN, line 3: 3 values after the class instead of 2; shorter"),
        ("1\n", "X_TRAIN, line 1: 0 values after the class instead of 1; shorter"),
        ("1,2,3\n1,NaN,3\n", "X_TRAIN, line 2, field 1: a value is missing inside the series"),
        ("1,2,,3\n", "X_TRAIN, line 1, field 2: a value is missing inside the series ('')"),
        (
            "1;2;3 4\n",
            "X_TRAIN, line 1: '1;2;3 4' is not a class and the values of a series",
        ),
        ("1.5,2,3\n", "X_TRAIN, line 1, field 0: the class is 1.5, not an integer"),
        (
            "1e300,2,3\n",
            "X_TRAIN: the classes (first fields) must be whole numbers in one form, got '1e300'",
        ),
        (b"1,2\n1,\xff\n", "X_TRAIN, line 2 is not UTF-8 text"),
        ("\n", "X_TRAIN holds no series"),
    ],
)
def test_ucr_malformed_line(tmp_path, text, problem):
    with pytest.raises(ValueError, match=re.escape(f"{tmp_path}/{problem}")):
        load_ucr(*text_files(tmp_path, text))


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


# ---------------------------------------------------------------- two .ts files

TS_HEADER = "@dimensions 2\n@classLabel true a b-1\n@data\n"


def ts_file(tmp_path, text, name="X_TRAIN.ts"):
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


def test_load_ts_of_two_files(tmp_path):
    train = ts_file(tmp_path, TS_HEADER + "1:2:a\n")
    test = ts_file(tmp_path, TS_HEADER + "3,4:5,6:b-1\n", "X_TEST.ts")
    objects, labels = load_ts(train, test)
    assert [o.tolist() for o in objects] == [[[1, 2]], [[3, 5], [4, 6]]]
    assert labels.tolist() == ["a", "b-1"]
    ts_file(tmp_path, "@dimensions 1\n@classLabel true a\n@data\n1:a\n", "X_TEST.ts")
    with pytest.raises(ValueError, match=r"X_TEST.ts has 1 dimensions, but .*X_TRAIN.ts has 2"):
        load_ts(train, test)
    ts_file(tmp_path, "@classLabel false\n@data\n1:2\n", "X_TEST.ts")
    with pytest.raises(ValueError, match=r"X_TEST.ts has no classes \(@classLabel false\)"):
        load_ts(train, test)
