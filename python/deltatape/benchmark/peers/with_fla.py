"""flash-linear-attention's kernel for the same inverse, on NVIDIA GPUs."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from deltatape.benchmark.peers import Peer, plain
from deltatape.benchmark.peers.with_torch import finish, torch

utilities: Any = importlib.import_module("fla.ops.utils")


def invert(a: Any) -> Iterator[Peer]:
    """Invert in the same layout."""
    solve = partial(utilities.solve_tril, output_dtype=torch.float32)
    yield plain.Layers(solve, [(a,)], finish).as_peer("fla solve_tril", inverse=True)
