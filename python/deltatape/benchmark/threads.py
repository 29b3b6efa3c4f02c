"""How much faster all threads are than one.

The number of threads is fixed when a process opens the device, so two processes take turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

from deltatape import Device
from deltatape.benchmark.kernels import MODULES
from deltatape.benchmark.places import Place
from deltatape.benchmark.shapes import SHAPES
from deltatape.benchmark.timing import Spread, take_turns

GOAL_OF_TWO = 1.7


@dataclass(frozen=True)
class ThreadsResult:
    """A kernel's time with one thread over its time with all, and the same of the copy.

    Memory has a speed of its own: what the copy does not gain nothing that it limits can gain.
    """

    kernel: str
    threads: int
    faster: Spread
    copy_faster: Spread

    @property
    def met(self) -> bool | None:
        """Whether the goal was met, which is one for two threads."""
        return self.faster.median >= GOAL_OF_TWO if self.threads == 2 else None


def measure(device: Device, kernel: str, shapes: str) -> ThreadsResult:
    """Time the kernel's headline work with one thread and with all."""
    threads, place = int(device.info["threads"]), Place(device)
    work = MODULES[kernel].headline(place, SHAPES[shapes])
    copies = place.copies(work.layers, work.moved // 2).values()
    with (
        _Worker(device.name, kernel, shapes, 1) as one,
        _Worker(device.name, kernel, shapes, threads) as all_of_them,
    ):
        taken = take_turns([one.run, all_of_them.run, *copies], SHAPES[shapes].seconds)
    faster, copy_faster = taken[:, 0] / taken[:, 1], taken[:, 2] / taken[:, -1]
    return ThreadsResult(kernel, threads, Spread.of(faster), Spread.of(copy_faster))


class _Worker:
    """A process with its own number of threads, which makes a run for each line it reads."""

    def __init__(self, device: str, kernel: str, shapes: str, threads: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, device, kernel, shapes],
            env={**os.environ, "DELTATAPE_NUM_THREADS": str(threads)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(file=self._process.stdin, flush=True)
        if not self._process.stdout.readline():
            raise RuntimeError(f"the process that times threads ended: {self._process.wait()}")

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def serve(device: str, kernel: str, shapes: str) -> None:
    """Run the work once for each line of standard input."""
    with Device(device) as opened:
        work = MODULES[kernel].headline(Place(opened), SHAPES[shapes])
        for _ in sys.stdin:
            work.run()
            print(flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
