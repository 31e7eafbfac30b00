# SPDX-License-Identifier: BSD-3-Clause
"""Tables: `read_objects` of a .csv file."""

import atheris

with atheris.instrument_imports(include=["d2ke.io"]):
    from d2ke.io import read_objects

from readers import fuzz

SEEDS = [
    b"sequence,label\nACGT,coding\nTTTTA,other\n",
    b'id;t;x;y;class\n1;0;0.5;-1e3;a\n1;1;nan;2;a\n2;0;"1,5";3;b\n',
    b"word|n\n\xef\xbb\xbf\xc3\xa9t\xc3\xa9|1\nb\t|2\n",
]

fuzz(read_objects, ".csv", SEEDS)
