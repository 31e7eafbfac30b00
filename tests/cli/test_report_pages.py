# SPDX-License-Identifier: BSD-3-Clause
"""The pages of `--report` in a browser without a window."""

import json
import re

import numpy as np
import pytest
from browser_pages import frames, measured_frames
from model_file_cases import put, splice, strings_csv

from d2ke.cli.main import main
from d2ke.cli.report import Section

MEASURED = """(page, root) => ({
  pictures: [...page.images].map(one => [one.complete ? one.naturalWidth : 0, one.clientWidth]),
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  colours: [...root.querySelectorAll("h1, h2, p, th, td, li, img")].map(one => {
    let behind = one;
    const colour = () => page.defaultView.getComputedStyle(behind).backgroundColor;
    while (behind !== root && colour() === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
    return [one.tagName, page.defaultView.getComputedStyle(one).color, colour()];
  }),
})"""


@pytest.fixture(scope="module")
def predictions(tmp_path_factory):
    """Write pages about predictions of models, of classes and of values."""
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("pages")
    X, y = splice("train")
    strings_csv(folder / "classes.csv", X, y)
    strings_csv(folder / "values.csv", X, [x.count("A") + 0.5 * x.count("G") for x in X])
    for name in ("classes", "values"):
        data, model, out = (str(folder / f"{name}{end}") for end in (".csv", ".h5", "-out.csv"))
        words = ["--R", "32", "--threads", "2"]
        assert main(["train", data, "--out", model, *words]) == 0
        page = str(folder / f"{name}-predicted.html")
        assert main(["predict", model, data, "--out", out, "--report", page]) == 0
    return folder


@pytest.fixture(scope="module")
def pages(predictions):
    """Write pages about the models beside them."""
    folder = predictions
    for name in ("classes", "values"):
        files = [str(folder / f"{name}{end}") for end in (".csv", "-again.h5", ".html")]
        words = ["train", files[0], "--out", files[1], "--R", "32", "--report", files[2]]
        assert main(words) == 0
    return folder


def luminance(colour):
    """Return the relative luminance of a computed colour, which must be opaque."""
    levels = [
        int(level) / 255 for level in re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", colour).groups()
    ]
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in levels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def check_colours(frame, dark):
    """Compare the contrast of all text with WCAG's least, 4.5; pictures stand on white."""
    assert frame["dark"] == dark
    assert {"H1", "P", "TD"} <= {name for name, _, _ in frame["colours"]}
    for name, text, behind in frame["colours"]:
        if name == "IMG":
            assert behind == "rgb(255, 255, 255)"
            continue
        less, more = sorted(map(luminance, (text, behind)))
        assert (more + 0.05) / (less + 0.05) >= 4.5, (name, text, behind)
        assert (luminance(behind) < 0.1) == dark


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("name", "title", "n_pictures"),
    [
        ("classes", "D2KE of classes.csv", 7),
        ("values", "D2KE of values.csv", 9),
        ("classes-predicted", "Predictions for classes.csv", 1),
        ("values-predicted", "Predictions for values.csv", 1),
    ],
)
def test_pages_in_a_browser(browser, pages, tmp_path, name, title, n_pictures, dark):
    page = (pages / f"{name}.html").read_text("utf-8")
    assert "<script" not in page
    quoted = json.dumps(page).replace("</", "<\\/")
    put(tmp_path / "frames.html", [frames(f"srcdoc = {quoted}", MEASURED)])
    words = ["--blink-settings=preferredColorScheme=0"] if dark else []
    address = (tmp_path / "frames.html").as_uri()
    measured, said = measured_frames(browser, tmp_path, address, *words)
    assert said == []
    for frame in measured:
        assert frame["title"] == title
        assert len(frame["pictures"]) == n_pictures
        check_colours(frame, dark)
        assert all(natural > 0 and shown > 200 for natural, shown in frame["pictures"])


def test_what_the_pages_of_predictions_say(predictions):
    page = (predictions / "classes-predicted.html").read_text("utf-8")
    accuracy = float(re.search(r"<b>Accuracy: ([\d.]+) ±", page)[1])
    rows = re.findall(r"<tr>" + r"<td[^>]*>(\w+)</td>" * 3, page)
    assert [name for name, _, _ in rows] == ["EI", "IE", "N"]
    counts = [(int(total), int(right)) for _, total, right in rows]
    assert sum(total for total, _ in counts) == 180
    assert accuracy == pytest.approx(sum(right for _, right in counts) / 1.8, abs=0.06)
    assert re.search(r"Strangers</h2>\s*<p>(None|\d+) of 180 are unlike all training objects", page)
    assert "<b>R^2: " in (predictions / "values-predicted.html").read_text("utf-8")


def test_a_table_without_empty_columns():
    rows = [["a" * 41, "", "+0.5", "2e-07"], ["b", "", "", "31 %"]]
    section = Section(columns=["text", "none", "adds", "share"], rows=rows)
    shown = section.without_empty_columns()
    assert shown.columns == ["text", "adds", "share"]
    assert shown.rows == [["a" * 41, "+0.5", "2e-07"], ["b", "", "31 %"]]
    assert (shown.numbers, shown.wide_table) == ([False, True, True], True)
    assert not section._replace(rows=rows[1:]).wide_table


@pytest.mark.slow
def test_a_page_of_a_model_of_pieces_alone(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(8)
    n, y = int(rng.choice([12, 20, 40])), rng.choice(["a", "b"], 40)
    lengths = (int(rng.integers(3, 12)) for _ in range(n))
    X = ["".join(rng.choice(list("abcdef"), length)) for length in lengths]
    strings_csv(tmp_path / "x.csv", X, y)
    data, out, page = (str(tmp_path / f"x.{end}") for end in ("csv", "h5", "html"))
    assert main(["train", data, "--out", out, "--report", page, "--seed", "8"]) == 0
    assert "100 % pieces" in capsys.readouterr().out
    assert "listens to" not in (tmp_path / "x.html").read_text("utf-8")
