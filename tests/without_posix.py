# SPDX-License-Identifier: BSD-3-Clause
"""A pytest plugin, ``-p without_posix``: d2ke sees what it would see on Windows.

In code of the package `os`, `signal` and `time` lack the names that Windows lacks, and POSIX's
modules cannot be imported. Open files can be neither replaced nor removed, by anybody. Tests that
fork or make pipes are skipped; else they, and all libraries, have what this system has.
"""

import builtins
import ctypes
import multiprocessing
import os
import re
import signal
import sys
import time
from types import ModuleType, SimpleNamespace

import pytest

PACKAGES = ("d2ke", "matlab_compat")
MODULES = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
_OS = r"""
    O_(?!APPEND|CREAT|EXCL|RDONLY|RDWR|TRUNC|WRONLY) CLD_ EFD_ EX_(?!OK) F_(?!OK) GRND_ MFD_ P_[AP]
    POSIX_ PRIO_ RTLD_ RWF_ SCHED_ SEEK_[DH] SPLICE_ ST_ XATTR_ W[A-Z] posix_ sched_ set\w*[ug]id
    get\w*[ug]id [gs]etpg[ri][dp] [gs]etgroups [gs]etpriority \w*xattr$ p(read|write)v?
    (read|write)v$ f?pathconf f?statvfs$ l?f?chown chroot confstr copy_file_range ctermid environb
    eventfd fchdir fdatasync fork fwalk getenvb getgrouplist getloadavg getrandom getsid initgroups
    killpg lockf login_tty major makedev memfd_create minor mkfifo mknod nice openpty pidfd_open
    pipe2 register_at_fork sendfile setsid spawn[lv]p splice sync$ sysconf tc[gs]etpgrp ttyname
    uname$ wait(3|4|id)?$
"""
HIDDEN = {
    os: _OS,
    signal: """
        SIG(?!ABRT|FPE|ILL|INT|SEGV|TERM|_DFL|_IGN|nals) ITIMER_ alarm [gs]etitimer pause pthread_
        pidfd_ sig(interrupt|pending|timedwait|wait)
    """,
    time: "CLOCK_ clock_ pthread_ tzset",
}


def _asker():
    """Return the frame that asks for a name, and its package or module of tests."""
    frame = sys._getframe(2)
    return frame, frame.f_globals.get("__name__", "").partition(".")[0]


class _Windows(ModuleType):
    """A module without the names that Windows does not have."""

    def __getattribute__(self, name):
        if _HIDDEN[id(self)].match(name):
            frame, asker = _asker()
            no_test = name in ("fork", "mkfifo") and asker.startswith("test_")
            if no_test and frame.f_code.co_name != "<module>":
                pytest.skip(f"Windows has no {name}")
            if no_test or asker in PACKAGES:
                raise AttributeError(f"Windows has no {name}")
        return super().__getattribute__(name)


_HIDDEN = {
    id(module): re.compile("|".join(f"(?:{name})" for name in names.split()))
    for module, names in HIDDEN.items()
}


def _import(name, *arguments, **options):
    if name in MODULES and _asker()[1] in PACKAGES:
        raise ModuleNotFoundError(f"Windows has no {name}", name=name)
    return _real_import(name, *arguments, **options)


def _library(name, *arguments, **options):
    if name == "kernel32":
        return SimpleNamespace(GlobalMemoryStatusEx=_memory)
    return _real_library(name, *arguments, **options)


def _memory(words):
    words[1] = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _closed(function):
    """Return the function for files that are not open."""

    def call(*places, **options):
        if not options.get("dir_fd"):
            for place in places:
                _refuse_open(place)
        return function(*places, **options)

    return call


def _refuse_open(place):
    target = os.path.realpath(place)
    for fd in os.listdir("/proc/self/fd"):
        try:
            found = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            continue
        if found == target:
            raise PermissionError(13, "the file is open", str(place))


_real_import, _real_library = builtins.__import__, ctypes.CDLL
builtins.__import__, ctypes.CDLL = _import, _library
multiprocessing.get_all_start_methods = lambda: ["spawn"]
for _name in ("replace", "rename", "unlink", "remove"):
    setattr(os, _name, _closed(getattr(os, _name)))
for _module in HIDDEN:
    _module.__class__ = _Windows
