#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Build the wheel for Linux on x86-64 with musl, and run it with the Python of musl_python.sh.
#
# Needs Debian's musl-tools. Debian's GCC has its OpenMP runtime for glibc only: the runtime for
# musl is that in faiss-cpu's wheel.
source "$(dirname "$0")/common.sh"

libs=$work/libs
rm -rf "$libs" "$work/faiss"
mkdir "$libs"
pip download --no-deps --only-binary=:all: --platform musllinux_1_2_x86_64 \
    --python-version 3.13 --dest "$work/faiss" "faiss-cpu>=1.12"
python -m zipfile -e "$work"/faiss/*.whl "$work/faiss"
patchelf --set-soname libgomp.so.1 --output "$libs/libgomp.so.1" \
    "$work"/faiss/faiss_cpu.libs/libgomp-*.so.*
ln -s libgomp.so.1 "$libs/libgomp.so"
# Debian's musl has another name than those of which the tag speaks.
patchelf --set-soname libc.musl-x86_64.so.1 --output "$libs/libc.so" \
    /usr/lib/x86_64-linux-musl/libc.so

python_headers
cat >"$work/cc" <<END_OF_SCRIPT
#!/bin/sh
exec musl-gcc -I"$work/python" -L"$libs" "\$@"
END_OF_SCRIPT
chmod +x "$work/cc"
CC="$work/cc" LDSHARED="$work/cc -shared -s" build
LD_LIBRARY_PATH=$libs repair musllinux_1_2_x86_64

"$here/musl_python.sh"
rm -rf "$work/site"
pip install --target "$work/site" --python-version 3.11 --implementation cp --abi cp311 --abi abi3 \
    --abi none --platform musllinux_1_2_x86_64 --only-binary=:all: "$wheel"
try env PYTHONPATH="$work/site" "$out/musl_python/run"
