"""Tests of the device cuda without a GPU: a driver that runs nothing, and NVRTC where it is told.

The folder of NVRTC is the environment variable DELTATAPE_NVRTC. Without it only those tests are
collected that need none.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
Run = Callable[..., subprocess.CompletedProcess[str]]

if sys.platform != "linux":
    collect_ignore_glob = ["*"]
elif "DELTATAPE_NVRTC" not in os.environ:
    collect_ignore = ["test_calls.py", "test_faults.py", "test_kernels.py", "test_kept_kernels.py"]


@pytest.fixture(scope="session")
def driver_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a folder whose libcuda.so.1 is made of the source."""

    def driver_of(source: str) -> Path:
        folder = tmp_path_factory.mktemp("driver")
        (folder / "driver.c").write_text(source)
        flags = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-Wl,-soname,libcuda.so.1"]
        command = [os.environ.get("CC", "cc"), *flags, "-o", "libcuda.so.1", "driver.c"]
        subprocess.run(command, check=True, cwd=folder)
        return folder

    return driver_of


@pytest.fixture(scope="session")
def driver(driver_of: Callable[[str], Path]) -> Path:
    """The folder of the driver that runs nothing."""
    return driver_of((HERE / "driver.c").read_text())


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for compiled kernels that tests share."""
    return tmp_path_factory.mktemp("cache") / "kernels"


@pytest.fixture
def run(driver: Path, cache: Path) -> Run:
    """Run a program on the device, with the environment's variables set or, if None, left out."""

    def run(program: str, **variables: str | Path | None) -> subprocess.CompletedProcess[str]:
        chosen = {"LD_LIBRARY_PATH": driver, "DELTATAPE_CACHE": cache, **variables}
        environment = {name: value for name, value in os.environ.items() if name not in chosen}
        environment |= {name: str(value) for name, value in chosen.items() if value is not None}
        environment["PYTHONPATH"] = os.pathsep.join([str(HERE), *sys.path])
        return subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
def launches(run: Run, tmp_path: Path) -> Callable[..., list[str]]:
    """Run a program and return what it launched, a line each: kernel, grid, threads."""

    def launches(program: str, **variables: str | Path | None) -> list[str]:
        log = tmp_path / "log"
        log.unlink(missing_ok=True)
        done = run(program, DRIVER_LOG=log, **variables)
        assert done.returncode == 0, done.stderr
        return log.read_text().splitlines() if log.exists() else []

    return launches
