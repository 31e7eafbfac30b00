# SPDX-License-Identifier: BSD-3-Clause
"""The data sets: files, counts, malformed input, splits, scaling, chain codes."""

import builtins
import io
import pickle
import tarfile
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import examples
from scipy import ndimage

from d2ke.datasets import REGISTRY, chain_code, load, standardize, train_test_split
from d2ke.datasets._box import BOX as BOX_FOLDER
from d2ke.datasets._dataset import Dataset, check_counts
from d2ke.datasets.auslan import load_auslan
from d2ke.datasets.split import train_size
from d2ke.datasets.ucr import load_ts
from d2ke.io import load_mat
from d2ke.objects.container import Objects
from d2ke.objects.packing import pack

DIGITS = ("digits-str8", "digits-str4", "digits-points")
# Tens of megabytes of images.
LARGE = ("decor", "style", "letters2", "mnist-str8", "mnist-str4")


# ---------------------------------------------------------------- real data


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in LARGE else [])
        for name, source in REGISTRY.items()
        if source.files
    ],
)
def test_real_counts_and_split(data_dir, name):
    dataset = load(name, data_dir)
    assert isinstance(dataset.objects, Objects)
    assert len(dataset.objects) == len(dataset.labels)
    assert {key: dataset.summary[key] for key in REGISTRY[name].counts} == REGISTRY[name].counts
    train, test = dataset.split(seed=1)
    assert len(train) == REGISTRY[name].counts["n_train"]
    assert len(test) == REGISTRY[name].counts["n_test"]
    assert sorted([*train, *test]) == list(range(len(dataset.objects)))


def test_auslan_content(data_dir):
    auslan = load("auslan", data_dir)
    assert (auslan.domain, auslan.distance) == ("series", "dtw")
    assert auslan.objects.dtype == np.float64
    assert auslan.labels[:4].tolist() == ["God", "God", "God", "I"]
    assert {"change_mind_", "his_hers", "wait_notyet_"} <= set(auslan.classes.tolist())
    # The first and the last numbers of tctodd1/God-1.tsd, read with another tool.
    with tarfile.open(data_dir / "auslan" / "tctodd.tar.gz") as archive:
        expected = np.loadtxt(archive.extractfile("tctodd1/God-1.tsd"))
        last = np.loadtxt(archive.extractfile("tctodd9/zero-3.tsd"))
    np.testing.assert_array_equal(auslan.objects[0], expected)
    np.testing.assert_array_equal(auslan.objects[2564], last)


BOX = ("splice", "japanese-vowels")


@pytest.mark.parametrize("name", BOX)
def test_data_in_the_package(monkeypatch, name):
    monkeypatch.delenv("D2KE_DATA", raising=False)
    dataset = load(name)
    assert {key: dataset.summary[key] for key in REGISTRY[name].counts} == REGISTRY[name].counts
    assert not dataset.labels.flags.writeable


def test_splice_is_as_published(data_dir):
    text = (data_dir / "splice" / "splice.data").read_text()
    rows = [[field.strip() for field in line.split(",")] for line in text.splitlines()]
    splice = load("splice")
    assert list(splice.objects) == [sequence for _, _, sequence in rows]
    assert splice.labels.tolist() == [label for label, *_ in rows]


def test_vowels_are_as_published(data_dir):
    folder = data_dir / "uea" / "JapaneseVowels"
    objects, labels = load_ts(*(folder / f"JapaneseVowels_{part}.ts" for part in ("TRAIN", "TEST")))
    vowels = load("japanese-vowels")
    assert vowels.objects == objects
    assert vowels.labels.tolist() == labels.tolist()
    train = load_mat(BOX_FOLDER / "japanese_vowels.mat", "train")["train"].ravel()
    assert sorted(vowels.split(seed=0)[0]) == np.flatnonzero(train).tolist()


