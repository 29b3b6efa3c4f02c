"""How calls become launches, and what is copied for them."""

from collections.abc import Callable
from subprocess import CompletedProcess

PREPARE = """
import ctypes
import numpy as np
import deltatape
from deltatape import Device, FactoredTape, Stream
from layers import normal, placed, state, tape
device = Device("cuda")
def copied(call):
    before = device.counters["bytes_copied"]
    call()
    return device.counters["bytes_copied"] - before
"""

Launches = Callable[..., list[str]]
Run = Callable[..., CompletedProcess[str]]


def test_a_models_rollbacks_are_one_launch(launches: Launches) -> None:
    program = """
with device.stream() as stream:
    for _ in range(24):
        states = state(device)
        deltatape.ssm_replay(states, tape(device), 3, out=states, stream=stream)
"""
    (line,) = launches(PREPARE + program)
    assert line.endswith(" 2 1 24 256")


def test_more_layers_than_a_launch_holds(launches: Launches) -> None:
    program = """
with device.stream() as stream:
    for _ in range(50):
        deltatape.ssm_replay(state(device, 2), tape(device, 2), 3, stream=stream)
"""
    assert [line.split()[-2] for line in launches(PREPARE + program)] == ["48", "48", "4"]


def test_calls_on_the_same_memory_keep_their_order(launches: Launches) -> None:
    program = """
with device.stream() as stream:
    states = state(device)
    for _ in range(3):
        deltatape.ssm_replay(states, tape(device), 3, out=states, stream=stream)
    other = deltatape.ssm_replay(states, tape(device), 3, stream=stream)
    deltatape.ssm_replay(other, tape(device), 3, stream=stream)
"""
    assert [line.split()[-2] for line in launches(PREPARE + program)] == ["1"] * 5


def test_reads_of_the_same_memory_need_no_order(launches: Launches) -> None:
    program = """
with device.stream() as stream:
    shared, start = tape(device), state(device)
    for _ in range(3):
        deltatape.ssm_replay(start, shared, 3, stream=stream)
"""
    assert [line.split()[-2] for line in launches(PREPARE + program)] == ["3"]


def test_a_callers_stream_has_the_work_after_a_wait(launches: Launches) -> None:
    program = """
stream = Stream(device, callers=0)
states = [state(device) for _ in range(3)]
for each in states:
    deltatape.ssm_replay(each, tape(device), 3, out=each, stream=stream)
stream.wait()
open(__import__("os").environ["DRIVER_LOG"], "a").write("waited\\n")
"""
    lines = launches(PREPARE + program)
    assert [line.split()[-2:] for line in lines] == [["3", "256"], ["waited"]]


def test_grids_are_split_where_they_are_too_high(launches: Launches) -> None:
    program = """
with device.stream() as stream:
    deltatape.chunk_tri_solve_invert(normal(65536, 1, 1, 16), stream=stream)
    deltatape.ssm_replay(normal(1000, 1, 1, 4), FactoredTape(
        normal(1000, 1, 1), None, normal(1000, 1, 1, 1), normal(1000, 1, 1, 4)), 1, stream=stream)
"""
    assert [line.split()[-2] for line in launches(PREPARE + program)] == [
        *("65535", "1"),
        *("320", "320", "320", "40"),
    ]


def test_the_devices_own_memory_is_not_copied(run: Run) -> None:
    program = """
start, entries = state(device), tape(device)
def call():
    with device.stream() as stream:
        deltatape.ssm_replay(start, entries, 3, stream=stream)
print(copied(call))
"""
    assert run(PREPARE + program).stdout == "0\n"


def test_a_foreign_pool_is_copied_by_the_rows_in_use(run: Run) -> None:
    program = """
pool, entries = normal(100, 2, 8, 64), tape(device, 2)
row = pool[0].nbytes
def call():
    with device.stream() as stream:
        deltatape.ssm_replay(pool, entries, 3, slots=[7, 99], stream=stream)
print(copied(call) // row, copied(call) % row)
"""
    assert run(PREPARE + program).stdout == "4 0\n"


def test_foreign_memory_is_refused_on_a_callers_stream(run: Run) -> None:
    program = """
try:
    deltatape.ssm_replay(normal(1, 2, 8, 64), tape(device), 3, stream=Stream(device, callers=0))
except deltatape.InvalidArgument as error:
    print(error)
"""
    assert run(PREPARE + program).stdout.startswith(
        "[ssm_replay] state: expected memory that the GPU reaches, as the stream is the caller's"
    )


def test_the_callers_context_is_current_again(run: Run) -> None:
    program = """
driver, current = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
def check(expected):
    with device.stream() as stream:
        deltatape.ssm_replay(state(device), tape(device), 3, stream=stream)
        driver.cuCtxGetCurrent(ctypes.byref(current))
        assert current.value == expected, current
check(None)
driver.cuCtxPushCurrent_v2(ctypes.c_void_p(0x77))
check(0x77)
print("restored")
"""
    done = run(PREPARE + program)
    assert done.stdout == "restored\n", done.stderr


ONE = """
with device.stream() as stream:
    deltatape.ssm_replay(state(device), tape(device), 3, stream=stream)
"""


def test_a_kernel_may_start_while_the_one_before_it_ends(launches: Launches) -> None:
    (line,) = launches(PREPARE + ONE)
    assert line.startswith("early launch ")


def test_kernels_that_do_not_wait_by_themselves_start_in_turn(launches: Launches) -> None:
    (line,) = launches(PREPARE + ONE, DRIVER_ARCHITECTURE="80")
    assert line.startswith("launch ")


def test_a_driver_that_cannot_capture_early_starts_gets_none(launches: Launches) -> None:
    (line,) = launches(PREPARE + ONE, DRIVER_VERSION="12020")
    assert line.startswith("launch ")
