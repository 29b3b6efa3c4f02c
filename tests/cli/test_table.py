"""Tables hold the same cells with rich and without it."""

import sys

import pytest

from deltatape.cli.table import plain_table, show_table

HEADER = ("kernel", "ratio", "[s]")
ROWS = [("ssm_replay", "1.2", "0.5"), ("inverse [64]", "10.25", "")]


def test_a_plain_table_aligns_words_left_and_numbers_right() -> None:
    assert plain_table("Times", HEADER, ROWS).splitlines() == [
        "Times",
        "kernel        ratio  [s]",
        "------------  -----  ---",
        "ssm_replay      1.2  0.5",
        "inverse [64]  10.25",
    ]


def test_a_table_may_have_no_rows() -> None:
    assert plain_table("None", HEADER, []).splitlines()[1:] == [
        "kernel  ratio  [s]",
        "------  -----  ---",
    ]


@pytest.mark.parametrize(
    ("terminal", "rich"), [(True, True), (False, True), (True, False), (False, False)]
)
def test_every_cell_is_printed_and_ruled_where_rich_has_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool, rich: bool
) -> None:
    for name, value in {"FORCE_COLOR": "1" if terminal else "", "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, value)
    if not rich:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    show_table("Times [of now]", HEADER, ROWS)
    printed = capsys.readouterr().out
    assert ("━" in printed) == (terminal and rich)
    for text in ("Times [of now]", *HEADER, *(cell for row in ROWS for cell in row)):
        assert text in printed
