"""The works of chunk_tri_solve_invert."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from deltatape import Stream, reference
from deltatape.benchmark.peers import Peer, inverse_peers
from deltatape.benchmark.places import Place
from deltatape.benchmark.shapes import Scale, Shapes
from deltatape.benchmark.timing import Run
from deltatape.benchmark.work import Array, Caller, Group, Work, from_c, from_python, judged
from deltatape.verification import chunk_tri_solve_invert as cases
from deltatape.verification.comparisons import Comparison
from deltatape.verification.inputs import DTYPES, dtype_of, matrices

KERNEL = "chunk_tri_solve_invert"
SYMBOLS = ("B", "T", "H", "BT")
GOAL = 1.3

# The sizes that SYMBOLS name.
Matrix = tuple[int, int, int, int]


@dataclass
class Layer:
    """The matrices of a layer, and where their inverses go."""

    place: Place
    a: Array
    out: Array

    def __call__(self, stream: Stream) -> None:
        """Enqueue the call."""
        self.place.functions.chunk_tri_solve_invert(self.a, out=self.out, stream=stream)


def groups(shapes: Shapes) -> list[Group]:
    """Return what is timed together, for a set of shapes."""
    if shapes.sweeps:
        return [[(shape, "float32") for shape in sweep] for sweep in shapes.swept_matrices()]
    return [[(shapes.matrix, dtype) for dtype in DTYPES]]


def scaled(place: Place, shapes: Shapes, scale: Scale) -> Work:
    """Build what numbers of threads are compared by; caches hold an eighth of the matrices."""
    batch, steps, heads, chunk = shapes.matrix
    if scale == "moving":
        steps, chunk = steps * chunk // 16, 16
    if scale == "caches":
        steps = max(chunk, steps // 8)
    return work(place, (batch, steps, heads, chunk), "float32", from_c)


def work(place: Place, shape: Matrix, dtype: str, caller: Caller = from_python) -> Work:
    """Make one call, that reads and writes one dtype."""
    layer = build(place, shape, dtype)
    run = caller(place, [layer])
    return Work(
        kernel=KERNEL,
        name="inverse",
        dtypes=dtype,
        sizes=dict(zip(SYMBOLS, shape, strict=True)),
        layers=1,
        moved=layer.a.nbytes + layer.out.nbytes,
        run=run,
        check=partial(check, run, layer),
        result=lambda: place.read(layer.out),
        **judged(dtype, GOAL, partial(peers, layer)),
    )


def build(place: Place, shape: Matrix, dtype: str) -> Layer:
    """Build a layer with its arrays in the device's memory."""
    a = np.nan_to_num(matrices(shape)).astype(dtype_of(dtype))
    return Layer(place, place.put(a), place.poisoned(shape, dtype))


def check(run: Run, layer: Layer) -> list[Comparison]:
    """Run once more, and compare the last head of the last sequence with the reference."""
    run()
    a, got = (layer.place.read(each[-1:, :, -1:]) for each in (layer.a, layer.out))
    strict, exact = a.astype(np.float32), reference.chunk_tri_solve_invert(a)
    return cases.compare_chunks(*(cases.chunks(each, ()) for each in (strict, exact, got)))


def peers(layer: Layer) -> list[Peer]:
    """Return other libraries' inverse, in the same layout."""
    return inverse_peers(layer.place.libraries, layer.a)
