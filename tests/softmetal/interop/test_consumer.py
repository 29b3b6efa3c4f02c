"""A Swift package reaches the installed library by pkg-config, and "auto" is metal for it."""

import os
import shutil
import subprocess
from pathlib import Path

from harness import BUILD, REPOSITORY

PACKAGE = REPOSITORY / "tests" / "consumers" / "swift"


def run(*command: str | Path, **environment: str) -> str:
    ended = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_a_swift_package_rolls_a_state_back(tmp_path: Path) -> None:
    installed, package = tmp_path / "installed", tmp_path / "package"
    run("cmake", "--install", BUILD, "--prefix", installed)
    shutil.copytree(PACKAGE, package)
    found = str(installed / "lib" / "pkgconfig")
    run("swift", "build", "--package-path", package, PKG_CONFIG_PATH=found)
    program = package / ".build" / "debug" / "Rollback"
    said = run(program, LD_LIBRARY_PATH=str(installed / "lib"))
    assert "from Swift" in said
    assert "k = 0 unchanged: true" in said
