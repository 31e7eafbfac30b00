#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Cross-compile the wheel for Windows on x86-64: tools/wheels/windows.sh
#
# Needs gcc-mingw-w64-x86-64-posix. tools/wine/test.sh runs the wheel.
source "$(dirname "$0")/common.sh"

compiler=x86_64-w64-mingw32-gcc-posix
"$here/../wine/windows_python.sh"
python=$(realpath "$here/../../build/wine/python")
gcc=$(dirname "$($compiler -print-file-name=libgomp.dll.a)")
mingw=$(dirname "$($compiler -print-file-name=libpthread.a)")
# The compiler's own folders come before that of this system's Python, which may hold libraries
# of the same names.
cat >"$work/setuptools.cfg" <<END_OF_CONFIG
[build_ext]
include_dirs=$python/include
library_dirs=$python/libs:$gcc:$mingw
libraries=python3
END_OF_CONFIG
DIST_EXTRA_CONFIG=$work/setuptools.cfg _PYTHON_HOST_PLATFORM=win-amd64 CC=$compiler \
    LDSHARED="$compiler -shared -s" build
# GCC's DLLs go into d2ke.libs, and d2ke/__init__.py tells Windows where they are.
rm -f "$dist"/*-win_amd64.whl
delvewheel repair --wheel-dir "$dist" --add-path "$gcc:$mingw" "$work"/raw/*.whl
audit "$dist"/*-win_amd64.whl
