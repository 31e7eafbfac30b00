# SPDX-License-Identifier: BSD-3-Clause
"""How seconds and bytes grow with the number of training objects.

    python -m benchmarks.growth [KIND ...] [--largest 16000] [--threads 1] [--picture FILE.png]

Kinds: names, messages, series, sets, graphs; all by default. All are drawn, and no repeat is taken
out. Processor seconds of training, of the prediction of 1,000 new objects and of one, and the bytes
of the model's file, beside what one would otherwise write: tf-idf of letters and a linear SVM
(scikit-learn), MiniROCKET and a ridge (aeon), a Weisfeiler-Leman kernel and an SVM (GraKeL).

In brackets: how many times the number at half of n. "-": a call would take more than 120 seconds,
if it grew as it did before.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import d2ke
from benchmarks import measure
from benchmarks.graphs import grakel_graphs
from benchmarks.neighbors import names as syllables
from benchmarks.rule_cases import drawn_names
from benchmarks.strings_accuracy import tfidf

SIZES = (300, 1000, 2000, 4000, 8000, 16000)
NEW = 1000  # objects to predict
LIMIT = 120.0  # seconds
Method = tuple[Callable[..., Any], Callable[..., Any], Callable[..., bytes]]
COLUMNS = ("training, s", "1,000 predicted, s", "one predicted, ms", "file, MB")


def names(n: int) -> tuple[Any, np.ndarray]:
    """Draw names of 18 nations by their frequency."""
    data = drawn_names(n)
    return data.X, data.y


def messages(n: int) -> tuple[Any, np.ndarray]:
    """Draw messages of some 80 letters; each of four topics has its own shares of 2,000 words."""
    rng, words = np.random.default_rng(0), np.array(syllables(2000))
    shares = np.exp(rng.normal(size=(4, 2000))) / np.arange(1, 2001)
    y = rng.integers(0, 4, n)
    drawn = [rng.choice(words, 40, p=shares[k] / shares[k].sum()) for k in y]
    sizes = rng.normal(80, 20, n).clip(10).astype(int)
    return [" ".join(some)[:size].strip() for some, size in zip(drawn, sizes, strict=True)], y


def series(n: int) -> tuple[Any, np.ndarray]:
    """Draw random walks of 60 steps, each with a share of one of four walks."""
    rng = np.random.default_rng(0)
    steps, y = rng.normal(size=(4, 60, 1)), rng.integers(0, 4, n)
    X = (rng.normal(size=(n, 60, 1)) + 0.8 * steps[y]).cumsum(axis=1)
    return d2ke.pack(X + 0.5 * rng.normal(size=X.shape), channels_first=False), y


def sets(n: int) -> tuple[Any, np.ndarray]:
    """Draw sets of 8 to 39 points around the five centres of one of four classes."""
    rng = np.random.default_rng(0)
    centres, y = rng.normal(size=(4, 5, 3)), rng.integers(0, 4, n)
    X = [centres[k][rng.integers(0, 5, m)] + 0.8 * rng.normal(size=(m, 3))
         for k, m in zip(y, rng.integers(8, 40, n), strict=True)]  # fmt: skip
    return d2ke.pack(X, kind="sets"), y


def graphs(n: int) -> tuple[Any, np.ndarray]:
    """Draw trees of 10 to 39 nodes and six labels; classes differ in labels and further edges."""
    rng = np.random.default_rng(0)
    shares, y, X = rng.dirichlet(np.full(6, 4.0), 3), rng.integers(0, 3, n), []
    for k, m in zip(y, rng.integers(10, 40, n), strict=True):
        nodes = np.arange(1, m)
        tree = np.column_stack([nodes, rng.integers(np.maximum(0, nodes - 4), nodes)])
        further = rng.integers(0, m, (m // 6 + k, 2))
        X.append((np.vstack([tree, further]), rng.choice(6, m, p=shares[k])))
    return X, y


def ours(kind: str, n_threads: int) -> Method:
    """Return what trains, predicts and saves with the defaults; graphs become bags of codes."""
    of_graphs = kind == "graphs"
    read = d2ke.graph_codes if of_graphs else lambda X: X
    given: dict[str, Any] = {"distance": "bag"} if of_graphs else {}

    def save(model: Any) -> bytes:
        file = BytesIO()
        model.save(file)
        return file.getvalue()

    return (
        lambda X, y: d2ke.d2ke_train(y, read(X), n_threads=n_threads, progress=False, **given),
        lambda model, X: model.predict(read(X), n_threads=n_threads, progress=False),
        save,
    )


def peer(kind: str, X: Any, n_threads: int) -> tuple[str, Any, Any] | None:
    """Return the peer's name, its classifier, and the objects in the form that it takes."""
    if kind in {"names", "messages"}:
        return "tf-idf and SVM", tfidf(5), X
    if kind == "series" and (aeon := measure.installed("aeon.classification.convolution_based")):
        classifier = aeon.MiniRocketClassifier(n_jobs=n_threads, random_state=0)
        return "MiniROCKET", classifier, X.values.reshape(len(X), 1, -1)
    if kind == "graphs" and (kernels := measure.installed("grakel.kernels")):
        kernel = kernels.WeisfeilerLehman(n_iter=5, normalize=True)
        svm = make_pipeline(kernel, SVC(kernel="precomputed"))
        return "WL and SVM", svm, grakel_graphs(X)
    return None


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of a call, the least of up to six if it is short, and its result."""
    taken, result = measure.least(call)
    more = min(5, int(2 / max(taken, 1e-3)))
    return min(taken, measure.least(call, more)[0]) if more else taken, result


def growth(
    kind: str, name: str, method: Method, X: Any, y: np.ndarray, sizes: list[int]
) -> dict[int, np.ndarray]:
    """Print a row for each n, and return the four numbers of each n that was measured."""
    fit, predict, save = method
    new, true = X[-NEW:], y[-NEW:]
    predict(fit(X[: sizes[0]], y[: sizes[0]]), new[:1])  # compiles and imports
    found: dict[int, np.ndarray] = {}
    longest: list[float] = []
    power = 2.0
    for n in sizes:
        done = list(found)
        if longest[1:]:
            grown = longest[-1] / longest[-2]
            power = max(1.0, np.log(grown) / np.log(done[-1] / done[-2]))
        if longest and longest[-1] * (n / done[-1]) ** power > LIMIT:
            measure.row(kind, name, n, *"-----")
            continue
        trained, model = seconds(partial(fit, X[:n], y[:n]))
        predicted, labels = seconds(partial(predict, model, new))
        one = seconds(partial(predict, model, new[:1]))[0]
        longest.append(max(trained, predicted))
        found[n] = np.array([trained, predicted, 1e3 * one, len(save(model)) / 1e6])
        cells = [f"{number:.3g}" for number in found[n]]
        if n // 2 in found:
            ratios = found[n] / found[n // 2]
            cells = [f"{cell} ({ratio:.1f})" for cell, ratio in zip(cells, ratios, strict=True)]
        measure.row(kind, name, n, *cells, f"{100 * np.mean(labels == true):.1f}")
    return found


def draw(curves: dict[tuple[str, str], dict[int, np.ndarray]], path: Path) -> None:
    """Draw each number against n: a colour for each kind, and peers dashed."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullLocator

    figure = Figure(figsize=(10, 7), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True).flat
    for i, (axes, title) in enumerate(zip(panels, COLUMNS, strict=True)):
        for (kind, name), found in curves.items():
            axes.loglog(list(found), [numbers[i] for numbers in found.values()],
                        "-" if name == "d2ke" else "--", marker=".",
                        color=f"C{list(KINDS).index(kind)}", label=f"{kind}: {name}")  # fmt: skip
        sizes = max(curves.values(), key=len)
        axes.set_xticks(list(sizes), list(sizes))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set(title=title, xlabel="training objects")
        axes.grid(alpha=0.3)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")
    figure.savefig(path, dpi=90, metadata={"Software": None})


