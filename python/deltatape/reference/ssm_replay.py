"""The first entries of a tape folded onto a state."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deltatape.tapes import DenseTape, FactoredTape

Array = npt.NDArray[Any]


@np.errstate(over="ignore", invalid="ignore")
def ssm_replay(
    state: Array, tape: FactoredTape | DenseTape, k: npt.ArrayLike, mask: Array | None = None
) -> Array:
    """Return the state of `deltatape.ssm_replay`, in float64."""
    S = np.array(state, np.float64)
    for b, kept in enumerate(np.broadcast_to(k, len(S))):
        for t in range(kept):
            if mask is None or mask[b, t]:
                decay, update = _entry(tape, b, t)
                S[b] = decay * S[b] + update
    return S


def _entry(tape: FactoredTape | DenseTape, b: int, t: int) -> tuple[Array, Array]:
    """Return one step's decay [H,1,Ds] or [H,1,1], and what it adds [H,Dh,Ds]."""
    if isinstance(tape, DenseTape):
        return tape.da_log[b, t, :, None].astype(np.float64), tape.dbx_log[b, t].astype(np.float64)
    u, v = tape.u[b, t].astype(np.float64), tape.v[b, t].astype(np.float64)
    H, G = len(u), len(v)
    scale = np.ones(H) if tape.scale is None else tape.scale[b, t].astype(np.float64)
    added = (scale[:, None] * u)[:, :, None] * v[np.arange(H) // (H // G), None, :]
    decay = tape.decay[b, t].astype(np.float64).reshape(H, 1, -1 if H else 1)
    return decay, np.where(scale[:, None, None] != 0, added, 0.0)
