"""The header is C11, C17 and C++17, and the binding was generated from it."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deltatape import _native

ROOT = Path(__file__).parents[2]
HEADER = ROOT / "native" / "include" / "deltatape.h"
BOUND = [HEADER, HEADER.with_name("deltatape_cuda.h")]
STRICT = ["-fsyntax-only", "-pedantic", "-Wall", "-Wextra", "-Werror"]


@pytest.mark.parametrize(
    ("compiler", "language", "standard"),
    [
        (os.environ.get("CC", "cc"), "c", "c11"),
        (os.environ.get("CC", "cc"), "c", "c17"),
        (os.environ.get("CXX", "c++"), "c++", "c++17"),
    ],
)
def test_the_header_compiles_without_a_warning(
    compiler: str, language: str, standard: str, tmp_path: Path
) -> None:
    source = tmp_path / "program.txt"
    source.write_text(
        '#include "deltatape.h"\n#include "deltatape.h"\n'
        "int main(void) { dtape_input none = {0, 0, 0}; return none.data != 0; }\n"
    )
    command = [compiler, "-x", language, f"-std={standard}", *STRICT, f"-I{HEADER.parent}", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_installed_header_is_the_sources() -> None:
    installed = _native.INSTALLED / "include" / "deltatape.h"
    assert installed.read_bytes() == HEADER.read_bytes(), "install the package again"


def test_the_binding_is_what_the_header_generates(tmp_path: Path) -> None:
    generator = ROOT / "cmake" / "generate_abi.py"
    module = tmp_path / "_abi.py"
    subprocess.run([sys.executable, generator, *BOUND, module], check=True, capture_output=True)
    installed = importlib.util.find_spec("deltatape._abi")
    assert installed is not None
    assert installed.origin is not None
    assert module.read_text() == Path(installed.origin).read_text()


def test_every_packaged_folder_is_there() -> None:
    for path in (
        "lib/pkgconfig/deltatape.pc",
        "lib/cmake/deltatape/deltatapeConfig.cmake",
        "lib/cmake/deltatape/deltatapeConfigVersion.cmake",
    ):
        assert (_native.INSTALLED / path).is_file()
