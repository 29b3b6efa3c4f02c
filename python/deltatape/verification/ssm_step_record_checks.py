"""What is compared of a call of ssm_step_record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from deltatape import DenseTape, FactoredTape, reference
from deltatape.verification import pinned, tolerances
from deltatape.verification.comparisons import (
    Array,
    Comparison,
    elementwise,
    normwise,
    same_bytes,
    wide,
)
from deltatape.verification.inputs import StepInputs

Tape = FactoredTape | DenseTape | None

FLOAT16_MOST = np.float32(65504)


@dataclass(frozen=True)
class Call:
    """A call of the kernel: what went in, besides the pool that it may have changed.

    Parameters
    ----------
    inputs
        The arguments, with each sequence's own state [B,H,Dh,Ds] in place of a pool.
    active
        [B,T], False at masked steps and in skipped sequences.
    skipped
        [B], True where the slot is -1.
    """

    inputs: StepInputs
    active: Array
    skipped: Array

    @property
    def exact(self) -> tuple[Array, Array]:
        """Reference y and state in float64."""
        y, state = reference.ssm_step_record(*self.inputs.args(), mask=self.active)[:2]
        return y, state

    @property
    def live(self) -> Array:
        """[B,T,H], where an entry of the tape is not identity."""
        live: Array = self.active[..., None] & (self.inputs.dt != 0)
        return live


def compare_y(call: Call, y: Array) -> Iterator[Comparison]:
    """Compare y at active steps; where a sequence is skipped it is zero."""
    bound = tolerances.normwise(y.dtype, y.shape[1])
    shown = call.active[..., None, None]
    exact = call.exact[0]
    yield normwise("y", np.where(shown, y, 0), np.where(shown, exact, 0), (1, 3), bound)
    yield same_bytes("y of skipped", y[call.skipped], np.zeros_like(y[call.skipped]))


def compare_state(call: Call, state: Array) -> Comparison:
    """Compare the states of the sequences that are not skipped."""
    bound = tolerances.normwise(state.dtype, call.active.shape[1])
    kept = ~call.skipped
    return normwise("state", state[kept], call.exact[1][kept], (2, 3), bound)


def compare_tape(call: Call, tape: Tape) -> Iterator[Comparison]:
    """Compare decay within its bound, scale and identity entries exactly."""
    if tape is None:
        return
    factored = isinstance(tape, FactoredTape)
    decay = tape.decay if isinstance(tape, FactoredTape) else tape.da_log
    dt = np.where(call.live, wide(call.inputs.dt), 0)
    argument = -np.exp(wide(call.inputs.a_log)) * dt
    exact = np.exp(argument)
    if not factored:
        argument, exact = argument[..., None], exact[..., None]
    bounds = np.broadcast_to(tolerances.decay(argument), decay.shape)
    yield elementwise("decay", decay, np.broadcast_to(exact, decay.shape), bounds)
    identity = decay[~call.live]
    yield same_bytes("identity decay", identity, np.ones_like(identity))
    scale = dt.astype(np.float32)
    if isinstance(tape, FactoredTape):
        assert tape.scale is not None
        yield same_bytes("scale", tape.scale, scale)
    else:
        product = outer(call, scale)
        if tape.dbx_log.dtype == np.float16:
            product = np.clip(product, -FLOAT16_MOST, FLOAT16_MOST)
        yield same_bytes("dbx", tape.dbx_log, product.astype(tape.dbx_log.dtype))


def outer(call: Call, scale: Array) -> Array:
    """Return (x * scale) * b in float32, -0.0 where scale is 0."""
    x, b = call.inputs.x.astype(np.float32), call.inputs.b.astype(np.float32)
    b = np.repeat(b, x.shape[2] // b.shape[2], axis=2)
    with np.errstate(all="ignore"):
        product = (x * scale[..., None])[..., None] * b[..., None, :]
    return np.where(call.live[..., None, None], product, np.float32(-0.0))


def compare_bytes(call: Call, state: Array, tape: Tape) -> Iterator[Comparison]:
    """Compare the state with the tape folded onto the start in the written order."""
    if tape is None:
        return
    assert call.inputs.state is not None
    if isinstance(tape, FactoredTape):
        assert tape.scale is not None
        folded = pinned.fold(call.inputs.state, tape.decay, tape.scale, tape.u, tape.v)
    else:
        scale = np.where(call.live, wide(call.inputs.dt), 0).astype(np.float32)
        folded = pinned.fold_dense(call.inputs.state, tape.da_log, outer(call, scale))
    kept = ~call.skipped
    yield same_bytes("state's bytes", state[kept], folded[kept])
