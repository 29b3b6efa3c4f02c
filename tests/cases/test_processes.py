"""Threads and forked processes as other projects got them wrong. Names begin with the case's id."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from deltatape import Device
from deltatape.verification.calls import invert, record, replay
from deltatape.verification.inputs import Shape, matrices, step_inputs


def results(device: Device, seed: int) -> list[bytes]:
    """Bytes of one call of each kernel, each on a stream of its own."""
    inputs = step_inputs(Shape(2, 3, 4, 2, 8, 16), seed)
    _, state, tape = record(device, inputs)
    rolled = replay(device, inputs.state, tape, 2)
    inverse = invert(device, matrices((1, 20, 2, 16), seed))
    return [each.tobytes() for each in (state, rolled, inverse)]


def test_k11_eight_threads_with_streams_of_their_own_are_right(device: Device) -> None:
    software = str(device.info["hardware"]).startswith("Software")
    rounds = 10 if software else 66
    expected = [results(device, seed) for seed in range(8)]

    def right(seed: int) -> bool:
        return all(results(device, seed) == expected[seed] for _ in range(rounds))

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(right, range(8))) == [True] * 8


FORK = """
import os, sys
import deltatape
from deltatape.verification.calls import record
from deltatape.verification.inputs import Shape, step_inputs

parents, childs = sys.argv[1:]
inputs = step_inputs(Shape(4, 6, 32, 2, 64, 64))
device = deltatape.Device(parents)
expected = record(device, inputs)[1].tobytes()
child = os.fork()
if child == 0:
    try:
        used = device if childs == parents else deltatape.Device(childs)
        print(record(used, inputs)[1].tobytes() == expected, flush=True)
        os._exit(0)
    except RuntimeError as error:
        print(error, flush=True)
        os._exit(0)
    finally:
        os._exit(1)
os.waitpid(child, 0)
assert record(device, inputs)[1].tobytes() == expected
"""


def said_by_a_child(parents: str, childs: str) -> str:
    """What a forked child prints that uses a device after its parent has used one."""
    command = [sys.executable, "-W", "ignore", "-c", FORK, parents, childs]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_k12_a_forked_child_works_or_is_told(device: Device) -> None:
    expected = "True" if device.name == "cpu" else "fork"
    assert expected in said_by_a_child(device.name, device.name)


def test_k12_the_cpu_works_in_a_forked_child_of_any_device(device: Device) -> None:
    assert said_by_a_child(device.name, "cpu") == "True"
