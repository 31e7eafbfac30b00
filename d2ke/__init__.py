# SPDX-License-Identifier: BSD-3-Clause
"""d2ke: learning from distances of time series, strings, sets of vectors, graphs and records.

The everyday names; `X` is a list of objects, `y` their labels:

Data
    pack, pack_records       objects in one container, checked once
    io.read_objects          objects and labels of a file
    frame                    results as a data frame, by the names of the objects
Models
    d2ke_train(y, X)         train a classifier or a regression; model.predict(X_new)
    d2ke_predict, predict_set, novelty
                             labels, sets of labels, inputs unlike the training objects
    d2ke_explain             why a model decides as it does
    d2ke_transform           vectors for any other method
    save_model, load_model
    estimators               the same for scikit-learn
Distances
    distance_matrix          all distances; distance_names() lists what there is
    align                    how two objects align
    learn_costs              costs of edits from pairs such as misspellings and corrections
Neighbours
    nearest, within          the k nearest, all within a radius
    Index                    for many calls: saved, growing, exact
    nearest_windows          where a short series occurs in long ones
    outlier_scores           objects far from all others
Groups
    dedupe, link             rows about the same person
    hdbscan, single_linkage, kmedoids

All other names are listed by the help of their packages, such as ``help(d2ke.models)``.
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
