# SPDX-License-Identifier: BSD-3-Clause
"""The data sets: files, counts, missing files, Auslan's archive."""

import io
import tarfile
from dataclasses import replace

import numpy as np
import pytest

import d2ke.datasets
from d2ke.datasets import Dataset, read_ts
from d2ke.objects.container import Objects
from d2ke.objects.packing import pack
from papers.datasets import REGISTRY, load
from papers.datasets.auslan import load_auslan
from papers.datasets.source import check_counts, published, summary
from papers.datasets.ucr import load_parts

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
    assert {key: summary(dataset)[key] for key in REGISTRY[name].counts} == REGISTRY[name].counts
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
    files = (folder / f"JapaneseVowels_{part}.ts" for part in ("TRAIN", "TEST"))
    objects, labels = load_parts(read_ts, *files)
    vowels = d2ke.datasets.load("japanese-vowels")
    assert vowels.objects == objects
    assert vowels.labels.tolist() == labels.tolist()


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
    monkeypatch.delenv("D2KE_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=r"neither as data_dir .* nor as D2KE_DATA.*Down"):
        load("auslan")
    with pytest.raises(FileNotFoundError, match="missing is not a folder"):
        load("auslan", tmp_path / "missing")
    with pytest.raises(ValueError, match=r"name must be one of auslan, pentip, .*'auslam'"):
        load("auslam")
    with pytest.raises(TypeError, match="data_dir must be a path or None, got 3"):
        load("auslan", 3)


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
    objects, labels = load_auslan(path)
    assert labels.tolist() == ["a-b", "b"]
    assert objects.lengths.tolist() == [3, 2]
    np.testing.assert_array_equal(objects[0], np.tile(np.arange(22) + 0.5, (3, 1)))
    with pytest.raises(ValueError, match="n_objects is 2 instead of 2565; n_classes is 2 instead"):
        load("auslan", tmp_path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (ROW * 2 + ROW.replace(b"\t3.5", b""), ": the number of columns changed from 22 to 21"),
        (ROW + ROW.replace(b"\t3.5", b"\t3,5"), ": could not convert string '3,5'"),
        (ROW + ROW.replace(b"\t3.5", b"\tnan"), " is not a table of 22 columns of finite numbers"),
    ],
)
def test_auslan_malformed_recording(tmp_path, content, problem):
    path = archive_file(tmp_path, member("tctodd1/b-1.tsd", content))
    with pytest.raises(ValueError, match=f"tctodd.tar.gz: tctodd1/b-1.tsd{problem}"):
        load_auslan(path)
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"tctodd1/b-1.tsd"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"tctodd.tar.gz is not a complete archive"):
            load_auslan(path)
