# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of features: the protocol, and fitting them; `feature_map` applies them.

A block has a name, a `family`, `R` features, perhaps a `column` of records that it sees,
``fit(sample, seed)``, which returns a fitted block, and ``resized(R)``. A fitted block is a
`FittedFeatures`: ``features(X, n_threads, rows)`` returns the features of objects, ``describe()`` a
few words about them. A block that needs no fitting is its own fitted block.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.memory import check_fits
from d2ke._base.progress import stages
from d2ke.models.labels import Labels
from d2ke.objects.container import Objects
from d2ke.objects.records import Column

# Random objects, gammas, divisors and kernel weights come from one sample of so many rows, which
# the seed and the number of objects determine: it is the same wherever the objects are.
SAMPLE = 4096
LARGEST = 2048  # rows or features, whichever are fewer, of an eigendecomposition: two seconds


class CopyGroups(NamedTuple):
    """Codes of n objects' groups, and whether most of them have near-copies, so that these decide.

    Groups that decide are left out together wherever something is chosen or measured.
    """

    codes: np.ndarray
    decide: bool


@dataclass(frozen=True, eq=False)
class Sample:
    """Training objects that blocks are fitted to.

    Attributes
    ----------
    objects : Objects, Records or list
        The objects; for a block that sees a column of records, the entries of that column.
    rows : ndarray of int64
        Their rows among all training objects, sorted.
    labels : Labels
        Their labels, for supervised blocks.
    n_threads : int or None
        Threads to use.
    progress : bool or None
        As for `d2ke_train`.
    near_copies : CopyGroups or None
        Their near-copies, if some were looked for and found. Those that decide are the groups of
        the labels, too.
    """

    objects: Any
    rows: np.ndarray
    labels: Labels
    n_threads: int | None = None
    progress: bool | None = False
    near_copies: CopyGroups | None = None

    def of_column(self, name: str) -> Sample:
        """Return the entries of a column of records; of objects of one kind, named "", itself."""
        if not name:
            return self
        column = self.objects[name]
        rows, labels = self.rows[column.rows], self.labels[column.rows]
        return replace(self, objects=column.values, rows=rows, labels=labels)


class AnyBlock(Protocol):
    """A block before it is fitted."""

    @property
    def name(self) -> str:
        """For reports."""

    @property
    def family(self) -> str:
        """Blocks of one family have one kernel weight."""

    @property
    def column(self) -> str:
        """The column of records that it sees; empty for objects of one kind."""

    @property
    def R(self) -> int:
        """Number of features, at most."""

    @property
    def first(self) -> int:
        """Number of features that training begins with; 0 for all R."""

    @property
    def supervised(self) -> bool:
        """Whether features are computed from labels."""

    @property
    def sample_size(self) -> int:
        """Size of a sample of its own that it is fitted to; 0 for the sample of all blocks."""

    def fit(self, sample: Sample, seed: Any) -> FittedFeatures | None:
        """Return the fitted block; None if it has no features for this sample."""

    def fit_features(self, sample: Sample, seed: Any) -> tuple[FittedFeatures | None, np.ndarray]:
        """Fit the block; return the features of the sample too."""

    def resized(self, R: int) -> AnyBlock:
        """Return the block with R features; itself if its size is fixed."""


