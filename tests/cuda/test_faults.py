"""The driver's errors reach the caller in its words; a lost GPU stays lost."""

from collections.abc import Callable
from subprocess import CompletedProcess

Run = Callable[..., CompletedProcess[str]]

PREPARE = """
import os
import deltatape
from deltatape import Device
from layers import state, tape
device = Device("cuda")
start, entries = state(device), tape(device)
def attempt(call):
    try:
        call()
    except deltatape.Error as error:
        print(type(error).__name__, error.code, error)
def replay():
    with device.stream() as stream:
        deltatape.ssm_replay(start, entries, 3, stream=stream)
"""


def test_a_launch_that_fails_loses_the_gpu(run: Run) -> None:
    program = """
os.environ["DRIVER_FAILS"] = "cuStreamSynchronize:719"
attempt(replay)
os.environ["DRIVER_FAILS"] = ""
attempt(replay)
attempt(lambda: Device("cuda"))
"""
    lines = run(PREPARE + program).stdout.splitlines()
    words = "got CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure"
    assert [line.split("]")[0] for line in lines] == [
        "DeviceError 7 [stream_wait",
        "DeviceError 7 [stream_open",
        "DeviceError 7 [device_open",
    ]
    assert all(line.endswith(words) for line in lines)


def test_a_launch_that_is_refused_fails_the_wait(run: Run) -> None:
    program = """
os.environ["DRIVER_FAILS"] = "cuLaunchKernelEx:1"
attempt(replay)
os.environ["DRIVER_FAILS"] = ""
replay()
print("works again")
"""
    first, last = run(PREPARE + program).stdout.splitlines()
    assert first.startswith("DeviceError 6 [stream_wait] device: expected a kernel to start, got")
    assert last == "works again"


def test_memory_that_runs_out(run: Run) -> None:
    program = """
os.environ["DRIVER_FAILS"] = "cuMemHostAlloc:2"
attempt(lambda: device.empty(1 << 20))
os.environ["DRIVER_FAILS"] = "cuMemAlloc_v2:2"
attempt(lambda: deltatape.ssm_replay(start.copy(), entries, 3, stream=device.stream()))
"""
    lines = run(PREPARE + program).stdout.splitlines()
    assert [line.split("]")[0] for line in lines] == [
        "OutOfMemory 5 [alloc",
        "OutOfMemory 5 [ssm_replay",
    ]


def test_results_that_cannot_be_copied_back(run: Run) -> None:
    program = """
import numpy as np
out = np.full(start.shape, 7, np.float32)
def call():
    with device.stream() as stream:
        deltatape.ssm_replay(start, entries, 3, out=out, stream=stream)
os.environ["DRIVER_FAILS"] = "cuMemcpyDtoHAsync_v2:1"
attempt(call)
print((out == 7).all())
"""
    first, last = run(PREPARE + program).stdout.splitlines()
    assert first.startswith("DeviceError 6 [stream_wait] device: expected a copy from the GPU")
    assert last == "True"


def test_a_module_that_does_not_load(run: Run) -> None:
    program = """
os.environ["DRIVER_FAILS"] = "cuModuleLoadData:200"
attempt(replay)
"""
    (line,) = run(PREPARE + program).stdout.splitlines()
    assert line.startswith("DeviceError 6 [stream_wait] device: expected a compiled kernel to load")
