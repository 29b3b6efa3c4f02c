"""Times on an NVIDIA GPU without the processor's: ``python -m deltatape.benchmark.graphs``.

Calls are captured into CUDA graphs. A graph's replays are timed by events, in turns with those of
two device copies of the same bytes, the faster of which is what a ratio refers to, and of mamba's
and flash-linear-attention's kernels for the same work, where they are installed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from deltatape import FactoredTape
from deltatape.benchmark.peers import adapter
from deltatape.tapes import DenseTape
from deltatape.verification.inputs import StepInputs

torch: Any = importlib.import_module("torch")
ours: Any = importlib.import_module("deltatape.torch")

H, G, DH, DS = 32, 2, 128, 128
CALLS, ROUNDS = 20, 15

Call = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """What is timed, the bytes that it reads and writes, and another library's same work."""

    name: str
    moved: int
    call: Call
    other: Call | None = None


def graph(call: Call) -> Any:
    """Return a graph of calls that have been made before."""
    stream = torch.cuda.Stream()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        call()
        stream.synchronize()
        with torch.cuda.graph(captured, stream=stream):
            for _ in range(CALLS):
                call()
    return captured


def microseconds(calls: list[Call]) -> list[float]:
    """Return the median time of each call; they take turns."""
    graphs = [graph(call) for call in calls]
    taken = np.zeros((ROUNDS, len(calls)))
    for row in taken:
        for i, captured in enumerate(graphs):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            captured.replay()
            end.record()
            end.synchronize()
            row[i] = start.elapsed_time(end) * 1e3 / CALLS
    medians: list[float] = np.median(taken[2:], axis=0).tolist()
    return medians


def copies(nbytes: int) -> list[Call]:
    """Return two ways to copy: the driver's, and a kernel that reads and writes as much."""
    source = torch.randn(nbytes // 4, device="cuda")
    target = torch.empty_like(source)
    return [partial(target.copy_, source), partial(torch.neg, source, out=target)]


def normal(*shape: int, dtype: str = "float32", scale: float = 1.0) -> Any:
    """Return random numbers on the GPU."""
    return (torch.randn(shape, device="cuda") * scale).to(getattr(torch, dtype))


def nbytes(*tensors: Any) -> int:
    """Return the bytes of all of them."""
    return sum(tensor.nbytes for tensor in tensors)


def step_inputs(dtype: str, batch: int, steps: int) -> StepInputs:
    """Return what a layer hands to a step, with a float32 state."""
    x = normal(batch, steps, H, DH, dtype=dtype)
    b, c = (normal(batch, steps, G, DS, dtype=dtype) for _ in range(2))
    rates, dt = normal(H), torch.rand(batch, steps, H, device="cuda") / 10
    return StepInputs(x, rates, b, c, rates, dt, normal(batch, H, DH, DS))


def records() -> Iterator[Row]:
    """Step, and write the state elsewhere."""
    for dtype in ("float32", "bfloat16"):
        for batch, steps in ((1, 1), (16, 1), (64, 1), (1, 8), (16, 8), (64, 8)):
            step = step_inputs(dtype, batch, steps)
            tape = tuple(torch.empty_like(step.dt) for _ in range(2))
            out = (torch.empty_like(step.x), torch.empty_like(step.state), tape)
            call = partial(ours.ssm_step_record, *step.args(), out=out)
            moved = nbytes(step.x, step.b, step.c, step.dt, step.state, *out[:2], *tape)
            yield Row(f"record, factored, {dtype}, B{batch} T{steps}", moved, call)


def decodes() -> Iterator[Row]:
    """Take one step in place, without a tape."""
    for dtype in ("float32", "bfloat16"):
        for batch in (1, 16, 64):
            step = step_inputs(dtype, batch, 1)
            out = (torch.empty_like(step.x), step.state)
            call = partial(ours.ssm_step_record, *step.args(), tape=None, out=out)
            moved = nbytes(step.x, step.b, step.c, step.dt, step.state, *out)
            yield Row(f"decode in place, {dtype}, B{batch}", moved, call, mamba(step))


def mamba(step: StepInputs) -> Call | None:
    """Return mamba's call for a step, if it is there."""
    peer = adapter("mamba_ssm")
    if peer is None:
        return None
    arguments = peer.step_arguments(torch.clone(step.state), step)
    return partial(peer.kernel.selective_state_update, **arguments)


def replays() -> Iterator[Row]:
    """Replay 8 entries of each kind of tape."""
    for batch in (1, 16, 64):
        state = normal(batch, H, DH, DS)
        out = torch.empty_like(state)
        u, v = normal(batch, 8, H, DH), normal(batch, 8, G, DS)
        decay, columns = normal(batch, 8, H), normal(batch, 8, H, DS)
        tapes = {
            "factored": FactoredTape(decay, decay, u, v),
            "columns": FactoredTape(columns, None, u, v),
            "dense": DenseTape(columns, normal(batch, 8, H, DH, DS)),
        }
        for name, tape in tapes.items():
            call = partial(ours.ssm_replay, state, tape, 8, out=out)
            yield Row(f"replay, {name}, B{batch} k8", nbytes(state, out) + tape.nbytes, call)


def layers() -> Iterator[Row]:
    """Replay the tapes of a model's layers, held back until one wait."""
    states = [normal(1, H, DH, DS) for _ in range(24)]
    outs = [torch.empty_like(state) for state in states]
    decay, u, v = normal(1, 8, H), normal(1, 8, H, DH), normal(1, 8, G, DS)
    tapes = [FactoredTape(decay.clone(), None, u.clone(), v.clone()) for _ in states]

    def together() -> None:
        stream = ours.stream()
        for state, tape, out in zip(states, tapes, outs, strict=True):
            ours.ssm_replay(state, tape, 8, out=out, stream=stream)
        stream.wait()

    yield Row("replay, 24 layers on one stream, B1 k8", nbytes(*states, *outs), together)


def inverses() -> Iterator[Row]:
    """Invert chunks of 64, in the layout [B,T,H,64]."""
    for dtype in ("float32", "float16", "bfloat16"):
        for batch, steps in ((1, 4096), (1, 32768), (8, 8192)):
            a = normal(batch, steps, H, 64, dtype=dtype, scale=0.05)
            out = torch.empty_like(a)
            call = partial(ours.chunk_tri_solve_invert, a, out=out)
            yield Row(f"inverse, {dtype}, B{batch} T{steps}", nbytes(a, out), call, fla(a))


def fla(a: Any) -> Call | None:
    """Return flash-linear-attention's call for the inverse, if it is there."""
    peer = adapter("fla")
    if peer is None:
        return None
    return partial(peer.utilities.solve_tril, a, output_dtype=a.dtype)


def main() -> None:
    """Print a line for each shape."""
    print(
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}; "
        "microseconds, times the copy, and the other library's time over ours"
    )
    for rows in (records, decodes, replays, layers, inverses):
        for row in rows():
            calls = [row.call] if row.other is None else [row.call, row.other]
            first, second, taken, *others = microseconds([*copies(row.moved // 2), *calls])
            ratios = [taken / min(first, second), *(other / taken for other in others)]
            print(f"{row.name:40} {taken:8.1f}", *(f"{each:6.2f}" for each in ratios), flush=True)


if __name__ == "__main__":
    main()
