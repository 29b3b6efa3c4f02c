"""All measurements of one run, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from deltatape import Device
from deltatape.benchmark import accept, machine, measure, memory, overhead, threads
from deltatape.benchmark.kernels import MODULES
from deltatape.benchmark.report import Report
from deltatape.benchmark.shapes import SHAPES
from deltatape.benchmark.work import Group

STATEFUL = {"ssm_step_record", "ssm_replay"}

# What is done next, in words, and doing it.
Step = tuple[str, Callable[[], None]]


def steps(device: Device, kernels: Sequence[str], report: Report, with_peers: bool) -> list[Step]:
    """Return the steps that fill the report."""
    shapes = SHAPES[report.shapes]
    found: list[Step] = [
        (name, partial(_times, device, report, name, group, with_peers))
        for name in kernels
        for group in MODULES[name].groups(shapes)
    ]
    if shapes.sweeps:
        return found
    if device.name == "cpu" and machine.copy_threads(device) > 1:
        found += [("threads", partial(_threads, device, report, name)) for name in kernels]
    if set(kernels) >= STATEFUL:
        found.append(("overhead", partial(_overhead, device, report)))
        found.append(("accepted drafts", partial(_accept, device, report)))
    found.append(("memory", partial(_memory, device, report)))
    return found


def _times(device: Device, report: Report, kernel: str, group: Group, with_peers: bool) -> None:
    works = [MODULES[kernel].work(device, *arguments) for arguments in group]
    seconds, threads = SHAPES[report.shapes].seconds, machine.copy_threads(device)
    report.results += measure.measure(works, seconds, threads, with_peers)


def _threads(device: Device, report: Report, kernel: str) -> None:
    count = machine.copy_threads(device)
    report.threads.append(threads.measure(device, kernel, report.shapes, count))


def _overhead(device: Device, report: Report) -> None:
    report.overhead += overhead.measure(device, SHAPES[report.shapes].seconds)


def _accept(device: Device, report: Report) -> None:
    report.rounds, report.accept = accept.measure(device, SHAPES[report.shapes])


def _memory(device: Device, report: Report) -> None:
    report.memory += memory.measure(device)
