"""Tables on standard output, by rich on a terminal where it is installed, else in plain text."""

from __future__ import annotations

from collections.abc import Sequence

Row = Sequence[str]


def show_table(title: str, header: Row, rows: Sequence[Row]) -> None:
    """Print a table: columns of numbers flush right, others flush left.

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
    for name, right in zip(header, _numeric(header, rows), strict=True):
        table.add_column(escape(name), justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)


def plain_table(title: str, header: Row, rows: Sequence[Row]) -> str:
    """Lay the same table out with spaces alone."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    numeric = _numeric(header, rows)

    def line(cells: Row) -> str:
        placed = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, numeric, strict=True)
        )
        return "  ".join(placed).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join((title, line(header), rule, *map(line, rows)))


def _numeric(header: Row, rows: Sequence[Row]) -> list[bool]:
    """Say of each column whether its cells, those that are not empty, all begin as numbers do."""
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    return [all(cell.lstrip("-")[:1].isdigit() for cell in column if cell) for column in columns]
