# SPDX-License-Identifier: BSD-3-Clause
"""Read a wheel for macOS as macOS would, and check what it says: ``python macho.py WHEEL``.

For each binary: its processor, the oldest system, the signature, and the libraries that it loads.
Ends with status 1 if macOS would refuse one of them, or if a module exports more than Python's
entry point. Symbols that no library has are found by the linker, and when a module is loaded.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import struct
import sys
import zipfile
from dataclasses import dataclass, field

PROCESSORS = {0x0100000C: "arm64", 0x01000007: "x86_64"}
COMMANDS = {
    0x0C: "LOAD_DYLIB",
    0x1D: "CODE_SIGNATURE",
    0x24: "VERSION_MIN_MACOSX",
    0x32: "BUILD_VERSION",
    0x80000018: "LOAD_WEAK_DYLIB",
    0x8000001C: "RPATH",
    0x80000022: "DYLD_INFO_ONLY",
}
SYSTEM = "/usr/lib/libSystem.B.dylib"
OF_THE_LINKER = {"___dso_handle", "__mh_dylib_header"}  # zig's exports them from all


@dataclass
class Binary:
    """What a Mach-O file for one processor of 64 bits says."""

    processor: str
    oldest: tuple[int, int] = (0, 0)  # the first system that may load it
    loads: list[str] = field(default_factory=list)
    rpaths: list[str] = field(default_factory=list)
    exports: set[str] = field(default_factory=set)
    signature: str = "not signed"  # or "valid", or what is wrong


def read(data: bytes) -> Binary:
    """Read a file's header, its load commands, and what they point to."""
    magic, processor, _, _, n_commands = struct.unpack_from("<5I", data)
    if magic != 0xFEEDFACF:
        raise ValueError("not a Mach-O file of 64 bits")
    binary = Binary(PROCESSORS[processor])
    start = 32
    for _ in range(n_commands):
        command, size = struct.unpack_from("<2I", data, start)
        name = COMMANDS.get(command, "")
        numbers = struct.unpack_from("<4I", data[start : start + size].ljust(24, b"\0"), 8)
        if name in ("BUILD_VERSION", "VERSION_MIN_MACOSX"):
            version = numbers[1 if name == "BUILD_VERSION" else 0]
            binary.oldest = (version >> 16, version >> 8 & 0xFF)
        elif name in ("LOAD_DYLIB", "LOAD_WEAK_DYLIB"):
            binary.loads.append(_text(data, start + numbers[0]))
        elif name == "RPATH":
            binary.rpaths.append(_text(data, start + numbers[0]))
        elif name == "DYLD_INFO_ONLY":
            at, length = struct.unpack_from("<2I", data, start + 40)
            binary.exports = _exports(data[at : at + length])
        elif name == "CODE_SIGNATURE":
            binary.signature = _signature(data, numbers[0])
        start += size
    return binary


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of seven bits a byte; also return the place after it."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def _exports(trie: bytes) -> set[str]:
    """All names of a tree of beginnings; a node that ends a name says where the symbol is."""
    names = set()
    nodes = [("", 0)] if trie else []
    while nodes:
        beginning, at = nodes.pop()
        length, at = _number(trie, at)
        if length:
            names.add(beginning)
        at += length
        n_children, at = trie[at], at + 1
        for _ in range(n_children):
            more = _text(trie, at)
            child, at = _number(trie, at + len(more) + 1)
            nodes.append((beginning + more, child))
    return names - OF_THE_LINKER


def _signature(data: bytes, start: int) -> str:
    """Compare the hashes of all pages in each code directory with the file."""
    _, _, n_blobs = struct.unpack_from(">3I", data, start)
    directories = 0
    for i in range(n_blobs):
        offset = start + struct.unpack_from(">2I", data, start + 12 + 8 * i)[1]
        if struct.unpack_from(">I", data, offset)[0] != 0xFADE0C02:
            continue
        directories += 1
        hashes, _, _, n_pages, limit = struct.unpack_from(">5I", data, offset + 16)
        size, kind, _, log_page = struct.unpack_from("4B", data, offset + 36)
        if limit != start:
            return f"broken: it ends at byte {limit}, and the code at {start}"
        for page in range(n_pages):
            content = data[page << log_page : min((page + 1) << log_page, limit)]
            digest = hashlib.new("sha1" if kind == 1 else "sha256", content).digest()[:size]
            at = offset + hashes + size * page
            if digest != data[at : at + size]:
                return f"broken: page {page} was changed"
    return "valid" if directories else "broken: no code directory"


def faults(path: str, binary: Binary, binaries: dict[str, Binary], tag: re.Match[str]) -> list[str]:
    """Why macOS would not load the binary at `path` of a wheel with `tag`, or ought not to."""
    oldest, processor = (int(tag[1]), int(tag[2])), tag[3]
    found = []
    if binary.processor != processor:
        found.append(f"is for {binary.processor}")
    if not (0, 0) < binary.oldest <= oldest:
        found.append(f"needs macOS {'.'.join(map(str, binary.oldest))}")
    if binary.signature != "valid" and (processor == "arm64" or binary.signature != "not signed"):
        found.append(f"the signature is {binary.signature}")
    for library in set(binary.loads) - {SYSTEM}:
        places = [place + library.removeprefix("@rpath") for place in binary.rpaths]
        folder = posixpath.dirname(path)
        places = [posixpath.normpath(p.replace("@loader_path", folder)) for p in places]
        if not any(place in binaries for place in places):
            found.append(f"loads {library}, which is not in the wheel")
    module = posixpath.basename(path).partition(".")[0]
    if path.endswith(".so") and binary.exports != {f"_PyInit_{module}"}:
        found.append(f"exports {', '.join(sorted(binary.exports))}")
    return found


def main(wheel: str) -> int:
    """Print each binary of the wheel and its faults; return 1 if there are any."""
    tag = re.search(r"-macosx_(\d+)_(\d+)_(arm64|x86_64)\.whl$", wheel)
    if tag is None:
        raise SystemExit(f"not a wheel for macOS: {wheel}")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith((".so", ".dylib"))]
        binaries = {name: read(archive.read(name)) for name in names}
    n_faults = 0
    for name, binary in binaries.items():
        system = ".".join(map(str, binary.oldest))
        print(f"{name}: {binary.processor}, macOS {system}, signature {binary.signature}")
        print(f"  loads {' '.join(binary.loads)}; searches {' '.join(binary.rpaths) or 'nowhere'}")
        for fault in faults(name, binary, binaries, tag):
            print(f"  FAULT: {fault}")
            n_faults += 1
    print(f"{len(binaries)} binaries, {n_faults} faults")
    return 1 if n_faults or not binaries else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
