"""Prompt lookup finds the place that resembles the text's end the most."""

from deltatape.demo.drafter import SHORTEST, prompt_lookup


def test_drafts_follow_the_longest_ending_that_occurred_before() -> None:
    text = bytearray(b"self.host = host; other.host = port; self.host = ")
    assert prompt_lookup(text, 5) == b"host;"


def test_of_equal_places_the_last_one_counts() -> None:
    assert prompt_lookup(bytearray(b"name=1 name=2 name="), 1) == b"2"


def test_short_endings_are_not_trusted() -> None:
    text = b"xyz1" + b"a" + b"xyz1"
    assert prompt_lookup(bytearray(text[-SHORTEST + 1 :] + b"b" + text[-SHORTEST + 1 :]), 3) == b""
    assert prompt_lookup(bytearray(text), 3) == b"axy"


def test_a_run_may_be_continued_up_to_the_end_of_the_text() -> None:
    assert prompt_lookup(bytearray(b"-" * 20), 7) == b"-"


def test_nothing_is_drafted_from_nothing() -> None:
    assert prompt_lookup(bytearray(b"abcdabcd"), 0) == b""
    assert prompt_lookup(bytearray(b"a"), 4) == b""
    assert prompt_lookup(bytearray(), 4) == b""
