# SPDX-License-Identifier: BSD-3-Clause
"""Images as sets of descriptors, MNIST as crack codes, and the cache that keeps both."""

import builtins
import gzip
import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from d2ke.datasets import boundary_code
from d2ke.distances.matrix import distance_matrix
from d2ke.objects.packing import pack
from papers.datasets import load
from papers.datasets.cache import cache_folder, cached_objects
from papers.datasets.images import load_images
from papers.datasets.mnist import load_mnist_strings, read_idx

SETS = ("flower", "decor", "style", "letters2")
STRINGS = ("mnist-str4", "mnist-str8")


@pytest.fixture(autouse=True)
def cache(request, monkeypatch, tmp_path):
    """Give each test a cache of its own, but one to those that read the real files."""
    if "data_dir" not in request.fixturenames:
        monkeypatch.setenv("D2KE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def cv2():
    return pytest.importorskip("cv2")


def same(one, other):
    (X, x), (Y, y) = one, other
    assert X.kind == Y.kind
    assert X.letters == Y.letters
    assert X.values.dtype == Y.values.dtype
    assert x.dtype == y.dtype
    for a, b in ((X.values, Y.values), (X.offsets, Y.offsets), (x, y)):
        np.testing.assert_array_equal(a, b)


# ---------------------------------------------------------------- the real files


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_real_images(data_dir, cv2, monkeypatch, name):
    first = load(name, data_dir)  # checks the counts
    assert first.objects.dim == 128
    assert first.objects.dtype == np.float32
    lengths = np.linalg.norm(first.objects.values.astype(np.float64), axis=1)
    np.testing.assert_allclose(lengths, 1, rtol=1e-6)
    assert first.objects.values.min() >= 0
    monkeypatch.setattr(cv2, "SIFT_create", lambda: pytest.fail("described again"))
    second = load(name, data_dir)
    same((first.objects, first.labels), (second.objects, second.labels))


@pytest.mark.slow
@pytest.mark.parametrize("name", STRINGS)
def test_real_strings(data_dir, name):
    dataset = load(name, data_dir)  # checks the counts
    train, test = dataset.split(seed=0)
    assert sorted(train) == list(range(60000))
    assert sorted(test) == list(range(60000, 70000))
    images = read_idx(data_dir / "mnist/t10k-images-idx3-ubyte.gz", 3)
    assert images.shape == (10000, 28, 28)
    directions = int(name[-1])
    for i in (0, 1234, 9999):
        assert dataset.objects[60000 + i] == boundary_code(images[i] >= 128, directions)
    assert dataset.labels[60000:60010].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    # One letter for each edge between ink and background, or one for two.
    framed = np.pad(images >= 128, ((0, 0), (1, 1), (1, 1)))
    edges = sum(np.diff(framed, axis=axis).sum(axis=(1, 2)) for axis in (1, 2))
    assert dataset.objects.lengths[60000:].tolist() == (edges // (directions // 4)).tolist()


@pytest.mark.slow
def test_real_style_labels_agree_with_the_names(data_dir, cv2):
    """Of the two images that the table forgets, one is a nail polish (3), the other a shoe (0)."""
    with zipfile.ZipFile(data_dir / "images" / "style.zip") as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".png"))
    names.remove("style/5_2_004.png")
    assert load("style", data_dir).labels.tolist() == [int(name.split("_")[1]) for name in names]


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_real_images_can_be_told_apart(data_dir, cv2, name):
    """A shuffled label would bring 1-NN down to chance; the paper's KNN has 33 to 62 %."""
    dataset = load(name, data_dir)
    order = np.random.default_rng(0).permutation(len(dataset.objects))[:150]
    X, y = dataset.objects[order], dataset.labels[order]
    D = distance_matrix(X, distance="mhd", n_threads=1)
    np.fill_diagonal(D, np.inf)
    chance = np.mean(y[:, None] == y)
    assert np.mean(y[D.argmin(axis=1)] == y) > 1.7 * chance


# ---------------------------------------------------------------- images


def png(seed):
    cv2 = pytest.importorskip("cv2")
    # Blocks of random colour: plenty of corners.
    small = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    return cv2.imencode(".png", np.kron(small, np.ones((12, 12, 1), np.uint8)))[1].tobytes()


def blank():
    cv2 = pytest.importorskip("cv2")
    return cv2.imencode(".png", np.full((40, 40, 3), 200, np.uint8))[1].tobytes()


