# SPDX-License-Identifier: BSD-3-Clause
"""A kind of objects of your own: ordered labelled trees, here of functions of Python's library.

A tree is read as its traversal: the labels in preorder, with a closing mark after the last child.
Half of the edit distance of two traversals is at most the edit distance of the trees.
"""

import _pydecimal
import argparse
import ast
import inspect
import statistics
import tempfile
from pathlib import Path

import d2ke


def traversal(tree):
    """Return the labels of a tree in preorder, and where each node ends."""
    children = [label for child in ast.iter_child_nodes(tree) for label in traversal(child)]
    return [type(tree).__name__, *children, ")"]


d2ke.add_kind("trees", traversal, like="strings", distance="levenshtein")


def functions(module):
    """Return the trees of the functions of a module."""
    nodes = ast.walk(ast.parse(inspect.getsource(module)))
    return [node for node in nodes if isinstance(node, ast.FunctionDef) and len(node.body) > 1]


def main():
    """Predict from which of three modules a function is, by the shape of its code alone."""
    modules = {module.__name__: functions(module) for module in (argparse, _pydecimal, statistics)}
    trees = [tree for held in modules.values() for tree in held]
    y = [name for name, held in modules.items() for _ in held]
    X = d2ke.pack(trees, kind="trees")
    print(X)
    model = d2ke.d2ke_train(y[::2], X[::2], seed=0)
    print(model)
    with tempfile.TemporaryDirectory() as folder:
        d2ke.save_model(Path(folder, "trees.h5"), model)
        model = d2ke.load_model(Path(folder, "trees.h5"))
    predicted, accuracy, _ = d2ke.d2ke_predict(y[1::2], trees[1::2], model)
    print(f"{accuracy:.1f} % of {len(predicted)} other functions are right")
    print(d2ke.d2ke_explain(trees[1], model))


if __name__ == "__main__":
    main()
