# SPDX-License-Identifier: BSD-3-Clause
"""`python -m d2ke` is the `d2ke` command."""

from d2ke.cli.main import console

if __name__ == "__main__":
    console()
