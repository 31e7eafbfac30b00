# SPDX-License-Identifier: BSD-3-Clause
"""Novelty: p-values of new objects under the distribution of the training objects."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.keywords import hinted
from d2ke.models.model import D2KEModel
from d2ke.models.predict import checked


@hinted
def novelty(
    X: Any,
    model: D2KEModel,
    *,
    unseen_letters: str = "allow",
    n_threads: int | None = None,
    progress: bool | None = None,
) -> NDArray[np.float64]:
    """Return p-values of objects under the distribution of the training objects.

    The score of an object is the distance to the nearest training object, in the distances to the
    model's random objects. Its p-value is the fraction of training objects, the object itself
    included, whose score is at least as high: small for strangers.

    Parameters
    ----------
    X : Objects or what `pack` takes
        n objects of the kind that the model was trained on.
    model : D2KEModel
        What `d2ke_train` or `load_model` returned.
    unseen_letters, n_threads, progress
        As for `d2ke_predict`.

    Returns
    -------
    ndarray of float64, shape (n,)
        P-values above 0. About a share p of objects like the training objects has p-values of at
        most p, if p is at least 1 / (m + 1) for the m training objects that the model keeps, at
        most 4,096. Smaller p-values only sort the strangers: an object whose score is t times the
        largest one has 1 / (t (m + 1)).

    Raises
    ------
    TypeError, ValueError
        As `d2ke_predict`.

    Warns
    -----
    UserWarning
        As `d2ke_predict`.

    See Also
    --------
    outlier_scores : Outlier scores of objects among themselves, without a model.

    Notes
    -----
    These are conformal p-values [1]_ of left-out scores, for new objects that are drawn as the
    training objects were. A prediction may be wrong although no p-value is small: see
    `predict_set`. Features that are computed from labels, the scores of pieces of strings, are not
    used, nor are labels themselves; but labels chose
    the shares of the families of blocks, and with them the random objects.

    References
    ----------
    .. [1] Vovk, Gammerman, Shafer, "Algorithmic Learning in a Random World", 2005.

    Examples
    --------
    >>> import d2ke
    >>> X = [a * i + b * (9 - i) for i in range(10) for a, b in ("ab", "ac", "bc")]
    >>> model = d2ke.d2ke_train(["a" in x for x in X], X, R=64)
    >>> d2ke.novelty(["aaabbbbb", "cacacacacacacaca"], model) < 0.05
    array([False,  True])
    """
    objects = checked(X, model, unseen_letters, n_threads, progress)
    p_values = partial(model.p_values, n_threads=n_threads)
    return model.map_features(objects, [p_values], n_threads, progress)[0]