KINDS = {draw.__name__: draw for draw in (names, messages, series, sets, graphs)}


def main() -> None:
    """Print the table, and draw it."""
    parser = measure.parser(__doc__, threads=1)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="training objects")
    parser.add_argument("--picture", type=Path, metavar="FILE.png")
    options = parser.parse_args()
    if set(options.kinds) - set(KINDS):
        parser.error(f"kinds are {', '.join(KINDS)}")
    warnings.simplefilter("ignore")  # unseen letters, self loops
    measure.limit_threads(options.threads)
    sizes = [*(n for n in SIZES if n < options.largest), options.largest]
    curves = {}
    measure.header("objects", "method", "n", *COLUMNS, "right, %")
    for kind in options.kinds or KINDS:
        X, y = KINDS[kind](sizes[-1] + NEW)
        method = ours(kind, options.threads)
        curves[kind, "d2ke"] = growth(kind, "d2ke", method, X, y, sizes)
        if other := peer(kind, X, options.threads):
            name, classifier, X = other
            method = classifier.fit, lambda model, new: model.predict(new), pickle.dumps
            few = [n for n in sizes if kind != "graphs" or n <= 8000]  # the SVM keeps n x n kernels
            curves[kind, name] = growth(kind, name, method, X, y, few)
    if options.picture:
        draw(curves, options.picture)


if __name__ == "__main__":
    main()
