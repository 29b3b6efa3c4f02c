"""A text as it grows, with the drafts that were accepted shown apart."""

from __future__ import annotations

import codecs
import sys

from deltatape.demo.decode import Round

UNDERLINED_GREEN, PLAIN = "\x1b[4;32m", "\x1b[0m"


class RoundPrinter:
    """Writes each round to standard output at once.

    Accepted drafts are underlined on a terminal and in quotation marks elsewhere.
    """

    def __init__(self) -> None:
        terminal = sys.stdout.isatty()
        self.opening, self.closing = (UNDERLINED_GREEN, PLAIN) if terminal else ("«", "»")
        self.encoding = sys.stdout.encoding or "utf-8"
        # A character's bytes may come in two rounds.
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def show(self, found: Round) -> None:
        """Write one round's text."""
        accepted, chosen = self.decoder.decode(found.accepted), self.decoder.decode(found.chosen)
        self.write((self.marked(harmless(accepted)) if accepted else "") + harmless(chosen))

    def marked(self, text: str) -> str:
        """Return `text` as an accepted draft."""
        return f"{self.opening}{text}{self.closing}"

    def write(self, text: str) -> None:
        """Write what standard output's encoding has of `text`."""
        print(text.encode(self.encoding, "replace").decode(self.encoding), end="", flush=True)


def harmless(text: str) -> str:
    """Replace control characters, which a terminal might obey."""
    return "".join(
        each if each.isprintable() or each in "\n\t" else "\N{REPLACEMENT CHARACTER}"
        for each in text
    )
