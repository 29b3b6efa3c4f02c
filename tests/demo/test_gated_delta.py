"""The two forms of the gated delta rule agree with the recurrence in float64."""

import numpy as np
import pytest

from deltatape import Stream, ssm_replay
from deltatape.demo.arithmetic import unit_norm
from deltatape.demo.gated_delta import Tokens, chunked, stepwise

HEADS, DIM = 3, 16


def made_up(steps: int, *, repeated_keys: bool = False) -> tuple[Tokens, np.ndarray]:
    random = np.random.default_rng(steps)
    q, k, v = (random.standard_normal((2, steps, HEADS, DIM)).astype(np.float32) for _ in range(3))
    if repeated_keys:
        k = np.broadcast_to(k[:, :1], k.shape)
    g = -random.exponential(0.1, (2, steps, HEADS)).astype(np.float32)
    beta = random.random((2, steps, HEADS)).astype(np.float32)
    state = random.standard_normal((2, HEADS, DIM, DIM)).astype(np.float32)
    return Tokens(unit_norm(q), unit_norm(k), v, g, beta), state


def recurrence(tokens: Tokens, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    q, k, v, g, beta = (part.astype(np.float64) for part in tokens)
    state, outputs = state.astype(np.float64), []
    for t in range(q.shape[1]):
        state = np.exp(g[:, t])[..., None, None] * state
        error = beta[:, t, :, None] * (v[:, t] - np.einsum("bhvk,bhk->bhv", state, k[:, t]))
        state = state + error[..., :, None] * k[:, t, :, None, :]
        outputs.append(np.einsum("bhvk,bhk->bhv", state, q[:, t]))
    return np.stack(outputs, axis=1), state


def near(got: np.ndarray, expected: np.ndarray) -> bool:
    return bool(np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("repeated_keys", [False, True])
@pytest.mark.parametrize("steps", [1, 16, 63, 64, 65, 200])
def test_both_forms_follow_the_recurrence(stream: Stream, steps: int, repeated_keys: bool) -> None:
    tokens, state = made_up(steps, repeated_keys=repeated_keys)
    before = state.tobytes()
    outputs, after = recurrence(tokens, state)
    for found in (chunked(tokens, state, stream), stepwise(tokens, state, stream)[:2]):
        assert near(found[0], outputs)
        assert near(found[1], after)
    assert state.tobytes() == before


def test_the_tape_of_the_steps_leads_to_their_state(stream: Stream) -> None:
    tokens, state = made_up(9)
    _, after, tape = stepwise(tokens, state, stream)
    assert ssm_replay(state, tape, 9).tobytes() == after.tobytes()
