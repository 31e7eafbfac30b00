# SPDX-License-Identifier: BSD-3-Clause
"""The data sets in the package and the digits; division and scaling."""

import builtins
import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from d2ke.datasets import REGISTRY, Dataset, chain_code, load, standardize, train_test_split
from d2ke.datasets._box import BOX as BOX_FOLDER
from d2ke.datasets.split import train_size
from d2ke.objects.packing import pack

DIGITS = ("digits-str8", "digits-str4", "digits-points")

SUMMARIES = {
    "splice": {
        "n_objects": 3190,
        "n_classes": 3,
        "class_sizes": (767, 768, 1655),
        "lengths": (60, 60),
        "n_train": 2233,
        "n_test": 957,
    },
    "japanese-vowels": {
        "n_objects": 640,
        "n_classes": 9,
        "class_sizes": (61, 65, 118, 74, 59, 54, 70, 80, 59),
        "lengths": (7, 29),
        "n_train": 270,
        "n_test": 370,
        "n_channels": 12,
    },
}


def test_size_of_the_package_data():
    sizes = [file.stat().st_size for file in BOX_FOLDER.glob("*.mat")]
    assert len(sizes) == len(SUMMARIES)
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


# ---------------------------------------------------------------- digits


@pytest.mark.parametrize("name", DIGITS)
def test_digits(name):
    pytest.importorskip("sklearn")
    dataset = load(name)
    sizes = (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)
    assert dataset.summary["class_sizes"] == sizes
    assert dataset.labels.dtype == np.int64
    assert not dataset.labels.flags.writeable
    assert dataset.objects.lengths.min() > 10
    train, test = dataset.split(seed=3)
    assert len(train) == (1258 if name == "digits-points" else 1257)
    assert len(train) + len(test) == 1797
    again = pickle.loads(pickle.dumps(dataset))
    assert again.objects == dataset.objects
    assert again.split(seed=3)[0].tolist() == train.tolist()


@pytest.mark.sample(4)
@pytest.mark.parametrize("i", [0, 1, 500, 1796])
def test_digit_strings_are_the_outlines_of_enlarged_images(i):
    datasets = pytest.importorskip("sklearn.datasets")
    images = datasets.load_digits().images
    strings = load("digits").objects
    assert load("digits").name == "digits-str8"
    # Catmull-Rom cubic convolution with repeated borders, pixel by pixel.
    weights = np.zeros((32, 8))
    for place in range(32):
        for a in range(place // 4 - 2, place // 4 + 3):
            weights[place, np.clip(a, 0, 7)] += _keys((place + 0.5) / 4 - 0.5 - a)
    large = weights @ images[i] @ weights.T
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
        ([], {}, ValueError, "length of n_or_labels must be at least 2, got 0"),
        (np.float64(10), {}, TypeError, "n_or_labels must be an integer"),
        (10, {"fraction": 1.0}, ValueError, "fraction must be between 0 and 1, got 1.0"),
        (10, {"fraction": 0.05}, ValueError, "of 10 objects leaves the training part empty"),
        (10, {"fraction": 0.99, "rounding": "round"}, ValueError, "leaves the test part empty"),
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
    with pytest.raises(ValueError, match=r"others\[1\] has 2 channels, but train has 3"):
        standardize(series, series, pack([np.zeros((2, 2))]))
    with pytest.raises(ValueError, match="train has no elements"):
        standardize(pack([np.zeros((0, 3))]))
