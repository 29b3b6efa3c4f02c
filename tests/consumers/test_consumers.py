"""Other languages reach the installed library by pkg-config, CMake and a plain path."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parent / "run"


@pytest.mark.parametrize("consumer", ["c", "cmake", "ctypes"])
def test_a_whole_project_rolls_a_state_back(consumer: str) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(
        [RUN, consumer], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "deltatape" in done.stdout
