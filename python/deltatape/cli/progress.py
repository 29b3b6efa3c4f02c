"""How far a long command has come, on a terminal's standard error, by rich when it is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def progress(steps: Sequence[tuple[str, T]]) -> Iterator[tuple[str, T]]:
    """Yield the steps, and show the words of the present one."""
    if not sys.stderr.isatty():
        yield from steps
        return
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        yield from steps
        return
    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=len(steps))
        for step in steps:
            shown.update(task, description=step[0])
            yield step
            shown.advance(task)
