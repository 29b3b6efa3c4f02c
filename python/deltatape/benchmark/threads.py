"""How much faster all threads are than one, and how much faster memory lets them be.

The number of threads is fixed when a process opens the device, so two processes take turns. Each
times itself, and runs once before, so that neither sleep nor what others left in the caches counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from typing import cast

from deltatape import Device
from deltatape.benchmark.kernels import MODULES
from deltatape.benchmark.places import Place
from deltatape.benchmark.shapes import SHAPES, Scale
from deltatape.benchmark.timing import Run, Spread, in_turns, timed

GOAL_OF_TWO = 1.7

# How often the works that `scaled` builds run to be timed once.
RUNS: dict[Scale, int] = {"memory": 1, "moving": 1, "caches": 24}


@dataclass(frozen=True)
class ThreadsResult:
    """A kernel's time with one thread over its time with all.

    Parameters
    ----------
    kernel, where
        The kernel, and where its arrays lie.
    threads
        How many all are.
    faster
        How many times faster they are than one.
    copy_faster
        The same of the copy, for arrays in memory.
    at_most
        How many times faster they were if they only moved the bytes: one thread's time over that
        of all for the same bytes with the least arithmetic.
    """

    kernel: str
    where: str
    threads: int
    faster: Spread
    copy_faster: Spread | None = None
    at_most: Spread | None = None

    @property
    def met(self) -> bool | None:
        """Whether the goal was met, which is one for two threads."""
        return self.faster.median >= GOAL_OF_TWO if self.threads == 2 else None


def measure(device: Device, kernel: str, shapes: str) -> list[ThreadsResult]:
    """Time the kernel with one thread and with all, on arrays in memory and in the caches."""
    threads, seconds = int(device.info["threads"]), SHAPES[shapes].seconds
    worker = partial(_Worker, device.name, kernel, shapes)
    with worker("caches", 1) as one, worker("caches", threads) as every:
        alone, together = in_turns([one.seconds, every.seconds], seconds).T
    in_caches = ThreadsResult(kernel, "caches", threads, Spread.of(alone / together))
    with (
        worker("memory", 1) as one,
        worker("memory", threads) as every,
        worker("moving", threads) as moving,
    ):
        copies = Place(device).copies(one.layers, one.moved // 2).values()
        timers = [one.seconds, every.seconds, moving.seconds]
        timers += [partial(settled, copy) for copy in copies]
        alone, together, moved, *copied = in_turns(timers, seconds).T
    faster, at_most = Spread.of(alone / together), Spread.of(alone / moved)
    copy_faster = Spread.of(copied[0] / copied[-1])
    in_memory = ThreadsResult(kernel, "memory", threads, faster, copy_faster, at_most)
    return [in_memory, in_caches]


def settled(run: Run, times: int = 1) -> float:
    """Return the seconds of some runs that follow another."""
    run()
    return timed(run, times)


class _Worker:
    """A process with its own number of threads, which times its work for each line it reads.

    Attributes
    ----------
    layers, moved
        How many calls a run makes, and the bytes that each has to move.
    """

    def __init__(self, device: str, kernel: str, shapes: str, scale: Scale, threads: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, device, kernel, shapes, scale],
            env={**os.environ, "DELTATAPE_NUM_THREADS": str(threads)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.layers, self.moved = (int(word) for word in self._line().split())

    def seconds(self) -> float:
        """Have the work timed."""
        assert self._process.stdin is not None
        print(file=self._process.stdin, flush=True)
        return float(self._line())

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.communicate()
            raise RuntimeError(f"the process that times threads ended: {self._process.returncode}")
        return line

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def serve(device: str, kernel: str, shapes: str, scale: Scale) -> None:
    """Time the work once for each line of standard input."""
    with Device(device) as opened:
        work = MODULES[kernel].scaled(Place(opened), SHAPES[shapes], scale)
        print(work.layers, work.moved, flush=True)
        for _ in sys.stdin:
            print(settled(work.run, RUNS[scale]), flush=True)


if __name__ == "__main__":
    device_name, kernel_name, shapes_name, scale_name = sys.argv[1:]
    serve(device_name, kernel_name, shapes_name, cast(Scale, scale_name))
