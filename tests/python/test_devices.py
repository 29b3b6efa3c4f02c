"""Devices, their memory, and the one that is used when none is named."""

import os
import subprocess
import sys
import threading

import ml_dtypes
import numpy as np
import pytest

import deltatape
from deltatape import Device, DeviceUnavailable, InvalidArgument, OutOfMemory, UnsupportedDType
from deltatape.verification.inputs import Shape, step_inputs

COUNTERS = ["dispatches", "command_buffers", "pipelines_compiled", "bytes_wrapped", "bytes_copied"]


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    surrounding = {k: v for k, v in os.environ.items() if k != "DELTATAPE_DEVICE"}
    return subprocess.run(
        command, env=surrounding | environment, capture_output=True, text=True, check=False
    )


def test_every_device_listed_can_be_opened_and_cpu_is_among_them() -> None:
    assert "cpu" in deltatape.devices()
    for name in deltatape.devices():
        with Device(name) as device:
            assert device.name == name


@pytest.mark.parametrize("name", ["", "CPU", "vulkan", "cpu ", "x" * 1000])
def test_an_unknown_device_is_refused(name: str) -> None:
    with pytest.raises(
        (InvalidArgument, DeviceUnavailable), match=r"\[device_open\] name: .+, got"
    ):
        Device(name)


def test_a_device_says_what_it_is(device: Device) -> None:
    assert set(device.info) == {"threads", "name", "path", "hardware"}
    assert device.info["name"] == device.name
    assert repr(device) == f"<deltatape.Device {device.name}>"


def test_counters_count_work(device: Device) -> None:
    before = device.counters
    assert list(before) == COUNTERS
    with device.stream() as stream:
        deltatape.chunk_tri_solve_invert(np.ones((1, 16, 1, 16), np.float32), stream=stream)
    assert device.counters["dispatches"] > before["dispatches"]


def test_a_normal_rollback_copies_nothing(device: Device) -> None:
    layer = step_inputs(Shape(2, 6, 4, 2, 32, 64))
    state = device.empty(layer.state_shape)
    state[...] = layer.state
    before = device.counters["bytes_copied"]
    with device.stream() as stream:
        _, _, tape = deltatape.ssm_step_record(
            *layer.args()[:-1], state, advance=False, stream=stream
        )
        deltatape.ssm_replay(state, tape, 3, out=state, stream=stream)
    copied = device.counters["bytes_copied"] - before
    # An NVIDIA GPU has memory of its own.
    assert copied == 0 or device.name == "cuda"


def test_counters_are_shared_by_all_who_opened_the_device(device: Device) -> None:
    with Device(device.name) as second:
        assert second.counters == device.counters


def test_a_closed_device_is_refused(device: Device) -> None:
    closed = Device(device.name)
    closed.close()
    closed.close()
    assert repr(closed) == f"<deltatape.Device {device.name}, closed>"
    for use in (closed.stream, lambda: closed.empty(1), lambda: closed.counters):
        with pytest.raises(InvalidArgument, match="expected an open device, got a closed one"):
            use()


@pytest.mark.parametrize("shape", [(), 0, 5, (0, 3), (2, 3), [4, 1, 2], np.int64(3), (np.int8(2),)])
@pytest.mark.parametrize("dtype", ["float32", np.float16, ml_dtypes.bfloat16, "bool", "S3"])
def test_empty_has_the_shape_and_type(device: Device, shape: object, dtype: object) -> None:
    array = device.empty(shape, dtype)
    like = np.empty(shape, dtype)
    assert (array.shape, array.dtype) == (like.shape, like.dtype)
    assert array.flags.carray
    array[...] = like


def test_empty_is_float32_unless_told(device: Device) -> None:
    assert device.empty(1).dtype == deltatape.empty(1).dtype == np.float32


@pytest.mark.parametrize("shape", [-1, (2, -1), (0, -1)])
def test_negative_sizes_are_refused(device: Device, shape: object) -> None:
    with pytest.raises(InvalidArgument, match=r"\[empty\] shape: expected sizes >= 0, got"):
        device.empty(shape)


def test_memory_for_objects_is_refused(device: Device) -> None:
    with pytest.raises(UnsupportedDType, match=r"\[empty\] dtype: expected .+, got object"):
        device.empty(3, object)


@pytest.mark.parametrize("shape", [2**61, 2**63, (2**40, 2**40)])
def test_more_memory_than_there_is(device: Device, shape: object) -> None:
    with pytest.raises(OutOfMemory, match=r"\[alloc\].+expected .+, got"):
        device.empty(shape)


@pytest.mark.parametrize("name", ["auto", "cpu"])
def test_the_default_device_is_the_environments(name: str) -> None:
    program = "import deltatape as d; d.empty(1); print(d._defaults.DEFAULTS.device().name)"
    done = run(program, DELTATAPE_DEVICE=name)
    assert done.stdout.strip() in (["cpu"] if name == "cpu" else ["cpu", "metal"])
    assert run(program).stdout == run(program, DELTATAPE_DEVICE="auto").stdout


def test_a_wrong_default_device_fails_at_first_use_and_loudly() -> None:
    done = run("import deltatape; print(1); deltatape.empty(1)", DELTATAPE_DEVICE="vulkan")
    assert done.stdout == "1\n"
    assert "got vulkan" in done.stderr


def test_importing_opens_no_device() -> None:
    program = (
        "import deltatape, threading; assert threading.active_count() == 1;"
        "print(deltatape._defaults.DEFAULTS._device)"
    )
    assert run(program).stdout == "None\n"


def test_every_thread_has_a_default_stream() -> None:
    a = np.tril(np.full((1, 64, 4, 64), 0.25, np.float32).swapaxes(1, 2), -1).swapaxes(1, 2)
    expected = deltatape.chunk_tri_solve_invert(a).tobytes()
    results: list[bytes] = []

    def work() -> None:
        results.extend(deltatape.chunk_tri_solve_invert(a).tobytes() for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == 8 * 50 * [expected]