TABLE = "file,label\nb.png,3\na.png,1\nblank.png,2\n"


def archive(path, table=TABLE, **members):
    content = {"x/a.png": png(1), "x/b.png": png(2), "x/blank.png": blank()} | {
        name.replace("__", "/").replace("_png", ".png"): value for name, value in members.items()
    }
    with zipfile.ZipFile(path, "w") as file:
        for name, value in content.items():
            if value is not None:
                file.writestr(name, value)
        if table is not None:
            file.writestr("labels.csv", table)
    return path


def read(path, **options):
    return load_images(path, **({"name": "test", "label": "label"} | options))


def test_images_against_opencv(tmp_path, cv2):
    objects, labels = read(archive(tmp_path / "i.zip"))
    assert labels.tolist() == [1, 3]  # in the order of the names; one has no key point
    for seed, descriptors in zip((1, 2), objects, strict=True):
        image = cv2.imdecode(np.frombuffer(png(seed), np.uint8), cv2.IMREAD_COLOR)
        grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
        _, expected = cv2.SIFT_create().detectAndCompute(grey, None)
        norms = np.sqrt((expected.astype(float) ** 2).sum(axis=1, keepdims=True))
        np.testing.assert_allclose(descriptors, expected / norms, rtol=1e-6)


def test_images_on_any_number_of_threads(tmp_path, cv2, monkeypatch):
    path, threads = archive(tmp_path / "i.zip"), cv2.getNumThreads()
    results = []
    for n in (1, 4):
        monkeypatch.setenv("D2KE_CACHE", str(tmp_path / str(n)))
        cv2.setNumThreads(n)
        try:
            results.append(read(path))
            assert cv2.getNumThreads() == n
        finally:
            cv2.setNumThreads(threads)
    same(*results)


def test_images_left_out(tmp_path):
    objects, labels = read(archive(tmp_path / "i.zip"), left_out=("b.png",))
    assert len(objects) == 1
    assert labels.tolist() == [1]


def test_names_with_classes(tmp_path):
    members = {"x__a_png": None, "x__b_png": None, "x__blank_png": None}
    members |= {"x__4_7_001_png": png(3), "x__0_2_003_png": png(4)}
    # One line twice, and one image without a line.
    path = archive(tmp_path / "i.zip", "file,label\n0_2_003.png,2\n0_2_003.png,2\n", **members)
    assert read(path, named=True)[1].tolist() == [2, 7]
    with pytest.raises(ValueError, match=r"line 3: 0_2_003.png has a class already, 2"):
        read(path)
    path = archive(tmp_path / "j.zip", "file,label\n4_7_001.png,2\n", **members)
    with pytest.raises(ValueError, match=r"line 2: 4_7_001.png has a class already, 7"):
        read(path, named=True)
    path = archive(tmp_path / "k.zip", "file,label\n4_7_001.png,7\n", x__b_png=png(2))
    with pytest.raises(ValueError, match=r"x/a.png is not named <brand>_<class>_<number>.png"):
        read(path, named=True)


@pytest.mark.parametrize(
    ("table", "members", "message"),
    [
        (None, {}, "has 0 tables"),
        ("file,class\na.png,1\n", {}, r"labels.csv has no column label"),
        (TABLE + "c.png,4\n", {}, r"line 5: there is no image 'c.png'"),
        (TABLE + "a.png,4\n", {}, r"line 5: a.png has a class already, 1"),
        (TABLE + "a.png,1\n", {}, r"line 5: a.png has a class already, 1"),
        (TABLE.replace("a.png,1", "a.png,-1"), {}, r"line 3: the class is '-1'"),
        (TABLE.replace("a.png,1", "a.png,12345678901234567890"), {}, r"line 3: the class is '123"),
        (TABLE.replace("a.png,1", "a.png,1.0"), {}, r"line 3: the class is '1.0'"),
        (TABLE + "x" * 140_000 + ",1\n", {}, r"labels.csv, line 5: field larger than"),
        ("", {}, r"labels.csv has no column file, label"),
        (TABLE, {"other.csv": TABLE}, "has 2 tables"),
        (TABLE, {"x__a_png": bytes((1 << 24) + 1)}, "a.png has 16777217 bytes, more than any"),
        (TABLE.replace("a.png,1", "a.png,one"), {}, r"line 3: the class is 'one'"),
        (TABLE.replace("a.png,1", "a.png"), {}, r"line 3: the class is ''"),
        (TABLE.replace("a.png,1\n", ""), {}, r"no line for the image a.png"),
        (b"file,label\n\xff\xfe,1\n", {}, "is not UTF-8"),
        (TABLE, {"x__a_png": b"no image"}, r"x/a.png cannot be decoded"),
        (TABLE, {"x__a_png": b""}, r"x/a.png cannot be decoded"),
        (TABLE, {"y__a_png": b""}, r"x/a.png and y/a.png have the same name"),
    ],
)
def test_damaged_archives(tmp_path, table, members, message):
    path = archive(tmp_path / "i.zip", table, **members)
    with pytest.raises(ValueError, match=message) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_archives_cut_short(tmp_path):
    pytest.importorskip("cv2")
    path = archive(tmp_path / "i.zip")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match=r"is not a complete .zip archive"):
        read(path)


