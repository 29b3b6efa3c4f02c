"""Other libraries that do the same work, each used only where it is installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True)
class Peer:
    """What a user might call instead.

    Parameters
    ----------
    name
        The library, and how it is used.
    run
        Does the work of every layer, results included.
    result
        What the last run made of the last layer: a state [B,H,Dh,Ds] or an inverse [B,T,H,BT].
    note
        Where it computes more or less than we do.
    """

    name: str
    run: Callable[[], object]
    result: Callable[[], NDArray[Any]]
    note: str = ""


def installed(library: str) -> str | None:
    """Return the version of a library, or None."""
    try:
        return str(importlib.import_module(library).__version__)
    except ImportError:
        return None
    except AttributeError:
        return str(importlib.import_module(f"{library}.core").__version__)


def adapter(library: str) -> Any:
    """Return the module here that calls a library, or None where that is not installed."""
    return importlib.import_module(f"{__name__}.with_{library}") if installed(library) else None


def _peers(work: str, libraries: Sequence[str], *given: Any) -> list[Peer]:
    return [peer for library in libraries for peer in _of_library(library, work, *given)]


def _of_library(library: str, work: str, *given: Any) -> Iterator[Peer]:
    if module := adapter(library):
        yield from getattr(module, work, lambda *_: ())(*given)


record_peers = partial(_peers, "record")
replay_peers = partial(_peers, "replay")
inverse_peers = partial(_peers, "invert")
