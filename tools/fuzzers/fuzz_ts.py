# SPDX-License-Identifier: BSD-3-Clause
"""Series of the UCR and UEA archives: `read_ts`."""

import atheris

with atheris.instrument_imports(include=["d2ke.io"]):
    from d2ke.io import read_ts

from readers import fuzz

SEEDS = [
    b"# words\n@problemName two\n@timestamps false\n@univariate false\n@dimensions 2\n"
    b"@classLabel true a b\n@data\n1,2,3:4,5,6:a\n1.5,-2e3:0,1:b\n",
    b"@missing false\n@univariate true\n@equalLength true\n@seriesLength 3\n@classLabel false\n"
    b"@data\n1,2,3\n4,5,6\n",
]

fuzz(read_ts, ".ts", SEEDS)