def test_size_of_the_package_data():
    sizes = [file.stat().st_size for file in BOX_FOLDER.glob("*.mat")]
    assert len(sizes) == len(BOX)
    assert sum(sizes) < 10**6


def test_splice_content():
    splice = load("splice")
    assert (splice.domain, splice.distance, splice.alphabet) == ("strings", "levenshtein", "ACGT")
    first = "CCAGCTGCATCACAGGAGGCCAGCGAGCAGGTCTGTTCCAAGGGCCTTCGAGCCAGTCTG"
    assert (splice.objects[0], splice.labels[0]) == (first, "EI")
    assert Counter(splice.labels.tolist()) == {"EI": 767, "IE": 768, "N": 1655}
    letters = Counter("".join(splice.objects))
    assert [letters[code] for code in "DNRS"] == [2, 56, 1, 1]
    assert set(letters) == set("ACGTDNRS")


def test_splice_without_ambiguous_sequences():
    splice = load("splice", ambiguous="drop")
    assert len(splice.objects) == len(splice.labels) == 3175
    assert set("".join(splice.objects)) == set("ACGT")
    kept = [text for text in load("splice").objects if set(text) <= set("ACGT")]
    assert list(splice.objects) == kept


def test_data_folder_from_environment_and_flat_folder(data_dir, tmp_path, monkeypatch):
    for part in ("TRAIN", "TEST"):
        file = f"Gun_Point_{part}"
        (tmp_path / file).write_bytes((data_dir / "gunpoint" / file).read_bytes())
    monkeypatch.setenv("D2KE_DATA", str(tmp_path))
    assert len(load("gun-point").objects) == 200
    monkeypatch.setenv("D2KE_DATA", str(tmp_path / "elsewhere"))
    assert len(load("gun-point", tmp_path).objects) == 200


# ---------------------------------------------------------------- arguments and missing files


@pytest.mark.parametrize(
    ("name", "file"),
    [("auslan", "auslan/tctodd.tar.gz"), ("gun-point", "gunpoint/Gun_Point_TEST")],
)
def test_missing_file_says_what_to_do(tmp_path, name, file):
    with pytest.raises(FileNotFoundError) as caught:
        load(name, tmp_path)
    message = str(caught.value)
    assert f"{file.rpartition('/')[2]} not found in {tmp_path}" in message
    assert REGISTRY[name].title in message
    assert REGISTRY[name].page in message
    assert str(tmp_path / file) in message


def test_no_data_folder_at_all(monkeypatch, tmp_path):
    for value in (None, ""):
        if value is None:
            monkeypatch.delenv("D2KE_DATA", raising=False)
        else:
            monkeypatch.setenv("D2KE_DATA", value)
        with pytest.raises(
            FileNotFoundError, match=r"neither as data_dir \(--data\) nor as D2KE_DATA.*Down"
        ):
            load("auslan")
    with pytest.raises(FileNotFoundError, match="missing is not a folder"):
        load("auslan", tmp_path / "missing")


def test_wrong_arguments(tmp_path):
    with pytest.raises(ValueError, match=r"name must be one of auslan, splice, .*'auslam'"):
        load("auslam")
    with pytest.raises(TypeError, match="name must be a string"):
        load(3)
    with pytest.raises(TypeError, match="data_dir must be a path or None, got 3"):
        load("auslan", 3)
    with pytest.raises(TypeError, match="auslan has no option 'ambiguous'; its options: none"):
        load("auslan", tmp_path, ambiguous="keep")
    with pytest.raises(ValueError, match="ambiguous must be one of keep, drop; got 'mask'"):
        load("splice", tmp_path, ambiguous="mask")


# ---------------------------------------------------------------- counts


def test_wrong_counts(monkeypatch):
    source = replace(REGISTRY["splice"], loader=lambda: (pack(["ACGT"] * 2), np.array(["EI"] * 2)))
    monkeypatch.setitem(REGISTRY, "splice", source)
    with pytest.raises(ValueError, match=r"n_objects is 2 instead of 3190; n_classes is 1 inst"):
        load("splice")


