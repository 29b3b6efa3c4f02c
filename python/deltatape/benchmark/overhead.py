"""What a call costs besides its work: one step of a tiny state, already in the cache."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from deltatape.benchmark import ssm_replay, ssm_step_record
from deltatape.benchmark.places import Place
from deltatape.benchmark.timing import Spread, in_turns, timed
from deltatape.benchmark.work import Call, from_c, from_python
from deltatape.verification.inputs import Shape

TINY = Shape(1, 1, 1, 1, 8, 16)
CALLS = 500
GOALS = {"Python": 15e-6, "C": 2e-6}


@dataclass(frozen=True)
class OverheadResult:
    """Seconds of a call and its wait."""

    kernel: str
    caller: str
    seconds: Spread
    goal: float

    @property
    def met(self) -> bool:
        """Whether the call is as cheap as wanted."""
        return self.seconds.median <= self.goal


def measure(place: Place, seconds: float) -> list[OverheadResult]:
    """Time both callers of both kernels, in turns."""
    step = ssm_step_record.build(place, ssm_step_record.DECODE, TINY, "float32", 0)
    fold = ssm_replay.build(place, ssm_replay.IN_PLACE, TINY, "float32", 0)
    calls: dict[str, Call] = {ssm_step_record.KERNEL: step, ssm_replay.KERNEL: fold}
    callers = {"Python": from_python, "C": from_c}
    ways = [(kernel, caller) for kernel in calls for caller in callers]
    runs = [callers[caller](place, [calls[kernel]]) for kernel, caller in ways]
    taken = in_turns([partial(timed, run, CALLS) for run in runs], seconds) / CALLS
    return [
        OverheadResult(kernel, caller, Spread.of(taken[:, index]), GOALS[caller])
        for index, (kernel, caller) in enumerate(ways)
    ]
