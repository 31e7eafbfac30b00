# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of features: the protocol, and fitting them; `feature_map` applies them.

A block has a name, a `family`, `R` features, perhaps a `column` of records,
``fit(sample, seed)``, which returns a fitted block, and ``resized(R)``. A fitted block is a
`FittedFeatures`: ``features(X, n_threads, rows)`` returns the features of objects, and
``describe()`` a short description. A block that needs no fitting is its own fitted block.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.memory import check_fits
from d2ke._base.progress import stages
from d2ke.models.labels import Labels
from d2ke.objects.container import Objects
from d2ke.objects.records import Column, Records

# Random objects, gammas, divisors and kernel weights are estimated from one sample of at most this
# many rows, which depends on the seed and the number of objects only, not on their container.
SAMPLE = 4096
LARGEST = 2048  # min(rows, features) of an eigendecomposition, which takes two seconds


class CopyGroups(NamedTuple):
    """Group codes of n objects. If most objects have near-copies, the groups decide.

    Groups that decide are left out together in every choice and score.
    """

    codes: np.ndarray
    decide: bool


@dataclass(frozen=True, eq=False)
class Sample:
    """Training objects that blocks are fitted to.

    Attributes
    ----------
    objects : Objects, Records or list
        The objects; for a block of a column of records, the entries of the column.
    rows : ndarray of int64
        Rows of the objects among all training objects, sorted.
    labels : Labels
        Labels of the objects, for supervised blocks.
    n_threads : int or None
        Threads to use.
    progress : bool or None
        As for `d2ke_train`.
    near_copies : CopyGroups or None
        Near-copies in the sample, if any were searched for and found. If they decide, `labels`
        has the same groups.
    """

    objects: Any
    rows: np.ndarray
    labels: Labels
    n_threads: int | None = None
    progress: bool | None = False
    near_copies: CopyGroups | None = None

    def column_entries(self, name: str) -> Sample:
        """Return the entries of a column of records; itself for "", objects of one kind."""
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
        """Its column of records; empty for objects of one kind."""

    @property
    def R(self) -> int:
        """Number of features, at most."""

    @property
    def first(self) -> int:
        """Number of features in the first pass of training; 0 for all R."""

    @property
    def supervised(self) -> bool:
        """Whether features are computed from labels."""

    @property
    def sample_size(self) -> int:
        """Size of the block's own sample; 0 for the sample of all blocks."""

    def fit(self, sample: Sample, seed: Any) -> FittedFeatures | None:
        """Return the fitted block; None if it has no features for this sample."""

    def fit_features(self, sample: Sample, seed: Any) -> tuple[FittedFeatures | None, np.ndarray]:
        """Return the fitted block, and the features of the sample."""

    def resized(self, R: int) -> AnyBlock:
        """Return the block with R features; itself if its size is fixed."""


