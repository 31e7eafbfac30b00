# SPDX-License-Identifier: BSD-3-Clause
"""What tools/wheels/macho.py reads of a small module for macOS, which zig compiles."""

import re
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools" / "wheels"))

import macho

pytestmark = pytest.mark.skipif(find_spec("ziglang") is None, reason="ziglang is not installed")

SOURCE = """
extern void *PyLong_FromLong(long), *malloc(unsigned long);
__attribute__((visibility("default"))) void *PyInit_tiny(void) { return PyLong_FromLong(1); }
__attribute__((visibility("default"))) void *visible(void) { return malloc(1); }
"""


@pytest.fixture(
    scope="module", params=[("aarch64", "arm64", "12.0"), ("x86_64", "x86_64", "10.13")]
)
def tiny(request, tmp_path_factory):
    """The processor, the oldest system, and the module's bytes."""
    zig_name, processor, oldest = request.param
    folder = tmp_path_factory.mktemp(processor)
    (folder / "tiny.c").write_text(SOURCE, encoding="utf-8")
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", f"{zig_name}-macos.{oldest}"]
    options = ["-O1", "-s", "-shared", "-Wl,-undefined,dynamic_lookup", "-o", "tiny.abi3.so"]
    subprocess.run([*compiler, *options, "tiny.c"], cwd=folder, check=True)
    return processor, oldest, (folder / "tiny.abi3.so").read_bytes()


def test_reads_what_the_compiler_was_told(tiny):
    processor, oldest, data = tiny
    binary = macho.read(data)
    assert binary.processor == processor
    assert binary.oldest == tuple(map(int, oldest.split(".")))
    assert binary.loads == [macho.SYSTEM]
    assert binary.rpaths == []
    assert binary.exports == {"_PyInit_tiny", "_visible"}
    # Only Macs with Apple's processors ask for a signature.
    assert binary.signature == ("valid" if processor == "arm64" else "not signed")


def test_a_changed_page_breaks_the_signature(tiny):
    processor, _, data = tiny
    if processor != "arm64":
        pytest.skip("zig signs for arm64 only")
    at = data.index(b"/usr/lib/libSystem")
    changed = data[:at] + b"!" + data[at + 1 :]
    assert macho.read(changed).signature == "broken: page 0 was changed"


def test_faults_of_a_wheel_are_named(tiny, tmp_path, capsys):
    processor, oldest, data = tiny
    other = {"arm64": "x86_64", "x86_64": "arm64"}[processor]
    wheel = tmp_path / f"d2ke-1-cp311-abi3-macosx_10_9_{other}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("d2ke/_ext/tiny.abi3.so", data.replace(b"libSystem.B", b"libSister.B"))
    assert macho.main(str(wheel)) == 1
    faults = re.findall("FAULT: (.*)", capsys.readouterr().out)
    assert f"is for {processor}" in faults
    assert f"needs macOS {oldest}" in faults
    assert "loads /usr/lib/libSister.B.dylib, which is not in the wheel" in faults
    assert "exports _PyInit_tiny, _visible" in faults
    assert any("signature" in fault for fault in faults)
