"""Each way in which Metal fails reaches the caller as the design's error; what follows works."""

import json

import pytest
from harness import python

RIGHT = {"error": "", "code": 0, "message": "", "untouched": False, "right": True}


def attempts(*faults: str, **environment: str) -> list[dict[str, object]]:
    """What came of one call for each fault, in one process."""
    ended = python("attempts.py", *faults, **environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    return json.loads(ended.stdout)


UNAVAILABLE = ("DeviceUnavailable", 3)
MEMORY = ("OutOfMemory", 5)
ERROR = ("DeviceError", 6)
LOST = ("DeviceError", 7)

PASSING = {
    "no_device": (UNAVAILABLE, "got none"),
    "old_family": (UNAVAILABLE, "Apple7 or later"),
    "discrete_memory": (UNAVAILABLE, "unified memory"),
    "queue": (ERROR, "a command queue, got none"),
    "buffer": (MEMORY, "got none"),
    "buffer@2": (MEMORY, "bytes: expected at most"),
    "compile": (ERROR, "to compile, got: injected: compile"),
    "function": (ERROR, "among the functions compiled, got []"),
    "pipeline": (ERROR, "to become a pipeline, got: injected: pipeline"),
    "width=16": (ERROR, "simdgroups of 32, got 16"),
    "max_threads=16": (ERROR, "threads a group, got 16"),
    "threadgroup_memory=64@2": (ERROR, "at most 64 bytes of threadgroup memory, got "),
    "command_buffer": (ERROR, "a command buffer, got none"),
    "encoder": (ERROR, "a command buffer, got none"),
    "unbind=0": (ERROR, "a [[buffer(0)]]: nothing is bound"),
    "unbind=2": (ERROR, "p [[buffer(2)]]: nothing is bound"),
    "failure=1": (ERROR, "injected: failure 1"),
    "failure=2": (ERROR, "injected: failure 2"),
    "failure=3": (ERROR, "injected: failure 3"),
    "failure=8": (MEMORY, "injected: failure 8"),
}


@pytest.mark.parametrize("fault", PASSING)
def test_a_fault_is_told_and_the_next_call_works(fault: str) -> None:
    (error, code), part = PASSING[fault]
    first, second = attempts(fault, "")
    assert (first["error"], first["code"]) == (error, code)
    assert part in str(first["message"])
    assert first["untouched"]
    assert second == RIGHT


@pytest.mark.parametrize("fault", PASSING)
def test_a_fault_after_a_right_call_is_told_too(fault: str) -> None:
    first, second, third = attempts("", fault, "")
    assert first == third == RIGHT
    # What a process keeps from its first call is no longer asked for: it fails, or it is right.
    kept = {
        "no_device", "old_family", "discrete_memory", "queue", "compile", "function", "pipeline",
        "width=16", "max_threads=16", "threadgroup_memory=64@2", "buffer", "buffer@2",
    }  # fmt: skip
    assert (second == RIGHT) == (fault in kept)
    assert second["right"] or second["untouched"]


@pytest.mark.parametrize("code", [4, 7, 11])
def test_a_lost_gpu_stays_lost_until_it_is_opened_again(code: int) -> None:
    first, second = attempts(f"failure={code}", "")
    assert (first["error"], first["code"]) == LOST
    assert f"injected: failure {code}" in str(first["message"])
    assert first["untouched"]
    assert second == RIGHT


def test_waiting_ends() -> None:
    first, second = attempts("hang=1500", "", DELTATAPE_METAL_TIMEOUT="0.2")
    assert (first["error"], first["code"]) == LOST
    assert "within 0.2 s, got none" in str(first["message"])
    assert first["untouched"]
    # The queue is new: what the lost one still holds does not come first.
    assert second == RIGHT


def test_either_discovery_call_is_enough() -> None:
    assert attempts("no_default_device") == [RIGHT]


def test_pages_that_cannot_be_wrapped_are_copied() -> None:
    assert attempts("wrap") == [RIGHT]


def test_auto_is_the_cpu_where_there_is_no_gpu() -> None:
    program = "import deltatape; print(deltatape.Device('auto').name, deltatape.devices())"
    for fault, expected in (("", "metal ['cpu', 'metal']"), ("no_device", "cpu ['cpu']")):
        ended = python("-c", program, SOFTMETAL_FAULT=fault)
        assert ended.stdout.strip() == expected