class UnfittedBlock:
    """Base of blocks whose fitted form is another class."""

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
        Blocks of one family share a kernel weight, which training chooses.
    column : str
        Its column of records; empty for objects of one kind.
    members : tuple of str
        Names of the candidate kernels that include the family; see `Block`. By default the family
        is a candidate by itself.
    kernel_weight : float
        Weight of the family; training sets it.
    fill : ndarray of float32, shape (R,), or None
        Features of a row without an entry in the column; by default the means of all entries.
    supervised : bool
        Whether features are computed from labels.
    prior : float
        Prior weight of the family, relative to other families.
    sample_size : int
        Size of the block's own sample; 0 for the sample of all blocks.
    kinds : int
        Number of kinds of distances; features of each kind are adjacent and equally many. 0 for
        features that are not functions of a distance.
    self_kernel : float
        If products of features are a kernel, k(x, x); for objects that are not random objects, the
        products are smaller. Else 0.
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
            """The reference of each feature, usually a random object, for explanations."""

    @property
    def kinds(self) -> int:
        """Number of kinds of distances."""
        return 0

    @property
    def self_kernel(self) -> float:
        """The kernel of an object with itself, if products of features are one."""
        return 0.0

    def as_new(self, F: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the features of the training objects `rows` as if they were new."""
        return F

    def fit(self, sample: Sample, seed: Any) -> FittedFeatures | None:
        """Return the fitted block: itself."""
        return self

    def fit_features(self, sample: Sample, seed: Any) -> tuple[FittedFeatures | None, np.ndarray]:
        """Return the fitted block, and the features of the sample."""
        fitted = self.fit(sample, seed)
        if fitted is None:
            return None, np.empty((len(sample.rows), 0), np.float32)
        return fitted, fitted.features(sample.objects, sample.n_threads, sample.rows)

    def resized(self, R: int) -> FittedFeatures:
        """Return itself: its size is fixed."""
        return self

    def features(
        self, X: Any, n_threads: int | None = None, rows: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the features of objects, float32 of shape (n, R).

        With `rows`, in rising order, X are these training objects.
        """
        raise NotImplementedError

    def describe(self) -> str:
        """Return a short description of the features, for reports."""
        return type(self).__name__.lower()

    def warn_of_unseen(self, column: Column) -> None:
        """Warn of entries of a column that occur in no training row, if features depend on it."""

    def check(self, n_channels: int) -> None:
        """Refuse inconsistent arrays of a file, for objects of `n_channels` channels.

        Compiled kernels would read beyond their ends.
        """


class FeatureBlock(FittedFeatures):
    """Base of blocks of features without random objects.

    A subclass, a frozen dataclass with `R` and `features`, is a block of `d2ke_train`. If it learns
    from training objects, its ``fit(sample, seed)`` returns a fitted copy.
    """

    @property
    def omega(self) -> list[str]:
        """Names of the features, for explanations."""
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
    """Return the blocks, fitted if their size is fixed.

    `block_samples` maps each `sample_size` to its sample; `sample` is the default.
    """
    seeds = np.random.SeedSequence(entropy).spawn(len(blocks))
    fitted: list[AnyBlock] = []
    for block, seed in zip(blocks, seeds, strict=True):
        if block.resized(block.R) is not block:
            fitted.append(block)
            continue
        block_sample = block_samples.get(block.sample_size, sample)
        fixed = block.fit(block_sample.column_entries(block.column), seed)
        if fixed is not None:
            fitted.append(fixed)
    return tuple(fitted)


def fit_blocks(
    blocks: Sequence[AnyBlock],
    sample: Sample,
    entropy: Any,
    families: Collection[str] | None = None,
) -> tuple[tuple[FittedFeatures, ...], np.ndarray]:
    """Fit blocks to a sample; return them, and the features of the sample side by side.

    `families` are the families to fit, by default all. The seed of a block depends on its index
    among all blocks.
    """
    seeds = np.random.SeedSequence(entropy).spawn(len(blocks))
    seeded = [
        (block, seed)
        for block, seed in zip(blocks, seeds, strict=True)
        if families is None or block.family in families
    ]
    R, n = sum(block.R for block, _ in seeded), len(sample.objects)
    check_fits(4 * n * R, f"{R} features of {n} objects", "take a smaller R")
    F = np.empty((n, R), np.float32)
    fitted, first = [], 0
    for block, seed in stages(seeded, "blocks", sample.progress):
        new, features = block.fit_features(sample.column_entries(block.column), seed)
        if new is None or not new.R:
            continue
        if block.column:
            if new.fill is None:
                means = features.mean(axis=0, dtype=np.float64)
                new = replace(new, fill=means.astype(np.float32))
            features = spread(features, sample.objects[block.column], new.fill)
        F[:, first : first + new.R] = features
        first += new.R
        fitted.append(new)
    if not fitted:
        raise ArgumentError("blocks", "have no random objects: their samplers drew none")
    return tuple(fitted), np.ascontiguousarray(F[:, :first])  # samplers may draw fewer objects


def spread(features: np.ndarray, column: Column, fill: np.ndarray | None) -> np.ndarray:
    """Spread the features of a column's entries over its rows, with `fill` where none is."""
    if not column.missing.any():
        return features
    result = np.empty((len(column), features.shape[1]), np.float32)
    result[column.rows], result[column.missing] = features, fill
    return result


def per_feature(blocks: Sequence[FittedFeatures], name: str) -> np.ndarray:
    """Return an attribute of the block of each feature, such as its family."""
    return np.repeat([getattr(block, name) for block in blocks], [block.R for block in blocks])


def column_slices(blocks: Sequence[FittedFeatures]) -> Iterator[tuple[FittedFeatures, slice]]:
    """Yield each block with the slice of its columns among the features of all blocks."""
    first = 0
    for block in blocks:
        yield block, slice(first, first + block.R)
        first += block.R


def feature_names(blocks: Sequence[FittedFeatures]) -> list[str]:
    """Return a name for each feature: the block's and a number."""
    return [f"{block.name}.{j}" for block in blocks for j in range(block.R)]


def entropy_of(seed: Any) -> Any:
    """Return the entropy for `numpy.random.SeedSequence` of a seed of any type."""
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    if isinstance(seed, np.random.SeedSequence):
        return seed.entropy
    return integer("seed", seed, 0)


def sample_rows(n: int, entropy: Any, size: int | None = None) -> np.ndarray:
    """Return the sorted rows of a sample of at most max(`SAMPLE`, size) of n objects."""
    size = max(SAMPLE, size or 0)
    if n <= size:
        return np.arange(n)
    rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(SAMPLE,)))
    return np.sort(rng.choice(n, size, replace=False, shuffle=False))


def take(X: Any, rows: np.ndarray) -> Any:
    """Return the objects of sorted rows: X itself for all of a collection in memory."""
    if len(rows) == len(X) and isinstance(X, (list, Objects, Records)):
        return X
    return [X[i] for i in rows.tolist()] if isinstance(X, list) else X[rows]
