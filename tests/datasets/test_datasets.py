# SPDX-License-Identifier: BSD-3-Clause
"""The data sets in the package; division and scaling."""

import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from d2ke.datasets import REGISTRY, Dataset, load, standardize
from d2ke.datasets._box import BOX as BOX_FOLDER
from d2ke.objects.packing import pack

DIGITS = (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)

COUNTS = {  # sizes of the classes, shortest and longest object, training objects
    "splice": ((767, 768, 1655), 60, 60, 2233),
    "japanese-vowels": ((61, 65, 118, 74, 59, 54, 70, 80, 59), 7, 29, 270),
    "digits-str8": (DIGITS, 45, 135, 1257),
    "digits-str4": (DIGITS, 64, 182, 1257),
    "digits-points": (DIGITS, 13, 30, 1258),
}


@pytest.mark.parametrize("name", COUNTS)
def test_data_in_the_package(name):
    dataset = load(name)
    sizes, shortest, longest, n_train = COUNTS[name]
    assert np.unique(dataset.labels, return_counts=True)[1].tolist() == list(sizes)
    assert (dataset.objects.lengths.min(), dataset.objects.lengths.max()) == (shortest, longest)
    assert not dataset.labels.flags.writeable
    train, test = dataset.split(seed=3)
    assert (len(train), len(train) + len(test)) == (n_train, len(dataset.objects))
    again = pickle.loads(pickle.dumps(dataset))
    assert again.objects == dataset.objects
    assert again.split(seed=3)[0].tolist() == train.tolist()


def test_size_of_the_package_data():
    sizes = [file.stat().st_size for file in BOX_FOLDER.glob("*.mat")]
    assert len(sizes) == 3
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


# ---------------------------------------------------------------- digits


STR8 = "0000076770007667666666666666656565545566444444422343222222221232222321222121112"
STR4 = (
    "00000030330300003033303333333333333323323323232232333222222221112212111111111011"
    "211111211011110110101011"
)


def test_digit_strings():
    assert load("digits").name == "digits-str8"
    first = load("digits").objects[0], load("digits-str4").objects[0]
    assert first == (STR8, STR4)


def test_digit_points_are_the_dark_pixels():
    images = pytest.importorskip("sklearn.datasets").load_digits().images
    points = load("digits-points").objects
    for i in (0, 77, 1796):
        expected = [[r, c] for r in range(8) for c in range(8) if images[i, r, c] >= 8]
        assert points[i].tolist() == expected


# ---------------------------------------------------------------- split, standardize


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
        (15, "round", 11),
        (2, "floor", 1),
    ],
)
def test_random_divisions_have_the_sizes_of_the_paper(n, rounding, size):
    source = replace(REGISTRY["splice"], rounding=rounding)
    dataset = Dataset("split", pack(["A"] * n), np.arange(n), source)
    train, test = dataset.split(seed=1)
    assert len(train) == dataset.n_train == size
    assert sorted([*train.tolist(), *test.tolist()]) == list(range(n))
    assert np.array_equal(dataset.split(seed=np.random.default_rng(1))[0], train)
    assert n == 2 or not np.array_equal(dataset.split(seed=2)[0], train)


def test_a_published_division_is_kept():
    source = replace(REGISTRY["splice"], n_train=6)
    dataset = Dataset("split", pack(["A"] * 10), np.arange(10), source)
    train, test = dataset.split(seed=0)
    assert sorted(train) == list(range(6))
    assert sorted(test) == list(range(6, 10))
    assert list(train) != list(range(6))  # the first of them are a random sample


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
