"""Tables on standard output, by rich on a terminal where it is installed, else in plain text."""

from __future__ import annotations

from collections.abc import Sequence

Row = Sequence[str]


def show_table(title: str, header: Row, rows: Sequence[Row]) -> None:
    """Print a table whose first column is flush left and whose others are flush right.

    Parameters
    ----------
    title
        A line above the table.
    header
        The columns' names.
    rows
        The cells, as text, one sequence as long as `header` a row.
    """
    try:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table
    except ImportError:
        print(plain_table(title, header, rows))
        return
    console = Console()
    if not console.is_terminal:  # rich would cut cells to a width that nobody has
        print(plain_table(title, header, rows))
        return
    table = Table(title=escape(title), title_justify="left")
    for column, name in enumerate(header):
        table.add_column(escape(name), justify="right" if column else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)


def plain_table(title: str, header: Row, rows: Sequence[Row]) -> str:
    """Lay the same table out with spaces alone."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: Row) -> str:
        first, *others = (
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join((first, *others)).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join((title, line(header), rule, *map(line, rows)))
