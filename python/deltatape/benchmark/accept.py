"""Verify passes and rollbacks along the drafts that the demo's model really accepts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from deltatape import Device, Stream
from deltatape.benchmark.places import Place, of_each
from deltatape.benchmark.shapes import Shapes
from deltatape.benchmark.timing import Spread, take_turns
from deltatape.cli.demo import default_prompt
from deltatape.demo.decode import decode
from deltatape.demo.drafter import prompt_lookup
from deltatape.demo.hybrid import Hybrid
from deltatape.verification.inputs import Shape, step_inputs

DRAFT = 7


@dataclass(frozen=True)
class Round:
    """A verify pass over `steps` tokens, of which the first `kept` stay."""

    steps: int
    kept: int


@dataclass(frozen=True)
class AcceptResult:
    """A way to roll back along a whole sequence.

    Parameters
    ----------
    name
        What is held of a verify pass until its drafts are judged.
    seconds
        For all rounds and layers.
    held
        The most bytes that were held, besides the states themselves.
    exact
        Whether the last states, and the last layer's y at the tokens that were kept, are byte for
        byte those of a run that never speculated.
    """

    name: str
    seconds: Spread
    held: int
    exact: bool


class Layer:
    """A layer with the inputs of every token to come, its state, and room for snapshots."""

    def __init__(self, place: Place, shape: Shape, seed: int) -> None:
        self.place = place
        self.inputs = of_each(place.put, step_inputs(shape, seed))
        self.state = place.poisoned(shape.state, "float32")
        self.snapshots = [place.poisoned(shape.state, "float32") for _ in range(DRAFT + 1)]

    def rewind(self) -> None:
        """Go back to the state before the first token."""
        self.state[...] = self.inputs.state

    def record(self, start: int, stop: int, stream: Stream, **options: Any) -> Any:
        """Step over some tokens."""
        *inputs, _ = self.inputs.steps(start, stop).args()
        return self.place.functions.ssm_step_record(*inputs, stream=stream, **options)


# One round of all layers from a token on: to the bytes held and the last layer's y of what is kept.
OneRound = Callable[[Sequence[Layer], Round, int, Stream], tuple[int, list[Any]]]


def rounds_of_the_demo(device: Device, tokens: int) -> list[Round]:
    """Return what the demo's model accepts of prompt-lookup drafts of its default prompt."""
    with device.stream() as stream:
        model = Hybrid(device, stream)
        prompt = default_prompt()
        sessions = model.prefill(prompt[:-1])
        decoded = decode(model, sessions, prompt, tokens, prompt_lookup, DRAFT)
        return [Round(each.drafted + 1, len(each.accepted) + 1) for each in decoded]


def measure(place: Place, shapes: Shapes) -> tuple[list[Round], list[AcceptResult]]:
    """Time each way along the same sequence, in turns."""
    rounds = rounds_of_the_demo(place.device, shapes.tokens)
    total = sum(each.kept for each in rounds)
    cell = shapes.cell._replace(steps=total + DRAFT)
    layers = [Layer(place, cell, seed) for seed in range(shapes.layers)]
    ways: dict[str, OneRound] = {
        "factored tape": partial(replayed, "factored"),
        "dense tape": partial(replayed, "dense"),
        "snapshot of every step": snapshotted,
    }
    walks = [partial(walk, one_round, place, layers, rounds) for one_round in ways.values()]
    taken = take_turns(walks, shapes.seconds)
    expected = straight(place, layers, total)
    results = []
    for index, name in enumerate(ways):
        held, y = walks[index]()
        exact = [y, *states(layers)] == expected
        results.append(AcceptResult(name, Spread.of(taken[:, index]), held, exact))
    return rounds, results


def walk(
    one_round: OneRound, place: Place, layers: Sequence[Layer], rounds: Sequence[Round]
) -> tuple[int, bytes]:
    """Go along all rounds; return the most bytes held, and the last layer's y of what was kept."""
    for layer in layers:
        layer.rewind()
    most, ys, start = 0, [], 0
    with place.stream() as stream:
        for each in rounds:
            held, y = one_round(layers, each, start, stream)
            most = max(most, held)
            ys += y
            start += each.kept
    return most, b"".join(place.read(y).tobytes() for y in ys)


def replayed(
    kind: Literal["factored", "dense"],
    layers: Sequence[Layer],
    each: Round,
    start: int,
    stream: Stream,
) -> tuple[int, list[Any]]:
    """Record a tape and replay it; a round without drafts goes ahead at once."""
    if each.steps == 1:
        return snapshotted(layers, each, start, stream)
    stop = start + each.steps
    record = partial(Layer.record, start=start, stop=stop, stream=stream, tape=kind, advance=False)
    made = [record(layer, state=layer.state) for layer in layers]
    stream.wait()
    for layer, (_, _, tape) in zip(layers, made, strict=True):
        replay = layer.place.functions.ssm_replay
        replay(layer.state, tape, each.kept, out=layer.state, stream=stream)
    stream.wait()
    return sum(tape.nbytes for _, _, tape in made), [made[-1][0][:, : each.kept]]


def snapshotted(
    layers: Sequence[Layer], each: Round, start: int, stream: Stream
) -> tuple[int, list[Any]]:
    """Keep the state after each step and pick one."""
    ys: list[Any] = []
    for layer in layers:
        before = layer.state
        ys = []
        for step, after in enumerate(layer.snapshots[: each.steps], start):
            y, before, _ = layer.record(
                step, step + 1, stream, state=before, tape=None, out=(None, after)
            )
            ys.append(y)
    stream.wait()
    for layer in layers:
        chosen = layer.snapshots[each.kept - 1]
        layer.snapshots[each.kept - 1], layer.state = layer.state, chosen
    held = each.steps * sum(layer.state.nbytes for layer in layers) if each.steps > 1 else 0
    return held, ys[: each.kept]


def straight(place: Place, layers: Sequence[Layer], total: int) -> list[bytes]:
    """Return the last layer's y and all states after every token kept, by one call a layer."""
    with place.stream() as stream:
        made = [
            layer.record(0, total, stream, state=layer.inputs.state, tape=None) for layer in layers
        ]
    return [place.read(each).tobytes() for each in (made[-1][0], *(state for _, state, _ in made))]


def states(layers: Sequence[Layer]) -> list[bytes]:
    """Return the layers' states as they are now."""
    return [layer.place.read(layer.state).tobytes() for layer in layers]
