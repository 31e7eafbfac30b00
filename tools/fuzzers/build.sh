#!/bin/bash -eu
# SPDX-License-Identifier: BSD-3-Clause
# Build the targets in OSS-Fuzz's environment, which has compile_python_fuzzer.
pip3 install .
export PYTHONPATH=$PWD/tests  # for seals.py
for target in tools/fuzzers/fuzz_*.py; do
    compile_python_fuzzer "$target"
done
