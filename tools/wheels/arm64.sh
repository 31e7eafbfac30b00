#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Build the wheel for Linux on arm64 by Debian's cross-compiler, and run it under qemu:
# tools/wheels/arm64.sh [tests]
#
# With `tests`, also tests of kernels, objects, distances and models. Needs Debian's
# gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user-static, and no arm64 in dpkg.
tests=${1:-}
set --
source "$(dirname "$0")/common.sh"
root=$work/root # Python of arm64, what it loads, and below `site` what it imports

[ -x "$root/usr/bin/python3.11" ] || {
    apt=(-qq -o "APT::Architectures=amd64,arm64" -o "Dir::State::Lists=$work/apt/lists"
        -o "Dir::Cache=$work/apt/cache")
    mkdir -p "$work"/apt/lists/partial "$work"/apt/cache/archives/partial "$work/apt/debs" "$root"
    apt-get "${apt[@]}" update
    names=(python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libpython3.11-dev
        libc6 libgcc-s1 libstdc++6 libgomp1 zlib1g libexpat1 libffi8 libssl3 libbz2-1.0 liblzma5
        libsqlite3-0 libuuid1)
    (cd "$work/apt/debs" && apt-get "${apt[@]}" download "${names[@]/%/:arm64}")
    for deb in "$work"/apt/debs/*.deb; do dpkg-deb -x "$deb" "$root"; done
}

include=$root/usr/include
_PYTHON_HOST_PLATFORM=linux-aarch64 CC=aarch64-linux-gnu-gcc \
    CFLAGS="-I$include/python3.11 -I$include" LDSHARED="aarch64-linux-gnu-gcc -shared" build
LD_LIBRARY_PATH=$root/lib/aarch64-linux-gnu:$root/usr/lib/aarch64-linux-gnu \
    repair manylinux_2_34_aarch64

platforms=(linux_aarch64 manylinux2014_aarch64)
for glibc in $(seq 17 36); do platforms+=("manylinux_2_${glibc}_aarch64"); done
rm -rf "$root/site"
pip install --target "$root/site" --python-version 3.11 --implementation cp --abi cp311 \
    --abi abi3 --abi none "${platforms[@]/#/--platform=}" --only-binary=:all: "$wheel" \
    ${tests:+pytest hypothesis scikit-learn pandas polars pyarrow rapidfuzz POT}
# Programs that tests start by sys.executable need the emulator, too.
cat >"$root/python" <<END_OF_SCRIPT
#!/bin/sh
PYTHONHOME=$root/usr PYTHONPATH=$root/site OMP_NUM_THREADS=2 \
exec qemu-aarch64-static -L $root $root/usr/bin/python3.11 "\$@"
END_OF_SCRIPT
chmod +x "$root/python"
echo "import sys; sys.executable = '$root/python'" >"$root/site/sitecustomize.py"
few=--few try "$root/python"
[ -n "$tests" ] || exit 0

cd "$out/clone"
# Not what needs tools/, numba or dask, nor most of what takes longest without the emulator.
long=(many_threads pivots_find lengths_around little_memory long_s more_masks network_simplex
    larger_ones round_trip and_chunks blocks_and_threads progress_counts words_of_long pictures
    the_command)
printf -v skipped " or %s" "${long[@]}"
# The wheel is tested: the source tree is not on Python's path.
rm -rf d2ke matlab_compat
"$root/python" -u -m pytest -o pythonpath=tests -p no:cacheprovider -q \
    --hypothesis-profile=few -k "not (${skipped# or })" tests/_ext tests/objects \
    tests/distances tests/models/test_{kinds,persistence,transform,views}.py \
    --ignore=tests/_ext/test_fuzz.py --ignore=tests/distances/test_user_distances.py 2>&1 |
    tee "$work/tests.log"
