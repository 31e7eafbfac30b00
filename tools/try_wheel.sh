#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Install a wheel away from the source tree and without a compiler, and run the README's first
# example: tools/try_wheel.sh WHEEL FOLDER [OPTIONS OF PIP INSTALL]
set -euo pipefail
readme=$(dirname "$(realpath "$0")")/../README.md
wheel=$(realpath "$1")
folder=$2
shift 2
rm -rf "$folder"
python3 -m venv "$folder"
TIMEFORMAT="installed in %R s, of the processor %U and %S s"
time CC=false CXX=false "$folder/bin/pip" install --quiet "$@" "$wheel"
sed -n '/^## Four lines/,/^```$/{/^[`#]/!p}' "$readme" >"$folder/four_lines.py"
cat >>"$folder/four_lines.py" <<'END_OF_LINES'
assert accuracy > 95
import matlab_compat
d2ke.show_config()
print(d2ke.datasets.load("japanese-vowels"))
try:
    d2ke.svmtrain([0, 1], [[1.0, 0.0], [0.0, 1.0]])
except ImportError as error:
    assert 'pip install "d2ke[svm]"' in str(error)
END_OF_LINES
(cd "$folder" && bin/python four_lines.py)
for file in octave/d2ke_dtw.m cli/report.html; do
    "$folder/bin/python" -m zipfile -l "$wheel" | grep "$file" >/dev/null
done
