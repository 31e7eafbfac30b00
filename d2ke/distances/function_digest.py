# SPDX-License-Identifier: BSD-3-Clause
"""Digests of Python functions: a file is resumed only with the distance that it was begun with."""

from __future__ import annotations

import functools
import hashlib
import sys
import sysconfig
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from d2ke._base.resume import UNKNOWN
from d2ke.distances.fingerprint import add_value

_LIBRARIES = tuple(
    Path(folder).resolve()
    for name, folder in sysconfig.get_paths().items()
    if name in ("stdlib", "platstdlib", "purelib", "platlib")
)
# Of a class's or a module's names, those that do not decide what it computes.
_ASIDE = {"__doc__", "__module__", "__qualname__", "__dict__", "__weakref__", "__annotations__"}
_ASIDE |= {"__firstlineno__", "__static_attributes__", "_abc_impl"}
_WRAPPED = ("__wrapped__", "py_func")  # of functools' and numba's decorators
_MEMBERS = types.MemberDescriptorType, types.GetSetDescriptorType
_DESCRIPTORS = (
    types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType
)  # fmt: skip
_OURS = ("d2ke", "matlab_compat")


class _UnknownError(Exception):
    """A part of a function that has no content to compare; with its name."""


def function_digest(name: str, function: Callable[..., Any]) -> str:
    """Return the SHA-256 of all that decides what a function computes, as far as Python shows it.

    That is its code, the defaults of its arguments, the variables of functions around it, the
    globals that it names, the arguments of a `functools.partial`, and the attributes and methods
    of an object. Functions of installed packages count by name and the package's version. If the
    function has an attribute ``version``, a str, that counts in the place of all this.

    Parameters
    ----------
    name : str
        The caller's argument.
    function : callable
        The function.

    Returns
    -------
    str
        The digest; or a text that begins with `UNKNOWN` and names the part that has no content to
        compare.
    """
    version = getattr(function, "version", None)
    if isinstance(version, str):
        return f"version {version!r}"
    digest = _FunctionDigest()
    try:
        digest.add(function, name)
    except _UnknownError as unknown:
        return f"{UNKNOWN}{unknown}"
    except RecursionError:
        return f"{UNKNOWN}{name} is nested too deeply"
    return digest.hexdigest()


