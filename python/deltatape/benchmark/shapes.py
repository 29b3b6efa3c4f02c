"""The sets of shapes that can be chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from deltatape.verification.inputs import Shape

# A layer's dimensions in the order of Shape.
SYMBOLS = ("B", "T", "H", "G", "Dh", "Ds")

# States of at least this much are timed together, more than caches hold.
OUT_OF_CACHE = 48 << 20

# What numbers of threads are compared by: arrays in memory, the same bytes with the least
# arithmetic that there is, and arrays that caches hold.
Scale = Literal["memory", "moving", "caches"]

# A layer, its dtype, and how many of them take turns.
Layers = tuple[Shape, str, int]

FACTORS = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Shapes:
    """What is timed.

    Parameters
    ----------
    cell
        The layer that is stepped and replayed.
    layers
        How many of them take turns.
    matrix
        [B,T,H,BT] of the chunks that are inverted.
    seconds
        The budget of each group of works.
    tokens
        How many tokens the demo's model decodes for the sequence of accepted drafts.
    goals
        Whether the goals are meant for these shapes.
    sweeps
        Whether to vary T, B and H instead.
    """

    cell: Shape
    layers: int
    matrix: tuple[int, int, int, int]
    seconds: float
    tokens: int = 0
    goals: bool = False
    sweeps: bool = False

    def scaled_cell(self, scale: Scale) -> Layers:
        """Return what numbers of threads are compared by."""
        cell = self.cell._replace(steps=1) if scale == "moving" else self.cell
        return cell, "float32", 1 if scale == "caches" else self.layers

    def swept(self) -> list[list[Shape]]:
        """Vary each of T, B and H of the cell from 1 to 64 times."""
        one = self.cell
        return [
            [one._replace(steps=factor) for factor in FACTORS],
            [one._replace(batch=factor) for factor in FACTORS],
            [one._replace(heads=factor) for factor in FACTORS],
        ]

    def swept_cells(self) -> list[list[Layers]]:
        """Return the varied layers in memory."""
        return [
            [(shape, "float32", layers_for(shape)) for shape in sweep] for sweep in self.swept()
        ]

    def swept_matrices(self) -> list[list[tuple[int, int, int, int]]]:
        """Vary each of T, B and H of the matrices from 1 to 64 times."""
        batch, steps, heads, chunk = self.matrix
        return [
            [(batch, steps * factor, heads, chunk) for factor in FACTORS],
            [(batch * factor, steps, heads, chunk) for factor in FACTORS],
            [(batch, steps, heads * factor, chunk) for factor in FACTORS],
        ]


PRODUCTION = Shape(1, 8, 32, 2, 128, 128)

SHAPES = {
    "quick": Shapes(Shape(1, 8, 8, 2, 64, 64), 2, (1, 256, 4, 64), 0.1, 20),
    "production": Shapes(PRODUCTION, 24, (1, 4096, 32, 64), 3.0, 200, goals=True),
    "sweep": Shapes(PRODUCTION._replace(groups=1), 24, (1, 256, 4, 64), 3.0, sweeps=True),
}


def layers_for(shape: Shape) -> int:
    """Return how many layers of a shape exceed the caches."""
    state = 4 * shape.batch * shape.heads * shape.head_dim * shape.state_dim
    return max(1, -(-OUT_OF_CACHE // state))
