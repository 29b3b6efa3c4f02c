"""A benchmark's results as JSON and as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from deltatape.benchmark.accept import AcceptResult, Round
from deltatape.benchmark.growth import Growth, growth
from deltatape.benchmark.measure import PeerResult, Result
from deltatape.benchmark.memory import MemoryResult
from deltatape.benchmark.overhead import OverheadResult
from deltatape.benchmark.shapes import SHAPES
from deltatape.benchmark.threads import GOAL_OF_TWO, ThreadsResult
from deltatape.benchmark.timing import Spread
from deltatape.cli.table import show_table

SCHEMA = 1

# Above this load for each processor, other processes have disturbed the times.
BUSY = 0.5


@dataclass
class Report:
    """Everything that one run of the benchmark found."""

    machine: dict[str, Any]
    shapes: str
    verified: int
    results: list[Result] = field(default_factory=list)
    threads: list[ThreadsResult] = field(default_factory=list)
    overhead: list[OverheadResult] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    accept: list[AcceptResult] = field(default_factory=list)
    memory: list[MemoryResult] = field(default_factory=list)

    @property
    def correct(self) -> bool:
        """Whether every output was right after it had been timed."""
        return all(each.correct for each in self.results) and all(
            each.exact for each in self.accept
        )

    @property
    def has_goals(self) -> bool:
        """Whether the goals are meant for these shapes."""
        return SHAPES[self.shapes].goals

    @property
    def growth(self) -> list[Growth]:
        """How times grow along the sweeps, if these shapes are some."""
        return list(growth(self.results)) if SHAPES[self.shapes].sweeps else []

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return {
            "schema": SCHEMA,
            "machine": self.machine,
            "shapes": self.shapes,
            "verified_cases": self.verified,
            "correct": self.correct,
            "results": [_result_as_dict(each, self.has_goals) for each in self.results],
            "growth": [asdict(each) for each in self.growth],
            "threads": [
                asdict(each) | {"met": each.met if self.has_goals else None}
                for each in self.threads
            ],
            "overhead": [asdict(each) | {"met": each.met} for each in self.overhead],
            "accept": {
                "rounds": [[each.steps, each.kept] for each in self.rounds],
                "ways": [asdict(each) for each in self.accept],
            },
            "memory": [asdict(each) for each in self.memory],
        }


def _result_as_dict(result: Result, has_goals: bool) -> dict[str, Any]:
    work = result.work
    return {
        "kernel": work.kernel,
        "name": work.name,
        "dtypes": work.dtypes,
        "sizes": dict(work.sizes),
        "layers": work.layers,
        "bytes_moved": work.layers * work.moved,
        "seconds": asdict(result.seconds),
        "copy_seconds": asdict(result.copy_seconds),
        "copy_threads": result.copy_threads,
        "ratio": asdict(result.ratio),
        "goal": work.goal if has_goals else None,
        "beside_float32": asdict(result.beside) if result.beside else None,
        "met": result.met if has_goals else None,
        "checks": [asdict(check) | {"holds": check.holds} for check in result.checks],
        "peers": [asdict(peer) | {"agrees": peer.agrees} for peer in result.peers],
    }


def show(report: Report) -> None:
    """Print the tables that have rows, the goals first."""
    for title, header, rows in (
        ("times", ("work", "dtypes", "sizes", "x copy", "ms", "copy ms", "goal"), _times(report)),
        ("other libraries", ("work", "library", "x ours", "ms", "note"), _peers(report.results)),
        ("growth", ("work", "size", "microseconds a call", "times", "linear"), _growth(report)),
        ("all threads beside one", ("kernel", "threads", "times faster", "goal"), _threads(report)),
        ("a call's overhead", ("kernel", "from", "microseconds", "goal"), _overhead(report)),
        (_accept_title(report), ("held", "x factored", "ms", "MB held", "exact"), _accept(report)),
        ("memory of a call", ("call", "arrays MB", "besides MB"), _memory(report)),
    ):
        if lines := list(rows):
            show_table(title, header, lines)
    print(" ".join(f"{key}={value}" for key, value in report.machine.items()))
    if report.machine["load"] > BUSY * report.machine["processors"]:
        print("The machine was busy with other work: these times are not to be relied on.")


def _times(report: Report) -> Iterable[Sequence[str]]:
    for each in report.results:
        work = each.work
        sizes = " ".join(f"{symbol}{size}" for symbol, size in work.sizes.items())
        ratio, took, copied = spread(each.ratio), ms(each.seconds), ms(each.copy_seconds)
        layers = f"{work.layers} x {sizes}" if work.layers > 1 else sizes
        yield work.title, work.dtypes, layers, ratio, took, copied, _goal(each, report.has_goals)


def _goal(result: Result, has_goals: bool) -> str:
    if not result.correct:
        return "WRONG"
    if result.met is None or not has_goals:
        return ""
    if result.work.goal is not None:
        return outcome(f"{result.work.goal:g}", result.met)
    assert result.beside is not None
    return outcome(f"{result.beside.median:.2f} of float32", result.met)


def _peers(results: Iterable[Result]) -> Iterable[Sequence[str]]:
    for result in results:
        for peer in result.peers:
            yield (
                result.work.title,
                peer.name,
                spread(peer.times_ours),
                ms(peer.seconds),
                _note(peer),
            )


def _note(peer: PeerResult) -> str:
    return peer.note if peer.agrees else f"DIFFERS by {peer.error:.1e}; {peer.note}"


def _growth(report: Report) -> Iterable[Sequence[str]]:
    for each in report.growth:
        size, took = f"{each.symbol} {each.size}", f"{each.seconds * 1e6:.1f}"
        yield each.title, size, took, f"{each.times:.2f}", f"{each.linear:g}"


def _threads(report: Report) -> Iterable[Sequence[str]]:
    for each in report.threads:
        met = each.met if report.has_goals else None
        goal = "" if met is None else outcome(f"{GOAL_OF_TWO:g}", met)
        yield each.kernel, str(each.threads), spread(each.faster), goal


def _overhead(report: Report) -> Iterable[Sequence[str]]:
    for each in report.overhead:
        goal = outcome(f"{each.goal * 1e6:g}", each.met)
        yield each.kernel, each.caller, spread(each.seconds, 1e6), goal


def _accept_title(report: Report) -> str:
    tokens = sum(each.kept for each in report.rounds)
    return f"{len(report.rounds)} verify passes and rollbacks of the demo's {tokens} tokens"


def _accept(report: Report) -> Iterable[Sequence[str]]:
    for each in report.accept:
        times = each.seconds.median / report.accept[0].seconds.median
        held = f"{each.held / 1e6:.2f}"
        yield each.name, f"{times:.2f}", ms(each.seconds), held, "yes" if each.exact else "NO"


def _memory(report: Report) -> Iterable[Sequence[str]]:
    for each in report.memory:
        yield each.name, f"{each.arrays / 1e6:.1f}", f"{each.extra / 1e6:.1f}"


def spread(found: Spread, factor: float = 1.0) -> str:
    """Return the median, and the quartiles in brackets."""
    median, low, high = (value * factor for value in (found.median, found.low, found.high))
    return f"{median:.2f} ({low:.2f}-{high:.2f})"


def ms(found: Spread) -> str:
    """Return the median in milliseconds."""
    return f"{found.median * 1e3:.3g}"


def outcome(goal: str, met: bool) -> str:
    """Return a goal and whether it was met."""
    return f"{goal} {'met' if met else 'missed'}"
