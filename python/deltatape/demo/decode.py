"""Greedy decoding, with drafts that one pass verifies and a rollback past the rejected ones."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deltatape import Session

from .drafter import Drafter
from .hybrid import Hybrid


@dataclass(frozen=True)
class Round:
    """One forward pass.

    Attributes
    ----------
    accepted
        The drafts that the model would have chosen itself.
    chosen
        The model's own token behind them.
    drafted
        How many drafts were verified.
    tape_bytes
        What the layers' tapes held until the drafts were judged.
    snapshot_bytes
        What one state of each layer a draft would have held instead.
    seconds
        The time of the round, drafting and rollback included.
    """

    accepted: bytes
    chosen: bytes
    drafted: int
    tape_bytes: int
    snapshot_bytes: int
    seconds: float


def decode(
    model: Hybrid,
    sessions: Sequence[Session],
    prompt: bytes,
    tokens: int,
    drafter: Drafter,
    draft: int,
) -> Iterator[Round]:
    """Continue a prompt by exactly `tokens` tokens, each the one with the largest logit.

    Parameters
    ----------
    model
        The model, and with it the stream that its kernels run on.
    sessions
        The layers' sessions after all of `prompt` but its last token.
    prompt
        One byte or more.
    tokens
        How many to add.
    drafter
        Where drafts come from.
    draft
        The most drafts of a round.
    """
    sessions = model.copy(sessions)
    text = bytearray(prompt)
    end = len(prompt) + tokens
    while len(text) < end:
        start = time.perf_counter()
        drafts = drafter(text, min(draft, end - len(text) - 1))
        following = pass_over(model, sessions, bytes(text[-1:]) + drafts)
        kept = agreement(drafts, following)
        held = judge(model, sessions, kept, drafts)
        text += following[: kept + 1]
        yield Round(
            following[:kept],
            following[kept : kept + 1],
            len(drafts),
            *held,
            time.perf_counter() - start,
        )


def text_of(rounds: Sequence[Round]) -> bytes:
    """Return the text that the rounds added."""
    return b"".join(each.accepted + each.chosen for each in rounds)


def pass_over(model: Hybrid, sessions: Sequence[Session], tokens: bytes) -> bytes:
    """Return the model's choice behind each token.

    One token alone is kept for certain, so it takes the sessions along; more are recorded.
    """
    logits = model.logits(tokens, sessions, "record" if len(tokens) > 1 else "advance")
    return bytes(np.argmax(logits, axis=-1).tolist())


def agreement(drafts: bytes, following: bytes) -> int:
    """Count the drafts ahead of the first that the model would not have chosen."""
    pairs = zip(drafts, following, strict=False)
    return next((at for at, (draft, own) in enumerate(pairs) if draft != own), len(drafts))


def judge(model: Hybrid, sessions: Sequence[Session], kept: int, drafts: bytes) -> tuple[int, int]:
    """Keep the last token and `kept` drafts; return the bytes of the tapes and of snapshots."""
    if not drafts:
        return 0, 0
    tape_bytes = sum(session.pending.nbytes for session in sessions if session.pending is not None)
    snapshot_bytes = len(drafts) * sum(session.state.nbytes for session in sessions)
    model.keep(sessions, kept + 1)
    return tape_bytes, snapshot_bytes
