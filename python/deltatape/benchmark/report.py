"""Everything that a run of the benchmark found, and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from deltatape.benchmark.accept import AcceptResult, Round
from deltatape.benchmark.growth import Growth
from deltatape.benchmark.measure import Result
from deltatape.benchmark.memory import MemoryResult
from deltatape.benchmark.overhead import OverheadResult
from deltatape.benchmark.shapes import SHAPES
from deltatape.benchmark.threads import ThreadsResult

SCHEMA = 1


@dataclass
class Report:
    """Everything that one run of the benchmark found."""

    machine: dict[str, Any]
    shapes: str
    verified: int
    results: list[Result] = field(default_factory=list)
    growth: list[Growth] = field(default_factory=list)
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
        """Whether the goals are meant for these shapes; on a GPU they are of `graphs`."""
        return SHAPES[self.shapes].goals and self.is_cpu

    @property
    def is_cpu(self) -> bool:
        """Whether the processor did the work."""
        return bool(self.machine["device"]["name"] == "cpu")

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
            "overhead": [
                asdict(each) | {"met": each.met if self.is_cpu else None} for each in self.overhead
            ],
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
        "copy": result.copy,
        "ratio": asdict(result.ratio),
        "goal": work.goal if has_goals else None,
        "beside_float32": asdict(result.beside) if result.beside else None,
        "met": result.met if has_goals else None,
        "checks": [asdict(check) | {"holds": check.holds} for check in result.checks],
        "peers": [asdict(peer) | {"agrees": peer.agrees} for peer in result.peers],
    }
