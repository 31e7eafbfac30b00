#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Install a wheel into a new environment, without a compiler, and run the README's first example:
# tools/try_wheel.sh WHEEL FOLDER
set -euo pipefail
rm -rf "$2"
python3 -m venv "$2"
TIMEFORMAT="installed in %R s, of the processor %U and %S s"
time CC=false CXX=false "$2/bin/pip" install --quiet "$1"
"$2/bin/python" "$(dirname "$0")/wheels/four_lines.py"
