# SPDX-License-Identifier: BSD-3-Clause
"""The data sets: files, counts, missing files, Auslan's archive."""

import io
import tarfile
from dataclasses import replace

import numpy as np
import pytest

import d2ke.datasets
from d2ke.datasets import Dataset
from d2ke.datasets._box import BOX as BOX_FOLDER
from d2ke.io import load_mat
from d2ke.objects.container import Objects
from d2ke.objects.packing import pack
from papers.datasets import REGISTRY, load
from papers.datasets.auslan import load_auslan
from papers.datasets.source import check_counts, published
from papers.datasets.ucr import load_ts

# Tens of megabytes of images, or of text.
LARGE = ("auslan", "actrecog", "flower", "decor", "style", "letters2", "mnist-str8", "mnist-str4")


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


@pytest.mark.slow
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


def test_splice_is_as_published(data_dir):
    text = (data_dir / "splice" / "splice.data").read_text("utf-8")
    rows = [[field.strip() for field in line.split(",")] for line in text.splitlines()]
    splice = d2ke.datasets.load("splice")
    assert list(splice.objects) == [sequence for _, _, sequence in rows]
    assert splice.labels.tolist() == [label for label, *_ in rows]


def test_vowels_are_as_published(data_dir):
    folder = data_dir / "uea" / "JapaneseVowels"
    objects, labels = load_ts(*(folder / f"JapaneseVowels_{part}.ts" for part in ("TRAIN", "TEST")))
    vowels = d2ke.datasets.load("japanese-vowels")
    assert vowels.objects == objects
    assert vowels.labels.tolist() == labels.tolist()
    train = load_mat(BOX_FOLDER / "japanese_vowels.mat", "train")["train"].ravel()
    assert sorted(vowels.split(seed=0)[0]) == np.flatnonzero(train).tolist()


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
    with pytest.raises(ValueError, match=r"name must be one of auslan, pentip, .*'auslam'"):
        load("auslam")
    with pytest.raises(TypeError, match="name must be a string"):
        load(3)
    with pytest.raises(TypeError, match="data_dir must be a path or None, got 3"):
        load("auslan", 3)
    with pytest.raises(TypeError, match="auslan has no option 'ambiguous'"):
        load("auslan", tmp_path, ambiguous="keep")


def test_data_sets_that_need_no_file():
    assert {*d2ke.datasets.REGISTRY} < {*REGISTRY}
    assert load("splice", ambiguous="drop").summary["n_objects"] == 3175
    assert load("splice").source == d2ke.datasets.REGISTRY["splice"]


# ---------------------------------------------------------------- counts


def test_wrong_counts_name_the_class():
    source = replace(REGISTRY["splice"], counts=published((767, 768, 1655)))
    labels = np.array(["EI"] * 768 + ["IE"] * 767 + ["N"] * 1655)
    dataset = Dataset("splice", pack(["A" * 60] * 3190), labels, source)
    problem = r"ones: class 'EI' has 768 objects instead of 767; class 'IE' has 767 .* of 768$"
    with pytest.raises(ValueError, match=problem):
        check_counts(dataset, source)


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