class _FunctionDigest:
    """A digest of values of any type, each of which is looked into once."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no id is used again
        self.hexdigest = self._digest.hexdigest

    def add(self, value: Any, name: str) -> None:
        """Add a value; `name` is how a user would write it."""
        if id(value) in self._seen:
            self._text(f"again {self._seen[id(value)]}")
            return
        try:
            add_value(self._digest, value, name)
            return
        except TypeError:
            pass  # no plain value
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        self._text(type(value).__name__)
        if isinstance(value, (list, tuple)):
            self._parts(enumerate(value), name)
        elif isinstance(value, Mapping):
            self._parts(value.items(), name)
        elif isinstance(value, (set, frozenset)):
            self._unordered(value, name)
        elif isinstance(value, types.ModuleType):
            self._text(f"{value.__name__} {_version(value.__name__)}")
        elif isinstance(value, types.CodeType):
            self._code(value, name)
        elif isinstance(value, np.ufunc):
            self._text(f"{value.__name__} {np.__version__}")
        elif _is_of_library(value):
            self._text(f"{value.__module__}.{value.__qualname__} {_version(value.__module__)}")
        elif isinstance(value, types.FunctionType):
            self._function(value, name)
        elif isinstance(value, types.MethodType):
            self.add(value.__func__, name)
            self.add(value.__self__, f"{name}.__self__")
        elif isinstance(value, functools.partial):
            self.add(value.func, f"{name}.func")
            self._parts(enumerate(value.args), f"{name}.args")
            self._parts(value.keywords.items(), f"{name}.keywords")
        elif isinstance(value, _DESCRIPTORS):
            self._text(f"{value.__objclass__.__qualname__}.{value.__name__}")
        elif isinstance(value, types.BuiltinMethodType):
            self._text(value.__name__)
            self.add(value.__self__, f"{name}.__self__")
        elif isinstance(value, np.ndarray):
            self._text(str(value.shape))
            self._parts(enumerate(value.ravel().tolist()), name)
        elif isinstance(value, (staticmethod, classmethod)):
            self.add(value.__func__, name)
        elif isinstance(value, property):
            for part in ("fget", "fset", "fdel"):
                self.add(getattr(value, part), f"{name}.{part}")
        elif isinstance(value, type):
            self._class(value, name)
        else:
            self._object(value, name)

    def _text(self, text: str) -> None:
        self._digest.update(f"{len(text)} {text} ".encode())

    def _parts(self, parts: Iterable[tuple[Any, Any]], name: str) -> None:
        for key, part in parts:
            self.add(key, name)
            self.add(part, f"{name}[{key!r}]")
        self._text("end")

    def _unordered(self, values: Iterable[Any], name: str) -> None:
        """Add the members of a set, whose order differs from one process to the next."""
        digests = []
        for value in values:
            member = _FunctionDigest()
            member.add(value, name)
            digests.append(member.hexdigest())
        self._text(" ".join(sorted(digests)))

    def _code(self, code: types.CodeType, name: str) -> None:
        self._text(code.co_code.hex())
        self._text(repr((code.co_names, code.co_freevars, code.co_cellvars, code.co_argcount)))
        for constant in code.co_consts:
            self.add(constant, name)

    def _function(self, function: types.FunctionType, name: str) -> None:
        self._code(function.__code__, name)
        self.add(function.__defaults__, f"{name}.__defaults__")
        self.add(function.__kwdefaults__, f"{name}.__kwdefaults__")
        self.add(function.__dict__, name)
        cells = function.__closure__ or ()
        for variable, cell in zip(function.__code__.co_freevars, cells, strict=True):
            try:
                self.add(cell.cell_contents, f"{variable} of {name}")
            except ValueError:  # a variable that has no value yet
                self._text("empty")
        for variable in _global_names(function.__code__):
            if variable in function.__globals__:
                self._text(variable)
                self.add(function.__globals__[variable], variable)

    def _class(self, kind: type, name: str) -> None:
        self._text(f"{kind.__module__}.{kind.__qualname__}")
        if not kind.__flags__ & (1 << 9):  # a type of C, which has no more to show
            self._text(_version(kind.__module__))
            return
        for base in kind.__bases__:
            self.add(base, name)
        for attribute, value in sorted(vars(kind).items()):
            if attribute not in _ASIDE and not isinstance(value, _MEMBERS):
                self._text(attribute)
                self.add(value, f"{name}.{attribute}")

    def _object(self, value: Any, name: str) -> None:
        wrapped = next((part for part in _WRAPPED if hasattr(value, part)), None)
        if wrapped is not None:
            self.add(getattr(value, wrapped), name)
            return
        try:  # as pickle and copy see its content
            reduced = value.__reduce_ex__(4)
        except Exception as error:  # of the user's class, so it can be any
            raise _UnknownError(f"{name} is of type {type(value).__name__}: {error}") from None
        if isinstance(reduced, str):
            raise _UnknownError(f"{name} is of type {type(value).__name__}, which does not show it")
        for part in reduced:
            self.add(list(part) if isinstance(part, Iterator) else part, name)


def _global_names(code: types.CodeType) -> list[str]:
    """Return the names in a function and in those inside it; attributes are among them."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(_global_names(constant))
    return sorted(names)


def _is_of_library(value: Any) -> bool:
    """Tell whether a function or a class is of an installed package or of Python itself."""
    module = getattr(value, "__module__", None)
    if not isinstance(module, str) or not hasattr(value, "__qualname__"):
        return False
    name = module.partition(".")[0]
    if name in _OURS or name in sys.builtin_module_names:
        return name != "__main__"
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        return False
    return any(folder in Path(file).resolve().parents for folder in _LIBRARIES)


@functools.cache
def _version(package: str) -> str:
    version = getattr(sys.modules.get(package.partition(".")[0]), "__version__", None)
    return version if isinstance(version, str) else sys.version
