"""Memory lives as long as somebody needs it, and no longer."""

import gc
import os
import resource
import subprocess
import sys
import weakref
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deltatape
from deltatape import Device, FactoredTape, Stream, _native
from deltatape.verification.inputs import Shape, step_inputs

SHAPE = Shape(2, 3, 4, 2, 5, 7)

TEMPORARIES = """
import gc
import sys
import deltatape
from deltatape.verification.inputs import Shape, matrices, step_inputs

shape = Shape(2, 3, 4, 2, 32, 64)

def temporaries(**options):
    y, state, tape = deltatape.ssm_step_record(
        *step_inputs(shape).args(), [[1, 0, 1], [1, 1, 1]], has_initial=[1, 0], **options
    )
    rolled = deltatape.ssm_replay(step_inputs(shape).state, tape, [1, 3], **options)
    pool = deltatape.ssm_replay(step_inputs(shape).state, tape, 2, slots=[1, 0], **options)
    inverse = deltatape.chunk_tri_solve_invert(
        step_inputs(Shape(1, 40, 2, 1, 16, 4)).x, cu_seqlens=[0, 7, 40], **options
    )
    return y, state, rolled, pool, inverse

expected = [array.tobytes() for array in temporaries()]
with deltatape.Device(sys.argv[1]) as device:
    for _ in range(20):
        with device.stream() as stream:
            results = temporaries(stream=stream)
            gc.collect()
            noise = [step_inputs(shape, seed=9).args() for _ in range(3)]
        assert [array.tobytes() for array in results] == expected
"""


def test_arguments_that_nobody_else_holds(device: Device) -> None:
    command = [sys.executable, "-c", TEMPORARIES, device.name]
    environment = {
        **os.environ,
        "PYTHONMALLOC": "debug",
        "MALLOC_PERTURB_": "165",
        "DELTATAPE_DEVICE": device.name,
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_stream_holds_its_arrays_until_it_has_waited(stream: Stream) -> None:
    a = np.ones((1, 16, 1, 16), np.float32)
    died = weakref.ref(a)
    deltatape.chunk_tri_solve_invert(a, stream=stream)
    del a
    gc.collect()
    assert died() is not None
    stream.wait()
    gc.collect()
    assert died() is None


def test_closing_a_stream_lets_go_of_its_arrays(device: Device) -> None:
    stream = device.stream()
    a = np.ones((1, 16, 1, 16), np.float32)
    died = weakref.ref(a)
    deltatape.chunk_tri_solve_invert(a, stream=stream)
    del a
    stream.close()
    gc.collect()
    assert died() is None


def test_a_refused_call_holds_nothing(stream: Stream) -> None:
    a = np.ones((1, 16, 1, 17), np.float32)
    died = weakref.ref(a)
    with pytest.raises(deltatape.InvalidArgument):
        deltatape.chunk_tri_solve_invert(a, stream=stream)
    del a
    gc.collect()
    assert died() is None


def test_the_default_stream_holds_nothing() -> None:
    a = np.ones((1, 16, 1, 16), np.float32)
    died = weakref.ref(a)
    deltatape.chunk_tri_solve_invert(a)
    del a
    gc.collect()
    assert died() is None


def test_a_tape_holds_its_arrays(stream: Stream) -> None:
    layer = step_inputs(SHAPE)
    _, _, tape = deltatape.ssm_step_record(*layer.args(), stream=stream)
    stream.wait()
    assert tape.u is layer.x
    assert tape.v is layer.b


def test_results_outlive_their_device_and_stream(device: Device) -> None:
    with Device(device.name) as opened, opened.stream() as stream:
        inverse = deltatape.chunk_tri_solve_invert(
            np.ones((1, 64, 8, 64), np.float32), stream=stream
        )
        part = inverse[0, 1:]
    expected = inverse.tobytes()
    del opened, stream
    gc.collect()
    other = [device.empty(inverse.shape) for _ in range(3)]
    for array in other:
        array[...] = np.nan
    assert inverse.tobytes() == expected
    del inverse
    gc.collect()
    device.empty((1, 64, 8, 64))[...] = np.nan
    assert np.isfinite(part).all()


class Recorder:
    """The C library, with a note of what was closed and freed and what that returned."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.given_back: list[tuple[str, int | None]] = []

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.library, name)

        def noted(*arguments: Any) -> Any:
            status = function(*arguments)
            if name in ("dtape_free", "dtape_stream_close", "dtape_device_close"):
                self.given_back.append((name, status))
            return status

        return noted if name.startswith("dtape_") else function


@pytest.mark.parametrize("order", [*permutations(["device", "stream", "array"])], ids="-".join)
def test_a_device_is_closed_last_in_whatever_order_things_die(
    device: Device, order: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(_native.lib)
    monkeypatch.setattr(_native, "lib", recorder)
    opened = Device(device.name)
    alive = {"device": opened, "stream": opened.stream(), "array": opened.empty(5)}
    del opened
    for name in order:
        assert ("dtape_device_close", 0) not in recorder.given_back
        del alive[name]
        gc.collect()
    names = {"stream": "dtape_stream_close", "array": "dtape_free"}
    expected = [names[name] for name in order if name != "device"] + ["dtape_device_close"]
    assert recorder.given_back == [(name, 0) for name in expected]


def test_memory_is_used_again_after_its_last_view(device: Device) -> None:
    size = 2**24

    def peak() -> int:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

    device.empty(size, np.uint8)[...] = 1
    before = peak()
    for _ in range(64):
        whole = device.empty(size, np.uint8)
        view = whole[1:]
        del whole
        view[...] = 1
    assert peak() - before < 4 * size


def test_a_process_ends_well_with_everything_open(device: Device, tmp_path: Path) -> None:
    program = (
        "import sys, numpy as np, deltatape\n"
        "device = deltatape.Device(sys.argv[1])\n"
        "stream = device.stream()\n"
        "kept = deltatape.chunk_tri_solve_invert(\n"
        "    np.ones((1, 64, 4, 64), np.float32), stream=stream)\n"
        "cycle = [device, stream, kept]\n"
        "cycle.append(cycle)\n"
    )
    command = [sys.executable, "-X", "dev", "-c", program, device.name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_values_are_referred_to_until_the_replay(stream: Stream) -> None:
    state = np.zeros((1, 1, 1, 1), np.float32)
    u = np.ones((1, 1, 1, 1), np.float32)
    tape = FactoredTape(np.ones((1, 1, 1), np.float32), None, u, np.ones_like(u))
    u[...] = 5
    rolled = deltatape.ssm_replay(state, tape, 1, stream=stream)
    stream.wait()
    assert rolled.item() == 5
