"""All measurements of one run, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from deltatape import Device
from deltatape.benchmark import accept, growth, measure, memory, overhead, threads
from deltatape.benchmark.kernels import MODULES
from deltatape.benchmark.places import Place
from deltatape.benchmark.report import Report
from deltatape.benchmark.shapes import SHAPES
from deltatape.benchmark.work import Group

STATEFUL = {"ssm_step_record", "ssm_replay"}

# What is done next, in words, and doing it.
Step = tuple[str, Callable[[], None]]


def steps(place: Place, kernels: Sequence[str], report: Report, with_peers: bool) -> list[Step]:
    """Return the steps that fill the report."""
    shapes, device = SHAPES[report.shapes], place.device
    found: list[Step] = [
        (name, partial(_times, place, report, name, group, with_peers))
        for name in kernels
        for group in MODULES[name].groups(shapes)
    ]
    if shapes.sweeps:
        return found
    if int(device.info["threads"]) > 1:
        found += [("threads", partial(_threads, device, report, name)) for name in kernels]
    if set(kernels) >= STATEFUL:
        found.append(("overhead", partial(_overhead, place, report)))
        found.append(("accepted drafts", partial(_accept, place, report)))
    if device.name != "cuda":  # whose memory is not the process's
        found.append(("memory", partial(_memory, device, report)))
    return found


def _times(place: Place, report: Report, kernel: str, group: Group, with_peers: bool) -> None:
    works = [MODULES[kernel].work(place, *arguments) for arguments in group]
    shapes = SHAPES[report.shapes]
    found = measure.measure(works, place, shapes.seconds, with_peers)
    report.results += found
    if shapes.sweeps:
        report.growth += growth.growth(found)


def _threads(device: Device, report: Report, kernel: str) -> None:
    report.threads += threads.measure(device, kernel, report.shapes)


def _overhead(place: Place, report: Report) -> None:
    report.overhead += overhead.measure(place, SHAPES[report.shapes].seconds)


def _accept(place: Place, report: Report) -> None:
    report.rounds, report.accept = accept.measure(place, SHAPES[report.shapes])


def _memory(device: Device, report: Report) -> None:
    report.memory += memory.measure(device)
