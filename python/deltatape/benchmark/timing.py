"""Times of things that take turns, so that a disturbance of the machine meets them all."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Run = Callable[[], object]

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
    for run in runs:
        run()
    rounds: list[list[float]] = []
    end = time.perf_counter() + seconds
    collecting = gc.isenabled()
    gc.disable()
    try:
        while len(rounds) < FEWEST_ROUNDS or time.perf_counter() < end:
            rounds.append(_one_round(runs, len(rounds) % len(runs)))
    finally:
        if collecting:
            gc.enable()
    return np.array(rounds)


def _one_round(runs: Sequence[Run], first: int) -> list[float]:
    taken = [0.0] * len(runs)
    for turn in range(len(runs)):
        index = (first + turn) % len(runs)
        start = time.perf_counter()
        runs[index]()
        taken[index] = time.perf_counter() - start
    return taken