class UnfittedBlock:
    """The base of blocks that are another class before they are fitted."""

    first: int = 0
    supervised: ClassVar[bool] = False
    sample_size: ClassVar[int] = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedFeatures:
    """A fitted block of features.

    Subclasses are frozen dataclasses with `R`, `omega` and `features`.

    Attributes
    ----------
    name : str
        For reports.
    family : str
        Blocks of one family have one kernel weight, which training chooses.
    column : str
        The column of records that it sees; empty for objects of one kind.
    members : tuple of str
        Names of the members, means of kernels of families, that its family is in; see `Block`. By
        default the family is a member by itself.
    kernel_weight : float
        Of the family; training sets it.
    fill : ndarray of float32, shape (R,), or None
        The features of a row without an entry in the column: by default the means of the others.
    supervised : bool
        Whether features are computed from labels.
    prior : float
        Weight of the family before training chooses one, relative to that of others.
    sample_size : int
        Number of training objects of a sample of its own that the block is fitted to; 0 for the
        sample of all blocks.
    kinds : int
        Number of kinds of distances whose features are side by side, as many of each; 0 for
        features that are not functions of a distance.
    self_kernel : float
        If products of features are a kernel, its value for an object with itself; products of
        features of an object that is not among the random objects are smaller. Else 0.
    sd_power : float
        Features are divided by their standard deviations to this power.
    sources, hidden, own : ndarray or None
        See `FittedBlock`.
    """

    name: str
    family: str = ""
    column: str = ""
    members: tuple[str, ...] = ()
    kernel_weight: float = 1.0
    fill: np.ndarray | None = None

    first: ClassVar[int] = 0
    supervised: ClassVar[bool] = False
    prior: ClassVar[float] = 1.0
    sample_size: ClassVar[int] = 0
    sd_power: Any = 1.0
    sources: Any = field(default=None, repr=False)
    hidden: Any = field(default=None, repr=False)
    own: Any = field(default=None, repr=False)

    @property
    def R(self) -> int:
        """Number of features."""
        raise NotImplementedError

    if TYPE_CHECKING:  # a field of some subclasses, and a property of others

        @property
        def omega(self) -> Any:
            """Random objects, or what else each feature is about, for explanations."""

    @property
    def kinds(self) -> int:
        """Number of kinds of distances."""
        return 0

    @property
    def self_kernel(self) -> float:
        """The kernel of an object with itself, if products of features are one."""
        return 0.0

    def as_new(self, F: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the features of training objects, by their numbers, as if they were new."""
        return F

    def fit(self, sample: Sample, seed: Any) -> FittedFeatures | None:
        """Return the fitted block: itself."""
        return self

    def fit_features(self, sample: Sample, seed: Any) -> tuple[FittedFeatures | None, np.ndarray]:
        """Fit the block; return the features of the sample too."""
        ready = self.fit(sample, seed)
        if ready is None:
            return None, np.empty((len(sample.rows), 0), np.float32)
        return ready, ready.features(sample.objects, sample.n_threads, sample.rows)

    def resized(self, R: int) -> FittedFeatures:
        """Return itself: its size is fixed."""
        return self

    def features(
        self, X: Any, n_threads: int | None = None, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the features of objects, float32 of shape (n, R).

        With `rows`, X are the training objects of these rows, in rising order.
        """
        raise NotImplementedError

    def describe(self) -> str:
        """Return a few words about the features, for reports."""
        return type(self).__name__.lower()

    def warn_of_unseen(self, column: Column) -> None:
        """Warn of entries of a column that no training row has, if features need that."""

    def check(self, n_channels: int) -> None:
        """Refuse arrays of a file that do not fit together, which kernels would leave.

        `n_channels` are those of the objects.
        """


class FeatureBlock(FittedFeatures):
    """The base of blocks of features that are about no random objects.

    A subclass, a frozen dataclass with `R` and `features`, is a block of `d2ke_train`. If it needs
    to see training objects, its ``fit(sample, seed)`` returns a copy with what it learned.
    """

    @property
    def omega(self) -> list[str]:
        """What each feature is about, for explanations."""
        return feature_names([self])


def check_blocks(blocks: Any) -> None:
    """Refuse anything but a list of blocks."""
    if not isinstance(blocks, (list, tuple)):
        raise ArgumentTypeError("blocks", f"must be a list of Block, got {type(blocks).__name__}")
    if not blocks:
        raise ArgumentError("blocks", "is empty; at least one is needed")
    for i, block in enumerate(blocks):
        if not isinstance(block, (UnfittedBlock, FittedFeatures)):
            raise ArgumentTypeError(
                "blocks",
                "must be a Block, or an object of a subclass of d2ke.models.FeatureBlock; got "
                f"{type(block).__name__}",
                i,
            )


def fit_fixed(
    blocks: Sequence[AnyBlock], sample: Sample, block_samples: Mapping[int, Sample], entropy: Any
) -> tuple[AnyBlock, ...]:
    """Return the blocks; those of a fixed size are fitted, the others when sizes are chosen.

    Blocks with a `sample_size` are fitted to the sample of that size, if there is one.
    """
    seeds = np.random.SeedSequence(entropy).spawn(len(blocks))
    fitted: list[AnyBlock] = []
    for block, seed in zip(blocks, seeds, strict=True):
        if block.resized(block.R) is not block:
            fitted.append(block)
            continue
        seen = block_samples.get(block.sample_size, sample)
        ready = block.fit(seen.of_column(block.column), seed)
        if ready is not None:
            fitted.append(ready)
    return tuple(fitted)


def fit_blocks(
    blocks: Sequence[AnyBlock],
    sample: Sample,
    entropy: Any,
    families: Collection[str] | None = None,
) -> tuple[tuple[FittedFeatures, ...], np.ndarray]:
    """Fit all blocks to a sample; return them, and the features of the sample side by side.

    With `families`, only blocks of these. The seed of a block depends on its place among all.
    """
    seeds = np.random.SeedSequence(entropy).spawn(len(blocks))
    chosen = [
        (block, seed)
        for block, seed in zip(blocks, seeds, strict=True)
        if families is None or block.family in families
    ]
    R, n = sum(block.R for block, _ in chosen), len(sample.objects)
    check_fits(4 * n * R, f"{R} features of {n} objects", "take a smaller R")
    F = np.empty((n, R), np.float32)
    fitted, first = [], 0
    for block, seed in stages(chosen, "blocks", sample.progress):
        ready, features = block.fit_features(sample.of_column(block.column), seed)
        if ready is None or not ready.R:
            continue
        if block.column:
            if ready.fill is None:
                means = features.mean(axis=0, dtype=np.float64)
                ready = replace(ready, fill=means.astype(np.float32))
            features = spread(features, sample.objects[block.column], ready.fill)
        F[:, first : first + ready.R] = features
        first += ready.R
        fitted.append(ready)
    if not fitted:
        raise ArgumentError("blocks", "have no random objects: their samplers drew none")
    return tuple(fitted), np.ascontiguousarray(F[:, :first])  # samplers may draw fewer objects


def spread(features: np.ndarray, column: Column, fill: np.ndarray | None) -> np.ndarray:
    """Return the features of all rows of a column; `features` are those of its entries."""
    if not column.missing.any():
        return features
    result = np.empty((len(column), features.shape[1]), np.float32)
    result[column.rows], result[column.missing] = features, fill
    return result


def per_feature(blocks: Sequence[FittedFeatures], fact: str) -> np.ndarray:
    """Return a fact of the block of each feature, such as its family."""
    values = np.array(list(map(attrgetter(fact), blocks)))
    return np.repeat(values, list(map(attrgetter("R"), blocks)))


def feature_names(blocks: Sequence[FittedFeatures]) -> list[str]:
    """Return a name for each feature: the block's and a number."""
    return [f"{block.name}.{j}" for block in blocks for j in range(block.R)]


def entropy_of(seed: Any) -> Any:
    """Return what a seed of any kind gives to `numpy.random.SeedSequence`."""
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    if isinstance(seed, np.random.SeedSequence):
        return seed.entropy
    return integer("seed", seed, 0)


def sample_rows(n: int, entropy: Any, size: int | None = None) -> np.ndarray:
    """Return the sorted rows of a sample of n objects: all of up to `SAMPLE`, or up to `size`."""
    size = max(SAMPLE, size or 0)
    if n <= size:
        return np.arange(n)
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(SAMPLE,)))
    return np.sort(rng.choice(n, size, replace=False, shuffle=False))


def take(X: Any, rows: np.ndarray) -> Any:
    """Return some of the objects, packed or in a list."""
    if isinstance(X, list):
        return X if len(rows) == len(X) else [X[i] for i in rows.tolist()]
    return X if isinstance(X, Objects) and len(rows) == len(X) else X[rows]
