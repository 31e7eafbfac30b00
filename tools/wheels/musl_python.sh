#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compile a Python 3.11 with musl, from the sources of Debian 12: build/wheels/musl_python/run
#
# Needs Debian's musl-tools, build-essential and dpkg-dev.
set -euo pipefail
root=$(realpath -m "$(dirname "$0")/../../build/wheels/musl_python")
[ ! -x "$root/run" ] || exit 0
work=$root/src
mkdir -p "$work"/apt/parts "$work"/apt/lists/partial "$work"/apt/cache/archives/partial "$work/kernel"
cd "$work"

# Sources of Debian 12, and the C library of Debian 13: that of 12 does not relocate what NumPy's
# wheels bring. This system's lists stay as they are.
debian=/etc/apt/sources.list.d/debian.sources
{
    sed -e 's/^Types: deb$/Types: deb-src/' -e '/^$/q' "$debian"
    sed -e 's/^Suites: .*/Suites: trixie/' -e '/^$/q' "$debian"
} >apt/parts/debian.sources
apt=(-qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$work/apt/parts"
    -o "Dir::State::Lists=$work/apt/lists" -o "Dir::Cache=$work/apt/cache")
apt-get "${apt[@]}" update
apt-get "${apt[@]}" source --download-only zlib libffi python3.11
apt-get "${apt[@]}" download musl
dpkg-deb -x musl_*.deb musl
for name in zlib libffi python3.11; do
    mkdir -p "$name"
    tar -C "$name" --strip-components=1 -xf "$name"_*.orig.tar.*
done

# musl-tools has no headers of the kernel. Python would add the folders of glibc that the compiler
# names, and that Debian's tools name.
ln -sfn /usr/include/linux /usr/include/asm-generic kernel/
ln -sfn /usr/include/x86_64-linux-gnu/asm kernel/asm
cat >cc <<END_OF_SCRIPT
#!/bin/sh
case \$1 in *-print-multiarch) exit 1 ;; esac
exec musl-gcc -w -idirafter $work/kernel "\$@"
END_OF_SCRIPT
chmod +x cc
sed -i -e 's/^\( *\)self.add_multiarch_paths()/\1pass/' \
    -e "s/add_dir_to_list(self.compiler.*'.usr.local.*/pass/" python3.11/setup.py

export CC=$work/cc CFLAGS="-O2 -fPIC" MAKEFLAGS
MAKEFLAGS=-j$(nproc)
{
    (cd zlib && ./configure --prefix="$root" && make install)
    (cd libffi && ./configure --disable-shared --disable-docs --disable-multi-os-directory \
        --prefix="$root" --libdir="$root/lib" && make install)
    (cd python3.11 && ./configure --prefix="$root" --without-ensurepip --disable-test-modules \
        CPPFLAGS="-I$root/include" LDFLAGS="-L$root/lib -Wl,-rpath,$root/lib" && make && make install)
} >log 2>&1
cat >"$root/run" <<END_OF_SCRIPT
#!/bin/sh
exec $work/musl/usr/lib/x86_64-linux-musl/libc.so --library-path $root/lib -- \
    $root/bin/python3.11 "\$@"
END_OF_SCRIPT
chmod +x "$root/run"
"$root/run" -c "import ctypes, sys, zlib; print(sys.version)"
