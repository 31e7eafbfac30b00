# SPDX-License-Identifier: BSD-3-Clause
"""The functions of d2ke on dask collections: lazy results, cut into the partitions of X.

They take the arguments of the functions in memory. X (and Y, and labels) may be

- `Objects`, or what else `pack` takes, which are cut into partitions;
- a Series of dask.dataframe: strings, or Arrow lists of numbers or of strings;
- a bag or an array of dask, which is cut along its first axis only;
- a list of `dask.delayed` parts, each of which gives what `pack` takes;
- of a model of records, a DataFrame of dask.dataframe, delayed parts of what `pack_records` takes,
  or `Records`.

The result is a dask array with a block of rows for each partition. Scheduling, lost workers,
retries and cancelling are dask's, and so is writing: ``to_zarr``, ``to_hdf5``, ``store``.
"""

try:
    import dask.array  # noqa: F401 what of dask is needed
    import dask.sizeof
except ImportError as error:
    raise ImportError(
        f"d2ke.dask needs dask 2025.1 or later ({error}): pip install 'd2ke[dask]'"
    ) from error

from dataclasses import fields
from operator import attrgetter
from typing import Any

from d2ke.dask.matrices import d2ke_embed, distance_matrix
from d2ke.dask.merged_neighbors import nearest, within
from d2ke.dask.prediction import d2ke_predict, d2ke_transform, novelty
from d2ke.dask.training import d2ke_train
from d2ke.learners.ridge import Ridge, RidgeSums
from d2ke.models.blocks import Sample
from d2ke.models.calibration import Calibration
from d2ke.models.data import Chunk
from d2ke.models.distance_blocks import FittedBlock
from d2ke.models.features import Features
from d2ke.models.labels import Labels
from d2ke.models.loo import LooScores
from d2ke.models.model import D2KEModel, ReferenceObjects
from d2ke.objects.container import Objects
from d2ke.objects.records import Column, Records

__all__ = [
    "d2ke_embed",
    "d2ke_predict",
    "d2ke_train",
    "d2ke_transform",
    "distance_matrix",
    "nearest",
    "novelty",
    "within",
]


def _size(made: Any) -> int:
    """Return the bytes of a dataclass."""
    return sum(dask.sizeof.sizeof(getattr(made, field.name)) for field in fields(made))


# Workers decide by sizes what to spill to disk and what to send to each other.
dask.sizeof.sizeof.register(Objects, attrgetter("nbytes"))
dask.sizeof.sizeof.register(
    Records, lambda records: sum(map(dask.sizeof.sizeof, records.columns.values()))
)
for kind in (
    Calibration, Chunk, Column, D2KEModel, Features, FittedBlock, Labels, LooScores, Ridge,
    ReferenceObjects, RidgeSums, Sample,
):  # fmt: skip
    dask.sizeof.sizeof.register(kind, _size)
