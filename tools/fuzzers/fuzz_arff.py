# SPDX-License-Identifier: BSD-3-Clause
"""Weka's files: `read_objects` of an .arff file."""

import atheris

with atheris.instrument_imports(include=["d2ke.io"]):
    from d2ke.io import read_objects

from readers import fuzz

SEEDS = [
    b"% words\n@relation r\n@attribute a numeric\n@attribute b real\n@attribute class {x, 'y z'}\n"
    b"@data\n1,2,x\n-1e3,?,'y z'\n",
    b"@relation r\n@attribute bag relational\n@attribute t0 numeric\n@attribute t1 numeric\n"
    b"@end bag\n@attribute class {0,1}\n@data\n'1,2\\n3,4',0\n\"5,6\\n7,8\",1\n",
    b"@relation r\n@attribute s string\n@attribute class {a,b}\n@data\n'ab, c',a\nxyz,b\n",
]

fuzz(read_objects, ".arff", SEEDS)
