"""The model computes what the trained one did, whichever way and in whatever pieces."""

import numpy as np
import pytest

from deltatape import Session
from deltatape.demo import hybrid
from deltatape.demo.hybrid import Hybrid
from deltatape.demo.layers import Pass

TOLERANCE = 1e-4  # of the largest logit


def in_pieces(model: Hybrid, text: bytes, sizes: list[int], kind: Pass) -> np.ndarray:
    sessions, at, logits = model.blank(), 0, []
    for size in sizes:
        logits.append(model.logits(text[at : at + size], sessions, kind))
        at += size
    assert at == len(text)
    return np.concatenate(logits)


@pytest.mark.parametrize(
    ("kind", "size"),
    [("prefill", 512), ("prefill", 128), ("advance", 512), ("advance", 1), ("record", 512)],
)
def test_logits_are_the_trained_models(
    model: Hybrid, trained: dict[str, np.ndarray], kind: Pass, size: int
) -> None:
    tokens, expected = trained["tokens"].tobytes(), trained["logits"]
    logits = in_pieces(model, tokens, [size] * (len(tokens) // size), kind)
    assert np.abs(logits - expected).max() <= TOLERANCE * np.abs(expected).max()
    assert (logits.argmax(-1) == expected.argmax(-1)).all()


def test_a_tokens_bits_do_not_depend_on_the_size_of_its_pass(
    model: Hybrid, held_out: bytes
) -> None:
    text = held_out[:90]
    alone = in_pieces(model, text, [1] * 90, "advance")
    for sizes in ([90], [2, 88], [7, 8, 9, 16, 17, 33], [64, 26], [5] * 18):
        assert in_pieces(model, text, sizes, "advance").tobytes() == alone.tobytes()


def same(one: list[Session], other: list[Session]) -> bool:
    return all(
        np.array_equal(a.state.view(np.uint32), b.state.view(np.uint32))
        and np.asarray(a.window).tobytes() == np.asarray(b.window).tobytes()
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("kept", range(9))
def test_going_back_gives_the_bytes_of_a_model_that_never_speculated(
    model: Hybrid, held_out: bytes, kept: int
) -> None:
    before = model.prefill(held_out[:200])
    speculating, plain = (model.copy(before) for _ in range(2))
    model.logits(held_out[200:208], speculating, "record")
    assert same(speculating, before)
    model.keep(speculating, kept)
    for at in range(200, 200 + kept):
        model.logits(held_out[at : at + 1], plain, "advance")
    assert same(speculating, plain)
    assert same(speculating, before) == (kept == 0)


def test_a_long_prompt_is_prefilled_in_segments(
    model: Hybrid, held_out: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = model.prefill(held_out[:300])
    monkeypatch.setattr(hybrid, "SEGMENT", 128)
    for one, other in zip(whole, model.prefill(held_out[:300]), strict=True):
        for a, b in ((one.state, other.state), (np.asarray(one.window), np.asarray(other.window))):
            assert np.abs(a - b).max() <= 1e-5 * np.abs(a).max()


def test_the_last_prompt_token_is_read_with_the_first_drafts(model: Hybrid) -> None:
    assert same(model.prefill(b""), model.blank())
