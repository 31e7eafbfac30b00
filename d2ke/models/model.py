# SPDX-License-Identifier: BSD-3-Clause
"""A trained model of objects: its blocks, the scaling of their features, a linear model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.errors import ArgumentTypeError, warn
from d2ke._base.progress import stages
from d2ke.embedding.scaling import Scaling
from d2ke.learners.linear_model import LinearModel
from d2ke.learners.ridge import RidgeSums
from d2ke.models.blocks import FittedFeatures, block_features, feature_names
from d2ke.models.calibration import Calibration, LabelCalibration
from d2ke.models.distance_blocks import FittedBlock
from d2ke.models.inputs import InputKind, check_records
from d2ke.models.known import KnownObjects
from d2ke.models.tasks import Task
from d2ke.objects.column_names import Columns
from d2ke.objects.container import Objects, span_of
from d2ke.objects.packing import as_objects
from d2ke.objects.values import list_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLOCK = 1 << 26  # bytes that the features of some rows take
_PER_FEATURE = 24  # bytes of distances, features and scaled features together
_LEAST_ROWS = 16
_ROWS = {"series": "the order of rows counts", "sets": "the order of rows does not count"}
_FAR = 10  # times the median distance to a random object


@dataclass(frozen=True, eq=False)
class D2KEModel:
    """A trained model of objects, made by `d2ke_train`.

    Attributes
    ----------
    blocks : tuple of FittedFeatures
        Views, distances, random objects and gammas, side by side; of records, numbers and
        categories too.
    scaling : Scaling
        Of the features.
    deviation : ndarray of float64, shape (R,)
        Standard deviations of the scaled features of the training objects.
    linear : LinearModel
        On the scaled features.
    task : Task
        What is predicted: `Classes`, `Values` or `LabelSets`.
    kind : {"series", "sets", "strings", "any", "records"}
        What the objects are; "any" for Python functions as distances.
    channels : int
        Of vectors; else 0.
    alphabet : ndarray or None
        The letters of the training strings.
    letters : {"str", "bytes", "int", "token"} or None
        What the letters are.
    C : float
        Of the linear model.
    accuracy, accuracy_error : float
        Percent of the training objects that are classified correctly when each in turn is left
        out (of a regression: 100 times R^2), and its standard error; with the squared hinge loss,
        of every fifth that was held out. With several labels an object, all must be correct. The
        same predictions chose C and the shares of families of blocks, so the accuracy can be too
        high.
    largest_class : float
        Percent of the training objects in the largest class, or with the most frequent set of
        labels; nan for a regression.
    confusion : ndarray of int64, shape (k, k), or None
        Left-out training objects by true class (rows) and predicted class; of several labels of
        shape (k, 2, 2), for each label without and with it.
    calibration : Calibration or LabelCalibration
        Left-out decisions of training objects, and the map from decisions to probabilities.
    known : KnownObjects
        At most 4,096 training objects, for `novelty`.
    left_out : tuple of str
        Blocks that were tried and left out.
    n_train : int
        Number of training objects.
    seconds : mapping of str to float
        Time by stage.
    columns : mapping
        Names of the columns or variables of the file that `d2ke train` read: objects (a list),
        labels, ids, time, if given, and those that were not used (a list, unused); and which of
        them hold dates, times, durations or booleans (a dict, uses). A model of `d2ke_train` has
        the objects and uses of records, and nothing of objects of one kind.
    inputs : mapping of str to InputKind
        Of records, the kind of each column; empty for objects of one kind.
    sums : RidgeSums or None
        Sums of products of the features of all objects, R^2 numbers, which `d2ke_update` adds to;
        with ``keep_sums=True`` only.
    n_added : int
        Number of objects that `d2ke_update` added; they are not in n_train, and accuracy,
        confusion matrix and calibration are without them.
    """

    blocks: tuple[FittedFeatures, ...]
    scaling: Scaling = field(repr=False)
    deviation: np.ndarray = field(repr=False)
    linear: LinearModel = field(repr=False)
    task: Task = field(repr=False)
    kind: str
    channels: int
    alphabet: np.ndarray | None
    letters: str | None
    C: float
    accuracy: float
    accuracy_error: float
    largest_class: float
    confusion: np.ndarray | None
    calibration: Calibration | LabelCalibration = field(repr=False)
    known: KnownObjects = field(repr=False)
    left_out: tuple[str, ...]
    n_train: int
    seconds: Mapping[str, float]
    columns: Mapping[str, Any] = field(default_factory=dict, repr=False)
    inputs: Mapping[str, InputKind] = field(default_factory=dict, repr=False)
    sums: RidgeSums | None = field(default=None, repr=False)
    n_added: int = 0

    @property
    def classes(self) -> np.ndarray | None:
        """The classes in sorted order, or the names of several labels; None for a regression."""
        return self.task.classes

    @property
    def multilabel(self) -> bool:
        """Whether an object may have several labels."""
        return self.linear.multilabel

    @property
    def R(self) -> int:
        """Number of features of all blocks together, the inputs of the linear part."""
        return len(self.scaling.mean)

    @property
    def unsupervised(self) -> np.ndarray:
        """Boolean array: which of the R features belong to blocks computed without labels."""
        return np.repeat(
            [not block.supervised for block in self.blocks], [block.R for block in self.blocks]
        )

    @property
    def n_unsupervised(self) -> int:
        """Number of these features, which `d2ke_transform` returns."""
        return sum(block.R for block in self.blocks if not block.supervised)

    def feature_names(self) -> list[str]:
        """Return a name for each column of `d2ke_transform`: the block's and a number."""
        return feature_names([block for block in self.blocks if not block.supervised])

    def __str__(self) -> str:
        lines = [f"D2KE of {len(self.blocks)} blocks, {self.R} features, C = {self.C:g}"]
        shares = {block.family: block.share for block in self.blocks}
        if len(shares) > 1 or self.left_out:
            named = (f"{100 * share:.0f} % {family}" for family, share in shares.items())
            lines.append(f"  shares of the kernel: {', '.join(named)}")
        width = max(28, *(len(block.name) for block in self.blocks))
        for block in self.blocks:
            lines.append(f"  {block.name:{width}} {block.R:5} x {block.describe()}")
        if self.kind in _ROWS:
            lines.insert(1, f"  {self.kind}: {_ROWS[self.kind]}")
        if self.left_out:
            lines.append(f"  without a share: {', '.join(self.left_out)}")
        lines.append(self.task.report(self))
        if self.columns:
            lines.append(f"read: {Columns.of_dict(self.columns)}")
        lines.append(str(self.calibration))
        if self.n_added:
            lines.append(
                f"calibration and accuracy are from the first {self.n_train} of "
                f"{self.n_train + self.n_added} objects"
            )
        times = ", ".join(f"{stage} {value:.2f}" for stage, value in self.seconds.items())
        lines.append(f"seconds: {times}")
        return "\n".join(lines)

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
            Side by side in a new figure, of left-out training objects: the confusion matrix, rows
            true and columns predicted, of up to 1,000 classes; how often predictions are correct
            against the probabilities that they are, for 15 bins (a reliability diagram); and of two
            classes the ROC curve. For a regression, predictions against true values. With `X`
            and `y` also, first, a map of the training objects by the first two principal
            components of their features without labels, as `d2ke_transform` returns them, and,
            last, the cross-validated accuracy (of a regression 100 R^2) against R.

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
        from d2ke.explain.pictures import plot_model

        check_model(self, "plot")
        return plot_model(self, X, y, n_threads)

    def check_objects(self, X: Any, unseen_letters: str | None = "allow") -> Any:
        """Pack objects; refuse those that the model was not trained for.

        Letters that no training string has are an error for "refuse", a warning for "allow"; for
        None they are not looked for.
        """
        if self.kind == "any":
            return list_of("X", X)
        refuse = None if unseen_letters is None else unseen_letters == "refuse"
        if self.inputs:
            uses = self.columns.get("uses", {})
            return check_records(X, self.inputs, self.blocks, refuse, uses)
        kind = InputKind(self.kind, self.channels, self.alphabet, self.letters)
        return kind.check("X", as_objects("X", X), X, self.blocks, refuse)

    def block_rows(self, objects: Any) -> int:
        """Return how many rows of features are computed at a time."""
        per_row = _PER_FEATURE * self.R + 64
        columns = [c.values for c in objects.columns.values()] if self.inputs else [objects]
        for values in columns:
            if isinstance(values, Objects) and len(values):
                longest = int(values.lengths.max()) * max(1, values.dim)
                per_row += 32 + 24 * longest * len(self.blocks)
        return max(_LEAST_ROWS, _BLOCK // per_row)

    def feature_blocks(
        self,
        objects: Any,
        n_threads: int | None,
        progress: bool = False,
        supervised: bool = True,
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield slices of checked objects and their scaled features; see `block_rows`.

        `supervised` is that of `blocks_and_scaling`. In the end, warn of objects that are far from
        all random objects.
        """
        step, n = self.block_rows(objects), len(objects)
        blocks, scaling = self.blocks_and_scaling(supervised)
        columns = _columns_of_distances(blocks)
        n_far = dict.fromkeys(columns, 0)
        # exp(-gamma d) / sqrt(R) of a block, with gamma = 1 / median
        largest = max((block.R for block in blocks if isinstance(block, FittedBlock)), default=1)
        smallest = np.exp(-_FAR) / np.sqrt(largest)
        for first in stages(range(0, n, step), "objects", progress):
            rows = slice(first, min(first + step, n))
            Z = block_features(blocks, span_of(objects, rows.start, rows.stop), n_threads)
            for name, of_column in columns.items():
                n_far[name] += np.count_nonzero(Z[:, of_column].max(axis=1) < smallest)
            yield rows, scaling.scale(Z, Z)
        for name, count in n_far.items():
            if count:
                where = f" of column {name!r}" if name else ""
                warn(
                    f"{count} of {n} objects{where} are more than {_FAR} times as far from every "
                    "random object as training objects usually are, so that all of them get nearly "
                    "the same prediction. Are their values in the units of the training objects?"
                )

    def of_features(
        self,
        objects: Any,
        functions: Sequence[Callable[[np.ndarray], np.ndarray]],
        n_threads: int | None,
        progress: bool = False,
    ) -> list[np.ndarray]:
        """Return what functions of scaled features give for checked objects, in one pass."""
        # The results of no rows fix the shapes and types.
        collected = [[function(np.empty((0, self.R), np.float32))] for function in functions]
        for _, Z in self.feature_blocks(objects, n_threads, progress):
            for results, function in zip(collected, functions, strict=True):
                results.append(function(Z))
        return [np.concatenate(results) for results in collected]

    def p_values(self, Z: np.ndarray, n_threads: int | None) -> np.ndarray:
        """Return the p-values of `novelty` of objects with these scaled features."""
        return self.known.p_values(self.scaling.undo(Z)[:, self.unsupervised], n_threads)

    def features(
        self,
        X: Any,
        n_threads: int | None,
        rows: np.ndarray | None = None,
        supervised: bool = True,
    ) -> np.ndarray:
        """Return scaled features of checked objects, float32.

        `rows` are those of X among the training objects, which are treated as in training;
        `supervised` is that of `blocks_and_scaling`.
        """
        blocks, scaling = self.blocks_and_scaling(supervised)
        Z = block_features(blocks, X, n_threads, rows)
        return scaling.scale(Z, Z)

    def blocks_and_scaling(self, supervised: bool) -> tuple[tuple[FittedFeatures, ...], Scaling]:
        """Return blocks and the scaling of their features: all, or those without labels.

        The shares of the families of the latter keep their ratios and sum to 1.
        """
        columns = self.unsupervised
        if supervised or columns.all():
            return self.blocks, self.scaling
        blocks = tuple(block for block in self.blocks if not block.supervised)
        share = sum({block.family: block.share for block in blocks}.values())
        unit = self.scaling.sd[columns] * np.sqrt(
            share * self.R / max(1, np.count_nonzero(columns))
        )
        return blocks, Scaling(self.scaling.mean[columns], unit)


def check_model(model: Any, function: str = "") -> None:
    """Refuse other objects than models, and multilabel models in a function for one label."""
    if not isinstance(model, D2KEModel):
        raise ArgumentTypeError(
            "model", f"must be a D2KEModel, what d2ke_train returns; got {type(model).__name__}"
        )
    if function:
        model.task.check_single_label(function)


def _columns_of_distances(blocks: Sequence[FittedFeatures]) -> dict[str, np.ndarray]:
    """Return, by column of records, the features that are of distances."""
    sizes = [block.R for block in blocks]
    names = [block.column if isinstance(block, FittedBlock) else None for block in blocks]
    of_features = np.repeat(np.array(names, object), sizes)
    return {
        name: np.flatnonzero(of_features == name)
        for name in dict.fromkeys(names)
        if name is not None
    }
