#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Build the wheel for macOS by zig's clang, and read it: tools/wheels/macos.sh arm64|x86_64
#
# It is not run. The oldest system is the oldest for which NumPy, SciPy and h5py have wheels; the
# compiler refuses functions that are newer than it.
source "$(dirname "$0")/common.sh"

case $1 in
arm64) processor=aarch64 oldest=12.0 ;;
x86_64) processor=x86_64 oldest=10.13 ;;
*) exit 2 ;;
esac
python "$here/libomp.py" "$1" "$work"
zig=$(python -c 'import ziglang; print(ziglang.__path__[0])')/zig
python_headers
cat >"$work/cc" <<END_OF_SCRIPT
#!/bin/sh
exec "$zig" cc -target $processor-macos.$oldest -Werror=unguarded-availability \
    -I"$work/python" -I"$work" -L"$work" "\$@"
END_OF_SCRIPT
chmod +x "$work/cc"
link="-shared -s -Wl,-undefined,dynamic_lookup -Wl,-dead_strip_dylibs"
link+=" -Wl,-rpath,@loader_path/../../sklearn/.dylibs -Wl,-rpath,@loader_path/../.dylibs"
_PYTHON_HOST_PLATFORM=macosx-$oldest-$1 CC=$work/cc LDSHARED="$work/cc $link" build
python "$here/libomp.py" "$1" "$work" "$work"/raw/*.whl
rm -f "$dist"/*-macosx_*"_$1.whl"
mv "$work"/raw/*.whl "$dist"
wheel=$(echo "$dist"/*-macosx_*"_$1.whl")
python "$here/macho.py" "$wheel"
audit "$wheel"
