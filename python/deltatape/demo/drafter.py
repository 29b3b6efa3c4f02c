"""Drafts without a second model: what followed the last time the text ran like this."""

from __future__ import annotations

from collections.abc import Callable

Drafter = Callable[[bytearray, int], bytes]
"""From the text so far and the most tokens wanted to that many drafts or fewer."""

LONGEST, SHORTEST = 16, 4


def prompt_lookup(text: bytearray, most: int) -> bytes:
    """Find the longest ending of `text` that occurs earlier and return what followed it there.

    Of several earlier places the last one counts, as the nearest in subject.
    """
    for length in range(min(LONGEST, len(text) - 1), SHORTEST - 1, -1):
        found = text.rfind(text[-length:], 0, len(text) - 1)
        if found >= 0:
            return bytes(text[found + length : found + length + most])
    return b""


def no_drafts(_text: bytearray, _most: int) -> bytes:
    """Draft nothing, which is plain decoding."""
    return b""
