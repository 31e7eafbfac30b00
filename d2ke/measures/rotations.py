# SPDX-License-Identifier: BSD-3-Clause
"""Nets of rotations, small rotations, and their action on the vectors of points."""

from __future__ import annotations

import math

import numpy as np


class Action:
    """The action of a rotation R on the r numbers that each point of a measure carries."""

    def __init__(self, kind: str, dim: int) -> None:
        self.planes = np.triu_indices(dim, 1)
        count = len(self.planes[0])
        self.turns = np.zeros((count, dim, dim))  # each turns axis l of a plane towards axis k
        which = np.arange(count)
        self.turns[which, self.planes[0], self.planes[1]] = 1
        self.turns[which, self.planes[1], self.planes[0]] = -1
        self.kind = kind
        if kind == "points":
            self.channels = 1
        elif kind.startswith("unoriented"):
            i, j = np.triu_indices(dim)
            # Orthonormal symmetric matrices, the coordinates of the products t t'.
            self.basis = np.zeros((len(i), dim, dim))
            size = np.where(i == j, 1, math.sqrt(0.5))
            self.basis[np.arange(len(i)), i, j] = self.basis[np.arange(len(i)), j, i] = size
            self.channels = len(i)
        else:
            self.channels = dim

    def matrices(self, R: np.ndarray) -> np.ndarray | None:
        """Return the matrices that multiply the carried numbers; None for the identity."""
        if self.kind == "points":
            return None
        if not self.kind.startswith("unoriented"):
            return R
        return np.einsum("aij,...ik,bkl,...jl->...ab", self.basis, R, self.basis, R, optimize=True)

    def generators(self) -> np.ndarray | None:
        """Return the derivatives of `matrices` by a turn in each plane; None for zero."""
        if self.kind == "points":
            return None
        if not self.kind.startswith("unoriented"):
            return self.turns
        half = np.einsum("aij,pik,bkj->pab", self.basis, self.turns, self.basis, optimize=True)
        return 2 * half


def apply(matrices: np.ndarray | None, rows: np.ndarray) -> np.ndarray:
    """Return every row multiplied by each of the matrices, (..., n, r)."""
    return rows if matrices is None else rows @ np.swapaxes(matrices, -1, -2)


def small(turns: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Return rotations by (C, planes) amounts, which to second order are angles (Cayley)."""
    half = np.einsum("cp,pij->cij", amounts, turns) / 2
    identity = np.eye(turns.shape[-1])
    return np.linalg.solve(identity - half, identity + half)


def nearest(M: np.ndarray) -> np.ndarray:
    """Return the proper rotation next to a matrix."""
    U, _, V = np.linalg.svd(M)
    U[:, -1] *= np.sign(np.linalg.det(U @ V))
    return U @ V


def net_size(dim: int, angle: float) -> int:
    """Return how many rotations `net` has."""
    if dim == 2:
        return max(math.ceil(math.pi / angle), 8)
    # The group has the volume 8 pi^2, a ball of that radius 4/3 pi angle^3; they overlap.
    return max(math.ceil(2 * 8 * math.pi**2 / (4 / 3 * math.pi * angle**3)), 64)


def net(dim: int, angle: float) -> np.ndarray:
    """Return rotations of the plane or of space, one within about `angle` of any other."""
    count = net_size(dim, angle)
    if dim == 2:
        return about(np.arange(count) * (2 * math.pi / count))
    s = np.arange(count) + 0.5
    near, wide = np.sqrt(s / count), np.sqrt(1 - s / count)
    # The constants of super-Fibonacci spirals are sqrt(2) and the root of x^4 = x + 4.
    a, b = 2 * math.pi * s / math.sqrt(2), 2 * math.pi * s / 1.533751168755204288118041
    return from_quaternions(
        np.stack([near * np.sin(a), near * np.cos(a), wide * np.sin(b), wide * np.cos(b)], axis=1)
    )


def about(angles: np.ndarray) -> np.ndarray:
    """Return the rotations of the plane by these angles."""
    c, s = np.cos(angles), np.sin(angles)
    return np.stack([np.stack([c, -s], axis=-1), np.stack([s, c], axis=-1)], axis=-2)


def from_quaternions(q: np.ndarray) -> np.ndarray:
    """Return the rotations of space of unit quaternions (real part first)."""
    w, v = q[:, 0], q[:, 1:]
    outer = 2 * v[:, :, None] * v[:, None, :]
    result = outer + (2 * w**2 - 1)[:, None, None] * np.eye(3)
    for k, (i, j) in enumerate(((2, 1), (0, 2), (1, 0))):
        result[:, i, j] += 2 * w * v[:, k]
        result[:, j, i] -= 2 * w * v[:, k]
    return result


def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a rotation that turns the direction of a into the direction of b."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    if a @ b < -0.5:
        # Nearly opposite: by a half turn first, in a plane that holds a.
        other = np.eye(len(a))[np.abs(a).argmin()]
        other -= (other @ a) * a
        other /= np.linalg.norm(other)
        flip = np.eye(len(a)) - 2 * np.outer(a, a) - 2 * np.outer(other, other)
        return between(-a, b) @ flip
    total = a + b
    return np.eye(len(a)) - np.outer(total, total) / (1 + a @ b) + 2 * np.outer(b, a)


def by_vectors(vectors: np.ndarray) -> np.ndarray:
    """Return the rotations of space about these vectors by their lengths."""
    angle = np.linalg.norm(vectors, axis=1)
    axis = vectors / np.where(angle > 0, angle, 1)[:, None]
    return from_quaternions(
        np.concatenate([np.cos(angle / 2)[:, None], np.sin(angle / 2)[:, None] * axis], axis=1)
    )
