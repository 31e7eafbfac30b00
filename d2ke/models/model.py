# SPDX-License-Identifier: BSD-3-Clause
"""A trained model of objects: blocks, the scaling of their features, a linear model; its reports.

`ReferenceObjects` are the training objects that a model keeps for `novelty`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from d2ke._base.blas import row_products
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.text import is_value
from d2ke.embedding.scaling import Scaling
from d2ke.learners.linear_model import LinearModel
from d2ke.learners.ridge import RidgeSums
from d2ke.models.blocks import FittedFeatures, column_slices, feature_names, per_feature
from d2ke.models.calibration import Calibration, LabelCalibration
from d2ke.models.distance_blocks import FittedBlock
from d2ke.models.feature_map import FeatureMap
from d2ke.models.inputs import InputKind, check_records
from d2ke.models.labels import like_amounts
from d2ke.models.loo import NearCopies
from d2ke.models.tasks import Classes, Task
from d2ke.objects.column_names import ColumnNames
from d2ke.objects.container import code_dtype, from_owned
from d2ke.objects.kinds import KINDS
from d2ke.objects.packing import as_objects
from d2ke.objects.record_packing import fill_missing
from d2ke.objects.values import list_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class D2KEModel:
    """A trained model of objects, made by `d2ke_train`.

    A notebook shows it on one screen, with the kernel weight of each family; ``print(model)`` lists
    the blocks too.

    Attributes
    ----------
    blocks : tuple of FittedFeatures
        The blocks of features, side by side: views, distances, random objects and gammas; for
        records, numbers and categories too.
    scaling : Scaling
        Means and divisors of the features.
    deviation : ndarray of float64, shape (R,)
        Standard deviations of the scaled features of the training objects.
    linear : LinearModel
        Weights of the scaled features.
    task : Task
        The kind of predictions: `Classes`, `Values` or `LabelSets`.
    kind : {"series", "sets", "strings", "any", "records"} or str
        Kind of the objects; "any" for Python functions as distances.
    channels : int
        Dimension of the vectors; 0 for other objects.
    alphabet : ndarray or None
        The letters of the training strings.
    letters : {"str", "bytes", "int", "token"} or None
        Type of the letters.
    C : float
        Cost of errors of the linear model; a larger C regularises less.
    accuracy, accuracy_error : float
        Leave-one-out accuracy in percent, or R^2, and its standard error. Groups, the user's
        or of near-copies, are left out together. Models with the squared hinge loss hold out every
        fifth object instead. For multilabel models, percent of the objects with all labels right.
        With several families and up to about 1,000 objects, C and the kernel weights for each third
        of the objects were chosen by the other two thirds; else the same predictions chose them,
        so the accuracy can be too high.
    largest_class : float
        Percent of the training objects in the largest class, or with the most frequent set of
        labels; nan for a regression.
    confusion : ndarray of int64, shape (k, k) or (k, 2, 2), or None
        Left-out training objects by true class (rows) and predicted class; for multilabel models,
        a matrix for each label.
    calibration : Calibration or LabelCalibration
        Left-out decisions, and the map from decisions to probabilities.
    reference : ReferenceObjects
        At most 4,096 training objects, which `novelty` compares new ones with.
    unused_blocks : tuple of str
        Blocks that got no kernel weight.
    n_train : int
        Number of training objects.
    seconds : mapping of str to float
        Time of each stage of training.
    columns : mapping
        Columns of the file that `d2ke train` read: names of objects (a list), labels, ids (of
        series; rows, of other objects), time and unused columns, and the uses of dates, times,
        durations and booleans (a dict). Models of records by `d2ke_train` have objects and uses;
        other models have an empty mapping.
    inputs : mapping of str to InputKind
        For records, the kind of each column; empty for objects of one kind.
    missing : mapping
        With ``missing="interpolate"``, this rule, and how many values of how many training series
        it filled in: ``rule``, ``values`` and ``series``. Else empty.
    sums : RidgeSums or None
        With ``keep_sums=True``, the sums of products of features that `d2ke_update` adds to.
    near_copies : NearCopies or None
        Groups of near-copies among the training objects, and the accuracy by the rule that was not
        used; None if there are none, or groups were given.
    channel_names : tuple of str, or None
        The names of the channels of vectors, where the training objects had them: new objects with
        names are matched by name.
    n_added : int
        Number of objects that `d2ke_update` added. They are not in n_train, accuracy, confusion
        and calibration.
    """

    blocks: tuple[FittedFeatures, ...]
    scaling: Scaling
    deviation: np.ndarray
    linear: LinearModel
    task: Task
    kind: str
    channels: int
    alphabet: np.ndarray | None
    letters: str | None
    C: float
    accuracy: float
    accuracy_error: float
    largest_class: float
    confusion: np.ndarray | None
    calibration: Calibration | LabelCalibration
    reference: ReferenceObjects
    unused_blocks: tuple[str, ...]
    n_train: int
    seconds: Mapping[str, float]
    columns: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, InputKind] = field(default_factory=dict)
    missing: Mapping[str, Any] = field(default_factory=dict)
    sums: RidgeSums | None = None
    near_copies: NearCopies | None = None
    n_added: int = 0
    channel_names: tuple[str, ...] | None = None

    @property
    def classes(self) -> np.ndarray | None:
        """The classes in sorted order, or the names of several labels; None for a regression."""
        return self.task.classes

    @property
    def groups(self) -> np.ndarray | None:
        """Codes of the groups of near-copies that training found; None if it found none.

        They are of the objects ``near_copies.rows``.
        """
        return None if self.near_copies is None else self.near_copies.groups

    @property
    def distances(self) -> list[str | Callable[..., float]]:
        """The distance of each block that has one."""
        return [block.distance for block in self.blocks if isinstance(block, FittedBlock)]

    @property
    def R(self) -> int:
        """Number of features of all blocks together, the inputs of the linear part."""
        return len(self.scaling.mean)

    @property
    def unsupervised(self) -> np.ndarray:
        """Boolean array: which of the R features belong to blocks computed without labels."""
        return ~per_feature(self.blocks, "supervised")

    @property
    def n_unsupervised(self) -> int:
        """Number of features of blocks computed without labels, the columns of `d2ke_transform`."""
        return sum(block.R for block in self.blocks if not block.supervised)

    def feature_names(self) -> list[str]:
        """Return a name for each column of `d2ke_transform`: the block's and a number."""
        return feature_names([block for block in self.blocks if not block.supervised])

    def __str__(self) -> str:
        return _as_text(self, with_blocks=True)

    def __repr__(self) -> str:
        return _as_text(self, with_blocks=False)

    def _repr_html_(self) -> str:
        return _as_html(self)

    def predict(self, X: Any, **options: Any) -> np.ndarray:
        """Return the predicted labels of objects, the first result of `d2ke_predict`.

        Parameters
        ----------
        X : Objects or what `pack` takes
            n objects of the kind that the model was trained on.
        **options
            Of `d2ke_predict`: ``unseen_letters``, ``n_threads`` and ``progress``.

        Returns
        -------
        ndarray of shape (n,), or (n, k) of several labels
            Labels in the type of ``model.classes``, or values of a regression.

        Examples
        --------
        >>> import d2ke
        >>> model = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=32)
        >>> model.predict(["aaab", "bbba"]).tolist()
        [0, 1]
        """
        from d2ke.models.predict import d2ke_predict

        return d2ke_predict(None, X, self, **options)[0]

    def predict_proba(self, X: Any, **options: Any) -> np.ndarray:
        """Return the probabilities of the classes, the last result of `d2ke_predict`.

        Parameters
        ----------
        X, **options
            As for `predict`.

        Returns
        -------
        ndarray of float64, shape (n, n_classes)
            In the order of ``model.classes``; of several labels, the probability of each.

        Raises
        ------
        ValueError
            If the model is a regression.

        Examples
        --------
        >>> import d2ke
        >>> model = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=32)
        >>> (model.predict_proba(["aaab", "bbba"]) > 0.5).tolist()
        [[True, False], [False, True]]
        """
        from d2ke.models.predict import d2ke_predict

        return d2ke_predict(None, X, self, probability=True, **options)[2]

    def score(self, X: Any, y: Sequence[Any] | np.ndarray, **options: Any) -> float:
        """Return the accuracy of predictions between 0 and 1, or R^2.

        `d2ke_predict` and ``model.accuracy`` have accuracies in percent.

        Parameters
        ----------
        X, **options
            As for `predict`.
        y : sequence of length n
            The true labels.

        Returns
        -------
        float
            The part of the objects whose labels are all right; R^2 of a regression.

        Examples
        --------
        >>> import d2ke
        >>> model = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=32)
        >>> model.score(["aaab", "bbba"], [0, 0])
        0.5
        """
        from d2ke.models.predict import d2ke_predict

        score = d2ke_predict(y, X, self, **options)[1]
        return score / 100 if self.task.measure == "accuracy" else score

    def transform(self, X: Any, **options: Any) -> np.ndarray:
        """Return the vectors of objects, the result of `d2ke_transform`.

        Parameters
        ----------
        X
            As for `predict`.
        **options
            Of `d2ke_transform`: ``out``, ``unseen_letters``, ``n_threads`` and ``progress``.

        Returns
        -------
        ndarray of float32, shape (n, model.n_unsupervised)
            The features of the blocks without labels.

        Examples
        --------
        >>> import d2ke
        >>> model = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=32)
        >>> model.transform(["aaab", "bbba"]).shape == (2, model.n_unsupervised)
        True
        """
        from d2ke.models.predict import d2ke_transform

        return d2ke_transform(X, self, **options)

    def save(self, file: str | os.PathLike[str] | BinaryIO) -> None:
        """Write the model to a file, as `save_model` does; `load_model` reads it.

        Parameters
        ----------
        file : path or binary file object
            Written as it is named.

        Examples
        --------
        >>> import io
        >>> import d2ke
        >>> model = d2ke.d2ke_train([0, 1] * 9, ["aab", "bba"] * 9, R=32)
        >>> file = io.BytesIO()
        >>> model.save(file)
        >>> d2ke.load_model(io.BytesIO(file.getvalue())).R == model.R
        True
        """
        from d2ke.models.persistence import save_model

        save_model(file, self)

    def plot(
        self, X: Any = None, y: Any = None, *, n_threads: int | None = None
    ) -> tuple[Axes, ...]:
        """Draw the model with matplotlib, as the report of `d2ke train` does.

        Parameters
        ----------
        X : Objects or what `pack` takes, optional
            The training objects. A sample is drawn from very many.
        y : sequence of length n, optional
            Their labels.
        n_threads : int, optional
            Threads to use; None for all that this process may use.

        Returns
        -------
        tuple of matplotlib.axes.Axes
            In a new figure, up to three in a row, of left-out training objects: the confusion
            matrix, rows true and columns predicted, of up to 1,000 classes; how often predictions
            are correct against the probabilities that they are, for 15 bins (a reliability
            diagram); and of two classes the ROC curve. For a regression, predictions against true
            values. With `X` and `y` also, first, a map of the training objects by the first two
            principal components of their features without labels, as `d2ke_transform` returns them,
            and, last, the cross-validated accuracy (of a regression R^2) against R.

        Raises
        ------
        ImportError
            Without matplotlib, saying how to install it.
        TypeError, ValueError
            X and y that the model was not trained on, or y alone.

        Examples
        --------
        >>> import d2ke
        >>> y, X = [0, 1] * 9, ["aab", "bba"] * 9
        >>> model = d2ke.d2ke_train(y, X, R=32)
        >>> confusion, reliability, roc = model.plot()  # doctest: +SKIP
        >>> confusion.figure.savefig("model.png")  # doctest: +SKIP
        >>> objects, confusion, reliability, roc, curve = model.plot(X, y)  # doctest: +SKIP
        """
        from d2ke.plots.model import plot_model

        check_model(self, "plot")
        return plot_model(self, X, y, n_threads)

    def check_objects(self, X: Any, unseen_letters: str | None = "allow") -> Any:
        """Pack objects, with channels in the model's order; refuse objects of another kind.

        Letters that occur in no training string are an error for "refuse", a warning for "allow";
        for None they are not checked.
        """
        if self.kind == "any":
            return list_of("X", X)
        refuse = None if unseen_letters is None else unseen_letters == "refuse"
        row = KINDS.get(self.kind)
        added_kind = self.kind if row is not None and row.read is not None else None  # `add_kind`
        if self.missing:
            kinds = {name: kind.kind for name, kind in self.inputs.items()}
            kinds |= dict(self.columns.get("uses", {}))
            X, _ = fill_missing(X, "X", kinds, added_kind or "series")
        if self.inputs:
            uses = self.columns.get("uses", {})
            return check_records(X, self.inputs, self.blocks, refuse, uses)
        kind = InputKind(self.kind, self.channels, self.alphabet, self.letters, self.channel_names)
        return kind.check("X", as_objects("X", X, added_kind), X, self.blocks, refuse)

    def features(self, X: Any, n_threads: int | None, rows: np.ndarray | None = None) -> np.ndarray:
        """Return scaled features of checked objects, float32 of shape (n, R).

        With `rows`, X are these training objects, and their features as in training.
        """
        return self.feature_map.features(X, n_threads, rows)

    def map_features(
        self,
        objects: Any,
        functions: Sequence[Callable[[np.ndarray], np.ndarray]],
        n_threads: int | None,
        progress: bool | None = False,
    ) -> list[np.ndarray]:
        """Return the results of functions of scaled features for checked objects, in one pass."""
        chunks = [
            [function(Z) for function in functions]
            for _, Z in self.feature_map.by_blocks(objects, n_threads, progress)
        ]
        if not chunks:
            return [function(np.empty((0, self.R), np.float32)) for function in functions]
        return [np.concatenate(results) for results in zip(*chunks, strict=True)]

    def p_values(self, Z: np.ndarray, n_threads: int | None) -> np.ndarray:
        """Return the p-values of `novelty` for scaled features Z."""
        return self.reference.p_values(self.scaling.undo(Z)[:, self.unsupervised], n_threads)

    @cached_property
    def feature_map(self) -> FeatureMap:
        """The scaled features of all blocks."""
        return FeatureMap(self.blocks, self.scaling)

    @cached_property
    def unsupervised_map(self) -> FeatureMap:
        """The features that `d2ke_transform` returns: of the blocks computed without labels.

        The kernel weights of their families keep their ratios and sum to 1.
        """
        columns = self.unsupervised
        if columns.all():
            return self.feature_map
        blocks = [block for block in self.blocks if not block.supervised]
        weights: dict[str, float] = {block.family: block.kernel_weight for block in blocks}
        divisor = self.scaling.divisor[columns] * np.sqrt(sum(weights.values()))
        return FeatureMap(blocks, Scaling(self.scaling.mean[columns], divisor))

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, without cached properties."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


