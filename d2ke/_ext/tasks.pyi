# SPDX-License-Identifier: BSD-3-Clause
"""Types of tasks.pyx, which documents what is here."""

class Loop:
    def visit(self) -> None: ...
