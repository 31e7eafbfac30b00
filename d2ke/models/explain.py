# SPDX-License-Identifier: BSD-3-Clause
"""Explanations of predictions by blocks, random objects, and the training objects among these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from d2ke._base.checks import integer
from d2ke._base.errors import ArgumentError, ArgumentTypeError
from d2ke._base.text import object_text
from d2ke.learners.linear_model import winners
from d2ke.models.model import D2KEModel
from d2ke.models.views import apply_views
from d2ke.models.windows import Window
from d2ke.objects.container import Objects
from d2ke.objects.packing import pack


@dataclass(frozen=True, eq=False)
class Explanation:
    """An explanation of the prediction for one object.

    Attributes
    ----------
    label : object
        The predicted label; a number for a regression.
    decision : float
        The decision value for it; for two classes, positive in favour of the label.
    offset : float
        The part of it that every object has.
    blocks : dict of str to float
        What each block adds to the decision; with `offset` they sum to it.
    omegas : tuple of dict
        The random objects that add most, the largest first: ``block``, ``index`` in its omega,
        ``object`` itself, ``distance``, ``share`` (what it adds) and ``training_object``, its
        place among the training objects or None.
    training_objects : tuple of (int, float)
        The training objects among the random ones that add most, and what they add in all blocks.
    """

    label: Any
    decision: float
    offset: float
    blocks: dict[str, float]
    omegas: tuple[dict[str, Any], ...]
    training_objects: tuple[tuple[int, float], ...]

    def __str__(self) -> str:
        lines = [f"{self.label}: {self.decision:+.3f}, of which {self.offset:+.3f} always"]
        lines += [f"  {value:+.3f} {name}" for name, value in self.blocks.items()]
        lines.append("random objects that add most:")
        for one in self.omegas:
            place = one["training_object"]
            origin = "" if place is None else f", training object {place}"
            item = one["object"]
            text = str(item) if isinstance(item, Window) else object_text(item)
            text = repr(text) if isinstance(item, str) else text
            place = f"{one['block']}[{one['index']}]{origin}"
            lines.append(
                f"  {one['share']:+.4f} {text}, {place}, at distance {one['distance']:.4g}"
            )
        return "\n".join(lines)


def d2ke_explain(x: Any, model: D2KEModel, *, limit: int = 10) -> Explanation:
    """Name the blocks, random objects and training objects that speak most for a prediction.

    The decision value is a sum over features, weight times standardised feature. So each random
    object has a share, and each block the sum of its shares.

    Parameters
    ----------
    x : one object
        Such as ``X[i]``: a string, a series or a set; or Objects that hold one.
    model : D2KEModel
        What `d2ke_train` or `load_model` returned.
    limit : int, default 10
        How many random objects, and training objects, are named.

    Returns
    -------
    Explanation
        ``print(explanation)`` shows it.

    Raises
    ------
    TypeError, ValueError
        As `d2ke_predict`; Objects of more than one object.

    Examples
    --------
    >>> import d2ke
    >>> model = d2ke.d2ke_train(["x", "y"] * 9, ["aab", "bba"] * 9, R=32)
    >>> why = d2ke.d2ke_explain("aaab", model)
    >>> print(why.label)
    x
    >>> abs(why.offset + sum(why.blocks.values()) - why.decision) < 1e-9
    True
    """
    if not isinstance(model, D2KEModel):
        raise ArgumentTypeError(
            "model", f"must be a D2KEModel, what d2ke_train returns; got {type(model).__name__}"
        )
    integer("limit", limit, 1)
    if _is_list_of_objects(x, model):
        raise ArgumentError(
            "x", f"must be one object, got {type(x).__name__} of {len(x)}; take X[i]"
        )
    if isinstance(x, Objects):
        objects = x
    elif model.kind == "any":
        objects = [x]
    else:
        vectors = model.kind == "vectors"
        # Integers are letters where the model says so.
        kind = "strings" if model.letters == "int" and not isinstance(x, (str, bytes)) else None
        first = False if vectors else None
        objects = pack([x], kind=kind, channels_first=first, name="x")
    objects = model.check_objects(objects, "allow")
    distances = [block.distances(apply_views(block.views, objects), 1)[0] for block in model.blocks]
    row = model.features(objects, 1)[0].astype(np.float64)
    linear = model.linear
    decision = linear.weights @ row + linear.bias
    regression = linear.classes is None
    place = 0 if regression else int(winners(decision[None])[0])
    single = len(linear.weights) == 1
    sign = -1.0 if single and not regression and place == 0 else 1.0
    weights = linear.weights[0 if single else place]
    terms = sign * weights * row
    edges = np.cumsum([0, *(block.R for block in model.blocks)])
    by_block: dict[str, float] = {}
    for block, a, b in zip(model.blocks, edges[:-1], edges[1:], strict=True):
        by_block[block.name] = by_block.get(block.name, 0.0) + float(terms[a:b].sum())
    omegas = []
    for j in np.argsort(-terms, kind="stable")[:limit].tolist():
        number = int(np.searchsorted(edges, j, side="right")) - 1
        block, index = model.blocks[number], j - int(edges[number])
        source = -1 if block.sources is None else int(block.sources[index])
        omegas.append({
            "block": block.name, "index": index, "object": block.omega[index],
            "distance": float(distances[number][index]), "share": float(terms[j]),
            "training_object": source if source >= 0 else None,
        })  # fmt: skip
    sums = np.zeros(model.n_train)
    for block, a, b in zip(model.blocks, edges[:-1], edges[1:], strict=True):
        if block.sources is not None:
            cut = block.sources >= 0
            np.add.at(sums, block.sources[cut], terms[a:b][cut])
    first = [i for i in np.argsort(-sums, kind="stable")[:limit].tolist() if sums[i] > 0]
    value = float(decision[0 if single else place])
    offset = float(linear.bias[0 if single else place])
    return Explanation(
        value if regression else linear.classes[place],
        sign * value, sign * offset, by_block, tuple(omegas),
        tuple((i, float(sums[i])) for i in first),
    )  # fmt: skip


def _is_list_of_objects(x: Any, model: D2KEModel) -> bool:
    """Return whether x can only be several objects, or a list of one."""
    if isinstance(x, Objects):
        return len(x) != 1
    if model.kind == "any" or not isinstance(x, (list, tuple, np.ndarray)) or not len(x):
        return False
    if model.kind == "strings":
        is_letters = model.letters in ("str", "bytes")
        return isinstance(x[0], (str, bytes) if is_letters else (list, np.ndarray))
    try:
        n_axes = np.ndim(x[0])
    except ValueError:  # series of different lengths
        return True
    # Vectors of the model's channels are one object, and those of a series of one channel numbers.
    return n_axes == 2 or (n_axes == 1 and model.channels == 1 and len(x[0]) > 1)
