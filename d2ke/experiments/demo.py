# SPDX-License-Identifier: BSD-3-Clause
"""D2KE of views beside plain D2KE and its baselines, on three kinds of objects: `d2ke demo`."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from d2ke.datasets import load
from d2ke.experiments.figures import STYLES
from d2ke.experiments.methods import Division, Outcome, evaluate
from d2ke.experiments.paper import METHOD_NAMES
from d2ke.experiments.run import check_writable
from d2ke.experiments.session import SILENT, Session
from d2ke.experiments.settings import SETTINGS, Setting, quick
from d2ke.models.persistence import load_model, save_model
from d2ke.models.predict import d2ke_predict
from d2ke.models.train import d2ke_train

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DATASETS = {
    "splice": "DNA strings, splice sites",
    "japanese-vowels": "series of 12 channels, nine speakers",
    "digits-str8": "strings, outlines of digits",
}
# For plain D2KE and the baselines; D2KE of views has nothing to set.
DEMO_SETTINGS = {
    "splice": replace(
        quick(SETTINGS["splice"]), R=1024, omega={"order": (3,), "length": ((40, 80),)}
    ),
    "japanese-vowels": Setting(
        omega={"source": ("noise", "segments"), "length": ((1, 10), (5, 25)), "sigma": (1.0, 3.0)},
        R=1024,
        search_R=256,
        scale_channels=True,
        single=True,
    ),
    "digits-str8": replace(quick(SETTINGS["digits-str8"]), R=1024),
}
METHODS = ("d2ke_views", "d2ke", "rsm", "knn", "dsk_rbf")
_SAVED, _SAVED_OBJECTS, _SAVED_R = "splice", 300, 256  # the model that is saved and loaded
_PARTS = (0.125, 0.25, 0.5, 1.0)  # of the training objects


def demo(
    figure: str | os.PathLike[str], *, seed: int = 0, session: Session = SILENT
) -> dict[tuple[str, str], Outcome]:
    """Run the methods on three data sets, and draw accuracy against seconds and against N.

    Parameters
    ----------
    figure : path
        Where to save the picture (PNG).
    seed : int
        Of the division into training and test part and of the random objects.
    session : Session
        How to run; it reports each line of the table.

    Returns
    -------
    dict of (data set, method) to Outcome

    Raises
    ------
    ImportError
        Without scikit-learn or matplotlib, saying how to install them.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError('the demo draws with matplotlib: pip install "d2ke[demo]"') from None
    check_writable(Path(figure))
    outcomes = {}
    header = f"{'data':38} {'method':14} {'accuracy %':>10} {'seconds':>8}  chosen on training part"
    session.report(header)
    session.report("-" * len(header))
    picture = Figure(figsize=(12, 7), layout="constrained")
    panels = picture.subplots(2, len(DATASETS))
    for (name, description), (upper, lower) in zip(DATASETS.items(), panels.T, strict=True):
        division = Division.of(load(name), DEMO_SETTINGS[name], seed, **session.computing)
        for method in METHODS:
            outcome = evaluate(method, division)
            outcomes[name, method] = outcome
            session.report(_row(description, method, outcome))
            look = STYLES[method] | {"linestyle": "none"}
            upper.plot(_seconds(outcome), outcome.accuracy, label=METHOD_NAMES[method], **look)
        upper.set_xscale("log")
        upper.set(xlabel="seconds, choice of parameters included", ylabel="test accuracy, %")
        upper.set_title(description, fontsize=10)
        upper.grid(alpha=0.3)
        _draw_sizes(lower, division, outcomes[name, "d2ke_views"])
        if name == _SAVED:
            saved = _saved_and_loaded(division, session)
    panels[0, 0].legend(fontsize=8)
    picture.savefig(figure, dpi=150)
    session.report(saved)
    session.report(f"accuracy against seconds, and against training objects: {os.fspath(figure)}")
    return outcomes


def _row(description: str, method: str, outcome: Outcome) -> str:
    chosen = ", ".join(
        f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in outcome.parameters.items()
    )
    return (
        f"{description:38} {METHOD_NAMES[method]:14} {outcome.accuracy:10.2f} "
        f"{_seconds(outcome):8.2f}  {chosen}"
    )


def _seconds(outcome: Outcome) -> float:
    return sum(outcome.seconds.values())


def _saved_and_loaded(division: Division, session: Session) -> str:
    """Save and load a model of a part of the training objects; say whether it predicts the same."""
    rows = _order(division)[:_SAVED_OBJECTS]
    options = session.computing
    train, y, distance = division.train[rows], division.y_train[rows], division.dataset.distance
    model = d2ke_train(y, train, distance=distance, R=_SAVED_R, seed=division.seed, **options)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.h5"
        save_model(file, model)
        n_bytes = file.stat().st_size
        loaded = load_model(file)
    before, after = (
        d2ke_predict(None, division.test, one, unseen_letters="allow", **options)[0]
        for one in (model, loaded)
    )
    same = int((before == after).sum())
    return (
        f"a model of {len(train)} objects, saved ({n_bytes / 1e6:.1f} MB) and loaded: "
        f"{same} of {len(after)} predicted labels are the same"
    )


def _order(division: Division) -> np.ndarray:
    return np.random.default_rng(division.seed).permutation(len(division.train))


def _draw_sizes(axes: Axes, division: Division, whole: Outcome) -> None:
    """Draw accuracy and seconds of D2KE of views against the number of training objects."""
    order = _order(division)
    sizes, accuracies, seconds = [], [], []
    for share in _PARTS:
        rows = order[: round(share * len(order))]
        part = replace(division, train=division.train[rows], y_train=division.y_train[rows])
        outcome = whole if share == 1.0 else evaluate("d2ke_views", part)
        sizes.append(len(rows))
        accuracies.append(outcome.accuracy)
        seconds.append(_seconds(outcome))
    look = STYLES["d2ke_views"]
    axes.plot(sizes, accuracies, **look)
    axes.set(xlabel="training objects", ylabel="D2KE of views: test accuracy, %")
    axes.set_xscale("log", base=2)
    axes.grid(alpha=0.3)
    right = axes.twinx()
    right.plot(sizes, seconds, color="0.5", marker=".", linestyle=":")
    right.set_ylabel("seconds (dotted)", color="0.5")
    right.set_ylim(bottom=0)
