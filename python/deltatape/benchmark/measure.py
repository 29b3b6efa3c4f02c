"""Groups of works, timed in turns with their copies, checked, and then beside other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from deltatape.benchmark.copies import Copy, copies
from deltatape.benchmark.peers import Peer
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
    copy_threads: int
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


def measure(group: Sequence[Work], seconds: float, threads: int, with_peers: bool) -> list[Result]:
    """Time a group.

    Parameters
    ----------
    group
        The works that take turns.
    seconds
        The budget of the group, and again of each work's peers.
    threads
        How many threads the copy may use.
    with_peers
        Whether to time other libraries too.
    """
    sizes = sorted({(work.layers, work.moved // 2) for work in group})
    beside = {size: copies(*size, threads) for size in sizes}
    ways = [(size, copy) for size in sizes for copy in beside[size]]
    taken = take_turns([*(work.run for work in group), *(copy for _, copy in ways)], seconds)
    ours, theirs = taken[:, : len(group)], taken[:, len(group) :]
    columns = {work.dtypes: ours[:, index] for index, work in enumerate(group)}
    results = []
    for index, work in enumerate(group):
        size = (work.layers, work.moved // 2)
        copy, copied = fastest([(c, theirs[:, i]) for i, (s, c) in enumerate(ways) if s == size])
        limit = columns[work.no_slower_than] if work.no_slower_than else None
        checks = work.check()
        results.append(
            Result(
                work,
                Spread.of(ours[:, index]),
                Spread.of(copied),
                copy.threads,
                Spread.of(ours[:, index] / copied),
                None if limit is None else Spread.of(ours[:, index] / limit),
                checks,
                peer_results(work, seconds) if with_peers else [],
            )
        )
    return results


def fastest(
    ways: Sequence[tuple[Copy, NDArray[np.float64]]],
) -> tuple[Copy, NDArray[np.float64]]:
    """Return the way to copy with the smallest median."""
    return min(ways, key=lambda way: float(np.median(way[1])))


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
