# SPDX-License-Identifier: BSD-3-Clause
"""Build of the compiled kernels; everything else is in pyproject.toml.

Environment variables: D2KE_BOUNDS_CHECK=1 compiles bounds checks into the Cython
code, D2KE_NO_OPENMP=1 leaves OpenMP out. D2KE_SANITIZE=address or =thread compiles
GCC's sanitizers in; such modules load only the way tools/sanitize.py runs them.
With -g in CFLAGS, or sanitizers, debuggers learn the lines; Python's own -g is undone.
D2KE_ABI3=1 makes one wheel for Python 3.11 and all later ones (not free-threaded).
"""

import os
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, repeat
from pathlib import Path
from threading import Semaphore

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError, PlatformError

EXT = Path("d2ke/_ext")
SHARED = "_shared"  # Cython's own code for memory views, once for all modules
JOBS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
CHECKS = os.environ.get("D2KE_BOUNDS_CHECK") == "1"

# The limited API of Python 3.11, the first with the buffers that memory views need.
ABI3 = os.environ.get("D2KE_ABI3") == "1" and not sysconfig.get_config_var("Py_GIL_DISABLED")

# linux, macosx or win; _PYTHON_HOST_PLATFORM names the platform that a cross-compiler compiles for.
TARGET = sysconfig.get_platform().partition("-")[0]

SANITIZE = os.environ.get("D2KE_SANITIZE", "")
# AddressSanitizer sees what the checks left out would see; with them, and with checks in
# line instead of calls, the vector kernels take minutes to compile.
SANITIZERS = {
    "": [],
    "address": [
        "-fsanitize=address,undefined,float-cast-overflow",
        "-fno-sanitize=null,object-size,pointer-overflow",
        "--param=asan-instrumentation-with-call-threshold=0",
    ],
    "thread": ["-fsanitize=thread"],
}[SANITIZE]
if SANITIZE:
    # The last option of a kind counts; without -fno-wrapv, which undoes Python's own flag,
    # integers would overflow silently.
    SANITIZERS += ["-O1", "-g1", "-fno-omit-frame-pointer", "-fno-wrapv"]
# Python's -g would take a third of the time.
LINES = SANITIZE or any(flag[:2] == "-g" for flag in os.environ.get("CFLAGS", "").split())

OPENMP_PROBE = """
#include <omp.h>
int main(void)
{
    int sum = 0;
    #pragma omp parallel reduction(+ : sum) num_threads(2)
    sum += 1;
    return sum >= 1 && omp_get_max_threads() >= 1 ? 0 : 1;
}
"""


def openmp_flags(compiler):
    """Find flags with which an OpenMP program compiles and links."""
    if os.environ.get("D2KE_NO_OPENMP") == "1":
        return [], []
    candidates = [(["-fopenmp"], ["-fopenmp"])]
    if TARGET == "macosx":  # where Apple's clang has neither a driver for it nor the library
        candidates.append((["-Xpreprocessor", "-fopenmp"], ["-lomp"]))
    for compile_flags, link_flags in candidates:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "probe.c")
            source.write_text(OPENMP_PROBE, encoding="utf-8")
            try:
                objects = compiler.compile(
                    [str(source)], output_dir=folder, extra_postargs=compile_flags
                )
                program = str(Path(folder, "probe"))
                compiler.link_executable(objects, program, extra_postargs=link_flags)
            except (CompileError, LinkError) as error:
                reason = error
                continue
        return compile_flags, link_flags
    raise PlatformError(
        f"no OpenMP ({reason}). Install it (on macOS: brew install libomp, and name its folders "
        "in CFLAGS and LDFLAGS), or set D2KE_NO_OPENMP=1: all then runs on one thread"
    )


def compile_side_by_side(compiler, jobs):
    """Compile the sources of a module together; of all modules, `jobs` sources at a time."""
    compile_all, gate = compiler.compile, Semaphore(jobs)

    def compile_one(source, options):
        with gate:
            return compile_all([source], **options)

    def compile_each(sources, **options):
        with ThreadPoolExecutor(len(sources)) as pool:
            return list(chain(*pool.map(compile_one, sources, repeat(options))))

    compiler.compile = compile_each