def test_wrong_counts_name_the_class():
    source = REGISTRY["splice"]
    labels = np.array(["EI"] * 768 + ["IE"] * 767 + ["N"] * 1655)
    dataset = Dataset("splice", pack(["A" * 60] * 3190), labels, source)
    problem = r"ones: class 'EI' has 768 objects instead of 767; class 'IE' has 767 .* of 768$"
    with pytest.raises(ValueError, match=problem):
        check_counts(dataset, source.counts)


# ---------------------------------------------------------------- synthetic auslan archives

ROW = b"\t".join(b"%d.5" % i for i in range(22)) + b"\n"


def member(name, content=b"", kind=tarfile.REGTYPE, target=""):
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(content), kind, target
    return info, content


def archive_file(tmp_path, *members):
    path = tmp_path / "tctodd.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return path


def test_auslan_small_archive(tmp_path):
    path = archive_file(
        tmp_path,
        member("tctodd1", kind=tarfile.DIRTYPE),
        member("tctodd2/b-1.tsd", ROW * 2),
        member("tctodd1/README", b"not a recording"),
        member("tctodd1/._a-b-12.tsd", b"\0\0"),
        member("tctodd1/a-b-12.tsd", ROW * 3),
        member("tctodd1/README.link", kind=tarfile.SYMTYPE, target="/etc/passwd"),
    )
    before = sorted(tmp_path.rglob("*"))
    objects, labels = load_auslan(path)
    assert sorted(tmp_path.rglob("*")) == before
    assert labels.tolist() == ["a-b", "b"]
    assert objects.lengths.tolist() == [3, 2]
    np.testing.assert_array_equal(objects[0], np.tile(np.arange(22) + 0.5, (3, 1)))
    with pytest.raises(ValueError, match="n_objects is 2 instead of 2565; n_classes is 2 instead"):
        load("auslan", tmp_path)
    archive_file(tmp_path, member("README", b"moved"))
    with pytest.raises(ValueError, match="holds no recordings"):
        load("auslan", tmp_path)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (member("../tctodd1/x-1.tsd", ROW), "is not named"),
        (member("/tctodd1/x-1.tsd", ROW), "is not named"),
        (member("tctodd1/../x-1.tsd", ROW), "is not named"),
        (member("tctodd0/x-1.tsd", ROW), "is not named"),
        (member("tctodd1/x.tsd", ROW), "is not named"),
        (member("tctodd1/x-1.tsd", kind=tarfile.SYMTYPE, target="/etc/passwd"), "not a regular"),
        (member("tctodd1/x-1.tsd", kind=tarfile.LNKTYPE, target="tctodd1/a-1.tsd"), "not a reg"),
        (member("tctodd1/x-1.tsd", kind=tarfile.FIFOTYPE), "not a regular"),
        (member("tctodd1/x-1.tsd", b" " * (2**20 + 1)), "has 1048577 bytes"),
        (member("tctodd1/a-1.tsd", ROW), "appears twice"),
    ],
)
def test_auslan_refused_member(tmp_path, entry, problem):
    path = archive_file(tmp_path, member("tctodd1/a-1.tsd", ROW), entry)
    with pytest.raises(ValueError, match=f"the member .*{problem}"):
        load_auslan(path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (ROW * 2 + ROW.replace(b"\t3.5", b""), ", line 3: 21 values instead of 22"),
        (ROW + b"\n" + ROW, ", line 2: 0 values instead of 22"),
        (ROW + ROW.replace(b"\t3.5", b"\t3,5"), ", line 2: could not convert .*3,5"),
        (ROW + ROW + ROW.replace(b"\t3.5", b"\tnan"), ", line 3: a value is not finite"),
        (ROW.replace(b"\t3.5", b"\t-inf") + ROW, ", line 1: a value is not finite"),
        (b"", " is empty"),
    ],
)
def test_auslan_malformed_recording(tmp_path, content, problem):
    path = archive_file(
        tmp_path, member("tctodd1/a-1.tsd", ROW), member("tctodd1/b-1.tsd", content)
    )
    with pytest.raises(ValueError, match=f"tctodd.tar.gz: tctodd1/b-1.tsd{problem}"):
        load_auslan(path)


