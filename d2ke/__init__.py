# SPDX-License-Identifier: BSD-3-Clause
"""d2ke: learning from distances.

Give it a dissimilarity between structured objects (time series, strings, sets
of vectors) and it gives back vector embeddings, positive-definite kernels and
the models on top of them::

    model = d2ke.d2ke_train(y, X)
    labels, accuracy, decisions = d2ke.d2ke_predict(None, X_new, model)
"""

from d2ke._base import command_interrupts as _command_interrupts  # noqa: F401 first of all imports

# isort: split
import lazy_loader as _lazy_loader

# The public names are those of __init__.pyi; a module is loaded when a name of it is first used.
_load, __dir__, __all__ = _lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    try:
        return _load(name)
    except AttributeError:
        from d2ke._hints import hint_of

        hint = "" if name.startswith("_") else hint_of(name)
        raise AttributeError(f"module 'd2ke' has no attribute {name!r}{hint}") from None


# They need extras, so that a star import leaves them out.
for _name in ("dask", "estimators"):
    __all__.remove(_name)
