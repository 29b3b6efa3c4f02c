"""Something to time: the same call for each of some layers, on one stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from numpy.typing import NDArray

from deltatape import Stream
from deltatape._native import Fields, Kernel
from deltatape.benchmark.peers import Peer
from deltatape.benchmark.places import Place
from deltatape.benchmark.timing import Run
from deltatape.verification.comparisons import Comparison

Array = NDArray[Any]
Call = Callable[[Stream], object]
Caller = Callable[[Place, Sequence[Call]], Run]


@dataclass(frozen=True)
class Work:
    """One row of the report.

    Parameters
    ----------
    kernel
        The kernel's name.
    name
        What is done.
    dtypes
        The dtypes in it, as text.
    sizes
        The dimensions by their symbols.
    layers
        How many calls one run makes.
    moved
        Bytes that one call has to read and write; half of them is the copy's size.
    run
        Makes the calls and waits for them.
    check
        Compares what the last run wrote with the reference.
    result
        What the last run wrote for the last layer: a state or an inverse.
    goal
        How many times the copy it may take, if it has a goal.
    no_slower_than
        The dtypes of the same work in its group that it should not be slower than.
    peers
        Other libraries that do the same.
    """

    kernel: str
    name: str
    dtypes: str
    sizes: Mapping[str, int]
    layers: int
    moved: int
    run: Run
    check: Callable[[], list[Comparison]]
    result: Callable[[], Array]
    goal: float | None = None
    no_slower_than: str | None = None
    peers: Callable[[], list[Peer]] = field(default=list)

    @property
    def title(self) -> str:
        """The kernel and what is done."""
        return f"{self.kernel}, {self.name}"


def judged(dtype: str, goal: float | None, peers: Callable[[], list[Peer]]) -> dict[str, Any]:
    """Return by what a work is judged: 16-bit ones by the time that float32 takes."""
    return {"goal": goal, "peers": peers} if dtype == "float32" else {"no_slower_than": "float32"}


# The arguments of a kernel's function `work`, one tuple for each work; they take turns with each
# other and with their copies.
Group = list[tuple[Any, ...]]


def from_python(place: Place, calls: Sequence[Call]) -> Run:
    """Make the calls by the Python functions."""
    return partial(_enqueue, place, place.stream(), calls)


def _enqueue(place: Place, stream: Stream, calls: Sequence[Call]) -> None:
    for call in calls:
        call(stream)
    stream.wait()
    place.finish()


def from_c(place: Place, calls: Sequence[Call]) -> Run:
    """Make the same calls with argument structs that are ready, as a C caller has them."""
    stream = _Preparing(place)
    for call in calls:
        call(stream)
    return stream.repeat


class _Preparing(Stream):
    """Keeps calls ready instead of making them."""

    def __init__(self, place: Place) -> None:
        super().__init__(place.device, **place.stream_options)
        self._place = place
        self._ready: list[Run] = []

    def _run(self, kernel: Kernel, fields: Fields) -> None:
        self._ready.append(kernel.prepared(self._opened(), fields))

    def repeat(self) -> None:
        """Make the calls, and wait for them."""
        for call in self._ready:
            call()
        self.wait()
        self._place.finish()
