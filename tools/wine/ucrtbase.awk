# SPDX-License-Identifier: BSD-3-Clause
# Read objdump's list of exports of wine's ucrtbase.dll, and write the definition file of ours:
# complex functions are those of mingw-w64, some are ucrtbase.c's, all others wine's own.
BEGIN { complex = "^(c(real|imag|arg|abs|proj|exp|log|pow|sqrt|a?(sin|cos|tan)h?)|conj)f?$" }
/Ordinal\/Name Pointer/ { print "EXPORTS"; names = 1; next }
!names || !/^\t\[/ { next }
{ name = double = $NF; sub(/l$/, "", double) }
name ~ complex || name ~ /^(_F?Cbuild|feholdexcept|fe[gs]etenv)$/ { print name; next }
# Microsoft's long double is a double, that of mingw-w64 is not.
double ~ complex { print name " = " double; next }
name == "_LCbuild" { print name " = _Cbuild"; next }
{ print name " = ucrtwine." name }