def check_model(model: Any, function: str = "") -> None:
    """Refuse an object that is not a model, or a multilabel model in a function for one label."""
    if not isinstance(model, D2KEModel):
        raise ArgumentTypeError(
            "model", f"must be a D2KEModel, what d2ke_train returns; got {type(model).__name__}"
        )
    if function and model.task.multilabel:
        raise ArgumentError(
            "model", f"has several labels an object, and {function} is for models of one"
        )


def block_rows(model: D2KEModel) -> list[tuple[str, int, str]]:
    """Return name, number of features and distance of each block."""
    return [(block.name, block.R, block.describe()) for block in model.blocks]


def _title(model: D2KEModel) -> list[str]:
    """Return the number of blocks and features, and C; and a line about objects of one kind."""
    lines = [f"D2KE of {len(model.blocks)} blocks, {model.R} features, C = {model.C:g}"]
    if model.alphabet is not None:
        unit = "words" if model.letters == "token" else "letters"
        lines.append(f"{model.kind} over {len(model.alphabet)} {unit}")
    elif model.kind in ("series", "sets"):
        counts = "counts" if model.kind == "series" else "does not count"
        lines.append(f"{model.kind}: the order of rows {counts}")
    return lines


def _notes(model: D2KEModel) -> list[str]:
    """Return lines about the training: objects, accuracy, columns, calibration, time."""
    lines = [model.task.report(model)]
    if isinstance(model.task, Classes) and like_amounts(model.task.classes):
        first, last = model.task.classes[[0, -1]]
        lines.append(
            f"each of the whole numbers from {first} to {last} is a class: if they are amounts, "
            "say task='regression'"
        )
    if model.alphabet is not None and model.kind == "strings":
        values, offsets = np.empty(0, code_dtype(len(model.alphabet))), np.zeros(2, np.int64)
        empty = from_owned("strings", values, offsets, model.alphabet, model.letters)
        with suppress(ValueError):  # Hamming distances refuse it
            (decisions,) = model.map_features(empty, [model.linear.decide], 1)
            label = model.task.predict(decisions).tolist()[0]
            text = f"{label:.4g}" if is_value(label) else repr(label)
            lines.append(f"an empty string gets {text}")
    if model.near_copies is not None:
        lines.append(model.near_copies.report(model))
    if model.columns:
        lines.append(f"read: {ColumnNames.from_dict(model.columns)}")
    if model.missing:
        lines.append(
            f"missing values: {model.missing['values']} in {model.missing['series']} series, "
            "filled in linearly in time"
        )
    lines.append(str(model.calibration))
    if model.n_added:
        lines.append(
            f"calibration and accuracy are from the first {model.n_train} of "
            f"{model.n_train + model.n_added} objects"
        )
    times = ", ".join(f"{stage} {value:.2f}" for stage, value in model.seconds.items())
    return [*lines, f"seconds: {times}"]


