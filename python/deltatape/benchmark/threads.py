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

from deltatape import Device
from deltatape.benchmark.kernels import MODULES
from deltatape.benchmark.measure import fastest
from deltatape.benchmark.places import Place
from deltatape.benchmark.shapes import SHAPES
from deltatape.benchmark.timing import Run, Spread, in_turns, timed

GOAL_OF_TWO = 1.7

# Where a work's arrays lie, and how often it runs to be timed once.
RUNS = {"memory": 1, "caches": 24}

# A copy reads the memory that it overwrites, too: it moves three bytes where a kernel that need not
# do so moves two.
MOVED_BY_A_COPY = 3 / 2


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
        How many times faster they could be before they moved more bytes a second than the copy.
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
    return [_measure(device, kernel, shapes, where) for where in RUNS]


def _measure(device: Device, kernel: str, shapes: str, where: str) -> ThreadsResult:
    threads = int(device.info["threads"])
    with (
        _Worker(device.name, kernel, shapes, where, 1) as one,
        _Worker(device.name, kernel, shapes, where, threads) as every,
    ):
        of_memory = where == "memory"
        copies = Place(device).copies(one.layers, one.moved // 2) if of_memory else {}
        timers = [partial(settled, copy) for copy in copies.values()]
        taken = in_turns([one.seconds, every.seconds, *timers], SHAPES[shapes].seconds)
    alone, together, *copied = taken.T
    faster = Spread.of(alone / together)
    if not of_memory:
        return ThreadsResult(kernel, where, threads, faster)
    _, copy = fastest(dict(zip(copies, copied, strict=True)))
    copy_faster, at_most = copied[0] / copied[-1], MOVED_BY_A_COPY * alone / copy
    return ThreadsResult(kernel, where, threads, faster, Spread.of(copy_faster), Spread.of(at_most))


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

    def __init__(self, device: str, kernel: str, shapes: str, where: str, threads: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, device, kernel, shapes, where],
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


def serve(device: str, kernel: str, shapes: str, where: str) -> None:
    """Time the work once for each line of standard input."""
    with Device(device) as opened:
        work = MODULES[kernel].scaled(Place(opened), SHAPES[shapes], where == "caches")
        print(work.layers, work.moved, flush=True)
        for _ in sys.stdin:
            print(settled(work.run, RUNS[where]), flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
