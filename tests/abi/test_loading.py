"""DELTATAPE_LIBRARY wins, and works or fails loudly."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deltatape import _native
from deltatape._native import lib


def load(path: str | Path) -> subprocess.CompletedProcess[str]:
    program = "import deltatape; print(deltatape._native.LIBRARY_PATH, deltatape.devices())"
    environment = {**os.environ, "DELTATAPE_LIBRARY": str(path)}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def compiled(source: str, folder: Path) -> Path:
    (folder / "library.c").write_text(source)
    library = folder / "library.so"
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library, folder / "library.c"]
    subprocess.run(command, check=True, capture_output=True)
    return library


def refused(path: str | Path, sentence: str) -> None:
    done = load(path)
    assert done.returncode == 1
    assert re.search(f"ImportError: \\[load\\] '{re.escape(str(path))}': {sentence}", done.stderr)


def test_another_build_is_loaded_from_anywhere(tmp_path: Path) -> None:
    copy = tmp_path / "renamed.library"
    shutil.copy(_native.LIBRARY_PATH, copy)
    done = load(copy)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{copy} ['cpu'")


@pytest.mark.parametrize("name", ["", "missing.so", "/nowhere/libdeltatape.so"])
def test_a_path_without_a_library_is_refused(name: str) -> None:
    refused(name, "expected deltatape's library, got ")


def test_a_file_that_is_no_library_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "libdeltatape.so"
    text.write_text("not a library")
    refused(text, "expected deltatape's library, got ")


def test_a_library_that_is_another_is_refused(tmp_path: Path) -> None:
    other = compiled("int other(void) { return 1; }", tmp_path)
    refused(other, "expected deltatape's library, got .*dtape_abi_version")


def test_a_library_of_another_abi_version_is_refused(tmp_path: Path) -> None:
    newer = compiled("int dtape_abi_version(void) { return 99; }", tmp_path)
    refused(newer, f"expected ABI version {_native.ABI_VERSION}, got 99")


def test_a_library_that_lacks_functions_is_refused_and_they_are_named(tmp_path: Path) -> None:
    names = [name for name in dir(lib) if name.startswith("dtape_")]
    kept = [name for name in names if name not in ("dtape_abi_version", "dtape_ssm_replay")]
    functions = "".join(f"int {name}(void) {{ return 0; }}\n" for name in kept)
    version = f"int dtape_abi_version(void) {{ return {_native.ABI_VERSION}; }}\n"
    older = compiled(version + functions, tmp_path)
    refused(older, "expected deltatape's library, got .*dtape_ssm_replay")
