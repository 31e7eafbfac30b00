# SPDX-License-Identifier: BSD-3-Clause
"""Report which of the compiled instruction sets is in use."""

import os

cdef extern from "cpu.h":
    const d2ke_table **d2ke_tables
    int d2ke_cpu() noexcept nogil

cdef const d2ke_table *_current = d2ke_tables[0]


cdef const d2ke_table *current() noexcept nogil:
    return _current


def supported():
    """Names of the instruction sets that this processor can run, the best one last."""
    return [(<bytes> d2ke_tables[k].name).decode() for k in range(d2ke_cpu() + 1)]


def select(str name):
    """Use the kernels of this instruction set from now on (tests; users set D2KE_ISA)."""
    global _current
    if name not in supported():
        raise ValueError(f"D2KE_ISA must be one of {', '.join(supported())} on this processor; "
                         f"got {name!r}")
    _current = d2ke_tables[<int> supported().index(name)]


def selected():
    """Name of the instruction set in use."""
    return (<bytes> _current.name).decode()


def vector_bytes():
    """Bytes in one vector of the instruction set in use."""
    return _current.vector_bytes


*_, _best = supported()
select(os.environ.get("D2KE_ISA") or _best)