def _as_text(model: D2KEModel, with_blocks: bool) -> str:
    """Return the report of a model: in full, or with at most eight families and without blocks."""
    title, *objects = _title(model)
    lines = [title, *(f"  {line}" for line in objects)]
    families = {block.family: block.kernel_weight for block in model.blocks}
    n_hidden = 0 if with_blocks else max(0, len(families) - 8)
    if n_hidden:
        families = dict(list(_kernel_weights(model).items())[:8])
    if len(families) > 1 or model.unused_blocks:
        named = ", ".join(f"{100 * weight:.0f} % {family}" for family, weight in families.items())
        lines.append(f"  shares of the kernel: {named}{f' and {n_hidden} more' * bool(n_hidden)}")
    if with_blocks:
        width = max(28, *(len(block.name) for block in model.blocks))
        lines += [f"  {name:{width}} {R:5} x {distance}" for name, R, distance in block_rows(model)]
        if model.unused_blocks:
            lines.append(f"  without a share: {', '.join(model.unused_blocks)}")
    return "\n".join([*lines, *_notes(model)])


def _kernel_weights(model: D2KEModel) -> dict[str, float]:
    """Return the weight of each family in the kernel, the largest first."""
    weights = {block.family: block.kernel_weight for block in model.blocks}
    return dict(sorted(weights.items(), key=lambda item: -item[1]))


