# SPDX-License-Identifier: BSD-3-Clause
"""LLVM's OpenMP runtime for a wheel of macOS, from scikit-learn's wheel, whose copy is signed.

``python libomp.py PROCESSOR FOLDER`` writes libomp.dylib, libomp.tbd to link with, and omp.h;
``python libomp.py PROCESSOR FOLDER WHEEL`` puts libomp.dylib into the wheel.

Modules find it by their search path: first scikit-learn's, if that is installed, then their own.
Two copies in one process would be two runtimes, and the second ends the process.
"""

import subprocess
import sys
import zipfile
from pathlib import Path

import macho

WHEELS = {"arm64": "macosx_12_0_arm64", "x86_64": "macosx_10_13_x86_64"}


def fetch(processor: str, folder: Path) -> None:
    """Unpack the library, and list its symbols for the linker."""
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    target = ["--platform", WHEELS[processor], "--python-version", "3.13", "--dest", str(folder)]
    subprocess.run([*pip, *target, "scikit-learn>=1.8"], check=True)
    (wheel,) = folder.glob("scikit_learn-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        library = archive.read("sklearn/.dylibs/libomp.dylib")
    wheel.unlink()
    (folder / "libomp.dylib").write_bytes(library)
    # Cython includes it; d2ke calls these functions.
    header = "int omp_get_max_threads(void);\nint omp_get_thread_num(void);\n"
    (folder / "omp.h").write_text(header, encoding="utf-8")
    symbols = ", ".join(sorted(macho.read(library).exports))
    (folder / "libomp.tbd").write_text(
        f"""--- !tapi-tbd
tbd-version: 4
targets: [ {processor}-macos ]
install-name: '@rpath/libomp.dylib'
current-version: 5
compatibility-version: 5
exports:
  - targets: [ {processor}-macos ]
    symbols: [ {symbols} ]
...
""",
        encoding="utf-8",
    )


def put_in(folder: Path, wheel: Path) -> None:
    """Write the wheel again, with the library and a record of it."""
    from wheel.wheelfile import WheelFile  # the Python that fetches need not have it

    original = wheel.rename(wheel.with_suffix(".old"))
    with zipfile.ZipFile(original) as before, WheelFile(wheel, "w") as after:
        for entry in before.infolist():
            if not entry.filename.endswith(".dist-info/RECORD"):
                after.writestr(entry, before.read(entry))
        after.write(folder / "libomp.dylib", "d2ke/.dylibs/libomp.dylib")
    original.unlink()


if __name__ == "__main__":
    processor, folder, *wheels = sys.argv[1:]
    if wheels:
        put_in(Path(folder), Path(*wheels))
    else:
        fetch(processor, Path(folder))
