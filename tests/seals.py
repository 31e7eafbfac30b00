# SPDX-License-Identifier: BSD-3-Clause
"""The seals of files that a test changed on purpose, so that what it changed is met."""

import zlib
from pathlib import Path

import h5py
import numpy as np

from d2ke._base.seal import SIZE, make_seal, user_block
from d2ke.io.features import seal_features


def sealed(content):
    """Return the bytes of a model file whose content was changed, with another seal."""
    return user_block(content, "model") + content[SIZE:]


def seal_model(path):
    path = Path(path)
    path.write_bytes(sealed(path.read_bytes()))


def seal_features_file(path):
    """Z may be missing, or stored in another way."""
    with open(path, "rb+") as stream:
        with h5py.File(stream, "r") as file:
            Z = file.get("Z")
            n, chunked = (0, False) if Z is None else (len(Z), Z.chunks is not None)
        seal = seal_features(stream) if chunked else make_seal(stream, np.empty((0, 2), "<i8"))
        stream.seek(0)
        stream.write(seal.block("features", n))


def sealed_segment(content):
    """Return a segment of an index whose bytes were changed, with other CRC-32 of its head."""
    front, head = content[:24], content[32 : 32 + int.from_bytes(content[8:16], "little")]
    front += zlib.crc32(head).to_bytes(4, "little")
    return front + zlib.crc32(front).to_bytes(4, "little") + content[32:]