_HTML = """<div style="max-width: 60rem">
<p style="margin: 0 0 0.5em"><b>{title}</b><br>
{notes}</p>
{weights}
<details><summary>{n_blocks} blocks</summary>
<table><thead><tr><th>block</th><th>features</th><th>distance</th></tr></thead>
<tbody>{blocks}</tbody></table></details>
</div>"""
_WEIGHTS = """<table><caption style="text-align: left">shares of the kernel</caption>
{}</table>"""
# An outline in the text's colour makes the bar visible on light and dark pages.
_WEIGHT = (
    '<tr><td style="text-align: left">{family}</td><td style="text-align: right">{percent:.0f} %'
    '</td><td style="text-align: left; width: 12rem"><div style="width: {percent:.1f}%; '
    'height: 0.7em; background: #0072B2; outline: 1px solid"></div></td></tr>'
)
_BLOCK_ROW = (
    '<tr><td style="text-align: left">{}</td><td>{}</td><td style="text-align: left">{}</td></tr>'
)


def _as_html(model: D2KEModel) -> str:
    """Return the report of a model as HTML: kernel weights as bars, blocks folded."""
    title, *objects = _title(model)
    bars = [
        _WEIGHT.format(family=escape(family), percent=100 * weight)
        for family, weight in _kernel_weights(model).items()
    ]
    lines = (escape(line.replace("+-", "±")) for line in objects + _notes(model))
    rows = (_BLOCK_ROW.format(*map(escape, map(str, row))) for row in block_rows(model))
    return _HTML.format(
        title=escape(title), notes="<br>\n".join(lines),
        weights=_WEIGHTS.format("\n".join(bars)) if len(bars) > 1 else "",
        n_blocks=len(model.blocks), blocks="".join(rows),
    )  # fmt: skip


