"""How much memory a call takes besides its arrays, each in a process of its own.

A recording's tape counts as the call's own: for these sizes a dense one is 268 MB.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from deltatape import Device
from deltatape.benchmark import chunk_tri_solve_invert, ssm_replay, ssm_step_record
from deltatape.benchmark.places import Place
from deltatape.benchmark.work import Call
from deltatape.verification.inputs import Shape

CELL = Shape(1, 64, 128, 8, 64, 128)
MATRIX = (1, 4096, 32, 64)
SMALL = Shape(1, 64, 2, 1, 8, 16)

PROCESS = Path("/proc/self")


@dataclass(frozen=True)
class MemoryResult:
    """A call's own memory at its peak, beside that of the arrays it was given, in bytes."""

    name: str
    arrays: int
    extra: int


def measure(device: Device) -> list[MemoryResult]:
    """Ask a process for each kind of call."""
    return [_in_a_process(device.name, name) for name in CALLS]


def _in_a_process(device: str, name: str) -> MemoryResult:
    command = [sys.executable, "-m", __name__, device, name]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return MemoryResult(name, **json.loads(done.stdout))


def record(kind: ssm_step_record.Kind, place: Place, shape: Shape) -> tuple[Call, int]:
    """Build a recording that makes its own tape; return it and the bytes of its other arrays."""
    layer = ssm_step_record.build(place, kind, shape, "float32", 0)
    layer.tape_out = None
    arrays = [*layer.inputs.args(), layer.y, layer.state_out]
    return layer, sum(array.nbytes for array in arrays)


def replay(place: Place, shape: Shape) -> tuple[Call, int]:
    """Build a replay in place; return it and its arrays' bytes."""
    layer = ssm_replay.build(place, ssm_replay.IN_PLACE, shape, "float32", 0)
    return layer, layer.state.nbytes + layer.tape.nbytes


def invert(place: Place, shape: Shape) -> tuple[Call, int]:
    """Build an inverse, for the small shape a small one; return it and its arrays' bytes."""
    matrix = MATRIX if shape == CELL else (1, 64, 2, 16)
    layer = chunk_tri_solve_invert.build(place, matrix, "float32")
    return layer, layer.a.nbytes + layer.out.nbytes


CALLS: dict[str, Callable[[Place, Shape], tuple[Call, int]]] = {
    "record, factored tape": partial(record, ssm_step_record.FACTORED),
    "record, dense tape": partial(record, ssm_step_record.DENSE),
    "replay, factored tape, in place": replay,
    "inverse": invert,
}


def serve(device: str, name: str) -> None:
    """Print what one call takes; a small one has come before, to start threads and the like."""
    with Device(device) as opened, opened.stream() as stream:
        make = CALLS[name]
        for shape in (SMALL, CELL):
            call, arrays = make(Place(opened), shape)
            before = peak(reset=True)
            call(stream)
            stream.wait()
        print(json.dumps({"arrays": arrays, "extra": max(0, peak() - before)}))


def peak(reset: bool = False) -> int:
    """Return the process's largest size so far in bytes; on Linux it can begin anew."""
    if not (PROCESS / "status").exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if reset:
        (PROCESS / "clear_refs").write_text("5")
    found = re.search(r"VmHWM:\s+(\d+) kB", (PROCESS / "status").read_text())
    assert found is not None
    return int(found[1]) * 1024


if __name__ == "__main__":
    serve(*sys.argv[1:])
