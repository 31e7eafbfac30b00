# SPDX-License-Identifier: BSD-3-Clause
"""Several outputs of one function, the first of which MATLAB's scripts may take alone."""

from __future__ import annotations

from typing import Any, NoReturn


class Outputs(tuple[Any, ...]):
    """A tuple of a function's outputs that refuses to be used as if it were the first.

    In MATLAB ``K = f(x)`` takes the first output. In Python K would be the tuple of all, which
    numpy would make an array of. Arithmetic with it, numpy's functions, comparisons and the
    attributes of arrays raise a TypeError with the code to write instead.

    Examples
    --------
    >>> outputs = Outputs("wmd_dist", KMat=1.5, t=0.1)
    >>> K, seconds = outputs
    >>> outputs / 2
    Traceback (most recent call last):
    ...
    TypeError: wmd_dist returns 2 outputs; write KMat, t = wmd_dist(...), or wmd_dist(...)[0] for \
the first alone
    """

    _function: str
    _names: tuple[str, ...]

    def __new__(cls, function: str, /, **values: Any) -> Outputs:
        outputs = super().__new__(cls, values.values())
        outputs._function, outputs._names = function, tuple(values)
        return outputs

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (self._function,), dict(zip(self._names, self, strict=True))

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        name = self._function
        raise TypeError(
            f"{name} returns {len(self)} outputs; write {', '.join(self._names)} = {name}(...), "
            f"or {name}(...)[0] for the first alone"
        )

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "size", "T", "dtype", "ravel", "reshape", "astype", "sum"):
            self._refuse()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple):
            self._refuse()
        return super().__getitem__(index)

    __array_ufunc__ = __array_function__ = __array__ = _refuse
    __neg__ = __pos__ = __abs__ = __float__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = _refuse
    __rmatmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _refuse
    __mod__ = __rmod__ = __pow__ = __rpow__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
