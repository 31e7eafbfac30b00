# SPDX-License-Identifier: BSD-3-Clause
"""Labels of new objects from the results of `cdsk` and `lpdsk`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from d2ke._base.errors import ArgumentTypeError
from d2ke._base.keywords import hinted
from d2ke.discriminative.cdsk import Clustering
from d2ke.discriminative.lpdsk import Propagation
from d2ke.discriminative.similarity_graph import indicators


@hinted
def discriminative_predict(
    result: Clustering | Propagation,
    K_new: Any = None,
    *,
    points: Any = None,
    distances: Any = None,
    features: Any = None,
) -> NDArray[Any]:
    """Predict the clusters or labels of new objects.

    The kernel classifier of the computed weights and labels: it predicts the label with the largest
    sum of alpha_i K(x, x_i) over the objects i with this label.

    Parameters
    ----------
    result : Clustering or Propagation
        What `cdsk` or `lpdsk` returned.
    K_new : array_like or scipy sparse, shape (m, n)
        Similarities of m new objects to the n training objects, for a result of K.
    points : array_like, shape (m, d)
        New vectors, for a result of points. With widths that were chosen, the similarities are
        those to the nearest training objects, by the same rule as for the training.
    distances : array_like, shape (m, n)
        Distances to the training objects, for a result of distances.
    features : array_like, shape (m, R)
        Features, for a result of features.

    Returns
    -------
    ndarray of shape (m,)
        Labels, of the type of ``result.labels``; -1, or `unknown` of `lpdsk`, for objects
        without similarity to any that has a label.

    Raises
    ------
    TypeError
        Another result, or objects in another form than in training.
    ValueError
        A number of columns that does not fit, or values that are not finite.
    MemoryError
        If the call would take more than there is; see docs/memory.md.

    Notes
    -----
    A row equal to a training object's gets that object's label. The result holds the training
    arrays themselves, not copies: do not change them before predicting.

    References
    ----------
    Yang, Liang, Jojic, Yan, Feng, Huang, "Discriminative Similarity for Clustering and
    Semi-Supervised Learning", 2017, eq. (1) and section 5.

    Examples
    --------
    >>> import d2ke
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.3]]
    >>> result = d2ke.cdsk(points=X, n_clusters=2)
    >>> d2ke.discriminative_predict(result, points=[[0.4], [4.0]]).tolist()
    [0, 1]
    """
    if not isinstance(result, (Clustering, Propagation)):
        raise ArgumentTypeError(
            "result", f"must be what cdsk or lpdsk returned, got {type(result).__name__}"
        )
    trained = result.trained
    names = ("K_new", "points", "distances", "features")
    values = dict(zip(names, (K_new, points, distances, features), strict=True))
    forms = [name for name, value in values.items() if value is not None]
    if forms != [trained.form]:
        raise TypeError(
            f"the result is of {trained.form.replace('_new', '')}: give {trained.form} only, got "
            f"{' and '.join(forms) or 'none'}"
        )
    rows = trained.read(values[trained.form])
    n = len(result.labels)
    classes = result.classes if isinstance(result, Propagation) else np.arange(n)
    codes = np.minimum(np.searchsorted(classes, result.labels), len(classes) - 1)
    reached = result.reached if isinstance(result, Propagation) else np.ones(n, bool)
    c = int(codes.max()) + 1
    similar = trained.similarities(rows)
    votes = indicators(codes, c) * reached[:, None]
    scores = similar @ (votes * result.alpha[:, None])
    # Where all near objects have weight 0, their weights count as equal.
    lost = ~(scores.max(axis=1, initial=0.0) > 0)
    scores[lost] = similar[lost] @ votes
    labels = classes[scores.argmax(axis=1)].astype(result.labels.dtype)
    labels[~(scores.max(axis=1, initial=0.0) > 0)] = trained.marker
    same = trained.same(rows)
    labels[same >= 0] = result.labels[same[same >= 0]]
    return labels
