# SPDX-License-Identifier: BSD-3-Clause
"""D2KE, RSM and KNN side by side on handwritten digits: `d2ke demo`."""

from __future__ import annotations

import os
from pathlib import Path

from d2ke.datasets import load
from d2ke.experiments.methods import Division, Outcome, evaluate
from d2ke.experiments.run import check_writable
from d2ke.experiments.session import SILENT, Session
from d2ke.experiments.settings import SETTINGS

DATASETS = {
    "digits-str8": "chain-code strings, Levenshtein",
    "digits-points": "point sets, modified Hausdorff",
}
SIZES = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
NAMES = {"d2ke": "D2KE", "rsm": "RSM", "knn": "KNN"}


def demo(
    figure: str | os.PathLike, *, seed: int = 0, session: Session = SILENT
) -> dict[tuple[str, str], Outcome]:
    """Run the three methods on two views of scikit-learn's digits, and draw accuracy against R.

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
    header = (
        f"{'data':34} {'method':6} {'accuracy %':>10} {'seconds':>8}  chosen on the training part"
    )
    session.report(header)
    session.report("-" * len(header))
    for name, description in DATASETS.items():
        division = Division.of(load(name), SETTINGS[name], seed, **session.computing)
        for method in NAMES:
            outcome = evaluate(method, division, sizes=SIZES)
            outcomes[name, method] = outcome
            chosen = ", ".join(
                f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
                for key, value in outcome.parameters.items()
            )
            session.report(
                f"{description:34} {NAMES[method]:6} {outcome.accuracy:10.2f} "
                f"{sum(outcome.seconds.values()):8.2f}  {chosen}"
            )
    picture = Figure(figsize=(10, 4.2), layout="constrained")
    for axes, (name, description) in zip(
        picture.subplots(1, len(DATASETS)), DATASETS.items(), strict=True
    ):
        for method, marker in (("d2ke", "o"), ("rsm", "s")):
            curve = outcomes[name, method].by_R
            axes.plot(curve.keys(), curve.values(), marker=marker, label=NAMES[method])
        axes.axhline(outcomes[name, "knn"].accuracy, color="0.5", linestyle="--", label="KNN")
        axes.set_xscale("log", base=2)
        axes.set(xlabel="R, random objects or representatives", ylabel="test accuracy, %")
        axes.set_title(f"digits as {description}", fontsize=10)
        axes.grid(alpha=0.3)
        axes.legend()
    picture.savefig(figure, dpi=150)
    session.report(f"accuracy against R: {os.fspath(figure)}")
    return outcomes
