"""A report as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from deltatape.benchmark.measure import PeerResult, Result
from deltatape.benchmark.report import Report
from deltatape.benchmark.threads import GOAL_OF_TWO
from deltatape.benchmark.timing import Spread
from deltatape.cli.table import show_table

# Above this load for each processor, other processes have disturbed the times.
BUSY = 0.5


def show(report: Report) -> None:
    """Print the tables that have rows, the goals first."""
    for title, header, rows in (
        ("times", ("work", "dtypes", "sizes", "x copy", "ms", "copy ms", "goal"), _times(report)),
        ("other libraries", ("work", "library", "x ours", "ms", "note"), _peers(report.results)),
        (
            "growth",
            ("work", "size", "us", "us a unit", "times", "copy", "linear", "over a line"),
            _growth(report),
        ),
        (
            "all threads beside one",
            ("kernel", "in", "threads", "times faster", "copy", "moving alone", "goal"),
            _threads(report),
        ),
        ("a call's overhead", ("kernel", "from", "microseconds", "goal"), _overhead(report)),
        (_accept_title(report), ("held", "x factored", "ms", "MB held", "exact"), _accept(report)),
        ("memory of a call", ("call", "arrays MB", "besides MB"), _memory(report)),
    ):
        if lines := list(rows):
            show_table(title, header, lines)
    print(" ".join(f"{key}={value}" for key, value in report.machine.items()))
    if report.machine["load"] > BUSY * report.machine["processors"]:
        print("The machine was busy with other work: these times are not to be relied on.")


def _times(report: Report) -> Iterable[Sequence[str]]:
    for each in report.results:
        work = each.work
        sizes = " ".join(f"{symbol}{size}" for symbol, size in work.sizes.items())
        ratio, took, copied = spread(each.ratio), ms(each.seconds), ms(each.copy_seconds)
        layers = f"{work.layers} x {sizes}" if work.layers > 1 else sizes
        yield work.title, work.dtypes, layers, ratio, took, copied, _goal(each, report.has_goals)


def _goal(result: Result, has_goals: bool) -> str:
    if not result.correct:
        return "WRONG"
    if result.met is None or not has_goals:
        return ""
    if result.work.goal is not None:
        return outcome(f"{result.work.goal:g}", result.met)
    assert result.beside is not None
    return outcome(f"{result.beside.median:.2f} of float32", result.met)


def _peers(results: Iterable[Result]) -> Iterable[Sequence[str]]:
    for result in results:
        for peer in result.peers:
            yield (
                result.work.title,
                peer.name,
                spread(peer.times_ours),
                ms(peer.seconds),
                _note(peer),
            )


def _note(peer: PeerResult) -> str:
    return peer.note if peer.agrees else f"DIFFERS by {peer.error:.1e}; {peer.note}"


def _growth(report: Report) -> Iterable[Sequence[str]]:
    for each in report.growth:
        took = each.seconds * 1e6
        numbers = (took / each.size, each.times, each.copy_times, each.linear, each.over_line)
        size = f"{each.symbol} {each.size}"
        yield each.title, size, f"{took:.1f}", *(f"{number:.4g}" for number in numbers)


def _threads(report: Report) -> Iterable[Sequence[str]]:
    for each in report.threads:
        met = each.met if report.has_goals else None
        goal = "" if met is None else outcome(f"{GOAL_OF_TWO:g}", met)
        copied, most = ("" if it is None else spread(it) for it in (each.copy_faster, each.at_most))
        yield each.kernel, each.where, str(each.threads), spread(each.faster), copied, most, goal


def _overhead(report: Report) -> Iterable[Sequence[str]]:
    for each in report.overhead:
        goal = outcome(f"{each.goal * 1e6:g}", each.met) if report.is_cpu else ""
        yield each.kernel, each.caller, spread(each.seconds, 1e6), goal


def _accept_title(report: Report) -> str:
    tokens = sum(each.kept for each in report.rounds)
    return f"{len(report.rounds)} verify passes and rollbacks of the demo's {tokens} tokens"


def _accept(report: Report) -> Iterable[Sequence[str]]:
    for each in report.accept:
        times = each.seconds.median / report.accept[0].seconds.median
        held = f"{each.held / 1e6:.2f}"
        yield each.name, f"{times:.2f}", ms(each.seconds), held, "yes" if each.exact else "NO"


def _memory(report: Report) -> Iterable[Sequence[str]]:
    for each in report.memory:
        yield each.name, f"{each.arrays / 1e6:.1f}", f"{each.extra / 1e6:.1f}"


def spread(found: Spread, factor: float = 1.0) -> str:
    """Return the median, and the quartiles in brackets."""
    median, low, high = (value * factor for value in (found.median, found.low, found.high))
    return f"{median:.2f} ({low:.2f}-{high:.2f})"


def ms(found: Spread) -> str:
    """Return the median in milliseconds."""
    return f"{found.median * 1e3:.3g}"


def outcome(goal: str, met: bool) -> str:
    """Return a goal and whether it was met."""
    return f"{goal} {'met' if met else 'missed'}"
