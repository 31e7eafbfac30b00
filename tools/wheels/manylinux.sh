#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Build the wheel for Linux on x86-64 with glibc, check it, and install it without a compiler.
source "$(dirname "$0")/common.sh"

build
repair manylinux_2_34_x86_64
"$here/../try_wheel.sh" "$wheel" "$work/venv"
