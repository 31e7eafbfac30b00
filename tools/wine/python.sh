#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Make a CPython for Windows that wine runs: tools/wine/python.sh
#
# build/wine/run is the interpreter, which takes the arguments of python.exe. Needs Debian 12 with
# wine64 and gcc-mingw-w64-x86-64-posix.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
mkdir -p "$here/../../build/wine"
cd "$here/../../build/wine"
compiler=x86_64-w64-mingw32
"$here/windows_python.sh"

# numpy, scipy and h5py call functions that the C library of wine 8 has as stubs only, and polars
# one of a library that wine 8 lacks. Libraries beside python.exe are found first.
library=$(find /usr/lib*/ -path '*/x86_64-windows/ucrtbase.dll' -print -quit)
cp "$library" python/ucrtwine.dll
$compiler-objdump -p "$library" | awk -f "$here/ucrtbase.awk" >ucrtbase.def
$compiler-gcc-posix -O1 -fno-builtin -shared -static-libgcc -s -o python/ucrtbase.dll \
    "$here/ucrtbase.c" ucrtbase.def
printf 'EXPORTS\nProcessPrng = advapi32.SystemFunction036\n' >bcryptprimitives.def
$compiler-gcc-posix -shared -nostdlib -s -Wl,--entry=0 -o python/bcryptprimitives.dll \
    bcryptprimitives.def

# Python asks Windows' management service for the processor's name, and wine's never answers.
cat >python/Lib/site-packages/sitecustomize.py <<'END_OF_PYTHON'
import sys

sys.modules["_wmi"] = None
END_OF_PYTHON

# No windows, no .NET, and no debugger that waits for somebody when a program fails.
# Under wine Python takes pipes, but neither files nor terminals.
cat >run <<'END_OF_SCRIPT'
#!/usr/bin/env bash
here=$(dirname "$(realpath "$0")")
export WINEPREFIX=$here/prefix WINEDEBUG=${WINEDEBUG--all} MPLBACKEND=Agg
export WINEDLLOVERRIDES="ucrtbase=n,b;winex11.drv,winemenubuilder.exe,winedbg.exe,mscoree,mshtml="
wine "$here/python/python.exe" "$@" </dev/null 2>&1 | cat
exit "${PIPESTATUS[0]}"
END_OF_SCRIPT
chmod +x run
./run --version
