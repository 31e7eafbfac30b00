#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Make a CPython for Windows that wine runs: tools/wine/python.sh
#
# build/wine/run takes the arguments of python.exe; `build/wine/run -m pip install` installs what
# Windows' pip would. Needs wine 8, as in Debian 12, and gcc-mingw-w64-x86-64-posix.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
"$here/windows_python.sh"
cd "$here/../../build/wine"
compiler=x86_64-w64-mingw32

# numpy, scipy and h5py call functions that wine's C library has as stubs only, and polars calls
# one of a library that wine lacks. Libraries beside python.exe are found first.
library=$(find /usr/lib*/ -path '*/x86_64-windows/ucrtbase.dll' -print -quit)
cp "$library" python/ucrtwine.dll
$compiler-objdump -p "$library" | awk -f "$here/ucrtbase.awk" >ucrtbase.def
$compiler-gcc-posix -O1 -fno-builtin -shared -static-libgcc -s -o python/ucrtbase.dll \
    "$here/ucrtbase.c" ucrtbase.def
printf 'EXPORTS\nProcessPrng = advapi32.SystemFunction036\n' >bcryptprimitives.def
$compiler-gcc-posix -shared -nostdlib -s -Wl,--entry=0 -o python/bcryptprimitives.dll \
    bcryptprimitives.def

# Python asks Windows' management service for the processor's name, and wine's never answers.
rm -f python/DLLs/_wmi.pyd

# Wine must not open windows, look for .NET, or wait in its debugger when a program fails. Under
# it Python reads and writes pipes, but neither files nor terminals.
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
