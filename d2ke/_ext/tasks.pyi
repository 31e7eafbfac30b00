# SPDX-License-Identifier: BSD-3-Clause
"""Type stubs of tasks.pyx, which has the documentation."""

class Loop:
    def visit(self) -> None: ...
