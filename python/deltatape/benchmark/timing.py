"""Times of things that take turns, so that a disturbance of the machine meets them all."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

Run = Callable[[], object]

# Does something and says how many seconds it took.
Timer = Callable[[], float]

FEWEST_ROUNDS = 7


@dataclass(frozen=True)
class Spread:
    """The median of samples, and the quartiles around it."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, samples: NDArray[np.float64]) -> Spread:
        """Summarise samples."""
        low, median, high = np.quantile(samples, (0.25, 0.5, 0.75))
        return cls(float(median), float(low), float(high))


def take_turns(runs: Sequence[Run], seconds: float) -> NDArray[np.float64]:
    """Time each run once a round until the budget is spent.

    Each round begins with another of them. One round that nobody times comes first.

    Parameters
    ----------
    runs
        What to time.
    seconds
        The budget; at least `FEWEST_ROUNDS` rounds are made whatever they take.

    Returns
    -------
    Seconds, [rounds, runs].
    """
    return in_turns([partial(timed, run) for run in runs], seconds)


def in_turns(timers: Sequence[Timer], seconds: float) -> NDArray[np.float64]:
    """Do the same with what times itself."""
    for timer in timers:
        timer()
    rounds: list[list[float]] = []
    end = time.perf_counter() + seconds
    collecting = gc.isenabled()
    gc.disable()
    try:
        while len(rounds) < FEWEST_ROUNDS or time.perf_counter() < end:
            rounds.append(_one_round(timers, len(rounds) % len(timers)))
    finally:
        if collecting:
            gc.enable()
    return np.array(rounds)


def timed(run: Run, times: int = 1) -> float:
    """Return the seconds that some runs take, one after the other."""
    start = time.perf_counter()
    for _ in range(times):
        run()
    return time.perf_counter() - start


def _one_round(timers: Sequence[Timer], first: int) -> list[float]:
    taken = [0.0] * len(timers)
    for turn in range(len(timers)):
        index = (first + turn) % len(timers)
        taken[index] = timers[index]()
    return taken
