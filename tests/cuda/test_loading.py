"""Where there is no driver, GPU or compiler, the device is not there, and says why."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import deltatape

Run = Callable[..., CompletedProcess[str]]

OPEN = """
import deltatape
assert "cuda" not in deltatape.devices()
assert deltatape.Device().name != "cuda"
try:
    deltatape.Device("cuda")
except deltatape.DeviceUnavailable as error:
    print(error)
"""


def test_a_driver_without_its_functions(run: Run, driver_of: Callable[[str], Path]) -> None:
    done = run(OPEN, LD_LIBRARY_PATH=driver_of("int nothing;\n"))
    assert done.stdout == (
        "[device_open] device: expected an NVIDIA GPU and its driver, got a libcuda.so.1 without "
        "cuInit\n"
    ), done.stderr


@pytest.mark.parametrize(
    ("fails", "got"), [("cuInit:719", "CUDA_ERROR_LAUNCH_FAILED"), ("cuDeviceGetCount:1", "no GPU")]
)
def test_a_driver_without_a_gpu(run: Run, fails: str, got: str) -> None:
    done = run(OPEN, DRIVER_FAILS=fails)
    expected = "[device_open] device: expected an NVIDIA GPU and its driver, got " + got
    assert done.stdout.startswith(expected), done.stderr


def test_no_compiler(run: Run, tmp_path: Path) -> None:
    done = run(OPEN, DELTATAPE_NVRTC=tmp_path)
    assert done.stdout.startswith(
        "[device_open] device: expected NVIDIA's run-time compiler, libnvrtc.so.13, .12 or .11.2"
    ), done.stderr


def test_streams_of_other_devices_are_refused() -> None:
    expected = pytest.raises(deltatape.InvalidArgument, match="device: expected cuda, got cpu")
    with deltatape.Device("cpu") as device, expected:
        deltatape.Stream(device, callers=0)
