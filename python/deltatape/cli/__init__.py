"""The command line: one module a verb, each with ``add_parser`` and ``run``."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from deltatape import Error, __version__

VERBS = ("info", "verify", "bench", "demo", "paths")
BAD_USE = 2


def build_parser() -> argparse.ArgumentParser:
    """Collect the verbs' parsers under one."""
    parser = argparse.ArgumentParser(
        prog="deltatape",
        description="Record, roll back and prefill the states of recurrent layers.",
    )
    parser.add_argument("--version", action="version", version=f"deltatape {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        importlib.import_module(f"{__name__}.{verb}").add_parser(verbs)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb and return the process's exit code.

    Parameters
    ----------
    arguments
        The words after the program's name; None reads ``sys.argv``.
    """
    chosen = build_parser().parse_args(arguments)
    try:
        return int(chosen.run(chosen))
    except Error as error:
        print(f"deltatape {chosen.verb}: {error}", file=sys.stderr)
        return BAD_USE
    except BrokenPipeError:
        # The reader has gone; without this the interpreter complains once more as it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