# Reference objects are compared by their distances to the random objects instead of by the
# features, which hardly differ far from a random object. On 100 pairs of data and strangers, the
# mean AUC is higher than with features, features whitened by the ridge, or variances of the ridge.
#
# Let F_ij = exp(-gamma_j d(x_i, omega_j)) / sqrt(R_b) be feature j of object i, of a block b of R_b
# features among B blocks. The vector of the object, its weights and its projection to 512 columns
# are, with random signs s_j = +-1,
#
#     a_ij = -log F_ij,  at most 10 median distances;  F_ij itself for plain features and kernels,
#     weights_j = s_j / sqrt(B R_b) / (deviation_j + 0.01),
#     sums_ic = sum over j = c mod 512 of weights_j (a_ij - centre_j).
#
# So |sums_i - sums_h|^2 is, up to about 4 %, the mean over blocks of the mean squared distance of
# standardised vectors. Where products of features are a kernel k, all features of the block are
# divided by the root of k(x, x) - |mean|^2 instead, and the part of k(x, x) beyond the features,
#
#     lacking_i = (k(x_i, x_i) - |F_i|^2) / (B (k(x, x) - |mean|^2)),
#
# adds to the squares, as these parts of two objects are taken as orthogonal. The score and the
# p-value of a new object i among m reference objects h are
#
#     score_i = min_h sqrt(|sums_i - sums_h|^2 + lacking_i + lacking_h),
#     p_i = (1 + number of h with score_h >= score_i) / (m + 1) / max(1, score_i / max_h score_h).
COLUMNS = 512  # random projections of an object: 1024 do not rank better
_VARIED = 0.01  # added to deviations: features that vary less do not count
_ROWS = 256  # computed at a time
_ROUNDING = 2e-3  # of float16, in distances; two objects are usually at distance 1.4


