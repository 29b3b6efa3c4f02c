"""What the demo's tests share: the shipped model, texts, and the text that plain decoding gives."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from deltatape import Device, Stream
from deltatape.demo.decode import Round, decode, text_of
from deltatape.demo.drafter import Drafter, no_drafts
from deltatape.demo.hybrid import Hybrid

DATA = Path(__file__).parent / "data"
Decode = Callable[..., list[Round]]


@pytest.fixture(scope="session")
def model() -> Iterator[Hybrid]:
    with Device("cpu") as device, device.stream() as stream:
        yield Hybrid(device, stream)


@pytest.fixture(scope="session")
def stream(model: Hybrid) -> Stream:
    return model.stream


@pytest.fixture(scope="session")
def trained() -> dict[str, np.ndarray]:
    """Tokens of a text outside the training data, and the trained model's logits of them."""
    with np.load(DATA / "logits.npz") as file:
        return dict(file)


@pytest.fixture(scope="session")
def held_out() -> bytes:
    return (DATA / "held_out.txt").read_bytes()


@pytest.fixture(scope="session")
def continued(model: Hybrid) -> Decode:
    """The rounds in which a prompt is continued."""

    def rounds(prompt: bytes, tokens: int, drafter: Drafter, draft: int = 7) -> list[Round]:
        sessions = model.prefill(prompt[:-1])
        return list(decode(model, sessions, prompt, tokens, drafter, draft))

    return rounds


@pytest.fixture(scope="session")
def plain(continued: Decode) -> Callable[[bytes, int], bytes]:
    """The text that decoding without drafts gives."""
    return cache(lambda prompt, tokens: text_of(continued(prompt, tokens, no_drafts, 0)))
