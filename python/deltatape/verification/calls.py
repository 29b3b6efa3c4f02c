"""The kernels on a chosen device, with results that are valid when they are returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import deltatape
from deltatape import Device
from deltatape.verification.inputs import Array, StepInputs


def call(device: Device, kernel: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return a kernel's results on this device."""
    with device.stream() as stream:
        return kernel(*args, stream=stream, **options)


def record(device: Device, inputs: StepInputs, mask: Array | None = None, **options: Any) -> Any:
    """Return y, state and tape."""
    return call(device, deltatape.ssm_step_record, *inputs.args(), mask, **options)


def replay(device: Device, state: Array, tape: Any, k: Any, **options: Any) -> Array:
    """Return the state after k entries."""
    rolled: Array = call(device, deltatape.ssm_replay, state, tape, k, **options)
    return rolled


def invert(device: Device, a: Array, **options: Any) -> Array:
    """Return the inverses of a's chunks."""
    inverse: Array = call(device, deltatape.chunk_tri_solve_invert, a, **options)
    return inverse
