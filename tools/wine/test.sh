#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Test the wheel of tools/wheels/windows.sh under wine: tools/wine/test.sh [PYTEST'S ARGUMENTS]
#
# The wheel is installed with what its tests need. The README's first example runs, all distances
# must equal those of Linux bit for bit, and the last commit's tests run with the wheel's modules.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
folders=(_ext distances objects embedding learners models io base cli datasets groups neighbors)
[ $# -gt 0 ] || set -- --hypothesis-profile=few -rsfE --tb=short "${folders[@]/#/tests/}"
run=$PWD/build/wine/run
wheel=$(echo "$PWD"/build/wheels/dist/*-win_amd64.whl)
began=$SECONDS

[ -x "$run" ] || tools/wine/python.sh
rm -rf build/wine/clone
git clone --quiet -c advice.detachedHead=false . build/wine/clone
cd build/wine/clone
rm -r d2ke matlab_compat # the wheel's are tested
"$run" -m pip uninstall --quiet --yes d2ke
"$run" -m pip install --quiet --no-warn-script-location "${wheel}[test]"
echo "-- installed: $((SECONDS - began)) s"
"$run" tools/wheels/four_lines.py
"$run" tools/distance_bits.py >../distance_bits.txt || { grep differs ../distance_bits.txt; exit 1; }
echo "$(wc -l <../distance_bits.txt) matrices of distances are those of Linux"
"$run" -u -m pytest "$@"
echo "-- all: $((SECONDS - began)) s"
