"""The selective state-space recurrence of Mamba-2 (Dao, Gu 2024, arXiv:2405.21060)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deltatape.tapes import FactoredTape

Array = npt.NDArray[Any]


@np.errstate(over="ignore", invalid="ignore")
def ssm_step_record(
    x: Array,
    a_log: Array,
    b: Array,
    c: Array,
    d: Array | None,
    dt: Array,
    state: Array | None,
    mask: Array | None = None,
) -> tuple[Array, Array, FactoredTape]:
    """Return y, the state and the factored tape of `deltatape.ssm_step_record`, in float64."""
    x, b, c, dt = (np.asarray(array, np.float64) for array in (x, b, c, dt))
    B, T, H, Dh = x.shape
    group = np.arange(H) // (H // b.shape[2])
    live = dt != 0 if mask is None else (dt != 0) & (np.asarray(mask) != 0)[:, :, None]
    decay = np.where(live, np.exp(-np.exp(np.asarray(a_log, np.float64)) * dt), 1.0)
    scale = np.where(live, dt, 0.0)

    S = np.zeros((B, H, Dh, b.shape[3])) if state is None else np.array(state, np.float64)
    y = np.empty(x.shape)
    for t in range(T):
        update = (x[:, t] * scale[:, t, :, None])[..., None] * b[:, t, group, None, :]
        update = np.where(scale[:, t, :, None, None] != 0, update, 0.0)
        S = decay[:, t, :, None, None] * S + update
        y[:, t] = (S * c[:, t, group, None, :]).sum(-1)
    if d is not None:
        y += np.asarray(d, np.float64)[:, None] * x
    return y, S, FactoredTape(decay, scale, x, b)
