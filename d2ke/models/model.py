# SPDX-License-Identifier: BSD-3-Clause
"""A trained model of objects: its blocks, the scaling of their features, a linear model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke.embedding.scaling import Scaling
from d2ke.learners.linear_model import LinearModel
from d2ke.learners.ridge import RidgeSums
from d2ke.models.blocks import FittedFeatures, feature_names, per_feature
from d2ke.models.calibration import Calibration, LabelCalibration
from d2ke.models.distance_blocks import FittedBlock
from d2ke.models.feature_map import FeatureMap
from d2ke.models.inputs import InputKind, check_records
from d2ke.models.loo import NearCopies
from d2ke.models.reference_objects import ReferenceObjects
from d2ke.models.summary import as_html, as_text
from d2ke.models.tasks import Task
from d2ke.objects.packing import as_objects
from d2ke.objects.record_packing import fill_missing
from d2ke.objects.values import list_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class D2KEModel:
    """A trained model of objects, made by `d2ke_train`.

    A notebook shows it on one screen, with the share of each family in the kernel; ``print(model)``
    lists the blocks too.

    Attributes
    ----------
    blocks : tuple of FittedFeatures
        The blocks of features, side by side: views, distances, random objects and gammas; for
        records, numbers and categories too.
    scaling : Scaling
        Means and units of the features.
    deviation : ndarray of float64, shape (R,)
        Standard deviations of the scaled features of the training objects.
    linear : LinearModel
        Weights of the scaled features.
    task : Task
        What is predicted: `Classes`, `Values` or `LabelSets`.
    kind : {"series", "sets", "strings", "any", "records"}
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
        Up to about 1,000 objects of several families, two thirds of the objects chose C and the
        shares for predictions of the rest; else the same predictions chose them, so the accuracy
        can be too high.
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
        Blocks that got no share of the kernel.
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
        """Number of these features, which `d2ke_transform` returns."""
        return sum(block.R for block in self.blocks if not block.supervised)

    def feature_names(self) -> list[str]:
        """Return a name for each column of `d2ke_transform`: the block's and a number."""
        return feature_names([block for block in self.blocks if not block.supervised])

    def __str__(self) -> str:
        return as_text(self, with_blocks=True)

    def __repr__(self) -> str:
        return as_text(self, with_blocks=False)

    def _repr_html_(self) -> str:
        return as_html(self)

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
        """Pack objects, with channels in the model's order; refuse those that it cannot predict.

        Letters that no training string has are an error for "refuse", a warning for "allow"; for
        None they are not looked for.
        """
        if self.kind == "any":
            return list_of("X", X)
        refuse = None if unseen_letters is None else unseen_letters == "refuse"
        if self.missing:
            kinds = {name: kind.kind for name, kind in self.inputs.items()}
            X, _ = fill_missing(X, "X", kinds | dict(self.columns.get("uses", {})))
        if self.inputs:
            uses = self.columns.get("uses", {})
            return check_records(X, self.inputs, self.blocks, refuse, uses)
        kind = InputKind(self.kind, self.channels, self.alphabet, self.letters, self.channel_names)
        return kind.check("X", as_objects("X", X), X, self.blocks, refuse)

    def features(self, X: Any, n_threads: int | None, rows: np.ndarray | None = None) -> np.ndarray:
        """Return scaled features of checked objects, float32 of shape (n, R).

        `rows` are those of X among the training objects, which are treated as in training.
        """
        return self.feature_map.features(X, n_threads, rows)

    def map_features(
        self,
        objects: Any,
        functions: Sequence[Callable[[np.ndarray], np.ndarray]],
        n_threads: int | None,
        progress: bool | None = False,
    ) -> list[np.ndarray]:
        """Return what functions of scaled features give for checked objects, in one pass."""
        chunks = [
            [function(Z) for function in functions]
            for _, Z in self.feature_map.by_blocks(objects, n_threads, progress)
        ]
        if not chunks:
            return [function(np.empty((0, self.R), np.float32)) for function in functions]
        return [np.concatenate(results) for results in zip(*chunks, strict=True)]

    def p_values(self, Z: np.ndarray, n_threads: int | None) -> np.ndarray:
        """Return the p-values of `novelty` of objects with these scaled features."""
        return self.reference.p_values(self.scaling.undo(Z)[:, self.unsupervised], n_threads)

    @cached_property
    def feature_map(self) -> FeatureMap:
        """The scaled features of all blocks."""
        return FeatureMap(self.blocks, self.scaling)

    @cached_property
    def unsupervised_map(self) -> FeatureMap:
        """The features that `d2ke_transform` returns: of the blocks computed without labels.

        The shares of their families keep their ratios and sum to 1.
        """
        columns = self.unsupervised
        if columns.all():
            return self.feature_map
        blocks = [block for block in self.blocks if not block.supervised]
        shares: dict[str, float] = {block.family: block.share for block in blocks}
        ratio = sum(shares.values()) * self.R / max(1, int(columns.sum()))
        unit = self.scaling.sd[columns] * np.sqrt(ratio)
        return FeatureMap(blocks, Scaling(self.scaling.mean[columns], unit))

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, without what is prepared from them."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


def check_model(model: Any, function: str = "") -> None:
    """Refuse other objects than models, and multilabel models in a function for one label."""
    if not isinstance(model, D2KEModel):
        raise ArgumentTypeError(
            "model", f"must be a D2KEModel, what d2ke_train returns; got {type(model).__name__}"
        )
    if function and model.task.multilabel:
        raise ArgumentError(
            "model", f"has several labels an object, and {function} is for models of one"
        )