@dataclass(frozen=True, eq=False)
class ReferenceObjects:
    """Random projections of training objects, and their distances to the nearest other object.

    The vector of an object has its distances to the random objects in units of the medians, which
    are minus the logarithms of the features, and the plain features of records. The entries are
    standardised, and all blocks get equal parts of the variance. Sums of entries with random signs
    (a count sketch) keep Euclidean distances up to about 4 %.

    Features whose products are a kernel are not standardised, to keep the distances of the kernel.
    A reference object is scored among the other ones as if it were new. The part of an object's
    kernel with itself that the features lack (all of it, if the object has nothing in common with
    the random objects) adds to its squared distances.

    Attributes
    ----------
    plain : ndarray of bool, shape (R,)
        True for features that are not functions of a distance.
    weights : ndarray of float32, shape (R,)
        Signed weights; feature j is added to column j modulo 512.
    centre : ndarray of float32, shape (R,)
        Means of the vectors.
    rows : ndarray of float16, shape (m, min(R, 512))
        Projections of at most 4,096 training objects.
    scores : ndarray of float32, shape (m,)
        Distance of each object to the nearest other one.
    kernels : ndarray of float64, shape (n, 4)
        For each block whose products of features are a kernel: its first feature, the end of its
        features, the kernel of an object with itself, and the square of the weights.
    lacking : ndarray of float32, shape (m,)
        lacking_i of the reference objects.
    """

    plain: np.ndarray = field(repr=False)
    weights: np.ndarray = field(repr=False)
    centre: np.ndarray = field(repr=False)
    rows: np.ndarray = field(repr=False)
    scores: np.ndarray = field(repr=False)
    kernels: np.ndarray = field(repr=False)
    lacking: np.ndarray = field(repr=False)

    @classmethod
    def of(
        cls,
        F: np.ndarray,
        blocks: Sequence[FittedFeatures],
        indices: np.ndarray,
        entropy: Any,
        n_threads: int | None,
    ) -> ReferenceObjects:
        """Return the training objects `indices`, with unscaled features F, as reference objects."""
        sizes = np.array([block.R for block in blocks], np.int64)
        is_plain = np.repeat(np.array([not block.kinds for block in blocks], bool), sizes)
        R = F.shape[1]
        sums = np.zeros((2, R))
        for first in range(0, len(F), _ROWS):
            away = _medians(F[first : first + _ROWS], is_plain)
            if not first:
                centre = away.mean(axis=0)
            away -= centre
            sums += away.sum(axis=0, dtype=np.float64), (away**2).sum(axis=0, dtype=np.float64)
        mean, squares = sums / len(F)
        deviation = np.sqrt(np.maximum(squares - mean**2, 0))
        signs = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(COLUMNS,)))
        deviation = (deviation + _VARIED) * np.sqrt(np.repeat(sizes, sizes))
        kernels = []
        for block, columns in column_slices(blocks):
            if block.self_kernel:
                total = block.self_kernel - (mean[columns] ** 2).sum()
                deviation[columns] = np.sqrt(max(total, _VARIED))
                square = 1 / (len(blocks) * deviation[columns.start] ** 2)
                kernels.append((columns.start, columns.stop, block.self_kernel, square))
        weights = signs.choice([-1.0, 1.0], R) / (deviation * np.sqrt(len(blocks)))
        centre = (centre + mean).astype(np.float32)
        empty = np.empty(0)
        result = cls(
            is_plain, weights.astype(np.float32), centre, empty, empty,
            np.array(kernels, np.float64).reshape(-1, 4), empty,
        )  # fmt: skip
        result = replace(result, rows=result.sums(F).astype(np.float16), lacking=result.lack(F))
        if kernels:
            F = np.hstack([
                block.as_new(F[:, columns], indices) for block, columns in column_slices(blocks)
            ])  # fmt: skip
        scores = result.nearest(
            result.sums(F).astype(np.float16).astype(np.float32), result.lack(F), n_threads, True
        )
        return replace(result, scores=scores)

    def sums(self, F: np.ndarray) -> np.ndarray:
        """Return the projections of objects with unscaled features F, float32."""
        width = min(F.shape[1], COLUMNS)
        result = np.zeros((len(F), width), np.float32)
        for first in range(0, len(F), _ROWS):
            chunk = slice(first, first + _ROWS)
            away = (_medians(F[chunk], self.plain) - self.centre) * self.weights
            for column in range(0, F.shape[1], width or 1):
                strip = away[:, column : column + width]
                result[chunk, : strip.shape[1]] += strip
        return result

    def lack(self, F: np.ndarray) -> np.ndarray:
        """Return lacking_i for unscaled features F."""
        result = np.zeros(len(F), np.float32)
        for first, end, self_kernel, weight in self.kernels.tolist():
            strip = F[:, int(first) : int(end)]
            squares = np.einsum("ij,ij->i", strip, strip, dtype=np.float64)
            result += weight * np.maximum(self_kernel - squares, 0)
        return result

    def nearest(
        self,
        A: np.ndarray,
        lacking: np.ndarray,
        n_threads: int | None,
        leave_out_self: bool = False,
    ) -> np.ndarray:
        """Return the distance of each projection to the nearest reference object."""
        distances = np.empty(len(A), np.float32)
        B, norms = self._columns
        step = 4 * _ROWS
        for first in range(0, len(A), step):
            chunk = A[first : first + step]
            D = norms - 2 * row_products(chunk, B, n_threads)
            if leave_out_self:
                np.fill_diagonal(D[:, first:], np.inf)
            # Differences of squares of nearly equal rows would be rounding.
            nearest = D.argmin(axis=1)
            squares = ((chunk - B[nearest]) ** 2).sum(axis=1) + self.lacking[nearest]
            distances[first : first + step] = np.sqrt(squares + lacking[first : first + step])
        return distances

    @cached_property
    def _columns(self) -> tuple[np.ndarray, np.ndarray]:
        B = self.rows.astype(np.float32)
        return B, (B**2).sum(axis=1) + self.lacking

    def p_values(self, F: np.ndarray, n_threads: int | None) -> np.ndarray:
        """Return conformal p-values of objects with unscaled features F.

        They are the fraction of reference objects, with the object itself, whose scores are at
        least as high. Above the highest score, the fraction is divided by the ratio of the scores,
        so that strangers have an order.
        """
        reference = np.sort(self.scores)
        scores = self.nearest(self.sums(F), self.lack(F), n_threads)
        farther = len(reference) - np.searchsorted(reference, scores - _ROUNDING)
        beyond = np.maximum(scores / (reference[-1] + _ROUNDING), 1.0)
        return (1 + farther) / (1 + len(reference)) / beyond


def _medians(F: np.ndarray, plain: np.ndarray) -> np.ndarray:
    """Return distances to the random objects in units of the medians; keep plain features.

    They are shifted by a constant for each block.
    """
    smallest = np.float32(np.exp(-10.0) / np.sqrt(max(1, F.shape[1])))
    return np.where(plain, F, -np.log(np.maximum(F, smallest)))
