# SPDX-License-Identifier: BSD-3-Clause
"""Archives of data sets: they neither leave their place nor unpack without a bound."""

import gzip
import io
import stat
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest
from hostile_files import HUGE

from d2ke.datasets import actrecog, auslan, images

NAMES = ["../out.tsd", "/tmp/out.tsd", "tctodd1/../../out-1.tsd", "tctodd1\\..\\out-1.tsd",
         "C:\\out.tsd"]  # fmt: skip


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """A folder within a folder that both must stay as they are."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    monkeypatch.setenv("D2KE_CACHE", str(tmp_path / "cache"))
    yield inner
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert found - {"a", "a/b", "a/b/x.tar.gz", "a/b/x.zip"} == set()


def tar_member(name, content=b"0 " * 22, kind=tarfile.REGTYPE, target=""):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    member.size = len(content) if kind == tarfile.REGTYPE else 0
    return member, io.BytesIO(content)


@pytest.mark.parametrize("name", NAMES)
def test_a_tar_archive_cannot_escape(name, watched):
    with tarfile.open("x.tar.gz", "w:gz") as archive:
        archive.addfile(*tar_member("tctodd1/alive-1.tsd"))
        archive.addfile(*tar_member(name))
    with pytest.raises(ValueError, match="is not named"):
        auslan.load_auslan(watched / "x.tar.gz")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE,
                                  tarfile.CHRTYPE, tarfile.DIRTYPE])  # fmt: skip
def test_a_tar_archive_links_to_nothing(kind, watched):
    with tarfile.open("x.tar.gz", "w:gz") as archive:
        archive.addfile(*tar_member("tctodd1/alive-1.tsd", kind=kind, target="/etc/passwd"))
    with pytest.raises(ValueError, match="is not a regular file"):
        auslan.load_auslan(watched / "x.tar.gz")


def test_a_tar_archive_claims_no_memory(watched):
    member, _ = tar_member("tctodd1/alive-1.tsd")
    member.size = HUGE
    with open("x.tar", "wb") as plain:
        plain.write(member.tobuf(tarfile.GNU_FORMAT) + bytes(1024))

    Path("x.tar.gz").write_bytes(gzip.compress(Path("x.tar").read_bytes()))
    Path("x.tar").unlink()
    with pytest.raises(ValueError, match="more than any recording"):
        auslan.load_auslan(watched / "x.tar.gz")


def test_images_of_digits_are_no_bombs(tmp_path, refused):

    front = struct.pack(">4I", 0x00000803, 1, 2, 3)
    (tmp_path / "x.gz").write_bytes(gzip.compress(front + bytes(2**28), 1))
    call = "d2ke.datasets.mnist.read_idx(__import__('pathlib').Path(sys.argv[1]), 3)"
    assert "values instead of 6 (1 x 2 x 3)" in refused(call, tmp_path / "x.gz")
    front = struct.pack(">4I", 0x00000803, 2**31, 2**31, 2**31)
    (tmp_path / "x.gz").write_bytes(gzip.compress(front + bytes(100)))
    assert "values instead of" in refused(call, tmp_path / "x.gz")


def test_tables_in_an_archive_are_no_bombs(watched, refused):
    with zipfile.ZipFile("x.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("1.csv", bytes(2**28))
    call = "d2ke.datasets.actrecog.load_actrecog(__import__('pathlib').Path(sys.argv[1]))"
    assert "more than any table" in refused(call, watched / "x.zip")


def zip_link(name, target):
    member = zipfile.ZipInfo(name)
    member.create_system = 3
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member, target


@pytest.mark.parametrize("name", ["../1.csv", "/tmp/1.csv", "a/../../1.csv", "..\\1.csv"])
def test_a_zip_archive_cannot_escape(name, watched):
    with zipfile.ZipFile("x.zip", "w") as archive:
        archive.writestr(name, "1,2,3,4,5\n")
    with pytest.raises(ValueError, match=r"x\.zip"):
        actrecog.load_actrecog(watched / "x.zip")


def test_links_in_a_zip_archive_are_text(watched):
    with zipfile.ZipFile("x.zip", "w") as archive:
        for person in range(1, 16):
            archive.writestr(*zip_link(f"{person}.csv", "/etc/passwd"))
    with pytest.raises(ValueError, match=r"1\.csv"):
        actrecog.load_actrecog(watched / "x.zip")


@pytest.mark.parametrize("name", ["../../out.png", "/tmp/out.png"])
def test_an_archive_of_images_cannot_escape(name, watched):
    pytest.importorskip("cv2")
    with zipfile.ZipFile("x.zip", "w") as archive:
        archive.writestr(name, b"no image")
        archive.writestr("../labels.csv", "file,label\nout.png,0\n")
    with pytest.raises(ValueError, match=r"x\.zip"):
        images.load_images(watched / "x.zip", name="flower", label="label")
