# SPDX-License-Identifier: BSD-3-Clause
"""The result of a search: printed, saved, loaded and drawn."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from d2ke._base.checks import file_path
from d2ke._base.errors import ArgumentError
from d2ke._base.files import lists_to_tuples, open_file, write_file
from d2ke._base.keywords import hinted
from d2ke._base.results import first_lines
from d2ke._base.text import show
from d2ke._version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FORMAT = "d2ke search"


@dataclass(frozen=True)
class Search:
    """The settings of a search and their accuracies, and the best setting.

    Attributes
    ----------
    parameters : dict
        The chosen values.
    accuracy : float
        Their cross-validated accuracy, percent.
    tried : tuple of (dict, float)
        Every setting with its accuracy, in the order tried.
    info : dict
        The method, the distance with its parameters, grid, number of objects and folds, seed,
        seconds.

    Examples
    --------
    >>> from d2ke.model_selection.result import Search
    >>> print(Search.best_of([({"k": 1}, 70.0), ({"k": 3}, 72.5)]))
    72.50 % in cross-validation with k 3
        72.50 %  k 3
        70.00 %  k 1
    """

    parameters: dict[str, Any]
    accuracy: float
    tried: tuple[tuple[dict[str, Any], float], ...]
    info: dict[str, Any] = field(default_factory=dict, compare=False)

    @classmethod
    def best_of(cls, scores: Sequence[tuple[dict[str, Any], float]]) -> Search:
        """Return the search with these settings and accuracies; the first of equals is best."""
        if not scores:
            raise ValueError(
                "candidates (or a grid of values) is empty: there is nothing to choose from"
            )
        parameters, accuracy = max(scores, key=itemgetter(1))
        return cls(parameters, accuracy, tuple(scores))

    def __str__(self) -> str:
        method = f"{self.info['method']}: " if "method" in self.info else ""
        lines = [f"{method}{self.accuracy:.2f} % in cross-validation with {show(self.parameters)}"]
        ranked = sorted(self.tried, key=itemgetter(1), reverse=True)
        settings = [f"{accuracy:9.2f} %  {show(values)}" for values, accuracy in ranked]
        return "\n".join([*lines, *first_lines(settings, 5)])

    def __repr__(self) -> str:
        return str(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a JSON file, which `load_search` reads, and MATLAB's `jsondecode`.

        The field ``CRC`` is the CRC-32 of all other fields, by which `load_search` finds damage.
        An existing file is replaced when the new one is complete.
        """
        path = file_path("path", path)
        record = {
            "format": _FORMAT,
            "version": __version__,
            "parameters": self.parameters,
            "accuracy": self.accuracy,
            "tried": self.tried,
            "info": self.info,
        }
        record = json.loads(json.dumps(record, default=_plain))
        text = json.dumps({**record, "CRC": _crc(record)}, indent=2)
        write_file(path, (text + "\n").encode())

    def plot(self) -> Figure:
        """Draw the best accuracy reached with each value of each parameter.

        Returns
        -------
        matplotlib.figure.Figure
            One panel for each parameter that has more than one value.
        """
        from d2ke.plots.search import plot_search

        return plot_search(self)


@hinted
def load_search(path: str | os.PathLike[str]) -> Search:
    """Read a search that `Search.save` wrote.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    Search
        Equal to the one saved.

    Raises
    ------
    ValueError
        If the file does not hold a search, or is damaged ("FILE is damaged: WHAT").
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import os, tempfile
    >>> from d2ke.model_selection.result import Search, load_search
    >>> search = Search.best_of([({"k": 1}, 70.0), ({"k": 3}, 72.5)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "search.json")
    ...     search.save(path)
    ...     load_search(path) == search
    True
    """
    path = file_path("path", path)
    try:
        with open_file(path) as stream:
            record = json.loads(stream.read())
        if record["format"] != _FORMAT:
            raise ValueError(f"its format is {record['format']!r}")
        intact = record.pop("CRC") == _crc(record)
        search = Search(
            _restored(record["parameters"]),
            float(record["accuracy"]),
            tuple((_restored(values), float(accuracy)) for values, accuracy in record["tried"]),
            _restored(record["info"]),
        )
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise ArgumentError(str(path), f"does not hold a search of d2ke: {error}") from error
    if not intact:
        raise ArgumentError(str(path), "is damaged: the CRC-32 of its values is another one")
    return search


def printable(value: Any) -> Any:
    """Return a parameter in a form that a file can keep."""
    if isinstance(value, (tuple, list)):
        return tuple(map(printable, value))
    return value if isinstance(value, (str, int, float)) or value is None else repr(value)


def _crc(record: Mapping[str, Any]) -> str:
    """Return the CRC-32 of a record's values, as 8 hexadecimal digits."""
    return f"{zlib.crc32(json.dumps(record, sort_keys=True).encode()):08x}"


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"a parameter is a {type(value).__name__}, which cannot be saved")


def _restored(values: Mapping[str, Any]) -> dict[str, Any]:
    """Turn ranges from lists back into tuples."""
    return {name: lists_to_tuples(value) for name, value in values.items()}
