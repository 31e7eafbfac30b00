# SPDX-License-Identifier: BSD-3-Clause
"""libhdf5 loads no plugin because a file asks for its filter."""

import shutil
import subprocess

import pytest
from hostile_files import filtered, store_file


@pytest.fixture
def plugin(tmp_path):
    """The folder of a plugin for libhdf5, as a variable; the file that it makes when loaded."""
    if not shutil.which("gcc"):
        pytest.skip("needs a C compiler")
    folder, loaded = tmp_path / "plugins", tmp_path / "loaded"
    folder.mkdir()
    source = f"""
        #include <fcntl.h>
        __attribute__((constructor)) static void run(void) {{ creat("{loaded}", 0600); }}
    """
    command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(folder / "libplugin.so")]
    subprocess.run(command, input=source, text=True, check=True)
    return {"HDF5_PLUGIN_PATH": str(folder)}, loaded


def test_stores_load_no_plugins(tmp_path, plugin, refused):
    store_file(tmp_path / "s.h5", filtered)
    variable, loaded = plugin
    message = refused("d2ke.io.load_features(sys.argv[1])", tmp_path / "s.h5", **variable)
    assert "unknown filter" in message
    assert not loaded.exists()


def test_the_plugin_would_be_loaded(tmp_path, plugin, refused):
    store_file(tmp_path / "s.h5", filtered)
    variable, loaded = plugin
    call = "__import__('h5py').File(sys.argv[1])['Z'][()]"
    refused(call, tmp_path / "s.h5", "OSError", **variable)
    assert loaded.exists()
