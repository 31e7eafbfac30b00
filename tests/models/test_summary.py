# SPDX-License-Identifier: BSD-3-Clause
"""What models and other results show of themselves, in a console and in a notebook."""

import warnings
from html.parser import HTMLParser

import numpy as np
import pytest

import d2ke

WORDS = ["aab", "bba", "abab", "bbbb", "<&>"] * 8
rng = np.random.default_rng(0)
SERIES = [rng.normal(size=(30, 2)) + i % 2 for i in range(40)]
TABLE = {f"<c{i}>": WORDS for i in range(12)} | {"age": rng.normal(size=40)}
MODELS = {
    "strings": ([0, 1] * 20, WORDS),
    "series": (["a", "<b>"] * 20, SERIES),
    "regression": (rng.normal(size=40), SERIES),
    "records": ([0, 1] * 20, TABLE),
    "labels": (np.eye(4, dtype=int)[np.arange(40) % 4], WORDS),
}
VOID = {"br", "img"}


class Page(HTMLParser):
    """Checks that each tag is closed, and collects the text."""

    def __init__(self, page):
        super().__init__()
        self.open, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(params=MODELS, scope="module")
def model(request):
    y, X = MODELS[request.param]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "little or nothing was learned")
        return d2ke.d2ke_train(y, X, R=130)


def test_one_screen(model):
    lines = repr(model).splitlines()
    assert len(lines) <= 15
    assert set(lines[0].split()) >= {"D2KE", "features,"}
    assert "+-" in repr(model)
    assert str(model.calibration) in lines


def test_html(model):
    page = Page(model._repr_html_())
    assert page.open == []
    families = {block.family for block in model.blocks}
    assert ("shares of the kernel" in page.text) == (len(families) > 1)
    for block in model.blocks:
        assert block.name in page.text
        assert block.family in page.text or len(families) == 1
    assert "±" in page.text
    assert str(model.calibration) in page.text


def test_other_results():
    model = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=8)
    explanation = d2ke.d2ke_explain("aab", model)
    assert repr(explanation) == str(explanation)
    records = d2ke.pack_records({f"c{i}": [1, 2] for i in range(300)})
    assert repr(records).endswith("c19 (numbers), and 280 more columns>")


def test_estimators_have_the_page_of_scikit_learn():
    estimators = pytest.importorskip("d2ke.estimators")
    classifier = estimators.D2KEClassifier(R=8)
    assert "sk-" in classifier._repr_html_()
    assert "sk-" in classifier.fit(["aab", "bba"] * 9, [0, 1] * 9)._repr_html_()
    assert repr(classifier) == "D2KEClassifier(R=8)"


@pytest.mark.filterwarnings("ignore:y holds 34 different", "ignore:little or nothing")
def test_amounts_and_what_an_empty_string_gets_are_said():
    ages = np.tile(np.arange(20, 54), 2)
    model = d2ke.d2ke_train(ages, [f"{age:b}" for age in ages], R=8)
    assert "each of the whole numbers from 20 to 53 is a class: if they are amounts," in str(model)
    with pytest.warns(UserWarning, match=r"X\[1\] is an empty string"):
        predicted = d2ke.d2ke_predict(None, ["0", ""], model)[0]
    assert f"an empty string gets {predicted[1]}\n" in str(model)
