# SPDX-License-Identifier: BSD-3-Clause
"""`load` and `save` of MAT-files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from d2ke._base.checks import choice, file_path
from d2ke._base.keywords import hinted
from d2ke.io import load_mat, save_mat
from matlab_compat._cells import Struct


@hinted
def load(filename: str, *names: str) -> Struct:
    """Read the variables of a MAT-file of any version.

    Parameters
    ----------
    filename : path
        The file; ".mat" is added where it has no suffix.
    *names : str
        The variables to read; all by default.

    Returns
    -------
    Struct
        The variables as `d2ke.io.load_mat` returns them.

    Raises
    ------
    OSError, ValueError
        As `d2ke.io.load_mat`.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> file = os.path.join(tempfile.mkdtemp(), "a.mat")
    >>> save(file, {"X": np.array([[1.0, 2.0]])})
    >>> load(file).X
    array([[1., 2.]])
    """
    return Struct(load_mat(_mat(filename), list(names) or None))


@hinted
def save(filename: str, variables: Mapping[str, Any], version: str = "-v7") -> None:
    """Write variables to a MAT-file.

    Parameters
    ----------
    filename : path
        The file; ".mat" is added where it has no suffix.
    variables : dict or Struct
        Names and values, since a function does not see its caller's variables.
    version : {"-v7", "-v6", "-v7.3"}
        The file's version.

    Raises
    ------
    OSError, TypeError, ValueError
        As `d2ke.io.save_mat`; another version.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> file = os.path.join(tempfile.mkdtemp(), "a")
    >>> save(file, {"X": np.eye(1), "y": np.eye(1)}, "-v7.3")
    >>> load(file, "X")
    Struct(X=array([[1.]]))
    """
    versions = {"-v6": ("5", False), "-v7": ("5", True), "-v7.3": ("7.3", True)}
    choice("version", version, versions)
    number, compress = versions[version]
    save_mat(_mat(filename), variables, version=number, compress=compress)


def _mat(filename: Any) -> Path:
    path = file_path("filename", filename)
    return path if path.suffix else path.with_suffix(".mat")