@pytest.mark.parametrize("damage", ["content", "encrypted", "compression"])
def test_damaged_members(tmp_path, cv2, damage):
    path = archive(tmp_path / "i.zip")
    content = bytearray(path.read_bytes())
    if damage == "content":
        content[content.index(b"IDAT") + 20] ^= 1
    else:
        # The flags and the method in the header of the first member and in the directory.
        at, value = (6, 1) if damage == "encrypted" else (8, 98)
        content[at] |= value
        content[content.index(b"PK\1\2") + at + 2] |= value
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"is not a complete .zip archive: .*(x/a.png|method)"):
        read(path)


def test_other_counts_name_the_version_of_opencv(tmp_path, cv2, monkeypatch):
    archive(tmp_path / "flower.zip")
    monkeypatch.setattr(cv2, "__version__", "5.0.0")
    with pytest.raises(
        ValueError, match=r"n_objects is 2 instead of 210;.* instead of 63$"
    ) as caught:
        load("flower", tmp_path)
    assert "OpenCV" not in str(caught.value)
    monkeypatch.setattr(cv2, "__version__", "4.5.1")
    message = r"63; the published counts are those of OpenCV 5.0.0, and this is 4.5.1: pip install"
    with pytest.raises(ValueError, match=message):
        load("flower", tmp_path)


def test_each_version_of_opencv_describes_for_itself(tmp_path, cv2, cache, monkeypatch):
    path = archive(tmp_path / "i.zip")
    read(path)
    monkeypatch.setattr(cv2, "__version__", "4.5.1")
    read(path)
    assert len(list(cache.iterdir())) == 2


def test_no_image_has_a_key_point(tmp_path):
    path = archive(tmp_path / "i.zip", "file,label\nblank.png,2\n", x__a_png=None, x__b_png=None)
    with pytest.raises(ValueError, match="no image has a key point"):
        read(path)


def test_without_opencv(monkeypatch, tmp_path):
    real = builtins.__import__

    def hidden(name, *arguments, **options):
        if name == "cv2":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", hidden)
    with pytest.raises(ImportError, match=r'pip install "d2ke\[images\]"'):
        read(tmp_path / "none.zip")


# ---------------------------------------------------------------- MNIST


def idx(array):
    return (
        bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}i", *array.shape) + bytes(array)
    )


def digit_files(tmp_path, images, labels, *, compress=True):
    paths = []
    for part in ("train", "test"):
        for kind, array in (("images", images), ("labels", labels)):
            path = tmp_path / f"{part}-{kind}"
            content = idx(np.asarray(array, np.uint8))
            path.write_bytes(gzip.compress(content) if compress else content)
            paths.append(path)
    return paths


