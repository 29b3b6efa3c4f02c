"""The text on a terminal, and where there is none."""

import io

import pytest

from deltatape.cli.rounds import RoundPrinter
from deltatape.demo.decode import Round


class Screen(io.TextIOWrapper):
    def __init__(self, encoding: str, *, terminal: bool) -> None:
        self.bytes, self.terminal = io.BytesIO(), terminal
        super().__init__(self.bytes, encoding=encoding)

    def isatty(self) -> bool:
        return self.terminal


def shown(
    monkeypatch: pytest.MonkeyPatch,
    *texts: tuple[bytes, bytes],
    encoding: str = "utf-8",
    terminal: bool,
) -> bytes:
    screen = Screen(encoding, terminal=terminal)
    monkeypatch.setattr("sys.stdout", screen)
    printer = RoundPrinter()
    for accepted, chosen in texts:
        printer.show(Round(accepted, chosen, len(accepted), 0, 0, 0.0))
    return screen.bytes.getvalue()


def test_a_terminal_underlines_accepted_drafts(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, (b"ab", b"c"), (b"", b"d"), terminal=True)
    assert text == b"\x1b[4;32mab\x1b[0mcd"


def test_elsewhere_accepted_drafts_are_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, (b"ab", b"c"), (b"", b"d"), terminal=False)
    assert text.decode() == "«ab»cd"


def test_a_character_may_come_in_two_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, (b"", b"\xc3"), (b"\xa9", b"!"), terminal=False)
    assert text.decode() == "«é»!"


def test_control_sequences_of_the_model_do_not_reach_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = shown(monkeypatch, (b"", b"\x1b[2J\t\n\r\x80"), terminal=True)
    assert text.decode() == "\ufffd[2J\t\n\ufffd\ufffd"


def test_what_the_encoding_lacks_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, (b"a", b"\xff"), encoding="ascii", terminal=False)
    assert text == b"?a??"
