"""Speculating changes how often the model runs and nothing else."""

import random
from collections.abc import Callable

import numpy as np
import pytest

from deltatape import conv_window, session
from deltatape.demo.decode import Round, text_of
from deltatape.demo.drafter import Drafter, no_drafts, prompt_lookup

TOKENS = 96
Decode = Callable[..., list[Round]]
Plain = Callable[[bytes, int], bytes]


@pytest.fixture
def prompt(held_out: bytes) -> bytes:
    return held_out[:700]


def foreseeing(prompt: bytes, text: bytes, right: Callable[[], bool]) -> Drafter:
    """Draft the known continuation, with each byte broken where `right` says no."""

    def drafts(so_far: bytearray, most: int) -> bytes:
        start = len(so_far) - len(prompt)
        return bytes(byte if right() else byte ^ 1 for byte in text[start : start + most])

    return drafts


def accepted(rounds: list[Round]) -> int:
    return sum(len(each.accepted) for each in rounds)


@pytest.mark.parametrize("draft", [1, 7, 20])
@pytest.mark.parametrize(("start", "length"), [(0, 700), (1800, 1), (2500, 65), (4000, 1100)])
def test_lookup_drafts_give_the_text_of_plain_decoding(
    continued: Decode, plain: Plain, held_out: bytes, start: int, length: int, draft: int
) -> None:
    prompt = held_out[start : start + length]
    rounds = continued(prompt, TOKENS, prompt_lookup, draft)
    assert text_of(rounds) == plain(prompt, TOKENS)
    assert 0 < accepted(rounds) == TOKENS - len(rounds)
    assert all(len(each.accepted) <= each.drafted <= draft for each in rounds)


def test_an_own_source_file_is_continued_alike(continued: Decode, plain: Plain) -> None:
    with open(__file__, "rb") as file:
        prompt = file.read(1200)
    assert text_of(continued(prompt, TOKENS, prompt_lookup)) == plain(prompt, TOKENS)


def test_a_drafter_that_is_always_wrong_yields_the_same_text(
    continued: Decode, plain: Plain, prompt: bytes
) -> None:
    text = plain(prompt, TOKENS)
    rounds = continued(prompt, TOKENS, foreseeing(prompt, text, lambda: False))
    assert text_of(rounds) == text
    assert accepted(rounds) == 0
    assert len(rounds) == TOKENS
    assert rounds[0].drafted == 7


def test_a_drafter_that_is_always_right_saves_all_rounds_it_can(
    continued: Decode, plain: Plain, prompt: bytes
) -> None:
    text = plain(prompt, TOKENS)
    rounds = continued(prompt, TOKENS, foreseeing(prompt, text, lambda: True))
    assert text_of(rounds) == text
    assert len(rounds) == TOKENS / 8
    assert accepted(rounds) == sum(each.drafted for each in rounds)


def test_a_drafter_that_is_wrong_now_and_then_yields_the_same_text(
    continued: Decode, plain: Plain, prompt: bytes
) -> None:
    text, chance = plain(prompt, TOKENS), random.Random(3)
    rounds = continued(prompt, TOKENS, foreseeing(prompt, text, lambda: chance.random() < 0.7))
    assert text_of(rounds) == text
    assert {len(each.accepted) for each in rounds} >= {0, 1, 2, 3}


def test_leaving_the_window_behind_changes_the_text(
    continued: Decode, plain: Plain, prompt: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = plain(prompt, TOKENS)
    wrong = foreseeing(prompt, text, lambda: False)

    def not_taken_back(window: np.ndarray, inputs: np.ndarray, _kept: int) -> np.ndarray:
        return conv_window(window, inputs, inputs.shape[1])

    monkeypatch.setattr(session, "conv_window", not_taken_back)
    assert text_of(continued(prompt, TOKENS, no_drafts)) == text
    assert text_of(continued(prompt, TOKENS, wrong)) != text


@pytest.mark.parametrize("tokens", [1, 2, 7, 8, 9])
def test_exactly_as_many_tokens_come_as_were_asked_for(
    continued: Decode, plain: Plain, prompt: bytes, tokens: int
) -> None:
    text = plain(prompt, 16)
    rounds = continued(prompt, tokens, foreseeing(prompt, text, lambda: True))
    assert text_of(rounds) == text[:tokens]


def test_a_tape_is_counted_with_all_it_keeps_alive(
    continued: Decode, plain: Plain, prompt: bytes
) -> None:
    drafts = foreseeing(prompt, plain(prompt, 8), lambda: True)
    (found,) = continued(prompt, 8, drafts)
    mamba = 8 * (8 + 8 + 8 * 64 + 2 * 64)  # 8 steps of decay, scale, x and b
    delta = 8 * (4 + 4 * 64 + 4 * 64)  # 8 steps of decay, u and k
    assert found.tape_bytes == 4 * 3 * (mamba + delta)
    assert found.snapshot_bytes == 4 * 7 * 3 * (8 + 4) * 64 * 64


def test_plain_decoding_records_nothing(continued: Decode, prompt: bytes) -> None:
    rounds = continued(prompt, 5, no_drafts)
    assert [(each.tape_bytes, each.snapshot_bytes, each.drafted) for each in rounds] == [
        (0, 0, 0)
    ] * 5