@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize(("directions", "code"), [(8, "076432"), (4, "000333222111")])
def test_small_digits(tmp_path, compress, directions, code):
    images = np.zeros((2, 5, 5))
    images[0, 1:4, 1:4] = 128
    images[1, 2, 2:4] = 255
    images[1, 0, 0] = 127  # no ink
    paths = digit_files(tmp_path, images, [4, 9], compress=compress)
    objects, labels = load_mnist_strings(*paths, directions=directions)
    assert list(objects) == [code, "053" if directions == 8 else "003221"] * 2
    assert labels.tolist() == [4, 9, 4, 9]
    assert labels.dtype == np.int64


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not an idx file"),
        (bytes([0, 0, 9, 3]) + bytes(12), "is not an idx file of unsigned bytes in 3 dimensions"),
        (bytes([0, 0, 8, 1]) + bytes(12), "is not an idx file of unsigned bytes in 3 dimensions"),
        (bytes([0, 0, 8, 3]) + bytes(5), "is not an idx file"),
        (idx(np.zeros((2, 3, 4), np.uint8))[:-1], r"has 23 values instead of 24 \(2 x 3 x 4\)"),
        (idx(np.zeros((2, 3, 4), np.uint8)) + b"x", "has 25 values instead of 24"),
        (gzip.compress(bytes(99), mtime=0)[:-9], "is not a complete .gz file"),
    ],
)
def test_damaged_idx_files(tmp_path, content, message):
    path = tmp_path / "images"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_idx(path, 3)
    assert str(path) in str(caught.value)


def test_a_bomb_is_not_unpacked(tmp_path):
    front = struct.pack(">4I", 0x00000803, 1, 2, 3)
    (tmp_path / "x.gz").write_bytes(gzip.compress(front + bytes(2**26), 1))
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"values instead of 6 \(1 x 2 x 3\)"):
        read_idx(tmp_path / "x.gz", 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def test_digits_that_cannot_be_coded(tmp_path):
    paths = digit_files(tmp_path, np.zeros((2, 4, 4)), [1, 2])
    with pytest.raises(ValueError, match="image 0 has no ink"):
        load_mnist_strings(*paths)
    paths = digit_files(tmp_path, np.full((2, 4, 4), 255), [1, 2, 3])
    with pytest.raises(ValueError, match=r"has 3 labels, but .* has 2 images"):
        load_mnist_strings(*paths)


# ---------------------------------------------------------------- the cache


CASES = {
    "vectors": (pack([np.eye(3, dtype=np.float32), np.ones((1, 3), np.float32)]), np.array([5, 6])),
    "strings": (pack(["ab", "", "ba"]), np.array(["x", "é", "y"])),
}


def source(tmp_path, content=b"1"):
    path = tmp_path / "source"
    path.write_bytes(content)
    return path


def never():
    pytest.fail("made again")


@pytest.mark.parametrize("case", CASES)
def test_kept_and_found(tmp_path, cache, case):
    path = source(tmp_path)
    first = cached_objects("n", [path], "r", lambda: CASES[case])
    same(first, CASES[case])
    same(cached_objects("n", [path], "r", never), CASES[case])
    assert [file.suffix for file in cache.iterdir()] == [".npz"]


def test_another_source_or_recipe_is_made_anew(tmp_path):
    path = source(tmp_path)
    cached_objects("n", [path], "r", lambda: CASES["strings"])
    same(cached_objects("n", [path], "s", lambda: CASES["vectors"]), CASES["vectors"])
    source(tmp_path, b"2")
    same(cached_objects("n", [path], "r", lambda: CASES["vectors"]), CASES["vectors"])


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "text", "pickle"])
def test_damaged_files_are_made_anew(tmp_path, cache, damage):
    path = source(tmp_path)
    objects = pack(np.random.default_rng(0).random((30, 50, 2))), np.arange(30)
    cached_objects("n", [path], "r", lambda: objects)
    (file,) = cache.iterdir()
    content = bytearray(file.read_bytes())
    if damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "flipped":
        content[content.index(objects[0].values.tobytes()[:16]) + 5] ^= 1
    elif damage == "pickle":
        stream = io.BytesIO()
        np.savez(stream, values=np.array([{}]), offsets=np.array([0, 1]), labels=np.zeros(1))
        content = stream.getvalue()
    else:
        content = b"" if damage == "empty" else b"no archive"
    file.write_bytes(content)
    made = []
    result = cached_objects("n", [path], "r", lambda: made.append(1) or objects)
    assert made == [1]
    same(result, objects)
    same(cached_objects("n", [path], "r", never), objects)


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    path = source(tmp_path)
    monkeypatch.setenv("D2KE_CACHE", str(path / "below a file"))
    with pytest.warns(RuntimeWarning, match="cannot be cached: .* D2KE_CACHE"):
        result = cached_objects("n", [path], "r", lambda: CASES["strings"])
    same(result, CASES["strings"])


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.delenv("D2KE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "d2ke"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "d2ke"
