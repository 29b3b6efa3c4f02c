"""Groups of works, timed in turns with their copies, checked, and then beside other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deltatape.benchmark.peers import Peer
from deltatape.benchmark.places import Place
from deltatape.benchmark.timing import Spread, take_turns
from deltatape.benchmark.work import Work
from deltatape.verification.comparisons import Comparison

# Another library's result is the same work if it is this near.
SAME_RESULT = 1e-3


@dataclass(frozen=True)
class PeerResult:
    """Another library beside us: its time, and how many times ours that is."""

    name: str
    note: str
    seconds: Spread
    times_ours: Spread
    error: float

    @property
    def agrees(self) -> bool:
        """Whether it computed the same."""
        return self.error <= SAME_RESULT


@dataclass(frozen=True)
class Result:
    """A work's times, beside the copy of the bytes that it has to move."""

    work: Work
    seconds: Spread
    copy_seconds: Spread
    copy: str
    ratio: Spread
    beside: Spread | None
    checks: list[Comparison]
    peers: list[PeerResult] = field(default_factory=list)

    @property
    def correct(self) -> bool:
        """Whether the outputs were right after the timing."""
        return all(check.holds for check in self.checks)

    @property
    def met(self) -> bool | None:
        """Whether the work's goal was met; None where it has none."""
        if self.work.goal is not None:
            return self.ratio.median <= self.work.goal
        return None if self.beside is None else self.beside.median <= 1.0


def measure(group: Sequence[Work], place: Place, seconds: float, with_peers: bool) -> list[Result]:
    """Time a group.

    Parameters
    ----------
    group
        The works that take turns.
    place
        Where their arrays lie, and the copies'.
    seconds
        The budget of the group, and again of each work's peers.
    with_peers
        Whether to time other libraries too.
    """
    sizes = sorted({(work.layers, work.moved // 2) for work in group})
    ways = [(size, name, run) for size in sizes for name, run in place.copies(*size).items()]
    taken = take_turns([*(work.run for work in group), *(run for _, _, run in ways)], seconds)
    ours, copied = taken[:, : len(group)], taken[:, len(group) :]
    columns = {(work.name, work.dtypes): ours[:, index] for index, work in enumerate(group)}
    results = []
    for index, work in enumerate(group):
        size, mine = (work.layers, work.moved // 2), ours[:, index]
        copy, times = fastest(
            {name: copied[:, i] for i, (of, name, _) in enumerate(ways) if of == size}
        )
        other = columns[work.name, work.no_slower_than] if work.no_slower_than else None
        beside = None if other is None else Spread.of(mine / other)
        ratio, took = Spread.of(mine / times), Spread.of(mine)
        checks, peers = work.check(), peer_results(work, seconds) if with_peers else []
        results.append(Result(work, took, Spread.of(times), copy, ratio, beside, checks, peers))
    return results


def fastest(ways: dict[str, NDArray[np.float64]]) -> tuple[str, NDArray[np.float64]]:
    """Return the way to copy with the smallest median."""
    return min(ways.items(), key=lambda way: float(np.median(way[1])))


def peer_results(work: Work, seconds: float) -> list[PeerResult]:
    """Time each peer with the work alone, since some keep the processor busy after a call."""
    return [beside_us(work, peer, seconds) for peer in work.peers()]


def beside_us(work: Work, peer: Peer, seconds: float) -> PeerResult:
    """Time one peer, and compare its result with ours."""
    taken = take_turns([work.run, peer.run], seconds)
    return PeerResult(
        peer.name,
        peer.note,
        Spread.of(taken[:, 1]),
        Spread.of(taken[:, 1] / taken[:, 0]),
        difference(work, peer),
    )


def difference(work: Work, peer: Peer) -> float:
    """Return the largest difference over the largest value, both run once more."""
    peer.run()
    theirs = np.array(peer.result(), np.float64)
    work.run()
    ours = work.result().astype(np.float64)
    return float(np.abs(theirs - ours).max() / np.abs(ours).max())
