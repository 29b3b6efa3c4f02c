"""A benchmark as another project got it wrong. The test's name begins with the case's id."""

from functools import partial

import pytest

from deltatape import Device
from deltatape.benchmark.accept import DRAFT, Layer, Round, replayed, snapshotted, straight, walk
from deltatape.benchmark.places import Place
from deltatape.verification.inputs import Shape

ROUNDS = [Round(8, 3), Round(8, 1), Round(8, 8), Round(5, 2), Round(1, 1)]
WAYS = {
    "factored tape": partial(replayed, "factored"),
    "dense tape": partial(replayed, "dense"),
    "snapshots": snapshotted,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_r23_what_is_timed_is_what_a_straight_run_computes(device: Device, way) -> None:
    kept = sum(each.kept for each in ROUNDS)
    place = Place(device)
    layers = [Layer(place, Shape(1, kept + DRAFT, 2, 1, 8, 16), seed) for seed in range(2)]
    held, y = walk(way, place, layers, ROUNDS)
    assert held > 0
    assert [y, *(layer.state.tobytes() for layer in layers)] == straight(place, layers, kept)