class BuildExt(build_ext):
    """build_ext that finds OpenMP, compiles on all processors, and knows Windows' file names."""

    def finalize_options(self):
        super().finalize_options()
        if self.parallel is None:
            self.parallel = JOBS

    def get_ext_filename(self, fullname):
        name = super().get_ext_filename(fullname)
        # Windows imports no other names.
        return name.replace(".abi3.so", ".pyd") if TARGET == "win" else name

    def build_extensions(self):
        compile_flags, link_flags = openmp_flags(self.compiler)
        for extension in self.extensions:
            extension.extra_compile_args += compile_flags
            extension.extra_link_args += link_flags
        if self.parallel > 1:
            compile_side_by_side(self.compiler, self.parallel)
        super().build_extensions()


def extension(name, *c_sources, flags=()):
    """One compiled module of d2ke._ext; depends on every header there."""
    first = f"{name}.c" if name == SHARED else f"{name}.pyx"
    return Extension(
        f"d2ke._ext.{name}",
        [str(EXT / source) for source in (first, *c_sources)],
        include_dirs=[str(EXT)],
        define_macros=[("Py_LIMITED_API", "0x030B0000")] if ABI3 else [],
        py_limited_api=ABI3,
        depends=sorted(str(header) for header in EXT.glob("*.h")),
        # errno and floating-point traps are not looked at; without the first two the compiler
        # may not vectorise square roots and selections. What is fused is in the sources (simd.h):
        # compilers differ. A module exports its entry point only.
        extra_compile_args=[
            *([] if LINES else ["-g0"]),
            *["-O3", "-fno-math-errno", "-fno-trapping-math"],
            *["-ffp-contract=off", "-fvisibility=hidden"],
            *flags,
            *SANITIZERS,
        ],
        extra_link_args=[flag for flag in SANITIZERS if flag.startswith("-fsanitize")],
    )


FEW_LOOPS = ["-O1"]  # hardly any loop over data, and half the time of -O3

INSTRUCTION_SETS = ["avx512", "avx2", "baseline"]
UNITS = ["_elastic", "_dtw_f64", "_dtw_f32", "_warping", ""]

MODULES = [
    # What takes longest first, and all others beside it.
    extension("isa", *(f"isa_{isa}{unit}.c" for unit in UNITS for isa in INSTRUCTION_SETS)),
    extension("near_strings"),
    extension(SHARED, flags=FEW_LOOPS),
    extension("tasks"),
    extension("pairwise"),
    extension("neighbor_lists"),
    extension("refine"),
    extension("envelopes"),
    extension("pivots"),
    extension("edit_costs"),
    extension("omp"),
    extension("frozen"),
    extension("elementary"),
    extension("elastic", flags=FEW_LOOPS),
    extension("strings"),
    extension("edits", flags=FEW_LOOPS),
    extension("sets"),
    extension("emd"),
    extension("alignment"),
    extension("user", flags=FEW_LOOPS),
    extension("pair_sums"),
    extension("pair_distance"),
    extension("expansions"),
    extension("box_tree"),
    extension("coresets"),
    extension("transducer"),
    extension("windows"),
    extension("window_profile"),
    extension("gapped"),
    extension("simplex_qp"),
    extension("trust_region"),
]

if __name__ == "__main__":  # Cython's processes may import this file
    setup(
        ext_modules=cythonize(
            MODULES,
            nthreads=JOBS,
            shared_utility_qualified_name=f"d2ke._ext.{SHARED}",
            compiler_directives={
                "language_level": 3,
                "boundscheck": CHECKS,
                "wraparound": False,
                "initializedcheck": CHECKS,
                "cdivision": True,
                "embedsignature": False,
                # No module has a state of its own but the choice of instruction sets.
                "freethreading_compatible": True,
            },
        ),
        cmdclass={"build_ext": BuildExt},
        options={"bdist_wheel": {"py_limited_api": "cp311"}} if ABI3 else {},
    )