@pytest.mark.parametrize("damage", ["truncated", "not gzip", "flipped"])
def test_auslan_damaged_archive(tmp_path, damage):
    rows = np.random.default_rng(0).standard_normal((400, 22))
    text = "".join(" ".join(map(str, row)) + "\n" for row in rows).encode()
    path = archive_file(tmp_path, member("tctodd1/a-1.tsd", text))
    content = bytearray(path.read_bytes())
    if damage == "truncated":
        content = content[: len(content) // 2]
    elif damage == "not gzip":
        content = bytearray(b"tctodd1/a-1.tsd")
    else:
        content[30:2000] = bytes(1970)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a complete"):
        load_auslan(path)


# ---------------------------------------------------------------- digits


@pytest.mark.parametrize("name", DIGITS)
def test_digits(name):
    pytest.importorskip("sklearn")
    dataset = load(name)
    assert (len(dataset.objects), len(dataset.classes)) == (1797, 10)
    assert dataset.labels.dtype == np.int64
    assert not dataset.labels.flags.writeable
    assert dataset.objects.lengths.min() > 10
    train, test = dataset.split(seed=3)
    assert len(train) == (1258 if name == "digits-points" else 1257)
    assert len(train) + len(test) == 1797
    again = pickle.loads(pickle.dumps(dataset))
    assert again.objects == dataset.objects
    assert again.split(seed=3)[0].tolist() == train.tolist()


@pytest.mark.sample(2)
@pytest.mark.parametrize("i", [0, 1, 500, 1796])
def test_digit_strings_are_the_outlines_of_enlarged_images(i):
    datasets = pytest.importorskip("sklearn.datasets")
    images = datasets.load_digits().images
    strings = load("digits").objects
    assert load("digits").name == "digits-str8"
    # Catmull-Rom cubic convolution with repeated borders, pixel by pixel.
    large = np.empty((32, 32))
    for row in range(32):
        for column in range(32):
            large[row, column] = sum(
                _keys((row + 0.5) / 4 - 0.5 - a)
                * _keys((column + 0.5) / 4 - 0.5 - b)
                * images[i, np.clip(a, 0, 7), np.clip(b, 0, 7)]
                for a in range(row // 4 - 2, row // 4 + 3)
                for b in range(column // 4 - 2, column // 4 + 3)
            )
    assert strings[i] == chain_code(large >= 8)


def _keys(t):
    t = abs(t)
    if t <= 1:
        return 1.5 * t**3 - 2.5 * t**2 + 1
    return -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2 if t < 2 else 0.0


def test_digit_points_are_the_dark_pixels():
    images = pytest.importorskip("sklearn.datasets").load_digits().images
    points = load("digits-points").objects
    for i in (0, 77, 1796):
        expected = [[r, c] for r in range(8) for c in range(8) if images[i, r, c] >= 8]
        assert points[i].tolist() == expected


@pytest.mark.parametrize("name", DIGITS)
def test_digits_can_be_told_apart(name):
    """A wrong outline or a wrong label would bring 1-NN near 10 %."""
    pytest.importorskip("sklearn")
    dataset = load(name)
    order = np.random.default_rng(0).permutation(1797)
    train, test = order[:600], order[600:700]
    objects = dataset.objects
    if dataset.domain == "strings":
        process = pytest.importorskip("rapidfuzz.process")
        levenshtein = pytest.importorskip("rapidfuzz.distance").Levenshtein.distance
        distances = process.cdist(objects[test], objects[train], scorer=levenshtein)
    else:
        distances = np.array([[_mhd(objects[i], objects[j]) for j in train] for i in test])
    nearest = train[np.argmin(distances, axis=1)]
    assert np.mean(dataset.labels[nearest] == dataset.labels[test]) > 0.85


def _mhd(u, v):
    d = np.sqrt(((u[:, None] - v[None]) ** 2).sum(axis=2))
    return max(d.min(axis=0).mean(), d.min(axis=1).mean())


def test_digits_without_scikit_learn(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r'pip install "d2ke\[demo\]"'):
        load("digits")


# ---------------------------------------------------------------- train_test_split, standardize


@pytest.mark.parametrize(
    ("n", "rounding", "size"),
    # The training sizes of the paper's table.
    [
        (2565, "floor", 1795),
        (3190, "floor", 2233),
        (2858, "floor", 2000),
        (210, "round", 147),
        (484, "round", 339),
        (893, "round", 625),
        (4681, "round", 3277),
    ],
)
def test_train_size_of_the_paper(n, rounding, size):
    assert train_size(n, rounding=rounding) == size


def test_train_size_is_decimal():
    # In binary, 0.7 * 10 * k is often below 7 * k, and 0.29 * 100 is 28.999999999999996.
    assert all(train_size(10 * k) == 7 * k for k in range(1, 2000))
    assert train_size(100, fraction=0.29) == 29
    assert train_size(15, fraction=0.7, rounding="round") == 11
    assert train_size(5, fraction=0.5, rounding="round") == 3


@given(st.integers(4, 300), st.integers(0, 2**32), st.sampled_from(["floor", "round"]))
def test_split_is_a_partition(n, seed, rounding):
    train, test = train_test_split(n, rounding=rounding, seed=seed)
    assert sorted([*train.tolist(), *test.tolist()]) == list(range(n))
    assert len(train) == train_size(n, rounding=rounding)
    again = train_test_split(list("x" * n), rounding=rounding, seed=seed)
    assert np.array_equal(train, again[0])
    assert np.array_equal(test, again[1])


def test_split_depends_on_the_seed_only():
    one, two = (train_test_split(1000, seed=seed)[0] for seed in (1, 2))
    assert not np.array_equal(one, two)
    rng = np.random.default_rng(1)
    assert np.array_equal(train_test_split(1000, seed=rng)[0], one)
    assert not np.array_equal(train_test_split(1000, seed=rng)[0], one)


def test_a_published_division_is_kept():
    source = replace(REGISTRY["splice"], n_train=6)
    dataset = Dataset("split", pack(["A"] * 10), np.arange(10), source)
    train, test = dataset.split(seed=0)
    assert sorted(train) == list(range(6))
    assert sorted(test) == list(range(6, 10))
    assert list(train) != list(range(6))  # the first of them are a random sample
    assert (dataset.summary["n_train"], dataset.summary["n_test"]) == (6, 4)


@pytest.mark.parametrize(
    ("n", "options", "error", "problem"),
    [
        (1, {}, ValueError, "n_or_labels must be at least 2, got 1"),
        ([], {}, ValueError, "length of n_or_labels must be at least 2, got 0"),
        (10.0, {}, TypeError, "n_or_labels must be an integer"),
        (np.float64(10), {}, TypeError, "n_or_labels must be an integer"),
        (None, {}, TypeError, "n_or_labels must be an integer"),
        (10, {"fraction": 1.0}, ValueError, "fraction must be between 0 and 1, got 1.0"),
        (10, {"fraction": 0}, ValueError, "fraction must be a positive finite number"),
        (10, {"fraction": "0.7"}, TypeError, "fraction must be a positive number"),
        (10, {"fraction": 0.05}, ValueError, "of 10 objects leaves the training part empty"),
        (10, {"fraction": 0.99, "rounding": "round"}, ValueError, "leaves the test part empty"),
        (10, {"rounding": "up"}, ValueError, "rounding must be one of floor, round"),
        (10, {"seed": -1}, ValueError, "seed must be"),
        (10, {"seed": None}, TypeError, "seed must be"),
    ],
)
def test_split_wrong_arguments(n, options, error, problem):
    with pytest.raises(error, match=problem):
        train_test_split(n, **{"seed": 0, **options})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_standardize(dtype):
    rng = np.random.default_rng(0)
    scale, shift = np.array([1e-3, 1.0, 50.0, 0.0]), np.array([1.0, 0.0, -700.0, 0.1])
    train, test = (
        pack([(rng.standard_normal((n, 4)) * scale + shift).astype(dtype) for n in lengths])
        for lengths in ([3, 8, 1, 20], [5, 6])
    )
    new_train, new_test = standardize(train, test)
    assert new_train.dtype == new_test.dtype == dtype
    assert new_train.lengths.tolist() == [3, 8, 1, 20]
    stacked = np.concatenate(list(train)).astype(np.float64)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    for old, new in ((train, new_train), (test, new_test)):
        for before, after in zip(old, new, strict=True):
            expected = (before[:, :3] - stacked[:, :3].mean(0)) / stacked[:, :3].std(0)
            np.testing.assert_allclose(after[:, :3], expected, rtol=tolerance, atol=tolerance)
            assert np.array_equal(after[:, 3], np.zeros(len(after)))
    assert len(standardize(train)) == 1


def test_standardize_wrong_arguments():
    series = pack([np.zeros((3, 3))])
    with pytest.raises(TypeError, match="train must be Objects, got list"):
        standardize([np.zeros((2, 3))])
    with pytest.raises(TypeError, match=r"others\[0\] holds strings"):
        standardize(series, pack(["AC"]))
    with pytest.raises(ValueError, match=r"others\[1\] has 2 channels, but train has 3"):
        standardize(series, series, pack([np.zeros((2, 2))]))
    with pytest.raises(ValueError, match="train has no elements"):
        standardize(pack([np.zeros((0, 3))]))


# ---------------------------------------------------------------- chain codes


def drawing(*rows):
    return np.array([[letter == "#" for letter in row] for row in rows])


SHAPES = {
    "blank": (drawing("...", "..."), "", ""),
    "pixel": (drawing("...", ".#.", "..."), "", "0321"),
    "square": (drawing("##", "##"), "0642", "00332211"),
    "line": (drawing("....", "###."), "0044", "00032221"),
    "upright line": (drawing("#", "#", "#"), "6622", "03332111"),
    "diagonal": (drawing("#..", ".#.", "..#"), "7733", "030303212121"),
    "rising diagonal": (drawing("..#", ".#.", "#.."), "5511", "032323210101"),
    "L": (drawing("#..", "#..", "###"), "6704422", "033003222111"),
    "plus": (drawing(".#.", "###", ".#."), "7531", "030323212101"),
    "start passed twice": (drawing(".#.", "#.#"), "7351", "030321232101"),
    "hole": (drawing("###", "#.#", "###"), "00664422", "000333222111"),
    "filled": (drawing("###", "###", "###"), "00664422", "000333222111"),
    "largest of two": (drawing("##.....", "....###", "....###"), "006442", "0003322211"),
    "first of equals": (drawing("##...", "...#.", "...#."), "04", "003221"),
    "in the hole of another": (
        drawing("#####", "#...#", "#.#.#", "#...#", "#####"),
        "0000666644442222",
        "00000333332222211111",
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_chain_codes_of_drawings(shape):
    image, code8, code4 = SHAPES[shape]
    assert chain_code(image) == code8
    assert chain_code(image, directions=4) == code4
    # Where the shape lies, and how the array is stored, changes nothing.
    moved = np.pad(image, ((3, 1), (2, 5)))
    assert chain_code(moved) == code8
    assert chain_code(np.asfortranarray(moved), 4) == code4


STEPS8 = np.array([(0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1)])
images = st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(lambda s: arrays(bool, s))


def largest(image):
    """Return the shape that is coded, as scipy labels it, its holes filled."""
    labelled, n = ndimage.label(image, structure=np.ones((3, 3)))
    if n == 0:
        return np.zeros_like(image)
    shape = labelled == 1 + np.argmax(np.bincount(labelled.ravel())[1:])
    outside, _ = ndimage.label(np.pad(~shape, 1, constant_values=True))
    return ~(outside == outside[0, 0])[1:-1, 1:-1]


@settings(max_examples=examples(300))
@given(images)
def test_pixel_code_closes_and_visits_the_outer_boundary(image):
    filled = largest(image)
    code = chain_code(image)
    steps = STEPS8[[int(letter) for letter in code]].reshape(-1, 2)
    assert steps.sum(axis=0).tolist() == [0, 0]
    if not filled.any():
        assert code == ""
        return
    start = np.argwhere(filled)[0]
    visited = {tuple(pixel) for pixel in start + np.cumsum(np.vstack([[[0, 0]], steps]), axis=0)}
    # The outer boundary: pixels with a 4-neighbour in the background outside the shape.
    boundary = filled & ~ndimage.binary_erosion(filled)
    assert visited == {tuple(pixel) for pixel in np.argwhere(boundary)}


@settings(max_examples=examples(300))
@given(images)
def test_crack_code_closes_and_encloses_the_area(image):
    filled = largest(image)
    code = chain_code(image, directions=4)
    dy, dx = STEPS8[[2 * int(letter) for letter in code]].reshape(-1, 2).T
    assert (dy.sum(), dx.sum()) == (0, 0)
    # Green's theorem: a clockwise walk (rows downwards) around the filled shape.
    assert np.sum(np.cumsum(dx) * dy) == filled.sum()
    # Each edge between the shape and the outside is walked once.
    padded = np.pad(filled, 1).astype(int)
    edges = np.abs(np.diff(padded, axis=0)).sum() + np.abs(np.diff(padded, axis=1)).sum()
    assert len(code) == edges


@given(images)
def test_code_draws_the_shape_again(image):
    """What is drawn from the code and filled has the same code."""
    code = chain_code(image)
    steps = STEPS8[[int(letter) for letter in code]].reshape(-1, 2)
    path = np.cumsum(np.vstack([[[0, 0]], steps]), axis=0)
    path -= path.min(axis=0)
    canvas = np.zeros(path.max(axis=0) + 1, dtype=bool)
    canvas[tuple(path.T)] = True
    assert chain_code(canvas) == code


@given(images)
def test_mirrored_drawing_reverses_the_walk(image):
    """A mirrored shape has the steps of the walk in the other direction, mirrored."""
    filled = largest(image)
    for directions in (8, 4):
        code = [int(letter) for letter in chain_code(filled, directions)]
        mirrored = [int(letter) for letter in chain_code(filled[:, ::-1], directions)]
        # Backwards, the step d is d + half a turn; the mirror makes half a turn - (that) of it: -d.
        expected = [-d % directions for d in code[::-1]]
        assert len(mirrored) == len(code)
        # The walk may begin elsewhere on the same closed contour.
        assert "".join(map(str, mirrored)) in "".join(map(str, expected * 2))


def test_chain_code_wrong_arguments():
    with pytest.raises(TypeError, match=r"image must be a boolean array.*got dtype uint8"):
        chain_code(np.zeros((2, 2), dtype=np.uint8))
    with pytest.raises(ValueError, match=r"shape \(height, width\), got \(2, 2, 1\)"):
        chain_code(np.zeros((2, 2, 1), dtype=bool))
    for directions in (6, True, "8", None):
        with pytest.raises(ValueError, match="directions must be 8 or 4"):
            chain_code(np.zeros((2, 2), dtype=bool), directions)
    assert chain_code(np.zeros((0, 5), dtype=bool)) == ""
