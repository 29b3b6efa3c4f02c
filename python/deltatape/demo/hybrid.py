"""The hybrid language model over bytes: Mamba-2 and gated delta net layers, in float32 numpy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources

import numpy as np

from deltatape import Device, Session, Stream

from .arithmetic import Array, linear, rms_norm
from .layers import GatedDeltaNet, Mamba2, Pass, RecurrentLayer

SEGMENT = 1024
"""Tokens of a prefill pass: whole chunks, and few enough for a long prompt to stay small."""


class Hybrid:
    """The model that ships with the package; its weights are stored in float16.

    Parameters
    ----------
    device, stream
        Where the layers' kernels run.
    """

    def __init__(self, device: Device, stream: Stream) -> None:
        with (resources.files(__package__) / "hybrid.npz").open("rb") as file:
            stored = np.load(file)
            self.config = json.loads(stored["config"].tobytes())
            weights = {name: stored[name].astype(np.float32) for name in stored if name != "config"}
        self.device, self.stream = device, stream
        self.embedding = weights["embed.weight"]
        self.out_norm = weights["out_norm.weight"]
        kinds = self.config["layers"]
        self.norms = [weights[f"norms.{index}.weight"] for index in range(len(kinds))]
        self.layers = [
            self.layer(kind, under(f"mixers.{index}.", weights)) for index, kind in enumerate(kinds)
        ]

    def layer(self, kind: str, weights: dict[str, Array]) -> RecurrentLayer:
        """Build one layer from its letter in the configuration."""
        config = self.config
        if kind == "m":
            state = (config["heads"], config["headdim"], config["state"])
            return Mamba2(weights, state, config["groups"])
        return GatedDeltaNet(weights, (config["gdn_heads"], config["gdn_dim"], config["gdn_dim"]))

    def blank(self) -> list[Session]:
        """Return the layers' sessions before the first token."""
        return [layer.blank(self.device) for layer in self.layers]

    def copy(self, sessions: Sequence[Session]) -> list[Session]:
        """Return sessions that go on by themselves from where these are."""
        copies = self.blank()
        for session, copied in zip(sessions, copies, strict=True):
            copied.state[...], copied.window = session.state, session.window
        return copies

    def logits(self, tokens: bytes, sessions: Sequence[Session], kind: Pass) -> Array:
        """Run a pass over `tokens` and return their logits, [T, 256]."""
        hidden: Array = self.embedding[np.frombuffer(tokens, np.uint8)][None]
        for layer, norm, session in zip(self.layers, self.norms, sessions, strict=True):
            hidden = hidden + layer(rms_norm(hidden, norm), session, kind, self.stream)
        logits: Array = linear(rms_norm(hidden, self.out_norm), self.embedding)[0]
        return logits

    def prefill(self, prompt: bytes) -> list[Session]:
        """Return the layers' sessions after `prompt`."""
        sessions = self.blank()
        for start in range(0, len(prompt), SEGMENT):
            self.logits(prompt[start : start + SEGMENT], sessions, "prefill")
        return sessions

    def keep(self, sessions: Sequence[Session], tokens: int) -> None:
        """Take every layer to where it was after the first `tokens` of the recorded pass.

        The layers' replays go to the device together.
        """
        for session in sessions:
            session.keep(tokens, stream=self.stream)
        self.stream.wait()


def under(prefix: str, weights: dict[str, Array]) -> dict[str, Array]:
    """Return the weights whose names begin with `prefix`, by the rest of their names."""
    return {
        name.removeprefix(prefix): value
        for name, value in weights.items()
        if name.startswith(prefix)
    }
