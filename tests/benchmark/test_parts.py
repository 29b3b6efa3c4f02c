"""The parts of the benchmark: turns, copies, sweeps, peers, threads."""

from dataclasses import replace

import numpy as np
import pytest

from deltatape import Device
from deltatape.benchmark import chunk_tri_solve_invert, ssm_replay, ssm_step_record, threads
from deltatape.benchmark.copies import Copy
from deltatape.benchmark.growth import growth, straight_line
from deltatape.benchmark.measure import difference, measure
from deltatape.benchmark.peers import installed
from deltatape.benchmark.places import Place
from deltatape.benchmark.shapes import OUT_OF_CACHE, SHAPES, layers_for
from deltatape.benchmark.timing import FEWEST_ROUNDS, Spread, take_turns

# Other libraries, where they are installed, warn of their own insides.
pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning")

QUICK = SHAPES["quick"]
KERNELS = (ssm_step_record, ssm_replay, chunk_tri_solve_invert)


@pytest.fixture
def cpu():
    with Device("cpu") as device:
        yield Place(device)


def test_everything_takes_turns_and_each_begins_a_round() -> None:
    order: list[str] = []
    taken = take_turns([lambda: order.append("a"), lambda: order.append("b")], seconds=0)
    assert taken.shape == (FEWEST_ROUNDS, 2)
    assert (taken >= 0).all()
    assert "".join(order[2:]) == ("abba" * FEWEST_ROUNDS)[: 2 * FEWEST_ROUNDS]


def test_a_spread_is_the_median_and_the_quartiles() -> None:
    assert Spread.of(np.array([5.0, 1, 2, 3, 4])) == Spread(3, 2, 4)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_copy_copies_every_byte(count: int) -> None:
    copy = Copy(layers=3, nbytes=1001, threads=count)
    targets = [target for part in copy._parts for target, _ in part]
    assert sum(target.size for target in targets) == 3003
    for target in targets:
        target.fill(0)
    copy()
    assert all((target == 1).all() for target in targets)


def test_the_copy_is_tried_with_one_thread_and_with_all(cpu: Place) -> None:
    every = cpu.device.info["threads"]
    assert cpu.copies(1, 8).keys() == {"1 threads", f"{every} threads"}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.KERNEL)
def test_peers_compute_the_same_and_other_results_are_found_out(cpu: Place, kernel) -> None:
    work = kernel.scaled(cpu, QUICK, "memory")
    assert all(check.holds for check in work.check())
    peers = work.peers()
    assert any(peer.name.startswith("numpy") for peer in peers)
    for peer in peers:
        assert difference(work, peer) < 1e-5, peer.name
    wrong = work.result() + 1
    assert difference(replace(work, result=lambda: wrong), peers[0]) > 1e-2


@pytest.mark.parametrize("library", [name for name in Place.libraries if installed(name)])
def test_peers_have_a_version(library: str) -> None:
    assert installed(library)[0].isdigit()


def test_a_library_that_is_not_there_has_no_version() -> None:
    assert installed("deltatape_of_another_name") is None


def test_a_group_is_measured_together(cpu: Place) -> None:
    group = [ssm_replay.work(cpu, *given) for given in ssm_replay.groups(QUICK)[0]]
    whole, *halves = measure(group, cpu, seconds=0, with_peers=True)
    assert whole.beside is None
    assert all(half.beside is not None for half in halves)
    assert [peer.name for peer in whole.peers if peer.agrees] == [p.name for p in group[0].peers()]
    assert all(result.correct for result in (whole, *halves))


def test_sweeps_go_from_1_to_64_times_and_exceed_the_caches() -> None:
    swept = SHAPES["sweep"].swept()
    for axis, shapes in zip(("steps", "batch", "heads"), swept, strict=True):
        sizes = [getattr(shape, axis) for shape in shapes]
        assert (min(sizes), max(sizes)) == (1, 64)
        assert len({shape._replace(**{axis: 0}) for shape in shapes}) == 1
        for shape in shapes:
            assert layers_for(shape) * 4 * np.prod(shape.state) >= OUT_OF_CACHE


def test_growth_is_told_along_the_size_that_varies(cpu: Place) -> None:
    works = [chunk_tri_solve_invert.work(cpu, (1, 64, h, 16), "float32") for h in (3, 1, 9)]
    points = growth(measure(works, cpu, 0, with_peers=False))
    assert [(each.symbol, each.size, each.linear) for each in points] == [
        ("H", 1, 1),
        ("H", 3, 3),
        ("H", 9, 9),
    ]
    assert (points[0].times, points[0].copy_times) == (1, 1)


def test_a_line_has_a_constant_and_shows_what_grows_faster() -> None:
    x = np.array([1.0, 2, 4, 8, 16, 32, 64])
    assert np.allclose(straight_line(x, 5 + 2 * x), 5 + 2 * x)
    over_line = x**2 / straight_line(x, x**2)
    assert over_line[-1] > 1.5


def test_two_processes_take_turns_with_their_own_threads(cpu: Place) -> None:
    in_memory, in_caches = threads.measure(cpu.device, "chunk_tri_solve_invert", "quick")
    assert (in_memory.where, in_caches.where) == ("memory", "caches")
    assert in_memory.faster.median > 0
    assert in_caches.faster.median > 0


def test_threads_can_gain_what_is_left_when_bytes_are_only_moved(cpu: Place, monkeypatch) -> None:
    # In every round: one thread takes 4 s, two 2 s, only moving 1 s, the copies 3 s and 2 s.
    monkeypatch.setattr(Place, "copies", lambda *_: {"1 threads": list, "2 threads": list})
    rounds = np.array([[4.0, 2.0, 1.0, 3.0, 2.0]] * 3)
    monkeypatch.setattr(threads, "in_turns", lambda timers, _: rounds[:, : len(timers)])
    in_memory, in_caches = threads.measure(cpu.device, "chunk_tri_solve_invert", "quick")
    assert in_memory.faster == in_caches.faster == Spread(2, 2, 2)
    assert in_memory.at_most == Spread(4, 4, 4)
    assert in_memory.copy_faster == Spread(1.5, 1.5, 1.5)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.KERNEL)
def test_threads_are_compared_by_the_same_bytes_and_by_fewer(cpu: Place, kernel) -> None:
    works = {scale: kernel.scaled(cpu, QUICK, scale) for scale in threads.RUNS}
    moved = {scale: work.layers * work.moved for scale, work in works.items()}
    assert moved["memory"] == moved["moving"] > moved["caches"]
    for work in works.values():
        work.run()
        assert np.isfinite(work.result().astype(np.float32)).all()


def test_a_process_that_ends_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="ended"):
        threads._Worker("none", "chunk_tri_solve_invert", "quick", "memory", 1)
